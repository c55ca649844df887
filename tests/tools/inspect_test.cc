// miodb_check and miodb_dump as their users meet them: what they print, their exit codes, and that they change nothing.

#include <gtest/gtest.h>

#include <cstring>

#include "miodb/env.h"
#include "src/format/superblock.h"
#include "tests/common/comparators.h"
#include "tests/common/db_test_base.h"
#include "tests/common/program.h"

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

  // Both roots' first copies are left alone: the table's index in the manifest is found by the dump.
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

TEST_F(InspectTest, TheDumpShowsEveryPart) {
  Make();
  ProgramResult dump = RunTool("miodb_dump " + path_);
  EXPECT_EQ(0, dump.code) << dump.text;
  for (const char* part : {"superblock at offset 0: version 1", " current\n", "edit 0 at offset", "  comparator \"",
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
