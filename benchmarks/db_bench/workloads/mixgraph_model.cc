#include "benchmarks/db_bench/workloads/mixgraph_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <random>

namespace miodb::bench {

namespace {

constexpr int64_t kLeastValueBytes = 10;

// The place of a rank: any function that scatters well would do.
uint64_t Scatter(uint64_t rank) { return SplitMix(&rank); }

// The one that RocksDB has. Seeding the generator costs microseconds.
uint64_t ShippedScatter(uint64_t rank) { return std::mt19937_64(rank)(); }

// The size of the value for which this share of all values is larger.
int64_t SizeAmong(const std::vector<SizeShare>& shares, double survival) {
  double place = 1 - survival;
  for (const SizeShare& size : shares) {
    if (place < size.share)
      return size.least + static_cast<int64_t>(place / size.share * static_cast<double>(size.most - size.least + 1));
    place -= size.share;
  }
  return shares.back().most;
}

}  // namespace

KeyRanges::KeyRanges(const MixgraphConfig& config) {
  const int64_t count = config.Ranges();
  weights_.assign(static_cast<size_t>(count) + 1, 0);
  // The coldest range with any hotness decides what a weight of 1 is.
  double scale = 0;
  for (int64_t rank = count; rank >= 1; rank--) {
    const double hotness = config.RangeHotness(rank);
    if (scale == 0 && hotness > 0) scale = std::floor(1 / hotness) + 1;
    weights_[static_cast<size_t>(rank)] = static_cast<int64_t>(std::floor(scale * hotness));
  }
  total_weight_ = std::accumulate(weights_.begin(), weights_.end(), int64_t{0});

  // RocksDB's shuffle, so that published key spaces look the same here.
  ranks_.resize(static_cast<size_t>(count));
  std::iota(ranks_.rbegin(), ranks_.rend(), 1);
  std::mt19937_64 generator(static_cast<uint64_t>(total_weight_));
  for (size_t i = 0; i < ranks_.size(); i++) std::swap(ranks_[i], ranks_[generator() % ranks_.size()]);

  double hotness = 0;
  int64_t start = 0;
  for (int64_t rank : ranks_) {
    ends_.push_back(hotness += config.RangeHotness(rank));
    rounded_starts_.push_back(start);
    start += weights_[static_cast<size_t>(rank)];
  }
}

uint64_t KeyRanges::Pick(double unit) const {
  // The first range that ends above; one without hotness ends where it starts, so it is never that.
  const auto found = std::upper_bound(ends_.begin(), ends_.end(), unit * ends_.back());
  const auto index = found - ends_.begin();
  return static_cast<uint64_t>(std::min(index, static_cast<std::ptrdiff_t>(ends_.size()) - 1));
}

uint64_t KeyRanges::PickRounded(uint64_t number) const {
  const int64_t place = static_cast<int64_t>(number % static_cast<uint64_t>(std::max<int64_t>(total_weight_, 1)));
  const auto found = std::upper_bound(rounded_starts_.begin(), rounded_starts_.end(), place);
  return static_cast<uint64_t>(found - rounded_starts_.begin() - 1);
}

MixgraphModel::MixgraphModel(const MixgraphConfig& config, uint64_t keys)
    : config_(config), keys_(keys), keys_per_range_(keys / static_cast<uint64_t>(config.Ranges())), ranges_(config) {
  const double sum = config.MixSum();
  const std::array<double, 5> ratios = {config.mix_get_ratio, config.mix_put_ratio, config.mix_seek_ratio,
                                        config.mix_merge_ratio, config.mix_delete_ratio};
  std::partial_sum(ratios.begin(), ratios.end(), kind_ends_.begin());
  for (double& end : kind_ends_) end /= sum;
  for (size_t kind = 0; kind < family_ends_.size(); kind++) {
    double end = 0;
    for (const FamilyMix& mix : config.family_mixes) family_ends_[kind].push_back(end += mix.share * mix.kinds[kind]);
    for (double& family_end : family_ends_[kind]) family_end /= end > 0 ? end : 1;
  }
  const auto rounded = [sum](double ratio) { return static_cast<uint64_t>(std::ceil(1000 * ratio / sum)); };
  rounded_gets_ = rounded(config.mix_get_ratio);
  rounded_gets_and_puts_ = rounded_gets_ + rounded(config.mix_put_ratio);
  rounded_all_ = rounded_gets_and_puts_ + rounded(config.mix_seek_ratio);
}

MixOperation MixgraphModel::Next(uint64_t base, Random* random) const {
  return config_.mixgraph_compat ? NextShipped(base) : NextExact(base, random);
}

int64_t MixgraphModel::Amount(MixKind kind, double survival) const {
  if (kind == MixKind::kGet || kind == MixKind::kDelete) return 0;
  const bool is_put = kind != MixKind::kSeek;
  if (is_put && !config_.value_shares.empty()) return SizeAmong(config_.value_shares, survival);
  const int64_t most = is_put ? config_.mix_max_value_size : config_.mix_max_scan_len;
  int64_t amount = (is_put ? config_.value : config_.iter).Quantile(survival);
  if (config_.mixgraph_strict) {
    amount = std::min(amount, most);
  } else if (is_put ? amount > most : amount >= most) {
    amount %= most;
  }
  // RocksDB folds after it has looked for small ones, so its sizes may be.
  return std::max(amount, is_put ? kLeastValueBytes : int64_t{0});
}

MixOperation MixgraphModel::NextExact(uint64_t base, Random* random) const {
  MixOperation operation;
  // The first kind that ends above; one without a share ends where it starts, so it is never that.
  const auto kind = std::upper_bound(kind_ends_.begin(), kind_ends_.end() - 1, random->Unit()) - kind_ends_.begin();
  operation.kind = static_cast<MixKind>(kind);
  operation.key = ExactKey(base, random);
  if (!config_.family_mixes.empty()) operation.key = KeyInFamily(operation.key, operation.kind, random->Unit());
  if (operation.kind != MixKind::kGet) operation.amount = Amount(operation.kind, 1 - random->Unit());
  return operation;
}

uint64_t MixgraphModel::ExactKey(uint64_t base, Random* random) const {
  if (!config_.HasRangeHotness() && !config_.HasKeyHotness()) return base;
  const uint64_t range = config_.HasRangeHotness() ? ranges_.Pick(random->Unit()) : 0;
  const uint64_t size = config_.HasRangeHotness() ? keys_per_range_ : keys_;
  if (!config_.HasKeyHotness()) return range * size + random->Uniform(size);
  const uint64_t rank = config_.KeyRank(random->Unit());
  return range * size + (config_.key_dist_together ? rank - std::min<uint64_t>(rank, 1) : Scatter(rank)) % size;
}

// The keys of a group of n neighbours, of which a family has one, are alike but for their families. A group that is cut
// by the end of the key space gives its place to the one before it.
uint64_t MixgraphModel::KeyInFamily(uint64_t key, MixKind kind, double unit) const {
  const std::vector<double>& ends = family_ends_[static_cast<size_t>(kind)];
  // The first family that ends above; one without a share ends where it starts, so it is never that.
  const auto found = std::upper_bound(ends.begin(), ends.end() - 1, unit);
  const uint64_t families = ends.size();
  const uint64_t moved = key - key % families + static_cast<uint64_t>(found - ends.begin());
  return moved < keys_ ? moved : moved - families;
}

MixOperation MixgraphModel::NextShipped(uint64_t base) const {
  MixOperation operation;
  operation.key = ShippedKey(base);
  const uint64_t place = base % rounded_all_;
  operation.kind = place < rounded_gets_            ? MixKind::kGet
                   : place < rounded_gets_and_puts_ ? MixKind::kPut
                                                    : MixKind::kSeek;
  // 0 has no quantile; RocksDB's result for it is a matter of its compiler.
  const double unit = static_cast<double>(std::max<uint64_t>(base, 1)) / static_cast<double>(keys_);
  operation.amount = Amount(operation.kind, unit);
  return operation;
}

uint64_t MixgraphModel::ShippedKey(uint64_t base) const {
  if (!config_.HasKeyHotness()) return base;
  if (!config_.HasRangeHotness()) {
    return ShippedScatter(config_.KeyRank(static_cast<double>(base) / static_cast<double>(keys_))) % keys_;
  }
  const uint64_t range = ranges_.PickRounded(base);
  const double share = static_cast<double>(base % keys_per_range_) / static_cast<double>(keys_per_range_);
  return range * keys_per_range_ + ShippedScatter(config_.KeyRank(share)) % keys_per_range_;
}

}  // namespace miodb::bench
