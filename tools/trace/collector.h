// The pass over a trace: counts what can be counted on the way, and hands the accesses to a sort by key for the rest.
//
// Seconds are counted from the beginning of the trace, in all results. Memory: a few bytes for each second of each kind
// of access, and what the sort is given.
//
// Threads: one.

#ifndef MIODB_TOOLS_TRACE_COLLECTOR_H_
#define MIODB_TOOLS_TRACE_COLLECTOR_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "miodb/trace.h"
#include "tools/trace/analyzer_options.h"
#include "tools/trace/distribution.h"
#include "tools/trace/external_sort.h"
#include "tools/trace/output_files.h"

namespace miodb::tools {

// Accesses of one kind to one column family.
struct AccessCounts {
  uint64_t accesses = 0;
  std::vector<uint32_t> per_second;
  Distribution value_sizes;  // Of puts and merges; each access counts.

  uint32_t CountAt(uint64_t second) const { return second < per_second.size() ? per_second[second] : 0; }
  uint32_t Peak() const;
};

using AccessKey = std::pair<Access, uint32_t>;  // And the column family.

// An access, as the sort carries it. The sort key is the column family, big-endian, and the key.
struct Touch {
  Access access = kGet;
  uint64_t micros = 0;  // Since the beginning of the trace.
  uint64_t value_size = 0;
  uint64_t sequence = 0;  // Counts accesses; only with time series.

  uint64_t Second() const { return micros / 1000000; }
  std::string Encode(bool with_sequence) const;
  static Touch Decode(std::string_view payload, bool with_sequence);
};

std::string SortKey(uint32_t column_family, std::string_view key);
uint32_t SortKeyFamily(std::string_view sort_key);

struct Totals {
  uint64_t requests = 0;
  uint64_t gets = 0;
  uint64_t write_batches = 0;
  uint64_t seeks = 0;
  uint64_t seek_for_prevs = 0;
  uint64_t multigets = 0;
  uint64_t edge_seeks = 0;  // To the first and the last key.
  uint64_t scans = 0;       // Seeks of which it is known how far the iterator went.
  uint64_t unknown = 0;     // Records of unknown types.
};

class Collector {
 public:
  Collector(const AnalyzerOptions& options, OutputFiles* files, ExternalSort* sort);

  // Reads the trace to its end. If the reader stops at damage, that is no error of this call. Progress goes to stderr.
  Status Run(TraceReader* reader);

  const std::map<AccessKey, AccessCounts>& counts() const { return counts_; }
  const std::map<uint32_t, Distribution>& scan_lengths() const { return scan_lengths_; }
  const Totals& totals() const { return totals_; }
  // Rows of figures by second: up to and with the second of the last record.
  uint64_t seconds() const { return seconds_; }
  // From the beginning to the last record.
  double duration_seconds() const { return duration_seconds_; }

 private:
  Status Take(const TraceRecord& record);
  Status TakeWrite(const TraceRecord& record);
  Status TakeAccess(Access access, uint32_t column_family, const Slice& key, const Slice& end, uint64_t value_size);
  Status SetTime(const TraceRecord& record);

  const AnalyzerOptions& options_;
  ExternalSort* const sort_;
  OutputFile* readable_ = nullptr;
  uint64_t start_micros_ = 0;
  uint64_t micros_ = 0;       // Of the record at hand, since the beginning.
  uint64_t wall_micros_ = 0;  // The same as it is in the trace.
  uint64_t sequence_ = 0;
  std::array<uint64_t, kAccessKinds> sampled_{};  // Accesses since the last one that was taken.
  std::map<AccessKey, AccessCounts> counts_;
  std::map<uint32_t, Distribution> scan_lengths_;
  Totals totals_;
  uint64_t seconds_ = 0;
  double duration_seconds_ = 0;
};

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_COLLECTOR_H_
