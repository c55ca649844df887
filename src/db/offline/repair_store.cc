#include <algorithm>

#include "src/db/offline/repairer.h"
#include "src/db/store/places.h"
#include "src/db/store/region_places.h"
#include "src/log/file_log.h"
#include "src/nvm/pool/pool_image.h"
#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"

// The store descriptor and a repair.
//
//   before  STORE says which pool is to be repaired and where the log is. Without it a pool in the database directory
//           counts, or one that says itself that it is one; and a log that says that it is that pool's.
//   7       Before the pools are exchanged, STORE names the new one as the successor. When nothing is left to do, it
//           names it as the pool, and no log. A volatile pool's database has an id instead.
//
// After a crash between the two: if the damaged pool is in place, nothing has happened. If the new pool is in place,
// the log was already applied, and the next repair removes it.

namespace miodb {

bool Repairer::IsInDirectory(const std::string& path) const { return PathBelow(name_, path).has_value(); }

void Repairer::MissStore(const Status& read) {
  Report({StorePath(name_),
          std::string(read.IsNotFound() ? "is missing" : "is damaged") + ": made anew from what there is"});
  store_ = StoreDescriptor();
}

// Fills store_ with what STORE says, if it can be read, and makes that durable. Refused is what an open refuses; and
// beside it options without an SSD tier that the database has, since what is repaired would be without it, too.
Status Repairer::FindStore(bool* found) {
  const std::string path = StorePath(name_);
  StoreDescriptor stored;
  const Status read = ReadStore(env_, name_, &stored);
  *found = read.ok();
  if (read.IsNotFound() || read.IsCorruption()) {
    MissStore(read);
    return Status::OK();
  }
  if (!read.ok()) return read;
  store_ = stored.Counting();
  if (pool_place_ != store_.pool_place()) {
    return Status::InvalidArgument(
        is_volatile() ? "Options::pool_path is anonymous" : "Options::pool_path is not anonymous",
        path + " says that the database's pool is " + PoolPath(store_.pool_path, name_) + ": name that");
  }
  Status s = CheckPlaces(options_, name_, store_);
  if (s.ok() && options_.ssd_path.empty() && !store_.ssd_path.empty()) {
    s = Status::InvalidArgument("Options::ssd_path is empty",
                                path + " says that the database has table files in " + store_.ssd_path + ": name that");
  }
  std::vector<std::string> parts = damaged_regions_;
  parts.insert(parts.end(), {pool_path_, WalFolder(store_.log.wal_dir, name_), options_.ssd_path});
  if (s.ok()) s = CheckOriginal(env_, name_, stored, parts);
  return s.ok() ? SyncStore(env_, name_) : s;
}

// Fills store_ with what STORE says, or with what can be found out without it.
Status Repairer::ReadParts(const PoolHeader& header) {
  const std::string path = StorePath(name_);
  bool found = false;
  Status s = FindStore(&found);
  if (!s.ok()) return s;
  const Uuid uuid = header.has_superblock ? MakeUuid(header.uuid) : Uuid{};
  if (!found) {
    if (!header.has_superblock && !IsInDirectory(pool_path_)) {
      return Status::InvalidArgument(
          pool_path_, "does not say that it is a pool, and there is no " + path + " that says so; it is left as it is");
    }
    store_.pool = header.has_superblock ? uuid : NewUuid();
    return FindLogWithoutStore();
  }
  exchanged_ = header.has_superblock && uuid == store_.successor;
  if (header.has_superblock && uuid != store_.pool && !exchanged_) {
    return Status::InvalidArgument(
        pool_path_, "is another pool (uuid " + UuidText(uuid.data()) + ") than " + path + " names: uuid " +
                        UuidText(store_.pool.data()) +
                        ". To have this pool repaired as the database's, remove the file first");
  }
  CHECK(exchange_ == Exchange::kUnknown);
  if (exchanged_) store_.pool = uuid;
  return FindLogFolder();
}

// Where STORE says that the log is, a folder whose mark is damaged holds it, and so does the database directory without
// one: nobody else's log could have begun there. Log files in another folder without a mark may be anybody's. A repair
// that went on without them would lose their writes, and STORE would name them no more; behind the exchange an earlier
// repair has applied them.
Status Repairer::FindLogFolder() {
  if (!store_.log.in_use) return Status::OK();
  wal_folder_ = WalFolder(store_.log.wal_dir, name_);
  OwnerMark owner;
  const Status read = FileLog::ReadOwner(env_, wal_folder_, &owner);
  if (read.ok() && owner.id == store_.log.id && owner.epoch < store_.log.epoch) {
    Report({wal_folder_, "is an older copy of the log: what was written since is lost"});
  }
  if (!read.ok() && !read.IsCorruption() && !read.IsNotFound()) return read;
  if (read.IsNotFound() && RealPath(wal_folder_) != RealPath(name_)) {
    std::vector<LogFile> files;
    Status s = FileLog::List(env_, wal_folder_, &files);
    if (!s.ok() || files.empty() || exchanged_) return s;
    return Status::InvalidArgument(wal_folder_, "has log files (" + files[0].name() +
                                                    ") and no WAL_OWNER, which says whose they are: put it back from "
                                                    "a backup; or move the files away, and the repair does without "
                                                    "the writes that only they have");
  }
  if (read.ok()) return read;
  Report({wal_folder_, "WAL_OWNER is damaged or missing; the log is this database's, as STORE says"});
  return FileLog::MendOwner(env_, wal_folder_,
                            {OwnerKind::kLog, store_.log.id, PoolIdOf(store_.pool), store_.log.epoch});
}

// The repaired database is to open with the same options.
Status Repairer::CheckGivenFolder() {
  const std::string given = WalFolder(options_.wal_dir, name_);
  std::optional<OwnerMark> owner;
  if (options_.log_mode != kLogFile) return Status::OK();
  const Status s = FileLog::FindOwner(env_, given, &owner);
  if (!s.ok() || (owner.has_value() && owner->id == store_.log.id && owner->id != 0)) return s;
  const bool is_home = RealPath(given) == RealPath(name_);
  return FileLog::MayBegin(env_, given, owner, PoolIdOf(store_.pool), is_home ? nullptr : &store_.former_ids);
}

// A folder in which a log of this pool may be says so itself. In the database directory there is no other log.
Status Repairer::FindLogWithoutStore() {
  for (const std::string& wal_dir : {std::string(), options_.wal_dir}) {
    const std::string folder = WalFolder(wal_dir, name_);
    OwnerMark owner{OwnerKind::kLog, NewId(), PoolIdOf(store_.pool), 1};
    std::vector<LogFile> files;
    Status s = FileLog::List(env_, folder, &files);
    if (!s.ok()) return s;
    if (files.empty()) continue;
    const Status read = FileLog::ReadOwner(env_, folder, &owner);
    if (!read.ok() && !read.IsNotFound() && !read.IsCorruption()) return read;
    const bool marked = read.ok();
    if (!wal_dir.empty() && (!marked || owner.pool != PoolIdOf(store_.pool))) continue;
    store_.log = {owner.id, owner.epoch, true, wal_dir};
    wal_folder_ = folder;
    return marked ? s : FileLog::MendOwner(env_, folder, owner);
  }
  return Status::OK();
}

// Before the exchange: from now on both pools count, whichever is in place.
Status Repairer::NameSuccessor() {
  StoreDescriptor fresh;
  Status s = ReadStore(env_, RepairDirectory(name_), &fresh);
  if (!s.ok()) return s;
  store_.successor = fresh.pool;
  store_.regions = fresh.regions;
  for (StoreDescriptor::Region& region : store_.regions) {
    for (const std::string& path : damaged_regions_) {
      if (RealPath(region.path) == RealPath(RepairedRegionPath(path))) region.path = path;
    }
  }
  AddFormer(PoolIdOf(store_.pool));
  return WriteParts();
}

// The new pool has all that the log had. The old log is removed for good: later writes must never meet it.
Status Repairer::FinishStore() {
  CHECK(exchanged_ || exchange_ == Exchange::kBegun);  // the new pool is in place, or the log would be lost
  const std::string folder = WalFolder(store_.log.wal_dir, name_);
  Status s = FileLog::Destroy(env_, folder, &store_.log.id);
  if (s.ok() && env_->FileExists(folder)) s = SyncDirectory(folder);
  if (!s.ok()) return s;
  wal_folder_.clear();
  store_.pool = store_.successor;
  store_.successor = Uuid{};
  store_.log = StoreDescriptor::Log();
  return WriteParts();
}

Status Repairer::WriteParts() {
  CHECK(lock_.held());  // nobody else has the database open
  store_.state = StoreState::kInUse;
  store_.pool_path = options_.pool_path;
  store_.ssd_path = options_.ssd_path;
  store_.directory = RealPath(name_);
  return WriteStore(env_, name_, store_);
}

void Repairer::AddFormer(uint64_t id) {
  std::vector<uint64_t>& former = store_.former_ids;
  if (std::find(former.begin(), former.end(), id) == former.end()) former.push_back(id);
}

// ---- a volatile pool

// A volatile pool's database always has a log. Without STORE it is where the options say, and all table files count.
Status Repairer::ReadVolatileParts(bool* whole, VersionEdit* state) {
  Status s = FindStore(whole);
  if (!s.ok()) return s;
  if (*whole && store_.state != StoreState::kInUse) {
    return Status::InvalidArgument(StorePath(name_), kMakingCutOff);
  }
  if (*whole) CHECK(state->DecodeSsdState(store_.ssd_state));  // or it would have been damage
  store_.log.wal_dir = options_.wal_dir;
  wal_folder_ = WalFolder(store_.log.wal_dir, name_);
  return s;
}

// The log of another database is neither read nor removed. A log with a former id has been applied by a repair that was
// cut off before it could begin a new log; such a log is removed, but not read.
Status Repairer::FindLogOwner() {
  std::optional<OwnerMark> owner;
  Status s = FileLog::FindOwner(env_, wal_folder_, &owner);
  if (!s.ok()) return s;
  if (!owner.has_value()) {
    Report({wal_folder_, "does not say that it holds the log of this database"});
    return s;
  }
  const std::vector<uint64_t>& former = store_.former_ids;
  log_is_former_ = std::find(former.begin(), former.end(), owner->id) != former.end();
  if (owner->id == store_.log.id || log_is_former_) return s;
  return Status::InvalidArgument(wal_folder_,
                                 "holds the log of another database (its file WAL_OWNER says whose): put "
                                 "this database's own log there");
}

}  // namespace miodb
