#include <sched.h>

#include <algorithm>

#include "compaction/flush.h"
#include "pmtable/table_builder.h"
#include "src/db/db_impl.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/mutation.h"

// Work behind the writers, each kind in its own thread:
//
//   prepare  Takes extents for log chunks, faults them in, and names them in the manifest, so that one is ready for a
//            writer. Has the pool's files grow ahead of need, and gives back what nobody needed for a while.
//   flush    Turns the oldest sealed memtable into a run of level 0 (compaction/flush.h).
//   merge    Runs the job that the picker chooses (compaction/picker.h, merge.h); several threads on larger machines.
//
// Each installs its result in the same way, with mutex_ held: the manifest edit becomes durable, the new version
// becomes current, the read state is published. What the old one alone held is freed when its last reader leaves.

namespace miodb {

namespace {

// Bytes to reserve for an entry of a table index: 21.3 with its levels above 0, and a quarter more for what is lost
// when free space is scattered and an index has to be cut into several tables.
constexpr uint64_t kIndexBytesPerEntry = 27;

// Free space may lie in pieces as small as a chunk of the log. A table in a piece of 4 KiB has one leaf of 64 entries;
// in larger ones this is shared by as many entries more.
constexpr uint64_t kScatteredBytesPerEntry = 37;

// Chunks that stay free besides the index reserve: so many when puts ask for log, so many when garbage collection moves
// records, so many when deletes ask for log.
constexpr uint64_t kReserveChunks = 6;
constexpr uint64_t kCopyReserveChunks = 3;

// As much of the reserve is kept in one piece, in chunks.
constexpr uint64_t kReserveRunChunks = 8;

// A merge into the repository that found too little space for many tables makes this many.
constexpr uint64_t kTablesWhenTight = 4;

// A merge of everything leaves few tables, however many there were.
constexpr uint64_t kTablesAfterMerge = 16;

// Records below this size are taken to be of this size, and an average is trusted from this many on.
constexpr uint64_t kLeastRecordBytes = 32;
constexpr uint64_t kEntriesForAverage = 64;

// A log chunk is at least this part of its usual size; less free space in a row is of no use to writers.
constexpr uint64_t kChunkShare = 16;

// Chunks kept ready: this much, but no more than a share of a small pool.
constexpr uint64_t kSpareBytes = 16 << 20;
constexpr uint64_t kMaxSpares = 8;
constexpr uint64_t kSpareShare = 64;

// In a small database a chunk is at most the first share of what is in use, and those kept ready the second; but
// chunks of the least size, and two of them.
constexpr uint64_t kLeastChunk = 64 * 1024;
constexpr uint64_t kChunkOfUsed = 8;
constexpr uint64_t kSparesOfUsed = 4;

// A memtable whose chunks have this share of write_buffer_size is worth preparing the next one for.
constexpr uint64_t kMemTableInUse = 16;

// A memtable's filter has this share of write_buffer_size: 10 bits for each of the records of 80 bytes that fill it.
constexpr size_t kFilterShare = 64;

// A waiting background thread looks again after this long: readers that let go of space do not signal.
constexpr uint64_t kPollMicros = 100 * 1000;

uint64_t SpareTarget(uint64_t chunk_bytes, uint64_t used, uint64_t capacity) {
  const uint64_t wanted = std::min({kMaxSpares, kSpareBytes / chunk_bytes, used / kSparesOfUsed / chunk_bytes});
  return std::clamp(capacity / kSpareShare / chunk_bytes, uint64_t{1}, std::max(wanted, uint64_t{2}));
}

Outcome OutcomeOf(const Status& s) {
  return s.ok() ? Outcome::kInstalled : s.IsNoSpace() ? Outcome::kNoSpace : Outcome::kFailed;
}

// Writers wake these threads. As batch work they get a CPU when one is free or their turn has come, and do not take it
// from the writer in the middle of a put. Where that is not allowed, latency suffers and nothing else.
void DontPreemptOnWakeup() {
  const sched_param param = {};
  sched_setscheduler(0, SCHED_BATCH, &param);
}

}  // namespace

void DBImpl::BackgroundLoop(Step step) {
  DontPreemptOnWakeup();
  RunOnCpus(placement_.cpus);
  const ThreadMemoryPolicy policy(placement_.dram_node, ThreadMemoryPolicy::Strength::kPrefer);
  for (;;) {
    bool worked = false;
    Status s = WithMemory([&] {
      worked = RunStep(step);
      return Status::OK();
    });
    if (step == Step::kFlush && file_log_ != nullptr) {
      const auto trim = [this] {
        file_log_->TrimArchive();
        return Status::OK();
      };
      WithMemory(trim).IgnoreError();  // tried again later
    }
    MutexLock lock(&mutex_);
    if (!s.ok()) SetBackgroundError(s);
    if (closing_.load(std::memory_order_relaxed)) return;  // relaxed: set under the mutex
    if (!worked) work_.TimedWait(kPollMicros);
  }
}

bool DBImpl::RunStep(Step step) {
  switch (step) {
    case Step::kPrepare:
      return PrepareStep();
    case Step::kFlush:
      return FlushStep();
    case Step::kMerge:
      return MergeStep();
    case Step::kSsd:
      return SsdStep();
  }
  return false;
}

// Waits until some background work is done; without threads does some. False if there was none to do. micros 0: as
// long as it takes, but looking again now and then.
bool DBImpl::WaitForBackground(uint64_t micros) {
  if (!hooks_.manual_background) {
    work_.SignalAll();
    done_.TimedWait(micros > 0 ? micros : kPollMicros);
    return true;
  }
  const MutexUnlock unlock(&mutex_);
  return RunStep(Step::kFlush) || RunStep(Step::kMerge) || RunStep(Step::kPrepare) || RunStep(Step::kSsd);
}

// Room to write the index of every table once more, which is what merges need at most, and that of every memtable
// twice: by its flush, and by the merge after it. delete_bytes: of a chunk of deletes to come, small records all.
//
// Deletes may have what is kept here for scattered space, and when there is nothing left to merge half of what the
// entries take, since what they free is worth more. The tables that have to be made, and that are rounded to units,
// take what they take: in a small pool that is most of it.
uint64_t DBImpl::IndexReserve(Demand demand, uint64_t delete_bytes) const {
  const Segment& segment = memtable_->segment();
  const uint64_t in_memtable = memtable_->tree().count();
  uint64_t unflushed = in_memtable;
  uint64_t extents = versions_->payload_references() + segment.chunks.size() + spare_chunks_.size();
  for (const MemTableRef& memtable : immutables_) {
    unflushed += memtable->tree().count();
    extents += memtable->segment().chunks.size();
  }
  // What is yet to come into the chunks that are there already, if records go on as they are.
  uint64_t room = 0, used = 0;
  for (const auto& chunk : segment.chunks) {
    room += chunk->capacity;
    used += chunk->used;
  }
  for (const auto& chunk : spare_chunks_) room += chunk->capacity;
  uint64_t record = kLeastRecordBytes;
  if (in_memtable >= kEntriesForAverage) {
    record = std::max(record, used / in_memtable);
  } else if (versions_->entries() > 0) {
    record = std::max(record, versions_->payload_live_bytes() / versions_->entries());
  }
  unflushed += (room - used) / record + delete_bytes / kLeastRecordBytes;
  // Every memtable becomes a table, which is then merged with the others.
  const uint64_t memtables = immutables_.size() + 1;
  const uint64_t most = demand == Demand::kDeletesAtLast ? kTablesWhenTight : kTablesAfterMerge;
  const uint64_t tables = std::clamp(versions_->tables() + memtables, kTablesWhenTight, most) + memtables;
  const uint64_t per_entry =
      kIndexBytesPerEntry + kScatteredBytesPerEntry * kExtentUnit / std::max(chunk_bytes_, kExtentUnit);
  uint64_t bytes = (versions_->entries() + 2 * unflushed) * per_entry + 2 * extents * PMTableBuilder::kBytesPerExtent;
  if (demand != Demand::kAny) bytes = demand == Demand::kDeletes ? bytes / 6 * 5 : bytes / 2;
  return bytes + tables * PMTableBuilder::kBytesPerTable;
}

// What is kept free of log chunks, so that a full pool can always be merged and collected: the index reserve, and
// chunks for records on the move. Deletes may have some of the latter.
uint64_t DBImpl::Reserve(Demand demand) const {
  switch (demand) {
    case Demand::kAny:
      return IndexReserve(demand, 0) + kReserveChunks * chunk_bytes_;
    case Demand::kDeletes:
      return IndexReserve(demand, chunk_bytes_);
    case Demand::kDeletesAtLast:
      return IndexReserve(demand, kExtentUnit);
  }
  return 0;
}

uint64_t DBImpl::NewId() {
  MutexLock lock(&mutex_);
  return versions_->NewId();
}

// ---- prepare

// Bytes of the next log chunk: what the database has in use says how much it is going to use.
uint64_t DBImpl::NextChunkBytes() const {
  if (options_.log_chunk_size > 0) return chunk_bytes_;
  const uint64_t used = pool_->used_bytes();
  uint64_t bytes = chunk_bytes_;
  while (bytes > kLeastChunk && bytes > used / kChunkOfUsed) bytes /= 2;
  return std::max(bytes, std::min(chunk_bytes_, kLeastChunk));
}

Status DBImpl::NewChunk(uint64_t size, uint64_t min_size, Demand demand, std::unique_ptr<LogChunk>* chunk) {
  Pool::Leave leave;
  {
    MutexLock lock(&mutex_);
    leave.bytes = Reserve(demand);
    // An index that has to be cut into many small tables repeats the list of its extents in each. So a part of the
    // reserve is kept in one piece, or there has to be more of it.
    if (demand == Demand::kAny && pool_->free_bytes() < 2 * leave.bytes + size) {
      leave.run = std::min(IndexReserve(Demand::kAny, 0), kReserveRunChunks * chunk_bytes_);
    }
  }
  if (options_.log_mode != kLogPmem) return NewMemoryChunk(size, min_size, leave, chunk);
  auto fresh = std::make_unique<LogChunk>();
  Status s = pool_->AllocateAtMost(size, min_size, leave, ExtentKind::kLog, &fresh->extent);
  if (!s.ok()) return s;
  pool_->Populate(*fresh->extent);
  fresh->id = NewId();
  fresh->base = fresh->extent->data();
  fresh->capacity = fresh->extent->size();
  VersionEdit edit;
  LogChunkPlace place;
  place.id = fresh->id;
  place.offset = fresh->extent->offset();
  place.size = fresh->extent->size();
  edit.chunks.push_back(place);
  MutexLock lock(&mutex_);
  if (!MIODB_MUTATED(kChunkUnnamed)) s = versions_->Apply(std::move(edit), {});
  if (!s.ok()) {
    if (!s.IsNoSpace()) SetBackgroundError(s);
    return s;
  }
  *chunk = std::move(fresh);
  return s;
}

// A chunk of DRAM, with the space for its flush.
Status DBImpl::NewMemoryChunk(uint64_t size, uint64_t min_size, Pool::Leave leave, std::unique_ptr<LogChunk>* chunk) {
  auto fresh = std::make_unique<LogChunk>();
  Status s = pool_->AllocateAtMost(size, min_size, leave, ExtentKind::kLog, &fresh->reserved);
  if (!s.ok()) return s;
  fresh->capacity = fresh->reserved->size();
  fresh->memory.reset(new char[fresh->capacity]);
  memset(fresh->memory.get(), 0, fresh->capacity);  // faults it in
  fresh->base = fresh->memory.get();
  *chunk = std::move(fresh);
  return s;
}

MemTableRef DBImpl::NewMemTable(BloomFilter::Pages pages) const {
  const size_t filter_bytes = options_.filter_bits_per_key > 0 ? options_.write_buffer_size / kFilterShare : 0;
  // On a node that was asked for it is taken by threads that the node is set for.
  if (placement_.dram_node != kAnyNode) pages = BloomFilter::Pages::kAtOnce;
  return std::make_shared<MemTable>(order_, blocks_.get(), filter_bytes, pool_->secret(), pages);
}

// The next memtable is made here, because clearing its filter takes longer than a writer should wait; and when the
// present one is in use, because a database that nobody writes to needs neither.
void DBImpl::PrepareMemTable() {
  MemTableRef current;
  {
    MutexLock lock(&mutex_);
    if (spare_memtable_ != nullptr || SegmentBytes() < options_.write_buffer_size / kMemTableInUse) return;
    current = memtable_;
  }
  current->PopulateFilter();
  MemTableRef fresh = NewMemTable(BloomFilter::Pages::kAtOnce);
  MutexLock lock(&mutex_);
  spare_memtable_ = std::move(fresh);
}

bool DBImpl::PrepareStep() {
  const bool prepared = PrepareChunk();  // first, as a writer may be waiting for it
  if (blocks_->in_use()) blocks_->Prepare(2);
  PrepareMemTable();
  // One piece at a time, so that chunks come in between.
  const bool grown = pool_->GrowAhead(options_.pool_growth / 2);
  if (prepared || grown || hooks_.manual_background) return prepared || grown;
  uint64_t reserve;
  {
    MutexLock lock(&mutex_);
    reserve = Reserve(Demand::kAny);
  }
  bool given = false;
  const auto give_back = [&] {
    given = pool_->GiveBackIdle(NowMicros(), hooks_.give_back_micros, reserve);
    return Status::OK();
  };
  WithMemory(give_back).IgnoreError();  // tried again later
  return given;
}

bool DBImpl::PrepareChunk() {
  const uint64_t bytes = NextChunkBytes();
  const uint64_t least = bytes / kChunkShare;
  {
    MutexLock lock(&mutex_);
    const auto spares = std::count_if(spare_chunks_.begin(), spare_chunks_.end(),
                                      [least](const auto& chunk) { return chunk->capacity >= least; });
    if (!background_error_.ok() || closing_.load(std::memory_order_relaxed) ||  // relaxed: set under the mutex
        static_cast<uint64_t>(spares) >= SpareTarget(bytes, pool_->used_bytes(), pool_->capacity())) {
      return false;
    }
    scheduler_.BeginPreparing();
    scheduler_.LookForSpace();
  }
  const WriteTurns::Work work(&turns_);
  std::unique_ptr<LogChunk> chunk;
  Status s = WithMemory([&] { return NewChunk(bytes, least, Demand::kAny, &chunk); });
  MutexLock lock(&mutex_);
  scheduler_.EndPreparing();
  // An error of the file system that is no lack of space stops writers as well; it was set already if it was the
  // manifest's.
  if (!s.ok() && !s.IsNoSpace()) SetBackgroundError(s);
  scheduler_.FoundSpace(!s.IsNoSpace() || !spare_chunks_.empty());
  if (s.ok()) KeepChunk(&spare_chunks_, &chunk);
  UpdateThrottle();
  done_.SignalAll();
  return s.ok();
}

// The database is closed: what it alone kept of the pool's storage goes back. Chunks that are ready are named in the
// manifest; the next open would find them empty.
Status DBImpl::GiveSpaceBack() {
  MutexLock lock(&mutex_);
  VersionEdit edit;
  for (const auto& chunk : spare_chunks_) {
    if (chunk->in_pool()) edit.removed_chunks.push_back(chunk->id);
  }
  Status s = background_error_;
  if (s.ok() && !edit.removed_chunks.empty()) s = versions_->Apply(std::move(edit), {});
  if (!s.ok()) return s;
  spare_chunks_.clear();
  pool_->GiveBackAll(Reserve(Demand::kAny));
  return s;
}

// ---- flush

bool DBImpl::FlushStep() {
  MemTableRef memtable;
  std::unique_ptr<VersionFilter> filter;
  {
    MutexLock lock(&mutex_);
    if (immutables_.empty() || !scheduler_.MayFlush() || !background_error_.ok()) return BuildFilter();
    memtable = immutables_.back();
    scheduler_.BeginFlush();
    filter = std::make_unique<VersionFilter>(snapshots_.Sequences());
  }
  const WriteTurns::Work work(&turns_);
  const uint64_t start = NowMicros();
  std::vector<TableRef> tables;
  FlushRequest request{
      pool_.get(), order_, memtable.get(), filter.get(), options_.filter_bits_per_key, [this] { return NewId(); }};
  Status s = WithMemory([&] { return FlushMemTable(request, &tables); });
  uint64_t index_bytes = 0;
  for (const TableRef& table : tables) index_bytes += table->index()->size();
  MutexLock lock(&mutex_);
  // Let go of both before anybody is told: what the memtable alone holds is free only then.
  InstallFlush(std::move(memtable), std::move(tables), s);
  const uint64_t micros = NowMicros() - start;
  statistics_.flushes.Add(1);
  statistics_.flush_micros.Add(micros);
  statistics_.levels[0].Note(micros, 0, index_bytes);
  RetireFileLog();
  return s.ok();
}

void DBImpl::InstallFlush(MemTableRef memtable, std::vector<TableRef> tables, Status s) {
  if (s.ok()) {
    VersionEdit edit;
    const uint64_t run = versions_->NewId();
    for (const TableRef& table : tables) {
      edit.tables.push_back({table->number(), 0, run, table->index()->offset(), table->index()->size()});
    }
    for (const auto& chunk : memtable->segment().chunks) {
      if (chunk->in_pool()) edit.removed_chunks.push_back(chunk->id);
    }
    if (!MIODB_MUTATED(kFlushedSequenceUnset)) edit.SetFlushedSequence(memtable->max_sequence());
    if (MIODB_MUTATED(kFlushInTwoEdits)) {
      VersionEdit first;
      first.removed_chunks.swap(edit.removed_chunks);
      CHECK(versions_->Apply(std::move(first), {}).ok());
    }
    if (MIODB_MUTATED(kLogFileRetiredEarly)) RetireFileLogUpTo(memtable->max_sequence());
    s = versions_->Apply(std::move(edit), tables);
  }
  scheduler_.EndFlush(OutcomeOf(s));
  if (s.ok()) {
    CHECK(immutables_.back() == memtable);
    immutables_.pop_back();
    for (const auto& chunk : memtable->segment().chunks) {
      (chunk->in_pool() ? chunk->extent : chunk->reserved)->ReleaseTrimmed();
    }
    PublishState();
  } else if (s.IsNoSpace()) {
    Log("flush waits for space: %s", s.ToString().c_str());
  } else {
    SetBackgroundError(s);
  }
  UpdateThrottle();
  work_.SignalAll();
  done_.SignalAll();
}

// Tables that recovery opened have no filters; they come one by one while there is nothing to flush.
bool DBImpl::BuildFilter() {
  if (unfiltered_.empty() || filtering_) return false;
  TableRef table = std::move(unfiltered_.back());
  unfiltered_.pop_back();
  if (table.use_count() > 1) {  // else no version has it any more
    filtering_ = true;
    {
      const MutexUnlock unlock(&mutex_);
      try {
        table->BuildFilter(options_.filter_bits_per_key);
      } catch (const std::exception&) {
        // Gets do without.
      }
      table.reset();
    }
    filtering_ = false;
  }
  if (unfiltered_.empty()) done_.SignalAll();
  return true;
}

// ---- merge

PickerInput DBImpl::MakePickerInput() const {
  PickerInput input;
  input.version = versions_->current();
  input.level_trigger = options_.level_trigger;
  input.snapshots = !snapshots_.empty();
  input.push_down = WantsPushDown() || BufferHoldsLog();
  return input;
}

bool DBImpl::HasMergeWork() const {
  return background_error_.ok() && scheduler_.NextMerge(MakePickerInput()).has_value();
}

// Looks for garbage, and whether anything is at work or due that may free space.
bool DBImpl::LookForWork() {
  MarkGarbage();
  return scheduler_.running() > 0 || HasMergeWork() || HasDrainWork();
}

SpaceFigures DBImpl::MakeSpaceFigures() const {
  SpaceFigures figures;
  figures.free = pool_->free_bytes();
  figures.capacity = pool_->capacity();
  figures.reserve = Reserve(Demand::kAny);
  figures.index_reserve = IndexReserve(Demand::kAny, 0);
  figures.payload = versions_->payload_bytes();
  figures.live = versions_->payload_live_bytes();
  figures.chunk = chunk_bytes_;
  figures.amplification = options_.space_amplification_percent;
  figures.buffer_is_empty = versions_->BufferEmpty();
  return figures;
}

// Marks extents for evacuation when too much of the payload is garbage; sooner when the pool is nearly full.
void DBImpl::MarkGarbage() {
  const uint64_t now = NowMicros();
  // Tests that run the background work themselves have no second in which nobody writes.
  if (!hooks_.manual_background) {
    scheduler_.SeeSequence(last_sequence_.load(std::memory_order_relaxed), now);  // relaxed: policy only
  }
  if (scheduler_.marks_are_fresh()) return;
  const std::optional<MarkRequest> request = scheduler_.WantsMarks(MakeSpaceFigures(), now);
  if (!request.has_value()) return;
  std::vector<ExtentUse> extents;
  bool marked = false;
  versions_->ForEachPayload([&](Extent* extent, uint64_t live_bytes) {
    marked = marked || extent->evacuate.load(std::memory_order_relaxed);  // relaxed, as below: policy only
    extents.push_back({extent, extent->payload_bytes(), live_bytes});
  });
  if (!scheduler_.BeginMarks(marked)) return;
  const std::vector<Extent*> picked =
      PickEvacuation(extents, request->start_percent, request->goal_percent, request->slack, request->budget);
  for (const ExtentUse& use : extents) use.extent->evacuate.store(false, std::memory_order_relaxed);
  for (Extent* extent : picked) extent->evacuate.store(true, std::memory_order_relaxed);
  scheduler_.EndMarks(!picked.empty());
}

bool DBImpl::MergeStep() {
  std::optional<MergeJob> job;
  JobHold hold;
  {
    MutexLock lock(&mutex_);
    if (!background_error_.ok() || closing_.load(std::memory_order_relaxed)) return false;
    MarkGarbage();
    job = scheduler_.NextMerge(MakePickerInput());
    if (!job.has_value()) return false;
    hold = scheduler_.BeginMerge(*job);
  }
  RunJob(std::move(*job), hold);
  return true;
}

// All but its filter. What version gets outlives the request.
MergeRequest DBImpl::MakeMergeRequest(const MergeJob& job, const JobHold& hold, VersionRef* version) {
  const bool into_repository = job.output_level == options_.num_levels - 1;
  MergeRequest request{pool_.get(), order_, Purpose::kMerge, nullptr, {}, {}};
  uint64_t reserve, partition_bytes = PartitionBytes();
  bool pressed, settles_all;
  request.copies = hold.copies;
  {
    MutexLock lock(&mutex_);
    settles_all = SettlesAll();
    if (!request.copies) {
      partition_bytes = std::max(partition_bytes, versions_->payload_live_bytes() / kTablesWhenTight);
    }
    *version = versions_->current();
    request.index_reserve = IndexReserve(Demand::kAny, 0);
    reserve = Reserve(Demand::kAny);
    pressed = scheduler_.full();
  }
  if (job.kind == MergeKind::kCollect) {
    request.inputs.push_back(job.collect);
    request.purpose = Purpose::kEvacuation;
    request.rewrite_all = true;
  } else {
    for (const RunRef& run : job.inputs) request.inputs.push_back(run->tables);
  }
  // Older than the inputs: the rest of the level below the oldest input, and all levels under it.
  const uint64_t oldest = job.inputs.back()->id;
  const int oldest_level =
      job.kind == MergeKind::kZeroCopy || job.kind == MergeKind::kCollect ? job.level : job.output_level;
  for (int level = oldest_level; level < options_.num_levels; level++) {
    for (const RunRef& run : (*version)->levels[static_cast<size_t>(level)]) {
      if (level == oldest_level && run->id >= oldest) continue;
      request.older.insert(request.older.end(), run->tables.begin(), run->tables.end());
    }
  }
  request.on_ssd = (*version)->ssd;
  if (into_repository) {
    if (job.kind != MergeKind::kCollect) request.purpose = Purpose::kLazyCopy;
    // A copy frees nothing before the whole job is done, so a full pool does without.
    if (!pressed) request.settle_limit = settles_all ? UINT64_MAX : options_.lazy_copy_limit;
    request.payload_limit = partition_bytes;
  }
  request.leave_free = job.kind != MergeKind::kCollect ? reserve - std::min(reserve, request.index_reserve)
                       : pressed                       ? 0
                                                       : kCopyReserveChunks * chunk_bytes_;
  request.copy_extent_bytes = NextChunkBytes();
  request.filter_bits = options_.filter_bits_per_key;
  request.new_table_number = [this] { return NewId(); };
  request.stop = &closing_;
  return request;
}

void DBImpl::NoteMerge(const MergeJob& job, const MergeResult& result, uint64_t micros) {
  uint64_t read = 0, written = result.bytes_copied;
  for (const TableRef& table : result.removed) read += table->index()->size();
  for (const TableRef& table : result.added) written += table->index()->size();
  statistics_.merges.Add(1);
  statistics_.merge_micros.Add(micros);
  statistics_.levels[static_cast<size_t>(job.output_level)].Note(micros, read, written);
}

void DBImpl::RunJob(MergeJob job, const JobHold& hold) {
  const WriteTurns::Work work(&turns_);
  const uint64_t start = NowMicros();
  VersionRef version;
  MergeRequest request = MakeMergeRequest(job, hold, &version);
  const VersionFilter filter(snapshots_.Sequences());  // after the version was pinned
  request.filter = &filter;
  MergeResult result;
  Status s = WithMemory([&] { return MergeRuns(request, &result); });
  const uint64_t micros = NowMicros() - start;
  NoteMerge(job, result, micros);
  MutexLock lock(&mutex_);
  if (s.ok()) s = InstallMerge(job, result);
  if (s.ok()) {
    Log("%s level %d -> %d: %zu tables in, %zu moved, %zu out, %llu of %llu entries dropped, %llu bytes copied, %llu "
        "us",
        MergeKindName(job.kind), job.level, job.output_level, result.removed.size(), result.moved.size(),
        result.added.size(), static_cast<unsigned long long>(result.entries_dropped),
        static_cast<unsigned long long>(result.entries_read), static_cast<unsigned long long>(result.bytes_copied),
        static_cast<unsigned long long>(micros));
  }
  // Let go of the inputs before anybody is told: their space is free only then.
  const bool refused = result.copies_refused;
  job = MergeJob();
  request.inputs.clear();
  request.older.clear();
  result = MergeResult();
  version.reset();
  std::erase_if(unfiltered_, [](const TableRef& table) { return table.use_count() == 1; });  // nobody reads these
  FinishJob(hold, s, refused);
}

Status DBImpl::InstallMerge(const MergeJob& job, const MergeResult& result) {
  VersionEdit edit;
  const bool into_repository = job.output_level == options_.num_levels - 1;
  const uint32_t level = into_repository ? kRepositoryLevel : static_cast<uint32_t>(job.output_level);
  // The repository's run keeps its id, and collected tables stay in their run.
  uint64_t run = 0;
  if (job.kind == MergeKind::kCollect) {
    run = job.inputs[0]->id;
  } else if (!into_repository) {
    run = versions_->NewId();
  }
  for (const TableRef& table : result.removed) edit.removed_tables.push_back(table->number());
  for (const TableRef& table : result.moved) {
    TablePlace place = versions_->PlaceOf(table->number());
    if (place.level == level && place.run == run) continue;
    place.level = level;
    place.run = run;
    edit.tables.push_back(place);
  }
  for (const TableRef& table : result.added) {
    edit.tables.push_back({table->number(), level, run, table->index()->offset(), table->index()->size()});
  }
  if (MIODB_MUTATED(kMergeInTwoEdits)) {
    VersionEdit first;
    first.removed_tables.swap(edit.removed_tables);
    CHECK(versions_->Apply(std::move(first), {}).ok());
  }
  Status s = versions_->Apply(std::move(edit), result.added);
  if (!s.ok()) return s;
  PublishState();
  return s;
}

void DBImpl::FinishJob(const JobHold& hold, const Status& s, bool refused) {
  scheduler_.EndMerge(hold, OutcomeOf(s), refused);
  if (s.IsNoSpace()) {
    Log("%s waits for space: %s", MergeKindName(hold.kind), s.ToString().c_str());
  } else if (!s.ok() && !closing_.load(std::memory_order_relaxed)) {  // relaxed: set under the mutex
    SetBackgroundError(s);
  }
  UpdateThrottle();
  work_.SignalAll();
  done_.SignalAll();
}

// ---- common

void DBImpl::PublishState() {
  auto state = std::make_unique<ReadState>();
  state->memtable = memtable_;
  state->immutables.assign(immutables_.begin(), immutables_.end());
  state->version = versions_->current();
  states_.Publish(std::move(state));
}

void DBImpl::SetBackgroundError(const Status& s) {
  if (!background_error_.ok()) return;
  background_error_ = s;
  failed_.store(true, std::memory_order_relaxed);  // relaxed: the status itself is read under the mutex
  LogStatus("read-only from now on", s);
  work_.SignalAll();
  done_.SignalAll();
}

// Whether nothing is running or due.
bool DBImpl::IsIdle() const {
  return immutables_.empty() && !scheduler_.flushing() && scheduler_.running() == 0 && versions_->BufferEmpty() &&
         !HasMergeWork();
}

// Slows writers down as a limit comes near, so that they do not run into it at full speed.
void DBImpl::UpdateThrottle() {
  uint64_t nanos_per_kib = 0;
  const uint64_t free = pool_->free_bytes();
  const uint64_t reserve = Reserve(Demand::kAny);
  const uint64_t left = free > reserve ? free - reserve : 0;
  const uint64_t near = std::min(pool_->capacity() / 10, 16 * chunk_bytes_);
  if (left < near) nanos_per_kib += 5000 * (near - left) / near;
  const size_t most = static_cast<size_t>(options_.max_immutable_memtables);
  if (most > 1 && immutables_.size() >= most) nanos_per_kib += 500;
  const size_t runs = versions_->current()->levels[0].size();
  const size_t many = 4 * static_cast<size_t>(options_.level_trigger);
  if (runs > many) nanos_per_kib += 100 * (runs - many);
  nanos_per_kib += SsdThrottleNanos(left);
  throttle_nanos_.store(nanos_per_kib, std::memory_order_relaxed);  // relaxed: a hint to the leader
}

}  // namespace miodb
