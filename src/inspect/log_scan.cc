#include "src/inspect/log_scan.h"

#include <algorithm>

#include "src/api/write_batch_internal.h"
#include "src/log/file_log_reader.h"
#include "src/util/coding.h"
#include "src/util/mutation.h"

namespace miodb {

namespace {

// Whether these bytes are a whole batch with at least one update.
bool CheckBatch(const Slice& batch, uint64_t* first_sequence, uint64_t* count) {
  if (batch.size() < kBatchHeaderBytes) return false;
  *first_sequence = DecodeFixed64(batch.data());
  *count = DecodeFixed32(batch.data() + 8);
  BatchReader reader(batch);
  uint8_t type;
  Slice key, value;
  while (reader.Next(&type, &key, &value)) {
  }
  return !reader.corrupt() && *count > 0;
}

}  // namespace

std::string LogScan::Where() const {
  if (in_file()) return "log file " + file.name() + " at offset " + std::to_string(valid_bytes);
  return "log chunk " + std::to_string(place.id) + " at offset " + std::to_string(place.offset + valid_bytes);
}

void ScanChunk(uint64_t secret, LogScan* scan) {
  const char* const base = scan->extent->data();
  const uint64_t end = scan->place.sealed ? scan->place.sealed_size : scan->place.size;
  FrameView frame;
  while (scan->valid_bytes < end && ReadFrame(base + scan->valid_bytes, base + end, secret, scan->place.id, &frame)) {
    if (scan->first_sequence == 0) {
      scan->first_sequence = frame.first_sequence;
    } else if (frame.first_sequence != scan->last_sequence + 1 && !MIODB_MUTATED(kFrameSequenceUnchecked)) {
      scan->damaged = true;
      return;
    }
    scan->frames.push_back(frame);
    scan->last_sequence = frame.first_sequence + frame.count - 1;
    scan->last_frame = frame.begin;
    scan->valid_bytes = static_cast<uint64_t>(frame.end - base);
  }
  if (scan->place.sealed) {
    scan->damaged = scan->valid_bytes != scan->place.sealed_size;
  } else if (scan->valid_bytes < end) {
    scan->damaged =
        FindLaterFrame(base + scan->valid_bytes, base + end, secret, scan->place.id, scan->last_sequence) != nullptr;
  }
}

Status ScanLogFile(Env* env, const std::string& folder, uint64_t flushed_sequence, LogScan* scan) {
  std::unique_ptr<LogFileBytes> bytes;
  Status s = LogFileBytes::Open(env, folder + "/" + scan->file.name(), &bytes);
  if (!s.ok()) return s;
  FileLogReader reader(bytes.get(), scan->file.block_size);
  std::string scratch;
  Slice batch;
  while (reader.Next(&batch, &scratch)) {
    uint64_t first, count;
    const bool good = CheckBatch(batch, &first, &count);
    if (!good ||
        (scan->last_sequence != 0 && first != scan->last_sequence + 1 && !MIODB_MUTATED(kLogFileSequenceUnchecked))) {
      scan->damaged = true;
      return s;
    }
    scan->last_sequence = first + count - 1;
    scan->valid_bytes = reader.valid_bytes();
    if (scan->last_sequence <= flushed_sequence) continue;
    if (scan->first_sequence == 0) scan->first_sequence = first;
    scan->batches.push_back(batch.ToString());
  }
  if (!MIODB_MUTATED(kLogFileLaterUnseen)) {
    scan->damaged = reader.HasLaterBatch(std::max(scan->last_sequence, flushed_sequence));
  }
  return bytes->status();
}

}  // namespace miodb
