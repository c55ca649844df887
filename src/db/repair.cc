#include <sys/stat.h>

#include <algorithm>
#include <cinttypes>
#include <map>
#include <memory>
#include <new>

#include "miodb/db.h"
#include "miodb/env.h"
#include "miodb/write_batch.h"
#include "src/db/db_impl.h"
#include "src/db/file_names.h"
#include "src/db/log_scan.h"
#include "src/db/options_check.h"
#include "src/db/region_places.h"
#include "src/db/ssd_options.h"
#include "src/inspect/salvage.h"
#include "src/inspect/ssd_salvage.h"
#include "src/nvm/pool.h"
#include "src/nvm/pool_image.h"
#include "src/util/check.h"
#include "src/util/posix_file.h"
#include "src/util/replace_file.h"
#include "src/util/write_batch_internal.h"
#include "src/version/ssd_manifest.h"

// A repair, step by step:
//
//   1 Lock the directory and the pool, so that nobody else opens them.
//   2 Map the pool for reading; find tables and log frames in it (inspect/salvage.h says which).
//   3 Write all keys that can be read, in order, into a new database: its pool lies beside the damaged one, its LOCK in
//     a directory of its own below "name". What an earlier repair left unfinished is removed before.
//     Log files are applied on top: what they hold is newer. The new database's own log is in its pool.
//   4 Flush and close it.
//   5 Write LOST.
//   6 Set further regions of the damaged pool aside; it still finds them there, in the same folders.
//   7 Give the damaged pool a second name, then the new pool the name of the damaged one. With an SSD tier, whose files
//     are read in step 3 and written anew into a directory beside the damaged one, the same with the directories.
//     Remove the log files: if a crash prevents that, the new pool refuses them, and another repair applies them again.
//
// With a volatile pool there is none to map. What is in the table files and in the log is written into a database whose
// pool is volatile as well, and all of that is drained. Files may hold newer writes than what is left of the log: of
// these the numbers are noted in step 3, and older writes of the log are left out. Step 7 replaces SSD_MANIFEST, then
// begins an empty log, then exchanges the directories.
//
// What a crash leaves: up to the rename of step 7 the damaged database and files that the next repair removes; after
// it the repaired one. If only the directories were left to be exchanged, which their file POOL tells, the next repair
// does just that. Writing anew costs space and time, but nothing that is damaged can be made worse by it, and what
// comes out was written by the engine itself.

namespace miodb {

namespace {

// Updates are handed to the new database in batches of this size.
constexpr size_t kBatchBytes = 1 << 20;

struct KeyLess {
  KeyOrder order;
  bool operator()(const std::string& a, const std::string& b) const { return order.Compare(a, b) < 0; }
};

// For some keys the newest write that is known.
using NewestWrites = std::map<std::string, uint64_t, KeyLess>;

// Such a directory cannot be exchanged for another.
bool IsMountPoint(const std::string& path) {
  struct stat inside, above;
  return ::stat(path.c_str(), &inside) == 0 && ::stat((path + "/..").c_str(), &above) == 0 &&
         inside.st_dev != above.st_dev;
}

// A walk that notes the newest version of every key if it is above a number.
class NotingWalk final : public InternalIterator {
 public:
  NotingWalk(std::unique_ptr<InternalIterator> walk, uint64_t above, NewestWrites* newest)
      : walk_(std::move(walk)), above_(above), newest_(newest) {}

  bool Valid() const override { return walk_->Valid(); }
  void SeekToFirst() override {
    walk_->SeekToFirst();
    Note();
  }
  void Next() override {
    walk_->Next();
    Note();
  }
  void SeekToLast() override { CHECK(false); }                  // forward only
  void Seek(const Slice&, uint64_t) override { CHECK(false); }  // the same
  void Prev() override { CHECK(false); }                        // the same
  const RecordView& record() const override { return walk_->record(); }
  Status status() const override { return walk_->status(); }

 private:
  // Versions come in key order, newest first, and the first of a key stays.
  void Note() {
    if (!Valid() || record().sequence() <= above_) return;
    newest_->try_emplace(newest_->end(), record().key.ToString(), record().sequence());
  }

  const std::unique_ptr<InternalIterator> walk_;
  const uint64_t above_;
  NewestWrites* const newest_;
};

class Repairer {
 public:
  Repairer(const std::string& name, const Options& options)
      : name_(name),
        options_(options),
        env_(options.env),
        pool_path_(PoolPath(options, name)),
        volatile_(Region::IsAnonymous(pool_path_)),
        fresh_path_(RepairedPoolPath(options, name)),
        newest_(KeyLess{KeyOrder(options.comparator)}) {}

  ~Repairer() {
    RemoveFresh().IgnoreError();
    own_log_.reset();
    if (lock_ != nullptr) env_->UnlockFile(lock_).IgnoreError();
  }

  Status Run();

 private:
  Status RunVolatile();
  Status Lock();
  Status FinishSwap(uint64_t pool_id, bool* finished);
  Status AddSsd(uint64_t pool_id, const ManifestState* state, Salvage* salvage);
  Status SwapDirectories();
  Status Write(Salvage* salvage, uint64_t flushed_sequence);
  Status FindLogFolder();
  Status CheckLogOwner(uint64_t store_id);
  Status FindLogBegin(uint64_t* first_sequence);
  Status ApplyLogFiles(DB* db, uint64_t flushed_sequence);
  Status LeaveOutOlder(const Slice& contents, WriteBatch* batch);
  Status DrainAll(DB* db);
  Status WriteLost(const Salvage::Counts& counts);
  Status SetRegionsAside();
  Status Swap();
  Status SwapVolatile();
  Status RemoveLogFiles();
  Status BeginLog(uint64_t store_id);
  Status RemoveFresh();
  void Report(const Problem& problem);

  const std::string name_;
  const Options options_;
  Env* const env_;
  const std::string pool_path_;
  const bool volatile_;
  const std::string fresh_path_;
  FileLock* lock_ = nullptr;
  std::unique_ptr<Logger> own_log_;
  Logger* info_log_ = nullptr;
  std::string lost_;                          // content of LOST
  std::vector<std::string> damaged_regions_;  // further regions of the damaged pool
  std::string wal_folder_;                    // empty: there are no log files
  uint64_t log_reach_ = 0;                    // the log went at least this far
  uint64_t log_begin_ = 0;                    // what is left of the log has no writes before it
  NewestWrites newest_;                       // of what files have newer than that
  std::unique_ptr<SsdStore> ssd_;             // of the damaged database
  bool ssd_in_use_ = false;                   // the new files belong to the pool that is in place
};

Status Repairer::Run() {
  if (!options_.ssd_path.empty() && IsMountPoint(options_.ssd_path)) {
    return Status::NotSupported(options_.ssd_path,
                                "a repair puts another directory in its place, which a mount point does not allow");
  }
  if (volatile_) return RunVolatile();
  if (Region::IsDevice(pool_path_)) {
    return Status::NotSupported(pool_path_,
                                "a repair needs a file: copy the device into one, and name that as pool_path");
  }
  Status s = Lock();
  if (!s.ok()) return s;
  std::unique_ptr<PoolImage> image;
  s = PoolImage::Open(pool_path_, &image, PlacesOfRegions(options_, name_));
  if (s.IsNotFound()) return Status::InvalidArgument(pool_path_, "does not exist");
  if (!s.ok()) return s;
  damaged_regions_ = image->region_paths();
  for (const std::string& region : damaged_regions_) {
    if (!Region::IsDevice(region)) continue;
    return Status::NotSupported(region, "a repair needs files: copy the region's device into one, and name that");
  }
  const PoolHeader header = ReadPoolHeader(image->At(0), image->size());
  bool finished = false;
  s = FinishSwap(header.pool_id, &finished);
  if (!s.ok() || finished) return s;
  s = RemoveFresh();
  if (!s.ok()) return s;
  Log(info_log_, "repairing %s", pool_path_.c_str());
  Salvage salvage(image.get(), KeyOrder(options_.comparator), [this](const Problem& p) { Report(p); });
  s = salvage.Find();
  if (s.ok()) s = AddSsd(header.pool_id, salvage.state(), &salvage);
  if (s.ok()) s = Write(&salvage, salvage.flushed_sequence());
  if (s.ok()) s = WriteLost(salvage.counts());
  if (s.ok()) s = Swap();
  if (!s.ok()) Log(info_log_, "repair failed: %s", s.ToString().c_str());
  return s;
}

Status Repairer::RunVolatile() {
  if (options_.ssd_path.empty()) {
    return Status::InvalidArgument("Options::pool_path is anonymous",
                                   "without Options::ssd_path there is nothing left that could be repaired");
  }
  if (env_->FileExists(name_ + "/pool")) {
    return Status::InvalidArgument("Options::pool_path is anonymous", "the database has a pool: " + name_ + "/pool");
  }
  Status s = Lock();
  if (!s.ok()) return s;
  const std::string path = SsdManifestPath(name_);
  SsdManifest manifest;
  const bool exists = env_->FileExists(path);
  const Status read = exists ? SsdManifest::Read(env_, path, &manifest) : Status::NotFound(path);
  const bool whole = read.ok();
  if (!whole && !read.IsCorruption() && !read.IsNotFound()) return read;
  s = FindLogFolder();
  bool finished = false;
  if (!s.ok()) return s;
  if (whole) {
    s = FinishSwap(manifest.store_id, &finished);
  } else if (!env_->FileExists(options_.ssd_path)) {
    return Status::InvalidArgument(name_, "has neither a file SSD_MANIFEST nor an SSD tier");
  } else {
    s = SsdStore::ReadOwner(env_, options_.ssd_path, &manifest.store_id);
  }
  if (!s.ok() || finished) return s;
  s = RemoveFresh();
  if (s.ok()) s = CheckLogOwner(manifest.store_id);
  ManifestState state;
  if (s.ok() && whole) s = state.Apply(manifest.state);
  if (!s.ok()) return s;
  if (whole && state.comparator != options_.comparator->Name()) {
    return Status::InvalidArgument(path, "the comparator was " + state.comparator);
  }
  Log(info_log_, "repairing %s", path.c_str());
  log_reach_ = manifest.log_reach;
  log_begin_ = state.flushed_sequence + 1;
  if (!whole) {
    Report({path, exists ? "damaged: all table files that there are are taken" : "missing: all table files are taken"});
    s = FindLogBegin(&log_begin_);
  }
  Salvage salvage(nullptr, KeyOrder(options_.comparator), [this](const Problem& p) { Report(p); });
  if (s.ok()) s = AddSsd(manifest.store_id, whole ? &state : nullptr, &salvage);
  if (s.ok()) s = Write(&salvage, state.flushed_sequence);
  if (s.ok()) s = WriteLost(salvage.counts());
  if (s.ok()) s = SwapVolatile();
  if (!s.ok()) Log(info_log_, "repair failed: %s", s.ToString().c_str());
  return s;
}

Status Repairer::Lock() {
  if (!env_->FileExists(name_)) return Status::InvalidArgument(name_, "does not exist");
  Status s = env_->LockFile(LockPath(name_), &lock_);
  return s.ok() ? OpenInfoLog(options_, name_, &own_log_, &info_log_) : s;
}

void Repairer::Report(const Problem& problem) {
  const std::string line = problem.ToString();
  Log(info_log_, "%s", line.c_str());
  lost_ += line + "\n";
}

// An earlier repair may have exchanged the pools, or SSD_MANIFEST, but not the directories.
Status Repairer::FinishSwap(uint64_t pool_id, bool* finished) {
  uint64_t owner;
  if (options_.ssd_path.empty() || !SsdStore::ReadOwner(env_, RepairedSsdPath(options_), &owner).ok() ||
      owner != pool_id) {
    return Status::OK();
  }
  const bool old_is_there = SsdStore::ReadOwner(env_, options_.ssd_path, &owner).ok();
  if (old_is_there && owner == pool_id) return Status::OK();  // a new one is in use, which needed no files of ours
  ssd_in_use_ = true;
  Status s;
  if (volatile_ && !FileLog::IsOwnedBy(env_, wal_folder_, pool_id)) {
    if (old_is_there) s = CheckLogOwner(owner);
    if (s.ok()) s = BeginLog(pool_id);
  }
  if (s.ok()) s = SwapDirectories();
  *finished = s.ok();
  return s;
}

Status Repairer::SwapDirectories() {
  Status s;
  if (env_->FileExists(options_.ssd_path)) {
    int n = 1;
    while (env_->FileExists(DamagedPath(options_.ssd_path, n))) n++;
    s = env_->RenameFile(options_.ssd_path, DamagedPath(options_.ssd_path, n));
    if (s.ok()) Log(info_log_, "the damaged files are now in %s", DamagedPath(options_.ssd_path, n).c_str());
  }
  if (s.ok()) s = env_->RenameFile(RepairedSsdPath(options_), options_.ssd_path);
  return s.ok() ? SyncDirectoryOf(options_.ssd_path) : s;
}

// pool_id: 0 if it cannot be read.
Status Repairer::AddSsd(uint64_t pool_id, const ManifestState* state, Salvage* salvage) {
  if (options_.ssd_path.empty()) {
    if (state == nullptr || state->files.empty()) return Status::OK();
    return Status::InvalidArgument(pool_path_, "the database has files on SSD; Options::ssd_path is empty");
  }
  if (!env_->FileExists(options_.ssd_path)) {
    if (state != nullptr && state->files.empty()) return Status::OK();
    Report({options_.ssd_path, "lost: the directory of the SSD tier is not there"});
    return Status::OK();
  }
  Status s;
  if (pool_id == 0) s = SsdStore::ReadOwner(env_, options_.ssd_path, &pool_id);
  if (s.ok()) s = SsdStore::Open(SsdStoreOptions(options_), pool_id, &ssd_);
  if (!s.ok()) return s;
  auto walk = NewSsdSalvage(ssd_.get(), state, [this](const Problem& p) { Report(p); });
  if (volatile_) walk = std::make_unique<NotingWalk>(std::move(walk), log_begin_ - 1, &newest_);
  salvage->Add(std::move(walk));
  return s;
}

Status Repairer::RemoveFresh() {
  if (lock_ == nullptr) return Status::OK();
  Status s = volatile_ ? Status::OK() : Pool::Destroy(fresh_path_);
  if (s.ok() && !options_.ssd_path.empty() && !ssd_in_use_) {
    s = SsdStore::Destroy(env_, RepairedSsdPath(options_));
  }
  const std::string directory = RepairDirectory(name_);
  if (!s.ok() || !env_->FileExists(directory)) return s;
  if (volatile_) s = FileLog::Destroy(env_, directory, nullptr);
  const std::string manifest = SsdManifestPath(directory), wal = WalDirPath(directory);
  for (const std::string& path : {manifest, manifest + ".tmp", wal, wal + ".tmp", LockPath(directory)}) {
    if (s.ok() && env_->FileExists(path)) s = env_->RemoveFile(path);
  }
  return s.ok() ? env_->RemoveDir(directory) : s;
}

// flushed_sequence: what the log has up to this write is in tables.
Status Repairer::Write(Salvage* salvage, uint64_t flushed_sequence) {
  Options options = options_;
  options.create_if_missing = true;
  options.error_if_exists = true;
  if (!volatile_) {
    options.pool_path = fresh_path_;
    options.nvm_regions.clear();  // all goes into one file; regions can be added to it afterwards
  }
  if (!damaged_regions_.empty()) options.pool_size = 0;
  if (!options.ssd_path.empty()) options.ssd_path = RepairedSsdPath(options_);
  options.info_log = info_log_;
  options.log_mode = volatile_ ? kLogFile : kLogPmem;
  options.wal_dir.clear();
  DBImpl::Hooks hooks;
  if (volatile_) {
    hooks.any_sizes = true;
    options.nvm_budget = 1;  // everything is drained
  }
  std::unique_ptr<DBImpl> db;
  Status s = DBImpl::Open(options, RepairDirectory(name_), hooks, &db);
  if (!s.ok()) return s;
  WriteBatch batch;
  const auto write_batch = [&] {
    Status written = db->Write(WriteOptions(), &batch);
    batch.Clear();
    return written;
  };
  s = salvage->ForEach([&](const Slice& key, const Slice& value) {
    batch.Put(key, value);
    return batch.ApproximateSize() >= kBatchBytes ? write_batch() : Status::OK();
  });
  if (s.ok()) s = write_batch();
  if (s.ok()) s = ApplyLogFiles(db.get(), flushed_sequence);
  if (s.ok()) s = db->Flush();
  return s.ok() && volatile_ ? DrainAll(db.get()) : s;
}

Status Repairer::DrainAll(DB* db) {
  db->CompactRange(nullptr, nullptr);
  Status s = db->WaitForIdle();
  std::string entries;
  CHECK(db->GetProperty("miodb.entries", &entries));
  return s.ok() && entries != "0" ? Status::IOError(options_.ssd_path, "not everything could be drained") : s;
}

// A volatile pool's database always has one: as it remembers, or where that is gone, as the options say.
Status Repairer::FindLogFolder() {
  const bool remembered = env_->FileExists(WalDirPath(name_));
  Status s;
  if (remembered) {
    std::string wal_dir;
    s = ReadFileToString(env_, WalDirPath(name_), &wal_dir);
    if (s.ok()) wal_folder_ = WalFolder(wal_dir, name_);
  }
  if (volatile_ && (!remembered || !env_->FileExists(wal_folder_))) {
    wal_folder_ = WalFolder(options_.wal_dir, name_);
  }
  return s;
}

// The log of another database is neither read nor removed.
Status Repairer::CheckLogOwner(uint64_t store_id) {
  if (FileLog::IsOwnedBy(env_, wal_folder_, store_id)) return Status::OK();
  if (FileLog::IsOwned(env_, wal_folder_)) {
    return Status::InvalidArgument(wal_folder_, "holds the log of another database (its file WAL_OWNER says whose)");
  }
  Report({wal_folder_, "does not say that it holds the log of this database"});
  return Status::OK();
}

// Stores the first write that is left of the log; UINT64_MAX if none is.
Status Repairer::FindLogBegin(uint64_t* first_sequence) {
  *first_sequence = UINT64_MAX;
  std::vector<LogFile> files;
  Status s = FileLog::List(env_, wal_folder_, &files);
  for (const LogFile& file : files) {
    LogScan scan;
    scan.file = file;
    if (s.ok()) s = ScanLogFile(env_, wal_folder_, 0, &scan);
    if (scan.first_sequence != 0) *first_sequence = std::min(*first_sequence, scan.first_sequence);
  }
  return s;
}

Status Repairer::ApplyLogFiles(DB* db, uint64_t flushed_sequence) {
  std::vector<LogFile> files;
  Status s;
  if (!volatile_) s = FindLogFolder();
  if (s.ok() && !wal_folder_.empty()) s = FileLog::List(env_, wal_folder_, &files);
  uint64_t last_sequence = flushed_sequence;
  for (const LogFile& file : files) {
    LogScan scan;
    scan.file = file;
    if (s.ok()) s = ScanLogFile(env_, wal_folder_, flushed_sequence, &scan);
    if (scan.damaged) Report({wal_folder_ + ": " + scan.Where(), "damaged, what follows in this file is lost"});
    if (scan.first_sequence > last_sequence + 1) {
      Report({wal_folder_ + "/" + file.name(), "writes " + std::to_string(last_sequence + 1) + " to " +
                                                   std::to_string(scan.first_sequence - 1) + " are missing before it"});
    }
    last_sequence = std::max(last_sequence, scan.last_sequence);
    for (const std::string& contents : scan.batches) {
      WriteBatch batch;
      if (s.ok()) s = volatile_ ? LeaveOutOlder(contents, &batch) : WriteBatchInternal::SetContents(&batch, contents);
      if (s.ok()) s = db->Write(WriteOptions(), &batch);
    }
  }
  if (s.ok() && last_sequence < log_reach_) {
    Report({wal_folder_, "writes " + std::to_string(last_sequence + 1) + " to " + std::to_string(log_reach_) +
                             " are missing, but for those that are in table files"});
  }
  return s;
}

// A batch of the log without the updates of which files have newer ones.
Status Repairer::LeaveOutOlder(const Slice& contents, WriteBatch* batch) {
  BatchReader reader(contents);
  uint64_t sequence = DecodeFixed64(contents.data());
  uint8_t type;
  Slice key, value;
  for (; reader.Next(&type, &key, &value); sequence++) {
    const auto newer = newest_.find(key.ToString());
    if (newer != newest_.end() && newer->second >= sequence) continue;
    if (type == kTypeValue) {
      batch->Put(key, value);
    } else {
      batch->Delete(key);
    }
  }
  return Status::OK();
}

Status Repairer::WriteLost(const Salvage::Counts& counts) {
  char summary[256];
  snprintf(summary, sizeof(summary),
           "kept %" PRIu64 " keys, from %" PRIu64 " table entries in %" PRIu64 " tables and %" PRIu64
           " writes in the log; %" PRIu64 " entries lost, %" PRIu64 " lines above\n",
           counts.keys, counts.entries, counts.tables, counts.writes, counts.entries_lost, counts.problems);
  Log(info_log_, "%s", summary);
  return WriteStringToFile(env_, lost_ + summary, LostPath(name_));
}

// The regions of the damaged pool make room at their paths. It still finds them: they lie in the same folders.
Status Repairer::SetRegionsAside() {
  Status s;
  for (const std::string& region : damaged_regions_) {
    int n = 1;
    while (env_->FileExists(DamagedPath(region, n))) n++;
    if (s.ok()) s = env_->RenameFile(region, DamagedPath(region, n));
    if (s.ok()) Log(info_log_, "a region of the damaged pool is now %s", DamagedPath(region, n).c_str());
  }
  return s;
}

Status Repairer::Swap() {
  std::string kept = DamagedPoolPath(options_, name_, 1);
  for (int i = 2; env_->FileExists(kept); i++) kept = DamagedPoolPath(options_, name_, i);
  Status s = SetRegionsAside();
  ssd_in_use_ = true;  // from here on they may be, whatever comes back
  if (s.ok()) s = Region::Replace(pool_path_, fresh_path_, kept);
  if (!s.ok()) return s;
  Log(info_log_, "repaired; the damaged pool is now %s", kept.c_str());
  if (!options_.ssd_path.empty()) s = SwapDirectories();
  return s.ok() ? RemoveLogFiles() : s;
}

Status Repairer::RemoveLogFiles() {
  if (wal_folder_.empty()) return Status::OK();
  Status s = FileLog::Destroy(env_, wal_folder_, nullptr);
  return s.ok() ? env_->RemoveFile(WalDirPath(name_)) : s;
}

// All that was written is in table files now, so the new SSD_MANIFEST needs no log. What may fail for good comes before
// it is replaced.
Status Repairer::SwapVolatile() {
  const std::string path = SsdManifestPath(name_);
  SsdManifest fresh;
  Status s = SsdManifest::Read(env_, SsdManifestPath(RepairDirectory(name_)), &fresh);
  fresh.state.SetFlushedSequence(fresh.log_reach);
  if (s.ok() && !env_->FileExists(wal_folder_)) s = env_->CreateDir(wal_folder_);
  if (s.ok() && env_->FileExists(path)) {
    int n = 1;
    while (env_->FileExists(DamagedPath(path, n))) n++;
    std::string damaged;
    s = ReadFileToString(env_, path, &damaged);
    if (s.ok()) s = ReplaceFile(env_, DamagedPath(path, n), damaged);
    if (s.ok()) s = SyncExistingFile(env_, DamagedPath(path, n));
    if (s.ok()) Log(info_log_, "a copy of the old SSD_MANIFEST is in %s", DamagedPath(path, n).c_str());
  }
  if (!s.ok()) return s;
  ssd_in_use_ = true;  // from here on they may be, whatever comes back
  s = ReplaceFile(env_, path, fresh.Encode());
  if (s.ok()) s = SyncExistingFile(env_, path);
  if (s.ok()) s = BeginLog(fresh.store_id);
  if (s.ok()) s = SwapDirectories();
  if (s.ok()) Log(info_log_, "repaired");
  return s;
}

// An empty log in the place of the old one, for the database with this id. The old one is gone for good before the
// folder says so: who finds it saying so may have written to it since.
Status Repairer::BeginLog(uint64_t store_id) {
  Status s = env_->FileExists(wal_folder_) ? Status::OK() : env_->CreateDir(wal_folder_);
  if (s.ok()) s = FileLog::Destroy(env_, wal_folder_, nullptr);
  if (s.ok()) s = SyncDirectory(wal_folder_);
  FileLog::Options options;
  options.env = env_;
  options.folder = wal_folder_;
  return s.ok() ? FileLog(options).Own(store_id) : s;
}

}  // namespace

Status RepairDB(const std::string& name, const Options& options) {
  try {
    Options adjusted = options;
#ifdef MIODB_AS_LEVELDB
    ClipAsLevelDB(&adjusted);
#endif
    Status s = CheckOptions(adjusted);
    if (!s.ok()) return s;
    return Repairer(name, adjusted).Run();
  } catch (const std::bad_alloc&) {
    return Status::IOError(name, "out of memory");
  }
}

}  // namespace miodb
