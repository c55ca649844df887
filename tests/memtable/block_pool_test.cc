#include "src/memtable/block_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

TEST(BlockPoolTest, GivesTheSameBlocksAgain) {
  BlockPool pool(16 * 1024, 4);
  std::set<char*> first, second;
  for (int i = 0; i < 4; i++) first.insert(pool.Take());
  EXPECT_EQ(4u, first.size());
  for (char* block : first) pool.Give(block);
  for (int i = 0; i < 4; i++) second.insert(pool.Take());
  EXPECT_EQ(first, second);
  for (char* block : second) pool.Give(block);
}

TEST(BlockPoolTest, BlocksAreWritableFromEndToEnd) {
  for (size_t bytes : {size_t{4096}, size_t{16 * 1024}, size_t{5000}, size_t{2} << 20}) {
    BlockPool pool(bytes, 1);
    EXPECT_EQ(bytes, pool.block_bytes());
    char* const block = pool.Take();
    EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(block) % 4096);
    memset(block, 'x', bytes);
    pool.Give(block);
  }
}

TEST(BlockPoolTest, PreparedBlocksAreTheOnesThatAreTaken) {
  BlockPool pool(8192, 3);
  pool.Prepare(2);
  pool.Prepare(2);
  std::vector<char*> blocks;
  for (int i = 0; i < 2; i++) {
    blocks.push_back(pool.Take());
    // Faulted in by zeroing.
    EXPECT_EQ(std::string(8192, '\0'), std::string(blocks.back(), 8192));
  }
  for (char* block : blocks) pool.Give(block);
  pool.Prepare(100);  // keeps no more than it may
}

TEST(BlockPoolTest, WhoHasLittleGetsSmallBlocksUntilHeHasOneBlockAndAFreeOneBefore) {
  constexpr size_t kBlock = 256 * 1024;
  BlockPool pool(kBlock, 4);
  std::vector<size_t> sizes;
  std::vector<char*> blocks;
  size_t have = 0;
  for (int i = 0; i < 7; i++) {
    sizes.emplace_back();
    blocks.push_back(pool.TakeNext(have, &sizes.back()));
    memset(blocks.back(), 'x', sizes.back());
    have += sizes.back();
    EXPECT_EQ(have > kBlock / 2, pool.in_use()) << have;
  }
  constexpr size_t kKiB = 1024;
  EXPECT_EQ((std::vector<size_t>{16 * kKiB, 16 * kKiB, 32 * kKiB, 64 * kKiB, 128 * kKiB, kBlock, kBlock}), sizes);
  for (size_t i = 0; i < blocks.size(); i++) pool.GiveBack(blocks[i], sizes[i]);
  size_t size, first_size;
  char* const first = pool.TakeNext(0, &first_size);
  EXPECT_EQ(16 * kKiB, first_size) << "the first is small";
  char* const block = pool.TakeNext(first_size, &size);
  EXPECT_EQ(kBlock, size) << "one is free";
  pool.GiveBack(block, size);
  pool.GiveBack(first, first_size);
}

TEST(BlockPoolTest, WhatNobodyTakesGoesBack) {
  BlockPool pool(4096, 4);
  const auto has_free = [&] { return pool.Sample().looked_at > 0; };
  pool.Prepare(2);
  pool.GiveBackIdle(1000, 500);  // seen for the first time
  EXPECT_TRUE(has_free());
  pool.Give(pool.Take());
  pool.GiveBackIdle(2000, 500);
  EXPECT_TRUE(has_free()) << "one was taken since";
  pool.GiveBackIdle(2400, 500);
  EXPECT_TRUE(has_free());
  pool.GiveBackIdle(2500, 500);
  EXPECT_FALSE(has_free());
}

TEST(BlockPoolTest, ManyThreadsNeverHoldTheSameBlock) {
  BlockPool pool(4096, 5);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&pool, t] {
      Random random(static_cast<uint64_t>(t));
      std::vector<char*> held;
      for (uint64_t i = 0; i < ByScale(3000, 10000, 100000); i++) {
        if (held.size() < 4 && random.OneIn(2)) {
          held.push_back(pool.Take());
          memset(held.back(), t, 4096);
        } else if (!held.empty()) {
          EXPECT_EQ(t, held.back()[0]);
          EXPECT_EQ(t, held.back()[4095]);
          pool.Give(held.back());
          held.pop_back();
        }
        if (random.OneIn(50)) pool.Prepare(3);
      }
      for (char* block : held) pool.Give(block);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(ArenaTest, AllocationsAreAlignedDisjointAndKept) {
  for (uint64_t seed : Seeds(ByScale(5, 20, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    BlockPool pool(16 * 1024, 2);
    Arena arena(&pool);
    EXPECT_EQ(0u, arena.memory_bytes());
    struct Piece {
      char* bytes;
      size_t size;
      char mark;
    };
    std::vector<Piece> pieces;
    size_t total = 0;
    for (int i = 0; i < 2000; i++) {
      const size_t size = random.OneIn(100) ? 16 * 1024 - random.Uniform(9) : random.Uniform(300);
      char* const bytes = arena.Allocate(size);
      ASSERT_EQ(0u, reinterpret_cast<uintptr_t>(bytes) % Arena::kCacheLine);
      pieces.push_back({bytes, size, static_cast<char>(i)});
      memset(bytes, pieces.back().mark, size);
      total += size;
    }
    for (const Piece& piece : pieces) {
      for (size_t i = 0; i < piece.size; i++) ASSERT_EQ(piece.mark, piece.bytes[i]);
    }
    EXPECT_GE(arena.memory_bytes(), total);
    EXPECT_EQ(0u, arena.memory_bytes() % pool.block_bytes());
  }
}

TEST(ArenaTest, GivesItsBlocksBack) {
  BlockPool pool(4096, 100);
  std::set<char*> first, second;
  {
    Arena arena(&pool);
    for (int i = 0; i < 10; i++) first.insert(arena.Allocate(4096));
    EXPECT_EQ(10u, first.size());
    EXPECT_EQ(10u * 4096, arena.memory_bytes());
  }
  Arena arena(&pool);
  for (int i = 0; i < 10; i++) second.insert(arena.Allocate(4096));
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace miodb::test
