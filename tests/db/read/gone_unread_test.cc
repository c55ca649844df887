#include "src/db/state/gone_unread.h"

#include <gtest/gtest.h>

#include <string>

#include "miodb/comparator.h"

namespace miodb::test {
namespace {

TEST(GoneUnreadTest, KnowsTheKeysOfTheNewestTablesAndTheAgeOfTheOthers) {
  const KeyOrder order(BytewiseComparator());
  GoneUnread gone;
  EXPECT_EQ(0u, gone.NewestOf(order, "a"));
  gone.Add("b", "d", 7);
  gone.Add("c", "e", 5);
  for (const auto& [key, newest] :
       {std::pair<const char*, uint64_t>{"a", 0}, {"b", 7}, {"c", 7}, {"d", 7}, {"dd", 5}, {"e", 5}, {"ee", 0}}) {
    EXPECT_EQ(newest, gone.NewestOf(order, key)) << key;
  }
  for (uint64_t i = 0; i < 64; i++) gone.Add("x", "x", 100 + i);
  EXPECT_EQ(7u, gone.NewestOf(order, "a")) << "may be of a table that is not known any more";
  EXPECT_EQ(163u, gone.NewestOf(order, "x"));
  EXPECT_EQ(7u, gone.NewestOf(order, "y"));
}

}  // namespace
}  // namespace miodb::test
