// The figures of PerfContext for a thread's calls.

#include "miodb/perf_context.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/common/db_test_base.h"
#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

class PerfContextTest : public DbTestBase {
 protected:
  PerfContextTest() {
    Open();
    GetPerfContext()->Reset();
  }
  ~PerfContextTest() override { SetPerfLevel(kPerfOff); }
};

uint64_t PutStages(const PerfContext& c) {
  return c.put_wait + c.put_room + c.put_log + c.put_memtable + c.put_fence + c.put_leave;
}

uint64_t GetStages(const PerfContext& c) {
  return c.get_memtable + c.get_filter + c.get_index + c.get_record + c.get_ssd;
}

TEST_F(PerfContextTest, NothingIsTakenUnlessAskedFor) {
  ASSERT_OK(db_->Put(WriteOptions(), "key", "value"));
  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key", &value));
  EXPECT_EQ(0u, GetPerfContext()->puts);
  EXPECT_EQ(0u, GetPerfContext()->put_total);
  EXPECT_EQ(0u, GetPerfContext()->gets);
}

TEST_F(PerfContextTest, CallsAndStagesAreCounted) {
  SetPerfLevel(kPerfTimes);
  for (int i = 0; i < 100; i++) ASSERT_OK(db_->Put(WriteOptions(), "key" + std::to_string(i), "value"));
  ASSERT_OK(db_->Delete(WriteOptions(), "key0"));
  const PerfContext& c = *GetPerfContext();
  EXPECT_EQ(101u, c.puts);
  EXPECT_LT(0u, c.put_log);
  EXPECT_LT(0u, c.put_memtable);
  EXPECT_LE(PutStages(c), c.put_total);

  std::string value;
  ASSERT_OK(db_->Get(ReadOptions(), "key1", &value));
  EXPECT_EQ(1u, c.gets);
  EXPECT_LT(0u, c.get_memtable);
  EXPECT_EQ(0u, c.tables_searched) << "the memtable has it";

  ASSERT_OK(db_->WaitForIdle());
  ASSERT_OK(db_->Get(ReadOptions(), "key1", &value));
  EXPECT_EQ(1u, c.tables_searched);
  EXPECT_LE(1u, c.filters_asked);
  EXPECT_LT(0u, c.get_index);
  EXPECT_LT(0u, c.get_record);
  EXPECT_LE(GetStages(c), c.get_total);
}

TEST_F(PerfContextTest, EveryThreadHasItsOwn) {
  SetPerfLevel(kPerfTimes);
  std::thread([this] {
    ASSERT_OK(db_->Put(WriteOptions(), "other", "value"));
    EXPECT_EQ(0u, GetPerfContext()->puts) << "this thread has asked for nothing";
  }).join();
  EXPECT_EQ(0u, GetPerfContext()->puts);
}

TEST_F(PerfContextTest, SumsAndText) {
  PerfContext a;
  a.puts = 4;
  a.put_total = 400;
  a.put_log = 100;
  PerfContext b;
  b.puts = 6;
  b.put_total = 1600;
  b.put_log = 300;
  b.gets = 1;
  a.Add(b);
  EXPECT_EQ(10u, a.puts);
  EXPECT_EQ(
      "put: 200 ns of 10 sampled: wait 0, room 0, log 40, memtable 0, fence 0, leave 0, rest 160\n"
      "get: 0 ns of 1 sampled: memtable 0, filter 0, index 0, record 0, ssd 0, rest 0; 0 filters asked, 0 tables "
      "searched, 0 records kept\n",
      a.ToString());
}

}  // namespace
}  // namespace miodb::test
