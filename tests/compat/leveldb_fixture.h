// The common base of tests of LevelDB's contract. They know LevelDB's headers and gtest, nothing of ours, because each
// of them is also built with the real LevelDB.

#ifndef MIODB_TESTS_COMPAT_LEVELDB_FIXTURE_H_
#define MIODB_TESTS_COMPAT_LEVELDB_FIXTURE_H_

#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/write_batch.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#define ASSERT_OK(expression)                 \
  do {                                        \
    const leveldb::Status ok_ = (expression); \
    ASSERT_TRUE(ok_.ok()) << ok_.ToString();  \
  } while (false)

#define EXPECT_OK(expression)                 \
  do {                                        \
    const leveldb::Status ok_ = (expression); \
    EXPECT_TRUE(ok_.ok()) << ok_.ToString();  \
  } while (false)

#ifdef MIODB_AS_LEVELDB
constexpr bool kRealLevelDB = false;
#else
constexpr bool kRealLevelDB = true;
#endif

// A fresh directory, removed at the end with the files and directories of files in it.
class ScratchDir {
 public:
  ScratchDir() : path_(testing::TempDir() + "/compat_XXXXXX") {
    if (mkdtemp(&path_[0]) == nullptr) abort();
  }
  ~ScratchDir() {
    leveldb::Env* const env = leveldb::Env::Default();
    std::vector<std::string> names;
    env->GetChildren(path_, &names);
    for (const std::string& name : names) {
      if (name == "." || name == "..") continue;
      RemoveFilesIn(path_ + "/" + name);
      if (!env->RemoveFile(path_ + "/" + name).ok()) env->RemoveDir(path_ + "/" + name);
    }
    env->RemoveDir(path_);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  static void RemoveFilesIn(const std::string& path) {
    std::vector<std::string> names;
    if (!leveldb::Env::Default()->GetChildren(path, &names).ok()) return;
    for (const std::string& name : names) {
      if (name != "." && name != "..") leveldb::Env::Default()->RemoveFile(path + "/" + name);
    }
  }

  std::string path_;
};

// A database that a test may close and open again. Small memtables, so that little data makes many tables.
class LevelDBTest : public testing::Test {
 protected:
  LevelDBTest() : name_(dir_ / "db") {
    options_.create_if_missing = true;
    options_.write_buffer_size = 64 << 10;
  }

  void SetUp() override { Reopen(); }

  void Close() { db_.reset(); }

  leveldb::Status TryOpen() {
    db_.reset();
    leveldb::DB* db = nullptr;
    const leveldb::Status s = leveldb::DB::Open(options_, name_, &db);
    EXPECT_EQ(s.ok(), db != nullptr);
    db_.reset(db);
    return s;
  }

  void Reopen() { ASSERT_OK(TryOpen()); }

  void Put(const std::string& key, const std::string& value) {
    ASSERT_OK(db_->Put(leveldb::WriteOptions(), key, value));
  }
  void Delete(const std::string& key) { ASSERT_OK(db_->Delete(leveldb::WriteOptions(), key)); }

  // The value, or the status for people.
  std::string Get(const std::string& key, const leveldb::Snapshot* snapshot = nullptr) {
    leveldb::ReadOptions options;
    options.snapshot = snapshot;
    std::string value;
    const leveldb::Status s = db_->Get(options, key, &value);
    if (s.IsNotFound()) return "(none)";
    return s.ok() ? value : s.ToString();
  }

  // Writes so much that memtables are flushed and compacted around the keys that a test looks at.
  void Churn() {
    const std::string value(1000, 'x');
    for (int i = 0; i < 500; i++) Put("~churn" + std::to_string(i), value);
    for (int i = 0; i < 500; i++) Delete("~churn" + std::to_string(i));
    db_->CompactRange(nullptr, nullptr);
  }

  std::unique_ptr<leveldb::Iterator> NewIterator(const leveldb::Snapshot* snapshot = nullptr) {
    leveldb::ReadOptions options;
    options.snapshot = snapshot;
    return std::unique_ptr<leveldb::Iterator>(db_->NewIterator(options));
  }

  // All pairs from the position of the iterator on, "a=1 b=2".
  static std::string Forward(leveldb::Iterator* it) {
    std::string text;
    for (; it->Valid(); it->Next()) text += (text.empty() ? "" : " ") + Pair(it);
    EXPECT_OK(it->status());
    return text;
  }
  static std::string Backward(leveldb::Iterator* it) {
    std::string text;
    for (; it->Valid(); it->Prev()) text += (text.empty() ? "" : " ") + Pair(it);
    EXPECT_OK(it->status());
    return text;
  }
  static std::string Pair(leveldb::Iterator* it) {
    return it->Valid() ? it->key().ToString() + "=" + it->value().ToString() : "(end)";
  }

  const ScratchDir dir_;
  const std::string name_;
  leveldb::Options options_;
  std::unique_ptr<leveldb::DB> db_;
};

#endif  // MIODB_TESTS_COMPAT_LEVELDB_FIXTURE_H_
