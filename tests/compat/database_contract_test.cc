// Opening, options, properties, sizes, compaction, damage, destruction.

#include <leveldb/comparator.h>
#include <leveldb/options.h>

#include <thread>

#include "tests/compat/leveldb_fixture.h"

namespace {

using leveldb::Slice;

class DatabaseContract : public LevelDBTest {
 protected:
  void Fill(int from, int to) {
    for (int i = from; i < to; i++) Put(Key(i), std::string(1000, static_cast<char>('a' + i % 26)));
  }
  static std::string Key(int i) { return "key" + std::to_string(100000 + i); }

  uint64_t SizeOf(const std::string& start, const std::string& limit) {
    const leveldb::Range range(start, limit);
    uint64_t size = ~uint64_t{0};
    db_->GetApproximateSizes(&range, 1, &size);
    return size;
  }

  std::string Property(const std::string& name) {
    std::string value;
    EXPECT_TRUE(db_->GetProperty(name, &value)) << name;
    return value;
  }
};

// ---- Open ----

TEST_F(DatabaseContract, AMissingDatabaseIsRefusedWithoutCreateIfMissing) {
  options_.create_if_missing = false;
  leveldb::DB* db = reinterpret_cast<leveldb::DB*>(this);
  const leveldb::Status s = leveldb::DB::Open(options_, dir_ / "other", &db);
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("does not exist")) << s.ToString();
  EXPECT_EQ(nullptr, db);
}

TEST_F(DatabaseContract, AnExistingDatabaseIsRefusedWithErrorIfExists) {
  Put("key", "value");
  options_.error_if_exists = true;
  const leveldb::Status s = TryOpen();
  EXPECT_TRUE(s.IsInvalidArgument()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("exists")) << s.ToString();
  options_.error_if_exists = false;
  Reopen();
  EXPECT_EQ("value", Get("key"));
}

TEST_F(DatabaseContract, OpeningTheSameOneTwiceFailsAndHarmsNothing) {
  Put("key", "value");
  leveldb::DB* second = nullptr;
  EXPECT_TRUE(leveldb::DB::Open(options_, name_, &second).IsIOError());
  EXPECT_EQ(nullptr, second);
  EXPECT_EQ("value", Get("key"));
  Put("key", "other");
  Reopen();
  EXPECT_EQ("other", Get("key"));
}

TEST_F(DatabaseContract, ManyAreOpenInOneProcessAtOnce) {
  std::vector<std::unique_ptr<leveldb::DB>> databases;
  for (int i = 0; i < 20; i++) {
    leveldb::DB* db = nullptr;
    ASSERT_OK(leveldb::DB::Open(options_, dir_ / ("many" + std::to_string(i)), &db));
    databases.emplace_back(db);
    ASSERT_OK(db->Put(leveldb::WriteOptions(), "key", std::to_string(i)));
  }
  for (size_t i = 0; i < databases.size(); i++) {
    std::string value;
    ASSERT_OK(databases[i]->Get(leveldb::ReadOptions(), "key", &value));
    EXPECT_EQ(std::to_string(i), value);
  }
}

TEST_F(DatabaseContract, ADatabaseSurvivesManyReopensWithAndWithoutReusedLogs) {
  for (int i = 0; i < 10; i++) {
    options_.reuse_logs = i % 3 != 0;
    Reopen();
    Put("key" + std::to_string(i), std::to_string(i));
    for (int j = 0; j <= i; j++) ASSERT_EQ(std::to_string(j), Get("key" + std::to_string(j)));
  }
}

TEST_F(DatabaseContract, ParanoidChecksFindAGoodDatabaseGood) {
  Fill(0, 500);
  options_.paranoid_checks = true;
  Reopen();
  Fill(500, 700);
  db_->CompactRange(nullptr, nullptr);
  Reopen();
  EXPECT_EQ(std::string(1000, 'a'), Get(Key(0)));
}

TEST_F(DatabaseContract, OptionsOutOfRangeAreMovedIntoIt) {
  for (size_t size : {size_t{0}, size_t{1}, size_t{4095}, size_t{1} << 45}) {
    options_.write_buffer_size = size;
    options_.max_file_size = size;
    options_.block_size = size;
    options_.max_open_files = size == 0 ? 0 : 1 << 30;
    Reopen();
    Put("key", std::to_string(size));
  }
  EXPECT_EQ(std::to_string(size_t{1} << 45), Get("key"));
}

TEST_F(DatabaseContract, CompressionMayChangeBetweenOpens) {
  for (leveldb::CompressionType type :
       {leveldb::kNoCompression, leveldb::kSnappyCompression, leveldb::kNoCompression}) {
    options_.compression = type;
    Reopen();
    Fill(0, 200);
    db_->CompactRange(nullptr, nullptr);
    EXPECT_EQ(std::string(1000, 'b'), Get(Key(1)));
  }
}

TEST_F(DatabaseContract, DefaultsAreThoseThatProgramsKnow) {
  const leveldb::Options options;
  EXPECT_EQ(leveldb::BytewiseComparator(), options.comparator);
  EXPECT_EQ(leveldb::Env::Default(), options.env);
  EXPECT_FALSE(options.create_if_missing);
  EXPECT_FALSE(options.error_if_exists);
  EXPECT_FALSE(options.paranoid_checks);
  EXPECT_FALSE(options.reuse_logs);
  EXPECT_EQ(nullptr, options.info_log);
  EXPECT_EQ(nullptr, options.block_cache);
  EXPECT_EQ(nullptr, options.filter_policy);
  EXPECT_EQ(1000, options.max_open_files);
  EXPECT_EQ(4096u, options.block_size);
  EXPECT_EQ(16, options.block_restart_interval);
  EXPECT_EQ(2u << 20, options.max_file_size);
  EXPECT_EQ(leveldb::kSnappyCompression, options.compression);
  const leveldb::ReadOptions read;
  EXPECT_FALSE(read.verify_checksums);
  EXPECT_TRUE(read.fill_cache);
  EXPECT_EQ(nullptr, read.snapshot);
  EXPECT_FALSE(leveldb::WriteOptions().sync);
  EXPECT_EQ(1, leveldb::kMajorVersion);
  EXPECT_LE(20, leveldb::kMinorVersion);
}

// ---- Properties and sizes ----

TEST_F(DatabaseContract, PropertiesThatLevelDBNamesAreThere) {
  Fill(0, 300);
  db_->CompactRange(nullptr, nullptr);
  int files = 0;
  for (int level = 0; level < 7; level++) {
    const std::string value = Property("leveldb.num-files-at-level" + std::to_string(level));
    EXPECT_FALSE(value.empty());
    EXPECT_EQ(std::string::npos, value.find_first_not_of("0123456789")) << value;
    files += std::stoi(value);
  }
  if (kRealLevelDB) {
    EXPECT_LT(0, files);
  }
  EXPECT_NE(std::string::npos, Property("leveldb.stats").find("Compactions"));
  EXPECT_NE(std::string::npos, Property("leveldb.sstables").find("level 0"));
  EXPECT_LT(0, std::stoll(Property("leveldb.approximate-memory-usage")));
}

TEST_F(DatabaseContract, PropertiesThatAreUnknownReturnFalse) {
  for (const char* name : {"", "leveldb", "leveldb.", "leveldb.nothing", "stats", "leveldb.num-files-at-level",
                           "leveldb.num-files-at-level100", "leveldb.num-files-at-levelx", "leveldb.stats "}) {
    std::string value;
    EXPECT_FALSE(db_->GetProperty(name, &value)) << name;
  }
}

TEST_F(DatabaseContract, ApproximateSizesGrowWithTheDataAndAddUp) {
  uint64_t before = 0;
  for (int i = 0; i < 5; i++) {
    Fill(i * 300, (i + 1) * 300);
    db_->CompactRange(nullptr, nullptr);
    const uint64_t size = SizeOf(Key(0), Key(100000));
    EXPECT_LT(before, size);
    before = size;
  }
  const uint64_t low = SizeOf(Key(0), Key(750)), high = SizeOf(Key(750), Key(100000));
  EXPECT_NEAR(static_cast<double>(before), static_cast<double>(low + high), 0.05 * static_cast<double>(before));
  EXPECT_NEAR(static_cast<double>(low), static_cast<double>(high), 0.2 * static_cast<double>(before));
  EXPECT_EQ(0u, SizeOf("a", "b"));
  EXPECT_EQ(0u, SizeOf(Key(10), Key(10)));
}

// Keys in order with values of very different sizes: each key's share is its own, not that of the mean.
TEST_F(DatabaseContract, ApproximateSizesGoByTheSizesOfTheRecords) {
  options_.compression = leveldb::kNoCompression;
  options_.write_buffer_size = 100 * 1000 * 1000;
  Reopen();
  const int sizes[] = {10000, 10000, 100000, 10000, 100000, 10000, 300000, 10000};
  for (int i = 0; i < 8; i++) Put(Key(i), std::string(static_cast<size_t>(sizes[i]), static_cast<char>('a' + i)));
  for (const bool reopened : {false, true}) {
    if (reopened) Reopen();
    db_->CompactRange(nullptr, nullptr);
    double sum = 0;
    for (int i = 0; i < 8; i++) {
      EXPECT_NEAR(sum, static_cast<double>(SizeOf("", Key(i))), 10000) << i << " " << reopened;
      sum += sizes[i];
    }
    EXPECT_NEAR(110000, static_cast<double>(SizeOf(Key(3), Key(5))), 5000);
    EXPECT_NEAR(10000, static_cast<double>(SizeOf("", Key(1))), 1000);
  }
}

TEST_F(DatabaseContract, SizesOfSeveralRangesComeAtOnce) {
  Fill(0, 600);
  db_->CompactRange(nullptr, nullptr);
  const std::string keys[] = {Key(0), Key(200), Key(600)};
  const leveldb::Range ranges[] = {{keys[0], keys[1]}, {keys[1], keys[2]}};
  uint64_t sizes[] = {0, 0, 77};
  db_->GetApproximateSizes(ranges, 2, sizes);
  EXPECT_LT(0u, sizes[0]);
  EXPECT_LT(sizes[0], sizes[1]);
  EXPECT_EQ(77u, sizes[2]);
  db_->GetApproximateSizes(ranges, 0, sizes + 2);
  EXPECT_EQ(77u, sizes[2]);
}

// ---- Compaction ----

TEST_F(DatabaseContract, CompactRangeTakesNullForEitherEnd) {
  Fill(0, 300);
  const Slice middle("key100150"), before("a"), after("z");
  db_->CompactRange(nullptr, &middle);
  db_->CompactRange(&middle, nullptr);
  db_->CompactRange(&before, &after);
  db_->CompactRange(&after, &before);
  db_->CompactRange(&middle, &middle);
  db_->CompactRange(nullptr, nullptr);
  for (int i = 0; i < 300; i++) ASSERT_EQ(1000u, Get(Key(i)).size());
}

TEST_F(DatabaseContract, CompactRangeDropsWhatIsDeleted) {
  Fill(0, 300);
  db_->CompactRange(nullptr, nullptr);
  for (int i = 0; i < 300; i++) Delete(Key(i));
  db_->CompactRange(nullptr, nullptr);
  EXPECT_EQ(0u, SizeOf(Key(0), Key(1000)));
  const auto it = NewIterator();
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
}

TEST_F(DatabaseContract, ThreadsMayUseItAtOnce) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([this, t] {
      for (int i = 0; i < 300; i++) {
        const std::string key = std::to_string(t) + "." + std::to_string(i);
        EXPECT_OK(db_->Put(leveldb::WriteOptions(), key, key));
        std::string value;
        EXPECT_OK(db_->Get(leveldb::ReadOptions(), key, &value));
        EXPECT_EQ(key, value);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto it = NewIterator();
  int count = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) count++;
  EXPECT_EQ(1200, count);
}

// ---- Damage ----

TEST_F(DatabaseContract, DamageShowsInStatusAndNeverAsAWrongValue) {
  options_.compression = leveldb::kNoCompression;
  Reopen();
  const auto value_of = [](int i) { return "payload" + std::to_string(100000 + i) + std::string(500, 'p'); };
  for (int i = 0; i < 500; i++) Put(Key(i), value_of(i));
  db_->CompactRange(nullptr, nullptr);
  Close();
  leveldb::Env* const env = leveldb::Env::Default();
  std::vector<std::string> names;
  ASSERT_OK(env->GetChildren(name_, &names));
  int damaged = 0;
  for (const std::string& name : names) {
    std::string content;
    if (!leveldb::ReadFileToString(env, name_ + "/" + name, &content).ok()) continue;
    const size_t before = content.size();
    for (size_t at = 0; (at = content.find(value_of(250), at)) != std::string::npos; at++, damaged++)
      content[at + 50] ^= 1;
    if (damaged > 0) {
      ASSERT_EQ(before, content.size());
      ASSERT_OK(leveldb::WriteStringToFile(env, content, name_ + "/" + name));
    }
  }
  ASSERT_LT(0, damaged);
  Reopen();
  leveldb::ReadOptions verify;
  verify.verify_checksums = true;
  std::string value;
  EXPECT_TRUE(db_->Get(verify, Key(250), &value).IsCorruption());
  EXPECT_OK(db_->Get(verify, Key(1), &value));
  const std::unique_ptr<leveldb::Iterator> it(db_->NewIterator(verify));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    ASSERT_EQ(value_of(std::stoi(it->key().ToString().substr(3)) - 100000), it->value().ToString());
  }
  EXPECT_TRUE(it->status().IsCorruption()) << it->status().ToString();
}

// ---- Destruction ----

TEST_F(DatabaseContract, DestroyDBRemovesTheDatabaseAndLeavesForeignFiles) {
  Fill(0, 300);
  Close();
  ASSERT_OK(leveldb::WriteStringToFile(leveldb::Env::Default(), "mine", name_ + "/notes.txt"));
  ASSERT_OK(leveldb::DestroyDB(name_, options_));
  std::vector<std::string> names;
  ASSERT_OK(leveldb::Env::Default()->GetChildren(name_, &names));
  for (const std::string& name : names) EXPECT_TRUE(name == "." || name == ".." || name == "notes.txt") << name;
  std::string content;
  EXPECT_OK(leveldb::ReadFileToString(leveldb::Env::Default(), name_ + "/notes.txt", &content));
  Reopen();
  EXPECT_EQ("(none)", Get(Key(0)));
}

TEST_F(DatabaseContract, DestroyDBOfAnOpenDatabaseFailsAndHarmsNothing) {
  Put("key", "value");
  EXPECT_FALSE(leveldb::DestroyDB(name_, options_).ok());
  EXPECT_EQ("value", Get("key"));
  Reopen();
  EXPECT_EQ("value", Get("key"));
}

TEST_F(DatabaseContract, DestroyDBOfNothingIsOk) { EXPECT_OK(leveldb::DestroyDB(dir_ / "nothing", options_)); }

// ---- Repair ----

TEST_F(DatabaseContract, RepairDBOfAnUndamagedDatabaseKeepsEverything) {
  Fill(0, 300);
  Put("key", "old");
  Put("key", "new");
  Close();
  ASSERT_OK(leveldb::RepairDB(name_, options_));
  Reopen();
  EXPECT_EQ("new", Get("key"));
  for (int i = 0; i < 300; i++) ASSERT_NE("(none)", Get(Key(i)));
}

// ---- Status ----

TEST_F(DatabaseContract, AStatusSaysItsKindAndItsMessage) {
  using leveldb::Status;
  EXPECT_EQ("OK", Status::OK().ToString());
  EXPECT_EQ("NotFound: a", Status::NotFound("a").ToString());
  EXPECT_EQ("Corruption: a: b", Status::Corruption("a", "b").ToString());
  EXPECT_EQ("Not implemented: a", Status::NotSupported("a").ToString());
  EXPECT_EQ("Invalid argument: a", Status::InvalidArgument("a").ToString());
  EXPECT_EQ("IO error: a: b", Status::IOError("a", "b").ToString());
  Status moved = Status::IOError("a");
  const Status copy = moved;
  const Status taken = std::move(moved);
  EXPECT_TRUE(copy.IsIOError() && taken.IsIOError() && !copy.IsNotFound() && !copy.ok());
  EXPECT_EQ(copy.ToString(), taken.ToString());
}

}  // namespace
