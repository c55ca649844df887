// Opening what a manifest names: space, tables and files of its state and of the savepoints', and the versions they
// make.

#include <algorithm>
#include <set>

#include "src/api/types/comparator_check.h"
#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/version/state_opener.h"
#include "src/version/version_set.h"

namespace miodb {

namespace {

// More numbers than are ever drawn from one edit to the next: a job draws one for each table or file that it makes.
constexpr uint64_t kMaxUnnamedIds = 1 << 16;

}  // namespace

// The comparator's name is part of the first snapshot: every later open is compared with it.
Status VersionSet::Create() {
  CHECK(current_ == nullptr);
  Status s = manifest_.Create(order_.comparator()->Name());
  return s.ok() ? BuildCurrent(StateOpener(pool_, order_, ssd_, Checksums::kTrust, PayloadKeeper::kClaims)) : s;
}

// The first edit names the files, so that while this pool lives its manifest says which of them count.
Status VersionSet::CreateFor(const VersionEdit& state) {
  CHECK(current_ == nullptr);
  CHECK(state.tables.empty() && state.chunks.empty());
  Status s = CheckComparator(*order_.comparator(), state.comparator, pool_->path());
  if (s.ok()) s = manifest_.Create(state.comparator);
  if (s.ok()) s = manifest_.Append(state);
  if (!s.ok()) return s;
  next_id_ = state.next_id + kMaxUnnamedIds;
  FindFamilies();
  StateOpener opener(pool_, order_, ssd_, Checksums::kTrust, PayloadKeeper::kClaims);
  s = opener.Open(manifest_.state());
  if (!s.ok()) return s;
  SkipId(opener.last_id());
  TakeUp(opener);
  return BuildCurrent(opener);
}

// The order is that of trust: the comparator before any key is compared, space before what lies in it is read. Any
// problem refuses the open.
Status VersionSet::Recover(Checksums checksums, std::vector<ExtentRef>* chunks) {
  CHECK(current_ == nullptr && chunks->empty());
  Status s = manifest_.Recover();
  if (!s.ok()) return s;
  const ManifestState& state = manifest_.state();
  s = CheckComparator(*order_.comparator(), state.comparator, pool_->path());
  if (!s.ok()) return s;
  FindFamilies();
  // Numbers that were drawn after the last edit and went down with the process are not given out again: what bears them
  // may still lie in free space.
  next_id_ = state.next_id + (MIODB_MUTATED(kIdsUnskipped) ? 0 : kMaxUnnamedIds);
  StateOpener opener(pool_, order_, ssd_, checksums, PayloadKeeper::kClaims);
  for (const auto& [id, chunk] : state.chunks) {
    s = opener.OpenChunk(chunk, chunk.size, &chunks->emplace_back());
    if (!s.ok()) return s;
  }
  CHECK_EQ(chunks->size(), state.chunks.size());
  s = opener.Open(state);
  if (s.ok()) s = OpenSavepoints(&opener);
  if (!s.ok()) return s;
  SkipId(opener.last_id());
  TakeUp(opener);
  pool_->held()->EndClaims();
  const VersionEdit fitted = FitLevels(state);
  if (!fitted.tables.empty()) s = manifest_.Append(fitted);
  return s.ok() ? BuildCurrent(opener) : s;
}

// Takes the tables and files of the current state from everything that was opened. The accounts are of the current
// state alone.
void VersionSet::TakeUp(const StateOpener& opener) {
  CHECK(tables_.empty() && files_.empty());
  for (const auto& [number, place] : manifest_.state().tables) {
    const TableRef& table = opener.tables().at(number);
    entries_ += table->entries();
    tables_[number] = table;
  }
  for (const auto& [number, place] : manifest_.state().files) files_[number] = opener.files().at(number);
  CHECK_EQ(tables_.size(), manifest_.state().tables.size());
}

// A state that does not fit the levels is copied: the next savepoint's goes on from it as it is.
Status VersionSet::OpenSavedState(const SavepointEntry& entry, const ManifestState& state, StateOpener* opener,
                                  std::shared_ptr<Savepoint>* savepoint) {
  DCHECK(*savepoint == nullptr);
  DCHECK_GT(entry.id, 0u);
  SkipId(entry.id);
  if (entry.sequence < state.flushed_sequence) {
    return Status::Corruption(pool_->path(), "savepoint " + entry.name + " is older than its state");
  }
  *savepoint = MakeSavepoint(entry, state);
  Status s = opener->Open(state);
  if (!s.ok()) return s;
  SkipId(opener->last_id());
  VersionRef* const version = &(*savepoint)->version;
  const VersionEdit fitted = FitLevels(state);
  if (fitted.tables.empty()) return Build(state, *opener, version);
  ManifestState fitting = state;
  s = fitting.Apply(fitted);
  CHECK(s.ok());  // the edit moves tables that are there
  return Build(fitting, *opener, version);
}

Status VersionSet::OpenSavedLog(StateOpener* opener, Savepoint* savepoint) const {
  DCHECK(savepoint != nullptr);
  for (SavedChunk& chunk : savepoint->log) {
    if (chunk.place.sealed_size > chunk.place.size) {
      return Status::Corruption(
          pool_->path(), "savepoint " + savepoint->entry.name + " has more than all of " + ChunkName(chunk.place));
    }
    Status s = opener->OpenChunk(chunk.place, chunk.place.sealed_size, &chunk.extent);
    if (!s.ok()) return s;
  }
  return Status::OK();
}

// The manifest knows more about payload than about a log chunk, so the states are opened first. Kept chunks
// come next, because they need the whole chunk. Savepoints need a part of a chunk, and the newest is first, because it
// needs at least as many bytes as an older one.
Status VersionSet::OpenSavepoints(StateOpener* opener) {
  CHECK(savepoints_.empty() && current_ == nullptr);
  if (MIODB_MUTATED(kSavepointsUnclaimed)) return OpenKept(opener);
  std::map<uint64_t, std::shared_ptr<Savepoint>> savepoints;
  Status s = manifest_.ReadSavedStates([&](const SavepointEntry& entry, const ManifestState& state) {
    return OpenSavedState(entry, state, opener, &savepoints[entry.id]);
  });
  if (s.ok()) s = OpenKept(opener);
  for (auto item = savepoints.rbegin(); s.ok() && item != savepoints.rend(); ++item) {
    s = OpenSavedLog(opener, item->second.get());
  }
  savepoints_.insert(savepoints.begin(), savepoints.end());
  CHECK(!s.ok() || savepoints_.size() == manifest_.state().savepoints.size());
  return s;
}

Status VersionSet::OpenKept(StateOpener* opener) {
  CHECK(kept_.empty());
  for (const auto& [id, chunk] : manifest_.state().kept.by_id) {
    if (MIODB_MUTATED(kKeptUnclaimed)) break;
    const LogChunkPlace place = {id, chunk.offset, RoundToUnit(chunk.bytes), true, chunk.bytes};
    DCHECK_EQ(id, chunk.id);
    Status s = opener->OpenChunk(place, chunk.bytes, &kept_[id]);
    if (!s.ok()) return s;
  }
  SkipId(opener->last_id());
  return Status::OK();
}

// relaxed: the open's thread reads it, and every other one begins later.
void VersionSet::FindFamilies() {
  CHECK(tables_.empty());  // no key was compared
  if (has_families_ != nullptr && manifest_.state().has_families()) {
    has_families_->store(true, std::memory_order_relaxed);
  }
}

// A database made with more levels than now asked for: its deeper buffer levels join the last one that is left, with
// new run ids that keep the order of age.
VersionEdit VersionSet::FitLevels(const ManifestState& state) {
  const uint32_t last_buffer = static_cast<uint32_t>(num_levels_ - 2);
  std::map<std::pair<uint32_t, uint64_t>, std::vector<TablePlace>> runs;  // by (level, run id)
  bool fits = true;
  for (const auto& [number, place] : state.tables) {
    if (place.level == kRepositoryLevel) continue;
    if (place.level > last_buffer) fits = false;
    if (place.level >= last_buffer) runs[{place.level, place.run}].push_back(place);
  }
  VersionEdit edit;
  if (fits) return edit;
  // Oldest first: deepest level first, in it the lowest id first. Each gets a new id, so that in the one level the
  // newer run has the higher one.
  while (!runs.empty()) {
    auto oldest = runs.lower_bound({std::prev(runs.end())->first.first, 0});
    const uint64_t id = NewId();
    for (TablePlace& place : oldest->second) {
      place.level = last_buffer;
      place.run = id;
      edit.tables.push_back(place);
    }
    runs.erase(oldest);
  }
  CHECK(!edit.tables.empty() && edit.tables.size() <= state.tables.size());
  edit.SetNextId(next_id_);
  return edit;
}

// Ids that the manifest names are never given out again, whatever its next id says.
void VersionSet::SkipId(uint64_t id) {
  if (next_id_ <= id) next_id_ = id + 1;
  CHECK_LT(id, next_id_);
}

Status VersionSet::Build(const ManifestState& state, const StateOpener& opener, VersionRef* version) {
  for (const auto& [id, place] : state.ranges) SkipId(id);
  return BuildVersion(Shape(), pool_->path(), state, opener.tables(), opener.files(), &opener.records(), version);
}

// The account of a damaged manifest may be wrong: then no recount is compared with it.
Status VersionSet::BuildCurrent(const StateOpener& opener) {
  CHECK(current_ == nullptr);
  Status s = Build(manifest_.state(), opener, &current_);
  if (!s.ok()) return s;
  auto place = manifest_.state().payload.begin();
  for (const ExtentRef& extent : current_->payload) extent->live_bytes = (place++)->second.live_bytes;
  if (!kChecksWhole) return s;
  if (!PayloadIsAsCounted()) recount_ = nullptr;
  Check();
  return s;
}

}  // namespace miodb
