// Placement policies: the order of regions that each proposes, how a pool takes proposals, and how policies are found.

#include "src/nvm/space/placement_policies.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

std::string Text(const RegionOrder& order, int count) {
  std::string text;
  for (int i = 0; i < count; i++) text += std::to_string(order.at(i)) + " ";
  return text;
}

// The order for a piece of space, by the policy, in three regions with these free bytes of 100 each.
std::string Of(const PlacementPolicy& policy, PlacementPurpose purpose, int level, std::vector<uint64_t> free) {
  std::vector<PlacementRegion> regions;
  for (const uint64_t bytes : free) regions.push_back({100, bytes, -1});
  return Text(ProposedOrder(policy, {purpose, level, 4096}, regions), static_cast<int>(free.size()));
}

// Names these regions, or throws.
class Naming final : public PlacementPolicy {
 public:
  Naming(const char* name, std::vector<int> named, bool throws = false)
      : name_(name), named_(std::move(named)), throws_(throws) {}
  const char* Name() const override { return name_; }
  void Order(const PlacementRequest&, const std::vector<PlacementRegion>&, std::vector<int>* order) const override {
    *order = named_;
    if (throws_) throw std::runtime_error("no order");
  }

 private:
  const char* const name_;
  const std::vector<int> named_;
  const bool throws_;
};

TEST(RegionOrderTest, RegionsThatAreNotNamedComeLast) {
  EXPECT_EQ("0 1 2 3 ", Text(RegionOrder(), 4));
  EXPECT_EQ("2 0 1 3 ", Text(RegionOrder({2}, 4), 4));
  EXPECT_EQ("3 1 0 2 ", Text(RegionOrder({3, 1}, 4), 4));
  EXPECT_EQ("1 0 2 3 ", Text(RegionOrder({1, 0}, 2), 4)) << "regions that were added since come last";
}

TEST(RegionOrderTest, NonsenseHasNoEffect) {
  EXPECT_EQ("2 0 1 ", Text(RegionOrder({-1, 2, 2, 3, 1 << 30, -(1 << 30), 2, 256, 257}, 3), 3));
  EXPECT_EQ("0 1 2 ", Text(RegionOrder({7, 8, 12, 13}, 3), 3));
}

TEST(PlacementPoliciesTest, EachProposesItsOrder) {
  const FillPlacement fill;
  const HotFirstPlacement hot;
  const SpreadPlacement spread;
  for (const PlacementPurpose purpose :
       {PlacementPurpose::kManifest, PlacementPurpose::kIndex, PlacementPurpose::kLogChunk}) {
    EXPECT_EQ("0 1 2 ", Of(fill, purpose, 0, {1, 90, 50}));
    EXPECT_EQ("0 1 2 ", Of(hot, purpose, kPlacementRepositoryLevel, {1, 90, 50}));
    EXPECT_EQ("1 2 0 ", Of(spread, purpose, 0, {1, 90, 50}));
  }
  EXPECT_EQ("0 1 2 ", Of(fill, PlacementPurpose::kPayload, kPlacementRepositoryLevel, {1, 90, 50}));
  EXPECT_EQ("2 1 0 ", Of(hot, PlacementPurpose::kPayload, kPlacementRepositoryLevel, {1, 90, 50}));
  EXPECT_EQ("0 1 2 ", Of(spread, PlacementPurpose::kPayload, 3, {50, 50, 50})) << "of equals the first comes first";
}

TEST(PlacementPoliciesTest, APolicyThatThrowsCountsAsTheDefault) {
  const Naming throwing("throws", {2, 1}, true), naming("names", {2, 1});
  EXPECT_EQ("2 1 0 ", Of(naming, PlacementPurpose::kIndex, 0, {1, 2, 3}));
  EXPECT_EQ("0 1 2 ", Of(throwing, PlacementPurpose::kIndex, 0, {1, 2, 3}));
}

TEST(PlacementPoliciesTest, PoliciesAreFoundByTheirNames) {
  const PlacementPolicy* policy = nullptr;
  for (const char* name : {"default", "hot-first", "spread"}) {
    ASSERT_OK(FindPlacementPolicy(name, &policy));
    EXPECT_STREQ(name, policy->Name());
  }
  EXPECT_TRUE(RegisterPlacementPolicy(nullptr).IsInvalidArgument());
  static const Naming mine("mine", {}), other("mine", {}), unnamed("", {}), path("./mine", {});
  const Status s = FindPlacementPolicy("mine", &policy);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_EQ(nullptr, policy);
  EXPECT_OK(RegisterPlacementPolicy(&mine));
  EXPECT_OK(RegisterPlacementPolicy(&mine));  // again
  EXPECT_OK(FindPlacementPolicy("mine", &policy));
  EXPECT_EQ(&mine, policy);
  for (const Naming* wrong : {&other, &unnamed, &path}) EXPECT_TRUE(RegisterPlacementPolicy(wrong).IsInvalidArgument());
  EXPECT_EQ((std::vector<std::string>{"default", "hot-first", "spread", "mine"}), PlacementPolicyNames());
  EXPECT_TRUE(FindPlacementPolicy("/nowhere/policy.so", &policy).IsInvalidArgument());
}

}  // namespace
}  // namespace miodb::test
