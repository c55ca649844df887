// Room for writes: the leader's side of log chunks and memtables, what it waits for, how it is slowed down before it
// has to wait, and what makes a chunk's frames durable.

#include <algorithm>
#include <bit>
#include <chrono>
#include <thread>

#include "src/db/background/flusher.h"
#include "src/db/background/merger.h"
#include "src/db/background/settle_request.h"
#include "src/db/background/ssd_tier.h"
#include "src/db/context/pool_full.h"
#include "src/db/context/workers.h"
#include "src/db/space/log_files.h"
#include "src/db/stats/stall_clock.h"
#include "src/db/write/write_path.h"
#include "src/log/chunk_index.h"
#include "src/util/check/check.h"
#include "src/util/clock/clock.h"

namespace miodb {

namespace {

// A chunk made for a frame has room for so many like it, as far as chunks have it.
constexpr uint64_t kFramesOfAKind = 4;

// A throttled leader sleeps once it owes this much, so that sleeps are few and short.
constexpr uint64_t kThrottleStepNanos = 250 * 1000;

// A leader sleeps no longer than the first of these at once, or than its own write owes up to the second, and leaves
// the rest, up to a most, to those after it.
constexpr uint64_t kLongThrottleNanos = 1000 * 1000;
constexpr uint64_t kLongestThrottleNanos = 20 * 1000 * 1000;
constexpr uint64_t kMostThrottleDebtNanos = 1000 * 1000 * 1000;

// Waits from this on are noted in the info log.
constexpr uint64_t kLongStallMicros = 20 * 1000;

// Bytes assumed for a record before the first record is written.
constexpr uint64_t kUsualRecordBytes = 128;

// A memtable has at most such a part of the slack of a small pool, or so many chunks: its versions hide nothing that
// can be collected before it is flushed.
constexpr uint64_t kMemTableShare = 16;
constexpr uint64_t kMemTableChunks = 4;

// Nanoseconds that a leader waits for each KiB that it writes, besides the pace of space: the first while all sealed
// memtables that there may be are there, the second for each run of a buffer level beyond so many times level_trigger,
// and twice as long with each further such number of runs: however far merges are behind, the runs that a get asks stay
// few.
constexpr uint64_t kSealedNanos = 500;
constexpr uint64_t kRunNanos = 100;
constexpr size_t kManyTriggers = 4;

constexpr uint64_t kMostDoublings = 20;

// The second of these waits. Merges may be behind in any level.
uint64_t NanosForRuns(const Version& version, size_t many) {
  CHECK_GT(many, 0u);
  uint64_t runs = 0;
  for (size_t level = 0; level + 1 < version.levels.size(); level++) {
    runs += std::max(version.levels[level].size(), many) - many;
  }
  return (kRunNanos * runs) << std::min(runs / many, kMostDoublings);
}

// Bytes of a log chunk in a file whose blocks are written ahead of frames that are synced: some hundred syncs share
// that of the file system's journal, and the one that has it is not long.
constexpr uint64_t kMadeForSyncs = 512 << 10;

// So many for each synced group that the chunk has had, up to the ones above.
constexpr uint64_t kMadeForEach = 8 << 10;

// Where so many bytes of frames lie between two syncs, that they write large pages matters little.
constexpr uint64_t kSyncsFarApart = 512 << 10;

// The large page that a chunk's first synced frames lie in may be in use when it is to be divided. So it is tried again
// behind the second, fourth and so on, up to this one.
constexpr uint64_t kMostDivisions = 256;

}  // namespace

// Nearly every call ends with the first comparisons, without the mutex. The time of all others counts as a stall.
Status WritePath::MakeRoom(uint64_t frame_bytes, Space::Demand demand) {
  DCHECK_GT(frame_bytes, 0u);
  // relaxed: a write that misses a failure by an instant is a write before it.
  if (chunk_ != nullptr && chunk_->room() >= frame_bytes && !control_->failed() &&
      !writable_->ranges().has_had_its_share()) [[likely]] {
    return Status::OK();
  }
  StallClock clock(&db_.statistics.stalls);
  DbLock lock(control_);
  Status s = MakeRoomLocked(frame_bytes, demand, &clock);
  DCHECK(!s.ok() || (chunk_ != nullptr && chunk_->room() >= frame_bytes));
  const uint64_t waited = clock.End(StallReason::kChunk);
  OpTimes::AddMicros(db_.statistics.times.get(), TimedOp::kStall, waited);
  db_.events.NoteStall(waited);
  if (waited >= kLongStallMicros) {
    db_.LogWarning("a writer waited %llu us for room: %zu sealed memtables, %llu bytes free, %llu reserved",
                   static_cast<unsigned long long>(waited), tree_->immutables.size(),
                   static_cast<unsigned long long>(db_.pool->Room().free),
                   static_cast<unsigned long long>(space_->Reserve(Space::Demand::kAny)));
  }
  return s;
}

// A memtable is sealed when it is full and another may wait for its flush. With as many waiting as may wait, the leader
// waits for the flush, which every other writer does behind it: that is the back-pressure.
Status WritePath::MakeRoomLocked(uint64_t frame_bytes, Space::Demand demand, StallClock* clock) {
  for (;;) {
    if (!control_->error().ok()) return control_->error();
    const SpaceFigures figures = space_->Figures();
    const uint64_t most_log = std::max(figures.Slack() / kMemTableShare, kMemTableChunks * figures.chunk);
    if (tree_->MemTableFull(most_log) || (db_.memory.asked() && !tree_->memtable->empty())) {
      if (tree_->immutables.size() < static_cast<size_t>(db_.options.max_immutable_memtables)) {
        Seal();
        continue;
      }
      if (scheduler_->flush_blocked() && !merger_->LookForWork()) {
        scheduler_->RetryFlush();  // for the next write
        return PoolFull(*db_.pool, *tree_->versions, "the pool has no room to flush a memtable");
      }
      clock->Lap(StallReason::kChunk);
      workers_->Wait(0);
      clock->Lap(StallReason::kFlush);
      continue;
    }
    bool taken = false;
    Status s = TakeChunk(frame_bytes, demand, &taken, clock);
    if (taken || !s.ok()) return s;
  }
}

// An attempt to get a chunk. If the call has waited for a chunk, it returns without it.
Status WritePath::TakeChunk(uint64_t frame_bytes, Space::Demand demand, bool* taken, StallClock* clock) {
  std::unique_ptr<LogChunk> chunk = frame_bytes <= db_.chunk_bytes ? space_->TakeSpare(frame_bytes) : nullptr;
  if (frame_bytes > db_.chunk_bytes || (chunk == nullptr && !space_->spares().empty())) {
    // A frame that no prepared chunk holds gets one of its own, with room for others of its kind if they are made for
    // a small database.
    scheduler_->LookForSpace();
    Status s;
    {
      const DbUnlock unlock(control_);
      s = space_->NewChunk(std::max(frame_bytes, std::min(db_.chunk_bytes, kFramesOfAKind * frame_bytes)), frame_bytes,
                           Space::Demand::kAny, &chunk);
    }
    if (s.IsNoSpace()) {
      scheduler_->FoundSpace(false);
    } else if (!s.ok()) {
      return s;
    }
  }
  if (chunk != nullptr) {
    UseChunk(std::move(chunk), frame_bytes);
    *taken = true;
    return Status::OK();
  }
  if (!scheduler_->FullAsItIs()) {
    // A chunk is on its way, or the attempt to get one is to be made again.
    if (!workers_->Wait(0)) scheduler_->LookForSpace();
    return Status::OK();
  }
  // Writes that free space may use the space that is kept for them.
  DCHECK(demand != Space::Demand::kDeletesAtLast);
  const bool deletes_only = demand == Space::Demand::kDeletes;
  *taken = deletes_only && ChunkForDeletes(frame_bytes, Space::Demand::kDeletes);
  if (*taken) return Status::OK();
  clock->Lap(StallReason::kChunk);
  bool give_up = false;
  Status s = NoRoom(&give_up, clock);
  clock->Lap(StallReason::kSpace);
  if (!give_up) return s;
  if (frame_bytes > db_.chunk_bytes)
    scheduler_->FoundSpace(true);  // that this has no room says nothing of smaller writes
  // Under a snapshot deletes free nothing, and would use up what the merge after its release needs.
  *taken = deletes_only && tree_->snapshots.empty() && ChunkForDeletes(frame_bytes, Space::Demand::kDeletesAtLast);
  if (*taken) return Status::OK();
  control_->WakeAll();  // the next write finds space if readers have let some go
  return s;
}

// Takes a chunk from the space that puts may not have: deletes make garbage, and so room. An error is not told, because
// the caller goes on to look for room in other ways.
bool WritePath::ChunkForDeletes(uint64_t frame_bytes, Space::Demand demand) {
  CHECK(demand != Space::Demand::kAny);
  const uint64_t usual = demand == Space::Demand::kDeletesAtLast ? kExtentUnit : db_.chunk_bytes;
  std::unique_ptr<LogChunk> chunk;
  Status s;
  {
    const DbUnlock unlock(control_);
    s = space_->NewChunk(std::max(frame_bytes, usual), frame_bytes, demand, &chunk);
  }
  if (s.ok()) UseChunk(std::move(chunk), frame_bytes);
  return s.ok();
}

// The pool is full: frees what can be freed, in the background; gives up when all of that was tried. In the order of
// what it costs: what runs anyway, merges and drains that are due, the memtable's own garbage, then everything settled.
// At which sequence nothing was left to win is remembered, so that each write of a full pool does not try all of it
// again.
Status WritePath::NoRoom(bool* give_up, StallClock* clock) {
  if (scheduler_->flushing() || scheduler_->running() > 0 || space_->preparing() || flusher_->filtering() ||
      (!tree_->immutables.empty() && !scheduler_->flush_blocked())) {
    workers_->Wait(0);
    return Status::OK();
  }
  if (merger_->LookForWork() && workers_->Wait(0)) return Status::OK();
  const uint64_t sequence = tree_->last_sequence.load(std::memory_order_relaxed);  // relaxed: the leader's own
  if (!space_->IsReclaimedAt(sequence)) {
    if (!tree_->memtable->empty() && tree_->immutables.empty()) {
      Seal();  // what it hides becomes garbage that can be collected
      return Status::OK();
    }
    // As often as it wins something.
    uint64_t used_before;
    SettleRequest request(scheduler_, db_.WallMicros(), kMaxSequence);
    do {
      used_before = db_.pool->used_bytes();
      scheduler_->Retry();
      control_->WakeAll();
      while (control_->error().ok() && scheduler_->full() && merger_->LookForWork()) {
        if (!workers_->Wait(0)) break;
      }
    } while (control_->error().ok() && scheduler_->full() && db_.pool->used_bytes() + db_.chunk_bytes <= used_before);
    request.End();
    space_->SetReclaimedAt(sequence);
    scheduler_->FoundSpace(true);  // look again
    control_->WakeAll();
    return control_->error();
  }
  clock->Lap(StallReason::kSpace);
  bool came_free = false;
  {
    const DbUnlock unlock(control_);
    came_free = db_.pool->held()->Wait();
  }
  clock->Lap(StallReason::kReaders);
  if (came_free) {
    space_->CameFree();
    return Status::OK();
  }
  *give_up = true;
  const PoolRoom room = db_.pool->Room();
  db_.events.NoteSpace(SpaceLevel::kFull, room.free, room.capacity);
  return PoolFull(*db_.pool, *tree_->versions, "");
}

// In file mode nobody syncs for the sake of an index, and under an order of the user's the comparator may be slow.
bool WritePath::GetsIndex(const LogChunk& chunk) const {
  return chunk.in_pool() && !persist_->fence_is_slow() && db_.order.bytewise();
}

// Bytes that a write takes of the log, on average over the newest memtable with records.
uint64_t WritePath::RecordBytes() const {
  const MemTable& newest =
      tree_->memtable->empty() && !tree_->immutables.empty() ? *tree_->immutables.front() : *tree_->memtable;
  const uint64_t bytes = newest.count() == 0 ? 0 : newest.segment().used_bytes() / newest.count();
  return bytes > 0 ? bytes : kUsualRecordBytes;
}

// Nothing more is written to the present chunk, and all of it is durable.
void WritePath::CompleteChunk() {
  if (chunk_ == nullptr || !GetsIndex(*chunk_)) return;
  DCHECK(chunk_->stage == LogChunk::Stage::kWritten && !lanes_.open());
  DCHECK(chunk_->first_sequence > 0 && chunk_->first_sequence <= allocated_sequence_ + 1);
  chunk_->stage = LogChunk::Stage::kComplete;
}

// The chunk belongs to the memtable whose records it will hold, and goes when that has been flushed and nobody reads it
// any more. The end of the chunk is kept for its index.
void WritePath::UseChunk(std::unique_ptr<LogChunk> chunk, uint64_t frame_bytes) {
  DCHECK_GE(chunk->capacity, frame_bytes);
  CompleteChunk();
  LogChunk* const used = chunk.get();
  if (unsynced_ >= kSyncsFarApart) space_->SetLogPages(LogChunk::Pages::kAny);
  pace_.Take(used->capacity);
  used->first_sequence = allocated_sequence_ + 1;
  if (GetsIndex(*used)) {
    used->capacity -= std::min(ChunkIndexRoom(used->capacity, RecordBytes()), used->capacity - frame_bytes);
  }
  Space::KeepChunks(&tree_->memtable->segment().chunks, {&chunk, 1});
  tree_->StartFilter();
  chunk_ = used;
  control_->Changed();
}

// Makes the group durable. Where that is a sync of a file, chunks are made for writes that nobody syncs: with pages as
// large as there are, of which a sync writes all. So behind the first sync of a chunk, when nothing of it is dirty, the
// rest of the chunk gets small ones, unless syncs are so far apart that they have as much to write anyway. With every
// so many bytes of frames the next pages are written as zeros, because the first time that a block of a file is written
// its file system has to sync its own journal, too: once for all of these blocks, then. Chunks that were made with
// small pages may have got large ones since, as others ask for them in the same file: their rest is made anew once.
Status WritePath::FenceLog(uint64_t body_bytes, bool sync) {
  if (!chunk_->in_pool()) return Status::OK();
  if (!persist_->fence_is_slow()) return persist_->Fence(Purpose::kLog);
  DCHECK(!lanes_.open());
  unsynced_ = std::min(unsynced_, kSyncsFarApart) + body_bytes;
  if (!sync) return Status::OK();
  const bool often = unsynced_ < kSyncsFarApart;
  unsynced_ = 0;
  const uint64_t end = RoundToUnit(chunk_->used.load(std::memory_order_relaxed));  // relaxed: the leader's own
  const bool small = chunk_->pages == LogChunk::Pages::kSmall;
  if (chunk_->made_for_syncs > 0 && end > chunk_->made_for_syncs && end < chunk_->capacity) {
    const uint64_t most = small ? kMadeForSyncs : std::min(kMadeForSyncs, kMadeForEach * chunk_->syncs);
    const uint64_t ahead = std::min(most, chunk_->capacity - end);
    chunk_->extent->PopulatePart(end, ahead);
    persist_->Cover(Purpose::kLog, chunk_->base + end, ahead);
    chunk_->made_for_syncs = end + ahead;
  }
  const Status s = persist_->Fence(Purpose::kLog);
  const uint64_t syncs = ++chunk_->syncs;
  const bool due = std::has_single_bit(syncs) && syncs <= kMostDivisions && (!small || chunk_->made_for_syncs == 0);
  if (s.ok() && often && due && end < chunk_->capacity) {
    space_->SetLogPages(LogChunk::Pages::kSmall);
    if (chunk_->extent->UseSmallPages(end)) chunk_->made_for_syncs = end;
  }
  return s;
}

// Where a fence is cheap, each write has had its own. After a failure nobody knows what is durable, as after one of a
// write.
Status WritePath::Sync(const WriteCondition& look) {
  CHECK(persist_ != nullptr);
  const bool waits = file_log_ != nullptr || (persist_->fence_is_slow() && db_.HasLog());
  const auto sync = [&] {
    Status s;
    {
      DbLock lock(control_);
      s = control_->error();
    }
    if (!s.ok() || !waits) return s;
    s = file_log_ != nullptr ? file_log_->Sync() : persist_->Fence(Purpose::kLog);
    if (s.ok()) return s;
    DbLock lock(control_);
    control_->SetError(s);
    return s;
  };
  if (!waits && look == nullptr) return sync();
  return BetweenWrites([&] {
    const Status s = sync();
    return s.ok() && look != nullptr ? look() : s;
  });
}

// Readers see the sealed memtable and the new one at once, by one state. The log file ends with the memtable, so that
// it can be retired as a whole.
void WritePath::Seal() {
  CompleteChunk();
  tree_->Seal();
  writable_ = tree_->memtable.get();
  DCHECK(writable_->empty() && writable_->segment().chunks.empty());
  chunk_ = nullptr;
  if (file_log_ != nullptr) file_log_->EndFile();
  tree_->Publish();
  control_->Changed();
  control_->Wake(BackgroundStep::kFlush);
  control_->Wake(BackgroundStep::kPrepare);
}

// Debts are carried on instead of being slept off at once: a leader that sleeps keeps everybody behind it waiting, so
// its sleeps are short.
void WritePath::Throttle(uint64_t bytes) {
  const uint64_t nanos_per_kib = throttle_nanos_.load(std::memory_order_relaxed);  // relaxed: a hint
  if (nanos_per_kib == 0) return;
  const uint64_t own = nanos_per_kib * bytes / 1024;
  throttle_debt_ += own;
  if (throttle_debt_ < kThrottleStepNanos) return;
  const uint64_t start = NowNanos();
  const uint64_t pause = std::min(throttle_debt_, std::clamp(own, kLongThrottleNanos, kLongestThrottleNanos));
  std::this_thread::sleep_for(std::chrono::nanoseconds(pause));
  throttle_debt_ = std::min(throttle_debt_ - pause, kMostThrottleDebtNanos);
  const uint64_t waited = (NowNanos() - start) / 1000;
  db_.statistics.throttle_micros.Add(waited);
  OpTimes::AddMicros(db_.statistics.times.get(), TimedOp::kStall, waited);
}

// Slows writers down as a limit comes near, so that they do not run into it at full speed. Garbage collection and
// drains are due by how much is free, which every chunk that is taken changes: near a limit those threads look at once,
// and far from it with the next job or by themselves.
void WritePath::UpdateThrottle() {
  if (db_.resources != nullptr) {
    db_.resources->budget()->Set(&db_.memory, tree_->MemTableBytes(), tree_->SealedBytes());
  }
  const SpaceFigures figures = space_->Figures();
  const bool space_is_short = SpaceIsShort(figures);
  db_.events.NoteSpace(space_is_short ? SpaceLevel::kNearLimit : SpaceLevel::kEnough, figures.free, figures.capacity);
  // Space that writers may use up: the space above the reserve, the chunks that are ready, and about the rest of the
  // present chunk.
  WritePace::Moment now;
  now.micros = NowMicros();
  now.left = figures.Left() + figures.chunk;
  now.held = figures.Held();
  for (const auto& spare : space_->spares()) now.left += spare->capacity;
  now.near = ShortBelow(figures);
  now.chunk = figures.chunk;
  now.at_work = scheduler_->running() > 0 || scheduler_->flushing() ||
                (!tree_->immutables.empty() && !scheduler_->flush_blocked());
  uint64_t nanos_per_kib = pace_.Observe(now);
  const size_t most = static_cast<size_t>(db_.options.max_immutable_memtables);
  if (most > 1 && tree_->immutables.size() >= most) nanos_per_kib += kSealedNanos;
  nanos_per_kib +=
      NanosForRuns(*tree_->versions->current(), kManyTriggers * static_cast<size_t>(db_.options.level_trigger));
  nanos_per_kib += tier_->ThrottleNanos(figures.Left());
  throttle_nanos_.store(nanos_per_kib, std::memory_order_relaxed);  // relaxed: a hint to the leader
  if (nanos_per_kib == 0 && !space_is_short) return;
  control_->Wake(BackgroundStep::kMerge);
  control_->Wake(BackgroundStep::kSsd);
}

}  // namespace miodb
