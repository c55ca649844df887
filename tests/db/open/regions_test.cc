// Pools of several regions: they fill in order, their space is used again, they are found wherever they are, and what
// cannot be a region is refused and left alone.

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "src/db/store/store_file.h"
#include "src/nvm/region/region_finder.h"
#include "tests/common/db_test_base.h"
#include "tests/common/in_child.h"
#include "tests/nvm/pool_files.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMiB = uint64_t{1} << 20;

class RegionsTest : public DbTestBase {
 protected:
  RegionsTest() {
    options_.create_if_missing = true;
    options_.write_buffer_size = 256 * 1024;
    options_.pool_size = 4 * kMiB;
    options_.pool_growth = kMiB;
    options_.partition_size = kMiB;
  }

  static NvmRegion RegionAt(const std::string& path, uint64_t limit = 0, int node = -1) {
    NvmRegion region;
    region.path = path;
    region.limit = limit;
    region.node = node;
    return region;
  }

  std::string Second() const { return dir_ / "second"; }

  // A database whose pool file is too small for what it holds.
  void OpenTwo(uint64_t limit = 32 * kMiB) {
    options_.nvm_regions = {RegionAt(Second(), limit)};
    Open();
  }

  // "name: value" of miodb.placement.
  std::string Placement(const std::string& name) {
    std::istringstream lines(Property("miodb.placement"));
    for (std::string line; std::getline(lines, line);) {
      if (line.rfind(name + ": ", 0) == 0) return line.substr(name.size() + 2);
    }
    return "no line " + name;
  }
  uint64_t Used(int region) {
    return std::stoull(Placement("region" + (region == 0 ? "" : std::to_string(region)) + "-bytes-used"));
  }

  // Fails to open, says why, and has not touched this file.
  void ExpectRefused(const std::string& file, const std::string& reason) {
    const std::string before = ReadFileBytes(file);
    const Status s = TryOpen();
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, reason)) << s.ToString();
    EXPECT_TRUE(Mentions(s, file)) << s.ToString();
    EXPECT_TRUE(before == ReadFileBytes(file));
  }
};

TEST_F(RegionsTest, FillOverIntoTheNextAndReopen) {
  OpenTwo();
  Fill(8000, 1000);
  EXPECT_GT(Used(0), 3 * kMiB);
  EXPECT_LE(fs::file_size(path_ + "/pool"), 4 * kMiB);
  EXPECT_GT(Used(1), 3 * kMiB);
  for (int round = 0; round < 3; round++) {
    CheckFilled(8000, 1000);
    if (round == 1) Settle();
    Open();
    EXPECT_EQ(Second(), Placement("region1-path"));
    EXPECT_EQ(std::to_string(32 * kMiB), Placement("region1-limit"));
  }
}

TEST_F(RegionsTest, SpaceOfBothIsUsedAgain) {
  OpenTwo(24 * kMiB);
  for (uint64_t round = 0; round < 8; round++) {
    Fill(6000, 1000, round);  // all rounds together are three times what both regions have
    if (round % 3 == 1) Settle();
  }
  CheckFilled(6000, 1000, 7);
  for (uint64_t i = 0; i < 6000; i++) Delete(FilledKey(i));
  Settle();
  for (int tries = 0; tries < 100 && Used(0) + Used(1) > 2 * kMiB; tries++) usleep(20 * 1000);
  EXPECT_LT(Used(0) + Used(1), 2 * kMiB) << Property("miodb.placement");
  Fill(6000, 1000, 9);
  CheckFilled(6000, 1000, 9);
  EXPECT_GT(Used(0), 3 * kMiB) << "the first one is filled first";
}

TEST_F(RegionsTest, AKilledProcessLeavesEveryAcknowledgedWrite) {
  options_.nvm_regions = {RegionAt(Second(), 32 * kMiB)};
  for (uint64_t round = 0; round < 4; round++) {
    WaitingChild child([&] {
      DB* db;
      if (!DB::Open(options_, path_, &db).ok()) return false;
      for (uint64_t i = 0; i < 8000; i++) {
        if (!db->Put(WriteOptions(), FilledKey(i), FilledValue(i, 1000, round)).ok()) return false;
      }
      return true;
    });
    ASSERT_TRUE(child.waits()) << "the child could not write";
    ASSERT_TRUE(child.Kill());
    Open();
    CheckFilled(8000, 1000, round);
    EXPECT_GT(Used(1), kMiB);
    Close();
  }
}

TEST_F(RegionsTest, AreFoundByTheirUuidsWhereverTheyAre) {
  OpenTwo();
  Fill(8000, 1000);
  const std::string uuid = Placement("region1-uuid");
  Close();
  // Without being named, from memory.
  options_.nvm_regions.clear();
  Open();
  CheckFilled(8000, 1000);
  Close();
  // Elsewhere, in a folder to be searched. The old path stands for it.
  fs::create_directory(dir_ / "elsewhere");
  fs::rename(Second(), dir_ / "elsewhere/moved");
  WriteFileBytes(dir_ / "elsewhere/other", "no region");
  options_.nvm_regions = {RegionAt(Second(), 32 * kMiB)};
  options_.nvm_region_search = {dir_ / "elsewhere"};
  Open();
  CheckFilled(8000, 1000);
  EXPECT_EQ(dir_ / "elsewhere/moved", Placement("region1-path"));
  EXPECT_EQ(uuid, Placement("region1-uuid"));
  EXPECT_FALSE(fs::exists(Second()));
  Close();
  // It is remembered there.
  options_.nvm_regions.clear();
  options_.nvm_region_search.clear();
  Open();
  Close();
  // The whole database elsewhere, with the region beside its pool.
  fs::rename(dir_ / "elsewhere/moved", path_ + "/renamed");
  fs::rename(path_, dir_ / "copy");
  path_ = dir_ / "copy";
  Open();
  CheckFilled(8000, 1000);
  EXPECT_EQ(path_ + "/renamed", Placement("region1-path"));
}

TEST_F(RegionsTest, AMissingOneIsNamedWithThePlacesThatWereSearched) {
  OpenTwo();
  const std::string uuid = Placement("region1-uuid");
  Close();
  fs::rename(Second(), dir_ / "db/../hidden");
  fs::create_directory(dir_ / "away");
  fs::rename(dir_ / "hidden", dir_ / "away/hidden");
  options_.nvm_region_search = {dir_ / "searched"};
  const Status s = TryOpen();
  EXPECT_STATUS(IOError, s);
  for (const std::string& text : {uuid, Second(), dir_ / "searched", path_, std::string("region 1")}) {
    EXPECT_TRUE(Mentions(s, text)) << s.ToString();
  }
  EXPECT_FALSE(fs::exists(Second())) << "none is made in its place";
  fs::rename(dir_ / "away/hidden", Second());
  Open();
}

TEST_F(RegionsTest, TwoFilesWithOneUuidAreNotToldApartByChance) {
  OpenTwo();
  Close();
  options_.nvm_regions.clear();
  fs::create_directory(dir_ / "a");
  fs::copy_file(Second(), dir_ / "a/one");
  fs::copy_file(Second(), dir_ / "a/two");
  fs::remove(Second());
  StoreDescriptor store;
  ASSERT_OK(ReadStore(Env::Default(), path_, &store));
  store.regions.clear();
  ASSERT_OK(WriteStore(Env::Default(), path_, store));
  options_.nvm_region_search = {dir_ / "a"};
  Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, dir_ / "a/one"));
  EXPECT_TRUE(Mentions(s, dir_ / "a/two"));
  options_.nvm_regions = {RegionAt(dir_ / "a/two")};
  Open();
  Close();
  options_.nvm_regions.push_back(RegionAt(dir_ / "a/one"));
  s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "is the same region as")) << s.ToString();
}

TEST_F(RegionsTest, WhatIsNoRegionOfThisPoolIsRefusedAndLeftAlone) {
  Open();
  Put("a", "1");
  Close();
  WriteFileBytes(dir_ / "letter", "Dear all");
  options_.nvm_regions = {RegionAt(dir_ / "letter")};
  ExpectRefused(dir_ / "letter", "is not empty and no region of this pool");
  // A region of another pool, and another pool itself.
  Options other = options_;
  other.nvm_regions = {RegionAt(dir_ / "others")};
  DB* db;
  ASSERT_OK(DB::Open(other, dir_ / "other", &db));
  delete db;
  options_.nvm_regions = {RegionAt(dir_ / "others")};
  ExpectRefused(dir_ / "others", "is a region of another pool");
  options_.nvm_regions = {RegionAt(dir_ / "other/pool")};
  ExpectRefused(dir_ / "other/pool", "is not empty and no region of this pool");
  options_.nvm_regions = {RegionAt(path_ + "/pool")};
  ExpectRefused(path_ + "/pool", "is not empty and no region of this pool");
  options_.nvm_regions.clear();
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(RegionsTest, ACreateThatIsRefusedLeavesNothing) {
  WriteFileBytes(dir_ / "letter", "Dear all");
  options_.nvm_regions = {RegionAt(Second()), RegionAt(dir_ / "letter")};
  EXPECT_STATUS(InvalidArgument, TryOpen());
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(Second()));
  EXPECT_TRUE(fs::exists(dir_ / "letter"));
}

TEST_F(RegionsTest, OptionsOutOfRangeAreNamed) {
  const auto refused = [this](const std::vector<NvmRegion>& regions, const std::string& reason) {
    options_.nvm_regions = regions;
    const Status s = TryOpen();
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, "Options::nvm_regions")) << s.ToString();
    EXPECT_TRUE(Mentions(s, reason)) << s.ToString();
    EXPECT_FALSE(fs::exists(path_));
  };
  refused({RegionAt("")}, "nvm_regions[0].path");
  refused({RegionAt(Second()), RegionAt(Second())}, "another region has the same");
  refused({RegionAt(Second(), 65535)}, "nvm_regions[0].limit is 65535");
  refused({RegionAt(Second(), 0, 1024)}, "nvm_regions[0].node is 1024");
  refused({RegionAt(Second(), 0, 1000)}, "nvm_regions[0].node is 1000");
  refused(std::vector<NvmRegion>(13, RegionAt(Second())), "nvm_regions.size() is 13");
}

TEST_F(RegionsTest, ALimitMayChangeWithinWhatTheRegionHas) {
  OpenTwo();
  Fill(8000, 1000);
  Settle();
  const uint64_t used = Used(1);
  options_.nvm_regions[0].limit = used / 2;
  Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "its limit in Options::nvm_regions is " + std::to_string(used / 2))) << s.ToString();
  options_.nvm_regions[0].limit = uint64_t{1} << 40;
  s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "may have at most")) << s.ToString();
  options_.nvm_regions[0].limit = 64 * kMiB;
  Open();
  CheckFilled(8000, 1000);
  EXPECT_EQ(std::to_string(64 * kMiB), Placement("region1-limit"));
}

// The references of the pool's own file end where those of the next region begin.
TEST_F(RegionsTest, APoolSizeBeyondTheNextRegionIsNoRoom) {
  OpenTwo(32 * kMiB);
  Close();
  options_.pool_size = 4 * kRegionAlignment;
  Open();
  EXPECT_EQ(std::to_string(kRegionAlignment), Placement("region-limit"));
  EXPECT_EQ(kRegionAlignment + 32 * kMiB, Counter("pool-bytes-capacity"));
}

TEST_F(RegionsTest, OneCanBeAddedToAFullPoolWhileItIsOpen) {
  options_.pool_size = 4 * kMiB;
  Open();
  Status s;
  uint64_t written = 0;
  while (s.ok()) s = db_->Put(WriteOptions(), FilledKey(written), FilledValue(written, 1000, 0)), written += s.ok();
  EXPECT_STATUS(NoSpace, s);
  PinnableSlice pinned;
  ASSERT_OK(db_->Get(ReadOptions(), FilledKey(0), &pinned));
  const char* const place = pinned.data();
  ASSERT_OK(db_->AddRegion(RegionAt(Second(), 16 * kMiB)));
  for (uint64_t i = written; i < 8000; i++) {
    ASSERT_OK(db_->Put(WriteOptions(), FilledKey(i), FilledValue(i, 1000, 0)));
  }
  EXPECT_EQ(place, pinned.data()) << "nothing moves";
  EXPECT_TRUE(pinned == Slice(FilledValue(0, 1000, 0)));
  pinned.Reset();
  CheckFilled(8000, 1000);
  s = db_->AddRegion(RegionAt(Second()));
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "is region 1 of this pool already")) << s.ToString();
  Open();  // it need not be named
  CheckFilled(8000, 1000);
  EXPECT_EQ(Second(), Placement("region1-path"));
}

TEST_F(RegionsTest, AreAddedWhileOthersReadAndWrite) {
  options_.pool_size = 64 * kMiB;
  Open();
  std::thread writer([this] { Fill(20000, 500); });
  for (int i = 0; i < 12; i++) ASSERT_OK(db_->AddRegion(RegionAt(dir_ / ("r" + std::to_string(i)), kMiB)));
  const Status s = db_->AddRegion(RegionAt(dir_ / "r12", kMiB));
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "13 regions already")) << s.ToString();
  EXPECT_FALSE(fs::exists(dir_ / "r12"));
  writer.join();
  CheckFilled(20000, 500);
  Open();
  CheckFilled(20000, 500);
}

// The state after a crash between the file's name and the entry that makes the file a part of the pool.
TEST_F(RegionsTest, OneThatWasNotAddedInFullIsMadeAnew) {
  Open();
  Put("a", "1");
  Close();
  const std::string before = ReadFileBytes(path_ + "/pool"), store = ReadFileBytes(path_ + "/STORE");
  options_.nvm_regions = {RegionAt(Second(), 16 * kMiB)};
  Open();
  Close();
  RegionContent content;
  RegionHeader half_made, header;
  ASSERT_OK(LookAtRegion(Second(), &content, &half_made));
  ASSERT_EQ(RegionContent::kRegion, content);
  WriteFileBytes(path_ + "/pool", before);
  WriteFileBytes(path_ + "/STORE", store);
  // A header alone is what a crash leaves under the temporary name; what somebody else has there stays.
  fs::copy_file(Second(), Second() + ".tmp.2");
  fs::resize_file(Second() + ".tmp.2", kPoolHeaderSize);
  WriteFileBytes(Second() + ".tmp", "a letter");
  Open();
  EXPECT_EQ("1", Get("a"));
  ASSERT_OK(LookAtRegion(Second(), &content, &header));
  EXPECT_FALSE(SameUuid(half_made.uuid, header.uuid));
  EXPECT_FALSE(fs::exists(Second() + ".tmp.2"));
  EXPECT_EQ("a letter", ReadFileBytes(Second() + ".tmp"));
  Delete("a");
  Fill(8000, 1000);
  Open();
  CheckFilled(8000, 1000);
}

// The state after an open that made a database failed, and was cut off while it took the parts away.
TEST_F(RegionsTest, OneOfAMakingThatWasCutOffIsMadeAnewWhateverItHolds) {
  OpenTwo();
  Fill(8000, 1000);
  Settle();
  Close();
  bool holds_data = false;
  ASSERT_OK(HoldsData(Second(), &holds_data));
  ASSERT_TRUE(holds_data);
  StoreDescriptor store;
  ASSERT_OK(ReadStore(Env::Default(), path_, &store));
  store.state = StoreState::kMaking;
  ASSERT_OK(WriteStore(Env::Default(), path_, store));
  fs::remove(path_ + "/pool");
  Open();
  EXPECT_EQ("", Forward(db_.get()));
  Fill(8000, 1000);
  Open();
  CheckFilled(8000, 1000);
}

// An older copy of the pool does not lead to the region, which has acknowledged writes.
TEST_F(RegionsTest, OneThatIsNewerThanThePoolIsLeftAlone) {
  Open();
  Put(FilledKey(0), "1");
  Close();
  const std::string older = ReadFileBytes(path_ + "/pool"), older_store = ReadFileBytes(path_ + "/STORE");
  OpenTwo();
  Close();
  std::string newer = ReadFileBytes(path_ + "/pool");
  WriteFileBytes(path_ + "/pool", older);
  ExpectRefused(path_ + "/pool", "is an older copy of the pool");
  options_.nvm_regions.clear();
  ExpectRefused(path_ + "/pool", "does not have the region " + Second());
  WriteFileBytes(path_ + "/pool", newer);
  OpenTwo();
  Fill(8000, 1000);
  EXPECT_GT(Used(1), kMiB);
  Close();
  newer = ReadFileBytes(path_ + "/pool");
  const std::string newer_store = ReadFileBytes(path_ + "/STORE");
  WriteFileBytes(path_ + "/pool", older);
  for (const std::string& store : {newer_store, older_store}) {
    WriteFileBytes(path_ + "/STORE", store);
    ExpectRefused(Second(), "holds data");
    EXPECT_TRUE(older == ReadFileBytes(path_ + "/pool"));
  }
  WriteFileBytes(path_ + "/pool", newer);
  WriteFileBytes(path_ + "/STORE", newer_store);
  Open();
  CheckFilled(8000, 1000);
}

// The path is in STORE before the region is made, and its uuid when the pool has it.
TEST_F(RegionsTest, ACrashWhileOneIsAddedToAnOpenDatabaseLeavesWhatCanBeOpened) {
  OpenTwo();
  Put("a", "1");
  StoreDescriptor store;
  ASSERT_OK(ReadStore(Env::Default(), path_, &store));
  store.regions.push_back({Uuid{}, dir_ / "third"});
  Close();
  ASSERT_OK(WriteStore(Env::Default(), path_, store));
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(RegionsTest, DestroyRemovesThem) {
  OpenTwo();
  ASSERT_OK(db_->AddRegion(RegionAt(dir_ / "third", 16 * kMiB)));
  EXPECT_STATUS(IOError, DestroyDB(path_, options_));
  Close();
  options_.nvm_regions.clear();
  WriteFileBytes(dir_ / "bystander", "left alone");
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(Second()));
  EXPECT_FALSE(fs::exists(dir_ / "third"));
  EXPECT_TRUE(fs::exists(dir_ / "bystander"));
}

TEST_F(RegionsTest, ARepairReadsAllOfThem) {
  OpenTwo();
  Fill(8000, 1000);
  Settle();
  Close();
  // Damages both copies of the newest root, so the pool is searched.
  std::string bytes = ReadFileBytes(path_ + "/pool");
  for (const uint64_t offset : {1024, 1536, 2048, 2560}) bytes[offset + 8] ^= 1;
  WriteFileBytes(path_ + "/pool", bytes);
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_TRUE(fs::exists(Second() + ".damaged"));
  options_.pool_size = 0;
  Open();
  CheckFilled(8000, 1000);
  EXPECT_EQ(Second(), Placement("region1-path")) << "a new one, at the old path";
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(Second()));
}

// What a repair calls OK opens with the same options: also where the region lies in the way of a new one.
TEST_F(RegionsTest, ARegionThatTheDamagedPoolDoesNotLeadToIsSetAsideByARepair) {
  for (const bool too_long : {true, false}) {
    OpenTwo();
    Put("a", "1");
    Close();
    if (too_long) {
      fs::resize_file(Second(), 4096 * kMiB);
    } else {
      std::string bytes = ReadFileBytes(path_ + "/pool");
      for (int copy = 0; copy < kEntryCopies; copy++) {
        memset(&bytes[RegionEntryOffset(1, copy)], 0, sizeof(RegionEntry));
      }
      WriteFileBytes(path_ + "/pool", bytes);
    }
    ASSERT_OK(RepairDB(path_, options_));
    EXPECT_TRUE(fs::exists(Second() + ".damaged"));
    EXPECT_NE(std::string::npos, ReadFileBytes(path_ + "/LOST").find("does not lead to this region"));
    Open();
    EXPECT_EQ("1", Get("a"));
    EXPECT_EQ(Second(), Placement("region1-path"));
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    fs::remove(Second() + ".damaged");
  }
}

TEST_F(RegionsTest, ARepairDoesNotBeginWhereAFileIsInTheWayOfARegion) {
  OpenTwo();
  Put("a", "1");
  Close();
  const std::string third = dir_ / "third";
  WriteFileBytes(third, "somebody's");
  const std::string pool = ReadFileBytes(path_ + "/pool");
  options_.nvm_regions.push_back(RegionAt(third));
  const Status s = RepairDB(path_, options_);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_NE(std::string::npos, s.ToString().find(third)) << s.ToString();
  EXPECT_EQ("somebody's", ReadFileBytes(third));
  EXPECT_TRUE(pool == ReadFileBytes(path_ + "/pool"));
  fs::remove(third);
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(RegionsTest, EveryBitOfAHeaderAndItsEntryIsCheckedOrSpare) {
  OpenTwo();
  Put("a", "1");
  Close();
  const std::string pool = ReadFileBytes(path_ + "/pool"), region = ReadFileBytes(Second());
  const auto flip = [](std::string bytes, const std::vector<uint64_t>& offsets, uint64_t bit) {
    for (uint64_t offset : offsets) bytes[offset + bit / 8] = static_cast<char>(bytes[offset + bit / 8] ^ 1 << bit % 8);
    return bytes;
  };
  for (uint64_t bit = 0; bit < 8 * sizeof(RegionEntry); bit += 5) {
    WriteFileBytes(path_ + "/pool", flip(pool, {RegionEntryOffset(1, bit % 2 == 0)}, bit));
    Open();
    Close();
    EXPECT_TRUE(ReadFileBytes(path_ + "/pool").substr(256, 64) == pool.substr(256, 64)) << "repaired";
    WriteFileBytes(path_ + "/pool", flip(pool, {RegionEntryOffset(1, 0), RegionEntryOffset(1, 1)}, bit));
    EXPECT_STATUS(Corruption, TryOpen());
  }
  WriteFileBytes(path_ + "/pool", pool);
  for (uint64_t bit = 0; bit < 8 * sizeof(RegionHeader); bit += 7) {
    WriteFileBytes(Second(), flip(region, {RegionHeaderOffset(bit % 2 == 0)}, bit));
    Open();
    Close();
    WriteFileBytes(Second(), flip(region, {RegionHeaderOffset(0), RegionHeaderOffset(1)}, bit));
    EXPECT_FALSE(TryOpen().ok()) << bit;
  }
}

TEST_F(RegionsTest, AllHaveOnePersistMode) {
  const fs::path disk = fs::temp_directory_path() / ("miodb_regions." + std::to_string(getpid()));
  fs::create_directory(disk);
  options_.nvm_regions = {RegionAt(disk / "region", 16 * kMiB)};
  Status s = TryOpen();
  if (s.ok()) {
    EXPECT_EQ(Placement("region-persist-mode"), Placement("region1-persist-mode"));
  } else {
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, "all regions of a pool have one")) << s.ToString();
    EXPECT_FALSE(fs::exists(disk / "region"));
    options_.persist_mode = kPersistFile;
    Open();
    Fill(6000, 1000);
    Open();
    CheckFilled(6000, 1000);
  }
  Close();
  fs::remove_all(disk);
}

TEST_F(RegionsTest, AnonymousMemoryHoldsADatabaseUntilItIsClosed) {
  options_.pool_path = "anonymous";
  options_.log_mode = kLogOff;
  options_.nvm_regions = {RegionAt("anonymous", 32 * kMiB)};
  for (uint64_t round = 0; round < 2; round++) {
    Open();
    EXPECT_EQ(kNotFound, Get(FilledKey(0)));
    EXPECT_EQ("volatile", Property("miodb.persist-mode"));
    EXPECT_EQ("anonymous", Placement("region-kind"));
    Fill(8000, 1000, round);
    Settle();
    CheckFilled(8000, 1000, round);
    EXPECT_GT(Used(1), kMiB);
    EXPECT_FALSE(fs::exists(path_ + "/pool"));
    EXPECT_FALSE(fs::exists(path_ + "/STORE"));
    Close();
  }
  EXPECT_STATUS(InvalidArgument, RepairDB(path_, options_));
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(path_));
}

TEST_F(RegionsTest, AnonymousMemoryIsRefusedWhereItWouldPromiseTooMuch) {
  Options good = options_;
  good.pool_path = "anonymous";
  good.log_mode = kLogOff;
  const auto refused = [&](const Options& options, const std::string& reason) {
    options_ = options;
    const Status s = TryOpen();
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, reason)) << s.ToString();
    EXPECT_FALSE(fs::exists(path_));
  };
  for (const LogMode mode : {kLogPmem, kLogFile}) {
    Options options = good;
    options.log_mode = mode;
    refused(options, "log_mode has to be kLogOff");
  }
  Options options = good;
  options.ssd_path = dir_ / "ssd";
  refused(options, "log_mode has to be kLogFile");
  options.log_mode = kLogPmem;
  refused(options, "log_mode has to be kLogFile");
  options = good;
  options.persist_mode = kPersistPmem;
  refused(options, "persist_mode");
  options = good;
  options.nvm_regions = {RegionAt(Second())};
  refused(options, "all regions of a pool are anonymous, or none");
  options.pool_path.clear();
  options.nvm_regions = {RegionAt("anonymous")};
  refused(options, "all regions of a pool are anonymous, or none");
}

}  // namespace
}  // namespace miodb::test
