// The door. In the modes pmem and emulated a store is flushed by libpmem and a fence is an instruction; in the mode
// file a store marks pages dirty in the stream of its purpose, and a fence syncs the pages of that stream. The
// simulator stands in the way of both, and sees every store, flush, fence and sync.

#include "src/nvm/persist/persist.h"

#include <libpmem.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace miodb {

namespace {

// From here on non-temporal stores beat cached stores and write-back, and do not displace the cache.
constexpr size_t kNonTemporalMinBytes = 512;
static_assert(kNonTemporalMinBytes % 64 == 0);

// More dirty ranges than this in a stream are joined with their neighbours; msync skips what is clean between them.
constexpr size_t kMaxDirtyRanges = 256;

// Blocks of 2^shift bytes that the range lies in: cache lines, or units in which the medium writes.
uint64_t BlocksTouched(const char* addr, size_t n, unsigned shift) {
  DCHECK_GT(n, 0u);
  const uintptr_t first = reinterpret_cast<uintptr_t>(addr) >> shift;
  const uintptr_t last = (reinterpret_cast<uintptr_t>(addr) + n - 1) >> shift;
  return last - first + 1;
}

// The numbers are those of a trace.
TraceAccess::Purpose TracedPurpose(Purpose purpose) {
  static_assert(static_cast<int>(Purpose::kLog) == TraceAccess::kLog);
  static_assert(static_cast<int>(Purpose::kFlush) == TraceAccess::kMemtableFlush);
  static_assert(static_cast<int>(Purpose::kMerge) == TraceAccess::kMerge);
  static_assert(static_cast<int>(Purpose::kLazyCopy) == TraceAccess::kLazyCopy);
  static_assert(static_cast<int>(Purpose::kEvacuation) == TraceAccess::kEvacuation);
  static_assert(static_cast<int>(Purpose::kManifest) == TraceAccess::kManifest);
  static_assert(static_cast<int>(Purpose::kCount) == TraceAccess::kManifest + 1);
  return static_cast<TraceAccess::Purpose>(purpose);
}

// pmem_memcpy is no memmove.
bool LieApart(const char* a, const char* b, size_t n) {
  const uintptr_t x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return x + n <= y || y + n <= x;
}

// The threads that add to a set of counters.
enum class Adders : uint8_t {
  kOne,      // one at a time, which needs no locked instruction
  kSeveral,  // any number at once
};

void Add(std::atomic<uint64_t>& counter, uint64_t n, Adders adders) {
  if (adders == Adders::kOne) {
    // relaxed: a statistic, ordered by nothing and ordering nothing.
    counter.store(counter.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  } else {
    counter.fetch_add(n, std::memory_order_relaxed);  // relaxed: as above
  }
}

// Log bytes without a lane are stored by one thread at a time, the leader of the writers; other purposes have several.
Adders AddersOf(Purpose purpose) { return purpose == Purpose::kLog ? Adders::kOne : Adders::kSeveral; }

void Count(PersistCounters* counters, Adders adders, const char* dst, size_t n) {
  DCHECK(counters != nullptr && n > 0);
  Add(counters->bytes, n, adders);
  Add(counters->lines, BlocksTouched(dst, n, 6), adders);
  Add(counters->units, BlocksTouched(dst, n, 8), adders);
}

}  // namespace

const char* PurposeName(Purpose purpose) {
  static const char* const names[] = {"log", "flush", "merge", "lazy-copy", "evacuation", "manifest"};
  static_assert(sizeof(names) / sizeof(names[0]) == static_cast<size_t>(Purpose::kCount));
  CHECK_LT(purpose, Purpose::kCount);
  return names[static_cast<int>(purpose)];
}

// Flushes, merges, lazy copies and evacuations all write tables, whose fences may wait for one another. A write to the
// log must not wait for any of them, nor an edit of the manifest.
SyncStream StreamOf(Purpose purpose) {
  switch (purpose) {
    case Purpose::kLog:
      return SyncStream::kLog;
    case Purpose::kManifest:
      return SyncStream::kManifest;
    default:
      return SyncStream::kTables;
  }
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

bool Persist::Store(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_ARGUMENT) {
  DCHECK_LT(purpose, Purpose::kCount);
  if (n == 0) return false;
  Count(&counters_[static_cast<int>(purpose)], AddersOf(purpose), dst, n);
  return StoreBytes(purpose, dst, src, n MIODB_SITE_PASSED);
}

// Whether a fence has to sync what was stored: in file mode, if nothing keeps it from the medium.
bool Persist::StoreBytes(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_ARGUMENT) {
  DCHECK(dst != nullptr && src != nullptr && n > 0);
  DCHECK(LieApart(dst, static_cast<const char*>(src), n));
  if (model_ != nullptr) [[unlikely]]
    model_->Write(TracedPurpose(purpose), dst, n);
#ifdef MIODB_SIMULATOR
  if (hook_ != nullptr) {
    const bool streamed = mode_ != kPersistFile && n >= kNonTemporalMinBytes;
    return hook_->OnCopy(site, purpose, dst, src, n, streamed) && mode_ == kPersistFile;
  }
#endif
  if (mode_ == kPersistFile) {
    memcpy(dst, src, n);
    return true;
  }
  pmem_memcpy(dst, src, n,
              PMEM_F_MEM_NODRAIN | (n < kNonTemporalMinBytes ? PMEM_F_MEM_TEMPORAL : PMEM_F_MEM_NONTEMPORAL));
  return false;
}

// Stores without a fence (NODRAIN): the thread that publishes fences once for all of its stores. A crash leaves any
// subset of the words, so nothing may refer to dst until the fence.
void Persist::Copy(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_ARGUMENT) {
  if (Store(purpose, dst, src, n MIODB_SITE_PASSED)) MarkDirty(StreamOf(purpose), dst, n);
}

void Persist::CopyBeside(size_t lane, char* dst, const void* src, size_t n MIODB_SITE_ARGUMENT) {
  DCHECK(lane < kLogLanes && n > 0 && mode_ != kPersistFile);
  Count(&lanes_[lane], Adders::kOne, dst, n);
  StoreBytes(Purpose::kLog, dst, src, n MIODB_SITE_PASSED);
}

// Covers what this thread stored, and nothing of the other lanes'.
void Persist::FenceBeside(size_t lane MIODB_SITE_ARGUMENT) {
  DCHECK(lane < kLogLanes && mode_ != kPersistFile);
  Add(lanes_[lane].fences, 1, Adders::kOne);
  if (model_ != nullptr) [[unlikely]]
    model_->Fence(TraceAccess::kLog);
#ifdef MIODB_SIMULATOR
  if (hook_ != nullptr) {
    hook_->OnFence(site);
    return;
  }
#endif
  pmem_drain();
}

void Persist::CopyHint(Purpose purpose, char* dst, const void* src, size_t n MIODB_SITE_ARGUMENT) {
  [[maybe_unused]] const bool syncable = Store(purpose, dst, src, n MIODB_SITE_PASSED);
#ifdef MIODB_SIMULATOR
  // The simulated kernel writes it with what is synced next. At other times it would double the crash images of all
  // that follows.
  if (syncable) MarkDirty(StreamOf(purpose), dst, n);
#endif
}

// Bytes that were stored in place, without Copy: fields of a header, a word that is replaced.
void Persist::Flush(Purpose purpose, char* addr, size_t n MIODB_SITE_ARGUMENT) {
  if (n == 0) return;
  DCHECK(addr != nullptr);
  Count(&counters_[static_cast<int>(purpose)], AddersOf(purpose), addr, n);
  if (model_ != nullptr) [[unlikely]]
    model_->Flush(TracedPurpose(purpose), addr, n);
#ifdef MIODB_SIMULATOR
  if (hook_ != nullptr) {
    if (hook_->OnFlush(site, addr, n) && mode_ == kPersistFile) MarkDirty(StreamOf(purpose), addr, n);
    return;
  }
#endif
  if (mode_ == kPersistFile) {
    MarkDirty(StreamOf(purpose), addr, n);
  } else {
    pmem_flush(addr, n);
  }
}

void Persist::Cover(Purpose purpose, const char* addr, size_t n) {
  if (mode_ == kPersistFile && n > 0) MarkDirty(StreamOf(purpose), addr, n);
}

Status Persist::Fence(Purpose purpose MIODB_SITE_ARGUMENT) {
  Add(counters_[static_cast<int>(purpose)].fences, 1, AddersOf(purpose));
#ifdef MIODB_SIMULATOR
  if (hook_ != nullptr && (!hook_->OnFence(site) || mode_ != kPersistFile)) return Status::OK();
#endif
  if (model_ != nullptr || mode_ == kPersistFile) [[unlikely]]
    return FenceApart(purpose);
  pmem_drain();
  return Status::OK();
}

// Apart, so that a fence which is an instruction saves no registers for this.
[[gnu::noinline]] Status Persist::FenceApart(Purpose purpose) {
  DCHECK(model_ != nullptr || mode_ == kPersistFile);
  if (model_ != nullptr) model_->Fence(TracedPurpose(purpose));
  if (mode_ == kPersistFile) return SyncDirty(StreamOf(purpose));
  pmem_drain();
  return Status::OK();
}

// A round: the dirty ranges are taken under the mutex and synced without it, so that others store and mark meanwhile. A
// round ends only after those of its stream that began before it, even if its own calls are done: some of what this
// thread stored may be among the ranges that an earlier round took. In between nothing may be thrown, for later rounds
// wait for this one; hence an array on the stack and no copy of the vector.
//
// A flush covers the part of the log that it turns into tables, so when its round has ended a synced write need not
// sync that part once more. Ranges that were stored to meanwhile stay dirty.
Status Persist::SyncDirty(SyncStream which) {
  int failure;
  {
    MutexLock lock(&dirty_mutex_);
    if (failure_ == 0) {
      Stream& stream = StreamAt(which);
      const uint64_t round = ++stream.rounds_begun, marks = marks_;
      std::array<DirtyRange, kMaxDirtyRanges> taken;
      const size_t count = stream.dirty.size();
      CHECK_LE(count, taken.size());
      std::copy(stream.dirty.begin(), stream.dirty.end(), taken.begin());
      stream.dirty.clear();
      int error = 0;
      {
        MutexUnlock unlock(&dirty_mutex_);
        for (size_t i = 0; i < count && error == 0; i++) error = SyncRange(taken[i]);
      }
      if (failure_ == 0) failure_ = error;
      while (stream.rounds_ended != round - 1) round_ended_.Wait();
      stream.rounds_ended = round;
      CHECK_LE(stream.rounds_ended, stream.rounds_begun);
      if (failure_ == 0 && which != SyncStream::kLog) {
        std::erase_if(StreamAt(SyncStream::kLog).dirty, [&](const DirtyRange& log) {
          return log.marked <= marks &&
                 std::any_of(taken.begin(), taken.begin() + count, [&](const DirtyRange& synced) {
                   return synced.begin <= log.begin && log.end <= synced.end;
                 });
        });
      }
      round_ended_.SignalAll();
    }
    // A caller that gets the failure may rely on it that nothing is written any more.
    while (failure_ != 0 && RoundRuns()) round_ended_.Wait();
    failure = failure_;
  }
  return failure == 0 ? Status::OK() : Status::IOError(path_, std::string("msync: ") + strerror(failure));
}

// A round counts as running until those before it have ended as well.
bool Persist::RoundRuns() const {
  return std::any_of(std::begin(streams_), std::end(streams_),
                     [](const Stream& stream) { return stream.rounds_begun != stream.rounds_ended; });
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

// Destructors store too, as that of an extent whose magic number goes, and they must not throw: so no store needs
// memory. By the constructor, before anybody else knows of this.
void Persist::ReserveRanges() {
  for (Stream& stream : streams_) stream.dirty.reserve(kMaxDirtyRanges);
}

// Ranges are of whole pages, as msync takes them. A range that touches the last one joins it, which is the common case:
// a log chunk or an index is written from front to back.
void Persist::MarkDirty(SyncStream stream, const char* addr, size_t n) {
#ifdef MIODB_SIMULATOR
  constexpr uintptr_t page_mask = 63;  // what lies on the same page gains nothing by the company
#else
  static const uintptr_t page_mask = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)) - 1;
#endif
  CHECK_EQ(mode_, kPersistFile);
  MutexLock lock(&dirty_mutex_);
  const DirtyRange added{reinterpret_cast<uintptr_t>(addr) & ~page_mask,
                         (reinterpret_cast<uintptr_t>(addr) + n + page_mask) & ~page_mask, ++marks_};
  CHECK_LT(added.begin, added.end);
  std::vector<DirtyRange>& dirty = StreamAt(stream).dirty;
  // Chunks of the log that touch stay apart, so that each is left out when it has been flushed.
  const uintptr_t apart = stream == SyncStream::kLog ? 1 : 0;
  if (!dirty.empty() && added.begin + apart <= dirty.back().end && dirty.back().begin + apart <= added.end) {
    DirtyRange& last = dirty.back();
    last = {std::min(last.begin, added.begin), std::max(last.end, added.end), added.marked};
    return;
  }
  if (dirty.size() == kMaxDirtyRanges) JoinRanges(&dirty);
  DCHECK_GE(dirty.capacity(), kMaxDirtyRanges);
  dirty.push_back(added);
}

// Joins what touches; then, if that leaves more than half as many, what lies nearest to each other. Needs no memory.
void Persist::JoinRanges(std::vector<DirtyRange>* ranges) {
  CHECK_LE(ranges->size(), kMaxDirtyRanges);
  std::sort(ranges->begin(), ranges->end(), [](const DirtyRange& a, const DirtyRange& b) { return a.begin < b.begin; });
  const auto join = [ranges](uintptr_t most_apart) {
    size_t last = 0;
    for (size_t i = 1; i < ranges->size(); i++) {
      DirtyRange& before = (*ranges)[last];
      const DirtyRange& range = (*ranges)[i];
      if (range.begin <= before.end || range.begin - before.end <= most_apart) {
        before = {before.begin, std::max(before.end, range.end), std::max(before.marked, range.marked)};
      } else {
        (*ranges)[++last] = range;
      }
    }
    ranges->resize(last + 1);
  };
  join(0);
  if (ranges->size() <= kMaxDirtyRanges / 2) return;
  std::array<uintptr_t, kMaxDirtyRanges> apart;
  const size_t gaps = ranges->size() - 1, joins = ranges->size() - kMaxDirtyRanges / 2;
  for (size_t i = 0; i < gaps; i++) apart[i] = (*ranges)[i + 1].begin - (*ranges)[i].end;
  std::nth_element(apart.begin(), apart.begin() + joins - 1, apart.begin() + gaps);
  join(apart[joins - 1]);
  CHECK_LE(ranges->size(), kMaxDirtyRanges / 2);
}

uint64_t Persist::TotalBytes() const {
  uint64_t total = 0;
  for (const PersistCounters& c : counters_) total += c.bytes.load(std::memory_order_relaxed);  // relaxed: statistic
  for (const PersistCounters& c : lanes_) total += c.bytes.load(std::memory_order_relaxed);     // relaxed: as above
  return total;
}

}  // namespace miodb
