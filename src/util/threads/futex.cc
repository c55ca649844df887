#include "src/util/threads/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "src/util/check/check.h"

namespace miodb {

static_assert(sizeof(std::atomic<int>) == sizeof(int) && std::atomic<int>::is_always_lock_free);

// The kernel compares the word and goes to sleep in one step, so a change of the word between the caller's look and
// the sleep wakes nobody too early and leaves nobody asleep. A signal, or a wake for somebody who had the address
// before, ends the sleep without cause: callers look at the word again in a loop, with the memory order that they
// need; none comes from here.
void FutexWait(const std::atomic<int>* word, int expected) {
  DCHECK(word != nullptr);
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr);
}

// The clock is the monotonic one and the time is relative, so a changed date neither ends a wait nor prolongs it.
bool FutexWaitFor(const std::atomic<int>* word, int expected, uint64_t micros) {
  DCHECK(word != nullptr);
  // A wait of years is as good as one without end, and fits into every time_t.
  constexpr uint64_t kLongestMicros = uint64_t{1} << 50;
  micros = std::min(micros, kLongestMicros);
  timespec limit = {};
  limit.tv_sec = static_cast<time_t>(micros / 1000000);
  limit.tv_nsec = static_cast<long>(micros % 1000000 * 1000);
  return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, &limit) == 0 || errno != ETIMEDOUT;
}

// May be called with the address of a word that is gone, which happens when the sleeper has seen the change and
// returned before: then it wakes nobody, or somebody who looks again.
void FutexWake(const std::atomic<int>* word, int count) {
  DCHECK_GT(count, 0);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count);
}

}  // namespace miodb
