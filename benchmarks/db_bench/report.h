// The text that db_bench prints. Scripts read it, so its shape is part of the interface (docs/db_bench.md); every
// function here returns the text, and the driver prints it.

#ifndef MIODB_BENCHMARKS_DB_BENCH_REPORT_H_
#define MIODB_BENCHMARKS_DB_BENCH_REPORT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "benchmarks/common/engine.h"

namespace miodb::bench {

struct Config;
class Stats;
struct Totals;

// For stderr: program and version, date, CPU.
std::string EnvironmentHeader(const Engine& engine);

// For stdout: sizes of keys, values and data, warnings about this build, a line of dashes. Sizes after compression
// stand there if the engine compresses values.
std::string WorkloadHeader(const Config& config, const Engine& engine);

// For stdout, above that: how the library of a peer was built, and what it answers to the questions of questions.h.
// Empty for a store that is part of this program.
std::string PeerHeader(const Config& config, const Engine& engine);

// "fillseq      :       1.234 micros/op ..." and a newline. The seconds of micros/op are summed over threads; rates use
// wall time; a megabyte is 2^20 bytes. "message" may be empty.
std::string ResultLine(const Config& config, std::string_view name, const Totals& totals, const std::string& message);

// The line of percentiles and, with --histogram, the histograms. Empty if nothing was timed.
std::string LatencyText(const Config& config, const Stats& stats);

// The line of a benchmark that there is only by name.
std::string NotAvailableLine(std::string_view name);

// The line of a benchmark that does not run.
std::string SkippedLine(std::string_view name, std::string_view reason);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_REPORT_H_
