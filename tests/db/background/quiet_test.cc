// Work that a database does by itself while nobody writes, and that it stops when somebody writes.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <thread>

#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

void SleepMillis(uint64_t millis) { std::this_thread::sleep_for(std::chrono::milliseconds(millis)); }

class QuietTest : public DbTestBase {
 protected:
  // A memtable holds 470 of them. A flushed run stays by itself if the repository has more than eight times its entries
  // (QuietPolicy::growth), and BufferEmpty would wait for ever for such a run.
  static constexpr uint64_t kKeys = 3000;
  static constexpr size_t kValueBytes = 100;

  void SetUp() override { options_.settle_after_idle_ms = 20; }

  bool BufferEmpty() {
    for (int level = 0; level + 1 < options_.num_levels; level++) {
      if (TablesAtLevel(level) > 0) return false;
    }
    return true;
  }

  // Whether it comes true while so many seconds pass.
  template <typename Condition>
  static bool Comes(Condition condition) {
    for (int i = 0; i < 6000; i++) {
      if (condition()) return true;
      SleepMillis(10);
    }
    return false;
  }

  // Nothing is at work: the figures of jobs stand still over several silences.
  bool Rests() {
    const uint64_t jobs = Counter("merges") + Counter("flushes"), bytes = Counter("nvm-bytes-total");
    SleepMillis(500);
    return Counter("merges") + Counter("flushes") == jobs && Counter("nvm-bytes-total") == bytes;
  }
};

TEST_F(QuietTest, ADatabaseThatIsLeftAloneSettlesByItself) {
  Open();
  Fill(kKeys, kValueBytes);
  ASSERT_FALSE(BufferEmpty() && Counter("quiet-merges") == 0);
  EXPECT_TRUE(Comes([this] { return BufferEmpty(); }));
  EXPECT_GT(TablesAtLevel(options_.num_levels - 1), 0u);
  EXPECT_GT(Counter("quiet-merges"), 0u);
  EXPECT_GT(Counter("quiet-bytes-written"), 0u);
  CheckFilled(kKeys, kValueBytes);
  Close();
  Open();
  CheckFilled(kKeys, kValueBytes);
}

TEST_F(QuietTest, WithoutTheOptionNothingIsSettled) {
  options_.settle_after_idle_ms = 0;
  Open();
  Fill(kKeys, kValueBytes);
  ASSERT_TRUE(Comes([this] { return Rests(); }));
  EXPECT_FALSE(BufferEmpty());
  EXPECT_EQ(0u, Counter("quiet-merges"));
  Settle();
  EXPECT_TRUE(BufferEmpty());
}

// Writes come at random moments until one has met a merge.
TEST_F(QuietTest, AWriteStopsIt) {
  options_.settle_after_idle_ms = 1;
  Open();
  const uint64_t seed = Seeds(1)[0];
  SCOPED_TRACE(Repeat(seed));
  Random random(seed);
  uint64_t round = 0;
  const bool met = Comes([&] {
    Fill(kKeys, kValueBytes, ++round);
    for (int i = 0; i < 20 && Counter("quiet-merges-given-up") == 0; i++) {
      SleepMillis(random.Uniform(20));
      const uint64_t key = random.Uniform(kKeys);
      Put(FilledKey(key), FilledValue(key, kValueBytes, round));
    }
    return Counter("quiet-merges-given-up") > 0;
  });
  EXPECT_TRUE(met);
  CheckFilled(kKeys, kValueBytes, round);
  EXPECT_TRUE(Comes([this] { return BufferEmpty(); })) << "it is tried again";
}

// A thread that looked for work again and again would take a CPU, or wake up thousands of times.
TEST_F(QuietTest, ADatabaseAtRestUsesNoCpu) {
  Open();
  Fill(kKeys, kValueBytes);
  ASSERT_TRUE(Comes([this] { return BufferEmpty(); }));
  ASSERT_TRUE(Comes([this] { return Rests(); }));
  const uint64_t merges = Counter("quiet-merges");
  const auto usage = [] {
    rusage u;
    EXPECT_EQ(0, getrusage(RUSAGE_SELF, &u));
    return u;
  };
  const rusage before = usage();
  SleepMillis(1000);
  const rusage after = usage();
  const auto micros = [](const timeval& t) { return static_cast<int64_t>(t.tv_sec) * 1000000 + t.tv_usec; };
  EXPECT_LT(micros(after.ru_utime) + micros(after.ru_stime) - micros(before.ru_utime) - micros(before.ru_stime),
            200 * 1000);
  EXPECT_LT(after.ru_nvcsw - before.ru_nvcsw, 400) << "wake-ups in a second";
  EXPECT_EQ(merges, Counter("quiet-merges"));
}

TEST_F(QuietTest, WaitForIdleSettlesAllBesideIt) {
  options_.settle_after_idle_ms = 1;
  Open();
  for (uint64_t round = 0; round < 5; round++) {
    Fill(kKeys, kValueBytes, round);
    SleepMillis(round);
    ASSERT_OK(db_->WaitForIdle());
    EXPECT_TRUE(BufferEmpty());
    CheckFilled(kKeys, kValueBytes, round);
  }
}

}  // namespace
}  // namespace miodb::test
