// Ranks that follow a Zipf distribution: rank r (from 0) is drawn in proportion to 1 / (r + 1)^theta. Gray et al.,
// "Quickly Generating Billion-Record Synthetic Databases" (SIGMOD 1994), as YCSB does.
//
// Threads: any; read-only after construction.

#ifndef MIODB_BENCHMARKS_ZIPF_H_
#define MIODB_BENCHMARKS_ZIPF_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace miodb::bench {

class Zipf {
 public:
  // REQUIRES: count > 0, 0 < theta < 1. Takes some nanoseconds for each of count.
  Zipf(uint64_t count, double theta) : count_(count), alpha_(1 / (1 - theta)), half_(std::pow(0.5, theta)) {
    for (uint64_t i = count; i > 0; i--) zeta_ += std::pow(static_cast<double>(i), -theta);
    const double n = static_cast<double>(count);
    eta_ = (1 - std::pow(2 / n, 1 - theta)) / (1 - (1 + half_) / zeta_);
  }

  // The rank for a uniform number in [0, 1).
  uint64_t Rank(double uniform) const {
    const double share = uniform * zeta_;
    if (share < 1) return 0;
    if (share < 1 + half_) return std::min<uint64_t>(1, count_ - 1);
    const double rank = static_cast<double>(count_) * std::pow(eta_ * uniform - eta_ + 1, alpha_);
    return std::min(static_cast<uint64_t>(rank), count_ - 1);
  }

 private:
  const uint64_t count_;
  const double alpha_;
  const double half_;
  double zeta_ = 0;
  double eta_ = 0;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_ZIPF_H_
