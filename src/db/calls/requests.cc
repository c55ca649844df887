// Calls that wait for background work. Each asks for the work, then sleeps until it is done, has failed, or cannot be
// done for want of space: none waits for what no thread would begin.

#include "src/db/calls/requests.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "src/db/background/settle_request.h"
#include "src/db/context/pool_full.h"
#include "src/db/space/log_files.h"
#include "src/util/check/check.h"

namespace miodb {

// With a volatile pool a flush makes nothing durable: then the log is synced, and keeps the writes until drains have
// them on SSD.
Status Requests::Flush() {
  Status s = FlushAll();
  return s.ok() && db_.LogsUntilSsd() ? logs_->files()->SyncEnded() : s;
}

// The newest memtable at the call is the last that this waits for: others may go on writing for ever.
Status Requests::FlushAll() {
  DbLock lock(control_);
  Status s = write_->RequestFlush();
  const MemTableRef newest = tree_->immutables.empty() ? nullptr : tree_->immutables.front();
  if (newest == nullptr) return s.ok() ? control_->error() : s;
  while (s.ok() && control_->error().ok() &&
         std::find(tree_->immutables.begin(), tree_->immutables.end(), newest) != tree_->immutables.end()) {
    if (scheduler_->flush_blocked() && !merger_->LookForWork()) {
      return PoolFull(*db_.pool, *tree_->versions, "the pool has no room for the flush");
    }
    if (!workers_->Wait(0)) break;
  }
  return s.ok() ? control_->error() : s;
}

// The request makes the scheduler merge below its triggers until everything that was there is in the repository. A
// merge that finds no space would wait for ever, so the call reports it instead.
Status Requests::Settle() {
  Status s = Flush();
  if (!s.ok()) return s;
  DbLock lock(control_);
  const uint64_t sequence = tree_->last_sequence.load(std::memory_order_relaxed);  // relaxed: policy only
  SettleRequest request(scheduler_, db_.WallMicros(), sequence);
  scheduler_->RetryFlush();
  scheduler_->Retry();
  control_->WakeAll();
  const auto wanting = [&]() REQUIRES(db_mutex) {
    const bool settled = !merger_->HasWorkOf(sequence);
    if (!(settled || scheduler_->merges_blocked()) || (scheduler_->anything_blocked() && tier_->HasDrainWork()))
      return true;
    // Where others write all the time there is always something to merge: then all that was there at the call is
    // enough.
    if (settled && tree_->last_sequence.load(std::memory_order_relaxed) != sequence) return false;  // relaxed: as above
    return scheduler_->running() > 0 || merger_->HasWork();
  };
  merger_->MarkGarbage();
  while (control_->error().ok() && !control_->MustNotWait() && wanting()) {
    if (!workers_->Wait(0)) break;
    merger_->MarkGarbage();
  }
  request.End();
  if (control_->waiting_stopped()) return control_->ToldToStop();
  if (control_->error().ok() && scheduler_->anything_blocked()) {
    return PoolFull(*db_.pool, *tree_->versions, "the pool has no room for a merge");
  }
  return control_->error();
}

// Reads that ended a moment ago may still pin an old version, whose space counts as in use: the last lines give them
// that moment.
Status Requests::WaitForIdle() {
  for (;;) {
    Status s = Settle();
    if (!s.ok()) return s;
    DbLock lock(control_);
    s = tier_->WaitForAll();
    if (s.ok() && control_->waiting_stopped()) return control_->ToldToStop();
    if (!s.ok()) return s;
    merger_->MarkGarbage();
    if (!scheduler_->anything_blocked() && !(tree_->memtable->empty() && merger_->IsIdle())) continue;
    // Tables that wait for their filter are held until then, also when no version has them any more.
    while (control_->error().ok() && !control_->MustNotWait() && flusher_->HasUnfiltered()) workers_->Wait(0);
    if (control_->waiting_stopped()) return control_->ToldToStop();
    break;
  }
  // Versions that were pinned a moment ago by reads that are over by now.
  for (int i = 0; i < 100 && tree_->states.Reclaim(); i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return Status::OK();
}

// All is settled first, because only tombstones of the repository can be followed down to where they hide nothing. Free
// space goes back to the file system.
Status Requests::CompactRange(const Slice* begin, const Slice* end) {
  Status s = Settle();
  if (s.ok()) s = tier_->PurgeRange(begin, end);
  if (!s.ok()) return s;
  DbLock lock(control_);
  space_->AskGiveBack();
  while (space_->give_back_asked() && control_->error().ok() && !control_->MustNotWait() && workers_->Wait(0)) {
  }
  return control_->error();
}

}  // namespace miodb
