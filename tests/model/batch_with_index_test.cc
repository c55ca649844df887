// A batch with an index against std::map: what it answers by itself and over a database, whatever was added, taken back
// and written, and what iterators show over both, also while the batch changes under them.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "miodb/merge_operator.h"
#include "miodb/write_batch_with_index.h"
#include "tests/common/comparators.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKeys = 60;
constexpr uint64_t kSingleKeys = 10;  // the last ones: put, removed by a single deletion, and so on

struct Less {
  const Comparator* comparator;
  bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
};
using Map = std::map<std::string, std::string, Less>;

// What a key is by the batch alone.
struct ByBatch {
  bool known = false;                // it does not depend on what was there before
  std::optional<std::string> value;  // if known
};

class BatchHistory {
 public:
  BatchHistory(uint64_t seed, Options options, const std::string& path, bool overwrite)
      : random_(seed),
        overwrites_(overwrite),
        batch_(options.comparator, 100, overwrite, append_.get()),
        stored_(Less{options.comparator}),
        now_{stored_, {}, {}, {}} {
    options.merge_operator = append_.get();
    EXPECT_OK(OpenDb(options, path, &db_));
  }

  void Run(uint64_t steps) {
    for (uint64_t i = 0; i < steps && !testing::Test::HasFailure(); i++) Step();
  }

 private:
  // Database and batch together, and what the batch knows.
  struct State {
    Map all;
    std::map<std::string, ByBatch> by_batch;
    std::set<std::string> singles;  // those that are there
    std::vector<std::pair<WriteType, std::string>> updates;
  };

  void Step() {
    const uint64_t dice = random_.Uniform(100);
    if (dice < 40) return Update();
    if (dice < 60) return CheckGets(AnyKey());
    if (dice < 72) return Walk();
    if (dice < 78) return CheckEntries();
    if (dice < 84) {
      batch_.SetSavePoint();
      return save_points_.push_back(now_);
    }
    if (dice < 90) return EndSavePoint();
    if (dice < 96) return WriteBehind();
    End();
  }

  std::string AnyKey() { return "k" + std::to_string(random_.Uniform(kKeys) * 7919 % kKeys + 10); }
  bool IsSingle(const std::string& key) const { return std::stoul(key.substr(1)) >= 10 + kKeys - kSingleKeys; }
  std::string AnyValue() { return std::string(random_.Skewed(6), static_cast<char>('a' + random_.Uniform(26))); }

  void Update() {
    const std::string key = AnyKey(), value = AnyValue();
    ByBatch& known = now_.by_batch[key];
    const uint64_t dice = random_.Uniform(100);
    if (IsSingle(key) ? now_.singles.insert(key).second : dice < 40) {
      batch_.Put(key, value);
      now_.all[key] = value;
      known = {true, value};
      now_.updates.emplace_back(WriteType::kPut, key);
    } else if (!IsSingle(key) && dice < 75) {
      batch_.Merge(key, value);
      const auto found = now_.all.find(key);
      now_.all[key] = found == now_.all.end() ? value : found->second + "," + value;
      if (known.known) known.value = known.value ? *known.value + "," + value : value;
      now_.updates.emplace_back(WriteType::kMerge, key);
    } else {
      const bool single = IsSingle(key);
      if (single) {
        batch_.SingleDelete(key);
        now_.singles.erase(key);
      } else {
        batch_.Delete(key);
      }
      now_.all.erase(key);
      known = {true, std::nullopt};
      now_.updates.emplace_back(single ? WriteType::kSingleDelete : WriteType::kDelete, key);
    }
  }

  void CheckGets(const std::string& key) {
    std::string value = "as it was";
    const Status s = batch_.GetFromBatch(key, &value);
    const auto known = now_.by_batch.find(key);
    if (known == now_.by_batch.end() || (known->second.known && !known->second.value)) {
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
    const Status both = batch_.GetFromBatchAndDB(db_.get(), ReadOptions(), key, &value);
    const auto found = now_.all.find(key);
    if (found == now_.all.end()) {
      EXPECT_TRUE(both.IsNotFound()) << both.ToString();
      EXPECT_EQ("as it was", value);
    } else {
      ASSERT_OK(both);
      EXPECT_EQ(found->second, value);
    }
  }

  // What an iterator stands on, as the model has it: a key that it may not have any more, or nothing.
  void Compare(const Iterator& it, const std::optional<std::string>& key) {
    ASSERT_OK(it.status());
    ASSERT_EQ(key.has_value(), it.Valid()) << (key ? *key : it.key().ToString());
    if (!key) return;
    ASSERT_EQ(*key, it.key().ToString());
    ASSERT_EQ(now_.all.at(*key), it.value().ToString()) << *key;
  }

  void Walk() {
    const std::string lower = AnyKey(), upper = AnyKey();
    const Slice lower_slice(lower), upper_slice(upper);
    ReadOptions options;
    const bool bounded = now_.all.key_comp()(lower, upper);
    if (bounded && random_.OneIn(3)) options.iterate_lower_bound = &lower_slice;
    if (bounded && random_.OneIn(3)) options.iterate_upper_bound = &upper_slice;
    const auto within = [&](Map::const_iterator at) -> std::optional<std::string> {
      if (at == now_.all.end()) return std::nullopt;
      if (options.iterate_lower_bound != nullptr && now_.all.key_comp()(at->first, lower)) return std::nullopt;
      if (options.iterate_upper_bound != nullptr && !now_.all.key_comp()(at->first, upper)) return std::nullopt;
      return at->first;
    };
    const auto before = [&](Map::const_iterator at) {
      return at == now_.all.begin() ? std::nullopt : within(std::prev(at));
    };
    const std::unique_ptr<Iterator> it(batch_.NewIteratorWithBase(db_->NewIterator(options), &options));
    EXPECT_FALSE(it->Valid());
    std::optional<std::string> at;
    const bool changes = random_.OneIn(2);
    for (int i = 0; i < 20 && !testing::Test::HasFatalFailure(); i++) {
      const uint64_t dice = random_.Uniform(100);
      if (dice < 5) {
        it->SeekToFirst();
        at = within(options.iterate_lower_bound != nullptr ? now_.all.lower_bound(lower) : now_.all.begin());
      } else if (dice < 10) {
        it->SeekToLast();
        at = before(options.iterate_upper_bound != nullptr ? now_.all.lower_bound(upper) : now_.all.end());
      } else if (dice < 30 || !at) {
        const std::string target = AnyKey();
        it->Seek(target);
        const bool below = options.iterate_lower_bound != nullptr && now_.all.key_comp()(target, lower);
        at = within(now_.all.lower_bound(below ? lower : target));
      } else if (dice < 65) {
        it->Next();
        at = within(now_.all.upper_bound(*at));
      } else {
        it->Prev();
        at = before(now_.all.lower_bound(*at));
      }
      Compare(*it, at);
      if (changes && random_.OneIn(3)) Update();
    }
  }

  // The updates themselves: all of them, or those that count.
  void CheckEntries() {
    std::map<std::string, std::vector<WriteType>, Less> expected(now_.all.key_comp());
    for (const auto& [type, key] : now_.updates) {
      if (overwrites_ && type != WriteType::kMerge) expected[key].clear();
      expected[key].push_back(type);
    }
    std::vector<std::pair<std::string, WriteType>> list, forward, backward;
    for (const auto& [key, types] : expected) {
      for (const WriteType type : types) list.emplace_back(key, type);
    }
    const std::unique_ptr<WBWIIterator> it(batch_.NewIterator());
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

  void EndSavePoint() {
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
    const std::string key = AnyKey(), value = AnyValue();
    if (!save_points_.empty() || IsSingle(key)) return;
    ASSERT_OK(db_->Put(WriteOptions(), key, value));
    stored_[key] = value;
    const auto known = now_.by_batch.find(key);
    if (known != now_.by_batch.end() && known->second.known) return;
    now_.all[key] = value;
    if (known == now_.by_batch.end()) return;
    for (const auto& operand : OperandsOf(key)) now_.all[key] += "," + operand;
  }

  std::vector<std::string> OperandsOf(const std::string& key) {
    std::vector<std::string> operands;
    const std::unique_ptr<WBWIIterator> it(batch_.NewIterator());
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
      stored_ = now_.all;
      stored_singles_ = now_.singles;
    }
    batch_.Clear();
    save_points_.clear();
    now_ = {stored_, {}, stored_singles_, {}};
    if (random_.OneIn(4)) {
      ASSERT_OK(db_->Flush());
    }
  }

  Random random_;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  const bool overwrites_;
  std::unique_ptr<DB> db_;
  WriteBatchWithIndex batch_;
  Map stored_;
  State now_;
  std::set<std::string> stored_singles_;
  std::vector<State> save_points_;
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

class BatchTest : public DbTestBase {};

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
