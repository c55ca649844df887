// JobShares: has merge threads that have nothing else to do help with the shares of a flush or a merge
// (compaction/merge/sharing.h).
//
// Threads: any. A job does its shares itself if nobody comes, so it waits only for shares that a helper has begun.

#ifndef MIODB_SRC_DB_BACKGROUND_JOB_SHARES_H_
#define MIODB_SRC_DB_BACKGROUND_JOB_SHARES_H_

#include <cstddef>
#include <cstdint>

#include "compaction/merge/sharing.h"
#include "src/db/context/control.h"
#include "src/db/context/cpu_census.h"
#include "src/util/check/check.h"
#include "src/util/threads/helper_threads.h"

namespace miodb {

class JobShares {
 public:
  // most: merge threads of the database.
  JobShares(Control* control, CpuCensus* census, int most)
      : control_(control), census_(census), most_(static_cast<size_t>(most)) {
    CHECK(control != nullptr && census != nullptr);
    CHECK_GT(most, 0);
  }
  JobShares(const JobShares&) = delete;
  JobShares& operator=(const JobShares&) = delete;

  // For a job whose shares should not be smaller than this.
  Sharing Of(uint64_t least_bytes) {
    return {most_, least_bytes, [this](size_t count, const Sharing::Work& work) { Run(count, work); }};
  }

  // Does a share of a job. False: none has one that nobody has begun.
  bool Help() EXCLUDES(db_mutex) {
    const CpuCensus::Work work(census_);
    return helpers_.Help();
  }

 private:
  // A wake-up gets one thread to look for work, so whoever begins a share wakes one for the next.
  void Run(size_t count, const Sharing::Work& work) EXCLUDES(db_mutex) {
    DCHECK_LE(count, most_);
    HelperThreads::Task task(
        [&](size_t i) {
          {
            DbLock lock(control_);
            control_->Wake(BackgroundStep::kMerge);
          }
          work(i);
        },
        count);
    helpers_.Begin(&task, count - 1);
    helpers_.Finish(&task);
  }

  Control* const control_;
  CpuCensus* const census_;
  const size_t most_;
  HelperThreads helpers_{0};  // merge threads come to help
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_BACKGROUND_JOB_SHARES_H_
