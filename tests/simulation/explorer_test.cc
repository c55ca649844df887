// Crash images by the million (docs/crash_model.md), and proof that the explorer can fail.
//
// A failure prints a history; repeat and shrink it with build/crash_explorer.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "tests/common/environment.h"
#include "tests/simulation/campaign.h"

namespace miodb::sim {
namespace {

constexpr Mode kModes[] = {Mode::kAdr, Mode::kEadr, Mode::kFile};

std::string Shown(const Failure& failure, Mode mode) {
  return failure.what + "\nrepeat with: crash_explorer --mode=" + ModeName(mode) +
         " --config=" + std::to_string(failure.config_seed) + " --history='" + ToText(failure.history) + "'";
}

void Ignore(uint64_t, const History&, size_t) {}

class ExplorerTest : public testing::TestWithParam<Mode> {
 protected:
  void TearDown() override { g_mutation = Mutation::kNone; }

  void Expect(const Failure& failure) const { EXPECT_FALSE(failure.any) << Shown(failure, GetParam()); }
};

INSTANTIATE_TEST_SUITE_P(Modes, ExplorerTest, testing::ValuesIn(kModes),
                         [](const auto& mode) { return std::string(ModeName(mode.param)); });

TEST_P(ExplorerTest, EveryCrashOfRandomHistoriesLeavesAPrefixOfTheWrites) {
  Settings settings = BroadSettings(GetParam());
  settings.max_images = test::ByScale(test::RunsUnderSanitizer() ? 3000 : 60000, 334000, 20000000);
  Explorer explorer(settings);
  Expect(RunRandom(&explorer, test::Seeds(1)[0], Ignore));
  const Totals& t = explorer.totals();
  EXPECT_GE(t.images, settings.max_images);
  if (test::RunsUnderSanitizer()) return;
  // Histories in which these do not happen would prove little.
  EXPECT_GT(t.flushes, 0u);
  EXPECT_GT(t.merges, 0u);
  EXPECT_GT(t.lazy_copies, 0u);
  EXPECT_GT(t.evacuations, 0u);
  EXPECT_GT(t.rollovers, 0u);
  EXPECT_GT(t.splits, 0u);
  EXPECT_EQ(GetParam() != Mode::kFile, t.beside > 0);
  EXPECT_GT(t.growths, 0u);
  EXPECT_GT(t.killed, 0u);
  EXPECT_GT(t.deep, 0u);
  EXPECT_GT(t.went_on, 0u);
  EXPECT_GT(t.pairs, 0u);
}

// A test for each share of the histories, so that two of them run beside each other.
class ShortHistoriesTest : public testing::TestWithParam<std::tuple<Mode, uint64_t>> {};

constexpr uint64_t kShares = 2;

INSTANTIATE_TEST_SUITE_P(Modes, ShortHistoriesTest,
                         testing::Combine(testing::ValuesIn(kModes), testing::Range<uint64_t>(0, kShares)),
                         [](const auto& share) {
                           return ModeName(std::get<0>(share.param)) + std::string("_") +
                                  std::to_string(std::get<1>(share.param));
                         });

TEST_P(ShortHistoriesTest, EveryCrashOfEveryShortHistoryLeavesAPrefixOfTheWrites) {
  const auto [mode, at] = GetParam();
  // In CI two operations have to do where caches survive, which leaves the least to leave out, and where a file is
  // synced, which has the most images.
  const int in_ci = mode == Mode::kAdr ? 3 : 2;
  const int longest = static_cast<int>(test::ByScale(test::RunsUnderSanitizer() ? 1 : 2, in_ci, 4));
  Explorer explorer(ShortHistorySettings(mode));
  for (int length = 1; length <= longest; length++) {
    const uint64_t before = explorer.totals().histories;
    const Failure failure = RunExhaustive(&explorer, length, Ignore, {at, kShares});
    EXPECT_FALSE(failure.any) << Shown(failure, mode);
    const uint64_t all = ExhaustiveHistories(mode, length), shares = explorer.totals().histories - before;
    EXPECT_NEAR(static_cast<double>(all) / kShares, static_cast<double>(shares), 2) << "a prelude may have an odd one";
    if (HasFailure()) return;
  }
  EXPECT_EQ(longest > 1, explorer.totals().evacuations > 0);
  EXPECT_GT(explorer.totals().merges, 0u);
  EXPECT_GT(explorer.totals().lazy_copies, 0u);
}

TEST_P(ExplorerTest, EveryCrashWhileARegionIsAddedLeavesAPrefixOfTheWrites) {
  Settings settings = ThoroughSettings(GetParam());
  if (test::RunsUnderSanitizer()) settings.max_images = 3000;
  Explorer explorer(settings);
  Expect(RunRegionAddition(&explorer, Ignore));
  EXPECT_EQ(1u, explorer.totals().regions);
}

TEST_P(ExplorerTest, EveryCrashWhileColumnFamiliesComeAndGoLeavesAPrefixOfTheWrites) {
  Explorer explorer(BroadSettings(GetParam()));
  Expect(RunFamilies(&explorer, Ignore));
  EXPECT_EQ(4u, explorer.totals().families);
}

TEST_P(ExplorerTest, EveryCrashWhileSavepointsAreMadeAndDroppedLeavesThemOrNot) {
  Explorer explorer(ShortHistorySettings(GetParam()));
  Expect(RunSavepoints(&explorer, Ignore));
  EXPECT_EQ(5u, explorer.totals().savepoints);
}

TEST_P(ExplorerTest, EveryCrashWhilePartsAreMergedLeavesAPrefixOfTheWrites) {
  Explorer explorer(BroadSettings(GetParam()));
  Expect(RunParts(&explorer, Ignore));
  EXPECT_GT(explorer.totals().lazy_copies, 0u);
  EXPECT_GT(explorer.totals().splits, 0u);
}

TEST_P(ExplorerTest, EveryCrashWhileSharesAreFlushedAndMergedLeavesAPrefixOfTheWrites) {
  Explorer explorer(BroadSettings(GetParam()));
  Expect(RunShares(&explorer, Ignore));
  EXPECT_GT(explorer.totals().flush_shares, 0u);
  EXPECT_GT(explorer.totals().merge_shares, 0u);
}

TEST_P(ExplorerTest, EveryCrashLeavesTheUpdateStreamWithEveryWrite) {
  Explorer explorer(ShortHistorySettings(GetParam()));
  Expect(RunUpdates(&explorer, Ignore));
  EXPECT_GT(explorer.totals().flushes, 4u);
}

// A protocol error of each kind, to see that the explorer sees it.
class PlantedTest : public testing::TestWithParam<Mutation> {
 protected:
  void TearDown() override { g_mutation = Mutation::kNone; }
};

INSTANTIATE_TEST_SUITE_P(
    Faults, PlantedTest,
    testing::Values(Mutation::kManifestUnchecked, Mutation::kRootBeforeSnapshot, Mutation::kFlushInTwoEdits,
                    Mutation::kMergeInTwoEdits, Mutation::kFrameValueUncovered, Mutation::kFrameUnchecked,
                    Mutation::kLogAppendAfterOpen, Mutation::kChunkUnnamed, Mutation::kFlushedLogUnsynced,
                    Mutation::kExpiredHidesNothing, Mutation::kExpiryOfFirst, Mutation::kExpiredDroppedEarly,
                    Mutation::kKeptUnclaimed, Mutation::kKeptInTwoEdits, Mutation::kPayloadUnnamed,
                    Mutation::kDropUncounted, Mutation::kDropCountedTwice, Mutation::kRestUnplaced));

TEST_P(PlantedTest, IsFound) {
  if (test::RunsUnderSanitizer()) GTEST_SKIP() << "the explorer sees the same there, in 20 times as long";
  Mutant mutant;
  for (const Mutant& candidate : AllMutants()) {
    if (candidate.mutation == GetParam()) mutant = candidate;
  }
  const MutantResult result = RunMutant(mutant, 1, 200000, {});
  EXPECT_TRUE(result.caught) << mutant.text;
}

TEST(ExplorerFaultTest, AMissingFenceIsFound) {
  FindSites();
  int fences = 0;
  for (const Mutant& mutant : AllMutants()) {
    if (!mutant.name.starts_with("fence:Manifest::WriteRecord") && !mutant.name.starts_with("fence:Sharing::Run")) {
      continue;
    }
    fences++;
    EXPECT_TRUE(RunMutant(mutant, 1, 200000, {}).caught) << mutant.name;
  }
  EXPECT_EQ(2, fences);
}

}  // namespace
}  // namespace miodb::sim
