// Merges and garbage collection, from the scheduler's choice to the edit. Merging itself is compaction/merge/merge.cc.

#include "src/db/background/merger.h"

#include <algorithm>

#include "compaction/merge/drop_account.h"
#include "compaction/policy/marked_tables.h"
#include "compaction/policy/parts.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/clock/clock.h"

namespace miodb {

namespace {

// Bytes that merges have written so far, in vain or not.
uint64_t BytesOfMerges(const Persist& persist) {
  uint64_t bytes = 0;
  for (const Purpose purpose : {Purpose::kMerge, Purpose::kLazyCopy, Purpose::kEvacuation}) {
    bytes += persist.counters(purpose).bytes.load(std::memory_order_relaxed);  // relaxed: a statistic
  }
  return bytes;
}

// A memtable is flushed when writers are quiet if its log, or its entries, are more than such a part of those alive in
// tables, and its log has so many bytes.
constexpr uint64_t kQuietShare = 8;
constexpr uint64_t kLeastQuietBytes = 64 * 1024;

// A table of which much has expired is looked for again so long after it was found.
constexpr uint64_t kLookAgainMicros = 60 * 1000 * 1000;

// A share of a merge is no smaller than so many tables, since its last one is a part of one.
constexpr uint64_t kTablesOfShare = 4;

}  // namespace

// Only what the scheduler cannot know is set here: the version, whether snapshots keep old versions alive, whether the
// want of space asks for everything to be settled, and the SSD tier or the log's length for the buffer to be pushed
// down.
PickerInput Merger::MakePickerInput() const {
  PickerInput input;
  input.version = tree_->versions->current();
  input.marked = &tree_->versions->marked();
  input.level_trigger = db_.options.level_trigger;
  input.memtable_bytes = db_.options.write_buffer_size;
  input.partition_bytes = tier_->PartitionBytes();
  input.snapshots = !tree_->snapshots.empty();
  input.date_micros = db_.WallMicros();
  input.droppable = ranges_.droppable();
  // A tier has its own ways to make room, which a merge of everything would hold up.
  input.settle = db_.ssd == nullptr && WantsBufferMerged(space_->Figures());
  input.push_down = tier_->WantsPushDown() || floor_->BufferHoldsLog();
  // A memtable that is to be sealed comes first.
  if (scheduler_->quiet().MaySettle() && !tree_->SealIsAsked() && tree_->immutables.empty()) {
    input.quiet_bytes = space_->PlentyAbove();
    input.expired = expired_.lock();
  }
  return input;
}

// The same question as Step asks, so that nobody waits for work that no thread would begin.
bool Merger::HasWork() const {
  const MarkState marks = scheduler_->marks().state();
  return control_->error().ok() &&
         (ranges_.at_work() || ranges_.IsDue() || marks == MarkState::kWanted || marks == MarkState::kSearching ||
          scheduler_->NextMerge(MakePickerInput()).has_value());
}

// Hidden versions in the repository count as old, although deletions of ranges may have come since.
bool Merger::HasWorkOf(uint64_t sequence) const {
  CHECK(scheduler_->settling());
  if (ranges_.at_work() || ranges_.IsDue()) return true;  // the look may find something to drop
  const Version& version = *tree_->versions->current();
  for (const Run* run : version.runs) {
    // The repository's run has the id 0.
    if (run->id > 0 && run->tables.Total().oldest_sequence <= sequence) return true;
  }
  const std::optional<MergeJob> job = scheduler_->NextMerge(MakePickerInput());
  return job.has_value() && job->kind == MergeKind::kSettle && job->inputs[0] == version.levels.back()[0];
}

// Looks for garbage, and whether anything is at work or due that may free space.
bool Merger::LookForWork() {
  MarkGarbage();
  return scheduler_->running() > 0 || HasWork() || tier_->HasDrainWork();
}

// Versions that a memtable hides or deletes come free behind its flush. A memtable that is small against the tables is
// not worth one: where somebody writes now and then, each flush makes a table.
bool Merger::MemTableHoldsMuch() const {
  DCHECK(tree_->memtable != nullptr && tree_->versions != nullptr);
  const MemTable& memtable = *tree_->memtable;
  const uint64_t bytes = memtable.segment().used_bytes();
  return !memtable.empty() && bytes >= kLeastQuietBytes &&
         (bytes * kQuietShare > tree_->versions->payload_live_bytes() ||
          memtable.count() * kQuietShare > tree_->versions->entries());
}

// The scheduler decides from a few figures whether marks are wanted. Only then is every payload extent looked at, by a
// thread without the mutex.
void Merger::MarkGarbage() {
  const uint64_t now = db_.hooks.quiet_micros != nullptr ? db_.hooks.quiet_micros() : NowMicros();
  // Tests that run the background work themselves have no second in which nobody writes, unless they have its clock.
  if (db_.hooks.background == BackgroundMode::kThreads || db_.hooks.quiet_micros != nullptr) {
    scheduler_->quiet().See(tree_->last_sequence.load(std::memory_order_relaxed), now);  // relaxed: policy only
    if (scheduler_->quiet().MaySettle() && MemTableHoldsMuch()) tree_->AskSeal();
    if (ExpiredIsDue()) scheduler_->quiet().Changed();
  }
  if (scheduler_->marks_are_fresh()) return;
  const std::optional<MarkRequest> request = scheduler_->WantsMarks(space_->Figures(), now);
  if (request.has_value()) scheduler_->WantMarks(*request);
}

// Whether a quiet merge of the repository, which would run alone, could drop what has expired: nothing older lies
// below, and no snapshot keeps it.
bool Merger::MayDropExpired() const {
  const Version& version = *tree_->versions->current();
  if (version.levels.back().empty() || !tree_->immutables.empty() || !TombstonesEndInPool(version)) return false;
  return tree_->snapshots.empty() && !tree_->SealIsAsked() && scheduler_->running() == 0 && !scheduler_->settling() &&
         !scheduler_->flushing();
}

// A table that was found waits for its merge; else something has changed since the last look, or its moment has come.
bool Merger::ExpiredIsDue() const {
  if (looking_for_expired_ || !MayDropExpired()) return false;
  const uint64_t now = db_.WallMicros();
  return tree_->versions->current()->levels.back()[0]->tables.Total().first_tombstone <= now &&
         (!expired_.expired() || expired_looked_at_ != tree_->version_changes || expired_next_micros_ <= now);
}

// The mutex is let go of meanwhile, so what is found may have gone. A table that was found before and not taken had no
// room for its merge, or a snapshot came: it is looked for later, as after a look without memory.
void Merger::FindExpired() {
  if (!expired_.expired()) return expired_.reset();
  expired_looked_at_ = tree_->version_changes;
  looking_for_expired_ = true;
  VersionRef version = tree_->versions->current();
  const uint64_t now = db_.WallMicros();
  ExpiredLook look;
  Status s;
  {
    const DbUnlock unlock(control_);
    s = db_.WithMemory([&] {
      look = LookForExpired(version->levels.back()[0]->tables, now, [this] { return control_->closing(); });
      return Status::OK();
    });
    version.reset();
  }
  looking_for_expired_ = false;
  expired_ = look.table;
  const bool done = s.ok() && look.table == nullptr;
  expired_next_micros_ = done ? look.next_micros : now + kLookAgainMicros;
  control_->SignalDone();  // the version may have been the last one that kept some space
}

// Marks that were there go first. Each table that is found takes the mutex for itself.
void Merger::FindMarked(const Version& version) {
  MarkedTables before;
  {
    DbLock lock(control_);
    before = tree_->versions->TakeMarks();
  }
  MarkTables(
      version, [this] { return control_->closing(); },
      [this](const TableRef& table) {
        DbLock lock(control_);
        tree_->versions->Mark(table);
      });
}

// Merges that end meanwhile may make tables that this search does not see: the next marks have these looked for. The
// tables of the same marks are known, unless a merge ran while they were looked for.
void Merger::MakeMarks() {
  const CpuCensus::Work work(census_);
  VersionRef version;
  MarkRequest request;
  bool known;
  {
    DbLock lock(control_);
    if (scheduler_->marks().state() != MarkState::kWanted) return;  // another thread does
    request = scheduler_->BeginMarks();
    version = tree_->versions->current();
    known = found_all_;
  }
  MarkedExtents marked;
  const Status s = db_.WithMemory([&] {
    marked = MarkExtents(*version, request);
    space_->copy_room()->Mark(marked.live);
    known = known && marked.same;
    if (!known) FindMarked(*version);
    return Status::OK();
  });
  s.IgnoreError();  // without memory nothing is collected before the next marks
  version.reset();
  DbLock lock(control_);
  scheduler_->marks().On(marked.count > 0 ? MarkEvent::kFound : MarkEvent::kNone);
  // A merge that began without marked inputs does not see which of its records lie in marked extents.
  found_all_ = s.ok() && (known || (scheduler_->marks_are_fresh() && scheduler_->running() == 0));
  control_->Progressed();
}

// The job's inputs are held by the scheduler before the mutex is let go, so no other thread can pick a job that shares
// one of them.
bool Merger::Step() {
  std::optional<MergeJob> job;
  JobHold hold;
  {
    DbLock lock(control_);
    if (!control_->error().ok() || control_->closing()) return false;
    if (ranges_.IsDue() && ranges_.Trim()) return true;
    MarkGarbage();
    if (scheduler_->marks().state() != MarkState::kWanted) {
      job = scheduler_->NextMerge(MakePickerInput());
      if (!job.has_value()) {
        if (scheduler_->quiet().MaySettle() && ExpiredIsDue()) {
          FindExpired();
          return true;
        }
        if (scheduler_->quiet().FoundNothing()) control_->Wake(BackgroundStep::kPrepare);  // gives back free space
        return false;
      }
      if (job->range.to.has_value() && job->output_level < db_.options.num_levels - 1 && job->output_run == 0) {
        job->output_run = tree_->versions->NewId();
      }
      hold = scheduler_->BeginMerge(*job);
      // Writers are told at once, because what is kept for the copies is theirs no more.
      if (hold.kind == MergeKind::kCollect) {
        space_->copy_room()->Begin(CopiesLeave(hold));
        control_->Changed();
      }
    }
    control_->Wake(BackgroundStep::kMerge);  // there may be a job for another thread
  }
  if (job.has_value()) {
    RunJob(std::move(*job), hold);
  } else {
    MakeMarks();
  }
  return true;
}

// Copies of a collection leave less than those of a merge, which nobody waits for; in a full pool nothing.
uint64_t Merger::CopiesLeave(const JobHold& hold) const {
  DCHECK(hold.holder == Holder::kMerge);
  if (hold.kind != MergeKind::kCollect) return space_->ChunkReserve();
  return hold.full ? 0 : space_->CopiesLeave();
}

// The sequence is compared with the one that the scheduler has seen before it chose the job, so a write in between ends
// the job too. A put knows nothing of it.
void Merger::GiveWay(MergeRequest* request) {
  DbLock lock(control_);
  CHECK(scheduler_->quiet().running());
  const uint64_t seen = scheduler_->quiet().disturbed() ? UINT64_MAX : scheduler_->quiet().sequence();
  request->stop = [this, seen] {
    return control_->closing() || tree_->last_sequence.load(std::memory_order_relaxed) != seen;  // relaxed: a wish
  };
  request->leave_free += space_->Plenty();
}

// Makes all of the request but its filter. *version outlives the request. The version may be newer than the one from
// which the job was picked, because other jobs may have ended since; but no such job held inputs of this job.
MergeRequest Merger::MakeMergeRequest(const MergeJob& job, const JobHold& hold, VersionRef* version) {
  const bool into_repository = job.output_level == db_.options.num_levels - 1;
  CHECK(!job.inputs.empty() && job.output_level < db_.options.num_levels);
  CHECK(job.kind != MergeKind::kCollect || !job.tables.empty());
  MergeRequest request{db_.pool.get(), db_.order, Purpose::kMerge, nullptr, nullptr, {}, {}};
  uint64_t partition_bytes = tier_->PartitionBytes();
  request.may_copy = hold.may_copy;
  {
    DbLock lock(control_);
    if (!request.may_copy && !job.is_part()) {
      partition_bytes = std::max(partition_bytes, tree_->versions->payload_live_bytes() / kTablesWhenTight);
    }
    *version = tree_->versions->current();
    request.ranges_applied = tree_->versions->manifest().flushed_sequence;
    request.index_reserve = space_->IndexReserve(Space::Demand::kAny, 0);
    // Where space is short one share has to do, since each has pieces of space at once.
    if (!hold.full && space_->PlentyAbove() > 0) {
      request.sharing = shares_->Of(kTablesOfShare * std::min(partition_bytes, UINT64_MAX / kTablesOfShare));
    }
    // A copy frees nothing before the whole job is done, so a full pool does without, and where space is short a job of
    // everything does.
    if (into_repository && !hold.full &&
        (job.kind != MergeKind::kSettle || job.is_part() || !SpaceIsShort(space_->Figures()))) {
      request.settle_limit = tier_->SettlesAll() ? UINT64_MAX : db_.options.lazy_copy_limit;
    }
  }
  request.payload = &(*version)->payload;
  if (job.kind == MergeKind::kCollect) {
    request.inputs.push_back(job.tables);
    request.purpose = Purpose::kEvacuation;
    request.rewrites = Rewrites::kAll;
  } else {
    request.range = job.range;
    for (const RunRef& run : job.inputs) request.inputs.push_back(run->TablesIn(db_.order, job.range));
  }
  const std::vector<const Run*>& runs = (*version)->runs;
  const auto oldest =
      std::find_if(runs.begin(), runs.end(), [&](const Run* run) { return run->id == job.inputs.back()->id; });
  CHECK(oldest != runs.end());
  request.older.assign(oldest + 1, runs.end());
  request.on_ssd = (*version)->ssd;
  request.ranges = (*version)->ranges;
  if (into_repository && job.kind != MergeKind::kCollect) request.purpose = Purpose::kLazyCopy;
  if (into_repository || CutsTables(job, partition_bytes)) request.payload_limit = partition_bytes;
  request.leave_free = CopiesLeave(hold);
  request.copy_extents.took = [this](int64_t bytes) { space_->copy_room()->Take(bytes); };
  request.copy_extents.bytes = space_->NextChunkBytes();
  // In a full pool the free pieces may be as small as the copies of a table once were. The merge takes even these,
  // because a collection that copies into them leaves larger pieces.
  request.copy_extents.least = hold.full ? kExtentUnit : request.copy_extents.bytes / 4;
  request.filter_bits = db_.options.filter_bits_per_key;
  request.place_level = into_repository ? kPlacementRepositoryLevel : job.output_level;
  request.now_micros = db_.WallMicros();
  if (job.kind == MergeKind::kSettle) request.rewrites = Rewrites::kAnyExpired;
  request.merge_operator = db_.options.merge_operator;
  request.compaction_filter = db_.options.compaction_filter;
  request.filter_level = job.output_level;
  request.versions_once = db_.VersionsOnce();
  request.new_table_number = [this] { return tree_->NewId(); };
  request.stop = [this] { return control_->closing(); };
  return request;
}

// Bytes read count the indexes of tables that went; records that are read besides have a counter of their own, since a
// zero-copy merge reads next to none. Bytes written add the records that were copied.
void Merger::NoteMerge(const MergeJob& job, const MergeResult& result, uint64_t micros) {
  uint64_t read = 0, written = result.bytes_copied;
  if (job.kind != MergeKind::kDrop) {
    for (const TableRef& table : result.removed) read += table->index()->size();
  }
  for (const TableRef& table : result.added) written += table->index()->size();
  for (const MergeRest& rest : result.rests) written += rest.table->index()->size();
  DCHECK_GE(job.output_level, job.level);
  db_.statistics.merges.Add(1);
  db_.statistics.ranges.dropped.Add(result.range_dropped);
  db_.statistics.ranges.reads.Add(result.range_reads);
  db_.statistics.merge_micros.Add(micros);
  db_.statistics.merge_record_bytes.Add(result.record_bytes_read);
  db_.statistics.levels[static_cast<size_t>(job.output_level)].Note(micros, read, written);
  OpTimes::AddMicros(db_.statistics.times.get(), TimedOp::kMerge, micros);
  db_.events.NoteMerge(MergeInfoOf(false, job.output_level, micros, read, written));
}

// A quiet merge runs alone, so all that merges write meanwhile is its own.
void Merger::NoteQuiet(const MergeResult& result, uint64_t bytes) {
  db_.statistics.quiet_merges.Add(1);
  db_.statistics.quiet_given_up.Add(result.given_up ? 1 : 0);
  db_.statistics.quiet_bytes.Add(bytes);
}

// The filter reads the snapshots after the version was pinned: a snapshot that is missed sees everything that the
// version has, and needs none of the versions that the merge drops. Inputs are let go of before the job is reported as
// finished, because whoever waits for it waits for their space.
void Merger::RunJob(MergeJob job, const JobHold& hold) {
  const CpuCensus::Work work(census_);
  const uint64_t start = NowMicros();
  MergeResult result;
  const uint64_t bytes_before = BytesOfMerges(db_.pool->persist());
  // From BeginMerge to EndMerge nothing is thrown, or the scheduler would hold the inputs for ever.
  Status s = db_.WithMemory([&] {
    if (job.kind == MergeKind::kDrop) return DropTables(job, &result);
    VersionRef version;
    MergeRequest request = MakeMergeRequest(job, hold, &version);
    if (job.kind == MergeKind::kQuiet) GiveWay(&request);
    const VersionFilter filter(tree_->snapshots.Sequences());  // after the version was pinned
    request.filter = &filter;
    return MergeRuns(request, &result);
  });
  const uint64_t micros = NowMicros() - start;
  NoteMerge(job, result, micros);
  if (job.kind == MergeKind::kQuiet) NoteQuiet(result, BytesOfMerges(db_.pool->persist()) - bytes_before);
  DbLock lock(control_);
  if (s.ok()) {
    s = db_.WithMemory([&] {
      control_->AssertHeld();  // for the analysis, which does not see that the call is made at once
      return Install(job, &result);
    });
  }
  if (s.ok()) {
    db_.Log(
        "%s level %d -> %d: %zu tables in, %zu moved, %zu out, %llu of %llu entries dropped, %llu bytes copied, %llu "
        "us",
        MergeKindName(job.kind), job.level, job.output_level, result.removed.size(), result.moved.size(),
        result.added.size(), static_cast<unsigned long long>(result.entries_dropped),
        static_cast<unsigned long long>(result.entries_read), static_cast<unsigned long long>(result.bytes_copied),
        static_cast<unsigned long long>(micros));
  }
  // Let go of the inputs before anybody is told: their space is free only then.
  const bool refused = result.copies_refused, given_up = result.given_up;
  job = MergeJob();
  result = MergeResult();
  Finish(hold, s, given_up ? Outcome::kGivenUp : OutcomeOf(s), refused);
}

// Nobody reads expired records; their words say what becomes free.
Status Merger::DropTables(const MergeJob& job, MergeResult* result) {
  CHECK(job.kind == MergeKind::kDrop && !job.tables.empty());
  VersionRef version;
  {
    DbLock lock(control_);
    version = tree_->versions->current();
  }
  result->removed = job.tables;
  result->entries_dropped = EntriesOf(job.tables);
  result->entries_read = 0;
  return miodb::DropTables(version->payload, job.tables, &result->payload.dropped);
}

// The repository is one run, whose id never changes: merges into it replace tables of the run, not the run. A crash
// between the records' copies and this edit leaves the copies as free space.
Status Merger::Install(const MergeJob& job, MergeResult* result) {
  VersionEdit edit;
  const bool into_repository = job.output_level == db_.options.num_levels - 1;
  CHECK(!job.inputs.empty());
  const uint32_t level = into_repository ? kRepositoryLevel : static_cast<uint32_t>(job.output_level);
  // The repository's run keeps its id, and collected tables stay in their run.
  uint64_t run = 0;
  if (TakesSomeTables(job.kind)) {
    run = job.inputs[0]->id;
  } else if (!into_repository) {
    run = job.output_run > 0 ? job.output_run : tree_->versions->NewId();
  }
  for (const TableRef& table : result->removed) edit.removed_tables.push_back(table->number());
  if (job.kind == MergeKind::kDrop) {
    for (const TableRef& table : job.tables) {
      tree_->gone_unread.Add(table->smallest(), table->largest(), table->max_sequence());
    }
  }
  for (const TableRef& table : result->moved) {
    TablePlace place = tree_->versions->PlaceOf(table->number());
    if (place.level == level && place.run == run) continue;
    place.level = level;
    place.run = run;
    edit.tables.push_back(place);
  }
  const auto place_at = [](TablePlace place, const PMTable& table) {
    return TablePlace{table.number(), place.level, place.run, table.index()->offset(), table.index()->size()};
  };
  for (const TableRef& table : result->added) edit.tables.push_back(place_at({0, level, run}, *table));
  Additions added;
  added.tables = result->added;
  added.payload = std::move(result->payload);
  for (const MergeRest& rest : result->rests) {
    if (MIODB_MUTATED(kRestUnplaced)) continue;
    edit.tables.push_back(place_at(tree_->versions->PlaceOf(rest.input), *rest.table));
    added.tables.push_back(rest.table);
  }
  if (MIODB_MUTATED(kMergeInTwoEdits)) {
    VersionEdit first;
    first.removed_tables.swap(edit.removed_tables);
    CHECK(tree_->Apply(std::move(first), {}).ok());
  }
  Status s = tree_->Apply(std::move(edit), added);
  if (!s.ok()) return s;
  if (job.kind == MergeKind::kDrop) {
    db_.statistics.expired.tables.Add(result->removed.size());
    db_.statistics.expired.entries.Add(result->entries_dropped);
  }
  tree_->Publish();
  return s;
}

// A merge that finds no space is no error of the database's: the scheduler blocks merges of its kind until space comes
// free, and writers slow down. A merge that was told to stop is no error either.
void Merger::Finish(const JobHold& hold, const Status& s, Outcome outcome, bool refused) {
  CHECK(outcome != Outcome::kInstalled || s.ok());
  if (hold.kind == MergeKind::kCollect) space_->copy_room()->End();
  scheduler_->EndMerge(hold, outcome, refused);
  if (hold.kind == MergeKind::kQuiet && outcome != Outcome::kGivenUp) expired_.reset();
  if (s.IsNoSpace()) {
    db_.Log("%s waits for space: %s", MergeKindName(hold.kind), s.ToString().c_str());
    space_->LetGoOfLog();
  } else if (outcome == Outcome::kFailed) {
    control_->SetError(s);
  }
  control_->Progressed();
}

// A merge that runs may make another one due, so a running job is work even where the pickers find none.
bool Merger::IsIdle() const {
  return tree_->Settled() && !scheduler_->flushing() && scheduler_->running() == 0 && !HasWork();
}

}  // namespace miodb
