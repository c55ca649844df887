// Reading pieces. Frames are kept as they are found, with the holes in between: LogHistory decides which of them count.

#include "src/log/log_piece.h"

#include <algorithm>

#include "src/api/batch/write_batch_internal.h"
#include "src/log/file_log_reader.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// Whether these bytes are a whole batch with at least one update. The record's checksum was right, so another answer
// means that another program has written it.
bool CheckBatch(const Slice& batch, uint64_t* first_sequence, uint64_t* count) {
  if (batch.size() < kBatchHeaderBytes) return false;
  *first_sequence = DecodeFixed64(batch.data());
  *count = DecodeFixed32(batch.data() + 8);
  BatchReader reader(batch);
  uint8_t type;
  Slice key, value;
  while (reader.Next(&type, &key, &value)) {
    if ((type & kBatchFamily) != 0) return false;  // never in a log: keys are there as they are
  }
  return !reader.corrupt() && *count > 0 && *first_sequence > 0 && *first_sequence <= kMostReadSequence &&
         *count - 1 <= kMostReadSequence - *first_sequence;
}

}  // namespace

// Two texts, for what is missing and for what is there twice.
std::string TextOfGap(uint64_t last, uint64_t next) {
  DCHECK_NE(last + 1, next);
  if (next <= last) {
    return "begins with write " + std::to_string(next) + "; writes up to " + std::to_string(last) + " come before it";
  }
  return "writes " + std::to_string(last + 1) + " to " + std::to_string(next - 1) + " are missing before it";
}

// Frames behind a hole are added too, and whole_frames stays where the hole is.
void LogPiece::AddFrame(const FrameView& frame) {
  DCHECK(!in_file());
  DCHECK_GT(frame.count, 0u);
  DCHECK_LT(frame.begin, frame.end);
  if (frames.empty()) first_sequence = frame.first_sequence;
  frames.push_back(frame);
  last_sequence = frame.last_sequence();
  writes += frame.count;
  if (!damaged()) whole_frames = frames.size();
}

// The sums are made anew from what is left.
void LogPiece::CutAtHole() {
  DCHECK_LE(whole_frames, frames.size());
  if (in_file() || !damaged()) return;  // nothing behind a hole was read, or there is none
  const std::vector<FrameView> found = std::move(frames);
  frames.clear();
  first_sequence = last_sequence = writes = 0;
  for (size_t i = 0; i < whole_frames; i++) AddFrame(found[i]);
  CHECK_EQ(whole_frames, frames.size());
}

// Frames lie one behind the other. Where one does not check, the writing has ended there, or something is damaged, or
// was on its way beside later ones when the crash came: later frames of the same chunk tell these apart, by how far
// they are (LogHistory). (In file mode frames are not fenced in order; LogHistory lets the log end there.) A sealed
// chunk has no such end, since it was read once as far as it goes. A frame that checks and does not follow in sequence
// shows that others are missing, even if nothing else does.
LogPiece ReadLogChunk(const LogChunkPlace& place, const char* base, uint64_t secret, const std::string& where) {
  CHECK_LE(place.frame_limit(), place.size);
  LogPiece piece;
  piece.name = where + ChunkName(place);
  piece.place = place;
  const char* const end = base + place.frame_limit();
  const auto offset = [&](const char* p) { return std::to_string(place.offset + static_cast<uint64_t>(p - base)); };
  FrameView frame;
  // p moves frame by frame and, over what does not check, to the next frame that does.
  const char* begins = base;  // where a frame has to begin
  for (const char* p = base; p < end;) {
    if (ReadFrame(p, end, secret, place.id, &frame)) {
      DCHECK(frame.begin == p && frame.end <= end);
      if (!piece.empty() && frame.first_sequence != piece.last_sequence + 1 &&
          !MIODB_MUTATED(kFrameSequenceUnchecked)) {
        piece.holes.push_back(
            {piece.name + ", frame at offset " + offset(p), TextOfGap(piece.last_sequence, frame.first_sequence)});
        if (frame.begin == begins) piece.in_order = false;
      }
      piece.AddFrame(frame);
      begins = p = frame.end;
      if (!piece.damaged()) piece.valid_bytes = static_cast<uint64_t>(p - base);
      continue;
    }
    // Where nothing follows, a chunk that is open has its end here.
    const char* const later = FindLaterFrame(p, end, secret, place.id, piece.last_sequence);
    DCHECK(later == nullptr || later > p);
    if (later != nullptr || place.sealed) {
      piece.holes.push_back({piece.name, "damaged from offset " + offset(p) + " to " +
                                             offset(later != nullptr ? later : end) +
                                             (later != nullptr ? ", later frames follow" : "")});
    }
    if (later == nullptr) break;
    p = later;
  }
  CHECK_LE(piece.valid_bytes, place.frame_limit());
  return piece;
}

// Batches whose writes are all in tables are counted for where the file ends, and not visited; a gap among them loses
// nothing. Another batch that parses but does not follow is the same as one that does not check, for sequences have no
// gaps in a file. A batch that checks and does not parse was not left by a crash: another version has written it.
Status ReadLogFile(Env* env, const std::string& folder, uint64_t flushed_sequence, const VisitBatch& visit,
                   LogPiece* piece) {
  CHECK(IsLogBlockSize(piece->file.block_size));
  CHECK_EQ(0u, piece->valid_bytes);
  piece->kind = LogPiece::Kind::kFile;
  const std::string path = folder + "/" + piece->file.name();
  if (piece->name.empty()) piece->name = path;
  std::unique_ptr<LogFileBytes> bytes;
  Status s = LogFileBytes::Open(env, path, &bytes);
  if (!s.ok()) return s;
  FileLogReader reader(bytes.get(), piece->file.block_size);
  std::string scratch;
  Slice batch;
  bool later = false;
  while (!later && reader.Next(&batch, &scratch)) {
    uint64_t first, count;
    if (!CheckBatch(batch, &first, &count)) {
      piece->has_unknown_batch = true;
      return bytes->status();
    }
    const uint64_t last = piece->last_sequence;
    const bool in_tables = first > last && first <= flushed_sequence;
    later = last != 0 && first != last + 1 && !in_tables && !MIODB_MUTATED(kLogFileSequenceUnchecked);
    if (later) break;
    piece->last_sequence = first + count - 1;
    piece->valid_bytes = reader.valid_bytes();
    if (piece->last_sequence <= flushed_sequence) continue;
    if (piece->first_sequence == 0) piece->first_sequence = first;
    piece->writes += count;
    if (visit != nullptr) s = visit(batch);
    if (!s.ok()) return s;
  }
  if (!later && !MIODB_MUTATED(kLogFileLaterUnseen)) {
    later = reader.HasLaterBatch(piece->last_sequence, flushed_sequence);
  }
  if (later) piece->holes.push_back({piece->End(), "damaged batch, later batches follow"});
  DCHECK_LE(piece->valid_bytes, bytes->size());
  return bytes->status();
}

}  // namespace miodb
