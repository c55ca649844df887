// Copying on write, in three depths: a version has vectors of runs, a run has a shared list of tables, the SSD tier has
// a shared list of files for each level. Only what an edit names is copied, and that once for each builder (drafts).

#include "src/version/version_builder.h"

#include <algorithm>
#include <set>

#include "src/util/check/check.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

namespace {

// Tables and files have numbers and key ranges alike.
uint64_t NumberOf(const TableRef& table) { return table->number(); }
uint64_t NumberOf(const SstRef& file) { return file->meta().number; }
Slice SmallestOf(const TableRef& table) { return table->smallest(); }
Slice SmallestOf(const SstRef& file) { return file->meta().smallest; }
Slice LargestOf(const TableRef& table) { return table->largest(); }
Slice LargestOf(const SstRef& file) { return file->meta().largest; }

// Where the item stands, or belongs, by its smallest key: a binary search, since lists are in key order.
template <typename List>
size_t PlaceOf(const KeyOrder& order, const typename List::value_type& item, const List& list) {
  using Ref = typename List::value_type;
  const Slice smallest = SmallestOf(item);
  const size_t place =
      list.CountBefore([&](const Ref& other) { return order.Compare(SmallestOf(other), smallest) < 0; });
  DCHECK(place == 0 || order.Compare(SmallestOf(list[place - 1]), smallest) < 0);
  DCHECK(place == list.size() || order.Compare(SmallestOf(list[place]), smallest) >= 0);
  return place;
}

// FindDisorder alone notices overlaps; it compares all neighbours.
template <typename List>
void InsertInto(const KeyOrder& order, const typename List::value_type& item, List* list) {
  CHECK(item != nullptr);
  list->Insert(PlaceOf(order, item, *list), item);
}

// The item found by its key has to be that very object: two tables of one key range would else be taken for each other.
template <typename List>
void EraseFrom(const KeyOrder& order, const typename List::value_type& item, List* list) {
  const size_t place = PlaceOf(order, item, *list);
  CHECK_LT(place, list->size());
  CHECK((*list)[place] == item);
  list->Erase(place);
}

// The first item whose keys are not a range behind that of the item before it; null: none.
template <typename List>
const typename List::value_type* FindOverlap(const KeyOrder& order, const List& list) {
  const typename List::value_type* before = nullptr;
  for (const auto& item : list) {
    if (order.Compare(SmallestOf(item), LargestOf(item)) > 0) return &item;
    if (before != nullptr && order.Compare(LargestOf(*before), SmallestOf(item)) >= 0) return &item;
    before = &item;
  }
  return nullptr;
}

// Nodes that two lists share are not told apart from others: every item is compared.
template <typename List>
bool SameLists(const List& a, const List& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

}  // namespace

// The copy shares all runs and files with its base; what is copied is the vectors of references to runs.
VersionBuilder::VersionBuilder(const KeyOrder& order, VersionRef base, size_t least_ssd_levels)
    : order_(order),
      base_(std::move(base)),
      least_ssd_levels_(least_ssd_levels),
      version_(std::make_shared<Version>(*base_)) {
  CHECK(base_->ssd == nullptr || base_->ssd->levels.size() >= least_ssd_levels_);
}

// The run is the new version's own from here on. Runs of a level are newest first, which is by falling id: ids are
// drawn in the order in which runs are made, and a run is put where its inputs were (Scheduler holds their levels
// meanwhile).
TableList* VersionBuilder::TablesOf(size_t level, uint64_t run) {
  CHECK_LT(level, version_->levels.size());
  std::shared_ptr<Run>& draft = drafts_[{level, run}];
  if (draft == nullptr) {
    std::vector<RunRef>& runs = version_->levels[level];
    const auto at = std::partition_point(runs.begin(), runs.end(), [&](const RunRef& r) { return r->id > run; });
    const bool known = at != runs.end() && (*at)->id == run;
    draft = known ? std::make_shared<Run>(**at) : std::make_shared<Run>();
    draft->id = run;
    if (known) {
      *at = draft;
    } else {
      runs.insert(at, draft);
    }
    DCHECK(std::is_sorted(runs.begin(), runs.end(), [](const RunRef& a, const RunRef& b) { return a->id > b->id; }));
  }
  CHECK_EQ(draft->id, run);
  return &draft->tables;
}

void VersionBuilder::Add(const TableRef& table, size_t level, uint64_t run) {
  CHECK(version_ != nullptr);
  InsertInto(order_, table, TablesOf(level, run));
}

void VersionBuilder::Remove(const TableRef& table, size_t level, uint64_t run) {
  CHECK(version_ != nullptr);
  EraseFrom(order_, table, TablesOf(level, run));
}

void VersionBuilder::AddPayload(const ExtentRef& extent) {
  CHECK(version_ != nullptr && extent != nullptr);
  CHECK(extent->kind() == ExtentKind::kLog || extent->kind() == ExtentKind::kSettled);
  ExtentList& payload = version_->payload;
  const size_t place = ExtentsBefore(payload, extent->offset());
  CHECK(place == payload.size() || payload[place]->offset() >= extent->end());
  CHECK(place == 0 || payload[place - 1]->end() <= extent->offset());
  payload.Insert(place, extent);
}

void VersionBuilder::RemovePayload(PmRef offset) {
  CHECK(version_ != nullptr);
  ExtentList& payload = version_->payload;
  const size_t place = ExtentsBefore(payload, offset);
  CHECK(place < payload.size() && payload[place]->offset() == offset);
  payload.Erase(place);
}

// Copied when the first file changes: edits of the pool alone share the SSD tier as it is.
SsdLevels* VersionBuilder::Ssd() {
  CHECK(version_->ssd != nullptr);
  if (ssd_ == nullptr) version_->ssd = ssd_ = std::make_shared<SsdLevels>(*version_->ssd);
  CHECK_EQ(ssd_->levels.size(), ssd_->level_bytes.size());
  return ssd_.get();
}

// A level that had no files so far begins with its first.
void VersionBuilder::AddFile(const SstRef& file, size_t level) {
  CHECK_LT(level, size_t{kMaxSsdLevels});
  SsdLevels* const ssd = Ssd();
  if (level >= ssd->levels.size()) {
    ssd->levels.resize(level + 1);
    ssd->level_bytes.resize(level + 1);
  }
  InsertInto(order_, file, &ssd->levels[level]);
  ssd->level_bytes[level] += file->meta().size;
  CHECK_GE(ssd->level_bytes[level], file->meta().size);
}

// Bytes of levels are kept beside the lists, so that the picker asks no file.
void VersionBuilder::RemoveFile(const SstRef& file, size_t level) {
  SsdLevels* const ssd = Ssd();
  CHECK_LT(level, ssd->levels.size());
  CHECK_GE(ssd->level_bytes[level], file->meta().size);
  EraseFrom(order_, file, &ssd->levels[level]);
  ssd->level_bytes[level] -= file->meta().size;
}

void VersionBuilder::SetRanges(RangeSetRef ranges) {
  CHECK(version_ != nullptr);
  CHECK(ranges == nullptr || !ranges->fragments().empty());
  version_->ranges = std::move(ranges);
}

// Runs that lost their last table go, and SSD levels at the end that lost their last file: what looks at every run or
// level should not have to ask.
VersionRef VersionBuilder::Finish() {
  CHECK(version_ != nullptr);
  CHECK_EQ(version_->levels.size(), base_->levels.size());
  for (const auto& [place, draft] : drafts_) {
    if (!draft->tables.empty()) continue;  // a run that came and went in one edit is among those that go
    CHECK_EQ(std::erase(version_->levels[place.first], RunRef(draft)), 1u);
  }
  CHECK_LE(version_->levels.back().size(), 1u);
  version_->ListRuns();
  // Levels that the options ask for stay, with or without files.
  while (ssd_ != nullptr && ssd_->levels.size() > least_ssd_levels_ && ssd_->levels.back().empty()) {
    CHECK_EQ(ssd_->level_bytes.back(), 0u);
    ssd_->levels.pop_back();
    ssd_->level_bytes.pop_back();
  }
  return std::move(version_);
}

// Takes as long as there are tables, and compares keys of all: for opens, and where everything is checked. The answer
// is in words, because at an open the order comes from a medium.
std::string FindDisorder(const KeyOrder& order, const Version& version) {
  const std::string no_range = " has no proper key range";
  std::set<uint64_t> runs;
  for (const std::vector<RunRef>& level : version.levels) {
    for (size_t i = 0; i < level.size(); i++) {
      if (!runs.insert(level[i]->id).second) return "run " + std::to_string(level[i]->id) + " is in two levels";
      if (i > 0 && level[i - 1]->id < level[i]->id) return "run " + std::to_string(level[i]->id) + " is out of order";
      if (level[i]->tables.empty()) return "run " + std::to_string(level[i]->id) + " has no tables";
      const TableRef* const table = FindOverlap(order, level[i]->tables);
      if (table != nullptr) return "table " + std::to_string(NumberOf(*table)) + no_range;
    }
  }
  DCHECK_EQ(runs.size(), version.runs.size());
  if (version.ssd == nullptr) return std::string();
  for (const FileList& level : version.ssd->levels) {
    const SstRef* const file = FindOverlap(order, level);
    if (file != nullptr) return "file " + std::to_string(NumberOf(*file)) + no_range;
  }
  return std::string();
}

// By identity of tables, files and extents, not by their keys: the same objects in the same places.
bool SameVersion(const Version& a, const Version& b) {
  CHECK_EQ(a.levels.size(), b.levels.size());
  CHECK_EQ(a.ssd == nullptr, b.ssd == nullptr);
  for (size_t level = 0; level < a.levels.size(); level++) {
    const bool same =
        std::equal(a.levels[level].begin(), a.levels[level].end(), b.levels[level].begin(), b.levels[level].end(),
                   [](const RunRef& x, const RunRef& y) { return x->id == y->id && SameLists(x->tables, y->tables); });
    if (!same) return false;
  }
  if (!SameLists(a.payload, b.payload)) return false;
  if ((a.ranges == nullptr) != (b.ranges == nullptr)) return false;
  if (a.ranges != nullptr && a.ranges != b.ranges && a.ranges->Ranges() != b.ranges->Ranges()) return false;
  return a.ssd == nullptr || (a.ssd->level_bytes == b.ssd->level_bytes &&
                              std::equal(a.ssd->levels.begin(), a.ssd->levels.end(), b.ssd->levels.begin(),
                                         b.ssd->levels.end(), SameLists<FileList>));
}

}  // namespace miodb
