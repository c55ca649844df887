// Merges and single deletions: what reads make of them in memtables, tables and files, what merges keep and what they
// drop.

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/merge_operator.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb::test {
namespace {

// Appends with commas, and refuses an operand "bad".
class Picky final : public MergeOperator {
 public:
  const char* Name() const override { return "Picky"; }
  bool FullMerge(const Slice& key, const Slice* existing, const std::vector<Slice>& operands,
                 std::string* value) const override {
    for (const Slice& operand : operands) {
      if (operand == Slice("bad")) return false;
    }
    return append_->FullMerge(key, existing, operands, value);
  }

 private:
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
};

std::string Number(uint64_t n) {
  std::string bytes;
  PutFixed64(&bytes, n);
  return bytes;
}

class KindsTest : public DbTestBase {
 protected:
  KindsTest() {
    options_.merge_operator = append_.get();
    options_.settle_after_idle_ms = 0;
  }
  ~KindsTest() override { db_.reset(); }

  void Merge(const std::string& key, const std::string& operand) {
    ASSERT_OK(db_->Merge(WriteOptions(), key, operand));
  }
  void SingleDelete(const std::string& key) { ASSERT_OK(db_->SingleDelete(WriteOptions(), key)); }
  void Flush() { ASSERT_OK(db_->Flush()); }

  void UseSsd() {
    options_.ssd_path = dir_ / "ssd";
    options_.pool_size = 3 << 20;
    options_.nvm_budget = 1 << 20;
  }

  // Calls check in a memtable, in tables of the buffer, in the repository, and opened anew.
  template <typename Check>
  void AtEveryStage(Check check) {
    check("in memory");
    Flush();
    check("flushed");
    Open();
    check("reopened");
    Settle();
    check("settled");
    Open();
    check("settled and reopened");
  }

  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  const Picky picky_;
};

TEST_F(KindsTest, AMergeCombinesWithTheValueOrWithNothing) {
  Open();
  Put("a", "1");
  Merge("a", "2");
  Merge("b", "3");
  Put("c", "4");
  Delete("c");
  Merge("c", "5");
  Merge("d", "6");
  Put("d", "7");
  Merge("e", "8");
  Delete("e");
  const std::string expected = "(a->1,2)(b->3)(c->5)(d->7)";
  AtEveryStage([&](const char* stage) {
    SCOPED_TRACE(stage);
    EXPECT_EQ("1,2", Get("a"));
    EXPECT_EQ("3", Get("b"));
    EXPECT_EQ("5", Get("c"));
    EXPECT_EQ("7", Get("d"));
    EXPECT_EQ(kNotFound, Get("e"));
    EXPECT_EQ(expected, Forward(db_.get()));
    EXPECT_EQ(expected, Backward(db_.get()));
  });
  EXPECT_EQ(4u, Counter("entries"));
}

TEST_F(KindsTest, OperandsInSeveralTablesFoldIntoOneRecordWhenTheySettle) {
  Open();
  std::string expected = "0";
  Put("a", "0");
  Put("key", "0");
  for (int i = 1; i <= 20; i++) {
    Merge("key", std::to_string(i));
    expected += "," + std::to_string(i);
    Flush();
    ASSERT_EQ(expected, Get("key"));
  }
  ASSERT_EQ("(a->0)(key->" + expected + ")", Backward(db_.get()));
  Settle();
  EXPECT_EQ(2u, Counter("entries"));
  EXPECT_EQ(expected, Get("key"));
}

TEST_F(KindsTest, ChainsMayBeLongerThanALeaf) {
  Open();
  std::vector<std::string> at_snapshot;
  std::vector<const Snapshot*> snapshots;
  std::string expected;
  for (int i = 0; i < 50; i++) Put("a" + std::to_string(i), "1");
  for (int i = 0; i < 1000; i++) {
    Merge("key", std::to_string(i));
    expected += (i == 0 ? "" : ",") + std::to_string(i);
    if (i % 300 == 150) {
      snapshots.push_back(db_->GetSnapshot());
      at_snapshot.push_back(expected);
    }
    if (i % 250 == 17) Flush();
  }
  Put("z", "1");
  const auto check = [&](const char* stage) {
    SCOPED_TRACE(stage);
    ASSERT_EQ(expected, Get("key"));
    for (size_t i = 0; i < snapshots.size(); i++) ASSERT_EQ(at_snapshot[i], Get("key", snapshots[i]));
    ReadOptions options;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options));
    it->Seek("key");
    ASSERT_TRUE(it->Valid());
    ASSERT_EQ(expected, it->value().ToString());
    it->Prev();
    ASSERT_EQ("a9", it->key().ToString());
    it->Next();
    ASSERT_EQ(expected, it->value().ToString());
    it->Next();
    ASSERT_EQ("z", it->key().ToString());
    it->Prev();
    ASSERT_EQ(expected, it->value().ToString());
    it->Next();
    ASSERT_EQ("z", it->key().ToString());
  };
  check("in memory and in tables");
  Flush();
  check("flushed");
  Settle();
  check("settled under snapshots");
  EXPECT_GT(Counter("entries"), 52u);
  EXPECT_LT(Counter("entries"), 60u);
  for (const Snapshot* snapshot : snapshots) db_->ReleaseSnapshot(snapshot);
  snapshots.clear();
  Merge("key", "end");
  expected += ",end";
  Settle();
  check("settled without");
  EXPECT_EQ(52u, Counter("entries"));
}

TEST_F(KindsTest, AnOperatorThatFailsIsAnErrorOfTheReadAndLosesNothing) {
  options_.merge_operator = &picky_;
  Open();
  Put("a", "1");
  Put("key", "1");
  Merge("key", "bad");
  Merge("key", "2");
  Put("z", "1");
  AtEveryStage([&](const char* stage) {
    SCOPED_TRACE(stage);
    std::string value = "untouched";
    EXPECT_TRUE(db_->Get(ReadOptions(), "key", &value).IsCorruption());
    EXPECT_EQ("untouched", value);
    EXPECT_EQ("1", Get("a"));
    EXPECT_EQ("1", Get("z"));
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->Seek("b");
    EXPECT_FALSE(it->Valid());
    EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
    it->Seek("z");
  });
  EXPECT_EQ("OK", Property("miodb.background-error"));
  options_.merge_operator = append_.get();
  Open();
  EXPECT_EQ("1,bad,2", Get("key"));
  EXPECT_EQ("(a->1)(key->1,bad,2)(z->1)", Forward(db_.get()));
}

TEST_F(KindsTest, WithoutAnOperatorOperandsAreKeptAndReadsOfThemFail) {
  Open();
  Put("a", "1");
  Put("key", "1");
  Merge("key", "2");
  Flush();
  Merge("key", "3");
  options_.merge_operator = nullptr;
  Open();
  EXPECT_TRUE(db_->Merge(WriteOptions(), "key", "4").IsNotSupportedError());
  WriteBatch batch;
  batch.Put("b", "1");
  batch.Merge("key", "4");
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsNotSupportedError());
  EXPECT_EQ(kNotFound, Get("b"));
  AtEveryStage([&](const char* stage) {
    SCOPED_TRACE(stage);
    std::string value;
    EXPECT_TRUE(db_->Get(ReadOptions(), "key", &value).IsInvalidArgument());
    EXPECT_EQ("1", Get("a"));
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), {"a", "key"}, &values);
    EXPECT_TRUE(statuses[0].ok() && statuses[1].IsInvalidArgument());
  });
  options_.merge_operator = append_.get();
  Open();
  EXPECT_EQ("1,2,3", Get("key"));
  Put("key", "new");
  EXPECT_EQ("new", Get("key"));
  Settle();
  EXPECT_EQ(2u, Counter("entries"));
}

TEST_F(KindsTest, ABatchHoldsAllKinds) {
  Open();
  Put("s", "1");
  WriteBatch batch;
  batch.Put("a", "1");
  batch.Merge("a", "2");
  batch.SingleDelete("s");
  batch.Merge("b", "3");
  batch.Delete("b");
  batch.Merge("b", "4");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  AtEveryStage([&](const char* stage) {
    SCOPED_TRACE(stage);
    EXPECT_EQ("(a->1,2)(b->4)", Forward(db_.get()));
  });
}

TEST_F(KindsTest, MultiGetAndPinnedGetsMakeTheSame) {
  Open();
  Put("a", "1");
  Merge("a", "2");
  Flush();
  Merge("b", "3");
  const std::vector<Slice> keys = {"a", "b", "c"};
  std::vector<std::string> values;
  std::vector<Status> statuses = db_->MultiGet(ReadOptions(), keys, &values);
  EXPECT_TRUE(statuses[0].ok() && statuses[1].ok() && statuses[2].IsNotFound());
  EXPECT_EQ("1,2", values[0]);
  EXPECT_EQ("3", values[1]);
  std::vector<PinnableSlice> pinned;
  statuses = db_->MultiGet(ReadOptions(), keys, &pinned);
  PinnableSlice one;
  ASSERT_OK(db_->Get(ReadOptions(), "a", &one));
  Put("a", "other");
  Settle();
  EXPECT_EQ("1,2", pinned[0].ToString());
  EXPECT_EQ("3", pinned[1].ToString());
  EXPECT_EQ("1,2", one.ToString());
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), "b"));
}

TEST_F(KindsTest, OperatorsOfTheLibrary) {
  options_.merge_operator = UInt64AddOperator();
  Open();
  for (int i = 0; i < 100; i++) Merge("n", Number(uint64_t{1} << 60));
  EXPECT_EQ(Number((uint64_t{1} << 60) * 100), Get("n"));
  Flush();
  for (int i = 0; i < 100; i++) Merge("n", Number(3));
  Settle();
  EXPECT_EQ(Number((uint64_t{1} << 60) * 100 + 300), Get("n"));
  Merge("m", "not eight bytes");
  std::string value;
  EXPECT_TRUE(db_->Get(ReadOptions(), "m", &value).IsCorruption());
  options_.merge_operator = MaxOperator();
  Open();
  Delete("m");
  for (const char* operand : {"b", "ba", "a", "\xff", "z"}) Merge("m", operand);
  EXPECT_EQ("\xff", Get("m"));
  Put("m", "zz");
  Merge("m", "z");
  EXPECT_EQ("zz", Get("m"));
  options_.merge_operator = PutOperator();
  Open();
  EXPECT_EQ("z", Get("m"));
  Merge("m", "");
  EXPECT_EQ("", Get("m"));
  Settle();
  EXPECT_EQ("", Get("m"));
}

TEST_F(KindsTest, OperandsMeetTheirBaseOnSsd) {
  UseSsd();
  Open();
  constexpr uint64_t kKeys = 3000;
  const std::string filler(1000, 'x');
  std::vector<int> counts(kKeys, 0);
  for (int round = 0; round < 4; round++) {
    for (uint64_t i = 0; i < kKeys; i++) {
      if (round == 0) {
        Put(FilledKey(i), filler);
      } else if ((i + static_cast<uint64_t>(round)) % 3 != 0) {
        Merge(FilledKey(i), std::to_string(round) + filler);
        counts[i] |= 1 << round;
      }
    }
    ASSERT_OK(db_->WaitForIdle());
  }
  EXPECT_GT(Counter("ssd-bytes"), 0u);
  for (const bool reopened : {false, true}) {
    if (reopened) Open();
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    it->SeekToFirst();
    for (uint64_t i = 0; i < kKeys; i++, it->Next()) {
      std::string expected = filler;
      for (int round = 1; round < 4; round++) {
        if ((counts[i] >> round & 1) != 0) expected += "," + std::to_string(round) + filler;
      }
      ASSERT_TRUE(Get(FilledKey(i)) == expected) << i;
      ASSERT_TRUE(it->Valid() && it->value() == Slice(expected)) << i << " " << it->status().ToString();
    }
    db_->CompactRange(nullptr, nullptr);
  }
}

TEST_F(KindsTest, ASingleDeletionIsADeletionToReads) {
  Open();
  Put("a", "1");
  Put("b", "1");
  const Snapshot* const before = db_->GetSnapshot();
  SingleDelete("a");
  SingleDelete("none");
  EXPECT_EQ(kNotFound, Get("a"));
  EXPECT_EQ("1", Get("a", before));
  EXPECT_EQ("(b->1)", Forward(db_.get()));
  Settle();
  EXPECT_EQ("1", Get("a", before));
  EXPECT_EQ(kNotFound, Get("a"));
  db_->ReleaseSnapshot(before);
  AtEveryStage([&](const char* stage) {
    SCOPED_TRACE(stage);
    EXPECT_EQ("(b->1)", Backward(db_.get()));
  });
  EXPECT_EQ(1u, Counter("entries"));
}

TEST_F(KindsTest, ASingleDeletionGoesTogetherWithItsPutInAFlush) {
  Open();
  Put("a", "1");
  Put("b", "1");
  SingleDelete("a");
  SingleDelete("b");
  Flush();
  EXPECT_EQ(0u, Counter("entries"));
  EXPECT_EQ("", Forward(db_.get()));
  Open();
  EXPECT_EQ("", Forward(db_.get()));
  Put("a", "2");
  EXPECT_EQ("2", Get("a"));
}

TEST_F(KindsTest, ASingleDeletionGoesTogetherWithItsPutInAZeroCopyMerge) {
  options_.level_trigger = 2;
  options_.num_levels = 6;
  Open();
  Fill(100, 10);
  Settle();  // so that tombstones in the buffer would have to stay
  Put("key00000050x", "1");
  Flush();
  SingleDelete("key00000050x");
  Flush();
  const uint64_t copied = Counter("nvm-bytes-lazy-copy");
  for (int i = 0; i < 20000 && Counter("entries") != 100; i++)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(100u, Counter("entries"));
  EXPECT_EQ(copied, Counter("nvm-bytes-lazy-copy"));
  EXPECT_EQ(kNotFound, Get("key00000050x"));
}

// Operands are kept and dropped by indexes alone, however many there are of a key; folding them is what reads them.
TEST_F(KindsTest, ZeroCopyMergesOfOperandsReadNoRecords) {
  options_.level_trigger = 2;
  options_.num_levels = 8;
  options_.space_amplification_percent = 400;  // nothing is evacuated
  Open();
  constexpr int kKeys = 50, kRounds = 12;
  const auto key = [](int i) { return "key" + std::to_string(100 + i); };  // short enough to lie in heads as a whole
  for (int i = 0; i < kKeys; i++) Put(key(i), "0");
  for (int round = 1; round <= kRounds; round++) {
    for (int i = 0; i < kKeys; i++) {
      if (i % 8 == 7) {
        round % 2 == 0 ? Delete(key(i)) : Put(key(i), "0");
      } else {
        Merge(key(i), std::to_string(round));
      }
    }
    Flush();
  }
  for (int i = 0; i < 20000 && Counter("merges") == 0; i++) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_GE(Counter("merges"), 1u);
  EXPECT_EQ(0u, Counter("nvm-bytes-lazy-copy"));
  EXPECT_EQ(0u, Counter("merge-record-bytes-read"));
  std::string expected = "0";
  for (int round = 1; round <= kRounds; round++) expected += "," + std::to_string(round);
  EXPECT_EQ(expected, Get(key(3)));
  Settle();
  EXPECT_GT(Counter("merge-record-bytes-read"), uint64_t{kKeys} * kRounds);
  EXPECT_EQ(expected, Get(key(3)));
}

// The put that hides a single deletion may itself go together with one, and then what is below would be seen.
TEST_F(KindsTest, ASingleDeletionThatIsHiddenWaitsForItsPut) {
  Open();
  Put("key", "old");
  Settle();
  for (int round = 0; round < 3; round++) {
    SingleDelete("key");
    Put("key", "new");
    Flush();
    SingleDelete("key");
    Flush();
    EXPECT_EQ(kNotFound, Get("key"));
    Put("key", "old");
    Settle();
    EXPECT_EQ("old", Get("key"));
  }
  SingleDelete("key");
  Settle();
  EXPECT_EQ(kNotFound, Get("key"));
  EXPECT_EQ(0u, Counter("entries"));
}

// The contract's violation: builds with checks say so, others drop what they see.
TEST_F(KindsTest, TwoPutsBelowASingleDeletionInOneFlush) {
  Open();
  Put("key", "1");
  Put("key", "2");
  SingleDelete("key");
  EXPECT_EQ(kNotFound, Get("key"));
  const Status s = db_->Flush();
  EXPECT_EQ(kChecksWhole, s.IsCorruption()) << s.ToString();
  EXPECT_EQ(kNotFound, Get("key"));
  if (!kChecksWhole) {
    EXPECT_EQ(0u, Counter("entries"));
  }
}

TEST_F(KindsTest, ARepairKeepsOperands) {
  Open();
  Put("a", "1");
  Put("key", "1");
  Merge("key", "2");
  Flush();
  Merge("key", "3");
  Merge("other", "4");
  Put("s", "1");
  Flush();
  SingleDelete("s");
  Close();
  for (const bool with_operator : {false, true}) {
    options_.merge_operator = with_operator ? append_.get() : nullptr;
    ASSERT_OK(RepairDB(path_, options_));
  }
  Open();
  EXPECT_EQ("(a->1)(key->1,2,3)(other->4)", Forward(db_.get()));
  Settle();
  EXPECT_EQ("(a->1)(key->1,2,3)(other->4)", Backward(db_.get()));
}

TEST_F(KindsTest, LogFilesHoldAllKinds) {
  options_.log_mode = kLogFile;
  Open();
  Put("key", "1");
  Merge("key", "2");
  Put("s", "1");
  SingleDelete("s");
  Open();
  EXPECT_EQ("(key->1,2)", Forward(db_.get()));
  AtEveryStage([&](const char* stage) {
    SCOPED_TRACE(stage);
    EXPECT_EQ("(key->1,2)", Forward(db_.get()));
  });
}

}  // namespace
}  // namespace miodb::test
