// The histogram that --histogram prints, with the buckets and the layout of LevelDB's or RocksDB's db_bench, so that
// their scripts can read it. Slower to fill than LatencyHistogram, and used only when asked for.
//
//   leveldb: 154 buckets over microseconds with fractions; a bucket holds its lower limit but not its upper one.
//   rocksdb: buckets over whole microseconds; a bucket holds its upper limit but not its lower one.
//
// Threads: one per histogram; Merge when the threads are done.

#ifndef MIODB_BENCHMARKS_DB_BENCH_MEASURE_BUCKET_HISTOGRAM_H_
#define MIODB_BENCHMARKS_DB_BENCH_MEASURE_BUCKET_HISTOGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

namespace miodb::bench {

class BucketHistogram {
 public:
  enum class Style { kLevelDb, kRocksDb };

  explicit BucketHistogram(Style style);

  void RecordNanos(uint64_t nanos);

  // REQUIRES: the same style.
  void Merge(const BucketHistogram& other);

  uint64_t count() const { return count_; }
  double Percentile(double percent) const;  // Microseconds.

  // All lines, each ending in a newline.
  std::string ToString() const;

  // Upper limits of the buckets in microseconds.
  static const std::vector<double>& Limits(Style style);

 private:
  double Average() const;
  double StandardDeviation() const;
  std::string Heading() const;

  Style style_;
  uint64_t count_ = 0;
  double sum_ = 0;
  double sum_squares_ = 0;
  double min_ = 0;
  double max_ = 0;
  std::vector<uint64_t> buckets_;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_MEASURE_BUCKET_HISTOGRAM_H_
