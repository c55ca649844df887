// Snapshots see their state whatever is written, deleted and compacted afterwards.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "miodb/merge_operator.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

class SnapshotTest : public DbTestBase {
 protected:
  void SetUp() override { Open(); }

  std::string At(const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    const std::string forward = Forward(db_.get(), options);
    EXPECT_EQ(forward, Backward(db_.get(), options));
    return forward;
  }
};

TEST_F(SnapshotTest, SeesOverwrittenValues) {
  std::vector<const Snapshot*> snapshots;
  for (int version = 0; version < 10; version++) {
    Put("a", std::to_string(version));
    snapshots.push_back(db_->GetSnapshot());
    if (version % 3 == 2) EXPECT_OK(db_->Flush());
  }
  for (int round = 0; round < 2; round++) {
    for (size_t version = 0; version < 10; version++) {
      EXPECT_EQ(std::to_string(version), Get("a", snapshots[version]));
      EXPECT_EQ("(a->" + std::to_string(version) + ")", At(snapshots[version]));
    }
    Settle();
  }
  for (const Snapshot* snapshot : snapshots) db_->ReleaseSnapshot(snapshot);
  EXPECT_EQ("9", Get("a"));
}

TEST_F(SnapshotTest, SeesDeletedKeysAndNotLaterOnes) {
  const Snapshot* const empty = db_->GetSnapshot();
  Put("a", "1");
  const Snapshot* const with = db_->GetSnapshot();
  Delete("a");
  const Snapshot* const without = db_->GetSnapshot();
  Put("a", "2");
  for (int round = 0; round < 3; round++) {
    EXPECT_EQ("", At(empty));
    EXPECT_EQ("(a->1)", At(with));
    EXPECT_EQ("", At(without));
    EXPECT_EQ(kNotFound, Get("a", empty));
    EXPECT_EQ("1", Get("a", with));
    EXPECT_EQ(kNotFound, Get("a", without));
    EXPECT_EQ("2", Get("a"));
    if (round == 0) EXPECT_OK(db_->Flush());
    if (round == 1) Settle();
  }
  db_->ReleaseSnapshot(with);
  Settle();
  EXPECT_EQ("", At(empty));
  EXPECT_EQ("", At(without));
  db_->ReleaseSnapshot(empty);
  db_->ReleaseSnapshot(without);
  Settle();
  EXPECT_EQ("2", Get("a"));
}

TEST_F(SnapshotTest, ThatAreReleasedInAnyOrderLeaveTheOthersRight) {
  std::vector<const Snapshot*> snapshots;
  for (uint64_t round = 0; round < 6; round++) {
    Fill(300, 200, round);
    snapshots.push_back(db_->GetSnapshot());
  }
  const auto check = [&](uint64_t round) {
    for (uint64_t i = 0; i < 300; i++) ASSERT_TRUE(FilledValue(i, 200, round) == Get(FilledKey(i), snapshots[round]));
  };
  for (const uint64_t released : {3u, 0u, 5u, 1u}) {
    db_->ReleaseSnapshot(snapshots[released]);
    snapshots[released] = nullptr;
    Settle();
    for (uint64_t round = 0; round < 6; round++) {
      if (snapshots[round] != nullptr) check(round);
    }
  }
  db_->ReleaseSnapshot(snapshots[2]);
  db_->ReleaseSnapshot(snapshots[4]);
  CheckFilled(300, 200, 5);
}

TEST_F(SnapshotTest, OfOneStateAreIndependent) {
  Put("a", "1");
  const Snapshot* const first = db_->GetSnapshot();
  const Snapshot* const second = db_->GetSnapshot();
  Put("a", "2");
  db_->ReleaseSnapshot(first);
  Settle();
  EXPECT_EQ("1", Get("a", second));
  db_->ReleaseSnapshot(second);
}

TEST_F(SnapshotTest, KeepOnlyWhatTheySee) {
  options_.write_buffer_size = 16 * 1024;
  Open();
  Fill(200, 1000, 0);
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (uint64_t round = 1; round < 30; round++) Fill(200, 1000, round);
  Settle();
  const uint64_t held = Counter("live-bytes");
  EXPECT_LE(held, 3 * 200 * 1100) << "versions between the snapshot and the newest one stay";
  db_->ReleaseSnapshot(snapshot);
  Put("one more", "write");
  Settle();
  EXPECT_LE(Counter("live-bytes"), 3 * 200 * 1100 / 2);
}

TEST_F(SnapshotTest, SurviveManyFlushesAndCompactions) {
  options_ = FindOptionSet("tiny").options;
  Open();
  Fill(500, 100, 0);
  const Snapshot* const snapshot = db_->GetSnapshot();
  for (uint64_t i = 0; i < 500; i += 2) Delete(FilledKey(i));
  for (uint64_t round = 1; round < 10; round++) Fill(500, 100, round);
  for (uint64_t i = 0; i < 500; i++) Delete(FilledKey(i));
  Settle();
  EXPECT_EQ("", Forward(db_.get()));
  ReadOptions options;
  options.snapshot = snapshot;
  const std::unique_ptr<Iterator> it(db_->NewIterator(options));
  it->SeekToFirst();
  for (uint64_t i = 0; i < 500; i++, it->Next()) {
    ASSERT_TRUE(it->Valid()) << i;
    ASSERT_EQ(FilledKey(i), it->key().ToString());
    ASSERT_TRUE(it->value() == Slice(FilledValue(i, 100, 0)));
  }
  EXPECT_FALSE(it->Valid());
  db_->ReleaseSnapshot(snapshot);
}

// Appends with commas, and refuses every operand.
class Refusing final : public MergeOperator {
 public:
  const char* Name() const override { return "Refusing"; }
  bool FullMerge(const Slice&, const Slice*, const std::vector<Slice>&, std::string*) const override { return false; }
};

TEST_F(SnapshotTest, OperandsThatItKeptApartAreFoldedByTheNextCompactionAfterItsRelease) {
  const std::unique_ptr<const MergeOperator> append(NewStringAppendOperator(","));
  options_.merge_operator = append.get();
  options_.settle_after_idle_ms = 0;
  for (const bool reopened : {false, true}) {
    SCOPED_TRACE(reopened);
    Open();
    Put("a", "1");
    Put("b", "1");
    const Snapshot* const first = db_->GetSnapshot();
    ASSERT_OK(db_->Merge(WriteOptions(), "a", "2"));
    const Snapshot* const second = db_->GetSnapshot();
    ASSERT_OK(db_->Merge(WriteOptions(), "a", "3"));
    db_->CompactRange(nullptr, nullptr);
    EXPECT_EQ(4u, Counter("entries"));
    EXPECT_EQ("(a->1)(b->1)", At(first));
    EXPECT_EQ("(a->1,2)(b->1)", At(second));
    db_->ReleaseSnapshot(first);
    db_->CompactRange(nullptr, nullptr);
    EXPECT_EQ("(a->1,2)(b->1)", At(second));
    db_->ReleaseSnapshot(second);
    if (reopened) Open();
    db_->CompactRange(nullptr, nullptr);
    EXPECT_EQ(2u, Counter("entries"));
    EXPECT_EQ("(a->1,2,3)(b->1)", Forward(db_.get()));
    db_.reset();
  }
  options_.merge_operator = nullptr;
}

TEST_F(SnapshotTest, OperandsThatAreNotFoldedAfterItsReleaseAreLookedAtOnce) {
  const Refusing refusing;
  options_.merge_operator = &refusing;
  options_.settle_after_idle_ms = 0;
  Open();
  Put("a", "1");
  const Snapshot* const snapshot = db_->GetSnapshot();
  ASSERT_OK(db_->Merge(WriteOptions(), "a", "2"));
  db_->CompactRange(nullptr, nullptr);
  db_->ReleaseSnapshot(snapshot);
  db_->CompactRange(nullptr, nullptr);
  const uint64_t merges = Counter("merges");
  db_->CompactRange(nullptr, nullptr);
  EXPECT_EQ(merges, Counter("merges"));
  EXPECT_EQ(2u, Counter("entries"));
  db_.reset();
}

}  // namespace
}  // namespace miodb::test
