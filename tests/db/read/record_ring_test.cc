#include "src/db/read/record_ring.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/util/bytes/hash.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

uint64_t HashOf(const std::string& key) { return Hash64(key.data(), key.size()); }

// The value of a key in a table; its length depends on both.
std::string ValueOf(const std::string& key, uint64_t table) {
  const uint64_t length = Mix64(table, HashOf(key)) % 300;
  std::string value;
  while (value.size() < length) value += key + "/" + std::to_string(table) + ";";
  value.resize(length);
  return value;
}

std::string KeyOf(uint64_t i) { return std::string(i % 23, 'k') + std::to_string(i); }

void Keep(RecordRing* ring, const std::string& key, uint64_t table) {
  ring->Keep(key, HashOf(key), table, table << 8, ValueOf(key, table));
}

// The table whose copy of the key is found, after a look at its value; 0: none is.
uint64_t TableOf(const RecordRing& ring, const std::string& key) {
  const RecordRing::Found found = ring.Find(key, HashOf(key));
  if (!found.any) return 0;
  const std::unique_ptr<char[]> value = ring.Take(found);
  if (value == nullptr) return 0;
  EXPECT_EQ(ValueOf(key, found.table), std::string(value.get(), found.value_bytes)) << key << " of " << found.table;
  EXPECT_EQ(found.table << 8, found.tag);
  return found.table;
}

// A copy that is found is the last one of its key; most of the newest copies are found.
TEST(RecordRingTest, FindsTheLastCopiesOfKeys) {
  for (uint64_t seed = 1; seed <= 8; seed++) {
    SCOPED_TRACE(seed);
    Random random(seed);
    RecordRing ring(RecordRing::kLeastBytes << random.Uniform(5));
    std::map<std::string, uint64_t> last;
    uint64_t found = 0;
    for (uint64_t table = 1; table <= 3000; table++) {
      const std::string key = KeyOf(random.Uniform(200));
      Keep(&ring, key, table);
      if (TableOf(ring, key) == table) {
        last[key] = table;
        found++;
      }
      const std::string other = KeyOf(random.Uniform(200));
      const uint64_t of_other = TableOf(ring, other);
      ASSERT_TRUE(of_other == 0 || of_other == last[other]) << other;
    }
    EXPECT_GT(found, 2000u) << "all but those that are too large for the ring";
  }
}

TEST(RecordRingTest, ACopyThatIsTooLargeIsNotKept) {
  RecordRing ring(RecordRing::kLeastBytes);
  const std::string value(RecordRing::kLeastBytes / 32, 'v');
  ring.Keep("key", HashOf("key"), 1, 1, value);
  EXPECT_FALSE(ring.Find("key", HashOf("key")).any);
  ring.Keep("key", HashOf("key"), 1, 1, value.substr(0, value.size() / 2));
  EXPECT_TRUE(ring.Find("key", HashOf("key")).any);
}

TEST(RecordRingTest, TheOldestCopiesGo) {
  RecordRing ring(RecordRing::kLeastBytes);
  Keep(&ring, "first", 1);
  EXPECT_EQ(1u, TableOf(ring, "first"));
  EXPECT_FALSE(ring.IsFull());
  uint64_t others = 0;
  for (; !ring.IsOld(ring.Find("first", HashOf("first"))); others++) Keep(&ring, KeyOf(others), 2);
  EXPECT_EQ(1u, TableOf(ring, "first"));
  for (uint64_t i = 0; i < 2 * others; i++) Keep(&ring, KeyOf(i), 3);
  EXPECT_EQ(0u, TableOf(ring, "first"));
  EXPECT_TRUE(ring.IsFull());
  EXPECT_LE(ring.memory_bytes(), RecordRing::kLeastBytes);
}

// Readers meet copies that are being written over.
TEST(RecordRingTest, AReaderTakesAWholeCopyOrNone) {
  RecordRing ring(RecordRing::kLeastBytes);
  std::atomic<bool> ended{false};
  std::atomic<uint64_t> taken{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 2; t++) {
    threads.emplace_back([&, t] {
      Random random(t + 1);
      do {
        if (TableOf(ring, KeyOf(random.Uniform(40))) != 0) taken++;
      } while (!ended || taken == 0);
    });
  }
  threads.emplace_back([&] {
    Random random(99);
    const uint64_t tables = ByScale(20000, 100000, 1000000);
    for (uint64_t table = 1; table <= tables; table++) Keep(&ring, KeyOf(random.Uniform(40)), table);
    ended = true;
  });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace miodb::test
