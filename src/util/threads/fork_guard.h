// Tells a child of fork() that an object is its parent's.
//
// A child has a copy of the parent's memory without its threads: it would wait for ever for what they do, and for locks
// that one of them held; and what the parent writes to shared memory and files meets stale copies of its state. So a
// database and what belongs to it let a child do nothing: they ask this first, which costs a load.
//
// Threads: any.

#ifndef MIODB_SRC_UTIL_THREADS_FORK_GUARD_H_
#define MIODB_SRC_UTIL_THREADS_FORK_GUARD_H_

#include <atomic>
#include <cstdint>

namespace miodb {

class ForkGuard {
 public:
  // Belongs to the process that calls this.
  ForkGuard();

  // relaxed: written in a child before anything else runs there
  bool InChild() const { return depth_ != g_fork_depth.load(std::memory_order_relaxed); }

 private:
  // How many forks this process is away from the one that loaded the library.
  static std::atomic<uint32_t> g_fork_depth;

  const uint32_t depth_;
};

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_THREADS_FORK_GUARD_H_
