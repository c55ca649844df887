// The flag parser takes both dialects of published command lines and never measures something other than was asked.

#include "benchmarks/common/flags.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace miodb::bench {
namespace {

class FlagsTest : public testing::Test {
 protected:
  FlagsTest() {
    flags_.Section("Numbers");
    flags_.Int("num", &num_, -1, int64_t{1} << 40, "how many");
    flags_.Real("ratio", &ratio_, 0, 1, "how much");
    flags_.Section("Others");
    flags_.Bool("histogram", &histogram_, "whether");
    flags_.Bool("progress", &progress_, "whether");
    flags_.Text("db", &db_, "where");
    flags_.IgnoreBool("use_fsync");
    flags_.IgnoreValue("perf_level");
  }

  FlagSet::Result Parse(std::initializer_list<const char*> words) {
    std::vector<const char*> argv = {"db_bench"};
    argv.insert(argv.end(), words);
    return flags_.Parse(static_cast<int>(argv.size()), argv.data());
  }

  // The error of a command line that must be refused.
  std::string Refused(std::initializer_list<const char*> words) {
    const FlagSet::Result result = Parse(words);
    EXPECT_EQ(result.outcome, FlagSet::Outcome::kError);
    return result.error;
  }

  void ExpectTaken(std::initializer_list<const char*> words) {
    const FlagSet::Result result = Parse(words);
    EXPECT_EQ(result.outcome, FlagSet::Outcome::kRun) << result.error;
    EXPECT_TRUE(result.warnings.empty());
  }

  FlagSet flags_;
  int64_t num_ = 7;
  double ratio_ = 0.5;
  bool histogram_ = false;
  bool progress_ = true;
  std::string db_ = "here";
};

TEST_F(FlagsTest, OneAndTwoDashesAreTheSame) {
  ExpectTaken({"--num=1", "-ratio=0.25", "-db=there"});
  EXPECT_EQ(num_, 1);
  EXPECT_EQ(ratio_, 0.25);
  EXPECT_EQ(db_, "there");
}

TEST_F(FlagsTest, TheValueMayBeTheNextWord) {
  ExpectTaken({"--num", "12", "-db", "--odd name"});
  EXPECT_EQ(num_, 12);
  EXPECT_EQ(db_, "--odd name");
  ExpectTaken({"-num", "-1"});
  EXPECT_EQ(num_, -1);
}

TEST_F(FlagsTest, AFunctionTakesTheValue) {
  std::string bytes;
  std::string safe;
  const auto assign = [](std::string* to) {
    return [to](const std::string& text) {
      *to = text;
      return text == "7" ? "is 7" : "";
    };
  };
  flags_.Assigned("bytes", FlagSet::Form::kNumber, assign(&bytes), "4096", "size");
  flags_.Assigned("safe", FlagSet::Form::kSwitch, assign(&safe), "false", "or not");
  EXPECT_NE(flags_.Help().find("--bytes=4096 "), std::string::npos);
  ExpectTaken({"--bytes", "5", "--safe"});
  EXPECT_EQ(bytes, "5");
  EXPECT_EQ(safe, "true");
  EXPECT_TRUE(flags_.IsSet("bytes"));
  ExpectTaken({"--bytes=-1", "--safe=No"});
  EXPECT_EQ(bytes, "-1");
  EXPECT_EQ(safe, "false");
  EXPECT_FALSE(flags_.IsSet("bytes"));  // -1 stands for the default
  EXPECT_EQ(Refused({"--bytes=7"}), "Invalid flag '--bytes=7': is 7");
  EXPECT_EQ(Refused({"--safe=maybe"}), "Invalid flag '--safe=maybe': 'maybe' is not a boolean");
}

TEST_F(FlagsTest, ASwitchMayHaveAText) {
  std::string text = "none";
  const auto assign = [&text](const std::string& value) {
    text = value;
    return "";
  };
  flags_.Assigned("mutants", FlagSet::Form::kSwitchOrText, assign, "", "which");
  ExpectTaken({"--mutants", "--num=3"});
  EXPECT_EQ(text, "");
  EXPECT_TRUE(flags_.IsSet("mutants"));
  EXPECT_EQ(num_, 3);
  ExpectTaken({"--mutants=fence:a=b"});
  EXPECT_EQ(text, "fence:a=b");
  EXPECT_EQ(Refused({"--mutants", "fence"}).rfind("Invalid flag 'fence'", 0), 0u);
  EXPECT_EQ(Refused({"--nomutants"}), "Invalid flag '--nomutants'");
}

TEST_F(FlagsTest, AWordStandsForAValue) {
  enum class Color { kRed, kBlue } color = Color::kBlue;
  flags_.Word("color", &color, {{"red", Color::kRed}, {"blue", Color::kBlue}}, "of it");
  EXPECT_NE(flags_.Help().find("--color=\"blue\" "), std::string::npos);
  ExpectTaken({"--color", "red"});
  EXPECT_EQ(color, Color::kRed);
  EXPECT_EQ(Refused({"--color=green"}), "Invalid flag '--color=green': one of red, blue");
  EXPECT_EQ(color, Color::kRed);
}

TEST_F(FlagsTest, AValueMayBeEmptyOrHoldAnEqualsSign) {
  ExpectTaken({"--db="});
  EXPECT_EQ(db_, "");
  ExpectTaken({"--db=a=b"});
  EXPECT_EQ(db_, "a=b");
}

TEST_F(FlagsTest, IntegersHave64Bits) {
  ExpectTaken({"--num=20000000000"});
  EXPECT_EQ(num_, 20000000000);
}

TEST_F(FlagsTest, EveryFormOfABooleanIsTaken) {
  for (const char* yes : {"--histogram", "-histogram", "--histogram=1", "--histogram=true", "--histogram=t",
                          "--histogram=yes", "--histogram=y", "--histogram=TRUE"}) {
    histogram_ = false;
    ExpectTaken({yes});
    EXPECT_TRUE(histogram_) << yes;
  }
  for (const char* no : {"--nohistogram", "-nohistogram", "--histogram=0", "--histogram=false", "--histogram=f",
                         "--histogram=no", "--histogram=n", "--histogram=False"}) {
    histogram_ = true;
    ExpectTaken({no});
    EXPECT_FALSE(histogram_) << no;
  }
}

TEST_F(FlagsTest, ABooleanTakesNoNextWord) {
  EXPECT_EQ(Refused({"--histogram", "false"}).rfind("Invalid flag 'false'", 0), 0u);
}

TEST_F(FlagsTest, TheLastOccurrenceWins) {
  ExpectTaken({"--num=1", "-num=2", "--histogram", "--num", "3", "--nohistogram"});
  EXPECT_EQ(num_, 3);
  EXPECT_FALSE(histogram_);
}

TEST_F(FlagsTest, AnUnknownFlagIsAnError) {
  EXPECT_EQ(Refused({"--nums=1"}), "Invalid flag '--nums=1'");
  EXPECT_EQ(Refused({"-x"}), "Invalid flag '-x'");
  EXPECT_EQ(Refused({"--nodb"}), "Invalid flag '--nodb'");
  EXPECT_EQ(Refused({"--nohistogram=1"}), "Invalid flag '--nohistogram=1'");
  EXPECT_EQ(Refused({"---num=1"}), "Invalid flag '---num=1'");
  EXPECT_EQ(Refused({"-"}), "Invalid flag '-'");
  EXPECT_EQ(Refused({""}), "Invalid flag ''");
}

TEST_F(FlagsTest, AValueOfTheWrongKindIsAnError) {
  for (const char* word :
       {"--num=", "--num=1k", "--num=1.5", "--num=0x10", "--num= 1", "--num=-2", "--num=--1",
        "--num=99999999999999999999", "--num=1099511627777", "--ratio=", "--ratio=half", "--ratio=1.01", "--ratio=nan",
        "--ratio=0.1.1", "--histogram=", "--histogram=2", "--histogram=maybe"}) {
    EXPECT_EQ(Refused({word}).rfind("Invalid flag '" + std::string(word) + "'", 0), 0u) << word;
  }
  EXPECT_EQ(num_, 7);
  EXPECT_EQ(ratio_, 0.5);
}

TEST_F(FlagsTest, AMissingValueIsAnError) { EXPECT_EQ(Refused({"--num"}), "Invalid flag '--num': it needs a value"); }

TEST_F(FlagsTest, ABareNameAndValueIsTakenWithAWarning) {
  const FlagSet::Result result = Parse({"num=5", "histogram=1"});
  EXPECT_EQ(result.outcome, FlagSet::Outcome::kRun);
  ASSERT_EQ(result.warnings.size(), 2u);
  EXPECT_EQ(result.warnings[0], "'num=5' taken as '--num=5'");
  EXPECT_EQ(num_, 5);
  EXPECT_TRUE(histogram_);
}

TEST_F(FlagsTest, AnyOtherBareWordIsAnError) {
  EXPECT_EQ(Refused({"readrandom"}).rfind("Invalid flag 'readrandom'", 0), 0u);
  EXPECT_EQ(Refused({"nums=5"}).rfind("Invalid flag 'nums=5'", 0), 0u);
  EXPECT_EQ(Refused({"histogram"}).rfind("Invalid flag 'histogram'", 0), 0u);
}

TEST_F(FlagsTest, TwoDashesEndTheFlags) {
  ExpectTaken({"--num=3", "--"});
  EXPECT_EQ(num_, 3);
  EXPECT_EQ(Refused({"--", "--num=4"}), "Invalid flag '--num=4'");
  EXPECT_EQ(num_, 3);
}

TEST_F(FlagsTest, IgnoredNamesAreAnnouncedOnceInOneLine) {
  const FlagSet::Result result =
      Parse({"--use_fsync", "-perf_level", "3", "--perf_level=2", "--nouse_fsync", "--num=4"});
  EXPECT_EQ(result.outcome, FlagSet::Outcome::kRun) << result.error;
  ASSERT_EQ(result.warnings.size(), 1u);
  EXPECT_EQ(result.warnings[0], "recognised, no effect: --use_fsync, --perf_level");
  EXPECT_EQ(num_, 4);
}

TEST_F(FlagsTest, HelpAndVersionEndTheParsing) {
  EXPECT_EQ(Parse({"--help", "--bogus"}).outcome, FlagSet::Outcome::kHelp);
  EXPECT_EQ(Parse({"-version"}).outcome, FlagSet::Outcome::kVersion);
}

TEST_F(FlagsTest, HelpListsEveryFlagWithItsDefault) {
  ExpectTaken({"--num=9"});
  const std::string help = flags_.Help();
  for (const char* part : {"Numbers\n", "Others\n", "--num=7 ", "--ratio=0.5 ", "--histogram=false ",
                           "--progress=true ", "--db=\"here\" ", "how many\n"}) {
    EXPECT_NE(help.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(help.find("use_fsync"), std::string::npos);
}

TEST_F(FlagsTest, IsSetTellsWhatTheLastCommandLineNamed) {
  ExpectTaken({"--num=7"});
  EXPECT_TRUE(flags_.IsSet("num"));
  EXPECT_FALSE(flags_.IsSet("db"));
  EXPECT_FALSE(flags_.IsSet("bogus"));
  ExpectTaken({});
  EXPECT_FALSE(flags_.IsSet("num"));
}

}  // namespace
}  // namespace miodb::bench
