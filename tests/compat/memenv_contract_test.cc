// helpers/memenv.h: an Env in memory, and databases on it.

#include <leveldb/helpers/memenv.h>

#include "tests/compat/leveldb_fixture.h"

namespace {

using leveldb::Slice;
using leveldb::Status;

class MemEnvContract : public LevelDBTest {
 protected:
  MemEnvContract() : env_(leveldb::NewMemEnv(leveldb::Env::Default())) { options_.env = env_.get(); }
  ~MemEnvContract() override { Close(); }

  void SetUp() override {}

  std::string Everything() {
    const std::unique_ptr<leveldb::Iterator> iterator = NewIterator();
    iterator->SeekToFirst();
    return Forward(iterator.get());
  }

  const std::unique_ptr<leveldb::Env> env_;
};

TEST_F(MemEnvContract, FilesAreWrittenReadRenamedAndRemoved) {
  ASSERT_OK(env_->CreateDir("/dir"));
  EXPECT_FALSE(env_->FileExists("/dir/f"));
  leveldb::WritableFile* out = nullptr;
  ASSERT_OK(env_->NewWritableFile("/dir/f", &out));
  ASSERT_OK(out->Append("hello "));
  ASSERT_OK(out->Append("world"));
  ASSERT_OK(out->Flush());
  ASSERT_OK(out->Sync());
  ASSERT_OK(out->Close());
  delete out;
  ASSERT_OK(env_->NewAppendableFile("/dir/f", &out));
  ASSERT_OK(out->Append("!"));
  delete out;
  uint64_t size = 0;
  ASSERT_OK(env_->GetFileSize("/dir/f", &size));
  EXPECT_EQ(12u, size);

  char scratch[100];
  Slice result;
  leveldb::SequentialFile* in = nullptr;
  ASSERT_OK(env_->NewSequentialFile("/dir/f", &in));
  ASSERT_OK(in->Read(5, &result, scratch));
  EXPECT_EQ("hello", result.ToString());
  ASSERT_OK(in->Skip(1));
  ASSERT_OK(in->Read(100, &result, scratch));
  EXPECT_EQ("world!", result.ToString());
  ASSERT_OK(in->Read(100, &result, scratch));
  EXPECT_TRUE(result.empty());
  delete in;
  leveldb::RandomAccessFile* any = nullptr;
  ASSERT_OK(env_->NewRandomAccessFile("/dir/f", &any));
  ASSERT_OK(any->Read(6, 5, &result, scratch));
  EXPECT_EQ("world", result.ToString());
  delete any;

  ASSERT_OK(leveldb::WriteStringToFile(env_.get(), "old", "/dir/g"));
  ASSERT_OK(env_->RenameFile("/dir/f", "/dir/g"));
  EXPECT_FALSE(env_->FileExists("/dir/f"));
  std::vector<std::string> children;
  ASSERT_OK(env_->GetChildren("/dir", &children));
  EXPECT_EQ(std::vector<std::string>{"g"}, children);
  ASSERT_OK(env_->RemoveFile("/dir/g"));
  EXPECT_FALSE(env_->RemoveFile("/dir/g").ok());
  EXPECT_FALSE(env_->NewSequentialFile("/dir/g", &in).ok());
  EXPECT_FALSE(leveldb::Env::Default()->FileExists("/dir"));
}

TEST_F(MemEnvContract, ADatabaseLeavesNothingOnDiskAndIsThereAgainWhenReopened) {
  Reopen();
  Put("a", "1");
  Put("b", "2");
  Delete("a");
  EXPECT_EQ("b=2", Everything());
  Reopen();
  EXPECT_EQ("b=2", Everything());
  Churn();
  Put("c", "3");
  Reopen();
  EXPECT_EQ("b=2 c=3", Everything());
  EXPECT_FALSE(leveldb::Env::Default()->FileExists(name_));
  Close();
  options_.error_if_exists = true;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
}

TEST_F(MemEnvContract, DatabasesOfOneEnvAndOfTwoAreApart) {
  const std::unique_ptr<leveldb::Env> other(leveldb::NewMemEnv(leveldb::Env::Default()));
  Reopen();
  Put("a", "1");
  leveldb::Options options = options_;
  options.env = other.get();
  for (const std::string& name : {name_, name_ + "2"}) {
    leveldb::DB* db = nullptr;
    ASSERT_OK(leveldb::DB::Open(options, name, &db));
    std::string value;
    EXPECT_TRUE(db->Get(leveldb::ReadOptions(), "a", &value).IsNotFound());
    ASSERT_OK(db->Put(leveldb::WriteOptions(), "a", name));
    delete db;
  }
  EXPECT_EQ("1", Get("a"));
}

TEST_F(MemEnvContract, ADestroyedDatabaseIsGone) {
  Reopen();
  Put("a", "1");
  Close();
  ASSERT_OK(leveldb::DestroyDB(name_, options_));
  options_.create_if_missing = false;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.create_if_missing = true;
  Reopen();
  EXPECT_EQ("(none)", Get("a"));
}

TEST_F(MemEnvContract, MuchDataFitsAndIsCompacted) {
  Reopen();
  const std::string value(10000, 'v');
  for (int i = 0; i < 3000; i++) Put(std::to_string(i % 1000), value + std::to_string(i));
  db_->CompactRange(nullptr, nullptr);
  for (int i = 0; i < 1000; i += 37) EXPECT_EQ(value + std::to_string(2000 + i), Get(std::to_string(i)));
}

}  // namespace
