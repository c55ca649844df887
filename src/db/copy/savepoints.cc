// Making, dropping and finding savepoints.

#include "src/db/copy/savepoints.h"

#include <utility>

#include "src/util/check/check.h"

namespace miodb {

namespace {

std::string Title(const Slice& name) { return "savepoint " + name.ToString(); }

// relaxed: the leader's own.
uint64_t Filled(const LogChunk& chunk) { return chunk.used.load(std::memory_order_relaxed); }

}  // namespace

// The part of the log that belongs to a savepoint.
struct Savepoints::Moment {
  uint64_t sequence = 0;
  std::vector<ChunkPart> chunks;
  ChunkExtents extents;  // of these
  bool in_pool = true;   // all records up to the sequence are
};

// A name is free text, which the manifest keeps; its length has a byte there.
Status Savepoints::CheckName(const Slice& name) {
  if (name.empty() || name.size() > kMostSavepointName) {
    return Status::InvalidArgument("name of a savepoint",
                                   "has " + std::to_string(name.size()) + " bytes, and must have 1 to 255");
  }
  SavepointRef savepoint;
  return Find(name, &savepoint).ok() ? Status::InvalidArgument("savepoint " + name.ToString(), "exists") : Status::OK();
}

// The log that no table has yet, oldest first: of the memtables that wait for their flush, then of the one that is
// written to. A chunk without a frame says nothing, and its place may still change.
std::vector<const LogChunk*> Savepoints::FilledChunks() const {
  std::vector<MemTableRef> memtables(tree_->immutables.rbegin(), tree_->immutables.rend());
  memtables.push_back(tree_->memtable);
  std::vector<const LogChunk*> chunks;
  for (const MemTableRef& memtable : memtables) {
    DCHECK(memtable != nullptr);
    for (const auto& chunk : memtable->segment().chunks) {
      if (Filled(*chunk) > 0) chunks.push_back(chunk.get());
    }
  }
  return chunks;
}

// By the leader of a group without other writers: nobody fills a chunk meanwhile, and all that was written is
// published. In file mode the frames are made durable first, since the edit that names them is.
Status Savepoints::Look(Moment* moment) {
  CHECK(moment->chunks.empty());
  {
    DbLock lock(control_);
    moment->sequence = tree_->last_sequence.load(std::memory_order_relaxed);  // relaxed: the leader's own
    for (const LogChunk* chunk : FilledChunks()) {
      if (!chunk->in_pool()) moment->in_pool = false;
      if (!chunk->in_pool()) continue;
      moment->chunks.push_back({chunk->id, Filled(*chunk)});
      moment->extents[chunk->id] = chunk->extent;
    }
  }
  Persist& persist = db_.pool->persist();
  if (!persist.fence_is_slow() || moment->chunks.empty()) return Status::OK();
  Status s = persist.Fence(Purpose::kLog);
  if (!s.ok()) {
    DbLock lock(control_);
    control_->SetError(s);
  }
  return s;
}

// One edit makes or drops a savepoint, so a crash leaves all of it or nothing. An edit that failed for another reason
// than space stops writes, as any edit does: the manifest's end is not known any more.
Status Savepoints::Apply(VersionEdit edit, const ChunkExtents& chunks) {
  DCHECK(!edit.savepoints.empty() || !edit.removed_savepoints.empty());
  DbLock lock(control_);
  Status s = control_->error();
  if (!s.ok()) return s;
  for (SavepointEntry& entry : edit.savepoints) entry.id = tree_->versions->NewId();
  Additions added;
  added.saved = chunks;
  s = tree_->Apply(std::move(edit), added);
  if (!s.ok() && !s.IsNoSpace()) control_->SetError(s);
  return s;
}

// The tables and files of a savepoint are those of the version that the edit makes; nothing but the log has to be told.
Status Savepoints::Name(const Slice& name, const Moment& moment) {
  DCHECK(!name.empty() && moment.sequence <= kMaxSequence);
  VersionEdit edit;
  SavepointEntry& entry = edit.savepoints.emplace_back();
  entry.name = name.ToString();
  entry.sequence = moment.sequence;
  entry.micros = db_.WallMicros();
  entry.chunks = moment.chunks;
  return Apply(std::move(edit), moment.extents);
}

// Where records are in DRAM alone there is nothing in the pool that could be named, so they are flushed first; the
// savepoint then has what was flushed, and no log. The edit takes the families that there are by then, so these stand
// still from the first look on.
Status Savepoints::Create(const Slice& name) {
  const MutexLock lock(&create_mutex_);
  const FamilyGate::Still still(db_.families);
  const std::string title = Title(name);  // no memory is asked for once the edit is durable
  Status s = CheckName(name);
  if (!s.ok()) return s;
  Moment moment;
  s = write_->BetweenWrites([&] { return Look(&moment); });
  if (s.ok() && !moment.in_pool) {
    s = requests_->Flush();
    moment.chunks.clear();
  }
  DCHECK(!s.ok() || moment.in_pool || moment.chunks.empty());
  const MutexLock edit_lock(&mutex_);
  if (s.ok()) s = Name(name, moment);
  if (s.ok()) db_.Log("made %s at sequence %llu", title.c_str(), static_cast<unsigned long long>(moment.sequence));
  return s;
}

// Space that only the savepoint refers to is free as soon as the edit is durable and the last view of the savepoint is
// closed.
Status Savepoints::Drop(const Slice& name) {
  const MutexLock lock(&mutex_);
  const std::string title = Title(name);
  SavepointRef savepoint;
  Status s = Find(name, &savepoint);
  if (!s.ok()) return s;
  VersionEdit edit;
  edit.removed_savepoints.push_back(savepoint->entry.id);
  s = Apply(std::move(edit), {});
  if (!s.ok()) return s;
  savepoint.reset();  // its space is free before writers who wait for some are told
  db_.Log("dropped %s", title.c_str());
  DbLock db_lock(control_);
  space_->CameFree();
  return s;
}

// By the leader of a group without other writers, so that manifest, version and chunks are of one moment. Of memtables
// the oldest come first: where records are in DRAM alone the state has what is before them.
Status Savepoints::TakeState(FrozenState* frozen, bool* all) {
  *all = true;
  DbLock lock(control_);
  const ManifestState& manifest = tree_->versions->manifest();
  frozen->state = manifest.Snapshot();
  frozen->state.savepoints.clear();
  frozen->state.kept.clear();
  frozen->state.chunks.clear();
  frozen->log.clear();
  frozen->version = tree_->versions->current();
  for (const LogChunk* chunk : FilledChunks()) {
    *all = chunk->in_pool();
    if (!*all) return Status::OK();
    const auto named = manifest.chunks.find(chunk->id);
    if (named == manifest.chunks.end()) continue;  // its flush has made tables of it, and is about to end
    LogChunkPlace& place = frozen->state.chunks.emplace_back(named->second);
    DCHECK_LE(Filled(*chunk), place.frame_limit());
    place.sealed_size = Filled(*chunk);
    place.size = RoundToUnit(place.sealed_size);
    place.sealed = true;
    frozen->log.push_back(chunk->extent);
  }
  return Status::OK();
}

// A state for a checkpoint or a backup: as a savepoint, but pinned by its version and not by the manifest, so a crash
// ends it. The second attempt is after a flush, which has left no record in DRAM alone but those of later writes; the
// families of that moment are those of the flush, since they stand still.
Status Savepoints::Freeze(FrozenState* frozen) {
  DCHECK(frozen != nullptr && frozen->version == nullptr);
  const FamilyGate::Still still(db_.families);
  bool all = false;
  const WriteCondition take = [&] { return TakeState(frozen, &all); };
  Status s = write_->BetweenWrites(take);
  if (s.ok() && !all) {
    s = requests_->Flush();
    if (s.ok()) s = write_->BetweenWrites(take);
  }
  if (!s.ok()) *frozen = FrozenState();
  DCHECK_EQ(frozen->log.size(), frozen->state.chunks.size());
  return s;
}

void Savepoints::Thaw(FrozenState* frozen) {
  *frozen = FrozenState();  // its space is free before writers who wait for some are told
  DbLock lock(control_);
  space_->CameFree();
}

Status Savepoints::List(std::vector<SavepointInfo>* savepoints) {
  DCHECK(savepoints != nullptr);
  savepoints->clear();
  SavepointMap all;
  {
    DbLock lock(control_);
    all = tree_->versions->savepoints();
  }
  for (const auto& [id, savepoint] : all) {
    const SavepointEntry& entry = savepoint->entry;
    DbLock lock(control_);  // of each by itself: a walk over its tables is as long as others should have to wait
    savepoints->push_back({entry.name, entry.sequence, entry.micros, tree_->versions->HeldBytes(*savepoint)});
  }
  return Status::OK();
}

Status Savepoints::Find(const Slice& name, SavepointRef* savepoint) {
  DCHECK(savepoint != nullptr);
  const std::string wanted = name.ToString();
  DbLock lock(control_);
  const PlaceNames& names = tree_->versions->manifest().savepoint_names;
  const SavepointMap& all = tree_->versions->savepoints();
  const auto named = names.find(wanted);
  const auto found = named != names.end() ? all.find(named->second) : all.end();
  if (found == all.end()) return Status::NotFound("savepoint " + wanted);
  *savepoint = found->second;
  return Status::OK();
}

}  // namespace miodb
