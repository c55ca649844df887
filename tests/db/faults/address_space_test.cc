// Databases share the addresses of their process: any number of them open, on file systems of any size and under
// ulimit -v, and each grows where addresses are left.

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "tests/common/db_test_base.h"
#include "tests/faults/system_calls.h"

namespace miodb::test {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;
constexpr uint64_t kTiB = uint64_t{1} << 40;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr int kDatabases = 30;  // sanitizers need addresses and time for themselves
constexpr bool kLimitsWork = false;
#else
constexpr int kDatabases = 300;
constexpr bool kLimitsWork = true;
#endif

class AddressSpaceTest : public DbTestBase {
 protected:
  AddressSpaceTest() {
    options_.write_buffer_size = 64 * 1024;
    options_.pool_size = 0;
    options_.pool_growth = 256 * 1024;
    options_.info_log = nullptr;
  }
  ~AddressSpaceTest() override { PretendFileSystems(nullptr); }

  static void PretendSize(uint64_t bytes) {
    PretendFileSystems([bytes](struct statfs* fs) {
      fs->f_blocks = bytes / static_cast<uint64_t>(fs->f_frsize > 0 ? fs->f_frsize : fs->f_bsize);
    });
  }
};

class FileSystemSizes : public AddressSpaceTest, public testing::WithParamInterface<uint64_t> {};

TEST_P(FileSystemSizes, HundredsOfDatabasesAreOpenAtOnce) {
  PretendSize(GetParam());
  std::vector<std::unique_ptr<DB>> databases;
  for (int i = 0; i < kDatabases; i++) {
    SCOPED_TRACE("number " + std::to_string(i));
    std::unique_ptr<DB> db;
    ASSERT_OK(OpenDb(options_, dir_ / std::to_string(i), &db));
    if (i % 50 == 0) ASSERT_OK(db->Put(WriteOptions(), "key", std::to_string(i)));
    databases.push_back(std::move(db));
  }
  // Also those that come last find the addresses to grow into.
  for (int i : {0, kDatabases - 1}) {
    for (int j = 0; j < 100; j++) {
      const std::string value(10000, static_cast<char>('a' + j % 26));
      ASSERT_OK(databases[static_cast<size_t>(i)]->Put(WriteOptions(), "grow" + std::to_string(j), value));
    }
  }
  std::string value;
  ASSERT_OK(databases[0]->Get(ReadOptions(), "key", &value));
  EXPECT_EQ("0", value);
}

std::string SizeName(const testing::TestParamInfo<uint64_t>& info) { return "GiB" + std::to_string(info.param / kGiB); }

INSTANTIATE_TEST_SUITE_P(All, FileSystemSizes, testing::Values(250 * kGiB, 20 * kTiB, 100 * kTiB), SizeName);

// ulimit -v: what the database may take is a small part of what the program has.
TEST_F(AddressSpaceTest, ALimitOfAddressesLeavesDatabasesThatOpenAndGrow) {
  if (!kLimitsWork) GTEST_SKIP() << "a sanitizer needs more addresses";
  PretendSize(100 * kTiB);
  const pid_t child = fork();
  if (child == 0) {
    const struct rlimit limit = {16 * kGiB, 16 * kGiB};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
    std::vector<std::unique_ptr<DB>> databases(4);
    for (size_t i = 0; i < databases.size(); i++) {
      const Status s = OpenDb(options_, dir_ / std::to_string(i), &databases[i]);
      if (!s.ok()) fprintf(stderr, "open %zu: %s\n", i, s.ToString().c_str());
      if (!s.ok()) _exit(3);
    }
    for (auto& db : databases) {
      for (int j = 0; j < 200; j++) {
        const Status s = db->Put(WriteOptions(), std::to_string(j), std::string(10000, 'v'));
        if (!s.ok()) fprintf(stderr, "put: %s\n", s.ToString().c_str());
        if (!s.ok()) _exit(4);
      }
    }
    for (auto& db : databases) db.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(0, WEXITSTATUS(status));
}

}  // namespace
}  // namespace miodb::test
