// The latency histogram stays within its promised error; the printed histograms have the buckets of the originals.

#include "benchmarks/common/figures/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "benchmarks/common/clock/ticks.h"
#include "benchmarks/common/draw/random.h"
#include "benchmarks/db_bench/measure/bucket_histogram.h"

namespace miodb::bench {
namespace {

using Style = BucketHistogram::Style;

TEST(LatencyHistogramTest, BucketsFollowEachOtherWithoutGaps) {
  for (size_t b = 0; b + 1 < LatencyHistogram::kBuckets; b++) {
    const uint64_t start = LatencyHistogram::BucketStart(b);
    const uint64_t next = start + LatencyHistogram::BucketSpan(b);
    ASSERT_EQ(next, LatencyHistogram::BucketStart(b + 1)) << b;
    ASSERT_EQ(LatencyHistogram::BucketOf(start), b);
    ASSERT_EQ(LatencyHistogram::BucketOf(next - 1), b);
  }
}

TEST(LatencyHistogramTest, BucketsAreOneWideAtFirstAndThenAtMostA64thOfTheirStart) {
  for (size_t b = 0; b < LatencyHistogram::kBuckets; b++) {
    const uint64_t start = LatencyHistogram::BucketStart(b);
    const uint64_t span = LatencyHistogram::BucketSpan(b);
    if (start < 128) {
      ASSERT_EQ(span, 1u);
    } else {
      ASSERT_LE(span * 64, start);
    }
  }
}

TEST(LatencyHistogramTest, TheLargestValuesShareTheLastBucket) {
  EXPECT_EQ(LatencyHistogram::BucketOf((uint64_t{1} << 42) - 1), LatencyHistogram::kBuckets - 1);
  EXPECT_EQ(LatencyHistogram::BucketOf(uint64_t{1} << 42), LatencyHistogram::kBuckets - 1);
  EXPECT_EQ(LatencyHistogram::BucketOf(~uint64_t{0}), LatencyHistogram::kBuckets - 1);
}

TEST(LatencyHistogramTest, AnEmptyOneHasNothingToSay) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.PercentileLine(), "");
  EXPECT_EQ(histogram.Percentile(50), 0);
  EXPECT_EQ(histogram.Average(), 0);
  EXPECT_EQ(histogram.min(), 0u);
}

TEST(LatencyHistogramTest, OneValueIsEveryPercentile) {
  LatencyHistogram histogram;
  histogram.Record(1234567);
  EXPECT_EQ(histogram.Percentile(0), 1234567);
  EXPECT_EQ(histogram.Percentile(50), 1234567);
  EXPECT_EQ(histogram.Percentile(100), 1234567);
  EXPECT_EQ(histogram.PercentileLine(),
            "Percentiles: P50: 1234.567 P99: 1234.567 P99.9: 1234.567 P99.99: 1234.567 Max: 1234.567");
}

TEST(LatencyHistogramTest, PercentilesOfALinearRampAreExactToABucket) {
  LatencyHistogram histogram;
  for (uint64_t nanos = 1; nanos <= 1000000; nanos++) histogram.Record(nanos);
  EXPECT_EQ(histogram.count(), 1000000u);
  EXPECT_EQ(histogram.min(), 1u);
  EXPECT_EQ(histogram.max(), 1000000u);
  EXPECT_DOUBLE_EQ(histogram.Average(), 500000.5);
  for (double percent : {1.0, 10.0, 50.0, 90.0, 99.0, 99.9, 99.99}) {
    EXPECT_NEAR(histogram.Percentile(percent), percent * 10000, percent * 10000 / 64 + 1) << percent;
  }
}

TEST(LatencyHistogramTest, PercentilesOfATailAgreeWithSorting) {
  Random random(7);
  LatencyHistogram histogram;
  std::vector<uint64_t> all;
  for (int i = 0; i < 200000; i++) {
    // 300 ns to 30 ms, log-uniform.
    const double exponent = static_cast<double>(random.Uniform(1000000)) / 1e6 * 5;
    all.push_back(static_cast<uint64_t>(300 * std::pow(10, exponent)));
    histogram.Record(all.back());
  }
  std::sort(all.begin(), all.end());
  for (double percent : {50.0, 99.0, 99.9, 99.99}) {
    const double exact = static_cast<double>(all[static_cast<size_t>(static_cast<double>(all.size()) * percent / 100)]);
    EXPECT_NEAR(histogram.Percentile(percent) / exact, 1, 1.0 / 64) << percent;
  }
}

TEST(LatencyHistogramTest, MergedHalvesEqualTheWhole) {
  LatencyHistogram whole;
  LatencyHistogram even;
  LatencyHistogram odd;
  for (uint64_t nanos = 100; nanos < 50000; nanos += 7) {
    whole.Record(nanos);
    (nanos % 2 == 0 ? even : odd).Record(nanos);
  }
  even.Merge(odd);
  EXPECT_EQ(even.count(), whole.count());
  EXPECT_EQ(even.min(), whole.min());
  EXPECT_EQ(even.PercentileLine(), whole.PercentileLine());
}

TEST(BucketHistogramTest, LevelDbHas154Buckets) {
  const std::vector<double>& limits = BucketHistogram::Limits(Style::kLevelDb);
  ASSERT_EQ(limits.size(), 154u);
  const std::vector<double> first = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 35, 40, 45, 50, 60};
  EXPECT_TRUE(std::equal(first.begin(), first.end(), limits.begin()));
  EXPECT_EQ(limits[152], 9e9);
  EXPECT_EQ(limits[153], 1e200);
}

TEST(BucketHistogramTest, RocksDbsLimitsGrowByHalfAndKeepTwoDigits) {
  const std::vector<double>& limits = BucketHistogram::Limits(Style::kRocksDb);
  const std::vector<double> first = {1,  2,   3,   4,   6,   10,  15,  22,   34,   51,
                                     76, 110, 170, 250, 380, 580, 870, 1300, 1900, 2900};
  EXPECT_TRUE(std::equal(first.begin(), first.end(), limits.begin()));
  EXPECT_LT(limits.back(), 18446744073709551616.0);
}

TEST(BucketHistogramTest, LevelDbsReportHasItsShape) {
  BucketHistogram histogram(Style::kLevelDb);
  for (uint64_t nanos : {500u, 2000u, 2500u, 15000u}) histogram.RecordNanos(nanos);
  EXPECT_EQ(histogram.ToString(),
            "Count: 4  Average: 5.0000  StdDev: 5.82\n"
            "Min: 0.5000  Median: 2.5000  Max: 15.0000\n"
            "------------------------------------------------------\n"
            "[       0,       1 )       1  25.000%  25.000% #####\n"
            "[       2,       3 )       2  50.000%  75.000% ##########\n"
            "[      14,      16 )       1  25.000% 100.000% #####\n");
}

TEST(BucketHistogramTest, RocksDbsReportHasItsShape) {
  BucketHistogram histogram(Style::kRocksDb);
  for (uint64_t nanos : {500u, 2000u, 2500u, 15000u}) histogram.RecordNanos(nanos);
  EXPECT_EQ(histogram.ToString(),
            "Count: 4 Average: 4.7500  StdDev: 5.97\n"
            "Min: 0  Median: 1.5000  Max: 15\n"
            "Percentiles: P50: 1.50 P75: 2.00 P99: 14.80 P99.9: 14.98 P99.99: 15.00\n"
            "------------------------------------------------------\n"
            "[       0,       1 ]        1  25.000%  25.000% #####\n"
            "(       1,       2 ]        2  50.000%  75.000% ##########\n"
            "(      10,      15 ]        1  25.000% 100.000% #####\n");
}

TEST(BucketHistogramTest, MergingKeepsEverything) {
  for (Style style : {Style::kLevelDb, Style::kRocksDb}) {
    BucketHistogram whole(style);
    BucketHistogram left(style);
    BucketHistogram right(style);
    for (uint64_t nanos = 1000; nanos < 100000; nanos += 1000) {
      whole.RecordNanos(nanos);
      (nanos < 40000 ? left : right).RecordNanos(nanos);
    }
    BucketHistogram merged(style);
    merged.Merge(right);
    merged.Merge(left);
    EXPECT_EQ(merged.ToString(), whole.ToString());
  }
}

// The clock is read before and after each reading of ticks, so losing the CPU in between changes nothing.
TEST(TicksTest, TicksAgreeWithTheMonotonicClock) {
  Ticks::Calibrate();
  const uint64_t before_start = Ticks::MonotonicNanos();
  const uint64_t start = Ticks::Now();
  const uint64_t after_start = Ticks::MonotonicNanos();
  while (Ticks::MonotonicNanos() - after_start < 50000000) {
  }
  const uint64_t before_end = Ticks::MonotonicNanos();
  const uint64_t end = Ticks::Now();
  const uint64_t after_end = Ticks::MonotonicNanos();
  const double nanos = static_cast<double>(Ticks::NanosBetween(start, end));
  EXPECT_GE(nanos, static_cast<double>(before_end - after_start) * 0.98);
  EXPECT_LE(nanos, static_cast<double>(after_end - before_start) * 1.02);
  EXPECT_EQ(Ticks::NanosBetween(5, 3), 0u);
}

}  // namespace
}  // namespace miodb::bench
