// The secret of a pool keeps a client that chooses values from forging parts of the pool. So nothing that a client, an
// operator or a bug report may come to see has it: properties, messages, the info log, LOST, traces, dumps, what the
// tools print, and every file of the database but the pool and its regions; of good pools and of damaged ones.

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "miodb/dumpfile.h"
#include "miodb/env.h"
#include "miodb/trace.h"
#include "src/format/region_table.h"
#include "src/format/superblock.h"
#include "tests/common/db_test_base.h"
#include "tests/common/program.h"
#include "tests/common/string_file.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

std::string Printed(const char* format, uint64_t number) {
  char text[64];
  snprintf(text, sizeof(text), format, number);
  return text;
}

// Every way in which such a number could be written.
std::vector<std::string> FormsOf(uint64_t number) {
  std::string bytes(reinterpret_cast<const char*>(&number), sizeof(number));
  std::vector<std::string> forms = {bytes, Printed("%" PRIu64, number), Printed("%" PRId64, number)};
  for (int i = 0; i < 2; i++) {  // as it lies in memory, and the other way round
    std::string lower, upper, escaped;
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      lower += Printed("%02" PRIx64, byte);
      upper += Printed("%02" PRIX64, byte);
      // As the tools write bytes that are not printable.
      escaped += byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' ? std::string(1, c)
                                                                            : Printed("\\x%02" PRIx64, byte);
    }
    forms.insert(forms.end(), {lower, upper, escaped});
    bytes.assign(bytes.rbegin(), bytes.rend());
  }
  // Without leading zeros.
  forms.push_back(Printed("%" PRIx64, number));
  forms.push_back(Printed("%" PRIX64, number));
  return forms;
}

class SecretTest : public DbTestBase {
 protected:
  SecretTest() {
    options_.ssd_path = dir_ / "ssd";
    options_.nvm_budget = 64 * 1024;
    options_.nvm_regions.resize(1);
    options_.nvm_regions[0].path = dir_ / "region";
  }

  std::string pool() const { return path_ + "/pool"; }

  // A database with tables, files on SSD and a log, closed. From here on its secret is known.
  void Make() {
    Open();
    Fill(2000, 100);
    Settle();
    Close();
    options_.nvm_budget = 64 << 20;  // what comes from now on stays in the pool
    Open();
    Fill(300, 100);
    Settle();
    Fill(300, 50, 1);
    Close();
    good_ = FileContents(pool());
    Superblock superblock;
    ASSERT_LE(sizeof(superblock), good_.size());
    memcpy(&superblock, good_.data() + kSuperblockOffset, sizeof(superblock));
    ASSERT_NE(0u, superblock.secret);
    forms_ = FormsOf(superblock.secret);
  }

  void ExpectNotIn(const std::string& text, const std::string& what) const {
    for (const std::string& form : forms_) {
      EXPECT_EQ(std::string::npos, text.find(form)) << what << " has the secret as " << testing::PrintToString(form);
    }
  }

  void ExpectNotInFiles() const {
    for (const auto& entry : fs::recursive_directory_iterator(dir_.path())) {
      const std::string name = entry.path().filename().string();
      if (entry.is_regular_file() && !name.starts_with("pool") && !name.starts_with("region")) {
        ExpectNotIn(FileContents(entry.path().string()), entry.path().string());
      }
    }
  }

  std::string Tool(const std::string& command) {
    const ProgramResult result = RunTool(command + " " + path_);
    ExpectNotIn(result.text, command);
    EXPECT_FALSE(result.Says("Usage:")) << command << "\n" << result.text;
    if (result.code == 0) shown_.insert(command.substr(0, command.find('=')));
    return result.text;
  }

  // Shows what has the number that stands behind "what" in a text.
  void ShowNumbered(const std::string& text, const std::string& what, const std::string& command) {
    const size_t at = text.find(what);
    if (at != std::string::npos) Tool(command + std::to_string(strtoull(&text[at + what.size()], nullptr, 10)));
  }

  // The output of the tools and of DumpFile for all files.
  void LookAtAll() {
    const std::string ssd = " --ssd=" + options_.ssd_path;
    for (const char* command : {"miodb_check", "miodb_check --json"}) Tool(command + ssd);
    const std::string text = Tool("miodb_dump --header --manifest --tables --log --values");
    ShowNumbered(text, "\ntable ", "miodb_dump --values --table=");
    ShowNumbered(text, "\nfile ", "miodb_dump --values" + ssd + " --file=");
    for (const std::string& file : {pool(), dir_ / "region", path_ + "/LOST", path_ + "/STORE"}) {
      StringSink dump;
      ExpectNotIn(DumpFile(Env::Default(), file, &dump).ToString(), "the status of a dump");
      ExpectNotIn(dump.contents, "a dump of " + file);
    }
  }

  std::string good_;
  std::vector<std::string> forms_;
  std::set<std::string> shown_;  // commands that found no damage, up to their first value
};

// The search finds what is there: the pool's own bytes have it.
TEST_F(SecretTest, IsInThePool) {
  Make();
  EXPECT_NE(std::string::npos, good_.find(forms_[0]));
}

TEST_F(SecretTest, IsInNothingThatAGoodDatabaseSaysOrWrites) {
  Make();
  Open();
  std::unique_ptr<TraceWriter> writer;
  ASSERT_OK(NewFileTraceWriter(dir_ / "trace", &writer));
  ASSERT_OK(db_->StartTrace(TraceOptions(), std::move(writer)));
  Fill(2000, 100, 2);
  CheckFilled(2000, 100, 2);
  ASSERT_OK(db_->EndTrace());
  EXPECT_GT(fs::file_size(dir_ / "trace"), 2000u * 100);
  for (const char* property : {"leveldb.stats", "leveldb.sstables", "leveldb.approximate-memory-usage",
                               "miodb.persist-mode", "miodb.pool", "miodb.nvm-model", "miodb.placement",
                               "miodb.background-error", "miodb.compact-error", "miodb.ssd-error", "miodb.counters"}) {
    std::string value;
    ASSERT_TRUE(db_->GetProperty(property, &value)) << property;
    ExpectNotIn(value, property);
  }
  ExpectNotIn(TryOpen().ToString(), "a second open");
  Close();
  ExpectNotInFiles();
  LookAtAll();
  EXPECT_EQ(5u, shown_.size()) << testing::PrintToString(shown_);
  ASSERT_OK(RepairDB(path_, options_));
  ExpectNotInFiles();
}

// Damages both superblocks, roots, the table of regions, and places all over the pool, among them footers and table
// headers.
TEST_F(SecretTest, IsInNothingThatIsSaidOfADamagedDatabase) {
  Make();
  std::vector<std::vector<uint64_t>> damages = {{SuperblockOffset(0) + 40, SuperblockOffset(1) + 40},
                                                {SuperblockOffset(0) + 8, SuperblockOffset(1) + 8},
                                                {RootSlotOffset(0, 0), RootSlotOffset(0, 1)},
                                                {RootSlotOffset(1, 0), RootSlotOffset(1, 1)},
                                                {RegionEntryOffset(1, 0), RegionEntryOffset(1, 1)}};
  // Each place where the secret itself lies, in footers and headers: the bytes beside it are damaged.
  for (size_t at = good_.find(forms_[0], kPoolHeaderSize); at != std::string::npos;
       at = good_.find(forms_[0], at + 1)) {
    damages.push_back({at - 8});
    damages.push_back({at + 8});
  }
  EXPECT_GT(damages.size(), 8u);
  for (uint64_t at = kPoolHeaderSize + 100; at < good_.size(); at += good_.size() / 20) damages.push_back({at});
  const fs::path kept = dir_ / "kept";
  fs::create_directory(kept);
  for (const char* part : {"db", "ssd", "region"}) fs::copy(dir_ / part, kept / part, fs::copy_options::recursive);
  for (const std::vector<uint64_t>& places : damages) {
    SCOPED_TRACE("byte " + std::to_string(places[0]) + " damaged");
    for (const char* part : {"db", "ssd", "region"}) {
      fs::remove_all(dir_ / part);
      fs::copy(kept / part, dir_ / part, fs::copy_options::recursive);
    }
    std::string bytes = good_;
    for (const uint64_t place : places) bytes[place] ^= 0x11;
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
    LookAtAll();
    options_.paranoid_checks = true;
    ExpectNotIn(TryOpen().ToString(), "an open");
    Close();
    ExpectNotIn(RepairDB(path_, options_).ToString(), "a repair");
    ExpectNotInFiles();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace miodb::test
