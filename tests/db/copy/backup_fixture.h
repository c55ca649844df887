// The fixture of tests of backups: a database, its folder of generations, and where they are restored.

#ifndef MIODB_TESTS_DB_COPY_BACKUP_FIXTURE_H_
#define MIODB_TESTS_DB_COPY_BACKUP_FIXTURE_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "miodb/backup.h"
#include "tests/common/random/model_test_base.h"

namespace miodb::test {

inline uint64_t BytesBelow(const std::string& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += entry.file_size();
  }
  return bytes;
}

class BackupTest : public ModelTestBase {
 protected:
  BackupTest() : folder_(dir_ / "backup"), copy_(dir_ / "copy") {}

  BackupInfo Make() {
    BackupInfo info;
    EXPECT_OK(db_->CreateBackup(backup_, folder_, &info));
    return info;
  }

  std::vector<BackupInfo> List() const {
    std::vector<BackupInfo> generations;
    EXPECT_OK(ListBackups(folder_, &generations));
    return generations;
  }

  std::unique_ptr<DB> OpenCopy() const { return ModelTestBase::OpenCopy(copy_); }

  Status Restore(uint64_t generation) {
    return RestoreBackup(OptionsOfCopy(copy_), backup_, folder_, generation, copy_);
  }

  // The content of a generation.
  std::string Shows(uint64_t generation) {
    const Status s = Restore(generation);
    if (!s.ok()) return s.ToString();
    const std::string content = ContentOf(OpenCopy());
    std::filesystem::remove_all(copy_);
    EXPECT_FALSE(std::filesystem::exists(copy_ + ".tmp"));
    return content;
  }

  // All that is listed, against what each has to have.
  void CheckAll(const std::map<uint64_t, std::string>& models) {
    ASSERT_OK(VerifyBackup(backup_, folder_, 0));
    const std::vector<BackupInfo> generations = List();
    ASSERT_EQ(models.size(), generations.size());
    for (const BackupInfo& info : generations) {
      ASSERT_EQ(1u, models.count(info.generation)) << info.generation;
      ASSERT_EQ(models.at(info.generation), Shows(info.generation)) << info.generation;
    }
  }

  static std::vector<std::string> FilesBelow(const std::string& folder) {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  BackupOptions backup_;
  const std::string folder_;
  const std::string copy_;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_DB_COPY_BACKUP_FIXTURE_H_
