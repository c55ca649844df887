// Threads that serve many owners: who is served when, and that nobody's work is lost or goes on after it has left.

#include "src/util/threads/background_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

using Work = BackgroundThreads::Work;

template <typename Condition>
bool Comes(Condition condition) {
  for (int i = 0; i < 6000; i++) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// A step that stays where it is until it is let go.
struct Door {
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::atomic<bool> open{false};

  bool Pass() {
    const int now = ++inside;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    inside--;
    return false;
  }
};

TEST(BackgroundThreadsTest, AWorkIsAskedAsLongAsItFindsSomething) {
  BackgroundThreads threads(1);
  std::atomic<int> left{5}, asked{0};
  Work work(
      [&] {
        asked++;
        return left-- > 1;
      },
      1);
  ASSERT_OK(threads.Join(&work, "place"));
  EXPECT_TRUE(Comes([&] { return asked >= 5; }));
  left = 3;
  threads.Wake(&work);
  EXPECT_TRUE(Comes([&] { return asked >= 8; }));
  EXPECT_EQ(1u, threads.threads());
  threads.Leave(&work);
}

TEST(BackgroundThreadsTest, ARestingWorkIsPolledMoreAndMoreSeldom) {
  BackgroundThreads threads(1);
  std::atomic<int> asked{0};
  Work work(
      [&] {
        asked++;
        return false;
      },
      1);
  ASSERT_OK(threads.Join(&work, "place"));
  EXPECT_TRUE(Comes([&] { return asked >= 4; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(asked, 20);
  threads.Leave(&work);
}

TEST(BackgroundThreadsTest, AnOwnerHasAsManyThreadsAsItWants) {
  BackgroundThreads threads(1);
  Door door;
  Work work([&] { return door.Pass(); }, 3);
  ASSERT_OK(threads.Join(&work, "place"));
  EXPECT_EQ(3u, threads.threads());
  EXPECT_TRUE(Comes([&] {
    threads.Wake(&work);
    return door.inside == 3;
  }));
  threads.Wake(&work);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(3, door.most);
  door.open = true;
  threads.Leave(&work);
  EXPECT_EQ(0, door.inside);
}

TEST(BackgroundThreadsTest, ManyOwnersShareSomeThreads) {
  BackgroundThreads threads(2);
  std::vector<std::unique_ptr<Work>> works;
  std::vector<std::atomic<int>> asked(100);
  for (auto& count : asked) {
    works.push_back(std::make_unique<Work>(
        [&count] {
          count++;
          return false;
        },
        1));
    ASSERT_OK(threads.Join(works.back().get(), "place"));
  }
  EXPECT_EQ(2u, threads.threads());
  EXPECT_TRUE(Comes([&] { return std::all_of(asked.begin(), asked.end(), [](const auto& c) { return c > 0; }); }));
  for (auto& work : works) threads.Leave(work.get());
}

// A thread is held, and the other thread serves everybody else.
TEST(BackgroundThreadsTest, AStepThatTakesLongHoldsUpNobody) {
  BackgroundThreads threads(2);
  Door door;
  Work stuck([&] { return door.Pass(); }, 2);
  std::atomic<int> asked{0};
  Work other(
      [&] {
        asked++;
        return false;
      },
      1);
  ASSERT_OK(threads.Join(&other, "place"));
  EXPECT_TRUE(Comes([&] { return asked > 0; }));
  ASSERT_OK(threads.Join(&stuck, "place"));
  EXPECT_TRUE(Comes([&] { return door.inside == 1; }));
  const int before = asked;
  threads.Wake(&other);
  EXPECT_TRUE(Comes([&] { return asked > before; }));
  threads.Leave(&other);  // waits for nobody else
  EXPECT_GE(door.inside, 1);
  door.open = true;
  threads.Leave(&stuck);
}

// While both threads are taken, one work asks for a second thread before the other has had its first.
TEST(BackgroundThreadsTest, WhoHasNoThreadComesFirst) {
  BackgroundThreads threads(2);
  Door door;
  std::atomic<bool> first{true};
  std::vector<std::string> order;
  Mutex mutex;
  const auto note = [&](const char* name) {
    const MutexLock lock(&mutex);
    order.push_back(name);
    return false;
  };
  Work large([&] { return first.exchange(false) ? door.Pass() : note("large"); }, 2);
  Work blocker([&] { return door.Pass(); }, 1);
  Work small([&] { return note("small"); }, 1);
  ASSERT_OK(threads.Join(&large, "place"));
  ASSERT_TRUE(Comes([&] { return door.inside == 1; }));
  ASSERT_OK(threads.Join(&blocker, "place"));
  ASSERT_TRUE(Comes([&] { return door.inside == 2; }));
  threads.Wake(&large);
  ASSERT_OK(threads.Join(&small, "place"));
  {
    const MutexLock lock(&mutex);
    order.clear();
  }
  door.open = true;
  EXPECT_TRUE(Comes([&] {
    const MutexLock lock(&mutex);
    return order.size() >= 2;
  }));
  {
    const MutexLock lock(&mutex);
    EXPECT_EQ("small", order[0]);
  }
  for (Work* work : {&large, &blocker, &small}) threads.Leave(work);
}

// Four owners that always have something to do, and one that wakes itself from its own steps: it is not behind them for
// ever because it had a thread when it asked for the next.
TEST(BackgroundThreadsTest, WhoHadAThreadComesBackInTurn) {
  BackgroundThreads threads(1);
  std::atomic<int> asked{0};
  BackgroundThreads* const all = &threads;
  Work* self = nullptr;
  Work large(
      [&] {
        asked++;
        all->Wake(self);
        return true;
      },
      4);
  self = &large;
  const auto busy = [] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return true;
  };
  Work small[] = {{busy, 1}, {busy, 1}, {busy, 1}, {busy, 1}};
  for (Work& work : small) ASSERT_OK(threads.Join(&work, "place"));
  ASSERT_OK(threads.Join(&large, "place"));
  EXPECT_TRUE(Comes([&] { return asked >= 50; }));
  for (Work& work : small) threads.Leave(&work);
  threads.Leave(&large);
}

// Nobody wakes it, and no thread is ever without work.
TEST(BackgroundThreadsTest, ARestingWorkIsPolledBesideBusyOnes) {
  BackgroundThreads threads(1);
  std::atomic<int> asked{0};
  Work resting(
      [&] {
        asked++;
        return false;
      },
      1);
  Work busy(
      [] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return true;
      },
      1);
  ASSERT_OK(threads.Join(&resting, "place"));
  ASSERT_OK(threads.Join(&busy, "place"));
  EXPECT_TRUE(Comes([&] { return asked >= 3; }));
  threads.Leave(&busy);
  threads.Leave(&resting);
}

// Wake-ups from all sides, owners that come and go: after each wake-up there is a step that began behind it.
TEST(BackgroundThreadsTest, NoWakeUpIsLost) {
  constexpr int kOwners = 8, kRounds = 200;
  BackgroundThreads threads(3);
  std::vector<std::thread> owners;
  for (int o = 0; o < kOwners; o++) {
    owners.emplace_back([&] {
      for (int round = 0; round < kRounds / 10; round++) {
        std::atomic<int> wanted{0}, seen{0};
        Work work(
            [&] {
              seen = wanted.load();
              return false;
            },
            1);
        ASSERT_OK(threads.Join(&work, "place"));
        for (int i = 1; i <= 10; i++) {
          wanted = i;
          threads.Wake(&work);
          // A poll would be a hundred times as slow.
          ASSERT_TRUE(Comes([&] { return seen == i; }));
        }
        threads.Leave(&work);
        threads.Wake(&work);  // without effect
      }
    });
  }
  for (std::thread& owner : owners) owner.join();
}

}  // namespace
}  // namespace miodb::test
