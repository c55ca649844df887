// mixgraph: the formulas, the draws, and what the benchmark does with them.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/db_bench/workloads/mixgraph_model.h"
#include "tests/benchmarks/map_engine.h"

namespace miodb::bench {
namespace {

MixgraphConfig PrefixDist() {
  MixgraphConfig config;
  config.keyrange_dist_a = 14.18;
  config.keyrange_dist_b = -2.917;
  config.keyrange_dist_c = 0.0164;
  config.keyrange_dist_d = -0.08082;
  config.keyrange_num = 30;
  config.key_dist_a = 0.002312;
  config.key_dist_b = 0.3467;
  config.mix_get_ratio = 0.83;
  config.mix_put_ratio = 0.14;
  config.mix_seek_ratio = 0.03;
  return config;
}

// The configuration that the command line makes of these words.
struct Parsed {
  Config config;
  FlagSet flags;
  FlagSet::Result result;
  std::string problem;

  explicit Parsed(const std::string& line) {
    std::vector<std::string> words = {"db_bench"};
    for (size_t at = 0; at < line.size();) {
      const size_t end = std::min(line.find(' ', at), line.size());
      if (end > at) words.push_back(line.substr(at, end - at));
      at = end + 1;
    }
    std::vector<const char*> argv;
    for (const std::string& word : words) argv.push_back(word.c_str());
    RegisterFlags(&flags, &config);
    result = flags.Parse(static_cast<int>(argv.size()), argv.data());
    problem = result.error.empty() ? FinishConfig(flags, &config) : result.error;
  }
};

TEST(MixgraphModelTest, HotnessOfRangesIsThePublishedOne) {
  const MixgraphConfig config = PrefixDist();
  EXPECT_NEAR(config.RangeHotness(1), 0.782204, 1e-6);
  EXPECT_NEAR(config.RangeHotness(2), 0.055448, 1e-6);
  EXPECT_NEAR(config.RangeHotness(3), 0.015114, 1e-6);
  EXPECT_NEAR(config.RangeHotness(30), 0.00145162, 1e-8);
  double sum = 0;
  for (int rank = 1; rank <= 30; rank++) sum += config.RangeHotness(rank);
  EXPECT_NEAR(sum, 0.988532, 1e-6);
}

TEST(MixgraphModelTest, RoundedWeightsAndShuffleAreRocksDbs) {
  const KeyRanges ranges(PrefixDist());
  const std::vector<int64_t> weights = {0, 538, 38, 10, 8, 7, 6, 6, 5, 5, 5, 4, 4, 3, 3, 3,
                                        3, 2,   2,  2,  2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_EQ(ranges.weights(), weights);
  EXPECT_EQ(ranges.total_weight(), 667);
  const std::vector<int64_t> ranks = {29, 18, 16, 28, 25, 22, 27, 5,  21, 3,  26, 10, 11, 15, 6,
                                      8,  4,  17, 12, 13, 9,  24, 30, 2,  14, 19, 20, 7,  23, 1};
  EXPECT_EQ(ranges.ranks(), ranks);
  EXPECT_EQ(ranges.PickRounded(128), 28u);
  EXPECT_EQ(ranges.PickRounded(129), 29u);
  EXPECT_EQ(ranges.PickRounded(666), 29u);
  EXPECT_EQ(ranges.PickRounded(667), 0u);
}

TEST(MixgraphModelTest, ParetoQuantilesAreThePublishedOnes) {
  const Pareto value{0, 0.2615, 25.45};
  const Pareto iter{0, 2.517, 14.236};
  for (const auto& [survival, bytes] :
       std::map<double, int64_t>{{.001, 496}, {.01, 228}, {.1, 81}, {.5, 20}, {.9, 3}}) {
    EXPECT_EQ(value.Quantile(survival), bytes);
  }
  for (const auto& [survival, steps] : std::map<double, int64_t>{{.1, 1855}, {.5, 27}, {.9, 2}, {.01, 611647}}) {
    EXPECT_EQ(iter.Quantile(survival), steps);
  }
  EXPECT_EQ((Pareto{5, 0, 10}).Quantile(0.5), 12);    // exponential
  EXPECT_GT(iter.Quantile(1e-17), int64_t{1} << 62);  // no overflow
}

TEST(MixgraphModelTest, KeyRanksFollowThePowerLaw) {
  const MixgraphConfig config = PrefixDist();
  const std::map<double, uint64_t> ranks = {{.001, 1}, {.01, 69}, {.1, 52338}, {.5, 5430977}, {.9, 29591714}};
  for (const auto& [share, rank] : ranks) EXPECT_EQ(config.KeyRank(share), rank);
}

TEST(MixgraphModelTest, CompatDrawsAsRocksDb) {
  MixgraphConfig config = PrefixDist();
  config.mixgraph_compat = true;
  const MixgraphModel model(config, 3000);
  Random random(1);
  // 30 ranges of 100 keys: number 829 falls into the range where 162 of the weights' sum lies, which is the last.
  EXPECT_EQ(model.Next(829, &random).kind, MixKind::kGet);
  EXPECT_EQ(model.Next(829, &random).key / 100, 29u);
  EXPECT_EQ(model.Next(830, &random).kind, MixKind::kPut);
  EXPECT_EQ(model.Next(969, &random).kind, MixKind::kPut);
  EXPECT_EQ(model.Next(970, &random).kind, MixKind::kSeek);
  EXPECT_EQ(model.Next(1000, &random).kind, MixKind::kGet);
  // A share of 900/3000 of all values exceeds this size.
  EXPECT_EQ(model.Next(1900, &random).amount, config.value.Quantile(1900.0 / 3000));
  EXPECT_EQ(model.Next(1900, &random).key, model.Next(1900, &random).key);
  // Without key_dist the ranges are not looked at.
  config.key_dist_a = config.key_dist_b = 0;
  const MixgraphModel uniform(config, 3000);
  EXPECT_EQ(uniform.Next(1234, &random).key, 1234u);
}

// The share of each kind, range and rank, counted.
TEST(MixgraphModelTest, ExactDrawsFollowTheModel) {
  MixgraphConfig config = PrefixDist();
  config.key_dist_a = config.key_dist_b = 0;  // Prefix_random: ranges all the same
  constexpr int kDraws = 200000;
  constexpr uint64_t kKeys = 30000;
  const MixgraphModel model(config, kKeys);
  const KeyRanges ranges(config);
  Random random(7);
  std::map<MixKind, double> kinds;
  std::vector<double> by_rank(31);
  for (int i = 0; i < kDraws; i++) {
    const MixOperation operation = model.Next(random.Uniform(kKeys), &random);
    ASSERT_LT(operation.key, kKeys);
    kinds[operation.kind]++;
    by_rank[static_cast<size_t>(ranges.ranks()[operation.key / 1000])]++;
  }
  // Six standard deviations of a binomial count.
  const auto expect_share = [](double count, double share) {
    EXPECT_NEAR(count, kDraws * share, 6 * std::sqrt(kDraws * share * (1 - share))) << share;
  };
  expect_share(kinds[MixKind::kGet], 0.83);
  expect_share(kinds[MixKind::kPut], 0.14);
  expect_share(kinds[MixKind::kSeek], 0.03);
  for (int rank = 1; rank <= 30; rank++) {
    expect_share(by_rank[static_cast<size_t>(rank)], config.RangeHotness(rank) / 0.988532);
  }
}

TEST(MixgraphModelTest, HotKeysOfARangeHaveTheirShare) {
  MixgraphConfig config = PrefixDist();
  config.keyrange_num = 1;
  config.keyrange_dist_a = config.keyrange_dist_b = config.keyrange_dist_c = config.keyrange_dist_d = 0;
  config.key_dist_a = 0.1;  // The hottest key alone has a tenth, the ten hottest together two.
  config.key_dist_b = 0.30103;
  constexpr int kDraws = 100000;
  const MixgraphModel model(config, 1 << 20);
  Random random(8);
  std::map<uint64_t, int> counts;
  for (int i = 0; i < kDraws; i++) counts[model.Next(random.Uniform(1 << 20), &random).key]++;
  std::vector<int> sorted;
  for (const auto& [key, count] : counts) sorted.push_back(count);
  std::sort(sorted.rbegin(), sorted.rend());
  EXPECT_NEAR(sorted[0], kDraws * 0.1, 600);
  EXPECT_NEAR(std::accumulate(sorted.begin(), sorted.begin() + 10, 0), kDraws * 0.2, 800);
}

TEST(MixgraphModelTest, SizesAreFoldedOrCut) {
  MixgraphConfig config = PrefixDist();
  config.mix_get_ratio = 0;
  config.mix_put_ratio = config.mix_seek_ratio = 1;
  for (const bool strict : {false, true}) {
    config.mixgraph_strict = strict;
    const MixgraphModel model(config, 1000);
    Random random(9);
    int at_bound = 0;
    for (int i = 0; i < 20000; i++) {
      const MixOperation operation = model.Next(1, &random);
      if (operation.kind == MixKind::kPut) {
        EXPECT_GE(operation.amount, 10);
        EXPECT_LE(operation.amount, 1024);
      } else {
        EXPECT_GE(operation.amount, 0);
        EXPECT_LE(operation.amount, 10000);
        if (operation.amount == 10000) at_bound++;
      }
    }
    EXPECT_EQ(at_bound > 300, strict) << at_bound;
  }
}

// The study's command lines, as they are printed in its appendix: one dash, sometimes none.
TEST(MixgraphFlagsTest, PublishedCommandLinesAreTaken) {
  const std::string shared =
      " -use_direct_io_for_flush_and_compaction=true -use_direct_reads=true -cache_size=268435456 -value_k=0.2615"
      " -value_sigma=25.45 -iter_k=2.517 -iter_sigma=14.236 -mix_get_ratio=0.83 -mix_put_ratio=0.14"
      " -mix_seek_ratio=0.03 -sine_mix_rate_interval_milliseconds=5000 -sine_a=1000 -sine_b=0.000073 -sine_d=4500"
      " -perf_level=2 -reads=420000000 -num=50000000 -key_size=48 use_existing_db=true";
  const std::string ranges =
      " -keyrange_dist_a=14.18 -keyrange_dist_b=-2.917 -keyrange_dist_c=0.0164 -keyrange_dist_d=-0.08082";
  const std::string keys = " -key_dist_a=0.002312 -key_dist_b=0.3467";
  for (const std::string& model : {std::string(" -keyrange_num=1"), " -keyrange_num=1" + keys,
                                   " -keyrange_num=30" + ranges, " -keyrange_num=30" + ranges + keys}) {
    const Parsed parsed("-benchmarks=mixgraph" + shared + model);
    EXPECT_EQ(parsed.problem, "");
    EXPECT_TRUE(parsed.config.use_existing_db);
    EXPECT_TRUE(parsed.config.mixgraph.is_throttled);
    EXPECT_EQ(parsed.config.mixgraph.sine_d, 4500);
    EXPECT_EQ(parsed.result.warnings.size(), 1u);  // the lost dash
  }
  const Parsed replay(
      "-benchmarks=replay -trace_file=./trace -num_column_families=1 -use_direct_io_for_flush_and_compaction=true"
      " -use_direct_reads=true -trace_replay_fast_forward=24 -perf_level=2 -trace_replay_threads=3"
      " -use_existing_db=true -db=./copy");
  EXPECT_EQ(replay.problem, "");
  EXPECT_EQ(replay.config.trace.replay_fast_forward, 24);
  EXPECT_EQ(replay.config.trace.replay_threads, 3);
}

TEST(MixgraphFlagsTest, APresetGivesWhatIsNotSet) {
  const Parsed up2x("--mixgraph_preset=up2x --num=50000000");
  EXPECT_EQ(up2x.problem, "");
  EXPECT_EQ(up2x.config.key_size, 17);
  EXPECT_EQ(up2x.config.second_key_size, 9);
  EXPECT_EQ(up2x.config.second_key_share, 0.06);
  EXPECT_EQ(Parsed("--mixgraph_preset=udb --key_size=20").config.second_key_size, 0);
  EXPECT_EQ(up2x.config.value_size, 47);
  EXPECT_EQ(up2x.config.mixgraph.mix_merge_ratio, 0.9253);
  EXPECT_EQ(up2x.config.mixgraph.mix_seek_ratio, 0);
  EXPECT_EQ(up2x.config.mixgraph.keyrange_num, 30);
  EXPECT_DOUBLE_EQ(up2x.config.mixgraph.key_dist_a, 0.002312);
  const Parsed small("--mixgraph_preset=up2x --num=1000000");
  EXPECT_NEAR(small.config.mixgraph.key_dist_a, 0.008976, 1e-5) << "docs/tracing.md has it";

  const Parsed mixed(
      "--mixgraph_preset=zippydb --key_size=20 --keyrange_num=1 --value_k=0.5 --mix_get_ratio=1 --mix_put_ratio=1");
  EXPECT_EQ(mixed.problem, "");
  EXPECT_EQ(mixed.config.key_size, 20);
  EXPECT_EQ(mixed.config.value_size, 43);
  EXPECT_EQ(mixed.config.mixgraph.keyrange_dist_a, 0);
  EXPECT_EQ(mixed.config.mixgraph.value.k, 0.5);
  EXPECT_TRUE(Parsed("--mixgraph_preset=up2x --value_k=0.5").config.mixgraph.value_shares.empty());
  EXPECT_EQ(Parsed("--mixgraph_preset=udb --mix_max_value_size=99").config.mixgraph.mix_max_value_size, 99);
  EXPECT_EQ(mixed.config.mixgraph.mix_delete_ratio, 0);
  EXPECT_EQ(Parsed("").config.mixgraph.mixgraph_preset, "none");
  EXPECT_NE(Parsed("--mixgraph_preset=udc").problem.find("udb"), std::string::npos);
  EXPECT_NE(Parsed("--mixgraph_preset=up2x --mixgraph_compat").problem.find("mix_merge_ratio"), std::string::npos);
  EXPECT_NE(Parsed("--mixgraph_preset=up2x --num=20").problem.find("keyrange_num"), std::string::npos);
}

TEST(MixgraphModelTest, HotKeysMayBeNeighbours) {
  MixgraphConfig config = PrefixDist();
  config.key_dist_a = 0.05;
  config.key_dist_b = 0.25;
  config.key_dist_together = true;
  constexpr uint64_t kKeys = 30000, kDraws = 200000;
  const MixgraphModel model(config, kKeys);
  Random random(5);
  std::vector<uint64_t> seen(kKeys / 30), whole(kKeys);
  for (uint64_t i = 0; i < kDraws; i++) {
    const uint64_t key = model.Next(0, &random).key;
    seen[key % seen.size()]++;
    whole[key]++;
  }
  // The first x keys of a range get 0.05 x^0.25 of its accesses; ranks beyond its keys are taken modulo their number.
  const double first = static_cast<double>(std::accumulate(seen.begin(), seen.begin() + 100, uint64_t{0})) / kDraws;
  EXPECT_GT(first, 0.05 * std::pow(100, 0.25));
  EXPECT_LT(first, 0.05 * std::pow(100, 0.25) + 0.12);
  EXPECT_GT(seen[0], seen[1]);
  EXPECT_GT(seen[1], seen[2]);
  // The ranges themselves lie where they lie without the flag: the hottest is the last.
  EXPECT_GT(std::accumulate(whole.end() - 1000, whole.end(), uint64_t{0}), kDraws / 2);
  EXPECT_NE(Parsed("--key_dist_together").problem.find("key_dist_a"), std::string::npos);
  EXPECT_NE(Parsed("--key_dist_together --key_dist_a=0.1 --key_dist_b=0.2 --mixgraph_compat").problem.find("compat"),
            std::string::npos);
}

// The sizes of the values of each service are those of the study's text, and the mix is its mix.
TEST(MixgraphModelTest, PresetsHaveThePublishedFigures) {
  struct Published {
    const char* name;
    double mean;
    int64_t least, most;
    double below10, exactly64;
    std::vector<double> mix;  // in the order of MixKind
  };
  for (const Published& published : {Published{"udb", 49.2, 10, 200, 0, 0.0066, {0.806, 0.159, 0.035, 0, 0}},
                                     Published{"up2x", 38.2, 1, 64, 0.4, 0.52, {0.0746, 0.0001, 0, 0.9253, 0}},
                                     Published{"zippydb", 34.96, 10, 1024, 0, 0.0029, {0.78, 0.13, 0.03, 0, 0.06}}}) {
    SCOPED_TRACE(published.name);
    const Parsed parsed(std::string("--num=100000 --mixgraph_preset=") + published.name);
    ASSERT_EQ(parsed.problem, "");
    const MixgraphModel model(parsed.config.mixgraph, 100000);
    Random random(11);
    constexpr int kDraws = 300000;
    std::vector<double> kinds(5);
    double count = 0, sum = 0, below10 = 0, exactly64 = 0;
    int64_t least = 1 << 20, most = 0;
    for (int i = 0; i < kDraws; i++) {
      const MixOperation operation = model.Next(0, &random);
      kinds[static_cast<size_t>(operation.kind)]++;
      if (operation.kind != MixKind::kPut && operation.kind != MixKind::kMerge) continue;
      count++, sum += static_cast<double>(operation.amount);
      least = std::min(least, operation.amount), most = std::max(most, operation.amount);
      below10 += operation.amount < 10, exactly64 += operation.amount == 64;
    }
    for (size_t kind = 0; kind < 5; kind++) EXPECT_NEAR(kinds[kind] / kDraws, published.mix[kind], 0.004) << kind;
    EXPECT_NEAR(sum / count, published.mean + 0.5, 1);  // sizes that are computed are rounded up
    EXPECT_GE(least, published.least);
    EXPECT_LE(most, published.most);
    EXPECT_NEAR(below10 / count, published.below10, 0.005);
    EXPECT_NEAR(exactly64 / count, published.exactly64, 0.005);
  }
}

TEST(MixgraphFlagsTest, FamiliesHaveMixesOfTheirOwn) {
  const Parsed two("--num_column_families=2 --mix_column_families=3:0.8:0.2:0:0:0,1:0:0:1:0:3 --mixgraph_preset=udb");
  ASSERT_EQ(two.problem, "");
  const MixgraphConfig& config = two.config.mixgraph;
  ASSERT_EQ(config.family_mixes.size(), 2u);
  EXPECT_EQ(config.family_mixes[1].kinds[4], 0.75);
  EXPECT_DOUBLE_EQ(config.mix_get_ratio, 2.4);
  EXPECT_DOUBLE_EQ(config.mix_put_ratio, 0.6);
  EXPECT_DOUBLE_EQ(config.mix_seek_ratio, 0.25);
  EXPECT_EQ(config.mix_merge_ratio, 0);
  EXPECT_DOUBLE_EQ(config.mix_delete_ratio, 0.75);
  for (const std::string mixes : {"1:1:0:0:0", "1:1:0:0:0:0:0", "1:0:0:0:0:0", "1:1:0:0:0:x", "1:1:0:0:0:0:",
                                  "1:-1:2:0:0:0", "0:1:0:0:0:0", "1:1:0:0:0:0,1:1:0:0:0:0", "1:1:0:0:0:nan", "x"}) {
    EXPECT_NE(Parsed("--mix_column_families=" + mixes).problem.find("--mix_column_families"), std::string::npos)
        << mixes;
  }
  EXPECT_EQ(Parsed("--mix_column_families=1:1:0:0:0:0").problem, "");
  EXPECT_NE(Parsed("--mix_column_families=1:1:0:0:0:0 --mix_get_ratio=1").problem.find("mix_get_ratio"),
            std::string::npos);
  EXPECT_NE(Parsed("--mix_column_families=1:1:0:0:0:0 --mixgraph_compat").problem.find("mixgraph_compat"),
            std::string::npos);
  EXPECT_NE(Parsed("--num=1 --num_column_families=2 --mix_column_families=1:1:0:0:0:0,1:1:0:0:0:0")
                .problem.find("a family must have a key"),
            std::string::npos);
}

TEST(MixgraphModelTest, AFamilyGetsItsCallsOnItsKeys) {
  MixgraphConfig config = PrefixDist();
  config.keyrange_num = 1;
  config.family_mixes = {{0.5, {0.9, 0.1, 0, 0, 0}}, {0.3, {0, 0, 1, 0, 0}}, {0.2, {0.5, 0, 0, 0.5, 0}}};
  config.mix_get_ratio = 0.55;
  config.mix_put_ratio = 0.05;
  config.mix_seek_ratio = 0.3;
  config.mix_merge_ratio = 0.1;
  constexpr uint64_t kKeys = 1000;  // the last group of three is cut
  constexpr int kDraws = 200000;
  const MixgraphModel model(config, kKeys);
  Random random(5);
  std::map<std::pair<uint64_t, MixKind>, int> drawn;
  for (int i = 0; i < kDraws; i++) {
    const MixOperation operation = model.Next(0, &random);
    ASSERT_LT(operation.key, kKeys);
    drawn[{operation.key % 3, operation.kind}]++;
  }
  const std::map<std::pair<uint64_t, MixKind>, double> shares = {{{0, MixKind::kGet}, 0.45},
                                                                 {{0, MixKind::kPut}, 0.05},
                                                                 {{1, MixKind::kSeek}, 0.3},
                                                                 {{2, MixKind::kGet}, 0.1},
                                                                 {{2, MixKind::kMerge}, 0.1}};
  EXPECT_EQ(drawn.size(), shares.size());
  for (const auto& [call, share] : shares) EXPECT_NEAR(drawn[call], share * kDraws, 0.005 * kDraws) << call.first;
}

TEST(MixgraphFlagsTest, RateIsLimitedWhenASineIsGiven) {
  EXPECT_FALSE(Parsed("--mix_put_ratio=1").config.mixgraph.is_throttled);
  EXPECT_TRUE(Parsed("--sine_mix_rate").config.mixgraph.is_throttled);
  EXPECT_TRUE(Parsed("--sine_d=100").config.mixgraph.is_throttled);
  EXPECT_FALSE(Parsed("--sine_d=100 --mixgraph_compat").config.mixgraph.is_throttled);
}

TEST(MixgraphFlagsTest, ImpossibleParametersAreRefused) {
  const std::map<std::string, std::string> problems = {
      {"--mix_get_ratio=-1", "mix_get_ratio"},
      {"--mix_get_ratio=0", "all 0"},
      {"--mix_delete_ratio=1 --mixgraph_compat", "mix_delete_ratio"},
      {"--num=10 --keyrange_num=11", "above --num=10"},
      {"--key_dist_a=0.1", "go together"},
      {"--keyrange_dist_a=-5", "no finite hotness"},
      {"--keyrange_dist_a=1 --keyrange_dist_b=1e9", "no finite hotness"},
      {"--sine_mix_rate --sine_a=1 --sine_d=-2", "never above 0"},
      {"--value_sigma=-1", "value_sigma"},
      {"--mixgraph_hotness --num=300000000", "above 268435456"},
      {"--trace_replay_fast_forward=0", "trace_replay_fast_forward"},
      {"--trace_replay_threads=0", "trace_replay_threads"}};
  for (const auto& [line, problem] : problems) {
    EXPECT_NE(Parsed(line).problem.find(problem), std::string::npos) << line << ": " << Parsed(line).problem;
  }
}

TEST_F(DriverTest, MixgraphShowsTheHotnessThatWasDrawn) {
  ASSERT_EQ(Run("fillseq"), 0);
  config_.use_existing_db = true;
  config_.reads = 10000;
  config_.threads = 2;
  const auto hottest = [this] {
    EXPECT_EQ(Run("mixgraph"), 0) << err_;
    const std::string label = "(hottest 1 % of keys: ";
    const size_t at = out_.find(label);
    return at == std::string::npos ? -1 : std::atof(out_.c_str() + at + label.size());
  };
  EXPECT_EQ(hottest(), -1) << "it is counted only where that was asked for";
  config_.mixgraph.mixgraph_hotness = true;
  EXPECT_NEAR(hottest(), 1.5, 0.4) << "all keys alike: a hundredth, and what chance adds";
  config_.mixgraph.key_dist_b = 0.3467;
  config_.mixgraph.key_dist_a = std::pow(1000.0, -0.3467);  // all accesses go to the 1000 hottest keys
  EXPECT_NEAR(hottest(), 100 * std::pow(0.01, 0.3467), 6);
  config_.mixgraph.key_dist_a = 0.002312;  // to 40 million of them, which the 1000 keys share
  EXPECT_LT(hottest(), 12);
}

TEST_F(DriverTest, MixgraphReadsWritesAndScans) {
  ASSERT_EQ(Run("fillseq"), 0);
  config_.use_existing_db = true;
  config_.reads = 2000;
  config_.mixgraph = PrefixDist();
  config_.mixgraph.mix_get_ratio = 0;
  config_.mixgraph.mix_put_ratio = 1;
  config_.mixgraph.mix_seek_ratio = 0;
  EXPECT_EQ(Run("mixgraph"), 0);
  EXPECT_EQ(store_.puts, 3000u);
  EXPECT_TRUE(Printed("( Gets:0 Puts:2000 Seek:0, reads 0 in 0 found, avg size: ")) << out_;
  EXPECT_TRUE(Printed(" value, 0.0 scan)")) << out_;
  config_.mixgraph.mix_get_ratio = 0.5;
  config_.mixgraph.mix_seek_ratio = 0.5;
  config_.mixgraph.mix_put_ratio = 0;
  config_.reads = 300;
  store_.gets = 0;
  EXPECT_EQ(Run("mixgraph"), 0);
  EXPECT_GT(store_.gets, 100u);
  EXPECT_TRUE(Printed(" Puts:0 ")) << out_;
  EXPECT_TRUE(Printed(", reads 300 in 300 found")) << out_;  // every key is there
}

TEST_F(DriverTest, MixgraphMergesAndDeletes) {
  ASSERT_EQ(Run("fillseq"), 0);
  config_.use_existing_db = true;
  config_.reads = 300;
  config_.mixgraph.mix_get_ratio = 0;
  config_.mixgraph.mix_merge_ratio = 1;
  EXPECT_EQ(Run("mixgraph"), 0) << err_;
  EXPECT_EQ(store_.merges, 300u);
  EXPECT_TRUE(Printed("( Gets:0 Puts:0 Seek:0 Merges:300, reads 0 in 0 found, avg size: ")) << out_;
  config_.mixgraph.mix_merge_ratio = 0;
  config_.mixgraph.mix_delete_ratio = 1;
  EXPECT_EQ(Run("mixgraph"), 0) << err_;
  EXPECT_TRUE(Printed(" Deletes:300, ")) << out_;
  EXPECT_LT(store_.map.size(), 1000u);
  config_.readonly = true;
  EXPECT_NE(Run("mixgraph"), 0) << "it writes";
}

TEST_F(DriverTest, MixgraphKeepsToItsRate) {
  config_.reads = 100;
  config_.threads = 2;
  config_.mixgraph.is_throttled = true;
  config_.mixgraph.sine_a = 100;
  config_.mixgraph.sine_c = 1.5707963;  // the sine's top, for the second that this takes
  config_.mixgraph.sine_b = 0;
  config_.mixgraph.sine_d = 900;
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(Run("mixgraph"), 0);
  // 200 operations at 1000 a second, but for what a thread may catch up with.
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(150));
}

}  // namespace
}  // namespace miodb::bench
