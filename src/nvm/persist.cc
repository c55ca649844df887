// The door by way of libpmem (modes pmem and emulated) and of msync (mode file). In mode emulated the instructions are
// those of mode pmem, on memory that does not need them, so that figures and bugs are those of persistent memory.

#include "src/nvm/persist.h"

#include <libpmem.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace miodb {

namespace {

// From here on non-temporal stores beat cached stores and write-back, and do not displace the cache.
constexpr size_t kNonTemporalMinBytes = 512;
static_assert(kNonTemporalMinBytes % 64 == 0);

// More dirty ranges than this are folded into one that covers them all; msync skips what is clean.
constexpr size_t kMaxDirtyRanges = 256;

// Blocks of 1 << shift bytes that [addr, addr + n) has a byte in: what the medium has to write, which is more than n
// for small and unaligned stores.
uint64_t BlocksTouched(const char* addr, size_t n, unsigned shift) {
  DCHECK_GT(n, 0u);
  const uintptr_t first = reinterpret_cast<uintptr_t>(addr) >> shift;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(addr) + n - 1) >> shift;
  return last - first + 1;
}

// Copy is a memcpy, which promises nothing of ranges that overlap.
bool LieApart(const char* a, const char* b, size_t n) {
  const uintptr_t x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x + n <= y || y + n <= x;
}

// Adds without a locked instruction where the caller is the only writer: every put comes through here.
void Add(std::atomic<uint64_t>& counter, uint64_t n, bool only_writer) {
  if (only_writer) {
    // relaxed: a statistic, ordered by nothing and ordering nothing.
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  } else {
    counter.fetch_add(n, std::memory_order_relaxed);  // relaxed: as above
  }
}

}  // namespace

const char* PurposeName(Purpose purpose) {
  static const char* const names[] = {"log", "flush", "merge", "lazy-copy", "evacuation", "manifest"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<size_t>(Purpose::kCount));
  CHECK_LT(purpose, Purpose::kCount);
  return names[static_cast<int>(purpose)];
}

const char* PersistModeName(PersistMode mode) {
  CHECK_NE(mode, kPersistAuto);  // what was asked for, never what a medium gives
  switch (mode) {
    case kPersistPmem:
      return "pmem";
    case kPersistEmulated:
      return "emulated";
    default:
      return "file";
  }
}

// Shifts by 6 and 8 are the processor's line of 64 bytes and the 256 bytes that Optane writes at a time.
void Persist::Count(Purpose purpose, const char* dst, size_t n) {
  DCHECK_LT(purpose, Purpose::kCount);
  PersistCounters& c = counters_[static_cast<int>(purpose)];
  const bool only_writer = purpose == Purpose::kLog;
  Add(c.bytes, n, only_writer);
  Add(c.lines, BlocksTouched(dst, n, 6), only_writer);
  Add(c.units, BlocksTouched(dst, n, 8), only_writer);
}

// Stores without a fence of their own (NODRAIN): whoever publishes fences once for all that it stored. What a crash
// leaves is any subset of the words, so nothing may refer to dst until the fence.
void Persist::Copy(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_ARGUMENT) {
  if (n == 0) return;
  DCHECK(dst != nullptr && src != nullptr);
  DCHECK(LieApart(dst, static_cast<const char*>(src), n));
  Count(purpose, dst, n);
  if (model_ != nullptr) model_->Write(dst, n);  // waits as long as the modelled memory would take
#ifdef MIODB_SIMULATOR
  if (hook_ != nullptr) {
    const bool streamed = mode_ != kPersistFile && n >= kNonTemporalMinBytes;
    if (hook_->OnCopy(site, purpose, dst, src, n, streamed) && mode_ == kPersistFile) MarkDirty(dst, n);
    return;
  }
#endif
  if (mode_ == kPersistFile) {
    memcpy(dst, src, n);
    MarkDirty(dst, n);
    return;
  }
  pmem_memcpy(dst, src, n,
              PMEM_F_MEM_NODRAIN | (n < kNonTemporalMinBytes ? PMEM_F_MEM_TEMPORAL : PMEM_F_MEM_NONTEMPORAL));
}

// The bytes are where they belong already, in a cache perhaps, whose lines are written back and stay.
void Persist::Flush(Purpose purpose, char* addr, size_t n MIODB_SITE_ARGUMENT) {
  if (n == 0) return;
  DCHECK(addr != nullptr);
  Count(purpose, addr, n);
#ifdef MIODB_SIMULATOR
  if (hook_ != nullptr) {
    if (hook_->OnFlush(site, addr, n) && mode_ == kPersistFile) MarkDirty(addr, n);
    return;
  }
#endif
  if (mode_ == kPersistFile) {
    MarkDirty(addr, n);
  } else {
    pmem_flush(addr, n);
  }
}

// A fence is the calling thread's: stores of other threads become durable by their own. In mode file it is not, since a
// round takes the dirty ranges of all.
Status Persist::Fence(Purpose purpose MIODB_SITE_ARGUMENT) {
  DCHECK_LT(purpose, Purpose::kCount);
  Add(counters_[static_cast<int>(purpose)].fences, 1, purpose == Purpose::kLog);
#ifdef MIODB_SIMULATOR
  if (hook_ != nullptr && (!hook_->OnFence(site) || mode_ != kPersistFile)) return Status::OK();
#endif
  if (mode_ != kPersistFile) {
    pmem_drain();
    return Status::OK();
  }
  return SyncDirty();
}

// One round: the dirty ranges are taken under the mutex and synced without it, so that others store and mark meanwhile.
// A round ends only after those that began before it, even if its own calls are done: some of what this thread stored
// may be among the ranges that an earlier round took. Between the beginning and the end of a round nothing may be
// thrown, for later rounds wait for it; hence an array on the stack and no copy of the vector.
Status Persist::SyncDirty() {
  int failure;
  {
    MutexLock lock(&dirty_mutex_);
    if (failure_ == 0) {
      // Rounds are numbered as they begin. What is marked from here on belongs to a later one.
      const uint64_t round = ++rounds_begun_;
      std::array<DirtyRange, kMaxDirtyRanges> taken;
      const size_t count = dirty_.size();
      CHECK_LE(count, taken.size());
      std::copy(dirty_.begin(), dirty_.end(), taken.begin());
      dirty_.clear();
      int error = 0;
      {
        MutexUnlock unlock(&dirty_mutex_);
        for (size_t i = 0; i < count && error == 0; i++) error = SyncRange(taken[i]);
      }
      if (failure_ == 0) failure_ = error;
      while (rounds_ended_ != round - 1) round_ended_.Wait();
      rounds_ended_ = round;
      CHECK_LE(rounds_ended_, rounds_begun_);
      round_ended_.SignalAll();
    }
    // Whoever is told of a failure may rely on it that nothing is written any more.
    while (failure_ != 0 && rounds_ended_ != rounds_begun_) round_ended_.Wait();
    failure = failure_;
  }
  return failure == 0 ? Status::OK() : Status::IOError(path_, std::string("msync: ") + strerror(failure));
}

// Returns an error number, or 0. Pages that nobody stored to since the last msync cost the kernel a look.
int Persist::SyncRange(const DirtyRange& range) const {
  CHECK_LT(range.begin, range.end);
  const size_t size = range.end - range.begin;
#ifdef MIODB_SIMULATOR
  if (hook_ != nullptr) {
    hook_->OnSync(reinterpret_cast<char*>(range.begin), size);
    return 0;
  }
#endif
  return msync(reinterpret_cast<void*>(range.begin), size, MS_SYNC) == 0 ? 0 : errno;
}

// Ranges are of whole pages, as msync takes them. A range that touches the last one joins it, which is the common case:
// a log chunk or an index is written from front to back.
void Persist::MarkDirty(const char* addr, size_t n) {
#ifdef MIODB_SIMULATOR
  constexpr uintptr_t page_mask = 63;  // what lies on the same page gains nothing by the company
#else
  static const uintptr_t page_mask = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1;
#endif
  const DirtyRange added{reinterpret_cast<uintptr_t>(addr) & ~page_mask,
                         (reinterpret_cast<uintptr_t>(addr) + n + page_mask) & ~page_mask};
  CHECK(added.begin < added.end && mode_ == kPersistFile);
  MutexLock lock(&dirty_mutex_);
  CHECK_LE(dirty_.size(), kMaxDirtyRanges);  // what a round has room for
  if (!dirty_.empty()) {
    DirtyRange& last = dirty_.back();
    if (added.begin <= last.end && last.begin <= added.end) {
      last = {std::min(last.begin, added.begin), std::max(last.end, added.end)};
      return;
    }
  }
  // A hull syncs pages that are clean as well, which costs less than a call for each of very many ranges.
  if (dirty_.size() < kMaxDirtyRanges) return dirty_.push_back(added);
  DirtyRange hull = added;
  for (const DirtyRange& range : dirty_) {
    hull = {std::min(hull.begin, range.begin), std::max(hull.end, range.end)};
  }
  CHECK(hull.begin <= added.begin && hull.end >= added.end);
  dirty_.assign(1, hull);
}

uint64_t Persist::TotalBytes() const {
  uint64_t total = 0;
  for (const PersistCounters& c : counters_) total += c.bytes.load(std::memory_order_relaxed);  // relaxed: statistic
  return total;
}

}  // namespace miodb
