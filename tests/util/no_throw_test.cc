// Nothing is thrown across the API, whatever the standard library throws: with no thread to be had, too.

#include "src/util/check/no_throw.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "miodb/env.h"
#include "src/util/threads/mutex.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/no_threads.h"

namespace miodb::test {
namespace {

TEST(NoThrowTest, WhatIsThrownBecomesAStatus) {
  EXPECT_OK(NoThrow("place", [] { return Status::OK(); }));
  EXPECT_TRUE(NoThrow("place", [] { return Status::NotFound("it"); }).IsNotFound());
  const Status memory = NoThrow("place", []() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ("IO error: place: out of memory", memory.ToString());
  const Status length = NoThrow("place", []() -> Status { throw std::length_error("too long"); });
  EXPECT_EQ("IO error: place: too long", length.ToString());
  const Status random = NoThrow("place", []() -> Status { throw std::runtime_error("no entropy"); });
  EXPECT_EQ("IO error: place: no entropy", random.ToString());
}

class NoThreadsTest : public DbTestBase {
 protected:
  void SetUp() override {
    if (RunsUnderSanitizer()) GTEST_SKIP() << "the sanitizer starts the threads";
  }
  ~NoThreadsTest() override { no_threads.store(false); }
};

TEST_F(NoThreadsTest, ADatabaseDoesNotOpenAndLeavesNothing) {
  no_threads.store(true);
  Status s;
  EXPECT_NO_THROW(s = TryOpen());
  no_threads.store(false);
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, "thread")) << s.ToString();
  EXPECT_FALSE(std::filesystem::exists(path_));
  Open();
}

// The work of the Env's threads.
struct Work {
  Mutex mutex;
  CondVar done{&mutex};
  int count = 0;

  static void Do(void* work) {
    Work* const self = static_cast<Work*>(work);
    const MutexLock lock(&self->mutex);
    self->count++;
    self->done.SignalAll();
  }
  void WaitFor(int wanted) {
    const MutexLock lock(&mutex);
    while (count < wanted) done.Wait();
  }
};

TEST_F(NoThreadsTest, WorkOfTheEnvWaitsForAThread) {
  static Work work;
  Env* const env = Env::Default();
  no_threads.store(true);
  EXPECT_NO_THROW(env->Schedule(&Work::Do, &work));
  EXPECT_NO_THROW(env->StartThread(&Work::Do, &work));
  no_threads.store(false);
  env->Schedule(&Work::Do, &work);
  work.WaitFor(3);
}

}  // namespace
}  // namespace miodb::test
