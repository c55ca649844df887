// How a flush or a merge goes to several threads: in shares of keys that lie side by side. Each share has cursors, an
// account, tables and a fence of its own; one edit names the tables of all.
//
// Threads: a share is one thread's; whoever runs the shares hands over what they have made.

#ifndef MIODB_COMPACTION_MERGE_SHARING_H_
#define MIODB_COMPACTION_MERGE_SHARING_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "miodb/status.h"
#include "src/nvm/persist/persist.h"
#include "src/util/check/check.h"

namespace miodb {

struct Sharing {
  // Does the work of a share.
  using Work = std::function<Status(size_t share)>;

  size_t most = 1;           // shares
  uint64_t least_bytes = 1;  // of payload in a share
  // Calls work(0) to work(count - 1), each once at most, by any threads, and returns when no call runs: OK, if all were
  // made and were OK, else an error of one. null: the caller does one after the other.
  std::function<Status(size_t count, const Work& work)> run = nullptr;

  // The number of shares of a job with so much payload.
  size_t CountFor(uint64_t bytes) const {
    CHECK(most > 0 && least_bytes > 0);
    return static_cast<size_t>(std::clamp<uint64_t>(bytes / least_bytes, 1, most));
  }

  // Does all shares of a job that stores for this purpose. What they stored is durable after a fence of the caller's:
  // each share of several is fenced by its own thread.
  Status Run(size_t count, Persist* persist, Purpose purpose, const Work& work) const {
    DCHECK(persist != nullptr);
    if (count <= 1) return count == 0 ? Status::OK() : work(0);
    const Work fenced = [&](size_t share) {
      const InShare in_share(persist, purpose, share);
      Status s = work(share);
      return s.ok() ? persist->Fence(purpose) : s;
    };
    if (run != nullptr) return run(count, fenced);
    Status s;
    for (size_t i = 0; s.ok() && i < count; i++) s = fenced(i);
    return s;
  }
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_SHARING_H_
