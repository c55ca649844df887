// Databases on NUMA nodes: what is asked for is had, or Open says why not.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

class PlacementTest : public DbTestBase {
 protected:
  // The first node of the list, which every system with NUMA support has, or -1.
  static int FirstNode() {
    int node = -1;
    std::ifstream("/sys/devices/system/node/has_memory") >> node;
    return node;
  }

  // Asks for a node that there is not, and returns what Open says.
  Status OpenOn(int Options::*option, int node) {
    options_.dram_node = options_.nvm_node = options_.nvm_next_node = -1;
    options_.*option = node;
    return TryOpen();
  }
};

TEST_F(PlacementTest, WithoutNodesThePropertySaysThatNoneWereAskedFor) {
  Open();
  const std::string text = Property("miodb.placement");
  for (const char* line : {"dram-node: any\n", "thread-cpus: any\n", "region-node: any\n", "region-next-node: any\n"}) {
    EXPECT_NE(std::string::npos, text.find(line)) << text;
  }
  EXPECT_NE(std::string::npos, text.find("region-path: " + path_ + "/pool\n")) << text;
}

TEST_F(PlacementTest, ADatabaseOnNodesLiesThereAndStaysThere) {
  options_.dram_node = options_.nvm_node = FirstNode();
  const Status s = TryOpen();
  if (FirstNode() < 0 || Mentions(s, "mbind") || Mentions(s, "page cache")) GTEST_SKIP() << s.ToString();
  ASSERT_OK(s);
  Fill(5000, 200);
  Settle();
  const std::string node = std::to_string(FirstNode());
  for (int round = 0; round < 2; round++) {
    const std::string text = Property("miodb.placement");
    EXPECT_NE(std::string::npos, text.find("dram-node: " + node + "\n")) << text;
    EXPECT_NE(std::string::npos, text.find("region-node: " + node + "\n")) << text;
    EXPECT_NE(std::string::npos, text.find("region-found: node " + node + ": 256 of 256 pages\n")) << text;
    EXPECT_EQ(std::string::npos, text.find("thread-cpus: any\n")) << text;
    CheckFilled(5000, 200);
    Open();
  }
}

TEST_F(PlacementTest, ANodeThatDoesNotExistIsRefusedAndLeavesNothing) {
  constexpr int kNoNode = 1000;
  for (int Options::*option : {&Options::dram_node, &Options::nvm_node}) {
    const Status s = OpenOn(option, kNoNode);
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, "is 1000"));
    EXPECT_TRUE(Mentions(s, FirstNode() < 0 ? "no NUMA nodes" : "there is node " + std::to_string(FirstNode())));
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
}

TEST_F(PlacementTest, ANextNodeWithoutANodeIsRefused) {
  const Status s = OpenOn(&Options::nvm_next_node, 0);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "Options::nvm_next_node is 0"));
}

TEST_F(PlacementTest, AnExistingDatabaseOpensAgainWithoutItsNodes) {
  options_.nvm_node = FirstNode();
  const Status s = TryOpen();
  if (FirstNode() < 0 || !s.ok()) GTEST_SKIP() << s.ToString();
  Put("a", "1");
  options_.nvm_node = -1;
  Open();
  EXPECT_EQ("1", Get("a"));
}

}  // namespace
}  // namespace miodb::test
