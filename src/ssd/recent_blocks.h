// Remembers, roughly, the blocks that were read from the disk a short while ago.
//
// Threads: any number; two that meet in one place may forget each other's block.

#ifndef MIODB_SRC_SSD_RECENT_BLOCKS_H_
#define MIODB_SRC_SSD_RECENT_BLOCKS_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace miodb {

class RecentBlocks {
 public:
  // Notes a block by its table and its offset. True if it was noted before, and not pushed out by others since.
  bool Touch(uint64_t table, uint64_t offset) {
    uint64_t id = (table << 40 ^ offset) * kMultiplier;
    if (id == 0) id = 1;  // 0 is an empty place
    std::atomic<uint64_t>& place = places_[id >> (64 - kPlacesLog)];
    // relaxed: a hint of its own
    if (place.load(std::memory_order_relaxed) == id) return true;
    place.store(id, std::memory_order_relaxed);
    return false;
  }

 private:
  static constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15;  // odd, so no two blocks of one table are taken for one
  static constexpr int kPlacesLog = 10;
  static_assert(kMultiplier % 2 == 1 && kPlacesLog > 0 && kPlacesLog < 64);

  std::array<std::atomic<uint64_t>, size_t{1} << kPlacesLog> places_{};
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_RECENT_BLOCKS_H_
