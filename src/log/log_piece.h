// A piece of a log, and how one is read: a chunk of the pool, a single frame that a search found there, or a log file.
//
// A reader of a piece knows nothing of the others: whether pieces follow one another is LogHistory's to judge.
//
// Threads: one. Ownership: frames refer to the bytes that they were read from, batches to the reader's, for the call.
// Errors: bytes that do not check are a hole or the end of the piece; a status is one of reading a file.

#ifndef MIODB_SRC_LOG_LOG_PIECE_H_
#define MIODB_SRC_LOG_LOG_PIECE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/format/problem.h"
#include "src/log/chunk_index.h"
#include "src/log/file_log_format.h"
#include "src/log/frame_reader.h"
#include "src/log/log_chunk_place.h"

namespace miodb {

// The verdict on a piece, which LogHistory gives.
enum class LogVerdict {
  kReplay,  // it holds writes that are in no table
  kKeep,    // a file of which all writes are in tables
  kDrop,    // nothing in it counts
};

// The problem of a frame that has_unknown_type.
inline constexpr char kUnknownValueType[] = "unknown value type";
inline constexpr char kUnknownBatch[] = "a batch that this version cannot read";

struct LogPiece {
  enum class Kind { kChunk, kFrame, kFile };

  Kind kind = Kind::kChunk;
  std::string name;                 // for people
  LogChunkPlace place;              // of a chunk; of a frame the id alone
  LogFile file;                     // of a file
  std::optional<ChunkIndex> index;  // of a chunk that was taken up by it
  std::vector<FrameView> frames;    // of a chunk without index, or a frame: all that check, also behind holes
  size_t whole_frames = 0;          // so many of them lie before the first hole
  uint64_t valid_bytes = 0;         // of a chunk or a file: the end of what lies before the first hole
  uint64_t first_sequence = 0;      // 0: nothing; of a file, nothing that is not in tables
  uint64_t last_sequence = 0;       // 0: nothing
  uint64_t writes = 0;              // of a file those that are not in tables
  uint64_t order = 0;               // the write that the piece begins with, or would
  std::vector<Problem> holes;       // more that checks follows after something that does not, or does not follow
  bool in_order = true;             // no frame lies right behind one that it does not follow in sequence
  bool has_unknown_batch = false;   // behind valid_bytes: a file's batch that checks and does not parse
  LogVerdict verdict = LogVerdict::kDrop;

  bool in_file() const { return kind == Kind::kFile; }
  bool empty() const { return first_sequence == 0; }
  bool damaged() const { return !holes.empty(); }
  bool replayed() const { return verdict == LogVerdict::kReplay; }

  // The place in the piece behind which it goes on with what does not count, for people.
  std::string End() const { return in_file() ? name + " at offset " + std::to_string(valid_bytes) : name; }

  std::string NameOf(const FrameView& frame) const {
    return name + ", frame of write " + std::to_string(frame.first_sequence);
  }

  // Adds a frame behind the others.
  void AddFrame(const FrameView& frame);
  // Leaves what lies before the first hole.
  void CutAtHole();
};

// "writes 8 to 11 are missing before it", or what else is wrong if the write that comes after "last" is not the next.
std::string TextOfGap(uint64_t last, uint64_t next);

// Reads the frames of a chunk whose bytes lie at base. secret: of its pool. where: goes before the piece's name.
// REQUIRES: the whole chunk can be read.
LogPiece ReadLogChunk(const LogChunkPlace& place, const char* base, uint64_t secret, const std::string& where = "");

// Called for the batches of a file in the order in which they lie (write_batch_internal.h), until it fails.
using VisitBatch = std::function<Status(const Slice& batch)>;

// Reads a log file, and visits, if that is not null, the batches with writes above this sequence. In a file nothing
// behind a hole is read. A piece without a name gets the file's path. REQUIRES: piece->file is set, piece is else new.
Status ReadLogFile(Env* env, const std::string& folder, uint64_t flushed_sequence, const VisitBatch& visit,
                   LogPiece* piece);

}  // namespace miodb

#endif  // MIODB_SRC_LOG_LOG_PIECE_H_
