#include "src/db/db_impl.h"
#include "src/db/file_names.h"
#include "src/util/clock.h"
#include "src/util/mutation.h"
#include "src/util/replace_file.h"

// Log files and the database. Which of them hold anything that is not in tables follows from sequences alone: one file
// for each memtable, and the manifest's flushed sequence. So no edit names them, and the only thing to remember is
// where they are: the file WAL in the database directory says it, whatever the options are at the next open.

namespace miodb {

namespace {

uint64_t NowSeconds() { return WallMicros() / 1000000; }

}  // namespace

// Sets *wal_dir, where the log was, to where it is: it may have been moved to where the options say. Where nothing is,
// something is missing, and not a log without writes: its folder is made before it is remembered.
Status DBImpl::FindLog(std::string* wal_dir) const {
  for (const std::string& place : {*wal_dir, options_.wal_dir}) {
    if (!FileLog::IsOwnedBy(options_.env, WalFolder(place, name_), ssd_manifest_.store_id)) continue;
    *wal_dir = place;
    return Status::OK();
  }
  std::string what = "does not hold the log of this database (no WAL_OWNER with its id): is its disk mounted?";
  if (!LogsUntilSsd()) what += " To do without the writes that only the log has, remove " + WalDirPath(name_);
  return Status::Corruption(WalFolder(*wal_dir, name_), what);
}

// Finds the log files, and prepares to write some if the mode asks for it.
Status DBImpl::OpenFileLog() {
  Env* const env = options_.env;
  const bool writes = options_.log_mode == kLogFile;
  std::string wal_dir = options_.wal_dir, remembered_dir;
  const bool remembered = env->FileExists(WalDirPath(name_));
  if (!remembered && !writes) return Status::OK();
  Status s;
  if (remembered) s = ReadFileToString(env, WalDirPath(name_), &remembered_dir);
  std::string last = remembered_dir;
  if (s.ok() && existed_ && (remembered || LogsUntilSsd())) s = FindLog(&last);
  if (!s.ok()) return s;
  if (remembered) {
    std::vector<LogFile> files;
    s = FileLog::List(env, WalFolder(last, name_), &files);
    if (!s.ok()) return s;
    if (!writes && files.empty()) return s;
    if (!writes) wal_dir = last;
    if (wal_dir != last && !files.empty()) {
      return Status::InvalidArgument(
          "Options::wal_dir is \"" + wal_dir + "\"",
          (LogsUntilSsd() ? "the log is in " : "unflushed writes are in ") + WalFolder(last, name_) + "/" +
              files[0].name() + (LogsUntilSsd() ? ": move it, with WAL_OWNER" : ": open with that, and Flush"));
    }
  }
  FileLog::Options log_options;
  log_options.env = env;
  log_options.folder = WalFolder(wal_dir, name_);
  log_options.block_size = options_.wal_block_size;
  log_options.padding = options_.wal_padding;
  log_options.bytes_per_sync = options_.wal_bytes_per_sync;
  log_options.archive_seconds = options_.wal_ttl_seconds;
  log_options.archive_bytes = options_.wal_size_limit_mb << 20;
  log_options.now_seconds = NowSeconds;
  if (!env->FileExists(log_options.folder)) {
    s = env->CreateDir(log_options.folder);
    if (!s.ok()) return Status::IOError(log_options.folder, "cannot create the log folder: " + s.ToString());
    log_folder_made_ = true;
  }
  auto log = std::make_unique<FileLog>(std::move(log_options));
  s = log->Own(ssd_manifest_.store_id);
  if (!s.ok()) return s;
  file_log_ = std::move(log);
  if (!writes) return s;
  file_log_to_write_ = file_log_.get();
  if (!remembered || wal_dir != remembered_dir) s = ReplaceFile(env, WalDirPath(name_), wal_dir);
  // Even if it says so already: the process that wrote it may have come no further.
  if (s.ok() && !MIODB_MUTATED(kLogFolderUnsynced)) s = SyncExistingFile(env, WalDirPath(name_));
  return s;
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
