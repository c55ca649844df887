// The regions of one pool, by the references that belong to them.
//
// They are in order of their references: the pool's own file first, from reference 0 on. Regions are added and never
// taken away.
//
// Threads: Add by one at a time; the rest by any, also meanwhile.

#ifndef MIODB_SRC_NVM_REGION_REGION_SET_H_
#define MIODB_SRC_NVM_REGION_REGION_SET_H_

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>

#include "src/format/pm_ref.h"
#include "src/format/region_table.h"
#include "src/nvm/region/region.h"
#include "src/util/check/check.h"

namespace miodb {

class RegionSet {
 public:
  struct Member {
    std::unique_ptr<Region> region;
    PmRef base = 0;
    uint64_t range = 0;  // of the references that belong to it
    uint8_t uuid[kUuidBytes] = {};

    PmRef end() const {
      DCHECK(region != nullptr);
      return base + region->size();
    }
  };

  // acquire: pairs with Add; members below the count are there.
  int count() const { return count_.load(std::memory_order_acquire); }

  const Member& at(int i) const {
    DCHECK(i >= 0 && i < count());
    return members_[i];
  }
  Region& first() const {
    DCHECK_GT(count(), 0);
    return *members_[0].region;
  }

  // Number of the region whose range ref lies in. For a ref behind all regions, the number of the last.
  int IndexOf(PmRef ref) const {
    int i = count() - 1;
    DCHECK_GE(i, 0);
    while (i > 0 && members_[i].base > ref) i--;
    return i;
  }
  const Member& Of(PmRef ref) const { return members_[IndexOf(ref)]; }

  // Whether [ref, ref + size) lies behind a region's header page and inside of its file, so that reading cannot fault.
  bool Readable(PmRef ref, uint64_t size) const {
    const Member& m = Of(ref);
    return ref >= m.base + kPoolHeaderSize && ref <= m.end() && size <= m.end() - ref;
  }

  // The end of the file whose readable part has ref; 0: none has it. Every read of a record comes here, and nearly
  // always the record is in the first file.
  PmRef EndOf(PmRef ref) const {
    const PmRef first_end = members_[0].end();
    if (ref < first_end) return ref >= kPoolHeaderSize ? first_end : 0;
    const Member& m = Of(ref);
    return ref >= m.base + kPoolHeaderSize && ref < m.end() ? m.end() : 0;
  }

  // Bytes of all files.
  uint64_t size() const {
    uint64_t bytes = 0;
    for (int i = 0; i < count(); i++) bytes += members_[i].region->size();
    return bytes;
  }

  // Adds the next region. REQUIRES: its references follow those of the regions before, and the set has fewer than
  // kMaxRegions.
  void Add(std::unique_ptr<Region> region, PmRef base, uint64_t range, const uint8_t* uuid) {
    const int i = count();
    CHECK_LT(i, kMaxRegions);
    CHECK(i == 0 ? base == 0 : base >= members_[i - 1].base + members_[i - 1].range);
    CHECK(region->size() <= range && base + range <= IndexWord::kMaxRef + 1);
    Member& m = members_[i];
    m.region = std::move(region);
    m.base = base;
    m.range = range;
    memcpy(m.uuid, uuid, kUuidBytes);
    count_.store(i + 1, std::memory_order_release);  // release: pairs with count
  }

  // The references of the first end here, because those of a further one begin.
  void LimitFirst(uint64_t range) {
    CHECK(count() == 1 && range >= first().size());
    members_[0].range = range;
    members_[0].region->LimitTo(range);
  }

 private:
  Member members_[kMaxRegions];
  std::atomic<int> count_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_REGION_REGION_SET_H_
