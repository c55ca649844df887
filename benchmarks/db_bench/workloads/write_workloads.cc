// Benchmarks that write or delete only.

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "benchmarks/db_bench/workloads/permutation.h"
#include "benchmarks/db_bench/workloads/workload.h"

namespace miodb::bench {

namespace {

enum class Order { kSequential, kRandom, kUnique };
enum class Update { kPut, kDelete, kMerge };

// Chooses the key of the next entry.
//   kSequential  0, 1, 2, ...
//   kRandom      any
//   kUnique      every key once, in an order without pattern, of which each thread takes a part. With
//                overwrite_probability an entry is instead one of the last overwrite_window keys once more.
class KeyPicker {
 public:
  KeyPicker(ThreadState* thread, Order order)
      : thread_(thread),
        order_(order),
        permutation_(thread->workload.key_space, thread->run->seed),
        first_(ShareOf(static_cast<uint64_t>(thread->thread))) {}

  // How many keys this thread has in the order kUnique.
  int64_t UniqueKeys() const {
    return static_cast<int64_t>(ShareOf(static_cast<uint64_t>(thread_->thread) + 1) - first_);
  }

  uint64_t Next() {
    if (order_ == Order::kRandom) return thread_->RandomKey();
    const Workload& workload = thread_->workload;
    if (order_ == Order::kSequential) return picked_++ % workload.key_space;
    if (picked_ > 0 && workload.overwrite_probability > 0 && thread_->random.Unit() < workload.overwrite_probability) {
      const uint64_t back = thread_->random.Uniform(std::min(workload.overwrite_window, picked_));
      return permutation_.At(first_ + picked_ - 1 - back);
    }
    return permutation_.At(first_ + picked_++);
  }

 private:
  // Where the part of a thread begins.
  uint64_t ShareOf(uint64_t index) const {
    const Workload& workload = thread_->workload;
    return static_cast<uint64_t>(static_cast<unsigned __int128>(workload.key_space) * index /  // NOLINT
                                 static_cast<uint64_t>(workload.threads));
  }

  ThreadState* const thread_;
  const Order order_;
  const Permutation permutation_;
  const uint64_t first_;
  uint64_t picked_ = 0;  // New keys.
};

template <Update update>
bool WriteOne(ThreadState* thread, uint64_t number) {
  if constexpr (update == Update::kPut) return thread->PutOne(number);
  if constexpr (update == Update::kMerge) return thread->MergeOne(number);
  const std::string_view key = thread->key.Make(number);
  thread->AwaitWrite(key.size());
  thread->CountDeleted(key.size());
  const bool single = thread->workload.single_deletes;
  return thread->Check(single ? thread->session->SingleDelete(key) : thread->session->Delete(key), "delete");
}

template <Update update>
bool WriteBatchOf(ThreadState* thread, KeyPicker* keys, int64_t entries) {
  uint64_t bytes = 0;
  for (int64_t i = 0; i < entries; i++) {
    const std::string_view key = thread->key.Make(keys->Next());
    bytes += key.size();
    if constexpr (update == Update::kDelete) {
      thread->workload.single_deletes ? thread->session->BatchSingleDelete(key) : thread->session->BatchDelete(key);
      continue;
    }
    const std::string_view value = thread->NextValue();
    bytes += value.size();
    if (update == Update::kPut) {
      thread->session->BatchPut(key, value);
    } else if (!thread->session->BatchMerge(key, value)) {
      return thread->Check(thread->session->Merge(key, value), "merge");  // says that it cannot
    }
  }
  thread->AwaitWrite(bytes);
  update == Update::kDelete ? thread->CountDeleted(bytes) : thread->CountWritten(bytes);
  return thread->Check(thread->session->BatchWrite(), update == Update::kDelete ? "delete" : "write");
}

// The time of an operation ends when its write has returned; a batch is one operation of many entries.
template <Update update>
void Write(ThreadState* thread, Order order, int64_t ops) {
  const OpType type = update == Update::kDelete ? OpType::kDelete : OpType::kWrite;
  const int64_t batch = thread->workload.batch_size;
  KeyPicker keys(thread, order);
  if (order == Order::kUnique) ops = keys.UniqueKeys();
  OpLoop loop(&thread->stats, ops, order == Order::kRandom ? thread->workload.duration_seconds : 0);
  while (const int64_t entries = loop.Take(batch)) {
    const bool ok = batch == 1 ? WriteOne<update>(thread, keys.Next()) : WriteBatchOf<update>(thread, &keys, entries);
    if (!ok) return;
    thread->stats.FinishedOp(type, entries);
  }
}

}  // namespace

void WriteSequential(ThreadState* thread) { Write<Update::kPut>(thread, Order::kSequential, thread->workload.num); }
void WriteUniqueRandom(ThreadState* thread) { Write<Update::kPut>(thread, Order::kUnique, 0); }
void WriteRandom(ThreadState* thread) { Write<Update::kPut>(thread, Order::kRandom, thread->workload.writes); }

void MergeRandom(ThreadState* thread) { Write<Update::kMerge>(thread, Order::kRandom, thread->workload.readwrites); }

void DeleteSequential(ThreadState* thread) {
  Write<Update::kDelete>(thread, Order::kSequential, thread->workload.deletes);
}
void DeleteRandom(ThreadState* thread) { Write<Update::kDelete>(thread, Order::kRandom, thread->workload.deletes); }

}  // namespace miodb::bench
