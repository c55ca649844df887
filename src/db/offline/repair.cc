// RepairDB: the steps of a repair in their order, and the exchange at its end.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <vector>

#include "miodb/write_batch.h"
#include "src/db/context/options_check.h"
#include "src/db/offline/operand_chain.h"
#include "src/db/offline/repairer.h"
#include "src/db/open/db_impl.h"
#include "src/db/stats/info_log.h"
#include "src/db/store/places.h"
#include "src/db/store/region_places.h"
#include "src/format/file_names.h"
#include "src/inspect/image/find_secret.h"
#include "src/inspect/salvage/ssd_salvage.h"
#include "src/log/file_log.h"
#include "src/nvm/pool/pool.h"
#include "src/nvm/pool/pool_image.h"
#include "src/nvm/readers/reader_page.h"
#include "src/nvm/region/region.h"
#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"
#include "src/util/files/replace_file.h"

// A repair, step by step:
//
//   1 Lock the directory and the pool, so that nobody else opens them.
//   2 Map the pool for reading; find tables and log frames in it (salvage/salvage.h says which). Find out whether what
//     follows can be finished (repair_checks.cc).
//   3 Write all keys that can be read, in order, into a new database: its pool lies beside the damaged one, its LOCK in
//     a directory of its own below "name". Files of an earlier, unfinished repair are removed before. Log files are
//     applied on top, without the updates of which the pool has newer ones: its log may go on where they end. The new
//     database's own log is in its pool.
//   4 Flush and close it.
//   5 Write LOST.
//   6 Name the new pool in STORE beside the damaged one. Exchange the further regions; both pools still find theirs, in
//     the same folders.
//   7 Give the damaged pool a second name, then the new pool the name of the damaged one. With an SSD tier, whose files
//     are read in step 3 and written anew into a directory beside the damaged one, the same with the directories.
//     Remove the log files, then name the new pool alone (repair_store.cc).
//
// With a volatile pool some of it is different: repair_volatile.cc.
//
// After a crash: up to the rename of step 7 the damaged database and files that the next repair removes; after
// it the repaired one. If only the directories were left to be exchanged, which their file POOL tells, the next repair
// does just that. Writing anew costs space and time, but nothing that is damaged can be made worse by it, and what
// comes out was written by the engine itself.

namespace miodb {

namespace {

// Updates are handed to the new database in batches of this size.
constexpr size_t kBatchBytes = 1 << 20;

// A directory that is not there has none.
Status HasTables(Env* env, const std::string& directory, bool* has) {
  DCHECK(has != nullptr);
  SsdStore::TableFiles files;
  const Status s = SsdStore::FindTables(env, directory, &files);
  *has = !files.empty();
  return s.IsNotFound() ? Status::OK() : s;
}

}  // namespace

// Reasons to refuse are looked for first, while nothing has been written. An earlier repair that was cut off
// behind the exchange is finished, and LOST is its list; the new pool, which the engine wrote, is not repaired again.
Status Repairer::Run() {
  CHECK(!lock_.held() && exchange_ == Exchange::kUnknown);
  Status s = CheckKind();
  if (!s.ok()) return s;
  if (is_volatile()) return RunVolatile();
  s = Lock();
  if (!s.ok()) return s;
  std::unique_ptr<PoolImage> image;
  s = PoolImage::Open(pool_path_, &image, PlacesOfRegions(options_, name_));
  if (s.IsNotFound()) return Status::InvalidArgument(pool_path_, "does not exist");
  if (!s.ok()) return s;
  damaged_regions_ = image->region_paths();
  for (const std::string& region : damaged_regions_) {
    for (const std::string& written : {StorePath(name_), LostPath(name_)}) {
      if (RealPath(region) != RealPath(written)) continue;
      return Status::InvalidArgument(region,
                                     "is a region of the pool, and a repair writes over it: give it another name");
    }
    s = CheckNameLength("nvm_regions", region);
    if (!s.ok()) return s;
    if (!Region::IsDevice(region)) continue;
    return Status::NotSupported(region, "a repair needs files: copy the region's device into one, and name that");
  }
  const PoolHeader header = image->Header();
  bool finished = false;
  s = ReadParts(header);
  if (s.ok()) s = OpenLog();
  if (s.ok()) s = CheckGivenFolder();
  if (s.ok() && exchanged_) s = FinishStore();
  if (s.ok()) s = FinishSwap(header.pool_id, &finished);
  if (!s.ok() || finished || exchanged_) return s;
  s = RemoveFresh();
  if (!s.ok()) return s;
  Log(info_log_, "repairing %s", pool_path_.c_str());
  s = FindLostRegions();
  if (s.ok()) s = CheckSecondName();
  if (s.ok()) s = FindSecret(image.get(), [this](const Problem& p) { Report(p); });
  if (!s.ok()) return s;
  Salvage salvage(image.get(), KeyOrder(options_.comparator, families_.has_families()), families_.has_families(),
                  [this](const Problem& p) { Report(p); });
  s = salvage.Find();
  families_.Take(salvage.families(), salvage.state() != nullptr);
  if (s.ok()) s = AddSsd(header.pool_id, salvage.state(), &salvage);
  if (s.ok()) s = JudgeLog(&salvage, salvage.flushed_sequence());
  if (s.ok()) s = CheckRoom(*image, &salvage);
  if (s.ok()) s = Write(&salvage);
  if (s.ok()) s = WriteLost(salvage.counts());
  if (s.ok()) s = Swap();
  if (!s.ok()) Log(info_log_, "repair failed: %s", s.ToString().c_str());
  return s;
}

// The lock of the database directory; the pool has one of its own, which PoolImage takes.
Status Repairer::Lock() {
  CHECK(!lock_.held() && info_log_ == nullptr);
  if (!env_->FileExists(name_)) return Status::InvalidArgument(name_, "does not exist");
  Status s = RefuseLink(RepairDirectory(name_));
  if (s.ok() && !options_.ssd_path.empty()) s = RefuseLink(RepairedSsdPath(options_));
  return s.ok() ? lock_.Take() : s;
}

// The info log is opened when it is known that there is a database: a folder without one stays as it is. Losses that
// were found before come first.
Status Repairer::OpenLog() {
  CHECK(lock_.held() && info_log_ == nullptr);
  Status s = OpenInfoLog(options_, name_, &own_log_, &info_log_);
  if (s.ok() && !lost_.empty()) Log(info_log_, "%s", lost_.c_str());
  return s;
}

// Every loss goes to the info log at once, for whoever watches, and into LOST at the end.
void Repairer::Report(const Problem& problem) {
  const std::string line = problem.ToString();
  Log(info_log_, "%s", line.c_str());
  lost_ += line + "\n";
  lost_lines_++;
}

// Whether an earlier repair has exchanged the pools, or replaced STORE, but not the directories.
Status Repairer::LacksSwap(uint64_t pool_id, bool* lacks) const {
  std::optional<uint64_t> owner;
  *lacks = false;
  if (options_.ssd_path.empty()) return Status::OK();
  Status s = SsdStore::FindOwner(env_, RepairedSsdPath(options_), &owner);
  if (!s.ok() || pool_id == 0 || owner != pool_id) return s;
  s = SsdStore::FindOwner(env_, options_.ssd_path, &owner);
  bool has_tables = false, fresh_has_tables = false;
  if (s.ok()) s = HasTables(env_, options_.ssd_path, &has_tables);
  if (s.ok()) s = HasTables(env_, RepairedSsdPath(options_), &fresh_has_tables);
  // A new one is in use, which needed no files of ours; but an open that failed may have made it.
  *lacks = s.ok() && (owner != pool_id || (!has_tables && fresh_has_tables));
  return s;
}

// Finishes the exchange of an earlier repair. From here on it is known that no other repair needs the files of this
// name.
Status Repairer::FinishSwap(uint64_t pool_id, bool* finished) {
  CHECK(exchange_ == Exchange::kUnknown);
  bool lacks = false, log_is_new = true;
  Status s = LacksSwap(pool_id, &lacks);
  if (!s.ok()) return s;
  if (!lacks) {
    Go(Exchange::kNotBegun);
    return s;
  }
  if (is_volatile()) s = FileLog::IsOwnedBy(env_, wal_folder_, pool_id, &log_is_new);
  if (!s.ok()) return s;
  Go(Exchange::kNotBegun);
  Go(Exchange::kBegun);
  if (!log_is_new) {
    CHECK_EQ(pool_id, store_.log.id);
    s = FindLogOwner();
    if (s.ok()) s = BeginLog();
  }
  if (s.ok()) s = SwapDirectories();
  if (s.ok()) Go(Exchange::kDone);
  *finished = s.ok();
  return s;
}

// A crash between the two renames leaves no directory of this name; the new one's mark has the id of the database by
// then, which the next repair goes by.
Status Repairer::SwapDirectories() {
  CHECK(exchange_ == Exchange::kBegun);
  Status s;
  if (env_->FileExists(options_.ssd_path)) {
    const std::string aside = FreeDamagedPath(env_, options_.ssd_path);
    s = env_->RenameFile(options_.ssd_path, aside);
    if (s.ok()) Log(info_log_, "the damaged files are now in %s", aside.c_str());
  }
  if (s.ok()) s = env_->RenameFile(RepairedSsdPath(options_), options_.ssd_path);
  return s.ok() ? SyncDirectoryOf(options_.ssd_path) : s;
}

// Table files are read in place and written anew, as everything else: files that a repair had taken over as they are
// would have the damage that nobody has read yet. pool_id: 0 if it cannot be read.
Status Repairer::AddSsd(uint64_t pool_id, const ManifestState* state, Salvage* salvage) {
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
  if (s.ok()) s = SsdStore::Open(options_, pool_id, &ssd_, families_.has_families());
  if (!s.ok()) return s;
  std::unique_ptr<InternalIterator> walk;
  s = NewSsdSalvage(
      ssd_.get(), state, salvage->dropped(), [this](const Problem& p) { Report(p); }, &walk);
  if (s.ok()) salvage->Add(std::move(walk));
  return s;
}

// Removes the new database's parts, if they lie in the directory or say that they are its.
Status Repairer::RemoveFreshParts(const StoreDescriptor& fresh) {
  std::string page;
  Status s = is_volatile() ? Status::NotFound(fresh_path_) : ReadFirstPage(fresh_path_, &page);
  if (s.ok()) {
    const PoolHeader header = ReadPoolHeader(page.data(), page.size());
    const bool named = header.has_superblock && SameUuid(header.uuid, fresh.pool.data());
    if (named || IsInDirectory(fresh_path_)) {
      s = Pool::Destroy(fresh_path_, PlacesOfRegions(options_, RepairDirectory(name_)));
    }
  }
  if (s.IsNotFound()) s = Status::OK();
  if (!s.ok() || options_.ssd_path.empty() || exchange_ == Exchange::kDone) return s;
  std::optional<uint64_t> id;
  const std::string ssd = RepairedSsdPath(options_);
  s = SsdStore::FindOwner(env_, ssd, &id);
  return s.ok() && id == (is_volatile() ? fresh.log.id : PoolIdOf(fresh.pool)) ? SsdStore::Destroy(env_, ssd) : s;
}

// Nothing goes while an exchange is under way, or may be: then the new parts may be all that there is.
Status Repairer::RemoveFresh() {
  if (!lock_.held() || exchange_ == Exchange::kUnknown || exchange_ == Exchange::kBegun) return Status::OK();
  const std::string directory = RepairDirectory(name_);
  StoreDescriptor fresh;
  Status s = ReadStore(env_, directory, &fresh);
  if (s.IsNotFound() || s.IsCorruption()) s = Status::OK();  // it names no parts
  if (s.ok()) s = RemoveFreshParts(fresh);
  if (!s.ok() || !env_->FileExists(directory)) return s;
  s = RemoveRepairFiles(env_, name_);
  return s.ok() ? env_->RemoveDir(directory) : s;
}

// Step 3. The new database is an ordinary one, opened and written to by the engine, so what comes out needs no checks
// of its own. Keys come in order, so its tables do not overlap, and merges only move them.
Status Repairer::Write(Salvage* salvage) {
  CHECK(lock_.held() && exchange_ == Exchange::kNotBegun);
  Options options = options_;
  options.create_if_missing = true;
  options.error_if_exists = true;
  if (!is_volatile()) {
    options.pool_path = fresh_path_;
    options.nvm_regions = FreshRegions();
  }
  if (!options.ssd_path.empty()) options.ssd_path = RepairedSsdPath(options_);
  options.info_log = info_log_;
  options.log_mode = is_volatile() ? kLogFile : kLogPmem;
  options.wal_dir.clear();
  options.lifetime_seconds = 0;  // values stay as they are found
  options.lifetime_policy = nullptr;
  options.compaction_filter = nullptr;
  options.merge_policy = Options().merge_policy;
  options.placement_policy = Options().placement_policy;
  options.device_trace.clear();  // a repair is no run of the database, whose traces stay
  options.block_cache_trace_file.clear();
  DBImpl::Hooks hooks;
  hooks.opener = Opener::kRepair;
  if (is_volatile()) options.nvm_budget = 1;  // everything is drained
  std::unique_ptr<DBImpl> db;
  Status s = DBImpl::Open(options, RepairDirectory(name_), hooks, &db);
  if (!s.ok()) return s;
  WriteBatch batch;
  const auto write_batch = [&] {
    Status written = db->Write(WriteOptions(), &batch);
    batch.Clear();
    return written;
  };
  const ReportProblem report = [this](const Problem& p) { Report(p); };
  s = families_.Adopt(db.get());
  if (!s.ok()) return s;
  const KeyOrder order(options_.comparator, families_.has_families());
  s = FindRanges(salvage);
  if (!s.ok()) return s;
  OperandChain chain;
  s = salvage->ForEach([&](const RecordView& record) {
    bool keeps = true;
    Status known = families_.Keeps(record.key, db.get(), report, &keeps);
    if (!known.ok() || !keeps || TakeForLog(record) || !chain.Take(order, record, &batch)) return known;
    return batch.ApproximateSize() >= kBatchBytes ? write_batch() : Status::OK();
  });
  chain.End(&batch);
  if (s.ok()) s = write_batch();
  if (s.ok()) s = ApplyLogFiles(*salvage->log(), db.get());
  if (s.ok()) s = db->Flush();
  return s.ok() && is_volatile() ? DrainAll(db.get()) : s;
}

// Step 5. LOST is there before the pools are exchanged, so nobody meets a repaired database without the list of what it
// lacks.
Status Repairer::WriteLost(const Salvage::Counts& counts) {
  CHECK(exchange_ == Exchange::kNotBegun);
  char summary[320];
  snprintf(summary, sizeof(summary),
           "kept %" PRIu64 " keys, from %" PRIu64 " table entries in %" PRIu64 " tables and %" PRIu64
           " writes in the pool's log, and %" PRIu64 " updates in log files; %" PRIu64 " entries lost, %" PRIu64
           " lines above\n",
           counts.keys, counts.entries, counts.tables, counts.writes, file_updates_, counts.entries_lost, lost_lines_);
  Log(info_log_, "%s", summary);
  return ReplaceFile(env_, LostPath(name_), lost_ + summary);
}

// There is a new region beside each region of the damaged pool, as large as the old one may become: so the options that
// opened the old pool open the new pool.
std::vector<NvmRegion> Repairer::FreshRegions() const {
  std::vector<NvmRegion> regions;
  for (const std::string& path : damaged_regions_) {
    NvmRegion& fresh = regions.emplace_back();
    for (const NvmRegion& named : options_.nvm_regions) {
      if (RealPath(named.path) == RealPath(path)) fresh = named;
    }
    RegionContent content;
    RegionHeader header;
    const bool readable = LookAtRegion(path, &content, &header).ok() && content == RegionContent::kRegion;
    if (fresh.limit == 0 && readable) fresh.limit = header.range;
    fresh.path = RepairedRegionPath(path);
  }
  return regions;
}

// The regions of the damaged pool make room at their paths for the new ones. The two pools still find their regions,
// which lie in the same folders.
Status Repairer::SetRegionsAside() {
  Status s;
  for (const std::string& region : lost_regions_) {
    const std::string aside = FreeDamagedPath(env_, region);
    if (s.ok()) s = env_->RenameFile(region, aside);
    if (s.ok()) Log(info_log_, "a region that the damaged pool did not lead to is now %s", aside.c_str());
    if (s.ok()) s = SyncDirectoryOf(region);
  }
  for (const std::string& region : damaged_regions_) {
    const std::string aside = FreeDamagedPath(env_, region);
    if (s.ok()) s = env_->RenameFile(region, aside);
    if (s.ok()) Log(info_log_, "a region of the damaged pool is now %s", aside.c_str());
    if (s.ok()) s = env_->RenameFile(RepairedRegionPath(region), region);
    if (s.ok()) s = SyncDirectoryOf(region);
  }
  return s;
}

// Steps 6 and 7. The rename of the new pool is the moment at which the repaired database takes the place of the damaged
// one: STORE counts both by then, and whichever has the name is the database.
Status Repairer::Swap() {
  const std::string kept = FreeDamagedPath(env_, pool_path_);
  Status s = NameSuccessor();
  if (s.ok()) s = SetRegionsAside();
  if (!s.ok()) return s;
  Go(Exchange::kBegun);
  s = RegionFile::Replace(pool_path_, fresh_path_, kept);
  if (!s.ok()) return s;
  Log(info_log_, "repaired; the damaged pool is now %s", kept.c_str());
  if (!options_.ssd_path.empty()) s = SwapDirectories();
  if (s.ok()) s = FinishStore();
  std::unique_ptr<ReaderPage> page;
  if (s.ok() && ReaderPage::OpenExisting(ReadersPath(name_), &page).IsCorruption()) {
    s = env_->RemoveFile(ReadersPath(name_));  // the next open makes another
  }
  if (s.ok()) Go(Exchange::kDone);
  return s;
}

Status RemoveRepairFiles(Env* env, const std::string& name) {
  const std::string directory = RepairDirectory(name);
  const std::string store = StorePath(directory);
  Status s = FileLog::Destroy(env, directory, nullptr);
  for (const std::string& path : {store, store + ".tmp", LockPath(directory), ReadersPath(directory)}) {
    if (s.ok() && env->FileExists(path)) s = env->RemoveFile(path);
  }
  return s;
}

namespace {

// With nothing in it, and nothing of its database elsewhere.
bool IsEmptyFolder(const std::string& name, const Options& options) {
  if (!options.pool_path.empty() || !options.ssd_path.empty() || !options.wal_dir.empty()) return false;
  std::vector<std::string> names;
  return options.env->GetChildren(name, &names).ok() &&
         std::all_of(names.begin(), names.end(), [](const std::string& n) { return n == "." || n == ".."; });
}

// As LevelDB repairs it.
Status MakeEmptyDatabase(const std::string& name, const Options& options) {
  Options fresh = options;
  fresh.create_if_missing = true;
  fresh.error_if_exists = true;
  std::unique_ptr<DBImpl> db;
  return DBImpl::Open(fresh, name, DBImpl::Hooks(), &db);
}

}  // namespace

Status RepairDB(const std::string& name, const Options& options) {
  return NoThrow(name, [&] {
    Options adjusted = options;
#ifdef MIODB_AS_LEVELDB
    ClipAsLevelDB(&adjusted);
#endif
    Status s = CheckOptions(adjusted);
    if (!s.ok()) return s;
    return IsEmptyFolder(name, adjusted) ? MakeEmptyDatabase(name, adjusted) : Repairer(name, adjusted).Run();
  });
}

}  // namespace miodb
