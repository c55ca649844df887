// The pass over the sorted accesses: everything that concerns single keys and prefixes.
//
// Keys come in their order and the accesses of a key in theirs, so what is kept is that of one key, one prefix, and
// figures whose number does not grow with that of the keys (top lists, counts by size, by second).
//
// Threads: one.

#ifndef MIODB_TOOLS_TRACE_KEY_ANALYSIS_H_
#define MIODB_TOOLS_TRACE_KEY_ANALYSIS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/common/figures/progress.h"
#include "tools/trace/collector.h"
#include "tools/trace/distribution.h"
#include "tools/trace/key_space.h"

namespace miodb::tools {

// The k entries with the highest scores; of equal ones those that came first.
template <class Score>
class TopList {
 public:
  explicit TopList(size_t most) : most_(most) {}

  void Add(Score score, std::string_view name) {
    if (most_ == 0 || (entries_.size() == most_ && score <= entries_.back().first)) return;
    const auto at = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.first < score; });
    entries_.insert(at, {score, std::string(name)});
    if (entries_.size() > most_) entries_.pop_back();
  }

  // Highest first.
  const std::vector<std::pair<Score, std::string>>& entries() const { return entries_; }

 private:
  const size_t most_;
  std::vector<std::pair<Score, std::string>> entries_;
};

struct Correlation {
  uint64_t count = 0;
  double total_micros = 0;
};

// The keys of one kind of access to one column family.
struct KeyFigures {
  explicit KeyFigures(size_t top) : top_keys(top), top_prefixes(top), top_prefix_averages(top) {}

  uint64_t keys = 0;
  Distribution key_sizes;      // Of different keys.
  Distribution access_counts;  // Of keys.
  TopList<uint64_t> top_keys;
  TopList<uint64_t> top_prefixes;
  TopList<double> top_prefix_averages;
  std::map<uint64_t, uint64_t> new_keys_by_second;
  // Prefixes of the seconds with the most accesses.
  std::map<uint64_t, std::vector<std::pair<std::string, uint64_t>>> prefixes_by_second;
};

class KeyAnalysis {
 public:
  KeyAnalysis(const AnalyzerOptions& options, const Collector& collected, OutputFiles* files);
  ~KeyAnalysis();

  // Takes the accesses out of the sort, and shows how many of them are done.
  Status Run(ExternalSort* sort, bench::ProgressLine* progress);

  const std::map<AccessKey, std::unique_ptr<KeyFigures>>& figures() const { return figures_; }
  // By column family: accessed keys of any kind, and all keys where key_space_dir has them.
  const std::map<uint32_t, uint64_t>& accessed_keys() const { return accessed_keys_; }
  const std::map<uint32_t, uint64_t>& whole_keys() const { return whole_keys_; }
  // By the index of the pair in AnalyzerOptions::correlations, and the column family.
  const std::map<std::pair<size_t, uint32_t>, Correlation>& correlations() const { return correlations_; }

 private:
  struct Lane;

  Lane* LaneOf(const AccessKey& key);
  Status BeginFamily(uint32_t column_family);
  Status EndFamily();
  void BeginKey();
  Status TakeTouch(const Touch& touch);
  void EndKey();
  void EndPrefix(Lane* lane);
  Status WriteTimeSeries();
  void CountDone();
  void WriteDistributions(const AccessKey& key, Lane* lane);

  const AnalyzerOptions& options_;
  const Collector& collected_;
  OutputFiles* const files_;
  std::map<AccessKey, std::unique_ptr<KeyFigures>> figures_;
  std::map<AccessKey, std::unique_ptr<Lane>> lanes_;
  std::map<uint32_t, uint64_t> accessed_keys_;
  std::map<uint32_t, uint64_t> whole_keys_;
  std::map<std::pair<size_t, uint32_t>, Correlation> correlations_;

  bench::ProgressLine* progress_ = nullptr;
  uint64_t done_ = 0;  // Accesses, in each of the passes over them.
  uint64_t to_do_ = 0;
  std::unique_ptr<ExternalSort> time_series_;
  std::unique_ptr<KeySpace> key_space_;
  std::string whole_prefix_;  // Of the key that the key space read last.
  bool has_family_ = false;
  uint32_t family_ = 0;
  std::string key_;
  std::array<Lane*, kAccessKinds> family_lanes_{};
  std::array<uint64_t, kAccessKinds> last_micros_{};
  std::array<bool, kAccessKinds> was_accessed_{};
};

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_KEY_ANALYSIS_H_
