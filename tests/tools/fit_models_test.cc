// The fits find the parameters by which samples were drawn.

#include "tools/trace/fit_models.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <unordered_map>
#include <vector>

#include "src/util/random.h"
#include "tools/trace/external_sort.h"
#include "tools/trace/fit_math.h"

namespace miodb::tools {
namespace {

// Within this share of the truth.
constexpr double kFivePercent = 0.05;

void ExpectNear(double found, double truth, double share = kFivePercent) {
  EXPECT_NEAR(found, truth, share * std::abs(truth));
}

double Unit(Random* random) { return static_cast<double>((random->Next64() >> 11) + 1) * 0x1.0p-53; }

// Rounded up; what is fold or more is folded back, and none is less than least.
std::vector<Bin> ParetoSample(double k, double sigma, int count, int64_t fold, int64_t least) {
  Random random(11);
  std::map<int64_t, double> sizes;
  for (int i = 0; i < count; i++) {
    const double x = std::min(std::ceil(sigma * (std::pow(Unit(&random), -k) - 1) / k), 9e17);
    sizes[std::max(static_cast<int64_t>(x) % fold, least)]++;
  }
  std::vector<Bin> bins;
  for (const auto& [size, times] : sizes)
    bins.push_back({static_cast<double>(size) - 1, static_cast<double>(size), times});
  return bins;
}

TEST(FitModelsTest, MinimiseFindsAValley) {
  const auto rosenbrock = [](const std::vector<double>& p) {
    return 100 * std::pow(p[1] - p[0] * p[0], 2) + std::pow(1 - p[0], 2);
  };
  const std::vector<double> found = Minimise(rosenbrock, {-1.2, 1}, {0.5, 0.5});
  EXPECT_NEAR(found[0], 1, 1e-3);
  EXPECT_NEAR(found[1], 1, 1e-3);
}

TEST(FitModelsTest, LeastSquaresAndCorrelation) {
  const std::vector<double> x = {1, 2, 3, 4}, ones(4, 1), y = {3, 5, 7, 9}, flat(4, 2);
  const std::vector<double> line = SolveLeastSquares({ones, x}, y, ones);
  ASSERT_EQ(line.size(), 2u);
  EXPECT_NEAR(line[0], 1, 1e-9);
  EXPECT_NEAR(line[1], 2, 1e-9);
  EXPECT_TRUE(SolveLeastSquares({ones, flat}, y, ones).empty());
  EXPECT_NEAR(Pearson(x, y), 1, 1e-12);
  EXPECT_EQ(Pearson(x, flat), 0);
}

TEST(FitModelsTest, ValueSizesOfTheStudy) {
  const ParetoFit fit = FitPareto(ParetoSample(0.2615, 25.45, 100000, 1024, 10), 1024);
  ExpectNear(fit.k, 0.2615);
  ExpectNear(fit.sigma, 25.45);
}

TEST(FitModelsTest, ScanLengthsOfTheStudyThoughFolded) {
  const std::vector<Bin> bins = ParetoSample(2.517, 14.236, 50000, 1000, 0);
  const ParetoFit fit = FitPareto(bins, 1000);
  ExpectNear(fit.k, 2.517);
  ExpectNear(fit.sigma, 14.236);
}

TEST(FitModelsTest, TheFamilyThatWasDrawnFromFitsBest) {
  EXPECT_EQ(FitDistribution(ParetoSample(1.5, 20, 50000, int64_t{1} << 40, 0))[0].family, "Pareto");
  // An exponential distribution is a Weibull distribution with shape 1, and a Pareto one with k towards 0.
  const std::vector<FamilyFit> fits = FitDistribution(ParetoSample(1e-6, 50, 50000, int64_t{1} << 40, 0));
  EXPECT_LT(fits[0].error, 0.01);
  for (const FamilyFit& fit : fits) {
    if (fit.family == "exponential") ExpectNear(fit.parameters[0].second, 50);
  }
}

TEST(FitModelsTest, HotnessOfRanges) {
  std::vector<double> shares;
  double sum = 0;
  for (int x = 1; x <= 30; x++) shares.push_back(14.18 * std::exp(-2.917 * x) + 0.0164 * std::exp(-0.08082 * x));
  for (double share : shares) sum += share;
  // What 300,000 accesses count, without chance.
  for (double& share : shares) share = std::round(share / sum * 300000) / 300000;
  const RangeFit fit = FitRangeHotness({shares.rbegin(), shares.rend()}, 300000);
  ExpectNear(fit.a, 14.18 / sum);
  ExpectNear(fit.b, -2.917);
  ExpectNear(fit.c, 0.0164 / sum);
  ExpectNear(fit.d, -0.08082);
}

TEST(FitModelsTest, HotnessOfKeysThoughRanksShareKeys) {
  constexpr double kA = 0.002312, kB = 0.3467;
  constexpr uint64_t kKeys = 200000;
  Random random(12);
  std::unordered_map<uint64_t, uint64_t> counts;
  for (int i = 0; i < 1000000; i++) {
    const double rank = std::ceil(std::pow(Unit(&random) / kA, 1 / kB));
    counts[Random(static_cast<uint64_t>(rank)).Uniform(kKeys)]++;
  }
  std::vector<uint64_t> list;
  for (const auto& [key, count] : counts) list.push_back(count);
  const PowerFit fit = FitKeyHotness(list, kKeys);
  ExpectNear(fit.a, kA);
  ExpectNear(fit.b, kB);
  EXPECT_GT(fit.keys_used, 100u);
}

TEST(FitModelsTest, RatesThatFollowASine) {
  std::vector<double> rates;
  Random random(13);
  for (int t = 0; t < 600; t++) {
    rates.push_back(1000 * std::sin(0.01047 * (t + 0.5) + 0.3) + 4500 + 100 * (Unit(&random) - 0.5));
  }
  const SineFit fit = FitRate(rates);
  ExpectNear(fit.a, 1000);
  ExpectNear(fit.b, 0.01047);
  ExpectNear(fit.c, 0.3);
  ExpectNear(fit.d, 4500);
  EXPECT_LT(fit.error, fit.polynomial_error);
  EXPECT_LT(fit.polynomial_error, fit.constant_error);
}

TEST(ExternalSortTest, KeepsTheOrderOfEqualKeysAcrossRuns) {
  ExternalSort sort(testing::TempDir(), 64 << 10);
  Random random(14);
  std::map<std::string, std::vector<std::string>> expected;
  for (int i = 0; i < 20000; i++) {
    const std::string key = "prefix" + std::string(random.Uniform(12), 'x') + std::to_string(random.Uniform(50));
    expected[key].push_back(std::to_string(i));
    ASSERT_TRUE(sort.Add(key, std::to_string(i)).ok());
  }
  ASSERT_TRUE(sort.Finish().ok());
  EXPECT_GT(sort.spilled_runs(), 3u);
  std::string_view key, payload;
  for (const auto& [name, numbers] : expected) {
    for (const std::string& number : numbers) {
      ASSERT_TRUE(sort.Next(&key, &payload));
      ASSERT_EQ(key, name);
      ASSERT_EQ(payload, number);
    }
  }
  EXPECT_FALSE(sort.Next(&key, &payload));
  EXPECT_TRUE(sort.status().ok());
}

TEST(ExternalSortTest, AFolderThatCannotBeWrittenIsAnError) {
  ExternalSort sort("/proc/nowhere", 1000);
  Status s;
  for (int i = 0; i < 1000 && s.ok(); i++) s = sort.Add("key", "payload");
  EXPECT_TRUE(s.IsIOError()) << s.ToString();
}

}  // namespace
}  // namespace miodb::tools
