#include "src/db/db_impl.h"
#include "src/db/file_names.h"
#include "src/util/clock.h"
#include "src/util/mutation.h"
#include "src/util/posix_file.h"
#include "src/util/replace_file.h"

// Log files and the database. Which of them hold anything that is not in tables follows from sequences alone: one file
// for each memtable, and the manifest's flushed sequence. So no edit names them, and the only thing to remember is
// where they are: the file WAL in the database directory says it (log_place.h), whatever the options are at the next
// open.

namespace miodb {

namespace {

uint64_t NowSeconds() { return WallMicros() / 1000000; }

// An Env may have folders that the system does not know.
Status SyncFolder(const std::string& folder) {
  const Status s = SyncDirectory(folder);
  return s.IsNotFound() ? Status::OK() : s;
}

}  // namespace

// What is in use may have been moved to where the options say. Where it is not, something is missing.
Status DBImpl::FindLog(LogPlace* place) const {
  for (const std::string& wal_dir : {place->wal_dir, options_.wal_dir}) {
    uint64_t owner;
    const Status s = FileLog::ReadOwner(options_.env, WalFolder(wal_dir, name_), &owner);
    if (!s.ok() && !s.IsNotFound()) return s;
    if (!s.ok() || owner != place->log_id) continue;
    place->wal_dir = wal_dir;
    return Status::OK();
  }
  std::string what = "does not hold the log of this database (no WAL_OWNER with its id): is its disk mounted?";
  if (!LogsUntilSsd()) what += " To do without the writes that only the log has, remove " + WalDirPath(name_);
  return Status::Corruption(WalFolder(place->wal_dir, name_), what);
}

// Before there is a pool: what a database that is gone has left does not count, unless it is a log with writes.
Status DBImpl::ForgetOldLog() {
  LogPlace place;
  const Status read = LogPlace::Read(options_.env, WalDirPath(name_), &place);
  if (!read.ok()) return read.IsNotFound() ? Status::OK() : read;
  if (!place.in_use) return Status::OK();
  Status s = FindLog(&place);
  std::vector<LogFile> files;
  const std::string folder = WalFolder(place.wal_dir, name_);
  if (s.ok()) s = FileLog::List(options_.env, folder, &files);
  if (s.ok() && !files.empty()) {
    s = Status::InvalidArgument(folder, "holds the log (" + files[0].name() + ") of another pool, which is gone");
  }
  return s.ok() ? RememberLog(LogPlace()) : s;
}

Status DBImpl::RememberLog(const LogPlace& place) {
  Status s = place.Write(options_.env, WalDirPath(name_));
  return s.ok() && !MIODB_MUTATED(kLogFolderUnsynced) ? SyncExistingFile(options_.env, WalDirPath(name_)) : s;
}

// Finds the log files, and prepares to write some if the mode asks for it.
Status DBImpl::OpenFileLog() {
  Env* const env = options_.env;
  const bool writes = options_.log_mode == kLogFile, is_volatile = LogsUntilSsd();
  LogPlace last;
  Status s = LogPlace::Read(env, WalDirPath(name_), &last);
  const bool remembered = s.ok();
  if (!remembered && !s.IsNotFound()) return s;
  const bool in_use = existed_ && (is_volatile || last.in_use);
  if (!in_use && !writes) return Status::OK();
  const uint64_t pool_id = ssd_manifest_.store_id;
  LogPlace now = last;
  if (is_volatile) now.log_id = pool_id;
  if (in_use && !is_volatile && last.pool_id != pool_id) {
    return Status::InvalidArgument(WalDirPath(name_), "the log in " + WalFolder(last.wal_dir, name_) +
                                                          " is that of another pool; remove this file to do without");
  }
  std::vector<LogFile> files;
  s = Status::OK();
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
    const bool same = last.pool_id == pool_id && FileLog::IsOwnedBy(env, WalFolder(now.wal_dir, name_), now.log_id);
    if (!is_volatile && !same) now.log_id = LogPlace::NewId();
  }
  now.pool_id = pool_id;
  now.in_use = writes || !files.empty();
  log_place_ = now;
  // Who is told that there are no files must not meet one that comes back.
  if (in_use && !now.in_use) s = SyncFolder(WalFolder(now.wal_dir, name_));
  if (s.ok() && now.in_use) s = MakeFileLog(now);
  if (s.ok() && writes) file_log_to_write_ = file_log_.get();
  if (s.ok() && (!remembered || now != last)) s = now.Write(env, WalDirPath(name_));
  // Even if it says so already: the process that wrote it may have come no further.
  if (s.ok() && !MIODB_MUTATED(kLogFolderUnsynced)) s = SyncExistingFile(env, WalDirPath(name_));
  return s;
}

Status DBImpl::MakeFileLog(const LogPlace& place) {
  Env* const env = options_.env;
  FileLog::Options log_options;
  log_options.env = env;
  log_options.folder = WalFolder(place.wal_dir, name_);
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
  auto log = std::make_unique<FileLog>(log_options);
  if (s.ok()) s = log->Own(place.log_id);
  if (s.ok()) file_log_ = std::move(log);
  return s;
}

// When the database is closed: if all is flushed there is nothing in the log, wherever it is then.
void DBImpl::LeaveFileLog() {
  if (file_log_ == nullptr || LogsUntilSsd() || !log_place_.in_use) return;
  Status s = WithMemory([this] {
    std::vector<LogFile> files;
    Status listed = FileLog::List(options_.env, file_log_->folder(), &files);
    if (!listed.ok() || !files.empty() || !FileLog::IsOwnedBy(options_.env, file_log_->folder(), log_place_.log_id)) {
      return Status::OK();
    }
    log_place_.in_use = false;
    Status left = SyncFolder(file_log_->folder());
    return left.ok() ? RememberLog(log_place_) : left;
  });
  if (!s.ok()) LogStatus("the file WAL", s);
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
