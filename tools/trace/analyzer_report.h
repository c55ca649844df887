// The output of trace_analyzer, and the files about the trace as a whole.
//
// Threads: one.

#ifndef MIODB_TOOLS_TRACE_ANALYZER_REPORT_H_
#define MIODB_TOOLS_TRACE_ANALYZER_REPORT_H_

#include <string>

#include "tools/trace/collector.h"
#include "tools/trace/key_analysis.h"

namespace miodb::tools {

// The printed text, in RocksDB's order and words.
std::string ReportText(const AnalyzerOptions& options, const Collector& collected, const KeyAnalysis& keys);

// qps_stats.txt and cf_qps_stats.txt, composition.csv, scan lengths.
void WriteOverallFiles(const AnalyzerOptions& options, const Collector& collected, const KeyAnalysis& keys,
                       OutputFiles* files);

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_ANALYZER_REPORT_H_
