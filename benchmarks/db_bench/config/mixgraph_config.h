// The flags of the benchmark mixgraph, a model of real workloads (docs/tracing.md explains it): which keys are hot, how
// large values are, how long scans are, in which mix, and how the rate of calls goes up and down.
//
// Threads: filled before the first thread starts, read-only afterwards.
// Units: bytes, entries, operations a second; x of the range hotness is a rank, from 1.

#ifndef MIODB_BENCHMARKS_DB_BENCH_CONFIG_MIXGRAPH_CONFIG_H_
#define MIODB_BENCHMARKS_DB_BENCH_CONFIG_MIXGRAPH_CONFIG_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "benchmarks/common/flags.h"

namespace miodb::bench {

// Generalised Pareto distribution: a share of (1 + k (x - theta) / sigma)^(-1/k) of all values exceeds x.
struct Pareto {
  double theta = 0;
  double k = 0;
  double sigma = 0;

  // The value that this share of all values exceeds, rounded up. REQUIRES: 0 < survival <= 1.
  int64_t Quantile(double survival) const;
};

// A share of all values, whose sizes are alike from least to most.
struct SizeShare {
  double share = 0;
  int64_t least = 0;
  int64_t most = 0;
};

// The share of a column family in all calls, and of the kinds in its own: gets, puts, seeks, merges, deletes.
struct FamilyMix {
  double share = 0;
  std::array<double, 5> kinds = {};  // with the sum 1
};

struct MixgraphConfig {
  std::string mixgraph_preset = "none";  // The service whose figures are the defaults (mixgraph_presets.h).
  // Hotness of key ranges by rank: a e^(bx) + c e^(dx). All 0: ranges are alike.
  double keyrange_dist_a = 0;
  double keyrange_dist_b = 0;
  double keyrange_dist_c = 0;
  double keyrange_dist_d = 0;
  int64_t keyrange_num = 1;
  // The share of accesses that go to the x hottest keys (of a range): a x^b. Either 0: keys are alike.
  double key_dist_a = 0;
  double key_dist_b = 0;
  bool key_dist_together = false;  // The hottest keys of a range are its first ones, in the order of their ranks.
  Pareto value{0, 0.2615, 25.45};
  std::vector<SizeShare> value_shares;  // Used instead of value unless empty; the shares have the sum 1.
  Pareto iter{0, 2.517, 14.236};
  double mix_get_ratio = 1;
  double mix_put_ratio = 0;
  double mix_seek_ratio = 0;
  double mix_merge_ratio = 0;
  double mix_delete_ratio = 0;
  std::string mix_column_families;  // the next in words; empty: all families have the mix above
  int64_t mix_max_scan_len = 10000;
  int64_t mix_max_value_size = 1024;
  // Rate in operations a second, t seconds after the start: a sin(bt + c) + d.
  bool sine_mix_rate = false;
  int64_t sine_mix_rate_interval_milliseconds = 10000;
  double sine_mix_rate_noise = 0;
  double sine_a = 1;
  double sine_b = 1;
  double sine_c = 0;
  double sine_d = 1;
  // The same curve in bytes a second for the writers of every benchmark.
  bool sine_write_rate = false;
  int64_t sine_write_rate_interval_milliseconds = 10000;
  bool mixgraph_compat = false;
  bool mixgraph_strict = false;
  bool mixgraph_hotness = false;  // Accesses of each key are counted.

  // ---- Derived, by FinishMixgraph
  std::vector<FamilyMix> family_mixes;  // Of the families in their order; then the ratios above are their sums.
  bool is_throttled = false;

  double SineRate(double seconds) const;
  double MixSum() const { return mix_get_ratio + mix_put_ratio + mix_seek_ratio + mix_merge_ratio + mix_delete_ratio; }
  bool Writes() const { return mix_put_ratio > 0 || mix_merge_ratio > 0 || mix_delete_ratio > 0; }
  bool HasRangeHotness() const {
    return keyrange_dist_a != 0 || keyrange_dist_b != 0 || keyrange_dist_c != 0 || keyrange_dist_d != 0;
  }
  bool HasKeyHotness() const { return key_dist_a != 0 && key_dist_b != 0; }
  int64_t Ranges() const { return keyrange_num < 1 ? 1 : keyrange_num; }
  // The hotness of the range of this rank; 0 where the formula gives next to nothing or less.
  double RangeHotness(int64_t rank) const;
  // How many of the hottest keys have this share of all accesses. REQUIRES: HasKeyHotness().
  uint64_t KeyRank(double share) const;
};

void RegisterMixgraphFlags(FlagSet* flags, MixgraphConfig* config);

// Checks the key ranges against the number of keys, which "what" tells. Returns what is wrong, or nothing.
std::string CheckRanges(const MixgraphConfig& config, int64_t num, const std::string& what);

// Checks what one flag alone cannot, against the numbers of keys and of column families. Returns what is wrong, or
// nothing.
std::string FinishMixgraph(const FlagSet& flags, int64_t num, int families, MixgraphConfig* config);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_CONFIG_MIXGRAPH_CONFIG_H_
