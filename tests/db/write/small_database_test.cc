// A small database takes little: of the disk, and of memory, however many a process has open.

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/db.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;

// Bytes that the files of a folder take of the disk, however long they are.
uint64_t BytesOnDisk(const std::string& folder) {
  uint64_t bytes = 0;
  DIR* const dir = opendir(folder.c_str());
  if (dir == nullptr) return 0;
  while (const dirent* const entry = readdir(dir)) {
    struct stat st;
    const std::string path = folder + "/" + entry->d_name;
    if (lstat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode)) bytes += static_cast<uint64_t>(st.st_blocks) * 512;
  }
  closedir(dir);
  return bytes;
}

// Bytes of this process that are in memory now, those of mapped files included.
uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/smaps_rollup");
  std::string line;
  while (std::getline(file, line)) {
    unsigned long long kib;
    if (sscanf(line.c_str(), "Rss: %llu kB", &kib) == 1) return kib * kKiB;
  }
  return 0;
}

// Waits until the databases' threads have prepared what they are going to: nothing has changed for a second. The memory
// of a sanitizer itself never comes to rest.
uint64_t SettledResidentBytes() {
  uint64_t bytes = ResidentBytes();
  for (int looks = 0, unchanged = 0; looks < 240 && unchanged < 4 && !RunsUnderSanitizer(); looks++) {
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
    const uint64_t now = ResidentBytes();
    unchanged = now == bytes ? unchanged + 1 : 0;
    bytes = now;
  }
  return bytes;
}

struct Kind {
  const char* name;
  LogMode log_mode;
};

class SmallDatabaseTest : public testing::TestWithParam<Kind> {};

INSTANTIATE_TEST_SUITE_P(LogModes, SmallDatabaseTest,
                         testing::Values(Kind{"log_in_pool", kLogPmem}, Kind{"log_off", kLogOff},
                                         Kind{"log_in_files", kLogFile}),
                         [](const testing::TestParamInfo<Kind>& kind) { return std::string(kind.param.name); });

TEST_P(SmallDatabaseTest, OnePutCostsLessThan2MBOfDiskAnd1MBOfMemory) {
  const size_t count = RunsUnderSanitizer() ? 25 : 300;
  const TestDir dir;
  Options options;
  options.create_if_missing = true;
  options.log_mode = GetParam().log_mode;
  std::unique_ptr<DB> first;  // what the process needs once
  ASSERT_OK(OpenDb(options, dir / "first", &first));
  ASSERT_OK(first->Put(WriteOptions(), "key", "value"));
  const uint64_t before = SettledResidentBytes();
  std::vector<std::unique_ptr<DB>> databases(count);
  for (size_t i = 0; i < count; i++) {
    ASSERT_OK(OpenDb(options, dir / std::to_string(i), &databases[i]));
    ASSERT_OK(databases[i]->Put(WriteOptions(), "key", "value"));
  }
  const uint64_t memory = (SettledResidentBytes() - before) / count;
  uint64_t disk = 0;
  for (size_t i = 0; i < count; i++) disk = std::max(disk, BytesOnDisk(dir / std::to_string(i)));
  EXPECT_LT(disk, 2 * kMiB);
  if (!RunsUnderSanitizer()) {
    EXPECT_LT(memory, kMiB);
  }
  printf("%zu databases: %llu bytes of disk, %llu of memory each\n", count, static_cast<unsigned long long>(disk),
         static_cast<unsigned long long>(memory));
  databases.clear();
}

}  // namespace
}  // namespace miodb::test
