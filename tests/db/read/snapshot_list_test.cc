#include "src/db/context/snapshot_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

TEST(SnapshotListTest, HoldsEachSequenceOnceInOrder) {
  SnapshotList list;
  EXPECT_TRUE(list.empty());
  EXPECT_TRUE(list.Sequences().empty());
  std::atomic<uint64_t> last{0};
  std::vector<const SnapshotImpl*> taken;
  for (uint64_t sequence : {5, 5, 9, 9, 9, 12}) {
    last.store(sequence);
    taken.push_back(list.Take(last));
    EXPECT_EQ(sequence, taken.back()->sequence);
  }
  EXPECT_EQ(std::vector<uint64_t>({5, 9, 12}), list.Sequences());
  list.Release(taken[0]);
  EXPECT_EQ(std::vector<uint64_t>({5, 9, 12}), list.Sequences());
  list.Release(taken[1]);
  list.Release(taken[5]);
  EXPECT_EQ(std::vector<uint64_t>({9}), list.Sequences());
  for (size_t i : {2, 3, 4}) list.Release(taken[i]);
  EXPECT_TRUE(list.empty());
}

TEST(SnapshotListTest, ThreadsTakeAndReleaseAtOnce) {
  SnapshotList list;
  std::atomic<uint64_t> last{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      Random random(t);
      std::vector<const SnapshotImpl*> held;
      for (uint64_t i = 0; i < ByScale(2000, 5000, 100000); i++) {
        last.fetch_add(1);
        if (held.size() < 5) held.push_back(list.Take(last));
        const std::vector<uint64_t> sequences = list.Sequences();
        for (const SnapshotImpl* s : held) {
          ASSERT_TRUE(std::binary_search(sequences.begin(), sequences.end(), s->sequence))
              << "a snapshot was forgotten";
        }
        if (!held.empty() && random.OneIn(2)) {
          list.Release(held.back());
          held.pop_back();
        }
      }
      for (const SnapshotImpl* s : held) list.Release(s);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(list.empty());
}

}  // namespace
}  // namespace miodb::test
