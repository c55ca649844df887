// The trace of accesses to the pool's memory (Options::device_trace): what the model of slower memory sees, from the
// open of the database on.
//
// Threads: any. Accesses are recorded one after the other under a mutex, under which none is taken.
//
// Errors: as in tracer.h: the first failure ends the recording and is what End returns; no access fails because of it.

#ifndef MIODB_SRC_TRACE_ACCESS_TRACE_H_
#define MIODB_SRC_TRACE_ACCESS_TRACE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/status.h"
#include "src/emulation/access_sink.h"
#include "src/trace/trace_recorder.h"
#include "src/util/threads/mutex.h"

namespace miodb {

// Accesses that a thread makes in a row and that are recorded, or left out, together: about as many as an operation or
// two make.
inline constexpr uint64_t kAccessRun = 64;

// Which accesses are recorded.
struct AccessSample {
  uint64_t every = 1;  // of the runs of a thread
  // Since the trace began; a window, its end not in it.
  uint64_t from_nanos = 0;
  uint64_t to_nanos = UINT64_MAX;

  // Parses Options::device_trace_sample. InvalidArgument names the option and the forms that there are.
  static Status Parse(const std::string& text, AccessSample* sample);
};

class AccessTrace final : public AccessSink {
 public:
  // Makes the file and begins the trace. InvalidArgument for a wrong sample; IOError if the file cannot be made.
  static Status Start(const std::string& path, const std::string& sample, std::unique_ptr<AccessTrace>* trace);

  AccessTrace(std::unique_ptr<TraceWriter> writer, const AccessSample& sample);
  AccessTrace(const AccessTrace&) = delete;
  AccessTrace& operator=(const AccessTrace&) = delete;

  void OnAccess(uint64_t base, const TraceAccess& access) override;

  // Writes what is collected and the end record, and closes the file. Without it the trace ends as a crash leaves it.
  // Later accesses are not recorded; later calls give the same status.
  Status End();

  // Accesses that were recorded.
  uint64_t accesses() const;

 private:
  bool Takes(const TraceAccess& access, uint64_t nanos) REQUIRES(mutex_);
  void WritePayload() REQUIRES(mutex_);

  const AccessSample sample_;
  mutable Mutex mutex_;
  TraceRecorder recorder_ GUARDED_BY(mutex_);
  AccessesPayload payload_ GUARDED_BY(mutex_);
  std::vector<uint64_t> seen_ GUARDED_BY(mutex_);  // of each thread
  uint64_t accesses_ GUARDED_BY(mutex_) = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_TRACE_ACCESS_TRACE_H_
