// The history of a log: what its chunks and files hold, in order of sequence, and whether it follows.
//
// A log may have pieces of every kind, whichever mode its database was in last: sequences alone say which comes first.
// If several pieces begin with the same write, the piece that counts comes first: a file, which is removed before its
// sequences are given out again, or else the chunk that was begun later. A history is judged by these rules, whoever
// asks:
//
//   hole    A piece in which more that checks follows after something that does not, or does not follow.
//   gap     A piece that does not begin with the write after the last one of those before it.
//   torn    A piece that ends with something that does not check, and nothing behind that does, has its end there: a
//           crash leaves that. A sealed chunk has none.
//   beside  Writers beside one another store frames while others in front of them are not durable yet, and each frame
//           says how many may not be (record.h). So where no frame behind the first hole of an unsealed chunk says that
//           what is missing was durable, the chunk ends at the hole, as a torn one does: what lies behind was not told
//           to anybody. The next chunk is begun when all of this one is durable, so what follows in another piece is
//           damage as ever.
//   end     Where the medium takes stores in any order, a loss of power may leave a hole or a gap among what was not
//           synced. The log ends there: nothing behind it counts, whatever it is. The log never ends before a sealed
//           chunk, whose writes were recovered once and may have been read.
//   damage  Any other hole or gap; a frame with records of a type that this version does not know; a log that does not
//           reach as far as it is known to have gone.
//   foreign What lies in a chunk and was written into another one, or by another pool, does not check.
//   index   A chunk that is taken up by its index has what the index says, and no end of a crash: it was complete and
//           durable when the index was made. A reader of the chunk finds damage in it.
//   flushed A file of which all writes are in tables has nothing to replay, and stays.
//   found   If a search found frames in a pool, nobody knows whether their chunk counted. A frame that begins with a
//           write that is there already does not count: sequences that a recovery did not keep were given out again.
//
// The policy decides about damage. Nothing of this changes the log.
//
// Threads: one. Ownership: the bytes of chunks and the Env outlive the history.

#ifndef MIODB_SRC_LOG_LOG_HISTORY_H_
#define MIODB_SRC_LOG_LOG_HISTORY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/log/log_piece.h"

namespace miodb {

enum class LogPolicy {
  kRecover,          // damage is Corruption. Told is where the log ended
  kRecoverVolatile,  // the same, of a log in files alone
  kRepair,           // damage is told, and whatever can be read counts: the log ends nowhere
  kVerify,           // damage is told, as it would fail a recovery; an error of reading is, too
};

// The meaning of a hole or a gap behind the last sync.
enum class LogHoles { kAreDamage, kEndTheLog };

struct LogRules {
  LogPolicy policy = LogPolicy::kRecover;
  LogHoles in_chunks = LogHoles::kAreDamage;
  LogHoles in_files = LogHoles::kAreDamage;
  std::string pool_path = "";  // for errors of a recovery
};

class LogHistory {
 public:
  LogHistory(const LogRules& rules, ReportProblem report) : rules_(rules), report_(std::move(report)) {}
  LogHistory(const LogHistory&) = delete;
  LogHistory& operator=(const LogHistory&) = delete;

  // Takes up a chunk, as ReadLogChunk reads it; a chunk by its index, without a look at its frames; a frame that was
  // found in a pool, for a repair; the log files of a folder, if there is one, which Judge reads. log_id: of this log,
  // if WAL_OWNER has not been asked; the files of another log are told of and left alone. An error is one of reading
  // the folder. REQUIRES: before Judge.
  const LogPiece& AddChunk(const LogChunkPlace& place, const char* base, uint64_t secret);
  void AddIndexedChunk(const LogChunkPlace& place, const ChunkIndex& index);
  void AddFrame(const std::string& name, const FrameView& frame, uint64_t chunk_id);
  Status AddFiles(Env* env, const std::string& folder, std::optional<uint64_t> log_id = std::nullopt);

  // Puts the pieces in order and judges them. Writes up to flushed_sequence are in tables; the log is known to have
  // gone up to reach, if that is not 0. Corruption as the policy says, else an error of reading. To be called once.
  Status Judge(uint64_t flushed_sequence, uint64_t reach);

  // In order of sequence after Judge, each with its verdict.
  const std::vector<LogPiece>& pieces() const { return pieces_; }
  uint64_t files() const { return files_; }  // how many were listed

  // After Judge: the last write that is there, and how many there are that are in no table.
  uint64_t last_sequence() const { return last_sequence_; }
  uint64_t writes() const { return writes_; }

  // Visits the batches of a file whose verdict is kReplay. The file is read once more, so that a single batch is in
  // memory at a time. Corruption if its bytes are not the bytes that were judged, perhaps after some batches were
  // visited.
  Status ForEachBatch(const LogPiece& piece, const VisitBatch& visit) const;

 private:
  bool Recovers() const { return rules_.policy == LogPolicy::kRecover || rules_.policy == LogPolicy::kRecoverVolatile; }
  bool MayEndAt(const LogPiece& piece) const;
  bool WereBesideTheHole(const LogPiece& piece) const;
  Status ReadFiles();
  Status JudgePiece(LogPiece* piece);
  Status JudgeGap(const LogPiece& piece);
  Status Damage(const std::string& place, const std::string& reason) const;
  Status Unreadable(const std::string& place, const Status& s) const;

  const LogRules rules_;
  const ReportProblem report_;
  Env* env_ = nullptr;
  std::string folder_;  // of the files
  std::vector<LogPiece> pieces_;
  uint64_t files_ = 0;
  uint64_t flushed_sequence_ = 0;
  uint64_t last_sequence_ = 0;
  uint64_t writes_ = 0;
  enum class State { kOpen, kGoesOn, kEnded } state_ = State::kOpen;  // kOpen -> kGoesOn -> kEnded, by Judge
};

}  // namespace miodb

#endif  // MIODB_SRC_LOG_LOG_HISTORY_H_
