// CopyRoom: what running collections may still copy of the extents that are marked for evacuation, so that log chunks
// leave them the space. Copies that stop half-way free nothing, and take space until a later collection.
//
// Threads: Take by any, Mark by the one that marks, the rest under a lock of the owner's.

#ifndef MIODB_SRC_DB_SPACE_COPY_ROOM_H_
#define MIODB_SRC_DB_SPACE_COPY_ROOM_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "src/util/check/check.h"

namespace miodb {

class CopyRoom {
 public:
  // Marks were made anew: so many bytes are to be copied.
  void Mark(uint64_t bytes) {
    left_.store(static_cast<int64_t>(bytes), std::memory_order_relaxed);  // relaxed: a figure, as below
  }

  // A collection runs from now on until End. leave: what its copies leave free besides the index reserve.
  void Begin(uint64_t leave) {
    leave_ = std::max(leave_, leave);
    jobs_++;
  }
  void End() {
    CHECK_GT(jobs_, 0);
    if (--jobs_ == 0) leave_ = 0;
  }

  // So many bytes were taken for copies, or given back. The other jobs copy marked records as well.
  void Take(int64_t bytes) { left_.fetch_sub(bytes, std::memory_order_relaxed); }

  // Bytes that log must leave free besides the index reserve.
  uint64_t Bytes() const {
    if (jobs_ == 0) return 0;
    return leave_ + static_cast<uint64_t>(std::max<int64_t>(left_.load(std::memory_order_relaxed), 0));
  }

 private:
  std::atomic<int64_t> left_{0};
  uint64_t leave_ = 0;
  int jobs_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_SPACE_COPY_ROOM_H_
