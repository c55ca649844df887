// The fixture of tests on one database in a directory of its own.

#ifndef MIODB_TESTS_COMMON_DB_TEST_BASE_H_
#define MIODB_TESTS_COMMON_DB_TEST_BASE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>

#include "miodb/db.h"
#include "miodb/write_batch.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {

// Opens a database as unique_ptr; *db is empty on failure, or holds what DB::Open left there. Knows kSsdInDirectory.
Status OpenDb(const Options& options, const std::string& path, std::unique_ptr<DB>* db);

// The number that a property holds; a failure of the test and 0 if there is none.
uint64_t NumberProperty(DB* db, const std::string& property);

// The pairs of an iterator over everything, "(a->1)(b->2)"; an error shows as "[status]".
std::string Forward(DB* db, const ReadOptions& options = ReadOptions());
std::string Backward(DB* db, const ReadOptions& options = ReadOptions());  // in forward order, too

class DbTestBase : public testing::Test {
 protected:
  static constexpr char kNotFound[] = "NOT_FOUND";

  DbTestBase() : options_(SmallOptions()), path_(dir_ / "db") {}
  ~DbTestBase() override { db_.reset(); }

  // Opens or reopens with options_. Fails the test if that fails.
  void Open();
  Status TryOpen();
  void Close() { db_.reset(); }

  void Put(const std::string& key, const std::string& value) { EXPECT_OK(db_->Put(WriteOptions(), key, value)); }
  void Delete(const std::string& key) { EXPECT_OK(db_->Delete(WriteOptions(), key)); }

  // The value, kNotFound, or the text of the error. The two forms of Get must agree.
  std::string Get(const std::string& key, const Snapshot* snapshot = nullptr);

  // Moves everything into the repository.
  void Settle();

  // "miodb.<name>"
  uint64_t Counter(const std::string& name) { return NumberProperty(db_.get(), "miodb." + name); }
  uint64_t TablesAtLevel(int level) {
    return NumberProperty(db_.get(), "leveldb.num-files-at-level" + std::to_string(level));
  }
  std::string Property(const std::string& name);

  // Writes count keys "key00000000"..., each with value_bytes bytes that depend on the key and the round, in random
  // order.
  void Fill(uint64_t count, size_t value_bytes, uint64_t round = 0);
  // Whether all of them are there, by Get and by a scan.
  void CheckFilled(uint64_t count, size_t value_bytes, uint64_t round = 0);

  TestDir dir_;
  Options options_;
  std::string path_;  // of the database
  std::unique_ptr<DB> db_;
};

// The key and value that Fill gives number i.
std::string FilledKey(uint64_t i);
std::string FilledValue(uint64_t i, size_t value_bytes, uint64_t round);

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_DB_TEST_BASE_H_
