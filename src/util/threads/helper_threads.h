// A few threads that help callers with work that waits, such as reads of a disk.
//
// Threads: all calls by any number at once. A caller that waits works as well, so the work always comes to an end. The
// helpers start when they are first needed; where no more can be started, fewer do. A thread of the caller's may help
// as well (Help).
//
// Errors: what the work throws has to be caught in it.

#ifndef MIODB_SRC_UTIL_THREADS_HELPER_THREADS_H_
#define MIODB_SRC_UTIL_THREADS_HELPER_THREADS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class HelperThreads {
 public:
  // most: helpers.
  explicit HelperThreads(int most) : most_(static_cast<size_t>(most)), wake_(&mutex_), done_(&mutex_) {
    CHECK_GE(most, 0);
  }
  ~HelperThreads();
  HelperThreads(const HelperThreads&) = delete;
  HelperThreads& operator=(const HelperThreads&) = delete;

  // Calls work(0) to work(count - 1), each once, in any order, and returns when all have returned.
  void Run(size_t count, const std::function<void(size_t)>& work) EXCLUDES(mutex_);

  // Work in pieces: what Run is given, or what is begun now and waited for later.
  class Task {
   public:
    Task(std::function<void(size_t)> work, size_t count) : work_(std::move(work)), count_(count) {
      CHECK(work_ != nullptr);
    }
    ~Task() { CHECK_EQ(helpers_, 0u); }  // it lives until Finish
    Task(const Task&) = delete;
    Task& operator=(const Task&) = delete;

   private:
    friend class HelperThreads;

    const std::function<void(size_t)> work_;
    const size_t count_;
    std::atomic<size_t> next_{0};  // the first piece that nobody has taken
    size_t helpers_ = 0;           // at work on it; under mutex_
  };

  // Has helpers do up to so many pieces of the task, which lives until Finish.
  void Begin(Task* task, size_t pieces) EXCLUDES(mutex_);

  // Does a piece of a task that waits for helpers. False: none does.
  bool Help() EXCLUDES(mutex_);

  // Does what nobody has begun, and returns when all is done.
  void Finish(Task* task) EXCLUDES(mutex_);

 private:
  static bool Take(Task* task);
  void Start(size_t wanted) REQUIRES(mutex_);
  void Loop() EXCLUDES(mutex_);
  void HelpFirst(size_t most_pieces) REQUIRES(mutex_);

  const size_t most_;
  Mutex mutex_;
  CondVar wake_;
  CondVar done_;
  std::deque<Task*> tasks_ GUARDED_BY(mutex_);  // once for each helper that is wanted, or each piece without helpers
  bool closing_ GUARDED_BY(mutex_) = false;
  size_t busy_ GUARDED_BY(mutex_) = 0;  // helpers at work
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_THREADS_HELPER_THREADS_H_
