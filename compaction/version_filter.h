// Which versions of a key a flush or merge keeps.
//
// A version is visible to some read if it is the newest of its key, or if a registered snapshot lies in
// [its sequence, the next newer version's sequence). Reads without a snapshot see the newest version of the tables
// that they have pinned, so they need nothing here.
//
// A tombstone is needed as long as something older of its key may lie deeper, or a snapshot is older than it.

#ifndef MIODB_COMPACTION_VERSION_FILTER_H_
#define MIODB_COMPACTION_VERSION_FILTER_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/util/check.h"

namespace miodb {

class VersionFilter {
 public:
  // snapshots: registered sequences, ascending.
  explicit VersionFilter(std::vector<uint64_t> snapshots) : snapshots_(std::move(snapshots)) {
    CHECK(std::is_sorted(snapshots_.begin(), snapshots_.end()));
  }

  // Whether sequences matter at all. If not, only the newest version of a key is kept.
  bool has_snapshots() const { return !snapshots_.empty(); }

  // Whether a version that is not the newest of its key is visible to a snapshot; newer: of the version just before it.
  bool VisibleBelow(uint64_t sequence, uint64_t newer) const {
    auto it = std::lower_bound(snapshots_.begin(), snapshots_.end(), sequence);
    DCHECK(it == snapshots_.end() || *it >= sequence);
    return it != snapshots_.end() && *it < newer;
  }

  // Whether no snapshot is older than a tombstone, so that where nothing older lies deeper it may go.
  bool TombstoneDroppable(uint64_t sequence) const { return snapshots_.empty() || sequence <= snapshots_.front(); }

 private:
  const std::vector<uint64_t> snapshots_;
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_VERSION_FILTER_H_
