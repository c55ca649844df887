// A batch with an index against a std::map for each column family: what it answers by itself and over a database,
// whatever was added, range deletions too, taken back and written, and what iterators show over both, also while the
// batch changes under them.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "miodb/merge_operator.h"
#include "miodb/write_batch_with_index.h"
#include "src/util/bytes/family_key.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKeys = 60;
constexpr uint64_t kSingleKeys = 10;  // the last ones: put, removed by a single deletion, and so on
constexpr size_t kFamilies = 3;       // the default one, which has no handle here, and two more

struct Less {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
};
using Map = std::map<std::string, std::string, Less>;

// The result for a key by the batch alone.
struct ByBatch {
  bool known = false;                // it does not depend on what was there before
  std::optional<std::string> value;  // if known
};

class BatchHistory {
 public:
  BatchHistory(uint64_t seed, Options options, const std::string& path, bool overwrite)
      : random_(seed), overwrites_(overwrite), batch_(options.comparator, 100, overwrite, append_.get()) {
    options.merge_operator = append_.get();
    EXPECT_OK(OpenDb(options, path, &db_));
    for (size_t f = 0; f < kFamilies; f++) {
      if (f > 0) EXPECT_OK(db_->CreateColumnFamily(std::to_string(f), &handles_[f]));
      now_.emplace_back(Map(Less{f == 0 ? options.comparator : BytewiseComparator()}));
    }
    stored_ = now_;
  }

  void Run(uint64_t steps) {
    for (uint64_t i = 0; i < steps && !testing::Test::HasFailure(); i++) Step();
  }

 private:
  // An update of a single key, or a range [key, end).
  struct Done {
    std::optional<WriteType> type;
    std::string key;
    std::string end;
  };
  // The state of a family: database and batch together, and the batch alone.
  struct State {
    explicit State(const Map& map) : all(map) {}
    bool InRange(const std::string& key, const std::string& begin, const std::string& end) const {
      return !all.key_comp()(key, begin) && all.key_comp()(key, end);
    }

    Map all;
    std::map<std::string, ByBatch> by_batch;
    std::set<std::string> singles;  // those that are there
    std::vector<Done> updates;
  };
  using States = std::vector<State>;

  void Step() {
    const uint64_t dice = random_.Uniform(100);
    if (dice < 40) return Update();
    if (dice < 60) return CheckGets(AnyFamily(), AnyKey());
    if (dice < 72) return Walk(AnyFamily());
    if (dice < 78) return CheckEntries(AnyFamily());
    if (dice < 90) return SetOrEndSavePoint();
    if (dice < 96) return WriteBehind();
    End();
  }

  size_t AnyFamily() { return random_.Uniform(kFamilies); }
  std::string AnyKey() { return "k" + std::to_string(random_.Uniform(kKeys) * 7919 % kKeys + 10); }
  bool IsSingle(const std::string& key) const { return std::stoul(key.substr(1)) >= 10 + kKeys - kSingleKeys; }
  std::string AnyValue() { return std::string(random_.Skewed(6), static_cast<char>('a' + random_.Uniform(26))); }

  void Update() {
    const size_t f = AnyFamily();
    ColumnFamilyHandle* const family = handles_[f];
    State& now = now_[f];
    if (random_.OneIn(8)) return DeleteRange(f);
    const std::string key = AnyKey(), value = AnyValue();
    ByBatch& known = now.by_batch[key];
    const uint64_t dice = random_.Uniform(100);
    if (IsSingle(key) ? now.singles.insert(key).second : dice < 40) {
      family != nullptr ? batch_.Put(family, key, value) : batch_.Put(key, value);
      now.all[key] = value;
      known = {true, value};
      now.updates.push_back({WriteType::kPut, key, ""});
    } else if (!IsSingle(key) && dice < 75) {
      family != nullptr ? batch_.Merge(family, key, value) : batch_.Merge(key, value);
      const auto found = now.all.find(key);
      now.all[key] = found == now.all.end() ? value : found->second + "," + value;
      if (known.known) known.value = known.value ? *known.value + "," + value : value;
      now.updates.push_back({WriteType::kMerge, key, ""});
    } else {
      const bool single = IsSingle(key);
      if (single) {
        family != nullptr ? batch_.SingleDelete(family, key) : batch_.SingleDelete(key);
        now.singles.erase(key);
      } else {
        family != nullptr ? batch_.Delete(family, key) : batch_.Delete(key);
      }
      now.all.erase(key);
      known = {true, std::nullopt};
      now.updates.push_back({single ? WriteType::kSingleDelete : WriteType::kDelete, key, ""});
    }
  }

  // Bounds that are keys, and prefixes of keys. The keys of single deletions lie outside in every order.
  std::string AnyBound() {
    if (random_.OneIn(3)) return std::string("k12345").substr(0, 1 + random_.Uniform(2));
    return "k" + std::to_string(10 + random_.Uniform(kKeys - kSingleKeys));
  }

  void DeleteRange(size_t f) {
    State& now = now_[f];
    std::string begin = AnyBound(), end = AnyBound();
    if (now.all.key_comp()(end, begin)) begin.swap(end);
    handles_[f] != nullptr ? batch_.DeleteRange(handles_[f], begin, end) : batch_.DeleteRange(begin, end);
    for (uint64_t i = 0; i < kKeys; i++) {
      const std::string key = "k" + std::to_string(10 + i);
      if (!now.InRange(key, begin, end)) continue;
      ASSERT_FALSE(IsSingle(key));
      now.all.erase(key);
      now.by_batch[key] = {true, std::nullopt};
    }
    now.updates.push_back({std::nullopt, begin, end});
  }

  void CheckGets(size_t f, const std::string& key) {
    ColumnFamilyHandle* const family = handles_[f];
    const State& now = now_[f];
    std::string value = "as it was";
    const Status s = family != nullptr ? batch_.GetFromBatch(family, key, &value) : batch_.GetFromBatch(key, &value);
    const auto known = now.by_batch.find(key);
    if (known == now.by_batch.end() || (known->second.known && !known->second.value)) {
      EXPECT_TRUE(s.IsNotFound()) << s.ToString();
    } else if (!known->second.known) {
      EXPECT_TRUE(s.IsMergeInProgress()) << s.ToString();
    } else {
      ASSERT_OK(s);
      EXPECT_EQ(*known->second.value, value);
    }
    if (!s.ok()) {
      EXPECT_EQ("as it was", value);
    }

    value = "as it was";
    const Status both = family != nullptr ? batch_.GetFromBatchAndDB(db_.get(), ReadOptions(), family, key, &value)
                                          : batch_.GetFromBatchAndDB(db_.get(), ReadOptions(), key, &value);
    const auto found = now.all.find(key);
    if (found == now.all.end()) {
      EXPECT_TRUE(both.IsNotFound()) << both.ToString();
      EXPECT_EQ("as it was", value);
    } else {
      ASSERT_OK(both);
      EXPECT_EQ(found->second, value);
    }
  }

  // What an iterator stands on, as the model has it: a key that it may not have any more, or nothing.
  void Compare(const State& now, const Iterator& it, const std::optional<std::string>& key) {
    ASSERT_OK(it.status());
    ASSERT_EQ(key.has_value(), it.Valid()) << (key ? *key : it.key().ToString());
    if (!key) return;
    ASSERT_EQ(*key, it.key().ToString());
    ASSERT_EQ(now.all.at(*key), it.value().ToString()) << *key;
  }

  Iterator* NewIterator(size_t f, const ReadOptions& options) {
    if (handles_[f] == nullptr) return batch_.NewIteratorWithBase(db_->NewIterator(options), &options);
    return batch_.NewIteratorWithBase(handles_[f], db_->NewIterator(options, handles_[f]), &options);
  }

  void Walk(size_t f) {
    const State& now = now_[f];
    const std::string lower = AnyKey(), upper = AnyKey();
    const Slice lower_slice(lower), upper_slice(upper);
    ReadOptions options;
    const bool bounded = now.all.key_comp()(lower, upper);
    if (bounded && random_.OneIn(3)) options.iterate_lower_bound = &lower_slice;
    if (bounded && random_.OneIn(3)) options.iterate_upper_bound = &upper_slice;
    const auto within = [&](Map::const_iterator at) -> std::optional<std::string> {
      if (at == now.all.end()) return std::nullopt;
      if (options.iterate_lower_bound != nullptr && now.all.key_comp()(at->first, lower)) return std::nullopt;
      if (options.iterate_upper_bound != nullptr && !now.all.key_comp()(at->first, upper)) return std::nullopt;
      return at->first;
    };
    const auto before = [&](Map::const_iterator at) {
      return at == now.all.begin() ? std::nullopt : within(std::prev(at));
    };
    const std::unique_ptr<Iterator> it(NewIterator(f, options));
    EXPECT_FALSE(it->Valid());
    std::optional<std::string> at;
    const bool changes = random_.OneIn(2);
    for (int i = 0; i < 20 && !testing::Test::HasFatalFailure(); i++) {
      const uint64_t dice = random_.Uniform(100);
      if (dice < 5) {
        it->SeekToFirst();
        at = within(options.iterate_lower_bound != nullptr ? now.all.lower_bound(lower) : now.all.begin());
      } else if (dice < 10) {
        it->SeekToLast();
        at = before(options.iterate_upper_bound != nullptr ? now.all.lower_bound(upper) : now.all.end());
      } else if (dice < 30 || !at) {
        const std::string target = AnyKey();
        it->Seek(target);
        const bool below = options.iterate_lower_bound != nullptr && now.all.key_comp()(target, lower);
        at = within(now.all.lower_bound(below ? lower : target));
      } else if (dice < 65) {
        it->Next();
        at = within(now.all.upper_bound(*at));
      } else {
        it->Prev();
        at = before(now.all.lower_bound(*at));
      }
      Compare(now, *it, at);
      if (changes && random_.OneIn(3)) Update();
      if (changes && random_.OneIn(4)) SetOrEndSavePoint();
    }
  }

  // The updates themselves: all of them, or those that count.
  void CheckEntries(size_t f) {
    const State& now = now_[f];
    std::map<std::string, std::vector<WriteType>, Less> expected(now.all.key_comp());
    for (const auto& update : now.updates) {
      if (overwrites_ && !update.type) {
        std::erase_if(expected, [&](const auto& entry) { return now.InRange(entry.first, update.key, update.end); });
      }
      if (!update.type) continue;
      if (overwrites_ && update.type != WriteType::kMerge) expected[update.key].clear();
      expected[update.key].push_back(*update.type);
    }
    std::vector<std::pair<std::string, WriteType>> list, forward, backward;
    for (const auto& [key, types] : expected) {
      for (const WriteType type : types) list.emplace_back(key, type);
    }
    const std::unique_ptr<WBWIIterator> it(NewEntries(f));
    for (it->SeekToFirst(); it->Valid(); it->Next()) forward.emplace_back(it->Entry().key.ToString(), it->Entry().type);
    EXPECT_EQ(list, forward);
    for (it->SeekToLast(); it->Valid(); it->Prev()) backward.emplace_back(it->Entry().key.ToString(), it->Entry().type);
    EXPECT_EQ(std::vector(list.rbegin(), list.rend()), backward);

    const std::string target = AnyKey();
    it->Seek(target);
    const auto at = expected.lower_bound(target);
    ASSERT_EQ(at != expected.end(), it->Valid());
    if (it->Valid()) {
      EXPECT_EQ(at->first, it->Entry().key.ToString());
      EXPECT_EQ(at->second.front(), it->Entry().type);
    }
    it->SeekForPrev(target);
    const auto behind = expected.upper_bound(target);
    ASSERT_EQ(behind != expected.begin(), it->Valid());
    if (it->Valid()) {
      EXPECT_EQ(std::prev(behind)->first, it->Entry().key.ToString());
      EXPECT_EQ(std::prev(behind)->second.back(), it->Entry().type);
    }
  }

  WBWIIterator* NewEntries(size_t f) const {
    return handles_[f] != nullptr ? batch_.NewIterator(handles_[f]) : batch_.NewIterator();
  }

  void SetOrEndSavePoint() {
    if (random_.OneIn(2)) {
      batch_.SetSavePoint();
      return save_points_.push_back(now_);
    }
    const bool back = random_.OneIn(2);
    const Status s = back ? batch_.RollbackToSavePoint() : batch_.PopSavePoint();
    if (save_points_.empty()) {
      EXPECT_TRUE(s.IsNotFound()) << s.ToString();
      return;
    }
    ASSERT_OK(s);
    if (back) now_ = save_points_.back();
    save_points_.pop_back();
  }

  // The database changes under the batch; only while nothing could be taken back to before.
  void WriteBehind() {
    const size_t f = AnyFamily();
    State& now = now_[f];
    const std::string key = AnyKey(), value = AnyValue();
    if (!save_points_.empty() || IsSingle(key)) return;
    ColumnFamilyHandle* const family = f == 0 ? db_->DefaultColumnFamily() : handles_[f];
    ASSERT_OK(db_->Put(WriteOptions(), family, key, value));
    stored_[f].all[key] = value;
    const auto known = now.by_batch.find(key);
    if (known != now.by_batch.end() && known->second.known) return;
    now.all[key] = value;
    if (known == now.by_batch.end()) return;
    for (const auto& operand : OperandsOf(f, key)) now.all[key] += "," + operand;
  }

  std::vector<std::string> OperandsOf(size_t f, const std::string& key) {
    std::vector<std::string> operands;
    const std::unique_ptr<WBWIIterator> it(NewEntries(f));
    for (it->Seek(key); it->Valid() && it->Entry().key == Slice(key); it->Next()) {
      EXPECT_EQ(WriteType::kMerge, it->Entry().type);
      operands.push_back(it->Entry().value.ToString());
    }
    return operands;
  }

  // Written or forgotten.
  void End() {
    if (random_.OneIn(2)) {
      ASSERT_OK(db_->Write(WriteOptions(), batch_.GetWriteBatch()));
      stored_ = now_;
      for (State& state : stored_) state.by_batch.clear(), state.updates.clear();
    }
    batch_.Clear();
    save_points_.clear();
    now_ = stored_;
    if (random_.OneIn(4)) {
      ASSERT_OK(db_->Flush());
    }
  }

  Random random_;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  const bool overwrites_;
  std::unique_ptr<DB> db_;
  WriteBatchWithIndex batch_;
  ColumnFamilyHandle* handles_[kFamilies] = {};
  States stored_;
  States now_;
  std::vector<States> save_points_;
};

void RunHistories(uint64_t stream, const std::string& set, const Comparator* comparator, bool overwrite) {
  const uint64_t count = ByScale(3, 10, 200);
  for (const uint64_t seed : Seeds(count, 1 + stream * count)) {
    SCOPED_TRACE(Repeat(seed));
    const TestDir dir;
    Options options = FindOptionSet(set).options;
    options.comparator = comparator;
    BatchHistory(seed, options, dir / "db", overwrite).Run(4000);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(BatchWithIndex, AnswersAsStdMapDoes) { RunHistories(0, "tiny", BytewiseComparator(), false); }
TEST(BatchWithIndex, AnswersAsStdMapDoesWhereUpdatesAreOverwritten) {
  RunHistories(1, "tiny", BytewiseComparator(), true);
}
TEST(BatchWithIndex, AnswersAsStdMapDoesOverTableFiles) { RunHistories(2, "ssd", BytewiseComparator(), true); }
TEST(BatchWithIndex, AnswersAsStdMapDoesInAnotherOrder) { RunHistories(3, "tiny", ReverseComparator(), false); }

class BatchTest : public DbTestBase {
 protected:
  static std::string Shown(const WriteBatchWithIndex& batch, ColumnFamilyHandle* family, Iterator* base) {
    const std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(family, base));
    std::string shown;
    for (it->SeekToFirst(); it->Valid(); it->Next()) shown += it->key().ToString() + it->value().ToString() + " ";
    EXPECT_OK(it->status());
    return shown;
  }
};

// A base that counts how it is moved.
class CountingIterator final : public Iterator {
 public:
  CountingIterator(Iterator* of, int* moves) : of_(of), moves_(moves) {}
  bool Valid() const override { return of_->Valid(); }
  void SeekToFirst() override { of_->SeekToFirst(), ++*moves_; }
  void SeekToLast() override { of_->SeekToLast(), ++*moves_; }
  void Seek(const Slice& target) override { of_->Seek(target), ++*moves_; }
  void Next() override { of_->Next(), ++*moves_; }
  void Prev() override { of_->Prev(), ++*moves_; }
  Slice key() const override { return of_->key(); }
  Slice value() const override { return of_->value(); }
  Status status() const override { return of_->status(); }

 private:
  const std::unique_ptr<Iterator> of_;
  int* const moves_;
};

TEST_F(BatchTest, AnIteratorJumpsOverARangeInBothDirections) {
  Open();
  for (int i = 1000; i < 3000; i++) Put("k" + std::to_string(i), "1");
  WriteBatchWithIndex batch;
  batch.DeleteRange("k1001", "k1500");
  batch.DeleteRange("k1400", "k2999");
  batch.Put("k1450", "2");
  int moves = 0;
  const std::unique_ptr<Iterator> it(
      batch.NewIteratorWithBase(new CountingIterator(db_->NewIterator(ReadOptions()), &moves)));
  std::string forward, backward;
  for (it->SeekToFirst(); it->Valid(); it->Next()) forward += it->key().ToString() + " ";
  EXPECT_EQ("k1000 k1450 k2999 ", forward);
  for (it->SeekToLast(); it->Valid(); it->Prev()) backward += it->key().ToString() + " ";
  EXPECT_EQ("k2999 k1450 k1000 ", backward);
  EXPECT_LT(moves, 12);
}

TEST_F(BatchTest, WhatARangeHidIsShownWhenTheRangeIsTakenBackUnderAnIterator) {
  Open();
  for (const char* key : {"a", "b", "d", "e"}) Put(key, "1");
  WriteBatchWithIndex batch;
  batch.Put("c", "2");
  const std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(db_->NewIterator(ReadOptions())));
  for (const bool forward : {true, false}) {
    batch.SetSavePoint();
    batch.DeleteRange("a", "c");
    batch.DeleteRange("d", "e");
    batch.Put("c", "3");
    it->Seek("c");
    if (!forward) {  // it goes backward already when the range is taken back
      it->Next();
      it->Prev();
    }
    ASSERT_EQ("3", it->value().ToString());
    ASSERT_OK(batch.RollbackToSavePoint());
    forward ? it->Next() : it->Prev();
    ASSERT_TRUE(it->Valid());
    EXPECT_EQ(forward ? "d" : "b", it->key().ToString());
  }
}

TEST_F(BatchTest, AKeyOfOneFamilyIsNeverTakenForOneOfAnother) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("f", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "a", "1"));
  Put("a", "2");
  WriteBatchWithIndex batch;
  batch.Put(family, "b", "3");
  batch.DeleteRange("", std::string(20, '\xff'));
  EXPECT_EQ("a1 b3 ", Shown(batch, family, db_->NewIterator(ReadOptions(), family)));
  EXPECT_EQ("", Shown(batch, nullptr, db_->NewIterator(ReadOptions())));
  batch.DeleteRange(family, "", "z");
  batch.Put(db_->DefaultColumnFamily(), "c", "4");
  EXPECT_EQ("", Shown(batch, family, db_->NewIterator(ReadOptions(), family)));
  EXPECT_EQ("c4 ", Shown(batch, nullptr, db_->NewIterator(ReadOptions())));
  ASSERT_OK(db_->Write(WriteOptions(), batch.GetWriteBatch()));
  EXPECT_EQ("(c->4)", Forward(db_.get()));

  // What begins like a key of a family is none, and is refused only when it is written.
  batch.Clear();
  batch.Put(FamilyKey(family->GetID(), "x").slice(), "5");
  std::string value;
  EXPECT_TRUE(batch.GetFromBatch(family, "x", &value).IsNotFound());
  ASSERT_OK(batch.GetFromBatch(FamilyKey(family->GetID(), "x").slice(), &value));
  EXPECT_EQ("5", value);
  EXPECT_TRUE(db_->Write(WriteOptions(), batch.GetWriteBatch()).IsInvalidArgument());
}

TEST_F(BatchTest, ARangeThatEndsBeforeItBeginsHidesNothingAndIsRefused) {
  Open();
  WriteBatchWithIndex batch;
  batch.Put("b", "1");
  batch.DeleteRange("b", "b");
  EXPECT_EQ("b1 ", Shown(batch, nullptr, db_->NewIterator(ReadOptions())));
  ASSERT_OK(db_->Write(WriteOptions(), batch.GetWriteBatch()));
  batch.DeleteRange("c", "a");
  EXPECT_EQ("b1 ", Shown(batch, nullptr, db_->NewIterator(ReadOptions())));
  EXPECT_TRUE(db_->Write(WriteOptions(), batch.GetWriteBatch()).IsInvalidArgument());
}

TEST_F(BatchTest, ABatchForAFamilyThatWasDroppedIsRefused) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("f", &family));
  WriteBatchWithIndex batch;
  batch.Put("a", "1");
  batch.DeleteRange(family, "a", "b");
  ASSERT_OK(db_->DropColumnFamily(family));
  std::string value;
  EXPECT_TRUE(batch.GetFromBatchAndDB(db_.get(), ReadOptions(), family, "c", &value).IsInvalidArgument());
  const Status s = db_->Write(WriteOptions(), batch.GetWriteBatch());
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("was dropped")) << s.ToString();
  EXPECT_EQ(kNotFound, Get("a"));
}

TEST_F(BatchTest, AMergeWithoutAnOperatorIsAnError) {
  Open();
  WriteBatchWithIndex batch;
  batch.Put("key", "1");
  batch.Merge("key", "2");
  std::string value = "as it was";
  EXPECT_TRUE(batch.GetFromBatch("key", &value).IsInvalidArgument());
  EXPECT_TRUE(batch.GetFromBatchAndDB(db_.get(), ReadOptions(), "key", &value).IsInvalidArgument());
  EXPECT_EQ("as it was", value);
  const std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(db_->NewIterator(ReadOptions())));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsInvalidArgument()) << it->status().ToString();
}

TEST_F(BatchTest, AnIteratorEndsWhereItsBaseFails) {
  WriteBatchWithIndex batch;
  batch.Put("key", "1");
  const std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(NewErrorIterator(Status::IOError("base"))));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().IsIOError());
}

TEST_F(BatchTest, ARefreshShowsTheDatabaseOfNow) {
  Open();
  WriteBatchWithIndex batch;
  batch.Put("b", "1");
  const std::unique_ptr<Iterator> it(batch.NewIteratorWithBase(db_->NewIterator(ReadOptions())));
  Put("a", "2");
  it->SeekToFirst();
  EXPECT_EQ("b", it->key().ToString());
  ASSERT_OK(it->Refresh());
  EXPECT_FALSE(it->Valid());
  it->SeekToFirst();
  EXPECT_EQ("a", it->key().ToString());
}

TEST_F(BatchTest, AReadAtASnapshotIsThatWithTheBatch) {
  options_.merge_operator = UInt64AddOperator();
  Open();
  WriteBatchWithIndex batch(BytewiseComparator(), 0, false, UInt64AddOperator());
  const std::string one("\1\0\0\0\0\0\0\0", 8), two("\2\0\0\0\0\0\0\0", 8), three("\3\0\0\0\0\0\0\0", 8);
  Put("key", one);
  const Snapshot* const snapshot = db_->GetSnapshot();
  Put("key", two);
  batch.Merge("key", one);
  ReadOptions options;
  std::string value;
  ASSERT_OK(batch.GetFromBatchAndDB(db_.get(), options, "key", &value));
  EXPECT_EQ(three, value);
  options.snapshot = snapshot;
  ASSERT_OK(batch.GetFromBatchAndDB(db_.get(), options, "key", &value));
  EXPECT_EQ(two, value);
  db_->ReleaseSnapshot(snapshot);
}

}  // namespace
}  // namespace miodb::test
