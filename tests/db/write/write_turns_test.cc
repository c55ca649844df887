#include "src/db/write/write_turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "src/util/clock/clock.h"

namespace miodb {
namespace {

// Puts that all meet others, for as long as the condition holds. Returns how many.
template <typename Condition>
uint64_t PutWhile(WriteTurns* turns, Condition condition) {
  uint64_t puts = 0;
  for (; condition(); puts++) {
    turns->Take();
    turns->Met();
  }
  return puts;
}

// A machine that is busy with other things may take its time for what comes within milliseconds otherwise.
constexpr uint64_t kPatienceMicros = 60 * 1000 * 1000;

TEST(WriteTurnsTest, AreNotTakenWhereThereAreCpus) {
  CpuCensus census(3);
  WriteTurns turns(&census);
  const CpuCensus::Work work(&census);
  const uint64_t end = NowMicros() + 20 * 1000;
  PutWhile(&turns, [&] { return NowMicros() < end; });
  EXPECT_FALSE(turns.taken());
}

TEST(WriteTurnsTest, AreTakenWhileBackgroundWorkLeavesTooFew) {
  CpuCensus census(3);
  WriteTurns turns(&census);
  {
    const CpuCensus::Work one(&census), two(&census);
    const uint64_t give_up = NowMicros() + kPatienceMicros;
    PutWhile(&turns, [&] { return !turns.taken() && NowMicros() < give_up; });
    EXPECT_TRUE(turns.taken());
  }
  // Its own turn, and then nobody waited for the next.
  const uint64_t give_up = NowMicros() + kPatienceMicros;
  PutWhile(&turns, [&] { return turns.taken() && NowMicros() < give_up; });
  EXPECT_FALSE(turns.taken());
}

TEST(WriteTurnsTest, FewMeetingsAreBorne) {
  CpuCensus census(1);
  WriteTurns turns(&census);
  for (int i = 0; i < 30; i++) {
    for (int k = 0; k < 100; k++) turns.Met();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_FALSE(turns.taken());
}

TEST(WriteTurnsTest, EveryWriterGetsTurns) {
  CpuCensus census(1);
  WriteTurns turns(&census);
  constexpr int kWriters = 4;
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> puts[kWriters] = {};
  std::vector<std::thread> writers;
  for (auto& mine : puts) {
    writers.emplace_back([&] {
      PutWhile(&turns, [&] {
        mine++;
        return !stop;
      });
    });
  }
  const uint64_t give_up = NowMicros() + kPatienceMicros;
  while (!turns.taken() && NowMicros() < give_up) std::this_thread::yield();
  EXPECT_TRUE(turns.taken());
  for (auto& each : puts) {
    while (each < 20000 && NowMicros() < give_up) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_GE(each, 20000u);
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
}

// A holder of the turn that does not come back holds nobody up for long.
TEST(WriteTurnsTest, AHolderMayGoAway) {
  for (int i = 0; i < 20; i++) {
    CpuCensus census(1);
    WriteTurns turns(&census);
    std::thread([&] { PutWhile(&turns, [&] { return !turns.taken(); }); }).join();
    ASSERT_TRUE(turns.taken());
    std::vector<std::thread> writers;
    std::atomic<int> done{0};
    for (int w = 0; w < 3; w++) {
      writers.emplace_back([&] {
        for (int k = 0; k < 1000; k++) turns.Take();
        done++;
      });
    }
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(done, 3);
  }
}

}  // namespace
}  // namespace miodb
