#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/common/db_test_base.h"

namespace miodb::test {

// A database with its log in files.
class FileLogTest : public DbTestBase {
 protected:
  FileLogTest() { options_.log_mode = kLogFile; }

  static std::string Key(int i) { return "key" + std::to_string(1000 + i); }
  static std::string Value(int i) {
    return "value" + std::to_string(i) + std::string(static_cast<size_t>(i % 7) * 30, 'v');
  }
  void PutRange(int from, int to) {
    for (int i = from; i < to; i++) Put(Key(i), Value(i));
  }
  // A closed database: keys 0 to 19 are in tables, 20 to 39 only in the log.
  void MakeHalfFlushed() {
    Open();
    PutRange(0, 20);
    ASSERT_OK(db_->Flush());
    PutRange(20, 40);
    Close();
  }
  void CheckRange(int from, int to) {
    for (int i = from; i < to; i++) ASSERT_EQ(Value(i), Get(Key(i))) << i;
  }

  // How many of the keys from 0 on are there; a failure of the test if that is no prefix of count keys.
  int PrefixLength(int count) {
    int length = 0;
    while (length < count && Get(Key(length)) == Value(length)) length++;
    for (int i = length; i < count; i++) EXPECT_EQ(kNotFound, Get(Key(i))) << i << " is there and " << length << " not";
    return length;
  }

  std::vector<std::filesystem::path> LogFiles(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() == ".log") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  std::vector<std::filesystem::path> LogFiles() { return LogFiles(path_); }

  // Makes path_ a copy of the closed database as it is in from.
  void Restore(const std::string& from) {
    Close();
    std::filesystem::remove_all(path_);
    std::filesystem::copy(from, path_, std::filesystem::copy_options::recursive);
  }
};

}  // namespace miodb::test
