// Behaviour that a LevelDB program meets with this library and not with LevelDB.

#include <leveldb/comparator.h>
#include <leveldb/dumpfile.h>
#include <leveldb/helpers/memenv.h>

#include <functional>
#include <map>

#include "tests/compat/leveldb_fixture.h"

// Declarations that programs put into the namespace; they have to compile after the headers as well as before them.
namespace leveldb {
class DB;
class Env;
class Slice;
class Status;
struct Options;
inline bool IsSmall(const Slice& slice) { return slice.size() < 10; }
// LevelDB's own files and programs copied from them have these names here; all of ours that look like them, too.
enum FileType { kLogFile, kDBLockFile, kTableFile, kDescriptorFile, kCurrentFile, kTempFile, kInfoLogFile };
enum Ours { kLogPmem = kInfoLogFile + 1, kLogOff, kPersistAuto, kPersistPmem, kPersistEmulated, kPersistFile };
}  // namespace leveldb

namespace std {
template <>
struct hash<leveldb::Slice> {
  size_t operator()(const leveldb::Slice& s) const { return hash<string>()(s.ToString()); }
};
}  // namespace std

namespace {

using leveldb::Slice;
using leveldb::Status;

class OwnTest : public LevelDBTest {
 protected:
  // What DumpFile writes.
  Status Dump(const std::string& file, std::string* text) {
    const std::string name = dir_ / "dump";
    leveldb::WritableFile* out = nullptr;
    leveldb::Env* const env = leveldb::Env::Default();
    EXPECT_OK(env->NewWritableFile(name, &out));
    const Status s = leveldb::DumpFile(env, file, out);
    EXPECT_OK(out->Close());
    delete out;
    EXPECT_OK(leveldb::ReadFileToString(env, name, text));
    EXPECT_OK(env->RemoveFile(name));
    return s;
  }
};

TEST_F(OwnTest, NamesOfTheNamespaceAreFoundWithoutIt) {
  const Slice slice("short");
  EXPECT_TRUE(IsSmall(slice));
  EXPECT_EQ(std::hash<std::string>()("short"), std::hash<Slice>()(slice));
}

TEST_F(OwnTest, NamesOfProgramsStandBesideTheEnumerations) {
  static_assert(leveldb::kLogFile == 0 && leveldb::kPersistFile == 12, "those of the program");
  options_.log_mode = leveldb::LogMode::kLogFile;
  options_.persist_mode = leveldb::PersistMode::kPersistFile;
  Close();
  ASSERT_OK(leveldb::DestroyDB(name_, options_));
  Reopen();
  Put("a", "1");
  EXPECT_EQ("1", Get("a"));
}

// LevelDB counts what lies in files only.
TEST_F(OwnTest, ApproximateSizesCountWhatIsInMemory) {
  const auto size_of = [this](const std::string& start, const std::string& limit) {
    const leveldb::Range range(start, limit);
    uint64_t size = 77;
    db_->GetApproximateSizes(&range, 1, &size);
    return size;
  };
  options_.write_buffer_size = 16 << 20;
  Reopen();
  EXPECT_EQ(0u, size_of("", "z"));
  for (const bool reopened : {false, true}) {
    if (reopened) Reopen();
    for (int i = 0; i < 10; i++) Put("small" + std::to_string(i), std::string(100, 's'));
    Put("huge", std::string(1000000, 'h'));
    EXPECT_GE(size_of("huge", "i"), 1000000u) << reopened;
    EXPECT_GE(size_of("small", "t"), 10 * 100u) << reopened;
    EXPECT_LE(size_of("small", "t"), 10 * 200u * (reopened ? 2 : 1)) << reopened;
    EXPECT_EQ(size_of("", "z"), size_of("", "small") + size_of("small", "z"));
  }
}

// If there are too many records to look at each, the records that are looked at stand for their neighbours.
TEST_F(OwnTest, ApproximateSizesOfManyRecordsAreNotThoseOfTheMean) {
  options_.write_buffer_size = 64 << 20;
  Reopen();
  constexpr int kRecords = 20000;
  const auto key = [](int i) { return std::to_string(100000 + i); };
  for (int i = 0; i < kRecords; i++) Put(key(i), std::string(i < kRecords / 2 ? 20 : 1020, 'v'));
  db_->CompactRange(nullptr, nullptr);
  const std::string first = key(0), middle = key(kRecords / 2), before_end = key(kRecords - 1);
  const leveldb::Range ranges[] = {{first, middle}, {middle, before_end}, {first, before_end}};
  uint64_t sizes[3];
  db_->GetApproximateSizes(ranges, 3, sizes);
  EXPECT_NEAR(kRecords / 2 * 45.0, static_cast<double>(sizes[0]), kRecords / 2 * 10.0);
  EXPECT_NEAR(kRecords / 2 * 1045.0, static_cast<double>(sizes[1]), kRecords / 2 * 20.0);
  EXPECT_NEAR(static_cast<double>(sizes[0] + sizes[1]), static_cast<double>(sizes[2]), kRecords * 10.0);
}

// A database on an Env in memory refuses the calls that it cannot do, and leaves a database on disk of the same name
// alone.
TEST_F(OwnTest, ADatabaseInMemoryHasItsLimits) {
  Put("a", "on disk");
  const std::unique_ptr<leveldb::Env> env(leveldb::NewMemEnv(leveldb::Env::Default()));
  leveldb::EnvWrapper wrapper(env.get());
  leveldb::Options options = options_;
  options.env = &wrapper;
  options.pool_size = 4 << 20;
  leveldb::DB* opened = nullptr;
  ASSERT_OK(leveldb::DB::Open(options, name_, &opened));
  std::unique_ptr<leveldb::DB> db(opened);
  std::string value;
  EXPECT_TRUE(db->GetProperty("miodb.persist-mode", &value));
  EXPECT_EQ("emulated", value);
  EXPECT_TRUE(db->Get(leveldb::ReadOptions(), "a", &value).IsNotFound());
  Status s;
  for (int i = 0; i < 100 && s.ok(); i++) {
    s = db->Put(leveldb::WriteOptions(), std::to_string(i), std::string(100000, 'v'));
  }
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
  options.pool_path = name_ + "/pool";
  EXPECT_TRUE(leveldb::DB::Open(options, name_ + "2", &opened).IsIOError());
  options.pool_path.clear();
  std::vector<std::string> names;
  ASSERT_OK(wrapper.GetChildren(name_, &names));
  EXPECT_NE(names.end(), std::find(names.begin(), names.end(), "pool"));
  EXPECT_TRUE(Dump(name_ + "/pool", &value).IsIOError());  // the one on disk is open
  db.reset();
  EXPECT_TRUE(leveldb::RepairDB(name_, options).IsNotSupportedError());
  ASSERT_OK(leveldb::DestroyDB(name_, options));
  options.nvm_node = 0;
  EXPECT_TRUE(leveldb::DB::Open(options, name_, &opened).IsNotSupportedError());
  Reopen();
  EXPECT_EQ("on disk", Get("a"));
}

TEST_F(OwnTest, CodeThatSaysMiodbMeansTheSameClasses) {
  static_assert(std::is_same<miodb::Options, leveldb::Options>::value, "one class");
  miodb::Options options = options_;
  options.pool_size = 1 << 20;
  options_ = options;
  Reopen();
  std::string pool;
  EXPECT_TRUE(db_->GetProperty("miodb.pool", &pool));
  EXPECT_NE(std::string::npos, pool.find("1048576"));
}

// Implements what LevelDB asks for and no more.
class MapDB : public leveldb::DB {
 public:
  Status Put(const leveldb::WriteOptions& o, const Slice& k, const Slice& v) override { return DB::Put(o, k, v); }
  Status Delete(const leveldb::WriteOptions& o, const Slice& k) override { return DB::Delete(o, k); }
  Status Write(const leveldb::WriteOptions&, leveldb::WriteBatch* batch) override {
    class Apply : public leveldb::WriteBatch::Handler {
     public:
      explicit Apply(std::map<std::string, std::string>* map) : map_(map) {}
      void Put(const Slice& k, const Slice& v) override { (*map_)[k.ToString()] = v.ToString(); }
      void Delete(const Slice& k) override { map_->erase(k.ToString()); }

     private:
      std::map<std::string, std::string>* const map_;
    } apply(&map_);
    return batch->Iterate(&apply);
  }
  Status Get(const leveldb::ReadOptions&, const Slice& k, std::string* v) override {
    const auto found = map_.find(k.ToString());
    if (found == map_.end()) return Status::NotFound(k);
    *v = found->second;
    return Status::OK();
  }
  leveldb::Iterator* NewIterator(const leveldb::ReadOptions&) override { return leveldb::NewEmptyIterator(); }
  const leveldb::Snapshot* GetSnapshot() override { return nullptr; }
  void ReleaseSnapshot(const leveldb::Snapshot*) override {}
  bool GetProperty(const Slice&, std::string*) override { return false; }
  void GetApproximateSizes(const leveldb::Range*, int, uint64_t*) override {}
  void CompactRange(const Slice*, const Slice*) override {}

 private:
  std::map<std::string, std::string> map_;
};

TEST_F(OwnTest, AClassMayImplementLevelDBsCallsAlone) {
  MapDB map;
  leveldb::DB* const db = &map;
  EXPECT_OK(db->Put(leveldb::WriteOptions(), "key", "value"));
  EXPECT_OK(db->Put(leveldb::WriteOptions(), "gone", "value"));
  EXPECT_OK(db->Delete(leveldb::WriteOptions(), "gone"));
  std::string value;
  EXPECT_OK(db->Get(leveldb::ReadOptions(), "key", &value));
  EXPECT_EQ("value", value);
  EXPECT_TRUE(db->Get(leveldb::ReadOptions(), "gone", &value).IsNotFound());
  EXPECT_TRUE(db->Flush().IsNotSupportedError());
  EXPECT_TRUE(db->WaitForIdle().IsNotSupportedError());
}

// With a handle and without, which is null in a class that has no families.
TEST_F(OwnTest, OfAClassWithLevelDBsCallsTheOthersAreMadeOfThem) {
  MapDB map;
  leveldb::DB* const db = &map;
  ASSERT_EQ(nullptr, db->DefaultColumnFamily());
  const leveldb::WriteOptions write;
  const leveldb::ReadOptions read;
  EXPECT_OK(db->Put(write, nullptr, "key", "value"));
  EXPECT_OK(db->Put(write, nullptr, "gone", "value"));
  EXPECT_OK(db->Delete(write, nullptr, "gone"));
  EXPECT_TRUE(db->Merge(write, "key", "operand").IsNotSupportedError());
  EXPECT_TRUE(db->SingleDelete(write, "key").IsNotSupportedError());
  EXPECT_TRUE(db->DeleteRange(write, "a", "z").IsNotSupportedError());
  const std::vector<Slice> keys = {"gone", "key"};
  std::vector<std::string> values;
  const std::vector<Status> statuses = db->MultiGet(read, keys, &values);
  ASSERT_EQ(2u, statuses.size());
  EXPECT_TRUE(statuses[0].IsNotFound());
  EXPECT_OK(statuses[1]);
  EXPECT_EQ("value", values[1]);
  EXPECT_TRUE(db->MultiGet(read, {nullptr, nullptr}, keys, &values)[1].IsNotSupportedError());
  std::vector<leveldb::PinnableSlice> pinned;
  EXPECT_TRUE(db->MultiGet(read, keys, &pinned)[1].IsNotSupportedError());
  bool found = true;
  EXPECT_TRUE(db->KeyMayExist(read, "gone", nullptr, &found));
  EXPECT_FALSE(found);
}

TEST_F(OwnTest, AFullPoolIsAnIOErrorToProgramsThatKnowNoOther) {
  Close();
  options_.pool_size = 1 << 20;
  ASSERT_OK(leveldb::DestroyDB(name_, options_));
  Reopen();
  Status s;
  for (int i = 0; i < 100 && s.ok(); i++) {
    s = db_->Put(leveldb::WriteOptions(), std::to_string(i), std::string(50000, 'v'));
  }
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
  EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
}

TEST_F(OwnTest, ADatabaseOfLevelDBIsRefusedAndLeftAsItIs) {
  leveldb::Env* const env = leveldb::Env::Default();
  const std::string other = dir_ / "other";
  ASSERT_OK(env->CreateDir(other));
  ASSERT_OK(leveldb::WriteStringToFile(env, "MANIFEST-000002\n", other + "/CURRENT"));
  leveldb::DB* db = nullptr;
  const Status s = leveldb::DB::Open(options_, other, &db);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("another format")) << s.ToString();
  std::vector<std::string> names;
  ASSERT_OK(env->GetChildren(other, &names));
  EXPECT_EQ(3u, names.size());  // CURRENT and two dots
}

// Keeps its files somewhere else than the system would look for them.
class ElsewhereEnv : public leveldb::EnvWrapper {
 public:
  explicit ElsewhereEnv(const std::string& root) : EnvWrapper(Env::Default()), root_(root) {}
  bool FileExists(const std::string& f) override { return target()->FileExists(root_ + f); }
  Status CreateDir(const std::string& d) override { return target()->CreateDir(root_ + d); }
  Status RemoveDir(const std::string& d) override { return target()->RemoveDir(root_ + d); }
  Status RemoveFile(const std::string& f) override { return target()->RemoveFile(root_ + f); }
  Status RenameFile(const std::string& a, const std::string& b) override {
    return target()->RenameFile(root_ + a, root_ + b);
  }
  Status NewWritableFile(const std::string& f, leveldb::WritableFile** r) override {
    return target()->NewWritableFile(root_ + f, r);
  }
  Status NewLogger(const std::string& f, leveldb::Logger** r) override { return target()->NewLogger(root_ + f, r); }
  Status LockFile(const std::string& f, leveldb::FileLock** l) override { return target()->LockFile(root_ + f, l); }

 private:
  const std::string root_;
};

TEST_F(OwnTest, AnEnvThatKeepsFilesWhereTheyCannotBeMappedIsRefusedAndNothingStays) {
  Close();
  ElsewhereEnv env(dir_ / "");
  options_.env = &env;
  leveldb::DB* db = nullptr;
  const Status s = leveldb::DB::Open(options_, "elsewhere", &db);
  EXPECT_TRUE(s.IsNotSupportedError()) << s.ToString();
  EXPECT_EQ(nullptr, db);
  EXPECT_FALSE(env.FileExists("elsewhere"));
}

TEST_F(OwnTest, DumpFileWritesLogAndTables) {
  Put("in a table", "1");
  db_->CompactRange(nullptr, nullptr);
  Put(std::string("in the log\0'", 12), "2");
  Delete("in a table");
  Close();
  std::string text;
  ASSERT_OK(Dump(name_ + "/pool", &text));
  for (const char* line :
       {"pool: format version 3, uuid ", "manifest: comparator leveldb.BytewiseComparator, ", "--- log chunk ",
        "frame: sequence 2, 1 records\n", "'in the log\\x00\\x27' @ 2 : val => '2'\n", "'in a table' @ 3 : del\n",
        "--- table ", ": repository, run 0, 1 entries\n", "'in a table' @ 1 : val => '1'\n"}) {
    EXPECT_NE(std::string::npos, text.find(line)) << line << "\nis missing in\n" << text;
  }
  Reopen();
  EXPECT_EQ("(none)", Get("in a table"));
}

class BackwardComparator : public leveldb::Comparator {
 public:
  int Compare(const Slice& a, const Slice& b) const override { return b.compare(a); }
  const char* Name() const override { return "test.Backward"; }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}
};

TEST_F(OwnTest, DumpFileNeedsNoComparator) {
  static const BackwardComparator backward;
  Close();
  ASSERT_OK(leveldb::DestroyDB(name_, options_));
  options_.comparator = &backward;
  Reopen();
  for (int i = 0; i < 300; i++) Put(std::to_string(i), "value");
  db_->CompactRange(nullptr, nullptr);
  Close();
  std::string text;
  ASSERT_OK(Dump(name_ + "/pool", &text));
  EXPECT_NE(std::string::npos, text.find("manifest: comparator test.Backward, "));
  const size_t ninety_nine = text.find("'99' @"), ten = text.find("'10' @");
  EXPECT_NE(std::string::npos, ten);
  EXPECT_LT(ninety_nine, ten);
}

TEST_F(OwnTest, DumpFileRefusesWhatIsNoPool) {
  std::string text;
  EXPECT_TRUE(Dump(name_ + "/nothing", &text).IsNotFound());
  EXPECT_TRUE(Dump(name_ + "/pool", &text).IsIOError()) << "it is open";
  Close();
  ASSERT_OK(leveldb::WriteStringToFile(leveldb::Env::Default(), std::string(100000, 'x'), name_ + "/foreign"));
  EXPECT_TRUE(Dump(name_ + "/foreign", &text).IsCorruption());
  EXPECT_EQ("", text);
}

TEST_F(OwnTest, DumpFileChangesNothingThatAnOpenWouldMend) {
  Put("key", "value");
  Close();
  const std::string pool = name_ + "/pool";
  std::string before, after, text;
  ASSERT_OK(leveldb::ReadFileToString(leveldb::Env::Default(), pool, &before));
  for (const size_t second_copy : {1536, 2560}) before[second_copy] ^= 1;  // of each root slot
  ASSERT_OK(leveldb::WriteStringToFile(leveldb::Env::Default(), before, pool));
  ASSERT_OK(Dump(pool, &text));
  EXPECT_NE(std::string::npos, text.find("'key' @ 1 : val => 'value'"));
  ASSERT_OK(leveldb::ReadFileToString(leveldb::Env::Default(), pool, &after));
  EXPECT_TRUE(before == after);
}

TEST_F(OwnTest, DumpFileTellsDamageAndWritesWhatComesBefore) {
  const std::string value(100, 'v');
  for (int i = 0; i < 300; i++) Put(std::to_string(1000 + i), value + std::to_string(i));
  db_->CompactRange(nullptr, nullptr);
  Close();
  const std::string pool = name_ + "/pool";
  std::string content;
  ASSERT_OK(leveldb::ReadFileToString(leveldb::Env::Default(), pool, &content));
  int damaged = 0;
  for (size_t at = 0; (at = content.find(value + "200", at)) != std::string::npos; at += 50, damaged++)
    content[at] ^= 1;
  ASSERT_LT(0, damaged);
  ASSERT_OK(leveldb::WriteStringToFile(leveldb::Env::Default(), content, pool));
  std::string text;
  EXPECT_TRUE(Dump(pool, &text).IsCorruption());
  EXPECT_NE(std::string::npos, text.find("'1199' @"));
  EXPECT_EQ(std::string::npos, text.find("'1200' @"));
}

#ifndef NDEBUG
// The process that dies is a fork without the threads of this one, so it opens the database itself.
TEST_F(OwnTest, ClosingWithALiveIteratorIsDiagnosed) {
  Close();
  EXPECT_DEATH(
      {
        Reopen();
        db_->NewIterator(leveldb::ReadOptions());
        Close();
      },
      "iterator_or_pinned_slice_outlives_the_database");
}

TEST_F(OwnTest, ClosingWithALiveSnapshotIsDiagnosed) {
  Close();
  EXPECT_DEATH(
      {
        Reopen();
        db_->GetSnapshot();
        Close();
      },
      "snapshots.empty");
}
#endif

}  // namespace
