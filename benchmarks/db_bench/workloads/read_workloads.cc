// Benchmarks that read only.

#include <memory>
#include <string_view>
#include <vector>

#include "benchmarks/db_bench/workloads/workload.h"

namespace miodb::bench {

namespace {

// The size of the random step of SeekOrdered, exclusive.
constexpr uint64_t kOrderedStep = 100;

enum class Direction { kForward, kBackward };

template <Direction direction>
void Scan(ThreadState* thread) {
  const std::unique_ptr<Cursor> cursor = thread->session->NewCursor();
  OpLoop loop(&thread->stats, thread->workload.reads, 0);
  Entry entry;
  bool valid = direction == Direction::kForward ? cursor->SeekToFirst(&entry) : cursor->SeekToLast(&entry);
  while (valid && loop.More()) {
    thread->Consume(entry.key, entry.value);
    valid = direction == Direction::kForward ? cursor->Next(&entry) : cursor->Prev(&entry);
    thread->stats.FinishedOp(OpType::kRead);
  }
  thread->Check(cursor->Check(), "iterator");
}

// The key at which a scan from "number" ends, exclusive; empty if it has no end.
std::string_view ScanBound(const Workload& workload, uint64_t number, KeyBuffer* buffer) {
  const uint64_t distance = workload.max_scan_distance;
  if (distance == 0) return {};
  if (!workload.reverse) return number + distance < workload.key_space ? buffer->Make(number + distance) : "";
  return number >= distance ? buffer->Make(number - distance) : "";
}

}  // namespace

void ReadSequential(ThreadState* thread) { Scan<Direction::kForward>(thread); }
void ReadReverse(ThreadState* thread) { Scan<Direction::kBackward>(thread); }

void ReadRandom(ThreadState* thread) {
  OpLoop loop(&thread->stats, thread->workload.reads, thread->workload.duration_seconds);
  while (loop.More()) {
    if (!thread->GetOne(thread->ReadKey())) return;
    thread->stats.FinishedOp(OpType::kRead);
  }
}

void ReadMissing(ThreadState* thread) {
  OpLoop loop(&thread->stats, thread->workload.reads, thread->workload.duration_seconds);
  while (loop.More()) {
    thread->AwaitRead(1);
    std::string_view value;
    const Code code = thread->session->Get(thread->key.MakeMissing(thread->RandomKey()), &value);
    if (!thread->Check(code, "get")) return;
    thread->stats.counts.reads++;
    if (code == Code::kOk) thread->stats.counts.found++;
    thread->stats.FinishedOp(OpType::kRead);
  }
}

void MultiReadRandom(ThreadState* thread) {
  const Workload& workload = thread->workload;
  OpLoop loop(&thread->stats, workload.reads, workload.duration_seconds);
  std::vector<KeyBuffer> buffers;
  std::vector<std::string_view> keys;
  const auto found = [&](size_t index, std::string_view value) {
    thread->stats.counts.found++;
    thread->Consume(keys[index], value);
  };
  while (const int64_t count = loop.Take(workload.batch_size)) {
    thread->AwaitRead(static_cast<uint64_t>(count));
    while (buffers.size() < static_cast<size_t>(count)) buffers.push_back(thread->key);
    keys.clear();
    uint64_t number = 0;
    for (size_t i = 0; i < static_cast<size_t>(count); i++) {
      const bool is_first = keys.empty() || workload.multiread_stride == 0;
      number = is_first ? thread->ReadKey() : (number + static_cast<uint64_t>(workload.multiread_stride));
      keys.push_back(buffers[i].Make(number % workload.key_space));
    }
    if (!thread->Check(thread->session->MultiGet(keys, found), "multiget")) return;
    thread->stats.counts.reads += count;
    thread->stats.FinishedOp(OpType::kRead, count);
  }
}

void CreateIterators(ThreadState* thread) {
  OpLoop loop(&thread->stats, thread->workload.reads, thread->workload.duration_seconds);
  while (loop.More()) {
    const std::unique_ptr<Cursor> cursor = thread->session->NewCursor();
    if (!thread->Check(cursor->Check(), "iterator")) return;
    thread->stats.FinishedOp(OpType::kOther);
  }
}

void SeekRandom(ThreadState* thread) {
  const Workload& workload = thread->workload;
  OpLoop loop(&thread->stats, workload.reads, workload.duration_seconds);
  KeyBuffer bound_buffer = thread->key;
  while (loop.More()) {
    thread->AwaitRead(1);
    const uint64_t number = thread->RandomKey();
    const std::string_view key = thread->key.Make(number);
    const std::string_view bound = ScanBound(workload, number, &bound_buffer);
    const std::unique_ptr<Cursor> cursor = thread->session->NewCursor();
    Entry entry;
    bool valid = cursor->Seek(key, &entry);
    thread->stats.counts.reads++;
    if (valid && entry.key == key) thread->stats.counts.found++;
    for (int64_t step = 0; valid; step++) {
      thread->Consume(entry.key, entry.value);
      if (step == workload.seek_nexts) break;
      valid = workload.reverse ? cursor->Prev(&entry) : cursor->Next(&entry);
      if (valid && !bound.empty()) valid = workload.reverse ? entry.key > bound : entry.key < bound;
    }
    if (!thread->Check(cursor->Check(), "iterator")) return;
    thread->stats.FinishedOp(OpType::kSeek);
  }
}

void SeekOrdered(ThreadState* thread) {
  const std::unique_ptr<Cursor> cursor = thread->session->NewCursor();
  OpLoop loop(&thread->stats, thread->workload.reads, thread->workload.duration_seconds);
  uint64_t number = 0;
  while (loop.More()) {
    thread->AwaitRead(1);
    number = (number + thread->random.Uniform(kOrderedStep)) % thread->workload.key_space;
    const std::string_view key = thread->key.Make(number);
    Entry entry;
    thread->stats.counts.reads++;
    if (cursor->Seek(key, &entry)) {
      if (entry.key == key) thread->stats.counts.found++;
      thread->Consume(entry.key, entry.value);
    }
    if (!thread->Check(cursor->Check(), "iterator")) return;
    thread->stats.FinishedOp(OpType::kSeek);
  }
}

}  // namespace miodb::bench
