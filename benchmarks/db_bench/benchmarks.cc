#include "benchmarks/db_bench/benchmarks.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>

#include "benchmarks/db_bench/config/config.h"
#include "benchmarks/db_bench/measure/stats.h"

namespace miodb::bench {

namespace {

constexpr size_t kHelpColumns = 100;

// ---- What names change about the command line's figures ----

int64_t OneIn(int64_t n, int64_t count) { return std::max<int64_t>(1, count / n); }

void Batch1000(Workload* w) { w->batch_size = 1000; }
void SyncEach(Workload* w) {
  w->sync = true;
  w->writes = OneIn(1000, w->writes);
}
void Value100K(Workload* w) {
  w->value_sizes = ValueSizes::Fixed(100 * 1000);
  w->writes = OneIn(1000, w->writes);
}
void FewReads(Workload* w) { w->reads = OneIn(1000, w->reads); }
void MergeKeys(Workload* w) {
  if (w->merge_keys > 0) w->key_space = std::min(w->key_space, static_cast<uint64_t>(w->merge_keys));
}
void OneThreadAllKeys(Workload* w) {
  w->threads = 1;
  w->reads = static_cast<int64_t>(w->key_space);
}
void MixgraphValues(Workload* w) {
  w->value_sizes = ValueSizes::Fixed(static_cast<size_t>(w->mixgraph->mix_max_value_size));
}
void ZipfianKeys(Workload* w) { w->read_zipf = std::make_shared<Zipfian>(w->key_space, w->zipf_theta); }
void HotKeys(Workload* w) { w->key_space = (w->key_space + 99) / 100; }

// ---- Messages behind result lines ----

std::string Number(int64_t n) { return std::to_string(n); }

std::string Ops(const Config&, const Stats& stats) { return "(" + Number(stats.done()) + " ops)"; }

std::string Found(const Config&, const Stats& stats) {
  return "(" + Number(stats.counts.found) + " of " + Number(stats.counts.reads) + " found)";
}

std::string FoundAndBackground(const Config& config, const Stats& stats) {
  return Found(config, stats) + " (background writes:" + Number(stats.counts.background_writes) + ")";
}

std::string FoundAndScanned(const Config& config, const Stats& stats) {
  return Found(config, stats) + " (background scanned:" + Number(stats.counts.background_scanned) + ")";
}

std::string ReadsAndWrites(const Config&, const Stats& stats) {
  const Counts& c = stats.counts;
  return "( reads:" + Number(c.reads) + " writes:" + Number(c.writes) + " total:" + Number(c.reads + c.writes) +
         " found:" + Number(c.found) + ")";
}

std::string Updates(const Config&, const Stats& stats) {
  return "( updates:" + Number(stats.counts.writes) + " found:" + Number(stats.counts.found) + ")";
}

std::string Verified(const Config&, const Stats& stats) {
  const Counts& c = stats.counts;
  return "( get:" + Number(c.reads) + " put:" + Number(c.writes) + " del:" + Number(c.deletes) +
         " total:" + Number(c.reads + c.writes + c.deletes) + " found:" + Number(c.found) + ")";
}

// The share of accesses of the hottest hundredth of the keys, if accesses were counted.
std::string HottestText(std::vector<uint32_t> accesses) {
  if (accesses.empty()) return "";
  const auto end = accesses.begin() + static_cast<std::ptrdiff_t>((accesses.size() + 99) / 100);
  std::nth_element(accesses.begin(), end - 1, accesses.end(), std::greater<>());
  const double hottest = std::accumulate(accesses.begin(), end, 0.0);
  const double all = std::accumulate(end, accesses.end(), hottest);
  char text[80];
  std::snprintf(text, sizeof(text), " (hottest 1 %% of keys: %.1f %% of accesses)", all > 0 ? 100 * hottest / all : 0);
  return text;
}

std::string MixgraphCounts(const Config&, const Stats& stats) {
  const Counts& c = stats.counts;
  const auto average = [](int64_t sum, int64_t count) {
    return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count);
  };
  char sizes[80];
  std::snprintf(sizes, sizeof(sizes), "avg size: %.1f value, %.1f scan)", average(c.value_bytes, c.writes + c.merges),
                average(c.scan_steps, c.seeks));
  std::string others;  // RocksDB's line has none.
  if (c.merges > 0) others += " Merges:" + Number(c.merges);
  if (c.deletes > 0) others += " Deletes:" + Number(c.deletes);
  return "( Gets:" + Number(c.reads - c.seeks) + " Puts:" + Number(c.writes) + " Seek:" + Number(c.seeks) + others +
         ", reads " + Number(c.found) + " in " + Number(c.reads) + " found, " + sizes + HottestText(c.key_accesses);
}

std::string BytesPerOp(const Config& config, const Stats&) {
  return config.options.block_size == 4096 ? "(4K per op)" : "(" + Number(config.options.block_size) + " per op)";
}

std::string LoadsPerOp(const Config&, const Stats&) { return "(1000 loads per op)"; }
std::string MicrosPerOp(const Config&, const Stats&) { return "(1 us per op)"; }

std::string CompressedBy(const std::string& codec, const Stats& stats) {
  if (stats.counts.compressed_bytes == 0) return "(" + codec + " failure)";
  char text[40];
  std::snprintf(text, sizeof(text), "(output: %.1f%%)",
                100 * static_cast<double>(stats.counts.compressed_bytes) / static_cast<double>(stats.bytes()));
  return text;
}

template <const char* codec>
std::string Compressed(const Config&, const Stats& stats) {
  return CompressedBy(codec, stats);
}

std::string CompressedByType(const Config& config, const Stats& stats) {
  return CompressedBy(Workload(config).compression, stats);
}

constexpr char kSnappy[] = "snappy";
constexpr char kZstd[] = "zstd";

constexpr Benchmark kBenchmarks[] = {
    {"fillseq", Action::kWorkload, true, WriteSequential},
    {"fillbatch", Action::kWorkload, true, WriteSequential, Batch1000},
    {"fillrandom", Action::kWorkload, true, WriteRandom},
    {"filluniquerandom", Action::kWorkload, true, WriteUniqueRandom},
    {"fillsync", Action::kWorkload, true, WriteRandom, SyncEach, Ops},
    {"fill100K", Action::kWorkload, true, WriteRandom, Value100K, Ops},
    {"overwrite", Action::kWorkload, false, WriteRandom},
    {"deleteseq", Action::kWorkload, false, DeleteSequential},
    {"deleterandom", Action::kWorkload, false, DeleteRandom},
    {"readseq", Action::kWorkload, false, ReadSequential},
    {"readreverse", Action::kWorkload, false, ReadReverse},
    {"readtocache", Action::kWorkload, false, ReadSequential, OneThreadAllKeys},
    {"readrandom", Action::kWorkload, false, ReadRandom, nullptr, Found},
    {"readrandomsmall", Action::kWorkload, false, ReadRandom, FewReads, Found},
    {"readmissing", Action::kWorkload, false, ReadMissing, nullptr, Found},
    {"readzipfian", Action::kWorkload, false, ReadRandom, ZipfianKeys, Found},
    {"readhot", Action::kWorkload, false, ReadRandom, HotKeys, Found},
    {"multireadrandom", Action::kWorkload, false, MultiReadRandom, nullptr, Found},
    {"newiterator", Action::kWorkload, false, CreateIterators},
    {"seekrandom", Action::kWorkload, false, SeekRandom, nullptr, Found},
    {"seekordered", Action::kWorkload, false, SeekOrdered, nullptr, Found},
    {"readwhilewriting", Action::kWorkload, false, ReadWhileWriting, nullptr, FoundAndBackground, true},
    {"readwhilescanning", Action::kWorkload, false, ReadWhileScanning, nullptr, FoundAndScanned, true},
    {"seekrandomwhilewriting", Action::kWorkload, false, SeekWhileWriting, nullptr, FoundAndBackground, true},
    {"readrandomwriterandom", Action::kWorkload, false, ReadRandomWriteRandom, nullptr, ReadsAndWrites},
    {"updaterandom", Action::kWorkload, false, UpdateRandom, nullptr, Updates},
    {"appendrandom", Action::kWorkload, false, AppendRandom, nullptr, Updates},
    {"mergerandom", Action::kWorkload, false, MergeRandom, MergeKeys},
    {"readrandommergerandom", Action::kWorkload, false, ReadRandomMergeRandom, MergeKeys, ReadsAndWrites},
    {"randomwithverify", Action::kWorkload, false, RandomWithVerify, nullptr, Verified},
    {"mixgraph", Action::kWorkload, false, MixGraph, MixgraphValues, MixgraphCounts},
    {"replay", Action::kReplay},
    {"open", Action::kOpen},
    {"recover", Action::kRecover},
    {"kill", Action::kKill},
    {"compact", Action::kCompact},
    {"compactall", Action::kCompact},
    {"flush", Action::kFlush},
    {"wait", Action::kWait},
    {"waitforcompaction", Action::kWaitForCompaction},
    {"pause", Action::kPause},
    {"stats", Action::kStats},
    {"levelstats", Action::kLevelStats},
    {"sstables", Action::kSstables},
    {"memstats", Action::kMemoryStats},
    // Names that other programs know. Neither MioDB nor the C functions of RocksDB set statistics back, keep a history
    // of them, or fill and compact a single level on purpose; a heap profile needs an allocator of its own.
    {"resetstats", Action::kNotAvailable},
    {"heapprofile", Action::kNotAvailable},
    {"fillseqdeterministic", Action::kNotAvailable},
    {"compact0", Action::kNotAvailable},
    {"compact1", Action::kNotAvailable},
    {"stats_history", Action::kNotAvailable},
    {"readwhilemerging", Action::kNotAvailable},
    {"seekrandomwhilemerging", Action::kNotAvailable},
    {"crc32c", Action::kMicro, false, Crc32cBlocks, nullptr, BytesPerOp},
    {"xxhash", Action::kMicro, false, XxHashBlocks, nullptr, BytesPerOp},
    {"xxhash64", Action::kMicro, false, XxHash64Blocks, nullptr, BytesPerOp},
    {"xxh3", Action::kMicro, false, Xxh3Blocks, nullptr, BytesPerOp},
    {"acquireload", Action::kMicro, false, AcquireLoads, nullptr, LoadsPerOp},
    {"spin", Action::kMicro, false, SpinMicros, nullptr, MicrosPerOp},
    {"compress", Action::kMicro, false, Compress, nullptr, CompressedByType},
    {"uncompress", Action::kMicro, false, Uncompress, nullptr, CompressedByType},
    {"snappycomp", Action::kMicro, false, SnappyCompress, nullptr, Compressed<kSnappy>},
    {"snappyuncomp", Action::kMicro, false, SnappyUncompress, nullptr, Compressed<kSnappy>},
    {"zstdcomp", Action::kMicro, false, ZstdCompress, nullptr, Compressed<kZstd>},
    {"zstduncomp", Action::kMicro, false, ZstdUncompress, nullptr, Compressed<kZstd>},
};

// Actions that write.
constexpr Action kWritingActions[] = {Action::kCompact, Action::kFlush, Action::kReplay};

// Workloads that write, besides those on a fresh store.
constexpr Work kWriters[] = {WriteRandom,      DeleteSequential,      DeleteRandom,         ReadWhileWriting,
                             SeekWhileWriting, ReadRandomWriteRandom, UpdateRandom,         AppendRandom,
                             RandomWithVerify, MergeRandom,           ReadRandomMergeRandom};

}  // namespace

bool Benchmark::Writes(const Config& config) const {
  const auto is_among = [](const auto& list, const auto& what) {
    return std::find(std::begin(list), std::end(list), what) != std::end(list);
  };
  if (work == MixGraph) return config.mixgraph.Writes();
  return is_fresh || is_among(kWritingActions, action) || is_among(kWriters, work);
}

const Benchmark* FindBenchmark(std::string_view name) {
  for (const Benchmark& benchmark : kBenchmarks) {
    if (name == benchmark.name) return &benchmark;
  }
  return nullptr;
}

std::string BenchmarkNames() {
  std::string text;
  std::string line = " ";
  for (const Benchmark& benchmark : kBenchmarks) {
    if (line.size() + 1 + std::string_view(benchmark.name).size() > kHelpColumns) {
      text += line + "\n";
      line = " ";
    }
    line += " " + std::string(benchmark.name);
  }
  return text + line + "\n";
}

}  // namespace miodb::bench
