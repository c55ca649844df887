// The background work of a database: how threads come to it, and how a caller waits for it.

#include "src/db/context/workers.h"

#include "src/numa/numa.h"
#include "src/util/check/check.h"

namespace miodb {

namespace {

// A caller that waits looks again after this long.
constexpr uint64_t kPollMicros = 100 * 1000;

}  // namespace

// If a kind cannot be started, Stop stops the kinds that were started before, as it does for an open database.
Status Workers::Start(BackgroundStep step, int threads) {
  const size_t index = static_cast<size_t>(step);
  CHECK(work_[index] != nullptr && started_[index] == nullptr);
  CHECK_GT(threads, 0);
  BackgroundThreads* const kind = db_.resources->threads(step);
  auto work = std::make_unique<BackgroundThreads::Work>([this, step] { return RunInThread(step); },
                                                        static_cast<size_t>(threads));
  Status s = kind->Join(work.get(), db_.name);
  if (!s.ok()) return s;
  started_[index] = std::move(work);
  DbLock lock(control_);
  control_->WakeBy(step, [kind, work = started_[index].get()] { kind->Wake(work); });
  return s;
}

// Without threads nobody could be asked.
void Workers::ShareMemory() {
  const size_t flush = static_cast<size_t>(BackgroundStep::kFlush);
  if (started_[flush] == nullptr) return;
  BackgroundThreads* const kind = db_.resources->threads(BackgroundStep::kFlush);
  db_.resources->budget()->Open(&db_.memory, [kind, work = started_[flush].get()] { kind->Wake(work); });
}

// A thread that runs a job ends it, or gives up at the next record if the job looks at closing(); none is cut off
// between an edit and its installation.
void Workers::Stop() {
  {
    DbLock lock(control_);
    control_->Close();
  }
  if (running()) db_.resources->budget()->Close(&db_.memory);
  for (size_t step = 0; step < kBackgroundSteps; step++) {
    if (started_[step] == nullptr) continue;
    db_.resources->threads(static_cast<BackgroundStep>(step))->Leave(started_[step].get());
  }
  DbLock lock(control_);
  for (size_t step = 0; step < kBackgroundSteps; step++) {
    control_->WakeBy(static_cast<BackgroundStep>(step), nullptr);
    started_[step] = nullptr;
  }
}

// By a thread of this kind, or by a caller who does the work of a database without threads.
bool Workers::Run(BackgroundStep step) {
  CHECK_LT(static_cast<size_t>(step), work_.size());
  const Work& work = work_[static_cast<size_t>(step)];
  CHECK(work != nullptr);
  return work();
}

// An exception of a job is lack of memory in a place that has no better answer, so it stops writes. The work itself
// goes on: others may be waiting for what needs none. A thread is only for the step where the database wants its
// threads.
bool Workers::RunInThread(BackgroundStep step) {
  const ThreadCpus cpus(db_.placement.cpus);
  const ThreadMemoryPolicy policy(db_.placement.dram_node, ThreadMemoryPolicy::Strength::kPrefer);
  bool worked = false;
  const Status s = db_.WithMemory([&] {
    worked = Run(step);
    return Status::OK();
  });
  if (s.ok()) return worked;
  DbLock lock(control_);
  control_->SetError(s);
  return false;
}

// The order of the steps without threads is that in which they free space for each other. A caller that waits wakes
// every kind of thread, since it does not know which of them it waits for; it is woken by the first that ends
// something.
bool Workers::Wait(uint64_t micros) {
  if (db_.hooks.background == BackgroundMode::kThreads) {
    control_->WakeAll();
    control_->SleepUntilDone(micros > 0 ? micros : kPollMicros);
    return true;
  }
  const DbUnlock unlock(control_);
  if (db_.hooks.before_step != nullptr) db_.hooks.before_step();
  return Run(BackgroundStep::kFlush) || Run(BackgroundStep::kMerge) || Run(BackgroundStep::kPrepare) ||
         Run(BackgroundStep::kSsd);
}

}  // namespace miodb
