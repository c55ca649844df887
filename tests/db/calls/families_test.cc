// Column families: what each call does in one, what families do not see of each other, names and ids from open to open,
// and what the default family gives up for them.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "miodb/merge_operator.h"
#include "miodb/trace.h"
#include "src/inspect/image/manifest_image.h"
#include "src/util/bytes/family_key.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

const std::string kMark(kFamilyMark, kFamilyMarkBytes);

// The pairs of an iterator over a family, in forward order.
std::string Walk(DB* db, ColumnFamilyHandle* family, bool forward = true, const ReadOptions& options = ReadOptions()) {
  const std::unique_ptr<Iterator> it(db->NewIterator(options, family));
  std::string text;
  for (forward ? it->SeekToFirst() : it->SeekToLast(); it->Valid(); forward ? it->Next() : it->Prev()) {
    const std::string pair = "(" + it->key().ToString() + "->" + it->value().ToString() + ")";
    text = forward ? text + pair : pair + text;
  }
  return it->status().ok() ? text : "[" + it->status().ToString() + "]";
}

// Appends with commas, and writes down the keys that it gets.
class KeyRecorder final : public MergeOperator {
 public:
  const char* Name() const override { return "KeyRecorder"; }
  bool FullMerge(const Slice& key, const Slice* existing, const std::vector<Slice>& operands,
                 std::string* value) const override {
    *value = key.ToString() + ":" + (existing != nullptr ? existing->ToString() : "");
    for (const Slice& operand : operands) *value += "," + operand.ToString();
    return true;
  }
};

class FamiliesTest : public DbTestBase {
 protected:
  ColumnFamilyHandle* Create(const std::string& name) {
    ColumnFamilyHandle* family = nullptr;
    EXPECT_OK(db_->CreateColumnFamily(name, &family));
    return family;
  }
  ColumnFamilyHandle* Find(const std::string& name) {
    ColumnFamilyHandle* family = nullptr;
    EXPECT_OK(db_->GetColumnFamily(name, &family));
    return family;
  }
  void PutIn(ColumnFamilyHandle* family, const std::string& key, const std::string& value) {
    EXPECT_OK(db_->Put(WriteOptions(), family, key, value));
  }
  std::string GetFrom(ColumnFamilyHandle* family, const std::string& key, const Snapshot* snapshot = nullptr) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::string value;
    const Status s = db_->Get(options, family, key, &value);
    PinnableSlice pinned;
    EXPECT_EQ(s.ToString(), db_->Get(options, family, key, &pinned).ToString());
    if (s.ok()) {
      EXPECT_EQ(value, pinned.ToString());
    }
    return s.ok() ? value : s.IsNotFound() ? kNotFound : s.ToString();
  }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    EXPECT_OK(db_->ListColumnFamilies(&names));
    return names;
  }
  std::string PropertyOf(ColumnFamilyHandle* family, const std::string& name) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty(family, name, &value)) << name;
    return value;
  }
};

TEST_F(FamiliesTest, AFamilySeesItsOwnKeysAlone) {
  Open();
  ColumnFamilyHandle* const a = Create("a");
  ColumnFamilyHandle* const b = Create("b");
  Put("key", "of the default one");
  PutIn(a, "key", "of a");
  PutIn(b, "key", "of b");
  PutIn(b, "", "the empty key");
  PutIn(b, kMark + "x", "a key like a family's");
  ASSERT_OK(db_->Delete(WriteOptions(), a, "other"));
  for (const char* stage : {"in memory", "flushed", "settled"}) {
    SCOPED_TRACE(stage);
    EXPECT_EQ("of the default one", Get("key"));
    EXPECT_EQ("of the default one", GetFrom(db_->DefaultColumnFamily(), "key"));
    EXPECT_EQ("of a", GetFrom(a, "key"));
    EXPECT_EQ("of b", GetFrom(b, "key"));
    EXPECT_EQ(kNotFound, GetFrom(a, ""));
    EXPECT_EQ(kNotFound, Get(""));
    EXPECT_EQ("a key like a family's", GetFrom(b, kMark + "x"));
    EXPECT_EQ("(key->of the default one)", Forward(db_.get()));
    EXPECT_EQ("(key->of the default one)", Backward(db_.get()));
    EXPECT_EQ("(key->of a)", Walk(db_.get(), a));
    EXPECT_EQ("(key->of a)", Walk(db_.get(), a, false));
    EXPECT_EQ("(->the empty key)(key->of b)(" + kMark + "x->a key like a family's)", Walk(db_.get(), b));
    EXPECT_EQ(Walk(db_.get(), b), Walk(db_.get(), b, false));
    stage[0] == 'i' ? void(db_->Flush().ok()) : Settle();
  }
}

TEST_F(FamiliesTest, NamesAndIdsLastFromOpenToOpenAndNoIdIsGivenTwice) {
  Open();
  EXPECT_EQ(std::vector<std::string>{"default"}, Names());
  EXPECT_EQ(1u, Create("one")->GetID());
  EXPECT_EQ(2u, Create("two")->GetID());
  PutIn(Find("two"), "k", "v");
  Open();
  EXPECT_EQ((std::vector<std::string>{"default", "one", "two"}), Names());
  EXPECT_EQ(2u, Find("two")->GetID());
  EXPECT_EQ("two", Find("two")->GetName());
  EXPECT_EQ("v", GetFrom(Find("two"), "k"));
  ASSERT_OK(db_->DropColumnFamily(Find("two")));
  Open();
  EXPECT_EQ((std::vector<std::string>{"default", "one"}), Names());
  EXPECT_EQ(3u, Create("two")->GetID());
  Open();
  Open();  // takes the dropped id away
  EXPECT_EQ(kNotFound, GetFrom(Find("two"), "k"));
  ASSERT_OK(db_->DropColumnFamily(Find("two")));
  Open();
  Open();
  EXPECT_EQ(4u, Create("two")->GetID());
  EXPECT_EQ(0u, db_->DefaultColumnFamily()->GetID());
  EXPECT_EQ(db_->DefaultColumnFamily(), Find("default"));
}

TEST_F(FamiliesTest, NamesThatCannotBeAreRefused) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  Create("a");
  for (const std::string& name : {std::string("a"), std::string("default"), std::string(), std::string(1025, 'x')}) {
    EXPECT_TRUE(db_->CreateColumnFamily(name, &family).IsInvalidArgument()) << name;
    EXPECT_EQ(nullptr, family);
  }
  EXPECT_TRUE(db_->GetColumnFamily("b", &family).IsNotFound());
  EXPECT_TRUE(db_->DropColumnFamily(db_->DefaultColumnFamily()).IsInvalidArgument());
  EXPECT_NE(nullptr, Create(std::string("with\0zero", 9)));
  EXPECT_NE(nullptr, Create(std::string(1024, 'x')));
}

TEST_F(FamiliesTest, ADroppedFamilyIsGoneForNewReadsAndStaysForOldOnes) {
  Open();
  ColumnFamilyHandle* const a = Create("a");
  ColumnFamilyHandle* const b = Create("b");
  for (int i = 0; i < 100; i++) PutIn(a, "key" + std::to_string(i), "v");
  PutIn(b, "k", "stays");
  Put("k", "stays, too");
  std::unique_ptr<Iterator> old(db_->NewIterator(ReadOptions(), a));
  ASSERT_OK(db_->DropColumnFamily(a));
  int seen = 0;
  for (old->SeekToFirst(); old->Valid(); old->Next()) seen++;
  EXPECT_EQ(100, seen);
  old.reset();

  WriteBatch batch;
  batch.Put("k", "changed");
  batch.Put(a, "k", "v");
  std::string value;
  EXPECT_TRUE(db_->Put(WriteOptions(), a, "k", "v").IsInvalidArgument());
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_TRUE(db_->Get(ReadOptions(), a, "key1", &value).IsInvalidArgument());
  EXPECT_TRUE(db_->DropColumnFamily(a).IsInvalidArgument());
  EXPECT_NE("", Walk(db_.get(), a));  // an error
  EXPECT_EQ("stays", GetFrom(b, "k"));
  EXPECT_EQ("stays, too", Get("k"));
  ColumnFamilyHandle* const again = Create("a");
  EXPECT_NE(a->GetID(), again->GetID());
  EXPECT_EQ("", Walk(db_.get(), again));
  Open();
  EXPECT_EQ("", Walk(db_.get(), Find("a")));
  EXPECT_EQ("(k->stays)", Walk(db_.get(), Find("b")));
}

TEST_F(FamiliesTest, KeysOfTheDefaultFamilyThatBeginWithTheMarkAreRefusedOnceThereIsAFamily) {
  Open();
  // Without families they are keys like any others.
  for (const std::string& key : {kMark, kMark + "tail", kMark + std::string(4, '\0') + "x"}) {
    Put(key, "v");
    EXPECT_EQ("v", Get(key));
  }
  EXPECT_NE("", Forward(db_.get()));
  ColumnFamilyHandle* family = nullptr;
  EXPECT_TRUE(db_->CreateColumnFamily("a", &family).IsInvalidArgument());
  Open();
  EXPECT_TRUE(db_->CreateColumnFamily("a", &family).IsInvalidArgument());
  for (const std::string& key : {kMark, kMark + "tail", kMark + std::string(4, '\0') + "x"}) Delete(key);
  EXPECT_TRUE(db_->CreateColumnFamily("a", &family).IsInvalidArgument());  // their deletions are there
  Settle();
  Create("a");

  WriteBatch batch;
  batch.Put("fine", "v");
  batch.Put(kMark + "x", "v");
  EXPECT_TRUE(db_->Put(WriteOptions(), kMark, "v").IsInvalidArgument());
  EXPECT_TRUE(db_->Delete(WriteOptions(), kMark + "xyz").IsInvalidArgument());
  EXPECT_TRUE(db_->Write(WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_EQ(kNotFound, Get("fine"));
  Open();
  PutIn(Find("a"), "k", "v");
  const std::string physical = kMark + std::string("\0\0\0\1k", 5);
  std::vector<std::string> values;
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), {physical, "fine", kMark}, &values);
  EXPECT_TRUE(db_->Put(WriteOptions(), physical, "v").IsInvalidArgument());
  EXPECT_EQ(kNotFound, Get(physical));
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), physical));
  for (const Status& s : statuses) EXPECT_TRUE(s.IsNotFound());
  WriteBatch nothing;
  ASSERT_OK(db_->WriteIfUnchanged(WriteOptions(), &nothing, {{physical, 0}, {db_->DefaultColumnFamily(), kMark, 0}}));
}

// Keys right before and behind the range of all families are the default one's, and iterators go around the range.
TEST_F(FamiliesTest, WalksOfTheDefaultFamilyGoAroundAllOthers) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseComparator()}) {
    SCOPED_TRACE(comparator->Name());
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    options_.comparator = comparator;
    Open();
    const std::vector<std::string> keys = {"",
                                           "a",
                                           "\xff",
                                           "\xffMioFam",
                                           "\xffMioFam\xf4\xff",
                                           "\xffMioFam\xf6",
                                           "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"};
    ColumnFamilyHandle* const first = Create("first");
    ColumnFamilyHandle* const second = Create("second");
    for (const std::string& key : keys) Put(key, "d");
    for (int i = 0; i < 50; i++) {
      PutIn(first, std::to_string(i), "1");
      PutIn(second, std::to_string(i), "2");
    }
    std::string expected;
    for (const std::string& key : keys) {
      const std::string pair = "(" + key + "->d)";
      expected = comparator == BytewiseComparator() ? expected + pair : pair + expected;
    }
    for (const char* stage : {"in memory", "flushed", "settled", "reopened"}) {
      SCOPED_TRACE(stage);
      EXPECT_EQ(expected, Forward(db_.get()));
      EXPECT_EQ(expected, Backward(db_.get()));
      EXPECT_EQ(expected, Walk(db_.get(), db_->DefaultColumnFamily()));
      std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      it->Seek("\xffMioFam\xf4\xff");
      ASSERT_TRUE(it->Valid());
      if (comparator == BytewiseComparator()) {
        it->Next();
        ASSERT_TRUE(it->Valid());
        EXPECT_EQ("\xffMioFam\xf6", it->key().ToString());
        it->Prev();
        ASSERT_TRUE(it->Valid());
        EXPECT_EQ("\xffMioFam\xf4\xff", it->key().ToString());
        it->Seek(kMark);
        ASSERT_TRUE(it->Valid());
        EXPECT_EQ("\xffMioFam\xf6", it->key().ToString());
      }

      std::unique_ptr<Iterator> family(db_->NewIterator(ReadOptions(), Find("second")));
      family->Seek("3");
      ASSERT_TRUE(family->Valid());
      EXPECT_EQ("3", family->key().ToString());
      family->Next();
      EXPECT_EQ("30", family->key().ToString());
      family->Prev();
      family->Prev();
      EXPECT_EQ("29", family->key().ToString());
      family->SeekToLast();
      EXPECT_EQ("9", family->key().ToString());
      family->Next();
      EXPECT_FALSE(family->Valid());
      EXPECT_EQ("d", Get("\xff"));
      it.reset();
      family.reset();
      stage[0] == 'i' ? void(db_->Flush().ok()) : stage[0] == 'f' ? Settle() : Open();
    }
  }
}

TEST_F(FamiliesTest, BoundsOfAnIteratorAreKeysOfItsFamily) {
  Open();
  ColumnFamilyHandle* const a = Create("a");
  Create("b");
  for (const char* key : {"a", "b", "c", "d"}) PutIn(a, key, "v");
  PutIn(Find("b"), "b", "other");
  const Slice lower("b"), upper("d"), beyond(kMark);
  ReadOptions options;
  options.iterate_lower_bound = &lower;
  options.iterate_upper_bound = &upper;
  EXPECT_EQ("(b->v)(c->v)", Walk(db_.get(), a, true, options));
  EXPECT_EQ("(b->v)(c->v)", Walk(db_.get(), a, false, options));
  options.iterate_lower_bound = nullptr;
  options.iterate_upper_bound = &beyond;
  EXPECT_EQ("(a->v)(b->v)(c->v)(d->v)", Walk(db_.get(), a, false, options));
}

TEST_F(FamiliesTest, ABatchOverFamiliesIsOneStepAndTellsItsUpdates) {
  struct Printer : WriteBatch::Handler {
    void Put(const Slice& key, const Slice& value) override { text += "P " + key.ToString() + value.ToString() + ";"; }
    void Delete(const Slice& key) override { text += "D " + key.ToString() + ";"; }
    Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
      text += "P" + std::to_string(family) + " " + key.ToString() + value.ToString() + ";";
      return Status::OK();
    }
    Status DeleteCF(uint32_t family, const Slice& key) override {
      text += "D" + std::to_string(family) + " " + key.ToString() + ";";
      return Status::OK();
    }
    std::string text;
  };
  struct Plain : WriteBatch::Handler {
    void Put(const Slice&, const Slice&) override {}
    void Delete(const Slice&) override {}
  };
  Open();
  ColumnFamilyHandle* const a = Create("a");
  ColumnFamilyHandle* const b = Create("b");
  PutIn(b, "k", "old");
  WriteBatch batch, more;
  batch.Put("k", "0");
  batch.Put(a, "k", "1");
  batch.Put(db_->DefaultColumnFamily(), "l", "0");
  more.Delete(b, "k");
  more.Put(static_cast<ColumnFamilyHandle*>(nullptr), "m", "0");
  batch.Append(more);
  Printer printer;
  Plain plain;
  ASSERT_OK(batch.Iterate(&printer));
  EXPECT_EQ("P k0;P1 k1;P l0;D2 k;P m0;", printer.text);
  EXPECT_TRUE(batch.Iterate(&plain).IsNotSupportedError());
  const Snapshot* const before = db_->GetSnapshot();
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  EXPECT_EQ("old", GetFrom(b, "k", before));
  EXPECT_EQ(kNotFound, GetFrom(a, "k", before));
  db_->ReleaseSnapshot(before);
  EXPECT_EQ("1", GetFrom(a, "k"));
  EXPECT_EQ(kNotFound, GetFrom(b, "k"));
  EXPECT_EQ("(k->0)(l->0)(m->0)", Forward(db_.get()));
}

TEST_F(FamiliesTest, MultiGetReadsKeysOfSeveralFamiliesAsOfOneMoment) {
  Open();
  ColumnFamilyHandle* const a = Create("a");
  ColumnFamilyHandle* const dropped = Create("b");
  ASSERT_OK(db_->DropColumnFamily(dropped));
  PutIn(a, "k", "a's");
  Put("k", "default");
  std::vector<std::string> values(7, "left over");
  std::vector<PinnableSlice> pinned;
  const std::vector<ColumnFamilyHandle*> families = {a, db_->DefaultColumnFamily(), a, dropped, nullptr};
  const std::vector<Slice> keys = {"k", "k", "missing", "k", "k"};
  const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), families, keys, &values);
  const std::vector<Status> again = db_->MultiGet(ReadOptions(), families, keys, &pinned);
  ASSERT_EQ(5u, statuses.size());
  ASSERT_EQ(5u, values.size());
  EXPECT_OK(statuses[0]);
  EXPECT_EQ("a's", values[0]);
  EXPECT_OK(statuses[1]);
  EXPECT_EQ("default", values[1]);
  EXPECT_EQ("a's", pinned[0].ToString());
  EXPECT_TRUE(statuses[2].IsNotFound());
  EXPECT_TRUE(statuses[3].IsInvalidArgument());
  EXPECT_TRUE(statuses[4].IsInvalidArgument());
  for (size_t i = 0; i < statuses.size(); i++) EXPECT_EQ(statuses[i].ToString(), again[i].ToString());
  EXPECT_TRUE(db_->MultiGet(ReadOptions(), {a}, keys, &values)[4].IsInvalidArgument());
}

TEST_F(FamiliesTest, MultiGetWithoutHandlesReadsTheDefaultFamily) {
  Open();
  PutIn(Create("a"), "k", "a's");
  Put("k", "default");
  const std::vector<ColumnFamilyHandle*> none;
  for (const std::string& last : {std::string("missing"), kMark + "hidden"}) {  // a hidden key takes another way
    const std::vector<Slice> keys = {"k", last};
    std::vector<std::string> values(7, "left over");
    std::vector<PinnableSlice> pinned(7);
    for (const std::vector<Status>& statuses :
         {db_->MultiGet(ReadOptions(), none, keys, &values), db_->MultiGet(ReadOptions(), keys, &values),
          db_->MultiGet(ReadOptions(), none, keys, &pinned), db_->MultiGet(ReadOptions(), keys, &pinned)}) {
      ASSERT_EQ(2u, statuses.size());
      EXPECT_OK(statuses[0]);
      EXPECT_TRUE(statuses[1].IsNotFound()) << last;
    }
    ASSERT_EQ(2u, values.size());
    ASSERT_EQ(2u, pinned.size());
    EXPECT_EQ("default", values[0]);
    EXPECT_EQ("default", pinned[0].ToString());
  }
}

TEST_F(FamiliesTest, AMergeOperatorGetsTheKeysOfTheFamily) {
  const KeyRecorder recorder;
  options_.merge_operator = &recorder;
  Open();
  ColumnFamilyHandle* const a = Create("a");
  ASSERT_OK(db_->Merge(WriteOptions(), a, "k", "1"));
  ASSERT_OK(db_->Merge(WriteOptions(), a, kMark + "123456", "1"));
  ASSERT_OK(db_->Merge(WriteOptions(), "k", "1"));
  for (const char* stage : {"in memory", "flushed", "settled"}) {
    SCOPED_TRACE(stage);
    EXPECT_EQ("k:,1", GetFrom(a, "k"));
    EXPECT_EQ(kMark + "123456:,1", GetFrom(a, kMark + "123456"));
    EXPECT_EQ("k:,1", Get("k"));
    EXPECT_EQ("(k->k:,1)(" + kMark + "123456->" + kMark + "123456:,1)", Walk(db_.get(), a));
    stage[0] == 'i' ? void(db_->Flush().ok()) : Settle();
  }
  ASSERT_OK(db_->SingleDelete(WriteOptions(), a, "k"));
  EXPECT_EQ(kNotFound, GetFrom(a, "k"));
  Close();
}

TEST_F(FamiliesTest, SizesAndCountsAreOfOneFamily) {
  Open();
  ColumnFamilyHandle* const a = Create("a");
  ColumnFamilyHandle* const b = Create("b");
  for (int i = 0; i < 300; i++) PutIn(a, "key" + std::to_string(1000 + i), std::string(100, 'v'));
  Put("key", std::string(1000, 'v'));
  Put("\xffz", std::string(1000, 'v'));
  for (const char* stage : {"in memory", "settled"}) {
    SCOPED_TRACE(stage);
    EXPECT_EQ("300", PropertyOf(a, "miodb.estimate-num-keys"));
    EXPECT_EQ("0", PropertyOf(b, "miodb.estimate-num-keys"));
    const uint64_t bytes = std::stoull(PropertyOf(a, "miodb.approximate-bytes"));
    EXPECT_GT(bytes, 300u * 100);
    EXPECT_LT(bytes, 300u * 200);
    EXPECT_EQ("0", PropertyOf(b, "miodb.approximate-bytes"));
    EXPECT_EQ("1 a 300 " + std::to_string(bytes) + "\n2 b 0 0\n", Property("miodb.column-families"));
    EXPECT_EQ("3", Property("miodb.next-family-id"));
    EXPECT_EQ(Property("miodb.persist-mode"), PropertyOf(a, "miodb.persist-mode"));
    const Range ranges[2] = {Range("key1100", "key1200"), Range("", "\xff\xff")};
    uint64_t sizes[2];
    db_->GetApproximateSizes(a, ranges, 2, sizes);
    EXPECT_GT(sizes[0], 100u * 100);
    EXPECT_LT(sizes[0], 100u * 200);
    EXPECT_EQ(bytes, sizes[1]);
    db_->GetApproximateSizes(ranges + 1, 1, sizes);
    EXPECT_GT(sizes[0], 2000u);
    EXPECT_LT(sizes[0], 2200u);
    db_->CompactRange(a, nullptr, nullptr);
    Settle();
  }
  bool found = true;
  std::string value;
  EXPECT_TRUE(db_->KeyMayExist(ReadOptions(), a, "key1000", &value, &found));
  EXPECT_FALSE(db_->KeyMayExist(ReadOptions(), b, "key1000"));
}

TEST_F(FamiliesTest, HandlesOfOthersAreRefused) {
  Open();
  Create("a");
  Options options = options_;
  std::unique_ptr<DB> other;
  ASSERT_OK(OpenDb(options, dir_ / "other", &other));
  std::string value;
  uint64_t size = 7;
  const Range range("", "z");
  for (ColumnFamilyHandle* family : {other->DefaultColumnFamily(), static_cast<ColumnFamilyHandle*>(nullptr)}) {
    EXPECT_TRUE(db_->Put(WriteOptions(), family, "k", "v").IsInvalidArgument());
    EXPECT_TRUE(db_->Get(ReadOptions(), family, "k", &value).IsInvalidArgument());
    EXPECT_TRUE(db_->DropColumnFamily(family).IsInvalidArgument());
    EXPECT_FALSE(db_->GetProperty(family, "miodb.estimate-num-keys", &value));
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), family));
    EXPECT_TRUE(it->status().IsInvalidArgument());
    db_->GetApproximateSizes(family, &range, 1, &size);
    EXPECT_EQ(0u, size);
  }
  WriteBatch batch;
  batch.Put(Find("a"), "k", "v");
  EXPECT_TRUE(other->Write(WriteOptions(), &batch).IsInvalidArgument());
}

TEST_F(FamiliesTest, ARefreshedIteratorOfTheDefaultFamilyPassesFamiliesMadeMeanwhile) {
  Open();
  Put("k", "v");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  PutIn(Create("a"), "x", "y");
  it->SeekToLast();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ("k", it->key().ToString());
  ASSERT_OK(it->Refresh());
  it->SeekToLast();
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ("k", it->key().ToString());
  it->Next();
  EXPECT_FALSE(it->Valid());
}

TEST_F(FamiliesTest, FamiliesOutliveAVolatilePool) {
  options_.pool_path = "anonymous";
  options_.pool_size = 8 << 20;
  options_.ssd_path = dir_ / "ssd";
  options_.log_mode = kLogFile;
  Open();
  PutIn(Create("a"), "k", "v");
  Create("b");
  ASSERT_OK(db_->DropColumnFamily(Find("b")));
  Open();
  EXPECT_EQ((std::vector<std::string>{"default", "a"}), Names());
  EXPECT_EQ("v", GetFrom(Find("a"), "k"));
  EXPECT_EQ(3u, Create("c")->GetID());
}

TEST_F(FamiliesTest, FamiliesGoThroughLogFilesAndTheSsdTier) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseComparator()}) {
    SCOPED_TRACE(comparator->Name());
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    options_.comparator = comparator;
    options_.ssd_path = dir_ / "ssd";
    options_.pool_size = 3 << 20;
    options_.nvm_budget = 1 << 20;
    options_.log_mode = kLogFile;
    Open();
    const auto key = [](int i) { return "key" + std::to_string(10000 + i); };
    ColumnFamilyHandle* const a = Create("a");
    for (int i = 0; i < 6000; i++) {
      PutIn(a, key(i), std::string(500, 'a'));
      if (i % 3 == 0) Put(key(i), std::string(500, 'd'));
    }
    ASSERT_OK(db_->WaitForIdle());
    EXPECT_GT(Counter("ssd-files"), 0u);
    Open();
    int count = 0;
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), Find("a")));
    for (it->SeekToFirst(); it->Valid(); it->Next()) EXPECT_EQ(key(count++), it->key().ToString());
    EXPECT_OK(it->status());
    EXPECT_EQ(6000, count);
    const std::unique_ptr<Iterator> plain(db_->NewIterator(ReadOptions()));
    count = 0;
    for (plain->SeekToLast(); plain->Valid(); plain->Prev()) count++;
    EXPECT_OK(plain->status());
    EXPECT_EQ(2000, count);
    const double estimate = std::stod(PropertyOf(Find("a"), "miodb.estimate-num-keys"));
    EXPECT_NEAR(6000.0, estimate, 1200.0);
    EXPECT_EQ(std::string(500, 'a'), GetFrom(Find("a"), key(4711)));
  }
}

TEST_F(FamiliesTest, ADeletionOfARangeStaysInItsFamily) {
  Open();
  ColumnFamilyHandle* const a = Create("a");
  ColumnFamilyHandle* const b = Create("b");
  for (const char* key : {"a", "b", "c", "d"}) {
    Put(key, "v");
    PutIn(a, key, "v");
    PutIn(b, key, "v");
  }
  Put("\xff\xff", "v");
  ASSERT_OK(db_->DeleteRange(WriteOptions(), a, "b", "d"));
  WriteBatch batch;
  batch.DeleteRange("c", "\xff\xff\x01");  // over all families
  batch.Put("x", "v");
  batch.DeleteRange(b, "", "b");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), kMark, kMark + "zzzz"));  // nothing of the default family's
  EXPECT_TRUE(db_->DeleteRange(WriteOptions(), a, "d", "b").IsInvalidArgument());
  for (const char* stage : {"in memory", "flushed", "reopened", "settled"}) {
    SCOPED_TRACE(stage);
    EXPECT_EQ("(a->v)(b->v)(x->v)", Forward(db_.get()));
    EXPECT_EQ("(a->v)(b->v)(x->v)", Backward(db_.get()));
    EXPECT_EQ("(a->v)(d->v)", Walk(db_.get(), Find("a")));
    EXPECT_EQ("(a->v)(d->v)", Walk(db_.get(), Find("a"), false));
    EXPECT_EQ("(b->v)(c->v)(d->v)", Walk(db_.get(), Find("b")));
    EXPECT_EQ(kNotFound, GetFrom(Find("a"), "b"));
    EXPECT_EQ("v", GetFrom(Find("b"), "d"));
    stage[0] == 'i' ? void(db_->Flush().ok()) : stage[0] == 'f' ? Open() : Settle();
  }
}

// The drop of a family writes one record and one edit, whatever its content.
TEST_F(FamiliesTest, ADropWritesNextToNothing) {
  options_.write_buffer_size = 1 << 20;
  Open();
  ColumnFamilyHandle* const a = Create("a");
  WriteBatch batch;
  for (uint64_t i = 0; i < ByScale(30000, 100000, 1000000); i++) {
    batch.Put(a, FilledKey(i), "value");
    if (i % 1000 != 999) continue;
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
    batch.Clear();
  }
  ASSERT_OK(db_->WaitForIdle());
  const uint64_t before = Counter("nvm-bytes-log") + Counter("nvm-bytes-manifest");
  ASSERT_OK(db_->DropColumnFamily(a));
  EXPECT_LT(Counter("nvm-bytes-log") + Counter("nvm-bytes-manifest") - before, 16u << 10);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_EQ(0u, Counter("entries"));
  Open();
  Open();
  EXPECT_EQ((std::vector<std::string>{"default"}), Names());
}

// A child writes batches over ten families and the default one, and is killed. Each batch is there as a whole.
TEST_F(FamiliesTest, ABatchOverTenFamiliesIsThereAsAWholeWhenTheProcessIsKilled) {
  constexpr int kFamilies = 10;
  Random random(Seeds(1)[0]);
  Open();
  for (int i = 0; i < kFamilies; i++) Create("family" + std::to_string(i));
  Close();
  const auto write_for_ever = [&](int told) {
    Open();
    std::vector<ColumnFamilyHandle*> families = {db_->DefaultColumnFamily()};
    for (int i = 0; i < kFamilies; i++) families.push_back(Find("family" + std::to_string(i)));
    for (uint64_t n = 0;; n++) {
      WriteBatch batch;
      for (ColumnFamilyHandle* family : families) {
        batch.Put(family, "counter", std::to_string(n));
        batch.Put(family, FilledKey(n), std::string(200, 'v'));
        if (n >= 10) batch.Delete(family, FilledKey(n - 10));
      }
      if (!db_->Write(WriteOptions(), &batch).ok() || ::write(told, "w", 1) != 1) _exit(1);
    }
  };
  for (int round = 0; round < static_cast<int>(ByScale(10, 40, 300)); round++) {
    int ends[2];
    ASSERT_EQ(0, pipe(ends));
    const pid_t child = fork();
    if (child == 0) write_for_ever(ends[1]);
    ::close(ends[1]);
    char byte;
    for (uint64_t writes = 1 + random.Uniform(300); writes > 0; writes--) ASSERT_EQ(1, ::read(ends[0], &byte, 1));
    ASSERT_EQ(0, kill(child, SIGKILL));
    int status;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    ::close(ends[0]);
    Open();
    const std::string counter = Get("counter"), all = Forward(db_.get());
    for (int i = 0; i < kFamilies; i++) {
      ColumnFamilyHandle* const family = Find("family" + std::to_string(i));
      ASSERT_EQ(counter, GetFrom(family, "counter"));
      ASSERT_EQ(all, Walk(db_.get(), family));
    }
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    Open();
    for (int i = 0; i < kFamilies; i++) Create("family" + std::to_string(i));
    Close();
  }
}

TEST_F(FamiliesTest, ATraceHasTheFamilyOfEveryCall) {
  Open();
  ColumnFamilyHandle* const a = Create("a");
  const std::string path = dir_ / "trace";
  std::unique_ptr<TraceWriter> writer;
  ASSERT_OK(NewFileTraceWriter(path, &writer));
  TraceOptions options;
  options.preserve_write_order = true;
  ASSERT_OK(db_->StartTrace(options, std::move(writer)));
  PutIn(a, "k", "v");
  WriteBatch batch;
  batch.Put("d", "v");
  batch.Delete(a, "l");
  batch.SingleDelete(a, "m");
  batch.DeleteRange(a, "n", "o");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  GetFrom(a, "k");
  std::vector<std::string> values;
  db_->MultiGet(ReadOptions(), {a, db_->DefaultColumnFamily()}, {"x", "y"}, &values);
  const Slice lower("b");
  ReadOptions bounded;
  bounded.iterate_lower_bound = &lower;
  {
    const std::unique_ptr<Iterator> it(db_->NewIterator(bounded, a));
    it->Seek("c");
    it->Next();
    it->SeekToFirst();
  }
  ASSERT_OK(db_->DropColumnFamily(a));
  ASSERT_OK(db_->EndTrace());

  std::unique_ptr<TraceReader> reader;
  ASSERT_OK(TraceReader::Open(path, &reader));
  std::string text;
  for (TraceRecord record; reader->Next(&record);) {
    TraceUpdate update;
    if (record.type == kTraceWrite) {
      for (TraceUpdates updates(record.batch); updates.Next(&update);) {
        text += std::to_string(update.kind) + "." + std::to_string(update.column_family) + update.key.ToString() + "=" +
                update.value.ToString() + " ";
      }
    } else if (record.type == kTraceMultiGet) {
      for (const TraceKey& key : record.keys) text += std::to_string(key.column_family) + key.key.ToString() + " ";
    } else {
      text += std::to_string(record.type) + ":" + std::to_string(record.column_family) + record.key.ToString() + "[" +
              record.lower_bound.ToString() + "," + record.upper_bound.ToString() + "] ";
    }
  }
  EXPECT_OK(reader->status());
  EXPECT_EQ("0.1k=v 0.0d=v 1.1l= 2.1m= 3.1n=o 4:1k[,] 4:1k[,] 1x 0y 5:1c[b,] 64:1c[,] 65:1[b,] 64:1[,] ", text);
}

// The manifest can be read but for the edit that dropped a family, whose name a later family has.
TEST_F(FamiliesTest, ANameGoesToTheYoungerFamilyWhereADropCannotBeRead) {
  Open();
  PutIn(Create("a"), "k", "old");
  ASSERT_OK(db_->DropColumnFamily(Find("a")));
  PutIn(Create("a"), "k", "new");
  PutIn(Create("b"), "k", "other");
  ASSERT_OK(db_->Flush());
  Close();
  uint64_t drop = 0;
  {
    std::unique_ptr<PoolImage> image;
    ASSERT_OK(PoolImage::Open(path_ + "/pool", &image));
    for (const ManifestImage& area : FindManifestAreas(*image, image->Header())) {
      for (const ManifestImage::Record& record : area.records) {
        for (const FamilyEntry& family : record.edit.families) {
          if (family.dropped()) drop = record.offset + record.bytes / 2;
        }
      }
    }
  }
  ASSERT_GT(drop, 0u) << "the manifest has no such edit";
  std::string bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/pool", &bytes));
  bytes[drop] = static_cast<char>(bytes[drop] ^ 1);
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, path_ + "/pool"));
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ("new", GetFrom(Find("a"), "k"));
  EXPECT_EQ("other", GetFrom(Find("b"), "k"));
  EXPECT_EQ((std::vector<std::string>{"default", "a", "b"}), Names());
}

TEST_F(FamiliesTest, ARepairKeepsFamiliesAndTheirNames) {
  Open();
  PutIn(Create("a"), "k", "of a");
  PutIn(Create("gone"), "k", "dropped");
  PutIn(Create("b"), "k", "of b");
  Put("k", "default");
  ASSERT_OK(db_->DropColumnFamily(Find("gone")));
  ASSERT_OK(db_->Flush());
  PutIn(Find("a"), "l", "in the log");
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ((std::vector<std::string>{"default", "a", "b"}), Names());
  EXPECT_EQ(1u, Find("a")->GetID());
  EXPECT_EQ(3u, Find("b")->GetID());
  EXPECT_EQ("(k->of a)(l->in the log)", Walk(db_.get(), Find("a")));
  EXPECT_EQ("(k->of b)", Walk(db_.get(), Find("b")));
  EXPECT_EQ("(k->default)", Forward(db_.get()));
  EXPECT_EQ(4u, Create("c")->GetID());
}

}  // namespace
}  // namespace miodb::test
