// Files and streams as the tool miodb reads them.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "tests/common/test_dir.h"
#include "tools/miodb/terminal/files.h"

namespace miodb::tool {
namespace {

TEST(MiodbFilesTest, AllOfAnInputIsReadUpToALimit) {
  const test::TestDir dir;
  const std::string path = dir / "input";
  std::ofstream(path) << "first\n" << std::string(200000, 'x');
  for (const uint64_t short_of : {0, 1}) {
    Input in(path);
    std::string_view line;
    std::string rest;
    ASSERT_TRUE(in.ReadLine(&line));
    EXPECT_EQ(short_of == 0, in.ReadAll(200000 - short_of, &rest));
    EXPECT_EQ(short_of == 0, in.status().ok());
    EXPECT_EQ(short_of == 1, in.status().IsInvalidArgument()) << in.status().ToString();
    if (short_of == 0) {
      EXPECT_EQ(std::string(200000, 'x'), rest);
    }
  }
}

TEST(MiodbFilesTest, AnInputWithoutAnEndIsRefused) {
  Input in("/dev/zero");
  std::string all;
  EXPECT_FALSE(in.ReadAll(1000000, &all));
  EXPECT_TRUE(in.status().IsInvalidArgument()) << in.status().ToString();
}

// Another program may make a file of that name while the output is written.
TEST(MiodbFilesTest, AnOutputTakesNoOtherFilesName) {
  const test::TestDir dir;
  const std::string path = dir / "output", text = dir / "output.unfinished";
  Call call;
  for (const bool taken : {false, true}) {
    Output out(path);
    out.Write("mine");
    if (taken) std::ofstream(path) << "another's";
    EXPECT_EQ(taken ? kFailed : kDone, out.Finish(call, kDone));
    std::string content;
    std::getline(std::ifstream(path), content);
    EXPECT_EQ(taken ? "another's" : "mine", content);
    std::filesystem::remove(path);
  }
  EXPECT_FALSE(std::filesystem::exists(text));
}

}  // namespace
}  // namespace miodb::tool
