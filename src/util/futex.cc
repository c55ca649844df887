#include "src/util/futex.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace miodb {

static_assert(sizeof(std::atomic<int>) == sizeof(int) && std::atomic<int>::is_always_lock_free);

void FutexWait(const std::atomic<int>* word, int expected) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr);
}

void FutexWake(const std::atomic<int>* word) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1); }

}  // namespace miodb
