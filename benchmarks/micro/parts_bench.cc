// Small parts: filters, checksums, the allocator of extents.

#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "benchmarks/micro/keys.h"
#include "src/nvm/space/extent_allocator.h"
#include "src/util/bytes/bloom_filter.h"
#include "src/util/bytes/crc32c.h"
#include "src/util/bytes/hash.h"

namespace miodb::micro {
namespace {

// Asks a filter of 10 bits per key for keys that it does not hold. The argument is the number of keys in it.
void FilterProbe(benchmark::State& state) {
  const auto keys = static_cast<uint64_t>(state.range(0));
  BloomFilter filter(keys, 10);
  for (uint64_t i = 0; i < keys; i++) filter.Add(static_cast<uint32_t>(Mix64(i, 1)));
  uint64_t i = 0, passed = 0;
  for (auto _ : state) passed += filter.MayContain(static_cast<uint32_t>(Mix64(i++, 2)));
  benchmark::DoNotOptimize(passed);
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(FilterProbe)->Arg(1 << 16)->Arg(1 << 23);

void FilterAdd(benchmark::State& state) {
  BloomFilter filter(1 << 20, 10);
  uint64_t i = 0;
  for (auto _ : state) filter.Add(static_cast<uint32_t>(Mix64(i++, 1)));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(FilterAdd);

// The checksum of frames and nodes.
void Checksum(benchmark::State& state) {
  const std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Hash64(bytes.data(), bytes.size(), 1));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Checksum)->Arg(64)->Arg(1024)->Arg(4096);

// The checksum of table files and of LevelDB's log format.
void ChecksumOfFiles(benchmark::State& state) {
  const std::string bytes(static_cast<size_t>(state.range(0)), 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Crc32c(bytes.data(), bytes.size()));
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(ChecksumOfFiles)->Arg(4096);

// Takes an extent and gives another one back, in a pool with this many free runs.
void AllocateExtent(benchmark::State& state) {
  constexpr uint64_t kUnit = 4096;
  const auto runs = static_cast<uint64_t>(state.range(0));
  ExtentAllocator allocator;
  for (uint64_t i = 0; i < runs; i++) allocator.Free(i * 64 * kUnit, (1 + Shuffled(i, runs) % 32) * kUnit);
  constexpr uint64_t kSize = 8 * kUnit;
  std::vector<uint64_t> taken;
  for (int i = 0; i < 16; i++) {
    taken.push_back(0);
    if (!allocator.Allocate(kSize, &taken.back())) state.SkipWithError("no space");
  }
  size_t next = 0;
  for (auto _ : state) {
    allocator.Free(taken[next], kSize);
    benchmark::DoNotOptimize(allocator.Allocate(kSize, &taken[next]));
    next = (next + 1) % taken.size();
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(AllocateExtent)->Arg(1 << 6)->Arg(1 << 12);

}  // namespace
}  // namespace miodb::micro
