// Held space: when it is freed, and who waits for that.

#include "src/nvm/space/held_space.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "src/nvm/readers/reader_guard.h"
#include "src/nvm/space/pool_space.h"
#include "src/util/check/no_throw.h"
#include "src/util/clock/clock.h"

// Waiting for readers, and for how long:
//
//   an open           some hundredths of a second, for readers to look at the manifest as recovery has read it. If a
//                     reader does not look, all free space is held: the new owner cannot tell what that reader needs.
//                     Files may still grow; where they cannot, an allocation of the open waits for some seconds in all
//   an allocation     that finds no space: a tenth of a second, unless that was waited for in vain before
//   everybody else    not at all

namespace miodb {

namespace {

// How long an open waits for readers that keep it from space, and how often it looks.
constexpr uint64_t kOpenPatienceMicros = 3000000;
constexpr uint64_t kOpenLookMicros = 2000;
static_assert(kOpenLookMicros < kOpenPatienceMicros);

}  // namespace

void HeldSpace::Guard(std::shared_ptr<ReaderGuard> guard) {
  CHECK(guard_ == nullptr && guard != nullptr);
  CHECK_EQ(bytes(), 0u);
  guard_ = std::move(guard);
}

uint64_t HeldSpace::bytes() const { return guard_ != nullptr ? guard_->held_bytes() : 0; }

// Only the owner before knew which free space a reader needs.
void HeldSpace::EndClaims() {
  if (guard_ == nullptr || guard_->WaitUntilSeen()) return;
  open_patience_micros_.store(kOpenPatienceMicros, std::memory_order_relaxed);  // relaxed: a limit
  space_->HoldFree([this](PmRef offset, uint64_t size) { guard_->Hold(offset, size); });
}

// The space counts as held before the guard has it, since another thread may free it as soon as the guard has it.
void HeldSpace::Release(PmRef offset, uint64_t size) {
  DCHECK_GT(size, 0u);
  if (guard_ == nullptr) return space_->Free(offset, size);
  space_->Hold(offset, size);
  if (!guard_->HoldIfRead(offset, size)) space_->FreeHeld(offset, size);
}

// Without memory for an entry in the free map the space is lost until the next open.
void HeldSpace::FreePassed() {
  if (bytes() == 0) return;
  CHECK(guard_ != nullptr);
  NoThrow(path_, [this] {
    guard_->ForEachPassed([this](PmRef offset, uint64_t size) {
      space_->FreeHeld(offset, size);
      passed_.fetch_add(size, std::memory_order_relaxed);  // relaxed: a figure
    });
    return Status::OK();
  }).IgnoreError();
}

bool HeldSpace::Wait() {
  const uint64_t before = bytes();
  if (before == 0) return false;
  CHECK(guard_ != nullptr);
  guard_->WaitUntilPassed();
  FreePassed();
  return bytes() < before;
}

// A reader may be about to release the space that an open needs.
bool HeldSpace::WaitInOpen() {
  const uint64_t left = open_patience_micros_.load(std::memory_order_relaxed);  // relaxed: a limit
  const uint64_t before = bytes();
  if (before == 0 || left == 0) return false;
  DCHECK_LE(left, kOpenPatienceMicros);
  const uint64_t start = NowMicros();
  while (bytes() >= before && NowMicros() - start < left) {
    std::this_thread::sleep_for(std::chrono::microseconds(kOpenLookMicros));
    FreePassed();
  }
  const uint64_t waited = NowMicros() - start;
  open_patience_micros_.store(left - std::min(left, waited), std::memory_order_relaxed);  // relaxed: a limit
  return bytes() < before;
}

}  // namespace miodb
