// The flags of db_bench about traces: what is traced, and how a trace is replayed.
//
// Threads: filled before the first thread starts, read-only afterwards.

#ifndef MIODB_BENCHMARKS_DB_BENCH_CONFIG_TRACE_CONFIG_H_
#define MIODB_BENCHMARKS_DB_BENCH_CONFIG_TRACE_CONFIG_H_

#include <cstdint>
#include <string>

#include "benchmarks/common/engine.h"
#include "benchmarks/common/flags.h"

namespace miodb::bench {

struct TraceConfig {
  std::string trace_file;
  TraceSettings settings;
  double replay_fast_forward = 1;
  int64_t replay_threads = 1;
  bool replay_as_fast_as_possible = false;
};

void RegisterTraceFlags(FlagSet* flags, TraceConfig* config);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_CONFIG_TRACE_CONFIG_H_
