#include "compaction/version_filter.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace miodb::test {
namespace {

constexpr uint64_t kTop = 8;

// Calls visit(snapshots) for every set of sequences below kTop.
template <typename Visit>
void ForEachSet(Visit visit) {
  for (unsigned set = 0; set < 1u << kTop; set++) {
    std::vector<uint64_t> snapshots;
    for (uint64_t s = 0; s < kTop; s++) {
      if ((set >> s & 1) != 0) snapshots.push_back(s);
    }
    visit(snapshots);
  }
}

TEST(VersionFilterTest, AVersionIsVisibleToTheSnapshotsBetweenItAndTheNextNewerOne) {
  ForEachSet([](const std::vector<uint64_t>& snapshots) {
    const VersionFilter filter(snapshots);
    EXPECT_EQ(!snapshots.empty(), filter.has_snapshots());
    for (uint64_t sequence = 0; sequence <= kTop; sequence++) {
      for (uint64_t newer = sequence + 1; newer <= kTop + 1; newer++) {
        const bool seen =
            std::any_of(snapshots.begin(), snapshots.end(), [&](uint64_t s) { return sequence <= s && s < newer; });
        ASSERT_EQ(seen, filter.VisibleBelow(sequence, newer)) << sequence << " " << newer;
      }
    }
  });
}

TEST(VersionFilterTest, ATombstoneIsNeededByEveryOlderSnapshot) {
  ForEachSet([](const std::vector<uint64_t>& snapshots) {
    const VersionFilter filter(snapshots);
    for (uint64_t sequence = 0; sequence <= kTop; sequence++) {
      const bool older = std::any_of(snapshots.begin(), snapshots.end(), [&](uint64_t s) { return s < sequence; });
      ASSERT_EQ(!older, filter.TombstoneDroppable(sequence)) << sequence;
    }
  });
}

TEST(VersionFilterTest, WithoutSnapshotsNoSequenceMatters) {
  const VersionFilter filter({});
  EXPECT_FALSE(filter.VisibleBelow(0, 0));
  EXPECT_FALSE(filter.VisibleBelow(5, UINT64_MAX));
  EXPECT_TRUE(filter.TombstoneDroppable(0));
  EXPECT_TRUE(filter.TombstoneDroppable(UINT64_MAX));
}

// Every history of one key, some versions tombstones, every set of snapshots: after dropping by these rules each read
// gives what it gave before, whether or not something older lies below.
TEST(VersionFilterTest, DroppingByItNeverChangesARead) {
  static constexpr uint64_t kVersions = 5;  // sequences 1, 2, ...
  ForEachSet([](const std::vector<uint64_t>& snapshots) {
    const VersionFilter filter(snapshots);
    for (unsigned tombstones = 0; tombstones < 1u << kVersions; tombstones++) {
      const auto is_tombstone = [&](uint64_t sequence) { return (tombstones >> (sequence - 1) & 1) != 0; };
      bool kept[kVersions + 1] = {};
      for (uint64_t v = kVersions; v > 0; v--) {
        kept[v] = v == kVersions || filter.VisibleBelow(v, v + 1);
        if (is_tombstone(v) && filter.TombstoneDroppable(v)) kept[v] = false;
      }
      std::vector<uint64_t> reads = snapshots;
      reads.push_back(kTop + 1);
      for (uint64_t read : reads) {
        uint64_t before = std::min(read, kVersions), after = before;
        if (before > 0 && is_tombstone(before)) before = 0;
        while (after > 0 && !kept[after]) after--;
        if (after > 0 && is_tombstone(after)) after = 0;
        ASSERT_EQ(before, after) << "read at " << read << ", tombstones " << tombstones;
      }
    }
  });
}

}  // namespace
}  // namespace miodb::test
