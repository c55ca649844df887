#include "src/db/db_impl.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <new>
#include <system_error>

#include "miodb/write_batch.h"
#include "src/db/db_iter.h"
#include "src/db/file_names.h"
#include "src/db/options_check.h"
#include "src/db/region_places.h"
#include "src/nvm/pool_image.h"
#include "src/util/check.h"
#include "src/util/clock.h"
#include "src/util/perf_clock.h"

// A get, step by step:
//
//   1 Pin the current state: memtables and version (read_state.h). No lock.
//   2 Read the sequence to read at: the snapshot's, or the newest published one. After the pin: the other way round a
//     merge in between could drop a version that this sequence needs.
//   3 Look into the memtable, the sealed memtables newest first, then the version's runs in order of age. The first hit
//     at or below the sequence is the newest visible version (version.h says why).
//     On SSD it goes on with the levels there, in the one file of each that can have the key.
//   4 Copy the value, or keep the state pinned and hand out the bytes in the pool, or the block in memory.

namespace miodb {

namespace {

// The pool is mapped, which is the one thing that an Env cannot do. So an Env of the user's is asked whether it has the
// file, or may make it, and then the system has to have it under the same name.
Status AskEnvForPool(Env* env, const std::string& path, bool exists) {
  if (env == Env::Default()) return Status::OK();
  const std::string probe = exists ? path : path + ".probe";
  if (!exists) {
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

// Counts one more caller who wants everything in the repository, while it lives or until End.
class SettleRequest {
 public:
  explicit SettleRequest(int* requests) : requests_(requests) { ++*requests_; }
  ~SettleRequest() { End(); }
  SettleRequest(const SettleRequest&) = delete;
  SettleRequest& operator=(const SettleRequest&) = delete;

  void End() {
    if (requests_ != nullptr) --*requests_;
    requests_ = nullptr;
  }

 private:
  int* requests_;
};

// A quarter of a small memtable, but no more than this, is a chunk: few large extents are easier to keep account of.
constexpr uint64_t kSmallChunk = 64 * 1024;

// The id of the database, whose log files bear it. False if it cannot be read.
bool ReadId(const std::string& name, const Options& options, uint64_t* id) {
  SsdManifest manifest;
  if (SsdManifest::Read(options.env, SsdManifestPath(name), &manifest).ok()) {
    *id = manifest.store_id;
    return true;
  }
  SequentialFile* opened = nullptr;
  if (!options.env->NewSequentialFile(PoolPath(options, name), &opened).ok()) return false;
  const std::unique_ptr<SequentialFile> file(opened);
  std::string space(kPoolHeaderSize, '\0');
  Slice page;
  if (!file->Read(space.size(), &page, space.data()).ok() || page.size() < space.size()) return false;
  const PoolHeader header = ReadPoolHeader(page.data(), page.size());
  *id = header.pool_id;
  return header.has_superblock;
}

// Removes the log files of a database that is not open.
Status DestroyFileLog(const std::string& name, const Options& options) {
  Env* const env = options.env;
  if (!env->FileExists(WalDirPath(name))) return Status::OK();
  std::string wal_dir;
  Status s = ReadFileToString(env, WalDirPath(name), &wal_dir);
  const std::string folder = WalFolder(wal_dir, name);
  uint64_t id;
  const bool known = ReadId(name, options, &id);
  if (s.ok()) s = FileLog::Destroy(env, folder, known ? &id : nullptr);
  if (!s.ok()) return s;
  if (folder != name) env->RemoveDir(folder).IgnoreError();  // foreign files keep it
  return env->RemoveFile(WalDirPath(name));
}

// DestroyDB, but for what runs out of memory. A lock that was had is let go in any case.
Status Destroy(const std::string& name, const Options& options) {
  Env* const env = options.env;
  const std::string pool = PoolPath(options, name);
  if (!env->FileExists(name) && !env->FileExists(pool)) return Status::OK();
  FileLock* lock = nullptr;
  Status s;
  if (env->FileExists(name)) {
    s = env->LockFile(LockPath(name), &lock);
    if (!s.ok()) return s;
  }
  s = DestroyFileLog(name, options);
  if (s.ok() && !options.ssd_path.empty()) {
    s = SsdStore::Destroy(env, options.ssd_path);
    if (s.ok()) s = SsdStore::Destroy(env, RepairedSsdPath(options));
    for (int i = 1; s.ok() && env->FileExists(DamagedPath(options.ssd_path, i)); i++) {
      s = SsdStore::Destroy(env, DamagedPath(options.ssd_path, i));
    }
  }
  if (s.ok()) s = Pool::Destroy(pool, PlacesOfRegions(options, name));
  if (s.ok()) s = Pool::Destroy(RepairedPoolPath(options, name), PlacesOfRegions(options, name));
  for (int i = 1; s.ok() && env->FileExists(DamagedPoolPath(options, name, i)); i++) {
    s = Pool::Destroy(DamagedPoolPath(options, name, i), PlacesOfRegions(options, name));
  }
  const std::string repair = RepairDirectory(name);
  for (const std::string& file :
       {LockPath(repair), LogPath(name), LogPath(name) + ".old", LostPath(name), RegionsPath(name),
        RegionsPath(name) + ".tmp", WalDirPath(name) + ".tmp", SsdManifestPath(name), SsdManifestPath(name) + ".tmp"}) {
    if (!s.ok() || !env->FileExists(file)) continue;
    s = env->RemoveFile(file);
  }
  if (s.ok() && env->FileExists(repair)) env->RemoveDir(repair).IgnoreError();
  if (lock != nullptr) {
    env->UnlockFile(lock).IgnoreError();
    if (!s.ok()) return s;
    env->RemoveFile(LockPath(name)).IgnoreError();
    env->RemoveDir(name).IgnoreError();  // foreign files stay, and the directory with them
  }
  return s;
}

}  // namespace

Snapshot::~Snapshot() = default;
DB::~DB() = default;

// For classes that implement DB by Write alone.
Status DB::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  WriteBatch batch;
  batch.Put(key, value);
  return Write(options, &batch);
}

Status DB::Delete(const WriteOptions& options, const Slice& key) {
  WriteBatch batch;
  batch.Delete(key);
  return Write(options, &batch);
}

Status DB::Get(const ReadOptions&, const Slice&, PinnableSlice*) {
  return Status::NotSupported("this DB has no pinned reads");
}
Status DB::Flush() { return Status::NotSupported("this DB has no Flush"); }
void DB::StopWaiting() {}
Status DB::WaitForIdle() { return Status::NotSupported("this DB has no WaitForIdle"); }
Status DB::StartTrace(const TraceOptions&, std::unique_ptr<TraceWriter>) {
  return Status::NotSupported("this DB has no StartTrace");
}
Status DB::AddRegion(const NvmRegion&) { return Status::NotSupported("this DB has no AddRegion"); }
Status DB::EndTrace() { return Status::NotSupported("this DB has no EndTrace"); }

Status DB::Open(const Options& options, const std::string& name, DB** dbptr) {
  *dbptr = nullptr;
  std::unique_ptr<DBImpl> db;
  Status s;
  try {
    Options adjusted = options;
#ifdef MIODB_AS_LEVELDB
    ClipAsLevelDB(&adjusted);
#endif
    s = DBImpl::Open(adjusted, name, DBImpl::Hooks(), &db);
  } catch (const std::bad_alloc&) {
    s = Status::IOError(name, "out of memory");
  }
  if (s.ok()) *dbptr = db.release();
  return s;
}

Status DBImpl::Open(const Options& options, const std::string& name, const Hooks& hooks, std::unique_ptr<DBImpl>* db) {
  Status s = CheckOptions(options, hooks.any_sizes);
  if (!s.ok()) return s;
  std::unique_ptr<DBImpl> impl(new DBImpl(options, name, hooks));
  s = Placement::Make(options, NumaTopology(), &impl->placement_);
  NvmModelFigures figures;
  bool off = true;
  if (s.ok()) s = NvmModelFigures::Parse(options.nvm_model, &figures, &off);
  if (s.ok() && !off) impl->nvm_model_ = std::make_unique<NvmModel>(figures);
  if (s.ok()) s = impl->Start();
  if (s.ok()) *db = std::move(impl);
  return s;
}

DBImpl::DBImpl(const Options& options, const std::string& name, const Hooks& hooks)
    : options_(options),
      name_(name),
      hooks_(hooks),
      order_(options.comparator),
      turns_(std::thread::hardware_concurrency()),
      work_(&mutex_),
      done_(&mutex_),
      helpers_(options.multi_get_threads),
      level_stats_(static_cast<size_t>(options.num_levels)),
      ssd_stats_(kMaxSsdLevels) {
  chunk_bytes_ = options.log_chunk_size;
  if (chunk_bytes_ == 0) {
    const uint64_t sixteenth = options.write_buffer_size / 16 / kExtentUnit * kExtentUnit;
    const uint64_t quarter = options.write_buffer_size / 4 / kExtentUnit * kExtentUnit;
    chunk_bytes_ = std::max({sixteenth, std::min(quarter, kSmallChunk), kExtentUnit});
  }
}

Status DBImpl::Start() {
  Env* const env = options_.env;
  const bool directory_existed = env->FileExists(name_);
  Status s = CheckVolatility();
  if (s.ok()) s = LookForDatabase();
  if (!s.ok()) return s;
  s = WithMemory([this] { return OpenParts(); });
  if (s.ok()) return s;
  StopThreads();
  LogStatus("open failed", s);
  if (!existed_) RemoveUnfinished(directory_existed);
  return s;
}

// Whether there is a database. A device is there in any case; a volatile pool never, but maybe what outlives it.
Status DBImpl::LookForPool(bool* exists) {
  const std::string path = PoolPath(options_, name_);
  *exists = options_.env->FileExists(Region::IsAnonymous(path) ? SsdManifestPath(name_) : path);
  if (hooks_.memory != nullptr || !Region::IsDevice(path)) return Status::OK();
  return Pool::ExistsOnDevice(path, exists);
}

// Sets existed_, and says whether that is as it should be.
Status DBImpl::LookForDatabase() {
  Status s = LookForPool(&existed_);
  if (!s.ok()) return s;
  if (!existed_ && IsForeignDatabase(options_.env, name_)) {
    return Status::InvalidArgument(name_, "holds a database of another format (it has a file CURRENT and no pool)");
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
  return s;
}

// Leaves nothing half-created. What cannot be removed was not ours to make.
void DBImpl::RemoveUnfinished(bool directory_existed) {
  Env* const env = options_.env;
  if (pool_ != nullptr) pool_->Remove();
  if (file_log_ != nullptr) {
    const std::string folder = file_log_->folder();
    file_log_to_write_ = nullptr;
    file_log_.reset();
    FileLog::Destroy(env, folder, &ssd_manifest_.store_id).IgnoreError();
    env->RemoveFile(WalDirPath(name_)).IgnoreError();
    if (log_folder_made_) env->RemoveDir(folder).IgnoreError();
  }
  if (ssd_ != nullptr) {
    ssd_.reset();
    SsdStore::Destroy(env, options_.ssd_path).IgnoreError();
  }
  if (file_lock_ != nullptr) {
    env->RemoveFile(SsdManifestPath(name_)).IgnoreError();
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
    if (!s.ok() && !env->FileExists(name_))
      return Status::IOError(name_, "cannot create the directory: " + s.ToString());
  }
  Status s = env->LockFile(LockPath(name_), &file_lock_);
  if (!s.ok()) return s;
  return OpenInfoLog(options_, name_, &own_log_, &info_log_);
}

Status DBImpl::OpenPool() {
  const uint64_t start = NowMicros();
  const std::string path = PoolPath(options_, name_);
  const ThreadMemoryPolicy policy(placement_.dram_node, ThreadMemoryPolicy::Strength::kPrefer);
  const Pool::Options pool_options{
      options_.pool_size,     options_.pool_growth,
      options_.persist_mode,  hooks_.memory,
      placement_.nvm,         nvm_model_.get(),
      RegionsOf(options_),    hooks_.memory == nullptr ? PlacesOfRegions(options_, name_) : RegionPlaces(),
      options_.nvm_huge_pages};
  Status s = LookForDatabase();  // once more: another process may have made it before this one had the lock
  const bool exists = existed_;
  if (s.ok() && hooks_.memory == nullptr && !Region::IsAnonymous(path)) s = AskEnvForPool(options_.env, path, exists);
  if (!s.ok()) return s;
  const bool is_volatile = Region::IsAnonymous(path);
  s = exists && !is_volatile ? Pool::Open(path, pool_options, &pool_) : Pool::Create(path, pool_options, &pool_);
  if (s.ok()) s = ReadSsdManifest(exists && is_volatile);
  if (!s.ok()) return s;
  blocks_ = std::make_unique<BlockPool>(BlockBytes(options_), kSpareBlocks, placement_.dram_node);
  frame_writer_ = std::make_unique<FrameWriter>(&pool_->persist());
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
    if (s.ok()) s = OpenFileLog();
    if (s.ok()) s = MakeFilesDurable(VersionEdit());
  }
  if (s.ok()) s = AddMissingRegions();
  if (!s.ok()) return s;
  memtable_ = NewMemTable();
  writable_ = memtable_.get();
  takes_turns_ = file_log_to_write_ == nullptr && !pool_->persist().fence_is_slow();
  PublishState();
  Log("opened %s: %zu tables, persist mode %d, %llu of %llu bytes in use, %llu us", path.c_str(),
      versions_->manifest().tables.size(), static_cast<int>(pool_->persist_mode()),
      static_cast<unsigned long long>(pool_->used_bytes()), static_cast<unsigned long long>(pool_->capacity()),
      static_cast<unsigned long long>(NowMicros() - start));
  if (is_volatile) {
    Log("the pool is anonymous memory: %s",
        ssd_ != nullptr ? "writes are in the log files until they are on SSD" : "nothing of it outlives the process");
  }
  return s;
}

Status DBImpl::StartThreads() {
  if (hooks_.manual_background) return Status::OK();
  int mergers = options_.max_background_merges;
  if (mergers == 0) mergers = std::max(1, static_cast<int>(std::thread::hardware_concurrency()) / 2);
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

DBImpl::~DBImpl() {
  DCHECK(snapshots_.empty());  // the user releases all snapshots before
  if (options_.log_mode == kLogOff && pool_ != nullptr && !pool_->is_volatile() && file_lock_ != nullptr &&
      !threads_.empty()) {
    Flush().IgnoreError();  // the error is in the info log
  }
  StopThreads();
  if (tracer_.active()) EndTrace().IgnoreError();  // the error is in the info log
  if (file_lock_ != nullptr) {
    Log("closed");
    options_.env->UnlockFile(file_lock_).IgnoreError();
  }
}

void DBImpl::Log(const char* format, ...) {
  if (info_log_ == nullptr) return;
  va_list arguments;
  va_start(arguments, format);
  try {
    info_log_->Logv(format, arguments);
  } catch (const std::bad_alloc&) {
    // A message less.
  }
  va_end(arguments);
}

void DBImpl::LogStatus(const char* what, const Status& s) {
  try {
    Log("%s: %s", what, s.ToString().c_str());
  } catch (const std::bad_alloc&) {
    // A message less.
  }
}

uint64_t DBImpl::ReadSequence(const ReadOptions& options) const {
  // acquire: pairs with the leader's release; the records up to this sequence are in the memtables.
  return options.snapshot != nullptr ? static_cast<const SnapshotImpl*>(options.snapshot)->sequence
                                     : last_sequence_.load(std::memory_order_acquire);
}

// All filters at once, not one miss after the other.
void DBImpl::PrefetchFilters(const LookupKey& lookup, const ReadState& state) {
  state.memtable->Prefetch(lookup);
  for (const MemTableRef& memtable : state.immutables) memtable->Prefetch(lookup);
  state.version->Prefetch(lookup);
}

Status DBImpl::FindInPool(const ReadOptions& options, const LookupKey& lookup, const ReadState& state, bool* found,
                          RecordView* record) {
  const bool verify = options.verify_checksums || options_.paranoid_checks;
  PerfClock clock;
  Status s = state.memtable->Get(lookup, verify, found, record);
  for (size_t i = 0; s.ok() && !*found && i < state.immutables.size(); i++) {
    s = state.immutables[i]->Get(lookup, verify, found, record);
  }
  clock.Lap(&PerfContext::get_memtable);
  if (!s.ok() || *found) return s;
  s = state.version->Get(order_, lookup, verify, found, record);
  if (*found && state.version->ssd != nullptr) read_samples_.Note(lookup.key);
  return s;
}

Status DBImpl::Find(const ReadOptions& options, const Slice& key, ReadState* state, BlockPin* block, bool* found,
                    RecordView* record) {
  const LookupKey lookup(order_, key, ReadSequence(options));
  PrefetchFilters(lookup, *state);
  Status s = FindInPool(options, lookup, *state, found, record);
  if (!s.ok() || *found || state->version->ssd == nullptr) return s;
  PerfClock ssd_clock;
  s = state->version->ssd->Get(lookup, SsdReadMode(options), options.snapshot == nullptr, block, found, record);
  ssd_clock.Lap(&PerfContext::get_ssd);
  return s;
}

// Finds a value and hands it over while its state is pinned.
template <typename Use>
Status DBImpl::GetPinned(const ReadOptions& options, const Slice& key, Use use) {
  if (tracer_.active()) [[unlikely]]
    tracer_.Get(key);
  PerfClock clock;
  Status result = WithMemory([&] {
    ReadStates::Pin pin(&states_);
    bool found;
    RecordView record;
    BlockPin block;
    Status s = Find(options, key, pin.get(), &block, &found, &record);
    if (!s.ok()) return s;
    if (!found || record.type() == kTypeDeletion) return Status::NotFound(Slice());
    use(record.value, pin.get(), &block);
    return s;
  });
  clock.End(&PerfContext::get_total, &PerfContext::gets);
  return result;
}

Status DBImpl::Get(const ReadOptions& options, const Slice& key, std::string* value) {
  return GetPinned(options, key,
                   [value](const Slice& bytes, ReadState*, BlockPin*) { value->assign(bytes.data(), bytes.size()); });
}

Status DBImpl::Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) {
  return GetPinned(options, key, [value](const Slice& bytes, ReadState* state, BlockPin* block) {
    if (block->holds_any()) {
      value->Pin(
          bytes, [](void* pinned) { delete static_cast<BlockPin*>(pinned); }, new BlockPin(std::move(*block)));
      return;
    }
    ReadStates::Ref(state);
    value->Pin(
        bytes, [](void* pinned) { UnpinState(pinned, nullptr); }, state);
  });
}

void DBImpl::UnpinState(void* state, void*) {
  ReadState* const s = static_cast<ReadState*>(state);
  s->owner->Unref(s);
}

Iterator* DBImpl::NewIterator(const ReadOptions& options) {
  try {
    return MakeIterator(options);
  } catch (const std::bad_alloc&) {
    return NewErrorIterator(OutOfMemory());
  }
}

Iterator* DBImpl::MakeIterator(const ReadOptions& options) {
  ReadState* state;
  uint64_t sequence;
  {
    ReadStates::Pin pin(&states_);
    state = pin.get();
    ReadStates::Ref(state);
    sequence = ReadSequence(options);  // after the pin, as in a get
  }
  const bool verify = options.verify_checksums || options_.paranoid_checks;
  Iterator* iterator;
  try {
    iterator = NewDBIterator(order_, *state, sequence, verify, options, &tracer_);
  } catch (const std::bad_alloc&) {
    UnpinState(state, nullptr);
    throw;
  }
  iterator->RegisterCleanup(&UnpinState, state, nullptr);
  return iterator;
}

const Snapshot* DBImpl::GetSnapshot() {
  try {
    return snapshots_.Take(last_sequence_);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void DBImpl::ReleaseSnapshot(const Snapshot* snapshot) {
  if (snapshot == nullptr) return;
  snapshots_.Release(static_cast<const SnapshotImpl*>(snapshot));
  reclaimed_at_.store(UINT64_MAX, std::memory_order_relaxed);  // relaxed: a hint
}

Status DBImpl::RequestFlush() {
  if (memtable_->empty()) return background_error_;
  // The leader of a group owns the memtable, so the flush is asked for from inside of the queue.
  const MutexUnlock unlock(&mutex_);
  Writer writer;
  return Submit(&writer);  // an empty write that is asked to seal
}

Status DBImpl::Flush() {
  return WithMemory([this] {
    Status s = DoFlush();
    return s.ok() && LogsUntilSsd() ? file_log_->SyncEnded() : s;  // the pool makes nothing durable
  });
}

Status DBImpl::DoFlush() {
  MutexLock lock(&mutex_);
  Status s = RequestFlush();
  const MemTableRef newest = immutables_.empty() ? nullptr : immutables_.front();
  if (newest == nullptr) return s.ok() ? background_error_ : s;
  while (s.ok() && background_error_.ok() &&
         std::find(immutables_.begin(), immutables_.end(), newest) != immutables_.end()) {
    if (flush_blocked_ && running_jobs_ == 0 && !HasMergeWork() && !HasDrainWork()) {
      return Status::NoSpace(pool_->path(), "the pool has no room for the flush");
    }
    if (!WaitForBackground(0)) break;
  }
  return s.ok() ? background_error_ : s;
}

Status DBImpl::Settle() {
  Status s = Flush();
  if (!s.ok()) return s;
  MutexLock lock(&mutex_);
  SettleRequest request(&settle_requests_);
  flush_blocked_ = false;  // try again
  UnblockMerges();
  const uint64_t started = settles_started_;
  work_.SignalAll();
  const uint64_t sequence = last_sequence_.load(std::memory_order_relaxed);  // relaxed: policy only
  const auto wanting = [&]() REQUIRES(mutex_) {
    const bool settled = settles_finished_ > started;
    const bool merged = settled || (running_jobs_ == 0 && versions_->BufferEmpty());
    if (!(merged || merges_blocked_) || (MergesBlocked() && HasDrainWork())) return true;
    // Where others write all the time there is always something to merge: then all that was there at the call is
    // enough.
    if (settled && last_sequence_.load(std::memory_order_relaxed) != sequence) return false;  // relaxed: as above
    return running_jobs_ > 0 || HasMergeWork();
  };
  while (background_error_.ok() && !MustNotWait() && wanting()) {
    if (!WaitForBackground(0)) break;
  }
  request.End();
  if (waiting_stopped_) return ToldToStop();
  if (background_error_.ok() && MergesBlocked()) {
    return Status::NoSpace(pool_->path(), "the pool has no room for a merge");
  }
  return background_error_;
}

void DBImpl::CompactRange(const Slice* begin, const Slice* end) {
  if (begin != nullptr && end != nullptr && order_.Compare(*begin, *end) > 0) return;
  WithMemory([&] {
    Status s = Settle();
    if (s.ok()) s = PurgeSsd(begin, end);
    if (!s.ok()) Log("CompactRange: %s", s.ToString().c_str());
    return s;
  }).IgnoreError();
}

Status DBImpl::WaitForIdle() {
  return WithMemory([this] { return DoWaitForIdle(); });
}

void DBImpl::StopWaiting() {
  MutexLock lock(&mutex_);
  waiting_stopped_ = true;
  done_.SignalAll();
}

Status DBImpl::DoWaitForIdle() {
  for (;;) {
    Status s = Settle();
    if (!s.ok()) return s;
    MutexLock lock(&mutex_);
    s = WaitForSsd();
    if (s.ok() && waiting_stopped_) return ToldToStop();
    if (!s.ok()) return s;
    if (!MergesBlocked() && !(memtable_->empty() && IsIdle())) continue;
    // Tables that wait for their filter are held until then, also when no version has them any more.
    while (background_error_.ok() && !MustNotWait() && (!unfiltered_.empty() || filtering_)) WaitForBackground(0);
    if (waiting_stopped_) return ToldToStop();
    break;
  }
  // Versions that were pinned a moment ago by reads that are over by now.
  for (int i = 0; i < 100 && states_.Reclaim(); i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return Status::OK();
}

Status DBImpl::StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter> writer) {
  return WithMemory([&] { return tracer_.Start(options, std::move(writer)); });
}

Status DBImpl::EndTrace() {
  Status s = WithMemory([this] { return tracer_.End(); });
  if (!s.ok() && !s.IsInvalidArgument()) LogStatus("trace", s);
  return s;
}

void DBImpl::GetApproximateSizes(const Range* range, int n, uint64_t* sizes) {
  std::fill(sizes, sizes + n, 0);
  WithMemory([&] {
    SumSizes(range, n, sizes);
    return Status::OK();
  }).IgnoreError();
}

void DBImpl::SumSizes(const Range* range, int n, uint64_t* sizes) {
  ReadStates::Pin pin(&states_);
  for (int i = 0; i < n; i++) {
    if (order_.Compare(range[i].start, range[i].limit) >= 0) continue;
    for (const auto& level : pin->version->levels) {
      for (const RunRef& run : level) {
        for (const TableRef& table : run->tables) {
          uint64_t from, to;
          if (!table->Seek(range[i].start, kMaxSequence, false, &from).ok() ||
              !table->Seek(range[i].limit, kMaxSequence, false, &to).ok()) {
            continue;
          }
          sizes[i] += table->payload_bytes() * (to - from) / table->entries();
        }
      }
    }
    if (pin->version->ssd != nullptr) sizes[i] += pin->version->ssd->BytesIn(range[i].start, range[i].limit);
  }
}

Status DestroyDB(const std::string& name, const Options& options) {
  try {
    return Destroy(name, options);
  } catch (const std::bad_alloc&) {
    return Status::IOError(name, "out of memory");
  }
}

}  // namespace miodb
