// Objects that the program brings along: comparators, filter policies, caches, loggers, environments.

#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/filter_policy.h>
#include <stdio.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "tests/compat/leveldb_fixture.h"

namespace {

using leveldb::Slice;

// ---- Comparators ----

class ReverseComparator : public leveldb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  const char* Name() const override { return "test.Reverse"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

std::string Lower(const Slice& key) {
  std::string text = key.ToString();
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

// Different bytes can be the same key.
class CaselessComparator : public leveldb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return Slice(Lower(a)).compare(Lower(b)); }
  const char* Name() const override { return "test.Caseless"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

class ComparatorContract : public LevelDBTest {
 protected:
  void SetUp() override {}

  // Closes the database before the objects go that the test lent to it.
  class Closer {
   public:
    explicit Closer(ComparatorContract* test) : test_(test) {}
    ~Closer() { test_->Close(); }

   private:
    ComparatorContract* const test_;
  };
};

TEST_F(ComparatorContract, DecidesTheOrder) {
  static const ReverseComparator reverse;
  options_.comparator = &reverse;
  Reopen();
  for (const char* key : {"a", "c", "b"}) Put(key, "1");
  for (int round = 0; round < 3; round++) {
    {
      const auto it = NewIterator();
      it->SeekToFirst();
      EXPECT_EQ("c=1 b=1 a=1", Forward(it.get()));
      it->Seek("bb");
      EXPECT_EQ("b=1", Pair(it.get()));
    }
    if (round == 0) db_->CompactRange(nullptr, nullptr);
    if (round == 1) Reopen();
  }
}

TEST_F(ComparatorContract, UnderWhichDifferentBytesAreEqualMakesThemOneKey) {
  static const CaselessComparator caseless;
  options_.comparator = &caseless;
  Reopen();
  Put("Key", "1");
  for (int round = 0; round < 3; round++) {
    EXPECT_EQ("1", Get("kEY"));
    if (round == 0) db_->CompactRange(nullptr, nullptr);
    if (round == 1) Reopen();
  }
  Put("KEY", "2");
  Put("other", "3");
  EXPECT_EQ("2", Get("key"));
  for (int round = 0; round < 2; round++) {
    const auto it = NewIterator();
    it->SeekToFirst();
    EXPECT_EQ("KEY=2 other=3", Forward(it.get()));
    it->SeekToLast();
    EXPECT_EQ("other=3 KEY=2", Backward(it.get()));
    db_->CompactRange(nullptr, nullptr);
  }
  Delete("kEy");
  EXPECT_EQ("(none)", Get("Key"));
  db_->CompactRange(nullptr, nullptr);
  EXPECT_EQ("(none)", Get("Key"));
}

TEST_F(ComparatorContract, OfAnotherNameIsRefusedAndTheRightOneStillWorks) {
  static const ReverseComparator reverse;
  static const CaselessComparator caseless;
  options_.comparator = &reverse;
  Reopen();
  Put("key", "value");
  options_.comparator = &caseless;
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.comparator = leveldb::BytewiseComparator();
  EXPECT_TRUE(TryOpen().IsInvalidArgument());
  options_.comparator = &reverse;
  Reopen();
  EXPECT_EQ("value", Get("key"));
}

TEST_F(ComparatorContract, ThatIsBuiltInShortensKeys) {
  const leveldb::Comparator* const bytewise = leveldb::BytewiseComparator();
  EXPECT_STREQ("leveldb.BytewiseComparator", bytewise->Name());
  std::string key = "abcdefghij";
  bytewise->FindShortestSeparator(&key, "abzz");
  EXPECT_EQ("abd", key);
  bytewise->FindShortSuccessor(&key);
  EXPECT_EQ("b", key);
}

// ---- Filter policies ----

// Keeps a set of first letters.
class LetterPolicy : public leveldb::FilterPolicy {
 public:
  explicit LetterPolicy(const char* name) : name_(name) {}
  const char* Name() const override { return name_; }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    for (int i = 0; i < n; i++) dst->push_back(keys[i].empty() ? '\0' : keys[i][0]);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    return filter.ToString().find(key.empty() ? '\0' : key[0]) != std::string::npos;
  }

 private:
  const char* const name_;
};

class FilterPolicyContract : public ComparatorContract {
 protected:
  void Fill() {
    for (int i = 0; i < 2000; i++) Put(std::string(1, static_cast<char>('a' + i % 20)) + std::to_string(i), "value");
    db_->CompactRange(nullptr, nullptr);
  }
  void Check() {
    for (int i = 0; i < 2000; i++) {
      const std::string key = std::string(1, static_cast<char>('a' + i % 20)) + std::to_string(i);
      ASSERT_EQ("value", Get(key)) << key;
      ASSERT_EQ("(none)", Get("z" + key));
    }
  }
};

TEST_F(FilterPolicyContract, OfTheProgramsOwnHidesNoKey) {
  const LetterPolicy policy("test.Letters");
  const Closer closer(this);
  options_.filter_policy = &policy;
  Reopen();
  Fill();
  Check();
  Reopen();
  Check();
}

TEST_F(FilterPolicyContract, MayChangeBetweenOpens) {
  const LetterPolicy one("test.One"), two("test.Two");
  const std::unique_ptr<const leveldb::FilterPolicy> bloom(leveldb::NewBloomFilterPolicy(10));
  const Closer closer(this);
  options_.filter_policy = &one;
  Reopen();
  Fill();
  for (const leveldb::FilterPolicy* policy : {static_cast<const leveldb::FilterPolicy*>(&two), bloom.get(),
                                              static_cast<const leveldb::FilterPolicy*>(nullptr)}) {
    options_.filter_policy = policy;
    Reopen();
    Check();
  }
}

TEST_F(FilterPolicyContract, BloomMatchesItsKeysAndFewOthers) {
  const std::unique_ptr<const leveldb::FilterPolicy> bloom(leveldb::NewBloomFilterPolicy(10));
  EXPECT_STREQ("leveldb.BuiltinBloomFilter2", bloom->Name());
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; i++) keys.push_back("key" + std::to_string(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::string filter = "kept";
  bloom->CreateFilter(slices.data(), 1000, &filter);
  EXPECT_EQ("kept", filter.substr(0, 4));
  const Slice bits(filter.data() + 4, filter.size() - 4);
  int others = 0;
  for (int i = 0; i < 1000; i++) {
    EXPECT_TRUE(bloom->KeyMayMatch(keys[static_cast<size_t>(i)], bits));
    others += bloom->KeyMayMatch("other" + std::to_string(i), bits) ? 1 : 0;
  }
  EXPECT_LT(others, 30);
}

// The bytes are part of LevelDB's table format.
TEST_F(FilterPolicyContract, BloomFiltersAreTheSameBitForBit) {
  const std::unique_ptr<const leveldb::FilterPolicy> bloom(leveldb::NewBloomFilterPolicy(10));
  const Slice keys[] = {"hello", "world", Slice("\0\xff", 2), ""};
  std::string filter, hex;
  bloom->CreateFilter(keys, 4, &filter);
  for (const char c : filter) {
    char code[3];
    snprintf(code, sizeof(code), "%02x", static_cast<unsigned char>(c));
    hex += code;
  }
  EXPECT_EQ("1d4204414630519806", hex);
}

// ---- Caches ----

class CacheContract : public FilterPolicyContract {};

TEST_F(CacheContract, MayBeSharedByDatabasesAndOutlivesThem) {
  const std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(1 << 20));
  const Closer closer(this);
  options_.block_cache = cache.get();
  Reopen();
  Fill();
  leveldb::DB* second = nullptr;
  ASSERT_OK(leveldb::DB::Open(options_, dir_ / "second", &second));
  EXPECT_OK(second->Put(leveldb::WriteOptions(), "a0", "of the second"));
  second->CompactRange(nullptr, nullptr);
  std::string value;
  EXPECT_OK(second->Get(leveldb::ReadOptions(), "a0", &value));
  EXPECT_EQ("of the second", value);
  EXPECT_EQ("value", Get("a0"));
  delete second;
  Check();
  Close();
  cache->Prune();
  EXPECT_EQ(0u, cache->TotalCharge());
}

TEST_F(CacheContract, ThatIsTooSmallForAnythingWorks) {
  const std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(0));
  const Closer closer(this);
  options_.block_cache = cache.get();
  Reopen();
  Fill();
  Check();
}

TEST_F(CacheContract, ReadsWithoutFillingItFindTheSame) {
  Reopen();
  Fill();
  leveldb::ReadOptions options;
  options.fill_cache = false;
  options.verify_checksums = true;
  std::string value;
  EXPECT_OK(db_->Get(options, "a0", &value));
  const std::unique_ptr<leveldb::Iterator> it(db_->NewIterator(options));
  int count = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
  EXPECT_OK(it->status());
  EXPECT_EQ(2000, count);
}

std::vector<std::string>* deleted = nullptr;

void Deleter(const Slice& key, void* value) {
  deleted->push_back(key.ToString() + "=" + std::to_string(reinterpret_cast<size_t>(value)));
}

TEST_F(CacheContract, MayBeUsedByTheProgramItself) {
  std::vector<std::string> gone;
  deleted = &gone;
  std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(1000));
  EXPECT_NE(cache->NewId(), cache->NewId());
  leveldb::Cache::Handle* handle = cache->Insert("a", reinterpret_cast<void*>(1), 1, Deleter);
  EXPECT_EQ(reinterpret_cast<void*>(1), cache->Value(handle));
  EXPECT_EQ(1u, cache->TotalCharge());
  cache->Erase("a");
  EXPECT_EQ(nullptr, cache->Lookup("a"));
  EXPECT_TRUE(gone.empty()) << "an erased value stays while it is in use";
  cache->Release(handle);
  EXPECT_EQ((std::vector<std::string>{"a=1"}), gone);
  cache->Release(cache->Insert("b", reinterpret_cast<void*>(2), 1, Deleter));
  cache.reset();
  EXPECT_EQ((std::vector<std::string>{"a=1", "b=2"}), gone);
}

// ---- Loggers ----

class CountingLogger : public leveldb::Logger {
 public:
  void Logv(const char* format, std::va_list ap) override {
    char line[2000];
    vsnprintf(line, sizeof(line), format, ap);
    const std::lock_guard<std::mutex> lock(mutex_);
    text_ += std::string(line) + "\n";
  }
  std::string text() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
};

TEST_F(ComparatorContract, ALoggerGetsTheMessagesAndThenThereIsNoLogFile) {
  CountingLogger logger;
  const Closer closer(this);
  options_.info_log = &logger;
  Reopen();
  Churn();
  Close();
  EXPECT_NE("", logger.text());
  EXPECT_FALSE(leveldb::Env::Default()->FileExists(name_ + "/LOG"));
#ifdef MIODB_AS_LEVELDB  // LevelDB declares Log, but its shared library does not export it
  leveldb::Log(&logger, "number %d", 42);
  EXPECT_NE(std::string::npos, logger.text().find("number 42"));
  leveldb::Log(nullptr, "%s", "into nothing");
#endif
  options_.info_log = nullptr;
  Reopen();
  EXPECT_TRUE(leveldb::Env::Default()->FileExists(name_ + "/LOG"));
}

// ---- Environments ----

bool EndsWith(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Notes the calls, and refuses the calls that the test names.
class WatchingEnv : public leveldb::EnvWrapper {
 public:
  WatchingEnv() : EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status CreateDir(const std::string& name) override {
    created_dirs++;
    return target()->CreateDir(name);
  }
  leveldb::Status LockFile(const std::string& name, leveldb::FileLock** lock) override {
    if (EndsWith(name, "/LOCK")) locks++;
    return target()->LockFile(name, lock);
  }
  leveldb::Status UnlockFile(leveldb::FileLock* lock) override {
    locks--;
    return target()->UnlockFile(lock);
  }
  leveldb::Status NewLogger(const std::string& name, leveldb::Logger** result) override {
    if (EndsWith(name, "/LOG")) logs++;
    return target()->NewLogger(name, result);
  }
  leveldb::Status NewWritableFile(const std::string& name, leveldb::WritableFile** result) override {
    written++;
    if (!refuse_writing) return target()->NewWritableFile(name, result);
    *result = nullptr;
    return leveldb::Status::IOError(name, "refused by the test");
  }
  leveldb::Status RemoveFile(const std::string& name) override {
    removed++;
    return target()->RemoveFile(name);
  }

  std::atomic<int> created_dirs{0}, locks{0}, logs{0}, written{0}, removed{0};
  bool refuse_writing = false;
};

TEST_F(ComparatorContract, AnEnvSeesTheFilesOfTheDatabase) {
  WatchingEnv env;
  const Closer closer(this);
  options_.env = &env;
  Reopen();
  EXPECT_LE(1, env.created_dirs);
  EXPECT_EQ(1, env.locks);
  EXPECT_EQ(1, env.logs);
  EXPECT_LT(0, env.written);
  Put("key", "value");
  Churn();
  Reopen();
  EXPECT_EQ("value", Get("key"));
  Close();
  EXPECT_EQ(0, env.locks);
  env.removed = 0;
  EXPECT_OK(leveldb::DestroyDB(name_, options_));
  EXPECT_LT(0, env.removed);
  EXPECT_FALSE(env.FileExists(name_));
}

TEST_F(ComparatorContract, WhatAnEnvRefusesIsTheErrorOfOpen) {
  WatchingEnv env;
  const Closer closer(this);
  env.refuse_writing = true;
  options_.env = &env;
  const leveldb::Status s = TryOpen();
  EXPECT_TRUE(s.IsIOError());
  EXPECT_NE(std::string::npos, s.ToString().find("refused by the test")) << s.ToString();
  EXPECT_EQ(0, env.locks);
  env.refuse_writing = false;
  Reopen();
}

TEST_F(ComparatorContract, TheDefaultEnvWorksWithFiles) {
  leveldb::Env* const env = leveldb::Env::Default();
  const std::string file = dir_ / "file", other = dir_ / "other";
  ASSERT_OK(leveldb::WriteStringToFile(env, "hello", file));
  leveldb::WritableFile* appended = nullptr;
  ASSERT_OK(env->NewAppendableFile(file, &appended));
  EXPECT_OK(appended->Append(" world"));
  EXPECT_OK(appended->Flush());
  EXPECT_OK(appended->Sync());
  EXPECT_OK(appended->Close());
  delete appended;
  std::string content;
  ASSERT_OK(leveldb::ReadFileToString(env, file, &content));
  EXPECT_EQ("hello world", content);
  uint64_t size = 0;
  EXPECT_OK(env->GetFileSize(file, &size));
  EXPECT_EQ(11u, size);
  leveldb::RandomAccessFile* random = nullptr;
  ASSERT_OK(env->NewRandomAccessFile(file, &random));
  char scratch[100];
  Slice part;
  EXPECT_OK(random->Read(6, 5, &part, scratch));
  EXPECT_EQ("world", part.ToString());
  delete random;
  leveldb::SequentialFile* sequential = nullptr;
  ASSERT_OK(env->NewSequentialFile(file, &sequential));
  EXPECT_OK(sequential->Skip(1));
  EXPECT_OK(sequential->Read(4, &part, scratch));
  EXPECT_EQ("ello", part.ToString());
  delete sequential;
  EXPECT_OK(env->RenameFile(file, other));
  EXPECT_FALSE(env->FileExists(file));
  EXPECT_TRUE(env->NewSequentialFile(file, &sequential).IsNotFound());
  EXPECT_EQ(nullptr, sequential);
  std::vector<std::string> names;
  EXPECT_OK(env->GetChildren(dir_ / "", &names));
  EXPECT_EQ(1, std::count(names.begin(), names.end(), "other"));
  EXPECT_OK(env->RemoveFile(other));
  EXPECT_FALSE(env->RemoveFile(other).ok());
  EXPECT_OK(env->CreateDir(other));
  EXPECT_OK(env->RemoveDir(other));
  leveldb::FileLock *lock = nullptr, *again = nullptr;
  ASSERT_OK(env->LockFile(file, &lock));
  EXPECT_FALSE(env->LockFile(file, &again).ok());
  EXPECT_OK(env->UnlockFile(lock));
  std::string test_directory;
  EXPECT_OK(env->GetTestDirectory(&test_directory));
  EXPECT_TRUE(env->FileExists(test_directory));
  const uint64_t before = env->NowMicros();
  env->SleepForMicroseconds(1000);
  EXPECT_LE(before + 1000, env->NowMicros());
}

// Overrides the old name only, as programs before LevelDB 1.23 did.
class OldEnv : public leveldb::EnvWrapper {
 public:
  OldEnv() : EnvWrapper(leveldb::Env::Default()) {}
  leveldb::Status RemoveFile(const std::string& name) override { return Env::RemoveFile(name); }
  leveldb::Status DeleteFile(const std::string&) override {
    calls++;
    return leveldb::Status::OK();
  }
  int calls = 0;
};

TEST_F(ComparatorContract, AnEnvMayOverrideTheOldNamesOfRemoval) {
  OldEnv env;
  EXPECT_OK(env.RemoveFile("nothing"));
  EXPECT_EQ(1, env.calls);
}

}  // namespace
