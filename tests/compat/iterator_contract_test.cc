#include <leveldb/iterator.h>

#include "tests/compat/leveldb_fixture.h"

namespace {

class IteratorContract : public LevelDBTest {
 protected:
  // Four keys in a table, two in the memtable.
  void SetUp() override {
    LevelDBTest::SetUp();
    for (const char* key : {"b", "d", "f", "h"}) Put(key, "1");
    db_->CompactRange(nullptr, nullptr);
    for (const char* key : {"c", "g"}) Put(key, "2");
  }
};

TEST_F(IteratorContract, ANewIteratorIsNotValid) { EXPECT_FALSE(NewIterator()->Valid()); }

TEST_F(IteratorContract, OverNothingIsNeverValidAndStatusIsOk) {
  for (const char* key : {"b", "c", "d", "f", "g", "h"}) Delete(key);
  const auto it = NewIterator();
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  it->SeekToLast();
  EXPECT_FALSE(it->Valid());
  it->Seek("");
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
}

TEST_F(IteratorContract, EndsAtBothEndsAndMayBeUsedAgain) {
  const auto it = NewIterator();
  it->SeekToLast();
  EXPECT_EQ("h=1", Pair(it.get()));
  it->Next();
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
  it->SeekToFirst();
  EXPECT_EQ("b=1", Pair(it.get()));
  it->Prev();
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
  it->SeekToFirst();
  EXPECT_EQ("b=1 c=2 d=1 f=1 g=2 h=1", Forward(it.get()));
  it->SeekToLast();
  EXPECT_EQ("h=1 g=2 f=1 d=1 c=2 b=1", Backward(it.get()));
}

TEST_F(IteratorContract, SeekFindsTheKeyOrTheOneAfterIt) {
  const auto it = NewIterator();
  it->Seek("d");
  EXPECT_EQ("d=1", Pair(it.get()));
  it->Seek("e");
  EXPECT_EQ("f=1", Pair(it.get()));
  it->Seek("");
  EXPECT_EQ("b=1", Pair(it.get()));
}

TEST_F(IteratorContract, SeekPastTheEndIsNotValidAndNoError) {
  const auto it = NewIterator();
  it->Seek("i");
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
  it->Seek("h");
  EXPECT_EQ("h=1", Pair(it.get()));
}

TEST_F(IteratorContract, PrevAfterSeekGoesToTheKeyBefore) {
  const auto it = NewIterator();
  it->Seek("e");
  it->Prev();
  EXPECT_EQ("d=1", Pair(it.get()));
  it->Seek("b");
  it->Prev();
  EXPECT_FALSE(it->Valid());
}

TEST_F(IteratorContract, ChangesDirectionAnywhere) {
  const auto it = NewIterator();
  it->SeekToFirst();
  for (const char* expected : {"c=2", "d=1", "f=1", "g=2", "h=1"}) {
    it->Next();
    ASSERT_EQ(expected, Pair(it.get()));
    const std::string here = Pair(it.get());
    it->Prev();
    ASSERT_TRUE(it->Valid());
    it->Next();
    ASSERT_EQ(here, Pair(it.get()));
  }
  for (const char* expected : {"g=2", "f=1", "d=1", "c=2", "b=1"}) {
    it->Prev();
    ASSERT_EQ(expected, Pair(it.get()));
    it->Next();
    ASSERT_TRUE(it->Valid());
    it->Prev();
    ASSERT_EQ(expected, Pair(it.get()));
  }
}

TEST_F(IteratorContract, SeesTheStateInWhichItWasMade) {
  const auto it = NewIterator();
  Put("a", "new");
  Put("d", "new");
  Delete("h");
  Churn();
  it->SeekToFirst();
  EXPECT_EQ("b=1 c=2 d=1 f=1 g=2 h=1", Forward(it.get()));
}

TEST_F(IteratorContract, StaysOnAKeyThatIsDeletedUnderIt) {
  const auto it = NewIterator();
  it->Seek("d");
  const leveldb::Slice key = it->key();
  const leveldb::Slice value = it->value();
  Delete("d");
  Churn();
  EXPECT_TRUE(it->Valid());
  EXPECT_EQ("d", key.ToString());
  EXPECT_EQ("1", value.ToString());
  it->Next();
  EXPECT_EQ("f=1", Pair(it.get()));
  it->Prev();
  EXPECT_EQ("d=1", Pair(it.get()));
}

TEST_F(IteratorContract, ReadsAtItsSnapshot) {
  const leveldb::Snapshot* const snapshot = db_->GetSnapshot();
  Put("d", "new");
  Delete("f");
  const auto it = NewIterator(snapshot);
  db_->ReleaseSnapshot(snapshot);  // the iterator keeps the state, not the handle
  Churn();
  it->SeekToLast();
  EXPECT_EQ("h=1 g=2 f=1 d=1 c=2 b=1", Backward(it.get()));
}

void Count(void* counter, void* step) { *static_cast<int*>(counter) += *static_cast<int*>(step); }

TEST_F(IteratorContract, CleanupFunctionsRunOnceEachWhenItIsDeleted) {
  int counter = 0;
  int steps[] = {1, 10, 100};
  for (leveldb::Iterator* it : {db_->NewIterator(leveldb::ReadOptions()), leveldb::NewEmptyIterator()}) {
    counter = 0;
    for (int& step : steps) it->RegisterCleanup(Count, &counter, &step);
    EXPECT_EQ(0, counter);
    delete it;
    EXPECT_EQ(111, counter);
  }
}

TEST_F(IteratorContract, AnEmptyIteratorIsOkAndAnErrorIteratorSaysItsError) {
  const std::unique_ptr<leveldb::Iterator> empty(leveldb::NewEmptyIterator());
  const std::unique_ptr<leveldb::Iterator> error(leveldb::NewErrorIterator(leveldb::Status::Corruption("why")));
  for (leveldb::Iterator* it : {empty.get(), error.get()}) {
    it->SeekToFirst();
    EXPECT_FALSE(it->Valid());
    it->SeekToLast();
    EXPECT_FALSE(it->Valid());
    it->Seek("x");
    EXPECT_FALSE(it->Valid());
  }
  EXPECT_OK(empty->status());
  EXPECT_TRUE(error->status().IsCorruption());
}

}  // namespace
