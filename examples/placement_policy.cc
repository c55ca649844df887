// A placement policy in a library of its own, for a small fast region in front of large slow ones: a part of the fast
// region is kept for indexes, which each search reads, and records go there while they are young.
//
// Build it with nothing but MioDB's headers, and run it in any program of MioDB's:
//
//   c++ -std=c++20 -O2 -shared -fPIC -I include examples/placement_policy.cc -o /tmp/kept_for_indexes.so
//   build/db_bench --placement_policy=/tmp/kept_for_indexes.so --db=/dev/shm/db --pool_size=1g
//     --nvm_regions=/mnt/cxl/region --benchmarks=fillrandom,readrandom

#include "miodb/placement_policy.h"

namespace {

class KeptForIndexes final : public miodb::PlacementPolicy {
 public:
  const char* Name() const override { return "kept for indexes"; }

  void Order(const miodb::PlacementRequest& request, const std::vector<miodb::PlacementRegion>& regions,
             std::vector<int>* order) const override {
    if (IsForFast(request, regions[0])) return;  // first to last
    for (size_t i = 1; i < regions.size(); i++) order->push_back(static_cast<int>(i));
  }

 private:
  // Copies that go deep into the buffer or to the repository are old. Other records leave room for indexes.
  static bool IsForFast(const miodb::PlacementRequest& request, const miodb::PlacementRegion& fast) {
    switch (request.purpose) {
      case miodb::PlacementPurpose::kManifest:
      case miodb::PlacementPurpose::kIndex:
        return true;
      case miodb::PlacementPurpose::kLogChunk:
        return fast.free >= request.bytes + fast.capacity / kKeptShare;
      case miodb::PlacementPurpose::kPayload:
        return request.level < kYoungLevels && fast.free >= request.bytes + fast.capacity / kKeptShare;
    }
    return true;
  }

  static constexpr uint64_t kKeptShare = 4;
  static constexpr int kYoungLevels = 3;
};

}  // namespace

extern "C" MIODB_EXPORT const miodb::PlacementPolicy* miodb_placement_policy_1() {
  return new KeptForIndexes;  // never deleted: databases may ask it while the process ends
}
