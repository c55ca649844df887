// Where the log files of a database are, when writes begin to go to some, and when STORE may say that there are none.

#include "src/db/space/log_files.h"

#include <algorithm>

#include "src/db/store/places.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/format/superblock.h"
#include "src/util/check/check.h"
#include "src/util/clock/clock.h"
#include "src/util/files/posix_file.h"

namespace miodb {

namespace {

// The archive goes by the age of files, which outlives the process.
uint64_t NowSeconds() { return WallMicros() / 1000000; }

// An Env may have folders that the system does not know.
Status SyncFolder(const std::string& folder) {
  const Status s = SyncDirectory(folder);
  return s.IsNotFound() ? Status::OK() : s;
}

}  // namespace

// Whether the log that is in use lies in this folder, and which files of it.
Status LogFiles::Find(const std::string& folder, uint64_t id, std::vector<LogFile>* files) const {
  OwnerMark owner;
  Status s = FileLog::ReadOwner(db_.options.env, folder, &owner);
  if (s.ok() && owner.id == id) {
    s = CheckLogCopy(db_.name, store_->store().log, folder, owner);
    return s.ok() ? FileLog::List(db_.options.env, folder, files) : s;
  }
  if (!s.ok() && !s.IsNotFound()) return s;
  const std::vector<uint64_t>& former = store_->store().former_ids;
  if (s.ok() && std::find(former.begin(), former.end(), owner.id) != former.end()) {
    return Status::InvalidArgument(folder, "holds the log from before a repair that was cut off; RepairDB finishes it");
  }
  std::string what = "does not hold the log of this database (no WAL_OWNER with its id): is its disk mounted?";
  if (!db_.LogsUntilSsd()) what += " RepairDB does without the writes that only the log has";
  return Status::Corruption(folder, what);
}

// Whether the folder of a log agrees with STORE, which says that the log holds nothing. The folder need not exist.
// Files in a folder that has seen a later open than STORE were written since. Files in a folder that has seen the last
// open are archived files that were put back, and sequences tell that their writes are in tables. An older copy of the
// folder is not this log's any more.
Status LogFiles::FindUnused(bool* same) const {
  Env* const env = db_.options.env;
  const StoreDescriptor::Log& log = store_->store().log;
  *same = false;
  if (log.id == 0) return Status::OK();
  const std::string folder = WalFolder(log.wal_dir, db_.name);
  std::optional<OwnerMark> owner;
  std::vector<LogFile> files;
  Status s = FileLog::FindOwner(env, folder, &owner);
  if (!s.ok() || !owner.has_value() || owner->id != log.id || owner->epoch < log.epoch) return s;
  s = FileLog::List(env, folder, &files);
  if (s.ok() && owner->epoch > log.epoch + (files.empty() ? 1 : 0)) return OlderStore(db_.name, log, folder, *owner);
  *same = s.ok();
  return s;
}

// Finds the log files, and prepares to write some if the mode asks for it. STORE says so before anybody can write.
// A log that was in use is found, or the open fails. A log that was not in use may have lost its folder: then it begins
// anew, with another id, so that the old folder, once it is mounted again, never counts as this log's.
Status LogFiles::Open(uint64_t store_id) {
  CHECK(files_ == nullptr && to_write_ == nullptr);
  const bool writes = db_.options.log_mode == kLogFile, is_volatile = db_.LogsUntilSsd();
  const bool in_use = store_->existed() && (is_volatile || store_->store().log.in_use);
  bool same = in_use;
  Status s;
  if (!in_use && store_->existed()) s = FindUnused(&same);
  if (!s.ok() || (!in_use && !writes)) return s;
  StoreDescriptor::Log now = store_->store().log;
  if (is_volatile) now.id = store_id;
  if (writes) now.wal_dir = db_.options.wal_dir;  // as STORE has it, if there was a log
  const std::string folder = WalFolder(now.wal_dir, db_.name);
  std::vector<LogFile> files;
  if (in_use) s = Find(folder, now.id, &files);
  if (!s.ok()) return s;
  if (!is_volatile && !same) now.id = miodb::NewId();
  now.in_use = writes || !files.empty();
  if (now.in_use && now.epoch >= kMostEpoch) {
    return Status::Corruption(StorePath(db_.name), "names a log of epoch " + std::to_string(now.epoch) +
                                                       ", which is the last: RepairDB makes a new log");
  }
  if (now.in_use) now.epoch++;
  store_->store().log = now;
  // A log that STORE says to be empty must not come back: the removal of its files lasts.
  if (in_use && !now.in_use) s = SyncFolder(folder);
  if (s.ok() && now.in_use) s = Make(now, store_id);
  if (s.ok() && writes) to_write_ = files_.get();
  return s;
}

// The folder's mark (WAL_OWNER) is written before the first log file: files without it could be any database's.
Status LogFiles::Make(const StoreDescriptor::Log& log, uint64_t store_id) {
  Env* const env = db_.options.env;
  FileLog::Options log_options;
  log_options.env = env;
  log_options.folder = WalFolder(log.wal_dir, db_.name);
  log_options.block_size = db_.options.wal_block_size;
  log_options.padding = db_.options.wal_padding;
  log_options.bytes_per_sync = db_.options.wal_bytes_per_sync;
  log_options.archive_seconds = db_.options.wal_ttl_seconds;
  log_options.archive_bytes = db_.options.wal_size_limit_mb << 20;
  log_options.now_seconds = NowSeconds;
  const std::string& folder = log_options.folder;
  Status s;
  if (!env->FileExists(folder)) {
    s = env->CreateDir(folder);
    if (!s.ok()) return Status::IOError(folder, "cannot create the log folder: " + s.ToString());
    folder_made_ = true;
  }
  auto opened = std::make_unique<FileLog>(log_options);
  const bool is_home = RealPath(folder) == RealPath(db_.name);
  if (s.ok()) s = opened->Own(log.id, store_id, log.epoch, is_home ? nullptr : &store_->store().former_ids);
  if (s.ok()) files_ = std::move(opened);
  return s;
}

// An empty folder is synced before STORE says that there is no log: else a removal that the crash undoes would bring
// files back that nobody looks for.
void LogFiles::Leave() {
  if (files_ == nullptr || db_.LogsUntilSsd() || !store_->log_was_in_use()) return;
  Status s = db_.WithMemory([this] {
    std::vector<LogFile> files;
    bool ours = false;
    Status listed = FileLog::List(db_.options.env, files_->folder(), &files);
    if (listed.ok()) listed = FileLog::IsOwnedBy(db_.options.env, files_->folder(), store_->store().log.id, &ours);
    if (!listed.ok() || !files.empty() || !ours) return Status::OK();
    store_->store().log.in_use = false;
    Status left = SyncFolder(files_->folder());
    return left.ok() ? store_->Keep(store_->store().state) : left;
  });
  if (!s.ok()) db_.LogStatus("STORE", s);
}

// A file that cannot be removed now is retired again with the next flush, and by the next open.
void LogFiles::Retire(uint64_t sequence) {
  if (files_ == nullptr) return;
  Status s = files_->Retire(sequence);
  if (!s.ok()) db_.LogStatus("log files stay where they are", s);
}

// With a volatile pool the log is needed until drains have moved its writes to SSD, so a flush would not shorten it;
// LogFloor has its own limit.
bool LogFiles::TooLarge() const {
  return to_write_ != nullptr && db_.options.max_total_wal_size > 0 && !db_.LogsUntilSsd() &&
         files_->live_bytes() > db_.options.max_total_wal_size;
}

// Archived files are kept by age and total size; deleting one may take long on a busy disk, so the flush thread does it
// between flushes.
void LogFiles::TrimArchive() {
  if (files_ == nullptr) return;
  const auto trim = [this] {
    files_->TrimArchive();
    return Status::OK();
  };
  db_.WithMemory(trim).IgnoreError();  // tried again later
}

// A folder whose mark names another log keeps what it has.
void LogFiles::Remove() {
  CHECK(!store_->existed() && files_ == nullptr);
  const std::string folder = WalFolder(store_->store().log.wal_dir, db_.name);
  if (store_->store().log.id == 0 && !folder_made_) return;
  // A folder that this open made has nobody else's log, also if its mark came to nothing.
  FileLog::Destroy(db_.options.env, folder, folder_made_ ? nullptr : &store_->store().log.id).IgnoreError();
  if (folder_made_) db_.options.env->RemoveDir(folder).IgnoreError();
}

}  // namespace miodb
