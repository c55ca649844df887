// What a checkpoint is made of, and the directory that it is made in.

#include "src/db/checkpoint.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "src/db/file_names.h"
#include "src/db/store_file.h"
#include "src/nvm/pool_copy.h"
#include "src/util/clock.h"
#include "src/util/held_lock.h"
#include "src/util/no_throw.h"
#include "src/util/posix_file.h"
#include "src/version/manifest.h"

namespace miodb {

namespace {

std::string SsdFolder(const std::string& directory) { return directory + "/ssd"; }

bool Exists(const std::string& path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0;
}

// A name without slashes at its end: what is made beside it has the same and something behind it.
std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// ---- the directory

// DIRECTORY.tmp, from its making to its rename. What is in it goes with its owner, unless it was renamed.
class Workshop {
 public:
  Workshop(Env* env, const std::string& directory)
      : env_(env), directory_(WithoutSlashes(directory)), path_(directory_ + ".tmp"), lock_(env) {}
  ~Workshop() {
    if (lock_.held()) Remove();
  }
  Workshop(const Workshop&) = delete;
  Workshop& operator=(const Workshop&) = delete;

  const std::string& path() const { return path_; }
  const std::string& directory() const { return directory_; }

  Status Open();

  // Everything in it is durable.
  Status Publish();

 private:
  std::string Mark() const { return CheckpointMarkPath(path_); }
  Status CheckLeft() const;
  Status Empty(const std::string& folder) const;
  void Remove();

  Env* const env_;
  const std::string directory_;
  const std::string path_;
  HeldLock lock_;
};

// Only what says that it is a checkpoint in the making may be emptied. A directory without anything in it is what a
// call leaves that was cut off at its first step; what has LOCK was opened since.
Status Workshop::CheckLeft() const {
  struct stat info;
  if (::lstat(path_.c_str(), &info) != 0 || info.st_uid != ::geteuid()) {
    return Status::InvalidArgument(path_, "exists, and is another user's: move it away");
  }
  std::vector<std::string> names;
  Status s = env_->GetChildren(path_, &names);
  if (!s.ok()) return Status::IOError(path_, "cannot be looked at: " + s.ToString());
  bool blank = true;
  for (const std::string& name : names) blank = blank && (name == "." || name == "..");
  if (blank || (Exists(Mark()) && !Exists(LockPath(path_)))) return s;
  return Status::InvalidArgument(path_, "exists, and is no checkpoint that was cut off: move it away");
}

// The lock tells a checkpoint that was cut off from one that another call is making.
Status Workshop::Open() {
  CHECK(!lock_.held());
  if (Exists(directory_)) return Status::InvalidArgument(directory_, "exists: a checkpoint makes its directory");
  if (directory_.ends_with(".tmp")) {
    return Status::InvalidArgument(directory_, "ends in .tmp, as a checkpoint that was cut off does");
  }
  const std::string parent = DirectoryOf(directory_);
  if (!env_->FileExists(parent)) {
    return Status::InvalidArgument(parent, "does not exist: the checkpoint would be in it");
  }
  Status s = RefuseLink(path_);
  if (!s.ok()) return s;
  if (Exists(path_)) {
    s = CheckLeft();
  } else {
    s = env_->CreateDir(path_);
    if (!s.ok()) return Status::IOError(path_, "cannot create the directory: " + s.ToString());
  }
  if (s.ok()) s = lock_.Lock(Mark());
  if (!s.ok()) return s.IsNotFound() ? Status::IOError(path_, "another checkpoint is made there") : s;
  return Empty(path_);
}

// Files but the mark, and the one folder that a checkpoint has.
Status Workshop::Empty(const std::string& folder) const {
  CHECK(lock_.held());
  std::vector<std::string> names;
  Status s = env_->GetChildren(folder, &names);
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    if (!s.ok() || name == "." || name == ".." || path == Mark()) continue;
    if (path == SsdFolder(path_) && !IsLink(path)) {
      s = Empty(path);
      if (s.ok()) s = env_->RemoveDir(path);
    } else {
      s = env_->RemoveFile(path);
    }
  }
  return s;
}

// The mark goes last, so that a removal that is cut off can be repeated.
void Workshop::Remove() {
  Empty(path_).IgnoreError();
  env_->RemoveFile(Mark()).IgnoreError();
  lock_.Unlock();
  env_->RemoveDir(path_).IgnoreError();
}

// The name is never taken from another directory, which rename would do to an empty one.
Status Workshop::Publish() {
  CHECK(lock_.held());
  Status s = SyncDirectory(path_);
  if (!s.ok()) return s;
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, directory_.c_str(), RENAME_NOREPLACE) != 0 &&
      (errno != EINVAL || Exists(directory_) || ::rename(path_.c_str(), directory_.c_str()) != 0)) {
    return Status::IOError(path_, "cannot rename to " + directory_ + ": " + strerror(errno));
  }
  s = SyncDirectoryOf(directory_);
  if (!s.ok()) {  // a name that may not last is worse than none
    ::rename(directory_.c_str(), path_.c_str());
    return s;
  }
  env_->RemoveFile(CheckpointMarkPath(directory_)).IgnoreError();
  lock_.Unlock();
  return s;
}

// ---- the parts

// Each extent once: tables share those of their payload.
std::vector<PoolCopy::Part> PartsOf(const FrozenState& frozen) {
  CHECK(frozen.version != nullptr);
  std::map<PmRef, PoolCopy::Part> parts;
  const auto add = [&](const Extent& extent) {
    parts[extent.offset()] = {extent.offset(), extent.size(), extent.kind()};
  };
  for (const Run* run : frozen.version->runs) {
    for (const TableRef& table : run->tables) {
      add(*table->index());
      for (const PayloadRef& payload : table->payload()) add(*payload.extent);
    }
  }
  for (const LogChunkPlace& chunk : frozen.state.chunks) {
    DCHECK(chunk.sealed && parts.count(chunk.offset) == 0);
    parts[chunk.offset] = {chunk.offset, chunk.sealed_size, ExtentKind::kLog};
  }
  std::vector<PoolCopy::Part> list;
  for (const auto& [offset, part] : parts) list.push_back(part);
  return list;
}

// The manifest is made as that of a new database, whose first edit is the state.
Status WritePool(const DbContext& db, const FrozenState& frozen, const Uuid& uuid, const std::string& path) {
  DCHECK_EQ(frozen.log.size(), frozen.state.chunks.size());
  std::string encoded;
  frozen.state.EncodeTo(&encoded);
  PoolCopy copy(*db.pool, path);
  Status s = copy.Begin(uuid, PartsOf(frozen), Manifest::MostBytes(encoded.size()));
  if (!s.ok()) return s;
  Manifest manifest(copy.pool());
  s = manifest.Create(frozen.state.comparator);
  if (s.ok()) s = manifest.Append(frozen.state);
  return s.ok() ? copy.Finish(db.options.file_access) : s;
}

Status CopyFile(Env* env, const std::string& from, const std::string& to) {
  DCHECK(from != to);
  SequentialFile* opened = nullptr;
  Status s = env->NewSequentialFile(from, &opened);
  const std::unique_ptr<SequentialFile> in(opened);
  WritableFile* made = nullptr;
  if (s.ok()) s = env->NewWritableFile(to, &made);
  const std::unique_ptr<WritableFile> out(made);
  std::string buffer(size_t{1} << 20, '\0');
  Slice bytes;
  while (s.ok()) {
    s = in->Read(buffer.size(), &bytes, buffer.data());
    if (!s.ok() || bytes.empty()) break;
    s = out->Append(bytes);
  }
  if (s.ok()) s = out->Sync();
  return s.ok() ? out->Close() : s;
}

// A file under two names goes when both are gone, and nobody writes to a table file once it is whole.
Status LinkOrCopy(Env* env, const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) == 0) return Status::OK();
  const Status s = CopyFile(env, from, to);
  return s.IsNotFound() ? Status::Corruption(from, "missing: the manifest names it") : s;
}

Status WriteSsd(const DbContext& db, const FrozenState& frozen, uint64_t pool_id, const std::string& folder) {
  CHECK(db.ssd != nullptr);
  Env* const env = db.options.env;
  Status s = env->CreateDir(folder);
  if (s.ok()) s = SsdStore::WriteMark(env, folder, pool_id, 0);
  for (const SstPlace& file : frozen.state.files) {
    if (!s.ok()) return s;
    s = LinkOrCopy(env, db.ssd->FileName(IdOf(file)), folder + "/" + SsdStore::TableName(IdOf(file)));
  }
  return s.ok() ? SyncDirectory(folder) : s;
}

// The paths are those in the directory that the checkpoint is made in, of which STORE has what is below it.
Status WriteParts(const DbContext& db, const FrozenState& frozen, const std::string& folder) {
  StoreDescriptor store;
  store.state = StoreState::kInUse;
  store.pool = NewUuid();
  Status s = WritePool(db, frozen, store.pool, PoolPath("", folder));
  if (s.ok() && db.ssd != nullptr) {
    store.ssd_path = SsdFolder(folder);
    s = WriteSsd(db, frozen, PoolIdOf(store.pool), store.ssd_path);
  }
  return s.ok() ? WriteStore(db.options.env, folder, store) : s;
}

}  // namespace

// With a volatile pool and an SSD tier an open writes the log once more, and then a version may be in a table and in a
// file: merges of such a database know that, and those of a checkpoint would not.
Status Checkpoint::CheckSupported() const {
  if (db_.hooks.memory != nullptr || !IsSystemEnv(db_.options.env)) {
    return Status::NotSupported("CreateCheckpoint", "Options::env is not the system's");
  }
  if (!db_.LogsUntilSsd()) return Status::OK();
  return Status::NotSupported("CreateCheckpoint",
                              "the pool is anonymous and has an SSD tier: close the database and copy its directories");
}

Status Checkpoint::Create(const std::string& directory) {
  if (directory.empty()) return Status::InvalidArgument("CreateCheckpoint", "the directory has no name");
  Status s = CheckSupported();
  if (!s.ok()) return s;
  const uint64_t start = NowMicros();
  Workshop workshop(db_.options.env, directory);
  s = workshop.Open();
  FrozenState frozen;
  if (s.ok()) s = savepoints_->Freeze(&frozen);
  if (!s.ok()) return s;
  const size_t tables = frozen.state.tables.size();
  s = NoThrow(directory, [&] { return WriteParts(db_, frozen, workshop.path()); });
  savepoints_->Thaw(&frozen);
  if (s.ok()) s = workshop.Publish();
  if (!s.ok()) return s;
  db_.Log("made checkpoint %s of %zu tables, %llu us", workshop.directory().c_str(), tables,
          static_cast<unsigned long long>(NowMicros() - start));
  return s;
}

}  // namespace miodb
