// Log files of an open database, and the folder that they lie in. A file is begun by the first write after a memtable
// was sealed, and ended with that memtable; so a file holds the writes of one memtable, and goes when that is flushed.

#include "src/log/file_log.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

#include "src/api/batch/write_batch_internal.h"
#include "src/log/log_file_bytes.h"
#include "src/log/log_piece.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/files/held_lock.h"
#include "src/util/files/posix_file.h"
#include "src/util/files/replace_file.h"

namespace miodb {

namespace {

// How often the archive is looked through: half of the age limit, and at least this often in seconds.
constexpr uint64_t kTrimSeconds = 600;

// The memory of a batch is kept for the next batch, up to this size.
constexpr size_t kKeptBatchBytes = 2 << 20;

constexpr char kOwnerName[] = "/WAL_OWNER";

}  // namespace

// By number, which is the order in which they were written. Files of other names are somebody else's and stay.
Status FileLog::List(Env* env, const std::string& folder, std::vector<LogFile>* files) {
  files->clear();
  std::vector<std::string> names;
  Status s = env->GetChildren(folder, &names);
  if (s.IsNotFound()) return Status::OK();
  for (const std::string& name : names) {
    LogFile file;
    if (ParseLogFileName(name, &file.number, &file.block_size)) files->push_back(file);
  }
  std::sort(files->begin(), files->end(), [](const LogFile& a, const LogFile& b) { return a.number < b.number; });
  return s;
}

// The files of an archive by rising number; none if there is no such folder.
Status FileLog::ListArchive(Env* env, const std::string& archive, std::vector<Archived>* files) {
  files->clear();
  Status s = RefuseLink(archive);
  std::vector<std::string> names;
  if (s.ok()) s = env->GetChildren(archive, &names);
  if (s.IsNotFound()) return Status::OK();
  for (const std::string& name : names) {
    Archived archived;
    const size_t dot = name.rfind('.');  // behind it the second of the move
    if (dot == std::string::npos ||
        !ParseLogFileName(name.substr(0, dot), &archived.file.number, &archived.file.block_size) ||
        sscanf(name.c_str() + dot, ".%" SCNu64, &archived.second) != 1) {
      continue;
    }
    archived.path = archive + "/" + name;
    files->push_back(std::move(archived));
  }
  std::sort(files->begin(), files->end(),
            [](const Archived& a, const Archived& b) { return a.file.number < b.file.number; });
  return s;
}

FileLog::~FileLog() {
  if (lock_ != nullptr) options_.env->UnlockFile(lock_).IgnoreError();
}

Status FileLog::Own(uint64_t log_id, uint64_t pool_id, uint64_t epoch, const std::vector<uint64_t>* former_ids) {
  CHECK(lock_ == nullptr);
  Env* const env = options_.env;
  const std::string path = options_.folder + kOwnerName;
  const OwnerMark mark{OwnerKind::kLog, log_id, pool_id, epoch};
  Status locked = env->LockFile(path, &lock_);
  if (!locked.ok()) return locked;
  std::optional<OwnerMark> owner;
  Status s = FindOwner(env, options_.folder, &owner);
  if (!s.ok()) return s;
  // Synced again, because the process that wrote it may have come no further.
  if (owner == mark) return SyncExistingFile(env, path);
  if (owner.has_value() && owner->id == log_id) return ReplaceMark(mark);
  s = MayBegin(env, options_.folder, owner, pool_id, former_ids);
  if (!s.ok()) return s;
  // Nothing is lost if a crash takes it back: the folder holds no log before this is done.
  s = WriteStringToFile(env, mark.Encode(), path);
  return s.ok() && !MIODB_MUTATED(kLogOwnerUnsynced) ? SyncExistingFile(env, path) : s;
}

Status FileLog::MayBegin(Env* env, const std::string& folder, const std::optional<OwnerMark>& owner, uint64_t pool_id,
                         const std::vector<uint64_t>* former_ids) {
  std::vector<LogFile> files;
  const Status s = List(env, folder, &files);
  if (!s.ok()) return s;
  if (!files.empty()) {
    return Status::InvalidArgument(folder, "holds the log (" + files[0].name() +
                                               ") of another pool, or one that this pool did without since: move it "
                                               "away, or give another Options::wal_dir");
  }
  const auto is_ours = [&](uint64_t id) {
    return id == pool_id || std::find(former_ids->begin(), former_ids->end(), id) != former_ids->end();
  };
  if (!owner.has_value() || former_ids == nullptr || is_ours(owner->pool) || is_ours(owner->id)) return s;
  return Status::InvalidArgument(folder,
                                 "is the log folder of another database, which has no log file in it now: give "
                                 "another Options::wal_dir. If that database is gone, remove WAL_OWNER");
}

// Log files that count lie beside the mark, so it is replaced and not written over. The lock is on the file that the
// name led to, so it is taken once more: whoever was quicker has read the mark, and left the files alone.
Status FileLog::ReplaceMark(const OwnerMark& mark) {
  CHECK(lock_ != nullptr);
  Env* const env = options_.env;
  const std::string path = options_.folder + kOwnerName;
  const Synced synced = MIODB_MUTATED(kLogOwnerUnsynced) ? Synced::kNo : Synced::kYes;
  Status s = ReplaceFile(env, path, mark.Encode(), synced);
  if (s.ok() && synced == Synced::kYes) s = SyncExistingFile(env, path);
  if (!s.ok()) return s;
  s = env->UnlockFile(lock_);
  lock_ = nullptr;
  return s.ok() ? env->LockFile(path, &lock_) : s;
}

Status FileLog::ReadOwner(Env* env, const std::string& folder, OwnerMark* owner) {
  std::string content;
  const std::string path = folder + kOwnerName;
  Status s = ReadSmallFile(env, path, &content);
  if (!s.ok() || owner->DecodeFrom(content, OwnerKind::kLog)) return s;
  if (content.empty()) return Status::NotFound(path, "says nothing");  // as a crash may leave it
  return Status::Corruption(path, "does not say whose log the folder holds");
}

Status FileLog::MendOwner(Env* env, const std::string& folder, const OwnerMark& owner) {
  const std::string path = folder + kOwnerName;
  HeldLock lock(env);
  Status s = lock.Lock(path);
  if (s.ok()) s = WriteStringToFile(env, owner.Encode(), path);
  return s.ok() ? SyncExistingFile(env, path) : s;
}

Status FileLog::FindOwner(Env* env, const std::string& folder, std::optional<OwnerMark>* owner) {
  OwnerMark mark;
  owner->reset();
  const Status s = ReadOwner(env, folder, &mark);
  if (s.IsNotFound() || s.IsCorruption()) return Status::OK();
  if (s.ok()) *owner = mark;
  return s;
}

Status FileLog::IsOwnedBy(Env* env, const std::string& folder, uint64_t log_id, bool* owned) {
  std::optional<OwnerMark> owner;
  Status s = FindOwner(env, folder, &owner);
  *owned = owner.has_value() && owner->id == log_id;
  return s;
}

Status FileLog::Destroy(Env* env, const std::string& folder, const uint64_t* log_id) {
  const std::string owner_path = folder + kOwnerName;
  HeldLock lock(env);
  bool owned = true;
  if (log_id != nullptr) {
    Status read = IsOwnedBy(env, folder, *log_id, &owned);
    if (!read.ok() || !owned) return read;
  }
  if (env->FileExists(owner_path)) {
    Status s = lock.Lock(owner_path);
    if (!s.ok()) return s;
  }
  const std::string archive = folder + "/archive";
  std::vector<Archived> archived;
  Status s = ListArchive(env, archive, &archived);
  for (const Archived& file : archived) {
    if (s.ok()) s = env->RemoveFile(file.path);
  }
  if (s.ok() && env->FileExists(archive)) env->RemoveDir(archive).IgnoreError();  // foreign files keep it
  std::vector<LogFile> files;
  if (s.ok()) s = List(env, folder, &files);
  for (const LogFile& file : files) {
    const std::string path = folder + "/" + file.name();
    // A cut that was cut off leaves a .tmp, which is found by its log file: so the log file goes last.
    if (s.ok() && env->FileExists(path + ".tmp")) s = env->RemoveFile(path + ".tmp");
    if (s.ok()) s = env->RemoveFile(path);
  }
  if (!lock.held()) return s;
  if (s.ok() && env->FileExists(owner_path + ".tmp")) s = env->RemoveFile(owner_path + ".tmp");
  return s.ok() ? env->RemoveFile(owner_path) : s;
}

// Leaves the first bytes of a file, durably. The file is replaced and not cut where it is: a crash leaves the old one
// or the new one, and never a part that was good and is gone.
Status FileLog::Cut(const LogFile& file, uint64_t bytes) {
  std::unique_ptr<LogFileBytes> from;
  Status s = LogFileBytes::Open(options_.env, Path(file), &from);
  std::string content;
  while (s.ok() && content.size() < bytes) {
    const Slice piece = from->At(content.size(), std::min(bytes - content.size(), uint64_t{kUsualLogBlock}));
    if (piece.empty()) break;
    content.append(piece.data(), piece.size());
  }
  if (s.ok()) s = from->status();
  DCHECK_LE(content.size(), bytes);
  return s.ok() ? ReplaceFile(options_.env, Path(file), content) : s;
}

// Numbers go on above all that are in the folder and in the archive, so that a name never stands for two files. Files
// that are kept are made durable before any file is dropped: writes that were read once must not be lost by a later
// crash.
Status FileLog::Adopt(const std::vector<LogPiece>& pieces) {
  CHECK(file_ == nullptr && writer_ == nullptr);
  Env* const env = options_.env;
  std::vector<Archived> archived;
  Status s = ListArchive(env, ArchiveFolder(), &archived);
  if (!s.ok()) return s;
  if (!archived.empty()) next_number_ = archived.back().file.number + 1;
  std::vector<LogFile> unwanted;
  for (const LogPiece& piece : pieces) {
    if (!piece.in_file()) continue;
    next_number_ = std::max(next_number_, piece.file.number + 1);
    if (piece.verdict == LogVerdict::kDrop) {
      unwanted.push_back(piece.file);
      continue;
    }
    const std::string path = Path(piece.file);
    Ended ended;
    ended.file = piece.file;
    ended.last_sequence = piece.last_sequence;
    // Cut first, then measured, then synced, with its name.
    if (piece.damaged() && !MIODB_MUTATED(kLogFileUncut)) s = Cut(piece.file, piece.valid_bytes);
    if (s.ok()) s = env->GetFileSize(path, &ended.bytes);
    if (s.ok() && !MIODB_MUTATED(kLogFileKeptUnsynced)) s = SyncExistingFile(env, path);
    if (!s.ok()) return s;
    live_bytes_.fetch_add(ended.bytes, std::memory_order_relaxed);  // relaxed: a statistic
    MutexLock lock(&mutex_);
    ended_.push_back(std::move(ended));
  }
  if (next_number_ > kMostLogNumber) return NoNumberLeft();
  // Writes of files that are dropped are given out again under the same sequences, so these files must be gone for good
  // before the first of them is appended.
  if (unwanted.empty()) return s;
  // The newest first, so that what a crash leaves is still without a gap.
  bool had_content = false;
  for (auto file = unwanted.rbegin(); s.ok() && file != unwanted.rend(); ++file) {
    uint64_t bytes = 0;
    had_content = had_content || !env->GetFileSize(Path(*file), &bytes).ok() || bytes > 0;
    s = env->RemoveFile(Path(*file));
  }
  if (!s.ok() || !had_content || MIODB_MUTATED(kLogFileRemovalUnsynced)) return s;
  // A new file's sync makes the folder durable, and with it the removals.
  s = StartFile();
  if (s.ok()) s = file_->Sync();
  return s;
}

Status FileLog::NoNumberLeft() const {
  DCHECK_GT(next_number_, kMostLogNumber);
  return Status::Corruption(options_.folder,
                            "has a log file of the last number, in it or in its archive: move it away");
}

// The file is durable by name with its first sync; until then a loss of power may take it, with writes that nobody was
// told were safe.
Status FileLog::StartFile() {
  CHECK(file_ == nullptr && IsLogBlockSize(options_.block_size));
  if (next_number_ > kMostLogNumber) return NoNumberLeft();
  current_ = {next_number_, options_.block_size};
  WritableFile* file = nullptr;
  Status s = options_.env->NewWritableFile(Path(current_), &file);
  if (!s.ok()) return s;
  next_number_++;
  file_.reset(file);
  writer_ = std::make_unique<FileLogWriter>(file, options_.block_size, options_.padding);
  last_sequence_ = range_synced_ = 0;
  unsynced_ = false;
  return s;
}

// The batch is made as one piece, which the record's checksums cover, and handed to the system (Flush) before this
// returns: so it outlives the process. Sequences of one file rise without gaps.
Status FileLog::Append(const std::vector<LogRecord>& records, uint64_t first_sequence, bool sync) {
  Status s;
  CHECK(!records.empty());
  if (file_ == nullptr) s = StartFile();
  if (!s.ok()) return s;
  CHECK_GT(first_sequence, last_sequence_);
  batch_.clear();
  PutFixed64(&batch_, first_sequence);
  PutFixed32(&batch_, static_cast<uint32_t>(records.size()));
  // As a WriteBatch has its updates (write_batch_internal.h), so that tools and replays read both alike.
  for (const LogRecord& record : records) {
    batch_.push_back(static_cast<char>(record.type));
    PutLengthPrefixedSlice(&batch_, record.key);
    if (!IsTombstone(record.type)) PutLengthPrefixedSlice(&batch_, record.value);
  }
  // Figures are taken from the writer, which counts headers and padding.
  const uint64_t bytes_before = writer_->bytes(), padding_before = writer_->padding_bytes();
  s = writer_->Add(batch_);
  // A large batch must not keep its memory for as long as the database is open.
  if (batch_.capacity() > kKeptBatchBytes) std::string().swap(batch_);
  if (s.ok()) s = file_->Flush();
  if (!s.ok()) return s;
  last_sequence_ = first_sequence + records.size() - 1;
  unsynced_ = true;
  // relaxed: statistics
  bytes_.fetch_add(writer_->bytes() - bytes_before, std::memory_order_relaxed);
  live_bytes_.fetch_add(writer_->bytes() - bytes_before, std::memory_order_relaxed);
  padding_bytes_.fetch_add(writer_->padding_bytes() - padding_before, std::memory_order_relaxed);
  if (sync) return Sync();
  // RangeSync begins writing back and promises nothing: a later sync then has less to wait for.
  if (options_.bytes_per_sync > 0 && writer_->bytes() - range_synced_ >= options_.bytes_per_sync) {
    s = file_->RangeSync(range_synced_, writer_->bytes() - range_synced_);
    range_synced_ = writer_->bytes();
  }
  return s;
}

// Oldest first, one at a time, under a lock of its own: two threads that sync at once share the work. The file's handle
// is shared with the list, so Retire may take it away meanwhile. An error is for ever: the system tells it once, and
// what it lost nobody knows.
Status FileLog::SyncEnded() {
  MutexLock syncing(&sync_mutex_);
  while (sync_error_.ok()) {
    std::shared_ptr<WritableFile> oldest;
    {
      MutexLock lock(&mutex_);
      for (auto ended = ended_.begin(); ended != ended_.end() && oldest == nullptr; ++ended) oldest = ended->unsynced;
    }
    if (oldest == nullptr) break;
    if (!MIODB_MUTATED(kLogFileOlderUnsynced)) sync_error_ = oldest->Sync();
    syncs_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
    if (!sync_error_.ok()) break;
    MutexLock lock(&mutex_);
    for (Ended& ended : ended_) {
      if (ended.unsynced == oldest) ended.unsynced.reset();
    }
  }
  return sync_error_;
}

// Syncs older files first, so that the durable part of the log has no gap.
Status FileLog::Sync() {
  Status s = SyncEnded();
  if (!s.ok() || file_ == nullptr) return s;
  CHECK(writer_ != nullptr);
  if (!MIODB_MUTATED(kLogFileUnsynced)) s = file_->Sync();
  syncs_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a statistic
  range_synced_ = writer_->bytes();
  if (s.ok()) {
    unsynced_ = false;
    return s;
  }
  MutexLock lock(&sync_mutex_);
  return sync_error_ = s;
}

// A durable file is closed. Any other file keeps its handle for a later sync.
void FileLog::EndFile() {
  if (file_ == nullptr) return;
  CHECK(writer_ != nullptr);
  Ended ended;
  ended.file = current_;
  ended.bytes = writer_->bytes();
  ended.last_sequence = last_sequence_;
  if (unsynced_) ended.unsynced = std::move(file_);
  writer_.reset();
  file_.reset();
  MutexLock lock(&mutex_);
  ended_.push_back(std::move(ended));
}

// Where a replay may begin that needs all writes above a sequence: between two files, never inside of one.
uint64_t FileLog::EndBefore(uint64_t sequence, uint64_t otherwise) {
  MutexLock lock(&mutex_);
  uint64_t end = otherwise;
  for (const Ended& ended : ended_) {
    if (ended.last_sequence <= sequence) end = std::max(end, ended.last_sequence);
  }
  return end;
}

// Files leave the list before they are removed, so that nobody syncs or counts them; those that could not be removed
// come back to its front and are tried again with the next flush. A crash in between leaves files whose writes are in
// tables, which a recovery keeps and does not replay.
Status FileLog::Retire(uint64_t flushed_sequence) {
  std::list<Ended> retired;
  {
    MutexLock lock(&mutex_);
    auto end = ended_.begin();
    while (end != ended_.end() && end->last_sequence <= flushed_sequence) ++end;
    retired.splice(retired.end(), ended_, ended_.begin(), end);
  }
  Status s;
  while (s.ok() && !retired.empty()) {
    s = Discard(retired.front().file);
    if (s.IsNotFound()) s = Status::OK();  // somebody else has removed it
    if (!s.ok()) break;
    live_bytes_.fetch_sub(retired.front().bytes, std::memory_order_relaxed);  // relaxed: a statistic
    retired.pop_front();
  }
  if (retired.empty()) return s;
  MutexLock lock(&mutex_);
  ended_.splice(ended_.begin(), retired);  // for another attempt
  return s;
}

// The second of the move is part of the name, because it is what the archive's age limit goes by.
Status FileLog::Discard(const LogFile& file) {
  Env* const env = options_.env;
  if (!archives()) return env->RemoveFile(Path(file));
  if (!env->FileExists(ArchiveFolder())) {
    Status s = env->CreateDir(ArchiveFolder());
    if (!s.ok()) return s;
  }
  next_trim_.store(0, std::memory_order_relaxed);  // relaxed: a hint
  return env->RenameFile(Path(file),
                         ArchiveFolder() + "/" + file.name() + "." + std::to_string(options_.now_seconds()));
}

// From the oldest on, until neither limit is exceeded. Errors are of no use to the caller: what is left is too much of
// what nobody needs.
void FileLog::TrimArchive() {
  if (!archives()) return;
  const uint64_t now = options_.now_seconds();
  if (now < next_trim_.load(std::memory_order_relaxed)) return;  // relaxed: a hint
  const uint64_t pause = options_.archive_seconds > 0 ? options_.archive_seconds / 2 : kTrimSeconds;
  // relaxed: a hint
  next_trim_.store(now + std::clamp(pause, uint64_t{1}, kTrimSeconds), std::memory_order_relaxed);
  Env* const env = options_.env;
  std::vector<Archived> files;
  if (!ListArchive(env, ArchiveFolder(), &files).ok()) return;
  std::vector<uint64_t> sizes(files.size());
  // A file that cannot be measured counts nothing, and goes by its age.
  uint64_t total = 0;
  for (size_t i = 0; i < files.size(); i++) {
    if (env->GetFileSize(files[i].path, &sizes[i]).ok()) total += sizes[i];
  }
  for (size_t i = 0; i < files.size(); i++) {
    const bool old =
        options_.archive_seconds > 0 && now > files[i].second && now - files[i].second >= options_.archive_seconds;
    const bool too_much = options_.archive_bytes > 0 && total > options_.archive_bytes;
    if (!old && !too_much) continue;
    // A file that cannot be removed is tried again next time.
    if (env->RemoveFile(files[i].path).ok()) total -= sizes[i];
  }
}

}  // namespace miodb
