// Optimistic transactions: what Commit finds changed and what it does not, wherever the versions of a key are by then;
// save points, snapshots; and many threads, with plain writers beside.

#include "miodb/optimistic_transaction.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/merge_operator.h"
#include "miodb/write_batch_with_index.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random.h"

namespace miodb::test {
namespace {

using Transaction = std::unique_ptr<OptimisticTransaction>;

class OptimisticTransactionTest : public DbTestBase {
 protected:
  OptimisticTransactionTest() { options_.merge_operator = append_.get(); }
  ~OptimisticTransactionTest() override { db_.reset(); }

  Transaction Begin(bool set_snapshot = false) {
    OptimisticTransactionOptions options;
    options.set_snapshot = set_snapshot;
    return Transaction(
        new OptimisticTransaction(db_.get(), WriteOptions(), options, BytewiseComparator(), append_.get()));
  }

  std::string Read(const Transaction& txn, const std::string& key) {
    std::string value;
    const Status s = txn->Get(ReadOptions(), key, &value);
    return s.ok() ? value : s.IsNotFound() ? kNotFound : s.ToString();
  }
  std::string ReadForUpdate(const Transaction& txn, const std::string& key) {
    std::string value;
    const Status s = txn->GetForUpdate(ReadOptions(), key, &value);
    return s.ok() ? value : s.IsNotFound() ? kNotFound : s.ToString();
  }

  // Calls check(where): right after a write, flushed, and in the repository.
  template <typename Check>
  void Wherever(Check check) {
    const std::vector<std::pair<const char*, void (OptimisticTransactionTest::*)()>> places = {
        {"in memory", &OptimisticTransactionTest::Stay},
        {"flushed", &OptimisticTransactionTest::Flush},
        {"settled", &OptimisticTransactionTest::SettleAll}};
    for (const auto& [name, move] : places) {
      SCOPED_TRACE(name);
      move_ = move;
      check();
    }
  }
  void Move() { (this->*move_)(); }

 private:
  void Stay() {}
  void Flush() { ASSERT_OK(db_->Flush()); }
  void SettleAll() { ASSERT_OK(db_->WaitForIdle()); }

  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  void (OptimisticTransactionTest::*move_)() = nullptr;
};

TEST_F(OptimisticTransactionTest, WritesShowInItAtOnceAndOutsideWithTheCommit) {
  Open();
  Put("a", "1");
  Put("b", "2");
  const Transaction txn = Begin();
  ASSERT_OK(txn->Put("a", "3"));
  ASSERT_OK(txn->Delete("b"));
  ASSERT_OK(txn->Merge("c", "4"));
  ASSERT_OK(txn->Put("d", "5"));
  ASSERT_OK(txn->SingleDelete("d"));
  EXPECT_EQ("3", Read(txn, "a"));
  EXPECT_EQ(kNotFound, Read(txn, "b"));
  EXPECT_EQ("4", Read(txn, "c"));
  EXPECT_EQ(kNotFound, Read(txn, "d"));
  std::string shown;
  const std::unique_ptr<Iterator> it(txn->GetIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) shown += it->key().ToString() + it->value().ToString() + " ";
  EXPECT_EQ("a3 c4 ", shown);
  EXPECT_EQ("(a->1)(b->2)", Forward(db_.get()));
  EXPECT_EQ(4u, txn->GetNumKeys());
  ASSERT_OK(txn->Commit());
  EXPECT_EQ("(a->3)(c->4)", Forward(db_.get()));
  EXPECT_EQ(0u, txn->GetNumKeys());
  ASSERT_OK(txn->Put("e", "6"));  // the next one
  ASSERT_OK(txn->Rollback());
  ASSERT_OK(txn->Commit());
  EXPECT_EQ("(a->3)(c->4)", Forward(db_.get()));
}

// Of a key that was not there nothing is deleted: such a deletion may be forgotten before the commit.
TEST_F(OptimisticTransactionTest, ADeletedRangeIsAChangeOfTheKeysInItWhereverItIs) {
  Open();
  Wherever([this] {
    Put("key", "1");
    Move();
    const Transaction read = Begin(), written = Begin(), beside = Begin();
    EXPECT_EQ("1", ReadForUpdate(read, "key"));
    ASSERT_OK(written->Put("key", "2"));
    ASSERT_OK(beside->Put("kez", "2"));
    ASSERT_OK(db_->DeleteRange(WriteOptions(), "kex", "kez"));
    Move();
    EXPECT_TRUE(read->Commit().IsBusy());
    EXPECT_TRUE(written->Commit().IsBusy());
    EXPECT_OK(beside->Commit());
    ASSERT_OK(db_->Delete(WriteOptions(), "kez"));
  });
}

// Every kind of change of every kind of tracked key, wherever the change has got to.
TEST_F(OptimisticTransactionTest, AChangeOfATrackedKeyIsBusyWhereverItIs) {
  Open();
  const std::vector<void (*)(DB*)> changes = {
      [](DB* db) { ASSERT_OK(db->Put(WriteOptions(), "key", "1")); },  // the same value: a change nevertheless
      [](DB* db) { ASSERT_OK(db->Delete(WriteOptions(), "key")); },
      [](DB* db) { ASSERT_OK(db->Merge(WriteOptions(), "key", "2")); },
      [](DB* db) {
        ASSERT_OK(db->Put(WriteOptions(), "key", "2"));
        ASSERT_OK(db->Delete(WriteOptions(), "key"));
      }};
  for (const bool exists : {true, false}) {
    for (const bool reads : {true, false}) {
      for (const auto change : changes) {
        Wherever([&] {
          exists ? Put("key", "1") : Delete("key");
          Put("result", "old");
          const Transaction txn = Begin();
          if (reads) {
            EXPECT_EQ(exists ? "1" : kNotFound, ReadForUpdate(txn, "key"));
          } else {
            ASSERT_OK(txn->Put("key", "3"));
          }
          ASSERT_OK(txn->Put("result", "new"));
          change(db_.get());
          Move();
          const std::string found = Get("key");
          const Status s = txn->Commit();
          EXPECT_TRUE(s.IsBusy()) << s.ToString() << " exists " << exists << " reads " << reads;
          EXPECT_EQ("old", Get("result"));
          EXPECT_EQ(found, Get("key"));
          EXPECT_TRUE(txn->Commit().IsBusy()) << "it is as it was";
        });
      }
    }
  }
}

TEST_F(OptimisticTransactionTest, OtherKeysAndReadsThatAreNotTrackedMayChange) {
  Open();
  Put("key", "1");
  Put("seen", "1");
  Wherever([&] {
    const Transaction txn = Begin();
    EXPECT_NE(kNotFound, ReadForUpdate(txn, "key"));
    EXPECT_NE(kNotFound, Read(txn, "seen"));
    Put("seen", "2");
    Put("kez", "2");
    Delete("ke");
    Move();
    ASSERT_OK(txn->Put("key", "3"));
    ASSERT_OK(txn->Commit());
    EXPECT_EQ("3", Get("key"));
  });
}

TEST_F(OptimisticTransactionTest, ItsOwnCommitIsNoChangeForTheNextOne) {
  Open();
  const Transaction txn = Begin();
  for (int i = 0; i < 100; i++) {
    ASSERT_OK(txn->Merge("key", "x"));
    ASSERT_OK(txn->Commit());
    if (i % 30 == 0) {
      ASSERT_OK(db_->WaitForIdle());
    }
  }
  EXPECT_EQ(199u, Get("key").size());
}

TEST_F(OptimisticTransactionTest, WithASnapshotChangesSinceThenAreBusy) {
  Open();
  Put("key", "1");
  Wherever([&] {
    const Transaction txn = Begin(true);
    Put("key", "2");
    Move();
    ReadOptions options;
    options.snapshot = txn->GetSnapshot();
    std::string value;
    ASSERT_OK(txn->GetForUpdate(options, "key", &value));
    EXPECT_EQ("1", value);
    EXPECT_TRUE(txn->Commit().IsBusy());
    ASSERT_OK(txn->Rollback());
    EXPECT_EQ(nullptr, txn->GetSnapshot());
    EXPECT_EQ("2", ReadForUpdate(txn, "key"));
    ASSERT_OK(txn->Commit());

    ASSERT_OK(txn->SetSnapshot());
    Put("key", "1");
    txn->ClearSnapshot();
    EXPECT_EQ("1", ReadForUpdate(txn, "key"));
    ASSERT_OK(txn->Commit());  // the snapshot was gone before the key was tracked
  });
}

// A put that was read and goes together with its single deletion leaves nothing to find.
TEST_F(OptimisticTransactionTest, AValueThatWasReadAndVanishedIsBusy) {
  Open();
  Wherever([&] {
    const Transaction txn = Begin(true);
    Put("key", "1");
    EXPECT_EQ("1", ReadForUpdate(txn, "key")) << "newer than the snapshot";
    ASSERT_OK(db_->SingleDelete(WriteOptions(), "key"));
    Move();
    EXPECT_TRUE(txn->Commit().IsBusy());

    ASSERT_OK(txn->Rollback());
    EXPECT_EQ(kNotFound, ReadForUpdate(txn, "key"));
    Put("key", "1");
    EXPECT_EQ("1", ReadForUpdate(txn, "key")) << "the second time";
    ASSERT_OK(db_->SingleDelete(WriteOptions(), "key"));
    Move();
    EXPECT_TRUE(txn->Commit().IsBusy());
  });
}

TEST_F(OptimisticTransactionTest, AnOlderSnapshotThatIsReadAtCountsFromThen) {
  Open();
  Put("key", "1");
  const Snapshot* const before = db_->GetSnapshot();
  Delete("key");
  const Transaction txn = Begin();
  ReadOptions options;
  options.snapshot = before;
  std::string value;
  ASSERT_OK(txn->GetForUpdate(options, "key", &value));
  EXPECT_EQ("1", value);
  db_->ReleaseSnapshot(before);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_TRUE(txn->Commit().IsBusy());
}

TEST_F(OptimisticTransactionTest, SavePointsTakeBackWritesTrackingAndSnapshot) {
  Open();
  const Transaction txn = Begin();
  EXPECT_TRUE(txn->RollbackToSavePoint().IsNotFound());
  EXPECT_TRUE(txn->PopSavePoint().IsNotFound());
  ASSERT_OK(txn->Put("a", "1"));
  ASSERT_OK(txn->SetSavePoint());
  ASSERT_OK(txn->Put("a", "2"));
  ASSERT_OK(txn->Put("b", "2"));
  EXPECT_EQ(kNotFound, ReadForUpdate(txn, "c"));
  ASSERT_OK(txn->SetSavePoint());
  ASSERT_OK(txn->SetSnapshot());
  EXPECT_EQ(kNotFound, ReadForUpdate(txn, "d"));
  ASSERT_OK(txn->PopSavePoint());
  EXPECT_NE(nullptr, txn->GetSnapshot());
  EXPECT_EQ(4u, txn->GetNumKeys());
  ASSERT_OK(txn->RollbackToSavePoint());
  EXPECT_EQ(nullptr, txn->GetSnapshot());
  EXPECT_EQ(1u, txn->GetNumKeys());
  Put("b", "0");
  Put("c", "0");
  Put("d", "0");
  ASSERT_OK(txn->Commit());
  EXPECT_EQ("(a->1)(b->0)(c->0)(d->0)", Forward(db_.get()));
}

TEST_F(OptimisticTransactionTest, ItsDatabaseIsOpenedAndDeletedWithIt) {
  OptimisticTransactionDB* opened = nullptr;
  EXPECT_TRUE(OptimisticTransactionDB::Open(Options(), path_, &opened).IsInvalidArgument());
  EXPECT_EQ(nullptr, opened);
  ASSERT_OK(OptimisticTransactionDB::Open(options_, path_, &opened));
  Transaction txn(opened->BeginTransaction(WriteOptions()));
  ASSERT_OK(txn->Merge("key", "1"));
  EXPECT_EQ("1", Read(txn, "key"));
  ASSERT_OK(txn->Commit());
  ASSERT_OK(txn->Put("key", "2"));
  txn.reset();  // as a rollback
  delete opened;
  Open();
  EXPECT_EQ("1", Get("key"));
}

// ---- WriteIfUnchanged

TEST_F(OptimisticTransactionTest, AWriteUnderAConditionIsMadeOrNot) {
  Open();
  Put("key", "1");
  const uint64_t known = db_->GetLatestSequenceNumber();
  WriteBatch batch;
  batch.Put("result", "1");
  ASSERT_OK(db_->WriteIfUnchanged(WriteOptions(), &batch, {{"key", known}, {"none", 0}}));
  EXPECT_EQ(known + 1, db_->GetLatestSequenceNumber());
  EXPECT_TRUE(db_->WriteIfUnchanged(WriteOptions(), &batch, {{"key", known}, {"result", known}}).IsBusy());
  EXPECT_TRUE(db_->WriteIfUnchanged(WriteOptions(), &batch, {{"key", known - 1}}).IsBusy());
  EXPECT_EQ(known + 1, db_->GetLatestSequenceNumber());
  EXPECT_TRUE(db_->WriteIfUnchanged(WriteOptions(), nullptr, {}).IsInvalidArgument());
  ASSERT_OK(db_->WriteIfUnchanged(WriteOptions(), &batch, {}));
  WriteBatch empty;
  ASSERT_OK(db_->WriteIfUnchanged(WriteOptions(), &empty, {{"key", known}}));
  EXPECT_TRUE(db_->WriteIfUnchanged(WriteOptions(), &empty, {{"result", known}}).IsBusy());
}

// One history of transactions, one after the other but begun and ended in any order: each commits exactly if none of
// its keys was written since it was tracked.
TEST_F(OptimisticTransactionTest, CommitsAgreeWithAModelOfVersions) {
  for (const uint64_t seed : Seeds(ByScale(4, 20, 200))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    ASSERT_OK(DestroyDB(path_, options_));
    options_ = FindOptionSet(seed % 2 == 0 ? "tiny" : "small").options;
    Open();
    struct Running {
      Transaction txn;
      std::map<std::string, uint64_t> since;  // tracked keys, and the writes there were then
      std::map<std::string, std::string> writes;
    };
    std::map<std::string, std::pair<uint64_t, std::string>> latest;  // the last write of a key, and its value
    uint64_t writes = 0;
    std::vector<Running> running(6);
    for (Running& r : running) r.txn = Begin();
    const auto written_at = [&](const std::string& key) {
      const auto found = latest.find(key);
      return found == latest.end() ? 0 : found->second.first;
    };
    const auto any_key = [&] { return "key" + std::to_string(random.Uniform(40)); };
    for (int step = 0; step < 3000 && !HasFailure(); step++) {
      Running& r = running[random.Uniform(running.size())];
      const std::string key = any_key(), value = random.Bytes(random.Skewed(9));
      const uint64_t dice = random.Uniform(100);
      if (dice < 30) {
        r.since.emplace(key, writes);
        r.writes[key] = value;
        ASSERT_OK(r.txn->Put(key, value));
      } else if (dice < 55) {
        r.since.emplace(key, writes);
        const std::string found = ReadForUpdate(r.txn, key);
        const auto own = r.writes.find(key);
        const auto there = latest.find(key);
        ASSERT_EQ(own != r.writes.end()   ? own->second
                  : there != latest.end() ? there->second.second
                                          : kNotFound,
                  found);
      } else if (dice < 75) {
        if (random.OneIn(4)) {
          Delete(key);
          latest[key] = {++writes, kNotFound};
        } else {
          Put(key, value);
          latest[key] = {++writes, value};
        }
      } else if (dice < 95) {
        bool changed = false;
        for (const auto& [tracked, since] : r.since) changed = changed || written_at(tracked) > since;
        const Status s = r.txn->Commit();
        ASSERT_EQ(changed, s.IsBusy()) << s.ToString();
        ASSERT_TRUE(changed || s.ok()) << s.ToString();
        if (changed) {
          ASSERT_OK(r.txn->Rollback());
        } else {
          for (const auto& [k, v] : r.writes) latest[k] = {++writes, v};
        }
        r.since.clear();
        r.writes.clear();
      } else if (dice < 99) {
        ASSERT_OK(db_->Flush());
      } else {
        ASSERT_OK(db_->WaitForIdle());
      }
    }
    running.clear();
    db_.reset();
  }
}

// ---- Threads

class TransactionThreads : public OptimisticTransactionTest {
 protected:
  uint64_t NumberAt(OptimisticTransaction* txn, const std::string& key, bool for_update) {
    std::string value;
    const Status s = for_update ? txn->GetForUpdate(ReadOptions(), key, &value) : txn->Get(ReadOptions(), key, &value);
    EXPECT_OK(s);
    return s.ok() ? std::stoull(value) : 0;
  }

  static void Join(std::vector<std::thread>* threads) {
    for (std::thread& thread : *threads) thread.join();
  }
};

// Transfers keep the sum, whatever other transfers, plain writers and merges do meanwhile.
TEST_F(TransactionThreads, TransfersKeepTheSum) {
  constexpr uint64_t kAccounts = 20, kStart = 1000;
  constexpr size_t kTellers = 4;
  options_.write_buffer_size = 32 << 10;
  Open();
  for (uint64_t i = 0; i < kAccounts; i++) Put("account" + std::to_string(i), std::to_string(kStart));
  const uint64_t transfers = ByScale(2000, 10000, 200000) / (RunsUnderSanitizer() ? 4 : 1);
  std::atomic<uint64_t> busy{0};
  std::atomic<bool> ends{false};
  std::vector<std::thread> tellers, others;
  for (size_t t = 0; t < kTellers; t++) {
    tellers.emplace_back([&, t] {
      Random random(t + 1);
      const Transaction txn = Begin();
      for (uint64_t done = 0; done < transfers && !HasFailure();) {
        const std::string from = "account" + std::to_string(random.Uniform(kAccounts));
        const std::string to = "account" + std::to_string(random.Uniform(kAccounts));
        if (from == to) continue;
        const uint64_t has = NumberAt(txn.get(), from, true), gets = NumberAt(txn.get(), to, true);
        const uint64_t amount = random.Uniform(has + 1);
        EXPECT_OK(txn->Put(from, std::to_string(has - amount)));
        EXPECT_OK(txn->Put(to, std::to_string(gets + amount)));
        const Status s = txn->Commit();
        if (s.ok()) {
          done++;
          continue;
        }
        EXPECT_TRUE(s.IsBusy()) << s.ToString();
        busy++;
        EXPECT_OK(txn->Rollback());
      }
    });
  }
  others.emplace_back([&] {
    for (uint64_t i = 0; !ends; i++) Put("account-" + std::to_string(i % 100), std::string(100, 'x'));
  });
  others.emplace_back([&] {
    while (!ends) {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      uint64_t sum = 0;
      for (it->Seek("account0"); it->Valid(); it->Next()) sum += std::stoull(it->value().ToString());
      EXPECT_OK(it->status());
      EXPECT_EQ(kAccounts * kStart, sum);
    }
  });
  Join(&tellers);
  ends = true;
  Join(&others);
  EXPECT_GT(busy, 0u) << "they never met: the test shows nothing";
}

// Two who each look at both values and take one away, if the sum allows it, leave no sum below zero.
TEST_F(TransactionThreads, ThereIsNoWriteSkewWhereBothAreReadForUpdate) {
  options_.write_buffer_size = 32 << 10;
  Open();
  const uint64_t rounds = ByScale(500, 3000, 100000) / (RunsUnderSanitizer() ? 4 : 1);
  for (uint64_t round = 0; round < rounds && !HasFailure(); round++) {
    Put("0", "1");
    Put("1", "1");
    std::atomic<int> committed{0};
    const auto take = [&](const char* own) {
      const Transaction txn = Begin();
      const uint64_t sum = NumberAt(txn.get(), "0", true) + NumberAt(txn.get(), "1", true);
      if (sum < 2) return;
      EXPECT_OK(txn->Put(own, "0"));
      const Status s = txn->Commit();
      EXPECT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
      committed += s.ok();
    };
    std::thread other([&] { take("1"); });
    take("0");
    other.join();
    EXPECT_EQ(1, committed);
  }
}

// A counter that plain puts set back: no increment is lost between two of them, which the counter's own history tells.
TEST_F(TransactionThreads, PlainWritesComeBeforeOrAfterACommit) {
  options_.write_buffer_size = 32 << 10;
  Open();
  Put("counter", "0");
  const uint64_t commits = ByScale(3000, 10000, 300000) / (RunsUnderSanitizer() ? 4 : 1);
  std::atomic<bool> ends{false};
  std::thread plain([&] {
    for (uint64_t base = 1000000; !ends; base += 1000000) {
      Put("counter", std::to_string(base));
      std::this_thread::yield();
    }
  });
  std::map<uint64_t, uint64_t> seen;  // millions, and how far the count behind them got
  const Transaction txn = Begin();
  for (uint64_t done = 0; done < commits && !HasFailure();) {
    const uint64_t value = NumberAt(txn.get(), "counter", true);
    EXPECT_OK(txn->Put("counter", std::to_string(value + 1)));
    if (!txn->Commit().ok()) {
      EXPECT_OK(txn->Rollback());
      continue;
    }
    done++;
    uint64_t& count = seen[value / 1000000];
    EXPECT_EQ(count, value % 1000000) << "a commit was written over a put that it had not seen";
    count++;
  }
  ends = true;
  plain.join();
}

}  // namespace
}  // namespace miodb::test
