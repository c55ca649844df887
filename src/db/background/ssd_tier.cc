// Drains, compactions and purges: when each is due, and its way from the picker to the edit.

#include "src/db/background/ssd_tier.h"

#include <algorithm>
#include <cmath>

#include "src/format/file_names.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/clock/clock.h"

// A job, step by step:
//
//   1 Pick it, and hold its range of keys in the levels that it touches (policy/ssd_picker.h). Before the first one
//     of an open the SSD tier's mark gets a new epoch.
//   2 Write its outputs and sync them (merge/ssd_merge.h). A single file with nothing to merge with is not written
//     anew but moved.
//   3 One manifest edit: inputs out, outputs in. 4 New version, new read state; the inputs go with their last reader.
//
// Errors: a job that fails leaves everything as it was; jobs are tried again after a pause that doubles up to some
// seconds. So a full or failing SSD stops nothing but drains, until the pool is full as well. A job that met damage is
// not repeated before the next open. Only a manifest that fails stops the database.

namespace miodb {

namespace {

// An index entry and its share of the levels above.
constexpr uint64_t kIndexBytes = 22;

// How long a writer waits for each KiB while the pool holds far more than its budget, and once it is full.
constexpr double kThrottleNanos = 20 * 1000;
constexpr double kFullThrottleNanos = 1000 * 1000;

// Free space below this part of the pool slows writers down; below the next nothing but drains is left to make room.
constexpr uint64_t kFreeShare = 6;
constexpr uint64_t kLastShare = 32;

// Partitions that the budget has room for, at least, unless they would be smaller than this.
constexpr uint64_t kLeastPartitions = 32;
constexpr uint64_t kSmallPartition = 1024 * 1024;

// The part of the budget that the elastic buffer may take once all of it is taken.
constexpr uint64_t kBufferShare = 6;

}  // namespace

// The trace begins here, where the directory is locked: an open that is refused leaves the file to the one that has the
// database.
Status SsdTier::Open() {
  CHECK(db_.ssd == nullptr && db_.pool != nullptr);
  if (db_.options.ssd_path.empty()) return Status::OK();
  std::unique_ptr<SsdStore> store;
  Status s = SsdStore::Open(db_.options, floor_->store_id(), &store, db_.families.has_families());
  db_.ssd = std::move(store);  // null if that failed
  if (s.ok()) s = CheckEpoch();
  if (!s.ok() || db_.options.block_cache_trace_file.empty()) return s;
  const auto every = static_cast<uint64_t>(db_.options.block_cache_trace_sampling_frequency);
  s = BlockTrace::Start(db_.options.block_cache_trace_file, every, &db_.block_trace);
  if (s.ok()) db_.ssd->TraceTo(db_.block_trace.get());
  return s;
}

// ---- older copies

// An older copy of the pool names none of the files made since, and would remove them. So the mark of the SSD tier has
// an epoch: that of the pool's root, or with a volatile pool the next id in STORE. In every open, before the first file
// is made or removed, the pool gets an epoch that no copy made before has, then the mark gets it. A crash between the
// two leaves a mark that is too low and files unchanged. Copies made while the database was open are not told apart.
Status SsdTier::CheckEpoch() const {
  if (db_.ssd->marked_epoch() <= floor_->opened_epoch()) return Status::OK();
  const std::string& what = db_.pool->is_volatile() ? StorePath(db_.name) : db_.pool->path();
  return Status::InvalidArgument(
      what, "is an older copy (epoch " + std::to_string(floor_->opened_epoch()) + ") than the one whose files are in " +
                db_.options.ssd_path + " (epoch " + std::to_string(db_.ssd->marked_epoch()) +
                ", in its file POOL): put the newer one back. RepairDB makes a database of this copy and keeps the "
                "newer files beside it, in " +
                DamagedPath(db_.options.ssd_path, 1));
}

// The root's epoch is durable before the mark has it, never the other way round: a mark ahead of its own pool would
// have the next open refuse the right one.
Status SsdTier::MarkEpoch() {
  uint64_t epoch;
  {
    DbLock lock(control_);
    if (db_.ssd->marked_epoch() > floor_->opened_epoch()) return Status::OK();
    if (floor_->epoch() <= floor_->opened_epoch()) {
      Status s = floor_->MakeFilesDurable(VersionEdit());
      if (s.ok()) s = tree_->Apply(VersionEdit(), {});
      if (!s.ok() && tree_->versions->in_doubt()) control_->SetError(s);
      if (!s.ok()) return s;
    }
    epoch = floor_->epoch();
    CHECK_LT(floor_->opened_epoch(), epoch);
  }
  return db_.ssd->MarkEpoch(epoch);
}

// By default as much of the pool as leaves room for the log, for flushes and for the copies of merges.
uint64_t SsdTier::NvmBudget() const {
  return db_.options.nvm_budget > 0 ? db_.options.nvm_budget : db_.pool->capacity() / 16 * 9;
}

// With an SSD tier a drain, which frees its partition as a whole and is repeated as a whole after a crash, is a small
// part of the budget.
uint64_t SsdTier::PartitionBytes() const {
  if (db_.ssd == nullptr) return db_.options.partition_size;
  return std::min(db_.options.partition_size, std::max(NvmBudget() / kLeastPartitions, kSmallPartition));
}

// Garbage is left out: collecting it is the merger's business, and draining a partition would not free it sooner.
uint64_t SsdTier::NvmBytes() const {
  return tree_->versions->payload_live_bytes() + tree_->versions->entries() * kIndexBytes;
}

namespace {

// Counted run by run, since there are far more tables in the repository.
uint64_t BufferBytes(const Version& version) {
  uint64_t sum = 0;
  for (size_t level = 0; level + 1 < version.levels.size(); level++) {
    for (const RunRef& run : version.levels[level]) sum += run->payload_bytes() + run->entries() * kIndexBytes;
  }
  return sum;
}

}  // namespace

// Whether what came last is more of what the pool holds than it should be, once the pool is to shrink.
bool SsdTier::BufferTooLarge() const { return BufferBytes(*tree_->versions->current()) > NvmBudget() / kBufferShare; }

// A tier that fails takes nothing, so what would be pushed down for it had better stay where merges cost less.
bool SsdTier::WantsPushDown() const { return SettlesAll() && error_.ok() && BufferTooLarge(); }

bool SsdTier::SettlesAll() const { return db_.ssd != nullptr && NvmBytes() > NvmBudget() / 2; }

// The log has to get shorter, which only a table of the repository can bring about, or there has to be more room.
bool SsdTier::WantsDrain() const { return db_.ssd != nullptr && (floor_->WantsDrain() || WantsRoom()); }

// The reasons in order: writers or merges have nowhere to go; tables take more than their budget. For the last one the
// buffer goes first, because it is rewritten with what drains.
bool SsdTier::WantsRoom() const {
  if (tree_->versions->current()->levels.back().empty()) return false;
  // When there is nothing else left to make room with. Writers may be so slow by then that they never fill the pool.
  const uint64_t least = space_->Reserve(Space::Demand::kAny) + db_.pool->capacity() / kLastShare;
  if (scheduler_->full() || scheduler_->anything_blocked() || db_.pool->Room().free < least) return true;
  return NvmBytes() > NvmBudget() && !BufferTooLarge();
}

// Rises with what tables take above the budget, and with the square of what is missing of the free space that there
// should be. Near a full pool it rises steeply, so that a writer would rather wait often and shortly than once for
// long, however slow the SSD is. left: free space above the reserve.
uint64_t SsdTier::ThrottleNanos(uint64_t left) const {
  if (db_.ssd == nullptr) return 0;
  const uint64_t bytes = NvmBytes(), budget = NvmBudget(), capacity = db_.pool->capacity();
  const uint64_t span = std::min(budget, capacity > budget ? capacity - budget : 0) / 2 + 1;
  const double above =
      bytes <= budget ? 0 : static_cast<double>(std::min(bytes - budget, span)) / static_cast<double>(span);
  const uint64_t wanted = capacity / kFreeShare + 1;
  const double missing = left >= wanted ? 0 : static_cast<double>(wanted - left) / static_cast<double>(wanted);
  const double nanos = kThrottleNanos * std::max({above, missing * missing, std::min(2 * floor_->Excess(), 1.0)}) +
                       kFullThrottleNanos * std::pow(missing, 16);
  DCHECK(nanos >= 0 && nanos <= kThrottleNanos + kFullThrottleNanos);
  return static_cast<uint64_t>(nanos);
}

// The last level has no limit. Without a size for the first the limits follow from what there is, so that the levels
// above the last stay a fixed share of it.
std::vector<uint64_t> SsdTier::LevelLimits(const SsdLevels& ssd) const {
  uint64_t limit = db_.options.ssd_level_size;
  if (limit == 0) {
    return AutomaticLevelLimits(NvmBudget(), ssd.bytes(), static_cast<int>(ssd.levels.size()),
                                db_.options.ssd_level_multiplier);
  }
  std::vector<uint64_t> limits;
  for (size_t level = 0; level + 1 < ssd.levels.size(); level++) {
    limits.push_back(limit);
    const uint64_t multiplier = static_cast<uint64_t>(db_.options.ssd_level_multiplier);
    limit = limit > UINT64_MAX / multiplier ? UINT64_MAX : limit * multiplier;
  }
  return limits;
}

// The pointers in the input are to fields that the mutex guards: the input does not outlive the lock.
SsdPickerInput SsdTier::MakePickerInput() {
  SsdPickerInput input;
  input.version = tree_->versions->current();
  input.order = db_.order;
  input.drains = floor_->WantsDrain() ? Drains::kOldest : WantsRoom() ? Drains::kCheapest : Drains::kNone;
  input.may_drain = scheduler_->MayDrain(tree_->versions->current()->BufferEmpty());
  input.busy_tables = &scheduler_->busy(Busy::kTables);
  schedule_->Fill(&input);
  input.level_limits = LevelLimits(*input.version->ssd);
  input.purge = purge_;
  input.date_micros = db_.WallMicros();
  return input;
}

// After a failure no job starts before the pause is over, or a full SSD would be asked again for every chunk that is
// written.
std::optional<SsdJob> SsdTier::Pick() {
  if (db_.ssd == nullptr || !control_->error().ok() || control_->closing() ||  // relaxed: under mutex
      !schedule_->MayStart(NowMicros())) {
    return std::nullopt;
  }
  return PickSsdJob(MakePickerInput());
}

// A job that runs on the tier counts as work, since it may hold the range that the next drain needs.
bool SsdTier::HasDrainWork() {
  if (!WantsDrain()) return false;
  if (schedule_->running() > 0) return true;  // what it keeps busy may be what the next drain needs
  const std::optional<SsdJob> job = Pick();
  return job.has_value() && (job->is_drain() || job->kind == SsdJobKind::kDrop);  // what expired comes before drains
}

// Files that readers let go of are unlinked here, behind the wake-up of the next thread, since a disk may take its time
// over it. With nothing else to do the log's floor may rise by itself.
bool SsdTier::Step() {
  if (db_.ssd == nullptr) return false;
  std::optional<SsdJob> job;
  JobHold hold;
  JobBase base;
  {
    DbLock lock(control_);
    job = Pick();
    if (job.has_value()) {
      base = {tree_->versions->current(), tree_->versions->manifest().flushed_sequence};
      CHECK_LT(static_cast<size_t>(job->output_level), base.version->ssd->levels.size());
      schedule_->Begin(job->range);
      const Status s = db_.WithMemory([&] {
        control_->AssertHeld();  // for the analysis, which does not see that the call is made at once
        if (job->is_drain()) hold = scheduler_->BeginDrain(*job);
        return Status::OK();
      });
      if (!s.ok()) {
        Finish(hold, job->range, s, false);
        return true;
      }
      control_->Wake(BackgroundStep::kSsd);  // there may be a job for another thread
    }
  }
  db_.WithMemory([this] { return db_.ssd->RemoveDiscarded(), Status::OK(); }).IgnoreError();  // else it is an orphan
  if (!job.has_value()) {
    DbLock lock(control_);
    return floor_->Raise();
  }
  RunJob(std::move(*job), hold, std::move(base));
  return true;
}

// Steps 1 and 2, but for the pick.
Status SsdTier::RunMerge(const SsdJob& job, const JobBase& base, SsdMergeResult* result) {
  // As in a merge of the pool: after the job was picked from a version, which the job's own references keep.
  const VersionFilter filter(tree_->snapshots.Sequences());
  Status s = MarkEpoch();
  if (!s.ok() || job.is_move() || job.kind == SsdJobKind::kDrop) return s;
  const SsdMergeRequest request{db_.ssd.get(),
                                db_.order,
                                &job,
                                base.version.get(),
                                &filter,
                                db_.options.ssd_file_size,
                                [this] { return tree_->NewId(); },
                                control_->closing_flag(),
                                db_.options.merge_operator,
                                db_.VersionsOnce(),
                                base.flushed_sequence,
                                db_.WallMicros(),
                                db_.options.compaction_filter,
                                db_.options.num_levels + job.output_level};
  return RunSsdMerge(request, result);
}

// Outputs are synced before the edit names them (merge/ssd_merge.cc). Outputs of a failed job are unlinked with
// their last reference. From BeginDrain to EndDrain nothing is thrown, or the scheduler would keep the inputs for ever.
void SsdTier::RunJob(SsdJob job, const JobHold& hold, JobBase base) {
  const CpuCensus::Work work(census_);
  const uint64_t start = NowMicros();
  SsdMergeResult result;
  Status s = db_.WithMemory([&] { return RunMerge(job, base, &result); });
  if (!s.ok()) {
    for (const SstRef& file : result.files) file->MarkObsolete();
  }
  CHECK_LE(result.entries_dropped, result.entries_read);
  const uint64_t micros = NowMicros() - start;
  uint64_t written = 0;
  for (const SstRef& file : result.files) written += file->meta().size;
  Statistics& stats = db_.statistics;
  (job.is_drain() ? stats.drains : stats.ssd_compactions).Add(1);
  (job.is_drain() ? stats.drain_bytes : stats.ssd_compaction_bytes).Add(written);
  stats.ssd_read_bytes.Add(result.bytes_read);
  stats.ranges.dropped.Add(result.range_dropped);
  stats.ssd_micros.Add(micros);
  stats.ssd_levels[static_cast<size_t>(job.output_level)].Note(micros, result.bytes_read, written);
  OpTimes::AddMicros(stats.times.get(), TimedOp::kMerge, micros);
  db_.events.NoteMerge(MergeInfoOf(true, job.output_level, micros, result.bytes_read, written));

  const SsdRange range = std::move(job.range);
  const bool inputs_damaged = result.inputs_damaged;
  base = JobBase();
  DbLock lock(control_);
  if (s.ok()) {
    // An exception may come before or after the change of STORE or of the version: no other job goes on from that.
    const Status thrown = db_.WithMemory([&] {
      control_->AssertHeld();  // for the analysis, which does not see that the call is made at once
      s = Install(job, &result);
      return Status::OK();
    });
    if (!thrown.ok()) control_->SetError(s = thrown);
  }
  if (s.ok()) {
    db_.Log(
        "%s -> SSD level %d: %zu tables, %zu + %zu files in, %zu files out, %llu of %llu entries dropped, %llu bytes, "
        "%llu us",
        SsdJobName(job), job.output_level, job.tables.size(), job.upper.size(), job.lower.size(), result.files.size(),
        static_cast<unsigned long long>(result.entries_dropped), static_cast<unsigned long long>(result.entries_read),
        static_cast<unsigned long long>(written), static_cast<unsigned long long>(micros));
  }
  // Let go of the inputs before anybody is told: their space is free only then.
  job = SsdJob();
  result = SsdMergeResult();
  Finish(hold, range, s, inputs_damaged);
  if (db_.LogsUntilSsd()) floor_->RetireLog();
}

// With a volatile pool STORE is replaced before the version changes: that is the edit that counts. When it is not known
// which state is durable, the database stops and keeps every file that either of them may name.
Status SsdTier::Install(const SsdJob& job, SsdMergeResult* result) {
  VersionEdit edit;
  const uint32_t level = static_cast<uint32_t>(job.output_level);
  for (const TableRef& table : job.tables) edit.removed_tables.push_back(table->number());
  CHECK(!job.is_move() || result->files.empty());
  if (job.is_move()) {
    edit.files.push_back({level, job.upper[0]->shared_meta()});
  } else {
    for (const SstRef& file : job.upper) edit.removed_files.push_back(file->meta().number);
    for (const SstRef& file : job.lower) edit.removed_files.push_back(file->meta().number);
    for (const SstRef& file : result->files) edit.files.push_back({level, file->shared_meta()});
  }
  if (MIODB_MUTATED(kSsdInputsRemovedEarly)) {
    for (uint64_t number : edit.removed_files) db_.options.env->RemoveFile(db_.ssd->FileName(number)).IgnoreError();
  }
  if (MIODB_MUTATED(kSsdInTwoEdits)) {
    VersionEdit first;
    first.removed_tables.swap(edit.removed_tables);
    first.removed_files.swap(edit.removed_files);
    CHECK(tree_->Apply(std::move(first), {}).ok());
  }
  if (job.kind == SsdJobKind::kDrop) {
    const SstMeta& gone = job.upper[0]->meta();
    // 0: from before this open, and older than every snapshot.
    if (gone.max_sequence > 0) tree_->gone_unread.Add(gone.smallest, gone.largest, gone.max_sequence);
  }
  Status s = floor_->MakeFilesDurable(edit);
  Additions added;
  added.payload.dropped = std::move(result->dropped);
  added.files = result->files;
  if (s.ok()) s = tree_->Apply(std::move(edit), added);
  if (s.ok()) {
    tree_->Publish();
  } else if (tree_->versions->in_doubt()) {
    control_->SetError(s);  // the files may be named: the next open knows
  } else if (control_->error().ok()) {
    for (const SstRef& file : result->files) file->MarkObsolete();
  }
  return s;
}

// Damage in the inputs is no reason to stop: the range is left alone, reads of it report what they meet, and other
// ranges go on.
void SsdTier::Finish(const JobHold& hold, const SsdRange& range, const Status& s, bool inputs_damaged) {
  const bool closing = control_->closing();  // relaxed: set under the mutex
  const Outcome outcome = s.ok() ? Outcome::kInstalled : Outcome::kFailed;
  schedule_->End(range, outcome, inputs_damaged, NowMicros());
  if (hold.holder == Holder::kDrain) scheduler_->EndDrain(hold);
  scheduler_->EndSsd(outcome);
  if (s.ok()) {
    error_ = Status::OK();
  } else if (!closing) {
    error_ = s;
    db_.LogStatus(inputs_damaged ? "SSD tier: a range of keys stays as it is" : "SSD tier: to be tried again", s);
    db_.events.NoteError(s, false);
  }
  control_->Progressed();
}

// Merges are waited for as well, because what they put into the repository may have to be drained.
Status SsdTier::WaitForAll() {
  if (db_.ssd == nullptr) return control_->error();
  while (control_->error().ok() && !control_->MustNotWait() &&
         (schedule_->running() > 0 || scheduler_->running() > 0 || Pick().has_value())) {
    if (!workers_->Wait(0)) break;
  }
  return control_->error().ok() ? error_ : control_->error();
}

// A level is purged after the one above it, so that tombstones which come down are taken along. Under a snapshot files
// are not rewritten for tombstones alone: they would have to be kept. A purge that failed before is tried again.
Status SsdTier::PurgeRange(const Slice* begin, const Slice* end) {
  if (db_.ssd == nullptr) return Status::OK();
  DbLock lock(control_);
  while (purge_ != nullptr && control_->error().ok()) workers_->Wait(0);
  error_ = Status::OK();
  const int levels = static_cast<int>(tree_->versions->current()->ssd->levels.size());
  Status s = control_->error();
  PurgeRequest request;
  request.begin = begin;
  request.end = end;
  request.date_micros = db_.WallMicros();
  for (request.level = -1; s.ok() && request.level < levels; request.level++) s = Purge(request);
  // Tombstones that hid something when they came to where they are, which has gone from below since.
  request.way = PurgeWay::kRewrite;
  for (request.level = 0; s.ok() && request.level < levels && tree_->snapshots.empty(); request.level++)
    s = Purge(request);
  control_->SignalDone();  // for the next one who has to wait for this
  return s;
}

namespace {

// Shows nothing any more at the end of its scope, however that is left. A job that was picked holds nothing of it.
struct HiddenAtEnd {
  ~HiddenAtEnd() { *shown = nullptr; }
  const PurgeRequest** const shown;
};

}  // namespace

// Has all of this done that is there now. Merges and collections of the pool and compactions of full levels go on
// meanwhile and give its tombstones to new tables and files. So what goes down goes whatever its number is, which ends
// since each job brings it closer to the last level; but from the moment on that others write, who may bring more all
// the time, new numbers are left out. They are in a rewrite, which may have to keep tombstones for a new snapshot.
Status SsdTier::Purge(PurgeRequest request) {
  const std::atomic<uint64_t>& written = tree_->last_sequence;
  const uint64_t began = written.load(std::memory_order_relaxed);  // relaxed: policy only
  CHECK(purge_ == nullptr);                                        // one at a time
  purge_ = &request;
  const HiddenAtEnd hidden{&purge_};
  const auto is_left = [&]() REQUIRES(db_mutex) {
    const bool endless =
        request.way == PurgeWay::kRewrite || written.load(std::memory_order_relaxed) != began;  // relaxed: as above
    if (endless && request.before == kAnyNumber) request.before = tree_->versions->NewId();
    SsdPickerInput input = MakePickerInput();
    input.may_drain = true;
    input.running = &schedule_->damaged();
    input.busy_tables = nullptr;
    return PickPurge(input).has_value();
  };
  while (control_->error().ok() && error_.ok() && !control_->MustNotWait() && is_left()) {
    if (!workers_->Wait(0)) break;
  }
  if (control_->waiting_stopped()) return control_->ToldToStop();
  return control_->error().ok() ? error_ : control_->error();
}

}  // namespace miodb
