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

uint64_t BlocksTouched(const char* addr, size_t n, unsigned shift) {
  DCHECK_GT(n, 0u);
  const uintptr_t first = reinterpret_cast<uintptr_t>(addr) >> shift;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(addr) + n - 1) >> shift;
  return last - first + 1;
}

bool LieApart(const char* a, const char* b, size_t n) {
  const uintptr_t x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x + n <= y || y + n <= x;
}

// Adds without a locked instruction where the caller is the only writer.
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
  switch (mode) {
    case kPersistPmem:
      return "pmem";
    case kPersistEmulated:
      return "emulated";
    default:
      return "file";
  }
}

void Persist::Count(Purpose purpose, const char* dst, size_t n) {
  DCHECK_LT(purpose, Purpose::kCount);
  PersistCounters& c = counters_[static_cast<int>(purpose)];
  const bool only_writer = purpose == Purpose::kLog;
  Add(c.bytes, n, only_writer);
  Add(c.lines, BlocksTouched(dst, n, 6), only_writer);
  Add(c.units, BlocksTouched(dst, n, 8), only_writer);
}

void Persist::Copy(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_ARGUMENT) {
  if (n == 0) return;
  DCHECK(LieApart(dst, static_cast<const char*>(src), n));
  Count(purpose, dst, n);
  if (model_ != nullptr) model_->Write(dst, n);
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

Status Persist::Fence(Purpose purpose MIODB_SITE_ARGUMENT) {
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

// Between the beginning and the end of a round nothing may be thrown: later rounds wait for it.
Status Persist::SyncDirty() {
  int failure;
  {
    MutexLock lock(&dirty_mutex_);
    if (failure_ == 0) {
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

// Returns an error number, or 0.
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
  if (!dirty_.empty()) {
    DirtyRange& last = dirty_.back();
    if (added.begin <= last.end && last.begin <= added.end) {
      last = {std::min(last.begin, added.begin), std::max(last.end, added.end)};
      return;
    }
  }
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
