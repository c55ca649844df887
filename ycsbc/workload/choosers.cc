#include "ycsbc/workload/choosers.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "ycsbc/workload/settings.h"

namespace miodb::ycsb {

ExponentialChooser::ExponentialChooser(uint64_t first, double percentile, double range, const InsertCounter* inserts)
    : first_(first), gamma_(-std::log(1 - percentile / 100) / range), inserts_(inserts) {}

uint64_t ExponentialChooser::Next(bench::Random* random) {
  const uint64_t end = inserts_->End();
  const double records = static_cast<double>(end - first_);
  for (;;) {
    // 1 - Unit() is never 0.
    const double age = -std::log(1 - random->Unit()) / gamma_;
    if (age < records) return end - 1 - static_cast<uint64_t>(age);
  }
}

HistogramChooser::HistogramChooser(uint64_t block_size, const std::vector<uint64_t>& counts) : block_size_(block_size) {
  uint64_t sum = 0;
  for (const uint64_t count : counts) bounds_.push_back(sum += count);
}

uint64_t HistogramChooser::Next(bench::Random* random) {
  const uint64_t draw = random->Uniform(bounds_.back());
  const auto bucket = std::upper_bound(bounds_.begin(), bounds_.end(), draw);
  return static_cast<uint64_t>(bucket - bounds_.begin() + 1) * block_size_;
}

std::string ReadLengthHistogram(const std::string& path, uint64_t* block_size, std::vector<uint64_t>* counts) {
  constexpr uint64_t kMaxBuckets = 1 << 20;
  constexpr uint64_t kMaxCount = uint64_t{1} << 40;
  std::ifstream file(path);
  if (!file) return path + ": cannot read it";
  counts->clear();
  uint64_t sum = 0;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    number++;
    const auto wrong = [&](const char* what) { return path + ":" + std::to_string(number) + ": " + what; };
    std::istringstream words(line);
    std::string rest;
    if (number == 1) {
      std::string name;
      if (!(words >> name >> *block_size) || name != "BlockSize" || words >> rest || *block_size == 0) {
        return wrong("the first line has to be BlockSize and a number above 0");
      }
      continue;
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    uint64_t bucket = 0;
    uint64_t count = 0;
    if (!(words >> bucket >> count) || words >> rest) return wrong("not a bucket and a count");
    if (bucket >= kMaxBuckets || count > kMaxCount) return wrong("bucket or count is too large");
    if (bucket >= counts->size()) counts->resize(bucket + 1);
    (*counts)[bucket] = count;
    sum += count;
  }
  return sum > 0 ? "" : path + ": no bucket has a count";
}

std::unique_ptr<Chooser> NewKeyChooser(const Settings& s, const InsertCounter* inserts, SharedCounter* turn) {
  const uint64_t first = s.FirstRecord();
  const uint64_t count = s.LoadedRecords();
  switch (s.RequestDistribution()) {
    case Distribution::kZipfian:
      return std::make_unique<ScrambledZipfianChooser>(first, s.ZipfianRecords(), s.zipfian_const, s.Hash());
    case Distribution::kLatest:
      return std::make_unique<LatestChooser>(first, s.zipfian_const, inserts);
    case Distribution::kHotspot:
      return std::make_unique<HotspotChooser>(first, count, s.hotspotdatafraction, s.hotspotopnfraction);
    case Distribution::kExponential:
      return std::make_unique<ExponentialChooser>(first, s.exponential_percentile,
                                                  static_cast<double>(s.recordcount) * s.exponential_frac, inserts);
    case Distribution::kSequential:
      return std::make_unique<SequentialChooser>(first, count, turn);
    case Distribution::kUniform:
      break;
  }
  return std::make_unique<UniformChooser>(first, count);
}

std::unique_ptr<Chooser> NewScanLengthChooser(const Settings& s) {
  const uint64_t first = static_cast<uint64_t>(s.minscanlength);
  const uint64_t count = static_cast<uint64_t>(s.maxscanlength - s.minscanlength + 1);
  if (s.scanlengthdistribution == "zipfian") return std::make_unique<ZipfianChooser>(first, count, s.zipfian_const);
  return std::make_unique<UniformChooser>(first, count);
}

std::unique_ptr<Chooser> NewFieldLengthChooser(const Settings& s) {
  const uint64_t first = static_cast<uint64_t>(s.minfieldlength);
  const uint64_t last = static_cast<uint64_t>(s.fieldlength);
  if (s.fieldlengthdistribution == "uniform") return std::make_unique<UniformChooser>(first, last - first + 1);
  if (s.fieldlengthdistribution == "zipfian") {
    return std::make_unique<ZipfianChooser>(first, last - first + 1, s.zipfian_const);
  }
  if (s.fieldlengthdistribution == "histogram") {
    return std::make_unique<HistogramChooser>(s.length_block_size, s.length_counts);
  }
  return std::make_unique<ConstantChooser>(last);
}

}  // namespace miodb::ycsb
