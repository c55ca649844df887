// Sets of range deletions against a list of them, for random ranges, orders and sequences.

#include "src/iterator/range_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/format/record.h"
#include "src/iterator/range_cover.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

// Keys that share prefixes, end inside of others' heads, and have zeros at their ends.
std::string AnyKey(Random* random) {
  std::string key = random->OneIn(3) ? "" : random->OneIn(2) ? "short" : "common prefix ";
  for (uint64_t i = random->Uniform(11); i > 0; i--) key.push_back("\0aAb"[random->Uniform(4)]);
  return key;
}

std::vector<RangeDeletion> AnyRanges(Random* random, const KeyOrder& order, uint64_t most) {
  std::vector<RangeDeletion> ranges;
  for (uint64_t i = random->Uniform(most); i > 0; i--) {
    RangeDeletion range{AnyKey(random), AnyKey(random), 1 + random->Uniform(40)};
    if (random->OneIn(10)) range.end = range.begin;
    if (order.Compare(range.begin, range.end) > 0) std::swap(range.begin, range.end);
    ranges.push_back(range);
  }
  return ranges;
}

uint64_t Newest(const KeyOrder& order, const std::vector<RangeDeletion>& ranges, const Slice& key, uint64_t sequence) {
  uint64_t newest = 0;
  for (const RangeDeletion& range : ranges) {
    const bool inside = order.Compare(range.begin, key) <= 0 && order.Compare(key, range.end) < 0;
    if (inside && range.sequence <= sequence) newest = std::max(newest, range.sequence);
  }
  return newest;
}

class RangeSetTest : public testing::TestWithParam<const Comparator*> {
 protected:
  const KeyOrder order_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Orders, RangeSetTest, testing::Values(BytewiseComparator(), CaseInsensitiveComparator()));

TEST_P(RangeSetTest, KnowsOfEachKeyTheNewestDeletionAtEachSequence) {
  for (const uint64_t seed : Seeds(ByScale(300, 3000, 100000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    const std::vector<RangeDeletion> ranges = AnyRanges(&random, order_, 1 + random.Skewed(6));
    const RangeSetRef set = RangeSet::Make(order_, ranges, nullptr);
    for (int i = 0; i < 40; i++) {
      const std::string key = AnyKey(&random);
      const uint64_t sequence = random.Uniform(45);
      ASSERT_EQ(Newest(order_, ranges, key, sequence), set == nullptr ? 0 : set->NewestAt(key, sequence));
    }
    if (set == nullptr) continue;
    for (int i = 0; i < 10; i++) {
      const std::string key = AnyKey(&random);
      const size_t before = set->CountBounds(key);
      for (size_t bound = 0; bound < set->bounds(); bound++) {
        ASSERT_EQ(order_.Compare(key, set->bound(bound)) < 0, bound >= before);
        ASSERT_EQ(set->IsBefore(key, bound), bound >= before);
      }
    }
    const std::vector<RangeFragment>& fragments = set->fragments();
    for (size_t i = 0; i < fragments.size(); i++) {
      ASSERT_LT(order_.Compare(fragments[i].begin, fragments[i].end), 0);
      ASSERT_TRUE(i == 0 || order_.Compare(fragments[i - 1].end, fragments[i].begin) <= 0);
      ASSERT_TRUE(
          std::is_sorted(fragments[i].sequences, fragments[i].sequences + fragments[i].count, std::greater<>()));
    }
    // Made of its own ranges, it is the same.
    const RangeSetRef again = RangeSet::Make(order_, set->Ranges(), nullptr);
    ASSERT_EQ(set->Ranges(), again->Ranges());
    ASSERT_EQ(fragments.size(), again->fragments().size());
  }
}

TEST_P(RangeSetTest, LeavesOutWhatNoSnapshotTellsApart) {
  for (const uint64_t seed : Seeds(ByScale(300, 3000, 100000), 7)) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    const std::vector<RangeDeletion> ranges = AnyRanges(&random, order_, 20);
    std::vector<uint64_t> snapshots;
    for (uint64_t s = 0; s < 45; s++) {
      if (random.OneIn(12)) snapshots.push_back(s);
    }
    const RangeSetRef set = RangeSet::Make(order_, ranges, &snapshots);
    std::vector<uint64_t> reads = snapshots;
    reads.push_back(45);
    for (int i = 0; i < 20; i++) {
      const std::string key = AnyKey(&random);
      for (const uint64_t sequence : reads) {
        ASSERT_EQ(Newest(order_, ranges, key, sequence), set == nullptr ? 0 : set->NewestAt(key, sequence));
      }
      const size_t at = set == nullptr ? 0 : set->FindEnd(key);
      if (set == nullptr || at == set->fragments().size()) continue;
      ASSERT_LE(set->fragments()[at].count, reads.size());
    }
  }
}

// Forward and backward, with jumps in between.
TEST_P(RangeSetTest, ACoverFollowsAWalk) {
  for (const uint64_t seed : Seeds(ByScale(200, 2000, 50000), 13)) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    const std::vector<RangeDeletion> a = AnyRanges(&random, order_, 12), b = AnyRanges(&random, order_, 12);
    std::vector<RangeDeletion> all = a;
    all.insert(all.end(), b.begin(), b.end());
    const RangeSetRef first = RangeSet::Make(order_, a, nullptr), second = RangeSet::Make(order_, b, nullptr);
    std::vector<const RangeSet*> sets;
    for (const RangeSetRef& set : {first, second}) {
      if (set != nullptr) sets.push_back(set.get());
    }
    const uint64_t sequence = random.Uniform(45);
    RangeCover cover(order_);
    cover.Reset(sets, sequence);
    if (!cover.any()) continue;
    std::vector<std::string> keys;
    for (int i = 0; i < 60; i++) keys.push_back(AnyKey(&random));
    std::sort(keys.begin(), keys.end(), [this](auto& x, auto& y) { return order_.Compare(x, y) < 0; });
    size_t at = 0;
    bool forward = true;
    for (int i = 0; i < 200; i++) {
      if (random.OneIn(20)) {
        at = random.Uniform(keys.size());
        cover.Jump();
      } else {
        if (random.OneIn(10)) forward = !forward;
        if (forward ? at + 1 == keys.size() : at == 0) forward = !forward;
        at += forward ? 1 : size_t{0} - 1;
      }
      const uint64_t newest =
          cover.NewestOf(keys[at], forward ? RangeCover::Walk::kForward : RangeCover::Walk::kBackward);
      ASSERT_EQ(Newest(order_, all, keys[at], sequence), newest);
      if (newest == 0) continue;
      ASSERT_LE(order_.Compare(cover.begin(), keys[at]), 0);
      ASSERT_LT(order_.Compare(keys[at], cover.end()), 0);
    }
  }
}

}  // namespace
}  // namespace miodb::test
