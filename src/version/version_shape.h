// The version that a state of the manifest says, made from nothing: at an open, of savepoints, for readers, and to
// compare a current version with.
//
// Threads: any; nothing here changes.

#ifndef MIODB_SRC_VERSION_VERSION_SHAPE_H_
#define MIODB_SRC_VERSION_VERSION_SHAPE_H_

#include <cstddef>
#include <string>

#include "src/version/edit/version_edit.h"
#include "src/version/state_opener.h"
#include "src/version/version.h"

namespace miodb {

// Properties that all versions of a database share.
struct VersionShape {
  KeyOrder order;
  int num_levels = 0;       // with the repository
  SsdStore* ssd = nullptr;  // null: no SSD tier
  size_t ssd_levels = 0;

  // The manifest's number for the repository does not depend on how many levels there are. REQUIRES: the levels are
  // enough for this one.
  size_t LevelOf(const TablePlace& place) const;
};

// The deletions of ranges that a state has after an edit.
RangeSetRef RangesAfter(const KeyOrder& order, const ManifestState& state, const VersionEdit& edit);

// tables, files: have all that the state names.
VersionRef MakeVersion(const VersionShape& shape, const ManifestState& state, const TableMap& tables,
                       const FileMap& files, const ExtentMap* payload);

// The same of a state that came from a medium: disorder is Corruption, which names the pool's path.
Status BuildVersion(const VersionShape& shape, const std::string& path, const ManifestState& state,
                    const TableMap& tables, const FileMap& files, const ExtentMap* payload, VersionRef* version);

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_VERSION_SHAPE_H_
