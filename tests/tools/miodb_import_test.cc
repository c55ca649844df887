// Databases of LevelDB and RocksDB, and lines of JSON, imported and exported by the tool miodb: what comes out is what
// went in, a source stays as it is, and what is damaged makes nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tests/common/environment.h"
#include "tests/common/program.h"
#include "tests/common/random/random.h"
#include "tools/miodb/stores/content_hash.h"

#if defined(MIODB_WITH_LEVELDB) && defined(MIODB_WITH_ROCKSDB)
#include <leveldb/db.h>
#include <leveldb/write_batch.h>
#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>
#endif

namespace miodb::test {
namespace {

class MiodbImportTest : public ProgramTestBase {
 protected:
  MiodbImportTest() : ProgramTestBase("miodb_import_test"), miodb_(BinaryDir() + "/miodb ") {}

  std::string target() const { return Inside("target"); }

  // Names and contents of all files below a directory.
  static std::map<std::string, std::string> Everything(const std::string& directory) {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
      files[entry.path().string()] = entry.is_regular_file() ? FileContents(entry.path().string()) : "";
    }
    return files;
  }

  void ExpectNothingMade() {
    EXPECT_FALSE(std::filesystem::exists(target()));
    EXPECT_FALSE(std::filesystem::exists(target() + ".unfinished"));
  }

  // The hash that the tool shows of a database.
  std::string HashOf(const std::string& db) {
    EXPECT_EQ(0, Run(miodb_ + "count --hash " + db)) << err_;
    const size_t at = out_.find("hash ");
    return at == std::string::npos ? "none" : out_.substr(out_.find_first_not_of(' ', at + 4), 16);
  }

  const std::string miodb_;
};

TEST_F(MiodbImportTest, JsonLinesGoInAndComeOutAsTheyWere) {
  Random random(Seeds(1)[0]);
  std::map<std::string, std::string> model;
  for (int i = 0; i < 2000; i++) model[random.Bytes(random.Uniform(30))] = random.Bytes(random.Skewed(10));
  for (int i = 0; i < 500; i++) model["text " + std::to_string(i)] = "\xc3\xa9\n\"\\" + std::to_string(i);
  tool::ContentHash expected;
  for (const auto& [key, value] : model) expected.Add(key, value);
  ASSERT_EQ(0, Run(miodb_ + "put --create " + Inside("first") + " first x"));
  ASSERT_EQ(0, Run(miodb_ + "delete " + Inside("first") + " first"));
  // By way of the shell, which takes any byte as text.
  std::ofstream lines(Inside("commands"));
  const auto hex = [](const std::string& bytes) {
    std::string text;
    char digits[3];
    for (const char c : bytes) {
      snprintf(digits, sizeof(digits), "%02x", static_cast<unsigned char>(c));
      text += digits;
    }
    return text;
  };
  for (const auto& [key, value] : model) lines << "put --hex '" << hex(key) << "' '" << hex(value) << "'\n";
  lines.close();
  ASSERT_EQ(0, RunProgram(miodb_ + "shell " + Inside("first") + " <" + Inside("commands")).code);
  char hash[20];
  snprintf(hash, sizeof(hash), "%016llx", static_cast<unsigned long long>(expected.hash()));
  EXPECT_EQ(hash, HashOf(Inside("first")));
  ASSERT_EQ(0, Run(miodb_ + "export --output=" + Inside("lines") + " " + Inside("first"))) << err_;
  ASSERT_EQ(0, Run(miodb_ + "import " + target() + " " + Inside("lines"))) << err_;
  EXPECT_EQ(hash, HashOf(target()));
  // Once more, by a pipe, in hex.
  ASSERT_EQ(0,
            RunProgram(miodb_ + "export --hex " + target() + " | " + miodb_ + "import " + Inside("piped") + " -").code);
  EXPECT_EQ(hash, HashOf(Inside("piped")));
}

TEST_F(MiodbImportTest, AWrongLineIsNamedAndMakesNothing) {
  std::ofstream(Inside("lines")) << "{\"key\": \"a\", \"value\": \"b\"}\n\n{\"key\": \"c\"}\n";
  EXPECT_EQ(2, Run(miodb_ + "import " + target() + " " + Inside("lines")));
  EXPECT_NE(std::string::npos, err_.find("lines, line 3: there is no value")) << err_;
  ExpectNothingMade();
  // Existing files stay unchanged, and the message names the rest of an import that was killed.
  std::filesystem::create_directory(target());
  std::ofstream(target() + "/precious") << "x";
  EXPECT_EQ(2, Run(miodb_ + "import " + target() + " " + Inside("lines")));
  EXPECT_EQ("x", FileContents(target() + "/precious"));
  std::filesystem::remove_all(target());
  std::filesystem::create_directory(target() + ".unfinished");
  EXPECT_EQ(2, Run(miodb_ + "import " + target() + " " + Inside("lines")));
  EXPECT_NE(std::string::npos, err_.find("rm -r")) << err_;
}

TEST_F(MiodbImportTest, APoolElsewhereIsMadeAndOnFailureRemoved) {
  std::ofstream(Inside("good")) << "{\"key\": \"a\", \"value\": \"b\"}\n";
  std::ofstream(Inside("bad")) << "{\"key\": \"a\", \"value\": \"b\"}\nwrong\n";
  const std::string command = miodb_ + "import --option=pool_path=" + Inside("pool") + " " + target() + " ";
  EXPECT_EQ(2, Run(command + Inside("bad")));
  EXPECT_FALSE(std::filesystem::exists(Inside("pool")));
  ExpectNothingMade();
  EXPECT_EQ(0, Run(command + Inside("good"))) << err_;
  EXPECT_TRUE(std::filesystem::exists(Inside("pool")));
  EXPECT_EQ(0, Run(miodb_ + "get " + target() + " a")) << "where its pool is the database says itself\n" << err_;
  EXPECT_EQ("b\n", out_);
  for (const std::string verb : {"check ", "dump --tables ", "check --json "}) {
    EXPECT_EQ(0, Run(miodb_ + verb + target())) << verb << "\n" << out_ << err_;
  }
}

TEST_F(MiodbImportTest, AMissingLibraryIsNamedWithWhatToInstall) {
  std::filesystem::create_directory(Inside("source"));
  std::ofstream(Inside("source") + "/CURRENT") << "MANIFEST-000001\n";
  EXPECT_EQ(2, Run(miodb_ + "import --library=/nonexistent.so " + target() + " " + Inside("source")));
  EXPECT_NE(std::string::npos, err_.find("libleveldb1d")) << err_;
  EXPECT_EQ(2, Run(miodb_ + "import --format=rocksdb --library=libm.so.6 " + target() + " " + Inside("source")));
  EXPECT_NE(std::string::npos, err_.find("has no function rocksdb_")) << err_;
  ExpectNothingMade();
}

// The names have slashes at their ends, as a shell completes those of directories.
TEST_F(MiodbImportTest, AnEmptyFolderBecomesTheDatabaseAndStaysIfTheImportFails) {
  std::ofstream(Inside("good")) << "{\"key\": \"a\", \"value\": \"b\"}\n";
  std::ofstream(Inside("bad")) << "wrong\n";
  std::filesystem::create_directory(target());
  EXPECT_EQ(2, Run(miodb_ + "import " + target() + "/ " + Inside("bad")));
  EXPECT_TRUE(std::filesystem::is_empty(target()));
  EXPECT_EQ(0, Run(miodb_ + "import " + target() + "/ " + Inside("good"))) << err_;
  EXPECT_FALSE(std::filesystem::exists(target() + ".unfinished"));
  EXPECT_EQ("a\tb\n", RunProgram(miodb_ + "scan " + target()).text);
  EXPECT_EQ(0, Run(miodb_ + "export --output=" + Inside("lines") + "/ " + target())) << err_;
  EXPECT_EQ("{\"key\": \"a\", \"value\": \"b\"}\n", FileContents(Inside("lines")));
}

// Each is known before the library is loaded.
TEST_F(MiodbImportTest, ALogThatIsNotThereAndALockThatCannotBeReadAreErrors) {
  const std::string command = miodb_ + "import --library=/nonexistent.so " + target() + " " + Inside("source");
  std::filesystem::create_directory(Inside("source"));
  std::ofstream(Inside("source") + "/CURRENT") << "MANIFEST-000001\n";
  std::ofstream(Inside("source") + "/OPTIONS-000007") << "[DBOptions]\n  wal_dir=/nonexistent\\:logs\n";
  EXPECT_EQ(2, Run(command));
  EXPECT_NE(std::string::npos, err_.find("/nonexistent:logs: is no directory")) << err_;
  EXPECT_NE(std::string::npos, err_.find("--wal")) << err_;
  std::ofstream(Inside("source") + "/000009.log") << "";
  EXPECT_EQ(2, Run(command));
  EXPECT_NE(std::string::npos, err_.find("the library")) << "the database was moved with its log: " << err_;
  std::filesystem::create_directory(Inside("source") + "/OPTIONS-000010");
  EXPECT_EQ(2, Run(command));
  EXPECT_NE(std::string::npos, err_.find("OPTIONS-000010: Is a directory")) << err_;
  std::filesystem::create_symlink("LOCK", Inside("source") + "/LOCK");
  EXPECT_EQ(2, Run(command));
  EXPECT_NE(std::string::npos, err_.find("whether another process has the database open is not known")) << err_;
  ExpectNothingMade();
}

// Neither lines nor LevelDB have lifetimes. The other family has the record that expires.
TEST_F(MiodbImportTest, ARecordThatExpiresIsNotExportedAsOneThatStays) {
  const std::string put = miodb_ + "put --create " + Inside("db");
  ASSERT_EQ(0, Run(put + " a 1")) << err_;
  EXPECT_EQ(0, Run(miodb_ + "export " + Inside("db"))) << err_;
  ASSERT_EQ(0, Run(put + " b 2 --column_family=f --option=lifetime_seconds=86400")) << err_;
  EXPECT_EQ(0, Run(miodb_ + "export --column_family=default " + Inside("db"))) << err_;
  const std::string leveldb =
      "--column_family=f --format=leveldb --library=" + BinaryDir() + "/tests/benchmarks/faulty_library.so ";
  for (const std::string& options : {std::string(), leveldb}) {
    const std::string rest = options + "--output=" + target() + " " + Inside("db");
    EXPECT_EQ(2, Run(miodb_ + "export " + rest));
    EXPECT_NE(std::string::npos, err_.find("key 'b': expires")) << err_;
    ExpectNothingMade();
    EXPECT_EQ(0, Run(miodb_ + "export --lifetimes=drop " + rest)) << err_;
    std::filesystem::remove_all(target());
  }
}

// The calls of LevelDB itself, by a library that writes them down.
TEST_F(MiodbImportTest, AnExportToLevelDbIsDurableAndItsErrorsAreTold) {
  ASSERT_EQ(0, Run(miodb_ + "put --create " + Inside("db") + " a 1")) << err_;
  const std::string command = miodb_ + "export --format=leveldb --library=" + BinaryDir() +
                              "/tests/benchmarks/faulty_library.so --output=" + target() + " " + Inside("db");
  EXPECT_EQ(2, Run("FAULT=compact " + command));
  EXPECT_NE(std::string::npos, err_.find("LevelDB says: the compaction failed")) << err_;
  ExpectNothingMade();
  ASSERT_EQ(0, Run(command)) << err_;
  EXPECT_EQ("a 1\n", FileContents(target() + "/records"));
  EXPECT_EQ("synced write\ncompaction\nsynced write\n", FileContents(target() + "/calls"));
}

#if defined(MIODB_WITH_LEVELDB) && defined(MIODB_WITH_ROCKSDB)

template <typename Db, typename Options, typename Batch>
std::unique_ptr<Db> FillPeer(const std::string& path, uint64_t records) {
  Options options;
  options.create_if_missing = true;
  options.write_buffer_size = 1 << 20;
  Db* opened = nullptr;
  if (!Db::Open(options, path, &opened).ok()) return nullptr;
  std::unique_ptr<Db> db(opened);
  Random random(Seeds(1)[0]);
  Batch batch;
  for (uint64_t i = 0; i < records; i++) {
    const std::string key =
        random.OneIn(3) ? random.Bytes(1 + random.Uniform(20)) : "user" + std::to_string(random.Next());
    batch.Put(key, random.Bytes(random.Skewed(8)));
    if (i % 1000 == 999 || i + 1 == records) {
      if (!db->Write({}, &batch).ok()) return nullptr;
      batch.Clear();
    }
  }
  return db;
}

// The hash of what the peer itself reads.
template <typename Db, typename ReadOptions>
std::string PeerHash(Db* db) {
  tool::ContentHash hash;
  const std::unique_ptr<std::remove_pointer_t<decltype(db->NewIterator(ReadOptions()))>> it(
      db->NewIterator(ReadOptions()));
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    const auto key = it->key(), value = it->value();
    hash.Add(Slice(key.data(), key.size()), Slice(value.data(), value.size()));
  }
  char text[20];
  snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash.hash()));
  return text;
}

uint64_t Records() {
  const char* const scale = std::getenv("MIODB_TEST_SCALE");
  return scale != nullptr && std::string(scale) == "heavy" ? 1000000 : 50000;
}

class PeerImportTest : public MiodbImportTest, public testing::WithParamInterface<const char*> {
 protected:
  bool is_leveldb() const { return std::string(GetParam()) == "leveldb"; }

  std::string MakePeer(uint64_t records) {
    source_ = Inside("source");
    if (is_leveldb()) {
      const auto db = FillPeer<leveldb::DB, leveldb::Options, leveldb::WriteBatch>(source_, records);
      return db == nullptr ? "" : PeerHash<leveldb::DB, leveldb::ReadOptions>(db.get());
    }
    const auto db = FillPeer<rocksdb::DB, rocksdb::Options, rocksdb::WriteBatch>(source_, records);
    return db == nullptr ? "" : PeerHash<rocksdb::DB, rocksdb::ReadOptions>(db.get());
  }

  std::string source_;
};

TEST_P(PeerImportTest, HashesOfAllKeysAndValuesAreEqualAndTheSourceStaysAsItIs) {
  const std::string expected = MakePeer(Records());
  ASSERT_NE("", expected);
  // What a crash can leave with numbers that the next files get.
  std::set<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(source_)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".ldb") || name.ends_with(".sst") || name.ends_with(".log")) numbers.insert(std::stoi(name));
  }
  ASSERT_FALSE(numbers.empty());
  for (int number = *numbers.rbegin() + 1; is_leveldb() && number < *numbers.rbegin() + 20; number++) {
    char digits[20];
    snprintf(digits, sizeof(digits), "%06d", number);
    for (const char* const kind : {".ldb", ".dbtmp"}) std::ofstream(source_ + "/" + digits + kind) << "left";
    std::ofstream(source_ + "/MANIFEST-" + digits) << "left";
  }
  const auto before = Everything(source_);
  ASSERT_EQ(0, Run(miodb_ + "import " + target() + " " + source_)) << err_;
  EXPECT_EQ(!is_leveldb(), out_.find("  write_buffer_size=1048576  ->  write_buffer_size: ") != std::string::npos)
      << out_;
  EXPECT_TRUE(before == Everything(source_));
  EXPECT_EQ(expected, HashOf(target()));
  EXPECT_EQ(0, Run(miodb_ + "check " + target())) << out_;
  // And out again, as LevelDB reads it.
  ASSERT_EQ(0, Run(miodb_ + "export --format=leveldb --output=" + Inside("leveldb") + " " + target())) << err_;
  leveldb::DB* opened = nullptr;
  ASSERT_TRUE(leveldb::DB::Open(leveldb::Options(), Inside("leveldb"), &opened).ok());
  const std::unique_ptr<leveldb::DB> db(opened);
  EXPECT_EQ(expected, (PeerHash<leveldb::DB, leveldb::ReadOptions>(db.get())));
}

TEST_P(PeerImportTest, ASourceThatIsOpenElsewhereIsLeftAlone) {
  ASSERT_NE("", MakePeer(10));
  std::unique_ptr<leveldb::DB> leveldb;
  std::unique_ptr<rocksdb::DB> rocksdb;
  if (is_leveldb()) {
    leveldb = FillPeer<leveldb::DB, leveldb::Options, leveldb::WriteBatch>(source_, 1);
  } else {
    rocksdb = FillPeer<rocksdb::DB, rocksdb::Options, rocksdb::WriteBatch>(source_, 1);
  }
  EXPECT_EQ(2, Run(miodb_ + "import " + target() + " " + source_));
  EXPECT_NE(std::string::npos, err_.find("another process has it open")) << err_;
  ExpectNothingMade();
}

// Each file of the source in turn: a byte in the middle changed, cut to half, removed. Either an error that names the
// source, and nothing made, or, where the file holds nothing of the data, everything.
TEST_P(PeerImportTest, ADamagedSourceGivesAnErrorAndNoHalfMadeDatabase) {
  const std::string expected = MakePeer(20000);
  ASSERT_NE("", expected);
  const auto good = Everything(source_);
  int refused = 0;
  for (const auto& [path, bytes] : good) {
    const std::string name = std::filesystem::path(path).filename().string();
    if (name == "LOCK" || name.starts_with("LOG")) continue;
    for (const int damage : {0, 1, 2}) {
      std::string damaged = bytes;
      if (damage == 0 && !damaged.empty())
        damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
      if (damage == 1) damaged.resize(damaged.size() / 2);
      std::ofstream(path, std::ios::binary | std::ios::trunc) << damaged;
      if (damage == 2) std::filesystem::remove(path);
      const int code = Run(miodb_ + "import " + target() + " " + source_);
      std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
      if (code == 0) {
        // A log or manifest that ends early is what a crash leaves: its last records are missing, as they would be
        // there. How much the source has written to each by then depends on its background threads.
        const bool may_lack = name.ends_with(".log") || (name.starts_with("MANIFEST") && damage != 2);
        const std::string hash = HashOf(target());
        EXPECT_TRUE(may_lack || hash == expected) << name << " " << damage << " " << hash;
        std::filesystem::remove_all(target());
        continue;
      }
      refused++;
      EXPECT_EQ(2, code) << name << " " << damage;
      EXPECT_NE(std::string::npos, err_.find(source_)) << name << " " << damage << "\n" << err_;
      EXPECT_TRUE(name.find("OPTIONS") == std::string::npos && name != "IDENTITY") << name << "\n" << err_;
      ExpectNothingMade();
    }
  }
  EXPECT_GT(refused, 5);
}

INSTANTIATE_TEST_SUITE_P(Peers, PeerImportTest, testing::Values("leveldb", "rocksdb"),
                         [](const auto& peer) { return std::string(peer.param); });

TEST_F(MiodbImportTest, ColumnFamiliesKeepTheirNamesAndOneOfThemMayBeImportedAlone) {
  rocksdb::Options options;
  options.create_if_missing = true;
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, Inside("source"), &opened).ok());
  rocksdb::ColumnFamilyHandle* family = nullptr;
  ASSERT_TRUE(opened->CreateColumnFamily({}, "other", &family).ok());
  ASSERT_TRUE(opened->Put({}, family, "a", "of the other").ok());
  ASSERT_TRUE(opened->Put({}, "a", "of the default").ok());
  ASSERT_TRUE(opened->DestroyColumnFamilyHandle(family).ok());
  delete opened;
  const std::string command = miodb_ + "import " + target() + " " + Inside("source");
  EXPECT_EQ(2, Run(command + " --column_family=wrong"));
  EXPECT_NE(std::string::npos, err_.find("has no column family \"wrong\"; there are default, other")) << err_;
  ExpectNothingMade();
  EXPECT_EQ(0, Run(command + " --column_family=other")) << err_;
  EXPECT_EQ("a\tof the other\n", RunProgram(miodb_ + "scan " + target()).text);
  std::filesystem::remove_all(target());
  EXPECT_EQ(0, Run(command)) << err_;
  EXPECT_EQ("a\tof the default\nother\ta\tof the other\n", RunProgram(miodb_ + "scan " + target()).text);
  // LevelDB has one space for keys.
  const std::string out = miodb_ + "export --format=leveldb --output=" + Inside("leveldb") + " " + target();
  EXPECT_EQ(2, Run(out));
  EXPECT_NE(std::string::npos, err_.find("has the column families default, other")) << err_;
  EXPECT_EQ(0, Run(out + " --column_family=other")) << err_;
  EXPECT_EQ(2, Run(miodb_ + "import --column_family=other " + Inside("back") + " " + Inside("leveldb")));
  EXPECT_EQ(0, Run(miodb_ + "import " + Inside("back") + " " + Inside("leveldb"))) << err_;
  EXPECT_EQ("a\tof the other\n", RunProgram(miodb_ + "scan " + Inside("back")).text);
}

// All records are in the log.
TEST_F(MiodbImportTest, ALogInAnotherFolderIsReadWhereverItIs) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.avoid_flush_during_shutdown = true;
  options.wal_dir = Inside("logs");
  rocksdb::DB* opened = nullptr;
  ASSERT_TRUE(rocksdb::DB::Open(options, Inside("source"), &opened).ok());
  const std::unique_ptr<rocksdb::DB> db(opened);
  ASSERT_TRUE(db->Put({}, "a", "in the log").ok());
  ASSERT_TRUE(db->Close().ok());
  const std::string command = miodb_ + "import " + target() + " " + Inside("source");
  EXPECT_EQ(0, Run(command)) << err_;
  EXPECT_EQ("a\tin the log\n", RunProgram(miodb_ + "scan " + target()).text);
  std::filesystem::remove_all(target());
  std::filesystem::rename(Inside("logs"), Inside("moved"));
  EXPECT_EQ(2, Run(command));
  EXPECT_NE(std::string::npos, err_.find(Inside("logs") + ": is no directory")) << err_;
  ExpectNothingMade();
  EXPECT_EQ(0, Run(command + " --wal=" + Inside("moved"))) << err_;
  EXPECT_EQ("a\tin the log\n", RunProgram(miodb_ + "scan " + target()).text);
}

#endif

}  // namespace
}  // namespace miodb::test
