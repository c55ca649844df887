#include "src/version/version_set.h"

#include <algorithm>
#include <new>

#include "src/api/comparator_check.h"
#include "src/util/check.h"
#include "src/util/mutation.h"
#include "src/util/no_throw.h"

namespace miodb {

namespace {

// More numbers than are ever drawn from one edit to the next.
constexpr uint64_t kMaxUnnamedIds = 1 << 16;

}  // namespace

Status VersionSet::Create() {
  Status s = manifest_.Create(order_.comparator()->Name());
  if (s.ok()) BuildSsdLevels();
  if (s.ok()) BuildCurrent();
  return s;
}

Status VersionSet::CreateFor(const VersionEdit& state) {
  Status s = CheckComparator(*order_.comparator(), state.comparator, pool_->path());
  if (s.ok()) s = manifest_.Create(state.comparator);
  if (s.ok()) s = manifest_.Append(state);
  if (!s.ok()) return s;
  next_id_ = state.next_id + kMaxUnnamedIds;
  s = OpenFiles();
  if (s.ok()) BuildCurrent();
  return s;
}

Status VersionSet::Recover(bool verify, std::vector<ExtentRef>* chunks) {
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
  s = OpenTables(verify);
  if (s.ok()) s = OpenFiles();
  if (s.ok()) s = FitLevels();
  if (s.ok()) BuildCurrent();
  return s;
}

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
    ExtentRef index;
    Status s = pool_->Claim(place.index_offset, place.index_size, ExtentKind::kIndex, &index);
    if (!s.ok()) return s;
    if (place.index_size < sizeof(TableHeader)) return Status::Corruption(pool_->path(), "index extent too short");
    TableRef table;
    s = PMTable::Open(pool_, order_, std::move(index), number, verify, claim, &table);
    if (!s.ok()) return s;
    Enter(table);
    tables_[number] = std::move(table);
  }
  return Status::OK();
}

Status VersionSet::OpenFiles() {
  const std::map<uint64_t, SstPlace>& places = manifest_.state().files;
  if (ssd_ == nullptr && !places.empty()) {
    return Status::InvalidArgument(pool_->path(), "the database has " + std::to_string(places.size()) +
                                                      " files on SSD; Options::ssd_path is empty");
  }
  for (const auto& [number, place] : places) {
    SkipId(number);
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
  BuildSsdLevels();
  if (ssd_ == nullptr) return Status::OK();
  for (const std::vector<SstRef>& level : ssd_levels_->levels) {
    for (size_t i = 0; i < level.size(); i++) {
      const SstMeta& meta = level[i]->meta();
      if (order_.Compare(meta.smallest, meta.largest) > 0 ||
          (i > 0 && order_.Compare(level[i - 1]->meta().largest, meta.smallest) >= 0)) {
        return Status::Corruption(pool_->path(),
                                  "manifest: file " + std::to_string(meta.number) + " has no proper key range");
      }
    }
  }
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
  // Oldest first: deepest level first, in it the lowest id first.
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
  edit.SetNextId(next_id_);
  return manifest_.Append(edit);
}

void VersionSet::SkipId(uint64_t id) {
  if (next_id_ <= id) next_id_ = id + 1;
}

void VersionSet::Enter(const TableRef& table) {
  entries_ += table->entries();
  payload_references_ += table->payload().size();
  for (const PayloadRef& p : table->payload()) {
    // relaxed: the counters are read for policy only, and change under the database mutex.
    p.extent->live_bytes.fetch_add(static_cast<int64_t>(p.live_bytes), std::memory_order_relaxed);
    PayloadUse& use = payload_uses_[p.extent->offset()];
    use.extent = p.extent.get();
    if (use.tables++ == 0) payload_bytes_ += p.extent->payload_bytes();
    payload_live_bytes_ += p.live_bytes;
  }
}

void VersionSet::Leave(const TableRef& table) {
  entries_ -= table->entries();
  payload_references_ -= table->payload().size();
  for (const PayloadRef& p : table->payload()) {
    p.extent->live_bytes.fetch_sub(static_cast<int64_t>(p.live_bytes), std::memory_order_relaxed);  // relaxed: as above
    auto uses = payload_uses_.find(p.extent->offset());
    CHECK(uses != payload_uses_.end());
    if (--uses->second.tables == 0) {
      payload_uses_.erase(uses);
      payload_bytes_ -= p.extent->payload_bytes();
    }
    payload_live_bytes_ -= p.live_bytes;
  }
}

Status VersionSet::Apply(VersionEdit edit, const std::vector<TableRef>& added, const std::vector<SstRef>& added_files) {
  if (!failure_.ok()) return failure_;
  if (!MIODB_MUTATED(kNextIdVolatile)) edit.SetNextId(next_id_);
  Status s = NoThrow(pool_->path(), [&] {
    Status appended = manifest_.Append(edit);
    if (appended.ok()) Install(edit, added, added_files);
    return appended;
  });
  if (!s.ok() && !s.IsNoSpace()) {
    // The edit may be on the medium, so what it names and what it drops may both be needed after the next open.
    pool_->StopReuse();
    failure_ = s;
  }
  return s;
}

void VersionSet::Install(const VersionEdit& edit, const std::vector<TableRef>& added,
                         const std::vector<SstRef>& added_files) {
  // Enter before leave: an extent that stays in use must not look unused in between.
  for (const TableRef& table : added) {
    Enter(table);
    CHECK(tables_.emplace(table->number(), table).second);
  }
  std::vector<TableRef> removed;
  for (uint64_t number : edit.removed_tables) {
    auto it = tables_.find(number);
    CHECK(it != tables_.end());
    Leave(it->second);
    it->second->index()->MarkDropped();
    tables_.erase(it);
  }
  for (const SstRef& file : added_files) CHECK(files_.emplace(file->meta().number, file).second);
  for (uint64_t number : edit.removed_files) {
    auto it = files_.find(number);
    CHECK(it != files_.end());
    it->second->MarkObsolete();
    files_.erase(it);
  }
  const bool files_changed = !edit.files.empty() || !edit.removed_files.empty();
  if (files_changed) BuildSsdLevels();
  if (files_changed || !edit.tables.empty() || !edit.removed_tables.empty()) BuildCurrent();
}

bool VersionSet::BufferEmpty() const {
  return std::all_of(current_->levels.begin(), current_->levels.end() - 1,
                     [](const std::vector<RunRef>& level) { return level.empty(); });
}

void VersionSet::BuildCurrent() {
  std::map<std::pair<int, uint64_t>, std::shared_ptr<Run>> runs;
  for (const auto& [number, table] : tables_) {
    const TablePlace& place = PlaceOf(number);
    std::shared_ptr<Run>& run = runs[{LevelIndex(place.level), place.run}];
    if (run == nullptr) {
      run = std::make_shared<Run>();
      run->id = place.run;
    }
    run->tables.push_back(table);
  }
  auto version = std::make_shared<Version>();
  version->levels.resize(static_cast<size_t>(num_levels_));
  for (auto& [key, run] : runs) {
    std::sort(run->tables.begin(), run->tables.end(), [this](const TableRef& a, const TableRef& b) {
      return order_.Compare(a->smallest(), b->smallest()) < 0;
    });
    auto& level = version->levels[static_cast<size_t>(key.first)];
    level.insert(level.begin(), run);  // ids ascend, so the newest ends up first
  }
  CHECK_LE(version->levels.back().size(), 1u);
  version->ssd = ssd_levels_;
  current_ = std::move(version);
}

// Levels beyond those that are asked for stay while they have files.
void VersionSet::BuildSsdLevels() {
  if (ssd_ == nullptr) return;
  auto levels = std::make_shared<SsdLevels>();
  levels->store = ssd_;
  levels->levels.resize(ssd_level_count_);
  for (const auto& [number, file] : files_) {
    const size_t level = manifest_.state().files.at(number).level;
    if (level >= levels->levels.size()) levels->levels.resize(level + 1);
    levels->levels[level].push_back(file);
  }
  for (std::vector<SstRef>& level : levels->levels) {
    std::sort(level.begin(), level.end(), [this](const SstRef& a, const SstRef& b) {
      return order_.Compare(a->meta().smallest, b->meta().smallest) < 0;
    });
  }
  ssd_levels_ = std::move(levels);
}

}  // namespace miodb
