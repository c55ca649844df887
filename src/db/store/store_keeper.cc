// Decides which files are a database's: which fields of STORE an open trusts, and when STORE is written.

#include "src/db/store/store_keeper.h"

#include <algorithm>

#include "src/db/store/places.h"
#include "src/db/store/region_places.h"
#include "src/format/file_names.h"
#include "src/format/record.h"
#include "src/format/uuid_coding.h"
#include "src/util/files/posix_file.h"

namespace miodb {

// Two databases have nothing that an open could find again: a pool that a test brought along, and anonymous memory
// without an SSD tier.
bool StoreKeeper::Keeps() const {
  return !db_.PoolIsOfTests() && (db_.pool_place == PoolPlace::kNamed || !db_.options.ssd_path.empty());
}

// Sets existence_ and reads STORE. The result of a look before counts no more, also if this look fails.
Status StoreKeeper::Find(bool pool_is_there) {
  existence_ = Existence::kUnknown;
  store_ = stored_ = StoreDescriptor();
  const bool is_volatile = db_.pool_place == PoolPlace::kAnonymous;
  const Existence there = is_volatile ? Existence::kFilesAlone : Existence::kPool;
  if (db_.PoolIsOfTests()) {
    existence_ = pool_is_there ? there : Existence::kNew;
    return Status::OK();
  }
  const std::string default_pool = PoolPath("", db_.name);
  if (is_volatile && db_.options.env->FileExists(default_pool)) {
    return Status::InvalidArgument("Options::pool_path is anonymous",
                                   "the database has a pool: " + default_pool + ": name that");
  }
  Status s = ReadStore(db_.options.env, db_.name, &stored_);
  if (s.IsNotFound()) {
    if (pool_is_there) return MissingStore();
    existence_ = Existence::kNew;
    return Status::OK();
  }
  if (!s.ok()) return s;
  store_ = stored_.Counting();
  existence_ = pool_is_there || stored_.state == StoreState::kInUse ? there : Existence::kNew;
  return existed() ? Refusal(pool_is_there) : s;
}

// A pool does not know the place of its log, so an open needs STORE.
Status StoreKeeper::MissingStore() const {
  return Status::InvalidArgument(StorePath(db_.name),
                                 "is missing: nothing says that " + PoolPath(db_.options, db_.name) +
                                     " is this database's. If it is, RepairDB makes the file anew");
}

// Whether the options are those of the database that STORE describes.
Status StoreKeeper::Refusal(bool pool_is_there) const {
  const std::string path = PoolPath(db_.options, db_.name), store_path = StorePath(db_.name);
  const bool is_volatile = db_.pool_place == PoolPlace::kAnonymous;
  if (db_.pool_place != store_.pool_place()) {
    return Status::InvalidArgument(
        is_volatile ? "Options::pool_path is anonymous" : "Options::pool_path is not anonymous",
        store_path + " says that the database's pool is " + PoolPath(store_.pool_path, db_.name) + ": name that");
  }
  Status s = CheckPlaces(db_.options, db_.name, store_);
  if (!s.ok()) return s;
  if (is_volatile && db_.options.ssd_path.empty()) {
    return Status::InvalidArgument("Options::ssd_path is empty",
                                   store_path + " says that the database is in log files " +
                                       "and in table files, which are in " + store_.ssd_path + ": name that");
  }
  return is_volatile || pool_is_there ? s : MissingPool(path);
}

// The message tells the two ways out, because both lose something: remounting the file system costs nothing, and
// beginning anew costs all data.
Status StoreKeeper::MissingPool(const std::string& path) const {
  const std::string store_path = StorePath(db_.name);
  return Status::InvalidArgument(
      path, "there is no pool here. The database has one, as " + store_path + " says: uuid " +
                UuidText(store_.pool.data()) +
                ". Is its file system mounted? To begin anew, without what was in it, remove " + store_path);
}

// Whether the pool that was opened is the one that STORE names, and no other database's too.
Status StoreKeeper::CheckPool() {
  if (!Keeps()) return Status::OK();
  const Uuid uuid = MakeUuid(db_.pool->uuid());
  if (!db_.pool->is_volatile() && uuid != store_.pool) {
    if (uuid != store_.successor) {
      return Status::InvalidArgument(
          db_.pool->path(), "is another pool (uuid " + UuidText(uuid.data()) + ") than " + StorePath(db_.name) +
                                " names: uuid " + UuidText(store_.pool.data()) +
                                ". Put that back; or, to have this pool as the database's, remove the file and call "
                                "RepairDB");
    }
    if (store_.log.in_use) {
      return Status::InvalidArgument(StorePath(db_.name), "a repair was cut off; RepairDB finishes it");
    }
    store_.pool = uuid;
    store_.successor = Uuid{};
  }
  // A repair that was cut off has named the successor and its regions, while this pool is still in its place.
  Status s = store_.successor == Uuid{} ? CheckPoolAge(db_.name, store_, *db_.pool) : Status::OK();
  store_.successor = Uuid{};
  if (s.ok()) s = CheckRegionPlaces(db_.options, db_.name, store_, *db_.pool);
  if (!s.ok()) return s;
  std::vector<std::string> parts = {WalFolder(stored_.log.wal_dir, db_.name), db_.options.ssd_path};
  for (int i = 0; i < db_.pool->regions().count(); i++) parts.push_back(db_.pool->regions().at(i).region->path());
  return CheckOriginal(db_.options.env, db_.name, stored_, parts);
}

// The process that wrote what STORE says may have come no further than that.
Status StoreKeeper::Trust() { return Keeps() && existed() ? SyncStore(db_.options.env, db_.name) : Status::OK(); }

// If STORE is as the open found it, the open has synced it (Trust), so it is not written again.
Status StoreKeeper::Keep(StoreState state, const std::string& coming) {
  if (!Keeps()) return Status::OK();
  MutexLock lock(&mutex_);
  store_.state = state;
  store_.pool_path = db_.options.pool_path;
  if (!db_.options.ssd_path.empty()) store_.ssd_path = db_.options.ssd_path;
  store_.directory = RealPath(db_.name);
  if (db_.pool != nullptr && !db_.pool->is_volatile()) store_.regions = RegionsOfStore(*db_.pool);
  const bool has_room = store_.regions.size() + 1 < static_cast<size_t>(kMaxRegions);  // else the pool refuses it
  if (!coming.empty() && has_room) store_.regions.push_back({Uuid{}, coming});
  if (existed() && store_ == stored_) return Status::OK();
  stored_ = StoreDescriptor();  // whatever fails from here on, the next call writes
  Status s = WriteStore(db_.options.env, db_.name, store_);
  if (s.ok()) stored_ = store_;
  return s;
}

// With a volatile pool the log is written once more after this, so nobody knows yet how far the writes go.
Status StoreKeeper::KeepOpened(uint64_t last_sequence) {
  DCHECK_LE(last_sequence, kMaxSequence);
  CHECK(db_.pool != nullptr);
  Origin& origin = store_.origin;
  if (origin.state == Origin::State::kCopied)
    origin = {Origin::State::kUpTo, origin.source, origin.copy, last_sequence};
  const bool holds = origin.copy == store_.pool && store_.pool_place() == PoolPlace::kNamed &&
                     (origin.state == Origin::State::kFollows || origin.sequence == last_sequence);
  if (!holds) origin = Origin();
  return Keep(StoreState::kInUse);
}

Status StoreKeeper::EndFollowing(uint64_t last_sequence) {
  DCHECK_LE(last_sequence, kMaxSequence);
  {
    MutexLock lock(&mutex_);
    Origin& origin = store_.origin;
    DCHECK(origin.state != Origin::State::kCopied);
    if (origin.state != Origin::State::kFollows) return Status::OK();
    origin = {Origin::State::kUpTo, origin.source, origin.copy, last_sequence};
  }
  return Keep(StoreState::kInUse);
}

// Whether the writes up to this one, all that there are, are known to be those of the source.
Status StoreKeeper::CheckOrigin(const Uuid& source, uint64_t last_sequence) const {
  DCHECK(db_.pool != nullptr);
  const Origin& origin = store_.origin;
  const std::string wanted = UuidText(source.data()),
                    anew = ": make it anew from a checkpoint or a backup of " + wanted;
  if (source == MakeUuid(db_.pool->uuid()))
    return Status::InvalidArgument(db_.name, "has the identity of its source" + anew);
  if (last_sequence == 0) return Status::OK();
  if (origin.state == Origin::State::kNone) {
    return Status::InvalidArgument(db_.name, "is not known to be a copy of " + wanted + anew);
  }
  if (origin.source != source) {
    return Status::InvalidArgument(db_.name,
                                   "is a copy of " + UuidText(origin.source.data()) + " and not of " + wanted + anew);
  }
  if (origin.state == Origin::State::kUpTo && origin.sequence != last_sequence) {
    return Status::InvalidArgument(db_.name, "was a copy of " + wanted + " up to write " +
                                                 std::to_string(origin.sequence) + ", and was written to since" + anew);
  }
  return Status::OK();
}

Status StoreKeeper::Follow(const Slice& identity, uint64_t last_sequence) {
  Uuid source;
  if (!ParseUuid(identity, &source)) {
    return Status::InvalidArgument("FollowSource", "no identity: the property miodb.identity of the source gives one");
  }
  MutexLock lock(&mutex_);
  Status s = CheckOrigin(source, last_sequence);
  if (!s.ok()) return s;
  StoreDescriptor next = store_;
  next.origin = {Origin::State::kFollows, source, store_.pool, 0};
  if (Keeps() && next != stored_) {
    stored_ = StoreDescriptor();  // whatever fails, the next call writes
    s = WriteStore(db_.options.env, db_.name, next);
    if (!s.ok()) return s;
    stored_ = next;
  }
  store_ = std::move(next);
  return s;
}

std::string StoreKeeper::OriginText() {
  MutexLock lock(&mutex_);
  const Origin& origin = store_.origin;
  DCHECK_LE(origin.sequence, kMaxSequence);
  if (origin.state == Origin::State::kNone) return "";
  return UuidText(origin.source.data()) +
         (origin.state == Origin::State::kUpTo ? " " + std::to_string(origin.sequence) : "");
}

// A state that was not written is forgotten: a later Keep must not write it, since the job that made the files has
// failed.
Status StoreKeeper::KeepSsdState(uint64_t log_reach, std::string state, Status* in_doubt) {
  CHECK(Keeps());
  MutexLock lock(&mutex_);
  StoreDescriptor next = store_;
  next.log_reach = log_reach;
  next.ssd_state = std::move(state);
  stored_ = StoreDescriptor();
  Status s = WriteStore(db_.options.env, db_.name, next, in_doubt);
  if (!s.ok()) return s;
  store_ = stored_ = std::move(next);
  return s;
}

}  // namespace miodb
