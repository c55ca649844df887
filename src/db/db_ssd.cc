#include <algorithm>
#include <cmath>

#include "src/db/db_impl.h"
#include "src/db/file_names.h"
#include "src/db/ssd_options.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/mutation.h"

// The SSD tier, behind the repository:
//
//   push down   When tables take more of the pool than half of nvm_budget, and those of the buffer more than a sixth of
//               the budget, the oldest run of the buffer goes to the repository at once, whichever level it is in
//               (compaction/picker.h). The larger the repository is, the less is rewritten for what drains. Records of
//               every size are copied then, so that those of a partition lie together.
//   drain       When tables take more than nvm_budget, or space is short, a partition of the repository goes to the
//               first SSD level, merged with the files there that overlap. Its records and index are free then. Several
//               at a time, and garbage collection of other partitions with them; merges into the repository exclude
//               them, and they exclude those.
//   compaction  A level that is too large gives a file to the next. Several at a time, in ranges that do not overlap.
//   purge       For CompactRange tombstones go down the same ways, up to where they hide nothing and are dropped.
//
// A job, step by step:
//
//   1 Pick it, and hold its range of keys in the levels that it touches (compaction/ssd_picker.h). Before the first one
//     of an open the SSD tier's mark gets a new epoch.
//   2 Write its outputs and sync them (compaction/ssd_merge.h). A single file with nothing to merge with is not written
//     anew but moved.
//   3 One manifest edit: inputs out, outputs in. 4 New version, new read state; the inputs go with their last reader.
//
// Errors: a job that fails leaves everything as it was; jobs are tried again after a pause that doubles up to some
// seconds. So a full or failing SSD stops nothing but drains, until the pool is full as well. A job that met damage in
// its inputs is not repeated: its range of keys stays as it is until the next open. Only a manifest that fails stops
// the database.

namespace miodb {

namespace {

// An index entry and its share of the levels above.
constexpr uint64_t kIndexBytes = 22;

// How long a writer waits for each KiB while the pool holds far more than its budget, and once it is full.
constexpr double kThrottleNanos = 20 * 1000;
constexpr double kFullThrottleNanos = 1000 * 1000;

// Free space below this part of the pool slows writers down.
constexpr uint64_t kFreeShare = 6;

// Below this part of it nothing but drains is left to make room with.
constexpr uint64_t kLastShare = 32;

// Partitions that the budget has room for, at least, unless they would be smaller than this.
constexpr uint64_t kLeastPartitions = 32;
constexpr uint64_t kSmallPartition = 1024 * 1024;

// How old the sample of keys that are read may be.
constexpr uint64_t kReadKeysMicros = 1000 * 1000;

// The part of the budget that the elastic buffer may take once all of it is taken.
constexpr uint64_t kBufferShare = 6;

}  // namespace

Status DBImpl::OpenSsd() {
  if (options_.ssd_path.empty()) return Status::OK();
  read_samples_ = std::make_unique<ReadSamples>();
  Status s = SsdStore::Open(SsdStoreOptions(options_), ssd_manifest_.store_id, &ssd_);
  return s.ok() ? CheckSsdEpoch() : s;
}

// ---- older copies
//
// An older copy of the pool names none of the files that the newer one has made since, and would remove them. So the
// mark of the SSD tier has an epoch: that of the pool's root, or with a volatile pool the next id of SSD_MANIFEST. In
// every open, before the first file is made or removed, the pool gets an epoch that no copy made before has, and then
// the mark gets it. A crash between the two leaves a mark that is too low and files that did not change. Copies that
// were made since, while the database was open, are not told apart.

Status DBImpl::CheckSsdEpoch() const {
  if (ssd_->marked_epoch() <= opened_epoch_) return Status::OK();
  const std::string& what = pool_->is_volatile() ? SsdManifestPath(name_) : pool_->path();
  return Status::InvalidArgument(
      what, "is an older copy (epoch " + std::to_string(opened_epoch_) + ") than the one whose files are in " +
                options_.ssd_path + " (epoch " + std::to_string(ssd_->marked_epoch()) +
                ", in its file POOL): put the newer one back. RepairDB makes a database of this copy and keeps the "
                "newer files beside it, in " +
                DamagedPath(options_.ssd_path, 1));
}

uint64_t DBImpl::SsdEpoch() const { return pool_->is_volatile() ? manifest_epoch_ : pool_->epoch(); }

Status DBImpl::MarkSsdEpoch() {
  uint64_t epoch;
  {
    MutexLock lock(&mutex_);
    if (ssd_->marked_epoch() > opened_epoch_) return Status::OK();
    if (SsdEpoch() <= opened_epoch_) {
      Status s = MakeFilesDurable(VersionEdit());
      if (s.ok()) s = versions_->Apply(VersionEdit(), {});
      if (!s.ok() && versions_->in_doubt()) SetBackgroundError(s);
      if (!s.ok()) return s;
    }
    epoch = SsdEpoch();
    CHECK_LT(opened_epoch_, epoch);
  }
  return ssd_->MarkEpoch(epoch);
}

// ---- when

uint64_t DBImpl::NvmBudget() const {
  return options_.nvm_budget > 0 ? options_.nvm_budget : pool_->capacity() / 16 * 9;
}

// With an SSD tier a drain, which frees its partition as a whole and is repeated as a whole after a crash, is a small
// part of the budget.
uint64_t DBImpl::PartitionBytes() const {
  if (ssd_ == nullptr) return options_.partition_size;
  return std::min(options_.partition_size, std::max(NvmBudget() / kLeastPartitions, kSmallPartition));
}

uint64_t DBImpl::NvmBytes() const { return versions_->payload_live_bytes() + versions_->entries() * kIndexBytes; }

namespace {

uint64_t RepositoryBytes(const Version& version) {
  const std::vector<RunRef>& runs = version.levels.back();
  return runs.empty() ? 0 : runs[0]->payload_bytes() + runs[0]->entries() * kIndexBytes;
}

}  // namespace

// Whether what came last is more of what the pool holds than it should be, once the pool is to shrink.
bool DBImpl::BufferTooLarge() const {
  return !versions_->BufferEmpty() && NvmBytes() > RepositoryBytes(*versions_->current()) + NvmBudget() / kBufferShare;
}

bool DBImpl::WantsPushDown() const { return SettlesAll() && ssd_error_.ok() && BufferTooLarge(); }

bool DBImpl::SettlesAll() const { return ssd_ != nullptr && NvmBytes() > NvmBudget() / 2; }

bool DBImpl::WantsDrain() const {
  if (ssd_ == nullptr) return false;
  if (versions_->current()->levels.back().empty()) return false;
  if (LogWantsDrain()) return true;
  // When there is nothing else left to make room with. Writers may be so slow by then that they never fill the pool.
  const uint64_t least = Reserve(Demand::kAny) + pool_->capacity() / kLastShare;
  if (scheduler_.full() || scheduler_.anything_blocked() || pool_->free_bytes() < least) return true;
  return NvmBytes() > NvmBudget() && !BufferTooLarge();
}

// Rises with what tables take above the budget, and with the square of what is missing of the free space that there
// should be. Near a full pool it rises steeply, so that a writer would rather wait often and shortly than once for
// long, however slow the SSD is. left: free space above the reserve.
uint64_t DBImpl::SsdThrottleNanos(uint64_t left) {
  if (ssd_ == nullptr) return 0;
  const uint64_t bytes = NvmBytes(), budget = NvmBudget(), capacity = pool_->capacity();
  const uint64_t span = std::min(budget, capacity > budget ? capacity - budget : 0) / 2 + 1;
  const double above =
      bytes <= budget ? 0 : static_cast<double>(std::min(bytes - budget, span)) / static_cast<double>(span);
  const uint64_t wanted = capacity / kFreeShare + 1;
  const double missing = left >= wanted ? 0 : static_cast<double>(wanted - left) / static_cast<double>(wanted);
  const double nanos = kThrottleNanos * std::max({above, missing * missing, std::min(2 * LogExcess(), 1.0)}) +
                       kFullThrottleNanos * std::pow(missing, 16);
  return static_cast<uint64_t>(nanos);
}

// ---- what

std::vector<uint64_t> DBImpl::SsdLevelLimits(const SsdLevels& ssd) const {
  uint64_t limit = options_.ssd_level_size;
  if (limit == 0) {
    return AutomaticLevelLimits(NvmBudget(), ssd.bytes(), static_cast<int>(ssd.levels.size()),
                                options_.ssd_level_multiplier);
  }
  std::vector<uint64_t> limits;
  for (size_t level = 0; level + 1 < ssd.levels.size(); level++) {
    limits.push_back(limit);
    const uint64_t multiplier = static_cast<uint64_t>(options_.ssd_level_multiplier);
    limit = limit > UINT64_MAX / multiplier ? UINT64_MAX : limit * multiplier;
  }
  return limits;
}

SsdPickerInput DBImpl::MakeSsdPickerInput() {
  SsdPickerInput input;
  input.version = versions_->current();
  input.order = order_;
  input.drain = WantsDrain();
  input.oldest_first = LogWantsDrain();
  input.may_drain = scheduler_.MayDrain(versions_->BufferEmpty());
  input.busy_tables = &scheduler_.busy_tables();
  ssd_schedule_.Fill(&input);
  input.level_limits = SsdLevelLimits(*input.version->ssd);
  if (input.drain && NowMicros() - read_keys_micros_ > kReadKeysMicros) {
    read_keys_ = order_.bytewise() ? read_samples_->Sorted() : std::vector<std::string>();
    read_keys_micros_ = NowMicros();
  }
  input.read_keys = &read_keys_;
  input.purge = purge_;
  return input;
}

std::optional<SsdJob> DBImpl::PickSsd() {
  if (ssd_ == nullptr || !background_error_.ok() || closing_.load(std::memory_order_relaxed) ||  // relaxed: under mutex
      !ssd_schedule_.MayStart(NowMicros())) {
    return std::nullopt;
  }
  return PickSsdJob(MakeSsdPickerInput());
}

bool DBImpl::HasDrainWork() {
  if (!WantsDrain()) return false;
  if (ssd_schedule_.running() > 0) return true;  // what it keeps busy may be what the next drain needs
  const std::optional<SsdJob> job = PickSsd();
  return job.has_value() && job->is_drain();
}

// ---- jobs

bool DBImpl::SsdStep() {
  if (ssd_ == nullptr) return false;
  ssd_->RemoveDiscarded();
  std::optional<SsdJob> job;
  JobHold hold;
  std::shared_ptr<const SsdLevels> levels;
  {
    MutexLock lock(&mutex_);
    job = PickSsd();
    if (!job.has_value()) return RaiseFloor();
    levels = versions_->current()->ssd;
    ssd_schedule_.Begin(job->range);
    if (job->is_drain()) hold = scheduler_.BeginDrain(*job);
  }
  RunSsdJob(std::move(*job), hold, std::move(levels));
  return true;
}

void DBImpl::RunSsdJob(SsdJob job, const JobHold& hold, std::shared_ptr<const SsdLevels> levels) {
  const WriteTurns::Work work(&turns_);
  const uint64_t start = NowMicros();
  const VersionFilter filter(snapshots_.Sequences());
  SsdMergeResult result;
  Status s = WithMemory([this] { return MarkSsdEpoch(); });
  if (s.ok() && !job.is_move()) {
    const SsdMergeRequest request{
        ssd_.get(), order_, &job, levels, &filter, options_.ssd_file_size, [this] { return NewId(); }, &closing_};
    s = WithMemory([&] { return RunSsdMerge(request, &result); });
    if (!s.ok()) {
      for (const SstRef& file : result.files) file->MarkObsolete();
    }
  }
  const uint64_t micros = NowMicros() - start;
  const uint64_t written = TotalBytes(result.files);
  Statistics& stats = statistics_;
  (job.is_drain() ? stats.drains : stats.ssd_compactions).Add(1);
  (job.is_drain() ? stats.drain_bytes : stats.ssd_compaction_bytes).Add(written);
  stats.ssd_read_bytes.Add(result.bytes_read);
  stats.ssd_micros.Add(micros);
  stats.ssd_levels[static_cast<size_t>(job.output_level)].Note(micros, result.bytes_read, written);

  const SsdRange range = job.range;
  const bool inputs_damaged = result.inputs_damaged;
  levels.reset();
  MutexLock lock(&mutex_);
  if (s.ok()) s = InstallSsd(job, result);
  if (s.ok()) {
    Log("%s -> SSD level %d: %zu tables, %zu + %zu files in, %zu files out, %llu of %llu entries dropped, %llu bytes, "
        "%llu us",
        job.is_drain()  ? "drain"
        : job.is_move() ? "move"
                        : "compaction",
        job.output_level, job.tables.size(), job.upper.size(), job.lower.size(), result.files.size(),
        static_cast<unsigned long long>(result.entries_dropped), static_cast<unsigned long long>(result.entries_read),
        static_cast<unsigned long long>(written), static_cast<unsigned long long>(micros));
  }
  // Let go of the inputs before anybody is told: their space is free only then.
  job = SsdJob();
  result = SsdMergeResult();
  FinishSsdJob(hold, range, s, inputs_damaged);
  if (LogsUntilSsd()) RetireFileLog();
}

Status DBImpl::InstallSsd(const SsdJob& job, const SsdMergeResult& result) {
  VersionEdit edit;
  const uint32_t level = static_cast<uint32_t>(job.output_level);
  for (const TableRef& table : job.tables) edit.removed_tables.push_back(table->number());
  if (job.is_move()) {
    edit.files.push_back({level, job.upper[0]->shared_meta()});
  } else {
    for (const SstRef& file : job.upper) edit.removed_files.push_back(file->meta().number);
    for (const SstRef& file : job.lower) edit.removed_files.push_back(file->meta().number);
    for (const SstRef& file : result.files) edit.files.push_back({level, file->shared_meta()});
  }
  if (MIODB_MUTATED(kSsdInputsRemovedEarly)) {
    for (uint64_t number : edit.removed_files) options_.env->RemoveFile(ssd_->FileName(number)).IgnoreError();
  }
  if (MIODB_MUTATED(kSsdInTwoEdits)) {
    VersionEdit first;
    first.removed_tables.swap(edit.removed_tables);
    first.removed_files.swap(edit.removed_files);
    CHECK(versions_->Apply(std::move(first), {}).ok());
  }
  Status s = MakeFilesDurable(edit);
  if (s.ok()) s = versions_->Apply(std::move(edit), {}, result.files);
  if (s.ok()) {
    PublishState();
  } else if (versions_->in_doubt()) {
    SetBackgroundError(s);  // the files may be named: the next open knows
  } else if (background_error_.ok()) {
    for (const SstRef& file : result.files) file->MarkObsolete();
  }
  return s;
}

void DBImpl::FinishSsdJob(const JobHold& hold, const SsdRange& range, const Status& s, bool inputs_damaged) {
  const bool closing = closing_.load(std::memory_order_relaxed);  // relaxed: set under the mutex
  const Outcome outcome = s.ok() ? Outcome::kInstalled : Outcome::kFailed;
  ssd_schedule_.End(range, outcome, inputs_damaged, NowMicros());
  if (hold.is_drain) scheduler_.EndDrain(hold);
  scheduler_.EndSsd(outcome);
  if (s.ok()) {
    ssd_error_ = Status::OK();
  } else if (!closing) {
    ssd_error_ = s;
    LogStatus(inputs_damaged ? "SSD tier: a range of keys stays as it is" : "SSD tier: to be tried again", s);
  }
  UpdateThrottle();
  work_.SignalAll();
  done_.SignalAll();
}

// ---- who waits

// Waits until nothing of the SSD tier is running or due, or until it fails.
Status DBImpl::WaitForSsd() {
  if (ssd_ == nullptr) return background_error_;
  while (background_error_.ok() && !MustNotWait() &&
         (ssd_schedule_.running() > 0 || scheduler_.running() > 0 || PickSsd().has_value())) {
    if (!WaitForBackground(0)) break;
  }
  return background_error_.ok() ? ssd_error_ : background_error_;
}

Status DBImpl::PurgeSsd(const Slice* begin, const Slice* end) {
  if (ssd_ == nullptr) return Status::OK();
  MutexLock lock(&mutex_);
  while (purge_ != nullptr && background_error_.ok()) WaitForBackground(0);
  const int levels = static_cast<int>(versions_->current()->ssd->levels.size());
  Status s;
  PurgeRequest request;
  request.begin = begin;
  request.end = end;
  for (request.level = -1; s.ok() && request.level < levels; request.level++) s = Purge(request);
  // Tombstones that hid something when they came to where they are, which has gone from below since.
  request.rewrite = true;
  for (request.level = 0; s.ok() && request.level < levels && snapshots_.empty(); request.level++) s = Purge(request);
  done_.SignalAll();  // for the next one who has to wait for this
  return s;
}

namespace {

// Shows a request to the SSD threads while it lives, however its scope is left.
class ShownPurge {
 public:
  ShownPurge(const PurgeRequest** shown, const PurgeRequest* request) : shown_(shown) { *shown_ = request; }
  ~ShownPurge() { *shown_ = nullptr; }  // a job may have been picked for it, but holds nothing of it
  ShownPurge(const ShownPurge&) = delete;
  ShownPurge& operator=(const ShownPurge&) = delete;

 private:
  const PurgeRequest** const shown_;
};

}  // namespace

// Has all of this done that is there now.
Status DBImpl::Purge(PurgeRequest request) {
  request.before = versions_->NewId();
  const ShownPurge shown(&purge_, &request);
  const auto is_left = [this]() REQUIRES(mutex_) {
    SsdPickerInput input = MakeSsdPickerInput();
    input.may_drain = true;
    input.running = &ssd_schedule_.damaged();
    input.busy_tables = nullptr;
    return PickPurge(input).has_value();
  };
  while (background_error_.ok() && ssd_error_.ok() && !MustNotWait() && is_left()) {
    if (!WaitForBackground(0)) break;
  }
  return background_error_.ok() ? ssd_error_ : background_error_;
}

}  // namespace miodb
