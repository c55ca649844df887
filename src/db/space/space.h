// Space: log chunks, ready ones and new ones, and how much of the pool has to stay free so that a full pool can always
// be merged and collected.
//
// Prepare is the work of a thread of its own: it takes extents for log chunks, faults them in, and names them in the
// manifest, so that one is ready for a writer; gives those that are full their index; has the pool's files grow ahead
// of need; and gives back what nobody needed for a while.
//
// Threads: as annotated; the figures of the pool have locks of their own.
// After a crash: a chunk that the manifest names and nobody has written to is found empty and dropped by the next
// open. Space that is not named is free.

#ifndef MIODB_SRC_DB_SPACE_SPACE_H_
#define MIODB_SRC_DB_SPACE_SPACE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compaction/policy/scheduler.h"
#include "src/db/context/cpu_census.h"
#include "src/db/space/copy_room.h"
#include "src/db/space/kept_log.h"
#include "src/db/state/tree.h"
#include "src/util/check/check.h"

namespace miodb {

// A merge into the repository that found too little space for many tables makes this many.
inline constexpr uint64_t kTablesWhenTight = 4;

class Space {
 public:
  // The purpose of a log chunk, which decides how much of the reserve the chunk may take.
  enum class Demand { kAny, kDeletes, kDeletesAtLast };

  Space(const DbContext& db, Control* control, Tree* tree, KeptLog* kept, Scheduler* scheduler, CpuCensus* census)
      : db_(db), control_(control), tree_(tree), kept_(kept), scheduler_(scheduler), census_(census) {
    CHECK(control != nullptr && tree != nullptr && kept != nullptr);
    CHECK(scheduler != nullptr && census != nullptr);
  }
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  // ---- the reserve, in bytes

  uint64_t IndexReserve(Demand demand, uint64_t delete_bytes) const REQUIRES(db_mutex);
  uint64_t Reserve(Demand demand) const REQUIRES(db_mutex);

  // The part of Reserve besides the index reserve when puts ask for log: chunks for records on the move.
  uint64_t ChunkReserve() const;

  // The same when a collection copies.
  uint64_t CopiesLeave() const;

  SpaceFigures Figures() const REQUIRES(db_mutex);

  // For copies of collections that run.
  CopyRoom* copy_room() { return &copy_room_; }

  // Plenty: bytes that work for which nobody waits leaves free besides the reserve. PlentyAbove: the free bytes that
  // such work may take.
  uint64_t Plenty() const { return db_.pool->capacity() / SchedulePolicy().plenty_share; }
  uint64_t PlentyAbove() const REQUIRES(db_mutex);

  // The last sequence when everything that a full pool could free had been freed: until it changes, or a snapshot or
  // a reader lets go, or space is added, there is no use in trying again.
  bool IsReclaimedAt(uint64_t sequence) const {
    return reclaimed_at_.load(std::memory_order_relaxed) == sequence &&  // relaxed: a hint, both
           passed_at_.load(std::memory_order_relaxed) == db_.pool->held()->passed();
  }
  void SetReclaimedAt(uint64_t sequence) {
    passed_at_.store(db_.pool->held()->passed(), std::memory_order_relaxed);  // relaxed: the same
    reclaimed_at_.store(sequence, std::memory_order_relaxed);                 // relaxed: the same
  }
  void ForgetReclaimed() { SetReclaimedAt(UINT64_MAX); }

  // Space has come from outside: whoever waits for some may have it now.
  void CameFree() REQUIRES(db_mutex) {
    ForgetReclaimed();
    scheduler_->SpaceAdded();
    control_->Progressed();
  }

  // Lets go of log that is kept for the update stream alone (KeptLog::LetGo).
  bool LetGoOfLog() REQUIRES(db_mutex) {
    if (!kept_->LetGo()) return false;
    CameFree();
    return true;
  }

  uint64_t KeptLogBytes() const REQUIRES(db_mutex) { return kept_->bytes(); }

  // ---- chunks

  // Bytes that the next log chunk should have.
  uint64_t NextChunkBytes() const;

  // A chunk of at most size and at least min_size bytes, as the log mode wants it. NoSpace if that would touch what has
  // to stay free for this demand.
  Status NewChunk(uint64_t size, uint64_t min_size, Demand demand, std::unique_ptr<LogChunk>* chunk) EXCLUDES(db_mutex);

  // A chunk of DRAM, with the space in the pool for its flush.
  Status NewMemoryChunk(uint64_t size, uint64_t min_size, uint64_t leave, std::unique_ptr<LogChunk>* chunk);

  // A chunk that is ready and has room for so much; null if none has.
  std::unique_ptr<LogChunk> TakeSpare(uint64_t frame_bytes) REQUIRES(db_mutex);
  const std::deque<std::unique_ptr<LogChunk>>& spares() const REQUIRES(db_mutex) { return spares_; }

  // How the chunks that are made from now on should be; by the leader.
  void SetLogPages(LogChunk::Pages pages) { log_pages_.store(pages, std::memory_order_relaxed); }  // relaxed: a hint

  // A log chunk is on its way.
  bool preparing() const REQUIRES(db_mutex) { return preparing_; }

  // Takes chunks that the manifest names. Without memory their space stays taken, because nobody else may have it.
  template <typename Chunks>
  static void KeepChunks(Chunks* to, std::span<std::unique_ptr<LogChunk>> chunks) {
    for (const auto& chunk : chunks) CHECK(chunk != nullptr);
    try {
      for (auto& chunk : chunks) to->push_back(std::move(chunk));
    } catch (const std::exception&) {
      for (const auto& chunk : chunks) {
        if (chunk != nullptr && chunk->in_pool()) chunk->extent->Abandon();
      }
      throw;
    }
  }

  // ---- the work of the thread that prepares, and of the close

  // Has free space given back to the file system at once, unless somebody writes meanwhile. Asked: until that is done.
  // Without threads none is given back.
  void AskGiveBack() REQUIRES(db_mutex) {
    if (db_.hooks.background == BackgroundMode::kBySteps) return;
    give_back_at_ = LastSequence();
    control_->Wake(BackgroundStep::kPrepare);
  }
  bool give_back_asked() const REQUIRES(db_mutex) { return give_back_at_ == LastSequence(); }

  // Does a piece of the preparation; false if there was nothing to do.
  bool Prepare() EXCLUDES(db_mutex);
  Status GiveBack() EXCLUDES(db_mutex);

 private:
  // Chunks are ready for writers that go on; or one is, since the database rested and until a writer takes it.
  enum class SparesFor : uint8_t { kWriters, kRest };

  uint64_t ReserveChunkBytes() const;  // of those that ChunkReserve and CopiesLeave count

  // Adds up to count chunks, which one edit names; OK if it was at least one.
  Status NewChunks(uint64_t size, uint64_t min_size, Demand demand, size_t count,
                   std::vector<std::unique_ptr<LogChunk>>* chunks) EXCLUDES(db_mutex);
  Status AllocateChunk(uint64_t size, uint64_t min_size, Demand demand, std::unique_ptr<LogChunk>* chunk)
      EXCLUDES(db_mutex);
  uint64_t LastSequence() const { return tree_->last_sequence.load(std::memory_order_relaxed); }  // relaxed: policy
  bool Rests() const REQUIRES(db_mutex);
  Status DropSpares(uint64_t least_bytes, uint64_t most_bytes) REQUIRES(db_mutex);
  bool GiveBackPiece() EXCLUDES(db_mutex);
  LogChunk* TakeComplete() REQUIRES(db_mutex);
  bool IndexChunk() EXCLUDES(db_mutex);
  size_t MissingSpares(uint64_t bytes) const REQUIRES(db_mutex);
  bool PrepareChunks();
  void KeepClearOfLimit() REQUIRES(db_mutex);

  const DbContext& db_;
  Control* const control_;
  Tree* const tree_;
  KeptLog* const kept_;
  Scheduler* const scheduler_ PT_GUARDED_BY(db_mutex);
  CpuCensus* const census_;

  CopyRoom copy_room_;
  std::deque<std::unique_ptr<LogChunk>> spares_ GUARDED_BY(db_mutex);
  std::deque<std::unique_ptr<LogChunk>> dropping_ GUARDED_BY(db_mutex);  // the manifest still names them
  bool preparing_ GUARDED_BY(db_mutex) = false;
  SparesFor spares_for_ GUARDED_BY(db_mutex) = SparesFor::kWriters;
  std::optional<uint64_t> give_back_at_ GUARDED_BY(db_mutex);  // the last write when that was asked for
  uint64_t refused_free_ GUARDED_BY(db_mutex) = 0;             // bytes that were free when a chunk was last refused
  uint64_t look_again_micros_ GUARDED_BY(db_mutex) = 0;        // when it is to be tried again in any case
  std::atomic<uint64_t> reclaimed_at_{UINT64_MAX};
  std::atomic<uint64_t> passed_at_{0};  // that readers had let go of then
  std::atomic<LogChunk::Pages> log_pages_{LogChunk::Pages::kAny};
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_SPACE_SPACE_H_
