#include "src/db/store/places.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "src/db/context/options_check.h"
#include "src/db/store/directory_lock.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/log/file_log.h"
#include "src/nvm/pool/pool_image.h"
#include "src/nvm/pool/pool_names.h"
#include "src/nvm/region/region_finder.h"
#include "src/ssd/ssd_store.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/no_throw.h"
#include "src/util/files/posix_file.h"
#include "src/version/edit/version_edit.h"

// Where the parts of a database are, and how one that has moved is found again:
//
//   an open    compares each place that the options name with the one that STORE names, and refuses another one
//   a move     finds every part in its new place by what the part says of itself (its uuid, its id, its epoch), then
//              replaces STORE once
//
// A place that differs is never taken for a move by itself: an empty folder behind a wrong mount looks the same.
// After a crash: STORE with the old places, or with the new ones. The parts themselves are only read.

namespace miodb {

namespace {

// Two names of one file or folder are one place.
bool IsSame(const std::string& a, const std::string& b) { return a == b || RealPath(a) == RealPath(b); }

Status CheckPlace(const std::string& name, const char* option, const char* flag, const std::string& given,
                  const std::string& stored) {
  DCHECK(option != nullptr && flag != nullptr);
  if (IsSame(given, stored)) return Status::OK();
  return Status::InvalidArgument(std::string("Options::") + option + " names " + given,
                                 StorePath(name) + " says that it is " + stored + ". If it was moved, \"miodb_move --" +
                                     flag + "=" + given + " " + name + "\" has STORE say so");
}

// Looks at the parts in their new places. Nothing is written before all parts were found, so STORE never mixes new
// places with old places.
class Mover {
 public:
  Mover(const std::string& name, const Options& options)
      : name_(name), options_(WithOwnFiles(options)), env_(options_.env) {}

  Status Run();

 private:
  Status MissingStore() const {
    return Status::InvalidArgument(StorePath(name_),
                                   "is missing: there is no database here whose parts could be moved");
  }
  Status FindPool();
  Status FindRegions();
  Status FindLog();
  Status FindTier() const;

  const std::string name_;
  const Options options_;
  Env* const env_;
  StoreDescriptor store_;
  uint64_t epoch_ = 0;  // of the pool's root, or of STORE
};

Status Mover::Run() {
  DirectoryLock lock(env_, name_);
  if (!env_->FileExists(StorePath(name_))) return MissingStore();  // or the lock would be made where no database is
  Status s = lock.Take();
  if (s.ok()) s = ReadStore(env_, name_, &store_);
  if (s.IsNotFound()) return MissingStore();
  if (s.ok() && store_.state != StoreState::kInUse) return Status::InvalidArgument(StorePath(name_), kMakingCutOff);
  if (s.ok() && store_.successor != Uuid{}) {
    return Status::InvalidArgument(StorePath(name_), "a repair was cut off; RepairDB finishes it");
  }
  if (s.ok()) s = FindPool();
  if (s.ok()) s = FindRegions();
  if (s.ok()) s = FindLog();
  if (s.ok()) s = FindTier();
  if (!s.ok()) return s;
  store_.pool_path = options_.pool_path;
  store_.log.wal_dir = options_.wal_dir;
  store_.ssd_path = options_.ssd_path;
  return WriteStore(env_, name_, store_);
}

// The pool is known by its uuid. A volatile one has no place, and cannot take that of a file, nor the other way round.
Status Mover::FindPool() {
  const std::string path = PoolPath(options_, name_);
  const PoolPlace place = PlaceOfPool(path);
  if (place != store_.pool_place()) {
    return Status::InvalidArgument(path, StorePath(name_) + " says that the pool is " +
                                             PoolPath(store_.pool_path, name_) + ": only a file can be moved");
  }
  if (place == PoolPlace::kAnonymous) {
    VersionEdit state;
    if (state.DecodeSsdState(store_.ssd_state)) epoch_ = state.next_id;
    return Status::OK();
  }
  std::string page;
  Status s = ReadFirstPage(path, &page);
  if (!s.ok()) return s;
  const PoolHeader header = ReadPoolHeader(page.data(), page.size());
  if (!header.has_superblock || !SameUuid(header.uuid, store_.pool.data())) {
    return Status::InvalidArgument(path, "is not the database's pool, whose uuid is " + UuidText(store_.pool.data()));
  }
  epoch_ = header.current.epoch;
  return s;
}

// Only regions that have moved are named; the others keep their places.
Status Mover::FindRegions() {
  DCHECK(!name_.empty());
  for (const NvmRegion& named : options_.nvm_regions) {
    RegionContent content;
    RegionHeader header;
    Status s = LookAtRegion(named.path, &content, &header);
    if (!s.ok()) return s;
    const auto found = std::find_if(store_.regions.begin(), store_.regions.end(), [&](const auto& region) {
      return content == RegionContent::kRegion && region.uuid == MakeUuid(header.uuid);
    });
    if (found == store_.regions.end() || !SameUuid(header.pool_uuid, store_.pool.data())) {
      return Status::InvalidArgument(named.path, "is no region of the database's pool: name the places of its own");
    }
    found->path = named.path;
  }
  return Status::OK();
}

// A log that is not in use holds nothing, so its folder may be any that is nobody else's.
Status Mover::FindLog() {
  if (store_.log.id == 0) {
    if (options_.wal_dir == store_.log.wal_dir) return Status::OK();
    return Status::InvalidArgument(options_.wal_dir,
                                   "the database has no log folder that could have been moved: name none");
  }
  const std::string folder = WalFolder(options_.wal_dir, name_);
  std::optional<OwnerMark> owner;
  Status s = FileLog::FindOwner(env_, folder, &owner);
  if (!s.ok()) return s;
  if (owner.has_value() && owner->id == store_.log.id) return CheckLogCopy(name_, store_.log, folder, *owner);
  if (!owner.has_value() && !store_.log.in_use) return s;
  return Status::InvalidArgument(folder, "does not hold the log of this database (no WAL_OWNER with its id)");
}

// The SSD tier is known by its mark, which also tells a pool that is older than the table files.
Status Mover::FindTier() const {
  if (store_.ssd_path.empty()) {
    if (options_.ssd_path.empty()) return Status::OK();
    return Status::InvalidArgument(options_.ssd_path,
                                   "the database has no SSD tier that could have been moved: name none");
  }
  const bool is_volatile = store_.pool_place() == PoolPlace::kAnonymous;
  const uint64_t id = is_volatile ? store_.log.id : PoolIdOf(store_.pool);
  OwnerMark mark;
  Status s = SsdStore::ReadMark(env_, options_.ssd_path, &mark);
  if (!s.ok() && !s.IsNotFound()) return s;
  if (!s.ok() || mark.id != id) {
    return Status::InvalidArgument(options_.ssd_path, "is not the SSD tier of this database (no POOL with its id)");
  }
  if (mark.epoch <= epoch_) return s;
  return Status::InvalidArgument(is_volatile ? StorePath(name_) : PoolPath(options_, name_),
                                 "is an older copy (epoch " + std::to_string(epoch_) +
                                     ") than the one whose files are in " + options_.ssd_path +
                                     ": put the newer one back");
}

}  // namespace

// The options are compared with what STORE says, by files and not by names: a link to a part is its place, too.
//
// The first part whose place differs is named: parts are moved one by one, and each has its flag.
Status CheckPlaces(const Options& options, const std::string& name, const StoreDescriptor& store) {
  Status s;
  // Of a making that was cut off the ids count alone: STORE does not name places yet.
  if (store.state != StoreState::kInUse) return s;
  if (store.pool_place() == PoolPlace::kNamed) {
    s = CheckPlace(name, "pool_path", "pool", PoolPath(options, name), PoolPath(store.pool_path, name));
  }
  if (s.ok() && options.log_mode == kLogFile && store.log.id != 0) {
    s = CheckPlace(name, "wal_dir", "wal", WalFolder(options.wal_dir, name), WalFolder(store.log.wal_dir, name));
  }
  if (s.ok() && !options.ssd_path.empty() && !store.ssd_path.empty()) {
    s = CheckPlace(name, "ssd_path", "ssd", options.ssd_path, store.ssd_path);
  }
  return s;
}

// The system tells the longest name of a folder that is there.
Status CheckNameLength(const char* option, const std::string& path) {
  DCHECK(option != nullptr);
  constexpr long kUsual = 255;
  static const std::string longest_ending = RepairedRegionPath(TemporaryName("", kTemporaryNames));
  const long told = ::pathconf(DirectoryOf(path).c_str(), _PC_NAME_MAX);
  const size_t most = static_cast<size_t>(told > 0 ? told : kUsual) - longest_ending.size();
  const size_t bytes = path.size() - (path.rfind('/') + 1);
  DCHECK_LE(bytes, path.size());
  if (bytes <= most) return Status::OK();
  return Status::InvalidArgument(std::string("Options::") + option + " names " + path,
                                 "the name has " + std::to_string(bytes) + " bytes: with more than " +
                                     std::to_string(most) +
                                     " there is no room for the names that a repair makes beside it. Give it a shorter "
                                     "one; where the database is there already, miodb_move has STORE say so");
}

Status CheckNewNames(const Options& options, const std::string& name, const StoreDescriptor& store) {
  Status s;
  if (store.state != StoreState::kInUse) s = CheckNameLength("pool_path", PoolPath(options, name));
  if (s.ok() && store.ssd_path.empty()) s = CheckNameLength("ssd_path", options.ssd_path);
  for (const NvmRegion& named : options.nvm_regions) {
    const bool is_known = std::any_of(store.regions.begin(), store.regions.end(),
                                      [&](const auto& region) { return IsSame(region.path, named.path); });
    if (s.ok() && !is_known) s = CheckNameLength("nvm_regions", named.path);
  }
  return s;
}

// A region is known by its uuid, and found by whatever path the pool or the options lead to it. A region that the
// options do not name was found where STORE says, so there is nothing to compare.
Status CheckRegionPlaces(const Options& options, const std::string& name, const StoreDescriptor& store,
                         const Pool& pool) {
  for (int i = 1; i < pool.regions().count(); i++) {
    const RegionSet::Member& m = pool.regions().at(i);
    const std::string& found = m.region->path();
    const bool named = std::any_of(options.nvm_regions.begin(), options.nvm_regions.end(),
                                   [&](const NvmRegion& region) { return IsSame(region.path, found); });
    for (const StoreDescriptor::Region& region : store.regions) {
      if (!named || region.uuid != MakeUuid(m.uuid)) continue;
      Status s = CheckPlace(name, "nvm_regions", "region", found, region.path);
      if (!s.ok()) return s;
    }
  }
  return Status::OK();
}

// A path without a uuid is that of a region which was being added: the pool has it, or a crash came first.
Status CheckPoolAge(const std::string& name, const StoreDescriptor& store, const Pool& pool) {
  const RegionSet& regions = pool.regions();
  DCHECK(store.successor == Uuid{});
  for (const StoreDescriptor::Region& region : store.regions) {
    bool known = region.uuid == Uuid{};
    for (int i = 1; i < regions.count(); i++) known = known || region.uuid == MakeUuid(regions.at(i).uuid);
    if (known) continue;
    return Status::InvalidArgument(
        pool.path(),
        "is an older copy of the pool: it does not have the region " + region.path + " (uuid " +
            UuidText(region.uuid.data()) + "), which " + StorePath(name) +
            " names. Put the newer one back. RepairDB does without the writes that only the newer one has");
  }
  return Status::OK();
}

// A copy has the pool's uuid of its original, whose log may have another id since; where there is no pool, the log's id
// tells. The path of another database counts only if it does not depend on where that was opened. A directory that has
// got a second name is no copy.
Status CheckOriginal(Env* env, const std::string& name, const StoreDescriptor& store,
                     const std::vector<std::string>& parts) {
  DCHECK(env != nullptr);
  const std::string& directory = store.directory;
  StoreDescriptor original;
  if (directory.empty() || directory == RealPath(name) || !ReadStore(env, directory, &original).ok() ||
      original.pool != store.pool || (store.pool == Uuid{} && original.log.id != store.log.id) ||
      IsOneFile(StorePath(directory), StorePath(name))) {
    return Status::OK();
  }
  std::vector<std::string> others = {PoolPath(original.pool_path, directory),
                                     WalFolder(original.log.wal_dir, directory), original.ssd_path};
  for (const StoreDescriptor::Region& region : original.regions) others.push_back(region.path);
  for (const std::string& part : parts) {
    for (const std::string& other : others) {
      if (part.empty() || !other.starts_with('/') || !IsSame(part, other)) continue;
      return Status::InvalidArgument(name, "is a copy of the database in " + directory + ", which has " + part +
                                               " too. Give this one its own copy of it, or remove the other's STORE");
    }
  }
  return Status::OK();
}

// Epochs of a log and of STORE grow together, one ahead of the other while one of the two is being replaced. Two steps
// apart they are not of one moment, and the one that is behind is a copy that somebody has put back.
Status CheckLogCopy(const std::string& name, const StoreDescriptor::Log& log, const std::string& folder,
                    const OwnerMark& owner) {
  CHECK_EQ(owner.id, log.id);
  if (owner.epoch > log.epoch + 1) return OlderStore(name, log, folder, owner);
  if (owner.epoch >= log.epoch || MIODB_MUTATED(kOlderLogBelieved)) return Status::OK();
  return Status::InvalidArgument(folder, "holds an older copy of the log (epoch " + std::to_string(owner.epoch) +
                                             ") than " + StorePath(name) + " names (epoch " +
                                             std::to_string(log.epoch) +
                                             "): put the newer one back. RepairDB does without the writes that only "
                                             "the newer one has");
}

// The message gives advice as well, because a person may be able to put either file right.
Status OlderStore(const std::string& name, const StoreDescriptor::Log& log, const std::string& folder,
                  const OwnerMark& owner) {
  CHECK_GT(owner.epoch, log.epoch);
  return Status::InvalidArgument(StorePath(name), "is an older copy (epoch " + std::to_string(log.epoch) +
                                                      ") than the one whose log is in " + folder + " (epoch " +
                                                      std::to_string(owner.epoch) +
                                                      " in WAL_OWNER): put the newer one back, or remove it and call "
                                                      "RepairDB, which makes it anew");
}

// An open would make an empty directory in the place of the one that was renamed.
Status CheckRepairedTier(const Options& options, uint64_t store_id) {
  if (options.ssd_path.empty()) return Status::OK();
  uint64_t owner = 0;
  const std::string repaired = RepairedSsdPath(options);
  if (options.env->FileExists(options.ssd_path) || !options.env->FileExists(repaired)) return Status::OK();
  const Status s = SsdStore::ReadOwner(options.env, repaired, &owner);
  if (!s.ok() || owner != store_id) return Status::OK();
  return Status::InvalidArgument(
      options.ssd_path, "is not there, but " + repaired + " is: a repair was cut off, and RepairDB finishes it");
}

Status MoveStore(const std::string& name, const Options& options) {
  return NoThrow(name, [&] { return Mover(name, options).Run(); });
}

}  // namespace miodb
