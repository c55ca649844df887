// RepairDB: what it keeps of a damaged pool, what it says, and that it makes nothing worse.

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include "miodb/env.h"
#include "src/format/index_node.h"
#include "src/format/manifest_area.h"
#include "src/format/record.h"
#include "src/format/superblock.h"
#include "src/util/bytes/hash.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

class RepairTest : public DbTestBase {
 protected:
  void SetUp() override { options_.paranoid_checks = true; }

  std::string pool() const { return path_ + "/pool"; }

  void Write(const std::string& key, const std::string& value) {
    Put(key, value);
    expected_[key] = value;
    written_[key].insert(value);
  }

  void Remove(const std::string& key) {
    Delete(key);
    expected_.erase(key);
  }

  // Tables in the repository and above it, overwritten and deleted keys, and a log. What was deleted has been merged
  // away: its old value lies nowhere but in free space.
  void Make(uint64_t seed = 1) {
    Open();
    Random random(seed);
    const auto write_some = [&](uint64_t count) {
      for (uint64_t i = 0; i < count; i++) {
        const uint64_t n = random.Uniform(600);
        if (random.OneIn(4)) {
          Remove(FilledKey(n));
        } else {
          Write(FilledKey(n), FilledValue(random.Uniform(1000), 20 + random.Uniform(200), i));
        }
      }
    };
    for (int round = 0; round < 3; round++) {
      write_some(800);
      db_->CompactRange(nullptr, nullptr);
    }
    for (uint64_t n = 100; n < 200; n++) Remove(FilledKey(n));
    db_->CompactRange(nullptr, nullptr);
    write_some(300);
    ASSERT_OK(db_->Flush());
    write_some(30);
    Close();
    ASSERT_OK(ReadFileToString(Env::Default(), pool(), &good_));
    ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/STORE", &good_store_));
  }

  // A repair gives the pool another uuid, so the STORE of the one that was made comes back with it.
  void WritePool(const std::string& bytes) {
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
    ASSERT_OK(WriteStringToFile(Env::Default(), good_store_, path_ + "/STORE"));
  }

  std::string Lost() {
    std::string text;
    EXPECT_OK(ReadFileToString(Env::Default(), path_ + "/LOST", &text));
    return text;
  }

  // Everything that the repaired database holds.
  std::map<std::string, std::string> Contents() {
    std::map<std::string, std::string> contents;
    Open();
    std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) contents[it->key().ToString()] = it->value().ToString();
    EXPECT_OK(it->status());
    it.reset();
    Close();
    return contents;
  }

  RootSlot Root() const { return ReadRoot(0).epoch > ReadRoot(1).epoch ? ReadRoot(0) : ReadRoot(1); }
  RootSlot ReadRoot(uint64_t parity) const {
    RootSlot slot;
    memcpy(&slot, good_.data() + RootSlotOffset(parity, 0), sizeof(slot));
    return slot;
  }

  // Offsets of the tables that identify themselves.
  std::vector<uint64_t> Tables() const {
    std::vector<uint64_t> tables;
    for (uint64_t at = kPoolHeaderSize; at + kExtentUnit <= good_.size(); at += kExtentUnit) {
      TableHeader header;
      memcpy(&header, &good_[at], sizeof(header));
      if (header.magic == kTableMagic) tables.push_back(at);
    }
    return tables;
  }

  // Checks that nothing was read that was never written.
  void CheckNothingWrong(const std::map<std::string, std::string>& contents) {
    for (const auto& [key, value] : contents) {
      ASSERT_EQ(1u, written_.count(key)) << "an unknown key " << key;
      ASSERT_EQ(1u, written_[key].count(value)) << "a wrong value of " << key;
    }
  }

  std::map<std::string, std::string> expected_;
  std::map<std::string, std::set<std::string>> written_;
  std::string good_;
  std::string good_store_;
};

TEST_F(RepairTest, AnUndamagedDatabaseIsTheSameAfterwards) {
  Make();
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(expected_, Contents());
  EXPECT_EQ(0u, Lost().find("kept " + std::to_string(expected_.size()) + " keys")) << Lost();
  std::string kept;
  ASSERT_OK(ReadFileToString(Env::Default(), pool() + ".damaged", &kept));
  EXPECT_TRUE(kept == good_);
  EXPECT_FALSE(Env::Default()->FileExists(pool() + ".repaired"));
  EXPECT_FALSE(Env::Default()->FileExists(path_ + "/repair.tmp"));
}

TEST_F(RepairTest, WithoutSuperblockAndRootsNothingIsLost) {
  for (const uint64_t seed : Seeds(ByScale(3, 10, 100))) {
    SCOPED_TRACE(Repeat(seed));
    ASSERT_OK(DestroyDB(path_, options_));
    expected_.clear();
    Make(seed);
    std::string bytes = good_;
    memset(bytes.data(), 0, kPoolHeaderSize);
    WritePool(bytes);
    EXPECT_STATUS(Corruption, TryOpen());
    ASSERT_OK(RepairDB(path_, options_));
    EXPECT_EQ(expected_, Contents());
    EXPECT_NE(std::string::npos, Lost().find("superblock"));
  }
}

// What a file is said to be long is neither read nor, on tmpfs, given memory.
TEST_F(RepairTest, TheHoleOfAPoolWithoutSuperblockIsNotRead) {
  constexpr uint64_t kLength = uint64_t{256} << 30;
  const auto blocks = [](const std::string& file) {
    struct stat st = {};
    EXPECT_EQ(0, ::stat(file.c_str(), &st)) << file;
    return st.st_blocks;
  };
  for (const bool empty : {false, true}) {
    Make();
    std::string bytes = good_;
    memset(bytes.data(), 0, kPoolHeaderSize);
    WritePool(empty ? "" : bytes);
    std::filesystem::resize_file(pool(), kLength);
    const auto before = blocks(pool());
    if (empty) {
      EXPECT_STATUS(Corruption, RepairDB(path_, options_));
      EXPECT_GE(before + 8, blocks(pool())) << "more than the header page";
    } else {
      ASSERT_OK(RepairDB(path_, options_));
      EXPECT_EQ(expected_, Contents());
      EXPECT_GE(before + 8, blocks(pool() + ".damaged"));
    }
    ASSERT_OK(DestroyDB(path_, options_));
    expected_.clear();
  }
}

TEST_F(RepairTest, WithoutAManifestNothingIsLostAndNothingDeletedComesBack) {
  for (const uint64_t seed : Seeds(ByScale(3, 10, 100))) {
    SCOPED_TRACE(Repeat(seed));
    ASSERT_OK(DestroyDB(path_, options_));
    expected_.clear();
    Make(seed);
    const RootSlot root = Root();
    std::string bytes = good_;
    memset(&bytes[root.manifest_offset], 0, root.manifest_size);
    WritePool(bytes);
    EXPECT_STATUS(Corruption, TryOpen());
    ASSERT_OK(RepairDB(path_, options_));
    EXPECT_EQ(expected_, Contents());
    // All traces of all manifests.
    bytes = good_;
    memset(bytes.data(), 0, kPoolHeaderSize);
    for (uint64_t at = kPoolHeaderSize; at + kExtentUnit <= bytes.size(); at += kExtentUnit) {
      AreaFooter footer;
      if (ReadAreaFooter(&bytes[at] + kExtentUnit, &footer)) memset(&bytes[footer.offset], 0, footer.size);
    }
    WritePool(bytes);
    EXPECT_STATUS(Corruption, TryOpen());
    ASSERT_OK(RepairDB(path_, options_));
    EXPECT_EQ(expected_, Contents());
  }
}

TEST_F(RepairTest, ADamagedEditInTheManifestCostsNothing) {
  Make();
  const RootSlot root = Root();
  std::string bytes = good_;
  bytes[root.manifest_offset + kManifestRecordHeader + 3] ^= 4;
  WritePool(bytes);
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(expected_, Contents());
  EXPECT_NE(std::string::npos, Lost().find("manifest"));
}

// What a savepoint keeps lies in the pool as what counts does.
TEST_F(RepairTest, SavepointsAreNotBroughtBackAndNoKeyThatTheyAloneHave) {
  Open();
  for (uint64_t n = 0; n < 100; n++) Put(FilledKey(n), "old");
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->CreateSavepoint("s\n"));
  for (uint64_t n = 0; n < 100; n++) Delete(FilledKey(n));
  db_->CompactRange(nullptr, nullptr);
  Write("new", "1");
  ASSERT_OK(db_->CreateSavepoint("t"));
  ASSERT_OK(db_->DropSavepoint("t"));
  Close();
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &good_));
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/STORE", &good_store_));
  EXPECT_EQ(1u, Tables().size());
  for (const bool whole : {true, false}) {
    std::string bytes = good_;
    if (!whole) bytes[Root().manifest_offset + kManifestRecordHeader + 3] ^= 4;
    WritePool(bytes);
    ASSERT_OK(RepairDB(path_, options_));
    EXPECT_EQ(expected_, Contents());
    EXPECT_NE(std::string::npos, Lost().find("savepoint \"s\\x0a\" at sequence 100: was not brought back\n")) << Lost();
    EXPECT_EQ(std::string::npos, Lost().find("savepoint \"t\"")) << Lost();
    EXPECT_EQ(!whole, Lost().find("manifest: not whole") != std::string::npos) << Lost();
    Open();
    std::vector<SavepointInfo> savepoints;
    EXPECT_OK(db_->ListSavepoints(&savepoints));
    EXPECT_TRUE(savepoints.empty());
    Close();
  }
}

// The edits that dropped what only a savepoint has are gone with their area.
TEST_F(RepairTest, WhatASavepointAloneHasIsToldByTheNextSnapshot) {
  Open();
  for (uint64_t n = 0; n < 100; n++) Put(FilledKey(n), "old");
  ASSERT_OK(db_->Flush());
  ASSERT_OK(db_->CreateSavepoint("s"));
  for (uint64_t n = 0; n < 100; n++) Delete(FilledKey(n));
  db_->CompactRange(nullptr, nullptr);
  for (int opened = 0; opened < 3; opened++) {
    Open();
    Write("new" + std::to_string(opened), "1");
    ASSERT_OK(db_->Flush());
  }
  Write("newest", "1");
  ASSERT_OK(db_->Flush());
  Close();
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &good_));
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/STORE", &good_store_));
  std::string bytes = good_;
  uint32_t payload_size;
  memcpy(&payload_size, &bytes[Root().manifest_offset], sizeof(payload_size));
  bytes[Root().manifest_offset + ManifestRecordBytes(payload_size) + kManifestRecordHeader + 1] ^= 4;
  WritePool(bytes);
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(expected_, Contents());
  EXPECT_NE(std::string::npos, Lost().find("savepoint \"s\" at sequence 100: was not brought back\n")) << Lost();
}

TEST_F(RepairTest, ADamagedHeaderCostsATableNothing) {
  Make();
  std::string bytes = good_;
  const std::vector<uint64_t> tables = Tables();
  ASSERT_FALSE(tables.empty());
  for (const uint64_t at : tables) bytes[at + offsetof(TableHeader, entries)] ^= 1;
  WritePool(bytes);
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(expected_, Contents());
  EXPECT_NE(std::string::npos, Lost().find("header checksum mismatch"));
}

TEST_F(RepairTest, ADamagedLeafLosesItsKeysAndNoOthers) {
  Make();
  for (const uint64_t table : Tables()) {
    TableHeader header;
    memcpy(&header, &good_[table], sizeof(header));
    if (header.leaf_count < 3) continue;
    LeafNode leaf;
    const uint64_t at = table + sizeof(TableHeader) + sizeof(LeafNode);
    memcpy(&leaf, &good_[at], sizeof(leaf));
    std::set<std::string> in_leaf;
    for (int i = 0; i < leaf.header.count; i++) {
      RecordView record;
      ASSERT_TRUE(ParseRecord(&good_[IndexWord(leaf.word[i]).ref()], good_.data() + good_.size(), &record));
      in_leaf.insert(record.key.ToString());
    }
    std::string bytes = good_;
    bytes[at + 700] ^= 1;
    WritePool(bytes);
    EXPECT_STATUS(Corruption, TryOpen());
    ASSERT_OK(RepairDB(path_, options_));
    std::map<std::string, std::string> contents = Contents();
    CheckNothingWrong(contents);
    EXPECT_NE(contents, expected_);
    for (const auto& [key, value] : expected_) {
      if (in_leaf.count(key) > 0) continue;
      EXPECT_EQ(value, contents[key]) << key;
    }
    EXPECT_NE(std::string::npos, Lost().find("table " + std::to_string(header.number))) << Lost();
    EXPECT_NE(std::string::npos, Lost().find("leaf 1")) << Lost();
    return;
  }
  FAIL() << "no table with three leaves";
}

// However many entries are lost, there is a line for each leaf at most, and the last line tells their number.
TEST_F(RepairTest, RecordsThatAreGoneTakeALineForEachLeaf) {
  constexpr uint64_t kCount = 5000;
  const std::string value = "a value that the index has not";
  Open();
  for (uint64_t i = 0; i < kCount; i++) Put(FilledKey(i), value);
  ASSERT_OK(db_->Flush());
  Close();
  std::string bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &bytes));
  for (size_t at = 0; (at = bytes.find(value, at)) != std::string::npos;) bytes[at++] = 'A';
  WritePool(bytes);
  ASSERT_OK(RepairDB(path_, options_));
  const std::string lost = Lost();
  const auto lines = static_cast<uint64_t>(std::count(lost.begin(), lost.end(), '\n'));
  EXPECT_LE(lines, kCount / kNodeFanout + 10) << lost.substr(0, 1000);
  EXPECT_NE(std::string::npos,
            lost.find("; " + std::to_string(kCount) + " entries lost, " + std::to_string(lines - 1) + " lines above\n"))
      << lost.substr(lost.size() - 300);
}

TEST_F(RepairTest, ADamagedFrameLosesItsWritesAndNoOthers) {
  Open();
  for (uint64_t i = 0; i < 50; i++) Write(FilledKey(i), FilledValue(i, 40, 1));
  Close();
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &good_));
  const size_t at = good_.find(FilledKey(20));
  ASSERT_NE(std::string::npos, at);
  std::string bytes = good_;
  bytes[at + 20] ^= 1;
  WritePool(bytes);
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  expected_.erase(FilledKey(20));
  EXPECT_EQ(expected_, Contents());
  EXPECT_NE(std::string::npos, Lost().find("writes 21 to 21 are missing")) << Lost();
}

// With any damage a repair ends, and every value that it keeps was written to its key. With the same database undamaged
// but in few places most of it is kept.
TEST_F(RepairTest, OfRandomDamageYieldsNothingThatWasNotWritten) {
  Make();
  uint64_t repaired = 0;
  for (const uint64_t seed : Seeds(ByScale(60, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    std::string bytes = good_;
    for (uint64_t i = 1 + random.Uniform(6); i > 0; i--) {
      const uint64_t at = random.OneIn(4) ? random.Uniform(kPoolHeaderSize) : random.Uniform(bytes.size());
      const std::string noise = random.OneIn(2) ? random.Bytes(1 + random.Skewed(13)) : std::string(4096, '\0');
      const size_t length = std::min<size_t>(noise.size(), bytes.size() - at);
      bytes.replace(at, length, noise, 0, length);
    }
    if (random.OneIn(10)) bytes.resize(random.Uniform(bytes.size()));
    WritePool(bytes);
    const Status s = RepairDB(path_, options_);
    if (!s.ok()) {
      EXPECT_STATUS(Corruption, s);
      std::string after;
      ASSERT_OK(ReadFileToString(Env::Default(), pool(), &after));
      EXPECT_TRUE(after == bytes) << "a repair that failed changed the pool";
      continue;
    }
    repaired++;
    CheckNothingWrong(Contents());
    if (HasFailure()) return;
    ASSERT_OK(Env::Default()->RemoveFile(pool() + ".damaged"));
  }
  EXPECT_GT(repaired, 0u);
}

TEST_F(RepairTest, RepairingTwiceKeepsBothDamagedPools) {
  Make();
  ASSERT_OK(RepairDB(path_, options_));
  std::string once;
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &once));
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(expected_, Contents());
  std::string kept;
  ASSERT_OK(ReadFileToString(Env::Default(), pool() + ".damaged.2", &kept));
  EXPECT_TRUE(kept == once);
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(Env::Default()->FileExists(path_));
}

TEST_F(RepairTest, WhatAnUnfinishedRepairLeftIsRemoved) {
  Make();
  ASSERT_OK(WriteStringToFile(Env::Default(), "half a pool", pool() + ".repaired"));
  ASSERT_OK(Env::Default()->CreateDir(path_ + "/repair.tmp"));
  ASSERT_OK(WriteStringToFile(Env::Default(), "", path_ + "/repair.tmp/LOCK"));
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(expected_, Contents());
}

TEST_F(RepairTest, AnOpenDatabaseIsLeftAlone) {
  Open();
  Put("a", "1");
  EXPECT_STATUS(IOError, RepairDB(path_, options_));
  EXPECT_EQ("1", Get("a"));
}

TEST_F(RepairTest, WhatCannotBeRepairedIsRefusedUnchanged) {
  EXPECT_STATUS(InvalidArgument, RepairDB(path_, options_));
  EXPECT_FALSE(Env::Default()->FileExists(path_));
  Make();
  Options other = options_;
  other.comparator = ReverseComparator();
  EXPECT_STATUS(InvalidArgument, RepairDB(path_, other));
  other = options_;
  other.num_levels = 1;
  EXPECT_STATUS(InvalidArgument, RepairDB(path_, other));
  EXPECT_EQ(expected_, Contents());
  for (const std::string& bytes : {std::string(), std::string("this is no pool"), std::string(1 << 16, '\0')}) {
    WritePool(bytes);
    EXPECT_STATUS(Corruption, RepairDB(path_, options_));
    std::string after;
    ASSERT_OK(ReadFileToString(Env::Default(), pool(), &after));
    EXPECT_TRUE(after == bytes);
    EXPECT_FALSE(Env::Default()->FileExists(pool() + ".damaged"));
    EXPECT_FALSE(Env::Default()->FileExists(path_ + "/LOST"));
  }
}

// Nor does somebody else's LOG become LOG.old.
TEST_F(RepairTest, AFolderWithoutADatabaseStaysAsItIs) {
  std::filesystem::create_directory(path_);
  std::filesystem::create_directory(dir_ / "folder");
  for (const std::string& file : {path_ + "/LOG", path_ + "/notes", dir_ / "letter"}) {
    ASSERT_OK(WriteStringToFile(Env::Default(), "Dear all", file));
  }
  std::vector<Options> given(4, options_);
  given[1].pool_path = dir_ / "letter";
  for (const size_t i : {size_t{2}, size_t{3}}) {
    given[i].pool_path = "anonymous";
    given[i].log_mode = kLogFile;
    given[i].ssd_path = dir_ / (i == 2 ? "none" : "folder");
  }
  for (const Options& options : given) {
    const Status s = RepairDB(path_, options);
    EXPECT_FALSE(s.ok());
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) names.insert(entry.path().filename());
    EXPECT_EQ((std::set<std::string>{"LOG", "notes"}), names) << s.ToString();
    std::string content;
    ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/LOG", &content));
    EXPECT_EQ("Dear all", content);
  }
}

TEST_F(RepairTest, UpdatesOfLogFilesAreCounted) {
  options_.log_mode = kLogFile;
  Open();
  for (uint64_t n = 0; n < 7; n++) Write(FilledKey(n), "value");
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(std::string::npos, Lost().find(" 0 writes in the pool's log, and 7 updates in log files; 0 entries lost"))
      << Lost();
  EXPECT_EQ(expected_, Contents());
}

TEST_F(RepairTest, AnotherKeyOrderIsKept) {
  options_.comparator = ReverseComparator();
  Make();
  std::string bytes = good_;
  memset(&bytes[Root().manifest_offset], 0, Root().manifest_size);
  WritePool(bytes);
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_EQ(expected_, Contents());
}

}  // namespace
}  // namespace miodb::test
