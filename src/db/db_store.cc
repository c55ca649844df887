#include <algorithm>

#include "src/db/db_impl.h"
#include "src/db/file_names.h"
#include "src/db/region_places.h"
#include "src/util/posix_file.h"

// The database and its file STORE, which names the parts (format/store_descriptor.h). An open believes it:
//
//   STORE              pool     what there is
//   missing            no       no database
//   missing            yes      a pool of which nothing says whose it is: refused
//   damaged            any      refused
//   being made         no       no database: its making was cut off before anybody could write to it
//   being made, in use yes      the database
//   in use             no       a database of which the pool is missing: refused, whatever create_if_missing says
//
// With a volatile pool, SSD_MANIFEST stands for the pool.
//
// Writing: "being made", with the pool's uuid, before there is anything else of a new database; "in use" at the end of
// every open, before anybody can write.

namespace miodb {

namespace {

// Whether both name one file or folder. The path of another database counts only if it does not depend on where that
// was opened.
bool IsSamePlace(const std::string& mine, const std::string& others) {
  return !others.empty() && others[0] == '/' && RealPath(mine) == RealPath(others);
}

}  // namespace

bool DBImpl::KeepsStore() const {
  return !PoolIsOfTests() && !(Region::IsAnonymous(options_.pool_path) && options_.ssd_path.empty());
}

// Sets existed_ and store_.
Status DBImpl::FindStore(bool pool_is_there) {
  existed_ = pool_is_there;
  store_ = stored_ = StoreDescriptor();
  original_.reset();
  if (PoolIsOfTests()) return Status::OK();
  const std::string path = PoolPath(options_, name_), store_path = StorePath(name_);
  const bool is_volatile = Region::IsAnonymous(path);
  const std::string needed = is_volatile ? SsdManifestPath(name_) : path;
  Status s = ReadStore(options_.env, name_, &stored_);
  if (s.IsNotFound()) {
    if (!pool_is_there) return Status::OK();
    return Status::InvalidArgument(store_path, "is missing: nothing says that " + needed +
                                                   " is this database's. If it is, RepairDB makes the file anew");
  }
  existed_ = pool_is_there || !s.ok() || stored_.state == StoreState::kInUse;
  if (!s.ok()) return s;
  store_ = stored_;
  if (!existed_) return s;
  if (is_volatile != (store_.pool == Uuid{})) {
    return Status::InvalidArgument(
        is_volatile ? "Options::pool_path is anonymous" : "Options::pool_path is not anonymous",
        store_path + " says that the database's pool is " + LastPoolPath(store_, name_));
  }
  if (!pool_is_there) return MissingPool(needed);
  if (store_.directory == RealPath(name_)) return s;
  StoreDescriptor original;
  if (ReadStore(options_.env, store_.directory, &original).ok() && original.pool == store_.pool &&
      original.log.id == store_.log.id) {
    original_ = std::make_unique<StoreDescriptor>(std::move(original));
  }
  return s;
}

Status DBImpl::MissingPool(const std::string& path) const {
  const std::string store_path = StorePath(name_);
  if (store_.pool == Uuid{}) {
    return Status::InvalidArgument(path, "is missing, and " + store_path +
                                             " says that there is a database. RepairDB makes it anew from the table "
                                             "files and the log");
  }
  return Status::InvalidArgument(
      path, "there is no pool here. The database has one, as " + store_path + " says: uuid " +
                UuidText(store_.pool.data()) + ", last at " + LastPoolPath(store_, name_) +
                ". Is its file system mounted, and is Options::pool_path right? To begin anew, without what was in it, "
                "remove " +
                store_path);
}

// Whether the pool that was opened is the one that STORE names, and no other database's too.
Status DBImpl::CheckPool() {
  if (!KeepsStore()) return Status::OK();
  const Uuid uuid = MakeUuid(pool_->uuid());
  if (!pool_->is_volatile() && uuid != store_.pool) {
    if (uuid != store_.successor) {
      return Status::InvalidArgument(
          pool_->path(), "is another pool (uuid " + UuidText(uuid.data()) + ") than " + StorePath(name_) +
                             " names: uuid " + UuidText(store_.pool.data()) + ", last at " +
                             LastPoolPath(store_, name_) +
                             ". Put that back; or, to have this pool as the database's, remove the file and call "
                             "RepairDB");
    }
    if (store_.log.in_use) {
      return Status::InvalidArgument(StorePath(name_), "a repair was cut off; RepairDB finishes it");
    }
    store_.pool = uuid;
  }
  store_.successor = Uuid{};
  return CheckOriginal();
}

// The directory was copied from one that is still there. Parts that both name are that one's.
Status DBImpl::CheckOriginal() const {
  if (original_ == nullptr) return Status::OK();
  const std::string& directory = store_.directory;
  const auto refuse = [&](const std::string& part) {
    return Status::InvalidArgument(name_, "is a copy of the database in " + directory + ", which has " + part +
                                              " too. Give this one its own copy of it, or remove the other's STORE");
  };
  if (IsSamePlace(pool_->path(), LastPoolPath(*original_, directory))) return refuse(pool_->path());
  for (int i = 1; i < pool_->regions().count(); i++) {
    const std::string& mine = pool_->regions().at(i).region->path();
    for (const StoreDescriptor::Region& region : original_->regions) {
      if (IsSamePlace(mine, region.path)) return refuse(mine);
    }
  }
  const std::string log = WalFolder(original_->log.wal_dir, directory);
  for (const std::string& wal_dir : {store_.log.wal_dir, options_.wal_dir}) {
    if (IsSamePlace(WalFolder(wal_dir, name_), log)) return refuse(log);
  }
  return Status::OK();
}

// Makes STORE say what there is now. It is synced even if it says so already: the process that wrote it may have come
// no further.
Status DBImpl::KeepStore(StoreState state) {
  if (!KeepsStore()) return Status::OK();
  store_.state = state;
  store_.pool_path = options_.pool_path;
  store_.directory = RealPath(name_);
  if (pool_ != nullptr && !pool_->is_volatile()) store_.regions = RegionsOfStore(*pool_);
  if (store_ == stored_) return SyncStore(options_.env, name_);
  stored_ = StoreDescriptor();  // whatever fails from here on, the next call writes
  Status s = WriteStore(options_.env, name_, store_);
  if (s.ok()) stored_ = store_;
  return s;
}

}  // namespace miodb
