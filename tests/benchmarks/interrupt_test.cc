// Requests to stop: by signals, at any moment and on any thread.

#include "benchmarks/common/interrupt.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace miodb::bench {
namespace {

TEST(InterruptTest, AWatchedCallIsStoppedOnceAndOnlyIfItRuns) {
  Interrupt::Install();
  int stops = 0;
  Interrupt::Watch([] {}, [&] { stops++; });
  EXPECT_EQ(stops, 0);
  std::atomic<bool> stopped{false};
  Interrupt::Watch(
      [&] {
        std::raise(SIGINT);
        while (!stopped.load()) std::this_thread::yield();
      },
      [&] {
        stops++;
        stopped.store(true);
      });
  EXPECT_EQ(stops, 1);
  Interrupt::Install();
}

// As timeout(1) sends them: to the program, and then to its process group, which the program is in.
TEST(InterruptTest, SignalsThatComeTogetherAreOneRequest) {
  Interrupt::Install();
  for (const int signal : {SIGTERM, SIGTERM, SIGINT, SIGINT}) std::raise(signal);
  EXPECT_TRUE(Interrupt::StopRequested());
  EXPECT_EQ(Interrupt::Signal(), SIGTERM) << "the first decides the exit status";
  Interrupt::Install();
}

TEST(InterruptDeathTest, ALaterSignalEndsTheProcessAtOnce) {
  const auto interrupt_twice = [] {
    Interrupt::Install();
    std::raise(SIGINT);
    std::this_thread::sleep_for(Interrupt::kOneRequest + std::chrono::milliseconds(10));
    std::raise(SIGTERM);
  };
  EXPECT_EXIT(interrupt_twice(), testing::KilledBySignal(SIGTERM), "");
}

// The moment between a look at the flag and the wait is where a request was lost: it is as if it came before. The
// descriptor gets ready late, so that a wait that misses its request ends all the same.
TEST(InterruptTest, AWaitEndsWithARequestThatCameBeforeItOrByAnotherThread) {
  const int timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  ASSERT_GE(timer, 0);
  const auto set_timer = [&](const itimerspec& time) { ASSERT_EQ(0, timerfd_settime(timer, 0, &time, nullptr)); };
  for (void (*const request)() : {+[] { std::raise(SIGINT); }, +[] { Interrupt::RequestStop(); }}) {
    for (int round = 0; round < 200 && !HasFailure(); round++) {
      set_timer({{0, 0}, {10, 0}});
      Interrupt::Install();
      std::thread other([&] {
        for (int i = 0; i < 50 * round; i++) std::atomic_signal_fence(std::memory_order_seq_cst);
        request();
      });
      EXPECT_FALSE(Interrupt::Wait(timer, POLLIN)) << "round " << round;
      other.join();
      EXPECT_FALSE(Interrupt::Wait(timer, POLLIN));
    }
  }
  Interrupt::Install();
  set_timer({{0, 0}, {0, 1}});
  EXPECT_TRUE(Interrupt::Wait(timer, POLLIN)) << "earlier requests are forgotten";
  close(timer);
}

}  // namespace
}  // namespace miodb::bench
