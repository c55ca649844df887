#include "src/util/threads/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "src/util/clock/clock.h"

namespace miodb {
namespace {

// State that the tests below share between threads.
struct Shared {
  Mutex mu;
  CondVar cv{&mu};
  int value GUARDED_BY(mu) = 0;
};

TEST(MutexTest, OneThreadAtATimeIsInside) {
  Shared shared;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10000; ++i) {
        MutexLock lock(&shared.mu);
        ++shared.value;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  MutexLock lock(&shared.mu);
  EXPECT_EQ(40000, shared.value);
}

TEST(MutexTest, KnowsItsOwner) {
  Mutex mu;
  EXPECT_FALSE(mu.IsHeldByThisThread());
  {
    MutexLock lock(&mu);
    EXPECT_TRUE(mu.IsHeldByThisThread());
    mu.AssertHeld();
    std::thread([&] { EXPECT_FALSE(mu.IsHeldByThisThread()); }).join();
  }
  EXPECT_FALSE(mu.IsHeldByThisThread());
}

TEST(MutexTest, TryLockDoesNotWait) {
  Mutex mu;
  const bool first = mu.TryLock();
  EXPECT_TRUE(first);
  if (!first) return;
  std::thread([&mu] {
    const bool second = mu.TryLock();
    EXPECT_FALSE(second);
    if (second) mu.Unlock();
  }).join();
  mu.Unlock();
}

void AssertHeldWithoutTheLock(Mutex* mu) NO_THREAD_SAFETY_ANALYSIS { mu->AssertHeld(); }

TEST(MutexDeathTest, AssertHeldAbortsWithoutTheLock) {
  Mutex mu;
  EXPECT_DEATH(AssertHeldWithoutTheLock(&mu), "check failed");
}

TEST(CondVarTest, WaitEndsWithASignalAndHoldsTheMutexAgain) {
  Shared shared;
  std::thread other([&] {
    MutexLock lock(&shared.mu);
    shared.value = 1;
    shared.cv.Signal();
  });
  {
    MutexLock lock(&shared.mu);
    while (shared.value == 0) shared.cv.Wait();
    EXPECT_TRUE(shared.mu.IsHeldByThisThread());
  }
  other.join();
}

TEST(CondVarTest, SignalAllWakesEveryWaiter) {
  Shared shared;
  std::vector<std::thread> waiters;
  for (int t = 0; t < 4; ++t) {
    waiters.emplace_back([&] {
      MutexLock lock(&shared.mu);
      while (shared.value == 0) shared.cv.Wait();
    });
  }
  {
    MutexLock lock(&shared.mu);
    shared.value = 1;
    shared.cv.SignalAll();
  }
  for (std::thread& waiter : waiters) waiter.join();
}

TEST(CondVarTest, TimedWaitReturnsFalseWhenTheTimeRanOut) {
  Shared shared;
  MutexLock lock(&shared.mu);
  const uint64_t start = NowMicros();
  // A wait may end early for no reason, but not with false.
  while (shared.cv.TimedWait(20000)) {
  }
  EXPECT_GE(NowMicros() - start, 20000u);
  EXPECT_TRUE(shared.mu.IsHeldByThisThread());
  EXPECT_FALSE(shared.cv.TimedWait(0));
}

TEST(CondVarTest, TimedWaitReturnsTrueOnASignalInTime) {
  Shared shared;
  std::thread other([&] {
    MutexLock lock(&shared.mu);
    shared.value = 1;
    shared.cv.Signal();
  });
  {
    MutexLock lock(&shared.mu);
    while (shared.value == 0) EXPECT_TRUE(shared.cv.TimedWait(UINT64_MAX));  // no overflow either
  }
  other.join();
}

TEST(ClockTest, NeverGoesBack) {
  uint64_t last = NowNanos();
  for (int i = 0; i < 1000; ++i) {
    const uint64_t now = NowNanos();
    ASSERT_GE(now, last);
    last = now;
  }
  const uint64_t micros = NowMicros();
  EXPECT_GE(micros, last / 1000);
}

}  // namespace
}  // namespace miodb
