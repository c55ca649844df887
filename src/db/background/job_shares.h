// JobShares: has merge threads that have nothing else to do help with the shares of a flush or a merge
// (compaction/merge/sharing.h).
//
// Threads: any. A job does its shares itself if nobody comes, so it waits only for shares that a helper has begun.

#ifndef MIODB_SRC_DB_BACKGROUND_JOB_SHARES_H_
#define MIODB_SRC_DB_BACKGROUND_JOB_SHARES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "compaction/merge/sharing.h"
#include "src/db/context/control.h"
#include "src/db/context/cpu_census.h"
#include "src/util/check/check.h"
#include "src/util/threads/helper_threads.h"

namespace miodb {

class JobShares {
 public:
  // most: merge threads of the database.
  JobShares(DbContext& db, Control* control, CpuCensus* census, int most)
      : db_(db),
        control_(control),
        census_(census),
        most_(static_cast<size_t>(most)),
        helpers_(most, HelperThreads::Helpers::kCallers) {
    CHECK(control != nullptr && census != nullptr);
    CHECK_GT(most, 0);
  }
  JobShares(const JobShares&) = delete;
  JobShares& operator=(const JobShares&) = delete;

  // For a job whose tables should not be smaller than this.
  Sharing Of(uint64_t least_bytes) {
    return {most_, least_bytes, [this](size_t count, const Sharing::Work& work) { return Run(count, work); }};
  }

  // Helps a job. False: none has a share that nobody has begun.
  bool Help() EXCLUDES(db_mutex) {
    const CpuCensus::Work work(census_);
    return helpers_.Help();
  }

 private:
  Status Run(size_t count, const Sharing::Work& work) EXCLUDES(db_mutex) {
    DCHECK_LE(count, most_);
    std::vector<Status> done(count);
    HelperThreads::Task task([&](size_t i) { done[i] = db_.WithMemory([&] { return work(i); }); }, count);
    helpers_.Begin(&task, count - 1);
    for (size_t i = 1; i < count; i++) {
      DbLock lock(control_);
      control_->Wake(BackgroundStep::kMerge);
    }
    helpers_.Finish(&task);
    const auto failed = std::find_if(done.begin(), done.end(), [](const Status& s) { return !s.ok(); });
    return failed == done.end() ? Status::OK() : *failed;
  }

  DbContext& db_;
  Control* const control_;
  CpuCensus* const census_;
  const size_t most_;
  HelperThreads helpers_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_BACKGROUND_JOB_SHARES_H_
