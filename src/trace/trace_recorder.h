// Writes the records of a trace: gives them their times, chains their checksums, and keeps the first failure.
//
// Threads: one at a time; the owner has a mutex.
//
// Errors: after the first failure of the writer, or lack of memory, nothing is written any more, and status() and End
// tell it.

#ifndef MIODB_SRC_TRACE_TRACE_RECORDER_H_
#define MIODB_SRC_TRACE_TRACE_RECORDER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "miodb/trace.h"
#include "src/trace/trace_format.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

class TraceRecorder {
 public:
  // Writes the begin record. own_records: TraceOptions::own_records. REQUIRES: no trace runs. After a failure none
  // does.
  Status Begin(std::unique_ptr<TraceWriter> writer, bool own_records);

  // Writes the end record and closes the writer, also after a failure. REQUIRES: a trace runs.
  Status End();

  bool runs() const { return writer_ != nullptr; }
  const Status& status() const { return status_; }
  bool own_records() const { return own_records_; }

  // The first failure stays.
  void Fail(const Status& s) {
    if (status_.ok()) status_ = s;
  }

  // Bytes written so far. REQUIRES: a trace runs.
  uint64_t bytes() const {
    DCHECK(runs());
    return writer_->GetFileSize();
  }

  // The nanoseconds of the monotonic clock at which the trace began.
  uint64_t start_nanos() const { return start_nanos_; }

  // Makes a record by encode(TraceEncoder, micros) and writes it, and a checksum if one is due. Returns the record's
  // time, or 0 if it was not written. REQUIRES: a trace runs.
  template <typename Encode>
  uint64_t Record(Encode encode) {
    DCHECK(runs());
    const uint64_t micros = Write(encode);
    if (own_records_ && writer_->GetFileSize() - checksummed_bytes_ >= kTraceChecksumBytes) WriteChecksum();
    return micros;
  }

 private:
  template <typename Encode>
  uint64_t Write(Encode encode) {
    if (!status_.ok()) return 0;
    CHECK(writer_ != nullptr);
    const uint64_t micros = Micros();
    status_ = NoThrow("trace", [&] {
      encode(TraceEncoder(&scratch_), micros);
      return WriteScratch();
    });
    return status_.ok() ? micros : 0;
  }
  void WriteChecksum();
  Status WriteScratch();
  uint64_t Micros() const;

  std::unique_ptr<TraceWriter> writer_;  // null: no trace runs
  bool own_records_ = true;
  Status status_;                   // the first failure
  uint64_t checksum_ = 0;           // of what was written
  uint64_t checksummed_bytes_ = 0;  // of the file when the last checksum was written
  uint64_t start_wall_micros_ = 0;
  uint64_t start_nanos_ = 0;
  std::string scratch_;
};

}  // namespace miodb

#endif  // MIODB_SRC_TRACE_TRACE_RECORDER_H_
