// Put, Delete, Get and WriteBatch on one thread, in memory and in tables alike.

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "miodb/write_batch.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb::test {
namespace {

// Where the data lies that is read.
enum class Place { kMemtable, kBuffer, kRepository, kReopened };

class ReadWriteTest : public DbTestBase, public testing::WithParamInterface<Place> {
 protected:
  void SetUp() override { Open(); }

  // Moves what was written to the place under test.
  void Move() {
    switch (GetParam()) {
      case Place::kMemtable:
        break;
      case Place::kBuffer:
        EXPECT_OK(db_->Flush());
        break;
      case Place::kRepository:
        Settle();
        break;
      case Place::kReopened:
        Open();
        break;
    }
  }
};

std::string PlaceName(const testing::TestParamInfo<Place>& place) {
  constexpr const char* kNames[] = {"memtable", "buffer", "repository", "reopened"};
  return kNames[static_cast<int>(place.param)];
}

INSTANTIATE_TEST_SUITE_P(Places, ReadWriteTest,
                         testing::Values(Place::kMemtable, Place::kBuffer, Place::kRepository, Place::kReopened),
                         PlaceName);

TEST_P(ReadWriteTest, GetReturnsTheNewestValue) {
  Put("a", "old");
  Move();
  EXPECT_EQ("old", Get("a"));
  Put("a", "new");
  EXPECT_EQ("new", Get("a"));
  Move();
  EXPECT_EQ("new", Get("a"));
}

TEST_P(ReadWriteTest, NotFoundLeavesTheValueAlone) {
  Put("b", "1");
  Put("deleted", "1");
  Delete("deleted");
  Move();
  std::string value = "untouched";
  for (const char* key : {"a", "c", "", "b0", "deleted"}) {
    EXPECT_STATUS(NotFound, db_->Get(ReadOptions(), key, &value));
    EXPECT_EQ("untouched", value);
  }
}

TEST_P(ReadWriteTest, DeleteHidesOlderValuesAndPutBringsTheKeyBack) {
  Put("a", "1");
  Move();
  Delete("a");
  EXPECT_EQ(kNotFound, Get("a"));
  Move();
  EXPECT_EQ(kNotFound, Get("a"));
  EXPECT_EQ("", Forward(db_.get()));
  Put("a", "2");
  Move();
  EXPECT_EQ("2", Get("a"));
}

TEST_P(ReadWriteTest, DeletingAMissingKeyIsNoError) {
  Delete("a");
  Move();
  Delete("a");
  Move();
  EXPECT_EQ("", Forward(db_.get()));
}

TEST_P(ReadWriteTest, SyncedWritesAreThere) {
  WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Put(sync, "a", "1"));
  ASSERT_OK(db_->Put(WriteOptions(), "b", "2"));
  ASSERT_OK(db_->Delete(sync, "a"));
  Move();
  EXPECT_EQ("(b->2)", Forward(db_.get()));
}

TEST_P(ReadWriteTest, ABatchIsAppliedInItsOrder) {
  Put("a", "0");
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Delete("a");
  batch.Put("b", "1");
  batch.Put("b", "2");
  batch.Delete("c");
  batch.Put("c", "3");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  Move();
  EXPECT_EQ("(b->2)(c->3)", Forward(db_.get()));
  EXPECT_EQ("(b->2)(c->3)", Backward(db_.get()));
  EXPECT_EQ(kNotFound, Get("a"));
}

TEST_P(ReadWriteTest, ABatchMayBeWrittenTwiceAndIsNotChanged) {
  WriteBatch batch;
  batch.Put("a", "1");
  const size_t size = batch.ApproximateSize();
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  Put("a", "2");
  Move();
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ(size, batch.ApproximateSize());
  Move();
  EXPECT_EQ("1", Get("a"));
}

TEST_P(ReadWriteTest, KeysMayHoldAnyBytes) {
  std::string expected;
  for (int byte = 0; byte < 256; byte++) {
    const std::string key(2, static_cast<char>(byte));
    Put(key, key);
    expected += "(" + key + "->" + key + ")";
  }
  Move();
  EXPECT_EQ(expected, Forward(db_.get()));
  for (int byte = 0; byte < 256; byte++) {
    const std::string key(2, static_cast<char>(byte));
    EXPECT_EQ(key, Get(key));
    EXPECT_EQ(kNotFound, Get(key.substr(1)));
    EXPECT_EQ(kNotFound, Get(key + '\0'));
  }
}

TEST_P(ReadWriteTest, KeysThatArePrefixesOfEachOtherStayApart) {
  std::string key;
  std::string expected;
  for (int length = 0; length <= 100; length++) {
    Put(key, std::to_string(length));
    expected += "(" + key + "->" + std::to_string(length) + ")";
    key.push_back(length % 3 == 0 ? '\0' : 'x');
  }
  Move();
  EXPECT_EQ(expected, Forward(db_.get()));
  EXPECT_EQ(expected, Backward(db_.get()));
  key.clear();
  for (int length = 0; length <= 100; length++) {
    EXPECT_EQ(std::to_string(length), Get(key));
    key.push_back(length % 3 == 0 ? '\0' : 'x');
  }
  EXPECT_EQ(kNotFound, Get(key));
}

TEST_P(ReadWriteTest, APinnedValueStaysWhenTheKeyIsOverwrittenAndCompacted) {
  Fill(200, 500, 1);
  Move();
  std::vector<PinnableSlice> pinned(200);
  for (uint64_t i = 0; i < 200; i++) ASSERT_OK(db_->Get(ReadOptions(), FilledKey(i), &pinned[i]));
  for (uint64_t round = 2; round < 8; round++) Fill(200, 500, round);
  Settle();
  for (uint64_t i = 0; i < 200; i++) ASSERT_TRUE(pinned[i] == Slice(FilledValue(i, 500, 1))) << i;
  pinned.clear();
  CheckFilled(200, 500, 7);
}

TEST_P(ReadWriteTest, APinnedSliceMayBeUsedAgain) {
  Put("a", "1");
  Put("b", "22");
  Move();
  PinnableSlice value;
  ASSERT_OK(db_->Get(ReadOptions(), "a", &value));
  ASSERT_OK(db_->Get(ReadOptions(), "b", &value));
  EXPECT_EQ("22", value.ToString());
  PinnableSlice moved = std::move(value);
  EXPECT_EQ("22", moved.ToString());
}

TEST_P(ReadWriteTest, ChecksumsOfGoodDataHold) {
  Fill(300, 300);
  Move();
  ReadOptions verify;
  verify.verify_checksums = true;
  std::string value;
  for (uint64_t i = 0; i < 300; i++) ASSERT_OK(db_->Get(verify, FilledKey(i), &value));
  const std::unique_ptr<Iterator> it(db_->NewIterator(verify));
  uint64_t seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) seen++;
  EXPECT_OK(it->status());
  EXPECT_EQ(300u, seen);
}

TEST_P(ReadWriteTest, ABatchIsVisibleAsAWhole) {
  constexpr int kKeys = 8;
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int n = 0; !stop.load(); n++) {
      WriteBatch batch;
      for (int i = 0; i < kKeys; i++) batch.Put("key" + std::to_string(i), std::to_string(n));
      EXPECT_OK(db_->Write(WriteOptions(), &batch));
      if (n % 1000 == 999) EXPECT_OK(db_->Flush());
    }
  });
  const uint64_t scans = ByScale(300, 1000, 20000);
  for (uint64_t scan = 0; scan < scans && !HasFailure(); scan++) {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    int seen = 0;
    std::string first;
    for (it->SeekToFirst(); it->Valid(); it->Next(), seen++) {
      if (seen == 0) first = it->value().ToString();
      EXPECT_EQ(first, it->value().ToString());
    }
    EXPECT_TRUE(seen == 0 || seen == kKeys) << seen;
  }
  stop.store(true);
  writer.join();
}

}  // namespace
}  // namespace miodb::test
