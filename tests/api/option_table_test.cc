// The options by their names: each one's text goes in and comes back, and a wrong text is refused by name.

#include "miodb/option_table.h"

#include <gtest/gtest.h>

#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

std::string TextOf(const Options& options, const std::string& name) {
  std::string text;
  EXPECT_OK(GetOption(options, name, &text));
  return text;
}

// The message of a refusal names the option, the text and what is allowed.
void ExpectRefused(const OptionInfo& option, const std::string& text) {
  Options options;
  options.ssd_path = "/ssd";
  const Status s = SetOption(&options, option.name, text);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_NE(s.ToString().find("Options::" + std::string(option.name) + " is '" + text + "'"), std::string::npos)
      << s.ToString();
  EXPECT_NE(s.ToString().find("allowed: " + option.allowed), std::string::npos) << s.ToString();
  EXPECT_EQ(TextOf(options, option.name), option.default_text);  // as it was
}

void ExpectTaken(const OptionInfo& option, const std::string& text) {
  Options options;
  EXPECT_OK(SetOption(&options, option.name, text));
  EXPECT_EQ(TextOf(options, option.name), text) << option.name;
  EXPECT_OK(SetOption(&options, option.name, option.default_text));
  EXPECT_EQ(TextOf(options, option.name), option.default_text) << option.name;
}

std::vector<std::string> Words(const OptionInfo& option) {
  std::vector<std::string> words;
  const std::regex word("[a-z_]+");
  for (std::sregex_iterator it(option.allowed.begin(), option.allowed.end(), word), end; it != end; ++it) {
    words.push_back(it->str());
  }
  return words;
}

TEST(OptionTableTest, WordsAndSwitchesComeBack) {
  int count = 0;
  for (const OptionInfo& option : AllOptions()) {
    if (option.kind != OptionKind::kSwitch && option.kind != OptionKind::kWord) continue;
    count++;
    ASSERT_GE(Words(option).size(), 2u) << option.name;
    for (const std::string& word : Words(option)) ExpectTaken(option, word);
    for (const char* wrong : {"", "1", "True", "none at all", "false,true", " true"}) ExpectRefused(option, wrong);
  }
  EXPECT_GT(count, 10);
}

TEST(OptionTableTest, TheEndsOfEachRangeComeBackAndNothingBeyond) {
  const std::regex range("(-?\\d+) to (\\d+)");
  int count = 0;
  for (const OptionInfo& option : AllOptions()) {
    if (option.kind != OptionKind::kNumber) continue;
    count++;
    std::smatch ends;
    ASSERT_TRUE(std::regex_search(option.allowed, ends, range)) << option.allowed;
    ExpectTaken(option, ends[1]);
    ExpectTaken(option, ends[2]);
    EXPECT_EQ(option.may_be_negative, ends[1].str()[0] == '-') << option.name;
    const bool has_zero = ends[1] == "0" || option.may_be_negative || option.allowed.starts_with("0, or ");
    if (has_zero) {
      ExpectTaken(option, "0");
    } else {
      ExpectRefused(option, "0");
    }
    ExpectRefused(option, std::to_string(std::stoll(ends[1]) - 1));
    const uint64_t most = std::stoull(ends[2]);
    if (most < UINT64_MAX) ExpectRefused(option, std::to_string(most + 1));
    for (const char* wrong : {"", "one", " 5", "5 ", "5k", "0x5", "5.0", "5e3", "--5", "+-5", "99999999999999999999"}) {
      ExpectRefused(option, wrong);
    }
  }
  EXPECT_GT(count, 30);
}

TEST(OptionTableTest, SizesInPagesAndPowersOfTwoAreThat) {
  for (const OptionInfo& option : AllOptions()) {
    if (option.allowed.find("multiples of 4096") != std::string::npos) {
      ExpectTaken(option, "8192");
      ExpectRefused(option, "8193");
    }
    if (option.allowed.find("powers of two") != std::string::npos) {
      ExpectTaken(option, "1024");
      ExpectRefused(option, "1025");
    }
  }
}

TEST(OptionTableTest, TextsComeBack) {
  for (const OptionInfo& option : AllOptions()) {
    if (option.kind != OptionKind::kText) continue;
    ExpectTaken(option, "");
    ExpectTaken(option, "/a/b c");
    ExpectTaken(option, option.name == std::string("nvm_regions") ? "/a:65536:1,/b,/c::2,/d:5" : "/a,/b");
  }
}

TEST(OptionTableTest, RegionsAreTakenApart) {
  Options options;
  ASSERT_OK(SetOption(&options, "nvm_regions", "/a:64m:1,/b,/c::2,/d:5,/e:7:-1"));
  ASSERT_EQ(options.nvm_regions.size(), 5u);
  EXPECT_EQ(options.nvm_regions[0].path, "/a");
  EXPECT_EQ(options.nvm_regions[0].limit, uint64_t{64} << 20);
  EXPECT_EQ(options.nvm_regions[0].node, 1);
  EXPECT_EQ(options.nvm_regions[2].node, 2);
  EXPECT_EQ(TextOf(options, "nvm_regions"), "/a:67108864:1,/b,/c::2,/d:5,/e:7");
  for (const char* wrong :
       {":5", "/a:5x", "/a:5:", "/a:5:1024", "/a:5:-2", "/a:5:1:2", "/a,,/b", "/a:99999999999999t"}) {
    EXPECT_STATUS(InvalidArgument, SetOption(&options, "nvm_regions", wrong));
  }
  EXPECT_EQ(options.nvm_regions.size(), 5u);
  options.nvm_regions[0].path = "/with:colon";
  std::string text;
  EXPECT_STATUS(InvalidArgument, GetOption(options, "nvm_regions", &text));
}

// As in LevelDB's programs, whose block sizes mean nothing here.
TEST(OptionTableTest, RangesOfTheSsdTierCountOnlyWithIt) {
  Options options;
  EXPECT_OK(SetOption(&options, "block_size", "1"));
  EXPECT_STATUS(InvalidArgument, SetOption(&options, "block_size", "1k"));
  EXPECT_OK(SetOption(&options, "ssd_path", "/ssd"));
  EXPECT_STATUS(InvalidArgument, SetOption(&options, "block_size", "1"));
  EXPECT_EQ(TextOf(options, "block_size"), "1");
}

TEST(OptionTableTest, AnUnknownNameIsRefused) {
  Options options;
  std::string text;
  for (const char* name : {"", "no_such_option", "env", "Write_buffer_size", "write_buffer_size "}) {
    const Status s = SetOption(&options, name, "1");
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_NE(s.ToString().find("Options::" + std::string(name) + ": there is no option of this name"),
              std::string::npos);
    EXPECT_STATUS(InvalidArgument, GetOption(options, name, &text));
  }
}

}  // namespace
}  // namespace miodb::test
