// Compaction filters: about which records they are asked, and what becomes of those that they remove or change.

#include "miodb/compaction_filter.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "miodb/merge_operator.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

// Removes what begins with "drop", and makes "x" of what begins with "change", with what comes behind.
class ByValue final : public CompactionFilter {
 public:
  const char* Name() const override { return "ByValue"; }
  Decision Filter(int level, const Slice& key, ValueKind kind, const Slice& value,
                  std::string* new_value) const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    EXPECT_TRUE(new_value->empty());
    levels_.insert(level);
    asked_[key.ToString()]++;
    if (kind == ValueKind::kOperand) operands_++;
    if (value.starts_with("drop")) return Decision::kRemove;
    if (!value.starts_with("change")) return Decision::kKeep;
    *new_value = "x" + value.ToString().substr(6);
    return Decision::kChangeValue;
  }

  int asked(const std::string& key) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = asked_.find(key);
    return found == asked_.end() ? 0 : found->second;
  }
  std::set<int> levels() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return levels_;
  }
  int operands() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return operands_;
  }
  void Forget() {
    const std::lock_guard<std::mutex> lock(mutex_);
    asked_.clear();
    levels_.clear();
    operands_ = 0;
  }

 private:
  mutable std::mutex mutex_;
  mutable std::map<std::string, int> asked_;
  mutable std::set<int> levels_;
  mutable int operands_ = 0;
};

class CompactionFilterTest : public DbTestBase {
 protected:
  CompactionFilterTest() {
    options_.compaction_filter = &filter_;
    options_.merge_operator = append_.get();
    options_.settle_after_idle_ms = 0;
  }
  ~CompactionFilterTest() override { db_.reset(); }

  void Merge(const std::string& key, const std::string& operand) {
    ASSERT_OK(db_->Merge(WriteOptions(), key, operand));
  }

  ByValue filter_;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
};

TEST_F(CompactionFilterTest, RecordsAreRemovedAndChangedWhereTheyAreCopied) {
  Open();
  Put("c", "change-c");
  Put("b", "drop-b");
  Put("d", "keep-d");
  Put("a", "drop-a");
  ASSERT_OK(db_->Flush());
  EXPECT_EQ("(a->drop-a)(b->drop-b)(c->change-c)(d->keep-d)", Forward(db_.get()));
  EXPECT_EQ(0, filter_.asked("a"));
  Settle();
  EXPECT_EQ("(c->x-c)(d->keep-d)", Forward(db_.get()));
  EXPECT_EQ(2u, Counter("entries"));
  EXPECT_EQ(std::set<int>{options_.num_levels - 1}, filter_.levels());
  for (const char* key : {"a", "b", "c", "d"}) EXPECT_EQ(1, filter_.asked(key)) << key;
  Open();
  EXPECT_EQ("(c->x-c)(d->keep-d)", Forward(db_.get()));
}

TEST_F(CompactionFilterTest, ARemovalHidesWhatIsOlder) {
  Open();
  Put("b", "keep old");
  Put("a", "keep old");
  Settle();
  Put("b", "drop");
  Put("a", "drop");
  Settle();
  EXPECT_EQ("", Forward(db_.get()));
  EXPECT_EQ(0u, Counter("entries"));
}

TEST_F(CompactionFilterTest, WhatASnapshotSeesIsNotTouched) {
  Open();
  Put("b", "drop");
  Put("a", "drop");
  const Snapshot* const snapshot = db_->GetSnapshot();
  Put("b", "drop again");
  Put("d", "drop");
  Settle();
  EXPECT_EQ(0, filter_.asked("a"));
  EXPECT_EQ("drop", Get("a", snapshot));
  EXPECT_EQ("drop", Get("b", snapshot));
  EXPECT_EQ("drop", Get("a"));
  EXPECT_EQ(kNotFound, Get("b"));
  EXPECT_EQ(kNotFound, Get("d"));
  db_->ReleaseSnapshot(snapshot);
  EXPECT_EQ("(a->drop)", Forward(db_.get()));
}

TEST_F(CompactionFilterTest, OperandsAreAskedAboutAsWhatTheyAreFoldedInto) {
  Open();
  Merge("b", "drop");
  Merge("b", "2");
  Merge("a", "keep");
  Merge("a", "drop");
  Put("d", "change");
  Merge("d", "1");
  Merge("c", "1");
  Settle();
  EXPECT_EQ("(a->keep,drop)(c->1)(d->x,1)", Forward(db_.get()));
  EXPECT_EQ(0, filter_.operands());
}

// A value with a lifetime is not folded, or the lifetime would be lost: its operands keep their base.
TEST_F(CompactionFilterTest, ABaseUnderAnOperandStays) {
  Open();
  WriteOptions hour;
  hour.lifetime_seconds = 3600;
  ASSERT_OK(db_->Put(hour, "a", "drop"));
  Merge("a", "1");
  ASSERT_OK(db_->Put(hour, "b", "drop"));
  Settle();
  EXPECT_EQ("drop,1", Get("a"));
  EXPECT_EQ(kNotFound, Get("b"));
}

TEST_F(CompactionFilterTest, AnOperandThatIsRemovedGoesAlone) {
  Open();
  Put("b", "1");
  Put("a", "1");
  Merge("a", "drop");
  Merge("a", "3");
  ASSERT_OK(db_->Flush());
  options_.merge_operator = nullptr;  // so that nothing is folded
  Open();
  Settle();
  options_.merge_operator = append_.get();
  Open();
  EXPECT_EQ("1,3", Get("a"));
  EXPECT_LT(0, filter_.operands());
}

TEST_F(CompactionFilterTest, LargeRecordsStayAndAreNotAskedAbout) {
  options_.lazy_copy_limit = 100;
  Open();
  Put("b", "drop" + std::string(1000, 'v'));
  for (char key = 'z'; key > 'c'; key--) Put(std::string(1, key), "keep");
  Put("a", "drop");
  Settle();
  EXPECT_EQ(kNotFound, Get("a"));
  EXPECT_NE(kNotFound, Get("b"));
  EXPECT_EQ(0, filter_.asked("b"));
}

TEST_F(CompactionFilterTest, TheSsdTierAsksWithItsLevels) {
  options_.ssd_path = dir_ / "ssd";
  options_.pool_size = 3 << 20;
  options_.nvm_budget = 64 << 10;
  Open();
  for (int i = 0; i < 2000; i++) {
    Put(FilledKey(static_cast<uint64_t>(i)), (i % 3 == 0   ? "drop"
                                              : i % 3 == 1 ? "change"
                                                           : "keep") +
                                                 std::string(200, 'v'));
  }
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_LT(0u, Counter("ssd-files"));
  EXPECT_LE(options_.num_levels, *filter_.levels().rbegin());
  std::map<char, int> first_letters;
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) first_letters[it->value()[0]]++;
  // Records still in the pool lie in order there, so they were not copied.
  EXPECT_EQ(666, first_letters['k']);
  EXPECT_EQ(667, first_letters['x'] + first_letters['c']);
  EXPECT_LT(500, first_letters['x']);
  EXPECT_GT(100, first_letters['d']);
}

// Against a map, with removals among overwrites: whatever was not asked about may be either.
TEST_F(CompactionFilterTest, OtherKeysAreAsTheyWere) {
  for (uint64_t seed : Seeds(ByScale(3, 20, 200))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    options_.ssd_path = random.OneIn(2) ? dir_ / "ssd" : "";
    options_.pool_size = 3 << 20;
    options_.nvm_budget = options_.ssd_path.empty() ? 0 : 100 << 10;
    Open();
    std::map<std::string, std::string> model;
    for (int i = 0; i < 20000; i++) {
      const std::string key = "key" + std::to_string(random.Uniform(500));
      const uint64_t kind = random.Uniform(5);
      const std::string value = (kind == 0 ? "drop" : kind == 1 ? "change" : "keep") + std::to_string(i);
      if (kind == 4) {
        Delete(key);
        model.erase(key);
      } else {
        Put(key, value);
        model[key] = value;
      }
      if (random.OneIn(5000)) Settle();
    }
    Settle();
    std::string value;
    for (int i = 0; i < 500; i++) {
      const std::string key = "key" + std::to_string(i);
      const auto found = model.find(key);
      const std::string got = Get(key), was = found == model.end() ? "" : found->second;
      if (was.starts_with("drop")) {
        EXPECT_TRUE(got == kNotFound || got == was) << key << " " << got;
      } else if (was.starts_with("change")) {
        EXPECT_TRUE(got == "x" + was.substr(6) || got == was) << key << " " << got;
      } else {
        EXPECT_EQ(found == model.end() ? kNotFound : was, got) << key;
      }
    }
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
  }
}

}  // namespace
}  // namespace miodb::test
