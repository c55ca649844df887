// Reads of several files at once with io_uring: one thread has the kernel do them all side by side.
//
// Threads: any number of callers; each has a ring to itself while it reads.
//
// Errors: a kernel that has no io_uring, or forbids it, is asked once and never again.

#ifndef MIODB_SRC_UTIL_FILES_READ_RINGS_H_
#define MIODB_SRC_UTIL_FILES_READ_RINGS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/util/threads/mutex.h"

namespace miodb {

class ReadRings {
 public:
  struct Read {
    int descriptor;
    uint64_t offset;
    char* bytes;
    size_t size;
    int64_t got = 0;  // bytes read, which may be fewer than size; less than 0: the error's number, negated
  };

  ReadRings();
  ~ReadRings();
  ReadRings(const ReadRings&) = delete;
  ReadRings& operator=(const ReadRings&) = delete;

  // Reads all, and returns when every one has ended. False if nothing was read, because that is not possible here or
  // not now.
  bool Run(Read* reads, size_t count) EXCLUDES(mutex_);

  // False once it has turned out that the kernel does not let us.
  bool possible() const { return possible_.load(std::memory_order_relaxed); }  // relaxed: a hint

 private:
  struct Ring;

  std::unique_ptr<Ring> Take() EXCLUDES(mutex_);

  std::atomic<bool> possible_{true};
  Mutex mutex_;
  std::vector<std::unique_ptr<Ring>> idle_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_READ_RINGS_H_
