// The fixture of tests on one database that is several times larger than its pool.

#ifndef MIODB_TESTS_COMMON_SSD_TEST_BASE_H_
#define MIODB_TESTS_COMMON_SSD_TEST_BASE_H_

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb::test {

class SsdTestBase : public DbTestBase {
 protected:
  static constexpr uint64_t kKiB = 1024;
  static constexpr uint64_t kMiB = 1024 * kKiB;
  static constexpr size_t kValueBytes = 500;

  SsdTestBase() : ssd_(dir_ / "ssd") {
    options_.pool_size = 3 * kMiB;
    options_.ssd_path = ssd_;
    options_.ssd_level_size = 2 * kMiB;
    options_.ssd_level_multiplier = 3;
    options_.ssd_file_size = 256 * kKiB;
    options_.num_levels = 4;
  }

  // Several times what the pool holds.
  static uint64_t Count() { return ByScale(10, 32, 128) * kMiB / kValueBytes; }

  // The files of a folder with this extension, by name.
  static std::vector<std::string> FilesIn(const std::string& folder, const std::string& extension) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == extension) files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  // The next open makes the database whole, and DestroyDB succeeds.
  void OpenAndDestroy() {
    ASSERT_OK(TryOpen());
    Put("a", "1");
    Open();
    EXPECT_EQ("(a->1)", Forward(db_.get()));
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
  }

  // Makes the database for tests of repairs: every third key is overwritten after the first filling, every seventh
  // deleted.
  void MakeOf(uint64_t count) {
    Open();
    Fill(count, kValueBytes);
    ASSERT_OK(db_->WaitForIdle());
    for (uint64_t i = 0; i < count; i += 3) Put(FilledKey(i), FilledValue(i, kValueBytes, 1));
    for (uint64_t i = 0; i < count; i += 7) Delete(FilledKey(i));
    ASSERT_GT(Counter("ssd-files"), 5u);
    Close();
  }

  // The value of key i in such a database.
  static std::string Expected(uint64_t i) {
    if (i % 7 == 0) return kNotFound;
    return FilledValue(i, kValueBytes, i % 3 == 0 ? 1 : 0);
  }

  // The losses that the last repair reported.
  std::string Lost() {
    std::string text;
    EXPECT_OK(ReadFileToString(Env::Default(), path_ + "/LOST", &text));
    return text;
  }

  const std::string ssd_;
};

// With a volatile pool in front, and so with a log in files.
class VolatileSsdTestBase : public SsdTestBase {
 protected:
  VolatileSsdTestBase() : logs_(dir_ / "logs") {
    options_.pool_path = "anonymous";
    options_.log_mode = kLogFile;
    options_.wal_dir = logs_;
  }

  const std::string logs_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_SSD_TEST_BASE_H_
