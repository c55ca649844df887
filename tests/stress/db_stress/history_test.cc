// The judgement of db_stress on histories that are made here instead of by a database.

#include "tests/stress/db_stress/history.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/common/random/random.h"
#include "tests/stress/db_stress/plan.h"

namespace miodb::test {
namespace {

constexpr uint64_t kSeed = 7;

class HistoryTest : public testing::Test {
 protected:
  HistoryTest() : data_(kSeed, 0, true), state_(std::make_unique<ExpectedState>()) {
    round_.number = 3;
    round_.writers = 2;
    round_.options.log_mode = kLogPmem;
    state_->StartGeneration();
    state_->StartRound();
    versions_.resize(data_.units());
    shown_.resize(data_.units());
  }

  // Operation n of a writer, which the database is to show or not.
  void Do(int writer, uint64_t n, bool ended, bool shown, bool refused = false) {
    OperationTimes& times = state_->times[writer][n];
    times.begun.store(state_->Tick());
    state_->writers[writer].begun.store(n);
    for (const uint32_t unit : Units(writer, n)) {
      versions_[unit]++;
      if (shown) shown_[unit] = versions_[unit];
    }
    if (ended) times.ended.store(state_->Tick() | (refused ? kRefused : 0));
  }
  std::vector<uint32_t> Units(int writer, uint64_t n) const { return PlanOperation(kSeed, data_, round_, writer, n); }

  FoundValues Found() const {
    FoundValues found(data_.keys().size());
    for (size_t rank = 0; rank < found.size(); rank++) {
      const StressKey& key = data_.keys()[rank];
      const uint32_t version = shown_[key.unit];
      if (!data_.IsDeletion(key.unit, version)) found[rank] = data_.Value(key.unit, key.member, version);
    }
    return found;
  }
  std::string Judge(const FoundValues& found) { return History(kSeed, data_, round_, state_.get()).Judge(found); }
  std::string Judge() { return Judge(Found()); }

  // The first operation from n on for which is(units) holds.
  template <typename Predicate>
  uint64_t Find(int writer, uint64_t n, Predicate is) const {
    while (!is(Units(writer, n))) n++;
    return n;
  }
  // The first operation of writer 0, n or later, whose first unit gets a value and is written by no operation before it
  // and by none of the next 30.
  uint64_t SoleWrite(uint64_t n) const {
    const auto writes = [this](uint64_t i, uint32_t unit) {
      const std::vector<uint32_t> units = Units(0, i);
      return std::find(units.begin(), units.end(), unit) != units.end();
    };
    return Find(0, n, [&, at = n](const std::vector<uint32_t>& units) mutable {
      bool sole = ShowsIn(units[0], 1);
      for (uint64_t i = 1; i <= at + 30; i++) sole = sole && (i == at || !writes(i, units[0]));
      at++;
      return sole;
    });
  }
  bool ShowsIn(uint32_t unit, uint32_t version) const { return !data_.IsDeletion(unit, version); }

  const StressData data_;
  StressRound round_;
  std::unique_ptr<ExpectedState> state_;
  std::vector<uint32_t> versions_;
  std::vector<uint32_t> shown_;
};

TEST_F(HistoryTest, TakesAnUntouchedDatabase) { EXPECT_EQ("", Judge()); }

TEST_F(HistoryTest, TakesAllOperations) {
  for (uint64_t n = 1; n <= 500; n++) {
    Do(0, n, true, true);
    Do(1, n, true, true);
  }
  EXPECT_EQ("", Judge());
  for (uint32_t unit = 0; unit < data_.units(); unit++) {
    EXPECT_EQ(versions_[unit], state_->units[unit].verified_current);
    EXPECT_EQ(versions_[unit], state_->units[unit].verified_last);
  }
}

TEST_F(HistoryTest, TakesTheOperationUnderWayOrNot) {
  for (const bool shown : {false, true}) {
    state_->StartRound();
    std::fill(versions_.begin(), versions_.end(), 0);
    std::fill(shown_.begin(), shown_.end(), 0);
    for (uint64_t n = 1; n <= 50; n++) Do(0, n, true, true);
    Do(0, 51, false, shown);
    EXPECT_EQ("", Judge()) << shown;
  }
}

TEST_F(HistoryTest, RefusesALostAcknowledgedWrite) {
  for (uint64_t n = 1; n <= 50; n++) Do(0, n, true, n < 50);
  // The last one shows, or the states before and after it would be the same.
  ASSERT_TRUE(ShowsIn(Units(0, 50)[0], versions_[Units(0, 50)[0]]));
  EXPECT_NE("", Judge());
}

TEST_F(HistoryTest, RefusesAHole) {
  const uint64_t hole = SoleWrite(20);
  for (uint64_t n = 1; n <= hole + 30; n++) Do(0, n, true, n != hole);
  EXPECT_NE("", Judge());
}

TEST_F(HistoryTest, RefusesHalfOfABatch) {
  // Of the two units of an operation under way only the first shows.
  const uint64_t last = Find(0, 1, [this](const std::vector<uint32_t>& units) {
    return units.size() == 2 && ShowsIn(units[0], 1) && ShowsIn(units[1], 1);
  });
  for (uint64_t n = 1; n < last; n++) Do(0, n, true, true);
  const std::vector<uint32_t> units = Units(0, last);
  ASSERT_EQ(0u, versions_[units[0]] + versions_[units[1]]);
  Do(0, last, false, false);
  EXPECT_EQ("", Judge());
  shown_[units[0]] = 1;
  EXPECT_NE("", Judge());
  shown_[units[1]] = 1;
  EXPECT_EQ("", Judge());
}

TEST_F(HistoryTest, RefusesAGroupThatIsNotWhole) {
  for (uint64_t n = 1; n <= 200; n++) Do(0, n, true, true);
  FoundValues found = Found();
  for (uint32_t unit = 0; unit < data_.units(); unit += 4) {
    if (!found[data_.Rank(unit, 3)].has_value()) continue;
    found[data_.Rank(unit, 3)].reset();
    EXPECT_NE("", Judge(found));
    return;
  }
  FAIL() << "no group was written";
}

TEST_F(HistoryTest, RefusesValuesOfOtherKeysAndVersionsAndDamagedOnes) {
  for (uint64_t n = 1; n <= 200; n++) Do(0, n, true, true);
  const FoundValues good = Found();
  size_t rank = 0;
  while (!good[rank].has_value()) rank++;
  FoundValues found = good;
  found[rank]->back() ^= 1;
  EXPECT_NE("", Judge(found));
  found = good;
  found[rank] = data_.Value(data_.keys()[rank].unit + 1, 0, 1);
  EXPECT_NE("", Judge(found));
  found = good;
  found[rank]->push_back('x');
  EXPECT_NE("", Judge(found));
  found = good;
  found[rank] = data_.Value(data_.keys()[rank].unit, data_.keys()[rank].member, 1000);
  EXPECT_NE("", Judge(found));
}

TEST_F(HistoryTest, RefusesWhatCameBack) {
  for (uint64_t n = 1; n <= 2000; n++) Do(0, n, true, true);
  for (uint32_t unit = 0; unit < data_.units(); unit++) {
    if (versions_[unit] < 2 || !data_.IsDeletion(unit, versions_[unit]) || !ShowsIn(unit, versions_[unit] - 1))
      continue;
    shown_[unit]--;
    EXPECT_NE("", Judge());
    return;
  }
  FAIL() << "no unit was deleted";
}

TEST_F(HistoryTest, RefusesARefusedWriteThatIsThere) {
  for (uint64_t n = 1; n <= 50; n++) Do(0, n, true, n != 50, n == 50);
  EXPECT_EQ("", Judge());
  const std::vector<uint32_t> units = Units(0, 50);
  ASSERT_TRUE(ShowsIn(units[0], versions_[units[0]]));
  for (const uint32_t unit : units) shown_[unit] = versions_[unit];
  EXPECT_NE("", Judge());
}

class LogOffHistoryTest : public HistoryTest {
 protected:
  LogOffHistoryTest() { round_.options.log_mode = kLogOff; }

  // 100 operations of both writers in turn, the database ending at its own number of each.
  void DoBoth(uint64_t shown0, uint64_t shown1) {
    for (uint64_t n = 1; n <= 100; n++) {
      Do(0, n, true, n <= shown0);
      Do(1, n, true, n <= shown1);
      if (n == flush_at_) state_->flushed.store(state_->Tick());
    }
  }

  uint64_t flush_at_ = 0;
};

TEST_F(LogOffHistoryTest, TakesALostSuffix) {
  DoBoth(60, 60);
  EXPECT_EQ("", Judge());
}

TEST_F(LogOffHistoryTest, RefusesToLoseEarlierWritesOfOneThreadAndKeepLaterOnesOfAnother) {
  DoBoth(60, 90);
  EXPECT_NE("", Judge());
}

TEST_F(LogOffHistoryTest, RefusesToLoseWhatWasFlushed) {
  flush_at_ = 50;
  DoBoth(40, 40);
  EXPECT_NE("", Judge());
}

TEST_F(LogOffHistoryTest, TakesWhatWasFlushed) {
  flush_at_ = 50;
  DoBoth(50, 50);
  EXPECT_EQ("", Judge());
}

TEST_F(LogOffHistoryTest, RefusesToLoseAnythingAfterAClose) {
  DoBoth(60, 60);
  state_->closed.store(true);
  EXPECT_NE("", Judge());
}

TEST_F(LogOffHistoryTest, RefusesAHoleOfOneThread) {
  const uint64_t hole = SoleWrite(20);
  for (uint64_t n = 1; n <= hole + 30; n++) Do(0, n, true, n != hole);
  EXPECT_NE("", Judge());
}

}  // namespace
}  // namespace miodb::test
