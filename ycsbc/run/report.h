// The text that ycsbc prints when a phase is over. Scripts read it, so its shape is part of the interface; every
// function here returns the text. docs/ycsb.md has examples.

#ifndef MIODB_YCSBC_RUN_REPORT_H_
#define MIODB_YCSBC_RUN_REPORT_H_

#include <string>
#include <vector>

#include "ycsbc/run/client.h"
#include "ycsbc/workload/measurements.h"
#include "ycsbc/workload/settings.h"

namespace miodb::ycsb {

// A figure: [READ], AverageLatency(us), 1.234
struct Measurement {
  std::string metric;
  std::string name;
  std::string value;     // A number as text, or
  bool is_text = false;  // words without quotes in them.
};

// "1st", "22nd", "95th"; fractions stay plain: "99.9".
std::string OrdinalText(double percent);

// All figures of a phase, in the order in which they are printed: OVERALL, then each kind of operation that occurred.
std::vector<Measurement> Measure(const Settings& settings, const PhaseResult& result);

// The same in the form that the exporter property names: text, json (an object a line), jsonarray or csv.
std::string ExportText(const std::string& exporter, const std::vector<Measurement>& measurements);

// The lines "READ,<milliseconds since the epoch>,<microseconds>" of measurementtype=raw, under a title.
std::string RawText(const PhaseResult& result);

// A table "value percentile count 1/(1-percentile)" of one kind of operation, microseconds, as plotting tools for
// HdrHistogram read it.
std::string PercentileTable(const Series& series);

// The output of YCSB-cpp at the end of a phase.
std::string CppText(const PhaseResult& result);

// The output of MioDB's driver: before the first phase, after each, around the statistics.
std::string MioDbHead(const Settings& settings, const Properties& properties);
std::string MioDbText(const PhaseResult& result);
std::string MioDbStatistics(const PhaseResult& result, const std::string& store_text);

}  // namespace miodb::ycsb

#endif  // MIODB_YCSBC_RUN_REPORT_H_
