// Stretches of dead keys: what an iterator remembers of them, that later ones answer as before, what their seeks cost,
// and that a memtable full of the dead gives way to an empty one.

#include "src/db/read/dead_stretches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "miodb/column_family.h"
#include "miodb/compaction_filter.h"
#include "miodb/merge_operator.h"
#include "src/db/open/db_impl.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/model.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

std::string Key(uint64_t i) { return FilledKey(i); }

// ---- the stretches by themselves

TEST(DeadStretchesTest, AnswersAsAListOfKeysWould) {
  constexpr uint64_t kKeys = 60;
  for (uint64_t seed = 1; seed <= 50; seed++) {
    Random random(seed);
    DeadStretches stretches{KeyOrder(BytewiseComparator())};
    std::vector<std::optional<DeadStretches::Moment>> known(kKeys);
    for (int step = 0; step < 200; step++) {
      const uint64_t begin = random.Uniform(kKeys - 1), end = begin + 1 + random.Uniform(kKeys - 1 - begin);
      const DeadStretches::Moment added{random.Uniform(3), random.Uniform(100), random.Uniform(3)};
      bool newer = false;
      for (uint64_t i = begin; i < end; i++) newer = newer || (known[i] && known[i]->sequence > added.sequence);
      for (uint64_t i = begin; i < end && !newer; i++) known[i] = added;
      stretches.Add({Key(begin), Key(end), added});

      const DeadStretches::Moment now{random.Uniform(3), random.Uniform(100), random.Uniform(3)};
      for (uint64_t i = 0; i < kKeys; i++) {
        DeadStretches::Stretch found;
        const bool holds = known[i] && known[i]->state <= now.state && known[i]->sequence <= now.sequence &&
                           known[i]->micros <= now.micros;
        ASSERT_EQ(holds, stretches.Find(Key(i), now, &found)) << seed << ": " << step << ": " << i;
        if (!holds) continue;
        ASSERT_TRUE(found.begin <= Key(i) && Key(i) < found.end);
        ASSERT_EQ(known[i]->state, found.as_of.state);
        ASSERT_EQ(known[i]->sequence, found.as_of.sequence);
        ASSERT_EQ(known[i]->micros, found.as_of.micros);
      }
    }
  }
}

TEST(DeadStretchesTest, KeepsAsManyAsItMay) {
  DeadStretches stretches{KeyOrder(BytewiseComparator())};
  for (uint64_t i = 0; i < 5000; i++) stretches.Add({Key(2 * i), Key(2 * i + 1), {1, i, 0}});
  EXPECT_EQ(1024u, stretches.count());
  DeadStretches::Stretch found;
  EXPECT_TRUE(stretches.Find(Key(2 * 4999), {1, 5000, 0}, &found)) << "the newest";
}

// ---- a database with them

class DeadKeysTest : public DbTestBase {
 protected:
  static constexpr uint64_t kSecond = 1000 * 1000;
  static constexpr uint64_t kBegin = 4000000000 * kSecond;

  // Opens at the date kBegin, which stands still until a test changes it, and with background work by steps.
  void OpenBySteps() {
    date_ = kBegin;
    DBImpl::Hooks hooks;
    hooks.wall_micros = [] { return date_.load(); };
    hooks.background = BackgroundMode::kBySteps;
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
    steps_ = db.get();
    db_ = std::move(db);
  }

  std::unique_ptr<Iterator> NewIterator(const ReadOptions& options = ReadOptions()) {
    return std::unique_ptr<Iterator>(db_->NewIterator(options));
  }

  // The first key, or "none".
  std::string First(const ReadOptions& options = ReadOptions()) {
    const auto it = NewIterator(options);
    it->SeekToFirst();
    EXPECT_OK(it->status());
    return it->Valid() ? it->key().ToString() : "none";
  }

  static inline std::atomic<uint64_t> date_{0};
  DBImpl* steps_ = nullptr;  // the open database, of OpenBySteps
};

// A history of long stretches that are deleted key by key, with little in between, in the default family and in
// another one. Iterators and snapshots are held across writes.
class DeadHistory {
 public:
  DeadHistory(uint64_t seed, DB* db, ColumnFamilyHandle* family) : random_(seed), db_(db), family_(family) {}
  ~DeadHistory() {
    held_.clear();
    for (const auto& snapshot : snapshots_) db_->ReleaseSnapshot(snapshot.handle);
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); i++) Step();
  }

 private:
  static constexpr uint64_t kKeys = 3000;

  struct Side {
    ColumnFamilyHandle* family;
    Model model{BytewiseComparator()};
  };
  struct Snapshotted {
    const Snapshot* handle;
    Model::State states[2];
  };
  struct Held {
    std::unique_ptr<Iterator> it;
    std::string lower, upper;
    Slice lower_slice, upper_slice;
    std::unique_ptr<ModelCursor> expected;
  };

  std::string AnyKey() { return (random_.OneIn(2) ? "\x01" : "\xff\xff") + Key(random_.Uniform(kKeys)); }

  void Step() {
    const size_t side = random_.Uniform(2);
    switch (random_.Uniform(14)) {
      case 0:
      case 1:
      case 2:
        return EraseStretch(&sides_[side]);
      case 3:
      case 4:
        return PutSome(&sides_[side]);
      case 5: {
        const std::string begin = AnyKey(), end = AnyKey();
        if (begin >= end || random_.OneIn(2)) return;
        ASSERT_OK(db_->DeleteRange(WriteOptions(), sides_[side].family, begin, end));
        sides_[side].model.DeleteRange(begin, end);
        return;
      }
      case 6:
        if (snapshots_.size() < 4)
          snapshots_.push_back({db_->GetSnapshot(), {sides_[0].model.Snapshot(), sides_[1].model.Snapshot()}});
        return;
      case 7:
        if (snapshots_.empty()) return;
        db_->ReleaseSnapshot(snapshots_.front().handle);
        return snapshots_.pop_front();
      case 8:
        if (random_.OneIn(2)) ASSERT_OK(db_->Flush());
        if (random_.OneIn(6)) ASSERT_OK(db_->WaitForIdle());
        return;
      case 9:
        return Hold(side);
      default:
        for (auto& held : held_) Walk(held.get(), random_.Uniform(4));
        if (held_.size() > 3) held_.pop_front();
        Hold(random_.Uniform(2));
        Walk(held_.back().get(), 3 + random_.Uniform(6));
    }
  }

  // One by one, as the head of a queue moves; what is dead already is deleted once more now and then. Values may lie in
  // another source than their tombstones.
  void EraseStretch(Side* side) {
    const uint64_t begin = random_.Uniform(kKeys), end = std::min(kKeys, begin + 100 + random_.Uniform(600));
    const std::string front = random_.OneIn(2) ? "\x01" : "\xff\xff";
    if (random_.OneIn(2)) {
      for (uint64_t i = begin; i < end; i++) {
        ASSERT_OK(db_->Put(WriteOptions(), side->family, front + Key(i), "short"));
        side->model.Put(front + Key(i), "short");
      }
      if (random_.OneIn(2)) ASSERT_OK(db_->Flush());
    }
    for (uint64_t i = begin; i < end; i++) {
      if (random_.OneIn(200)) continue;
      ASSERT_OK(db_->Delete(WriteOptions(), side->family, front + Key(i)));
      side->model.Delete(front + Key(i));
    }
  }

  void PutSome(Side* side) {
    for (uint64_t i = random_.Uniform(12); i > 0; i--) {
      const std::string key = AnyKey(), value = std::to_string(random_.Uniform(1000));
      if (random_.OneIn(4)) {
        ASSERT_OK(db_->Merge(WriteOptions(), side->family, key, value));
        side->model.Merge(key, value);
      } else {
        ASSERT_OK(db_->Put(WriteOptions(), side->family, key, value));
        side->model.Put(key, value);
      }
    }
  }

  void Hold(size_t side) {
    auto held = std::make_unique<Held>();
    ReadOptions options;
    Model::State state = sides_[side].model.Snapshot();
    if (!snapshots_.empty() && random_.OneIn(3)) {
      const Snapshotted& snapshot = snapshots_[random_.Uniform(snapshots_.size())];
      options.snapshot = snapshot.handle;
      state = snapshot.states[side];
    }
    std::optional<std::string> lower, upper;
    if (random_.OneIn(4)) {
      lower = held->lower = AnyKey();
      held->lower_slice = held->lower;
      options.iterate_lower_bound = &held->lower_slice;
    }
    if (random_.OneIn(4)) {
      upper = held->upper = AnyKey();
      held->upper_slice = held->upper;
      options.iterate_upper_bound = &held->upper_slice;
    }
    held->expected = std::make_unique<ModelCursor>(std::move(state), lower, upper);
    held->it.reset(db_->NewIterator(options, sides_[side].family));
    held_.push_back(std::move(held));
  }

  void Walk(Held* held, uint64_t moves) {
    for (; moves > 0; moves--) {
      const uint64_t dice = random_.Uniform(8);
      if (dice == 0) {
        held->it->SeekToFirst();
        held->expected->SeekToFirst();
      } else if (dice == 1) {
        held->it->SeekToLast();
        held->expected->SeekToLast();
      } else if (dice < 4 || !held->expected->Valid()) {
        const std::string target = AnyKey();
        held->it->Seek(target);
        held->expected->Seek(target);
      } else if (dice < 6) {
        held->it->Next();
        held->expected->Next();
      } else {
        held->it->Prev();
        held->expected->Prev();
      }
      ASSERT_OK(held->it->status());
      ASSERT_EQ(held->expected->Valid(), held->it->Valid());
      if (!held->it->Valid()) continue;
      ASSERT_EQ(Printable(held->expected->key()), Printable(held->it->key()));
      ASSERT_EQ(held->expected->value(), held->it->value().ToString());
    }
  }

  Random random_;
  DB* const db_;
  ColumnFamilyHandle* const family_;
  Side sides_[2] = {{db_->DefaultColumnFamily()}, {family_}};
  std::deque<Snapshotted> snapshots_;
  std::deque<std::unique_ptr<Held>> held_;
};

TEST_F(DeadKeysTest, RandomHistoriesAnswerAsTheirModel) {
  const std::unique_ptr<const MergeOperator> append(NewStringAppendOperator(","));
  options_.merge_operator = append.get();
  for (const uint64_t seed : Seeds(ByScale(3, 10, 200))) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    path_ = dir_ / ("db" + std::to_string(seed));
    options_.write_buffer_size = seed % 2 == 0 ? 64 * 1024 : 16 << 20;
    Open();
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily("family", &family));
    DeadHistory(seed, db_.get(), family).Run(500);
    if (HasFailure()) return;
    Close();
  }
}

// Comparisons of the seek to the head of a queue, when thousands were popped, wherever they are; with and without a
// snapshot that still has some of them.
TEST_F(DeadKeysTest, ASeekToTheHeadOfAQueueCostsLittle) {
  constexpr uint64_t kRounds = 20000, kWindow = 100;
  const CountingComparator comparator;
  options_.comparator = &comparator;
  for (const bool in_memory : {true, false}) {
    SCOPED_TRACE(in_memory);
    path_ = dir_ / (in_memory ? "memory" : "tables");
    options_.write_buffer_size = in_memory ? 256 << 20 : 64 * 1024;
    Open();
    const Snapshot* snapshot = nullptr;
    for (uint64_t i = 0; i < kWindow; i++) Put(Key(i), "item");
    uint64_t comparisons = 0, worst = 0;
    for (uint64_t i = 0; i < kRounds; i++) {
      Put(Key(i + kWindow), "item");
      if (i == kRounds / 2) snapshot = db_->GetSnapshot();
      const uint64_t before = comparator.count();
      ASSERT_EQ(Key(i), First());
      const uint64_t cost = comparator.count() - before;
      comparisons += cost;
      worst = std::max(worst, cost);
      Delete(Key(i));
      // Merges compare as well, so they end before the seeks are counted.
      if (i % 512 == 0) Settle();
    }
    RecordProperty("mean", static_cast<int>(comparisons / kRounds));
    EXPECT_LT(comparisons / kRounds, 1500u);
    ReadOptions before;
    before.snapshot = snapshot;
    EXPECT_EQ(Key(kRounds / 2), First(before));
    db_->ReleaseSnapshot(snapshot);
    EXPECT_EQ(Key(kRounds), First());
    Close();
  }
}

// Nine in ten of a queue were popped. The way back over them is short once it was walked, also when something was
// written since.
TEST_F(DeadKeysTest, TheDeadBehindAHeadAreWalkedOnce) {
  constexpr uint64_t kKeys = 20000;
  const CountingComparator comparator;
  options_.comparator = &comparator;
  options_.write_buffer_size = 64 << 20;
  for (const bool flushed : {false, true}) {
    SCOPED_TRACE(flushed);
    path_ = dir_ / (flushed ? "flushed" : "memory");
    Open();
    for (uint64_t i = 0; i < kKeys; i++) Put(Key(i), "item");
    for (uint64_t i = 0; i < kKeys * 9 / 10; i++) Delete(Key(i));
    if (flushed) ASSERT_OK(db_->Flush());
    {
      const auto it = NewIterator();
      it->SeekToLast();
      it->Seek(Key(kKeys * 9 / 10));
      it->Prev();
      EXPECT_FALSE(it->Valid());
    }
    const uint64_t before = comparator.count();
    for (int round = 0; round < 10; round++) {
      const auto it = NewIterator();
      it->SeekToFirst();
      ASSERT_TRUE(it->Valid());
      EXPECT_EQ(Key(kKeys * 9 / 10), it->key().ToString());
      it->Prev();
      EXPECT_FALSE(it->Valid());
    }
    EXPECT_LT(comparator.count() - before, 10 * 1000u);
    Put(Key(7), "again");
    EXPECT_EQ(Key(7), First());
    Close();
  }
}

// The walk leaves the tombstones of a stretch before the values that they hide: no value is the base of a newer
// operand.
TEST_F(DeadKeysTest, AnOperandInAStretchHasNoBaseThere) {
  const std::unique_ptr<const MergeOperator> append(NewStringAppendOperator(","));
  options_.merge_operator = append.get();
  options_.write_buffer_size = 64 << 20;
  Open();
  for (uint64_t i = 0; i < 1000; i++) {
    if (i != 15 && i != 16) Put(Key(i), "old");  // the sixteenth key is the one that is looked up
  }
  Settle();
  for (uint64_t i = 0; i < 1000; i++) Delete(Key(i));
  ASSERT_OK(db_->Flush());
  EXPECT_EQ("none", First());
  ASSERT_OK(db_->Merge(WriteOptions(), Key(17), "new"));
  EXPECT_EQ("(" + Key(17) + "->new)", Forward(db_.get()));
  EXPECT_EQ("(" + Key(17) + "->new)", Backward(db_.get()));
}

// Values that had expired when a stretch was found need not have for a reader whose clock was set back.
TEST_F(DeadKeysTest, AClockThatGoesBackShowsWhatIsNotYetExpired) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  WriteOptions ten;
  ten.lifetime_seconds = 10;
  for (uint64_t i = 0; i < 20; i++) Delete(Key(i));
  for (uint64_t i = 20; i < 500; i++) ASSERT_OK(db_->Put(ten, Key(i), "short"));
  Put(Key(500), "long");
  date_ = kBegin + 20 * kSecond;
  EXPECT_EQ(Key(500), First());
  EXPECT_EQ(Key(500), First());
  // A streak that goes over the stretch and is made of deleted keys alone still stands for what had expired.
  for (uint64_t i = 0; i < 200; i++) Delete("a" + Key(i));
  EXPECT_EQ(Key(500), First());
  EXPECT_EQ(Key(500), First());
  date_ = kBegin + 5 * kSecond;
  EXPECT_EQ(Key(20), First());
  date_ = kBegin + 30 * kSecond;
  EXPECT_EQ(Key(500), First());
}

// Removes the values that say so.
class DropFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "test.Drop"; }
  Decision Filter(int, const Slice&, ValueKind, const Slice& value, std::string*) const override {
    return value == Slice("drop") ? Decision::kRemove : Decision::kKeep;
  }
};

// A filter and an expiry change what a sequence shows without a write. An iterator of before still shows what was
// there.
TEST_F(DeadKeysTest, WhatWasRemovedSinceIsAliveForAnIteratorOfBefore) {
  const DropFilter filter;
  options_.compaction_filter = &filter;
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  const Snapshot* const empty = db_->GetSnapshot();
  for (uint64_t i = 0; i < 300; i++) {
    if (i >= 100 && i < 200) {
      Put(Key(i), "drop");
    } else {
      Delete(Key(i));
    }
  }
  ASSERT_OK(db_->Flush());
  const std::unique_ptr<Iterator> before(db_->NewIterator(ReadOptions()));
  Settle();
  EXPECT_EQ("none", First());
  EXPECT_EQ("none", First());
  uint64_t count = 0;
  for (before->SeekToFirst(); before->Valid(); before->Next()) count++;
  EXPECT_EQ(100u, count);
  for (before->SeekToLast(); before->Valid(); before->Prev()) count--;
  EXPECT_EQ(0u, count);
  EXPECT_OK(before->status());
  db_->ReleaseSnapshot(empty);
}

TEST_F(DeadKeysTest, WhatHasExpiredSinceIsAliveForAnIteratorOfBefore) {
  ASSERT_NO_FATAL_FAILURE(OpenBySteps());
  WriteOptions ten;
  ten.lifetime_seconds = 10;
  for (uint64_t i = 100; i < 200; i++) ASSERT_OK(db_->Put(ten, Key(i), "short"));
  ASSERT_OK(db_->WaitForIdle());
  for (uint64_t i = 0; i < 300; i++) {
    if (i < 100 || i >= 200) Delete(Key(i));
  }
  const std::unique_ptr<Iterator> before(db_->NewIterator(ReadOptions()));
  date_ = kBegin + 20 * kSecond;
  while (steps_->RunStep(DBImpl::Step::kMerge)) {
  }
  EXPECT_EQ(0u, Counter("entries")) << "the table went, and the tombstones in the memtable did not";
  EXPECT_EQ("none", First());
  EXPECT_EQ("none", First());
  uint64_t count = 0;
  for (before->SeekToFirst(); before->Valid(); before->Next()) count++;
  EXPECT_EQ(100u, count);
}

// Reads that go over the same dead versions again and again have the memtable sealed; where nothing is dead, nobody
// asks.
TEST_F(DeadKeysTest, AMemTableFullOfTheDeadIsSealed) {
  for (const bool dead : {true, false}) {
    SCOPED_TRACE(dead);
    path_ = dir_ / (dead ? "dead" : "alive");
    options_.write_buffer_size = 64 << 20;
    ASSERT_NO_FATAL_FAILURE(OpenBySteps());
    for (uint64_t i = 0; i < 2000; i++) Put(Key(i), "item");
    for (uint64_t i = 0; i < 1990 && dead; i++) Delete(Key(i));
    int rounds = 0;
    while (Counter("immutable-memtables") == 0 && rounds < 200) {
      Put(Key(1999), "item");  // so that the read is newer than the stretch
      EXPECT_EQ(Key(dead ? 1990 : 0), First());
      rounds++;
    }
    EXPECT_EQ(dead ? 1u : 0u, Counter("immutable-memtables")) << rounds;
    EXPECT_GT(rounds, 10) << "a flush costs more than a few walks";
    while (steps_->RunStep(DBImpl::Step::kFlush)) {
    }
    EXPECT_EQ(Key(dead ? 1990 : 0), First());
    Close();
  }
}

}  // namespace
}  // namespace miodb::test
