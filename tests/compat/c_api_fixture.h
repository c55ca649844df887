// A database through the C API alone, for the tests of leveldb/c.h and miodb/c.h.

#ifndef MIODB_TESTS_COMPAT_C_API_FIXTURE_H_
#define MIODB_TESTS_COMPAT_C_API_FIXTURE_H_

#include <leveldb/c.h>

#include <string>

#include "tests/compat/leveldb_fixture.h"

class CApiTest : public testing::Test {
 protected:
  CApiTest() : name_(dir_ / "db"), options_(leveldb_options_create()) {
    leveldb_options_set_create_if_missing(options_, 1);
    leveldb_options_set_write_buffer_size(options_, 64 << 10);
  }
  ~CApiTest() override {
    Close();
    leveldb_readoptions_destroy(read_);
    leveldb_writeoptions_destroy(write_);
    leveldb_options_destroy(options_);
  }

  void Close() {
    if (db_ != nullptr) leveldb_close(db_);
    db_ = nullptr;
  }
  void Open() {
    Close();
    db_ = leveldb_open(options_, name_.c_str(), &error_);
    ExpectNoError();
  }
  void ExpectNoError() {
    EXPECT_EQ(nullptr, error_) << error_;
    leveldb_free(error_);
    error_ = nullptr;
  }
  // The error of the last call, which there must be.
  std::string TakeError() {
    EXPECT_NE(nullptr, error_);
    const std::string text = error_ == nullptr ? "" : error_;
    leveldb_free(error_);
    error_ = nullptr;
    return text;
  }
  void Put(const std::string& key, const std::string& value) {
    leveldb_put(db_, write_, key.data(), key.size(), value.data(), value.size(), &error_);
    ExpectNoError();
  }
  std::string Get(const std::string& key) {
    size_t length = 77;
    char* const value = leveldb_get(db_, read_, key.data(), key.size(), &length, &error_);
    ExpectNoError();
    if (value == nullptr) {
      EXPECT_EQ(0u, length);
      return "(none)";
    }
    const std::string text(value, length);
    leveldb_free(value);
    return text;
  }
  // All pairs in order, "a=1 b=2".
  std::string Everything() {
    leveldb_iterator_t* const it = leveldb_create_iterator(db_, read_);
    std::string text;
    for (leveldb_iter_seek_to_first(it); leveldb_iter_valid(it); leveldb_iter_next(it)) text += Pair(it) + " ";
    leveldb_iter_get_error(it, &error_);
    ExpectNoError();
    leveldb_iter_destroy(it);
    return text;
  }
  static std::string Pair(leveldb_iterator_t* it) {
    if (!leveldb_iter_valid(it)) return "(end)";
    size_t key_size, value_size;
    const char* const key = leveldb_iter_key(it, &key_size);
    const char* const value = leveldb_iter_value(it, &value_size);
    return std::string(key, key_size) + "=" + std::string(value, value_size);
  }

  const ScratchDir dir_;
  const std::string name_;
  leveldb_options_t* const options_;
  leveldb_readoptions_t* const read_ = leveldb_readoptions_create();
  leveldb_writeoptions_t* const write_ = leveldb_writeoptions_create();
  leveldb_t* db_ = nullptr;
  char* error_ = nullptr;
};

#endif  // MIODB_TESTS_COMPAT_C_API_FIXTURE_H_
