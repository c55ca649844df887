#include "compaction/filter/version_filter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

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

// ---- VersionJudge

struct Version {
  ValueType type;
  uint64_t sequence;
};
using Versions = std::vector<Version>;  // of one key, newest first

// A value that expires has expired here.
VersionJudge::Life LifeOf(ValueType type) {
  return type == kTypeExpiringValue ? VersionJudge::Life::kExpired : VersionJudge::Life::kGoesOn;
}

// The result of a read at a sequence: operands from the newest on, then the base's number, or "older" where something
// older decides.
std::string Read(const Versions& versions, uint64_t at, bool bottom) {
  std::string result;
  for (const Version& v : versions) {
    if (v.sequence > at) continue;
    if (IsTombstone(v.type) || v.type == kTypeExpiringValue) return result;
    result += (v.type == kTypeMerge ? "+" : "=") + std::to_string(v.sequence);
    if (v.type == kTypeValue) return result;
  }
  return bottom ? result : result + "older";
}

Versions Judged(const Versions& versions, const VersionFilter& filter, bool bottom, bool once, bool lazily) {
  VersionJudge judge(&filter, once);
  judge.NewKey();
  Versions kept;
  using Verdict = VersionJudge::Verdict;
  for (size_t i = 0; i < versions.size(); i++) {
    // As a merge of tables does: sequences only where they are asked for.
    const ValueType type = versions[i].type;
    const bool knows =
        !lazily || (filter.has_snapshots() && (i > 0 || IsTombstone(type) || type == kTypeExpiringValue));
    if (judge.WantsNewer()) judge.NewerIs(versions[i - 1].sequence);
    switch (judge.Judge(type, knows ? versions[i].sequence : 0, bottom, LifeOf(type))) {
      case Verdict::kKeep:
      case Verdict::kHold:
        kept.push_back(versions[i]);
        break;
      case Verdict::kDropBoth:
        EXPECT_EQ(kTypeSingleDeletion, kept.back().type);
        kept.pop_back();
        break;
      case Verdict::kDrop:
        break;
    }
  }
  EXPECT_FALSE(judge.violated());
  return kept;
}

// Whether single deletions are used as db.h says: a put that expired is a put.
bool WithinContract(const Versions& versions) {
  const bool single =
      std::any_of(versions.begin(), versions.end(), [](auto& v) { return v.type == kTypeSingleDeletion; });
  if (!single) return true;
  for (size_t i = 0; i < versions.size(); i++) {
    if (!IsPut(versions[i].type) && versions[i].type != kTypeSingleDeletion) return false;
    if (i > 0 && IsPut(versions[i].type) && IsPut(versions[i - 1].type)) return false;
  }
  return true;
}

void ExpectSameReads(const Versions& before, const Versions& after, const std::vector<uint64_t>& snapshots,
                     bool bottom) {
  for (const uint64_t at : snapshots) ASSERT_EQ(Read(before, at, bottom), Read(after, at, bottom)) << at;
  ASSERT_EQ(Read(before, UINT64_MAX, bottom), Read(after, UINT64_MAX, bottom));
}

// Every history of one key within the contract, every set of snapshots, judged at once and in two steps, the newer
// versions before they meet the older ones.
TEST(VersionJudgeTest, NeverChangesARead) {
  constexpr ValueType kTypes[] = {kTypeValue, kTypeDeletion, kTypeMerge, kTypeSingleDeletion, kTypeExpiringValue};
  constexpr size_t kVersions = 5;
  for (unsigned history = 0; history < 5 * 5 * 5 * 5 * 5; history++) {
    Versions versions;
    for (size_t i = 0, left = history; i < kVersions; i++, left /= 5)
      versions.push_back({kTypes[left % 5], kVersions - i});
    if (!WithinContract(versions)) continue;
    for (unsigned set = 0; set < 1u << kVersions; set++) {
      std::vector<uint64_t> snapshots;
      for (uint64_t s = 0; s < kVersions; s++) {
        if ((set >> s & 1) != 0) snapshots.push_back(s);
      }
      const VersionFilter filter(snapshots);
      for (const bool once : {true, false}) {
        const Versions whole = Judged(versions, filter, true, once, false);
        ExpectSameReads(versions, whole, snapshots, true);
        const Versions lazily = Judged(versions, filter, true, once, true);
        ASSERT_EQ(whole.size(), lazily.size());
        for (size_t newer = 1; newer < kVersions; newer++) {
          const auto middle = versions.begin() + static_cast<ptrdiff_t>(newer);
          // The older versions at the bottom first, under the snapshots; then all of them without.
          const Versions settled = Judged(Versions(middle, versions.end()), filter, true, once, true);
          Versions later(versions.begin(), middle);
          later.insert(later.end(), settled.begin(), settled.end());
          ExpectSameReads(versions, later, snapshots, true);
          // Another key may have something older in the range meanwhile, so the second step need not be at the bottom.
          for (const bool bottom : {true, false}) {
            ExpectSameReads(versions, Judged(later, VersionFilter({}), bottom, once, true), {}, true);
          }
          Versions joined = Judged(Versions(versions.begin(), middle), filter, false, once, false);
          joined.insert(joined.end(), middle, versions.end());
          ExpectSameReads(versions, joined, snapshots, true);
          ExpectSameReads(versions, Judged(joined, filter, true, once, true), snapshots, true);
        }
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(VersionJudgeTest, KeepsNothingThatNobodyNeeds) {
  const VersionFilter none({}), at_2({2});
  const auto kept = [](const Versions& versions, const VersionFilter& filter, bool bottom) {
    return Judged(versions, filter, bottom, true, true).size();
  };
  const ValueType v = kTypeValue, d = kTypeDeletion, m = kTypeMerge, s = kTypeSingleDeletion;
  EXPECT_EQ(1u, kept({{v, 3}, {v, 2}, {m, 1}}, none, false));
  EXPECT_EQ(2u, kept({{m, 3}, {v, 2}, {v, 1}}, none, false));
  EXPECT_EQ(1u, kept({{m, 3}, {d, 2}, {v, 1}}, none, true));
  EXPECT_EQ(0u, kept({{s, 2}, {v, 1}}, none, false));
  EXPECT_EQ(1u, kept({{s, 2}}, none, false));
  EXPECT_EQ(0u, kept({{s, 2}}, none, true));
  EXPECT_EQ(2u, kept({{s, 3}, {v, 1}}, at_2, false));
  EXPECT_EQ(2u, kept({{v, 3}, {s, 2}}, none, false));
  EXPECT_EQ(1u, kept({{v, 3}, {s, 2}, {v, 1}}, none, false));
  const ValueType e = kTypeExpiringValue;
  EXPECT_EQ(1u, kept({{e, 2}, {v, 1}}, none, false));
  EXPECT_EQ(0u, kept({{e, 2}, {v, 1}}, none, true));
  EXPECT_EQ(1u, kept({{v, 2}, {e, 1}}, none, false));
  EXPECT_EQ(0u, kept({{s, 3}, {e, 2}}, none, false));
}

TEST(VersionJudgeTest, SeesTwoPutsBelowASingleDeletion) {
  const VersionFilter filter({});
  VersionJudge judge(&filter, true);
  judge.NewKey();
  EXPECT_EQ(VersionJudge::Verdict::kHold, judge.Judge(kTypeSingleDeletion, 3, false));
  EXPECT_EQ(VersionJudge::Verdict::kDropBoth, judge.Judge(kTypeValue, 2, false));
  EXPECT_FALSE(judge.violated());
  EXPECT_EQ(VersionJudge::Verdict::kDrop, judge.Judge(kTypeValue, 1, false));
  EXPECT_TRUE(judge.violated());
}

}  // namespace
}  // namespace miodb::test
