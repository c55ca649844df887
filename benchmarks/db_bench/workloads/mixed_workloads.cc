// Benchmarks that read and write.

#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/db_bench/workloads/workload.h"

namespace miodb::bench {

namespace {

// Kinds of operations of ReadRandomWriteRandom and RandomWithVerify alternate in cycles of this length.
constexpr int64_t kCycle = 100;
// Entries of a record of RandomWithVerify. Their keys end, and their values begin, with a digit each.
constexpr char kFirstCopy = '0';
constexpr char kLastCopy = '9';

bool MustGoOn(const ThreadState& thread) { return thread.run->MeasuredThreadsRun() && !Interrupt::StopRequested(); }

// Puts random keys until the measured threads are done; with finish_after_writes exactly workload.writes of them.
void WriteInBackground(ThreadState* thread) {
  const Workload& workload = thread->workload;
  int64_t* const done = &thread->stats.counts.background_writes;
  while (workload.finish_after_writes ? *done < workload.writes && !Interrupt::StopRequested() : MustGoOn(*thread)) {
    if (!thread->PutOne(thread->RandomKey())) return;
    ++*done;
  }
}

// Goes from the first key to the last, again and again, until the measured threads are done.
void ScanInBackground(ThreadState* thread) {
  while (MustGoOn(*thread)) {
    const std::unique_ptr<Cursor> cursor = thread->session->NewCursor();
    Entry entry;
    for (bool valid = cursor->SeekToFirst(&entry); valid && MustGoOn(*thread); valid = cursor->Next(&entry)) {
      thread->Consume(entry.key, entry.value);
      thread->stats.counts.background_scanned++;
    }
    if (!thread->Check(cursor->Check(), "iterator")) return;
  }
}

void WithBackground(ThreadState* thread, Work background, Work measured) {
  (thread->thread == 0 ? background : measured)(thread);
}

// All copies of one value, in one batch.
bool PutCopies(ThreadState* thread, uint64_t number) {
  const std::string_view shared = thread->NextValue();
  std::string value;
  uint64_t bytes = 0;
  for (char copy = kFirstCopy; copy <= kLastCopy; copy++) {
    value.assign(1, copy).append(shared);
    const std::string_view key = thread->key.MakeWith(number, copy);
    thread->session->BatchPut(key, value);
    bytes += key.size() + value.size();
  }
  thread->AwaitWrite(bytes);
  if (!thread->Check(thread->session->BatchWrite(), "put")) return false;
  thread->stats.counts.writes++;
  thread->CountWritten(bytes);
  return true;
}

bool DeleteCopies(ThreadState* thread, uint64_t number) {
  uint64_t bytes = 0;
  for (char copy = kFirstCopy; copy <= kLastCopy; copy++) {
    const std::string_view key = thread->key.MakeWith(number, copy);
    thread->session->BatchDelete(key);
    bytes += key.size();
  }
  thread->AwaitWrite(bytes);
  if (!thread->Check(thread->session->BatchWrite(), "delete")) return false;
  thread->CountDeleted(bytes);
  thread->stats.counts.deletes++;
  return true;
}

// Reads the copies under one cursor, which shows one state of the store. Either every copy exists and they are alike,
// or no copy exists.
bool VerifyCopies(ThreadState* thread, uint64_t number) {
  thread->AwaitRead(1);
  const std::unique_ptr<Cursor> cursor = thread->session->NewCursor();
  Entry entry;
  std::string shared;
  int found = 0;
  bool alike = true;
  bool valid = cursor->Seek(thread->key.MakeWith(number, kFirstCopy), &entry);
  for (char copy = kFirstCopy; copy <= kLastCopy && valid; copy++) {
    if (entry.key != thread->key.MakeWith(number, copy)) continue;
    thread->Consume(entry.key, entry.value);
    const bool has_digit = !entry.value.empty() && entry.value[0] == copy;
    const std::string_view rest = has_digit ? entry.value.substr(1) : std::string_view();
    if (found++ == 0) shared = rest;
    alike = alike && has_digit && rest == shared;
    valid = cursor->Next(&entry);
  }
  if (!thread->Check(cursor->Check(), "iterator")) return false;
  thread->stats.counts.reads++;
  if (found > 0) thread->stats.counts.found++;
  const int copies = kLastCopy - kFirstCopy + 1;
  if ((found == 0 || found == copies) && alike) return true;
  thread->run->Fail("wrong data: record " + std::to_string(number) + " has " + std::to_string(found) + " of " +
                    std::to_string(copies) + " entries" + (alike ? "" : ", which are not alike"));
  return false;
}

}  // namespace

void ReadWhileWriting(ThreadState* thread) { WithBackground(thread, WriteInBackground, ReadRandom); }
void ReadWhileScanning(ThreadState* thread) { WithBackground(thread, ScanInBackground, ReadRandom); }
void SeekWhileWriting(ThreadState* thread) { WithBackground(thread, WriteInBackground, SeekRandom); }

void ReadRandomWriteRandom(ThreadState* thread) {
  OpLoop loop(&thread->stats, thread->workload.readwrites, thread->workload.duration_seconds);
  for (int64_t i = 0; loop.More(); i++) {
    const bool is_read = i % kCycle < thread->workload.read_percent;
    const uint64_t number = thread->RandomKey();
    if (!(is_read ? thread->GetOne(number) : thread->PutOne(number))) return;
    thread->stats.FinishedOp(is_read ? OpType::kRead : OpType::kWrite);
  }
}

void ReadRandomMergeRandom(ThreadState* thread) {
  OpLoop loop(&thread->stats, thread->workload.readwrites, thread->workload.duration_seconds);
  while (loop.More()) {
    const bool is_read = thread->random.Uniform(100) < static_cast<uint64_t>(thread->workload.merge_read_percent);
    const uint64_t number = thread->RandomKey();
    if (!(is_read ? thread->GetOne(number) : thread->MergeOne(number))) return;
    thread->stats.FinishedOp(is_read ? OpType::kRead : OpType::kWrite);
  }
}

void UpdateRandom(ThreadState* thread) {
  OpLoop loop(&thread->stats, thread->workload.readwrites, thread->workload.duration_seconds);
  while (loop.More()) {
    const uint64_t number = thread->RandomKey();
    if (!thread->GetOne(number) || !thread->PutOne(number)) return;
    thread->stats.FinishedOp(OpType::kUpdate);
  }
}

void RandomWithVerify(ThreadState* thread) {
  const Workload& workload = thread->workload;
  OpLoop loop(&thread->stats, workload.readwrites, workload.duration_seconds);
  for (int64_t i = 0; loop.More(); i++) {
    const uint64_t number = thread->RandomKey();
    const int64_t at = i % kCycle;
    OpType type = OpType::kWrite;
    if (at < workload.read_percent) type = OpType::kRead;
    if (at >= workload.read_percent && at < workload.read_percent + workload.delete_percent) type = OpType::kDelete;
    const bool ok = type == OpType::kRead     ? VerifyCopies(thread, number)
                    : type == OpType::kDelete ? DeleteCopies(thread, number)
                                              : PutCopies(thread, number);
    if (!ok) return;
    thread->stats.FinishedOp(type);
  }
}

void AppendRandom(ThreadState* thread) {
  OpLoop loop(&thread->stats, thread->workload.readwrites, thread->workload.duration_seconds);
  std::string longer;
  while (loop.More()) {
    const std::string_view key = thread->key.Make(thread->RandomKey());
    std::string_view old;
    thread->AwaitRead(1);
    const Code code = thread->session->Get(key, &old);
    if (!thread->Check(code, "get")) return;
    longer.clear();
    if (code == Code::kOk) {
      thread->stats.counts.found++;
      thread->Consume(key, old);
      longer.append(old).append(",");
    }
    longer.append(thread->NextValue());
    thread->AwaitWrite(key.size() + longer.size());
    if (!thread->Check(thread->session->Put(key, longer), "put")) return;
    thread->stats.counts.writes++;
    thread->CountWritten(key.size() + longer.size());
    thread->stats.FinishedOp(OpType::kUpdate);
  }
}

}  // namespace miodb::bench
