#include <algorithm>
#include <new>
#include <system_error>

#include "src/db/db_impl.h"
#include "src/db/file_names.h"
#include "src/db/options_check.h"
#include "src/db/region_places.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/no_throw.h"
#include "src/util/posix_file.h"

// An open, step by step:
//
//   1 Check the options, and whether there is a database (db_store.cc). Lock the directory, and look once more.
//   2 Map the pool, open the SSD tier and the log files; recover what is there (db_recovery.cc, db_volatile.cc), or
//     make a new pool. It has no name until it is whole, so what a crash leaves of it is removed by the next attempt.
//   3 Start the background threads. With a volatile pool, write once more what only the log has. Then STORE says that
//     the database is in use.
//
// What fails leaves what was there as it was, and nothing half-created.

namespace miodb {

namespace {

// The pool is mapped, which is the one thing that an Env cannot do. So an Env of the user's is asked whether it has the
// file, or may make it, and then the system has to have it under the same name.
Status AskEnvForPool(Env* env, const std::string& path, bool exists) {
  if (IsSystemEnv(env)) return Status::OK();
  const std::string probe = exists ? path : path + ".probe";
  if (!exists) {
    if (env->FileExists(probe)) return Status::IOError(probe, "is in the way of a file of this name; move it");
    WritableFile* file = nullptr;
    Status s = env->NewWritableFile(probe, &file);
    if (s.ok()) s = file->Close();
    delete file;
    if (!s.ok()) return s;
  }
  const bool visible = Env::Default()->FileExists(probe);
  if (!exists) env->RemoveFile(probe).IgnoreError();
  if (visible) return Status::OK();
  return Status::NotSupported(path, "Options::env keeps files where the pool cannot be mapped");
}

// A database of LevelDB's format. Making a pool beside it would look as if its data were lost.
bool IsForeignDatabase(Env* env, const std::string& name) { return env->FileExists(name + "/CURRENT"); }

// Blocks of memtable memory: a fraction of the memtable, within reason.
size_t BlockBytes(const Options& options) {
  constexpr size_t kLeast = 16 * 1024, kMost = 2 * 1024 * 1024;
  static_assert(kLeast >= BLinkTree::kMaxAllocation);
  return std::clamp(options.write_buffer_size / 8, kLeast, kMost) / kLeast * kLeast;
}

// Free blocks worth keeping: those of one memtable of small records.
constexpr size_t kSpareBlocks = 32;

// A quarter of a small memtable, but no more than this, is a chunk: few large extents are easier to keep account of.
constexpr uint64_t kSmallChunk = 64 * 1024;

// A chunk is no larger than this share of the pool: several are always kept free.
constexpr uint64_t kPoolChunks = 64;

uint64_t ChunkBytes(const Options& options, uint64_t pool_capacity) {
  if (options.log_chunk_size > 0) return options.log_chunk_size;
  const uint64_t sixteenth = options.write_buffer_size / 16;
  const uint64_t small = std::min<uint64_t>(options.write_buffer_size / 4, kSmallChunk);
  const uint64_t bytes = std::min(std::max(sixteenth, small), pool_capacity / kPoolChunks);
  return std::max(bytes / kExtentUnit * kExtentUnit, kExtentUnit);
}

// Asked once: the answer is in a file of /sys.
unsigned Cpus() {
  static const unsigned cpus = std::thread::hardware_concurrency();
  return cpus;
}

}  // namespace

Status DB::Open(const Options& options, const std::string& name, DB** dbptr) {
  *dbptr = nullptr;
  std::unique_ptr<DBImpl> db;
  Status s = NoThrow(name, [&] {
    Options adjusted = options;
#ifdef MIODB_AS_LEVELDB
    ClipAsLevelDB(&adjusted);
#endif
    return DBImpl::Open(adjusted, name, DBImpl::Hooks(), &db);
  });
  if (s.ok()) *dbptr = db.release();
  return s;
}

Status DBImpl::Open(const Options& options, const std::string& name, const Hooks& hooks, std::unique_ptr<DBImpl>* db) {
  Status s = CheckOptions(options, hooks.any_sizes);
  if (!s.ok()) return s;
  MemoryEnv* const memory_env = MemoryEnv::Of(options.env);
  MemoryEnv::Memory env_memory;
  Hooks with_memory = hooks;
  if (memory_env != nullptr) {
    s = memory_env->PoolMemory(PoolPath(options, name), options, &env_memory);
    if (!s.ok()) return s;
    with_memory.memory = env_memory.get();
  }
  std::unique_ptr<DBImpl> impl(new DBImpl(options, name, with_memory));
  impl->env_memory_ = std::move(env_memory);
  if (Placement::IsAskedFor(options)) s = Placement::Make(options, NumaTopology(), &impl->placement_);
  NvmModelFigures figures;
  bool off = true;
  if (s.ok()) s = NvmModelFigures::Parse(options.nvm_model, &figures, &off);
  if (s.ok() && !off) impl->nvm_model_ = std::make_unique<NvmModel>(figures);
  if (s.ok()) s = impl->Start();
  if (s.ok()) *db = std::move(impl);
  return s;
}

DBImpl::DBImpl(const Options& options, const std::string& name, const Hooks& hooks)
    : options_(WithOwnFiles(options)),
      name_(name),
      hooks_(hooks),
      order_(options.comparator),
      turns_(Cpus()),
      work_(&mutex_),
      done_(&mutex_),
      scheduler_(options.num_levels - 1),
      statistics_(static_cast<size_t>(options.num_levels), kMaxSsdLevels),
      helpers_(options.multi_get_threads) {}

Status DBImpl::Start() {
  Env* const env = options_.env;
  const bool directory_existed = env->FileExists(name_);
  Status s = CheckVolatility();
  if (s.ok()) s = LookForDatabase();
  if (!s.ok()) return s;
  const std::string ssd_manifest = SsdManifestPath(name_), store = StorePath(name_);
  s = WithMemory([this] { return OpenParts(); });
  if (s.ok()) return s;
  StopThreads();
  const auto log = [&] {
    LogStatus("open failed", s);
    return Status::OK();
  };
  WithMemory(log).IgnoreError();
  if (!existed_) RemoveUnfinished(ssd_manifest, store, directory_existed);
  return s;
}

// Whether there is a database. A device is there in any case; a volatile pool never, but maybe what outlives it.
Status DBImpl::LookForPool(bool* exists) {
  const std::string path = PoolPath(options_, name_);
  *exists = options_.env->FileExists(Region::IsAnonymous(path) ? SsdManifestPath(name_) : path);
  if (hooks_.memory != nullptr || !Region::IsDevice(path)) return Status::OK();
  return Pool::ExistsOnDevice(path, exists);
}

// Finds out whether there is a database, and whether that is as it should be.
Status DBImpl::LookForDatabase() {
  bool pool_is_there = false;
  Status s = LookForPool(&pool_is_there);
  if (s.ok()) s = FindStore(pool_is_there);
  if (!s.ok()) return s;
  if (!existed_ && IsForeignDatabase(options_.env, name_)) {
    return Status::InvalidArgument(name_, "holds a database of another format (it has a file CURRENT and no pool)");
  }
  // As LevelDB, whose lock file comes first.
  if (!existed_ && ::access(name_.c_str(), W_OK) != 0 && (errno == EACCES || errno == EROFS)) {
    return PosixError(name_, errno);
  }
  if (!existed_ && !options_.create_if_missing) {
    return Status::InvalidArgument(name_, "does not exist (create_if_missing is false)");
  }
  if (existed_ && options_.error_if_exists) {
    return Status::InvalidArgument(name_, "exists (error_if_exists is true)");
  }
  return s;
}

Status DBImpl::OpenParts() {
  Status s = LockDirectory();
  if (s.ok()) s = OpenPool();
  if (s.ok()) s = StartThreads();
  if (s.ok()) s = ReplayLogFiles();
  return s.ok() ? KeepStore(StoreState::kInUse) : s;
}

// Leaves nothing half-created. What cannot be removed was not ours to make. A STORE that
// says that there is a database goes first, then the pool or what stands for a volatile one: that takes no memory.
void DBImpl::RemoveUnfinished(const std::string& ssd_manifest, const std::string& store, bool directory_existed) {
  Env* const env = options_.env;
  if (store_.state == StoreState::kInUse) {
    env->RemoveFile(store).IgnoreError();
    if (env->FileExists(store)) return;  // the database is whole, and stays so
  }
  if (pool_ != nullptr) pool_->Remove();
  if (file_lock_ != nullptr) env->RemoveFile(ssd_manifest).IgnoreError();
  if (env_memory_ != nullptr) env->RemoveFile(PoolPath(options_, name_)).IgnoreError();
  if (file_log_ != nullptr) {
    const std::string folder = file_log_->folder();
    file_log_to_write_ = nullptr;
    file_log_.reset();
    FileLog::Destroy(env, folder, &store_.log.id).IgnoreError();
    if (log_folder_made_) env->RemoveDir(folder).IgnoreError();
  }
  if (ssd_ != nullptr) {
    ssd_.reset();
    SsdStore::Destroy(env, options_.ssd_path).IgnoreError();
  }
  if (file_lock_ != nullptr) {
    // A pool that cannot be removed keeps its STORE, without which nobody could open it.
    bool pool_is_there = true;
    if (LookForPool(&pool_is_there).ok() && !pool_is_there) env->RemoveFile(store).IgnoreError();
    own_log_.reset();
    info_log_ = options_.info_log;
    env->RemoveFile(LogPath(name_)).IgnoreError();
    env->UnlockFile(file_lock_).IgnoreError();
    file_lock_ = nullptr;
    env->RemoveFile(LockPath(name_)).IgnoreError();
  }
  if (!directory_existed) env->RemoveDir(name_).IgnoreError();
}

Status DBImpl::LockDirectory() {
  Env* const env = options_.env;
  if (!env->FileExists(name_)) {
    Status s = env->CreateDir(name_);
    if (!s.ok() && !env->FileExists(name_)) {
      // What LevelDB says, which finds it out with LOCK.
      if (s.IsNotFound()) return Status::NotFound(LockPath(name_), "No such file or directory (nor the one above it)");
      return Status::IOError(name_, "cannot create the directory: " + s.ToString());
    }
  }
  Status s = env->LockFile(LockPath(name_), &file_lock_);
  if (!s.ok()) return s;
  return OpenInfoLog(options_, name_, &own_log_, &info_log_);
}

Status DBImpl::OpenPool() {
  const uint64_t start = NowMicros();
  const std::string path = PoolPath(options_, name_);
  const ThreadMemoryPolicy policy(placement_.dram_node, ThreadMemoryPolicy::Strength::kPrefer);
  Status s = LookForDatabase();  // once more: another process may have made it before this one had the lock
  if (!s.ok()) return s;
  const bool exists = existed_, is_volatile = Region::IsAnonymous(path);
  // Whoever made it before got no further than this, and may have left a file with this uuid.
  if (!exists && KeepsStore() && is_volatile != (store_.pool == Uuid{})) store_.pool = is_volatile ? Uuid{} : NewUuid();
  const Pool::Options pool_options{options_.pool_size,
                                   options_.pool_growth,
                                   options_.persist_mode,
                                   hooks_.memory,
                                   placement_.nvm,
                                   nvm_model_.get(),
                                   RegionsOf(options_),
                                   hooks_.memory == nullptr ? PlacesOfRegions(options_, name_) : RegionPlaces(),
                                   options_.nvm_huge_pages,
                                   options_.file_access,
                                   store_.pool};
  if (hooks_.memory == nullptr && !is_volatile) s = AskEnvForPool(options_.env, path, exists);
  if (s.ok() && !exists) s = KeepStore(StoreState::kMaking);
  if (!s.ok()) return s;
  s = exists && !is_volatile ? Pool::Open(path, pool_options, &pool_) : Pool::Create(path, pool_options, &pool_);
  if (s.ok() && exists) s = CheckPool();
  if (s.ok()) s = ReadSsdManifest(exists && is_volatile);
  if (!s.ok()) return s;
  chunk_bytes_ = ChunkBytes(options_, pool_->capacity());
  blocks_ = std::make_unique<BlockPool>(BlockBytes(options_), kSpareBlocks, placement_.dram_node);
  frame_writer_ = std::make_unique<FrameWriter>(&pool_->persist(), pool_->secret());
  s = OpenSsd();
  if (!s.ok()) return s;
  MutexLock lock(&mutex_);
  versions_ = std::make_unique<VersionSet>(pool_.get(), order_, options_.num_levels);
  if (ssd_ != nullptr) versions_->UseSsd(ssd_.get(), options_.ssd_levels);
  if (exists && is_volatile) {
    s = versions_->CreateFor(ssd_manifest_.state);
    if (s.ok()) s = OpenFileLog();
    if (s.ok()) s = RecoverVolatile();
  } else if (exists) {
    s = OpenFileLog();
    if (s.ok()) s = Recover();
  } else {
    s = versions_->Create();
    if (s.ok()) s = pool_->Publish();
    if (s.ok() && env_memory_ != nullptr) MemoryEnv::Of(options_.env)->AddPool(path, env_memory_);
    if (s.ok()) s = OpenFileLog();
    if (s.ok()) s = MakeFilesDurable(VersionEdit());
  }
  if (s.ok()) s = AddMissingRegions();
  if (!s.ok()) return s;
  memtable_ = NewMemTable(BloomFilter::Pages::kAsUsed);
  writable_ = memtable_.get();
  takes_turns_ = file_log_to_write_ == nullptr && !pool_->persist().fence_is_slow();
  PublishState();
  Log("opened %s: %zu tables, persist mode %d, %llu of %llu bytes in use, %llu us", path.c_str(),
      versions_->manifest().tables.size(), static_cast<int>(pool_->persist_mode()),
      static_cast<unsigned long long>(pool_->used_bytes()), static_cast<unsigned long long>(pool_->capacity()),
      static_cast<unsigned long long>(NowMicros() - start));
  for (int i = 0; i < pool_->regions().count(); i++) {
    const Region& region = *pool_->regions().at(i).region;
    if (!region.copies_on_write()) continue;
    Log("WARNING: %s is copied on write: when its file system is full, a store ends the process. Make a folder, "
        "chattr +C it, and copy the database there",
        region.path().c_str());
  }
  if (is_volatile) {
    Log("the pool is anonymous memory: %s",
        ssd_ != nullptr ? "writes are in the log files until they are on SSD" : "nothing of it outlives the process");
  }
  return s;
}

Status DBImpl::StartThreads() {
  if (hooks_.manual_background) return Status::OK();
  int mergers = options_.max_background_merges;
  if (mergers == 0) mergers = std::max(1, static_cast<int>(Cpus()) / 2);
  const int ssd_threads = ssd_ != nullptr ? options_.max_background_ssd_jobs : 0;
  threads_.reserve(static_cast<size_t>(mergers + ssd_threads) + 2);
  try {
    threads_.emplace_back([this] { BackgroundLoop(Step::kPrepare); });
    threads_.emplace_back([this] { BackgroundLoop(Step::kFlush); });
    for (int i = 0; i < mergers; i++) {
      threads_.emplace_back([this] { BackgroundLoop(Step::kMerge); });
    }
    for (int i = 0; i < ssd_threads; i++) {
      threads_.emplace_back([this] { BackgroundLoop(Step::kSsd); });
    }
  } catch (const std::system_error& error) {
    return Status::IOError(name_, std::string("cannot start a thread: ") + error.what());
  }
  return Status::OK();
}

void DBImpl::StopThreads() {
  {
    MutexLock lock(&mutex_);
    closing_.store(true, std::memory_order_relaxed);  // relaxed: read under the mutex, or as a mere wish
    work_.SignalAll();
    done_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void DBImpl::operator delete(DBImpl* db, std::destroying_delete_t) {
  if (db->fork_guard_.InChild()) return;
  db->~DBImpl();
  ::operator delete(static_cast<void*>(db), std::align_val_t(alignof(DBImpl)));
}

DBImpl::~DBImpl() {
  DCHECK(snapshots_.empty());  // the user releases all snapshots before
  const bool was_open = pool_ != nullptr && !pool_->is_volatile() && file_lock_ != nullptr && !threads_.empty();
  if (options_.log_mode == kLogOff && was_open) Flush().IgnoreError();  // the error is in the info log
  StopThreads();
  LeaveFileLog();
  if (was_open) {
    const Status s = WithMemory([this] { return GiveSpaceBack(); });
    if (!s.ok()) LogStatus("free space is kept", s);
  }
  if (tracer_.active()) EndTrace().IgnoreError();  // the error is in the info log
  if (file_lock_ != nullptr) {
    Log("closed");
    options_.env->UnlockFile(file_lock_).IgnoreError();
  }
}

}  // namespace miodb
