#include "src/db/offline/repairer.h"
#include "src/log/file_log.h"
#include "src/util/check/check.h"
#include "src/util/files/posix_file.h"
#include "src/util/files/replace_file.h"

// A repair of a database whose pool is volatile. There is no pool to map: what is in the table files and in the log is
// written into another such database, and all of that is drained.
//
//   3 Table files may hold newer writes than what is left of the log.
//   7 STORE is replaced, an empty log begun, and the directories of the SSD tier are exchanged.
//
// After a crash: until STORE is replaced the damaged database. From then on its id is that of the new
// files: the next repair finds them in their directory, and does what is left of step 7.

namespace miodb {

Status Repairer::RunVolatile() {
  CHECK(is_volatile() && !lock_.held());
  if (options_.ssd_path.empty()) {
    return Status::InvalidArgument("Options::pool_path is anonymous",
                                   "without Options::ssd_path there is nothing left that could be repaired");
  }
  if (env_->FileExists(name_ + "/pool")) {
    return Status::InvalidArgument("Options::pool_path is anonymous",
                                   "the database has a pool: " + name_ + "/pool: name that");
  }
  Status s = Lock();
  if (!s.ok()) return s;
  const std::string path = StorePath(name_);
  bool whole = false, finished = false;
  VersionEdit edit;
  s = ReadVolatileParts(&whole, &edit);
  if (!s.ok()) return s;
  uint64_t& id = store_.log.id;
  if (!whole && !env_->FileExists(options_.ssd_path)) {
    return Status::InvalidArgument(name_,
                                   "has neither a file STORE nor an SSD tier, so there is nothing to repair it from");
  }
  if (!whole) s = SsdStore::ReadOwner(env_, options_.ssd_path, &id);
  if (s.ok()) s = OpenLog();
  if (!s.ok()) return s;
  if (whole) {
    s = FinishSwap(id, &finished);
  } else {
    Go(Exchange::kNotBegun);  // without STORE no exchange of an earlier repair can be told
  }
  if (!s.ok() || finished) return s;
  s = RemoveFresh();
  if (s.ok()) s = FindLogOwner();
  ManifestState state;
  if (s.ok() && whole) s = state.Apply(edit);
  if (!s.ok()) return s;
  if (whole && state.comparator != options_.comparator->Name()) {
    return Status::InvalidArgument(path, "the comparator was " + state.comparator);
  }
  Log(info_log_, "repairing %s", path.c_str());
  log_reach_ = store_.log_reach;
  VersionEdit families;
  families.next_family = state.next_family;
  for (const auto& [family_id, family] : state.families) families.families.push_back(family);
  families_.Take(families, whole);
  Salvage salvage(nullptr, KeyOrder(options_.comparator, families_.has_families()), families_.has_families(),
                  [this](const Problem& p) { Report(p); });
  for (const RangePlace& place : edit.ranges) salvage.AddRange(place.range);
  s = AddSsd(id, whole ? &state : nullptr, &salvage);
  if (s.ok()) s = JudgeLog(&salvage, state.flushed_sequence);
  if (s.ok()) s = Write(&salvage);
  if (s.ok()) s = WriteLost(salvage.counts());
  if (s.ok()) s = SwapVolatile();
  if (!s.ok()) Log(info_log_, "repair failed: %s", s.ToString().c_str());
  return s;
}

// The new pool goes with the repair's process, so what is still in it would be lost. CompactRange cannot say that it
// failed; the number of entries does.
Status Repairer::DrainAll(DB* db) {
  CHECK(db != nullptr && is_volatile());
  db->CompactRange(nullptr, nullptr);
  Status s = db->WaitForIdle();
  std::string entries;
  if (s.ok() && !db->GetProperty("miodb.entries", &entries)) return Status::IOError(name_, "out of memory");
  return s.ok() && entries != "0" ? Status::IOError(options_.ssd_path, "not drained: no memory or space") : s;
}

// All that was written is in table files now, so the new state needs no log. Steps that may fail for good come before
// STORE is replaced. From then on files and logs with the old id and with the new one are the database's.
Status Repairer::SwapVolatile() {
  const std::string path = StorePath(name_);
  StoreDescriptor fresh;
  VersionEdit state;
  Status s = ReadStore(env_, RepairDirectory(name_), &fresh);
  if (s.ok() && !state.DecodeSsdState(fresh.ssd_state)) s = Status::Corruption(RepairDirectory(name_), "has no state");
  if (s.ok() && !env_->FileExists(wal_folder_)) s = env_->CreateDir(wal_folder_);
  if (s.ok() && env_->FileExists(path)) {
    const std::string copy = FreeDamagedPath(env_, path);
    std::string damaged;
    s = ReadSmallFile(env_, path, &damaged);
    if (s.ok()) s = ReplaceFile(env_, copy, damaged);
    if (s.ok()) s = SyncExistingFile(env_, copy);
    if (s.ok()) Log(info_log_, "a copy of the old STORE is in %s", copy.c_str());
  }
  if (!s.ok()) return s;
  AddFormer(store_.log.id);
  store_.log = {fresh.log.id, fresh.log.epoch, true, options_.wal_dir};
  store_.log_reach = fresh.log_reach;
  state.SetFlushedSequence(fresh.log_reach);
  store_.ssd_state.clear();
  state.EncodeTo(&store_.ssd_state);
  Go(Exchange::kBegun);
  s = WriteParts();
  if (s.ok()) s = BeginLog();
  if (s.ok()) s = SwapDirectories();
  if (!s.ok()) return s;
  Go(Exchange::kDone);
  Log(info_log_, "repaired");
  return s;
}

// An empty log in the place of the old one, for the database as STORE describes it now. The old one is gone for good
// before the folder says so: who finds it saying so may have written to it since.
Status Repairer::BeginLog() {
  CHECK(exchange_ == Exchange::kBegun);  // what the log had is in table files that count
  Status s = env_->FileExists(wal_folder_) ? Status::OK() : env_->CreateDir(wal_folder_);
  if (s.ok()) s = FileLog::Destroy(env_, wal_folder_, nullptr);
  if (s.ok()) s = SyncDirectory(wal_folder_);
  FileLog::Options options;
  options.env = env_;
  options.folder = wal_folder_;
  return s.ok() ? FileLog(options).Own(store_.log.id, store_.log.id, store_.log.epoch) : s;
}

}  // namespace miodb
