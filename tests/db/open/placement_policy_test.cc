// Databases whose pool has three regions: where each placement policy puts what, and that none loses a write.

#include "miodb/placement_policy.h"

#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>

#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Proposes regions that there are not, and the last one several times.
class Nonsense final : public PlacementPolicy {
 public:
  const char* Name() const override { return "nonsense"; }
  void Order(const PlacementRequest&, const std::vector<PlacementRegion>& regions,
             std::vector<int>* order) const override {
    *order = {-1, 99, static_cast<int>(regions.size()), 1 << 30};
    order->insert(order->end(), 20, static_cast<int>(regions.size()) - 1);
  }
};

class Throwing final : public PlacementPolicy {
 public:
  const char* Name() const override { return "throwing"; }
  void Order(const PlacementRequest&, const std::vector<PlacementRegion>&, std::vector<int>* order) const override {
    order->push_back(1);
    throw std::runtime_error("no order");
  }
};

class PlacementPolicyTest : public DbTestBase {
 protected:
  static constexpr uint64_t kKeys = 4000;
  static constexpr size_t kValueBytes = 200;

  PlacementPolicyTest() {
    options_.create_if_missing = true;
    options_.write_buffer_size = 256 * 1024;
    options_.pool_size = 32 * kMiB;
    options_.pool_growth = kMiB;
    options_.partition_size = kMiB;
    options_.nvm_regions.resize(2);
    for (size_t i = 0; i < 2; i++) {
      options_.nvm_regions[i].path = dir_ / ("region" + std::to_string(i + 1));
      options_.nvm_regions[i].limit = 32 * kMiB;
    }
  }

  // "name: value" of miodb.placement.
  std::string Line(const std::string& name) {
    std::istringstream lines(Property("miodb.placement"));
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind(name + ": ", 0) == 0) return line.substr(name.size() + 2);
    }
    return "no line " + name;
  }
  uint64_t Bytes(const std::string& purpose, int region) {
    return std::stoull(Line("region" + (region == 0 ? "" : std::to_string(region)) + "-bytes-" + purpose));
  }

  // A new database with keys in its log, its buffer and its repository.
  void FillBy(const std::string& policy) {
    options_.placement_policy = policy;
    Open();
    EXPECT_EQ(policy, Line("placement-policy"));
    Fill(kKeys, kValueBytes);
    Settle();
    Fill(kKeys, kValueBytes, 1);
    CheckFilled(kKeys, kValueBytes, 1);
  }
};

TEST_F(PlacementPolicyTest, TheDefaultFillsTheFirstRegion) {
  FillBy("default");
  EXPECT_GT(Bytes("log", 0), 0u);
  EXPECT_GT(Bytes("copied", 0), 0u);
  EXPECT_GT(Bytes("index", 0), 0u);
  EXPECT_GT(Bytes("manifest", 0), 0u);
  for (const int region : {1, 2}) {
    for (const char* purpose : {"log", "copied", "index", "manifest"}) EXPECT_EQ(0u, Bytes(purpose, region)) << purpose;
  }
}

TEST_F(PlacementPolicyTest, HotFirstPutsCopiesIntoTheLastRegion) {
  FillBy("hot-first");
  EXPECT_GT(Bytes("copied", 2), 0u);
  EXPECT_EQ(0u, Bytes("copied", 0) + Bytes("copied", 1));
  for (const char* purpose : {"log", "index", "manifest"}) {
    EXPECT_GT(Bytes(purpose, 0), 0u) << purpose;
    EXPECT_EQ(0u, Bytes(purpose, 1) + Bytes(purpose, 2)) << purpose;
  }
}

TEST_F(PlacementPolicyTest, SpreadUsesAllRegions) {
  FillBy("spread");
  for (const int region : {0, 1, 2}) {
    EXPECT_GT(Bytes("log", region) + Bytes("copied", region) + Bytes("index", region), 0u) << region;
  }
}

// Each counts all that their file system has as its own room, so the first one is not ahead of the others for ever.
TEST_F(PlacementPolicyTest, SpreadUsesAllRegionsOfOneFileSystemThatHaveNoLimit) {
  options_.pool_size = 0;
  for (NvmRegion& region : options_.nvm_regions) region.limit = 0;
  FillBy("spread");
  for (const int region : {0, 1, 2}) {
    EXPECT_GT(Bytes("log", region) + Bytes("copied", region) + Bytes("index", region), 0u) << region;
  }
}

TEST_F(PlacementPolicyTest, NonsenseIsIgnored) {
  static const Nonsense& policy = *new Nonsense;
  ASSERT_OK(RegisterPlacementPolicy(&policy));
  FillBy("nonsense");
  EXPECT_GT(Bytes("log", 2), 0u) << "the one region that it named is tried first";
  EXPECT_EQ(0u, Bytes("log", 1) + Bytes("copied", 1) + Bytes("index", 1));
}

TEST_F(PlacementPolicyTest, APolicyThatThrowsCountsAsTheDefault) {
  static const Throwing& policy = *new Throwing;
  ASSERT_OK(RegisterPlacementPolicy(&policy));
  FillBy("throwing");
  EXPECT_EQ(0u, Bytes("log", 1) + Bytes("copied", 1) + Bytes("index", 1));
}

// The last region is too small for what the policy would put there.
TEST_F(PlacementPolicyTest, NoWriteFailsWhileThereIsRoom) {
  options_.nvm_regions[1].limit = kMiB / 2;
  FillBy("hot-first");
  EXPECT_GT(Bytes("copied", 1), 0u) << "the region before the last comes next";
}

TEST_F(PlacementPolicyTest, EachOpenMayHaveAnotherOne) {
  FillBy("hot-first");
  for (const char* policy : {"spread", "default", "hot-first"}) {
    options_.placement_policy = policy;
    Open();
    CheckFilled(kKeys, kValueBytes, 1);
    Settle();
    CheckFilled(kKeys, kValueBytes, 1);
  }
}

TEST_F(PlacementPolicyTest, AnUnknownNameIsRefused) {
  for (const char* wrong : {"", "no policy", "/nowhere/policy.so"}) {
    options_.placement_policy = wrong;
    const Status s = TryOpen();
    EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  }
}

}  // namespace
}  // namespace miodb::test
