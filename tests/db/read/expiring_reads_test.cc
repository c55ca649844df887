// Reads of values with lifetimes that something else is decided by: when they are out of date, and that a write under a
// condition fails from then on, wherever the value is by then. The clock is the test's.

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "miodb/lifetime.h"
#include "miodb/merge_operator.h"
#include "miodb/optimistic_transaction.h"
#include "src/db/open/db_impl.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

std::atomic<uint64_t> g_date{0};

constexpr uint64_t kSecond = 1000 * 1000;
constexpr uint64_t kBegin = uint64_t{4000000000} * kSecond;

class ExpiringReadsTest : public DbTestBase {
 protected:
  ExpiringReadsTest() {
    g_date = kBegin;
    options_.merge_operator = append_.get();
    DBImpl::Hooks hooks;
    hooks.wall_micros = [] { return g_date.load(); };
    hooks.background = BackgroundMode::kBySteps;
    std::unique_ptr<DBImpl> db;
    EXPECT_OK(DBImpl::Open(options_, path_, hooks, &db));
    db_ = std::move(db);
    EXPECT_OK(db_->CreateColumnFamily("family", &family_));
  }
  ~ExpiringReadsTest() override { db_.reset(); }

  void PutFor(uint64_t seconds, ColumnFamilyHandle* family, const std::string& key, const std::string& value) {
    WriteOptions write;
    write.lifetime_seconds = seconds;
    ASSERT_OK(family != nullptr ? db_->Put(write, family, key, value) : db_->Put(write, key, value));
  }

  // Runs check with each family, and with what moves records in between: nothing, flushes, merges.
  using Move = std::function<void()>;
  void Everywhere(const std::function<void(ColumnFamilyHandle* family, const Move& move)>& check) {
    const std::pair<const char*, Move> moves[] = {
        {"in memory", [] {}},
        {"flushed", [this] { ASSERT_OK(db_->Flush()); }},
        {"merged", [this] { db_->CompactRange(nullptr, nullptr); }},
    };
    for (const auto& [name, move] : moves) {
      for (ColumnFamilyHandle* const family : {static_cast<ColumnFamilyHandle*>(nullptr), family_}) {
        SCOPED_TRACE(std::string(name) + (family != nullptr ? ", in a family" : ""));
        check(family, move);
      }
    }
  }

  // "<value> until <seconds from the date>", or the status.
  std::string ReadWithExpiry(ColumnFamilyHandle* family, const std::string& key) {
    std::string value;
    uint64_t expiry = 0;
    const Status s = db_->GetWithExpiry(ReadOptions(), family, key, &value, &expiry);
    if (!s.ok()) return s.IsNotFound() && expiry == UINT64_MAX ? kNotFound : s.ToString();
    return value + " until " + (expiry == UINT64_MAX ? "ever" : std::to_string((expiry - g_date) / kSecond));
  }

  using Transaction = std::unique_ptr<OptimisticTransaction>;
  Transaction Begin() {
    return std::make_unique<OptimisticTransaction>(db_.get(), WriteOptions(), OptimisticTransactionOptions(),
                                                   BytewiseComparator(), append_.get());
  }
  std::string ReadForUpdate(const Transaction& txn, ColumnFamilyHandle* family, const std::string& key) {
    std::string value;
    const Status s = txn->GetForUpdate(ReadOptions(), family, key, &value);
    return s.ok() ? value : s.IsNotFound() ? kNotFound : s.ToString();
  }

  ColumnFamilyHandle* family_ = nullptr;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
};

TEST_F(ExpiringReadsTest, AGetTellsWhenItIsOutOfDate) {
  Everywhere([this](ColumnFamilyHandle* family, const Move& move) {
    PutFor(5, family, "brief", "1");
    PutFor(kNoLifetime, family, "plain", "2");
    PutFor(7, family, "base", "3");
    ASSERT_OK(family != nullptr ? db_->Merge(WriteOptions(), family, "base", "4")
                                : db_->Merge(WriteOptions(), "base", "4"));
    move();
    EXPECT_EQ("1 until 5", ReadWithExpiry(family, "brief"));
    EXPECT_EQ("2 until ever", ReadWithExpiry(family, "plain"));
    EXPECT_EQ("3,4 until 7", ReadWithExpiry(family, "base"));
    EXPECT_EQ(kNotFound, ReadWithExpiry(family, "nothing"));
    g_date += 7 * kSecond;
    EXPECT_EQ(kNotFound, ReadWithExpiry(family, "brief"));
    EXPECT_EQ("4 until ever", ReadWithExpiry(family, "base"));
  });
}

TEST_F(ExpiringReadsTest, WhatWasReadForUpdateAndHasExpiredIsAChangeWhereverItIs) {
  Everywhere([this](ColumnFamilyHandle* family, const Move& move) {
    const auto merge = [&](const char* operand) {
      ASSERT_OK(family != nullptr ? db_->Merge(WriteOptions(), family, "merged", operand)
                                  : db_->Merge(WriteOptions(), "merged", operand));
    };
    PutFor(5, family, "value", "1");
    PutFor(5, family, "merged", "2");
    merge("3");
    move();
    const Transaction value = Begin(), merged = Begin(), through_own = Begin(), twice = Begin();
    const Transaction early = Begin(), written = Begin(), absent = Begin(), own = Begin();
    EXPECT_EQ("1", ReadForUpdate(value, family, "value"));
    EXPECT_EQ("2,3", ReadForUpdate(merged, family, "merged"));
    ASSERT_OK(through_own->Merge(family, "value", "4"));
    EXPECT_EQ("1,4", ReadForUpdate(through_own, family, "value"));
    EXPECT_EQ("1", ReadForUpdate(twice, family, "value"));
    EXPECT_EQ("1", ReadForUpdate(early, family, "value"));
    ASSERT_OK(written->Put(family, "written", "5"));
    EXPECT_EQ(kNotFound, ReadForUpdate(absent, family, "nothing"));
    ASSERT_OK(own->Put(family, "value", "6"));
    EXPECT_EQ("6", ReadForUpdate(own, family, "value"));
    g_date += 5 * kSecond - 1;
    EXPECT_OK(early->Commit());
    g_date += 1;
    move();
    EXPECT_EQ(kNotFound, ReadForUpdate(twice, family, "value"));
    for (const Transaction* txn : {&value, &merged, &through_own, &twice}) {
      const Status s = (*txn)->Commit();
      EXPECT_TRUE(s.IsBusy()) << s.ToString();
      EXPECT_NE(std::string::npos, s.ToString().find("expired")) << s.ToString();
    }
    EXPECT_OK(written->Commit());
    EXPECT_OK(absent->Commit());
    EXPECT_OK(own->Commit());  // it looked at nothing of the database's
  });
}

// Otherwise nobody could ever write the key again.
TEST_F(ExpiringReadsTest, AKeyThatHadExpiredWhenItWasReadIsUnchanged) {
  Everywhere([this](ColumnFamilyHandle* family, const Move& move) {
    PutFor(5, family, "key", "1");
    g_date += 5 * kSecond;
    const Transaction txn = Begin();
    EXPECT_EQ(kNotFound, ReadForUpdate(txn, family, "key"));
    ASSERT_OK(txn->Put(family, "key", "2"));
    move();
    g_date += 100 * kSecond;
    EXPECT_OK(txn->Commit());
  });
}

}  // namespace
}  // namespace miodb::test
