// How a flush or a merge goes to several threads: in shares of keys that lie side by side. Each share has cursors, an
// account, tables and a fence of its own; one edit names the tables of all.
//
// Threads: a share is one thread's; whoever runs the shares hands over what they have made.

#ifndef MIODB_COMPACTION_MERGE_SHARING_H_
#define MIODB_COMPACTION_MERGE_SHARING_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "miodb/status.h"
#include "src/nvm/persist/persist.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

struct Sharing {
  using Work = std::function<void(size_t share)>;

  size_t most = 1;           // shares
  uint64_t least_bytes = 1;  // of payload in a share
  // Calls work(0) to work(count - 1), each once, by any threads, and returns when all have returned; null: the caller
  // does one after the other.
  std::function<void(size_t count, const Work& work)> run = nullptr;

  // The number of shares of a job with so much payload.
  size_t CountFor(uint64_t bytes) const {
    CHECK(most > 0 && least_bytes > 0);
    return static_cast<size_t>(std::clamp<uint64_t>(bytes / least_bytes, 1, most));
  }

  // Does all shares of a job that stores for this purpose, or, when one has failed, those that were begun; the error is
  // one of theirs. Stores of shares are durable after a fence of the caller's: each share of several is fenced by its
  // own thread, but where the caller's fence covers what others stored.
  Status Run(size_t count, Persist* persist, Purpose purpose, const std::function<Status(size_t share)>& share) const {
    DCHECK(persist != nullptr);
    if (count <= 1) return count == 0 ? Status::OK() : share(0);
    std::vector<Status> done(count);
    std::atomic<bool> failed{false};  // relaxed: a share that begins in vain gives back what it took
    const Work work = [&](size_t i) {
      if (failed.load(std::memory_order_relaxed)) return;
      const InShare in_share(persist, purpose, i);
      done[i] = NoThrow("share of a job", [&] {
        Status s = share(i);
        return s.ok() && !persist->fence_is_slow() ? persist->Fence(purpose) : s;
      });
      if (!done[i].ok()) failed.store(true, std::memory_order_relaxed);
    };
    if (run != nullptr) {
      run(count, work);
    } else {
      for (size_t i = 0; i < count; i++) work(i);
    }
    const auto error = std::find_if(done.begin(), done.end(), [](const Status& s) { return !s.ok(); });
    return error == done.end() ? Status::OK() : *error;
  }
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_SHARING_H_
