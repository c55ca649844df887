// The fits find the parameters by which samples were drawn.

#include "tools/trace/fit_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

#include "tests/common/random/random.h"
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

constexpr int64_t kNoFold = int64_t{1} << 60;

// Quantiles of random numbers, rounded up; what is fold or more is folded back, and none is less than least.
std::vector<Bin> Sample(uint64_t seed, int count, const std::function<double(double)>& quantile, int64_t fold = kNoFold,
                        int64_t least = 0) {
  Random random(seed);
  std::map<int64_t, double> sizes;
  for (int i = 0; i < count; i++) {
    const double x = std::min(std::ceil(quantile(Unit(&random))), 9e17);
    sizes[std::max(static_cast<int64_t>(x) % fold, least)]++;
  }
  std::vector<Bin> bins;
  for (const auto& [size, times] : sizes)
    bins.push_back({static_cast<double>(size) - 1, static_cast<double>(size), times});
  return bins;
}

std::vector<Bin> ParetoSample(double k, double sigma, int count, int64_t fold, int64_t least, uint64_t seed = 11) {
  return Sample(
      seed, count, [=](double u) { return sigma * (std::pow(u, -k) - 1) / k; }, fold, least);
}

// The parameters that a family was fitted with.
std::map<std::string, double> Parameters(const std::vector<FamilyFit>& fits, const std::string& family) {
  for (const FamilyFit& fit : fits) {
    if (fit.family == family) return {fit.parameters.begin(), fit.parameters.end()};
  }
  ADD_FAILURE() << family;
  return {};
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

TEST(FitModelsTest, SizesOfMixgraphThoughFolded) {
  struct Case {
    double k, sigma;
    int64_t fold, least;
  };
  // The study's values and scans first.
  for (const Case& c : {Case{0.2615, 25.45, 1024, 10}, Case{2.517, 14.236, 1000, 0}, Case{0.6, 100, 4096, 10},
                        Case{1.2, 8, 500, 0}, Case{0.35, 300, 100000, 10}}) {
    for (const uint64_t seed : {11, 12, 13}) {
      SCOPED_TRACE("k " + std::to_string(c.k) + " sigma " + std::to_string(c.sigma) + " seed " + std::to_string(seed));
      const ParetoFit fit =
          FitPareto(ParetoSample(c.k, c.sigma, 100000, c.fold, c.least, seed), static_cast<double>(c.fold));
      ExpectNear(fit.k, c.k);
      ExpectNear(fit.sigma, c.sigma);
    }
  }
}

// Each family finds the parameters of its own samples, and fits them best.
TEST(FitModelsTest, EveryFamilyFindsItsParameters) {
  constexpr int kCount = 60000;
  for (const uint64_t seed : {21, 22, 23}) {
    for (const double factor : {1.0, 2.5}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " factor " + std::to_string(factor));
      const double b = 0.2 * factor, most = 5000 * factor;
      auto fits = FitDistribution(Sample(seed, kCount, [&](double u) { return most * std::pow(u, 1 / b); }));
      EXPECT_EQ(fits[0].family, "power");
      ExpectNear(Parameters(fits, "power")["b"], b);
      ExpectNear(Parameters(fits, "power")["a"], std::pow(most, -b));

      fits = FitDistribution(Sample(seed, kCount, [&](double u) { return -50 * factor * std::log(u); }));
      ExpectNear(Parameters(fits, "exponential")["mean"], 50 * factor);

      const double shape = 0.6 * factor;
      fits = FitDistribution(Sample(seed, kCount, [&](double u) { return 80 * std::pow(-std::log(u), 1 / shape); }));
      EXPECT_EQ(fits[0].family, "Weibull");
      ExpectNear(Parameters(fits, "Weibull")["scale"], 80);
      ExpectNear(Parameters(fits, "Weibull")["shape"], shape);

      fits = FitDistribution(ParetoSample(0.5 * factor, 30, kCount, kNoFold, 0, seed));
      EXPECT_EQ(fits[0].family, "Pareto");
      ExpectNear(Parameters(fits, "Pareto")["k"], 0.5 * factor);
      ExpectNear(Parameters(fits, "Pareto")["sigma"], 30);
    }
  }
  // Two thirds in the first bin: least squares alone would end at a shape of 0.
  const auto steep =
      FitDistribution(Sample(26, kCount, [](double u) { return 0.78 * std::pow(-std::log(u), 1 / 0.315); }));
  ExpectNear(Parameters(steep, "Weibull")["scale"], 0.78);
  ExpectNear(Parameters(steep, "Weibull")["shape"], 0.315);
  // The coefficients of a cubic are anything when the data has noise; the curve is not.
  std::vector<Bin> bins;
  for (double x = 1; x <= 200; x++) {
    const auto below = [](double u) { return 0.5 * u + 0.2 * u * u + 0.3 * u * u * u; };
    bins.push_back({x - 1, x, 1e7 * (below(x / 200) - below((x - 1) / 200))});
  }
  const auto fits = FitDistribution(bins);
  EXPECT_EQ(fits[0].family, "polynomial");
  ExpectNear(Parameters(fits, "polynomial")["c1"], 0.5 / 200);
  ExpectNear(Parameters(fits, "polynomial")["c2"], 0.2 / 200 / 200);
  ExpectNear(Parameters(fits, "polynomial")["c3"], 0.3 / 200 / 200 / 200);
}

TEST(FitModelsTest, HotnessOfRanges) {
  struct Case {
    double a, b, c, d;
    int ranges;
  };
  for (const Case& c : {Case{14.18, -2.917, 0.0164, -0.08082, 30}, Case{0.5, -0.7, 0.02, -0.03, 40}}) {
    for (const uint64_t seed : {31, 32, 33}) {
      SCOPED_TRACE("a " + std::to_string(c.a) + " seed " + std::to_string(seed));
      constexpr int kAccesses = 1000000;
      std::vector<double> sums, shares(static_cast<size_t>(c.ranges), 0);
      double sum = 0;
      for (int x = 1; x <= c.ranges; x++) sums.push_back(sum += c.a * std::exp(c.b * x) + c.c * std::exp(c.d * x));
      Random random(seed);
      for (int i = 0; i < kAccesses; i++) {
        const auto range = std::lower_bound(sums.begin(), sums.end(), Unit(&random) * sum) - sums.begin();
        shares[static_cast<size_t>(range)] += 1.0 / kAccesses;
      }
      const RangeFit fit = FitRangeHotness({shares.rbegin(), shares.rend()}, kAccesses);
      ExpectNear(fit.a, c.a / sum);
      ExpectNear(fit.b, c.b);
      ExpectNear(fit.c, c.c / sum);
      ExpectNear(fit.d, c.d);
    }
  }
}

// From hundreds of accesses a key down to less than one, with ranks that share keys.
TEST(FitModelsTest, HotnessOfKeysThoughRanksShareKeys) {
  struct Case {
    double a, b;
    uint64_t keys;
    int accesses;
  };
  for (const Case& c : {Case{0.002312, 0.3467, 33333, 2000000}, Case{0.002312, 0.3467, 200000, 1000000},
                        Case{0.002312, 0.3467, 1000000, 1000000}, Case{0.05, 0.25, 60000, 300000},
                        Case{0.01, 0.3, 10000, 1000000}, Case{0.0005, 0.6, 50000, 2000000}}) {
    for (const uint64_t seed : {41, 42, 43}) {
      SCOPED_TRACE("a " + std::to_string(c.a) + " keys " + std::to_string(c.keys) + " seed " + std::to_string(seed));
      Random random(seed);
      std::unordered_map<uint64_t, uint64_t> counts;
      for (int i = 0; i < c.accesses; i++) {
        const double rank = std::ceil(std::pow(Unit(&random) / c.a, 1 / c.b));
        counts[Random(static_cast<uint64_t>(rank) + (seed << 50)).Uniform(c.keys)]++;
      }
      std::vector<uint64_t> list;
      for (const auto& [key, count] : counts) list.push_back(count);
      const PowerFit fit = FitKeyHotness(list, c.keys);
      ExpectNear(fit.a, c.a);
      ExpectNear(fit.b, c.b);
    }
  }
}

TEST(FitModelsTest, NoHotnessWhereNoneIs) {
  EXPECT_EQ(FitKeyHotness({}, 1000).keys_used, 0u);
  EXPECT_EQ(FitKeyHotness(std::vector<uint64_t>(1000, 20), 1000).keys_used, 0u);
  EXPECT_EQ(FitKeyHotness({5, 5, 5}, 2).keys_used, 0u);
}

TEST(FitModelsTest, RatesThatFollowASine) {
  struct Case {
    double a, b, c, d;
    int seconds;
  };
  for (const Case& s : {Case{1000, 0.01047, 0.3, 4500, 600}, Case{300, 0.2, -1.2, 800, 120},
                        Case{50, 1.1, 2.5, 400, 60}, Case{2000, 0.00105, 1.5, 9000, 6000}}) {
    for (const uint64_t seed : {51, 52, 53}) {
      SCOPED_TRACE("b " + std::to_string(s.b) + " seed " + std::to_string(seed));
      std::vector<double> rates;
      Random random(seed);
      for (int t = 0; t < s.seconds; t++) {
        rates.push_back(s.a * std::sin(s.b * (t + 0.5) + s.c) + s.d + 0.1 * s.a * (Unit(&random) - 0.5));
      }
      const SineFit fit = FitRate(rates);
      EXPECT_TRUE(fit.explains);
      ExpectNear(fit.a, s.a);
      ExpectNear(fit.b, s.b);
      EXPECT_NEAR(std::remainder(fit.c - s.c, 2 * M_PI), 0, kFivePercent * std::abs(s.c));
      ExpectNear(fit.d, s.d);
      EXPECT_LT(fit.error, fit.polynomial_error);
      EXPECT_LE(fit.polynomial_error, fit.constant_error);
    }
  }
}

// Whatever the rates do, the model asks for none that is far from all of them: it goes on for longer than the trace.
TEST(FitModelsTest, RatesThatFollowNoSineGiveNone) {
  const std::map<std::string, std::function<double(double)>> curves = {
      {"flat", [](double) { return 50000.0; }},
      {"rising", [](double t) { return 40000 + 20 * t; }},
      {"falling", [](double t) { return 90000 * std::exp(-t / 300) + 20000; }},
      {"bent", [](double t) { return 50000 - 0.03 * t * t; }},
      {"settling", [](double t) { return t < 5 ? 200000 : 50000.0; }},
      {"ending", [](double t) { return t < 590 ? 50000 : 10000.0; }}};
  for (const auto& [name, curve] : curves) {
    for (const int seconds : {1, 16, 20, 100, 600}) {
      for (const uint64_t seed : {61, 62, 63}) {
        SCOPED_TRACE(name + ", " + std::to_string(seconds) + " s, seed " + std::to_string(seed));
        Random random(seed);
        std::vector<double> rates;
        for (int t = 0; t < seconds; t++) rates.push_back(curve(t) + 3000 * (Unit(&random) - 0.5));
        const SineFit fit = FitRate(rates);
        const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
        EXPECT_NEAR(fit.mean, std::accumulate(rates.begin(), rates.end(), 0.0) / seconds, 1);
        EXPECT_FALSE(fit.explains && name == "flat");
        if (!fit.explains) continue;
        EXPECT_LE(fit.d + fit.a, *most + (*most - *least));
        EXPECT_GE(fit.d - fit.a, *least - (*most - *least));
      }
    }
  }
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
