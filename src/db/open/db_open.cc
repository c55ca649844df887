// How a database is opened, made, and closed.

#include <algorithm>
#include <new>

#include "src/db/context/open_sizes.h"
#include "src/db/context/options_check.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "src/db/stats/info_log.h"
#include "src/db/store/places.h"
#include "src/db/store/region_places.h"
#include "src/format/file_names.h"
#include "src/nvm/readers/reader_guard.h"
#include "src/nvm/space/placement_policies.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"
#include "src/util/clock/clock.h"
#include "src/util/files/posix_file.h"

// An open, step by step:
//
//   1 Check the options, and whether there is a database (store_keeper.h). Lock the directory, and look once more.
//   2 Map the pool, open the SSD tier and the log files; recover what is there (recovery.cc), or make a new pool. A new
//     pool has no name until it is whole, so after a crash the next attempt removes its file.
//   3 STORE says that the database is in use. Start the background threads. With a volatile pool, write once more what
//     only the log has.
//
// An open that fails leaves an existing database as it was, and nothing half-created.

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

SchedulePolicy MakePolicy(const Options& options) {
  SchedulePolicy policy;
  CHECK(FindMergePolicy(options.merge_policy, &policy.merges).ok());  // the open has found it before
  policy.quiet.settle_after_micros = static_cast<uint64_t>(options.settle_after_idle_ms) * 1000;
  return policy;
}

// The page of readers is there from the first open on: one that a reader made later, this process would not see. Where
// there is no room for it, nobody reads.
Status GuardReaders(const DbContext& db) {
  CHECK(db.pool != nullptr);
  std::unique_ptr<ReaderPage> page;
  Status s = ReaderPage::Open(ReadersPath(db.name), db.options.file_access, &page);
  if (s.ok()) db.pool->held()->Guard(std::make_shared<ReaderGuard>(std::move(page)));
  if (s.IsNoSpace()) db.LogWarning("WARNING: no other process can read until the next open: %s", s.ToString().c_str());
  return s.IsNoSpace() ? Status::OK() : s;
}

// Asked once: the answer is in a file of /sys.
unsigned Cpus() {
  static const unsigned cpus = std::thread::hardware_concurrency();
  return cpus;
}

// Merges share the CPUs with writers, so by default they get half of them. Without threads the number of CPUs decides
// nothing.
int MergeThreads(const Options& options, BackgroundMode mode) {
  if (options.max_background_merges > 0) return options.max_background_merges;
  return mode == BackgroundMode::kBySteps ? 1 : std::max(1, static_cast<int>(Cpus()) / 2);
}

// A pool whose file is copied on write cannot promise that a store finds a block (docs/design.md); whoever runs on such
// a file system is told at every open.
void LogOpened(const DbContext& db, size_t tables, uint64_t start_micros) {
  DCHECK(db.pool != nullptr);
  db.Log("opened %s: %zu tables, persist mode %d, %llu of %llu bytes in use, %llu us",
         PoolPath(db.options, db.name).c_str(), tables, static_cast<int>(db.pool->persist_mode()),
         static_cast<unsigned long long>(db.pool->used_bytes()), static_cast<unsigned long long>(db.pool->capacity()),
         static_cast<unsigned long long>(NowMicros() - start_micros));
  for (int i = 0; i < db.pool->regions().count(); i++) {
    const Region& region = *db.pool->regions().at(i).region;
    if (!region.file().copies_on_write()) continue;
    db.LogWarning(
        "WARNING: %s is copied on write: when its file system is full, a store ends the process. Make a folder, chattr "
        "+C it, and copy the database there",
        region.path().c_str());
  }
  if (!db.pool->is_volatile()) return;
  db.Log("the pool is anonymous memory: %s", db.ssd != nullptr ? "writes are in the log files until they are on SSD"
                                                               : "nothing of it outlives the process");
}

}  // namespace

// The library for LevelDB programs clips what LevelDB clips; everything else out of range is refused.
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

// Options come first, Start touches files: a wrong option leaves no trace on the disk.
Status DBImpl::Open(const Options& options, const std::string& name, const Hooks& hooks, std::unique_ptr<DBImpl>* db) {
  CHECK(*db == nullptr);
  Status s = CheckOptions(options, hooks);
  const MergePolicy* merges = nullptr;
  if (s.ok()) s = FindMergePolicy(options.merge_policy, &merges);
  const PlacementPolicy* places = nullptr;
  if (s.ok()) s = FindPlacementPolicy(options.placement_policy, &places);
  if (!s.ok()) return s;
  MemoryEnv::Memory env_memory;
  Hooks with_memory = hooks;
  if (MemoryEnv* const memory_env = MemoryEnv::Of(options.env)) {
    s = memory_env->PoolMemory(PoolPath(options, name), options, &env_memory);
    if (!s.ok()) return s;
    with_memory.memory = env_memory.get();
  }
  std::shared_ptr<BackgroundResources> resources;
  Options with_shared = options;
  if (hooks.background == BackgroundMode::kThreads) s = BackgroundResources::Share(&with_shared, name, &resources);
  if (!s.ok()) return s;
  std::unique_ptr<DBImpl> impl(new DBImpl(with_shared, name, with_memory));
  DbContext& context = *impl->context_;
  context.resources = std::move(resources);
  context.env_memory = std::move(env_memory);
  if (Placement::IsAskedFor(options)) s = Placement::Make(options, NumaTopology(), &context.placement);
  NvmModelFigures figures;
  bool off = true;
  if (s.ok()) s = NvmModelFigures::Parse(options.nvm_model, &figures, &off);
  if (s.ok() && !options.device_trace.empty()) {
    AccessSample sample;
    s = AccessSample::Parse(options.device_trace_sample, &sample);
    if (s.ok() && off) s = NvmModelFigures::Parse("count", &figures, &off);
  }
  if (s.ok() && !off) context.nvm_model = std::make_unique<NvmModel>(figures);
  if (s.ok()) s = impl->Start();
  if (s.ok()) *db = std::move(impl);
  return s;
}

// Parts are made in the order of the table in db_impl.h. No part does anything before Start.
DBImpl::DBImpl(const Options& options, const std::string& name, const Hooks& hooks)
    : context_(std::make_unique<DbContext>(options, name, hooks)),
      control_(std::make_unique<Control>(*context_)),
      store_(std::make_unique<StoreKeeper>(*context_)),
      census_(std::make_unique<CpuCensus>(hooks.cpus > 0 ? hooks.cpus : Cpus())),
      tree_(std::make_unique<Tree>(*context_, control_.get())),
      scheduler_(std::make_unique<Scheduler>(options.num_levels - 1, MakePolicy(options))),
      ssd_schedule_(std::make_unique<SsdSchedule>()),
      workers_(std::make_unique<Workers>(*context_, control_.get())),
      logs_(std::make_unique<LogFiles>(*context_, store_.get())),
      floor_(std::make_unique<LogFloor>(*context_, store_.get(), control_.get(), tree_.get(), logs_.get(),
                                        ssd_schedule_.get())),
      kept_(std::make_unique<KeptLog>(*context_, control_.get(), tree_.get())),
      space_(std::make_unique<Space>(*context_, control_.get(), tree_.get(), kept_.get(), scheduler_.get(),
                                     census_.get())),
      tier_(std::make_unique<SsdTier>(
          *context_, SsdTier::Parts{control_.get(), tree_.get(), scheduler_.get(), ssd_schedule_.get(), space_.get(),
                                    floor_.get(), workers_.get(), census_.get()})),
      shares_(std::make_unique<JobShares>(control_.get(), census_.get(), MergeThreads(options, hooks.background))),
      flusher_(std::make_unique<Flusher>(
          *context_, Flusher::Parts{control_.get(), tree_.get(), scheduler_.get(), logs_.get(), floor_.get(),
                                    kept_.get(), space_.get(), census_.get(), shares_.get()})),
      merger_(
          std::make_unique<Merger>(*context_, Merger::Parts{control_.get(), tree_.get(), scheduler_.get(), space_.get(),
                                                            floor_.get(), tier_.get(), census_.get(), shares_.get()})) {
  const WritePath::Parts parts{control_.get(), tree_.get(),   scheduler_.get(), space_.get(),   logs_.get(),
                               flusher_.get(), merger_.get(), tier_.get(),      workers_.get(), census_.get()};
  write_ = std::make_unique<WritePath>(*context_, parts);
  read_ = std::make_unique<ReadPath>(*context_, tree_.get());
  const Families::Parts family_parts{control_.get(), tree_.get(), floor_.get(), write_.get(), read_.get()};
  auto families = std::make_unique<Families>(*context_, family_parts);
  const ReadParts reads{context_.get(), tree_.get(), read_.get(), families.get()};
  Serve(reads, std::move(families), write_.get());
  requests_ = std::make_unique<Requests>(*context_, parts, write_.get());
  savepoints_ = std::make_unique<Savepoints>(*context_, parts, write_.get(), requests_.get());
  checkpoint_ = std::make_unique<Checkpoint>(*context_, savepoints_.get());
  recovery_ = std::make_unique<Recovery>(*context_, parts, floor_.get(), kept_.get(), write_.get());
  properties_ = std::make_unique<Properties>(*context_, control_.get(), tree_.get(), space_.get(), logs_.get(),
                                             tier_.get(), read_.get());
  lock_ = std::make_unique<DirectoryLock>(context_->options.env, name);
  workers_->Add(Step::kPrepare, [this] { return space_->Prepare(); });
  workers_->Add(Step::kFlush, [this] {
    const bool sealed = write_->SealIfAsked();
    const bool flushed = flusher_->Step();
    if (context_->hooks.background == BackgroundMode::kThreads) logs_->TrimArchive();
    return sealed || flushed || flusher_->BuildFilter();
  });
  workers_->Add(Step::kMerge, [this] { return merger_->Step() || shares_->Help() || flusher_->BuildFilter(); });
  workers_->Add(Step::kSsd, [this] { return tier_->Step(); });
}

// LookForDatabase comes before the directory is made, so that an open which may not make a database leaves none. That
// there is none can be told without the lock. All else is told by the look under it: of a database that another process
// is making or removing some parts are there, as of one that has lost the others. An open that failed after that
// removes what it made, if it found under the lock that there was no database before.
Status DBImpl::Start() {
  CHECK(!lock_->held() && !workers_->running());
  Status s = LookForDatabase();
  if (!s.ok() && !s.IsIOError() && store_->existence() == Existence::kNew) return s;
  s = context_->WithMemory([this] { return OpenParts(); });
  if (s.ok()) return s;
  workers_->Stop();
  context_->events.Stop();
  logs_->Abandon();
  context_->LogStatus("open failed", s);
  if (lock_->held() && store_->existence() == Existence::kNew) RemoveUnfinished(StorePath(context_->name));
  lock_->Undo();
  return s;
}

// Whether there is a pool. A device is there in any case; a volatile pool never.
Status DBImpl::LookForPool(bool* exists) const {
  const std::string path = PoolPath(context_->options, context_->name);
  *exists = context_->pool_place == PoolPlace::kNamed && context_->options.env->FileExists(path);
  if (context_->hooks.memory != nullptr || !Region::IsDevice(path)) return Status::OK();
  return Pool::ExistsOnDevice(path, exists);
}

// Finds out whether there is a database, and whether that is as it should be.
Status DBImpl::LookForDatabase() {
  const Options& options = context_->options;
  const std::string& name = context_->name;
  bool pool_is_there = false;
  Status s = LookForPool(&pool_is_there);
  if (s.ok()) s = store_->Find(pool_is_there);
  // Those that a repair makes are longer, and have room.
  if (s.ok() && context_->hooks.opener == Opener::kProgram) s = CheckNewNames(options, name, store_->store());
  if (!s.ok()) return s;
  if (store_->existed()) {
    return options.error_if_exists ? Status::InvalidArgument(name, "exists (error_if_exists is true)") : s;
  }
  if (options.env->FileExists(name + "/CURRENT")) {  // a pool beside it would look as if its data were lost
    return Status::InvalidArgument(name, "holds a database of another format (it has a file CURRENT and no pool)");
  }
  // As LevelDB, whose lock file comes first.
  if (::access(name.c_str(), W_OK) != 0 && (errno == EACCES || errno == EROFS)) return PosixError(name, errno);
  return options.create_if_missing ? s : Status::InvalidArgument(name, "does not exist (create_if_missing is false)");
}

// STORE names every part before the threads run, which write to all of them; a crash before it leaves what the next
// open finds as this one did. The threads run before Replay: a log that is longer than the pool holds can only be
// written once more while drains make room.
Status DBImpl::OpenParts() {
  Status s = LockDirectory();
  if (s.ok()) s = OpenPool();
  if (s.ok()) families()->Begin();
  if (s.ok()) s = store_->KeepOpened(write_->sequence());
  if (s.ok()) s = StartThreads();
  if (s.ok()) s = recovery_->Replay();
  if (s.ok()) {
    workers_->ShareMemory();
    DbLock lock(control_.get());
    tree_->BeginSeals();
  }
  if (s.ok()) context_->pool->held()->EndOpen();
  if (s.ok()) families()->FinishDrops();
  return s.ok() ? store_->EndFollowing(write_->sequence()) : s;
}

// Leaves nothing half-created. A file that cannot be removed was not ours to make. STORE says "being made" before a
// part goes, and goes when the pool is gone for good: after a crash in between, the next open opens the pool or makes
// it anew. A STORE that cannot be replaced goes first: that takes neither memory nor space. REQUIRES: there was no
// database when this open had the lock; an open that could not find that out has made no parts.
void DBImpl::RemoveUnfinished(const std::string& store) {
  CHECK(lock_->held() && !workers_->running());
  Env* const env = context_->options.env;
  if (store_->store().state == StoreState::kInUse &&
      !context_->WithMemory([this] { return store_->Keep(StoreState::kMaking); }).ok()) {
    const Status removed = env->RemoveFile(store);
    if (!removed.ok() && !removed.IsNotFound()) return;  // the database is whole, and stays so
  }
  if (context_->pool != nullptr) context_->pool->Remove();
  if (context_->env_memory != nullptr) env->RemoveFile(PoolPath(context_->options, context_->name)).IgnoreError();
  logs_->Remove();
  if (context_->ssd != nullptr) {
    context_->ssd.reset();
    SsdStore::Destroy(env, context_->options.ssd_path).IgnoreError();
  }
  context_->own_log.reset();
  context_->info_log = context_->options.info_log;
  env->RemoveFile(LogPath(context_->name)).IgnoreError();
  env->RemoveFile(ReadersPath(context_->name)).IgnoreError();
  // Without STORE nobody could open a pool that cannot be removed, or that a loss of power brings back.
  bool pool_is_there = true;
  Status gone = LookForPool(&pool_is_there);
  const bool has_name = context_->pool != nullptr && !context_->pool->regions().first().file().keeps_storage();
  if (gone.ok() && has_name && !context_->pool->is_volatile()) gone = SyncDirectoryOf(context_->pool->path());
  if (gone.ok() && !pool_is_there) env->RemoveFile(store).IgnoreError();
}

// The lock is the first file that is made, as LevelDB does it: whoever loses a race for the directory has made nothing
// else in it.
Status DBImpl::LockDirectory() {
  Status s = lock_->MakeAndTake();
  if (s.ok()) s = LookForDatabase();
  if (s.ok()) s = store_->Trust();
  return s.ok() ? OpenInfoLog(context_->options, context_->name, &context_->own_log, &context_->info_log) : s;
}

// The parts are opened from the bottom up, because each finds in the one below what it continues. Memory that this
// thread touches first (blocks, caches, the manifest's state) comes from the node that was asked for.
Status DBImpl::OpenPool() {
  const uint64_t start = NowMicros();
  DbContext& db = *context_;
  const ThreadMemoryPolicy policy(db.placement.dram_node, ThreadMemoryPolicy::Strength::kPrefer);
  Status s = db.StartDeviceTrace();
  if (s.ok()) s = MapPool();
  if (s.ok() && store_->existed()) s = store_->CheckPool();
  if (s.ok()) s = floor_->Read(store_->existence() == Existence::kFilesAlone);
  if (!s.ok()) return s;
  CHECK(db.pool != nullptr && db.chunk_bytes == 0);
  db.chunk_bytes = ChunkBytes(db.options, db.pool->capacity());
  CHECK(db.chunk_bytes > 0 && db.chunk_bytes % kExtentUnit == 0);
  db.blocks = BackgroundResources::BlocksOf(db.resources.get(), BlockBytes(db.options), db.placement.dram_node);
  write_->OpenFrames();
  s = CheckRepairedTier(db.options, floor_->store_id());
  if (s.ok()) s = tier_->Open();
  if (!s.ok()) return s;
  if (db.ssd != nullptr) db.ssd->GuardReaders(db.pool->held()->guard());
  DbLock lock(control_.get());
  s = RecoverParts();
  if (s.ok()) s = AddMissingRegions();
  if (!s.ok()) return s;
  tree_->Begin();
  write_->Begin();
  control_->OnChange([this] {
    control_->AssertHeld();
    write_->UpdateThrottle();
  });
  LogOpened(db, tree_->versions->manifest().tables.size(), start);
  return s;
}

// A new pool has no name before it is whole (Pool::Publish), and STORE says "being made" with its uuid before it exists
// at all. So an open that is cut off anywhere leaves files that the next attempt knows for its own.
Status DBImpl::MapPool() {
  DbContext& db = *context_;
  const Existence existence = store_->existence();
  const std::string path = PoolPath(db.options, db.name);
  const bool is_volatile = db.pool_place == PoolPlace::kAnonymous, is_file = db.hooks.memory == nullptr;
  CHECK(db.pool == nullptr && existence != Existence::kUnknown);
  Uuid& uuid = store_->store().pool;
  // An earlier attempt to make the database got no further than this, and may have left a file with this uuid.
  if (existence == Existence::kNew && store_->Keeps() && db.pool_place != store_->store().pool_place()) {
    uuid = is_volatile ? Uuid{} : NewUuid();
  }
  uint64_t& id = store_->store().log.id;
  if (existence == Existence::kNew && store_->Keeps() && is_volatile && id == 0) id = NewId();
  Pool::Options pool_options{db.options.pool_size,
                             db.options.pool_growth,
                             db.options.persist_mode,
                             db.hooks.memory,
                             db.placement.nvm,
                             db.nvm_model.get(),
                             RegionsOf(db.options),
                             is_file ? PlacesOfRegions(db.options, db.name) : RegionPlaces(),
                             db.options.nvm_huge_pages,
                             db.options.file_access,
                             uuid};
  CHECK(
      FindPlacementPolicy(db.options.placement_policy, &pool_options.placement).ok());  // the open has found it before
  Status s;
  if (is_file && !is_volatile) s = AskEnvForPool(db.options.env, path, existence == Existence::kPool);
  if (s.ok() && existence == Existence::kNew) s = store_->Keep(StoreState::kMaking);
  if (!s.ok()) return s;
  std::unique_ptr<Pool> pool;
  s = existence == Existence::kPool ? Pool::Open(path, pool_options, &pool) : Pool::Create(path, pool_options, &pool);
  db.pool = std::move(pool);
  return s.ok() && is_file && !is_volatile ? GuardReaders(db) : s;
}

// Brings the tree to the state that the database had when it was closed, or to that of a new one.
// Log files are found before recovery reads them. A new pool gets its name here (Publish), when it has a manifest and
// before anything else of the database is in use.
Status DBImpl::RecoverParts() {
  DbContext& db = *context_;
  CHECK(db.pool != nullptr && tree_->versions == nullptr);
  CHECK_EQ(db.ssd != nullptr, !db.options.ssd_path.empty());
  tree_->versions = std::make_unique<VersionSet>(db.pool.get(), db.order, db.options.num_levels);
  VersionSet* const versions = tree_->versions.get();
  versions->TellOfFamilies(db.families.has_families());
  if (db.ssd != nullptr) versions->UseSsd(db.ssd.get(), db.options.ssd_levels);
  Status s;
  switch (store_->existence()) {
    case Existence::kUnknown:
      CHECK(false);
      break;
    case Existence::kFilesAlone:
      s = versions->CreateFor(floor_->found());
      if (s.ok()) s = logs_->Open(floor_->store_id());
      return s.ok() ? recovery_->RecoverVolatile() : s;
    case Existence::kPool:
      s = logs_->Open(floor_->store_id());
      return s.ok() ? recovery_->Recover() : s;
    case Existence::kNew:
      s = versions->Create();
      if (s.ok()) s = db.pool->Publish();
      if (s.ok() && db.env_memory != nullptr) {
        MemoryEnv::Of(db.options.env)->AddPool(PoolPath(db.options, db.name), db.env_memory);
      }
      if (s.ok()) s = logs_->Open(floor_->store_id());
      return s.ok() ? floor_->MakeFilesDurable(VersionEdit()) : s;
  }
  return s;
}

Status DBImpl::StartThreads() {
  Status s = context_->events.Start(context_->name);
  if (!s.ok() || context_->hooks.background == BackgroundMode::kBySteps) return s;
  const int mergers = MergeThreads(context_->options, context_->hooks.background);
  CHECK(mergers > 0 && !workers_->running());
  s = workers_->Start(Step::kPrepare, 1);
  if (s.ok()) s = workers_->Start(Step::kFlush, 1);
  if (s.ok()) s = workers_->Start(Step::kMerge, mergers);
  if (s.ok() && context_->ssd != nullptr) s = workers_->Start(Step::kSsd, context_->options.max_background_ssd_jobs);
  return s;
}

// Without a log the memtable is all that a close could lose, so it is flushed. The threads stop before anything is
// taken away from under them; log files are left after the last flush may have emptied them; space goes back when
// nobody allocates any more.
DBImpl::~DBImpl() {
  DCHECK(tree_->snapshots.empty());          // the user releases all snapshots before
  DCHECK_LE(context_->pool.use_count(), 1);  // and closes all views
  const Pool* const pool = context_->pool.get();
  const bool was_open = pool != nullptr && !pool->is_volatile() && lock_->held() && workers_->running();
  if (context_->options.log_mode == kLogOff && was_open) Flush().IgnoreError();  // the error is in the info log
  workers_->Stop();
  CHECK(!workers_->running());
  context_->events.Stop();  // listeners may read until then
  logs_->Leave();
  if (was_open) {
    const Status s = context_->WithMemory([this] { return space_->GiveBack(); });
    if (!s.ok()) context_->LogStatus("free space is kept", s);
  }
  if (context_->tracer.active()) EndTrace().IgnoreError();  // the error is in the info log
  if (context_->device_trace != nullptr) {
    const Status s = context_->WithMemory([this] { return context_->device_trace->End(); });
    if (!s.ok()) context_->LogStatus("device trace", s);
  }
  if (context_->block_trace != nullptr) {
    const Status s = context_->WithMemory([this] { return context_->block_trace->End(); });
    if (!s.ok()) context_->LogStatus("block cache trace", s);
  }
  if (lock_->held()) context_->Log("closed");
}

}  // namespace miodb
