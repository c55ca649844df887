// Random operations give what std::map gives, whatever the options.

#include "tests/model/random_ops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/option_sets.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

// Histories of each test and each set of options; RandomOps::Length says how many operations they have.
uint64_t SeedCount() { return ByScale(2, 10, 70); }

// Every test has seeds of its own, so that together they see many; `stream` tells tests apart.
void RunSeeds(uint64_t stream, const RandomOps::OptionChoice& options, const KeyStyle* style) {
  for (const uint64_t seed : Seeds(SeedCount(), 1 + stream * SeedCount())) {
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

TEST_P(RandomOpsTest, MatchesStdMap) {
  const std::vector<OptionSet>& sets = OptionSets();
  const auto at = std::find_if(sets.begin(), sets.end(), [](const auto& set) { return set.name == GetParam().name; });
  RunSeeds(static_cast<uint64_t>(at - sets.begin()), {GetParam().options}, nullptr);
}

INSTANTIATE_TEST_SUITE_P(OptionSets, RandomOpsTest, testing::ValuesIn(OptionSets()),
                         [](const testing::TestParamInfo<OptionSet>& param) { return param.param.name; });

TEST(RandomOps, MatchesStdMapWhenKeysOfDifferentBytesAreEqual) {
  Options options = FindOptionSet("tiny").options;
  options.comparator = CaseInsensitiveComparator();
  const KeyStyle style = KeyStyle::kLetters;
  RunSeeds(OptionSets().size(), {options}, &style);
}

TEST(RandomOps, MatchesStdMapWhenEveryReopenHasOtherOptions) {
  RandomOps::OptionChoice options;
  for (const OptionSet& set : OptionSets()) {
    if (set.options.comparator != FindOptionSet("small").options.comparator) continue;
    options.push_back(set.options);
    options.back().ssd_path = kSsdInDirectory;  // what is on SSD once needs it from then on
  }
  RunSeeds(OptionSets().size() + 1, options, nullptr);
}

// The pool has two regions. Each reopen draws a placement policy.
TEST(RandomOps, MatchesStdMapWhereverPlacementPutsWhat) {
  RandomOps::OptionChoice options;
  for (const char* policy : {"hot-first", "spread", "default"}) {
    Options& o = options.emplace_back(FindOptionSet("tiny").options);
    o.pool_size = uint64_t{64} << 20;
    o.nvm_regions.resize(1);
    o.nvm_regions[0].path = kRegionInDirectory;
    o.placement_policy = policy;
  }
  RunSeeds(OptionSets().size() + 2, options, nullptr);
}

}  // namespace
}  // namespace miodb::test
