// Benchmarks that read and write.

#include <memory>
#include <string>
#include <string_view>

#include "benchmarks/workload.h"

namespace miodb::bench {

namespace {

constexpr int64_t kCycle = 100;  // Reads and writes of ReadRandomWriteRandom alternate in cycles of this length.

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

}  // namespace

void ReadWhileWriting(ThreadState* thread) { WithBackground(thread, WriteInBackground, ReadRandom); }
void ReadWhileScanning(ThreadState* thread) { WithBackground(thread, ScanInBackground, ReadRandom); }
void SeekWhileWriting(ThreadState* thread) { WithBackground(thread, WriteInBackground, SeekRandom); }

void ReadRandomWriteRandom(ThreadState* thread) {
  OpLoop loop(thread->workload.readwrites, thread->workload.duration_seconds);
  for (int64_t i = 0; loop.More(); i++) {
    const bool is_read = i % kCycle < thread->workload.read_percent;
    const uint64_t number = thread->RandomKey();
    if (!(is_read ? thread->GetOne(number) : thread->PutOne(number))) return;
    thread->stats.FinishedOp(is_read ? OpType::kRead : OpType::kWrite);
  }
}

void UpdateRandom(ThreadState* thread) {
  OpLoop loop(thread->workload.readwrites, thread->workload.duration_seconds);
  while (loop.More()) {
    const uint64_t number = thread->RandomKey();
    if (!thread->GetOne(number) || !thread->PutOne(number)) return;
    thread->stats.FinishedOp(OpType::kUpdate);
  }
}

void AppendRandom(ThreadState* thread) {
  OpLoop loop(thread->workload.readwrites, thread->workload.duration_seconds);
  std::string longer;
  while (loop.More()) {
    const std::string_view key = thread->key.Make(thread->RandomKey());
    std::string_view old;
    const Code code = thread->session->Get(key, &old);
    if (!thread->Check(code, "get")) return;
    longer.clear();
    if (code == Code::kOk) {
      thread->stats.counts.found++;
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
