// From the pool of a database that another process may have open to the sources of reads.

#include "src/db/reader/reader_follower.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "src/api/types/comparator_check.h"
#include "src/db/store/places.h"
#include "src/db/store/region_places.h"
#include "src/db/store/store_file.h"
#include "src/format/file_names.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

// A look, step by step:
//
//   0 See whether the database is still what was opened: the same files under their names, and STORE as it was, or
//     saying nothing that a reader could not follow.
//   1 Read the clock of the page of readers. Space that comes free from now on stays as it is until a later look.
//   2 Take up what the pool's files have grown by; read the manifest as far as it goes.
//   3 If there are new edits: open the tables that are new, and make a version. A table that cannot be opened while the
//     manifest goes on was dropped meanwhile, so it is all done again.
//   4 Read the log behind what was read before. While nobody reads, this is left out: log that is flushed meanwhile
//     need never be read. As long as there are no column families the manifest is read once more: the first one may
//     have come in between, and keys of it are no keys of the default family.
//   5 Raise the sequence up to which reads see, then publish the state: the one before has a part of what comes, by
//     whole frames, and the new one may lack what the old sequence sees.
//
// A state has the tables of one edit, and all log up to the sequence. So reads see the database as it was at some
// moment, and later looks see no less.

namespace miodb {

namespace {

// Room for the trees over what is in the log and in no full chunk.
constexpr size_t kReaderBlockBytes = 64 * 1024;

// The owner would have to drop tables as often while a version is opened.
constexpr int kMostAttempts = 64;

// The largest number of levels of a database, so that all levels have a place.
constexpr int kLevels = static_cast<int>(kMaxLevels) + 1;

Status Replaced(const std::string& path) {
  return Status::IOError(path, "was removed or replaced since the reader was opened: open a new one");
}

// A reader can follow only a pool that the other process has in a file.
Status CheckStore(const Options& options, const std::string& name, const StoreDescriptor& store) {
  if (store.state != StoreState::kInUse) return Status::InvalidArgument(StorePath(name), kMakingCutOff);
  if (store.pool_place() == PoolPlace::kAnonymous) {
    return Status::NotSupported(name, "its pool is anonymous memory, which no other process sees");
  }
  if (store.log.in_use) {
    return Status::NotSupported(name, "its log is in files, which a reader does not follow: Options::log_mode");
  }
  DCHECK(!name.empty());
  return CheckPlaces(options, name, store);
}

// Whoever writes to the pool of the original looks at the page of readers in the original's directory, so a reader of a
// copy would keep nothing there. The regions count where they were found: STORE of a copy names those of the original.
Status CheckNoCopy(const DbContext& db, const StoreDescriptor& store) {
  std::vector<std::string> parts = {db.pool->path(), store.ssd_path};
  for (int i = 1; i < db.pool->regions().count(); i++) parts.push_back(db.pool->regions().at(i).region->path());
  return CheckOriginal(db.options.env, db.name, store, parts);
}

// The owner makes the page. Where this process cannot write to the file system there is none.
Status OpenPage(const std::string& name, std::unique_ptr<ReaderPage>* page) {
  if (::access(name.c_str(), W_OK) != 0 && errno == EROFS) return Status::OK();
  return ReaderPage::OpenExisting(ReadersPath(name), page);
}

}  // namespace

// Places of regions are hints, which STORE has.
RegionPlaces ReaderFollower::Search() const { return PlacesOfRegions(db_.options, db_.name); }

// Marks come before what they are of is read: what is replaced in between is found out by the first look.
Status ReaderFollower::Open() {
  const std::string pool = PoolPath(db_.options, db_.name);
  FileMark store_mark;
  StoreDescriptor store;
  Status s = MarkOf(StorePath(db_.name), &store_mark);
  if (s.ok()) s = ReadStore(db_.options.env, db_.name, &store);
  if (s.IsNotFound()) {
    return Status::InvalidArgument(db_.name, "holds no database: it has no file STORE");
  }
  if (s.ok()) s = CheckStore(db_.options, db_.name, store);
  if (s.ok()) s = MarkMapped(pool, store);
  std::unique_ptr<ReaderPage> page;
  if (s.ok()) s = OpenPage(db_.name, &page);
  if (!s.ok()) return s;
  pins_ = std::make_shared<ReaderPins>(std::move(page));
  s = pins_->Enter();
  if (s.ok() && !pins_->has_page()) s = KeepOwnersOut(pool);
  // An owner may be storing what was read, or have told STORE of a new region: a second look finds both.
  if (s.ok() && !OpenPool(pool).ok()) s = OpenPool(pool);
  if (s.ok()) ForgetOthers(pool);
  if (s.ok() && MakeUuid(db_.pool->uuid()) != store.pool) {
    s = Status::InvalidArgument(db_.pool->path(), "is another pool than " + StorePath(db_.name) + " names");
  }
  if (s.ok()) s = CheckNoCopy(db_, store);
  if (s.ok() && !store.ssd_path.empty()) s = OpenTier(store);
  if (!s.ok()) return s;
  db_.blocks = std::make_unique<BlockPool>(kReaderBlockBytes, 0);
  {
    const MutexLock lock(&mutex_);
    store_mark_ = store_mark;
    manifest_ = std::make_unique<ManifestReader>(db_.pool.get());
    log_ = std::make_unique<LogFollower>(db_);
  }
  return Look(Depth::kLog);
}

Status ReaderFollower::MarkOf(const std::string& path, FileMark* mark) {
  DCHECK(mark != nullptr);
  struct statx info;
  struct statfs fs;
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_MTIME | STATX_BTIME, &info) != 0 ||
      ::statfs(path.c_str(), &fs) != 0) {
    return PosixError(path, errno);
  }
  const bool tells_birth = (info.stx_mask & STATX_BTIME) != 0;
  if (!tells_birth && fs.f_type == OVERLAYFS_SUPER_MAGIC) {
    return Status::NotSupported(
        path,
        "lies on an overlay file system over one that does not tell when a file was made, and so "
        "not that a writer has copied it up. Put the database on a volume");
  }
  mark->file = {uint64_t{info.stx_dev_major} << 32 | info.stx_dev_minor, info.stx_ino, 0, 0};
  if (tells_birth) mark->file.born_seconds = info.stx_btime.tv_sec;
  if (tells_birth) mark->file.born_nanos = info.stx_btime.tv_nsec;
  mark->seconds = info.stx_mtime.tv_sec;
  mark->nanos = info.stx_mtime.tv_nsec;
  return Status::OK();
}

// Size and times of these files tell nothing, because they are written to all the time. A region that has moved is
// found by a search. One that is added later was made by the owner, so nothing of it is ever copied.
Status ReaderFollower::MarkMapped(const std::string& pool, const StoreDescriptor& store) {
  DCHECK(mapped_.empty());
  FileMark mark;
  Status s = MarkOf(pool, &mark);
  mapped_[pool] = mark.file;
  for (const StoreDescriptor::Region& region : store.regions) {
    if (s.ok() && MarkOf(region.path, &mark).ok()) mapped_[region.path] = mark.file;
  }
  return s;
}

// STORE may name a file that is no region: one whose making was cut off, or one that took the place of a region which
// was found elsewhere.
void ReaderFollower::ForgetOthers(const std::string& pool) {
  std::set<std::pair<uint64_t, uint64_t>> opened;  // by device and inode
  for (int i = 1; i < db_.pool->regions().count(); i++) {
    struct stat info;
    if (::fstat(db_.pool->regions().at(i).region->file().fd(), &info) != 0) continue;
    opened.emplace(uint64_t{major(info.st_dev)} << 32 | minor(info.st_dev), info.st_ino);
  }
  std::erase_if(mapped_, [&](const auto& item) {
    return item.first != pool && opened.count({item.second.device, item.second.inode}) == 0;
  });
}

// The tier that STORE names is opened, whether the options name it or not.
Status ReaderFollower::OpenTier(const StoreDescriptor& store) {
  DCHECK(db_.ssd == nullptr);
  Options options = db_.options;
  options.ssd_path = store.ssd_path;
  std::unique_ptr<SsdStore> tier;
  Status s = SsdStore::OpenForReader(options, PoolIdOf(store.pool), &tier, db_.families.has_families());
  db_.ssd = std::move(tier);
  return s;
}

// Step 0. A repair, or one that has made the database anew, leaves other files under the same names. So does the first
// open for writing of a database that lies in the lower layer of an overlay file system.
Status ReaderFollower::CheckSame() {
  DCHECK(db_.pool != nullptr);
  FileMark mapped, store;
  const std::string store_path = StorePath(db_.name);
  for (const auto& [path, file] : mapped_) {
    if (!MarkOf(path, &mapped).ok() || mapped.file != file) return Replaced(path);
  }
  if (!pins_->IsAt(ReadersPath(db_.name))) return Replaced(ReadersPath(db_.name));
  if (!MarkOf(store_path, &store).ok()) return Replaced(store_path);
  if (store == store_mark_) return Status::OK();
  StoreDescriptor now;
  Status s = ReadStore(db_.options.env, db_.name, &now);
  if (s.ok()) s = CheckStore(db_.options, db_.name, now);
  if (!s.ok()) return s;
  const bool same = now.pool == MakeUuid(db_.pool->uuid()) && now.ssd_path.empty() == (db_.ssd == nullptr) &&
                    (db_.ssd == nullptr || RealPath(now.ssd_path) == RealPath(db_.ssd->path()));
  if (!same) return Replaced(store_path);
  store_mark_ = store;
  return s;
}

// An owner could write to the same file through another mount, and would not know what this reader needs.
Status ReaderFollower::KeepOwnersOut(const std::string& path) {
  DCHECK(!pins_->has_page());
  Descriptor pool(-1);
  Status s = OpenTyped(path, O_RDONLY, FileType::kRegular, &pool);
  if (!s.ok()) return s;
  if (::flock(pool.get(), LOCK_SH | LOCK_NB) != 0) {
    return Status::NotSupported(path, "is written to, and READERS cannot be: mount it so that it can");
  }
  nobody_writes_.Swap(&pool);
  return s;
}

// A reader has no wish for nodes, sizes or modes of its own: the files are as the owner has made them.
Status ReaderFollower::OpenPool(const std::string& path) {
  CHECK(db_.pool == nullptr);
  Pool::Options options;
  options.use = RegionUse::kReader;
  options.search = Search();
  options.huge_pages = db_.options.nvm_huge_pages;
  std::unique_ptr<Pool> pool;
  Status s = Pool::Open(path, options, &pool);
  db_.pool = std::move(pool);
  return s;
}

// Step 2. The owner may let the pool grow, and the manifest go on in what is new, between the two looks; and what the
// manifest names may lie in what the files have grown by since. So a manifest that cannot be read is read again for as
// long as the pool grows.
Status ReaderFollower::FollowManifest() {
  const RegionSet& regions = db_.pool->regions();
  Status s = db_.pool->Follow([this] { return Search(); });
  while (s.ok()) {
    const Status read = manifest_->Follow();
    const uint64_t known = regions.size();
    s = db_.pool->Follow([this] { return Search(); });
    if (s.ok() && (!read.IsCorruption() || regions.size() == known)) return read;
  }
  return s;
}

// Steps 2 and 3. The manifest is asked once more after a failure: what is damaged stays so. An owner that makes an edit
// for each attempt does not keep a reader from telling of damage.
Status ReaderFollower::Follow(uint64_t time) {
  Status s = FollowManifest();
  for (int attempt = 1; s.ok(); attempt++) {
    if (version_ != nullptr && manifest_->edits() == edits_) {
      version_->hold->Raise(time);
      return s;
    }
    const uint64_t edits = manifest_->edits();
    const Status opened = OpenVersion(time);
    if (opened.ok()) {
      edits_ = edits;
      return opened;
    }
    s = FollowManifest();
    if (s.ok() && (manifest_->edits() == edits || attempt == kMostAttempts)) return opened;
  }
  return s;
}

// Tables that the new version does not have are closed first: space that an edit has set free may be another table's or
// chunk's in the next edit. A table that an iterator still has is pinned, so its space has no new owner.
Status ReaderFollower::OpenVersion(uint64_t time) {
  DCHECK(manifest_ != nullptr && log_ != nullptr);
  const ManifestState& state = manifest_->state();
  Status s = CheckComparator(*db_.order.comparator(), state.comparator, db_.pool->path());
  if (!s.ok()) return s;
  if (state.has_families()) db_.families.SetHasFamilies();
  if (opener_ == nullptr) {
    opener_ = std::make_unique<StateOpener>(db_.pool.get(), db_.order, db_.ssd.get(),
                                            ChecksumsIf(db_.options.paranoid_checks), PayloadKeeper::kPin);
  }
  opener_->KeepOnly(state);
  s = opener_->Open(state);
  if (!s.ok()) return s;
  auto held = std::make_shared<HeldVersion>();
  held->hold = pins_->NewHold(time);
  const VersionShape shape{db_.order, kLevels, db_.ssd.get(), db_.ssd != nullptr ? size_t{kMaxSsdLevels} : 0};
  s = BuildVersion(shape, db_.pool->path(), state, opener_->tables(), opener_->files(), nullptr, &held->version);
  if (s.ok()) s = log_->SetChunks(state);
  if (s.ok()) version_ = std::move(held);
  return s;
}

// If tables and memtables are the same as before, only the sequence changes. The sequence is told to others (shown_)
// when reads find all writes up to it.
void ReaderFollower::Publish() {
  std::vector<MemTableRef> memtables = log_->MemTables();
  std::unique_ptr<ReadState> state;
  if (memtables != published_ || version_ != published_version_) {
    std::vector<MemTableRef> sealed = memtables;
    MemTableRef newest;
    if (sealed.empty()) {
      newest = std::make_shared<MemTable>(db_.order, db_.blocks.get(), 0, db_.pool->secret());
    } else {
      newest = sealed.front();
      sealed.erase(sealed.begin());
    }
    state = std::make_unique<ReadState>(std::move(newest), std::move(sealed),
                                        VersionRef(version_, version_->version.get()));
  }
  DCHECK_GE(log_->last_sequence(), sources_->last_sequence.load(std::memory_order_relaxed));  // relaxed: one thread
  sources_->last_sequence.store(log_->last_sequence(), std::memory_order_release);            // release: as by a leader
  if (state != nullptr) {
    sources_->states.Publish(std::move(state));
    published_ = std::move(memtables);
    published_version_ = version_;
  }
  shown_.store(log_->last_sequence(), std::memory_order_release);  // release: with LastVisible
}

// Step 4. An edit makes a family before a frame has a key of it, so a look at the manifest behind the one at the frame
// tells what a key with the mark of families is.
Status ReaderFollower::FollowLog(uint64_t time) {
  const uint64_t end = log_->FindEnd();
  for (;;) {
    const bool knew = db_.families.HasFamilies();
    Status s = log_->Follow(end);
    if (s.ok() && !knew) s = Follow(time);
    if (!s.ok() || !log_->waits()) return s;
    log_->PassMarked();
  }
}

// States that nobody has any more go at the end, whatever the look came to: while one of them is there its time is
// pinned, and the owner waits for it.
Status ReaderFollower::Look(Depth depth) {
  const MutexLock lock(&mutex_);
  last_look_ = NoThrow(db_.name, [&] {
    mutex_.AssertHeld();  // for the analysis, which does not see that the call is made at once
    return TakeLook(depth);
  });
  sources_->states.Reclaim();  // what only they had need not be kept until the next edit
  failed_.store(!last_look_.ok(), std::memory_order_relaxed);  // relaxed: the mutex orders last_look_
  return last_look_;
}

Status ReaderFollower::LastLook() const {
  if (!failed_.load(std::memory_order_relaxed)) return Status::OK();  // relaxed: as above
  const MutexLock lock(&mutex_);
  return last_look_;
}

// The time is read before anything else.
Status ReaderFollower::TakeLook(Depth depth) {
  CHECK(manifest_ != nullptr);
  const uint64_t time = pins_->Now();
  Status s = CheckSame();
  if (s.ok()) s = Follow(time);
  if (s.ok() && depth == Depth::kLog) s = FollowLog(time);
  if (s.ok()) Publish();
  return s;
}

// acquire: who sees the sequence sees the state that has it.
uint64_t ReaderFollower::LastVisible() const { return shown_.load(std::memory_order_acquire); }

Status ReaderFollower::Find(uint64_t sequence, LogPart* part) const {
  DCHECK(log_ != nullptr && part->extent == nullptr);
  DCHECK_LE(sequence, LastVisible());
  if (sequence >= log_->first_sequence()) {
    return log_->FindPart(sequence, part) ? Status::OK() : Status::Corruption(db_.pool->path(), "the log has a gap");
  }
  uint64_t begin = log_->first_sequence();
  const KeptChunk* const hit = manifest_->state().kept.Find(sequence, &begin);
  if (hit == nullptr) return NoMoreInLog(sequence, begin);
  *part = {hit->id, nullptr, hit->bytes, hit->first_sequence, hit->last_sequence};
  return db_.pool->Claim(hit->offset, RoundToUnit(hit->bytes), ExtentKind::kLog, &part->extent);
}

// The version holds all space that comes free from its look on, and so also the log that was named then. A look that
// failed half-way may have let go of chunks, and does not know yet where else their writes are.
Status ReaderFollower::FindPart(uint64_t sequence, LogPart* part) const {
  const MutexLock lock(&mutex_);
  CHECK(version_ != nullptr);
  Status s = Find(sequence, part);
  if (!s.ok() && !last_look_.ok()) {
    s = Status::IOError(db_.name, "the log cannot be read, because the last look failed: " + last_look_.ToString());
  }
  if (!s.ok()) return s;
  part->last_sequence = std::min(part->last_sequence, LastVisible());
  struct Held {
    std::shared_ptr<const HeldVersion> version;
    ExtentRef extent;
  };
  auto held = std::make_shared<Held>(Held{version_, part->extent});
  Extent* const extent = part->extent.get();
  part->extent = ExtentRef(std::move(held), extent);
  return s;
}

std::map<uint64_t, FamilyEntry> ReaderFollower::families() {
  const MutexLock lock(&mutex_);
  return manifest_->state().families;
}

uint64_t ReaderFollower::next_family() {
  const MutexLock lock(&mutex_);
  return manifest_->state().next_family;
}

}  // namespace miodb
