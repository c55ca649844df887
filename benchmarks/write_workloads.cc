// Benchmarks that write or delete only.

#include "benchmarks/workload.h"

namespace miodb::bench {

namespace {

enum class Order { kSequential, kRandom };
enum class Update { kPut, kDelete };

uint64_t PickKey(ThreadState* thread, Order order, int64_t i) {
  if (order == Order::kRandom) return thread->RandomKey();
  return static_cast<uint64_t>(i) % thread->workload.key_space;
}

template <Update update>
bool WriteOne(ThreadState* thread, uint64_t number) {
  const std::string_view key = thread->key.Make(number);
  if constexpr (update == Update::kDelete) return thread->Check(thread->session->Delete(key), "delete");
  const std::string_view value = thread->values.Next(thread->workload.value_size);
  thread->stats.AddBytes(key.size() + value.size());
  return thread->Check(thread->session->Put(key, value), "put");
}

template <Update update>
bool WriteBatchOf(ThreadState* thread, Order order, int64_t first, int64_t entries) {
  for (int64_t i = 0; i < entries; i++) {
    const std::string_view key = thread->key.Make(PickKey(thread, order, first + i));
    if constexpr (update == Update::kDelete) {
      thread->session->BatchDelete(key);
      continue;
    }
    const std::string_view value = thread->values.Next(thread->workload.value_size);
    thread->stats.AddBytes(key.size() + value.size());
    thread->session->BatchPut(key, value);
  }
  return thread->Check(thread->session->BatchWrite(), update == Update::kDelete ? "delete" : "put");
}

// The time of an operation ends when its write has returned; a batch is one operation of many entries.
template <Update update>
void Write(ThreadState* thread, Order order, int64_t ops) {
  const OpType type = update == Update::kDelete ? OpType::kDelete : OpType::kWrite;
  const int64_t batch = thread->workload.batch_size;
  OpLoop loop(ops, order == Order::kRandom ? thread->workload.duration_seconds : 0);
  int64_t i = 0;
  while (const int64_t entries = loop.Take(batch)) {
    const bool ok = batch == 1 ? WriteOne<update>(thread, PickKey(thread, order, i))
                               : WriteBatchOf<update>(thread, order, i, entries);
    if (!ok) return;
    thread->stats.FinishedOp(type, entries);
    i += entries;
  }
}

}  // namespace

void WriteSequential(ThreadState* thread) { Write<Update::kPut>(thread, Order::kSequential, thread->workload.num); }
void WriteRandom(ThreadState* thread) { Write<Update::kPut>(thread, Order::kRandom, thread->workload.writes); }

void DeleteSequential(ThreadState* thread) {
  Write<Update::kDelete>(thread, Order::kSequential, thread->workload.deletes);
}
void DeleteRandom(ThreadState* thread) { Write<Update::kDelete>(thread, Order::kRandom, thread->workload.deletes); }

}  // namespace miodb::bench
