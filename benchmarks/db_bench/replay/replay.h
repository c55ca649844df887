// The benchmark replay: makes the calls of a trace again, on any engine.

#ifndef MIODB_BENCHMARKS_DB_BENCH_REPLAY_REPLAY_H_
#define MIODB_BENCHMARKS_DB_BENCH_REPLAY_REPLAY_H_

#include <string>

#include "benchmarks/common/engine.h"
#include "benchmarks/db_bench/measure/stats.h"

namespace miodb::bench {

struct Config;
class LatencyReport;

struct ReplayResult {
  Outcome outcome;      // An error if the trace is damaged or a call failed; what was replayed is below all the same.
  bool began = false;   // The trace could be opened, so there is something below.
  Stats stats;          // Of all threads.
  std::string summary;  // Lines for the user.
};

// Replays Config::trace with as many threads as it says. REQUIRES: the engine is open.
ReplayResult RunReplay(const Config& config, Engine* engine, LatencyReport* latencies);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_REPLAY_REPLAY_H_
