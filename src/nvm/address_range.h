// Addresses that nobody else gets: reserved without memory, so that what is mapped there later lies where references
// into it say, and may grow without moving.
//
// Threads: immutable. What is mapped inside is its owner's affair, and is unmapped with the range.

#ifndef MIODB_SRC_NVM_ADDRESS_RANGE_H_
#define MIODB_SRC_NVM_ADDRESS_RANGE_H_

#include <cstdint>
#include <memory>

#include "miodb/status.h"

namespace miodb {

class AddressRange {
 public:
  // Pages of any size may be mapped at multiples of this.
  static constexpr uint64_t kAlignment = uint64_t{1} << 30;

  // Reserves size bytes, and up to spare bytes more behind them, as many of these as the system allows. IOError if it
  // does not even allow size.
  static Status Reserve(uint64_t size, uint64_t spare, std::shared_ptr<AddressRange>* range);

  ~AddressRange();
  AddressRange(const AddressRange&) = delete;
  AddressRange& operator=(const AddressRange&) = delete;

  char* base() const { return base_; }
  uint64_t size() const { return size_; }

  // Takes away what is mapped at [offset, offset + size) and keeps the addresses.
  void Clear(uint64_t offset, uint64_t size) const;

 private:
  AddressRange(char* base, uint64_t size) : base_(base), size_(size) {}

  char* const base_;
  const uint64_t size_;
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_ADDRESS_RANGE_H_
