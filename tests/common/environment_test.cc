#include "tests/common/environment.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace miodb::test {
namespace {

using Numbers = std::vector<uint64_t>;

class EnvironmentTest : public testing::Test {
 protected:
  EnvironmentTest() : was_(std::getenv("MIODB_TEST_SEED") == nullptr ? "" : std::getenv("MIODB_TEST_SEED")) {}
  ~EnvironmentTest() override { setenv("MIODB_TEST_SEED", was_.c_str(), 1); }

  static Numbers SeedsWith(const char* value) {
    setenv("MIODB_TEST_SEED", value, 1);
    return Seeds(3, 5);
  }

 private:
  const std::string was_;
};

TEST_F(EnvironmentTest, SeedsAreThoseOfTheTestOrThoseThatAreAskedFor) {
  const bool is_quarter = RunsUnderThreadSanitizer() && TestScale() == Scale::kQuick;
  EXPECT_EQ(is_quarter ? Numbers{5} : (Numbers{5, 6, 7}), SeedsWith(""));
  EXPECT_EQ((Numbers{17}), SeedsWith("17"));
  EXPECT_EQ((Numbers{40, 41, 42, 43}), SeedsWith("40-43"));
  EXPECT_EQ((Numbers{40}), SeedsWith("40-40"));
}

TEST_F(EnvironmentTest, SeedsThatAreNoneEndTheProgram) {
  for (const char* value : {"x", "4x", "4-", "4-x", "4-3", "4-5-6"}) {
    EXPECT_EXIT(SeedsWith(value), testing::ExitedWithCode(2), "MIODB_TEST_SEED is") << value;
  }
}

}  // namespace
}  // namespace miodb::test
