// Optimistic transactions: what Commit finds changed and what it does not, wherever the versions of a key are by then;
// save points, snapshots; and many threads, with plain writers beside.

#include "miodb/optimistic_transaction.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "miodb/merge_operator.h"
#include "miodb/write_batch_with_index.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/in_child.h"
#include "tests/common/random/random.h"

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

// ---- Ranges and column families

// Neither the value that was read nor the absence of one is in the snapshot that the transaction holds from its first
// key on.
TEST_F(OptimisticTransactionTest, ADeletedRangeIsAChangeOfWhatWasReadLaterThanTheFirstKey) {
  Open();
  Wherever([this, part = 'a']() mutable {
    for (const bool exists : {true, false}) {
      // A part of its own of all keys, so that nothing older has the range kept.
      const std::string begin(1, part), end(1, ++part), key = begin + "1";
      const Transaction txn = Begin();
      EXPECT_EQ(kNotFound, ReadForUpdate(txn, begin));
      if (exists) Put(key, "1");
      EXPECT_EQ(exists ? "1" : kNotFound, ReadForUpdate(txn, key));
      ASSERT_OK(db_->DeleteRange(WriteOptions(), key, end));
      Move();
      EXPECT_TRUE(txn->Commit().IsBusy()) << exists;
    }
  });
}

TEST_F(OptimisticTransactionTest, ItsOwnRangeHidesWhatWasBeforeAndTakesWhatComesMeanwhile) {
  Open();
  Wherever([this] {
    Put("a", "1");
    Put("b", "2");
    Move();
    const Transaction txn = Begin(), reader = Begin();
    ASSERT_OK(txn->Put("b", "3"));
    ASSERT_OK(txn->SetSavePoint());
    ASSERT_OK(txn->DeleteRange("a", "d"));
    EXPECT_EQ(1u, txn->GetNumKeys());
    ASSERT_OK(txn->Put("c", "4"));
    EXPECT_EQ(kNotFound, Read(txn, "a"));
    EXPECT_EQ(kNotFound, Read(txn, "b"));
    EXPECT_EQ("4", Read(txn, "c"));
    ASSERT_OK(txn->RollbackToSavePoint());
    EXPECT_EQ("1", Read(txn, "a"));
    EXPECT_EQ("3", Read(txn, "b"));
    ASSERT_OK(txn->DeleteRange("a", "d"));
    Put("a", "5");
    Put("aa", "5");
    EXPECT_EQ("5", ReadForUpdate(reader, "aa"));
    Move();
    ASSERT_OK(txn->Commit());
    EXPECT_EQ("", Forward(db_.get()));
    EXPECT_TRUE(reader->Commit().IsBusy()) << "to others the range is a change of its keys";
  });
}

TEST_F(OptimisticTransactionTest, AKeyOfAnotherFamilyIsAnotherKey) {
  Open();
  ColumnFamilyHandle *a = nullptr, *b = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("a", &a));
  ASSERT_OK(db_->CreateColumnFamily("b", &b));
  Wherever([&] {
    const Transaction txn = Begin();
    const auto write_all = [&] {
      ASSERT_OK(txn->Put("key", "0"));
      ASSERT_OK(txn->Put(a, "key", "1"));
      ASSERT_OK(txn->Merge(a, "key", "2"));
      ASSERT_OK(txn->Delete(a, "none"));
      ASSERT_OK(txn->SingleDelete(a, "nobody"));
    };
    write_all();
    ASSERT_OK(txn->Put(db_->DefaultColumnFamily(), "key", "0"));
    EXPECT_EQ(4u, txn->GetNumKeys()) << "the default family has one name only";
    ASSERT_OK(db_->Put(WriteOptions(), b, "key", "other"));
    ASSERT_OK(db_->DeleteRange(WriteOptions(), "l", "z"));
    Move();
    std::string value;
    ASSERT_OK(txn->Get(ReadOptions(), a, "key", &value));
    EXPECT_EQ("1,2", value);
    ASSERT_OK(txn->GetForUpdate(ReadOptions(), b, "key", &value));
    EXPECT_EQ("other", value);
    const std::unique_ptr<Iterator> it(txn->GetIterator(ReadOptions(), a));
    it->SeekToFirst();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ("1,2", it->value().ToString());
    ASSERT_OK(txn->Commit());
    ASSERT_OK(db_->Get(ReadOptions(), a, "key", &value));
    EXPECT_EQ("1,2", value);
    EXPECT_EQ("0", Get("key"));

    write_all();
    ASSERT_OK(db_->Put(WriteOptions(), a, "key", "3"));
    Move();
    const Status s = txn->Commit();
    EXPECT_TRUE(s.IsBusy()) << s.ToString();
    EXPECT_NE(std::string::npos, s.ToString().find("'key'")) << s.ToString();
    ASSERT_OK(txn->Rollback());
    EXPECT_TRUE(txn->GetForUpdate(ReadOptions(), b, "nobody", nullptr).ok());
    ASSERT_OK(db_->Put(WriteOptions(), b, "nobody", "4"));
    ASSERT_OK(db_->DeleteRange(WriteOptions(), b, "n", "o"));
    Move();
    EXPECT_TRUE(txn->Commit().IsBusy());
  });
}

TEST_F(OptimisticTransactionTest, ACommitSaysThatAFamilyWasDropped) {
  Open();
  using Use = Status (*)(OptimisticTransaction*, ColumnFamilyHandle*);
  const std::vector<Use> uses = {
      [](OptimisticTransaction* txn, ColumnFamilyHandle* f) { return txn->Put(f, "key", "1"); },
      [](OptimisticTransaction* txn, ColumnFamilyHandle* f) { return txn->DeleteRange(f, "a", "z"); },
      [](OptimisticTransaction* txn, ColumnFamilyHandle* f) {
        std::string value;
        return txn->GetForUpdate(ReadOptions(), f, "key", &value);
      }};
  for (const Use use : uses) {
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily("family", &family));
    ASSERT_OK(db_->Put(WriteOptions(), family, "key", "0"));
    const Transaction txn = Begin();
    ASSERT_OK(txn->Put("result", "1"));
    ASSERT_OK(txn->SetSavePoint());
    ASSERT_OK(use(txn.get(), family));
    ASSERT_OK(db_->DropColumnFamily(family));
    for (int i = 0; i < 2; i++) {
      const Status s = txn->Commit();
      EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
      EXPECT_NE(std::string::npos, s.ToString().find("was dropped")) << s.ToString();
    }
    EXPECT_EQ(kNotFound, Get("result"));
    ASSERT_OK(txn->RollbackToSavePoint());
    ASSERT_OK(txn->Commit());
    EXPECT_EQ("1", Get("result"));
    Delete("result");
  }
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

TEST_F(OptimisticTransactionTest, AReadOfATransactionThatSyncsSyncsNothing) {
  options_.log_mode = kLogFile;
  Open();
  Put("key", "1");
  const Snapshot* const before = db_->GetSnapshot();
  Put("other", "2");
  WriteOptions synced;
  synced.sync = true;
  OptimisticTransaction txn(db_.get(), synced, OptimisticTransactionOptions(), BytewiseComparator(),
                            options_.merge_operator);
  ReadOptions options;
  options.snapshot = before;
  const uint64_t syncs = Counter("log-file-syncs");
  std::string value;
  ASSERT_OK(txn.GetForUpdate(options, "key", &value));  // asks whether the key has changed since the snapshot
  EXPECT_EQ("1", value);
  EXPECT_EQ(syncs, Counter("log-file-syncs"));
  db_->ReleaseSnapshot(before);
  EXPECT_OK(txn.Commit());
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

TEST_F(OptimisticTransactionTest, InAChildProcessACallSaysThatTheDatabaseIsTheParents) {
  Open();
  Put("a", "1");
  const Transaction txn = Begin();
  EXPECT_EQ(0, InChild([&] {
              std::string value;
              for (const Status& s :
                   {txn->SetSnapshot(), txn->Put("a", "2"), txn->GetForUpdate(ReadOptions(), "a", &value)}) {
                if (s.ToString().find("was opened before fork()") == std::string::npos) return 1;
              }
              return 0;
            }));
  EXPECT_EQ(0u, txn->GetNumKeys());
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

// A history of transactions over two families, one after the other but begun and ended in any order: each commits
// exactly if none of its keys was written, or deleted with a range, since it was tracked.
class VersionsModel {
 public:
  VersionsModel(DB* db, uint64_t seed, std::function<Transaction()> begin) : db_(db), random_(seed) {
    families_[0] = db->DefaultColumnFamily();
    EXPECT_OK(db->CreateColumnFamily("other", &families_[1]));
    for (Running& r : running_) r.txn = begin();
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); i++) Step(&running_[random_.Uniform(kRunning)]);
    EXPECT_GT(commits_, 0);
    EXPECT_GT(busy_, 0);
  }

 private:
  static constexpr size_t kRunning = 6;
  static constexpr uint64_t kKeys = 40;
  using Key = std::pair<size_t, std::string>;  // of which family
  struct Latest {
    uint64_t written = 0;  // how many writes there were with this one
    std::optional<std::string> value;
  };
  struct Running {
    Transaction txn;
    std::map<Key, uint64_t> since;  // tracked keys, and the writes there were then
    std::vector<std::function<void()>> apply;
    std::map<Key, std::optional<std::string>> own;
  };

  Key AnyKey() { return {random_.Uniform(2), Name(random_.Uniform(kKeys))}; }
  static std::string Name(uint64_t i) { return "key" + std::to_string(10 + i); }

  void Write(const Key& key, const std::optional<std::string>& value) { latest_[key] = {++writes_, value}; }
  void WriteRange(size_t family, const std::string& begin, const std::string& end) {
    writes_++;
    EachIn(family, begin, end, [&](const Key& key) { latest_[key] = {writes_, std::nullopt}; });
  }
  template <typename Call>
  void EachIn(size_t family, const std::string& begin, const std::string& end, Call call) {
    for (uint64_t i = 0; i < kKeys; i++) {
      if (Name(i) >= begin && Name(i) < end) call(Key{family, Name(i)});
    }
  }
  std::pair<std::string, std::string> AnyRange() {
    const uint64_t from = random_.Uniform(kKeys);
    return {Name(from), Name(from + random_.Skewed(3))};
  }

  void Step(Running* r) {
    const Key key = AnyKey();
    ColumnFamilyHandle* const family = families_[key.first];
    const std::string value = random_.Bytes(random_.Skewed(9));
    const uint64_t dice = random_.Uniform(100);
    if (dice < 25) {
      r->since.emplace(key, writes_);
      r->own[key] = value;
      r->apply.push_back([=, this] { Write(key, value); });
      ASSERT_OK(r->txn->Put(family, key.second, value));
    } else if (dice < 30) {
      const auto [begin, end] = AnyRange();
      EachIn(key.first, begin, end, [&](const Key& k) { r->own[k] = std::nullopt; });
      r->apply.push_back([=, this, begin = begin, end = end] { WriteRange(key.first, begin, end); });
      ASSERT_OK(r->txn->DeleteRange(family, begin, end));
    } else if (dice < 55) {
      ReadForUpdate(r, key);
    } else if (dice < 70) {
      ASSERT_OK(db_->Put(WriteOptions(), family, key.second, value));
      Write(key, value);
    } else if (dice < 73) {
      ASSERT_OK(db_->Delete(WriteOptions(), family, key.second));
      Write(key, std::nullopt);
    } else if (dice < 76) {
      const auto [begin, end] = AnyRange();
      ASSERT_OK(db_->DeleteRange(WriteOptions(), family, begin, end));
      WriteRange(key.first, begin, end);
    } else if (dice < 95) {
      Commit(r);
    } else if (dice < 99) {
      ASSERT_OK(db_->Flush());
    } else {
      ASSERT_OK(db_->WaitForIdle());
    }
  }

  void ReadForUpdate(Running* r, const Key& key) {
    r->since.emplace(key, writes_);
    std::string value;
    const Status s = r->txn->GetForUpdate(ReadOptions(), families_[key.first], key.second, &value);
    const auto own = r->own.find(key);
    const std::optional<std::string> expected = own != r->own.end() ? own->second : latest_[key].value;
    ASSERT_EQ(expected.has_value(), s.ok()) << s.ToString();
    if (expected) {
      ASSERT_EQ(*expected, value);
    }
  }

  void Commit(Running* r) {
    bool changed = false;
    for (const auto& [key, since] : r->since) changed = changed || latest_[key].written > since;
    const Status s = r->txn->Commit();
    ASSERT_TRUE(s.ok() || s.IsBusy()) << s.ToString();
    ASSERT_EQ(changed, s.IsBusy()) << s.ToString();
    (s.ok() ? commits_ : busy_)++;
    if (s.ok()) {
      for (const auto& apply : r->apply) apply();
    } else {
      ASSERT_OK(r->txn->Rollback());
    }
    r->since.clear();
    r->apply.clear();
    r->own.clear();
  }

  DB* const db_;
  Random random_;
  ColumnFamilyHandle* families_[2] = {};
  Running running_[kRunning];
  std::map<Key, Latest> latest_;
  uint64_t writes_ = 0;
  int commits_ = 0, busy_ = 0;
};

TEST_F(OptimisticTransactionTest, CommitsAgreeWithAModelOfVersions) {
  for (const uint64_t seed : Seeds(ByScale(4, 20, 200))) {
    SCOPED_TRACE(Repeat(seed));
    ASSERT_OK(DestroyDB(path_, options_));
    options_ = FindOptionSet(seed % 2 == 0 ? "tiny" : "small").options;
    Open();
    VersionsModel(db_.get(), seed, [this] { return Begin(); }).Run(3000);
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
