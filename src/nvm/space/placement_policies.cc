#include "src/nvm/space/placement_policies.h"

#include <algorithm>
#include <numeric>

#include "src/util/check/check.h"
#include "src/util/files/policy_registry.h"

namespace miodb {

namespace {

// Appends all regions, first to last.
void AppendAll(const std::vector<PlacementRegion>& regions, std::vector<int>* order) {
  DCHECK(order->empty());
  order->resize(regions.size());
  std::iota(order->begin(), order->end(), 0);
}

double FreeShare(const PlacementRegion& region) {
  if (region.capacity == 0) return 0;
  return static_cast<double>(region.free) / static_cast<double>(region.capacity);
}

PolicyRegistry<PlacementPolicy>& Registry() {
  static auto& registry = *new PolicyRegistry<PlacementPolicy>(
      PolicyWords{"placement policy", "placement_policy", "miodb_placement_policy_1"},
      {DefaultPlacementPolicy(), new HotFirstPlacement, new SpreadPlacement});
  return registry;
}

}  // namespace

// Nothing is named, so all regions come first to last.
void FillPlacement::Order(const PlacementRequest&, const std::vector<PlacementRegion>&, std::vector<int>*) const {}

void HotFirstPlacement::Order(const PlacementRequest& request, const std::vector<PlacementRegion>& regions,
                              std::vector<int>* order) const {
  if (request.purpose != PlacementPurpose::kPayload) return;
  AppendAll(regions, order);
  DCHECK_EQ(order->size(), regions.size());
  std::reverse(order->begin(), order->end());
}

// Regions with equal shares keep their order.
void SpreadPlacement::Order(const PlacementRequest&, const std::vector<PlacementRegion>& regions,
                            std::vector<int>* order) const {
  AppendAll(regions, order);
  DCHECK_EQ(order->size(), regions.size());
  std::stable_sort(order->begin(), order->end(), [&](int a, int b) {
    return FreeShare(regions[static_cast<size_t>(a)]) > FreeShare(regions[static_cast<size_t>(b)]);
  });
}

const PlacementPolicy* DefaultPlacementPolicy() {
  static const FillPlacement& policy = *new FillPlacement;
  return &policy;
}

std::vector<std::string> PlacementPolicyNames() { return Registry().Names(); }

Status RegisterPlacementPolicy(const PlacementPolicy* policy) { return Registry().Add(policy); }

Status FindPlacementPolicy(const std::string& name, const PlacementPolicy** policy) {
  DCHECK(policy != nullptr);
  return Registry().Find(name, policy);
}

// Anything may be thrown: the policy is code of others.
RegionOrder ProposedOrder(const PlacementPolicy& policy, const PlacementRequest& request,
                          const std::vector<PlacementRegion>& regions) {
  DCHECK(request.level >= 0 && request.level <= kPlacementRepositoryLevel);
  try {
    std::vector<int> named;
    policy.Order(request, regions, &named);
    return RegionOrder(named, static_cast<int>(regions.size()));
  } catch (...) {
    return RegionOrder();
  }
}

}  // namespace miodb
