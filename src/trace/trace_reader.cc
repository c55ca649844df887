#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "miodb/env.h"
#include "miodb/trace.h"
#include "src/trace/trace_format.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// A reader judges every record before it delivers it: its length by what the file still has, its bitmap by its type,
// each member by the bytes of the payload, a batch by its updates, and everything since the last checksum by that. So
// a program that works on records needs no checks of its own. Records that no checksum covers yet may have been
// delivered when damage is found: the status names the offset.
//
// A trace that a crash cut off and one whose length is damaged both end too early. They are told apart by the end of
// the file: a trace that was ended has a checksum and an end record there. The lengths of these two are known.

namespace miodb {

namespace {

// The file is read in pieces of this size, or of a record that is larger.
constexpr size_t kReadBytes = 1 << 20;

}  // namespace

// The file through a window that always holds at least the record at hand.
struct TraceReader::Rep {
  explicit Rep(const std::string& trace_path) : path(trace_path) {}

  const std::string path;
  uint64_t file_bytes = 0;
  std::unique_ptr<SequentialFile> file;

  std::vector<char> window;
  size_t begin = 0;  // What is in the window and not yet used: [begin, end).
  size_t end = 0;
  uint64_t offset = 0;  // Of window[begin] in the file.

  int format_version = 0;
  std::string writer;
  uint64_t start_micros = 0;
  uint64_t checksum = 0;

  Status status;
  // The end of the trace, as far as the reader has come.
  enum class End : uint8_t {
    kAhead,      // not met, or the file ends between two records
    kEndRecord,  // met
    kCut,        // the file ends within a record, as after a crash of its writer
  };
  End trace_end = End::kAhead;
  bool has_own_records = false;
  bool is_checked = false;  // The last record was a checksum.

  Status OpenFile();
  Status Fill(size_t bytes);
  Status ReadBegin();
  bool ReadRecord(TraceRecord* record);
  // Makes the next record whole in the window. False at the end and at damage.
  bool Load(TraceHead* head);
  bool HasEnd();
  bool StopAtCut(const std::string& reason);
  bool CheckChecksum(const Slice& head, const Slice& payload);
  // Ends the reading: what lies behind damage cannot be told apart from what is still good.
  bool Stop(const std::string& reason) {
    status = Corruption(offset, reason);
    return false;
  }
  Status Corruption(uint64_t at, const std::string& reason) const {
    return Status::Corruption(path, "offset " + std::to_string(at) + ": " + reason);
  }
};

// The file's length is taken once: what a writer adds meanwhile is left to the next Rewind, and a record that reaches
// beyond counts as cut.
// The window begins as large as a piece, or as the file if that is smaller, and grows for a record that is larger.
Status TraceReader::Rep::OpenFile() {
  Env* const env = Env::Default();
  Status s = env->GetFileSize(path, &file_bytes);
  if (!s.ok()) return s;
  SequentialFile* opened = nullptr;
  s = env->NewSequentialFile(path, &opened);
  file.reset(opened);
  begin = end = 0;
  static_assert(kTraceHeadBytes <= kReadBytes);
  window.resize(std::clamp<uint64_t>(file_bytes, kTraceHeadBytes, kReadBytes));
  offset = 0;
  checksum = 0;
  status = Status::OK();
  trace_end = End::kAhead;
  has_own_records = is_checked = false;
  return s;
}

// Whether the last bytes of the file are a checksum and an end record, as they are in a trace of ours that was ended.
// An end record alone looks too much like other bytes.
bool TraceReader::Rep::HasEnd() {
  constexpr size_t kChecksumBytes = kTraceHeadBytes + 8, kBytes = kChecksumBytes + kTraceHeadBytes;
  RandomAccessFile* opened = nullptr;
  if (!has_own_records || !Env::Default()->NewRandomAccessFile(path, &opened).ok()) return false;
  const std::unique_ptr<RandomAccessFile> whole(opened);
  char scratch[kBytes];
  Slice bytes;
  if (file_bytes < kBytes || !whole->Read(file_bytes - kBytes, kBytes, &bytes, scratch).ok()) return false;
  if (bytes.size() != kBytes) return false;
  const TraceHead checksum_head = DecodeTraceHead(bytes.data());
  const TraceHead end_head = DecodeTraceHead(bytes.data() + kChecksumBytes);
  return checksum_head.type == kTraceChecksum && checksum_head.payload_bytes == 8 && end_head.type == kTraceEnd &&
         end_head.payload_bytes == 0;
}

// A record goes on behind the end of the file. If that has an end record, nothing was cut: the record's length is
// wrong.
bool TraceReader::Rep::StopAtCut(const std::string& reason) {
  if (HasEnd()) return Stop(reason + ", behind an end record: the length or one before it is damaged");
  trace_end = End::kCut;
  return Stop(reason);
}

// Has at least this many bytes in the window, or all that the file has. Unused bytes move to the front first, so
// records that were delivered are overwritten: their slices are valid until the next one.
Status TraceReader::Rep::Fill(size_t bytes) {
  CHECK(begin <= end && end <= window.size());
  if (end - begin >= bytes) return Status::OK();
  std::memmove(window.data(), window.data() + begin, end - begin);
  end -= begin;
  begin = 0;
  if (window.size() < bytes) window.resize(bytes);
  while (end < bytes) {
    Slice piece;
    const size_t room = window.size() - end;
    Status s = file->Read(room, &piece, window.data() + end);
    if (!s.ok()) return s;
    if (piece.empty()) break;
    // A file may hand out memory of its own instead of filling what it was given.
    if (piece.data() != window.data() + end) std::memcpy(window.data() + end, piece.data(), piece.size());
    end += piece.size();
    CHECK_LE(end, window.size());
  }
  return Status::OK();
}

// The end of the file at the border of two records is the end of the trace and no error; anywhere else it is a cut. An
// end record is not asked for here, since RocksDB's traces and crashed ones have none.
bool TraceReader::Rep::Load(TraceHead* head) {
  status = Fill(kTraceHeadBytes);
  if (!status.ok() || end == begin) return false;
  if (end - begin < kTraceHeadBytes) {
    return StopAtCut("the file ends within the head of a record");
  }
  // A length that no call makes is damage, before anything is read by it.
  *head = DecodeTraceHead(window.data() + begin);
  if (head->payload_bytes > kMaxTracePayload) {
    return Stop("a record of " + std::to_string(head->payload_bytes) + " bytes, which no call makes");
  }
  // Behind the end of the file such a record would pass for a cut one.
  if (head->type == kTraceEnd && head->payload_bytes != 0) return Stop("an end record with a payload");
  if (head->type == kTraceChecksum && head->payload_bytes != 8) return Stop("a checksum record of the wrong size");
  const size_t bytes = kTraceHeadBytes + head->payload_bytes;
  // A damaged length must not ask for memory that the file could not fill.
  if (offset + bytes <= file_bytes) status = Fill(bytes);
  if (!status.ok()) return false;
  if (end - begin < bytes) {
    return StopAtCut("a record of " + std::to_string(bytes) + " bytes is cut short by the end of the file");
  }
  return true;
}

// Version 0.1 and 0.2 differ in payloads alone, so the first record tells how to read the rest.
Status TraceReader::Rep::ReadBegin() {
  TraceHead head;
  if (!Load(&head)) return status.ok() ? Corruption(0, "the file is empty") : status;
  const Slice record(window.data() + begin, kTraceHeadBytes + head.payload_bytes);
  const Slice payload(record.data() + kTraceHeadBytes, head.payload_bytes);
  if (head.type != kTraceBegin || !DecodeTraceBegin(payload, &format_version, &writer)) {
    return Corruption(0, "not the beginning of a trace");
  }
  if (format_version != 1 && format_version != 2) {
    return Status::NotSupported(path, "offset 0: trace version " + std::to_string(format_version / 10) + "." +
                                          std::to_string(format_version % 10) + "; 0.1 and 0.2 can be read");
  }
  CHECK(begin == 0 && offset == 0);  // it is the first record
  start_micros = head.micros;
  checksum = ChainChecksum(checksum, record);
  begin += record.size();
  offset += record.size();
  return Status::OK();
}

// The chain covers everything since the beginning, so a record that was left out or put elsewhere is found as well as
// a changed one. The next checksum, or the last, which End writes, covers the records behind this one.
bool TraceReader::Rep::CheckChecksum(const Slice& head, const Slice& payload) {
  CHECK(head.size() == kTraceHeadBytes && payload.size() == 8);
  if (DecodeFixed64(payload.data()) != ChainChecksum(checksum, head)) {
    return Stop("the checksum of what lies before does not match: some record since the last checksum is damaged");
  }
  return true;
}

// Checksum and end records are looked at on the way and not delivered. A trace of ours ends with a checksum and an end
// record in this order and nothing behind; a trace of RocksDB's may just stop.
bool TraceReader::Rep::ReadRecord(TraceRecord* record) {
  while (status.ok() && trace_end != End::kEndRecord) {
    TraceHead head;
    if (!Load(&head)) return false;
    const Slice whole(window.data() + begin, kTraceHeadBytes + head.payload_bytes);
    const Slice payload(whole.data() + kTraceHeadBytes, head.payload_bytes);
    if (head.type == kTraceBegin) return Stop("a second beginning of a trace");
    if (head.type == kTraceChecksum && !CheckChecksum(Slice(whole.data(), kTraceHeadBytes), payload)) return false;
    if (head.type == kTraceEnd && has_own_records && !is_checked) return Stop("no checksum before the end record");
    // Damage between the last checksum and the end is found by the checksum that has to stand before the end.
    is_checked = head.type == kTraceChecksum;
    if (head.type >= kTraceScan) has_own_records = true;
    record->type = static_cast<TraceType>(head.type);
    record->micros = head.micros;
    record->offset = offset;
    const bool is_delivered = head.type != kTraceEnd && head.type != kTraceChecksum;
    if (is_delivered) {
      const char* const problem = DecodeTracePayload(format_version, payload, record);
      if (problem != nullptr) return Stop(problem);
    }
    checksum = ChainChecksum(checksum, whole);
    begin += whole.size();
    offset += whole.size();
    CHECK_LE(begin, end);
    if (is_delivered) return true;
    if (head.type == kTraceEnd) {
      trace_end = End::kEndRecord;
      if (offset != file_bytes) return Stop("bytes behind the end record");
    }
  }
  return false;
}

// The state is behind a pointer, so that the public header names no file and no window.
TraceReader::TraceReader(std::unique_ptr<Rep> rep) : rep_(std::move(rep)) { CHECK(rep_->file != nullptr); }
TraceReader::~TraceReader() = default;

// A file that is no trace is refused here: its first record says which version the others have.
Status TraceReader::Open(const std::string& path, std::unique_ptr<TraceReader>* reader) {
  reader->reset();
  return NoThrow(path, [&] {
    std::unique_ptr<Rep> rep(new Rep(path));
    Status s = rep->OpenFile();
    if (s.ok()) s = rep->ReadBegin();
    if (s.ok()) reader->reset(new TraceReader(std::move(rep)));
    return s;
  });
}

// Without memory for a record the reader stops there, with IOError: a program that goes on would miss calls and not
// know it.
bool TraceReader::Next(TraceRecord* record) {
  bool read = false;
  Status s = NoThrow(rep_->path, [&] {
    read = rep_->ReadRecord(record);
    return Status::OK();
  });
  if (!s.ok()) rep_->status = s;
  return s.ok() && read;
}

// State of the trace as of the last record that the reader delivered.
Status TraceReader::status() const { return rep_->status; }
bool TraceReader::torn() const { return rep_->trace_end == Rep::End::kCut; }
bool TraceReader::ended() const { return rep_->trace_end == Rep::End::kEndRecord; }
bool TraceReader::has_own_records() const { return rep_->has_own_records; }
uint64_t TraceReader::start_micros() const { return rep_->start_micros; }
int TraceReader::format_version() const { return rep_->format_version; }
const std::string& TraceReader::writer() const { return rep_->writer; }
const std::string& TraceReader::path() const { return rep_->path; }
uint64_t TraceReader::offset() const { return rep_->offset; }
uint64_t TraceReader::file_bytes() const { return rep_->file_bytes; }

// Opens the file again instead of seeking, since a SequentialFile cannot go back; so a trace that has grown is read to
// its new end.
Status TraceReader::Rewind() {
  return NoThrow(rep_->path, [this] {
    Status s = rep_->OpenFile();
    return s.ok() ? rep_->ReadBegin() : s;
  });
}

}  // namespace miodb
