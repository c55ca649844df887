#include "benchmarks/common/interrupt.h"

#include <csignal>

namespace miodb::bench {

// The handler may only touch lock-free atomics.
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

std::atomic<bool> Interrupt::stop_{false};
std::atomic<int> Interrupt::signal_{0};

void Interrupt::OnSignal(int signal) {
  signal_.store(signal, std::memory_order_relaxed);
  RequestStop();
}

void Interrupt::Install() {
  stop_.store(false, std::memory_order_relaxed);
  signal_.store(0, std::memory_order_relaxed);
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESETHAND | SA_RESTART;
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace miodb::bench
