#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "src/db/state/read_state.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

// States that count how many of them live. The number of a state is the number of levels of its version.
class StateMaker {
 public:
  std::unique_ptr<ReadState> Make(size_t number) {
    auto state = std::make_unique<ReadState>();
    live_.fetch_add(1);
    auto* const version = new Version;
    version->levels.resize(number);
    state->version = VersionRef(version, [this](const Version* v) {
      delete v;
      live_.fetch_sub(1);
    });
    return state;
  }

  int live() const { return live_.load(); }

 private:
  std::atomic<int> live_{0};
};

size_t NumberOf(const ReadState* state) { return state->version->levels.size(); }

TEST(ReadStatesTest, ThePublishedStateIsThePinnedOne) {
  StateMaker maker;
  {
    ReadStates states;
    for (size_t i = 1; i <= 5; i++) {
      states.Publish(maker.Make(i));
      ReadStates::Pin pin(&states);
      EXPECT_EQ(i, NumberOf(pin.get()));
      EXPECT_EQ(&states, pin->owner);
    }
  }
  EXPECT_EQ(0, maker.live());
}

TEST(ReadStatesTest, AnOldStateIsFreedWhenNobodyHoldsIt) {
  StateMaker maker;
  ReadStates states;
  states.Publish(maker.Make(1));
  for (size_t i = 2; i < 10; i++) {
    states.Publish(maker.Make(i));
    EXPECT_EQ(1, maker.live());
  }
  EXPECT_FALSE(states.Reclaim());
}

TEST(ReadStatesTest, APinKeepsItsState) {
  StateMaker maker;
  ReadStates states;
  states.Publish(maker.Make(1));
  {
    ReadStates::Pin pin(&states);
    for (size_t i = 2; i < 5; i++) states.Publish(maker.Make(i));
    EXPECT_EQ(1u, NumberOf(pin.get()));
    EXPECT_EQ(2, maker.live()) << "the pinned one and the current one";
    EXPECT_TRUE(states.Reclaim());
  }
  EXPECT_FALSE(states.Reclaim());
  EXPECT_EQ(1, maker.live());
}

// A comparator or an Env that a read calls may read the same database.
TEST(ReadStatesTest, APinInsideOfAPinLeavesTheOuterOneAlone) {
  StateMaker maker;
  ReadStates states;
  states.Publish(maker.Make(1));
  {
    ReadStates::Pin outer(&states);
    {
      ReadStates::Pin inner(&states);
      states.Publish(maker.Make(2));
      ReadStates::Pin innermost(&states);
      EXPECT_EQ(1u, NumberOf(inner.get()));
      EXPECT_EQ(2u, NumberOf(innermost.get()));
    }
    states.Publish(maker.Make(3));
    EXPECT_EQ(2, maker.live()) << "that of the outer pin and the current one";
    EXPECT_EQ(1u, NumberOf(outer.get()));
  }
  EXPECT_FALSE(states.Reclaim());
  EXPECT_EQ(1, maker.live());
}

TEST(ReadStatesTest, AThreadKnowsWhatItHasSeenToBeVisible) {
  StateMaker maker;
  ReadStates states;
  states.Publish(maker.Make(1));
  {
    ReadStates::Pin pin(&states);
    EXPECT_EQ(0u, pin.visible());
    pin.SetVisible(5);
  }
  ReadStates::Pin pin(&states);
  EXPECT_EQ(5u, pin.visible());
  {
    ReadStates::Pin inner(&states);
    EXPECT_EQ(0u, inner.visible());
    inner.SetVisible(9);
    EXPECT_EQ(0u, inner.visible()) << "it has no slot to keep it in";
  }
  EXPECT_EQ(5u, pin.visible());
  std::thread([&states] {
    ReadStates::Pin other(&states);
    EXPECT_EQ(0u, other.visible());
  }).join();
}

TEST(ReadStatesTest, AReferenceKeepsItsStateLongerThanThePin) {
  StateMaker maker;
  ReadStates states;
  states.Publish(maker.Make(1));
  ReadState* state;
  {
    ReadStates::Pin pin(&states);
    state = pin.get();
    ReadStates::Ref(state);
    ReadStates::Ref(state);
  }
  states.Publish(maker.Make(2));
  EXPECT_EQ(1u, NumberOf(state));
  states.Unref(state);
  EXPECT_EQ(1u, NumberOf(state));
  EXPECT_EQ(2, maker.live());
  states.Unref(state);
  EXPECT_EQ(1, maker.live()) << "the last reference frees what is retired";
}

TEST(ReadStatesTest, AReferenceToTheCurrentStateMayComeAndGo) {
  StateMaker maker;
  ReadStates states;
  states.Publish(maker.Make(1));
  for (int i = 0; i < 3; i++) {
    ReadStates::Pin pin(&states);
    ReadStates::Ref(pin.get());
    states.Unref(pin.get());
  }
  EXPECT_EQ(1, maker.live());
}

TEST(ReadStatesTest, OneThreadMayPinStatesOfTwoDatabases) {
  StateMaker maker;
  ReadStates a, b;
  a.Publish(maker.Make(1));
  b.Publish(maker.Make(2));
  ReadStates::Pin pin_a(&a);
  ReadStates::Pin pin_b(&b);
  a.Publish(maker.Make(3));
  b.Publish(maker.Make(4));
  EXPECT_EQ(1u, NumberOf(pin_a.get()));
  EXPECT_EQ(2u, NumberOf(pin_b.get()));
}

TEST(ReadStatesTest, MoreThreadsThanSlotsPinAtOnce) {
  constexpr int kThreads = 200;
  StateMaker maker;
  ReadStates states;
  states.Publish(maker.Make(1));
  std::atomic<int> pinned{0};
  std::atomic<bool> release{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&] {
      ReadStates::Pin pin(&states);
      pinned.fetch_add(1);
      while (!release.load()) std::this_thread::yield();
      EXPECT_EQ(1u, NumberOf(pin.get()));
    });
  }
  while (pinned.load() < kThreads) std::this_thread::yield();
  for (size_t i = 2; i < 6; i++) states.Publish(maker.Make(i));
  EXPECT_EQ(2, maker.live());
  EXPECT_TRUE(states.Reclaim());
  release.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(states.Reclaim());
  EXPECT_EQ(1, maker.live());
}

// Threads come and go while states do; readers pin, refer, and look at what they hold.
class Stress {
 public:
  explicit Stress(uint64_t publications) : publications_(publications) { states_.Publish(maker_.Make(1)); }

  void Run(int readers) {
    std::vector<std::thread> threads;
    for (int t = 0; t < readers; t++) {
      threads.emplace_back([this, t] { Read(static_cast<uint64_t>(t)); });
    }
    for (uint64_t i = 2; i < publications_; i++) {
      states_.Publish(maker_.Make(i % 64 + 1));
    }
    done_.store(true);
    for (std::thread& thread : threads) thread.join();
    EXPECT_FALSE(states_.Reclaim());
    EXPECT_EQ(1, maker_.live());
  }

 private:
  void Read(uint64_t seed) {
    Random random(seed);
    std::vector<ReadState*> held;
    while (!done_.load()) {
      if (held.size() < 5) {
        ReadStates::Pin pin(&states_);
        const size_t number = NumberOf(pin.get());
        EXPECT_TRUE(number >= 1 && number <= 64);
        if (random.OneIn(3)) {
          ReadStates::Ref(pin.get());
          held.push_back(pin.get());
        }
        EXPECT_EQ(number, NumberOf(pin.get()));
      }
      if (!held.empty() && random.OneIn(2)) {
        EXPECT_GE(NumberOf(held.back()), 1u);
        states_.Unref(held.back());
        held.pop_back();
      }
      if (random.OneIn(100)) {
        std::thread([this] {
          ReadStates::Pin pin(&states_);
          EXPECT_GE(NumberOf(pin.get()), 1u);
        }).join();
      }
    }
    for (ReadState* state : held) states_.Unref(state);
  }

  const uint64_t publications_;
  StateMaker maker_;
  ReadStates states_;
  std::atomic<bool> done_{false};
};

TEST(ReadStatesTest, NoHeldStateIsEverFreed) {
  Stress(ByScale(RunsUnderSanitizer() ? 5000 : 20000, 50000, 1000000)).Run(4);
}

TEST(ReadStatesTest, NoHeldStateIsEverFreedWithMoreThreadsThanSlots) {
  Stress(ByScale(RunsUnderSanitizer() ? 300 : 2000, 5000, 100000)).Run(150);
}

// Reads the database that it orders the keys of, in every few comparisons of a read.
class ReadingComparator final : public Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override {
    DB* const db = db_.load();
    if (db != nullptr && ++comparisons_ % 3 == 0) {
      const int depth = depth_++;
      if (depth < 2) {
        std::string value;
        const Status s = db->Get(ReadOptions(), "fixed", &value);
        EXPECT_TRUE(s.ok() && value == "value") << s.ToString();
        std::unique_ptr<Iterator>(db->NewIterator(ReadOptions()))->SeekToFirst();
      }
      depth_--;
    }
    return BytewiseComparator()->Compare(a, b);
  }
  const char* Name() const override { return "test.ReadingComparator"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  void Read(DB* db) { db_.store(db); }

 private:
  std::atomic<DB*> db_{nullptr};
  static thread_local int depth_;
  static thread_local uint64_t comparisons_;
};

thread_local int ReadingComparator::depth_ = 0;
thread_local uint64_t ReadingComparator::comparisons_ = 0;

TEST(ReadStatesTest, AComparatorMayReadItsDatabase) {
  const TestDir dir;
  ReadingComparator comparator;
  Options options = FindOptionSet("tiny").options;
  options.comparator = &comparator;
  std::unique_ptr<DB> db;
  ASSERT_OK(OpenDb(options, dir / "db", &db));
  ASSERT_OK(db->Put(WriteOptions(), "fixed", "value"));
  comparator.Read(db.get());
  std::atomic<bool> done{false};
  std::thread reader([&] {
    for (uint64_t i = 0; !done.load(); i++) {
      std::string value;
      const Status s = db->Get(ReadOptions(), FilledKey(i % 300), &value);
      EXPECT_TRUE(s.IsNotFound() || (s.ok() && value == FilledValue(i % 300, 100, 0))) << s.ToString();
    }
  });
  // Memtables and versions come and go below the reader.
  for (uint64_t i = 0; i < 600; i++) {
    ASSERT_OK(db->Put(WriteOptions(), FilledKey(i % 300), FilledValue(i % 300, 100, 0)));
  }
  db->CompactRange(nullptr, nullptr);
  done.store(true);
  reader.join();
  comparator.Read(nullptr);
}

}  // namespace
}  // namespace miodb::test
