// Making edits current. Accounts are kept with each edit, so that no figure is a walk over all tables; Check recounts
// them.

#include "src/version/version_set.h"

#include <algorithm>
#include <new>
#include <set>

#include "src/util/check/check.h"
#include "src/util/check/mutation.h"
#include "src/util/check/no_throw.h"
#include "src/util/check/visits.h"
#include "src/version/version_builder.h"

namespace miodb {

namespace {

// Puts each item, from known or from fresh, into its place. Items that leave a place are removed first, since items
// that come may overlap them.
template <typename Items, typename Place, typename Remove, typename Add>
void PlaceAll(const std::vector<uint64_t>& removed, const std::vector<Place>& places, const Items& known,
              const Items& fresh, Remove remove, Add add) {
  const auto take = [&](uint64_t number) {
    const auto item = known.find(number);
    CHECK(item != known.end());
    remove(item->second);
    return &item->second;
  };
  for (const uint64_t number : removed) take(number);
  // Pointers into the maps, which stay as they are until the edit is durable.
  std::vector<const typename Items::mapped_type*> placed;
  size_t moved = 0;
  for (const Place& place : places) {
    const auto item = fresh.find(IdOf(place));
    const bool is_known = item == fresh.end();
    placed.push_back(is_known ? take(IdOf(place)) : &item->second);
    moved += is_known;
  }
  CHECK_EQ(fresh.size() + moved, places.size());
  for (size_t i = 0; i < placed.size(); i++) add(*placed[i], places[i]);
}

}  // namespace

// Places are in the manifest's state alone, so they cannot differ from what is durable.
const TablePlace& VersionSet::PlaceOf(uint64_t number) const {
  const auto place = manifest_.state().tables.find(number);
  CHECK(place != manifest_.state().tables.end());
  return place->second;
}

// The three steps of the header. Only NoSpace leaves no doubt: it is found before the record is stored. After any other
// failure nobody may get space that either state names, and no edit follows.
Status VersionSet::Apply(VersionEdit edit, const Additions& added) {
  CHECK(current_ != nullptr);
  if (!failure_.ok()) return failure_;
  if (!MIODB_MUTATED(kNextIdVolatile)) edit.SetNextId(next_id_);
  // Flushed writes belong to a savepoint, also if they were written after the look at the log.
  for (SavepointEntry& entry : edit.savepoints) {
    entry.sequence = std::max(entry.sequence, manifest_.state().flushed_sequence);
  }
  Status s = NoThrow(pool_->path(), [&] {
    Next next;
    edit.SetPayload(added.payload);
    Visits::Allow(edit.removed_tables.size() + edit.tables.size() + edit.removed_files.size() + edit.files.size() +
                  edit.payload.size() + edit.dropped.size());
    Status prepared = Prepare(edit, added, &next);
    if (!prepared.ok()) return prepared;
    PrepareSavepoints(edit, added.saved, &next);
    for (const KeptChunk& chunk : edit.kept) next.kept.emplace(chunk.id, added.saved.at(chunk.id));
    // The tables are moved in without memory, so the hash table has its places before the edit is durable.
    const size_t most = tables_.size() + added.tables.size();
    if (most >= tables_.bucket_count()) tables_.reserve(2 * most);  // equal: a new hash table makes its first bucket
    for (const TableRef& table : added.tables) table->index()->MarkNamed();
    Status appended = manifest_.Append(edit);
    if (appended.ok()) Install(edit, added.payload, &next);
    return appended;
  });
  if (s.IsNoSpace()) {
    for (const TableRef& table : added.tables) table->index()->MarkUnnamed();
  }
  if (!s.ok() && !s.IsNoSpace()) {
    // The edit may be on the medium, so what it names and what it drops may both be needed after the next open.
    pool_->StopReuse();
    failure_ = s;
  }
  if (kChecksWhole && s.ok()) {
    // Every edit of debug builds and simulators, so that these have it as an oracle. Without memory for it the check is
    // left out: the edit is done.
    NoThrow(pool_->path(), [this] {
      Check();
      return Status::OK();
    }).IgnoreError();
  }
  return s;
}

// Does everything that needs memory, before the edit is durable. An edit of log chunks alone, the most frequent kind,
// leaves the version as it is.
Status VersionSet::Prepare(const VersionEdit& edit, const Additions& added, Next* next) const {
  CHECK_LE(added.tables.size(), edit.tables.size());
  CHECK_LE(added.files.size(), edit.files.size());
  for (const TableRef& table : added.tables) {
    CHECK(tables_.count(table->number()) == 0);
    CHECK(next->tables.emplace(table->number(), table).second);
  }
  for (const SstRef& file : added.files) {
    CHECK(files_.count(file->meta().number) == 0);
    CHECK(next->files.emplace(file->meta().number, file).second);
  }
  const bool ranges_change = !edit.ranges.empty() || !edit.removed_ranges.empty();
  if (edit.tables.empty() && edit.removed_tables.empty() && edit.files.empty() && edit.removed_files.empty() &&
      !ranges_change && added.payload.empty()) {
    next->version = current_;
    return Status::OK();
  }
  for (const DroppedPayload& drop : added.payload.dropped) {
    if (drop.extent->live_bytes.load(std::memory_order_relaxed) >= drop.bytes) continue;  // relaxed: under the mutex
    return Status::Corruption(pool_->path(), "tables refer to more bytes than the extent at offset " +
                                                 std::to_string(drop.extent->offset()) + " has");
  }
  // Places before the edit are the manifest's state, which does not have it yet; places after it are the edit's.
  const VersionShape shape = Shape();
  VersionBuilder builder(order_, current_, ssd_level_count_);
  PlaceAll(
      edit.removed_tables, edit.tables, tables_, next->tables,
      [&](const TableRef& table) {
        const TablePlace& place = PlaceOf(table->number());
        builder.Remove(table, shape.LevelOf(place), place.run);
        next->left.emplace_back(place.run, place.number);
      },
      [&](const TableRef& table, const TablePlace& place) {
        builder.Add(table, shape.LevelOf(place), place.run);
        const bool is_marked = table->marked.load(std::memory_order_relaxed);  // relaxed: policy only
        if (is_marked && next->tables.count(place.number) > 0)
          next->marked.emplace(std::pair(place.run, place.number), table);
      });
  PlaceAll(
      edit.removed_files, edit.files, files_, next->files,
      [&](const SstRef& file) { builder.RemoveFile(file, manifest_.state().files.at(file->meta().number).level); },
      [&](const SstRef& file, const SstPlace& place) { builder.AddFile(file, place.level); });
  PreparePayload(edit, added.payload, &builder);
  for (const RangePlace& place : edit.ranges) CHECK_LT(place.id, next_id_);
  if (ranges_change) builder.SetRanges(RangesAfter(order_, manifest_.state(), edit));
  next->version = builder.Finish();
  return Status::OK();
}

// Extents that the edit leaves empty go from the version. Their space is free after the last pinned version with them.
// The extents of a flush may be those of an edit before that found no space.
void VersionSet::PreparePayload(const VersionEdit& edit, const PayloadChange& change, VersionBuilder* builder) const {
  for (const DroppedPayload& drop : change.dropped) {
    const uint64_t live_bytes = drop.extent->live_bytes.load(std::memory_order_relaxed);  // relaxed: under the mutex
    if (live_bytes == drop.bytes) builder->RemovePayload(drop.extent->offset());
  }
  uint64_t first_table = next_id_;
  for (const TablePlace& place : edit.tables) first_table = std::min(first_table, place.number);
  for (const MadePayload& made : change.made) {
    CHECK(made.extent->first_table <= first_table && first_table > 0);
    made.extent->first_table = first_table;
    made.extent->live_bytes.store(made.live_bytes, std::memory_order_relaxed);  // relaxed: under the mutex
    builder->AddPayload(made.extent);
  }
}

// An edit that names a savepoint changes nothing else of the state, so the savepoint has the state before it.
void VersionSet::PrepareSavepoints(const VersionEdit& edit, const ChunkExtents& saved, Next* next) const {
  for (const SavepointEntry& entry : edit.savepoints) {
    CHECK(edit.tables.empty() && edit.chunks.empty() && edit.files.empty() && edit.removed_chunks.empty());
    std::shared_ptr<Savepoint> savepoint = MakeSavepoint(entry, manifest_.state());
    for (SavedChunk& chunk : savepoint->log) chunk.extent = saved.at(chunk.place.id);
    savepoint->version = next->version;
    CHECK(savepoints_.empty() || savepoints_.rbegin()->first < entry.id);
    next->savepoints.emplace(entry.id, std::move(savepoint));
  }
}

// Needs no memory, so that a durable edit becomes current whatever happens.
void VersionSet::Install(const VersionEdit& edit, const PayloadChange& change, Next* next) noexcept {
  Visits::Allow(change.dropped.size() + edit.removed_tables.size());
  CHECK(next->version != nullptr);
  for (const DroppedPayload& drop : change.dropped) {
    // relaxed: changed under the mutex; the others who read it choose by it.
    CHECK_GE(drop.extent->live_bytes.fetch_sub(drop.bytes, std::memory_order_relaxed), drop.bytes);
  }
  for (const auto& [number, table] : next->tables) entries_ += table->entries();
  tables_.merge(next->tables);
  // Marks that came while the mutex was let go of are heeded. Places are those after the edit.
  for (const auto& left : next->left) {
    auto mark = marked_.extract(left);
    const auto place = manifest_.state().tables.find(left.second);
    if (mark.empty() || place == manifest_.state().tables.end()) continue;
    mark.key().first = place->second.run;
    CHECK(marked_.insert(std::move(mark)).inserted);
  }
  marked_.merge(next->marked);
  files_.merge(next->files);
  CHECK(next->tables.empty() && next->files.empty() && next->marked.empty());
  for (const uint64_t number : edit.removed_tables) {
    const auto table = tables_.find(number);
    // The magic number goes with the table's last reader, so that no search finds a dropped table.
    CHECK(table != tables_.end());
    CHECK_GE(entries_, table->second->entries());
    entries_ -= table->second->entries();
    if (!IsSaved(table->second)) table->second->index()->MarkUnnamed();
    tables_.erase(table);
  }
  for (const uint64_t number : edit.removed_files) {
    const auto file = files_.find(number);
    CHECK(file != files_.end());
    if (!IsSaved(file->second)) file->second->MarkObsolete();
    files_.erase(file);
  }
  for (const uint64_t id : edit.removed_savepoints) ForgetSavepoint(id);
  savepoints_.merge(next->savepoints);
  CHECK_EQ(savepoints_.size(), manifest_.state().savepoints.size());
  for (const uint64_t id : edit.removed_kept) kept_.erase(id);
  kept_.merge(next->kept);
  CHECK(kept_.size() == manifest_.state().kept.by_id.size() || MIODB_MUTATED(kKeptUnclaimed));
  current_ = std::move(next->version);
  CHECK_EQ(tables_.size(), manifest_.state().tables.size());
  CHECK_EQ(files_.size(), manifest_.state().files.size());
  CHECK_EQ(current_->payload.size(), manifest_.state().payload.size());
}

void VersionSet::Mark(const TableRef& table) {
  const auto known = tables_.find(table->number());
  if (known == tables_.end()) return;
  CHECK(known->second == table);  // numbers are given out once
  marked_.emplace(std::pair(PlaceOf(table->number()).run, table->number()), table);
}

// For items of the current version: a table or file has been there without a break since it came, so if any savepoint
// has it, the newest savepoint has it.
template <typename Item>
bool VersionSet::IsSaved(const Item& item) const {
  if (savepoints_.empty() || MIODB_MUTATED(kSavedTablesDropped)) return false;
  return Has(order_, *savepoints_.rbegin()->second->version, item);
}

// Tables and files that neither the current version nor a savepoint has any more go with their last reader. For the
// same reason as above it is enough to look at the savepoints before and behind this one.
void VersionSet::ForgetSavepoint(uint64_t id) noexcept {
  const auto it = savepoints_.find(id);
  CHECK(it != savepoints_.end());
  const auto next = std::next(it);
  const auto is_needed = [&](const auto& item) {
    if (it != savepoints_.begin() && Has(order_, *std::prev(it)->second->version, item)) return true;
    return next != savepoints_.end() && Has(order_, *next->second->version, item);
  };
  const Version& version = *it->second->version;
  for (const Run* run : version.runs) {
    for (const TableRef& table : run->tables) {
      if (tables_.count(table->number()) == 0 && !is_needed(table)) table->index()->MarkUnnamed();
    }
  }
  if (version.ssd != nullptr) {
    for (const FileList& level : version.ssd->levels) {
      for (const SstRef& file : level) {
        if (files_.count(file->meta().number) == 0 && !is_needed(file)) file->MarkObsolete();
      }
    }
  }
  savepoints_.erase(it);
}

uint64_t VersionSet::HeldBytes(const Savepoint& savepoint) const {
  DCHECK(savepoint.version != nullptr);
  std::map<PmRef, uint64_t> held;
  const auto add = [&](const Extent& extent) {
    if (FindExtent(current_->payload, extent.offset()) == nullptr) held[extent.offset()] = extent.size();
  };
  for (const ExtentRef& extent : savepoint.version->payload) add(*extent);
  for (const Run* run : savepoint.version->runs) {
    for (const TableRef& table : run->tables) {
      if (tables_.count(table->number()) == 0) add(*table->index());
    }
  }
  for (const SavedChunk& chunk : savepoint.log) {
    const uint64_t id = chunk.place.id;
    if (manifest_.state().chunks.count(id) == 0 && kept_.count(id) == 0) add(*chunk.extent);
  }
  uint64_t bytes = 0;
  for (const auto& [offset, size] : held) bytes += size;
  return bytes;
}

void VersionSet::Check() const {
  const Visits::Pause pause;
  CHECK_EQ(current_->levels.size(), static_cast<size_t>(num_levels_));
  CHECK_EQ(FindDisorder(order_, *current_), "");
  // The version that edits made step by step has to equal the version that the manifest's state gives at once.
  ExtentMap payload;
  for (const ExtentRef& extent : current_->payload) payload.emplace(extent->offset(), extent);
  CHECK(SameVersion(*current_, *MakeVersion(Shape(), manifest_.state(), tables_, files_, &payload)));
  CHECK_EQ(tables_.size(), manifest_.state().tables.size());
  CHECK_EQ(files_.size(), manifest_.state().files.size());
  uint64_t entries = 0, bytes = 0, live_bytes = 0;
  for (const auto& [number, table] : tables_) {
    CHECK_EQ(number, table->number());
    CHECK_LT(std::max(number, PlaceOf(number).run), next_id_);
    CHECK_EQ(PlaceOf(number).index_offset, table->index()->offset());
    entries += table->entries();
  }
  CHECK_EQ(entries, entries_);
  for (const auto& [place, table] : marked_) {
    CHECK(tables_.at(place.second) == table);
    CHECK_EQ(PlaceOf(place.second).run, place.first);
  }
  for (const auto& [offset, place] : manifest_.state().payload) {
    const ExtentRef& extent = payload.at(offset);
    CHECK(place.Sound() && extent->kind() == place.kind && extent->payload_bytes() == place.payload_bytes);
    CHECK_EQ(extent->live_bytes.load(std::memory_order_relaxed), place.live_bytes);
    bytes += place.payload_bytes;
    live_bytes += place.live_bytes;
  }
  CHECK(bytes == payload_bytes() && live_bytes == payload_live_bytes());
  if (kChecksWhole) CHECK(recount_ == nullptr || PayloadIsAsCounted());
}

bool VersionSet::PayloadIsAsCounted() const { return recount_->Agrees(*current_, manifest_.state().payload); }

}  // namespace miodb
