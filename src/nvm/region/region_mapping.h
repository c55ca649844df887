// Where a region lies in the address space: its part of an address range, and what of its file is mapped there.
//
// The part begins with what the region may need soon and grows in place, so that no reference or pointer into it ever
// moves. Regions of one pool share a range. The destructor unmaps the region; the addresses stay the range's.
//
// Threads: Extend and LimitTo by one thread at a time; the rest by any.

#ifndef MIODB_SRC_NVM_REGION_REGION_MAPPING_H_
#define MIODB_SRC_NVM_REGION_REGION_MAPPING_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "miodb/status.h"
#include "src/numa/placement.h"
#include "src/nvm/region/address_range.h"
#include "src/nvm/region/region_file.h"

namespace miodb {

// Addresses that a region takes when it is opened, where it may become as large: any number of pools of this size have
// room in a process. Larger files take kAddressesPerByte times their size. Under the thread sanitizer a program has
// few.
#if defined(__SANITIZE_THREAD__)
inline constexpr uint64_t kAddressesAtOpen = uint64_t{16} << 30;
#else
inline constexpr uint64_t kAddressesAtOpen = uint64_t{256} << 30;
#endif
inline constexpr uint64_t kAddressesPerByte = 4;
static_assert(kAddressesAtOpen % AddressRange::kAlignment == 0);

// Where a region lies in the address space, and on which nodes and pages.
struct RegionPlace {
  RegionNodes nodes = {};  // where its memory has to lie; InvalidArgument if that cannot be had there
  std::shared_ptr<AddressRange> range = nullptr;  // null: one of its own
  uint64_t offset = 0;                            // in range
  uint64_t least = 0;                             // bytes that a range of its own has to have
  uint64_t room = 0;                              // that had better be free behind it
  uint64_t at_open = kAddressesAtOpen;
  bool huge_pages = true;                  // ask for them where the kernel may give them
  FileAccess access = FileAccess::kOwner;  // of the file, if it is made
  RegionUse use = RegionUse::kOwner;
};

class RegionMapping {
 public:
  // The file outlives this. Nothing is taken yet.
  RegionMapping(const RegionFile& file, const RegionPlace& place) : file_(file), place_(place) {}

  // Memory of the caller, from its byte "offset" on.
  RegionMapping(const RegionFile& file, uint64_t offset, uint64_t max_size);

  ~RegionMapping();
  RegionMapping(const RegionMapping&) = delete;
  RegionMapping& operator=(const RegionMapping&) = delete;

  char* base() const { return base_; }
  const RegionPlace& place() const { return place_; }

  // Most bytes that the file may have. The bound falls when an Extend finds no addresses for more.
  uint64_t max_size() const { return max_size_.load(std::memory_order_relaxed); }  // relaxed: a bound that only shrinks

  // For errors: says that an Extend has found no addresses; else "".
  std::string DescribeShortage() const;

  // The addresses to begin with, for a file of this size that may become as large as max_size.
  Status Reserve(uint64_t size, uint64_t max_size);

  // Maps what is reserved in the way in which stores to persistent memory last by themselves (MAP_SYNC). False if the
  // file does not lie on such memory.
  bool MapSynced();

  // Maps a part of the file in the ordinary way; on hugetlbfs what it has.
  Status Map(uint64_t size);

  // Takes more addresses if a file of this size needs them. NoSpace, and then max_size is lower, if somebody else has
  // them.
  Status Extend(uint64_t size);

  // Maps what has just been stored behind the end of a file on hugetlbfs; of others it is mapped already.
  Status MapStored(uint64_t offset, uint64_t size);

  // Puts zeros that nobody may write in the place of [from, to), where the file has been cut: a read to which damage
  // has led, and which was let through before, is not to end the process.
  void Cover(uint64_t from, uint64_t to);

  // Maps the file again where the first size bytes of it are covered.
  Status Uncover(uint64_t size);

  // The pages that the kernel is asked for where there are none yet.
  enum class Pages : uint8_t { kHuge, kSmall };
  void AskFor(Pages pages) const;

  void LimitTo(uint64_t max_size);

 private:
  uint64_t Alignment() const;
  uint64_t AddressesFor(uint64_t size, uint64_t at_open) const;
  bool IsPersistentMemory() const;
  bool MapWith(int flags, uint64_t offset, uint64_t size);
  Status MapPages(uint64_t offset, uint64_t size);

  const RegionFile& file_;
  RegionPlace place_;
  char* base_ = nullptr;
  std::atomic<uint64_t> max_size_{0};
  std::atomic<uint64_t> addresses_{0};  // bytes of the range that are its own
  std::atomic<bool> out_of_addresses_{false};
  uint64_t covered_from_ = 0;  // The thread that grows and cuts.
  uint64_t covered_to_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_REGION_REGION_MAPPING_H_
