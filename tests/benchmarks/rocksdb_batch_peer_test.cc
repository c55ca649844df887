// Batches with an index and optimistic transactions beside those of RocksDB, where that is installed: one stream of
// random calls over two column families has the same answers. RocksDB's have no deletions of ranges; there each key of
// the range is deleted, in transactions without being tracked.

#include <gtest/gtest.h>

#include "tests/common/environment.h"

#ifdef MIODB_WITH_ROCKSDB

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/utilities/optimistic_transaction_db.h>
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/write_batch_with_index.h>

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "miodb/merge_operator.h"
#include "miodb/optimistic_transaction.h"
#include "miodb/write_batch_with_index.h"
#include "tests/benchmarks/rocksdb_peer.h"
#include "tests/common/db_test_base.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKeys = 80;
constexpr size_t kTransactions = 5;

// Kinds, not words.
template <typename S>
std::string Shown(const S& s) {
  if (s.ok()) return "ok";
  if (s.IsNotFound()) return "not found";
  if (s.IsBusy()) return "busy";
  if (s.IsMergeInProgress()) return "merge in progress";
  return s.ToString();
}

// The two databases, and the calls made to both.
class Pair {
 public:
  Pair(uint64_t seed, Options ours, const TestDir& dir) : random_(seed) {
    ours.merge_operator = append_.get();
    EXPECT_OK(OpenDb(ours, dir / "ours", &db_));
    rocksdb::Options theirs;
    theirs.create_if_missing = true;
    theirs.merge_operator = std::make_shared<RocksAppend>();
    rocksdb::OptimisticTransactionDB* rocks = nullptr;
    const rocksdb::Status s = rocksdb::OptimisticTransactionDB::Open(theirs, dir / "theirs", &rocks);
    EXPECT_TRUE(s.ok()) << s.ToString();
    rocks_.reset(rocks);
    families_[0] = {db_->DefaultColumnFamily(), rocks_->DefaultColumnFamily()};
    EXPECT_OK(db_->CreateColumnFamily("other", &families_[1].ours));
    EXPECT_TRUE(rocks_->CreateColumnFamily(theirs, "other", &families_[1].theirs).ok());
  }
  ~Pair() { EXPECT_TRUE(rocks_->DestroyColumnFamilyHandle(families_[1].theirs).ok()); }

 protected:
  struct Family {
    ColumnFamilyHandle* ours = nullptr;
    rocksdb::ColumnFamilyHandle* theirs = nullptr;
  };

  const Family& AnyFamily() { return families_[random_.Uniform(2)]; }
  static std::string Key(uint64_t i) { return "key" + std::to_string(i * 7919 % 1000); }
  std::string AnyKey() { return Key(random_.Uniform(kKeys)); }
  std::string AnyValue() { return std::string(random_.Skewed(7), static_cast<char>('a' + random_.Uniform(26))); }

  // Makes the same update in two batches or transactions.
  template <typename Ours, typename Theirs>
  void Update(Ours* ours, Theirs* theirs) {
    const std::string key = AnyKey(), value = AnyValue();
    const Family& family = AnyFamily();
    const uint64_t dice = random_.Uniform(100);
    if (dice < 45) {
      Check([&] { return ours->Put(family.ours, key, value); });
      Check([&] { return theirs->Put(family.theirs, key, value); });
    } else if (dice < 75) {
      Check([&] { return ours->Merge(family.ours, key, value); });
      Check([&] { return theirs->Merge(family.theirs, key, value); });
    } else if (dice < 92) {
      Check([&] { return ours->Delete(family.ours, key); });
      Check([&] { return theirs->Delete(family.theirs, key); });
    } else {
      const std::string end = key + std::to_string(random_.Uniform(10));
      const std::string begin = random_.OneIn(2) ? key : key.substr(0, 4);  // a few keys, or some tens
      Check([&] { return ours->DeleteRange(family.ours, begin, end); });
      for (uint64_t i = 0; i < kKeys; i++) {
        if (Key(i) >= begin && Key(i) < end) DeleteOne(theirs, family.theirs, Key(i));
      }
    }
  }
  static void DeleteOne(rocksdb::WriteBatchWithIndex* batch, rocksdb::ColumnFamilyHandle* family,
                        const std::string& key) {
    EXPECT_TRUE(batch->Delete(family, key).ok());
  }
  static void DeleteOne(rocksdb::Transaction* txn, rocksdb::ColumnFamilyHandle* family, const std::string& key) {
    EXPECT_TRUE(txn->DeleteUntracked(family, key).ok());
  }
  // Updates of our batches have no status.
  template <typename Call>
  static void Check(Call call) {
    if constexpr (std::is_void_v<decltype(call())>) {
      call();
    } else {
      EXPECT_TRUE(call().ok());
    }
  }

  template <typename Ours, typename Theirs>
  static void EndSavePoint(Ours* ours, Theirs* theirs, bool back) {
    const rocksdb::Status t = back ? theirs->RollbackToSavePoint() : theirs->PopSavePoint();
    const Status s = back ? ours->RollbackToSavePoint() : ours->PopSavePoint();
    ASSERT_EQ(Shown(t), Shown(s));
  }

  void WriteBehind() {
    const std::string key = AnyKey(), value = AnyValue();
    const Family& family = AnyFamily();
    ASSERT_OK(db_->Put(WriteOptions(), family.ours, key, value));
    ASSERT_TRUE(rocks_->GetBaseDB()->Put(rocksdb::WriteOptions(), family.theirs, key, value).ok());
  }

  void Walk(Iterator* a, rocksdb::Iterator* b) {
    for (uint64_t i = 0; i < 15 && !testing::Test::HasFatalFailure(); i++) {
      MoveBoth(&random_, a, b, [this] { return AnyKey(); });
    }
  }

  void Background() {
    if (random_.OneIn(2)) {
      ASSERT_OK(db_->Flush());
    } else {
      ASSERT_OK(db_->WaitForIdle());
    }
  }

  Random random_;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  std::unique_ptr<DB> db_;
  std::unique_ptr<rocksdb::OptimisticTransactionDB> rocks_;
  Family families_[2];
};

// ---- Batches

class Batches : public Pair {
 public:
  Batches(uint64_t seed, const Options& ours, const TestDir& dir)
      : Pair(seed, ours, dir), ours_(BytewiseComparator(), 0, true, append_.get()) {}

  void Run(uint64_t calls) {
    for (uint64_t i = 0; i < calls && !testing::Test::HasFatalFailure(); i++) Step();
  }

 private:
  void Step() {
    const uint64_t dice = random_.Uniform(1000);
    if (dice < 450) return Update(&ours_, &theirs_);
    if (dice < 650) return CompareGets(AnyKey());
    if (dice < 750) return CompareWalks();
    if (dice < 800) {
      ours_.SetSavePoint();
      return theirs_.SetSavePoint();
    }
    if (dice < 850) return EndSavePoint(&ours_, &theirs_, dice < 830);
    if (dice < 950) return WriteBehind();
    if (dice < 990) return End();
    Background();
  }

  void CompareGets(const std::string& key) {
    std::string our_value, their_value;
    const Family& family = AnyFamily();
    const Status s = ours_.GetFromBatch(family.ours, key, &our_value);
    const rocksdb::Status t = theirs_.GetFromBatch(family.theirs, rocksdb::DBOptions(), key, &their_value);
    ASSERT_EQ(Shown(t), Shown(s)) << key;
    if (s.ok()) {
      ASSERT_EQ(their_value, our_value) << key;
    }
    const Status both = ours_.GetFromBatchAndDB(db_.get(), ReadOptions(), family.ours, key, &our_value);
    const rocksdb::Status both_of_them =
        theirs_.GetFromBatchAndDB(rocks_.get(), rocksdb::ReadOptions(), family.theirs, key, &their_value);
    ASSERT_EQ(Shown(both_of_them), Shown(both)) << key;
    if (both.ok()) {
      ASSERT_EQ(their_value, our_value) << key;
    }
  }

  void CompareWalks() {
    const Family& family = AnyFamily();
    const std::unique_ptr<Iterator> a(
        ours_.NewIteratorWithBase(family.ours, db_->NewIterator(ReadOptions(), family.ours)));
    const std::unique_ptr<rocksdb::Iterator> b(
        theirs_.NewIteratorWithBase(family.theirs, rocks_->NewIterator(rocksdb::ReadOptions(), family.theirs)));
    Walk(a.get(), b.get());
  }

  void End() {
    if (random_.OneIn(2)) {
      ASSERT_OK(db_->Write(WriteOptions(), ours_.GetWriteBatch()));
      ASSERT_TRUE(rocks_->GetBaseDB()->Write(rocksdb::WriteOptions(), theirs_.GetWriteBatch()).ok());
    }
    ours_.Clear();
    theirs_.Clear();
  }

  WriteBatchWithIndex ours_;
  rocksdb::WriteBatchWithIndex theirs_{rocksdb::BytewiseComparator(), 0, true};
};

// ---- Transactions

class Transactions : public Pair {
 public:
  Transactions(uint64_t seed, const Options& ours, const TestDir& dir) : Pair(seed, ours, dir) {
    for (size_t i = 0; i < kTransactions; i++) {
      running_.emplace_back();
      running_.back().ours = std::make_unique<OptimisticTransaction>(
          db_.get(), WriteOptions(), OptimisticTransactionOptions(), BytewiseComparator(), append_.get());
      running_.back().theirs.reset(rocks_->BeginTransaction(rocksdb::WriteOptions()));
    }
  }

  void Run(uint64_t calls) {
    for (uint64_t i = 0; i < calls && !testing::Test::HasFatalFailure(); i++) Step();
    EXPECT_GT(committed_, 0u);
    EXPECT_GT(busy_, 0u);
  }

 private:
  struct Running {
    std::unique_ptr<OptimisticTransaction> ours;
    std::unique_ptr<rocksdb::Transaction> theirs;
  };

  void Step() {
    Running& r = running_[random_.Uniform(running_.size())];
    const uint64_t dice = random_.Uniform(1000);
    if (dice < 250) return Update(r.ours.get(), r.theirs.get());
    if (dice < 500) return CompareGet(&r, AnyKey());
    if (dice < 560) return CompareWalks(&r);
    if (dice < 600) return SetPoint(&r);
    if (dice < 640) return EndSavePoint(r.ours.get(), r.theirs.get(), dice < 630);
    if (dice < 800) return WriteBehind();
    if (dice < 980) return End(&r);
    Background();
  }

  void SetPoint(Running* r) {
    if (random_.OneIn(2)) {
      ASSERT_OK(r->ours->SetSavePoint());
      return r->theirs->SetSavePoint();
    }
    if (random_.OneIn(4)) {
      r->ours->ClearSnapshot();
      return r->theirs->ClearSnapshot();
    }
    ASSERT_OK(r->ours->SetSnapshot());
    r->theirs->SetSnapshot();
  }

  void CompareGet(Running* r, const std::string& key) {
    ReadOptions ours;
    rocksdb::ReadOptions theirs;
    if (random_.OneIn(2)) ours.snapshot = r->ours->GetSnapshot(), theirs.snapshot = r->theirs->GetSnapshot();
    const bool for_update = random_.OneIn(2);
    std::string our_value, their_value;
    const Family& family = AnyFamily();
    const Status s = for_update ? r->ours->GetForUpdate(ours, family.ours, key, &our_value)
                                : r->ours->Get(ours, family.ours, key, &our_value);
    const rocksdb::Status t = for_update ? r->theirs->GetForUpdate(theirs, family.theirs, key, &their_value)
                                         : r->theirs->Get(theirs, family.theirs, key, &their_value);
    ASSERT_EQ(Shown(t), Shown(s)) << key;
    if (s.ok()) {
      ASSERT_EQ(their_value, our_value) << key;
    }
  }

  void CompareWalks(Running* r) {
    const Family& family = AnyFamily();
    const std::unique_ptr<Iterator> a(r->ours->GetIterator(ReadOptions(), family.ours));
    const std::unique_ptr<rocksdb::Iterator> b(r->theirs->GetIterator(rocksdb::ReadOptions(), family.theirs));
    Walk(a.get(), b.get());
  }

  void End(Running* r) {
    ASSERT_EQ(r->theirs->GetNumKeys(), r->ours->GetNumKeys());
    if (random_.OneIn(8)) {
      ASSERT_OK(r->ours->Rollback());
      ASSERT_TRUE(r->theirs->Rollback().ok());
    } else {
      const Status s = r->ours->Commit();
      ASSERT_EQ(Shown(r->theirs->Commit()), Shown(s));
      (s.ok() ? committed_ : busy_)++;
      ASSERT_OK(r->ours->Rollback());
    }
    // A transaction of theirs is begun anew to be used again.
    rocks_->BeginTransaction(rocksdb::WriteOptions(), rocksdb::OptimisticTransactionOptions(), r->theirs.get());
  }

  std::vector<Running> running_;
  uint64_t committed_ = 0, busy_ = 0;
};

template <typename Stream>
void RunStreams() {
  const char* const sets[] = {"tiny", "ssd", "log_file"};
  const uint64_t calls = ByScale(10000, 30000, 500000);
  uint64_t stream = 0;
  for (const char* name : sets) {
    for (const uint64_t seed : Seeds(1, 1 + stream++)) {
      SCOPED_TRACE(std::string(name) + ", " + Repeat(seed));
      const TestDir dir;
      Stream(seed, FindOptionSet(name).options, dir).Run(calls);
      if (testing::Test::HasFailure()) return;
    }
  }
}

TEST(RocksdbBatchPeerTest, BatchesGiveTheSameAnswers) { RunStreams<Batches>(); }
TEST(RocksdbBatchPeerTest, TransactionsGiveTheSameAnswersAndCommits) { RunStreams<Transactions>(); }

}  // namespace
}  // namespace miodb::test

#else

TEST(RocksdbBatchPeerTest, BatchesGiveTheSameAnswers) {
  GTEST_SKIP() << "built without RocksDB (Debian package librocksdb-dev): nothing is compared";
}

#endif
