// DB::StopWaiting: waits end, and the database goes on.

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

class StopWaitingTest : public DbTestBase {
 protected:
  StopWaitingTest() { options_.write_buffer_size = 64 * 1024; }
};

TEST_F(StopWaitingTest, LaterWaitsReturnAtOnceAndTheDatabaseGoesOn) {
  Open();
  Fill(5000, 100);
  EXPECT_OK(db_->WaitForIdle());
  db_->StopWaiting();
  Fill(5000, 100, 1);
  const Status s = db_->WaitForIdle();
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_NE(s.ToString().find("told to stop waiting"), std::string::npos) << s.ToString();
  db_->CompactRange(nullptr, nullptr);
  EXPECT_OK(db_->Flush());
  CheckFilled(5000, 100, 1);
  // It is about the object, not the database.
  Open();
  EXPECT_OK(db_->WaitForIdle());
  CheckFilled(5000, 100, 1);
}

TEST_F(StopWaitingTest, EndsAWaitInAnotherThread) {
  Open();
  Fill(20000, 100);
  // Waiters find nothing left to do before they are told to stop, or stop; both return.
  std::thread waiter([this] { (void)db_->WaitForIdle(); });
  std::thread compacter([this] { db_->CompactRange(nullptr, nullptr); });
  db_->StopWaiting();
  waiter.join();
  compacter.join();
  CheckFilled(20000, 100);
}

}  // namespace
}  // namespace miodb::test
