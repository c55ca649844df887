#include "benchmarks/common/figures/histogram.h"

#include <algorithm>
#include <cstdio>

namespace miodb::bench {

namespace {

template <int kBits>
int ShiftOf(size_t bucket) {
  const size_t octave = bucket / LogLinearHistogram<kBits>::kLinearBuckets;
  return octave < 2 ? 0 : static_cast<int>(octave - 1);
}

}  // namespace

template <int kBits>
uint64_t LogLinearHistogram<kBits>::BucketStart(size_t bucket) {
  const int shift = ShiftOf<kBits>(bucket);
  return (bucket - static_cast<uint64_t>(shift) * kLinearBuckets) << shift;
}

template <int kBits>
uint64_t LogLinearHistogram<kBits>::BucketSpan(size_t bucket) {
  return uint64_t{1} << ShiftOf<kBits>(bucket);
}

template <int kBits>
void LogLinearHistogram<kBits>::Merge(const LogLinearHistogram& other) {
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  for (size_t b = 0; b < kBuckets; b++) buckets_[b] += other.buckets_[b];
}

template <int kBits>
double LogLinearHistogram<kBits>::Average() const {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

template <int kBits>
double LogLinearHistogram<kBits>::Percentile(double percent) const {
  if (count_ == 0) return 0;
  const double rank = static_cast<double>(count_) * percent / 100;
  double below = 0;
  for (size_t b = 0; b < kBuckets; b++) {
    const double here = static_cast<double>(buckets_[b]);
    if (here == 0 || below + here < rank) {
      below += here;
      continue;
    }
    const double part = (rank - below) / here;
    const double value = static_cast<double>(BucketStart(b)) + part * static_cast<double>(BucketSpan(b));
    return std::clamp(value, static_cast<double>(min_), static_cast<double>(max_));
  }
  return static_cast<double>(max_);
}

template <int kBits>
std::string LogLinearHistogram<kBits>::PercentileLine() const {
  if (count_ == 0) return "";
  char line[200];
  std::snprintf(line, sizeof(line), "Percentiles: P50: %.3f P99: %.3f P99.9: %.3f P99.99: %.3f Max: %.3f",
                Percentile(50) / 1e3, Percentile(99) / 1e3, Percentile(99.9) / 1e3, Percentile(99.99) / 1e3,
                static_cast<double>(max_) / 1e3);
  return line;
}

template class LogLinearHistogram<6>;
template class LogLinearHistogram<10>;

}  // namespace miodb::bench
