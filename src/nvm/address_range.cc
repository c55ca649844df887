#include "src/nvm/address_range.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace miodb {

namespace {

constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// Memory of a range aligned as it has to be, by reserving more than is needed and giving back both ends.
char* TryReserve(uint64_t size) {
  constexpr uint64_t alignment = AddressRange::kAlignment;
  void* const reserved = mmap(nullptr, size + alignment, PROT_NONE, kFlags, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(reserved);
  const uintptr_t aligned = (begin + alignment - 1) & ~(uintptr_t{alignment} - 1);
  if (aligned > begin) munmap(reserved, aligned - begin);
  if (aligned - begin < alignment) {
    munmap(reinterpret_cast<void*>(aligned + size), alignment - (aligned - begin));
  }
  return reinterpret_cast<char*>(aligned);
}

}  // namespace

Status AddressRange::Reserve(uint64_t size, uint64_t spare, std::shared_ptr<AddressRange>* range) {
  for (;; spare = spare / 16 / kAlignment * kAlignment) {
    char* const base = TryReserve(size + spare);
    if (base != nullptr) {
      range->reset(new AddressRange(base, size + spare));
      return Status::OK();
    }
    if (spare == 0) break;
  }
  return Status::IOError("cannot reserve " + std::to_string(size) + " bytes of address space", strerror(errno));
}

AddressRange::~AddressRange() { munmap(base_, size_); }

void AddressRange::Clear(uint64_t offset, uint64_t size) const {
  mmap(base_ + offset, size, PROT_NONE, kFlags | MAP_FIXED, -1, 0);
}

}  // namespace miodb
