// RangeWalk: the fragments of a set that the keys of a flush or merge lie in, for keys that ascend.
//
// Threads: one. The set must outlive it.

#ifndef MIODB_COMPACTION_FILTER_RANGE_WALK_H_
#define MIODB_COMPACTION_FILTER_RANGE_WALK_H_

#include "compaction/filter/version_filter.h"
#include "pmtable/table_builder.h"
#include "src/iterator/range_set.h"

namespace miodb {

// The fate of a version, as far as deletions of ranges are concerned.
enum class RangeVerdict : uint8_t {
  kNone,     // it is not hidden
  kGone,     // hidden from every read
  kKept,     // hidden, but a snapshot sees it
  kUnknown,  // its sequence has to be known
};

// Judges versions in a fragment with sequences from least to most, which no deletion up to applied hides. If a deletion
// hides them all and no registered snapshot is old enough to see them, they are gone, whatever VersionJudge would say:
// the same deletion hides everything below them, and it stays in the manifest as long as anything older may exist.
inline RangeVerdict JudgeRange(const RangeFragment& fragment, const VersionFilter& filter, uint64_t least,
                               uint64_t most, uint64_t applied) {
  DCHECK_LE(least, most);
  if (fragment.newest() <= std::max(least, applied)) return RangeVerdict::kNone;
  const uint64_t above = fragment.OldestAbove(most);
  if (above > 0 && !filter.VisibleBelow(least, above)) return RangeVerdict::kGone;
  if (least < most) return RangeVerdict::kUnknown;
  return above > 0 ? RangeVerdict::kKept : RangeVerdict::kNone;
}

class RangeWalk {
 public:
  // set: null: there are no ranges.
  explicit RangeWalk(RangeSetRef set) : set_(std::move(set)) {}

  bool any() const { return set_ != nullptr; }

  // The fragment that has the key; null: none.
  const RangeFragment* Find(const Slice& key);

  // The same of an entry of a table, of which the record is read only if what the index knows does not decide; *reads
  // counts these.
  Status Find(const PMTable& table, const IndexEntry& entry, const RangeFragment** fragment, uint64_t* reads);

 private:
  static constexpr size_t kNone = SIZE_MAX;

  void GoTo(size_t place);
  bool Known(const IndexEntry& entry, const RangeFragment** fragment);

  const RangeSetRef set_;
  size_t place_ = kNone;  // the first fragment that ends behind the last key
  // Bounds of that fragment, as an index knows keys.
  IndexEntry begin_ = {};
  IndexEntry end_ = {};
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_FILTER_RANGE_WALK_H_
