// The options of trace_analyzer: its command line, with the names that RocksDB's trace_analyzer has.
//
// Threads: filled at the start, read-only afterwards.

#ifndef MIODB_TOOLS_TRACE_ANALYZER_OPTIONS_H_
#define MIODB_TOOLS_TRACE_ANALYZER_OPTIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/common/flags.h"

namespace miodb::tools {

// Kinds of accesses. The numbers are those of the output files.
enum Access : int {
  kGet = 0,
  kPut = 1,
  kDelete = 2,
  kSingleDelete = 3,
  kRangeDelete = 4,
  kMerge = 5,
  kIteratorSeek = 6,
  kIteratorSeekForPrev = 7,
  kMultiGet = 8,
  kAccessKinds = 9,
};

// As they stand in file names and texts: "single_delete", "iterator_Seek".
const char* AccessName(Access access);

struct AnalyzerOptions {
  std::string trace_path;
  std::string output_dir;
  std::string output_prefix = "trace";
  std::array<bool, kAccessKinds> analyze{};
  bool analyze_iterator = false;
  bool output_key_stats = false;
  bool output_access_count_stats = false;
  bool output_time_series = false;
  int64_t output_prefix_cut = 0;
  bool convert_to_human_readable_trace = false;
  bool output_qps_stats = false;
  bool output_key_distribution = false;
  bool output_value_distribution = false;
  int64_t value_interval = 8;
  bool print_overall_stats = true;
  int64_t print_top_k_access = 1;
  std::string print_correlation;
  std::string key_space_dir;
  int64_t output_ignore_count = 0;
  double sample_ratio = 1;
  bool no_print = false;
  bool no_key = false;
  bool try_process_corrupted_trace = false;
  bool rocksdb_labels = true;
  int64_t memory_mb = 256;

  // ---- Derived, by FinishAnalyzerOptions
  std::vector<std::pair<Access, Access>> correlations;  // First and second access.
  uint64_t sample_every = 1;
};

void RegisterAnalyzerFlags(bench::FlagSet* flags, AnalyzerOptions* options);

// Checks what one flag alone cannot. Returns what is wrong, or nothing.
std::string FinishAnalyzerOptions(AnalyzerOptions* options);

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_ANALYZER_OPTIONS_H_
