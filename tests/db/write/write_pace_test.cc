// WritePace against a model of a pool: a writer that goes as fast as it may, and jobs that give back in lumps.

#include "src/db/write/write_pace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr double kMiB = 1 << 20;

// A pool whose writers pay nanos_per_kib besides what their writes cost, and take chunks; the jobs give back at each
// end what the writers have taken until its beginning, as far as they can.
struct World {
  double near = 64 * kMiB;
  double chunk = 1 * kMiB;
  double writer_rate = 1000 * kMiB;  // bytes a second at full speed
  double job_micros = 100 * 1000;    // of each job at least
  double back_rate = 300 * kMiB;     // bytes that jobs can give back in a second

  // The result in the second half of a run.
  double least_left = 1e18;
  double longest_chunk_micros = 0;
  double throughput = 0;
  double slowest_tenth = 1e18;  // of a second, bytes a second

  void Run(double seconds, Random* random) {
    WritePace pace;
    double left = 4 * near, debt = 0, micros = 0, counted = 0, tenth = 0, tenth_micros = seconds * 5e5;
    double job_end = 0, job_gives = 0;
    while (micros < seconds * 1e6) {
      while (micros >= job_end) {
        left += job_gives;
        debt -= job_gives;
        const double length = job_micros * (1 + static_cast<double>(random->Uniform(100)) / 100);
        job_end += length;
        job_gives = std::min(debt, back_rate * length / 1e6);
      }
      const uint64_t nanos_per_kib = pace.Observe({static_cast<uint64_t>(micros), static_cast<uint64_t>(left),
                                                   static_cast<uint64_t>(near), static_cast<uint64_t>(chunk), true});
      double cost = chunk / writer_rate * 1e6 + static_cast<double>(nanos_per_kib) * chunk / 1024 / 1000;
      if (left < 2 * chunk) cost = std::max(cost, job_end - micros);  // it waits
      if (micros > seconds * 5e5) {
        least_left = std::min(least_left, left);
        longest_chunk_micros = std::max(longest_chunk_micros, cost);
        counted += chunk;
        if (micros - tenth_micros >= 1e5) {
          slowest_tenth = std::min(slowest_tenth, (counted - tenth) / (micros - tenth_micros) * 1e6);
          tenth = counted;
          tenth_micros = micros;
        }
      }
      micros += cost;
      left -= std::min(left - chunk, chunk);
      pace.Take(static_cast<uint64_t>(chunk));
      debt += chunk;
    }
    throughput = counted / (seconds / 2);
  }
};

TEST(WritePaceTest, WithSpaceEnoughOrNothingAtWorkThereIsNoPace) {
  WritePace pace;
  EXPECT_EQ(0u, pace.Observe({1, 100, 100, 1, true}));
  EXPECT_EQ(0u, pace.Observe({2, 50, 100, 1, false}));
  EXPECT_LT(0u, pace.Observe({3, 50, 100, 1, true}));
}

// It comes back when the job ends, and is no return then.
TEST(WritePaceTest, WhatCopiesWantIsNotForWriters) {
  WritePace pace, other, less;
  EXPECT_EQ(0u, pace.Observe({1, 150, 100, 1, true}));
  EXPECT_EQ(0u, other.Observe({1, 150, 100, 1, true}));
  EXPECT_EQ(0u, less.Observe({1, 150, 100, 1, true}));
  EXPECT_LT(0u, pace.Observe({1000, 90, 100, 1, true, 50}));
  EXPECT_EQ(less.Observe({1000, 40, 100, 1, true}), pace.Observe({1000, 90, 100, 1, true, 50}));
  other.Observe({1000, 90, 100, 1, true});
  EXPECT_EQ(other.Observe({2000, 90, 100, 1, true}), pace.Observe({2000, 90, 100, 1, true}));
  EXPECT_EQ(other.Observe({9000, 30, 100, 1, true}), pace.Observe({9000, 30, 100, 1, true}));
}

TEST(WritePaceTest, ItBeginsWithNothingAndGrowsAsSpaceGoes) {
  constexpr uint64_t kNear = 1 << 30;
  uint64_t last = 0;
  for (uint64_t left = kNear - 1; left > kNear / 1000; left = left * 9 / 10) {
    WritePace pace;
    const uint64_t nanos = pace.Observe({1, left, kNear, 1, true});
    EXPECT_GE(nanos, last) << left;
    EXPECT_TRUE(left < kNear - 1 || nanos == 0) << nanos;
    last = nanos;
  }
}

// A step: nothing comes back any more. What is left is used up ever more slowly, and does not run out in ten times the
// time that a job has taken so far.
TEST(WritePaceTest, WhenNothingComesBackWritersNeverUseUpAll) {
  Random random(Seeds(1)[0]);
  World world;
  world.back_rate = 1;
  world.Run(1, &random);
  EXPECT_GT(world.least_left, world.near / 100) << world.least_left;
}

TEST(WritePaceTest, WritersGoAsFastAsSpaceComesBackAndNeverWaitForAJob) {
  Random random(Seeds(1)[0]);
  for (const double rate : {20.0, 100.0, 300.0}) {
    World world;
    world.back_rate = rate * kMiB;
    world.Run(20, &random);
    EXPECT_GT(world.least_left, 2 * world.chunk) << rate;
    EXPECT_GT(world.throughput, 0.9 * world.back_rate) << rate;
    EXPECT_LT(world.longest_chunk_micros, world.job_micros) << rate;
  }
}

TEST(WritePaceTest, ItDoesNotSwing) {
  Random random(Seeds(1)[0]);
  World world;
  world.Run(20, &random);
  EXPECT_GT(world.slowest_tenth, world.throughput / 3) << world.throughput / kMiB;
}

// Two pools with the same rates for their size behave the same.
TEST(WritePaceTest, SizesEnterAsRatiosAlone) {
  World small, large;
  large.near = 100 * small.near;
  large.chunk = 100 * small.chunk;
  large.writer_rate = 100 * small.writer_rate;
  large.back_rate = 100 * small.back_rate;
  Random random(1), same(1);
  small.Run(5, &random);
  large.Run(5, &same);
  EXPECT_NEAR(100, large.throughput / small.throughput, 1);
  EXPECT_NEAR(100, large.least_left / small.least_left, 5);
}

// Hours of work in which there was space enough say nothing of how long a return takes.
TEST(WritePaceTest, TimeWithSpaceEnoughIsNoTimeOfWaiting) {
  constexpr uint64_t kNear = 1 << 30, kHour = 3600ull * 1000 * 1000;
  WritePace fresh, old;
  for (uint64_t micros = 0; micros < kHour; micros += kHour / 100) {
    EXPECT_EQ(0u, old.Observe({micros, 2 * kNear, kNear, 1, true}));
  }
  const uint64_t begun = fresh.Observe({1, kNear / 2, kNear, 1, true});
  EXPECT_EQ(begun, old.Observe({kHour - kHour / 100 + 1, kNear / 2, kNear, 1, true}));
}

TEST(WritePaceTest, ASingleChunkIsNoReturn) {
  constexpr uint64_t kNear = 1 << 20, kChunk = kNear / 4, kSecond = 1000 * 1000;
  WritePace pace;
  pace.Observe({1, kNear / 2, kNear, kChunk, true});
  const uint64_t before = pace.Observe({kSecond, kNear / 2, kNear, kChunk, true});
  pace.Observe({kSecond, kNear / 2 + kChunk, kNear, kChunk, true});
  EXPECT_EQ(before, pace.Observe({kSecond, kNear / 2, kNear, kChunk, true}));
}

TEST(WritePaceTest, ItEndsWhenSpaceComesBack) {
  WritePace pace;
  EXPECT_LT(0u, pace.Observe({1, 10, 100, 1, true}));
  EXPECT_EQ(0u, pace.Observe({2, 100, 100, 1, true}));
}

}  // namespace
}  // namespace miodb::test
