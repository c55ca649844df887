// Random operations give what std::map gives, whatever the options.

#include "tests/model/random_ops.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/common/comparators.h"
#include "tests/common/environment.h"
#include "tests/common/option_sets.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

// Histories under each option set: with 12 sets some 20 thousand, 100 thousand and 2.5 million operations.
uint64_t SeedCount() { return ByScale(2, 10, 200); }

void RunSeeds(const RandomOps::OptionChoice& options, const KeyStyle* style) {
  for (const uint64_t seed : Seeds(SeedCount())) {
    SCOPED_TRACE(Repeat(seed));
    const TestDir dir;
    if (style == nullptr) {
      RandomOps(seed, dir / "db", options).Run();
    } else {
      RandomOps(seed, dir / "db", options, *style).Run();
    }
    if (testing::Test::HasFailure()) return;
  }
}

class RandomOpsTest : public testing::TestWithParam<OptionSet> {};

TEST_P(RandomOpsTest, MatchesStdMap) { RunSeeds({GetParam().options}, nullptr); }

INSTANTIATE_TEST_SUITE_P(OptionSets, RandomOpsTest, testing::ValuesIn(OptionSets()),
                         [](const testing::TestParamInfo<OptionSet>& param) { return param.param.name; });

TEST(RandomOps, MatchesStdMapWhenKeysOfDifferentBytesAreEqual) {
  Options options = FindOptionSet("tiny").options;
  options.comparator = CaseInsensitiveComparator();
  const KeyStyle style = KeyStyle::kLetters;
  RunSeeds({options}, &style);
}

TEST(RandomOps, MatchesStdMapWhenEveryReopenHasOtherOptions) {
  RandomOps::OptionChoice options;
  for (const OptionSet& set : OptionSets()) {
    if (set.options.comparator != FindOptionSet("small").options.comparator) continue;
    options.push_back(set.options);
    options.back().ssd_path = kSsdInDirectory;  // what is on SSD once needs it from then on
  }
  RunSeeds(options, nullptr);
}

}  // namespace
}  // namespace miodb::test
