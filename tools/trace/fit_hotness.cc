// The fit of the hotness of keys: of a power law over ranks that were thrown at the keys at random.
//
// A trace shows how often each key was accessed, not its rank. The order by counts is not the order of hotness, so a
// fit to sorted counts would be biased. Instead the counts are compared with the expectations of the law:
//
//   hot keys    the sums of the counts of the most accessed key, of the next ones, of ever larger groups. The expected
//   sum
//               of the k largest of many independent counts is the least of k c + E[sum of what exceeds c] over c.
//   other keys  how many keys have how many accesses. Most keys have many ranks, so their counts are a compound Poisson
//               distribution, which Panjer's recursion gives.
//
// The two are taken as Poisson numbers, and the likelihood of a and b together is maximised.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

#include "tools/trace/fit_math.h"
#include "tools/trace/fit_models.h"

namespace miodb::tools {

namespace {

using Point = std::vector<double>;

// With more accesses for each key than this, keys are hot only if they stand out of a normal distribution.
constexpr double kMostCountsByRecursion = 300;

// Ranks in a row that are taken as alike.
struct Ranks {
  double first;  // The number of ranks before.
  double count;
  double mean;  // Accesses to each.
};

// A power law as it is for so many accesses to so many keys.
class HotnessModel {
 public:
  // Keys that have this count or more are hot, in expectation as in what was seen.
  HotnessModel(double a, double b, double accesses, double keys, double hot_count)
      : keys_(keys), hot_count_(hot_count) {
    const auto share = [a, b](double rank) { return std::min(a * std::pow(rank, b), 1.0); };
    const double all = std::pow(a, -1 / b);  // The rank at which the shares are complete.
    for (double rank = 0, next = 0; rank < all; rank = next) {
      next = std::min(rank + std::max(1.0, std::floor(rank * kStep)), std::ceil(all));
      const Ranks ranks = {rank, next - rank, accesses * (share(next) - share(rank)) / (next - rank)};
      // Ranks of which even many on one key would not be hot are part of the rest.
      (ranks.mean * kHotMargin >= hot_count ? hot_ : rest_).push_back(ranks);
    }
    for (const Ranks& ranks : rest_) {
      rest_mean_ += ranks.count * ranks.mean / keys;
      rest_variance_ += ranks.count * ranks.mean * (1 + ranks.mean) / keys;
    }
    if (hot_count <= kMostCountsByRecursion) Recurse();
  }

  // How many keys are expected to have each count below "hot_count"; empty if that is too many counts.
  Point ExpectedKeys() const {
    if (chances_.empty()) return {};
    Point expected(static_cast<size_t>(hot_count_));
    const double cold_keys = keys_ * std::exp(-HotRanks() / keys_);
    for (size_t n = 0; n < expected.size(); n++) expected[n] = cold_keys * chances_[n];
    for (const Ranks& ranks : hot_) {
      const double mean = MeanOf(ranks), spread = std::sqrt(ranks.mean + rest_variance_);
      double below = 0;  // "count" or less
      for (size_t n = 0; n < expected.size(); n++) {
        const double z = (static_cast<double>(n) + 0.5 - mean) / spread;
        if (z < -kFar) continue;
        const double next = NormalBelow(z);
        expected[n] += KeysOf(ranks) * (next - below);
        below = next;
      }
    }
    return expected;
  }

  // The expected sums of the counts of the sizes[0] most accessed keys, of the next sizes[1], and so on.
  Point ExpectedSums(const std::vector<double>& sizes, double most_count) const {
    // From high counts down to the rest: c, the sum of what exceeds it, and how many keys do.
    std::vector<Point> curve;
    const double least = std::max(hot_count_ * 0.5, 1.0);
    for (double c = most_count * 1.5 + 20; c > least; c -= std::max(0.5, c * kStep)) curve.push_back(Excess(c));
    Point sums;
    double keys = 0, sum = 0;
    size_t i = 0;
    for (double size : sizes) {
      keys += size;
      while (i + 1 < curve.size() && curve[i + 1][2] < keys) i++;
      const double top = TopSum(curve, i, keys);
      sums.push_back(std::max(top - sum, 1e-9));
      sum = top;
    }
    return sums;
  }

 private:
  static constexpr double kStep = 0.02;  // Of ranks and counts that are taken together.
  static constexpr double kFar = 7;      // Standard deviations.
  static constexpr double kHotMargin = 2;
  static constexpr size_t kTail = 4;  // Times hot_count: keys without a hot rank hardly ever have more.

  static double NormalBelow(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

  double HotRanks() const { return hot_.empty() ? 0 : hot_.back().first + hot_.back().count; }
  // The mean of a key with such a rank: other ranks bring it their part.
  double MeanOf(const Ranks& ranks) const { return ranks.mean + rest_mean_; }
  // How many keys have such a rank and no hotter one.
  double KeysOf(const Ranks& ranks) const {
    return ranks.count * std::exp(-(ranks.first + ranks.count / 2 - 0.5) / keys_);
  }

  // Panjer's recursion for the counts of keys without a hot rank.
  void Recurse() {
    const size_t most = static_cast<size_t>(hot_count_) * kTail;
    Point jumps(most, 0);  // How many ranks a key has with so many accesses.
    double none = 0;       // With no access.
    for (const Ranks& ranks : rest_) {
      double term = std::exp(-ranks.mean) * ranks.count / keys_;
      none += ranks.count / keys_ - term;
      for (size_t j = 1; j < most; j++) {
        term *= ranks.mean / static_cast<double>(j);
        if (term < 1e-18 && static_cast<double>(j) > ranks.mean) break;
        jumps[j] += term;
      }
    }
    chances_.assign(most, 0);
    chances_[0] = std::exp(-none);
    for (size_t n = 1; n < most; n++) {
      for (size_t j = 1; j <= n; j++) chances_[n] += static_cast<double>(j) * jumps[j] * chances_[n - j];
      chances_[n] /= static_cast<double>(n);
    }
    // The sums above each count, from the last count down.
    above_.assign(most + 1, 0);
    excess_.assign(most + 1, 0);
    for (size_t n = most; n-- > 0;) {
      above_[n] = above_[n + 1] + (n + 1 < most ? chances_[n + 1] : 0);
      excess_[n] = excess_[n + 1] + above_[n];
    }
  }

  // c, the expected sum over all keys of what exceeds it, and the expected number of keys that exceed it.
  Point Excess(double c) const {
    double sum = 0, keys = 0;
    const auto add = [&](double mean, double variance, double weight) {
      const double spread = std::sqrt(variance), z = (mean - c) / spread;
      if (z < -kFar) return;
      if (z > kFar) {
        sum += weight * (mean - c);
        keys += weight;
        return;
      }
      const double above = NormalBelow(z);
      sum += weight * ((mean - c) * above + spread * std::exp(-z * z / 2) / std::sqrt(2 * M_PI));
      keys += weight * above;
    };
    for (const Ranks& ranks : hot_) add(MeanOf(ranks), ranks.mean + rest_variance_, KeysOf(ranks));
    const double cold_keys = keys_ * std::exp(-HotRanks() / keys_);
    const size_t count = static_cast<size_t>(c);
    if (chances_.empty()) {
      add(rest_mean_, rest_variance_, cold_keys);
    } else if (count < chances_.size()) {
      // Their number does not change between two counts.
      sum += cold_keys * (excess_[count] - (c - static_cast<double>(count)) * above_[count]);
      keys += cold_keys * above_[count];
    }
    return {c, sum, keys};
  }

  // The least of keys c + sum(c), of which the slope is keys - keys(c); between two points of the curve.
  static double TopSum(const std::vector<Point>& curve, size_t i, double keys) {
    if (i + 1 >= curve.size()) return keys * curve[i][0] + curve[i][1];
    const double width = curve[i][0] - curve[i + 1][0], more = curve[i + 1][2] - curve[i][2];
    const double t = more > 0 ? std::clamp((keys - curve[i][2]) / more, 0.0, 1.0) : 0;
    const double c = curve[i][0] - t * width;
    // The integral of the number of keys from c to the upper point, that number taken as linear.
    return keys * c + curve[i][1] + t * width * (curve[i][2] + t * more / 2);
  }

  const double keys_;
  const double hot_count_;
  std::vector<Ranks> hot_;
  std::vector<Ranks> rest_;
  double rest_mean_ = 0;  // Of the counts that come to a key from the rest.
  double rest_variance_ = 0;
  Point chances_;  // Of counts of keys without a hot rank, and ...
  Point above_;    // ... of counts above, and ...
  Point excess_;   // ... how far they are above in the mean.
};

// The counts, in the form that the model needs.
struct Counted {
  double accesses = 0;
  double keys = 0;
  double hot_count = 0;
  double most_count = 0;
  double hot_keys = 0;
  Point sizes;      // Of the groups of hot keys.
  Point sums;       // Of their counts.
  Point histogram;  // Keys by count, below hot_count.

  // counts: highest first.
  Counted(const std::vector<uint64_t>& counts, double all_keys) : keys(all_keys) {
    accesses = std::accumulate(counts.begin(), counts.end(), 0.0);
    most_count = static_cast<double>(counts[0]);
    const double average = accesses / keys;
    hot_count = std::ceil(std::max(40.0, average + 8 * std::sqrt(average)));
    size_t i = 0;
    for (; i < counts.size() && static_cast<double>(counts[i]) >= hot_count; i++) {
      if (sums.empty() || sizes.back() >= std::max(1.0, std::floor(hot_keys * 0.15))) {
        sizes.push_back(0);
        sums.push_back(0);
      }
      sizes.back()++;
      sums.back() += static_cast<double>(counts[i]);
      hot_keys++;
    }
    histogram.assign(static_cast<size_t>(hot_count), 0);
    histogram[0] = keys - static_cast<double>(counts.size());
    for (; i < counts.size(); i++) histogram[counts[i]]++;
  }
};

// Minus the logarithm of the likelihood of Poisson numbers, but for a constant.
double PoissonLoss(const Point& expected, const Point& seen) {
  double loss = 0;
  for (size_t i = 0; i < seen.size(); i++) loss += expected[i] - seen[i] * std::log(std::max(expected[i], 1e-9));
  return loss;
}

double Loss(const Counted& counted, double a, double b) {
  if (!(a > 0) || a > 1 || b < 0.01 || b > 1) return kInfinite;
  const HotnessModel model(a, b, counted.accesses, counted.keys, counted.hot_count);
  double loss = 0;
  if (!counted.sizes.empty()) {
    loss += PoissonLoss(model.ExpectedSums(counted.sizes, counted.most_count), counted.sums);
  }
  const Point keys = model.ExpectedKeys();
  return keys.empty() ? loss : loss + PoissonLoss(keys, counted.histogram);
}

}  // namespace

PowerFit FitKeyHotness(std::vector<uint64_t> counts, uint64_t keys) {
  PowerFit fit;
  std::sort(counts.rbegin(), counts.rend());
  while (!counts.empty() && counts.back() == 0) counts.pop_back();
  if (counts.size() < 10 || counts.size() > keys) return fit;
  const Counted counted(counts, static_cast<double>(keys));
  const double average = counted.accesses / counted.keys;
  // Keys that chance alone does not lift so high.
  const double least = std::max(8.0, std::ceil(average + 5 * std::sqrt(average)));
  while (fit.keys_used < counts.size() && static_cast<double>(counts[fit.keys_used]) >= least) fit.keys_used++;
  if (fit.keys_used < 10) return fit;
  const auto loss = [&](const Point& p) { return Loss(counted, std::exp(p[0]), p[1]); };
  // Starts go through the share that the keys have together that stand out.
  const double used = static_cast<double>(fit.keys_used);
  const double share =
      std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(fit.keys_used), 0.0) /
      counted.accesses;
  Point start;
  double least_loss = kInfinite;
  for (double b = 0.1; b < 0.95; b += 0.1) {
    for (double a : {counted.most_count / counted.accesses, share / std::pow(used, b)}) {
      const double here = loss({std::log(a), b});
      if (!start.empty() && here >= least_loss) continue;
      start = {std::log(a), b};
      least_loss = here;
    }
  }
  const Point best = Minimise(loss, start, {0.1, 0.03});
  fit.a = std::exp(best[0]);
  fit.b = best[1];
  double below = 0, squares = 0;
  for (uint64_t rank = 1; rank <= fit.keys_used; rank++) {
    below += static_cast<double>(counts[rank - 1]) / counted.accesses;
    const double off = std::min(fit.a * std::pow(static_cast<double>(rank), fit.b), 1.0) - below;
    squares += off * off;
  }
  fit.error = std::sqrt(squares / used);
  return fit;
}

}  // namespace miodb::tools
