// Control: the mutex that the parts of a database share, the wake-ups of those who wait under it, and whether the
// database goes on at all.
//
// Work has one wake-up for each kind, so that a chunk that is taken wakes what prepares chunks and nothing else. A
// wake-up gets one thread to look for work, which wakes the next when it has found some (BackgroundThreads). No wake-up
// is lost while a thread looks for work; besides, threads look again by themselves.
//
// Errors: the first one that stops writes is kept for good. Reads go on.
//
// Threads: all calls with the mutex held, but for failed() and closing(), which are hints to those who do not hold it.

#ifndef MIODB_SRC_DB_CONTEXT_CONTROL_H_
#define MIODB_SRC_DB_CONTEXT_CONTROL_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "miodb/status.h"
#include "src/db/context/db_context.h"
#include "src/db/context/db_mutex.h"
#include "src/util/check/check.h"
#include "src/util/check/visits.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class Control {
 public:
  explicit Control(DbContext& db) : db_(db) {}
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  // Aborts unless this thread holds the mutex.
  void AssertHeld() const ASSERT_CAPABILITY(db_mutex) { mutex_.AssertHeld(); }

  // ---- wake-ups

  // Sets the function that tells threads of possible work of this kind; nullptr: no thread is there.
  void WakeBy(BackgroundStep step, std::function<void()> wake) REQUIRES(db_mutex) {
    wake_[Index(step)] = std::move(wake);
  }

  // There may be work of this kind.
  void Wake(BackgroundStep step) REQUIRES(db_mutex) {
    if (wake_[Index(step)] != nullptr) wake_[Index(step)]();
  }
  void WakeAll() REQUIRES(db_mutex) {
    for (size_t step = 0; step < kBackgroundSteps; step++) Wake(static_cast<BackgroundStep>(step));
  }

  // Some background work has ended: for those who wait for it.
  void SignalDone() { done_.SignalAll(); }
  void SleepUntilDone(uint64_t micros) REQUIRES(db_mutex) {
    DCHECK_GT(micros, 0u);
    Visits::End();
    done_.TimedWait(micros);
    Visits::Begin();
  }

  // on_change is called whenever figures of space and of what waits have changed, with the mutex held.
  // REQUIRES: OnChange comes once, before the first Changed.
  void OnChange(std::function<void()> on_change) REQUIRES(db_mutex) {
    CHECK(on_change != nullptr && on_change_ == nullptr);
    on_change_ = std::move(on_change);
  }
  void Changed() REQUIRES(db_mutex) {
    CHECK(on_change_ != nullptr);
    on_change_();
  }

  // A job has ended, or space has come free: there may be work of any kind.
  void Progressed() REQUIRES(db_mutex) {
    Changed();
    WakeAll();
    SignalDone();
  }

  // ---- whether the database goes on

  // OK, or the error that stopped writes.
  const Status& error() const REQUIRES(db_mutex) { return error_; }

  // REQUIRES: s is an error. The first one is kept, and stops writes.
  void SetError(const Status& s) REQUIRES(db_mutex);

  // The status of the last CompactRange, which LevelDB's call does not return.
  const Status& compaction() const REQUIRES(db_mutex) { return compaction_; }
  void NoteCompaction(const Status& s) REQUIRES(db_mutex) { compaction_ = s; }

  // relaxed: the status itself is read under the mutex
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

  void StopWaiting() REQUIRES(db_mutex);
  bool waiting_stopped() const REQUIRES(db_mutex) { return waiting_stopped_; }

  void Close() REQUIRES(db_mutex);
  // relaxed: set under the mutex, or read as a mere wish
  bool closing() const { return closing_.load(std::memory_order_relaxed); }
  const std::atomic<bool>* closing_flag() const { return &closing_; }

  bool MustNotWait() const REQUIRES(db_mutex) { return waiting_stopped_ || closing(); }
  Status ToldToStop() const { return Status::IOError(db_.name, "told to stop waiting"); }

 private:
  friend class DbLock;
  friend class DbUnlock;

  static size_t Index(BackgroundStep step) {
    DCHECK_LT(static_cast<size_t>(step), kBackgroundSteps);
    return static_cast<size_t>(step);
  }
  DbContext& db_;
  Mutex mutex_;
  std::array<std::function<void()>, kBackgroundSteps> wake_ GUARDED_BY(db_mutex);
  CondVar done_{&mutex_};
  std::function<void()> on_change_ GUARDED_BY(db_mutex);

  Status error_ GUARDED_BY(db_mutex);
  Status compaction_ GUARDED_BY(db_mutex);
  std::atomic<bool> failed_{false};  // error_ is set
  std::atomic<bool> closing_{false};
  bool waiting_stopped_ GUARDED_BY(db_mutex) = false;  // see DB::StopWaiting
};

// Holds the database's mutex for as long as it lives. The analysis knows the mutex by its name alone, see above.
class SCOPED_CAPABILITY DbLock {
 public:
  explicit DbLock(Control* control) ACQUIRE(db_mutex) NO_THREAD_SAFETY_ANALYSIS : lock_(&control->mutex_) {
    DCHECK_EQ(control->failed(), !control->error_.ok());  // who looks without the mutex learns the same
    Visits::Begin();
  }
  ~DbLock() RELEASE() NO_THREAD_SAFETY_ANALYSIS { Visits::End(); }
  DbLock(const DbLock&) = delete;
  DbLock& operator=(const DbLock&) = delete;

 private:
  MutexLock lock_;
};

// Lets go of the mutex for as long as it lives.
class SCOPED_CAPABILITY DbUnlock {
 public:
  explicit DbUnlock(Control* control) RELEASE(db_mutex) NO_THREAD_SAFETY_ANALYSIS : unlock_(&control->mutex_) {
    Visits::End();
  }
  ~DbUnlock() RELEASE() NO_THREAD_SAFETY_ANALYSIS { Visits::Begin(); }
  DbUnlock(const DbUnlock&) = delete;
  DbUnlock& operator=(const DbUnlock&) = delete;

 private:
  MutexUnlock unlock_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_CONTROL_H_
