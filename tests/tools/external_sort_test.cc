// Sorting on disk keeps the order of equal keys, and says when it cannot write.

#include "tools/trace/external_sort.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/common/random/random.h"

namespace miodb::tools {
namespace {

TEST(ExternalSortTest, KeepsTheOrderOfEqualKeysAcrossRuns) {
  ExternalSort sort(testing::TempDir(), 64 << 10);
  Random random(14);
  std::map<std::string, std::vector<std::string>> expected;
  for (int i = 0; i < 20000; i++) {
    const std::string key = "prefix" + std::string(random.Uniform(12), 'x') + std::to_string(random.Uniform(50));
    expected[key].push_back(std::to_string(i));
    ASSERT_TRUE(sort.Add(key, std::to_string(i)).ok());
  }
  ASSERT_TRUE(sort.Finish().ok());
  EXPECT_GT(sort.spilled_runs(), 3u);
  std::string_view key, payload;
  for (const auto& [name, numbers] : expected) {
    for (const std::string& number : numbers) {
      ASSERT_TRUE(sort.Next(&key, &payload));
      ASSERT_EQ(key, name);
      ASSERT_EQ(payload, number);
    }
  }
  EXPECT_FALSE(sort.Next(&key, &payload));
  EXPECT_TRUE(sort.status().ok());
}

TEST(ExternalSortTest, AFolderThatCannotBeWrittenIsAnError) {
  ExternalSort sort("/proc/nowhere", 1000);
  Status s;
  for (int i = 0; i < 1000 && s.ok(); i++) s = sort.Add("key", "payload");
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
}

}  // namespace
}  // namespace miodb::tools
