#include "benchmarks/db_bench/measure/bucket_histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace miodb::bench {

namespace {

// 1 to 10 by 1, then sixteen limits per decade up to 9e9, then everything.
std::vector<double> LevelDbLimits() {
  std::vector<double> limits;
  for (int micros = 1; micros < 10; micros++) limits.push_back(micros);
  for (double scale = 1; scale < 2e8; scale *= 10) {
    for (int step : {10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60, 70, 80, 90}) limits.push_back(step * scale);
  }
  limits.push_back(1e200);
  return limits;
}

// 1, 2, then half as much again each time, up to 2^64; each limit is cut to two significant digits, the growth is not.
std::vector<double> RocksDbLimits() {
  constexpr double kEnd = 18446744073709551616.0;
  std::vector<double> limits = {1, 2};
  for (double exact = 2; (exact *= 1.5) <= kEnd;) {
    double digits = exact;
    double scale = 1;
    while (digits >= 100) {
      digits = std::floor(digits / 10);
      scale *= 10;
    }
    limits.push_back(std::floor(digits) * scale);
  }
  return limits;
}

std::string Bar(size_t length) { return std::string(length, '#'); }

}  // namespace

const std::vector<double>& BucketHistogram::Limits(Style style) {
  static const std::vector<double> kLevelDb = LevelDbLimits();
  static const std::vector<double> kRocksDb = RocksDbLimits();
  return style == Style::kLevelDb ? kLevelDb : kRocksDb;
}

BucketHistogram::BucketHistogram(Style style) : style_(style), buckets_(Limits(style).size()) {}

void BucketHistogram::RecordNanos(uint64_t nanos) {
  const std::vector<double>& limits = Limits(style_);
  double micros = static_cast<double>(nanos) / 1e3;
  if (style_ == Style::kRocksDb) micros = std::floor(micros);
  const auto it = style_ == Style::kLevelDb ? std::upper_bound(limits.begin(), limits.end(), micros)
                                            : std::lower_bound(limits.begin(), limits.end(), micros);
  buckets_[std::min<size_t>(static_cast<size_t>(it - limits.begin()), limits.size() - 1)]++;
  min_ = count_ == 0 ? micros : std::min(min_, micros);
  max_ = std::max(max_, micros);
  count_++;
  sum_ += micros;
  sum_squares_ += micros * micros;
}

void BucketHistogram::Merge(const BucketHistogram& other) {
  if (other.count_ == 0) return;
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
  sum_ += other.sum_;
  sum_squares_ += other.sum_squares_;
  for (size_t b = 0; b < buckets_.size(); b++) buckets_[b] += other.buckets_[b];
}

double BucketHistogram::Average() const { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

double BucketHistogram::StandardDeviation() const {
  if (count_ == 0) return 0;
  const double average = Average();
  return std::sqrt(std::max(0.0, sum_squares_ / static_cast<double>(count_) - average * average));
}

double BucketHistogram::Percentile(double percent) const {
  const std::vector<double>& limits = Limits(style_);
  const double rank = static_cast<double>(count_) * percent / 100;
  double below = 0;
  for (size_t b = 0; b < buckets_.size(); b++) {
    const double here = static_cast<double>(buckets_[b]);
    if (here == 0 || below + here < rank) {
      below += here;
      continue;
    }
    const double left = b == 0 ? 0 : limits[b - 1];
    const double value = left + (limits[b] - left) * (rank - below) / here;
    return std::clamp(value, min_, max_);
  }
  return max_;
}

std::string BucketHistogram::Heading() const {
  char text[400];
  const double count = static_cast<double>(count_);
  if (style_ == Style::kLevelDb) {
    std::snprintf(text, sizeof(text),
                  "Count: %.0f  Average: %.4f  StdDev: %.2f\n"
                  "Min: %.4f  Median: %.4f  Max: %.4f\n",
                  count, Average(), StandardDeviation(), min_, Percentile(50), max_);
  } else {
    std::snprintf(text, sizeof(text),
                  "Count: %.0f Average: %.4f  StdDev: %.2f\n"
                  "Min: %.0f  Median: %.4f  Max: %.0f\n"
                  "Percentiles: P50: %.2f P75: %.2f P99: %.2f P99.9: %.2f P99.99: %.2f\n",
                  count, Average(), StandardDeviation(), min_, Percentile(50), max_, Percentile(50), Percentile(75),
                  Percentile(99), Percentile(99.9), Percentile(99.99));
  }
  return text + std::string(54, '-') + "\n";
}

std::string BucketHistogram::ToString() const {
  const std::vector<double>& limits = Limits(style_);
  std::string text = Heading();
  double total = 0;
  for (size_t b = 0; b < buckets_.size(); b++) {
    if (buckets_[b] == 0) continue;
    const double here = static_cast<double>(buckets_[b]);
    const double percent = 100 * here / static_cast<double>(count_);
    total += percent;
    const double left = b == 0 ? 0 : limits[b - 1];
    char row[400];
    if (style_ == Style::kLevelDb) {
      std::snprintf(row, sizeof(row), "[ %7.0f, %7.0f ) %7.0f %7.3f%% %7.3f%% ", left, limits[b], here, percent, total);
    } else {
      std::snprintf(row, sizeof(row), "%c %7.0f, %7.0f ] %8.0f %7.3f%% %7.3f%% ", b == 0 ? '[' : '(', left, limits[b],
                    here, percent, total);
    }
    text += row + Bar(static_cast<size_t>(percent / 5 + 0.5)) + "\n";
  }
  return text;
}

}  // namespace miodb::bench
