// Benchmarks that read and write.

#include "benchmarks/workload.h"

namespace miodb::bench {

namespace {

constexpr int64_t kCycle = 100;  // Reads and writes of ReadRandomWriteRandom alternate in cycles of this length.

bool GetOne(ThreadState* thread, uint64_t number) {
  const std::string_view key = thread->key.Make(number);
  std::string_view value;
  const Code code = thread->session->Get(key, &value);
  if (!thread->Check(code, "get")) return false;
  thread->stats.counts.reads++;
  if (code == Code::kOk) {
    thread->stats.counts.found++;
    thread->Consume(key, value);
  }
  return true;
}

bool PutOne(ThreadState* thread, uint64_t number) {
  const std::string_view key = thread->key.Make(number);
  const std::string_view value = thread->values.Next(thread->workload.value_size);
  if (!thread->Check(thread->session->Put(key, value), "put")) return false;
  thread->stats.counts.writes++;
  thread->stats.AddBytes(key.size() + value.size());
  return true;
}

void WriteUntilReadersAreDone(ThreadState* thread) {
  while (thread->run->MeasuredThreadsRun() && !Interrupt::StopRequested()) {
    if (!PutOne(thread, thread->RandomKey())) return;
    thread->stats.counts.background_writes++;
  }
}

}  // namespace

void ReadWhileWriting(ThreadState* thread) {
  if (thread->thread == 0) {
    WriteUntilReadersAreDone(thread);
  } else {
    ReadRandom(thread);
  }
}

void ReadRandomWriteRandom(ThreadState* thread) {
  OpLoop loop(thread->workload.readwrites, thread->workload.duration_seconds);
  for (int64_t i = 0; loop.More(); i++) {
    const bool is_read = i % kCycle < thread->workload.read_percent;
    const uint64_t number = thread->RandomKey();
    if (!(is_read ? GetOne(thread, number) : PutOne(thread, number))) return;
    thread->stats.FinishedOp(is_read ? OpType::kRead : OpType::kWrite);
  }
}

void UpdateRandom(ThreadState* thread) {
  OpLoop loop(thread->workload.readwrites, thread->workload.duration_seconds);
  while (loop.More()) {
    const uint64_t number = thread->RandomKey();
    if (!GetOne(thread, number) || !PutOne(thread, number)) return;
    thread->stats.FinishedOp(OpType::kUpdate);
  }
}

}  // namespace miodb::bench
