#include "src/db/space/log_floor.h"

#include <algorithm>

#include "src/format/file_names.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"

// A volatile pool in front of an SSD tier: what outlives the process is the table files, the log files, and STORE
// (store_keeper.h), which says which table files count and from where on the log is needed, the floor.
//
//   write     As with any log in files. A file of it stays until all of its writes are at or below the floor.
//   install   When a job of the SSD tier has its outputs on the medium:
//               1 the log files of flushed memtables are synced: nothing newer than the log is ever on SSD
//               2 STORE is replaced and synced: the new files, and the new floor, which is the end of the last
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
// After a crash: before step 2 the old state, whose files are all there; after it the new one. The log reaches
// down to the floor of either. An open that was cut off is repeated.

namespace miodb {

namespace {

// The limit of the log without max_total_wal_size, for each byte of the pool's capacity.
constexpr uint64_t kLogOfCapacity = 2;

// The limit is at least this many memtables: one that is filled, and some on their way down.
constexpr uint64_t kLeastMemTables = 4;

// How often somebody who waits for another's STORE looks again.
constexpr uint64_t kBusyMicros = 1000;

// The table that keeps the log from getting shorter; null if there is none.
const PMTable* OldestTable(const Version& version, bool* in_buffer) {
  const PMTable* oldest = nullptr;
  for (size_t level = 0; level < version.levels.size(); level++) {
    for (const RunRef& run : version.levels[level]) {
      run->tables.Search(
          [&](const TableSummary& part) {
            return oldest == nullptr || part.oldest_sequence < oldest->oldest_sequence();
          },
          [&](const TableRef& table) {
            if (oldest != nullptr && oldest->oldest_sequence() <= table->oldest_sequence()) return;
            oldest = table.get();
            *in_buffer = level + 1 < version.levels.size();
          });
    }
  }
  return oldest;
}

}  // namespace

// Each open of a volatile pool makes another one, so such a database has the id that STORE names, from its making on.
Status LogFloor::Read(bool exists) {
  const StoreDescriptor& store = store_->store();
  store_id_ = db_.pool->is_volatile() && store.log.id != 0 ? store.log.id : db_.pool->id();
  opened_epoch_ = db_.pool->epoch();
  if (!exists) return Status::OK();
  if (!found_.DecodeSsdState(store.ssd_state)) return Status::Corruption(StorePath(db_.name), "is damaged");
  log_reach_ = store.log_reach;
  opened_epoch_ = found_.next_id;
  return Status::OK();
}

// The log may be longer than the pool, because overwritten records take space in it until their file is retired.
uint64_t LogFloor::Limit() const {
  const uint64_t wanted =
      db_.options.max_total_wal_size > 0 ? db_.options.max_total_wal_size : kLogOfCapacity * db_.pool->capacity();
  return std::max(wanted, kLeastMemTables * db_.options.write_buffer_size);
}

bool LogFloor::TooLong() const { return db_.LogsUntilSsd() && logs_->files()->live_bytes() > Limit(); }

// Everything up to this write is on SSD once these tables are, or is hidden by what is newer.
uint64_t LogFloor::Without(const std::vector<uint64_t>& drained) const {
  uint64_t floor = tree_->versions->manifest().flushed_sequence;
  for (const Run* run : tree_->versions->current()->runs) {
    run->tables.Search([&](const TableSummary& part) { return part.oldest_sequence <= floor; },
                       [&](const TableRef& table) {
                         DCHECK_GT(table->oldest_sequence(), 0u);  // else everything would count as on SSD
                         const bool stays = std::find(drained.begin(), drained.end(), table->number()) == drained.end();
                         if (stays) floor = std::min(floor, table->oldest_sequence() - 1);
                       });
  }
  return floor;
}

// The oldest table decides alone: as long as it is in the buffer no drain can make the log shorter, and a push down
// can.
bool LogFloor::BufferHoldsLog() const {
  bool in_buffer = false;
  return TooLong() && OldestTable(*tree_->versions->current(), &in_buffer) != nullptr && in_buffer;
}

// A range that is damaged on the first SSD level stays until the next open, and with it the partitions above it and
// their log: to ask for their drain again and again would only keep the tier from other work.
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

// Files may be retired between the two looks at the log's length, so the result may be a little below zero.
double LogFloor::Excess() const {
  if (!WantsDrain()) return 0;
  return static_cast<double>(logs_->files()->live_bytes()) / static_cast<double>(Limit()) - 1;
}

// STORE is replaced by one thread at a time, since each state is made of the state before it. If the replacement fails,
// the file has not changed. If the sync fails, nobody knows which state is durable, so the database stops.
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
  CHECK(busy_);  // nobody else's turn came while the mutex was let go
  busy_ = false;
  control_->SignalDone();
  if (!in_doubt.ok()) control_->SetError(in_doubt);
  return s;
}

// The new state is made of the manifest's and the edit's, before the edit itself is applied: a crash afterwards finds
// the files that the edit adds. Syncs happen without the mutex, so busy_ keeps others from replacing the file
// meanwhile.
Status LogFloor::Replace(const VersionEdit& edit, Status* in_doubt) {
  const ManifestState& now = tree_->versions->manifest();
  ManifestState next;
  next.comparator = now.comparator;
  next.files = now.files;
  next.next_family = now.next_family;
  next.families = now.families;
  next.family_names = now.family_names;
  next.ranges = now.ranges;  // all up to the floor, and the log has what is newer
  next.next_id = tree_->versions->NewId();
  VersionEdit files;
  files.removed_files = edit.removed_files;
  files.files = edit.files;
  files.next_family = edit.next_family;
  files.removed_families = edit.removed_families;
  files.families = edit.families;
  Status s = next.Apply(files);
  if (!s.ok()) return s;
  CHECK_GT(next.next_id, epoch_);  // older copies are known by it
  next.flushed_sequence = logs_->files()->EndBefore(Without(edit.removed_tables), floor_);
  CHECK_GE(next.flushed_sequence, floor_);  // what lies below it has no log any more
  // While the log is being written once more, files may hold more than has come back from it.
  const uint64_t log_reach = std::max(log_reach_, now.flushed_sequence);
  std::string state;
  next.Snapshot().EncodeTo(&state);
  {
    const DbUnlock unlock(control_);
    if (!MIODB_MUTATED(kVolatileLogUnsynced)) s = *in_doubt = logs_->files()->SyncEnded();
    if (s.ok()) s = store_->KeepSsdState(log_reach, std::move(state), in_doubt);
  }
  if (s.ok()) floor_ = next.flushed_sequence;
  if (s.ok()) epoch_ = next.next_id;
  return s;
}

// Merges in the pool may have dropped the last of what a log file is kept for, since newer writes hid it. Then an empty
// edit is enough to make the log shorter, and no drain has to be waited for.
bool LogFloor::Raise() {
  if (!TooLong() || busy_ || !control_->error().ok()) return false;
  if (logs_->files()->EndBefore(Without({}), floor_) == floor_) return false;
  Status s = MakeFilesDurable(VersionEdit());
  if (!s.ok()) {
    db_.LogStatus("STORE", s);
    return false;
  }
  RetireLog();
  return true;
}

// Retiring removes or renames files, which may wait for a disk, so the mutex is let go meanwhile. The sequence is read
// before: it only grows.
void LogFloor::RetireLog() {
  if (logs_->files() == nullptr) return;
  const uint64_t sequence = db_.LogsUntilSsd() ? floor_ : tree_->versions->manifest().flushed_sequence;
  const DbUnlock unlock(control_);
  logs_->Retire(sequence);
}

}  // namespace miodb
