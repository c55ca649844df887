#include "src/util/threads/fork_guard.h"

#include <pthread.h>

namespace miodb {

std::atomic<uint32_t> ForkGuard::g_fork_depth{0};

// The handler is registered by the first object and stays for ever: it counts, in the child, and before anything else
// runs there. Two first objects at once may both come by; exchange lets one of them register.
ForkGuard::ForkGuard() : depth_(g_fork_depth.load(std::memory_order_relaxed)) {  // relaxed: as in InChild
  // Without memory for the handler the next object tries again.
  static std::atomic<bool> registered{false};
  if (registered.exchange(true, std::memory_order_relaxed)) return;  // relaxed: nothing is published by it
  const auto count = [] { g_fork_depth.fetch_add(1, std::memory_order_relaxed); };  // relaxed: as in InChild
  if (::pthread_atfork(nullptr, nullptr, count) != 0) registered.store(false, std::memory_order_relaxed);
}

}  // namespace miodb
