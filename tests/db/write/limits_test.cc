// The limits of db.h on keys, values and batches: what is allowed works, what is more is InvalidArgument and nothing
// of it happens.

#include <gtest/gtest.h>

#include <string>

#include "miodb/write_batch.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb {

class DBPeer {
 public:
  static size_t KeptRecords(DB* db) { return static_cast<DBImpl*>(db)->write_->group_records_.capacity(); }
};

}  // namespace miodb

namespace miodb::test {
namespace {

constexpr size_t kMaxKey = 16 * 1024 * 1024;
constexpr size_t kMiB = 1024 * 1024;
constexpr size_t kMaxValue = 1024 * kMiB;

class LimitsTest : public DbTestBase {
 protected:
  void SetUp() override { Open(); }
};

TEST_F(LimitsTest, KeysOf16MiBWork) {
  const std::string longest(kMaxKey, 'k');
  std::string other = longest;
  other.back() = 'l';
  Put(longest, "1");
  Put(other, "2");
  EXPECT_EQ("1", Get(longest));
  Settle();
  EXPECT_EQ("1", Get(longest));
  EXPECT_EQ("2", Get(other));
  Open();
  EXPECT_EQ("(" + longest + "->1)(" + other + "->2)", Forward(db_.get()));
  Delete(longest);
  EXPECT_EQ("(" + other + "->2)", Backward(db_.get()));
}

TEST_F(LimitsTest, LongerKeysAreRefused) {
  const std::string too_long(kMaxKey + 1, 'k');
  EXPECT_STATUS(InvalidArgument, db_->Put(WriteOptions(), too_long, "1"));
  EXPECT_STATUS(InvalidArgument, db_->Delete(WriteOptions(), too_long));
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Put(too_long, "2");
  batch.Put("b", "3");
  EXPECT_STATUS(InvalidArgument, db_->Write(WriteOptions(), &batch));
  EXPECT_EQ("", Forward(db_.get()));
  Put("a", "1");
  EXPECT_EQ("(a->1)", Forward(db_.get()));
}

// The limits are told as they are for whoever calls: keys of a family have 12 bytes of their own.
TEST_F(LimitsTest, LimitsOfAColumnFamilyAreToldWithoutItsPrefix) {
  constexpr size_t kMaxBound = 64 * 1024, kPrefix = 12;
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("f", &family));
  const std::string longest(kMaxBound - kPrefix, 'k'), too_long(kMaxBound - kPrefix + 1, 'k');
  ASSERT_OK(db_->Put(WriteOptions(), family, "a", "1"));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), family, "a", longest));
  const Status range = db_->DeleteRange(WriteOptions(), family, "a", too_long);
  EXPECT_EQ("Invalid argument: DeleteRange with a bound of 65525 bytes: the limit is 65524", range.ToString());
  const Status put = db_->Put(WriteOptions(), family, std::string(kMaxKey, 'k'), "1");
  EXPECT_EQ("Invalid argument: key of 16777216 bytes: the limit is 16777204", put.ToString());
  const Status of_default = db_->DeleteRange(WriteOptions(), "a", std::string(kMaxBound + 1, 'k'));
  EXPECT_EQ("Invalid argument: DeleteRange with a bound of 65537 bytes: the limit is 65536", of_default.ToString());
}

// Memory for its records would otherwise be taken until the database is closed.
TEST_F(LimitsTest, LargeBatchLeavesNoMemoryBehind) {
  constexpr uint64_t kRecords = 100000;
  WriteBatch batch;
  for (uint64_t i = 0; i < kRecords; i++) batch.Put(FilledKey(i), "1");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_LT(DBPeer::KeptRecords(db_.get()), kRecords);
  EXPECT_EQ("1", Get(FilledKey(kRecords - 1)));
  Put("a", "2");
  EXPECT_EQ("2", Get("a"));
  Open();
  EXPECT_EQ("1", Get(FilledKey(0)));
  EXPECT_EQ("1", Get(FilledKey(kRecords - 1)));
}

TEST_F(LimitsTest, KeysLongerThanTheLimitAreNotFoundAndMayBeSought) {
  Put("a", "1");
  Put("z", "2");
  const std::string too_long(kMaxKey + 1, 'k');
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ(kNotFound, Get(too_long));
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek(too_long);
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ("z", it->key().ToString());
    Settle();
  }
}

TEST_F(LimitsTest, EmptyKeysAndValuesWork) {
  Put("", "value of nothing");
  Put("nothing", "");
  for (int round = 0; round < 3; round++) {
    EXPECT_EQ("value of nothing", Get(""));
    EXPECT_EQ("", Get("nothing"));
    EXPECT_EQ("(->value of nothing)(nothing->)", Forward(db_.get()));
    EXPECT_EQ("(->value of nothing)(nothing->)", Backward(db_.get()));
    if (round == 0) Settle();
    if (round == 1) Open();
  }
  Delete("");
  EXPECT_EQ("(nothing->)", Forward(db_.get()));
}

TEST_F(LimitsTest, ValuesFarLargerThanAMemtableWork) {
  const std::string sizes[] = {std::string(65 * 1024, 'a'), std::string(1000 * 1000, 'b'), std::string(20 * kMiB, 'c')};
  for (const std::string& value : sizes) Put("key" + std::to_string(value.size()), value);
  for (int round = 0; round < 3; round++) {
    for (const std::string& value : sizes) EXPECT_TRUE(Get("key" + std::to_string(value.size())) == value);
    if (round == 0) Settle();
    if (round == 1) Open();
  }
}

TEST_F(LimitsTest, ValuesOfOneGiBWorkAndLongerOnesAreRefused) {
  if (TestScale() != Scale::kHeavy) GTEST_SKIP() << "takes some GiB of memory; MIODB_TEST_SCALE=heavy runs it";
  std::string value(kMaxValue + 1, 'v');
  EXPECT_STATUS(InvalidArgument, db_->Put(WriteOptions(), "big", value));
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Put("big", value);
  EXPECT_STATUS(InvalidArgument, db_->Write(WriteOptions(), &batch));
  batch.Clear();
  EXPECT_EQ("", Forward(db_.get()));
  value.pop_back();
  Put("big", value);
  PinnableSlice pinned;
  ASSERT_OK(db_->Get(ReadOptions(), "big", &pinned));
  EXPECT_TRUE(pinned == Slice(value));
  pinned.Reset();
  Open();
  ASSERT_OK(db_->Get(ReadOptions(), "big", &pinned));
  EXPECT_TRUE(pinned == Slice(value));
  pinned.Reset();
}

TEST_F(LimitsTest, BatchesOfTwoGiBAreRefused) {
  if (TestScale() != Scale::kHeavy) GTEST_SKIP() << "takes some GiB of memory; MIODB_TEST_SCALE=heavy runs it";
  WriteBatch batch;
  {
    const std::string value(512 * kMiB, 'v');
    for (int i = 0; i < 4; i++) batch.Put("key" + std::to_string(i), value);
  }
  EXPECT_STATUS(InvalidArgument, db_->Write(WriteOptions(), &batch));
  EXPECT_EQ("", Forward(db_.get()));
}

TEST_F(LimitsTest, BatchesFarLargerThanAMemtableAreWhole) {
  constexpr int kUpdates = 20000;
  WriteBatch batch;
  for (int i = 0; i < kUpdates; i++)
    batch.Put("key" + std::to_string(i), std::string(100, static_cast<char>('a' + i % 26)));
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  Open();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  int seen = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) seen++;
  EXPECT_OK(it->status());
  EXPECT_EQ(kUpdates, seen);
}

TEST_F(LimitsTest, EmptyBatchesChangeNothing) {
  WriteBatch batch;
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ("", Forward(db_.get()));
  Put("a", "1");
  EXPECT_OK(db_->Write(WriteOptions(), &batch));
  Open();
  EXPECT_EQ("(a->1)", Forward(db_.get()));
}

}  // namespace
}  // namespace miodb::test
