// The text that programs print about a store's counters.

#ifndef MIODB_BENCHMARKS_COMMON_COUNTERS_H_
#define MIODB_BENCHMARKS_COMMON_COUNTERS_H_

#include <string>

#include "benchmarks/common/engine.h"

namespace miodb::bench {

// The counters of a store that has them: user bytes, bytes written to the medium by purpose, write amplification over
// everything (log included), and what durability the medium gives. Empty for an engine without counters.
std::string CountersText(const Engine::Counters& counters, const std::string& persist_mode);

// The three lines printed when a store with counters closes, in the form of MioDB's README: microseconds that writers
// waited for whatever reason, microseconds of flush work, bytes written by flush and compaction (the log not included).
std::string ClosingLines(const Engine::Counters& counters);

// For stores without counters: the bytes put, and what the process wrote by system calls meanwhile, log included. Empty
// if nothing was put.
std::string FileBytesText(uint64_t user_bytes, uint64_t file_bytes);

// All bytes that this process has written by system calls so far, whatever became of them; 0 if the system does not
// say.
uint64_t ProcessBytesWritten();

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_COUNTERS_H_
