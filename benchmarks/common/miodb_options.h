// The Options that flags of EngineConfig stand for, where they are not bound to a member directly.

#ifndef MIODB_BENCHMARKS_COMMON_MIODB_OPTIONS_H_
#define MIODB_BENCHMARKS_COMMON_MIODB_OPTIONS_H_

#include <string>

#include "benchmarks/common/engine_config.h"

namespace miodb::bench {

// Options::compression, merge_operator, max_open_files, num_levels, filter_bits_per_key and create_if_missing, by the
// fields of these or similar names. Returns what MioDB has not, or nothing.
std::string FillMioDbOptions(const EngineConfig& config, Options* options);

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_MIODB_OPTIONS_H_
