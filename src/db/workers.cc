// The background threads: how they start, look for work, sleep, and stop.

#include "src/db/workers.h"

#include <sched.h>

#include <system_error>

#include "src/numa/numa.h"
#include "src/util/check.h"

namespace miodb {

namespace {

// A thread that waits looks again after this long: readers that let go of space do not signal.
constexpr uint64_t kPollMicros = 100 * 1000;

// Writers wake these threads. As batch work they get a CPU when one is free or their turn has come, and do not take it
// from the writer in the middle of a put. Where that is not allowed, latency suffers and nothing else.
void DontPreemptOnWakeup() {
  const sched_param param = {};
  sched_setscheduler(0, SCHED_BATCH, &param);
}

}  // namespace

// Threads that were started before one could not be are stopped by Stop, as those of a database that was open.
Status Workers::Start(BackgroundStep step, int threads) {
  CHECK(work_[static_cast<size_t>(step)] != nullptr);
  CHECK_GT(threads, 0);
  try {
    for (int i = 0; i < threads; i++) threads_.emplace_back([this, step] { Loop(step); });
  } catch (const std::system_error& error) {
    return Status::IOError(db_.name, std::string("cannot start a thread: ") + error.what());
  }
  return Status::OK();
}

// A thread that runs a job ends it, or gives up at the next record if the job looks at closing(); none is cut off
// between an edit and its installation.
void Workers::Stop() {
  {
    DbLock lock(control_);
    control_->Close();
  }
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

// By a thread of this kind, or by a caller who does the work of a database without threads.
bool Workers::Run(BackgroundStep step) {
  CHECK_LT(static_cast<size_t>(step), work_.size());
  const Work& work = work_[static_cast<size_t>(step)];
  CHECK(work != nullptr);
  return work();
}

// What a job throws is lack of memory in a place that has no better answer, so it stops writes. The thread itself goes
// on: others may be waiting for the work that needs none.
void Workers::Loop(BackgroundStep step) {
  DontPreemptOnWakeup();
  RunOnCpus(db_.placement.cpus);
  const ThreadMemoryPolicy policy(db_.placement.dram_node, ThreadMemoryPolicy::Strength::kPrefer);
  uint64_t seen = 0;  // wake-ups before the thread looks for work
  for (;;) {
    bool worked = false;
    const Status s = db_.WithMemory([&] {
      worked = Run(step);
      return Status::OK();
    });
    DbLock lock(control_);
    if (!s.ok()) control_->SetError(s);
    if (control_->closing()) return;
    if (!worked) control_->SleepUntilWork(step, kPollMicros, seen);
    seen = control_->Wakes(step);
  }
}

// The order of the steps without threads is that in which they free space for each other. A caller that waits wakes
// every kind of thread, since it does not know which of them it waits for; it is woken by the first that ends
// something.
bool Workers::Wait(uint64_t micros) {
  if (!db_.hooks.manual_background) {
    control_->WakeAll();
    control_->SleepUntilDone(micros > 0 ? micros : kPollMicros);
    return true;
  }
  const DbUnlock unlock(control_);
  return Run(BackgroundStep::kFlush) || Run(BackgroundStep::kMerge) || Run(BackgroundStep::kPrepare) ||
         Run(BackgroundStep::kSsd);
}

}  // namespace miodb
