// The next operation of mixgraph: its kind, its key, and the size of its value or the length of its scan.
//
// The model. Keys lie in ranges of equal size. A range is drawn by its hotness, a key in it by a power law over ranks;
// where a rank lies in its range is random but fixed, or, with key_dist_together, ranks lie in their order. Value sizes
// and scan lengths are Pareto distributed; instead of that, value sizes have shares (SizeShare) if the preset gives
// shares.
//
// Where column families have mixes of their own, kind and family are drawn together: the kind by what all families have
// of it, then a family by its part of that. Family f of n has the keys whose numbers are f modulo n (family_name.h), so
// the key of the model moves to the nearest one of the family, and each family has the hotness of the whole.
//
// With mixgraph_compat everything is drawn as RocksDB 7 does it: one random number decides about kind, key, size and
// length, hotness of ranges is rounded to whole numbers, and without key_dist the ranges are not looked at. Otherwise
// each has a random number of its own and the probabilities are exact.
//
// Threads: each thread has its model.

#ifndef MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_MIXGRAPH_MODEL_H_
#define MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_MIXGRAPH_MODEL_H_

#include <array>
#include <cstdint>
#include <vector>

#include "benchmarks/common/draw/random.h"
#include "benchmarks/db_bench/config/mixgraph_config.h"

namespace miodb::bench {

enum class MixKind { kGet, kPut, kSeek, kMerge, kDelete };

struct MixOperation {
  MixKind kind = MixKind::kGet;
  uint64_t key = 0;    // Its number.
  int64_t amount = 0;  // Bytes of the value of a put or of an operand, steps of a scan; else 0.
};

// The ranges in the order in which they lie in the key space, which is a fixed shuffle of the order of their hotness.
class KeyRanges {
 public:
  explicit KeyRanges(const MixgraphConfig& config);

  // The range of a number that is uniform in [0, 1).
  uint64_t Pick(double unit) const;
  // The range of any number, with rounded weights.
  uint64_t PickRounded(uint64_t number) const;

  // The rank of each range, from 1 for the hottest.
  const std::vector<int64_t>& ranks() const { return ranks_; }
  // Rounded weights and their sum, by rank from 1; the first element is not used.
  const std::vector<int64_t>& weights() const { return weights_; }
  int64_t total_weight() const { return total_weight_; }

 private:
  std::vector<int64_t> weights_;
  int64_t total_weight_ = 0;
  std::vector<int64_t> ranks_;
  std::vector<double> ends_;  // Sums of hotness, up to and with each range.
  std::vector<int64_t> rounded_starts_;
};

class MixgraphModel {
 public:
  // The config outlives the model. REQUIRES: keys >= config.Ranges(), and a key for each family with
  // a mix.
  MixgraphModel(const MixgraphConfig& config, uint64_t keys);

  // "base" is a random key number, which is the key where the config has no hotness of any kind, and with
  // mixgraph_compat decides everything.
  MixOperation Next(uint64_t base, Random* random) const;

 private:
  MixOperation NextExact(uint64_t base, Random* random) const;
  MixOperation NextShipped(uint64_t base) const;
  uint64_t ExactKey(uint64_t base, Random* random) const;
  uint64_t KeyInFamily(uint64_t key, MixKind kind, double unit) const;
  uint64_t ShippedKey(uint64_t base) const;
  int64_t Amount(MixKind kind, double survival) const;

  const MixgraphConfig& config_;
  const uint64_t keys_;
  const uint64_t keys_per_range_;
  std::array<double, 5> kind_ends_ = {};  // Upper ends of the kinds in [0, 1], in their order.
  // By kind and family: upper ends of the families in [0, 1]. Empty: families have no mixes of their own.
  std::array<std::vector<double>, 5> family_ends_;
  uint64_t rounded_gets_ = 0;  // Upper ends of the kinds among rounded_all_ numbers.
  uint64_t rounded_gets_and_puts_ = 0;
  uint64_t rounded_all_ = 0;
  KeyRanges ranges_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_WORKLOADS_MIXGRAPH_MODEL_H_
