// A caller who wants everything in the repository.

#ifndef MIODB_SRC_DB_BACKGROUND_SETTLE_REQUEST_H_
#define MIODB_SRC_DB_BACKGROUND_SETTLE_REQUEST_H_

#include "compaction/policy/scheduler.h"
#include "src/util/check/check.h"

namespace miodb {

// The scheduler knows of the caller while this lives or until End, however its scope is left. REQUIRES: the scheduler's
// lock.
class SettleRequest {
 public:
  // date_micros: what has expired by then is to be gone. sequence: what was written by then is to be in the repository.
  SettleRequest(Scheduler* scheduler, uint64_t date_micros, uint64_t sequence) : scheduler_(scheduler) {
    scheduler_->BeginSettle(date_micros, sequence);
    DCHECK(scheduler_->settling());
  }
  ~SettleRequest() { End(); }
  SettleRequest(const SettleRequest&) = delete;
  SettleRequest& operator=(const SettleRequest&) = delete;

  void End() {
    if (scheduler_ != nullptr) scheduler_->EndSettle();
    scheduler_ = nullptr;
  }

 private:
  Scheduler* scheduler_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_BACKGROUND_SETTLE_REQUEST_H_
