// A trace of accesses (Options::device_trace) as text: for memory simulators, for tables, and as counts.
//
// Threads: one.

#ifndef MIODB_TOOLS_TRACE_DEVICE_ACCESS_OUTPUT_H_
#define MIODB_TOOLS_TRACE_DEVICE_ACCESS_OUTPUT_H_

#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "miodb/trace.h"

namespace miodb::tools {

// Blocks of 2^shift bytes: lines of a processor's cache, and units of a medium such as Optane.
inline constexpr unsigned kLineShift = 6;
inline constexpr unsigned kUnitShift = 8;

// "read", "write", "flush", "fence".
const char* AccessKindName(TraceAccess::Kind kind);

// As the counters nvm-bytes-NAME of a database: "log", "flush", "merge", "lazy-copy", "evacuation", "manifest". Of
// reads "-".
const char* AccessPurposeName(TraceAccess::Purpose purpose);

// Blocks of 2^shift bytes that an access touches; none of a fence.
uint64_t BlocksOf(const TraceAccess& access, unsigned shift);

class AccessOutput {
 public:
  virtual ~AccessOutput() = default;
  virtual void Take(const TraceAccess& access) = 0;
  virtual void Finish() {}
};

// The names of all formats with a line of help for each.
std::string AccessFormatsHelp();

// The output of this format to a stream, whose errors show there; null if there is no such format, or if it is "wear",
// which is WearOutput. The offsets in simulators' formats begin at base.
std::unique_ptr<AccessOutput> NewAccessOutput(const std::string& format, uint64_t base, FILE* out);

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_DEVICE_ACCESS_OUTPUT_H_
