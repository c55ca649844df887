// Where the model of slower memory tells of the accesses that it sees.

#ifndef MIODB_SRC_EMULATION_ACCESS_SINK_H_
#define MIODB_SRC_EMULATION_ACCESS_SINK_H_

#include <cstdint>

#include "miodb/trace.h"

namespace miodb {

class AccessSink {
 public:
  virtual ~AccessSink() = default;

  // access.nanos is the sink's to tell. base: the address of the pool's first byte. Called by one thread at a time, in
  // the order in which the model's caches see the accesses; must not throw, and must not access the pool.
  virtual void OnAccess(uint64_t base, const TraceAccess& access) = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_EMULATION_ACCESS_SINK_H_
