// Deletions against tables and files, by their bounds. All of it is in DRAM: headers, first and last keys, sequences.
//
// Three questions are asked here, from coarse to fine. Does a merge of this table drop something (MayDropRanges)? Which
// tables are hidden as a whole, and can go unread (HidesTable)? Which deletions hide nothing any more, and can go from
// the manifest (Needed)? Where bounds cannot tell, the answer to the first two is no and to the last one yes: space
// that is freed later is a delay, and a deletion that goes too early brings keys back.

#include "compaction/filter/range_work.h"

#include <algorithm>
#include <set>

#include "compaction/filter/range_walk.h"
#include "src/util/check/mutation.h"

namespace miodb {

namespace {

// Judges all entries of a table at once, by the bounds of its sequences.
RangeVerdict JudgeTable(const RangeFragment& fragment, const VersionFilter& filter, const PMTable& table) {
  return JudgeRange(fragment, filter, table.min_sequence(), table.max_sequence(), table.ranges_applied());
}

// Tables of a run whose keys reach into the fragment.
template <typename Visit>
void ForEachIn(const KeyOrder& order, const Run& run, const RangeFragment& fragment, Visit visit) {
  for (size_t i = run.FindTable(order, fragment.begin); i < run.tables.size(); i++) {
    if (order.Compare(run.tables[i]->smallest(), fragment.end) >= 0) return;
    visit(*run.tables[i]);
  }
}

// The deletions of a fragment that may hide an entry of some table or file.
class Needed {
 public:
  Needed(const Version& version, const KeyOrder& order, const std::set<uint64_t>* gone)
      : version_(version), order_(order), gone_(gone) {}

  bool Needs(const RangeFragment& fragment, uint64_t sequence) const {
    DCHECK(sequence > 0 && sequence <= fragment.newest());
    bool needs = false;
    for (const auto& level : version_.levels) {
      for (const RunRef& run : level) {
        ForEachIn(order_, *run, fragment, [&](const PMTable& table) {
          needs = needs || (table.min_sequence() < sequence && table.ranges_applied() < sequence &&
                            gone_->count(table.number()) == 0);
        });
      }
    }
    return needs || NeedsOnSsd(fragment, sequence);
  }

 private:
  bool NeedsOnSsd(const RangeFragment& fragment, uint64_t sequence) const {
    if (version_.ssd == nullptr) return false;
    for (const FileList& files : version_.ssd->levels) {
      for (size_t i = FindFile(order_, files, fragment.begin); i < files.size(); i++) {
        const SstMeta& meta = files[i]->meta();
        if (order_.Compare(meta.smallest, fragment.end) >= 0) break;
        if (meta.ranges_applied < sequence) return true;
      }
    }
    return false;
  }

  const Version& version_;
  const KeyOrder order_;
  const std::set<uint64_t>* const gone_;
};

}  // namespace

// Fragments that follow one another without a gap, from the first key to behind the last.
bool HidesTable(const RangeSet& ranges, const VersionFilter& filter, const PMTable& table) {
  const std::vector<RangeFragment>& fragments = ranges.fragments();
  const KeyOrder& order = ranges.order();
  DCHECK(order.Compare(table.smallest(), table.largest()) <= 0);
  size_t i = ranges.FindEnd(table.smallest());
  if (i == fragments.size() || order.Compare(fragments[i].begin, table.smallest()) > 0) return false;
  for (;; i++) {
    if (JudgeTable(fragments[i], filter, table) != RangeVerdict::kGone) return false;
    if (order.Compare(table.largest(), fragments[i].end) < 0) return true;
    DCHECK_LT(i, fragments.size());
    if (i + 1 == fragments.size() || !order.Equal(fragments[i].end, fragments[i + 1].begin)) return false;
  }
}

// Where a snapshot keeps all that a deletion hides, rewriting the table would drop nothing.
bool MayDropRanges(const RangeSet& ranges, const VersionFilter& filter, const PMTable& table) {
  const std::vector<RangeFragment>& fragments = ranges.fragments();
  const KeyOrder& order = ranges.order();
  for (size_t i = ranges.FindEnd(table.smallest());
       i < fragments.size() && order.Compare(fragments[i].begin, table.largest()) <= 0; i++) {
    const RangeVerdict verdict = JudgeTable(fragments[i], filter, table);
    DCHECK(verdict != RangeVerdict::kKept || table.min_sequence() == table.max_sequence());
    if (verdict == RangeVerdict::kGone || (verdict == RangeVerdict::kUnknown && !filter.has_snapshots())) return true;
  }
  return false;
}

// Busy tables count as staying, so that no deletion is forgotten too soon. A deletion that is newer than some snapshot
// stays, as a tombstone does: the holder of the snapshot may ask whether a key has changed since (read/unchanged.cc),
// and records that the deletion hid may have gone already.
RangeWork FindRangeWork(const Version& version, const KeyOrder& order, const std::vector<uint64_t>& snapshots,
                        uint64_t reach, const std::function<bool(const Run& run, const PMTable& table)>& is_busy) {
  CHECK(version.ranges != nullptr);
  const VersionFilter filter(snapshots);
  RangeWork work;
  std::set<uint64_t> gone;
  for (const auto& level : version.levels) {
    for (const RunRef& run : level) {
      for (const TableRef& table : run->tables) {
        if (!HidesTable(*version.ranges, filter, *table)) continue;
        if (is_busy(*run, *table) || work.hidden.size() == kMostDroppedTables) {
          work.waits = true;
          continue;
        }
        work.hidden.push_back(table);
        gone.insert(table->number());
      }
    }
  }
  // A deletion above the reach, which only a manifest with forged numbers has, would make a table due again as soon as
  // it was written.
  const VersionFilter none({});
  for (const RunRef& run : version.levels.back()) {
    const auto found = std::find_if(run->tables.begin(), run->tables.end(), [&](const TableRef& table) {
      return table->ranges_applied() < reach && MayDropRanges(*version.ranges, none, *table);
    });
    if (found != run->tables.end()) work.droppable = *found;
  }
  const Needed needed(version, order, &gone);
  std::vector<RangeDeletion> left;
  for (const RangeFragment& fragment : version.ranges->fragments()) {
    for (size_t i = 0; i < fragment.count; i++) {
      const uint64_t sequence = fragment.sequences[i];
      const bool needless = filter.TombstoneDroppable(sequence) && !needed.Needs(fragment, sequence);
      if (needless || MIODB_MUTATED(kRangesForgotten)) continue;
      left.push_back({fragment.begin.ToString(), fragment.end.ToString(), sequence});
    }
  }
  CHECK_EQ(work.hidden.size(), gone.size());
  const RangeSetRef set = RangeSet::Make(order, left, &snapshots);
  if (set != nullptr) work.left = set->Ranges();
  work.forgets = work.left != version.ranges->Ranges();
  return work;
}

}  // namespace miodb
