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
    const size_t i = task->next.fetch_add(1, std::memory_order_relaxed);
    if (i >= task->count) return;
    (*task->work)(i);
  }
}

void HelperThreads::Run(size_t count, const std::function<void(size_t)>& work) {
  Task task;
  task.work = &work;
  task.count = count;
  if (count > 1 && most_ > 0) {
    MutexLock lock(&mutex_);
    const size_t wanted = std::min(count - 1, most_);
    Start(wanted);
    tasks_.insert(tasks_.end(), std::min(wanted, threads_.size()), &task);
    for (size_t i = 0; i < wanted; i++) wake_.Signal();
  }
  Take(&task);
  if (count > 1 && most_ > 0) {
    MutexLock lock(&mutex_);
    tasks_.erase(std::remove(tasks_.begin(), tasks_.end(), &task), tasks_.end());
    while (task.helpers > 0) done_.Wait();
  }
}

void HelperThreads::Start(size_t wanted) {
  try {
    while (threads_.size() < wanted) threads_.emplace_back([this] { Loop(); });
  } catch (const std::system_error&) {
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
    task->helpers++;
    {
      const MutexUnlock unlock(&mutex_);
      Take(task);
    }
    if (--task->helpers == 0) done_.SignalAll();
  }
}

}  // namespace miodb
