// Many databases in one process, whose background work the same threads do.

#include "miodb/shared_resources.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/compaction_filter.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

using Contents = std::map<std::string, std::string>;

// A sanitizer has threads of its own.
long ThreadsOfProcess() {
  FILE* const file = std::fopen("/proc/self/status", "r");
  long threads = -1;
  char line[256];
  while (file != nullptr && std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::strncmp(line, "Threads:", 8) == 0) threads = std::atol(line + 8);
  }
  if (file != nullptr) std::fclose(file);
  return threads;
}

template <typename Condition>
bool Comes(Condition condition) {
  for (int i = 0; i < 12000; i++) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// Lets nothing pass until it is opened.
class StuckFilter final : public CompactionFilter {
 public:
  const char* Name() const override { return "stuck"; }
  Decision Filter(int, const Slice&, ValueKind, const Slice&, std::string*) const override {
    inside = true;
    while (!open) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Decision::kKeep;
  }

  mutable std::atomic<bool> inside{false};
  std::atomic<bool> open{false};
};

class SharedResourcesTest : public testing::Test {
 protected:
  SharedResourcesTest() : options_(SmallOptions()) {}

  std::unique_ptr<DB> Open(size_t i) { return Open(i, options_); }
  std::unique_ptr<DB> Open(size_t i, const Options& options) {
    std::unique_ptr<DB> db;
    EXPECT_OK(OpenDb(options, dir_ / ("db" + std::to_string(i)), &db));
    return db;
  }

  static void Check(DB* db, const Contents& contents) {
    const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions()));
    auto expected = contents.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
      ASSERT_NE(expected, contents.end());
      ASSERT_EQ(expected->first, it->key().ToString());
      ASSERT_EQ(expected->second, it->value().ToString());
    }
    EXPECT_OK(it->status());
    EXPECT_EQ(expected, contents.end());
  }

  TestDir dir_;
  Options options_;
};

TEST_F(SharedResourcesTest, IdleDatabasesHaveNoThreads) {
  if (RunsUnderSanitizer()) GTEST_SKIP() << "the sanitizer has threads of its own";
  const long before = ThreadsOfProcess();
  std::vector<std::unique_ptr<DB>> dbs;
  for (size_t i = 0; i < 50; i++) dbs.push_back(Open(i));
  for (auto& db : dbs) ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
  EXPECT_LE(ThreadsOfProcess() - before, 16);
  dbs.clear();
  EXPECT_TRUE(Comes([&] { return ThreadsOfProcess() == before; })) << "the last database takes the threads along";
}

// Databases that name resources have their own; the other databases share one object.
TEST_F(SharedResourcesTest, ResourcesThatAreNamedOutliveTheirDatabases) {
  options_.shared_resources = NewSharedResources();
  ASSERT_NE(nullptr, options_.shared_resources);
  EXPECT_EQ(0u, options_.shared_resources->Threads());
  {
    const std::unique_ptr<DB> db = Open(0);
    EXPECT_GE(options_.shared_resources->Threads(), 3u);
    ASSERT_OK(db->Put(WriteOptions(), "key", "value"));
    EXPECT_OK(db->WaitForIdle());
  }
  const std::unique_ptr<DB> db = Open(0);
  options_.shared_resources.reset();  // the database has it
  EXPECT_OK(db->Put(WriteOptions(), "key", "value 2"));
  EXPECT_OK(db->WaitForIdle());
}

TEST_F(SharedResourcesTest, WrongOptionsMakeNone) {
  SharedResourceOptions shared;
  shared.threads_of_a_kind = 0;
  EXPECT_EQ(nullptr, NewSharedResources(shared));
  shared.threads_of_a_kind = 1025;
  EXPECT_EQ(nullptr, NewSharedResources(shared));
}

// Databases are written to, flushed, settled, closed and opened by several threads, and each is what its writes made
// it.
TEST_F(SharedResourcesTest, ManyDatabasesKeepTheirContents) {
  constexpr size_t kThreads = 4;
  const size_t count = ByScale(24, 60, 200) / (RunsUnderSanitizer() ? 3 : 1);
  const uint64_t seed = Seeds(1)[0];
  SCOPED_TRACE(Repeat(seed));
  options_.shared_resources = NewSharedResources();
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      Random random(seed * kThreads + t);
      std::map<size_t, std::unique_ptr<DB>> dbs;
      std::map<size_t, Contents> models;
      for (uint64_t step = 0; step < ByScale(400, 2000, 10000); step++) {
        const size_t i = t + kThreads * random.Uniform(count / kThreads);
        std::unique_ptr<DB>& db = dbs[i];
        Contents& model = models[i];
        if (db == nullptr) {
          db = Open(i);
          ASSERT_NE(nullptr, db);
        }
        switch (random.Uniform(8)) {
          case 0:
            db.reset();
            continue;
          case 1:
            ASSERT_OK(db->Flush());
            break;
          case 2:
            if (random.Uniform(8) == 0) ASSERT_OK(db->WaitForIdle());
            break;
          case 3:
            Check(db.get(), model);
            break;
          default:
            for (int k = 0; k < 50; k++) {
              const std::string key = "key" + std::to_string(random.Uniform(500));
              const std::string value = std::to_string(step) + std::string(random.Uniform(200), 'v');
              ASSERT_OK(db->Put(WriteOptions(), key, value));
              model[key] = value;
            }
        }
      }
      for (auto& [i, model] : models) {
        dbs[i].reset();
        Check(Open(i).get(), model);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// A merge of one database waits in the program's own code; others flush, merge, open and close meanwhile.
TEST_F(SharedResourcesTest, ADatabaseThatIsStuckHoldsUpNoOther) {
  StuckFilter filter;
  options_.shared_resources = NewSharedResources();
  options_.max_background_merges = 1;
  Options stuck_options = options_;
  stuck_options.compaction_filter = &filter;
  std::unique_ptr<DB> stuck = Open(0, stuck_options);
  std::unique_ptr<DB> other = Open(1);
  // Not in the order of keys, so that they are copied, which the filter is asked about.
  for (const char* key : {"c", "a", "b"}) ASSERT_OK(stuck->Put(WriteOptions(), key, "value"));
  std::thread waits([&] { EXPECT_OK(stuck->WaitForIdle()); });
  EXPECT_TRUE(Comes([&] { return filter.inside.load(); }));
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 500; i++) {
      ASSERT_OK(other->Put(WriteOptions(), "key" + std::to_string(i), std::to_string(round)));
    }
    ASSERT_OK(other->WaitForIdle());
    other.reset();
    other = Open(1);
  }
  filter.open = true;
  waits.join();
  stuck.reset();
  std::string value;
  EXPECT_OK(other->Get(ReadOptions(), "key7", &value));
  EXPECT_EQ("4", value);
}

// The one that writes most has to give, and the others keep what they have.
TEST_F(SharedResourcesTest, MemtablesStayWithinTheBudget) {
  constexpr size_t kDatabases = 8;
  SharedResourceOptions shared;
  shared.memory_budget = 2 << 20;
  shared.memory_of_each = 64 << 10;
  options_ = Options();
  options_.create_if_missing = true;
  options_.shared_resources = NewSharedResources(shared);
  std::vector<std::unique_ptr<DB>> dbs;
  for (size_t i = 0; i < kDatabases; i++) dbs.push_back(Open(i));
  ASSERT_OK(dbs[0]->Put(WriteOptions(), "small", "value"));
  const auto within_budget = [&] { return options_.shared_resources->MemoryBytes() <= shared.memory_budget; };
  size_t most = 0;
  for (int k = 0; k < 40000; k++) {
    ASSERT_OK(
        dbs[1 + static_cast<size_t>(k) % 2]->Put(WriteOptions(), "key" + std::to_string(k), std::string(20, 'v')));
    if (k % 100 == 0) most = std::max(most, options_.shared_resources->MemoryBytes());
    // A busy machine may flush late, and then what waits for that is more.
    if (k % 5000 == 4999) {
      EXPECT_TRUE(Comes(within_budget)) << k;
    }
  }
  EXPECT_GT(most, 1u << 20);
  EXPECT_LT(most, 8u << 20) << "without a budget two memtables would have more, each with its filter";
  EXPECT_TRUE(Comes(within_budget)) << "what is idle is flushed as well";
  EXPECT_GT(NumberProperty(dbs[1].get(), "miodb.flushes"), 0u);
  EXPECT_EQ(0u, NumberProperty(dbs[0].get(), "miodb.flushes")) << "it takes no more than each may";
  for (int k = 0; k < 40000; k += 777) {
    std::string value;
    EXPECT_OK(dbs[1 + static_cast<size_t>(k) % 2]->Get(ReadOptions(), "key" + std::to_string(k), &value));
  }
  dbs.clear();
  EXPECT_EQ(0u, options_.shared_resources->MemoryBytes());
}

// A child of fork() has none of the parent's threads.
TEST_F(SharedResourcesTest, AChildHasThreadsOfItsOwn) {
  if (RunsUnderThreadSanitizer())
    GTEST_SKIP() << "ThreadSanitizer lets no threads start in a child of a process that has had some";
  std::shared_ptr<SharedResources> parents = NewSharedResources();
  options_.shared_resources = parents;
  ASSERT_NE(nullptr, Open(2));  // so that it has threads
  options_.shared_resources = nullptr;
  const std::unique_ptr<DB> db = Open(0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::unique_ptr<DB> own = Open(1);
    bool good = own != nullptr && own->Put(WriteOptions(), "key", "value").ok() && own->WaitForIdle().ok();
    own.reset();
    Options options = options_;
    options.shared_resources = parents;
    good = good && OpenDb(options, dir_ / "refused", &own).IsIOError();
    parents = options.shared_resources = nullptr;  // leaves the parent's threads alone
    _exit(good ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_OK(db->Put(WriteOptions(), "key", "value"));
  EXPECT_OK(db->WaitForIdle());
}

}  // namespace
}  // namespace miodb::test
