// A version: which tables there are, level by level, at one moment. Readers pin one and see nothing move.
//
// For any user key, every sequence in a run exceeds those in the runs after it in the order
//   level 0 newest run first, level 1 newest first, ..., the repository, the SSD levels from the first down
// because a flush puts its run in front, a merge replaces neighbours, and a drain moves all that the repository has of
// a key range to the first SSD level. So the first hit at or below a read's sequence is the newest visible version.
//
// Threads: immutable.

#ifndef MIODB_SRC_VERSION_VERSION_H_
#define MIODB_SRC_VERSION_VERSION_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "pmtable/run.h"
#include "src/iterator/range_set.h"
#include "src/nvm/pool/extent_list.h"
#include "src/ssd/ssd_levels.h"
#include "src/util/check/check.h"

namespace miodb {

struct Version {
  // levels[i]: runs of level i, newest first. The last level is the repository and has at most one run.
  std::vector<std::vector<RunRef>> levels;

  // The runs of all levels in the order told above, by ListRuns: reads pay nothing for levels that are empty.
  std::vector<const Run*> runs;

  // The extents that have the records of the tables. Empty where somebody else keeps them, as for a reader's pin.
  ExtentList payload;

  // The levels on SSD; null without an SSD tier.
  std::shared_ptr<const SsdLevels> ssd;

  // The deletions of ranges that hide records of this version, or may do so; null: none.
  RangeSetRef ranges;

  // To be called once, when the levels are complete.
  void ListRuns() {
    DCHECK(!levels.empty() && levels.back().size() <= 1);
    runs.clear();
    for (const auto& level : levels) {
      for (const RunRef& run : level) runs.push_back(run.get());
    }
  }

  // Finds the newest version in the pool's levels.
  Status Get(const KeyOrder& order, const LookupKey& key, bool* found, RecordView* record) const {
    DCHECK(!levels.empty());
    *found = false;
    for (const Run* run : runs) {
      Status s = run->Get(order, key, found, record);
      if (!s.ok() || *found) return s;
    }
    return Status::OK();
  }

  // False: none of it has the key, by filters and ranges alone.
  bool MayHave(const KeyOrder& order, const LookupKey& key) const {
    for (const Run* run : runs) {
      if (run->MayHave(order, key)) return true;
    }
    return ssd != nullptr && ssd->OverlapsFrom(0, key.key, key.key);
  }

  // Asks for the filters that Get will look at. Filters of the repository are left out, because finding its table takes
  // a search.
  void Prefetch(const LookupKey& key) const {
    for (const Run* run : runs) {
      if (run->tables.size() == 1) __builtin_prefetch(run->tables[0]->FilterLine(key));
    }
  }

  // Whether the repository holds all tables of the pool.
  bool BufferEmpty() const {
    return std::all_of(levels.begin(), levels.end() - 1, [](const auto& level) { return level.empty(); });
  }

  int repository() const {
    DCHECK(!levels.empty());
    return static_cast<int>(levels.size()) - 1;
  }
};

using VersionRef = std::shared_ptr<const Version>;

// Tables that were found to refer to extents marked for evacuation, by the ids of their runs and their numbers.
using MarkedTables = std::map<std::pair<uint64_t, uint64_t>, TableRef>;

}  // namespace miodb

#endif  // MIODB_SRC_VERSION_VERSION_H_
