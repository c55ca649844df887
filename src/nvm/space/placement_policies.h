// The placement policies that come with the library, and how a pool asks one.
//
// Threads: any.

#ifndef MIODB_SRC_NVM_SPACE_PLACEMENT_POLICIES_H_
#define MIODB_SRC_NVM_SPACE_PLACEMENT_POLICIES_H_

#include <string>
#include <vector>

#include "miodb/placement_policy.h"
#include "src/nvm/space/region_order.h"

namespace miodb {

// First to last: a region is used when those before it are full.
class FillPlacement final : public PlacementPolicy {
 public:
  const char* Name() const override { return "default"; }
  void Order(const PlacementRequest& request, const std::vector<PlacementRegion>& regions,
             std::vector<int>* order) const override;
};

// For a fast region in front and slower ones behind: what merges copy goes to the last region first, and everything
// else, which is younger or is read by each search, to the first.
class HotFirstPlacement final : public PlacementPolicy {
 public:
  const char* Name() const override { return "hot-first"; }
  void Order(const PlacementRequest& request, const std::vector<PlacementRegion>& regions,
             std::vector<int>* order) const override;
};

// For regions of one speed: the region with the largest free share comes first, so all fill evenly, and their
// bandwidths add up.
class SpreadPlacement final : public PlacementPolicy {
 public:
  const char* Name() const override { return "spread"; }
  void Order(const PlacementRequest& request, const std::vector<PlacementRegion>& regions,
             std::vector<int>* order) const override;
};

// A pool with this policy, which is first to last, asks nobody.
const PlacementPolicy* DefaultPlacementPolicy();

// The policy of this name, or of the library with this path, which is loaded and stays so. InvalidArgument: there is
// none.
Status FindPlacementPolicy(const std::string& name, const PlacementPolicy** policy);

// The order that the policy proposes; first to last if the policy throws.
RegionOrder ProposedOrder(const PlacementPolicy& policy, const PlacementRequest& request,
                          const std::vector<PlacementRegion>& regions);

}  // namespace miodb

#endif  // MIODB_SRC_NVM_SPACE_PLACEMENT_POLICIES_H_
