// Holding space for readers.

#include "src/nvm/readers/reader_guard.h"

#include <chrono>
#include <thread>

#include "src/util/clock/clock.h"

namespace miodb {

namespace {

// Space that came free goes one of two ways. If each reader has looked at the manifest since, which is one pass over
// the slots, it is free at once; where nobody reads that is always so. Else it waits in the list, which is in the order
// of times, and whoever allocates takes from its head what has been passed meanwhile. So no thread is needed for it,
// and where nobody allocates nothing is missed.

// A reader looks at the manifest more often than this. A reader that was stopped, or that keeps its view, is waited for
// so long at most if space is short, and still less by an open.
constexpr uint64_t kMostWaitMicros = 100000;
constexpr uint64_t kMostOpenWaitMicros = 30000;
constexpr uint64_t kSlotLookMicros = 500;

}  // namespace

bool ReaderGuard::WaitUntilSeen() { return WaitUntilPassed(page_->Advance(), kMostOpenWaitMicros); }

void ReaderGuard::WaitUntilPassed() {
  uint64_t oldest;
  {
    const MutexLock lock(&mutex_);
    if (held_.empty()) return;
    oldest = held_.front().time;
    CHECK_GE(oldest, waited_for_);
    if (oldest == waited_for_) return;
  }
  if (WaitUntilPassed(oldest, kMostWaitMicros)) return;
  const MutexLock lock(&mutex_);
  waited_for_ = oldest;
}

bool ReaderGuard::WaitUntilPassed(uint64_t time, uint64_t micros) {
  static_assert(kSlotLookMicros < kMostOpenWaitMicros && kMostOpenWaitMicros < kMostWaitMicros);
  DCHECK_GT(time, ReaderPage::kAll);
  const uint64_t end = NowMicros() + micros;
  while (!page_->PassedBy(time)) {
    if (NowMicros() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(kSlotLookMicros));
  }
  return true;
}

// The order of times is that of the list, so the clock is advanced under the mutex.
void ReaderGuard::Hold(PmRef offset, uint64_t size) {
  DCHECK_GT(size, 0u);
  const MutexLock lock(&mutex_);
  const uint64_t time = page_->Advance();
  DCHECK(held_.empty() || held_.back().time < time);
  held_.push_back({offset, size, time});
  held_bytes_.fetch_add(size, std::memory_order_relaxed);  // relaxed: a figure
}

bool ReaderGuard::HoldIfRead(PmRef offset, uint64_t size) {
  DCHECK_GT(size, 0u);
  const MutexLock lock(&mutex_);
  const uint64_t time = page_->Advance();
  if (page_->PassedBy(time)) return false;
  CHECK(held_.empty() || held_.back().time < time);
  held_.push_back({offset, size, time});
  held_bytes_.fetch_add(size, std::memory_order_relaxed);  // relaxed: a figure
  return true;
}

bool ReaderGuard::TakePassed(Run* run) {
  DCHECK(run != nullptr);
  const MutexLock lock(&mutex_);
  if (held_.empty() || !page_->PassedBy(held_.front().time)) return false;
  *run = held_.front();
  held_.pop_front();
  const uint64_t before = held_bytes_.fetch_sub(run->size, std::memory_order_relaxed);  // relaxed: a figure
  DCHECK_GE(before, run->size);
  return true;
}

}  // namespace miodb
