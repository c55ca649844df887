// Holding space for readers.

#include "src/nvm/reader_guard.h"

#include <chrono>
#include <thread>

#include "src/util/clock.h"

namespace miodb {

namespace {

// A reader looks at the manifest more often than this. One that was stopped, or holds what it sees, is not waited for.
constexpr uint64_t kMostWaitMicros = 100000;
constexpr uint64_t kLookMicros = 500;

}  // namespace

bool ReaderGuard::WaitUntilSeen() { return WaitUntilPassed(page_->Advance()); }

void ReaderGuard::WaitUntilPassed() {
  uint64_t oldest;
  {
    const MutexLock lock(&mutex_);
    if (held_.empty()) return;
    oldest = held_.front().time;
    if (oldest == waited_for_) return;
  }
  if (WaitUntilPassed(oldest)) return;
  const MutexLock lock(&mutex_);
  waited_for_ = oldest;
}

bool ReaderGuard::WaitUntilPassed(uint64_t time) {
  const uint64_t end = NowMicros() + kMostWaitMicros;
  while (!page_->PassedBy(time)) {
    if (NowMicros() >= end) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(kLookMicros));
  }
  return true;
}

// The order of times is that of the list, so the clock is advanced under the mutex.
void ReaderGuard::Hold(PmRef offset, uint64_t size) {
  DCHECK_GT(size, 0u);
  const MutexLock lock(&mutex_);
  held_.push_back({offset, size, page_->Advance()});
  held_bytes_.fetch_add(size, std::memory_order_relaxed);  // relaxed: a figure
}

bool ReaderGuard::HoldIfRead(PmRef offset, uint64_t size) {
  DCHECK_GT(size, 0u);
  const MutexLock lock(&mutex_);
  const uint64_t time = page_->Advance();
  if (page_->PassedBy(time)) return false;
  held_.push_back({offset, size, time});
  held_bytes_.fetch_add(size, std::memory_order_relaxed);  // relaxed: a figure
  return true;
}

bool ReaderGuard::TakePassed(Run* run) {
  const MutexLock lock(&mutex_);
  if (held_.empty() || !page_->PassedBy(held_.front().time)) return false;
  *run = held_.front();
  held_.pop_front();
  const uint64_t before = held_bytes_.fetch_sub(run->size, std::memory_order_relaxed);  // relaxed: a figure
  DCHECK_GE(before, run->size);
  return true;
}

}  // namespace miodb
