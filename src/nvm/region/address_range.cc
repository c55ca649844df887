// Ranges of addresses by system calls: what is reserved is mapped without access and without memory (MAP_NORESERVE),
// so it costs addresses alone.

#include "src/nvm/region/address_range.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "src/util/files/page.h"

namespace miodb {

namespace {

constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// The kernel counts addresses in pages; none of any kind is larger where a range may end.
constexpr uint64_t kGrain = uint64_t{2} << 20;
static_assert(AddressRange::kAlignment % kGrain == 0 && kGrain % kPageBytes == 0);

// A range takes no more than this part of the addresses that a limit leaves the process, unless it has to: the program
// needs addresses for its memory.
constexpr uint64_t kPartOfLimit = 8;

// In bytes, for the whole process (ulimit -v). The limit is asked anew each time, as a program may change its limits.
uint64_t LimitOfAddresses() {
  struct rlimit limit;
  return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

void GiveBack(uintptr_t begin, uintptr_t end) {
  DCHECK(begin <= end);
  if (begin < end) munmap(reinterpret_cast<void*>(begin), end - begin);
}

// Addresses of a range aligned as it has to be, with room behind it, by reserving more than is needed and giving back
// both ends. The room goes back at once as well: what it is for is that the kernel chose a gap which has so much behind
// the range, and it fills gaps from their far end, so the range finds these addresses free for long.
char* TryReserve(uint64_t size, uint64_t room) {
  constexpr uint64_t alignment = AddressRange::kAlignment;
  const uint64_t all = size + room + alignment;
  void* const reserved = mmap(nullptr, all, PROT_NONE, kFlags, -1, 0);
  if (reserved == MAP_FAILED) return nullptr;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(reserved);
  const uintptr_t aligned = (begin + alignment - 1) & ~(uintptr_t{alignment} - 1);
  CHECK(aligned >= begin && aligned + size + room <= begin + all);
  GiveBack(begin, aligned);
  GiveBack(aligned + size, begin + all);
  return reinterpret_cast<char*>(aligned);
}

// Reserves just these addresses, if they are nobody's. MAP_FIXED alone would take them from whoever has them.
bool TryReserveAt(char* at, uint64_t size) {
  CHECK_GT(size, 0u);
  void* const reserved = mmap(at, size, PROT_NONE, kFlags | MAP_FIXED_NOREPLACE, -1, 0);
  if (reserved == at) return true;
  if (reserved != MAP_FAILED) munmap(reserved, size);  // kernels before 4.17 take the address for a hint
  return false;
}

// Half of what is wanted beyond least, to be tried next.
uint64_t Less(uint64_t least, uint64_t wanted) {
  CHECK_LT(least, wanted);
  return least + (wanted - least) / 2 / kGrain * kGrain;
}

}  // namespace

// The room shrinks by sixteenths before the range itself shrinks by halves: a range without room behind it only grows
// less, a range that is too short does not hold the pool.
Status AddressRange::Reserve(uint64_t least, uint64_t wanted, uint64_t room, std::shared_ptr<AddressRange>* range) {
  CHECK_LE(least, wanted);
  const uint64_t limit = LimitOfAddresses();
  const uint64_t affordable = limit / kPartOfLimit / kGrain * kGrain;
  room = std::min(room, affordable) / kGrain * kGrain;
  for (wanted = std::max(least, std::min(wanted, affordable));;) {
    char* const base = TryReserve(wanted, room);
    if (base != nullptr) {
      CHECK_GE(wanted, least);
      range->reset(new AddressRange(base, wanted));
      return Status::OK();
    }
    if (room > 0) {
      room = room / 16 / kGrain * kGrain;
    } else if (wanted > least) {
      wanted = Less(least, wanted);
    } else {
      break;
    }
  }
  // Not even the least can be had.
  const std::string reason = strerror(errno);
  const std::string limited =
      limit == UINT64_MAX ? "" : "; the process may have " + std::to_string(limit) + " (ulimit -v)";
  return Status::IOError("cannot reserve " + std::to_string(least) + " bytes of address space", reason + limited);
}

// The mutex keeps two growing regions of one pool from extending the range at once; readers of size() need no lock,
// since addresses only come to it.
bool AddressRange::Extend(uint64_t least, uint64_t wanted) {
  CHECK_LE(least, wanted);
  MutexLock lock(&mutex_);
  const uint64_t old_size = size();
  if (least <= old_size) return true;
  least = (least + kGrain - 1) / kGrain * kGrain;
  const uint64_t affordable = std::min(old_size + LimitOfAddresses() / kPartOfLimit, UINT64_MAX - kGrain);
  for (wanted = std::max(least, std::min(wanted, affordable) / kGrain * kGrain);; wanted = Less(least, wanted)) {
    CHECK(wanted >= least && least > old_size);
    if (TryReserveAt(base_ + old_size, wanted - old_size)) {
      size_.store(wanted, std::memory_order_release);  // release: pairs with size()
      return true;
    }
    if (wanted == least) return false;
  }
}

AddressRange::~AddressRange() { munmap(base_, size()); }

// Mapping over what is there takes it away and keeps the addresses in one call; unmapping would leave a moment in which
// another thread's mmap could get them.
void AddressRange::Clear(uint64_t offset, uint64_t size) const {
  CHECK(offset % kPageBytes == 0 && offset <= this->size() && size <= this->size() - offset);
  mmap(base_ + offset, size, PROT_NONE, kFlags | MAP_FIXED, -1, 0);
}

}  // namespace miodb
