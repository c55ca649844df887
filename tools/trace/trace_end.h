// The end of a trace, as the programs that read a trace judge it.

#ifndef MIODB_TOOLS_TRACE_TRACE_END_H_
#define MIODB_TOOLS_TRACE_TRACE_END_H_

#include <cinttypes>
#include <cstdio>

#include "miodb/status.h"
#include "miodb/trace.h"

namespace miodb::tools {

// Why the reader stopped. A crash leaves a record that the end of the file cuts, so everything before it counts; with
// other damage only if takes_damage. A trace that has no end is warned of on standard error.
inline Status JudgeTraceEnd(const TraceReader& reader, bool takes_damage) {
  const Status s = reader.status();
  if (s.ok()) {
    if (!reader.ended())
      std::fprintf(stderr, "warning: %s has no end record: tracing was cut off\n", reader.path().c_str());
    return s;
  }
  if (!reader.torn() && !(s.IsCorruption() && takes_damage)) return s;
  std::fprintf(stderr, "warning: %s; the %" PRIu64 " bytes from there on are left out\n", s.ToString().c_str(),
               reader.file_bytes() - reader.offset());
  return Status::OK();
}

}  // namespace miodb::tools

#endif  // MIODB_TOOLS_TRACE_TRACE_END_H_
