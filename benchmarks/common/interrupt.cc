#include "benchmarks/common/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <ctime>
#include <mutex>
#include <thread>

namespace miodb::bench {

// The handler may only touch lock-free atomics.
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<int64_t>::is_always_lock_free);

std::atomic<bool> Interrupt::stop_{false};
std::atomic<int> Interrupt::signal_{0};

std::atomic<int64_t> Interrupt::first_nanos_{0};
std::atomic<int> Interrupt::wake_{-1};

// The handler calls this too, so errno stays what it was to the code that a signal interrupts.
void Interrupt::RequestStop() {
  const int before = errno;
  eventfd_write(wake_.load(std::memory_order_relaxed), 1);  // Before the flag: who sees it may call Install.
  errno = before;
  stop_.store(true, std::memory_order_relaxed);
}

void Interrupt::OnSignal(int signal) {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  const int64_t now = int64_t{1000000000} * time.tv_sec + time.tv_nsec;
  int64_t first = 0;
  if (first_nanos_.compare_exchange_strong(first, now, std::memory_order_relaxed)) {
    signal_.store(signal, std::memory_order_relaxed);
    RequestStop();
  } else if (now - first >= kOneRequest.count()) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

bool Interrupt::Wait(int descriptor, short events) {
  pollfd wait[] = {{descriptor, events, 0}, {wake_.load(std::memory_order_relaxed), POLLIN, 0}};
  while (!StopRequested()) {
    if (poll(wait, 2, -1) > 0 && wait[0].revents != 0) return true;
  }
  return false;
}

void Interrupt::Watch(const std::function<void()>& call, const std::function<void()>& stop) {
  constexpr std::chrono::milliseconds kBetweenLooks(20);
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::thread watcher([&] {
    std::unique_lock<std::mutex> lock(mutex);
    while (!is_done && !StopRequested()) changed.wait_for(lock, kBetweenLooks);
    if (!is_done) stop();
  });
  call();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    is_done = true;
  }
  changed.notify_one();
  watcher.join();
}

void Interrupt::Install() {
  if (wake_.load(std::memory_order_relaxed) < 0) wake_.store(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  eventfd_t signals;
  eventfd_read(wake_.load(std::memory_order_relaxed), &signals);  // Forgets.
  stop_.store(false, std::memory_order_relaxed);
  signal_.store(0, std::memory_order_relaxed);
  first_nanos_.store(0, std::memory_order_relaxed);
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (int signal : {SIGINT, SIGTERM}) sigaction(signal, &action, nullptr);
}

}  // namespace miodb::bench
