// Opening what the manifest names, and making edits current. Accounts (bytes, entries, extents in use) are kept with
// each edit, so that no figure is a walk over all tables; Check recounts them.

#include "src/version/version_set.h"

#include <algorithm>
#include <new>
#include <set>

#include "src/api/comparator_check.h"
#include "src/util/check.h"
#include "src/util/mutation.h"
#include "src/util/no_throw.h"
#include "src/version/version_builder.h"

namespace miodb {

namespace {

// More numbers than are ever drawn from one edit to the next: a job draws one for each table or file that it makes.
constexpr uint64_t kMaxUnnamedIds = 1 << 16;

// Has each item put where it is placed, which is one of known or of fresh. What leaves its place goes first, since what
// comes may overlap it.
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

// The comparator's name is part of the first snapshot: every later open is compared with it.
Status VersionSet::Create() {
  CHECK(current_ == nullptr);
  Status s = manifest_.Create(order_.comparator()->Name());
  return s.ok() ? BuildCurrent() : s;
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
  s = OpenFiles();
  return s.ok() ? BuildCurrent() : s;
}

// The order is that of trust: the comparator before any key is compared, space before what lies in it is read. Whatever
// is wrong refuses the open.
Status VersionSet::Recover(bool verify, std::vector<ExtentRef>* chunks) {
  CHECK(current_ == nullptr && chunks->empty());
  Status s = manifest_.Recover();
  if (!s.ok()) return s;
  const ManifestState& state = manifest_.state();
  s = CheckComparator(*order_.comparator(), state.comparator, pool_->path());
  if (!s.ok()) return s;
  // Numbers that were drawn after the last edit and went down with the process are not given out again: what bears them
  // may still lie in free space.
  next_id_ = state.next_id + (MIODB_MUTATED(kIdsUnskipped) ? 0 : kMaxUnnamedIds);
  for (const auto& [id, chunk] : state.chunks) {
    SkipId(id);
    s = pool_->Claim(chunk.offset, chunk.size, ExtentKind::kLog, &chunks->emplace_back());
    if (!s.ok()) return s;
  }
  CHECK_EQ(chunks->size(), state.chunks.size());
  s = OpenTables(verify);
  if (s.ok()) s = OpenFiles();
  if (s.ok()) s = FitLevels();
  return s.ok() ? BuildCurrent() : s;
}

// Payload extents are named by the meta blocks of the tables that share them: the first table claims one, and the
// others have to say the same of it. When all are claimed, what is left of the pool is free.
Status VersionSet::OpenTables(bool verify) {
  std::map<PmRef, ExtentRef> payload;
  const PMTable::ClaimPayload claim = [&](const PayloadMeta& meta, ExtentRef* extent) {
    ExtentRef& known = payload[meta.offset];
    if (known == nullptr) {
      Status s = pool_->Claim(meta.offset, meta.size, meta.kind, &known);
      if (!s.ok()) return s;
      known->SetPayloadBytes(meta.payload_bytes);
    }
    if (known->size() != meta.size || known->kind() != meta.kind || known->payload_bytes() != meta.payload_bytes) {
      return Status::Corruption(pool_->path(),
                                "tables disagree about the extent at offset " + std::to_string(meta.offset));
    }
    *extent = known;
    return Status::OK();
  };
  for (const auto& [number, place] : manifest_.state().tables) {
    SkipId(std::max(number, place.run));
    if (place.level == kRepositoryLevel ? place.run != 0 : place.level >= kMaxLevels) {
      return Status::Corruption(pool_->path(), "manifest: table " + std::to_string(number) + " has no proper place");
    }
    // A claim says that the extent lies in the pool and is nobody else's, before a byte of it is read.
    ExtentRef index;
    Status s = pool_->Claim(place.index_offset, place.index_size, ExtentKind::kIndex, &index);
    if (!s.ok()) return s;
    if (place.index_size < sizeof(TableHeader)) return Status::Corruption(pool_->path(), "index extent too short");
    TableRef table;
    s = PMTable::Open(pool_, order_, std::move(index), number, verify, claim, &table);
    if (!s.ok()) return s;
    for (const PayloadRef& p : table->payload()) payload_uses_[p.extent->offset()].extent = p.extent.get();
    Enter(*table);
    tables_[number] = std::move(table);
  }
  CHECK_EQ(tables_.size(), manifest_.state().tables.size());
  return Status::OK();
}

// The files are asked for their size alone; none is read unless the manifest had no room for its keys.
Status VersionSet::OpenFiles() {
  const std::map<uint64_t, SstPlace>& places = manifest_.state().files;
  if (ssd_ == nullptr && !places.empty()) {
    return Status::InvalidArgument(pool_->path(), "the database has " + std::to_string(places.size()) +
                                                      " files on SSD; Options::ssd_path is empty");
  }
  for (const auto& [number, place] : places) {
    DCHECK(place.meta != nullptr && place.meta->number == number);
    SkipId(number);
    // The manifest's description is shared, so keys that are read here go into a copy.
    std::shared_ptr<const SstMeta> meta = place.meta;
    Status s = ssd_->CheckFile(*meta);
    if (s.ok() && !meta->has_range) {
      auto read = std::make_shared<SstMeta>(*meta);
      s = ssd_->ReadRange(read.get());
      meta = std::move(read);
    }
    if (!s.ok()) return s;
    files_[number] = std::make_shared<SstFile>(ssd_, std::move(meta));
  }
  CHECK_EQ(files_.size(), places.size());
  return Status::OK();
}

// A database made with more levels than now asked for: its deeper buffer levels join the last one that is left, with
// new run ids that keep the order of age.
Status VersionSet::FitLevels() {
  const uint32_t last_buffer = static_cast<uint32_t>(num_levels_ - 2);
  std::map<std::pair<uint32_t, uint64_t>, std::vector<TablePlace>> runs;  // by (level, run id)
  bool fits = true;
  for (const auto& [number, place] : manifest_.state().tables) {
    if (place.level == kRepositoryLevel) continue;
    if (place.level > last_buffer) fits = false;
    if (place.level >= last_buffer) runs[{place.level, place.run}].push_back(place);
  }
  if (fits) return Status::OK();
  VersionEdit edit;
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
  CHECK(!edit.tables.empty() && edit.tables.size() <= manifest_.state().tables.size());
  edit.SetNextId(next_id_);
  return manifest_.Append(edit);
}

// Ids that the manifest names are never given out again, whatever its next id says.
void VersionSet::SkipId(uint64_t id) {
  if (next_id_ <= id) next_id_ = id + 1;
  CHECK_LT(id, next_id_);
}

// Places are in the manifest's state alone, so they cannot differ from what is durable.
const TablePlace& VersionSet::PlaceOf(uint64_t number) const {
  const auto place = manifest_.state().tables.find(number);
  CHECK(place != manifest_.state().tables.end());
  return place->second;
}

// The manifest's number for the repository does not depend on how many levels there are.
size_t VersionSet::LevelOf(const TablePlace& place) const {
  const size_t repository = static_cast<size_t>(num_levels_ - 1);
  if (place.level == kRepositoryLevel) return repository;
  CHECK_LT(place.level, repository);
  return place.level;
}

// REQUIRES: payload_uses_ knows the table's extents.
void VersionSet::Enter(const PMTable& table) {
  entries_ += table.entries();
  payload_references_ += table.payload().size();
  for (const PayloadRef& p : table.payload()) {
    const auto use = payload_uses_.find(p.extent->offset());
    CHECK(use != payload_uses_.end() && use->second.extent == p.extent.get());
    // relaxed: the counters are read for policy only, and change under the database mutex.
    const int64_t live = p.extent->live_bytes.fetch_add(static_cast<int64_t>(p.live_bytes), std::memory_order_relaxed);
    CHECK_GE(live, 0);
    if (use->second.tables++ == 0) payload_bytes_ += p.extent->payload_bytes();
    payload_live_bytes_ += p.live_bytes;
  }
}

// The opposite of Enter, with the same figures, so that all accounts are zero when no table is left.
void VersionSet::Leave(const PMTable& table) {
  CHECK(entries_ >= table.entries() && payload_references_ >= table.payload().size());
  entries_ -= table.entries();
  payload_references_ -= table.payload().size();
  for (const PayloadRef& p : table.payload()) {
    // relaxed: as above.
    const int64_t live = p.extent->live_bytes.fetch_sub(static_cast<int64_t>(p.live_bytes), std::memory_order_relaxed);
    CHECK_GE(live, p.live_bytes);
    const auto use = payload_uses_.find(p.extent->offset());
    CHECK(use != payload_uses_.end() && use->second.tables > 0);
    if (--use->second.tables == 0) {
      payload_uses_.erase(use);
      payload_bytes_ -= p.extent->payload_bytes();
    }
    CHECK_GE(payload_live_bytes_, p.live_bytes);
    payload_live_bytes_ -= p.live_bytes;
  }
}

// The three steps of the header. Only NoSpace leaves no doubt: it is found before the record is stored. After any other
// failure nobody may get space that either state names, and no edit follows.
Status VersionSet::Apply(VersionEdit edit, const std::vector<TableRef>& added, const std::vector<SstRef>& added_files) {
  CHECK(current_ != nullptr);
  if (!failure_.ok()) return failure_;
  if (!MIODB_MUTATED(kNextIdVolatile)) edit.SetNextId(next_id_);
  Status s = NoThrow(pool_->path(), [&] {
    Next next;
    Prepare(edit, added, added_files, &next);
    // The tables are moved in without memory, so the hash table has its places before the edit is durable.
    const size_t most = tables_.size() + added.size();
    if (most >= tables_.bucket_count()) tables_.reserve(2 * most);  // equal: a new hash table makes its first bucket
    Status appended = manifest_.Append(edit);
    if (appended.ok()) Install(edit, &next);
    return appended;
  });
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

// What needs memory, before the edit is durable. An edit of log chunks alone, the most frequent one, leaves the version
// as it is.
void VersionSet::Prepare(const VersionEdit& edit, const std::vector<TableRef>& added,
                         const std::vector<SstRef>& added_files, Next* next) const {
  CHECK_LE(added.size(), edit.tables.size());
  CHECK_LE(added_files.size(), edit.files.size());
  for (const TableRef& table : added) {
    CHECK(tables_.count(table->number()) == 0);
    CHECK(next->tables.emplace(table->number(), table).second);
    for (const PayloadRef& p : table->payload()) next->uses[p.extent->offset()].extent = p.extent.get();
  }
  for (const SstRef& file : added_files) {
    CHECK(files_.count(file->meta().number) == 0);
    CHECK(next->files.emplace(file->meta().number, file).second);
  }
  const bool ranges_change = !edit.ranges.empty() || !edit.removed_ranges.empty();
  if (edit.tables.empty() && edit.removed_tables.empty() && edit.files.empty() && edit.removed_files.empty() &&
      !ranges_change) {
    next->version = current_;
    return;
  }
  // Places before the edit are the manifest's state, which does not have it yet; places after it are the edit's.
  VersionBuilder builder(order_, current_, ssd_level_count_);
  PlaceAll(
      edit.removed_tables, edit.tables, tables_, next->tables,
      [&](const TableRef& table) {
        const TablePlace& place = PlaceOf(table->number());
        builder.Remove(table, LevelOf(place), place.run);
      },
      [&](const TableRef& table, const TablePlace& place) { builder.Add(table, LevelOf(place), place.run); });
  PlaceAll(
      edit.removed_files, edit.files, files_, next->files,
      [&](const SstRef& file) { builder.RemoveFile(file, manifest_.state().files.at(file->meta().number).level); },
      [&](const SstRef& file, const SstPlace& place) { builder.AddFile(file, place.level); });
  if (ranges_change) builder.SetRanges(RangesAfter(edit));
  next->version = builder.Finish();
}

// Deletions that no read tells apart were left out when the manifest got them, so all that it has are taken.
RangeSetRef VersionSet::RangesAfter(const VersionEdit& edit) const {
  const std::set<uint64_t> removed(edit.removed_ranges.begin(), edit.removed_ranges.end());
  std::vector<RangeDeletion> ranges;
  for (const auto& [id, place] : manifest_.state().ranges) {
    if (removed.count(id) == 0) ranges.push_back(place.range);
  }
  for (const RangePlace& place : edit.ranges) {
    CHECK_LT(place.id, next_id_);
    ranges.push_back(place.range);
  }
  CHECK_EQ(ranges.size() + removed.size(), manifest_.state().ranges.size() + edit.ranges.size());
  return RangeSet::Make(order_, ranges, nullptr);
}

// Needs no memory, so that a durable edit becomes current whatever happens.
void VersionSet::Install(const VersionEdit& edit, Next* next) noexcept {
  CHECK(next->version != nullptr);
  // Enter before leave: an extent that stays in use must not look unused in between.
  payload_uses_.merge(next->uses);
  for (const auto& [number, table] : next->tables) Enter(*table);
  tables_.merge(next->tables);
  files_.merge(next->files);
  CHECK(next->tables.empty() && next->files.empty());
  for (const uint64_t number : edit.removed_tables) {
    const auto table = tables_.find(number);
    // Its magic number goes with its last reader, so that no search finds a table that is dropped.
    CHECK(table != tables_.end());
    Leave(*table->second);
    table->second->index()->MarkDropped();
    tables_.erase(table);
  }
  for (const uint64_t number : edit.removed_files) {
    const auto file = files_.find(number);
    CHECK(file != files_.end());
    file->second->MarkObsolete();
    files_.erase(file);
  }
  current_ = std::move(next->version);
  CHECK_EQ(tables_.size(), manifest_.state().tables.size());
  CHECK_EQ(files_.size(), manifest_.state().files.size());
}

// The last level is the repository; the others are the buffer.
bool VersionSet::BufferEmpty() const {
  CHECK_EQ(current_->levels.size(), static_cast<size_t>(num_levels_));
  return std::all_of(current_->levels.begin(), current_->levels.end() - 1,
                     [](const std::vector<RunRef>& level) { return level.empty(); });
}

// The version that the manifest's state says, made from nothing: at an open, and to compare the current one with.
VersionRef VersionSet::Rebuilt() const {
  // All levels are there from the beginning, with nothing in them.
  auto empty = std::make_shared<Version>();
  empty->levels.resize(static_cast<size_t>(num_levels_));
  if (ssd_ != nullptr) {
    auto levels = std::make_shared<SsdLevels>();
    levels->store = ssd_;
    levels->levels.resize(ssd_level_count_);
    levels->level_bytes.resize(ssd_level_count_);
    empty->ssd = std::move(levels);
  }
  VersionBuilder builder(order_, std::move(empty), ssd_level_count_);
  for (const auto& [number, place] : manifest_.state().tables) {
    builder.Add(tables_.at(number), LevelOf(place), place.run);
  }
  for (const auto& [number, place] : manifest_.state().files) builder.AddFile(files_.at(number), place.level);
  builder.SetRanges(RangesAfter(VersionEdit()));
  VersionRef version = builder.Finish();
  CHECK_EQ(version->ssd != nullptr, ssd_ != nullptr);
  return version;
}

// At an open. What the manifest says came from a medium, so disorder is Corruption here; later it is a bug (Check).
Status VersionSet::BuildCurrent() {
  CHECK(current_ == nullptr);
  VersionRef version = Rebuilt();
  std::string disorder = FindDisorder(order_, *version);
  for (const auto& [id, place] : manifest_.state().ranges) {
    SkipId(id);
    if (order_.Compare(place.range.begin, place.range.end) >= 0) {
      disorder = "range " + std::to_string(id) + " ends before it begins";
    }
  }
  if (!disorder.empty()) return Status::Corruption(pool_->path(), "manifest: " + disorder);
  current_ = std::move(version);
  if (kChecksWhole) Check();
  return Status::OK();
}

void VersionSet::Check() const {
  CHECK_EQ(current_->levels.size(), static_cast<size_t>(num_levels_));
  CHECK_EQ(FindDisorder(order_, *current_), "");
  // What edits made of version after version is what the manifest's state says, made at once.
  CHECK(SameVersion(*current_, *Rebuilt()));
  CHECK_EQ(tables_.size(), manifest_.state().tables.size());
  CHECK_EQ(files_.size(), manifest_.state().files.size());
  // The accounts of Enter and Leave, counted anew.
  uint64_t entries = 0, references = 0, bytes = 0, live_bytes = 0;
  std::map<PmRef, PayloadUse> uses;
  std::map<PmRef, uint64_t> live;
  for (const auto& [number, table] : tables_) {
    CHECK_EQ(number, table->number());
    CHECK_LT(std::max(number, PlaceOf(number).run), next_id_);
    CHECK_EQ(PlaceOf(number).index_offset, table->index()->offset());
    entries += table->entries();
    references += table->payload().size();
    for (const PayloadRef& p : table->payload()) {
      PayloadUse& use = uses[p.extent->offset()];
      CHECK(use.extent == nullptr || use.extent == p.extent.get());
      use.extent = p.extent.get();
      use.tables++;
      live[p.extent->offset()] += p.live_bytes;
    }
  }
  CHECK_EQ(uses.size(), payload_uses_.size());
  for (const auto& [offset, use] : payload_uses_) {
    CHECK(use.extent == uses.at(offset).extent && use.tables == uses.at(offset).tables);
    CHECK_EQ(use.extent->live_bytes.load(std::memory_order_relaxed), live.at(offset));  // relaxed: see Enter
    bytes += use.extent->payload_bytes();
    live_bytes += live.at(offset);
  }
  CHECK(entries == entries_ && references == payload_references_);
  CHECK(bytes == payload_bytes_ && live_bytes == payload_live_bytes_);
}

}  // namespace miodb
