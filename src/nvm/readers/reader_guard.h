// ReaderGuard: space of a pool that came free and that readers in other processes may still look at (reader_page.h).
//
// Threads: any. After a crash: the next open asks the readers anew.

#ifndef MIODB_SRC_NVM_READERS_READER_GUARD_H_
#define MIODB_SRC_NVM_READERS_READER_GUARD_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "src/format/pm_ref.h"
#include "src/nvm/readers/reader_page.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class ReaderGuard {
 public:
  explicit ReaderGuard(std::unique_ptr<ReaderPage> page) : page_(std::move(page)) { CHECK(page_ != nullptr); }
  ReaderGuard(const ReaderGuard&) = delete;
  ReaderGuard& operator=(const ReaderGuard&) = delete;

  // Waits a little for readers to look at the manifest as it is now. False: some have not.
  bool WaitUntilSeen();

  // Waits a little for readers to pass what is held longest. Space that was waited for in vain is not waited for again.
  void WaitUntilPassed() EXCLUDES(mutex_);

  // The next time, for what is held elsewhere; and whether all readers have looked at the manifest since.
  uint64_t NewTime() { return page_->Advance(); }
  bool Passed(uint64_t time) {
    DCHECK_GT(time, ReaderPage::kAll);
    return page_->PassedBy(time);
  }

  // Keeps a run of space until all readers have looked at the manifest since.
  void Hold(PmRef offset, uint64_t size) EXCLUDES(mutex_);

  // The same, unless they need none of it. The caller has made the edit without this space durable.
  bool HoldIfRead(PmRef offset, uint64_t size) EXCLUDES(mutex_);

  // Calls visit(offset, size) for what nobody needs any more, and forgets it.
  template <typename Visit>
  void ForEachPassed(Visit visit) EXCLUDES(mutex_) {
    Run run;
    while (TakePassed(&run)) visit(run.offset, run.size);
  }

  uint64_t held_bytes() const { return held_bytes_.load(std::memory_order_relaxed); }  // relaxed: a figure

 private:
  struct Run {
    PmRef offset = 0;
    uint64_t size = 0;
    uint64_t time = 0;
  };

  bool TakePassed(Run* run) EXCLUDES(mutex_);
  bool WaitUntilPassed(uint64_t time, uint64_t micros);  // so long at most

  const std::unique_ptr<ReaderPage> page_;
  Mutex mutex_;
  std::deque<Run> held_ GUARDED_BY(mutex_);     // by time
  uint64_t waited_for_ GUARDED_BY(mutex_) = 0;  // the last time that was waited for in vain
  std::atomic<uint64_t> held_bytes_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_READERS_READER_GUARD_H_
