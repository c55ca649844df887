#include "src/db/db_impl.h"
#include "src/db/file_names.h"
#include "src/util/clock.h"
#include "src/util/posix_file.h"

// Log files and the database. Which of them hold anything that is not in tables follows from sequences alone: one file
// for each memtable, and the manifest's flushed sequence. So no edit names them, and the only thing to remember is
// where they are: STORE says it (format/store_descriptor.h), whatever the options are at the next open.

namespace miodb {

namespace {

uint64_t NowSeconds() { return WallMicros() / 1000000; }

// An Env may have folders that the system does not know.
Status SyncFolder(const std::string& folder) {
  const Status s = SyncDirectory(folder);
  return s.IsNotFound() ? Status::OK() : s;
}

}  // namespace

// Log files that are in use may have been moved to where the options say. Where they are not, something is missing.
Status DBImpl::FindLog(StoreDescriptor::Log* log) const {
  for (const std::string& wal_dir : {log->wal_dir, options_.wal_dir}) {
    OwnerMark owner;
    const Status s = FileLog::ReadOwner(options_.env, WalFolder(wal_dir, name_), &owner);
    if (!s.ok() && !s.IsNotFound()) return s;
    if (!s.ok() || owner.id != log->id) continue;
    log->wal_dir = wal_dir;
    return Status::OK();
  }
  std::string what = "does not hold the log of this database (no WAL_OWNER with its id): is its disk mounted?";
  if (!LogsUntilSsd()) what += " RepairDB does without the writes that only the log has";
  return Status::Corruption(WalFolder(log->wal_dir, name_), what);
}

// Finds the log files, and prepares to write some if the mode asks for it. STORE says so before anybody can write.
Status DBImpl::OpenFileLog() {
  Env* const env = options_.env;
  const bool writes = options_.log_mode == kLogFile, is_volatile = LogsUntilSsd();
  const bool in_use = existed_ && (is_volatile || store_.log.in_use);
  if (!in_use && !writes) return Status::OK();
  StoreDescriptor::Log now = store_.log;
  if (is_volatile) now.id = ssd_manifest_.store_id;
  std::vector<LogFile> files;
  Status s;
  if (in_use) s = FindLog(&now);
  if (s.ok() && in_use) s = FileLog::List(env, WalFolder(now.wal_dir, name_), &files);
  if (!s.ok()) return s;
  if (writes && now.wal_dir != options_.wal_dir && !files.empty()) {
    return Status::InvalidArgument("Options::wal_dir is \"" + options_.wal_dir + "\"",
                                   (is_volatile ? "the log is in " : "unflushed writes are in ") +
                                       WalFolder(now.wal_dir, name_) + "/" + files[0].name() +
                                       (is_volatile ? ": move it, with WAL_OWNER" : ": open with that, and Flush"));
  }
  if (writes) {
    now.wal_dir = options_.wal_dir;
    // Any other folder begins another log.
    bool same = false;
    if (existed_) s = FileLog::IsOwnedBy(env, WalFolder(now.wal_dir, name_), now.id, &same);
    if (!s.ok()) return s;
    if (!is_volatile && !same) now.id = miodb::NewId();
  }
  now.in_use = writes || !files.empty();
  store_.log = now;
  // A log that STORE says to be empty must not come back: the removal of its files lasts.
  if (in_use && !now.in_use) s = SyncFolder(WalFolder(now.wal_dir, name_));
  if (s.ok() && now.in_use) s = MakeFileLog(now);
  if (s.ok() && writes) file_log_to_write_ = file_log_.get();
  return s;
}

Status DBImpl::MakeFileLog(const StoreDescriptor::Log& log) {
  Env* const env = options_.env;
  FileLog::Options log_options;
  log_options.env = env;
  log_options.folder = WalFolder(log.wal_dir, name_);
  log_options.block_size = options_.wal_block_size;
  log_options.padding = options_.wal_padding;
  log_options.bytes_per_sync = options_.wal_bytes_per_sync;
  log_options.archive_seconds = options_.wal_ttl_seconds;
  log_options.archive_bytes = options_.wal_size_limit_mb << 20;
  log_options.now_seconds = NowSeconds;
  const std::string& folder = log_options.folder;
  Status s;
  if (!env->FileExists(folder)) {
    s = env->CreateDir(folder);
    if (!s.ok()) return Status::IOError(folder, "cannot create the log folder: " + s.ToString());
    log_folder_made_ = true;
  }
  auto files = std::make_unique<FileLog>(log_options);
  if (s.ok()) s = files->Own(log.id, ssd_manifest_.store_id);
  if (s.ok()) file_log_ = std::move(files);
  return s;
}

// When the database is closed: if all is flushed there is nothing in the log, wherever it is then.
void DBImpl::LeaveFileLog() {
  if (file_log_ == nullptr || LogsUntilSsd() || !stored_.log.in_use) return;
  Status s = WithMemory([this] {
    std::vector<LogFile> files;
    bool ours = false;
    Status listed = FileLog::List(options_.env, file_log_->folder(), &files);
    if (listed.ok()) listed = FileLog::IsOwnedBy(options_.env, file_log_->folder(), store_.log.id, &ours);
    if (!listed.ok() || !files.empty() || !ours) return Status::OK();
    store_.log.in_use = false;
    Status left = SyncFolder(file_log_->folder());
    return left.ok() ? KeepStore(store_.state) : left;
  });
  if (!s.ok()) LogStatus("STORE", s);
}

// Lets go of the log files that are not needed any more.
void DBImpl::RetireFileLog() {
  if (file_log_ == nullptr) return;
  const uint64_t sequence = LogsUntilSsd() ? ssd_floor_ : versions_->manifest().flushed_sequence;
  const MutexUnlock unlock(&mutex_);
  RetireFileLogUpTo(sequence);
}

void DBImpl::RetireFileLogUpTo(uint64_t sequence) {
  if (file_log_ == nullptr) return;
  Status s = file_log_->Retire(sequence);
  if (!s.ok()) LogStatus("log files stay where they are", s);
}

}  // namespace miodb
