// The shares of one job go to all merge threads.

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "miodb/compaction_filter.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

constexpr size_t kThreads = 4;

// Keeps all records, and the threads that ask about their first one until there are kThreads of them.
class Meeting final : public CompactionFilter {
 public:
  const char* Name() const override { return "Meeting"; }
  Decision Filter(int, const Slice&, ValueKind, const Slice&, std::string*) const override {
    std::unique_lock<std::mutex> lock(mutex_);
    if (threads_.insert(std::this_thread::get_id()).second) {
      came_.notify_all();
      came_.wait_for(lock, std::chrono::minutes(2), [this] { return threads_.size() >= kThreads; });
    }
    return Decision::kKeep;
  }
  size_t threads() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return threads_.size();
  }

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable came_;
  mutable std::set<std::thread::id> threads_;
};

class JobSharesTest : public DbTestBase {};

TEST_F(JobSharesTest, AllMergeThreadsHelpWithOneMerge) {
  const Meeting meeting;
  options_.compaction_filter = &meeting;
  options_.max_background_merges = kThreads;
  options_.write_buffer_size = 4 << 20;  // nothing is merged before the settle
  options_.partition_size = 64 << 10;
  options_.pool_size = 64 << 20;
  options_.settle_after_idle_ms = 0;
  Open();
  Fill(20 * 1000, 100);
  ASSERT_EQ(0u, Counter("merges"));
  ASSERT_EQ(0u, meeting.threads());
  Settle();
  EXPECT_EQ(kThreads, meeting.threads());
  EXPECT_EQ(1u, Counter("merges"));
  CheckFilled(20 * 1000, 100);
}

}  // namespace
}  // namespace miodb::test
