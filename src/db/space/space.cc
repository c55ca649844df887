// Log chunks, and the reserve that keeps a full pool from being stuck: how much it is, who may touch it, and the thread
// that has chunks ready before a writer needs one.

#include "src/db/space/space.h"

#include <algorithm>
#include <cstring>

#include "compaction/policy/parts.h"
#include "pmtable/table_builder.h"
#include "src/db/context/open_sizes.h"
#include "src/log/chunk_index.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/clock/clock.h"

namespace miodb {

namespace {

// Bytes to reserve for an entry of a table index: 21.3 with its levels above 0, and a quarter more for what is lost
// when free space is scattered and an index has to be cut into several tables.
constexpr uint64_t kIndexBytesPerEntry = 27;

// Free space may lie in pieces as small as a chunk of the log. A table in a piece of 4 KiB has one leaf of 64 entries;
// in larger ones this is shared by as many entries more.
constexpr uint64_t kScatteredBytesPerEntry = 37;

// Chunks that stay free besides the index reserve when puts ask for log, and when collections copy. If chunks of the
// log are smaller, these chunks have this share of the space in use.
constexpr uint64_t kReserveChunks = 6;
constexpr uint64_t kCopyReserveChunks = 3;
constexpr uint64_t kReserveShare = 128;

// A chunk that was refused is tried again after this, whatever has happened.
constexpr uint64_t kLookAgainMicros = 100 * 1000;

// A merge of everything leaves few tables, however many there were.
constexpr uint64_t kTablesAfterMerge = 16;

// Records below this size are taken to be of this size, and an average is trusted from this many on.
constexpr uint64_t kLeastRecordBytes = 32;
constexpr uint64_t kEntriesForAverage = 64;

// A log chunk is at least this part of its usual size; less free space in a row is of no use to writers.
constexpr uint64_t kChunkShare = 16;

// Chunks kept ready: this much, but no more than a memtable, and a share of a small pool.
constexpr uint64_t kSpareBytes = 16 << 20;
constexpr uint64_t kMaxSpares = 8;
constexpr uint64_t kSpareShare = 64;

// In a small database a chunk is at most the first share of what is in use, and those kept ready the second; but
// chunks of the least size, and two of them.
constexpr uint64_t kLeastChunk = 64 * 1024;
constexpr uint64_t kChunkOfUsed = 8;
constexpr uint64_t kSparesOfUsed = 4;

// Log is kept for the update stream while so much is free above the reserve: the first share of the pool, or the chunks
// if that is less.
constexpr uint64_t kClearShare = 8;
constexpr uint64_t kClearChunks = 20;

// The same from where space is short, in chunks.
constexpr uint64_t kClearAhead = 4;

// How many chunks are kept ready: more in a database that is in use, one at least.
uint64_t SpareTarget(uint64_t chunk_bytes, const DbContext& db) {
  DCHECK_GT(chunk_bytes, 0u);
  const uint64_t most = std::min({kSpareBytes, db.options.write_buffer_size, db.pool->used_bytes() / kSparesOfUsed});
  const uint64_t wanted = std::clamp(most / chunk_bytes, uint64_t{2}, kMaxSpares);
  return std::clamp(db.pool->capacity() / kSpareShare / chunk_bytes, uint64_t{1}, wanted);
}

}  // namespace

// Room to write the index of every table once more that jobs take at a time, which is what merges need at most, and
// that of every memtable twice: by its flush, and by the merge after it. delete_bytes: of a chunk of deletes to come,
// small records all.
//
// Deletes may have what is kept here for scattered space, and when there is nothing left to merge half of what the
// entries take, since what they free is worth more. The tables that have to be made, and that are rounded to units,
// take what they take: in a small pool that is most of it.
uint64_t Space::IndexReserve(Demand demand, uint64_t delete_bytes) const {
  const Segment& segment = tree_->memtable->segment();
  const uint64_t in_memtable = tree_->memtable->count();
  uint64_t unflushed = in_memtable;
  for (const MemTableRef& memtable : tree_->immutables) unflushed += memtable->count();
  // Payload that is yet to come into the present chunks, if records keep their size.
  uint64_t room = 0, used = 0;
  for (const auto& chunk : segment.chunks) {
    room += chunk->capacity;
    used += chunk->used;
  }
  for (const auto& chunk : spares_) room += chunk->capacity;
  DCHECK_LE(used, room);
  uint64_t record = kLeastRecordBytes;
  if (in_memtable >= kEntriesForAverage) {
    record = std::max(record, used / in_memtable);
  } else if (tree_->versions->entries() > 0) {
    record = std::max(record, tree_->versions->payload_live_bytes() / tree_->versions->entries());
  }
  unflushed += (room - used) / record + delete_bytes / kLeastRecordBytes;
  // Every memtable becomes a table, which is then merged with the others.
  const uint64_t memtables = tree_->immutables.size() + 1;
  const uint64_t most = demand == Demand::kDeletesAtLast ? kTablesWhenTight : kTablesAfterMerge;
  const uint64_t tables = std::clamp(tree_->versions->tables() + memtables, kTablesWhenTight, most) + memtables;
  const uint64_t per_entry =
      kIndexBytesPerEntry + kScatteredBytesPerEntry * kExtentUnit / std::max(db_.chunk_bytes, kExtentUnit);
  const uint64_t entries = MostEntriesAtOnce(*tree_->versions->current(), db_.options.partition_size);
  uint64_t bytes = (entries + 2 * unflushed) * per_entry;
  if (demand != Demand::kAny) bytes = demand == Demand::kDeletes ? bytes / 6 * 5 : bytes / 2;
  return bytes + tables * PMTableBuilder::kBytesPerTable;
}

// Space that log chunks must leave free, so that a full pool can always be merged and collected: the index reserve, and
// chunks for records on the move. Deletes may have some of these chunks.
uint64_t Space::Reserve(Demand demand) const {
  if (demand == Demand::kAny) return IndexReserve(demand, 0) + ChunkReserve();
  return IndexReserve(demand, demand == Demand::kDeletes ? db_.chunk_bytes : kExtentUnit);
}

uint64_t Space::ChunkReserve() const { return kReserveChunks * ReserveChunkBytes(); }

uint64_t Space::CopiesLeave() const { return kCopyReserveChunks * ReserveChunkBytes(); }

// The reserve is what garbage is collected with, and free space lies in pieces as small as chunks: so small chunks need
// no less of it.
uint64_t Space::ReserveChunkBytes() const {
  return std::max(db_.chunk_bytes, std::min(db_.pool->used_bytes() / kReserveShare, kMostChunk));
}

// The figures are of one moment of the database's mutex; those of the pool may be older by an allocation.
SpaceFigures Space::Figures() const {
  SpaceFigures figures;
  const PoolRoom room = db_.pool->Room();
  figures.free = room.free;
  figures.capacity = room.capacity;
  figures.index_reserve = IndexReserve(Demand::kAny, 0);
  figures.reserve = figures.index_reserve + ChunkReserve();
  figures.copies = copy_room_.Bytes();
  figures.copies_leave = CopiesLeave();
  figures.payload = tree_->versions->payload_bytes();
  figures.live = tree_->versions->payload_live_bytes();
  const std::vector<RunRef>& repository = tree_->versions->current()->levels.back();
  figures.settled = repository.empty() ? 0 : std::min(figures.live, repository[0]->payload_bytes());
  figures.chunk = db_.chunk_bytes;
  figures.amplification = db_.options.space_amplification_percent;
  figures.buffer_is_empty = tree_->versions->current()->BufferEmpty();
  return figures;
}

uint64_t Space::PlentyAbove() const {
  const uint64_t free = db_.pool->Room().free;
  const uint64_t keep = Plenty() + Reserve(Demand::kAny);
  return free > keep ? free - keep : 0;
}

// Bytes of the next log chunk: what the database has in use says how much it is going to use.
uint64_t Space::NextChunkBytes() const {
  if (db_.options.log_chunk_size > 0) return db_.chunk_bytes;
  const uint64_t used = db_.pool->used_bytes();
  uint64_t bytes = db_.chunk_bytes;
  while (bytes > kLeastChunk && bytes > used / kChunkOfUsed) bytes /= 2;
  bytes = std::max(bytes, std::min(db_.chunk_bytes, kLeastChunk));
  DCHECK(bytes > 0 && bytes <= db_.chunk_bytes);
  return bytes;
}

// The extent is taken and faulted in without the mutex, because that takes as long as the file system takes. The edit
// that names the chunk is durable before anybody writes a frame into it: recovery reads no chunk that has no name.
Status Space::NewChunk(uint64_t size, uint64_t min_size, Demand demand, std::unique_ptr<LogChunk>* chunk) {
  std::vector<std::unique_ptr<LogChunk>> chunks;
  Status s = NewChunks(size, min_size, demand, 1, &chunks);
  if (s.ok()) *chunk = std::move(chunks[0]);
  return s;
}

// The edit is durable before anybody writes to one of the chunks: recovery reads no others.
Status Space::NewChunks(uint64_t size, uint64_t min_size, Demand demand, size_t count,
                        std::vector<std::unique_ptr<LogChunk>>* chunks) {
  CHECK(count > 0 && chunks->empty());
  Status s;
  VersionEdit edit;
  while (s.ok() && chunks->size() < count) {
    std::unique_ptr<LogChunk> fresh;
    s = AllocateChunk(size, min_size, demand, &fresh);
    if (s.IsNoSpace() && chunks->empty()) {
      DbLock lock(control_);
      if (!LetGoOfLog()) break;
      s = Status::OK();
      continue;
    }
    if (!s.ok()) break;
    if (fresh->in_pool()) {
      LogChunkPlace place;
      place.id = fresh->id;
      place.offset = fresh->extent->offset();
      place.size = fresh->extent->size();
      edit.chunks.push_back(place);
    }
    chunks->push_back(std::move(fresh));
  }
  if (chunks->empty()) return s;
  if (edit.chunks.empty() || MIODB_MUTATED(kChunkUnnamed)) return Status::OK();
  DbLock lock(control_);
  s = tree_->Apply(std::move(edit), {});
  if (!s.ok() && !s.IsNoSpace()) control_->SetError(s);
  return s;
}

// The chunk's memory is populated: no put takes a page fault. Where puts are synced each takes one anyway.
Status Space::AllocateChunk(uint64_t size, uint64_t min_size, Demand demand, std::unique_ptr<LogChunk>* chunk) {
  CHECK(min_size > 0 && min_size <= size);
  CHECK(*chunk == nullptr);
  uint64_t leave = 0;
  {
    DbLock lock(control_);
    leave = Reserve(demand);
    // Deletes may have the room for copies too, because what they free is worth more.
    if (demand == Demand::kAny) {
      const uint64_t in_it = ChunkReserve();
      leave += std::max(copy_room_.Bytes(), in_it) - in_it;
    }
  }
  if (db_.options.log_mode != kLogPmem) return NewMemoryChunk(size, min_size, leave, chunk);
  auto fresh = std::make_unique<LogChunk>();
  Status s = db_.pool->AllocateAtMost(size, min_size, leave, ExtentKind::kLog, &fresh->extent);
  if (!s.ok()) return s;
  const bool small = log_pages_.load(std::memory_order_relaxed) == LogChunk::Pages::kSmall;  // relaxed: a hint
  if (small && fresh->extent->UseSmallPages(0)) {
    fresh->pages = LogChunk::Pages::kSmall;
  } else {
    fresh->extent->Populate();
  }
  fresh->id = tree_->NewId();
  fresh->base = fresh->extent->data();
  fresh->capacity = fresh->extent->size();
  CHECK_GE(fresh->capacity, min_size);
  *chunk = std::move(fresh);
  return s;
}

// No edit names the extent, so a crash leaves it as free space; until the flush nothing is stored there.
Status Space::NewMemoryChunk(uint64_t size, uint64_t min_size, uint64_t leave, std::unique_ptr<LogChunk>* chunk) {
  CHECK(min_size > 0 && min_size <= size);
  auto fresh = std::make_unique<LogChunk>();
  Status s = db_.pool->AllocateAtMost(size, min_size, leave, ExtentKind::kLog, &fresh->reserved);
  if (!s.ok()) return s;
  fresh->capacity = fresh->reserved->size();
  CHECK_GE(fresh->capacity, min_size);
  fresh->memory.reset(new char[fresh->capacity]);
  memset(fresh->memory.get(), 0, fresh->capacity);  // faults it in
  fresh->base = fresh->memory.get();
  *chunk = std::move(fresh);
  return s;
}

// A chunk first, the memtable's blocks and the memtable next, then the files, and what can wait last: the order is that
// in which a writer would miss them. Nobody but the next open misses an index. Without memory for blocks or a memtable
// a writer makes its own, if it finds memory by then.
bool Space::Prepare() {
  const bool prepared = PrepareChunks();  // first, as a writer may be waiting for it
  db_.WithMemory([this] {
       if (db_.blocks->in_use()) db_.blocks->Prepare(2);
       tree_->PrepareMemTable();
       return Status::OK();
     })
      .IgnoreError();
  const bool indexed = IndexChunk();
  // A single piece at a time is given back, so that chunks come in between.
  bool rests;
  {
    DbLock lock(control_);
    rests = Rests();
  }
  bool grown = false;
  const auto grow = [&] {
    grown = !rests && db_.pool->GrowAhead(db_.options.pool_growth / 2);
    return Status::OK();
  };
  db_.WithMemory(grow).IgnoreError();
  if (prepared || indexed || grown || db_.hooks.background == BackgroundMode::kBySteps)
    return prepared || indexed || grown;
  return GiveBackPiece();
}

// The oldest chunk that waits for its index, or nullptr; tree_->indexing is its memtable then. The memtable whose flush
// runs has no such chunk: its chunks are being cut to their used bytes.
LogChunk* Space::TakeComplete() {
  DCHECK(tree_->memtable != nullptr);
  const auto take = [this](const MemTableRef& memtable) -> LogChunk* {
    control_->AssertHeld();  // for the analysis, which does not see that the call is made at once
    for (const auto& chunk : memtable->segment().chunks) {
      const bool early =
          MIODB_MUTATED(kChunkIndexEarly) && chunk->stage == LogChunk::Stage::kWritten && chunk->used > 0;
      if (chunk->stage != LogChunk::Stage::kComplete && !early) continue;
      tree_->indexing = memtable;
      return chunk.get();
    }
    return nullptr;
  };
  for (auto sealed = tree_->immutables.rbegin(); sealed != tree_->immutables.rend(); ++sealed) {
    if (scheduler_->flushing() && sealed == tree_->immutables.rbegin()) continue;
    if (LogChunk* const chunk = take(*sealed); chunk != nullptr) return chunk;
  }
  return take(tree_->memtable);
}

// Gives one chunk its index. Without memory it stays without one: that costs the next open time, and nothing else.
bool Space::IndexChunk() {
  LogChunk* chunk;
  {
    DbLock lock(control_);
    CHECK(tree_->indexing == nullptr);  // one thread prepares
    if (!control_->error().ok() || control_->closing()) return false;
    chunk = TakeComplete();
  }
  if (chunk == nullptr) return false;
  const CpuCensus::Work work(census_);
  db_.WithMemory([&] {
       WriteChunkIndex(&db_.pool->persist(), db_.order, db_.pool->secret(), *chunk);
       return Status::OK();
     })
      .IgnoreError();
  DbLock lock(control_);
  CHECK(tree_->indexing != nullptr);
  chunk->stage = LogChunk::Stage::kIndexed;
  tree_->indexing = nullptr;
  control_->Wake(BackgroundStep::kFlush);
  return true;
}

size_t Space::MissingSpares(uint64_t bytes) const {
  if (spares_for_ == SparesFor::kRest) return spares_.empty() ? 1 : 0;
  const uint64_t target = SpareTarget(bytes, db_);
  const auto large = [&](const auto& chunk) { return chunk->capacity >= bytes / kChunkShare; };
  return target - std::min(target, static_cast<uint64_t>(std::count_if(spares_.begin(), spares_.end(), large)));
}

// Before writers are slowed down for want of space (WritePath::UpdateThrottle), or garbage is collected for it.
void Space::KeepClearOfLimit() {
  const uint64_t share = std::min(db_.pool->capacity() / kClearShare, kClearChunks * db_.chunk_bytes);
  const SpaceFigures figures = Figures();
  if (figures.Left() < std::max(share, ShortBelow(figures) + kClearAhead * db_.chunk_bytes)) LetGoOfLog();
}

// A single chunk is made at a time, as a writer may be waiting for it. But if the edit that names chunks takes longer
// than making them, all missing chunks are made at once.
//
// The scheduler is told before the attempt (LookForSpace), so that whatever frees space meanwhile makes its result out
// of date, and a writer does not take the pool for full. A writer that waits asks again and again, which must not take
// the time of what frees space: so what was refused is tried again when a job has ended, when more is free, or after a
// while, because the file system tells nobody that it has room again.
bool Space::PrepareChunks() {
  const uint64_t bytes = NextChunkBytes();
  size_t count;
  uint64_t free;
  {
    DbLock lock(control_);
    KeepClearOfLimit();
    count = MissingSpares(bytes);
    if (!control_->error().ok() || control_->closing() || count == 0) return false;
    free = db_.pool->Room().free;
    if (scheduler_->FullAsItIs() && free <= refused_free_ && NowMicros() < look_again_micros_) return false;
    // The reserve counts spares, not chunks on their way, so only where there is much more room than that.
    const bool edit_is_slow = db_.options.log_mode == kLogPmem && db_.pool->persist().fence_is_slow();
    const uint64_t plenty = 2 * (Reserve(Demand::kAny) + kMaxSpares * bytes);
    if (!edit_is_slow || free < plenty) count = 1;
    CHECK(!preparing_);  // one thread prepares
    preparing_ = true;
    scheduler_->LookForSpace();
  }
  const CpuCensus::Work work(census_);
  std::vector<std::unique_ptr<LogChunk>> chunks;
  Status s = db_.WithMemory([&] { return NewChunks(bytes, bytes / kChunkShare, Demand::kAny, count, &chunks); });
  DbLock lock(control_);
  CHECK(preparing_);
  preparing_ = false;
  if (s.ok()) {
    s = db_.WithMemory([&] {
      control_->AssertHeld();  // for the analysis, which does not see that the call is made at once
      KeepChunks(&spares_, chunks);
      return Status::OK();
    });
  }
  // An error of the file system that is no lack of space stops writers as well; it was set already if it was the
  // manifest's.
  if (!s.ok() && !s.IsNoSpace()) control_->SetError(s);
  scheduler_->FoundSpace(!s.IsNoSpace() || !spares_.empty());
  // Another thread may have taken space meanwhile. Tests that do the work themselves have no time that passes.
  refused_free_ = s.IsNoSpace() ? std::min(free, db_.pool->Room().free) : 0;
  look_again_micros_ = db_.hooks.background == BackgroundMode::kBySteps ? 0 : NowMicros() + kLookAgainMicros;
  control_->Changed();
  control_->SignalDone();
  return s.ok();
}

// Chunks differ in size in a small or a scattered pool, so the oldest that is large enough is taken, not the first.
std::unique_ptr<LogChunk> Space::TakeSpare(uint64_t frame_bytes) {
  const auto spare = std::find_if(spares_.begin(), spares_.end(),
                                  [frame_bytes](const auto& chunk) { return chunk->capacity >= frame_bytes; });
  if (spare == spares_.end()) {
    spares_for_ = SparesFor::kWriters;
    return nullptr;
  }
  std::unique_ptr<LogChunk> chunk = std::move(*spare);
  spares_.erase(spare);
  spares_for_ = SparesFor::kWriters;
  control_->Wake(BackgroundStep::kPrepare);
  return chunk;
}

}  // namespace miodb
