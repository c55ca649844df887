// Benchmarks that read only.

#include "benchmarks/workload.h"

namespace miodb::bench {

namespace {

// The size of the random step of SeekOrdered, exclusive.
constexpr uint64_t kOrderedStep = 100;

enum class Direction { kForward, kBackward };

template <Direction direction>
void Scan(ThreadState* thread) {
  const std::unique_ptr<Cursor> cursor = thread->session->NewCursor();
  OpLoop loop(thread->workload.reads, 0);
  Entry entry;
  bool valid = direction == Direction::kForward ? cursor->SeekToFirst(&entry) : cursor->SeekToLast(&entry);
  while (valid && loop.More()) {
    thread->Consume(entry.key, entry.value);
    valid = direction == Direction::kForward ? cursor->Next(&entry) : cursor->Prev(&entry);
    thread->stats.FinishedOp(OpType::kRead);
  }
  thread->Check(cursor->Check(), "iterator");
}

template <bool missing>
void Gets(ThreadState* thread) {
  OpLoop loop(thread->workload.reads, thread->workload.duration_seconds);
  while (loop.More()) {
    const uint64_t number = thread->RandomKey();
    const std::string_view key = missing ? thread->key.MakeMissing(number) : thread->key.Make(number);
    std::string_view value;
    const Code code = thread->session->Get(key, &value);
    if (!thread->Check(code, "get")) return;
    thread->stats.counts.reads++;
    if (code == Code::kOk) {
      thread->stats.counts.found++;
      thread->Consume(key, value);
    }
    thread->stats.FinishedOp(OpType::kRead);
  }
}

}  // namespace

void ReadSequential(ThreadState* thread) { Scan<Direction::kForward>(thread); }
void ReadReverse(ThreadState* thread) { Scan<Direction::kBackward>(thread); }
void ReadRandom(ThreadState* thread) { Gets<false>(thread); }
void ReadMissing(ThreadState* thread) { Gets<true>(thread); }

void SeekRandom(ThreadState* thread) {
  const Workload& workload = thread->workload;
  OpLoop loop(workload.reads, workload.duration_seconds);
  while (loop.More()) {
    const std::string_view key = thread->key.Make(thread->RandomKey());
    const std::unique_ptr<Cursor> cursor = thread->session->NewCursor();
    Entry entry;
    bool valid = cursor->Seek(key, &entry);
    thread->stats.counts.reads++;
    if (valid && entry.key == key) thread->stats.counts.found++;
    for (int64_t step = 0; valid; step++) {
      thread->Consume(entry.key, entry.value);
      if (step == workload.seek_nexts) break;
      valid = workload.reverse ? cursor->Prev(&entry) : cursor->Next(&entry);
    }
    if (!thread->Check(cursor->Check(), "iterator")) return;
    thread->stats.FinishedOp(OpType::kSeek);
  }
}

void SeekOrdered(ThreadState* thread) {
  const std::unique_ptr<Cursor> cursor = thread->session->NewCursor();
  OpLoop loop(thread->workload.reads, thread->workload.duration_seconds);
  uint64_t number = 0;
  while (loop.More()) {
    number = (number + thread->random.Uniform(kOrderedStep)) % thread->workload.key_space;
    const std::string_view key = thread->key.Make(number);
    Entry entry;
    thread->stats.counts.reads++;
    if (cursor->Seek(key, &entry) && entry.key == key) thread->stats.counts.found++;
    if (!thread->Check(cursor->Check(), "iterator")) return;
    thread->stats.FinishedOp(OpType::kSeek);
  }
}

}  // namespace miodb::bench
