#include "src/util/threads/background_threads.h"

#include <sched.h>

#include <algorithm>
#include <iterator>
#include <system_error>

#include "src/util/clock/clock.h"

// A work goes round: resting, in turn (Queue), at work (Run), and in turn again if it found something or was woken
// meanwhile, else resting until it is woken or polled. The places of a work in the lists and in the set of polls are
// made when it joins, and moved from then on, so a wake-up needs no memory.

namespace miodb {

namespace {

// Some of what gives work does not signal: readers that let go of space, and time. So a work that rests is polled:
// after the first, and then whenever it has rested for another share of the time since there was something, up to the
// last.
constexpr uint64_t kLeastPollMicros = 100 * 1000;
constexpr uint64_t kPollShare = 8;
constexpr uint64_t kMostPollMicros = 10 * 1000 * 1000;

// Writers wake these threads. As batch work they get a CPU when one is free or their turn has come, and do not take it
// from the writer in the middle of a put. Where that is not allowed, latency suffers and nothing else.
void DontPreemptOnWakeup() {
  const sched_param param = {};
  sched_setscheduler(0, SCHED_BATCH, &param);
}

}  // namespace

BackgroundThreads::~BackgroundThreads() {
  {
    const MutexLock lock(&mutex_);
    CHECK(works_.empty() && due_.empty());
  }
  StopThreads();
}

// Threads look at stopping_ under the mutex before they wait, so none sleeps through the signal.
void BackgroundThreads::StopThreads() {
  std::vector<std::thread> threads;
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    threads.swap(threads_);
    work_.SignalAll();
    timer_.SignalAll();
  }
  for (std::thread& thread : threads) thread.join();
}

// Threads that there should be with one work more.
size_t BackgroundThreads::Wanted(const Work* work) const {
  size_t sum = work->most_, most = std::max(work->most_, share_);
  for (const Work* const other : works_) {
    sum += other->most_;
    most = std::max(most, other->most_);
  }
  DCHECK_GT(most, 0u);
  return std::min(sum, most);
}

// Threads that were started before one could not be stay: the next work that joins finds them.
Status BackgroundThreads::StartThreads(size_t count, const std::string& place) {
  CHECK(!stopping_);
  try {
    while (threads_.size() < count) threads_.emplace_back([this] { Loop(); });
  } catch (const std::system_error& error) {
    return Status::IOError(place, std::string("cannot start a thread: ") + error.what());
  }
  return Status::OK();
}

Status BackgroundThreads::Join(Work* work, const std::string& place) {
  CHECK(work != nullptr);
  const MutexLock lock(&mutex_);
  CHECK(work->state_ == Work::State::kAway && work->running_ == 0);
  if (work->due.empty()) {
    std::set<Due> one = {{0, work}};
    work->due = one.extract(one.begin());
  }
  Status s = StartThreads(Wanted(work), place);
  if (!s.ok()) return s;
  works_.insert(work);
  work->state_ = Work::State::kResting;
  work->active_micros_ = NowMicros();
  Queue(work);
  return s;
}

// The work loses its turn if it waits for one; a step that runs is waited for.
void BackgroundThreads::Leave(Work* work) {
  CHECK(work != nullptr);
  const MutexLock lock(&mutex_);
  if (work->state_ == Work::State::kAway) return;
  CHECK(work->state_ != Work::State::kLeaving);
  if (work->state_ == Work::State::kWaiting) {
    work->place_.splice(work->place_.end(), waiting_[work->list_], work->in_list_);
  }
  if (work->due_micros_ != 0) work->due = due_.extract({work->due_micros_, work});
  work->due_micros_ = 0;
  work->state_ = Work::State::kLeaving;
  works_.erase(work);
  while (work->running_ > 0) left_.Wait();
  work->state_ = Work::State::kAway;
}

// A work that is at its steps remembers the wake-up by the count, which Run compares when a step ends.
void BackgroundThreads::Wake(Work* work) {
  const MutexLock lock(&mutex_);
  if (work->state_ == Work::State::kAway || work->state_ == Work::State::kLeaving) return;
  work->wakes_++;
  work->active_micros_ = 0;  // the clock is read when it matters
  Queue(work);
}

// If the work has all the threads that it wants, one of these threads sees the wake-up and runs another step.
void BackgroundThreads::Queue(Work* work) {
  if (work->state_ != Work::State::kResting || work->running_ >= work->most_) return;
  if (work->due_micros_ != 0) work->due = due_.extract({work->due_micros_, work});
  work->due_micros_ = 0;
  work->list_ = work->running_ > 0 ? 1 : 0;
  waiting_[work->list_].splice(waiting_[work->list_].end(), work->place_);
  work->in_list_ = std::prev(waiting_[work->list_].end());
  work->state_ = Work::State::kWaiting;
  WakeThread();
}

// A thread that was signalled before may not run yet, and then the signal is for nothing: so a thread that has found
// work wakes the next one while there is more (Loop).
void BackgroundThreads::WakeThread() {
  if (idle_ > 0) {
    work_.Signal();
  } else if (timer_due_ != 0) {
    timer_.Signal();
  }
}

// A work that is due was resting, so it is in no list, and now goes to the end of a list.
void BackgroundThreads::QueueDue(uint64_t now_micros) {
  while (!due_.empty() && due_.begin()->first <= now_micros) Queue(due_.begin()->second);
}

BackgroundThreads::Work* BackgroundThreads::Next() {
  for (std::list<Work*>& list : waiting_) {
    if (list.empty()) continue;
    Work* const work = list.front();
    CHECK(work->state_ == Work::State::kWaiting && work->place_.empty());
    work->place_.splice(work->place_.end(), list, list.begin());
    work->state_ = Work::State::kResting;
    return work;
  }
  return nullptr;
}

// Runs a step, and puts the work where it belongs after it.
void BackgroundThreads::Run(Work* work) {
  work->running_++;
  DCHECK_LE(work->running_, work->most_);
  const uint64_t wakes = work->wakes_;
  bool worked;
  {
    const MutexUnlock unlock(&mutex_);
    worked = work->step_();
  }
  CHECK_GT(work->running_, 0u);
  work->running_--;
  if (work->state_ == Work::State::kWaiting && work->running_ == 0 && work->list_ == 1) {
    waiting_[0].splice(waiting_[0].end(), waiting_[1], work->in_list_);  // nobody is at it any more
    work->list_ = 0;
  }
  if (work->state_ == Work::State::kLeaving) {
    if (work->running_ == 0) left_.SignalAll();
  } else if (worked || work->wakes_ != wakes) {
    work->active_micros_ = 0;
    Queue(work);
  } else {
    Rest(work);
  }
}

// A poll that comes before the one that the timer waits for has the timer wait for it.
void BackgroundThreads::Rest(Work* work) {
  if (work->state_ != Work::State::kResting || work->due_micros_ != 0) return;
  const uint64_t now = NowMicros();
  if (work->active_micros_ == 0) work->active_micros_ = now;
  const uint64_t rested = now - work->active_micros_;
  work->due_micros_ = now + std::clamp(rested / kPollShare, kLeastPollMicros, kMostPollMicros);
  work->due.value() = {work->due_micros_, work};
  due_.insert(std::move(work->due));
  if (timer_due_ > work->due_micros_) timer_.Signal();
}

// A single thread without work waits for the next poll; the others wait until they are signalled.
void BackgroundThreads::Sleep() {
  if (due_.empty() || timer_due_ != 0) {
    idle_++;
    work_.Wait();
    CHECK_GT(idle_, 0u);
    idle_--;
    return;
  }
  const uint64_t now = NowMicros();
  timer_due_ = due_.begin()->first;
  if (timer_due_ > now) timer_.TimedWait(timer_due_ - now);
  timer_due_ = 0;
  QueueDue(NowMicros());
  if (idle_ > 0 && !due_.empty()) work_.Signal();  // for the next poll
}

void BackgroundThreads::Loop() {
  DontPreemptOnWakeup();
  const MutexLock lock(&mutex_);
  while (!stopping_) {
    if (!due_.empty()) QueueDue(NowMicros());  // also where no thread ever is without work
    if (Work* const work = Next()) {
      if (!waiting_[0].empty() || !waiting_[1].empty()) WakeThread();
      Run(work);
    } else {
      Sleep();
    }
  }
}

}  // namespace miodb
