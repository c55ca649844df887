// The fixture of tests on one database that is several times larger than its pool.

#ifndef MIODB_TESTS_COMMON_SSD_TEST_BASE_H_
#define MIODB_TESTS_COMMON_SSD_TEST_BASE_H_

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

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

  const std::string ssd_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_SSD_TEST_BASE_H_
