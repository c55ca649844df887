// Pools of few bytes: a full one takes deletes and has space again after them,
// whatever its size and wherever its log.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kLeastPool = 128 * kKiB;  // that Open takes
constexpr uint64_t kPoolChunks = 32;         // at least, of log_chunk_size

class SmallPoolTest : public DbTestBase, public testing::WithParamInterface<LogMode> {
 protected:
  // A pool size, more often a small one, and other options that matter to a full pool.
  void Draw(Random* random) {
    options_ = Options();
    options_.create_if_missing = true;
    options_.log_mode = GetParam();
    const uint64_t scale = kLeastPool << random->Uniform(6);
    options_.pool_size = random->OneIn(4) ? scale : scale + random->Uniform(scale) / 4096 * 4096;
    if (!random->OneIn(3)) options_.write_buffer_size = (4 * kKiB) << random->Uniform(9);
    if (random->OneIn(2)) options_.pool_growth = (4 * kKiB) << random->Uniform(8);
    if (random->OneIn(4)) options_.log_chunk_size = options_.pool_size / kPoolChunks / 4096 * 4096;
    value_bytes_ = random->OneIn(4) ? 1 + random->Uniform(64) : 64 + random->Uniform(options_.pool_size / 64);
  }

  std::string Describe() const {
    return "pool_size " + std::to_string(options_.pool_size) + ", write_buffer_size " +
           std::to_string(options_.write_buffer_size) + ", pool_growth " + std::to_string(options_.pool_growth) +
           ", log_chunk_size " + std::to_string(options_.log_chunk_size) + ", values of " +
           std::to_string(value_bytes_) + " bytes";
  }

  std::string Counters() { return Property("miodb.counters"); }

  // Puts until one is refused, which has to be for want of space. Returns how
  // many were taken.
  uint64_t FillUntilFull(Random* random) {
    const uint64_t most = options_.pool_size / 16;
    for (uint64_t i = 0; i < most; i++) {
      const Status s = db_->Put(WriteOptions(), FilledKey(i),
                                std::string(value_bytes_, static_cast<char>('a' + random->Uniform(26))));
      if (s.ok()) continue;
      EXPECT_STATUS(NoSpace, s);
      return i;
    }
    ADD_FAILURE() << "the pool took more than it has";
    return most;
  }

  // In a random order, with a reopen in between at times.
  void DeleteAll(uint64_t count, Random* random) {
    const uint64_t step = 1 + 2 * random->Uniform(count);  // visits all if it has no divisor in common with count
    std::map<uint64_t, bool> left;
    for (uint64_t i = 0; i < count; i++) left[i] = true;
    for (uint64_t n = 0; n < count; n++) {
      auto it = left.lower_bound(n * step % count);
      if (it == left.end()) it = left.begin();
      const Status s = db_->Delete(WriteOptions(), FilledKey(it->first));
      ASSERT_TRUE(s.ok()) << "delete " << n << " of " << count << ": " << s.ToString() << "\n" << Counters();
      left.erase(it);
    }
  }

  void FillAndEmpty(Random* random) {
    Open();
    for (int cycle = 0; cycle < 3; cycle++) {
      SCOPED_TRACE("cycle " + std::to_string(cycle));
      const uint64_t count = FillUntilFull(random);
      ASSERT_GT(count, 0u) << Counters();
      if (random->OneIn(3)) Open();
      if (HasFatalFailure()) return;
      DeleteAll(count, random);
      if (HasFatalFailure()) return;
      if (random->OneIn(2)) Open();
      db_->CompactRange(nullptr, nullptr);
      EXPECT_EQ("", Forward(db_.get()));
    }
    ASSERT_EQ("OK", Property("miodb.background-error"));
    db_.reset();
    ASSERT_OK(DestroyDB(path_, options_));
  }

  size_t value_bytes_ = 0;
};

INSTANTIATE_TEST_SUITE_P(LogModes, SmallPoolTest, testing::Values(kLogPmem, kLogOff, kLogFile),
                         [](const testing::TestParamInfo<LogMode>& mode) {
                           return std::string(mode.param == kLogPmem  ? "log_in_pool"
                                              : mode.param == kLogOff ? "log_off"
                                                                      : "log_in_files");
                         });

TEST_P(SmallPoolTest, ThatIsFullTakesDeletesAndHasSpaceAgain) {
  for (const uint64_t seed : Seeds(ByScale(60, 300, 3000))) {
    Random random(seed);
    Draw(&random);
    SCOPED_TRACE(Repeat(seed) + ": " + Describe());
    FillAndEmpty(&random);
    if (HasFatalFailure()) return;
  }
}

// Keys that were written in order make tables that do not overlap, which
// nothing merges before a delete comes.
TEST_P(SmallPoolTest, ThatIsFullOfTablesSideBySideTakesDeletes) {
  for (const uint64_t kib : {128, 160, 184, 240, 256}) {
    options_.create_if_missing = true;
    options_.log_mode = GetParam();
    options_.pool_size = kib * kKiB;
    options_.write_buffer_size = 16 * kKiB;
    options_.pool_growth = 128 * kKiB;
    value_bytes_ = 2135;
    SCOPED_TRACE(Describe());
    Random random(kib);
    FillAndEmpty(&random);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace miodb::test
