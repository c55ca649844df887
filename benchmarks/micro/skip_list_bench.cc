// The memtable's skip list: what an insert costs while it grows to the size of a full memtable, and what a search
// costs then. The argument is the number of entries: 65536 is a memtable of 64 MiB with values of 1 KiB, 524288 one
// with values of 100 bytes.

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "benchmarks/micro/keys.h"
#include "src/memtable/skip_list.h"

namespace miodb::micro {
namespace {

constexpr size_t kBlockBytes = size_t{2} << 20;
constexpr size_t kKeepBlocks = 64;

class List {
 public:
  explicit List(BlockPool* blocks)
      : arena_(blocks), list_(std::make_unique<SkipList>(KeyOrder(BytewiseComparator()), &arena_, 1)) {}

  void Insert(uint64_t number, uint64_t sequence) {
    char key[kKeyBytes];
    list_->Insert(MakeKey(number, key), sequence << 8 | 1, record_, sizeof(record_));
  }
  const SkipList& list() const { return *list_; }

 private:
  // Inserts do not look at the record; its place is part of the node.
  char record_[kKeyBytes + 32] = {};
  Arena arena_;
  std::unique_ptr<SkipList> list_;
};

void Insert(benchmark::State& state, bool random_order) {
  const uint64_t entries = static_cast<uint64_t>(state.range(0));
  BlockPool blocks(kBlockBytes, kKeepBlocks);
  blocks.Prepare(kKeepBlocks);
  for (auto _ : state) {
    List list(&blocks);
    for (uint64_t i = 0; i < entries; i++) list.Insert(random_order ? Shuffled(i, entries) : i, i + 1);
  }
  state.SetItemsProcessed(static_cast<int64_t>(entries) * state.iterations());
}
BENCHMARK_CAPTURE(Insert, random, true)->Arg(1 << 16)->Arg(1 << 19)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Insert, ascending, false)->Arg(1 << 16)->Unit(benchmark::kMillisecond);

void Seek(benchmark::State& state) {
  const uint64_t entries = static_cast<uint64_t>(state.range(0));
  BlockPool blocks(kBlockBytes, kKeepBlocks);
  List list(&blocks);
  for (uint64_t i = 0; i < entries; i++) list.Insert(Shuffled(i, entries), i + 1);
  uint64_t i = 0;
  for (auto _ : state) {
    char key[kKeyBytes];
    benchmark::DoNotOptimize(list.list().Seek(MakeKey(Shuffled(i++ * 7, entries), key), entries));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Seek)->Arg(1 << 16)->Arg(1 << 19);

}  // namespace
}  // namespace miodb::micro
