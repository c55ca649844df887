// RepairDB on databases whose pool is volatile: table files, a log in files, and STORE.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "miodb/env.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/db/store/store_file.h"
#include "src/inspect/salvage/ssd_salvage.h"
#include "src/log/file_log.h"
#include "src/log/log_piece.h"
#include "src/util/bytes/coding.h"
#include "src/version/edit/version_edit.h"
#include "tests/common/ssd_test_base.h"
#include "tests/db/offline/failing_rename_env.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

class VolatileRepairTest : public VolatileSsdTestBase {
 protected:
  static uint64_t Keys() { return 8 * kMiB / kValueBytes; }

  // The last of its changes are in the log only.
  void Make() {
    MakeOf(Keys());
    ASSERT_GT(FilesIn(logs_, ".log").size(), 1u);
  }

  uint64_t CountOthers() {
    uint64_t others = 0;
    for (uint64_t i = 0; i < Keys(); i++) others += Get(FilledKey(i)) != Expected(i);
    return others;
  }

  void ExpectNothingLeftOver() {
    EXPECT_FALSE(fs::exists(path_ + "/repair.tmp"));
    EXPECT_FALSE(fs::exists(ssd_ + ".repaired"));
  }

  // Writes on, and opens again.
  void ExpectOfUse() {
    for (uint64_t i = 0; i < Keys(); i += 2) Put(FilledKey(i), "written on");
    Open();
    for (uint64_t i = 0; i < Keys(); i += 2) ASSERT_EQ("written on", Get(FilledKey(i)));
  }

  // By key: number and value of the newest write, deletions as kNotFound.
  using NewestVersions = std::map<std::string, std::pair<uint64_t, std::string>>;

  // False if a newer one is known.
  static bool Take(const std::string& key, uint64_t sequence, const std::string& value, NewestVersions* newest) {
    auto& known = (*newest)[key];
    if (known.first > sequence) return false;
    known = {sequence, value};
    return true;
  }

  void TakeFromFiles(const StoreDescriptor& descriptor, const VersionEdit& edit, NewestVersions* newest) {
    Options options;
    options.ssd_path = ssd_;
    std::unique_ptr<SsdStore> store;
    ASSERT_OK(SsdStore::Open(options, descriptor.log.id, &store));
    ManifestState state;
    ASSERT_OK(state.Apply(edit));
    std::unique_ptr<InternalIterator> walk;
    const ReportProblem fail = [](const Problem& problem) { FAIL() << problem.ToString(); };
    ASSERT_OK(NewSsdSalvage(store.get(), &state, {}, fail, &walk));
    for (walk->SeekToFirst(); walk->Valid(); walk->Next()) {
      const RecordView& record = walk->record();
      Take(record.key.ToString(), record.sequence(),
           record.type() == kTypeValue ? record.value.ToString() : std::string(kNotFound), newest);
    }
  }

  // From the first so many log files. Returns of how many writes newer ones were known.
  uint64_t TakeFromLog(size_t count, uint64_t above, NewestVersions* newest) {
    uint64_t older = 0;
    std::vector<LogFile> files;
    EXPECT_OK(FileLog::List(Env::Default(), logs_, &files));
    for (size_t i = 0; i < count; i++) {
      LogPiece piece;
      piece.file = files[i];
      const auto take = [&](const Slice& batch) {
        BatchReader reader(batch);
        uint64_t sequence = DecodeFixed64(batch.data());
        uint8_t type;
        Slice key, value;
        for (; reader.Next(&type, &key, &value); sequence++) {
          const std::string shown = type == kTypeValue ? value.ToString() : std::string(kNotFound);
          older += Take(key.ToString(), sequence, shown, newest) ? 0 : 1;
        }
        return Status::OK();
      };
      EXPECT_OK(ReadLogFile(Env::Default(), logs_, above, take, &piece));
    }
    return older;
  }
};

TEST_F(VolatileRepairTest, WithoutDamageEverythingStays) {
  Make();
  ASSERT_OK(RepairDB(path_, options_));
  ExpectNothingLeftOver();
  EXPECT_TRUE(fs::exists(ssd_ + ".damaged"));
  EXPECT_TRUE(FilesIn(logs_, ".log").empty());
  Open();
  EXPECT_EQ(0u, CountOthers());
  ExpectOfUse();
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(fs::exists(ssd_));
  EXPECT_FALSE(fs::exists(ssd_ + ".damaged"));
}

TEST_F(VolatileRepairTest, WithoutStoreAllThatIsThereCounts) {
  for (const bool damaged : {true, false}) {
    Make();
    if (damaged) {
      fs::resize_file(path_ + "/STORE", 50);
    } else {
      fs::remove(path_ + "/STORE");
    }
    ASSERT_OK(RepairDB(path_, options_));
    EXPECT_NE(std::string::npos, Lost().find("STORE")) << Lost();
    Open();
    EXPECT_EQ(0u, CountOthers());
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
  }
}

TEST_F(VolatileRepairTest, MissingTableFilesCostWhatOnlyTheyHad) {
  options_.max_total_wal_size = kMiB;
  Make();
  const std::vector<std::string> files = FilesIn(ssd_, ".sst");
  for (size_t i = 0; i < files.size(); i += 4) fs::remove(files[i]);
  EXPECT_FALSE(TryOpen().ok());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(std::string::npos, Lost().find(".sst")) << Lost();
  Open();
  const uint64_t others = CountOthers();
  EXPECT_GT(others, 0u);
  EXPECT_LT(others, Keys() / 2);
}

// Files on SSD have newer writes than what is left of the log: these stay, and no older ones come back over them.
TEST_F(VolatileRepairTest, WhatIsLeftOfTheLogHidesNothingNewerOnSsd) {
  options_.max_total_wal_size = 64 * kMiB;
  const uint64_t count = Keys() / 3;  // so that the log has several rounds
  const auto fill = [&] {
    Open();
    for (uint64_t round = 0; round < 8; round++) Fill(count, kValueBytes, round);
    ASSERT_OK(db_->WaitForIdle());
    Close();
  };
  // The last log files are lost: so many that the rest has writes that are older than what files have. It depends on
  // what was drained last whether that is possible: almost always.
  NewestVersions newest;
  const auto lose = [&]() -> bool {
    StoreDescriptor store;
    VersionEdit state;
    EXPECT_OK(ReadStore(Env::Default(), path_, &store));
    EXPECT_TRUE(state.DecodeSsdState(store.ssd_state));
    NewestVersions in_files;
    TakeFromFiles(store, state, &in_files);
    const std::vector<std::string> logs = FilesIn(logs_, ".log");
    for (size_t left = 1; left < logs.size(); left++) {
      newest = in_files;
      if (TakeFromLog(left, state.flushed_sequence, &newest) == 0) continue;
      for (size_t i = left; i < logs.size(); i++) fs::remove(logs[i]);
      return true;
    }
    return false;
  };
  fill();
  for (int times = 1; !lose(); times++) {
    ASSERT_LT(times, 10);
    ASSERT_OK(DestroyDB(path_, options_));
    fill();
  }
  EXPECT_STATUS(Corruption, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(std::string::npos, Lost().find("are missing")) << Lost();
  Open();
  for (uint64_t i = 0; i < count; i++) {
    const auto it = newest.find(FilledKey(i));
    ASSERT_EQ(it == newest.end() ? kNotFound : it->second.second, Get(FilledKey(i))) << FilledKey(i);
  }
}

TEST_F(VolatileRepairTest, ARepairThatWasCutOffIsFinished) {
  Make();
  ASSERT_OK(RepairDB(path_, options_));
  // As if the machine had failed before the directories were exchanged.
  fs::rename(ssd_, ssd_ + ".repaired");
  fs::rename(ssd_ + ".damaged", ssd_);
  const Status s = TryOpen();
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, ssd_));
  ASSERT_OK(RepairDB(path_, options_));
  ExpectNothingLeftOver();
  Open();
  EXPECT_EQ(0u, CountOthers());
}

// Whichever of the two is in place then, the next repair knows the new files, also behind an attempt with a wrong path.
TEST_F(VolatileRepairTest, ARepairWhoseExchangeFailedCanBeRepeated) {
  for (const auto fails : {FailingRenameEnv::Fails::kBefore, FailingRenameEnv::Fails::kAfter}) {
    SCOPED_TRACE(fails == FailingRenameEnv::Fails::kAfter ? "renamed" : "not renamed");
    Make();
    FailingRenameEnv env(path_ + "/STORE", fails);
    Options options = options_;
    options.env = &env;
    EXPECT_STATUS(IOError, RepairDB(path_, options));
    EXPECT_TRUE(env.failed());
    options = options_;
    options.wal_dir = dir_ / "no_logs";
    EXPECT_STATUS(InvalidArgument, RepairDB(path_, options));
    ASSERT_OK(RepairDB(path_, options_));
    ExpectNothingLeftOver();
    Open();
    EXPECT_EQ(0u, CountOthers());
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
  }
}

// Between STORE and the log a crash leaves a log with the former id. An open that is refused then may have marked the
// directory of an SSD tier without files with the new one.
TEST_F(VolatileRepairTest, AFormerLogIsKnownAfterAnOpenThatWasRefused) {
  Open();
  Put("a", "1");
  Put("b", "2");
  Delete("a");
  Close();
  FailingRenameEnv env(path_ + "/STORE", FailingRenameEnv::Fails::kAfter);
  Options options = options_;
  options.env = &env;
  EXPECT_STATUS(IOError, RepairDB(path_, options));
  EXPECT_FALSE(TryOpen().ok());
  ASSERT_OK(RepairDB(path_, options_));
  ExpectNothingLeftOver();
  Open();
  EXPECT_EQ("(b->2)", Forward(db_.get()));
  Put("c", "3");
  Open();
  EXPECT_EQ("(b->2)(c->3)", Forward(db_.get()));
}

TEST_F(VolatileRepairTest, AMakingThatWasCutOffNeedsNoRepair) {
  Open();
  Close();
  StoreDescriptor half;
  ASSERT_OK(ReadStore(Env::Default(), path_, &half));
  half.state = StoreState::kMaking;
  ASSERT_OK(WriteStore(Env::Default(), path_, half));
  const Status s = RepairDB(path_, options_);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "STORE") && Mentions(s, "Open it")) << s.ToString();
  Open();
  Put("a", "1");
  Open();
  EXPECT_EQ("1", Get("a"));
}

// What was written after the repair is in the log only.
TEST_F(VolatileRepairTest, WritesSinceARepairSurviveTheLossOfItsRenames) {
  Make();
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  for (uint64_t i = 0; i < 300; i++) Put("since " + std::to_string(i), "the repair");
  Close();
  fs::rename(ssd_, ssd_ + ".repaired");
  fs::rename(ssd_ + ".damaged", ssd_);
  EXPECT_STATUS(InvalidArgument, TryOpen());
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ(0u, CountOthers());
  for (uint64_t i = 0; i < 300; i++) ASSERT_EQ("the repair", Get("since " + std::to_string(i)));
}

TEST_F(VolatileRepairTest, TheLogIsFoundWithoutTheFileThatRemembersIt) {
  Make();
  fs::remove(path_ + "/STORE");
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  EXPECT_EQ(0u, CountOthers());
}

TEST_F(VolatileRepairTest, WithoutItsLogFolderItBeginsAnother) {
  Make();
  fs::remove_all(logs_);
  options_.wal_dir = dir_ / "other_logs";
  EXPECT_FALSE(TryOpen().ok());
  EXPECT_STATUS(InvalidArgument, RepairDB(path_, options_));
  options_.wal_dir = logs_;
  EXPECT_FALSE(TryOpen().ok());
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(std::string::npos, Lost().find(logs_)) << Lost();
  Open();
  ExpectOfUse();
}

TEST_F(VolatileRepairTest, LeavesTheLogOfAnotherDatabaseAlone) {
  Make();
  fs::rename(logs_, dir_ / "my_logs");
  const std::string mine = path_;
  options_.ssd_path = dir_ / "other_ssd";
  path_ = dir_ / "other";
  Open();
  Put("a", "1");
  Close();
  path_ = mine;
  options_.ssd_path = ssd_;
  const Status s = RepairDB(path_, options_);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "WAL_OWNER"));
  EXPECT_FALSE(FilesIn(logs_, ".log").empty());
  fs::remove_all(logs_);
  fs::rename(dir_ / "my_logs", logs_);
  Open();
  EXPECT_EQ(0u, CountOthers());
}

// What a crash in the middle of a repair leaves is removed by the next one, and by DestroyDB.
TEST_F(VolatileRepairTest, WhatACrashLeftIsRemoved) {
  Make();
  for (const bool destroy : {false, true}) {
    fs::create_directory(path_ + "/repair.tmp");
    for (const char* name : {"LOCK", "STORE", "STORE.tmp"}) {
      ASSERT_OK(WriteStringToFile(Env::Default(), "half", path_ + "/repair.tmp/" + name));
    }
    if (destroy) {
      ASSERT_OK(DestroyDB(path_, options_));
      EXPECT_FALSE(fs::exists(path_));
    } else {
      ASSERT_OK(RepairDB(path_, options_));
      ExpectNothingLeftOver();
      Open();
      EXPECT_EQ(0u, CountOthers());
      Close();
    }
  }
}

TEST_F(VolatileRepairTest, ADatabaseWithAPoolIsNotForIt) {
  const Options good = options_;
  options_.pool_path.clear();
  Open();
  Put("a", "1");
  Close();
  EXPECT_STATUS(InvalidArgument, RepairDB(path_, good));
  EXPECT_FALSE(FilesIn(logs_, ".log").empty());
  Open();
  EXPECT_EQ("1", Get("a"));
}

// Its log's folder is another's by now, and what says which log was its own cannot be read.
TEST_F(VolatileRepairTest, DestroyLeavesTheLogOfAnotherDatabaseAlone) {
  Make();
  const std::string mine = path_;
  fs::rename(logs_, dir_ / "my_logs");
  options_.ssd_path = dir_ / "other_ssd";
  path_ = dir_ / "other";
  Open();
  Put("a", "1");
  Close();
  options_.ssd_path = ssd_;
  fs::resize_file(mine + "/STORE", 50);
  ASSERT_OK(DestroyDB(mine, options_));
  EXPECT_FALSE(fs::exists(mine));
  options_.ssd_path = dir_ / "other_ssd";
  Open();
  EXPECT_EQ("1", Get("a"));
}

TEST_F(VolatileRepairTest, RefusesWhatItCannotRepair) {
  const Status nothing = RepairDB(path_, options_);
  EXPECT_STATUS(InvalidArgument, nothing);
  EXPECT_TRUE(Mentions(nothing, "does not exist"));
  Make();
  const Options good = options_;
  options_.ssd_path.clear();
  options_.log_mode = kLogOff;
  EXPECT_STATUS(InvalidArgument, RepairDB(path_, options_));
  options_ = good;
  EXPECT_FALSE(fs::exists(ssd_ + ".damaged"));
  Open();
  EXPECT_EQ(0u, CountOthers());
}

}  // namespace
}  // namespace miodb::test
