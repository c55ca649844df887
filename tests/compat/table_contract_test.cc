// LevelDB's contract of table.h and table_builder.h.

#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/filter_policy.h>
#include <leveldb/table.h>
#include <leveldb/table_builder.h>

#include <map>

#include "tests/compat/leveldb_fixture.h"

namespace {

using leveldb::CompressionType;

class TableTest : public testing::TestWithParam<CompressionType> {
 protected:
  TableTest() : file_name_(dir_ / "some.ldb"), policy_(leveldb::NewBloomFilterPolicy(10)) {
    options_.compression = GetParam();
    options_.filter_policy = policy_.get();
    options_.block_size = 1024;
    for (int i = 0; i < 3000; i++) {
      const std::string number = std::to_string(10000 + i);
      entries_["key" + number] = number + std::string(static_cast<size_t>(i % 100), 'v');
    }
  }

  void Write() {
    leveldb::WritableFile* file = nullptr;
    ASSERT_OK(env_->NewWritableFile(file_name_, &file));
    leveldb::TableBuilder builder(options_, file);
    uint64_t count = 0;
    for (const auto& entry : entries_) {
      builder.Add(entry.first, entry.second);
      if (++count == 100) builder.Flush();
    }
    EXPECT_OK(builder.status());
    EXPECT_EQ(builder.NumEntries(), entries_.size());
    EXPECT_OK(builder.Finish());
    size_ = builder.FileSize();
    EXPECT_OK(file->Sync());
    EXPECT_OK(file->Close());
    delete file;
    uint64_t size_in_directory = 0;
    EXPECT_OK(env_->GetFileSize(file_name_, &size_in_directory));
    EXPECT_EQ(size_in_directory, size_);
  }

  leveldb::Status Open() {
    leveldb::RandomAccessFile* file = nullptr;
    leveldb::Status s = env_->NewRandomAccessFile(file_name_, &file);
    if (!s.ok()) return s;
    file_.reset(file);
    leveldb::Table* table = nullptr;
    s = leveldb::Table::Open(options_, file, size_, &table);
    EXPECT_EQ(s.ok(), table != nullptr);
    table_.reset(table);
    return s;
  }

  leveldb::Env* const env_ = leveldb::Env::Default();
  const ScratchDir dir_;
  const std::string file_name_;
  const std::unique_ptr<const leveldb::FilterPolicy> policy_;
  leveldb::Options options_;
  std::map<std::string, std::string> entries_;
  uint64_t size_ = 0;
  std::unique_ptr<leveldb::RandomAccessFile> file_;
  std::unique_ptr<leveldb::Table> table_;
};

TEST_P(TableTest, WhatWasAddedIsThereInOrder) {
  Write();
  std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(100000));
  options_.block_cache = cache.get();
  ASSERT_OK(Open());
  leveldb::ReadOptions read;
  read.verify_checksums = true;
  std::unique_ptr<leveldb::Iterator> it(table_->NewIterator(read));
  EXPECT_FALSE(it->Valid());
  auto expected = entries_.begin();
  for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
    ASSERT_TRUE(expected != entries_.end());
    ASSERT_EQ(it->key().ToString(), expected->first);
    ASSERT_EQ(it->value().ToString(), expected->second);
  }
  EXPECT_TRUE(expected == entries_.end());
  for (it->SeekToLast(); it->Valid(); it->Prev()) {
    --expected;
    ASSERT_EQ(it->key().ToString(), expected->first);
  }
  EXPECT_TRUE(expected == entries_.begin());
  it->Seek("key105");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "key10500");
  it->Seek("key10500x");
  ASSERT_TRUE(it->Valid());
  EXPECT_EQ(it->key().ToString(), "key10501");
  it->Seek("z");
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
  it.reset();
  table_.reset();
}

TEST_P(TableTest, OffsetsTellWhereAKeyWouldBe) {
  Write();
  ASSERT_OK(Open());
  EXPECT_EQ(table_->ApproximateOffsetOf("a"), 0u);
  uint64_t last = 0;
  for (const auto& entry : entries_) {
    const uint64_t offset = table_->ApproximateOffsetOf(entry.first);
    ASSERT_GE(offset, last);
    last = offset;
  }
  EXPECT_GT(table_->ApproximateOffsetOf("z"), last);
  EXPECT_LE(table_->ApproximateOffsetOf("z"), size_);
  EXPECT_GT(table_->ApproximateOffsetOf("z"), size_ / 2);
}

TEST_P(TableTest, AFileThatIsNoTableIsCorruption) {
  ASSERT_OK(leveldb::WriteStringToFile(env_, "short", file_name_));
  size_ = 5;
  EXPECT_TRUE(Open().IsCorruption());
  ASSERT_OK(leveldb::WriteStringToFile(env_, std::string(1000, 'x'), file_name_));
  size_ = 1000;
  EXPECT_TRUE(Open().IsCorruption());
}

TEST_P(TableTest, OptionsMayChangeButNotTheOrder) {
  leveldb::WritableFile* file = nullptr;
  ASSERT_OK(env_->NewWritableFile(file_name_, &file));
  leveldb::TableBuilder builder(options_, file);
  builder.Add("a", "1");
  leveldb::Options changed = options_;
  changed.block_size = 100;
  EXPECT_OK(builder.ChangeOptions(changed));

  class Reverse : public leveldb::Comparator {
   public:
    int Compare(const leveldb::Slice& a, const leveldb::Slice& b) const override { return b.compare(a); }
    const char* Name() const override { return "test.Reverse"; }
    void FindShortestSeparator(std::string*, const leveldb::Slice&) const override {}
    void FindShortSuccessor(std::string*) const override {}
  } reverse;
  changed.comparator = &reverse;
  EXPECT_TRUE(builder.ChangeOptions(changed).IsInvalidArgument());
  builder.Abandon();
  EXPECT_EQ(builder.NumEntries(), 1u);
  delete file;
}

INSTANTIATE_TEST_SUITE_P(Compressions, TableTest,
                         testing::Values(leveldb::kNoCompression, leveldb::kSnappyCompression));

}  // namespace
