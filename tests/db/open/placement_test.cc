// Databases on NUMA nodes: what is asked for is had, or Open says why not.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

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
    // Of 256 places those that have a page: CompactRange and a close have made holes.
    const std::string found = "region-found: node " + node + ": ";
    const size_t at = text.find(found);
    ASSERT_NE(std::string::npos, at) << text;
    const std::string pages = std::to_string(std::stoi(text.substr(at + found.size())));
    EXPECT_NE(std::string::npos, text.find(found + pages + " of " + pages + " pages\n")) << text;
    EXPECT_TRUE(std::stoi(pages) > 64 && std::stoi(pages) <= 256) << text;
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

TEST_F(PlacementTest, AModelIsSaidToBeOneAndChargesReadsAndWrites) {
  Open();
  EXPECT_EQ("none", Property("miodb.nvm-model"));
  options_.nvm_model = dir_ / "model";
  // Slower than a sanitizer makes the program, or nothing would be left to wait for.
  std::ofstream(options_.nvm_model) << "read_random_nanos = 2000\nwrite_bytes_per_second = "
                                    << (RunsUnderSanitizer() ? "2e6\n" : "1e8\n");
  Open();
  EXPECT_NE(std::string::npos, Property("miodb.nvm-model").find("read_random_nanos 2000"));
  EXPECT_NE(std::string::npos, Property("miodb.placement").find("nvm-model: " + options_.nvm_model));
  Fill(2000, 500);
  Settle();
  CheckFilled(2000, 500);
  EXPECT_GT(Counter("modelled-write-micros"), 0u);
  EXPECT_GT(Counter("modelled-read-micros"), 0u);
  Close();
  options_.nvm_model = "granite";
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "Options::nvm_model is \"granite\""));
}

TEST_F(PlacementTest, AModelOfTheBandwidthOfReadsAloneIsWaitedForAndSaid) {
  options_.nvm_model = dir_ / "model";
  const std::string rate = RunsUnderSanitizer() ? "1e+06" : "5e+07";
  std::ofstream(options_.nvm_model) << "read_bytes_per_second = " << rate << "\n";
  Open();
  EXPECT_NE(std::string::npos, Property("miodb.nvm-model").find("read_bytes_per_second " + rate));
  Fill(2000, 500);
  Settle();
  CheckFilled(2000, 500);
  EXPECT_GT(Counter("modelled-read-micros"), 0u);
  EXPECT_EQ(0u, Counter("modelled-write-micros"));
}

TEST_F(PlacementTest, ReadsOfTablesAreCountedWhereThatIsAskedFor) {
  options_.nvm_model = "count:4096";
  Open();
  Fill(2000, 500);
  Settle();
  const uint64_t before = Counter("modelled-units-read") + Counter("modelled-units-cached");
  for (int i = 0; i < 100; i++) Get(FilledKey(static_cast<uint64_t>(i) * 20));
  // Each get touches the leaf and a record of 500 bytes: between two and eight units, and not the value twice.
  const uint64_t units = Counter("modelled-units-read") + Counter("modelled-units-cached") - before;
  EXPECT_GE(units, 100u * 2);
  EXPECT_LE(units, 2 * 100u * 8);
  EXPECT_EQ(0u, Counter("modelled-read-micros"));
}

TEST_F(PlacementTest, ADeviceThatIsNoMemoryIsRefused) {
  for (const char* device : {"/dev/null", "/dev/zero"}) {
    options_.pool_path = device;
    const Status s = TryOpen();
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, device));
    EXPECT_TRUE(Mentions(s, "neither a regular file nor a DAX device"));
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_STATUS(InvalidArgument, DestroyDB(path_, options_));
    EXPECT_TRUE(std::filesystem::exists(device));
  }
}

}  // namespace
}  // namespace miodb::test
