#include "src/db/log_floor.h"

#include <algorithm>

#include "src/db/file_names.h"
#include "src/util/check.h"
#include "src/util/mutation.h"
#include "src/util/replace_file.h"

namespace miodb {

namespace {

// The limit of the log without max_total_wal_size, for each byte of the pool's capacity.
constexpr uint64_t kLogOfCapacity = 2;

// It is at least this many memtables: one that is filled, and those that are on their way down.
constexpr uint64_t kLeastMemTables = 4;

// How often somebody who waits for another's SSD_MANIFEST looks again.
constexpr uint64_t kBusyMicros = 1000;

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

// Reads what there is of the database, or makes up its id.
Status LogFloor::Read(bool exists) {
  manifest_.store_id = db_.pool->id();
  opened_epoch_ = db_.pool->epoch();
  if (!exists) return Status::OK();
  Status s = SsdManifest::Read(db_.options.env, SsdManifestPath(db_.name), &manifest_);
  opened_epoch_ = manifest_.state.next_id;
  return s;
}

uint64_t LogFloor::Limit() const {
  const uint64_t wanted =
      db_.options.max_total_wal_size > 0 ? db_.options.max_total_wal_size : kLogOfCapacity * db_.pool->capacity();
  return std::max(wanted, kLeastMemTables * db_.options.write_buffer_size);
}

bool LogFloor::TooLong() const { return db_.LogsUntilSsd() && logs_->files()->live_bytes() > Limit(); }

// Everything up to this write is on SSD once these tables are, or is hidden by what is newer.
uint64_t LogFloor::Without(const std::vector<uint64_t>& drained) const {
  uint64_t floor = tree_->versions->manifest().flushed_sequence;
  for (const auto& level : tree_->versions->current()->levels) {
    for (const RunRef& run : level) {
      for (const TableRef& table : run->tables) {
        if (std::find(drained.begin(), drained.end(), table->number()) != drained.end()) continue;
        floor = std::min(floor, table->oldest_sequence() - 1);
      }
    }
  }
  return floor;
}

// Whether the log is too long for the sake of what is in the buffer.
bool LogFloor::BufferHoldsLog() const {
  bool in_buffer = false;
  return TooLong() && OldestTable(*tree_->versions->current(), &in_buffer) != nullptr && in_buffer;
}

// Whether a drain would make a log that is too long shorter. One that damage keeps from draining has to stay.
bool LogFloor::WantsDrain() const {
  if (!TooLong()) return false;
  bool in_buffer = false;
  const PMTable* const oldest = OldestTable(*tree_->versions->current(), &in_buffer);
  if (oldest == nullptr || in_buffer) return false;
  const std::vector<SsdRange>& damaged = ssd_schedule_->damaged();
  return std::none_of(damaged.begin(), damaged.end(), [&](const SsdRange& range) {
    return range.first_level <= 0 && db_.order.Compare(oldest->smallest(), range.largest) <= 0 &&
           db_.order.Compare(range.smallest, oldest->largest()) <= 0;
  });
}

// By how much of its limit the log is too long, while writers that wait give it time to get shorter.
double LogFloor::Excess() const {
  if (!WantsDrain()) return 0;
  return static_cast<double>(logs_->files()->live_bytes()) / static_cast<double>(Limit()) - 1;
}

// Steps 1 and 2 for an edit that is to follow. If it fails in such a way that either state may be the durable one, the
// database stops.
Status LogFloor::MakeFilesDurable(const VersionEdit& edit) {
  if (!db_.LogsUntilSsd()) return Status::OK();
  while (busy_ && control_->error().ok()) control_->SleepUntilDone(kBusyMicros);
  if (!control_->error().ok()) return control_->error();
  busy_ = true;
  Status in_doubt, thrown, s;
  thrown = db_.WithMemory([&] {
    control_->AssertHeld();  // for the analysis, which does not see that the call is made at once
    s = Replace(edit, &in_doubt);
    return Status::OK();
  });
  if (!thrown.ok()) s = in_doubt = thrown;
  busy_ = false;
  control_->SignalDone();
  if (!in_doubt.ok()) control_->SetError(in_doubt);
  return s;
}

Status LogFloor::Replace(const VersionEdit& edit, Status* in_doubt) {
  const ManifestState& now = tree_->versions->manifest();
  ManifestState next;
  next.comparator = now.comparator;
  next.files = now.files;
  next.next_id = tree_->versions->NewId();
  VersionEdit files;
  files.removed_files = edit.removed_files;
  files.files = edit.files;
  Status s = next.Apply(files);
  if (!s.ok()) return s;
  next.flushed_sequence = logs_->files()->EndBefore(Without(edit.removed_tables), floor_);
  SsdManifest manifest;
  manifest.store_id = manifest_.store_id;
  // While the log is being written once more, files may hold more than has come back from it.
  manifest.log_reach = std::max(manifest_.log_reach, now.flushed_sequence);
  manifest.state = next.Snapshot();
  {
    const DbUnlock unlock(control_);
    const std::string path = SsdManifestPath(db_.name);
    if (!MIODB_MUTATED(kVolatileLogUnsynced)) s = *in_doubt = logs_->files()->SyncEnded();
    if (s.ok()) s = ReplaceFile(db_.options.env, path, manifest.Encode());
    if (s.ok()) s = *in_doubt = SyncExistingFile(db_.options.env, path);
  }
  if (s.ok()) floor_ = next.flushed_sequence;
  if (s.ok()) manifest_epoch_ = next.next_id;
  return s;
}

// Retires log files when that is possible without a drain: what they hold was hidden by newer writes in the pool.
bool LogFloor::Raise() {
  if (!TooLong() || busy_ || !control_->error().ok()) return false;
  if (logs_->files()->EndBefore(Without({}), floor_) == floor_) return false;
  Status s = MakeFilesDurable(VersionEdit());
  if (!s.ok()) {
    db_.LogStatus("SSD_MANIFEST", s);
    return false;
  }
  RetireLog();
  return true;
}

// Lets go of the log files that are not needed any more.
void LogFloor::RetireLog() {
  if (logs_->files() == nullptr) return;
  const uint64_t sequence = db_.LogsUntilSsd() ? floor_ : tree_->versions->manifest().flushed_sequence;
  const DbUnlock unlock(control_);
  logs_->Retire(sequence);
}

}  // namespace miodb
