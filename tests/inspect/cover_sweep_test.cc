#include "src/inspect/salvage/cover_sweep.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

std::string Key(uint64_t n) {
  std::string key = std::to_string(n);
  return std::string(6 - key.size(), '0') + key;
}

std::vector<Cover> SomeCovers(Random* random, uint64_t count, uint64_t keys, uint64_t sequences) {
  std::vector<Cover> covers;
  for (uint64_t i = 0; i < count; i++) {
    uint64_t keys_of[] = {random->Uniform(keys), random->Uniform(keys)};
    uint64_t sequences_of[] = {random->Uniform(sequences), random->Uniform(sequences)};
    std::sort(std::begin(keys_of), std::end(keys_of));
    std::sort(std::begin(sequences_of), std::end(sequences_of));
    covers.push_back({i + 1, sequences_of[0], sequences_of[1], Key(keys_of[0]), Key(keys_of[1])});
  }
  return covers;
}

uint64_t HighestOfAll(const std::vector<Cover>& covers, const std::string& key, uint64_t sequence) {
  uint64_t highest = 0;
  for (const Cover& c : covers) {
    const bool covered =
        c.smallest <= key && key <= c.largest && c.min_sequence <= sequence && sequence <= c.max_sequence;
    if (covered) highest = std::max(highest, c.number);
  }
  return highest;
}

TEST(CoverSweepTest, SaysWhatAskingEveryTableWouldSay) {
  for (const uint64_t seed : Seeds(ByScale(50, 500, 5000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    constexpr uint64_t kKeys = 200, kSequences = 50;
    const std::vector<Cover> covers = SomeCovers(&random, random.Uniform(40), kKeys, kSequences);
    CoverSweep sweep(KeyOrder(BytewiseComparator()), covers);
    for (uint64_t key = 0; key < kKeys; key++) {
      if (random.OneIn(4)) continue;
      for (int i = 0; i < 5; i++) {
        const uint64_t sequence = random.Uniform(kSequences + 2);
        ASSERT_EQ(HighestOfAll(covers, Key(key), sequence), sweep.Highest(Key(key), sequence)) << key;
      }
    }
  }
}

TEST(CoverSweepTest, ATableThatContradictsItselfCoversNothing) {
  const std::vector<Cover> covers = {{7, 10, 5, "a", "z"}, {8, 0, UINT64_MAX, "z", "a"}, {9, 4, 4, "a", "z"}};
  CoverSweep sweep(KeyOrder(BytewiseComparator()), covers);
  EXPECT_EQ(9u, sweep.Highest("m", 4));
  EXPECT_EQ(0u, sweep.Highest("m", 7));
}

// All tables cover all keys, or each some of its own: neither costs a question for each table.
TEST(CoverSweepTest, AQuestionCostsNoMoreComparisonsWithMoreTables) {
  constexpr uint64_t kQuestions = 20000;
  for (const uint64_t tables : {10u, 100u, 3000u}) {
    for (const bool all_keys : {false, true}) {
      Random random(tables);
      const CountingComparator comparator;
      std::vector<Cover> covers = SomeCovers(&random, tables, kQuestions, 1000);
      for (Cover& cover : covers) {
        if (all_keys) cover.smallest = Key(0), cover.largest = Key(kQuestions);
      }
      CoverSweep sweep(KeyOrder(&comparator), covers);
      for (uint64_t key = 0; key < kQuestions; key++) sweep.Highest(Key(key), random.Uniform(1000));
      const uint64_t once = 8 * tables * static_cast<uint64_t>(std::bit_width(tables));  // to put them in order
      EXPECT_LE(comparator.count(), 2 * kQuestions + once);
    }
  }
}

}  // namespace
}  // namespace miodb::test
