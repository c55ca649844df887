// A pool with a limit: NoSpace at the limit and not before, reads and deletes go on, freed space is used again.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>

#include "miodb/write_batch.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

struct Shape {
  const char* name;
  uint64_t pool_bytes;
  size_t memtable_bytes;
  size_t value_bytes;
};

std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.name; }

const Shape kShapes[] = {
    {"small_values", 4 * kMiB, 64 * kKiB, 100},
    {"medium_values", 8 * kMiB, 128 * kKiB, kKiB},
    {"large_values", 16 * kMiB, 256 * kKiB, 100 * kKiB},
    {"large_memtable", 8 * kMiB, 1 * kMiB, kKiB},
    {"memtable_like_pool", 32 * kMiB, 32 * kMiB, 4 * kKiB},
};

class LogOffFullPoolTest : public DbTestBase {
 protected:
  LogOffFullPoolTest() {
    options_.log_mode = kLogOff;
    options_.pool_size = 2 * kMiB;
    options_.write_buffer_size = 64 * kKiB;
    options_.partition_size = 64 * kKiB;
    options_.pool_growth = 256 * kKiB;
    options_.num_levels = 4;
  }
};

class FullPoolTest : public DbTestBase, public testing::WithParamInterface<Shape> {
 protected:
  FullPoolTest() {
    options_.pool_size = GetParam().pool_bytes;
    options_.write_buffer_size = GetParam().memtable_bytes;
    options_.partition_size = 512 * kKiB;
    options_.pool_growth = 256 * kKiB;
  }

  std::string Value(uint64_t i, uint64_t round = 0) const { return FilledValue(i, GetParam().value_bytes, round); }

  // Puts new keys until one is refused, which must be for want of space. Returns how many were taken.
  uint64_t FillUntilFull() {
    const uint64_t most = GetParam().pool_bytes / GetParam().value_bytes;
    for (uint64_t i = 0; i <= most; i++) {
      const Status s = db_->Put(WriteOptions(), FilledKey(i), Value(i));
      if (s.ok()) continue;
      EXPECT_STATUS(NoSpace, s);
      EXPECT_TRUE(Mentions(s, path_ + "/pool"));
      EXPECT_EQ(kNotFound, Get(FilledKey(i))) << "a refused write is visible";
      return i;
    }
    ADD_FAILURE() << "the pool took more than its size";
    return most;
  }

  // Deletes [from, to); deletes must work in a full pool.
  void DeleteAll(uint64_t from, uint64_t to) {
    for (uint64_t i = from; i < to; i++) {
      const Status s = db_->Delete(WriteOptions(), FilledKey(i));
      ASSERT_TRUE(s.ok()) << "delete " << i - from << " of " << to - from << ": " << s.ToString();
    }
  }

  void CheckLimit() { EXPECT_LE(Counter("pool-bytes-file"), GetParam().pool_bytes); }
};

// With the log off payload waits in DRAM. However scattered the free space is, a flush must find its place for it, or a
// close loses what was acknowledged.
TEST_F(LogOffFullPoolTest, WhatWasAcknowledgedIsThereAfterAClose) {
  for (const uint64_t seed : Seeds(ByScale(10, 40, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    std::map<std::string, std::string> model;
    for (int round = 0; round < 6; round++) {
      Open();
      for (int i = 0; i < 200; i++) {
        const std::string key = FilledKey(random.Uniform(400));
        const uint64_t most = random.OneIn(8) ? 80 * kKiB : 8 * kKiB;
        const std::string value =
            random.OneIn(5) ? "" : std::string(1 + random.Uniform(most), static_cast<char>('a' + i % 26));
        const Status s = value.empty() ? db_->Delete(WriteOptions(), key) : db_->Put(WriteOptions(), key, value);
        if (s.ok() && value.empty()) {
          model.erase(key);
        } else if (s.ok()) {
          model[key] = value;
        } else {
          ASSERT_TRUE(s.IsNoSpace()) << s.ToString();
        }
      }
      Close();
      Open();
      for (uint64_t i = 0; i < 400; i++) {
        const auto it = model.find(FilledKey(i));
        ASSERT_TRUE(Get(FilledKey(i)) == (it == model.end() ? kNotFound : it->second))
            << FilledKey(i) << ", round " << round;
      }
      Close();
    }
    ASSERT_OK(DestroyDB(path_, options_));
  }
}

class ScatteredPoolTest : public DbTestBase {
 protected:
  // 16 digits in an order that looks random.
  static std::string ScatteredKey(uint64_t n) {
    const std::string digits = std::to_string(n * 2654435761 % (uint64_t{1} << 32));
    return std::string(16 - digits.size(), '0') + digits;
  }
};

// Each partition's copies lie in extents of their own, so with small memtables a pool comes to have its free space in
// pieces of a few records. Collections have to be content with them.
TEST_F(ScatteredPoolTest, OfThreeTimesTheDataTakesOverwritesForever) {
  constexpr uint64_t kPairs = 20000, kRecordBytes = 1031;
  options_.pool_size = kPairs * kRecordBytes * 3 / 4096 * 4096;
  options_.write_buffer_size = options_.pool_size / 77;
  Open();
  Random random(1);
  for (uint64_t n = 0; n < ByScale(RunsUnderSanitizer() ? 5 : 20, 40, 400) * kPairs; n++) {
    const Status s = db_->Put(WriteOptions(), FilledKey(random.Uniform(kPairs)), std::string(1000, 'v'));
    ASSERT_TRUE(s.ok()) << "write " << n << ": " << s.ToString();
  }
}

// Writers take space while a collection copies. What its copies need is left to them, or they stop half-way, free
// nothing, and leave too little for the next. That is the more, the smaller the chunks are that free space falls into.
TEST_F(ScatteredPoolTest, OfOneAndAHalfTimesTheDataTakesOverwritesForever) {
  constexpr uint64_t kPairBytes = 1016;
  const uint64_t shrunk = RunsUnderSanitizer() ? 10 : 1, pairs = 200000 / shrunk;
  const std::string value(1000, 'v');
  for (const size_t memtable_bytes : {Options().write_buffer_size, size_t{4 * kMiB}, size_t{1 * kMiB}}) {
    SCOPED_TRACE(std::to_string(memtable_bytes / shrunk) + " bytes of memtable");
    options_ = Options();
    options_.create_if_missing = true;
    options_.pool_size = pairs * kPairBytes * 3 / 2 / 4096 * 4096;
    options_.write_buffer_size = memtable_bytes / shrunk;
    Open();
    Random random(1);
    const auto put = [&](uint64_t n) {
      const Status s = db_->Put(WriteOptions(), ScatteredKey(n), value);
      ASSERT_TRUE(s.ok()) << "write " << n << ": " << s.ToString();
    };
    for (uint64_t n = 0; n < pairs && !HasFatalFailure(); n++) put(n);
    ASSERT_OK(db_->WaitForIdle());
    for (uint64_t n = 0; n < ByScale(3, 6, 100) * pairs && !HasFatalFailure(); n++) put(random.Uniform(pairs));
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, FullPoolTest, testing::ValuesIn(kShapes),
                         [](const testing::TestParamInfo<Shape>& shape) { return std::string(shape.param.name); });

TEST_P(FullPoolTest, RefusesWritesAtTheLimitAndReadsGoOn) {
  Open();
  const uint64_t count = FillUntilFull();
  const uint64_t live = count * (GetParam().value_bytes + FilledKey(0).size());
  const uint64_t least = GetParam().value_bytes < kKiB ? GetParam().pool_bytes / 2 : GetParam().pool_bytes / 5 * 4;
  EXPECT_GE(live, least) << "refused long before the pool was full";
  CheckLimit();
  CheckFilled(count, GetParam().value_bytes);
  EXPECT_EQ("OK", Property("miodb.background-error"));
}

TEST_P(FullPoolTest, ARefusedBatchLeavesNothing) {
  Open();
  const uint64_t count = FillUntilFull();
  WriteBatch batch;
  batch.Put("a new key", "1");
  for (uint64_t i = 0; i < 3; i++)
    batch.Put("another" + std::to_string(i), std::string(GetParam().memtable_bytes, 'x'));
  batch.Delete(FilledKey(0));
  const Status s = db_->Write(WriteOptions(), &batch);
  ASSERT_STREQ("", s.ok() ? "the batch was taken" : "");
  EXPECT_STATUS(NoSpace, s);
  EXPECT_EQ(kNotFound, Get("a new key"));
  CheckFilled(count, GetParam().value_bytes);
}

TEST_P(FullPoolTest, AWriteLargerThanThePoolIsRefusedAndOthersGoOn) {
  Open();
  Put("a", "1");
  const std::string huge(GetParam().pool_bytes + 1, 'x');
  EXPECT_STATUS(NoSpace, db_->Put(WriteOptions(), "huge", huge));
  EXPECT_EQ(kNotFound, Get("huge"));
  Put("b", "2");
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
  Open();
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
}

TEST_P(FullPoolTest, DeletesAndCompactionFreeSpaceAndWritingGoesOn) {
  Open();
  for (int cycle = 0; cycle < 4; cycle++) {
    SCOPED_TRACE("cycle " + std::to_string(cycle));
    const uint64_t count = FillUntilFull();
    ASSERT_GT(count, 0u);
    DeleteAll(0, count);
    if (HasFatalFailure()) return;
    Settle();
    EXPECT_EQ("", Forward(db_.get()));
    EXPECT_LE(Counter("pool-bytes-used"), GetParam().pool_bytes / 4 + 2 * GetParam().memtable_bytes);
    CheckLimit();
  }
}

TEST_P(FullPoolTest, DeletingHalfMakesRoomForHalf) {
  Open();
  const uint64_t count = FillUntilFull();
  DeleteAll(0, count / 2);
  if (HasFatalFailure()) return;
  Settle();
  const uint64_t again = count / 2 * 7 / 10;
  for (uint64_t i = 0; i < again; i++) {
    const Status s = db_->Put(WriteOptions(), FilledKey(i), Value(i, 9));
    ASSERT_TRUE(s.ok()) << "put " << i << " of " << again << ": " << s.ToString();
  }
  for (uint64_t i = 0; i < count; i++) {
    const std::string expected = i < again ? Value(i, 9) : i < count / 2 ? kNotFound : Value(i);
    ASSERT_TRUE(Get(FilledKey(i)) == expected) << i;
  }
}

TEST_P(FullPoolTest, ReopensWhenFull) {
  Open();
  const uint64_t count = FillUntilFull();
  for (int i = 0; i < 3; i++) {
    Open();
    if (HasFatalFailure()) return;
    CheckFilled(count, GetParam().value_bytes);
    CheckLimit();
  }
  DeleteAll(0, count);
  if (HasFatalFailure()) return;
  Open();
  Settle();
  EXPECT_EQ("", Forward(db_.get()));
  Put("a", "1");
}

TEST_P(FullPoolTest, OfThreeTimesTheLiveSizeTakesOverwritesForever) {
  const uint64_t pair_bytes = GetParam().value_bytes + FilledKey(0).size() + 40;  // with record header and index entry
  const uint64_t usable =
      GetParam().pool_bytes - std::min<uint64_t>(4 * GetParam().memtable_bytes, GetParam().pool_bytes / 2);
  const uint64_t count = usable / 3 / pair_bytes;
  Open();
  Random random(1);
  std::map<uint64_t, uint64_t> newest;
  for (uint64_t i = 0; i < count; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), FilledKey(i), Value(i, 0)));
    newest[i] = 0;
  }
  const uint64_t rounds = ByScale(8, 20, 200);
  for (uint64_t round = 1; round <= rounds; round++) {
    for (uint64_t n = 0; n < count; n++) {
      const uint64_t i = random.Uniform(count);
      const Status s = db_->Put(WriteOptions(), FilledKey(i), Value(i, round));
      ASSERT_TRUE(s.ok()) << "round " << round << ", write " << n << " of " << count << ": " << s.ToString() << "\n"
                          << Property("miodb.counters") << Property("leveldb.stats");
      newest[i] = round;
    }
    CheckLimit();
  }
  for (const auto& [i, round] : newest) ASSERT_TRUE(Get(FilledKey(i)) == Value(i, round)) << FilledKey(i);
}

TEST_P(FullPoolTest, SnapshotsOfAFullPoolStayReadable) {
  Open();
  const uint64_t count = FillUntilFull();
  const Snapshot* const snapshot = db_->GetSnapshot();
  // Nothing that the snapshot sees can be freed, so deletes may find no space now.
  uint64_t deleted = 0;
  Status s;
  while (deleted < count && s.ok()) {
    s = db_->Delete(WriteOptions(), FilledKey(deleted));
    deleted += s.ok();
  }
  EXPECT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
  db_->CompactRange(nullptr, nullptr);
  for (uint64_t i = 0; i < count; i++) {
    ASSERT_TRUE(Get(FilledKey(i), snapshot) == Value(i)) << i;
    ASSERT_TRUE(Get(FilledKey(i)) == (i < deleted ? kNotFound : Value(i))) << i;
  }
  db_->ReleaseSnapshot(snapshot);
  DeleteAll(deleted, count);
  if (HasFatalFailure()) return;
  Settle();
  EXPECT_EQ("", Forward(db_.get()));
  EXPECT_GT(FillUntilFull(), count / 2);
}

}  // namespace
}  // namespace miodb::test
