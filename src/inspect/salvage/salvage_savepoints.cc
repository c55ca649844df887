// Edits of a damaged pool about savepoints, and about tables and log that only savepoints keep.

#include <algorithm>
#include <iterator>
#include <map>

#include "src/inspect/salvage/salvage.h"
#include "src/util/check/check.h"

namespace miodb {

// The state of a savepoint is that of its time, and a repair makes a database of one state. Without a whole manifest,
// what any edit names and none has removed is said, even if it may have been dropped since.
void Salvage::TellSavepoints() {
  std::map<uint64_t, SavepointEntry> named;
  if (manifest_ != nullptr) {
    named = manifest_->state.savepoints;
  } else {
    std::set<uint64_t> removed;
    ForEachEdit([&](const ManifestImage&, const ManifestImage::Record& record) {
      removed.insert(record.edit.removed_savepoints.begin(), record.edit.removed_savepoints.end());
      for (const SavepointEntry& savepoint : record.edit.savepoints) named.insert_or_assign(savepoint.id, savepoint);
    });
    std::erase_if(named, [&](const auto& item) { return removed.count(item.first) > 0; });
  }
  for (const auto& [id, savepoint] : named) {
    Report("savepoint " + PrintableKey(savepoint.name, SIZE_MAX) + " at sequence " + std::to_string(savepoint.sequence),
           "was not brought back");
  }
}

// Tables and files that savepoints have stay whole when the database drops them, so they would be found as those are
// that count. Numbers are never given out twice: what an edit has removed does not come back, nor what an area names
// and the snapshot of a later one does not. An area that may never have come into force says nothing of others.
void Salvage::FindDropped() {
  CHECK(dropped_.empty());
  std::set<uint64_t> known;  // by areas that were in force
  ForEachEdit([&](const ManifestImage& area, const ManifestImage::Record& record) {
    const bool was_in_force = area.has_footer && area.confirmed > 0;
    const VersionEdit& edit = record.edit;
    std::set<uint64_t> named;
    for (const TablePlace& table : edit.tables) named.insert(IdOf(table));
    for (const SstPlace& file : edit.files) named.insert(IdOf(file));
    std::set<uint64_t> gone(edit.removed_tables.begin(), edit.removed_tables.end());
    gone.insert(edit.removed_files.begin(), edit.removed_files.end());
    if (was_in_force && record.number == 0) gone.insert(known.begin(), known.end());
    std::set_difference(gone.begin(), gone.end(), named.begin(), named.end(), std::inserter(dropped_, dropped_.end()));
    if (was_in_force) known.merge(named);
  });
}

}  // namespace miodb
