#include "src/trace/trace_recorder.h"

#include "miodb/db.h"
#include "src/util/clock/clock.h"

// A record is made in a string that is used again and again, gets the time at which it is made, and goes to the writer;
// the chain of checksums goes on over its bytes.

namespace miodb {

namespace {

// The build says it; db.h does not where it stands in for LevelDB's.
#ifdef MIODB_VERSION_MAJOR
constexpr int kMajor = MIODB_VERSION_MAJOR, kMinor = MIODB_VERSION_MINOR;
#else
constexpr int kMajor = kMajorVersion, kMinor = kMinorVersion;
#endif

}  // namespace

Status TraceRecorder::Begin(std::unique_ptr<TraceWriter> writer, bool own_records) {
  CHECK(!runs());
  CHECK(writer != nullptr);
  writer_ = std::move(writer);
  own_records_ = own_records;
  status_ = Status::OK();
  checksum_ = checksummed_bytes_ = 0;
  start_wall_micros_ = WallMicros();
  start_nanos_ = NowNanos();
  Write([](TraceEncoder encoder, uint64_t micros) { encoder.Begin(micros, kMajor, kMinor); });
  // Tells readers at once that there are such records.
  if (own_records_) WriteChecksum();
  if (!status_.ok()) writer_.reset();
  return status_;
}

// The writer goes here, also after an error, and with it its buffer.
Status TraceRecorder::End() {
  CHECK(writer_ != nullptr);
  if (own_records_) WriteChecksum();
  Write([](TraceEncoder encoder, uint64_t micros) { encoder.End(micros); });
  // The writer is closed also if it has failed, so that its file is let go of; its first error is the one that counts.
  Fail(NoThrow("trace", [this] { return writer_->Close(); }));
  writer_.reset();
  std::string().swap(scratch_);
  return status_;
}

// The date comes from the wall clock once; from there on the monotonic clock counts, so times never go back when
// somebody sets the date.
uint64_t TraceRecorder::Micros() const {
  const uint64_t now = NowNanos();
  CHECK_GE(now, start_nanos_);
  return start_wall_micros_ + (now - start_nanos_) / 1000;
}

// The checksum goes on before the write, so it covers what was meant to be written. After the first error nothing is
// written any more: behind a piece that is missing, the rest of the file could not be read.
Status TraceRecorder::WriteScratch() {
  CHECK_GE(scratch_.size(), kTraceHeadBytes);
  checksum_ = ChainChecksum(checksum_, scratch_);
  return writer_->Write(scratch_);
}

// A checksum record covers all records before it, also an earlier one. Checksums are due by bytes and not by records,
// so that they cost the same share of a trace of small calls and of large ones.
void TraceRecorder::WriteChecksum() {
  CHECK(own_records_ && runs());
  DCHECK_GE(writer_->GetFileSize(), checksummed_bytes_);
  checksummed_bytes_ = writer_->GetFileSize();
  const uint64_t checksum = checksum_;
  Write([checksum](TraceEncoder encoder, uint64_t micros) { encoder.Checksum(micros, checksum); });
}

}  // namespace miodb
