#include "src/util/helper_threads.h"

#include <algorithm>
#include <system_error>

namespace miodb {

HelperThreads::~HelperThreads() {
  std::vector<std::thread> threads;
  {
    MutexLock lock(&mutex_);
    closing_ = true;
    threads.swap(threads_);
    wake_.SignalAll();
  }
  for (std::thread& thread : threads) thread.join();
}

// relaxed: which piece a thread takes is all that this decides; results are handed over with mutex_.
void HelperThreads::Take(Task* task) {
  for (;;) {
    const size_t i = task->next_.fetch_add(1, std::memory_order_relaxed);
    if (i >= task->count_) return;
    task->work_(i);
  }
}

void HelperThreads::Begin(Task* task, size_t helpers) {
  if (most_ == 0) return;
  MutexLock lock(&mutex_);
  Start(std::min(most_, busy_ + tasks_.size() + helpers));
  const size_t wanted = std::min(helpers, threads_.size());
  tasks_.insert(tasks_.end(), wanted, task);
  for (size_t i = 0; i < wanted; i++) wake_.Signal();
}

void HelperThreads::Finish(Task* task) {
  Take(task);
  MutexLock lock(&mutex_);
  tasks_.erase(std::remove(tasks_.begin(), tasks_.end(), task), tasks_.end());
  while (task->helpers_ > 0) done_.Wait();
}

void HelperThreads::Run(size_t count, const std::function<void(size_t)>& work) {
  Task task([&work](size_t i) { work(i); }, count);
  if (count < 2) return Take(&task);
  Begin(&task, count - 1);
  Finish(&task);
}

void HelperThreads::Start(size_t wanted) {
  try {
    while (threads_.size() < wanted) threads_.emplace_back([this] { Loop(); });
  } catch (const std::exception&) {
    // Fewer help.
  }
}

void HelperThreads::Loop() {
  MutexLock lock(&mutex_);
  for (;;) {
    while (tasks_.empty() && !closing_) wake_.Wait();
    if (closing_) return;
    Task* const task = tasks_.front();
    tasks_.pop_front();
    task->helpers_++;
    busy_++;
    {
      const MutexUnlock unlock(&mutex_);
      Take(task);
    }
    busy_--;
    if (--task->helpers_ == 0) done_.SignalAll();
  }
}

}  // namespace miodb
