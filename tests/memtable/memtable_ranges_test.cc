// Range deletions that groups of writes add to a memtable: readers find whole groups, and memory grows with the ranges.

#include "src/memtable/memtable_ranges.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/format/record.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

std::string Key(uint64_t i) {
  const std::string digits = std::to_string(i);
  return "key" + std::string(8 - digits.size(), '0') + digits;
}

class MemTableRangesTest : public testing::Test {
 protected:
  void Add(uint64_t begin, uint64_t end) { ranges_.Add(order_, Key(begin), Key(end), ++sequence_); }

  // By what readers are given.
  uint64_t NewestAt(uint64_t key, uint64_t sequence) const {
    std::vector<const RangeSet*> sets;
    ranges_.AppendTo(&sets);
    uint64_t newest = 0;
    for (const RangeSet* set : sets) newest = std::max(newest, set->NewestAt(Key(key), sequence));
    return newest;
  }

  const KeyOrder order_{BytewiseComparator()};
  MemTableRanges ranges_;
  uint64_t sequence_ = 0;
};

TEST_F(MemTableRangesTest, AreFoundOnceTheyAreShown) {
  EXPECT_EQ(nullptr, ranges_.view());
  ranges_.Show(order_);
  EXPECT_EQ(nullptr, ranges_.view());
  Add(1, 3);
  EXPECT_EQ(0u, NewestAt(2, kMaxSequence));
  ranges_.Show(order_);
  EXPECT_EQ(1u, NewestAt(2, kMaxSequence));
  const MemTableRanges::View* const view = ranges_.view();
  ranges_.Show(order_);
  EXPECT_EQ(view, ranges_.view());
  Add(2, 4);
  EXPECT_EQ(1u, NewestAt(2, kMaxSequence));
  ranges_.Show(order_);
  EXPECT_EQ(2u, NewestAt(2, kMaxSequence));
  EXPECT_EQ(1u, NewestAt(2, 1));
  EXPECT_EQ(2u, ranges_.All().size());
}

TEST_F(MemTableRangesTest, RangeOfNoKeysGivesAView) {
  Add(3, 3);
  Add(4, 3);
  ranges_.Show(order_);
  ASSERT_NE(nullptr, ranges_.view());
  EXPECT_EQ(0u, NewestAt(3, kMaxSequence));
  EXPECT_TRUE(ranges_.All().empty());
  Add(3, 4);
  ranges_.Show(order_);
  Add(4, 4);
  ranges_.Show(order_);
  EXPECT_EQ(sequence_ - 1, NewestAt(3, kMaxSequence));
}

// Groups of few and of many in any order: after each, readers find its ranges and all before, as of its end and as of
// the end of an earlier one.
TEST_F(MemTableRangesTest, GroupsOfAnySize) {
  for (const uint64_t seed : Seeds(ByScale(20, 200, 2000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    MemTableRanges ranges;
    std::vector<uint64_t> newest(100, 0);                            // by key
    std::vector<std::pair<uint64_t, std::vector<uint64_t>>> groups;  // the end of each, and newest then
    uint64_t sequence = 0;
    for (int group = 0; group < 30; group++) {
      for (uint64_t i = random.OneIn(3) ? random.Uniform(100) : random.Uniform(4); i > 0; i--) {
        const uint64_t begin = random.Uniform(newest.size()), end = begin + random.Uniform(newest.size() - begin);
        ranges.Add(order_, Key(begin), Key(end), ++sequence);
        for (uint64_t key = begin; key < end; key++) newest[key] = sequence;
      }
      ranges.Show(order_);
      groups.emplace_back(sequence, newest);
      std::vector<const RangeSet*> sets;
      ranges.AppendTo(&sets);
      for (const auto& [end, then] : {groups.back(), groups[random.Uniform(groups.size())]}) {
        for (uint64_t key = 0; key < newest.size(); key++) {
          uint64_t found = 0;
          for (const RangeSet* set : sets) found = std::max(found, set->NewestAt(Key(key), end));
          ASSERT_EQ(then[key], found) << key;
        }
      }
    }
  }
}

// No sets of fewer ranges are made on the way to that of all.
TEST_F(MemTableRangesTest, GroupTakesMemoryInProportionToItsRanges) {
  constexpr uint64_t kRanges = 20000;
  for (uint64_t i = 0; i < kRanges; i++) Add(2 * i, 2 * i + 1);
  ranges_.Show(order_);
  EXPECT_LT(ranges_.memory_bytes(), kRanges * 400);
  EXPECT_EQ(kRanges, NewestAt(2 * kRanges - 2, kMaxSequence));
  EXPECT_EQ(0u, NewestAt(2 * kRanges - 1, kMaxSequence));
  EXPECT_EQ(1u, NewestAt(0, kMaxSequence));
  EXPECT_EQ(kRanges, ranges_.All().size());
}

// Each range has all keys of the one before: with all sequences of all fragments this would be their square.
TEST_F(MemTableRangesTest, NestedRangesOfAGroupAreOne) {
  constexpr uint64_t kRanges = 20000;
  Add(5, 7);
  ranges_.Show(order_);
  for (uint64_t i = 1; i <= kRanges; i++) Add(0, i);
  ranges_.Show(order_);
  EXPECT_LT(ranges_.memory_bytes(), kRanges * 400);
  EXPECT_EQ(kRanges + 1, NewestAt(5, kMaxSequence));
  EXPECT_EQ(1u, NewestAt(5, 1));
  EXPECT_EQ(0u, NewestAt(4, 1));
}

}  // namespace
}  // namespace miodb::test
