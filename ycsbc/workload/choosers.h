// Random choices of a workload: which record, how long a scan, how long a field. There is a class for each distribution
// that Java YCSB's CoreWorkload has.
//
// Threads: each thread owns its choosers; those that need common state refer to it (InsertCounter, SharedCounter).

#ifndef MIODB_YCSBC_WORKLOAD_CHOOSERS_H_
#define MIODB_YCSBC_WORKLOAD_CHOOSERS_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/common/draw/random.h"
#include "benchmarks/common/draw/zipfian.h"
#include "ycsbc/workload/hash.h"
#include "ycsbc/workload/insert_counter.h"

namespace miodb::ycsb {

struct Settings;

class Chooser {
 public:
  virtual ~Chooser() = default;
  virtual uint64_t Next(bench::Random* random) = 0;
};

class ConstantChooser final : public Chooser {
 public:
  explicit ConstantChooser(uint64_t value) : value_(value) {}
  uint64_t Next(bench::Random*) override { return value_; }

 private:
  const uint64_t value_;
};

// All of [first, first + count) alike.
class UniformChooser final : public Chooser {
 public:
  UniformChooser(uint64_t first, uint64_t count) : first_(first), count_(count) {}
  uint64_t Next(bench::Random* random) override { return first_ + random->Uniform(count_); }

 private:
  const uint64_t first_;
  const uint64_t count_;
};

// Zipf over [first, first + count); "first" is the most frequent.
class ZipfianChooser final : public Chooser {
 public:
  ZipfianChooser(uint64_t first, uint64_t count, double theta) : first_(first), zipfian_(count, theta) {}
  uint64_t Next(bench::Random* random) override { return first_ + zipfian_.Next(random); }

 private:
  const uint64_t first_;
  bench::Zipfian zipfian_;
};

// Zipf with the frequent numbers scattered over [first, first + count). As in the reference and in YCSB-cpp the ranks
// are drawn over ten thousand million items, whatever the count, and hashed into the range: the shape does not depend
// on the count, and the most frequent record has 3.8 % of the requests.
class ScrambledZipfianChooser final : public Chooser {
 public:
  static constexpr uint64_t kRanks = 10000000001;

  ScrambledZipfianChooser(uint64_t first, uint64_t count, double theta, KeyHash hash)
      : first_(first), count_(count), hash_(hash), ranks_(kRanks, theta) {}
  uint64_t Next(bench::Random* random) override { return first_ + Fnv64(ranks_.Next(random), hash_) % count_; }

 private:
  const uint64_t first_;
  const uint64_t count_;
  const KeyHash hash_;
  bench::Zipfian ranks_;
};

// Zipf backwards from the last record that was inserted, while inserts go on. Nothing below "first".
class LatestChooser final : public Chooser {
 public:
  LatestChooser(uint64_t first, double theta, const InsertCounter* inserts)
      : first_(first), inserts_(inserts), zipfian_(inserts->End() - first, theta) {}
  uint64_t Next(bench::Random* random) override {
    const uint64_t end = inserts_->End();
    if (end - first_ != zipfian_.items()) zipfian_.Grow(end - first_);
    return end - 1 - zipfian_.Next(random);
  }

 private:
  const uint64_t first_;
  const InsertCounter* const inserts_;
  bench::Zipfian zipfian_;
};

// Two uniform sets: of [first, first + count) the first data_fraction gets op_fraction of the requests.
class HotspotChooser final : public Chooser {
 public:
  HotspotChooser(uint64_t first, uint64_t count, double data_fraction, double op_fraction)
      : first_(first),
        count_(count),
        hot_(static_cast<uint64_t>(static_cast<double>(count) * data_fraction)),
        op_fraction_(op_fraction) {}
  uint64_t Next(bench::Random* random) override {
    // A set without a record gets no requests.
    const bool is_hot = hot_ == count_ || (hot_ > 0 && random->Unit() < op_fraction_);
    return is_hot ? first_ + random->Uniform(hot_) : first_ + hot_ + random->Uniform(count_ - hot_);
  }

 private:
  const uint64_t first_;
  const uint64_t count_;
  const uint64_t hot_;
  const double op_fraction_;
};

// Exponentially fewer requests the older a record is: "percentile" percent of them go to the newest "range" records.
// Draws that fall below "first" are drawn again.
class ExponentialChooser final : public Chooser {
 public:
  ExponentialChooser(uint64_t first, double percentile, double range, const InsertCounter* inserts);
  uint64_t Next(bench::Random* random) override;

 private:
  const uint64_t first_;
  const double gamma_;
  const InsertCounter* const inserts_;
};

using SharedCounter = std::atomic<uint64_t>;

// first, first + 1, ... and round again; the threads take turns.
class SequentialChooser final : public Chooser {
 public:
  SequentialChooser(uint64_t first, uint64_t count, SharedCounter* turn) : first_(first), count_(count), turn_(turn) {}
  uint64_t Next(bench::Random*) override { return first_ + turn_->fetch_add(1, std::memory_order_relaxed) % count_; }

 private:
  const uint64_t first_;
  const uint64_t count_;
  SharedCounter* const turn_;
};

// Lengths from a table of buckets: (i + 1) * block_size with a weight of counts[i].
class HistogramChooser final : public Chooser {
 public:
  HistogramChooser(uint64_t block_size, const std::vector<uint64_t>& counts);
  uint64_t Next(bench::Random* random) override;

  uint64_t max() const { return block_size_ * bounds_.size(); }

 private:
  const uint64_t block_size_;
  std::vector<uint64_t> bounds_;  // Running sums of the counts.
};

// Reads the file that fieldlengthhistogram names: a line "BlockSize<TAB>n", then lines "bucket<TAB>count". Returns what
// is wrong, naming file and line, or nothing.
std::string ReadLengthHistogram(const std::string& path, uint64_t* block_size, std::vector<uint64_t>* counts);

// The choosers that the settings ask for. REQUIRES: checked settings; for the key chooser, that the range of records is
// not empty. "turn" and "inserts" outlive the chooser.
std::unique_ptr<Chooser> NewKeyChooser(const Settings& settings, const InsertCounter* inserts, SharedCounter* turn);
std::unique_ptr<Chooser> NewScanLengthChooser(const Settings& settings);
std::unique_ptr<Chooser> NewFieldLengthChooser(const Settings& settings);

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_WORKLOAD_CHOOSERS_H_
