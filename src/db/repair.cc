#include <algorithm>
#include <cinttypes>
#include <memory>
#include <new>

#include "miodb/db.h"
#include "miodb/env.h"
#include "miodb/write_batch.h"
#include "src/db/file_names.h"
#include "src/db/log_scan.h"
#include "src/db/options_check.h"
#include "src/db/region_places.h"
#include "src/db/ssd_options.h"
#include "src/inspect/salvage.h"
#include "src/inspect/ssd_salvage.h"
#include "src/nvm/pool.h"
#include "src/nvm/pool_image.h"
#include "src/util/write_batch_internal.h"

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
// What a crash leaves: up to the rename of step 7 the damaged database and files that the next repair removes; after
// it the repaired one. If only the directories were left to be exchanged, which their file POOL tells, the next repair
// does just that. Writing anew costs space and time, but nothing that is damaged can be made worse by it, and what
// comes out was written by the engine itself.

namespace miodb {

namespace {

// Updates are handed to the new database in batches of this size.
constexpr size_t kBatchBytes = 1 << 20;

class Repairer {
 public:
  Repairer(const std::string& name, const Options& options)
      : name_(name),
        options_(options),
        env_(options.env),
        pool_path_(PoolPath(options, name)),
        fresh_path_(RepairedPoolPath(options, name)) {}

  ~Repairer() {
    RemoveFresh().IgnoreError();
    own_log_.reset();
    if (lock_ != nullptr) env_->UnlockFile(lock_).IgnoreError();
  }

  Status Run();

 private:
  Status Lock();
  Status FinishSwap(uint64_t pool_id, bool* finished);
  Status AddSsd(uint64_t pool_id, Salvage* salvage);
  Status SwapDirectories();
  Status Write(Salvage* salvage);
  Status ApplyLogFiles(DB* db, uint64_t flushed_sequence);
  Status WriteLost(const Salvage::Counts& counts);
  Status SetRegionsAside();
  Status Swap();
  Status RemoveFresh();
  void Report(const Problem& problem);

  const std::string name_;
  const Options options_;
  Env* const env_;
  const std::string pool_path_;
  const std::string fresh_path_;
  FileLock* lock_ = nullptr;
  std::unique_ptr<Logger> own_log_;
  Logger* info_log_ = nullptr;
  std::string lost_;                          // content of LOST
  std::vector<std::string> damaged_regions_;  // further regions of the damaged pool
  std::string wal_folder_;                    // empty: there are no log files
  std::unique_ptr<SsdStore> ssd_;             // of the damaged database
  bool ssd_in_use_ = false;                   // the new files belong to the pool that is in place
};

Status Repairer::Run() {
  if (Region::IsAnonymous(pool_path_)) {
    return Status::InvalidArgument("Options::pool_path is anonymous",
                                   options_.env->FileExists(SsdManifestPath(name_))
                                       ? "a repair needs a pool; the table files and the log have the formats of "
                                         "LevelDB and can be read with its tools"
                                       : "there is nothing left that could be repaired");
  }
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
  if (s.ok()) s = AddSsd(header.pool_id, &salvage);
  if (s.ok()) s = Write(&salvage);
  if (s.ok()) s = WriteLost(salvage.counts());
  if (s.ok()) s = Swap();
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

// An earlier repair may have exchanged the pools but not the directories.
Status Repairer::FinishSwap(uint64_t pool_id, bool* finished) {
  uint64_t owner;
  if (options_.ssd_path.empty() || !SsdStore::ReadOwner(env_, RepairedSsdPath(options_), &owner).ok() ||
      owner != pool_id) {
    return Status::OK();
  }
  *finished = ssd_in_use_ = true;
  return SwapDirectories();
}

Status Repairer::SwapDirectories() {
  Status s;
  if (env_->FileExists(options_.ssd_path)) {
    int n = 1;
    while (env_->FileExists(DamagedPath(options_.ssd_path, n))) n++;
    s = env_->RenameFile(options_.ssd_path, DamagedPath(options_.ssd_path, n));
    if (s.ok()) Log(info_log_, "the damaged files are now in %s", DamagedPath(options_.ssd_path, n).c_str());
  }
  return s.ok() ? env_->RenameFile(RepairedSsdPath(options_), options_.ssd_path) : s;
}

// pool_id: 0 if it cannot be read.
Status Repairer::AddSsd(uint64_t pool_id, Salvage* salvage) {
  const ManifestState* const state = salvage->state();
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
  if (s.ok()) salvage->Add(NewSsdSalvage(ssd_.get(), state, [this](const Problem& p) { Report(p); }));
  return s;
}

Status Repairer::RemoveFresh() {
  if (lock_ == nullptr) return Status::OK();
  Status s = Pool::Destroy(fresh_path_);
  if (s.ok() && !options_.ssd_path.empty() && !ssd_in_use_) {
    s = SsdStore::Destroy(env_, RepairedSsdPath(options_));
  }
  const std::string directory = RepairDirectory(name_);
  if (!s.ok() || !env_->FileExists(directory)) return s;
  if (env_->FileExists(LockPath(directory))) s = env_->RemoveFile(LockPath(directory));
  return s.ok() ? env_->RemoveDir(directory) : s;
}

Status Repairer::Write(Salvage* salvage) {
  Options options = options_;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.pool_path = fresh_path_;
  options.nvm_regions.clear();  // all goes into one file; regions can be added to it afterwards
  if (!damaged_regions_.empty()) options.pool_size = 0;
  if (!options.ssd_path.empty()) options.ssd_path = RepairedSsdPath(options_);
  options.info_log = info_log_;
  options.log_mode = kLogPmem;
  DB* opened;
  Status s = DB::Open(options, RepairDirectory(name_), &opened);
  if (!s.ok()) return s;
  const std::unique_ptr<DB> db(opened);
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
  if (s.ok()) s = ApplyLogFiles(db.get(), salvage->flushed_sequence());
  return s.ok() ? db->Flush() : s;
}

Status Repairer::ApplyLogFiles(DB* db, uint64_t flushed_sequence) {
  if (!env_->FileExists(WalDirPath(name_))) return Status::OK();
  std::string wal_dir;
  Status s = ReadFileToString(env_, WalDirPath(name_), &wal_dir);
  wal_folder_ = WalFolder(wal_dir, name_);
  std::vector<LogFile> files;
  if (s.ok()) s = FileLog::List(env_, wal_folder_, &files);
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
      if (s.ok()) s = WriteBatchInternal::SetContents(&batch, contents);
      if (s.ok()) s = db->Write(WriteOptions(), &batch);
    }
  }
  return s;
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
  if (s.ok()) s = Region::Replace(pool_path_, fresh_path_, kept);
  if (!s.ok()) return s;
  Log(info_log_, "repaired; the damaged pool is now %s", kept.c_str());
  if (!options_.ssd_path.empty()) {
    ssd_in_use_ = true;
    s = SwapDirectories();
  }
  if (!s.ok() || wal_folder_.empty()) return s;
  s = FileLog::Destroy(env_, wal_folder_, nullptr);
  return s.ok() ? env_->RemoveFile(WalDirPath(name_)) : s;
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
