// Log-linear histogram of nanoseconds: buckets of width 1 up to 2 * 2^bits, then 2^bits equal buckets per power of two,
// so a bucket is at most 1/2^bits of its values wide. Recording is a shift and four additions; the memory is fixed.
//
//   LatencyHistogram       6 bits: a percentile is off by less than 1.6 %, in 19 KiB
//   FineLatencyHistogram  10 bits: by less than 0.1 %, the three significant digits of HdrHistogram, in 264 KiB
//
// Threads: one per histogram; Merge when the threads are done.

#ifndef MIODB_BENCHMARKS_COMMON_FIGURES_HISTOGRAM_H_
#define MIODB_BENCHMARKS_COMMON_FIGURES_HISTOGRAM_H_

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace miodb::bench {

template <int kBits>
class LogLinearHistogram {
 public:
  static constexpr int kLinearBits = kBits;
  static constexpr uint64_t kLinearBuckets = uint64_t{1} << kLinearBits;
  // Values from 2^42 ns (73 minutes) on share the last bucket; max() stays exact.
  static constexpr int kMaxBits = 42;
  static constexpr size_t kBuckets = (kMaxBits - kLinearBits + 1) * kLinearBuckets;

  void Record(uint64_t nanos) {
    buckets_[BucketOf(nanos)]++;
    count_++;
    sum_ += nanos;
    if (nanos < min_) min_ = nanos;
    if (nanos > max_) max_ = nanos;
  }

  void Merge(const LogLinearHistogram& other);

  uint64_t count() const { return count_; }
  uint64_t sum() const { return sum_; }
  uint64_t min() const { return count_ == 0 ? 0 : min_; }
  uint64_t max() const { return max_; }
  double Average() const;

  // The value below which "percent" of all values lie, in nanoseconds; linear within a bucket, never outside
  // [min, max]. 0 when empty.
  double Percentile(double percent) const;

  // "Percentiles: P50: a P99: b P99.9: c P99.99: d Max: e", microseconds with three decimals; empty if nothing was
  // recorded.
  std::string PercentileLine() const;

  // How many values lie in a bucket.
  uint64_t bucket(size_t bucket) const { return buckets_[bucket]; }

  // The bucket of a value, the least value of a bucket, and how many values a bucket spans.
  static size_t BucketOf(uint64_t nanos) {
    if (nanos >> kMaxBits != 0) return kBuckets - 1;
    const int width = static_cast<int>(std::bit_width(nanos));
    const int shift = width > kLinearBits + 1 ? width - kLinearBits - 1 : 0;
    return static_cast<size_t>(shift) * kLinearBuckets + static_cast<size_t>(nanos >> shift);
  }
  static uint64_t BucketStart(size_t bucket);
  static uint64_t BucketSpan(size_t bucket);

 private:
  uint64_t count_ = 0;
  uint64_t sum_ = 0;
  uint64_t min_ = std::numeric_limits<uint64_t>::max();
  uint64_t max_ = 0;
  std::array<uint64_t, kBuckets> buckets_{};
};

using LatencyHistogram = LogLinearHistogram<6>;
using FineLatencyHistogram = LogLinearHistogram<10>;

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_FIGURES_HISTOGRAM_H_
