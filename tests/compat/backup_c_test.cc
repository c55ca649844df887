// Backups in miodb/c.h.

#include <string>
#include <utility>

#include "miodb/c.h"
#include "tests/compat/c_api_fixture.h"

namespace {

class BackupCTest : public CApiTest {
 protected:
  uint64_t Create(miodb_backup_progress_t progress = nullptr, void* state = nullptr) {
    return miodb_create_backup(db_, folder_.c_str(), 0, progress, state, &error_);
  }

  const std::string folder_ = dir_ / "backup";
};

TEST_F(BackupCTest, GenerationsAreMadeListedRestoredAndDeleted) {
  Open();
  Put("a", "1");
  EXPECT_EQ(1u, Create());
  ExpectNoError();
  Put("a", "2");
  uint64_t last = 0;
  EXPECT_EQ(2u, Create(
                    [](void* state, uint64_t done, uint64_t all) {
                      *static_cast<uint64_t*>(state) = done;
                      return static_cast<uint8_t>(done <= all);
                    },
                    &last));
  ExpectNoError();
  miodb_backups_t* const list = miodb_list_backups(folder_.c_str(), &error_);
  ExpectNoError();
  ASSERT_EQ(2u, miodb_backups_count(list));
  EXPECT_EQ(2u, miodb_backups_generation(list, 1));
  EXPECT_GE(miodb_backups_micros(list, 1), miodb_backups_micros(list, 0));
  EXPECT_EQ(last, miodb_backups_bytes(list, 1));
  EXPECT_GT(miodb_backups_new_bytes(list, 1), 0u);
  miodb_backups_destroy(list);
  miodb_verify_backup(folder_.c_str(), 0, &error_);
  ExpectNoError();
  const std::string copy = dir_ / "copy";
  miodb_restore_backup(options_, folder_.c_str(), 1, copy.c_str(), &error_);
  ExpectNoError();
  leveldb_t* restored = leveldb_open(options_, copy.c_str(), &error_);
  ExpectNoError();
  std::swap(db_, restored);
  EXPECT_EQ("1", Get("a"));
  std::swap(db_, restored);
  leveldb_close(restored);
  miodb_delete_backup(folder_.c_str(), 1, &error_);
  ExpectNoError();
}

TEST_F(BackupCTest, SaysWhatIsWrong) {
  Open();
  Put("a", "1");
  EXPECT_EQ(0u, Create([](void*, uint64_t, uint64_t) { return uint8_t{0}; }));
  EXPECT_NE(std::string::npos, TakeError().find("cancelled"));
  EXPECT_EQ(nullptr, miodb_list_backups((dir_ / "none").c_str(), &error_));
  EXPECT_NE("", TakeError());
  miodb_verify_backup(folder_.c_str(), 3, &error_);
  EXPECT_NE(std::string::npos, TakeError().find("has no generation 3"));
  miodb_restore_backup(options_, folder_.c_str(), 0, (dir_ / "copy").c_str(), &error_);
  EXPECT_NE(std::string::npos, TakeError().find("has no generation"));
  miodb_delete_backup(folder_.c_str(), 3, &error_);
  EXPECT_NE(std::string::npos, TakeError().find("has no generation 3"));
}

}  // namespace
