// miodb_check and miodb_dump as their users meet them: what they print, their exit codes, and that they change nothing.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/format/superblock.h"
#include "tests/common/db_test_base.h"
#include "tests/common/program.h"
#include "tests/common/random/comparators.h"

namespace miodb::test {
namespace {

class InspectTest : public DbTestBase {
 protected:
  std::string pool() const { return path_ + "/pool"; }

  void Make() {
    Open();
    Fill(200, 50);
    Settle();
    Put(std::string("odd\0\"key", 8), "with a value");
    Delete("gone");
    Close();
    ASSERT_OK(ReadFileToString(Env::Default(), pool(), &good_));
  }

  // The first copies of both roots are left alone: the table's index in the manifest is found by the dump.
  void Damage(uint64_t at) {
    std::string bytes = good_;
    bytes[at] ^= 1;
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
  }

  std::string good_;
};

TEST_F(InspectTest, AGoodDatabaseIsCalledOk) {
  Make();
  for (const std::string& path : {path_, pool()}) {
    const ProgramResult check = RunTool("miodb_check " + path);
    EXPECT_EQ(0, check.code) << check.text;
    EXPECT_TRUE(check.Says(pool() + ": OK\n")) << check.text;
    EXPECT_TRUE(check.Says("entries           200\n")) << check.text;
    EXPECT_TRUE(check.Says("log_writes        2\n")) << check.text;
  }
  std::string after;
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &after));
  EXPECT_TRUE(after == good_);
}

TEST_F(InspectTest, DamageIsNamedWithExitCodeOne) {
  Make();
  Damage(SuperblockOffset(1) + 40);
  ProgramResult check = RunTool("miodb_check " + path_);
  EXPECT_EQ(1, check.code) << check.text;
  EXPECT_TRUE(check.Says("DAMAGE superblock at offset 3072: checksum mismatch\n")) << check.text;
  EXPECT_TRUE(check.Says(": 1 problems\n")) << check.text;
  check = RunTool("miodb_check --json " + path_);
  EXPECT_EQ(1, check.code);
  EXPECT_TRUE(check.Says("\"ok\": false")) << check.text;
  EXPECT_TRUE(check.Says("{\"place\": \"superblock at offset 3072\", \"reason\": \"checksum mismatch\"}"))
      << check.text;
  const ProgramResult dump = RunTool("miodb_dump --header " + path_);
  EXPECT_EQ(1, dump.code);
  EXPECT_TRUE(dump.Says("DAMAGE superblock at offset 3072")) << dump.text;
  ASSERT_OK(WriteStringToFile(Env::Default(), "no pool", pool()));
  EXPECT_EQ(1, RunTool("miodb_check " + path_).code);
}

TEST_F(InspectTest, TheDumpNamesTheFlagsOfTables) {
  options_ = AtPath(options_, path_);
  options_.lifetime_seconds = 3600;
  Open();
  Put("key", "value");
  Settle();
  Close();
  const ProgramResult dump = RunTool("miodb_dump --tables " + path_);
  EXPECT_EQ(0, dump.code) << dump.text;
  EXPECT_TRUE(dump.Says(" bytewise")) << dump.text;
  EXPECT_TRUE(dump.Says(" expiring")) << dump.text;
}

// The manifest does not tell the ranges of such files.
TEST_F(InspectTest, FilesOfLongKeysAreCheckedAndShown) {
  options_ = AtPath(FindOptionSet("ssd").options, path_);
  Open();
  std::string key(100 * 1024, 'k');
  for (const char c : std::string("abcdefgh")) {
    key[0] = c;
    Put(key, "value");
  }
  Settle();
  ASSERT_GT(Counter("ssd-files"), 1u);
  Close();
  const std::string ssd = " --ssd=" + options_.ssd_path + " ";
  ProgramResult result = RunTool("miodb_check" + ssd + path_);
  EXPECT_EQ(0, result.code) << result.text;
  EXPECT_TRUE(result.Says(": OK\n")) << result.text;
  result = RunTool("miodb_dump --tables " + path_);
  EXPECT_EQ(0, result.code) << result.text;
  EXPECT_TRUE(result.Says(" long keys\n")) << result.text;
  // Figures that the manifest does not have are still compared from file to file.
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(options_.ssd_path)) {
    if (entry.path().extension() == ".sst") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::string bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), files[0], &bytes));
  bytes[bytes.size() / 4] ^= 1;
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, files[0]));
  result = RunTool("miodb_check" + ssd + path_);
  EXPECT_EQ(1, result.code) << result.text;
  EXPECT_TRUE(result.Says("DAMAGE " + files[0])) << result.text;
}

TEST_F(InspectTest, WhatCannotBeLookedAtGivesExitCodeTwo) {
  for (const std::string tool : {"miodb_check", "miodb_dump"}) {
    EXPECT_EQ(2, RunTool(tool).code);
    EXPECT_EQ(2, RunTool(tool + " --no-such-flag " + path_).code);
    EXPECT_EQ(2, RunTool(tool + " a b").code);
    const ProgramResult missing = RunTool(tool + " " + path_);
    EXPECT_EQ(2, missing.code);
    EXPECT_TRUE(missing.Says(path_)) << missing.text;
    const ProgramResult help = RunTool(tool + " --help");
    EXPECT_EQ(0, help.code);
    EXPECT_TRUE(help.Says("Usage: " + tool)) << help.text;
  }
  Open();
  for (const std::string tool : {"miodb_check", "miodb_dump"}) {
    const ProgramResult open = RunTool(tool + " " + path_);
    EXPECT_EQ(2, open.code);
    EXPECT_TRUE(open.Says("in use")) << open.text;
  }
}

// An error of the system says nothing about what lies there.
TEST_F(InspectTest, AStoreThatCannotBeReadIsNoDamage) {
  Open();
  Close();
  const std::string store = path_ + "/STORE";
  const std::string bytes = FileContents(store);
  std::filesystem::remove(store);
  std::filesystem::create_directory(store);
  for (const std::string tool : {"miodb_check", "miodb_dump"}) {
    const ProgramResult result = RunTool(tool + " " + path_);
    EXPECT_EQ(2, result.code) << tool << ": " << result.text;
    EXPECT_TRUE(result.Says("STORE")) << result.text;
  }
}

TEST_F(InspectTest, OfAVolatilePoolFilesAreChecked) {
  options_.pool_path = "anonymous";
  options_.pool_size = 4 << 20;
  options_.log_mode = kLogFile;
  options_.ssd_path = dir_ / "ssd";
  options_.ssd_file_size = 64 << 10;
  Open();
  const std::string command = "miodb_check --ssd=" + options_.ssd_path + " " + path_;
  ProgramResult check = RunTool(command);
  EXPECT_EQ(2, check.code) << check.text;
  EXPECT_TRUE(check.Says("LOCK")) << check.text;
  Fill(10000, 500);
  ASSERT_OK(db_->WaitForIdle());
  Close();
  check = RunTool(command);
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says(path_ + ": OK\n")) << check.text;
  EXPECT_TRUE(check.Says("last_sequence     10000\n")) << check.text;
  EXPECT_FALSE(check.Says("ssd_entries       0\n")) << check.text;
  const ProgramResult dump = RunTool("miodb_dump " + path_);
  EXPECT_EQ(2, dump.code);
  EXPECT_TRUE(dump.Says(path_ + "/STORE")) << dump.text;
  std::vector<std::string> logs;
  std::string sst;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    if (entry.path().extension() == ".log") logs.push_back(entry.path().string());
  }
  for (const auto& entry : std::filesystem::directory_iterator(options_.ssd_path)) {
    if (entry.path().extension() == ".sst") sst = entry.path().string();
  }
  ASSERT_FALSE(logs.empty());
  std::filesystem::rename(sst, sst + ".away");
  EXPECT_TRUE(RunTool(command).Says("DAMAGE " + sst + ": missing: the manifest names it"));
  std::filesystem::rename(sst + ".away", sst);
  for (const std::string& log : logs) std::filesystem::remove(log);
  check = RunTool(command);
  EXPECT_EQ(1, check.code) << check.text;
  EXPECT_TRUE(check.Says("when files on SSD were made")) << check.text;
  ASSERT_OK(WriteStringToFile(Env::Default(), "damaged", path_ + "/STORE"));
  check = RunTool(command);
  EXPECT_EQ(1, check.code) << check.text;
  EXPECT_TRUE(check.Says(path_ + "/STORE: does not say which parts")) << check.text;
}

class LogFilesInspectTest : public InspectTest {
 protected:
  // Writes 1 to 3 are in a table, 4 and 5 in a file.
  LogFilesInspectTest() : logs_(dir_ / "logs") {
    options_.log_mode = kLogFile;
    options_.wal_dir = logs_;
    Open();
    for (const char* key : {"a", "b", "c"}) Put(key, "flushed");
    EXPECT_OK(db_->Flush());
    Put("in file", "1");
    Delete("b");
    Close();
    for (const auto& entry : std::filesystem::directory_iterator(logs_)) {
      if (entry.path().extension() == ".log") file_ = entry.path().string();
    }
    EXPECT_OK(ReadFileToString(Env::Default(), file_, &bytes_));
  }

  const std::string logs_;
  std::string file_;
  std::string bytes_;
};

TEST_F(LogFilesInspectTest, TheCheckReadsThem) {
  ProgramResult check = RunTool("miodb_check " + path_);
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says("log_files         1\n") && check.Says("log_writes        2\n")) << check.text;
  EXPECT_TRUE(check.Says("last_sequence     5\n")) << check.text;
  for (const size_t at : {size_t{8}, bytes_.size() / 4}) {  // of the first batch; the second follows
    std::string damaged = bytes_;
    damaged[at] ^= 1;
    ASSERT_OK(WriteStringToFile(Env::Default(), damaged, file_));
    check = RunTool("miodb_check " + path_);
    EXPECT_EQ(1, check.code) << check.text;
    EXPECT_TRUE(check.Says("DAMAGE " + file_ + " at offset 0: damaged batch, later batches follow")) << check.text;
    EXPECT_EQ(0, RunTool("miodb_check --file " + path_).code) << "a hole that loss of power left";
  }
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes_.substr(0, bytes_.size() - 1), file_));
  check = RunTool("miodb_check " + path_);
  EXPECT_EQ(0, check.code) << "a torn tail: " << check.text;
  EXPECT_TRUE(check.Says("log_writes        1\n")) << check.text;
}

TEST_F(LogFilesInspectTest, AFileThatIsMissingIsDamage) {
  // As if the process had died before the first file's flush.
  const std::string saved = dir_ / "saved";
  std::filesystem::copy(path_, saved, std::filesystem::copy_options::recursive);
  Open();
  Put("in another file", "2");
  Close();
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes_, file_));
  ProgramResult check = RunTool("miodb_check " + saved);
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says("log_files         2\n") && check.Says("log_writes        3\n")) << check.text;
  std::filesystem::remove(file_);
  check = RunTool("miodb_check " + saved);
  EXPECT_EQ(1, check.code) << check.text;
  EXPECT_TRUE(check.Says("writes after 3 are missing, the next is 6")) << check.text;
}

TEST_F(LogFilesInspectTest, AFolderThatIsGoneIsDamage) {
  const std::string moved = dir_ / "moved";
  std::filesystem::rename(logs_, moved);
  ProgramResult check = RunTool("miodb_check " + path_);
  EXPECT_EQ(1, check.code) << check.text;
  EXPECT_TRUE(check.Says("DAMAGE " + logs_ + ": does not hold the log of this database")) << check.text;
  check = RunTool("miodb_check --wal=" + moved + " " + path_);
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says("log_writes        2\n")) << check.text;
}

TEST_F(LogFilesInspectTest, TheDumpShowsTheirBatches) {
  const ProgramResult dump = RunTool("miodb_dump --log --values " + path_);
  EXPECT_EQ(0, dump.code) << dump.text;
  for (const std::string& part :
       {"log file " + file_ + ": block_size 32768\n", std::string("  batch: sequence 4 records 1 bytes "),
        std::string("    \"in file\" @ 4 value \"1\"\n"), std::string("    \"b\" @ 5 deletion\n")}) {
    EXPECT_TRUE(dump.Says(part)) << part << "\n" << dump.text;
  }
}

TEST_F(LogFilesInspectTest, MovingKeepsWhatIsNotNamedWhereItWas) {
  const std::string pool = dir_ / "moved_pool", logs = dir_ / "moved_logs";
  std::filesystem::rename(path_ + "/pool", pool);
  std::filesystem::rename(logs_, logs);
  ProgramResult move = RunTool("miodb_move --pool=" + pool + " " + path_);
  EXPECT_EQ(1, move.code);
  EXPECT_TRUE(move.Says(logs_ + ": does not hold the log of this database")) << move.text;
  EXPECT_EQ(0, RunTool("miodb_move --pool=" + pool + " --wal=" + logs + " " + path_).code);
  std::filesystem::rename(pool, path_ + "/pool");
  move = RunTool("miodb_move --pool= " + path_);
  EXPECT_EQ(0, move.code) << move.text;
  options_.wal_dir = logs;
  Open();
  EXPECT_EQ("1", Get("in file"));
  EXPECT_EQ(2, RunTool("miodb_move --wal=" + logs + " " + path_).code) << "it is open";
  for (const std::string& arguments : {std::string(), "--elsewhere " + path_, dir_ / "no_database"}) {
    EXPECT_EQ(2, RunTool("miodb_move " + arguments).code) << arguments;
  }
  move = RunTool("miodb_move --help");
  EXPECT_EQ(0, move.code);
  EXPECT_TRUE(move.Says("Usage: miodb_move")) << move.text;
}

TEST_F(InspectTest, TheDumpShowsEveryPart) {
  Make();
  ProgramResult dump = RunTool("miodb_dump " + path_);
  EXPECT_EQ(0, dump.code) << dump.text;
  for (const char* part : {"superblock at offset 0: version 3", " current\n", "edit 0 at offset", "  comparator \"",
                           "table ", "  payload offset ", "log chunk ", "  frame at offset ",
                           "\"odd\\x00\\x22key\" @ 201 value of 12 bytes", "\"gone\" @ 202 deletion"}) {
    EXPECT_TRUE(dump.Says(part)) << part << "\n" << dump.text;
  }
  EXPECT_FALSE(dump.Says("\"key00000007\""));
  const size_t at = dump.text.find("\ntable ");
  ASSERT_NE(std::string::npos, at);
  const std::string number = std::to_string(strtoull(&dump.text[at + 7], nullptr, 10));
  dump = RunTool("miodb_dump --values --table=" + number + " " + path_);
  EXPECT_EQ(0, dump.code);
  EXPECT_TRUE(dump.Says("\"key00000007\" @ ")) << dump.text;
  EXPECT_EQ(2, RunTool("miodb_dump --table=999999 " + path_).code);
  EXPECT_EQ(2, RunTool("miodb_dump --table=x " + path_).code);
}

TEST_F(InspectTest, SavepointsAreCheckedAndShown) {
  Open();
  Fill(200, 50);
  ASSERT_OK(db_->CreateSavepoint("a b\n"));
  Put("later", "1");
  Close();
  ProgramResult check = RunTool("miodb_check " + path_);
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says("savepoints        1\n")) << check.text;
  EXPECT_TRUE(check.Says("saved_bytes       0\n")) << check.text;
  const ProgramResult dump = RunTool("miodb_dump " + path_);
  EXPECT_EQ(0, dump.code) << dump.text;
  EXPECT_TRUE(dump.Says("\n  savepoint ")) << dump.text;  // in its edit
  EXPECT_TRUE(dump.Says(" \"a b\\x0a\" @ 200 made_micros ")) << dump.text;
  EXPECT_TRUE(dump.Says(" area_offset ")) << dump.text;
  EXPECT_TRUE(dump.Says("\n  part of log_chunk ")) << dump.text;
  Open();
  ASSERT_OK(db_->DropSavepoint("a b\n"));
  Close();
  EXPECT_TRUE(RunTool("miodb_dump --manifest " + path_).Says("\n  removed_savepoint "));
}

class SsdInspectTest : public InspectTest {
 protected:
  SsdInspectTest() : ssd_(dir_ / "ssd") {
    options_.ssd_path = ssd_;
    options_.pool_size = 3 << 20;
    options_.ssd_file_size = 64 << 10;
    Open();
    Fill(8000, 500);
    EXPECT_OK(db_->WaitForIdle());
    EXPECT_GT(Counter("ssd-files"), 3u);
    Close();
    for (const auto& entry : std::filesystem::directory_iterator(ssd_)) {
      if (entry.path().extension() == ".sst") files_.push_back(entry.path().string());
    }
    std::sort(files_.begin(), files_.end());
  }

  ProgramResult Check() { return RunTool("miodb_check --ssd=" + ssd_ + " " + path_); }

  void DamageFile(const std::string& file, uint64_t at) {
    std::string bytes;
    ASSERT_OK(ReadFileToString(Env::Default(), file, &bytes));
    bytes[at] ^= 1;
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, file));
  }

  const std::string ssd_;
  std::vector<std::string> files_;
};

TEST_F(SsdInspectTest, TheCheckKnowsTheFilesOfTheSsdTier) {
  ProgramResult check = RunTool("miodb_check " + path_);
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says("table files were not looked at")) << check.text;
  check = Check();
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says("ssd_files         " + std::to_string(files_.size()) + "\n")) << check.text;
  EXPECT_FALSE(check.Says("ssd_entries       0\n")) << check.text;
  ASSERT_OK(WriteStringToFile(Env::Default(), "left behind", ssd_ + "/999999.sst"));
  check = Check();
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says("note   " + ssd_ + "/999999.sst")) << check.text;
  EXPECT_EQ(1, RunTool("miodb_check --ssd=" + ssd_ + "_other " + path_).code);
}

TEST_F(SsdInspectTest, EveryDamageToAFileIsNamed) {
  const std::string& file = files_[1];
  std::string good;
  ASSERT_OK(ReadFileToString(Env::Default(), file, &good));
  // A data block, the filter and the meta index before the index, the index, the footer.
  for (const uint64_t at : {uint64_t{100}, good.size() / 2, good.size() - 2000, good.size() - 100, good.size() - 5}) {
    DamageFile(file, at);
    const ProgramResult check = Check();
    EXPECT_EQ(1, check.code) << at << "\n" << check.text;
    EXPECT_TRUE(check.Says("DAMAGE " + file)) << at << "\n" << check.text;
    ASSERT_OK(WriteStringToFile(Env::Default(), good, file));
  }
  ASSERT_OK(WriteStringToFile(Env::Default(), good + "x", file));
  EXPECT_EQ(1, Check().code);
  std::filesystem::copy_file(files_[0], file, std::filesystem::copy_options::overwrite_existing);
  EXPECT_TRUE(Check().Says("is not the file that the manifest means"));
  std::filesystem::remove(file);
  EXPECT_TRUE(Check().Says("missing: the manifest names it"));
  ASSERT_OK(WriteStringToFile(Env::Default(), good, file));
  EXPECT_EQ(0, Check().code);
}

TEST_F(SsdInspectTest, FilesThatOnlyASavepointHasAreChecked) {
  Open();
  ASSERT_OK(db_->CreateSavepoint("s"));
  ASSERT_OK(db_->DeleteRange(WriteOptions(), "", "z"));
  db_->CompactRange(nullptr, nullptr);
  ASSERT_OK(db_->WaitForIdle());
  EXPECT_EQ(0u, Counter("ssd-files"));
  Close();
  ProgramResult check = Check();
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says("ssd_files         0\n")) << check.text;
  EXPECT_FALSE(check.Says("saved_ssd_bytes   0\n")) << check.text;
  EXPECT_FALSE(check.Says("no manifest names it")) << check.text;
  DamageFile(files_[1], 100);
  check = Check();
  EXPECT_EQ(1, check.code) << check.text;
  EXPECT_TRUE(check.Says("DAMAGE savepoint \"s\", " + files_[1])) << check.text;
  EXPECT_TRUE(RunTool("miodb_check " + path_).Says("table files were not looked at"));
}

TEST_F(SsdInspectTest, TheDumpShowsFilesAndTheirEntries) {
  ProgramResult dump = RunTool("miodb_dump --tables --manifest " + path_);
  EXPECT_EQ(0, dump.code) << dump.text;
  EXPECT_TRUE(dump.Says("\nfile ")) << dump.text;
  EXPECT_TRUE(dump.Says("  file ")) << dump.text;
  const std::string name = std::filesystem::path(files_[0]).stem().string();
  const std::string number = std::to_string(strtoull(name.c_str(), nullptr, 10));
  dump = RunTool("miodb_dump --ssd=" + ssd_ + " --file=" + number + " " + path_);
  EXPECT_EQ(0, dump.code) << dump.text;
  EXPECT_TRUE(dump.Says("\"key0000")) << dump.text;
  EXPECT_EQ(2, RunTool("miodb_dump --ssd=" + ssd_ + " --file=999999 " + path_).code);
  EXPECT_EQ(2, RunTool("miodb_dump --file=" + number + " " + path_).code);
  DamageFile(files_[0], 100);
  dump = RunTool("miodb_dump --ssd=" + ssd_ + " --file=" + number + " " + path_);
  EXPECT_EQ(1, dump.code);
  EXPECT_TRUE(dump.Says("DAMAGE " + files_[0])) << dump.text;
}

TEST_F(InspectTest, AnUnknownComparatorIsSaid) {
  options_.comparator = ReverseComparator();
  Make();
  const ProgramResult check = RunTool("miodb_check " + path_);
  EXPECT_EQ(0, check.code) << check.text;
  EXPECT_TRUE(check.Says("key order not checked: comparator " + std::string(ReverseComparator()->Name())))
      << check.text;
  EXPECT_EQ(0, RunTool("miodb_dump " + path_).code);
}

}  // namespace
}  // namespace miodb::test
