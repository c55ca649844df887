#include "tools/trace/analyzer_report.h"

#include <cinttypes>
#include <set>

#include "benchmarks/common/figures/format.h"

namespace miodb::tools {

using bench::Format;

namespace {

double AverageQps(uint64_t accesses, const Collector& collected) {
  return static_cast<double>(accesses) / std::max(collected.duration_seconds(), 1.0);
}

// Sums over column families.
AccessCounts SumOf(Access access, const Collector& collected) {
  AccessCounts sum;
  sum.per_second.resize(collected.seconds());
  for (const auto& [key, counts] : collected.counts()) {
    if (key.first != access) continue;
    sum.accesses += counts.accesses;
    for (size_t i = 0; i < counts.per_second.size(); i++) sum.per_second[i] += counts.per_second[i];
  }
  return sum;
}

std::string PeakLine(const AccessCounts& counts, const Collector& collected) {
  return Format("Peak QPS is: %u Average QPS is: %f\n", counts.Peak(), AverageQps(counts.accesses, collected));
}

std::string SizeLine(const AnalyzerOptions& options, const char* what, const Distribution& sizes) {
  // RocksDB's line about keys and its line about values differ in the case of letters.
  const bool is_key = std::string_view(what) == "key";
  const char* const median = options.rocksdb_labels ? "medium" : "median";
  return Format(is_key ? "Average %s size: %f %s size %s: %" PRIu64 " Key size Variation: %f\n"
                       : "Average %s size: %f %s size %s: %" PRIu64 " Value size variation: %f\n",
                what, sizes.Average(), is_key ? "key" : "Value", median, sizes.Median(), sizes.Deviation());
}

std::string TopLists(const AnalyzerOptions& options, const KeyFigures& figures) {
  std::string text;
  if (options.print_top_k_access == 0) return text;
  text += Format("The Top %" PRId64 " keys that are accessed:\n", options.print_top_k_access);
  for (const auto& [count, key] : figures.top_keys.entries()) {
    text += Format("Access_count: %" PRIu64 " ", count) + Hex(key) + "\n";
  }
  if (options.output_prefix_cut == 0) return text;
  text += Format("The Top %" PRId64 " accessed prefix range:\n", options.print_top_k_access);
  for (const auto& [count, prefix] : figures.top_prefixes.entries()) {
    text += "Prefix: " + Hex(prefix) + Format(" Access count: %" PRIu64 "\n", count);
  }
  text += Format("The Top %" PRId64 " prefix with highest access per key:\n", options.print_top_k_access);
  for (const auto& [average, prefix] : figures.top_prefix_averages.entries()) {
    text += "Prefix: " + Hex(prefix) + Format(" access per key: %f\n", average);
  }
  return text;
}

std::string FamilyText(const AnalyzerOptions& options, const Collector& collected, const KeyAnalysis& keys,
                       const AccessKey& key) {
  const AccessCounts& counts = collected.counts().at(key);
  const KeyFigures& figures = *keys.figures().at(key);
  std::string text = std::string(57, '*') + "\n";
  text += Format("%s family id: %u\n", options.rocksdb_labels ? "colume" : "column", key.second);
  text += Format("Total number of queries to this cf by %s: %" PRIu64 "\n", AccessName(key.first), counts.accesses);
  text += Format("Total unique keys in this cf: %" PRIu64 "\n", figures.keys);
  text += SizeLine(options, "key", figures.key_sizes);
  if (counts.value_sizes.total() > 0) text += SizeLine(options, "value", counts.value_sizes);
  text += PeakLine(counts, collected);
  text += TopLists(options, figures);
  for (size_t i = 0; i < options.correlations.size(); i++) {
    const auto& [first, then] = options.correlations[i];
    if (first != key.first) continue;
    const auto found = keys.correlations().find({i, key.second});
    const Correlation correlation = found == keys.correlations().end() ? Correlation() : found->second;
    const double average =
        correlation.count == 0 ? 0 : correlation.total_micros / 1000 / static_cast<double>(correlation.count);
    text +=
        Format("The correlation statistics of '%s' after '%s' is: total numbers: %" PRIu64 " average time: %f(ms)\n",
               AccessName(then), AccessName(first), correlation.count, average);
  }
  return text;
}

std::string AccessText(const AnalyzerOptions& options, const Collector& collected, const KeyAnalysis& keys,
                       Access access) {
  const AccessCounts sum = SumOf(access, collected);
  std::string text = Format("\n################# Operation Type: %s #####################\n", AccessName(access));
  if (options.output_qps_stats) text += PeakLine(sum, collected);
  uint64_t total_keys = 0;
  for (const auto& [key, figures] : keys.figures()) {
    if (key.first != access) continue;
    text += FamilyText(options, collected, keys, key);
    total_keys += figures->keys;
  }
  if (access == kIteratorSeek) {
    for (const auto& [family, lengths] : collected.scan_lengths()) {
      text += Format("Scan lengths in cf %u: scans: %" PRIu64 " average: %f median: %" PRIu64 "\n", family,
                     lengths.total(), lengths.Average(), lengths.Median());
    }
  }
  text += Format("Total keys of '%s' is: %" PRIu64 "\n", AccessName(access), total_keys);
  return text + Format("Total access is: %" PRIu64 "\n", sum.accesses);
}

AccessCounts OverallCounts(const Collector& collected) {
  AccessCounts overall;
  overall.per_second.resize(collected.seconds());
  for (const auto& [key, counts] : collected.counts()) {
    overall.accesses += counts.accesses;
    for (size_t i = 0; i < counts.per_second.size(); i++) overall.per_second[i] += counts.per_second[i];
  }
  return overall;
}

std::string OverallText(const AnalyzerOptions& options, const Collector& collected, const KeyAnalysis& keys) {
  const AccessCounts overall = OverallCounts(collected);
  uint64_t accessed = 0;
  for (const auto& [family, count] : keys.accessed_keys()) accessed += count;
  const Totals& totals = collected.totals();
  std::string text =
      Format("Average QPS per second: %f Peak QPS: %u\n", AverageQps(overall.accesses, collected), overall.Peak());
  text += Format("The statistics related to query number need to times: %" PRIu64 "\n", options.sample_every);
  text += Format("Total_requests: %" PRIu64 " Total_accessed_keys: %" PRIu64 " Total_gets: %" PRIu64
                 " Total_write_batches: %" PRIu64 " Total_seeks: %" PRIu64 " Total_seek_for_prevs: %" PRIu64
                 " Total_multigets: %" PRIu64 "\n",
                 totals.requests, accessed, totals.gets, totals.write_batches, totals.seeks, totals.seek_for_prevs,
                 totals.multigets);
  for (int i = 0; i < kAccessKinds; i++) {
    if (!options.analyze[static_cast<size_t>(i)]) continue;
    const Access access = static_cast<Access>(i);
    text += Format("Operation: '%s' has: %" PRIu64 "\n", AccessName(access), SumOf(access, collected).accesses);
  }
  if (totals.edge_seeks > 0) text += Format("Seeks to the first or last key: %" PRIu64 "\n", totals.edge_seeks);
  if (totals.unknown > 0) text += Format("Records of unknown types: %" PRIu64 "\n", totals.unknown);
  return text;
}

void WriteComposition(const Collector& collected, const KeyAnalysis& keys, OutputFile* file) {
  const AccessCounts overall = OverallCounts(collected);
  file->Print("type,cf,queries,share,unique_keys\n");
  for (const auto& [key, counts] : collected.counts()) {
    file->Print("%s,%u,%" PRIu64 ",%.6f,%" PRIu64 "\n", AccessName(key.first), key.second, counts.accesses,
                static_cast<double>(counts.accesses) / static_cast<double>(overall.accesses),
                keys.figures().at(key)->keys);
  }
}

// A column for each kind of access in the order of their numbers, and one for all of them.
void WriteQps(const Collector& collected, OutputFile* file) {
  std::vector<AccessCounts> sums;
  for (int i = 0; i < kAccessKinds; i++) sums.push_back(SumOf(static_cast<Access>(i), collected));
  for (uint64_t second = 0; second < collected.seconds(); second++) {
    uint64_t all = 0;
    for (const AccessCounts& sum : sums) {
      file->Print("%u ", sum.CountAt(second));
      all += sum.CountAt(second);
    }
    file->Print("%" PRIu64 "\n", all);
  }
}

// A column for each column family that is accessed, named in a comment unless they are 0, 1, 2 and so on.
void WriteFamilyQps(const Collector& collected, OutputFile* file) {
  std::map<uint32_t, std::vector<uint64_t>> sums;
  for (const auto& [key, counts] : collected.counts()) {
    std::vector<uint64_t>& sum = sums[key.second];
    sum.resize(collected.seconds());
    for (size_t i = 0; i < counts.per_second.size(); i++) sum[i] += counts.per_second[i];
  }
  if (!sums.empty() && sums.rbegin()->first + 1 != sums.size()) {
    file->Print("#");
    for (const auto& [family, sum] : sums) file->Print(" cf_%u", family);
    file->Print("\n");
  }
  for (uint64_t second = 0; second < collected.seconds(); second++) {
    const char* blank = "";
    for (const auto& [family, sum] : sums) {
      file->Print("%s%" PRIu64, blank, sum[second]);
      blank = " ";
    }
    file->Print("\n");
  }
}

}  // namespace

std::string ReportText(const AnalyzerOptions& options, const Collector& collected, const KeyAnalysis& keys) {
  std::string text;
  for (int i = 0; i < kAccessKinds; i++) {
    if (options.analyze[static_cast<size_t>(i)]) text += AccessText(options, collected, keys, static_cast<Access>(i));
  }
  text += "The column family based statistics\n";
  for (const auto& [family, accessed] : keys.accessed_keys()) {
    const auto whole = keys.whole_keys().find(family);
    text += Format("The column family id: %u\n", family);
    text +=
        Format("The whole key space key numbers: %" PRIu64 "\n", whole == keys.whole_keys().end() ? 0 : whole->second);
    text += Format("The accessed key space key numbers: %" PRIu64 "\n", accessed);
  }
  if (options.print_overall_stats) text += OverallText(options, collected, keys);
  return text;
}

void WriteOverallFiles(const AnalyzerOptions& options, const Collector& collected, const KeyAnalysis& keys,
                       OutputFiles* files) {
  if (!collected.counts().empty()) WriteComposition(collected, keys, files->Create("composition.csv"));
  if (options.output_qps_stats) {
    WriteQps(collected, files->Create("qps_stats.txt"));
    WriteFamilyQps(collected, files->Create("cf_qps_stats.txt"));
  }
  if (!options.output_access_count_stats) return;
  for (const auto& [family, lengths] : collected.scan_lengths()) {
    OutputFile* const file = files->Create("iterator-" + std::to_string(family) + "-scan_length_distribution.txt");
    lengths.ForEach(
        [file](uint64_t length, uint64_t scans) { file->Print("%" PRIu64 " %" PRIu64 "\n", length, scans); });
  }
}

}  // namespace miodb::tools
