#include "tools/trace/analyzer_options.h"

#include <sys/stat.h>

#include <algorithm>
#include <limits>

namespace miodb::tools {

namespace {

bool IsFolder(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool FindAccess(const std::string& name, Access* access) {
  for (int i = 0; i < kAccessKinds; i++) {
    *access = static_cast<Access>(i);
    if (name == AccessName(*access)) return true;
  }
  return false;
}

// "[get,put][put,put]"
std::string ParseCorrelations(const std::string& text, std::vector<std::pair<Access, Access>>* correlations) {
  const std::string problem = "--print_correlation=" + text + ": pairs look like [get,put][put,put]";
  size_t at = 0;
  while (at < text.size()) {
    const size_t comma = text.find(',', at);
    const size_t end = text.find(']', at);
    Access first, second;
    if (text[at] != '[' || comma == std::string::npos || end == std::string::npos || comma > end ||
        !FindAccess(text.substr(at + 1, comma - at - 1), &first) ||
        !FindAccess(text.substr(comma + 1, end - comma - 1), &second)) {
      return problem;
    }
    correlations->emplace_back(first, second);
    at = end + 1;
  }
  return "";
}

}  // namespace

const char* AccessName(Access access) {
  constexpr const char* kNames[] = {"get",          "put",   "delete",        "single_delete",
                                    "range_delete", "merge", "iterator_Seek", "iterator_SeekForPrev",
                                    "multiget"};
  return kNames[access];
}

void RegisterAnalyzerFlags(bench::FlagSet* f, AnalyzerOptions* o) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  f->Section("Input");
  f->Text("trace_path", &o->trace_path, "the trace");
  f->Text("key_space_dir", &o->key_space_dir, "folder with <column family id>.txt: all keys, sorted, 0x... a line");
  f->Real("sample_ratio", &o->sample_ratio, 1e-9, 1, "analyse this share of the records of each kind");
  f->Bool("try_process_corrupted_trace", &o->try_process_corrupted_trace, "analyse what lies before damage");
  f->Int("memory_mb", &o->memory_mb, 1, 1 << 20, "MiB for sorting; what does not fit goes to output_dir");

  f->Section("What is analysed");
  for (const auto& [name, access] : {std::pair<const char*, Access>{"analyze_get", kGet},
                                     {"analyze_put", kPut},
                                     {"analyze_delete", kDelete},
                                     {"analyze_single_delete", kSingleDelete},
                                     {"analyze_range_delete", kRangeDelete},
                                     {"analyze_merge", kMerge},
                                     {"analyze_multiget", kMultiGet}}) {
    f->Bool(name, &o->analyze[access], "");
  }
  f->Bool("analyze_iterator", &o->analyze_iterator, "Seek and SeekForPrev");

  f->Section("Files");
  f->Text("output_dir", &o->output_dir, "where files are written; made if it is not there");
  f->Text("output_prefix", &o->output_prefix, "their names begin with this");
  f->Bool("output_key_stats", &o->output_key_stats, "accesses of each key; growth of the number of keys");
  f->Bool("output_access_count_stats", &o->output_access_count_stats, "how many keys have how many accesses");
  f->Bool("output_time_series", &o->output_time_series, "second and key of each access");
  f->Bool("output_qps_stats", &o->output_qps_stats, "accesses of each second");
  f->Bool("output_key_distribution", &o->output_key_distribution, "sizes of keys");
  f->Bool("output_value_distribution", &o->output_value_distribution, "sizes of values of puts and merges");
  f->Int("value_interval", &o->value_interval, 1, kMax, "bytes of a bucket of that");
  f->Int("output_prefix_cut", &o->output_prefix_cut, 0, kMax, "bytes of a prefix; above 0: accesses of prefixes");
  f->Int("output_ignore_count", &o->output_ignore_count, 0, kMax, "leave keys with so few accesses out of counts");
  f->Bool("convert_to_human_readable_trace", &o->convert_to_human_readable_trace, "the accesses as text");
  f->Bool("no_key", &o->no_key, "that without keys");

  f->Section("Text");
  f->Bool("no_print", &o->no_print, "print nothing");
  f->Bool("print_overall_stats", &o->print_overall_stats, "print totals");
  f->Int("print_top_k_access", &o->print_top_k_access, 0, kMax, "length of lists of what is accessed most; 0: none");
  f->Text("print_correlation", &o->print_correlation, "pairs [first,second]: how long after the first, on one key");
  f->Bool("rocksdb_labels", &o->rocksdb_labels, "spell as RocksDB does (colume, medium), for scripts that look for it");
}

std::string FinishAnalyzerOptions(AnalyzerOptions* o) {
  if (o->trace_path.empty()) return "--trace_path is missing: it names the trace";
  if (o->output_dir.empty()) return "--output_dir is missing: it names the folder for the results";
  if (!o->key_space_dir.empty() && !IsFolder(o->key_space_dir)) {
    return "--key_space_dir=" + o->key_space_dir + " is not a folder";
  }
  o->analyze[kIteratorSeek] = o->analyze[kIteratorSeekForPrev] = o->analyze_iterator;
  if (std::none_of(o->analyze.begin(), o->analyze.end(), [](bool analyzed) { return analyzed; }) &&
      !o->convert_to_human_readable_trace) {
    return "nothing to analyse: give --analyze_get, --analyze_put or another of them";
  }
  o->sample_every = static_cast<uint64_t>(1 / o->sample_ratio);
  return ParseCorrelations(o->print_correlation, &o->correlations);
}

}  // namespace miodb::tools
