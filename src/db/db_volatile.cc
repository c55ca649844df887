#include <algorithm>
#include <new>

#include "src/api/write_batch_internal.h"
#include "src/db/db_impl.h"
#include "src/db/file_names.h"
#include "src/inspect/log_scan.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/coding.h"
#include "src/util/mutation.h"
#include "src/util/replace_file.h"

// A volatile pool in front of an SSD tier: what outlives the process is the table files, the log files, and the file
// SSD_MANIFEST in the database directory (version/ssd_manifest.h), which says which table files count and from where on
// the log is needed, the floor.
//
//   write     As with any log in files. A file of it stays until all of its writes are at or below the floor.
//   install   When a job of the SSD tier has its outputs on the medium:
//               1 the log files of flushed memtables are synced: nothing newer than the log is ever on SSD
//               2 SSD_MANIFEST is replaced and synced: the new files, and the new floor, which is the end of the last
//                 log file with nothing in the pool that is not newer
//               3 the new version is installed; files that it drops go with their last reader
//               4 log files up to the floor are retired
//   limit     When the log is longer than its limit, the oldest partitions are drained, and the oldest runs of the
//             buffer pushed down, until it is not.
//   open      A new pool; the table files; then all writes of the log above the floor are written once more, with the
//             numbers that they had, by the same steps as new writes but for the log.
//
// Writes that are written once more may be on SSD already, or newer ones of the same key. So for a time files can be
// newer than what is above them. No read sees that: before the first, all writes of the log are in the pool again, the
// newest of every key that is not on SSD alone. Merges go by number.
//
// What a crash leaves: before step 2 the old state, whose files are all there; after it the new one. The log reaches
// down to the floor of either. An open that was cut off is repeated.

namespace miodb {

namespace {

// The limit of the log without max_total_wal_size, for each byte of the pool's capacity.
constexpr uint64_t kLogOfCapacity = 2;

// It is at least this many memtables: one that is filled, and those that are on their way down.
constexpr uint64_t kLeastMemTables = 4;

// How often somebody who waits for another's SSD_MANIFEST looks again.
constexpr uint64_t kBusyMicros = 1000;

// An open that finds no room because the SSD tier fails tries again after this, for so long.
constexpr uint64_t kSsdRetryMicros = 100 * 1000;
constexpr uint64_t kSsdPatienceMicros = 30 * 1000 * 1000;

}  // namespace

bool DBImpl::LogsUntilSsd() const { return ssd_ != nullptr && pool_->is_volatile(); }

// Options that would have a database beside the one that is there.
Status DBImpl::CheckVolatility() {
  Env* const env = options_.env;
  const bool anonymous = Region::IsAnonymous(options_.pool_path);
  if (anonymous && env->FileExists(name_ + "/pool")) {
    return Status::InvalidArgument("Options::pool_path is anonymous", "the database has a pool: " + name_ + "/pool");
  }
  if (!env->FileExists(SsdManifestPath(name_)) || (anonymous && !options_.ssd_path.empty())) return Status::OK();
  return Status::InvalidArgument(
      anonymous ? "Options::ssd_path is empty" : "Options::pool_path is not anonymous",
      "the database is in the files of an SSD tier and of a log, see " + SsdManifestPath(name_));
}

// Reads what there is of the database, or makes up its id.
Status DBImpl::ReadSsdManifest(bool exists) {
  ssd_manifest_.store_id = pool_->id();
  opened_epoch_ = pool_->epoch();
  if (!exists) return Status::OK();
  Status s = SsdManifest::Read(options_.env, SsdManifestPath(name_), &ssd_manifest_);
  opened_epoch_ = ssd_manifest_.state.next_id;
  return s;
}

// ---- the floor

uint64_t DBImpl::LogLimit() const {
  const uint64_t wanted =
      options_.max_total_wal_size > 0 ? options_.max_total_wal_size : kLogOfCapacity * pool_->capacity();
  return std::max(wanted, kLeastMemTables * options_.write_buffer_size);
}

bool DBImpl::LogTooLong() const { return LogsUntilSsd() && file_log_->live_bytes() > LogLimit(); }

// Everything up to this write is on SSD once these tables are, or is hidden by what is newer.
uint64_t DBImpl::FloorWithout(const std::vector<uint64_t>& drained) {
  uint64_t floor = versions_->manifest().flushed_sequence;
  for (const auto& level : versions_->current()->levels) {
    for (const RunRef& run : level) {
      for (const TableRef& table : run->tables) {
        if (std::find(drained.begin(), drained.end(), table->number()) != drained.end()) continue;
        floor = std::min(floor, table->oldest_sequence() - 1);
      }
    }
  }
  return floor;
}

namespace {

// The table that keeps the log from getting shorter; null if there is none.
const PMTable* OldestTable(const Version& version, bool* in_buffer) {
  const PMTable* oldest = nullptr;
  for (size_t level = 0; level < version.levels.size(); level++) {
    for (const RunRef& run : version.levels[level]) {
      for (const TableRef& table : run->tables) {
        if (oldest != nullptr && oldest->oldest_sequence() <= table->oldest_sequence()) continue;
        oldest = table.get();
        *in_buffer = level + 1 < version.levels.size();
      }
    }
  }
  return oldest;
}

}  // namespace

// Whether the log is too long for the sake of what is in the buffer.
bool DBImpl::BufferHoldsLog() const {
  bool in_buffer = false;
  return LogTooLong() && OldestTable(*versions_->current(), &in_buffer) != nullptr && in_buffer;
}

// Whether a drain would make a log that is too long shorter. One that damage keeps from draining has to stay.
bool DBImpl::LogWantsDrain() const {
  if (!LogTooLong()) return false;
  bool in_buffer = false;
  const PMTable* const oldest = OldestTable(*versions_->current(), &in_buffer);
  if (oldest == nullptr || in_buffer) return false;
  const std::vector<SsdRange>& damaged = ssd_schedule_.damaged();
  return std::none_of(damaged.begin(), damaged.end(), [&](const SsdRange& range) {
    return range.first_level <= 0 && order_.Compare(oldest->smallest(), range.largest) <= 0 &&
           order_.Compare(range.smallest, oldest->largest()) <= 0;
  });
}

// By how much of its limit the log is too long, while writers that wait give it time to get shorter.
double DBImpl::LogExcess() {
  if (!LogWantsDrain()) return 0;
  return static_cast<double>(file_log_->live_bytes()) / static_cast<double>(LogLimit()) - 1;
}

// Steps 1 and 2 for an edit that is to follow. If it fails in such a way that either state may be the durable one, the
// database stops.
Status DBImpl::MakeFilesDurable(const VersionEdit& edit) {
  if (!LogsUntilSsd()) return Status::OK();
  while (ssd_manifest_busy_ && background_error_.ok()) done_.TimedWait(kBusyMicros);
  if (!background_error_.ok()) return background_error_;
  ssd_manifest_busy_ = true;
  Status in_doubt, thrown, s;
  thrown = WithMemory([&] {
    mutex_.AssertHeld();  // for the analysis, which does not see that the call is made at once
    s = ReplaceSsdManifest(edit, &in_doubt);
    return Status::OK();
  });
  if (!thrown.ok()) s = in_doubt = thrown;
  ssd_manifest_busy_ = false;
  done_.SignalAll();
  if (!in_doubt.ok()) SetBackgroundError(in_doubt);
  return s;
}

Status DBImpl::ReplaceSsdManifest(const VersionEdit& edit, Status* in_doubt) {
  const ManifestState& now = versions_->manifest();
  ManifestState next;
  next.comparator = now.comparator;
  next.files = now.files;
  next.next_id = versions_->NewId();
  VersionEdit files;
  files.removed_files = edit.removed_files;
  files.files = edit.files;
  Status s = next.Apply(files);
  if (!s.ok()) return s;
  next.flushed_sequence = file_log_->EndBefore(FloorWithout(edit.removed_tables), ssd_floor_);
  SsdManifest manifest;
  manifest.store_id = ssd_manifest_.store_id;
  // While the log is being written once more, files may hold more than has come back from it.
  manifest.log_reach = std::max(ssd_manifest_.log_reach, now.flushed_sequence);
  manifest.state = next.Snapshot();
  {
    const MutexUnlock unlock(&mutex_);
    const std::string path = SsdManifestPath(name_);
    if (!MIODB_MUTATED(kVolatileLogUnsynced)) s = *in_doubt = file_log_->SyncEnded();
    if (s.ok()) s = ReplaceFile(options_.env, path, manifest.Encode());
    if (s.ok()) s = *in_doubt = SyncExistingFile(options_.env, path);
  }
  if (s.ok()) ssd_floor_ = next.flushed_sequence;
  if (s.ok()) manifest_epoch_ = next.next_id;
  return s;
}

// Retires log files when that is possible without a drain: what they hold was hidden by newer writes in the pool.
bool DBImpl::RaiseFloor() {
  if (!LogTooLong() || ssd_manifest_busy_ || !background_error_.ok()) return false;
  if (file_log_->EndBefore(FloorWithout({}), ssd_floor_) == ssd_floor_) return false;
  Status s = MakeFilesDurable(VersionEdit());
  if (!s.ok()) {
    LogStatus("SSD_MANIFEST", s);
    return false;
  }
  RetireFileLog();
  return true;
}

// ---- open

// Takes up the files of the SSD tier, and finds out which log files are to be read.
Status DBImpl::RecoverVolatile() {
  ssd_floor_ = ssd_manifest_.state.flushed_sequence;
  std::vector<LogFile> files, unwanted;
  std::vector<FileLog::Kept> kept;
  Status s = FileLog::List(options_.env, file_log_->folder(), &files);
  uint64_t last_sequence = ssd_floor_;
  bool ended = false;
  for (const LogFile& file : files) {
    LogScan scan;
    scan.file = file;
    if (s.ok()) s = ScanLogFile(options_.env, file_log_->folder(), ssd_floor_, &scan);
    if (s.ok()) s = JudgeScan(scan, last_sequence, &ended);
    if (!s.ok()) return s;
    if (ended || scan.last_sequence == 0) {
      unwanted.push_back(file);
    } else {
      kept.push_back(scan.AsKept());
      if (scan.first_sequence != 0) to_replay_.push_back(file);
      last_sequence = std::max(last_sequence, scan.last_sequence);
    }
    ended = ended || scan.damaged;
  }
  if (s.ok() && last_sequence < ssd_manifest_.log_reach) {
    s = Status::Corruption(file_log_->folder(), "the log ends with write " + std::to_string(last_sequence) +
                                                    "; it went on to " + std::to_string(ssd_manifest_.log_reach) +
                                                    " when files on SSD were made");
  }
  if (s.ok()) s = file_log_->Adopt(kept, unwanted);
  if (s.ok()) file_log_->EndFile();  // the one that made the removals durable
  if (s.ok()) s = RemoveOrphans();
  if (!s.ok()) return s;
  RetireFileLog();
  allocated_sequence_ = ssd_floor_;
  last_sequence_.store(ssd_floor_, std::memory_order_release);  // release: as by a leader
  return s;
}

// Writes what the log files hold into the pool once more. Before the database is anybody else's.
Status DBImpl::ReplayLogFiles() {
  Status s;
  for (size_t i = 0; s.ok() && i < to_replay_.size(); i++) {
    LogScan scan;
    scan.file = to_replay_[i];
    s = ScanLogFile(options_.env, file_log_->folder(), ssd_manifest_.state.flushed_sequence, &scan);
    for (size_t b = 0; s.ok() && b < scan.batches.size(); b++) s = ReplayBatch(scan.batches[b]);
    if (s.ok()) {
      Log("replayed log file %s, %zu of %zu, up to write %llu", scan.file.name().c_str(), i + 1, to_replay_.size(),
          static_cast<unsigned long long>(allocated_sequence_));
    }
  }
  to_replay_.clear();
  ssd_manifest_.state.files.clear();
  return s;
}

// As MakeRoom, but an SSD tier that fails for a while may delay it: it is tried again in the background.
Status DBImpl::MakeRoomForReplay(uint64_t frame_bytes) {
  const uint64_t start = NowMicros();
  for (;;) {
    Status s = MakeRoom(frame_bytes, false);
    if (!s.IsNoSpace()) return s;
    MutexLock lock(&mutex_);
    if (ssd_error_.ok()) return s;
    if (NowMicros() - start > kSsdPatienceMicros || !WaitForBackground(kSsdRetryMicros)) return ssd_error_;
  }
}

Status DBImpl::ReplayBatch(const std::string& batch) {
  group_records_.clear();
  const uint64_t body_bytes = AppendRecords(batch, &group_records_);
  const uint64_t first = DecodeFixed64(batch.data());
  CHECK_EQ(first, allocated_sequence_ + 1);
  Status s = MakeRoomForReplay(FrameWriter::FrameSize(body_bytes));
  if (!s.ok()) return s;
  allocated_sequence_ += group_records_.size();
  frame_writer_->Write(chunk_, &group_records_, body_bytes, first);
  InsertGroup(first);
  last_sequence_.store(allocated_sequence_, std::memory_order_release);  // release: as by a leader
  return s;
}

}  // namespace miodb
