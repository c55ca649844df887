// include/miodb/trace.h: any bytes are read as a trace up to where they stop to be one, which the status names; what is
// delivered is whole, and a second pass delivers the same.
//
// The first byte: 1 puts a good begin record in front, 2 makes checksum records right, 4 takes version 0.1 for that
// begin record.

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "miodb/trace.h"
#include "src/trace/trace_format.h"
#include "src/util/bytes/coding.h"
#include "tests/fuzz/fuzz.h"

namespace miodb {
namespace {

std::string BeginRecord(bool is_version_1) {
  std::string record;
  TraceEncoder(&record).Begin(1, 7, 8);
  if (is_version_1) record.replace(record.find("0.2"), 3, "0.1");
  return record;
}

// Gives every checksum record that has room for one the checksum of what lies before it.
void SealChecksums(std::string* trace) {
  uint64_t checksum = 0;
  size_t at = 0;
  while (trace->size() - at >= kTraceHeadBytes) {
    const TraceHead head = DecodeTraceHead(trace->data() + at);
    if (head.payload_bytes > trace->size() - at - kTraceHeadBytes) return;
    const Slice head_bytes(trace->data() + at, kTraceHeadBytes);
    if (head.type == kTraceChecksum && head.payload_bytes == 8) {
      EncodeFixed64(trace->data() + at + kTraceHeadBytes, ChainChecksum(checksum, head_bytes));
    }
    checksum = ChainChecksum(checksum, Slice(head_bytes.data(), kTraceHeadBytes + head.payload_bytes));
    at += kTraceHeadBytes + head.payload_bytes;
  }
}

// A file in memory that holds the trace, always the same one.
const std::string& FileOf(const std::string& trace) {
  static const int file = memfd_create("trace", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  FUZZ_CHECK(ftruncate(file, static_cast<off_t>(trace.size())) == 0);
  FUZZ_CHECK(pwrite(file, trace.data(), trace.size(), 0) == static_cast<ssize_t>(trace.size()));
  return path;
}

// A record that the library writes itself comes back from its bytes as it was.
void CheckEncodesAgain(const TraceRecord& record) {
  if (record.column_family != 0) return;
  std::string bytes;
  TraceEncoder encoder(&bytes);
  switch (record.type) {
    case kTraceWrite:
      encoder.Batch(record.micros, record.batch);
      break;
    case kTraceGet:
      encoder.Get(record.micros, record.key);
      break;
    case kTraceScan:
      encoder.Scan(record.micros, record.seek_micros, record.key, record.nexts, record.prevs);
      break;
    case kTraceSeek:
    case kTraceSeekForPrev:
    case kTraceSeekToFirst:
    case kTraceSeekToLast:
      encoder.Seek(record.micros, record.type, record.key, &record.lower_bound, &record.upper_bound);
      break;
    default:
      return;
  }
  const TraceHead head = DecodeTraceHead(bytes.data());
  FUZZ_CHECK(head.micros == record.micros && head.type == record.type &&
             kTraceHeadBytes + head.payload_bytes == bytes.size());
  TraceRecord again;
  again.type = record.type;
  FUZZ_CHECK(DecodeTracePayload(2, Slice(bytes.data() + kTraceHeadBytes, head.payload_bytes), &again) == nullptr);
  FUZZ_CHECK(again.batch == record.batch && again.key == record.key && again.lower_bound == record.lower_bound &&
             again.upper_bound == record.upper_bound && again.seek_micros == record.seek_micros &&
             again.nexts == record.nexts && again.prevs == record.prevs);
}

struct Pass {
  uint64_t records = 0;
  uint64_t bytes = 0;  // Of all their slices, which are read.
  uint64_t sum = 0;
  std::string status;
};

void Take(const Slice& slice, Pass* pass) {
  pass->bytes += slice.size();
  pass->sum = ChainChecksum(pass->sum, slice);
}

Pass ReadAll(TraceReader* reader, const std::string& trace) {
  Pass pass;
  uint64_t behind = 0;  // The last record.
  for (TraceRecord record; reader->Next(&record); pass.records++) {
    FUZZ_CHECK(record.offset >= behind && record.type != kTraceBegin && record.type != kTraceEnd &&
               record.type != kTraceChecksum);
    behind = record.offset + kTraceHeadBytes;
    FUZZ_CHECK(behind <= reader->offset() && reader->offset() <= trace.size());
    const uint64_t before = pass.bytes;
    for (const Slice& slice : {record.batch, record.key, record.lower_bound, record.upper_bound}) Take(slice, &pass);
    for (const TraceKey& key : record.keys) Take(key.key, &pass);
    FUZZ_CHECK(pass.bytes - before <= reader->offset() - record.offset);
    TraceUpdates updates(record.batch);
    for (TraceUpdate update; updates.Next(&update);) {
      Take(update.key, &pass);
      Take(update.value, &pass);
    }
    FUZZ_CHECK(record.type != kTraceWrite || !updates.damaged());
    CheckEncodesAgain(record);
  }
  TraceRecord none;
  FUZZ_CHECK(!reader->Next(&none));
  FUZZ_CHECK(reader->status().ok() || reader->status().IsCorruption());
  FUZZ_CHECK(!reader->torn() || reader->status().IsCorruption());
  FUZZ_CHECK(!reader->status().ok() || reader->offset() == trace.size());
  pass.status = reader->status().ToString();
  return pass;
}

}  // namespace
}  // namespace miodb

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace miodb;
  const uint8_t how = fuzz::TakeByte(&data, &size);
  std::string trace = (how & 1) != 0 ? BeginRecord((how & 4) != 0) : std::string();
  trace.append(reinterpret_cast<const char*>(data), size);
  if ((how & 2) != 0) SealChecksums(&trace);
  std::unique_ptr<TraceReader> reader;
  const Status s = TraceReader::Open(FileOf(trace), &reader);
  FUZZ_CHECK(s.ok() == (reader != nullptr));
  FUZZ_CHECK(s.ok() || s.IsCorruption() || s.IsNotSupportedError());
  FUZZ_CHECK(s.ok() || (how & 1) == 0);
  if (!s.ok()) return 0;
  const Pass first = ReadAll(reader.get(), trace);
  FUZZ_CHECK(reader->Rewind().ok());
  const Pass second = ReadAll(reader.get(), trace);
  FUZZ_CHECK(first.records == second.records && first.bytes == second.bytes && first.sum == second.sum &&
             first.status == second.status);
  return 0;
}
