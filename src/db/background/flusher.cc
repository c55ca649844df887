// Flushes, and the filters of tables that a recovery has opened.

#include "src/db/background/flusher.h"

#include <algorithm>

#include "compaction/merge/flush.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/clock/clock.h"

namespace miodb {

// Memtables are flushed by age and one at a time: the flushed sequence says that everything up to it is in tables, so a
// newer memtable must not overtake an older one. Snapshots are read after the memtable was sealed; one that is taken
// later sees only newer versions, which this flush does not judge.
bool Flusher::Step() {
  MemTableRef memtable;
  std::vector<uint64_t> snapshots;
  std::unique_ptr<VersionFilter> filter;
  Sharing sharing;
  {
    DbLock lock(control_);
    const bool busy = scheduler_->flushing() || scheduler_->flush_blocked();
    if (tree_->immutables.empty() || busy || !control_->error().ok()) return false;
    // A flush frees what is left behind a chunk's frames, where its index is written.
    if (tree_->immutables.back() == tree_->indexing) return false;
    memtable = tree_->immutables.back();
    snapshots = tree_->snapshots.Sequences();
    filter = std::make_unique<VersionFilter>(snapshots);
    // Where space is short one share has to do, since each has pieces of space at once.
    if (space_->PlentyAbove() > 0) sharing = shares_->Of(db_.options.partition_size);
    scheduler_->BeginFlush();  // from here to EndFlush nothing is thrown
  }
  const CpuCensus::Work work(census_);
  const uint64_t start = NowMicros();
  Additions added;
  std::vector<RangeDeletion> deleted;
  Status s = db_.WithMemory([&] {
    Status built = memtable->BuildTree();
    if (!built.ok()) return built;
    // Range deletions that no read tells apart from newer ones hide nothing that these do not.
    const RangeSetRef ranges = RangeSet::Make(db_.order, memtable->ranges().All(), &snapshots);
    const FlushRequest request{db_.pool.get(),
                               db_.order,
                               memtable.get(),
                               filter.get(),
                               db_.options.filter_bits_per_key,
                               [this] { return tree_->NewId(); },
                               db_.VersionsOnce(),
                               ranges,
                               sharing};
    if (ranges != nullptr) deleted = ranges->Ranges();
    return FlushMemTable(request, &added.tables, &added.payload.made);
  });
  uint64_t index_bytes = 0;
  for (const TableRef& table : added.tables) index_bytes += table->index()->size();
  FlushInfo info;
  info.entries = memtable->tree().count();
  info.index_bytes = index_bytes;
  DbLock lock(control_);
  // Let go of both before anybody is told: what the memtable alone holds is free only then.
  Install(std::move(memtable), std::move(added), std::move(deleted), s);
  const uint64_t micros = NowMicros() - start;
  db_.statistics.flushes.Add(1);
  db_.statistics.flush_micros.Add(micros);
  db_.statistics.levels[0].Note(micros, 0, index_bytes);
  OpTimes::AddMicros(db_.statistics.times.get(), TimedOp::kFlush, micros);
  info.micros = micros;
  if (s.ok()) db_.events.NoteFlush(info);
  floor_->RetireLog();
  return s.ok();
}

// A single edit names the tables, takes the log chunks out, or keeps them, and raises the flushed sequence. A crash
// finds either the log or the tables, never both and never neither.
Status Flusher::Apply(const MemTable& memtable, Additions* added, std::vector<RangeDeletion> deleted) {
  const std::vector<TableRef>& tables = added->tables;
  CHECK(memtable.empty() || memtable.max_sequence() > tree_->versions->manifest().flushed_sequence);
  CHECK(tables.empty() || !memtable.empty());  // all of a memtable may be single deletions and their puts
  tree_->AwaitEdit();                          // kept log may go by it
  VersionEdit edit;
  const uint64_t run = tree_->versions->NewId();
  if (!MIODB_MUTATED(kRangesUnnamed)) {
    for (RangeDeletion& range : deleted) edit.ranges.push_back({tree_->versions->NewId(), std::move(range)});
  }
  for (const TableRef& table : tables) {
    edit.tables.push_back({table->number(), 0, run, table->index()->offset(), table->index()->size()});
  }
  kept_->AddFlushed(memtable, &edit, &added->saved);
  if (!MIODB_MUTATED(kFlushedSequenceUnset)) edit.SetFlushedSequence(memtable.max_sequence());
  if (MIODB_MUTATED(kFlushInTwoEdits)) {
    VersionEdit first;
    first.removed_chunks.swap(edit.removed_chunks);
    CHECK(tree_->Apply(std::move(first), {}).ok());
  }
  if (MIODB_MUTATED(kLogFileRetiredEarly)) logs_->Retire(memtable.max_sequence());
  if (!MIODB_MUTATED(kKeptInTwoEdits)) return tree_->Apply(std::move(edit), *added);
  VersionEdit second;
  second.kept.swap(edit.kept);
  Status s = tree_->Apply(std::move(edit), *added);
  Additions kept;
  kept.saved = added->saved;
  return s.ok() ? tree_->Apply(std::move(second), kept) : s;
}

// The trimmed tails of chunks go back only after the edit: until then the log may still be replayed from them.
void Flusher::Install(MemTableRef memtable, Additions added, std::vector<RangeDeletion> deleted, Status s) {
  if (s.ok()) {
    s = db_.WithMemory([&] {
      control_->AssertHeld();  // for the analysis, which does not see that the call is made at once
      return Apply(*memtable, &added, std::move(deleted));
    });
  }
  scheduler_->EndFlush(OutcomeOf(s));
  // Without space the memtable stays as it is, and is flushed again when there is some; any other failure stops the
  // database, because its log could not be let go of any more.
  if (s.ok()) {
    tree_->DropFlushed(memtable);
    for (const auto& chunk : memtable->segment().chunks) {
      if (chunk->stage == LogChunk::Stage::kRead) {
        chunk->stage = LogChunk::Stage::kFlushed;  // released with the chunk
      } else {
        (chunk->in_pool() ? chunk->extent : chunk->reserved)->ReleaseTrimmed();
      }
    }
    tree_->Publish();
  } else if (s.IsNoSpace()) {
    db_.LogWarning("flush waits for space: %s", s.ToString().c_str());
    space_->LetGoOfLog();
  } else {
    control_->SetError(s);
  }
  control_->Progressed();
}

// Filters lie in DRAM, so a recovered table has none. Gets are right without them and slower.
void Flusher::AddUnfiltered(const Version& version) {
  CHECK(unfiltered_.empty() && filtering_ == 0);
  for (auto run = version.runs.rbegin(); run != version.runs.rend(); ++run) {
    unfiltered_.insert(unfiltered_.end(), (*run)->tables.begin(), (*run)->tables.end());
  }
}

bool Flusher::BuildFilter() {
  TableRef table;
  {
    DbLock lock(control_);
    if (unfiltered_.empty() || control_->closing()) return false;
    while (table == nullptr && !unfiltered_.empty()) {
      table = unfiltered_.back().lock();
      unfiltered_.pop_back();
    }
    filtering_++;
    if (!unfiltered_.empty()) control_->Wake(BackgroundStep::kMerge);  // a thread that has nothing to do helps
  }
  const CpuCensus::Work work(census_);
  if (table != nullptr) {
    try {
      table->BuildFilter(db_.options.filter_bits_per_key);
    } catch (const std::exception&) {
      // Gets do without.
    }
    table.reset();
  }
  DbLock lock(control_);
  DCHECK_GT(filtering_, 0);
  filtering_--;
  if (!HasUnfiltered()) control_->SignalDone();
  return true;
}

}  // namespace miodb
