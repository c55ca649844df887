// DestroyDB: which files are a database's own, and their removal.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "miodb/env.h"
#include "src/db/context/options_check.h"
#include "src/db/offline/repairer.h"
#include "src/db/store/directory_lock.h"
#include "src/db/store/region_places.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/log/file_log.h"
#include "src/nvm/pool/memory_env.h"
#include "src/nvm/pool/pool.h"
#include "src/nvm/pool/pool_image.h"
#include "src/ssd/ssd_store.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"
#include "src/util/files/posix_file.h"

// Removing a database. The directory of a database may have been copied, the options may name somebody else's files,
// and a removal may have been cut off. So this goes:
//
//   - in the directory, what bears the name of one of a database's files;
//   - elsewhere, what says by its own bytes that it has an id that STORE names, while STORE is where it was when the
//     database was last open: the parts that a copy names are the original's. A pool whose bytes say nothing, being
//     damaged, goes if STORE says that the pool is at this path.
//
// Where the options name no file as the pool, or no SSD tier, those that STORE names are looked for.
//
// STORE and the lock go last, so that a removal that was cut off can be repeated.

namespace miodb {

namespace {

class Destroyer {
 public:
  Destroyer(const std::string& name, const Options& options)
      : name_(name), options_(WithOwnFiles(options)), env_(options_.env), lock_(env_, name) {}

  Destroyer(const Destroyer&) = delete;
  Destroyer& operator=(const Destroyer&) = delete;

  Status Run();

 private:
  enum class Owner {
    kNobody,  // there is nothing
    kUs,
    kOriginal,  // the database of which this one is a copy
    kOther,
  };

  // The directory's knowledge of the database, from the least to the most.
  enum class Said {
    kNothing,  // there is no STORE
    kDamaged,  // there is one that cannot be read
    kCopied,   // STORE names the parts; the directory is not where it was when the database was last open
    kAtHome,   // the same, and the directory is where it was
  };

  bool HasStore() const { return said_ != Said::kNothing; }
  bool IsDescribed() const { return said_ == Said::kCopied || said_ == Said::kAtHome; }
  bool IsAtHome() const { return said_ == Said::kAtHome; }
  bool IsInDirectory(const std::string& path) const { return PathBelow(name_, path).has_value(); }
  Status Look(Owner* pool);
  Status Remove(Owner pool);
  Status FindParts();
  void AddIds(const StoreDescriptor& store);
  Status OwnerOfPool(const std::string& path, Owner* owner) const;
  Status DestroyPool(const std::string& path, Owner owner) const;
  Status DestroyPoolIfOurs(const std::string& path) const;
  Status DestroySsd(const std::string& path) const;
  Status DestroyLog() const;
  Status RemoveFiles() const;
  Status AddNumbered(const std::string& path, const std::string& ending, std::vector<std::string>* found) const;

  const std::string name_;
  Options options_;
  Env* const env_;
  std::string pool_path_;
  DirectoryLock lock_;
  StoreDescriptor store_;
  Said said_ = Said::kNothing;
  std::set<uint64_t> ids_;  // of the database's pools and SSD tiers, former ones too
};

// With a volatile pool there is no uuid that outlives the process; the id of the log is the database's.
void Destroyer::AddIds(const StoreDescriptor& store) {
  for (const Uuid& uuid : {store.pool, store.successor}) {
    if (uuid != Uuid{}) ids_.insert(PoolIdOf(uuid));
  }
  if (store.pool_place() == PoolPlace::kAnonymous) ids_.insert(store.log.id);
  ids_.insert(store.former_ids.begin(), store.former_ids.end());
}

// A repair that was cut off has a database of its own in repair.tmp, whose parts are this database's as well. A STORE
// that cannot be read for want of memory is an error: to go on without it would leave parts behind, or take somebody
// else's.
Status Destroyer::FindParts() {
  Status s = RefuseLink(RepairDirectory(name_));
  if (s.ok()) s = ReadStore(env_, name_, &store_);
  if (!s.ok() && !s.IsNotFound() && !s.IsCorruption()) return s;
  if (s.ok()) {
    said_ = store_.directory == RealPath(name_) ? Said::kAtHome : Said::kCopied;
    AddIds(store_);
  } else {
    said_ = s.IsNotFound() ? Said::kNothing : Said::kDamaged;
  }
  // Options of a volatile pool name no file, and the database may have one from before.
  if (PlaceOfPool(options_.pool_path) == PoolPlace::kAnonymous) options_.pool_path = store_.pool_path;
  if (options_.ssd_path.empty()) options_.ssd_path = store_.ssd_path;
  pool_path_ = PoolPath(options_, name_);
  StoreDescriptor repaired;
  if (ReadStore(env_, RepairDirectory(name_), &repaired).ok()) AddIds(repaired);
  return Status::OK();
}

// A pool that says nothing of itself is judged by its place: in the directory it is the database's if there is a STORE
// at all, elsewhere only if STORE names this very path.
Status Destroyer::OwnerOfPool(const std::string& path, Owner* owner) const {
  DCHECK(!path.empty());
  std::string page;
  *owner = Owner::kNobody;
  if (PlaceOfPool(path) == PoolPlace::kAnonymous) return Status::OK();
  if (MemoryEnv::Of(env_) != nullptr) {  // what such an Env has under this name is no file of another's
    if (env_->FileExists(path)) *owner = Owner::kUs;
    return Status::OK();
  }
  Status s = ReadFirstPage(path, &page);
  if (s.IsNotFound()) return Status::OK();
  if (!s.ok()) return s;
  const PoolHeader header = ReadPoolHeader(page.data(), page.size());
  const bool here = IsInDirectory(path);
  bool ours;
  if (header.has_superblock) {
    // In the directory only the pool itself may be another database's, put there by hand.
    ours = ids_.count(header.pool_id) > 0 || (here && (!IsDescribed() || path != pool_path_));
  } else {
    ours = here ? HasStore() : IsDescribed() && RealPath(path) == RealPath(PoolPath(store_.pool_path, name_));
  }
  *owner = !ours ? Owner::kOther : here || IsAtHome() ? Owner::kUs : Owner::kOriginal;
  return s;
}

// A copied directory names the regions of the original, so for a copy only those beside it are looked for.
Status Destroyer::DestroyPool(const std::string& path, Owner owner) const {
  if (owner != Owner::kUs) return Status::OK();
  CHECK(lock_.held() && PlaceOfPool(path) == PoolPlace::kNamed);
  if (MemoryEnv::Of(env_) != nullptr) return env_->RemoveFile(path);
  CHECK(IsAtHome() || IsInDirectory(path));
  if (IsAtHome()) return Pool::Destroy(path, PlacesOfRegions(options_, name_));
  RegionPlaces here;  // regions elsewhere are the original's
  here.AddFolder(name_);
  Status s = Pool::Destroy(path, here);
  return env_->FileExists(path) ? s : Status::OK();
}

// For pools that stand under other names: those that repairs made or set aside, and new ones that never got theirs.
Status Destroyer::DestroyPoolIfOurs(const std::string& path) const {
  Owner owner;
  Status s = OwnerOfPool(path, &owner);
  return s.ok() ? DestroyPool(path, owner) : s;
}

// A directory of table files goes if its own mark has one of the database's ids. For a copied database only those in
// its own directory are looked at: elsewhere they are the original's, whose id is the same.
Status Destroyer::DestroySsd(const std::string& path) const {
  CHECK(lock_.held() && !path.empty());
  std::optional<uint64_t> id;
  if (!env_->FileExists(path) || !(IsAtHome() || IsInDirectory(path))) return Status::OK();
  Status s = SsdStore::FindOwner(env_, path, &id);
  // Without a mark it is empty, if a crash cut its making or its removal off: then STORE says whose it is.
  const bool is_ours = id.has_value() ? ids_.count(*id) > 0 : IsAtHome() && RealPath(path) == RealPath(store_.ssd_path);
  return s.ok() && is_ours ? SsdStore::Destroy(env_, path) : s;
}

// The log may be where STORE has it or, if it was moved, where the options say. Removed are the files of a folder that
// names this log, and the folder itself if nothing else is in it.
Status Destroyer::DestroyLog() const {
  CHECK(lock_.held());
  Status s;
  std::set<uint64_t> logs = {store_.log.id};
  // A volatile pool's log has the database's id.
  if (store_.pool_place() == PoolPlace::kAnonymous) logs.insert(ids_.begin(), ids_.end());
  const std::string folder = WalFolder(store_.log.wal_dir, name_);
  std::optional<OwnerMark> owner;
  if (IsDescribed() && (IsAtHome() || folder == name_ || IsInDirectory(folder))) {
    s = FileLog::FindOwner(env_, folder, &owner);
  }
  if (s.ok() && owner.has_value() && logs.count(owner->id) > 0) {  // it says that it is ours
    s = FileLog::Destroy(env_, folder, &owner->id);
  }
  // Foreign files keep it. A removal that was cut off may have left it empty.
  if (s.ok() && IsAtHome() && folder != name_) env_->RemoveDir(folder).IgnoreError();
  if (!s.ok()) return s;
  // The directory itself may have had a log before another folder had it, or, if that cannot be told, have it still.
  std::vector<LogFile> files;
  s = FileLog::List(env_, name_, &files);
  owner.reset();
  if (s.ok() && (!IsDescribed() || files.empty())) s = FileLog::FindOwner(env_, name_, &owner);
  return s.ok() && owner.has_value() ? FileLog::Destroy(env_, name_, nullptr) : s;
}

// Adds the files beside path whose names are its own with this ending, and a number from 2 on behind it or none. Some
// of them may have been removed by hand.
Status Destroyer::AddNumbered(const std::string& path, const std::string& ending,
                              std::vector<std::string>* found) const {
  const std::string first = path.substr(path.rfind('/') + 1) + ending;  // of npos + 1: the whole path
  DCHECK(!path.empty() && !ending.empty());
  std::vector<std::string> names;
  const Status s = env_->GetChildren(DirectoryOf(path), &names);
  if (!s.ok()) return s.IsNotFound() ? Status::OK() : s;
  for (const std::string& name : names) {
    const bool is_numbered = name.starts_with(first + ".") && name.size() > first.size() + 1 &&
                             name.find_first_not_of("0123456789", first.size() + 1) == std::string::npos;
    if (name == first || is_numbered) found->push_back(path + name.substr(first.size() - ending.size()));
  }
  return s;
}

// Removes the files in the directory, but for the lock.
Status Destroyer::RemoveFiles() const {
  CHECK(lock_.held());
  const std::string repair = RepairDirectory(name_), store = StorePath(name_);
  // A copy of STORE that a crash cut off has the next free name.
  const std::string unfinished_copy = FreeDamagedPath(env_, store) + ".tmp";
  std::vector<std::string> numbered;
  Status s = AddNumbered(store, ".damaged", &numbered);
  if (s.ok()) s = AddNumbered(LogPath(name_), ".old", &numbered);
  for (const std::string& file : numbered) {
    if (s.ok()) s = env_->RemoveFile(file);
  }
  if (s.ok() && env_->FileExists(repair)) s = RemoveRepairFiles(env_, name_);
  if (s.ok() && env_->FileExists(repair)) env_->RemoveDir(repair).IgnoreError();
  for (const std::string& file : {LogPath(name_), ReadersPath(name_), LostPath(name_), LostPath(name_) + ".tmp",
                                  CheckpointMarkPath(name_), unfinished_copy, store + ".tmp", store}) {
    if (s.ok() && env_->FileExists(file)) s = env_->RemoveFile(file);
  }
  return s;
}

// Finds the owner of the parts.
Status Destroyer::Look(Owner* pool) {
  Status s = FindParts();
  if (s.ok()) s = OwnerOfPool(pool_path_, pool);
  if (s.ok() && *pool == Owner::kOther) {
    s = Status::InvalidArgument(pool_path_, "does not say that it belongs to " + name_ + "; nothing was removed");
  }
  return s;
}

// Without the directory there is nothing to lock, and nothing to remove. A look that refuses leaves what it found.
Status Destroyer::Run() {
  CHECK(!lock_.held());
  Owner pool;
  Status s = lock_.Take();
  const bool is_gone = s.IsNotFound() && !env_->FileExists(name_);
  if (s.ok() || is_gone) s = Look(&pool);
  if (!s.ok()) lock_.Undo();
  return s.ok() && !is_gone ? Remove(pool) : s;
}

// The order is log, SSD tier, pool, what lies in the directory with STORE as its last file, then the lock: a removal
// that was cut off still has the ids by which the next one knows what is left. Foreign files stay, and the directory
// with them.
Status Destroyer::Remove(Owner pool) {
  CHECK(lock_.held());
  Status s;
  if (IsDescribed()) s = SyncStore(env_, name_);  // or a removal that is cut off might not know what is left
  if (s.ok()) s = DestroyLog();
  if (!options_.ssd_path.empty()) {
    if (s.ok()) s = DestroySsd(options_.ssd_path);
    if (s.ok()) s = DestroySsd(RepairedSsdPath(options_));
    std::vector<std::string> damaged;
    AddNumbered(options_.ssd_path, ".damaged", &damaged).IgnoreError();  // a folder elsewhere may not be listed
    for (const std::string& path : damaged) {
      if (s.ok()) s = DestroySsd(path);
    }
  }
  if (s.ok()) s = DestroyPool(pool_path_, pool);
  const std::string repaired = RepairedPoolPath(options_, name_);
  if (s.ok() && env_->FileExists(repaired)) s = DestroyPoolIfOurs(repaired);
  std::vector<std::string> left;
  AddNumbered(pool_path_, ".damaged", &left).IgnoreError();  // the same
  for (const std::string& path : {pool_path_, repaired}) AddNumbered(path, ".tmp", &left).IgnoreError();
  for (const std::string& path : left) {
    if (s.ok()) s = DestroyPoolIfOurs(path);
  }
  if (s.ok()) s = RemoveFiles();
  if (s.ok()) lock_.Remove();
  return s;
}

}  // namespace

Status DestroyDB(const std::string& name, const Options& options) {
  return NoThrow(name, [&] { return Destroyer(name, options).Run(); });
}

}  // namespace miodb
