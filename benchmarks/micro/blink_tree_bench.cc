// The memtable's tree: what an insert costs while it grows to the size of a full memtable, and what a search
// costs then. The argument is the number of entries: 65536 is a memtable of 64 MiB with values of 1 KiB, 524288 one
// with values of 100 bytes.

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "benchmarks/micro/keys.h"
#include "src/memtable/blink_tree.h"

namespace miodb::micro {
namespace {

constexpr size_t kBlockBytes = size_t{2} << 20;
constexpr size_t kKeepBlocks = 64;

class Tree {
 public:
  explicit Tree(BlockPool* blocks)
      : arena_(blocks), tree_(std::make_unique<BLinkTree>(KeyOrder(BytewiseComparator()), &arena_)) {}

  void Insert(uint64_t number, uint64_t sequence) {
    char key[kKeyBytes];
    tree_->Insert(MakeKey(number, key), sequence << 8 | 1, record_, sizeof(record_));
  }
  const BLinkTree& tree() const { return *tree_; }

 private:
  // Inserts do not look at the record; its place is part of the entry.
  char record_[kKeyBytes + 32] = {};
  Arena arena_;
  std::unique_ptr<BLinkTree> tree_;
};

void Insert(benchmark::State& state, bool random_order) {
  const uint64_t entries = static_cast<uint64_t>(state.range(0));
  BlockPool blocks(kBlockBytes, kKeepBlocks);
  blocks.Prepare(kKeepBlocks);
  for (auto _ : state) {
    Tree tree(&blocks);
    for (uint64_t i = 0; i < entries; i++) tree.Insert(random_order ? Shuffled(i, entries) : i, i + 1);
  }
  state.SetItemsProcessed(static_cast<int64_t>(entries) * state.iterations());
}
BENCHMARK_CAPTURE(Insert, random, true)->Arg(1 << 16)->Arg(1 << 19)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Insert, ascending, false)->Arg(1 << 16)->Unit(benchmark::kMillisecond);

void Seek(benchmark::State& state) {
  const uint64_t entries = static_cast<uint64_t>(state.range(0));
  BlockPool blocks(kBlockBytes, kKeepBlocks);
  Tree tree(&blocks);
  for (uint64_t i = 0; i < entries; i++) tree.Insert(Shuffled(i, entries), i + 1);
  uint64_t i = 0;
  for (auto _ : state) {
    char key[kKeyBytes];
    benchmark::DoNotOptimize(tree.tree().Seek(MakeKey(Shuffled(i++ * 7, entries), key), entries));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(Seek)->Arg(1 << 16)->Arg(1 << 19);

}  // namespace
}  // namespace miodb::micro
