#include "src/util/threads/helper_threads.h"

#include <algorithm>
#include <system_error>

// A task is an array of pieces and a counter of those that were taken; whoever does a piece takes the next number. The
// helpers are told of a task by entries in a queue, and the caller works on it too, so helpers only ever make it
// faster: with none, or with all of them busy, the caller does everything.

namespace miodb {

// REQUIRES: no task is begun and not finished. The threads are joined without the lock, which they take to see that it
// is over.
HelperThreads::~HelperThreads() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(&mutex_);
    CHECK(tasks_.empty());
    closing_ = true;
    threads.swap(threads_);
    wake_.SignalAll();
  }
  for (std::thread& thread : threads) thread.join();
}

// Does the next piece, if there is one. relaxed: which piece a thread takes is all that this decides; results are
// handed over with mutex_.
bool HelperThreads::Take(Task* task) {
  const size_t i = task->next_.fetch_add(1, std::memory_order_relaxed);
  if (i >= task->count_) return false;
  task->work_(i);
  return true;
}

// Queues the task once for each helper that is wanted and starts threads as long as there are fewer than all tasks
// together want: so two callers at once get helpers each, up to most_. Without helpers other threads may come.
void HelperThreads::Begin(Task* task, size_t pieces) {
  MutexLock lock(&mutex_);
  CHECK(!closing_ && pieces <= task->count_);
  Start(std::min(most_, busy_ + tasks_.size() + pieces));
  const size_t entries = most_ > 0 ? std::min(pieces, threads_.size()) : pieces;
  tasks_.insert(tasks_.end(), entries, task);
  for (size_t i = 0; i < entries; i++) wake_.Signal();
}

// The caller works as well, so the task ends even if no helper ever comes. Entries of the task that no helper has taken
// are removed, and helpers at work are waited for: after that nobody has the address of the task, or of what its work
// refers to, and the mutex has handed over what the helpers wrote.
void HelperThreads::Finish(Task* task) {
  while (Take(task)) {
  }
  MutexLock lock(&mutex_);
  tasks_.erase(std::remove(tasks_.begin(), tasks_.end(), task), tasks_.end());
  while (task->helpers_ > 0) done_.Wait();
  CHECK_GE(task->next_.load(std::memory_order_relaxed), task->count_);  // relaxed: this thread has seen its end
}

// A single piece is done by the caller, who would have to wait for a helper either way.
void HelperThreads::Run(size_t count, const std::function<void(size_t)>& work) {
  Task task([&work](size_t i) { work(i); }, count);
  if (count > 1 && most_ > 0) Begin(&task, count - 1);
  Finish(&task);
}

// Where the system gives no more threads, those that there are do the work; where it gives none, the caller does it
// alone.
void HelperThreads::Start(size_t wanted) {
  CHECK_LE(wanted, most_);
  try {
    while (threads_.size() < wanted) threads_.emplace_back([this] { Loop(); });
  } catch (const std::exception&) {
    // Fewer help.
  }
}

// task->helpers_ rises in the same hold of the lock that takes the task from the queue, so Finish either still finds
// the entry or waits for this helper.
void HelperThreads::HelpFirst(size_t most_pieces) {
  CHECK(!tasks_.empty());
  Task* const task = tasks_.front();
  tasks_.pop_front();
  task->helpers_++;
  busy_++;
  {
    const MutexUnlock unlock(&mutex_);
    while (most_pieces-- > 0 && Take(task)) {
    }
  }
  CHECK(busy_ > 0 && task->helpers_ > 0);
  busy_--;
  if (--task->helpers_ == 0) done_.SignalAll();
}

bool HelperThreads::Help() {
  MutexLock lock(&mutex_);
  if (tasks_.empty()) return false;
  HelpFirst(1);
  return true;
}

void HelperThreads::Loop() {
  MutexLock lock(&mutex_);
  for (;;) {
    while (tasks_.empty() && !closing_) wake_.Wait();
    if (closing_) return;
    HelpFirst(SIZE_MAX);
  }
}

}  // namespace miodb
