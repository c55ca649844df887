// Presets of mixgraph: the services of the study (FAST'20, Cao and others) whose workloads it models. Threads: one.

#ifndef MIODB_BENCHMARKS_DB_BENCH_CONFIG_MIXGRAPH_PRESETS_H_
#define MIODB_BENCHMARKS_DB_BENCH_CONFIG_MIXGRAPH_PRESETS_H_

#include <string>

#include "benchmarks/common/flags.h"
#include "benchmarks/db_bench/config/config.h"

namespace miodb::bench {

// Gives the flags of config->mixgraph_preset, as far as they are not set, the values that the service has: key size,
// the size of filled values, distributions, hotness, mix. Returns what is wrong, or nothing.
std::string ApplyMixgraphPreset(const FlagSet& flags, Config* config);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_DB_BENCH_CONFIG_MIXGRAPH_PRESETS_H_
