#include "tests/compat/leveldb_fixture.h"

namespace {

using leveldb::Slice;
using leveldb::WriteBatch;

class Recorder : public WriteBatch::Handler {
 public:
  void Put(const Slice& key, const Slice& value) override {
    text_ += "put(" + key.ToString() + "," + value.ToString() + ")";
  }
  void Delete(const Slice& key) override { text_ += "del(" + key.ToString() + ")"; }

  static std::string TextOf(const WriteBatch& batch) {
    Recorder recorder;
    const leveldb::Status s = batch.Iterate(&recorder);
    return s.ok() ? recorder.text_ : s.ToString();
  }

 private:
  std::string text_;
};

class BatchContract : public LevelDBTest {
 protected:
  void Write(WriteBatch* batch) { ASSERT_OK(db_->Write(leveldb::WriteOptions(), batch)); }
};

TEST_F(BatchContract, IterateCallsTheHandlerInOrder) {
  WriteBatch batch;
  EXPECT_EQ("", Recorder::TextOf(batch));
  batch.Put("a", "1");
  batch.Delete("b");
  batch.Put("a", "2");
  EXPECT_EQ("put(a,1)del(b)put(a,2)", Recorder::TextOf(batch));
}

TEST_F(BatchContract, LaterUpdatesOfAKeyWin) {
  WriteBatch batch;
  batch.Put("key", "1");
  batch.Delete("key");
  batch.Put("key", "2");
  batch.Put("other", "1");
  batch.Delete("other");
  Write(&batch);
  EXPECT_EQ("2", Get("key"));
  EXPECT_EQ("(none)", Get("other"));
}

TEST_F(BatchContract, MayBeWrittenTwiceAndIsNotChanged) {
  WriteBatch batch;
  batch.Put("key", "1");
  Write(&batch);
  Put("key", "2");
  const std::string before = Recorder::TextOf(batch);
  Write(&batch);
  EXPECT_EQ(before, Recorder::TextOf(batch));
  EXPECT_EQ("1", Get("key"));
}

TEST_F(BatchContract, AppendAddsTheUpdatesBehind) {
  WriteBatch a, b;
  a.Put("a", "1");
  b.Delete("a");
  b.Put("b", "2");
  a.Append(b);
  EXPECT_EQ("put(a,1)del(a)put(b,2)", Recorder::TextOf(a));
  EXPECT_EQ("del(a)put(b,2)", Recorder::TextOf(b));
  a.Append(WriteBatch());
  EXPECT_EQ("put(a,1)del(a)put(b,2)", Recorder::TextOf(a));
  Write(&a);
  EXPECT_EQ("(none)", Get("a"));
  EXPECT_EQ("2", Get("b"));
}

// The figures are LevelDB's: programs set limits by them.
TEST_F(BatchContract, ApproximateSizeIsThatOfTheUpdates) {
  WriteBatch batch;
  EXPECT_EQ(12u, batch.ApproximateSize());
  batch.Put("abc", "defg");
  EXPECT_EQ(12u + 1 + 1 + 3 + 1 + 4, batch.ApproximateSize());
  batch.Delete("abc");
  EXPECT_EQ(12u + 10 + 1 + 1 + 3, batch.ApproximateSize());
  batch.Put(std::string(200, 'k'), std::string(20000, 'v'));
  EXPECT_EQ(12u + 10 + 5 + 1 + 2 + 200 + 3 + 20000, batch.ApproximateSize());
  batch.Clear();
  EXPECT_EQ(12u, batch.ApproximateSize());
}

TEST_F(BatchContract, CopiesAreIndependent) {
  WriteBatch batch;
  batch.Put("a", "1");
  WriteBatch copy(batch);
  copy.Put("b", "2");
  EXPECT_EQ("put(a,1)", Recorder::TextOf(batch));
  batch = copy;
  copy.Clear();
  EXPECT_EQ("put(a,1)put(b,2)", Recorder::TextOf(batch));
}

TEST_F(BatchContract, OfNothingChangesNothing) {
  Put("key", "1");
  WriteBatch batch;
  Write(&batch);
  EXPECT_EQ("1", Get("key"));
}

TEST_F(BatchContract, KeysAndValuesMayBeEmptyAndHoldZeroBytes) {
  const std::string zero("\0", 1), inner("a\0b", 3), high("\xff\0\xff", 3);
  WriteBatch batch;
  batch.Put("", "empty key");
  batch.Put(zero, "one zero");
  batch.Put(inner, zero);
  batch.Put("a", "prefix");
  batch.Put(high, "");
  Write(&batch);
  for (int round = 0; round < 2; round++) {
    EXPECT_EQ("empty key", Get(""));
    EXPECT_EQ("one zero", Get(zero));
    EXPECT_EQ(zero, Get(inner));
    EXPECT_EQ("prefix", Get("a"));
    EXPECT_EQ("", Get(high));
    const auto it = NewIterator();
    std::vector<std::string> keys;
    for (it->SeekToFirst(); it->Valid(); it->Next()) keys.push_back(it->key().ToString());
    EXPECT_EQ((std::vector<std::string>{"", zero, "a", inner, high}), keys);
    db_->CompactRange(nullptr, nullptr);
  }
  Delete("");
  EXPECT_EQ("(none)", Get(""));
  EXPECT_EQ("one zero", Get(zero));
}

TEST_F(BatchContract, GetOfAMissingKeyIsNotFoundAndLeavesTheValue) {
  std::string value = "before";
  const leveldb::Status s = db_->Get(leveldb::ReadOptions(), "missing", &value);
  EXPECT_TRUE(s.IsNotFound());
  EXPECT_EQ("before", value);
}

TEST_F(BatchContract, DeletingAMissingKeyIsOk) { Delete("missing"); }

TEST_F(BatchContract, SyncedWritesAreThereAfterReopen) {
  leveldb::WriteOptions sync;
  sync.sync = true;
  ASSERT_OK(db_->Put(sync, "put", "1"));
  ASSERT_OK(db_->Delete(sync, "put"));
  WriteBatch batch;
  batch.Put("batch", "2");
  ASSERT_OK(db_->Write(sync, &batch));
  Reopen();
  EXPECT_EQ("(none)", Get("put"));
  EXPECT_EQ("2", Get("batch"));
}

}  // namespace
