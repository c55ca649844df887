// Where stretches of dead keys must not be used, or remembered: states that are older than a sequence, an order that
// changes, damage, reads that verify, comparators that read; and what is forgotten first.

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <utility>

#include "miodb/column_family.h"
#include "miodb/optimistic_transaction.h"
#include "src/db/open/db_impl.h"
#include "src/db/read/dead_stretches.h"
#include "tests/common/db_test_base.h"
#include "tests/common/random/comparators.h"

namespace miodb::test {
namespace {

std::string Key(uint64_t i) { return FilledKey(i); }

// What is to happen once between the pin of a state and the look at the newest sequence.
std::function<void()> g_after_pin;
void AfterPin() {
  if (g_after_pin != nullptr) std::exchange(g_after_pin, nullptr)();
}

class DeadStretchLimitsTest : public DbTestBase {
 protected:
  DeadStretchLimitsTest() { options_.write_buffer_size = 16 << 20; }

  void OpenWith(const DBImpl::Hooks& hooks) {
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
    db_ = std::move(db);
  }

  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options = ReadOptions()) {
    return std::unique_ptr<Iterator>(db_->NewIterator(options));
  }

  // The first key, "none" or an error.
  std::string First(const ReadOptions& options = ReadOptions()) {
    const auto it = NewIterator(options);
    it->SeekToFirst();
    return !it->status().ok() ? it->status().ToString() : it->Valid() ? it->key().ToString() : "none";
  }

  // Changes these bytes wherever they are on the medium, while the database is open.
  void Damage(const std::string& from, const std::string& to) {
    ASSERT_EQ(from.size(), to.size());
    int found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_)) {
      if (!entry.is_regular_file()) continue;
      std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
      file.clear();
      for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + 1), found++) {
        file.seekp(static_cast<std::streamoff>(at));
        file.write(to.data(), static_cast<std::streamsize>(to.size()));
      }
    }
    ASSERT_GT(found, 0);
  }
};

// A state that was pinned before a seal lacks what is written after it, though the newest sequence counts that.
TEST_F(DeadStretchLimitsTest, AStateIsNotOlderThanItsSequence) {
  DBImpl::Hooks hooks;
  hooks.after_pin = AfterPin;
  OpenWith(hooks);
  for (uint64_t i = 0; i < 600; i++) Delete(Key(i));
  g_after_pin = [this] {
    ASSERT_OK(db_->Flush());
    Put(Key(300), "alive");
  };
  EXPECT_EQ(Key(300), First());
  EXPECT_EQ(nullptr, g_after_pin);
  for (uint64_t i = 0; i < 100; i++) Delete(Key(i));
  EXPECT_EQ(Key(300), First()) << "nothing was remembered that has the key";
}

// The same of a write under a condition, which would not see the put that its condition is about.
TEST_F(DeadStretchLimitsTest, AConditionSeesWhatIsWrittenAfterASeal) {
  DBImpl::Hooks hooks;
  hooks.after_pin = AfterPin;
  OpenWith(hooks);
  Put("account", "1");
  OptimisticTransaction transaction(db_.get(), WriteOptions(), OptimisticTransactionOptions(), BytewiseComparator(),
                                    nullptr);
  std::string value;
  ASSERT_OK(transaction.GetForUpdate(ReadOptions(), "account", &value));
  ASSERT_OK(transaction.Put("account", value + "+1"));
  g_after_pin = [this] {
    ASSERT_OK(db_->Flush());
    Put("account", "2");
  };
  const Status s = transaction.Commit();
  EXPECT_TRUE(s.IsBusy()) << s.ToString();
  EXPECT_EQ(nullptr, g_after_pin);
  EXPECT_EQ("2", Get("account"));
}

// Under a comparator a key that begins with the mark of families moves behind all others with the first family.
TEST_F(DeadStretchLimitsTest, TheFirstFamilyMovesNoStretch) {
  const CountingComparator comparator;
  options_.comparator = &comparator;
  Open();
  const std::string marked = std::string(kFamilyMark, kFamilyMarkBytes) + "x";
  for (uint64_t i = 0; i < 300; i++) Delete(Key(i));
  Delete(marked);
  EXPECT_EQ("none", First());
  db_->CompactRange(nullptr, nullptr);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("family", &family));
  const std::string behind = "\xff\xff" + Key(500);
  Put(behind, "alive");
  for (uint64_t i = 0; i < 100; i++) Delete(Key(i));
  EXPECT_EQ(behind, First());
  Close();
}

// A deletion of a range with such a bound would hide other keys then.
TEST_F(DeadStretchLimitsTest, TheFirstFamilyMovesNoDeletionOfARange) {
  const CountingComparator comparator;
  options_.comparator = &comparator;
  const std::string marked = std::string(kFamilyMark, kFamilyMarkBytes) + "x";
  for (const bool flushed : {false, true}) {
    path_ = dir_ / (flushed ? "flushed" : "in_memtable");
    Open();
    const Snapshot* const before = db_->GetSnapshot();
    Put("m", "1");
    ASSERT_OK(db_->DeleteRange(WriteOptions(), std::min<std::string>(marked, "a"), std::max<std::string>(marked, "a")));
    if (flushed) ASSERT_OK(db_->Flush());
    ColumnFamilyHandle* family = nullptr;
    EXPECT_STATUS(InvalidArgument, db_->CreateColumnFamily("family", &family));
    db_->ReleaseSnapshot(before);
    Close();
    Open();
    Close();
  }
}

// An entry of a memtable leads to a record whose key on the medium lies on the other side.
TEST_F(DeadStretchLimitsTest, WalksOverADamagedMemTableEnd) {
  for (const bool forward : {true, false}) {
    SCOPED_TRACE(forward);
    path_ = dir_ / (forward ? "forward" : "backward");
    Open();
    Put("aey00000050", "alive");
    for (uint64_t i = 0; i < 300; i++) Delete(Key(i));
    Put("z", "alive");
    {
      const auto it = NewIterator();
      it->Seek(Key(0));
      EXPECT_EQ("z", it->key().ToString());
    }
    forward ? Damage(Key(299), Key(150)) : Damage("aey00000050", "key00000050");
    {
      const auto it = NewIterator();
      forward ? it->Seek(Key(0)) : it->SeekToLast();
      if (!forward) it->Prev();
      EXPECT_FALSE(it->Valid());
      EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
    }
    Close();
  }
}

// A walk that does not verify takes a damaged record for a tombstone. One that does is not led past it.
TEST_F(DeadStretchLimitsTest, AWalkThatVerifiesTrustsNoOther) {
  Open();
  for (uint64_t i = 0; i < 300; i++) Delete(Key(i));
  ASSERT_OK(db_->Flush());
  Damage(Key(150), Key(15).substr(0, 10) + "x");
  ReadOptions verify;
  verify.verify_checksums = true;
  const std::string told = First(verify);
  EXPECT_NE("none", told);
  First();
  EXPECT_EQ(told, First(verify));
}

// The mutex of the stretches is not held for a comparator that reads.
class ReadingComparator final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    static thread_local bool reads = false;
    DB* const db = db_.load();
    if (db != nullptr && !reads) {
      reads = true;
      std::unique_ptr<Iterator>(db->NewIterator(ReadOptions()))->SeekToFirst();
      reads = false;
    }
    return BytewiseComparator()->Compare(a, b);
  }
  const char* Name() const override { return "miodb.test.ReadingComparator"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
  void Read(DB* db) { db_.store(db); }

 private:
  std::atomic<DB*> db_{nullptr};
};

TEST_F(DeadStretchLimitsTest, AComparatorMayReadItsDatabase) {
  ReadingComparator comparator;
  options_.comparator = &comparator;
  Open();
  for (uint64_t i = 0; i < 100; i++) Delete(Key(i));
  Put("z", "alive");
  comparator.Read(db_.get());
  for (int round = 0; round < 5; round++) EXPECT_EQ("z", First());
  comparator.Read(nullptr);
  Close();
}

// A scan over thousands of short stretches leaves the one that is used again and again.
TEST_F(DeadStretchLimitsTest, AScanForgetsNoStretchThatIsUsed) {
  const CountingComparator comparator;
  options_.comparator = &comparator;
  options_.write_buffer_size = 256 << 20;
  Open();
  constexpr uint64_t kDead = 5000, kShort = 70, kStretches = 1500;
  for (uint64_t i = 0; i < kDead; i++) Delete("a" + Key(i));
  for (uint64_t i = 0; i < kStretches * kShort; i++) {
    i % kShort == 0 ? Put("b" + Key(i), "alive") : Delete("b" + Key(i));
  }
  First();
  for (int round = 0; round < 3; round++) {
    const uint64_t before = comparator.count();
    EXPECT_EQ("b" + Key(0), First());
    EXPECT_LT(comparator.count() - before, kDead / 4) << round;
    const auto it = NewIterator();
    uint64_t live = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) live++;
    EXPECT_EQ(kStretches, live);
  }
  Close();
}

TEST(DeadStretchBoundTest, StretchesWithinOthersAreCounted) {
  DeadStretches stretches{KeyOrder(BytewiseComparator())};
  stretches.Add({Key(0), Key(1000000), {1, 1, 0}});
  for (uint64_t i = 1; i < 5000; i++) stretches.Add({Key(100 * i), Key(100 * i + 50), {1, 1 + i, 0}});
  EXPECT_LE(stretches.count(), 1024u);
  stretches.Add({"x", "y" + std::string(5000, 'y'), {1, 10000, 0}});
  DeadStretches::Stretch found;
  EXPECT_FALSE(stretches.Find("x", {1, 10000, 0}, &found)) << "a key of 5,000 bytes";
}

}  // namespace
}  // namespace miodb::test
