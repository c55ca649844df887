// Threads that do one kind of background work for any number of owners, such as the flushes of all databases of a
// process.
//
// An owner's work (Work) has steps: one piece of work each, or nothing to do. A work is asked for a step when it was
// woken, again and again while it finds something to do, and now and then without either (kLeastPollMicros). Otherwise
// the work has no thread.
//
// Order: works wait in turn. A work without a thread goes before works that have threads, and each work gives its
// thread up after one step; so an owner with much to do takes the threads that others leave.
//
// How many threads: as many as the works that have joined want together, but no more than the one that wants most, or
// `share` if that is more. So a single owner has what it asks for. No thread is started for a step that waits: the
// threads start when works join, and stay as long as this object does.
//
// Threads: Join and Leave by the owner; Wake by any, under whatever locks it has: it takes one that is held for a few
// instructions. Steps are called without a lock.

#ifndef MIODB_SRC_UTIL_THREADS_BACKGROUND_THREADS_H_
#define MIODB_SRC_UTIL_THREADS_BACKGROUND_THREADS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "miodb/status.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class BackgroundThreads {
 public:
  class Work;

  explicit BackgroundThreads(size_t share) : share_(share) { CHECK_GT(share, 0u); }

  // REQUIRES: every work has left.
  ~BackgroundThreads();
  BackgroundThreads(const BackgroundThreads&) = delete;
  BackgroundThreads& operator=(const BackgroundThreads&) = delete;

  // From now on the work is asked for steps, at once for the first. If no thread can be started, the call returns
  // IOError of this place and the work has not joined. The work must live until Leave.
  Status Join(Work* work, const std::string& place) EXCLUDES(mutex_);

  // Returns when no step of the work is running. No step begins from then on. REQUIRES: not called by a step.
  void Leave(Work* work) EXCLUDES(mutex_);

  // There may be something to do. Without effect on a work that has not joined or has left.
  void Wake(Work* work) EXCLUDES(mutex_);

  size_t threads() const EXCLUDES(mutex_) {
    const MutexLock lock(&mutex_);
    return threads_.size();
  }

 private:
  using Due = std::pair<uint64_t, Work*>;

  size_t Wanted(const Work* work) const REQUIRES(mutex_);
  Status StartThreads(size_t count, const std::string& place) REQUIRES(mutex_);
  void Loop() EXCLUDES(mutex_);
  void Queue(Work* work) REQUIRES(mutex_);
  void QueueDue(uint64_t now_micros) REQUIRES(mutex_);
  void WakeThread() REQUIRES(mutex_);
  Work* Next() REQUIRES(mutex_);
  void Run(Work* work) REQUIRES(mutex_);
  void Rest(Work* work) REQUIRES(mutex_);
  void Sleep() REQUIRES(mutex_);
  void StopThreads() EXCLUDES(mutex_);

  const size_t share_;
  mutable Mutex mutex_;
  CondVar work_{&mutex_};   // for threads without work
  CondVar timer_{&mutex_};  // for the one of them that waits for the next poll
  CondVar left_{&mutex_};   // for owners that leave
  std::set<Work*> works_ GUARDED_BY(mutex_);
  std::list<Work*> waiting_[2] GUARDED_BY(mutex_);  // in turn: those that no thread is at, and the others
  std::set<Due> due_ GUARDED_BY(mutex_);            // next polls
  size_t idle_ GUARDED_BY(mutex_) = 0;              // threads that wait for work_
  uint64_t timer_due_ GUARDED_BY(mutex_) = 0;       // what the thread at timer_ waits for; 0: there is none
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
};

// The fields are those of BackgroundThreads, under its mutex.
class BackgroundThreads::Work {
 public:
  // Does a piece of work; false if there was nothing to do. May be called by so many threads at once as `most` says.
  using Step = std::function<bool()>;

  Work(Step step, size_t most) : step_(std::move(step)), most_(most), place_(1, this) {
    CHECK(step_ != nullptr && most > 0);
  }
  ~Work() { CHECK(state_ == State::kAway); }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

 private:
  friend class BackgroundThreads;

  // Not joined; not in turn; in turn; the owner waits for its steps to end.
  enum class State { kAway, kResting, kWaiting, kLeaving };

  const Step step_;
  const size_t most_;
  State state_ = State::kAway;
  size_t running_ = 0;          // steps
  uint64_t wakes_ = 0;          // how many there were
  uint64_t active_micros_ = 0;  // of the last one, or of the last step that did something
  std::list<Work*> place_;      // its element, while it is in no list
  size_t list_ = 0;             // of waiting_, while it is in one
  std::list<Work*>::iterator in_list_;
  std::set<Due>::node_type due;  // its element, while it is not in due_
  uint64_t due_micros_ = 0;      // while it is in due_; 0: it is not
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_THREADS_BACKGROUND_THREADS_H_
