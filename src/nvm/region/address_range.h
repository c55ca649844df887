// Addresses that nobody else gets: reserved without memory, so that what is mapped there later lies where references
// into it say, and may grow without moving.
//
// A range begins with what its pool may need soon and is made longer in place. All pools of a process share its
// addresses (128 TiB on x86-64), so ranges lie far from each other where there are plenty: what lies between belongs to
// nobody, and the kernel gives it away from its far end. docs/decisions/0017 has the figures.
//
// Threads: any. Mappings inside of a range belong to their owner, and are unmapped with the range.

#ifndef MIODB_SRC_NVM_REGION_ADDRESS_RANGE_H_
#define MIODB_SRC_NVM_REGION_ADDRESS_RANGE_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "miodb/status.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class AddressRange {
 public:
  // Pages of any size may be mapped at multiples of this.
  static constexpr uint64_t kAlignment = uint64_t{1} << 30;

  // Reserves wanted bytes or, where the system or a limit (ulimit -v) has less, fewer, but no fewer than least: IOError
  // if not even these can be had. Where there are plenty, up to room bytes behind them are nobody's yet.
  static Status Reserve(uint64_t least, uint64_t wanted, uint64_t room, std::shared_ptr<AddressRange>* range);

  ~AddressRange();
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  // Makes the range wanted bytes long in all, or as much of that as can be had, but no less than least. False if
  // somebody else has the addresses behind it; it is as before then. A range never gets shorter.
  bool Extend(uint64_t least, uint64_t wanted);

  char* base() const { return base_; }
  uint64_t size() const { return size_.load(std::memory_order_acquire); }  // acquire: pairs with Extend

  // Takes away what is mapped at [offset, offset + size) and keeps the addresses.
  void Clear(uint64_t offset, uint64_t size) const;

 private:
  AddressRange(char* base, uint64_t size) : base_(base), size_(size) {
    CHECK_EQ(reinterpret_cast<uintptr_t>(base_) % kAlignment, 0u);
    CHECK_LE(size, UINT64_MAX - reinterpret_cast<uintptr_t>(base_));
  }

  char* const base_;
  Mutex mutex_;                 // of Extend
  std::atomic<uint64_t> size_;  // changed by Extend
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_REGION_ADDRESS_RANGE_H_
