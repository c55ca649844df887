// Iterators at their edges: both ends, seeks past them, changes of direction, bounds, and what is written meanwhile.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "miodb/merge_operator.h"
#include "tests/common/db_test_base.h"
#include "tests/common/random/comparators.h"

namespace miodb::test {
namespace {

class IteratorTest : public DbTestBase {
 protected:
  void SetUp() override { Open(); }

  // "b", "d", "f", each in another place, and deleted keys around them.
  void WriteThreeKeys() {
    for (const char* key : {"a", "c", "e", "g"}) Put(key, "gone");
    Put("b", "1");
    Settle();
    Put("d", "2");
    for (const char* key : {"a", "c", "e", "g"}) Delete(key);
    ASSERT_OK(db_->Flush());
    Put("f", "3");
  }

  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options = ReadOptions()) {
    return std::unique_ptr<Iterator>(db_->NewIterator(options));
  }

  // "key->value" where the iterator stands, or "none".
  static std::string At(const std::unique_ptr<Iterator>& it) {
    EXPECT_OK(it->status());
    return it->Valid() ? it->key().ToString() + "->" + it->value().ToString() : "none";
  }
};

TEST_F(IteratorTest, OverAnEmptyDatabaseIsNeverValid) {
  const auto it = NewIterator();
  EXPECT_EQ("none", At(it));
  it->SeekToFirst();
  EXPECT_EQ("none", At(it));
  it->SeekToLast();
  EXPECT_EQ("none", At(it));
  it->Seek("a");
  EXPECT_EQ("none", At(it));
}

TEST_F(IteratorTest, OverDeletedKeysOnlyIsNeverValid) {
  Fill(500, 50);
  Settle();
  for (uint64_t i = 0; i < 500; i++) Delete(FilledKey(i));
  for (int round = 0; round < 2; round++) {
    const auto it = NewIterator();
    it->SeekToFirst();
    EXPECT_EQ("none", At(it));
    it->SeekToLast();
    EXPECT_EQ("none", At(it));
    it->Seek(FilledKey(250));
    EXPECT_EQ("none", At(it));
    ASSERT_OK(db_->Flush());
  }
}

TEST_F(IteratorTest, IsNotValidBeforeItIsPositioned) {
  WriteThreeKeys();
  EXPECT_EQ("none", At(NewIterator()));
}

TEST_F(IteratorTest, EndsOnBothSides) {
  WriteThreeKeys();
  const auto it = NewIterator();
  it->SeekToFirst();
  EXPECT_EQ("b->1", At(it));
  it->Prev();
  EXPECT_EQ("none", At(it));
  it->SeekToLast();
  EXPECT_EQ("f->3", At(it));
  it->Next();
  EXPECT_EQ("none", At(it));
  it->SeekToFirst();
  EXPECT_EQ("b->1", At(it));
}

TEST_F(IteratorTest, SeekFindsTheKeyOrTheNextOne) {
  WriteThreeKeys();
  const auto it = NewIterator();
  for (const auto& [target, expected] : {std::pair<const char*, const char*>{"", "b->1"},
                                         {"a", "b->1"},
                                         {"b", "b->1"},
                                         {"b0", "d->2"},
                                         {"c", "d->2"},
                                         {"d", "d->2"},
                                         {"e", "f->3"},
                                         {"f", "f->3"},
                                         {"f0", "none"},
                                         {"g", "none"},
                                         {"\xff\xff", "none"}}) {
    it->Seek(target);
    EXPECT_EQ(expected, At(it)) << "Seek(" << target << ")";
  }
}

TEST_F(IteratorTest, PrevAfterSeekGoesToTheKeyBefore) {
  WriteThreeKeys();
  const auto it = NewIterator();
  it->Seek("c");
  EXPECT_EQ("d->2", At(it));
  it->Prev();
  EXPECT_EQ("b->1", At(it));
  it->Seek("b");
  it->Prev();
  EXPECT_EQ("none", At(it));
  it->Seek("e");
  it->Prev();
  it->Prev();
  EXPECT_EQ("b->1", At(it));
}

TEST_F(IteratorTest, ChangesDirectionOnEveryKey) {
  WriteThreeKeys();
  const auto it = NewIterator();
  it->SeekToFirst();
  for (int round = 0; round < 5; round++) {
    it->Next();
    EXPECT_EQ("d->2", At(it));
    it->Prev();
    EXPECT_EQ("b->1", At(it));
    it->Next();
    it->Next();
    EXPECT_EQ("f->3", At(it));
    it->Prev();
    EXPECT_EQ("d->2", At(it));
    it->Prev();
    EXPECT_EQ("b->1", At(it));
  }
}

TEST_F(IteratorTest, ChangesDirectionAmongManyVersionsOfEachKey) {
  for (int version = 0; version < 30; version++) {
    for (const char* key : {"a", "b", "c"}) Put(key, std::to_string(version));
    if (version % 10 == 4) ASSERT_OK(db_->Flush());
    if (version == 15) Settle();
  }
  const auto it = NewIterator();
  it->Seek("b");
  EXPECT_EQ("b->29", At(it));
  it->Prev();
  EXPECT_EQ("a->29", At(it));
  it->Next();
  EXPECT_EQ("b->29", At(it));
  it->Next();
  EXPECT_EQ("c->29", At(it));
  it->Prev();
  EXPECT_EQ("b->29", At(it));
}

// A walk ends at its bound, also where nobody may see the versions behind the bound.
TEST_F(IteratorTest, ABoundEndsAWalkBeforeVersionsThatAreHidden) {
  options_.nvm_model = "count";
  Open();
  Put("a", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Fill(20000, 100);
  Settle();
  const Slice bound("b");
  ReadOptions options;
  options.snapshot = snapshot;
  options.iterate_upper_bound = &bound;
  const auto units = [this] { return Counter("modelled-units-read") + Counter("modelled-units-cached"); };
  const uint64_t before = units();
  const auto it = NewIterator(options);
  it->SeekToFirst();
  EXPECT_EQ("a->1", At(it));
  it->Next();
  EXPECT_EQ("none", At(it));
  EXPECT_GT(units(), before);
  EXPECT_LT(units() - before, 1000u);
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(IteratorTest, DoesNotSeeWhatIsWrittenAfterIt) {
  WriteThreeKeys();
  const auto it = NewIterator();
  Put("a", "new");
  Put("b", "new");
  Delete("d");
  Put("z", "new");
  it->SeekToFirst();
  EXPECT_EQ("b->1", At(it));
  it->Next();
  EXPECT_EQ("d->2", At(it));
  Delete("f");
  Settle();
  it->Next();
  EXPECT_EQ("f->3", At(it));
  it->Next();
  EXPECT_EQ("none", At(it));
  EXPECT_EQ("(a->new)(b->new)(z->new)", Forward(db_.get()));
}

TEST_F(IteratorTest, KeepsItsStateWhenEverythingIsDeletedAndCompactedUnderIt) {
  Fill(2000, 100, 1);
  const auto it = NewIterator();
  it->SeekToFirst();
  for (uint64_t i = 0; i < 2000; i++) {
    Delete(FilledKey(i));
    if (i % 500 == 250) Settle();
  }
  Fill(1000, 100, 2);
  Settle();
  for (uint64_t i = 0; i < 2000; i++) {
    ASSERT_TRUE(it->Valid()) << i;
    ASSERT_EQ(FilledKey(i), it->key().ToString());
    ASSERT_TRUE(it->value() == Slice(FilledValue(i, 100, 1)));
    it->Next();
  }
  EXPECT_EQ("none", At(it));
}

TEST_F(IteratorTest, HonoursItsBounds) {
  for (const char* key : {"a", "b", "c", "d", "e"}) Put(key, key);
  const Slice lower = "b";
  const Slice upper = "d";
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ("(b->b)(c->c)", Forward(db_.get(), options));
    EXPECT_EQ("(b->b)(c->c)", Backward(db_.get(), options));
    const auto it = NewIterator(options);
    it->Seek("a");
    EXPECT_EQ("b->b", At(it));
    it->Prev();
    EXPECT_EQ("none", At(it));
    it->Seek("d");
    EXPECT_EQ("none", At(it));
    it->Seek("c");
    EXPECT_EQ("c->c", At(it));
    it->Next();
    EXPECT_EQ("none", At(it));
    it->SeekToLast();
    EXPECT_EQ("c->c", At(it));
    Settle();
  }
}

TEST_F(IteratorTest, RefreshShowsWhatWasWrittenSince) {
  Put("b", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  ReadOptions at_snapshot;
  at_snapshot.snapshot = snapshot;
  for (const ReadOptions& options : {ReadOptions(), at_snapshot}) {
    const auto it = NewIterator(options);
    it->SeekToFirst();
    EXPECT_EQ("b->1", At(it));
    Put("a", "2");
    it->SeekToFirst();
    EXPECT_EQ("b->1", At(it));
    ASSERT_TRUE(it->Refresh().ok());
    EXPECT_FALSE(it->Valid());
    it->SeekToFirst();
    EXPECT_EQ("a->2", At(it));
    it->Next();
    EXPECT_EQ("b->1", At(it));
    Delete("a");
    Settle();
    ASSERT_TRUE(it->Refresh().ok());
    it->SeekToFirst();
    EXPECT_EQ("b->1", At(it));
  }
  db_->ReleaseSnapshot(snapshot);
}

TEST_F(IteratorTest, RefreshLetsGoOfTheStateThatWasShown) {
  Fill(20000, 100);
  const auto it = NewIterator(ReadOptions());
  it->SeekToFirst();
  Fill(20000, 100);
  Settle();
  const uint64_t held = Counter("pool-bytes-used");
  ASSERT_TRUE(it->Refresh().ok());
  Settle();
  EXPECT_LT(Counter("pool-bytes-used") + 500000, held);
  it->SeekToFirst();
  EXPECT_TRUE(it->Valid());
}

TEST_F(IteratorTest, RefreshKeepsTheBounds) {
  for (const char* key : {"a", "b", "c"}) Put(key, key);
  const Slice lower = "b", upper = "c";
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  const auto it = NewIterator(options);
  ASSERT_TRUE(it->Refresh().ok());
  it->SeekToFirst();
  EXPECT_EQ("b->b", At(it));
  it->Next();
  EXPECT_EQ("none", At(it));
}

TEST_F(IteratorTest, TakesOneBoundWithoutTheOther) {
  for (const char* key : {"a", "b", "c"}) Put(key, key);
  const Slice bound = "b";
  ReadOptions from;
  from.iterate_lower_bound = &bound;
  EXPECT_EQ("(b->b)(c->c)", Forward(db_.get(), from));
  EXPECT_EQ("(b->b)(c->c)", Backward(db_.get(), from));
  ReadOptions to;
  to.iterate_upper_bound = &bound;
  EXPECT_EQ("(a->a)", Forward(db_.get(), to));
  EXPECT_EQ("(a->a)", Backward(db_.get(), to));
}

TEST_F(IteratorTest, YieldsNothingBetweenBoundsThatHoldNothing) {
  for (const char* key : {"a", "c", "e"}) Put(key, key);
  for (const auto& [from, to] :
       {std::pair<const char*, const char*>{"b", "c"}, {"c", "c"}, {"d", "b"}, {"f", "g"}, {"", ""}, {"", "a"}}) {
    const Slice lower = from;
    const Slice upper = to;
    ReadOptions options;
    options.iterate_lower_bound = &lower;
    options.iterate_upper_bound = &upper;
    EXPECT_EQ("", Forward(db_.get(), options)) << from << " to " << to;
    EXPECT_EQ("", Backward(db_.get(), options)) << from << " to " << to;
    const auto it = NewIterator(options);
    it->Seek("c");
    EXPECT_EQ("none", At(it)) << from << " to " << to;
  }
}

TEST_F(IteratorTest, BoundsFollowTheComparator) {
  Close();
  path_ = dir_ / "reversed";
  options_.comparator = ReverseComparator();
  Open();
  for (const char* key : {"a", "b", "c", "d"}) Put(key, key);
  const Slice lower = "c";
  const Slice upper = "a";
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  EXPECT_EQ("(c->c)(b->b)", Forward(db_.get(), options));
  EXPECT_EQ("(c->c)(b->b)", Backward(db_.get(), options));
}

TEST_F(IteratorTest, ReadsAtASnapshot) {
  Put("a", "1");
  Put("b", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Put("a", "2");
  Delete("b");
  Put("c", "2");
  Settle();
  ReadOptions options;
  options.snapshot = snapshot;
  EXPECT_EQ("(a->1)(b->1)", Forward(db_.get(), options));
  EXPECT_EQ("(a->1)(b->1)", Backward(db_.get(), options));
  EXPECT_EQ("(a->2)(c->2)", Forward(db_.get()));
  const auto it = NewIterator(options);
  db_->ReleaseSnapshot(snapshot);
  Settle();
  it->SeekToLast();
  EXPECT_EQ("b->1", At(it)) << "an iterator keeps its state when its snapshot is released";
}

// 5,000 versions of one key between two others, each of which a snapshot keeps.
TEST_F(IteratorTest, ManyVersionsOfAKeyCostASeekInBothDirections) {
  constexpr int kVersions = 5000;
  const CountingComparator comparator;
  Close();
  path_ = dir_ / "hot";
  options_.comparator = &comparator;
  const std::unique_ptr<const MergeOperator> append(NewStringAppendOperator(""));
  options_.merge_operator = append.get();
  options_.write_buffer_size = 64 << 20;
  for (const bool settled : {false, true}) {
    Open();
    Put("a", "first");
    Put("c", "last");
    std::vector<const Snapshot*> snapshots;
    for (int i = 0; i < kVersions; i++) {
      Put("b", std::to_string(i));
      if (i == kVersions / 2) {
        ASSERT_OK(db_->Merge(WriteOptions(), "b", "+1"));
        ASSERT_OK(db_->Merge(WriteOptions(), "b", "+2"));
      }
      snapshots.push_back(db_->GetSnapshot());
    }
    if (settled) Settle();
    const uint64_t began = comparator.count();
    const std::string newest = std::to_string(kVersions - 1);
    EXPECT_EQ("(a->first)(b->" + newest + ")(c->last)", Forward(db_.get()));
    EXPECT_EQ("(a->first)(b->" + newest + ")(c->last)", Backward(db_.get()));
    ReadOptions before;
    before.snapshot = snapshots[kVersions / 2];
    const std::string middle = std::to_string(kVersions / 2) + "+1+2";
    EXPECT_EQ("(a->first)(b->" + middle + ")(c->last)", Forward(db_.get(), before));
    EXPECT_EQ("(a->first)(b->" + middle + ")(c->last)", Backward(db_.get(), before));
    // Turns on the key, which has newer versions that the snapshot does not see.
    const auto it = NewIterator(before);
    it->Seek("b");
    it->Prev();
    EXPECT_EQ("a->first", At(it));
    it->Next();
    EXPECT_EQ("b->" + middle, At(it));
    it->Next();
    EXPECT_EQ("c->last", At(it));
    it->Prev();
    EXPECT_EQ("b->" + middle, At(it));
    it->Prev();
    EXPECT_EQ("a->first", At(it));
    // A range hides all of them, and its memtable has newer versions.
    ASSERT_OK(db_->DeleteRange(WriteOptions(), "aa", "bb"));
    Put("d", "newest");
    EXPECT_EQ("(a->first)(c->last)(d->newest)", Forward(db_.get()));
    EXPECT_EQ("(a->first)(c->last)(d->newest)", Backward(db_.get()));
    Put("b", "again");
    EXPECT_EQ("(a->first)(b->again)(c->last)(d->newest)", Forward(db_.get()));
    EXPECT_EQ("(a->first)(b->again)(c->last)(d->newest)", Backward(db_.get()));
    EXPECT_LT(comparator.count() - began, kVersions / 2u) << settled;
    Delete("d");
    for (const Snapshot* snapshot : snapshots) db_->ReleaseSnapshot(snapshot);
  }
  Close();
}

TEST_F(IteratorTest, ScansManyTablesInBothDirections) {
  constexpr uint64_t kKeys = 5000;
  for (uint64_t round = 0; round < 3; round++) Fill(kKeys, 100, round);
  const auto it = NewIterator();
  it->SeekToLast();
  for (uint64_t i = kKeys; i-- > 0;) {
    ASSERT_TRUE(it->Valid()) << i;
    ASSERT_EQ(FilledKey(i), it->key().ToString());
    ASSERT_TRUE(it->value() == Slice(FilledValue(i, 100, 2)));
    it->Prev();
  }
  EXPECT_EQ("none", At(it));
  CheckFilled(kKeys, 100, 2);
}

}  // namespace
}  // namespace miodb::test
