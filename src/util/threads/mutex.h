// Mutual exclusion and waiting, with annotations that clang checks (util/check/thread_annotations.h).
//
//   MutexLock lock(&mu_);
//   while (!ready_) cv_.Wait();   // CondVar cv_(&mu_)
//
// A Mutex is not recursive and knows its owner. Waits may end without a signal, so they belong in a loop.

#ifndef MIODB_SRC_UTIL_THREADS_MUTEX_H_
#define MIODB_SRC_UTIL_THREADS_MUTEX_H_

#include <atomic>
#include <climits>
#include <cstdint>
#include <mutex>
#include <thread>

#include "src/util/check/check.h"
#include "src/util/check/thread_annotations.h"
#include "src/util/threads/futex.h"

namespace miodb {

class CAPABILITY("mutex") Mutex {
 public:
  Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;

  // Waits until no other thread holds the mutex and takes it. REQUIRES: this thread does not hold it.
  void Lock() ACQUIRE() {
    DCHECK(!IsHeldByThisThread());
    mu_.lock();
    SetOwner(std::this_thread::get_id());
  }

  // REQUIRES: this thread holds it.
  void Unlock() RELEASE() {
    DCHECK(IsHeldByThisThread());
    SetOwner(std::thread::id());
    mu_.unlock();
  }

  // Takes the mutex and returns true, or returns false at once if it is held.
  bool TryLock() TRY_ACQUIRE(true) {
    if (!mu_.try_lock()) return false;
    SetOwner(std::this_thread::get_id());
    return true;
  }

  // Aborts unless this thread holds the mutex.
  void AssertHeld() const ASSERT_CAPABILITY(this) { CHECK(IsHeldByThisThread()); }

  bool IsHeldByThisThread() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

 private:
  friend class CondVar;

  void SetOwner(std::thread::id id) { owner_.store(id, std::memory_order_relaxed); }

  std::mutex mu_;

  // The thread that holds mu_, or none. Relaxed: a thread only ever asks whether it is the owner itself, and that
  // answer depends on nothing but its own stores.
  std::atomic<std::thread::id> owner_{std::thread::id()};
};

// Holds a mutex for as long as it lives.
class SCOPED_CAPABILITY MutexLock {
 public:
  explicit MutexLock(Mutex* mu) ACQUIRE(mu) : mu_(mu) { mu_->Lock(); }
  ~MutexLock() RELEASE() { mu_->Unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex* const mu_;
};

// Takes a mutex if no thread holds it, this one included, and then holds it for as long as this lives. The analysis
// cannot express that.
class MutexTryLock {
 public:
  explicit MutexTryLock(Mutex* mu) NO_THREAD_SAFETY_ANALYSIS : mu_(mu),
                                                               held_(!mu->IsHeldByThisThread() && mu->TryLock()) {}
  ~MutexTryLock() NO_THREAD_SAFETY_ANALYSIS {
    if (held_) mu_->Unlock();
  }
  MutexTryLock(const MutexTryLock&) = delete;
  MutexTryLock& operator=(const MutexTryLock&) = delete;

  bool held() const { return held_; }

 private:
  Mutex* const mu_;
  const bool held_;
};

// Lets go of a mutex that this thread holds for as long as it lives, also when an exception ends that.
class SCOPED_CAPABILITY MutexUnlock {
 public:
  explicit MutexUnlock(Mutex* mu) RELEASE(mu) : mu_(mu) { mu_->Unlock(); }
  ~MutexUnlock() RELEASE() { Relock(); }
  MutexUnlock(const MutexUnlock&) = delete;
  MutexUnlock& operator=(const MutexUnlock&) = delete;

 private:
  // The analysis cannot express a release of "not held".
  void Relock() NO_THREAD_SAFETY_ANALYSIS { mu_->Lock(); }

  Mutex* const mu_;
};

// Where threads that hold one mutex wait for each other. All calls but Signal and SignalAll REQUIRE that the calling
// thread holds that mutex; it is let go during the wait and held again afterwards.
//
// Signals never wait. Signals of glibc's condition variable wait for threads that were woken before and have not run
// yet, which takes milliseconds where they have a lower priority: a writer that wakes background threads has no time
// for it.
class CondVar {
 public:
  // The mutex must outlive this.
  explicit CondVar(Mutex* mu) : mu_(mu) { DCHECK(mu != nullptr); }
  CondVar(const CondVar&) = delete;
  CondVar& operator=(const CondVar&) = delete;

  // Waits for a signal.
  void Wait() {
    const int seen = Enter();
    FutexWait(&signals_, seen);
    Leave();
  }

  // Waits for a signal, but not much longer than this many microseconds. False if the time ran out.
  bool TimedWait(uint64_t micros) {
    const int seen = Enter();
    const bool in_time = FutexWaitFor(&signals_, seen, micros);
    Leave();
    return in_time;
  }

  // Wakes one waiting thread, if there is any.
  void Signal() { Wake(1); }

  // Wakes all waiting threads.
  void SignalAll() { Wake(INT_MAX); }

 private:
  // A signal after this ends the wait, also if the thread does not sleep yet.
  int Enter() {
    mu_->AssertHeld();
    const int seen = signals_.load(std::memory_order_relaxed);  // relaxed: what the mutex protects was read before
    waiting_.fetch_add(1);
    mu_->Unlock();
    return seen;
  }

  void Leave() NO_THREAD_SAFETY_ANALYSIS {  // for its callers the mutex was held all the time
    mu_->Lock();
    [[maybe_unused]] const int waiting = waiting_.fetch_sub(1);
    DCHECK_GT(waiting, 0);
  }

  // Sequentially consistent, as is the increment in Enter: either this sees the thread that waits, or that thread finds
  // another number than it has seen.
  void Wake(int count) {
    signals_.fetch_add(1);
    if (waiting_.load() > 0) FutexWake(&signals_, count);
  }

  Mutex* const mu_;
  std::atomic<int> signals_{0};  // how many were given; what waiting threads sleep on
  std::atomic<int> waiting_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_THREADS_MUTEX_H_
