// From tables and files that are open, and what the manifest says of them, to levels and runs.

#include "src/version/version_shape.h"

#include <set>
#include <utility>
#include <vector>

#include "src/util/check/check.h"
#include "src/version/version_builder.h"

namespace miodb {

size_t VersionShape::LevelOf(const TablePlace& place) const {
  CHECK_GT(num_levels, 1);
  const size_t repository = static_cast<size_t>(num_levels - 1);
  if (place.level == kRepositoryLevel) return repository;
  CHECK_LT(place.level, repository);
  return place.level;
}

// Deletions that no read tells apart were left out when the manifest got them, so all that it has are taken.
RangeSetRef RangesAfter(const KeyOrder& order, const ManifestState& state, const VersionEdit& edit) {
  const std::set<uint64_t> removed(edit.removed_ranges.begin(), edit.removed_ranges.end());
  std::vector<RangeDeletion> ranges;
  for (const auto& [id, place] : state.ranges) {
    if (removed.count(id) == 0) ranges.push_back(place.range);
  }
  for (const RangePlace& place : edit.ranges) ranges.push_back(place.range);
  CHECK_EQ(ranges.size() + removed.size(), state.ranges.size() + edit.ranges.size());
  return RangeSet::Make(order, ranges, nullptr);
}

VersionRef MakeVersion(const VersionShape& shape, const ManifestState& state, const TableMap& tables,
                       const FileMap& files, const ExtentMap* payload) {
  DCHECK(state.tables.size() <= tables.size() && state.files.size() <= files.size());
  DCHECK_EQ(shape.ssd == nullptr, shape.ssd_levels == 0);
  // All levels are there from the beginning, with nothing in them.
  auto empty = std::make_shared<Version>();
  empty->levels.resize(static_cast<size_t>(shape.num_levels));
  if (shape.ssd != nullptr) {
    auto levels = std::make_shared<SsdLevels>();
    levels->store = shape.ssd;
    levels->levels.resize(shape.ssd_levels);
    levels->level_bytes.resize(shape.ssd_levels);
    empty->ssd = std::move(levels);
  }
  VersionBuilder builder(shape.order, std::move(empty), shape.ssd_levels);
  for (const auto& [number, place] : state.tables) builder.Add(tables.at(number), shape.LevelOf(place), place.run);
  for (const auto& [number, place] : state.files) builder.AddFile(files.at(number), place.level);
  for (const auto& [offset, place] : state.payload) {
    if (payload != nullptr) builder.AddPayload(payload->at(offset));
  }
  builder.SetRanges(RangesAfter(shape.order, state, VersionEdit()));
  VersionRef version = builder.Finish();
  CHECK_EQ(version->ssd != nullptr, shape.ssd != nullptr);
  return version;
}

Status BuildVersion(const VersionShape& shape, const std::string& path, const ManifestState& state,
                    const TableMap& tables, const FileMap& files, const ExtentMap* payload, VersionRef* version) {
  CHECK(*version == nullptr);
  VersionRef built = MakeVersion(shape, state, tables, files, payload);
  DCHECK_EQ(built->levels.size(), static_cast<size_t>(shape.num_levels));
  std::string disorder = FindDisorder(shape.order, *built);
  for (const auto& [id, place] : state.ranges) {
    if (shape.order.Compare(place.range.begin, place.range.end) >= 0) {
      disorder = "range " + std::to_string(id) + " ends before it begins";
    }
  }
  if (!disorder.empty()) return Status::Corruption(path, "manifest: " + disorder);
  *version = std::move(built);
  return Status::OK();
}

}  // namespace miodb
