// HeldSpace: between an owner's pool and what of it is free: space that comes free waits here until no reader in
// another process needs it. A pool without readers in other processes has no guard, and nothing waits.
//
// Threads: any, but for Guard, EndClaims and EndOpen, which are the open's. After a crash: the next open asks the
// readers anew.

#ifndef MIODB_SRC_NVM_SPACE_HELD_SPACE_H_
#define MIODB_SRC_NVM_SPACE_HELD_SPACE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "src/format/pm_ref.h"
#include "src/util/check/check.h"

namespace miodb {

class PoolSpace;
class ReaderGuard;

class HeldSpace {
 public:
  // path: of the pool. The space outlives this.
  HeldSpace(std::string path, PoolSpace* space) : path_(std::move(path)), space_(space) { CHECK(space_ != nullptr); }
  HeldSpace(const HeldSpace&) = delete;
  HeldSpace& operator=(const HeldSpace&) = delete;

  // From now on space that comes free waits.
  void Guard(std::shared_ptr<ReaderGuard> guard);
  const std::shared_ptr<ReaderGuard>& guard() const { return guard_; }

  // Recovery has claimed what the manifest names, and nothing was allocated yet: what is free now waits as well, if
  // readers still look at an older manifest. Until the open ends WaitForRoom waits for them, some seconds in all.
  void EndClaims();
  void EndOpen() { open_patience_micros_.store(0, std::memory_order_relaxed); }  // relaxed: a limit

  // The edit without this is durable, or none ever named it.
  void Release(PmRef offset, uint64_t size);

  // Frees what readers have passed.
  void FreePassed();

  // Waits a little for readers to pass what waits for them. False: nothing came free.
  bool Wait();

  // The same, and in an open for longer.
  bool WaitForRoom() { return Wait() || WaitInOpen(); }

  uint64_t bytes() const;

  // Bytes that have come free in all. relaxed: a figure.
  uint64_t passed() const { return passed_.load(std::memory_order_relaxed); }

 private:
  bool WaitInOpen();

  const std::string path_;
  PoolSpace* const space_;
  std::shared_ptr<ReaderGuard> guard_;
  std::atomic<uint64_t> open_patience_micros_{0};
  std::atomic<uint64_t> passed_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_SPACE_HELD_SPACE_H_
