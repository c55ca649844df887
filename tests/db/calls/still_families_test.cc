// Copies of a database have the column families of the moment that their records are of, whatever others do to families
// while a copy is made.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdarg>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "miodb/env.h"
#include "miodb/updates.h"
#include "src/db/open/db_impl.h"
#include "tests/common/db_test_base.h"

namespace miodb::test {
namespace {

// Done by this thread the next time that it comes to a place in the middle of a call; null: nothing.
thread_local std::function<void()> in_the_middle;

void ComeToTheMiddle() {
  if (in_the_middle != nullptr) std::exchange(in_the_middle, nullptr)();
}

class MiddleLogger final : public Logger {
 public:
  void Logv(const char*, va_list) override { ComeToTheMiddle(); }
};

class StillFamiliesTest : public DbTestBase {
 protected:
  StillFamiliesTest() {
    hooks_.wall_micros = [] {
      ComeToTheMiddle();
      return uint64_t{4000000000} * 1000 * 1000;
    };
  }
  ~StillFamiliesTest() override { db_.reset(); }

  void Open() {
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks_, &db));
    db_ = std::move(db);
    ASSERT_OK(db_->CreateColumnFamily("own", &own_));
    WriteBatch batch;
    batch.Put("counter", "1");
    batch.Put(own_, "counter", "1");
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
  }

  // Does the call, and in its middle the other one in another thread. Where that has to wait for the call, the call
  // goes on after a while; both are over in the end.
  template <typename Call>
  void DoBeside(const Call& call, const std::function<void()>& other) {
    std::future<void> done;
    in_the_middle = [&] {
      done = std::async(std::launch::async, other);
      done.wait_for(std::chrono::milliseconds(200));
    };
    call();
    ASSERT_TRUE(done.valid()) << "the call has no middle";
    done.get();
  }

  DbHooks hooks_;
  ColumnFamilyHandle* own_ = nullptr;
};

class StillFamiliesOfModeTest : public StillFamiliesTest, public testing::WithParamInterface<LogMode> {};

// The first family is dropped, and another one made, after the counter is 2: while it was 1 the first was there.
TEST_P(StillFamiliesOfModeTest, ASavepointHasThoseOfItsSequence) {
  options_.log_mode = GetParam();
  Open();
  DoBeside([&] { ASSERT_OK(db_->CreateSavepoint("s")); },
           [&] {
             EXPECT_OK(db_->Put(WriteOptions(), "counter", "2"));
             EXPECT_OK(db_->DropColumnFamily(own_));
             ColumnFamilyHandle* other = nullptr;
             EXPECT_OK(db_->CreateColumnFamily("other", &other));
           });
  DB* opened = nullptr;
  ASSERT_OK(db_->OpenSavepoint("s", &opened));
  const std::unique_ptr<DB> view(opened);
  std::string value;
  ASSERT_OK(view->Get(ReadOptions(), "counter", &value));
  EXPECT_EQ("1", value);
  ColumnFamilyHandle* family = nullptr;
  EXPECT_TRUE(view->GetColumnFamily("other", &family).IsNotFound());
  ASSERT_OK(view->GetColumnFamily("own", &family));
  ASSERT_OK(view->Get(ReadOptions(), family, "counter", &value));
  EXPECT_EQ("1", value);
}

INSTANTIATE_TEST_SUITE_P(LogModes, StillFamiliesOfModeTest, testing::Values(kLogPmem, kLogOff, kLogFile));

// A copy whose family is dropped by half would delete the content when it is opened, under the sequence of the write
// that comes next in the source; and then that write would never get to the copy.
TEST_F(StillFamiliesTest, NoCheckpointHasAFamilyThatIsDroppedByHalf) {
  MiddleLogger logger;
  options_.info_log = &logger;
  Open();
  DoBeside([&] { ASSERT_OK(db_->DropColumnFamily(own_)); },
           [&] {
             EXPECT_OK(db_->CreateCheckpoint(dir_ / "copy"));
             EXPECT_OK(db_->Put(WriteOptions(), "counter", "2"));
           });
  DB* opened = nullptr;
  ASSERT_OK(DB::Open(SmallOptions(), dir_ / "copy", &opened));
  const std::unique_ptr<DB> copy(opened);
  std::unique_ptr<UpdateIterator> updates;
  ASSERT_OK(db_->GetUpdatesSince(copy->GetLatestSequenceNumber() + 1, &updates));
  for (; updates->Valid(); updates->Next()) EXPECT_OK(copy->Write(WriteOptions(), updates->batch()));
  EXPECT_EQ("(counter->2)", Forward(db_.get()));
  EXPECT_EQ("(counter->2)", Forward(copy.get()));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), copy->GetLatestSequenceNumber());
  db_.reset();  // before the logger
}

}  // namespace
}  // namespace miodb::test
