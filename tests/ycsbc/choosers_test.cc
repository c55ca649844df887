// Each distribution gives the shares that its formula promises. Seeds are fixed, bounds are five standard deviations or
// a chi-square far beyond chance, so a failure is a fault and not bad luck.

#include "ycsbc/workload/choosers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "tests/ycsbc/read_settings.h"

namespace miodb::ycsb {
namespace {

using bench::Random;
using bench::Zeta;
using bench::Zipfian;

constexpr int kDraws = 1000000;

std::map<uint64_t, uint64_t> Count(Chooser* chooser, int draws = kDraws) {
  Random random(20231);
  std::map<uint64_t, uint64_t> counts;
  for (int i = 0; i < draws; i++) counts[chooser->Next(&random)]++;
  return counts;
}

// Expects that "observed" of kDraws draws fits a probability, within five standard deviations.
void ExpectShare(uint64_t observed, double probability, const std::string& what, int draws = kDraws) {
  const double expected = probability * draws;
  const double deviation = std::sqrt(expected * (1 - probability)) + 1;
  EXPECT_NEAR(static_cast<double>(observed), expected, 5 * deviation) << what;
}

TEST(ZetaTest, MatchesPublishedValues) {
  EXPECT_DOUBLE_EQ(Zeta(1, 0.99), 1);
  EXPECT_NEAR(Zeta(2, 0.99), 1.5034777750, 1e-9);
  EXPECT_NEAR(Zeta(1000, 0.99), 7.7289532173, 1e-9);
  EXPECT_NEAR(Zeta(100000, 0.99), 12.7783380626, 1e-9);
  EXPECT_NEAR(Zeta(1000000, 0.99), 15.3918497460, 1e-9);
  // The reference's constant for its ten thousand million items; it was summed term by term, with rounding.
  EXPECT_NEAR(Zeta(10000000000, 0.99), 26.46902820178302, 1e-7);
}

TEST(ZetaTest, ClosedFormMeetsTheSum) {
  for (const double theta : {0.01, 0.5, 0.99, 0.9999}) {
    double sum = 0;
    for (int i = 1; i <= 50000; i++) {
      sum += std::pow(i, -theta);
      if (i == 999 || i == 1000 || i == 1001 || i == 50000) {
        EXPECT_NEAR(Zeta(static_cast<uint64_t>(i), theta), sum, sum * 1e-12) << theta << " " << i;
      }
    }
  }
}

TEST(ZipfianTest, RanksHaveTheirShares) {
  for (const double theta : {0.5, 0.99}) {
    ZipfianChooser chooser(0, 1000, theta);
    auto counts = Count(&chooser);
    EXPECT_LE(counts.rbegin()->first, 999u);
    const double zeta = Zeta(1000, theta);
    // The method is exact for the first two ranks.
    ExpectShare(counts[0], 1 / zeta, "rank 0");
    ExpectShare(counts[1], std::pow(2, -theta) / zeta, "rank 1");
    // The closed form behind them is an approximation; the cumulated share of ranks below k is within 2 %.
    for (const uint64_t k : {10u, 100u, 500u}) {
      uint64_t below = 0;
      for (uint64_t rank = 0; rank < k; rank++) below += counts[rank];
      EXPECT_NEAR(static_cast<double>(below) / kDraws, Zeta(k, theta) / zeta, 0.02) << theta << " " << k;
    }
  }
}

TEST(ZipfianTest, StartsAtTheMinimum) {
  ZipfianChooser chooser(7, 5, 0.99);
  const auto counts = Count(&chooser, 10000);
  EXPECT_EQ(counts.begin()->first, 7u);
  EXPECT_EQ(counts.rbegin()->first, 11u);
  EXPECT_EQ(counts.size(), 5u);
}

TEST(ZipfianTest, OneAndTwoItemsWork) {
  ZipfianChooser one(3, 1, 0.99);
  EXPECT_EQ(Count(&one, 1000).size(), 1u);
  ZipfianChooser two(3, 2, 0.99);
  auto counts = Count(&two);
  EXPECT_EQ(counts.size(), 2u);
  ExpectShare(counts[3], 1 / Zeta(2, 0.99), "first of two");
}

// A chooser that grew to a size draws like a chooser made at that size, eta included.
TEST(ZipfianTest, GrowingIsLikeStartingLarger) {
  Zipfian grown(10, 0.99);
  for (uint64_t n = 11; n <= 500; n++) grown.Grow(n);
  grown.Grow(100000);
  Zipfian fresh(100000, 0.99);
  EXPECT_NEAR(grown.zeta(), fresh.zeta(), 1e-10);
  Random a(5);
  Random b(5);
  for (int i = 0; i < 100000; i++) {
    const uint64_t x = grown.Next(&a);
    const uint64_t y = fresh.Next(&b);
    ASSERT_LE(std::max(x, y) - std::min(x, y), 1u);
  }
}

TEST(ScrambledZipfianTest, TheMostFrequentRecordHasTheReferencesShare) {
  // 1 / 26.469 = 3.78 %, whatever the number of records, at the place of the hash of rank 0.
  for (const uint64_t records : {1000u, 100000u}) {
    ScrambledZipfianChooser chooser(50, records, 0.99, KeyHash::kJava);
    const auto counts = Count(&chooser);
    EXPECT_GE(counts.begin()->first, 50u);
    EXPECT_LT(counts.rbegin()->first, 50 + records);
    const auto most = std::max_element(counts.begin(), counts.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    EXPECT_EQ(most->first, 50 + Fnv64(0, KeyHash::kJava) % records);
    // Others of the ten thousand million ranks fall on the same record: about their part of the records.
    const double top = 1 / 26.46902820178302;
    // Zipf's tail is spread by the hash: the place of rank 0 gets the mean share of the others on top, or less.
    const double share = static_cast<double>(most->second) / kDraws;
    EXPECT_GT(share, top - 0.001) << records;
    EXPECT_LT(share, top + 0.001 + 2 / static_cast<double>(records)) << records;
  }
}

TEST(ScrambledZipfianTest, ReachesEveryRecord) {
  ScrambledZipfianChooser chooser(0, 2000, 0.99, KeyHash::kCpp);
  EXPECT_EQ(Count(&chooser).size(), 2000u);
}

// Java YCSB hashes into [0, N], so its hottest record is another one, and N is never there without inserts.
TEST(ScrambledZipfianTest, JavasRangeHasOneMoreAndSoOtherHotRecords) {
  const auto hottest = [](const std::string& range) {
    const Settings s = ReadSettings({{"requestdistribution", "zipfian"}, {"zipfianrange", range}});
    InsertCounter inserts(s.FirstRecord() + s.LoadedRecords());
    SharedCounter turn{0};
    const auto counts = Count(NewKeyChooser(s, &inserts, &turn).get());
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  };
  EXPECT_EQ(hottest("records"), Fnv64(0, KeyHash::kJava) % 1000);
  EXPECT_EQ(hottest("java"), Fnv64(0, KeyHash::kJava) % 1001);
}

TEST(UniformTest, AllAlike) {
  UniformChooser chooser(100, 50);
  const auto counts = Count(&chooser);
  ASSERT_EQ(counts.size(), 50u);
  EXPECT_EQ(counts.begin()->first, 100u);
  EXPECT_EQ(counts.rbegin()->first, 149u);
  double chi_square = 0;
  for (const auto& [value, count] : counts) {
    const double off = static_cast<double>(count) - kDraws / 50.0;
    chi_square += off * off / (kDraws / 50.0);
  }
  EXPECT_LT(chi_square, 120);  // 49 degrees of freedom: chance exceeds this once in 10^7 seeds.
  EXPECT_GT(chi_square, 12);   // Nor is it too good to be random.
}

TEST(LatestTest, CountsBackFromTheNewest) {
  InsertCounter inserts(1100);
  LatestChooser chooser(100, 0.99, &inserts);
  auto counts = Count(&chooser);
  const double zeta = Zeta(1000, 0.99);
  EXPECT_EQ(counts.rbegin()->first, 1099u);
  EXPECT_GE(counts.begin()->first, 100u);
  ExpectShare(counts[1099], 1 / zeta, "newest");
  ExpectShare(counts[1098], std::pow(2, -0.99) / zeta, "second newest");
}

TEST(LatestTest, FollowsInserts) {
  InsertCounter inserts(1000);
  LatestChooser chooser(0, 0.99, &inserts);
  Random random(3);
  chooser.Next(&random);
  for (int i = 0; i < 500; i++) inserts.Acknowledge(inserts.Next());
  auto counts = Count(&chooser);
  EXPECT_EQ(counts.rbegin()->first, 1499u);
  ExpectShare(counts[1499], 1 / Zeta(1500, 0.99), "newest");
}

TEST(HotspotTest, TheHotSetGetsItsShare) {
  HotspotChooser chooser(1000, 500, 0.2, 0.8);
  const auto counts = Count(&chooser);
  uint64_t hot = 0;
  for (const auto& [record, count] : counts) {
    EXPECT_TRUE(record >= 1000 && record < 1500);
    if (record < 1100) hot += count;
  }
  ExpectShare(hot, 0.8, "hot set");
  EXPECT_EQ(counts.size(), 500u);
  ExpectShare(counts.at(1000), 0.8 / 100, "first hot record");
  ExpectShare(counts.at(1499), 0.2 / 400, "last cold record");
}

TEST(HotspotTest, EmptySetsGetNothing) {
  HotspotChooser none(0, 10, 0, 1);  // No hot record: all requests go to the cold ones.
  EXPECT_EQ(Count(&none, 10000).size(), 10u);
  HotspotChooser all(0, 10, 1, 0);  // No cold record.
  EXPECT_EQ(Count(&all, 10000).size(), 10u);
}

TEST(ExponentialTest, ThePercentileLiesWhereItShould) {
  InsertCounter inserts(10000);
  // 95 % of the requests to the newest 1000 of 10000.
  ExponentialChooser chooser(0, 95, 1000, &inserts);
  const auto counts = Count(&chooser);
  uint64_t newest = 0;
  uint64_t newest_half = 0;
  for (const auto& [record, count] : counts) {
    ASSERT_LT(record, 10000u);
    if (record >= 9000) newest += count;
    if (record >= 9500) newest_half += count;
  }
  ExpectShare(newest, 0.95, "newest tenth");
  ExpectShare(newest_half, 1 - std::sqrt(0.05), "half of it");
}

TEST(ExponentialTest, NeverLeavesTheRecords) {
  InsertCounter inserts(110);
  ExponentialChooser chooser(100, 95, 1000, &inserts);  // Most draws fall below the first record.
  const auto counts = Count(&chooser, 10000);
  EXPECT_EQ(counts.begin()->first, 100u);
  EXPECT_EQ(counts.rbegin()->first, 109u);
}

TEST(SequentialTest, GoesRoundAndThreadsShareTheTurn) {
  SharedCounter turn{0};
  SequentialChooser a(10, 3, &turn);
  SequentialChooser b(10, 3, &turn);
  Random random(1);
  std::vector<uint64_t> seen;
  for (int i = 0; i < 4; i++) {
    seen.push_back(a.Next(&random));
    seen.push_back(b.Next(&random));
  }
  EXPECT_EQ(seen, (std::vector<uint64_t>{10, 11, 12, 10, 11, 12, 10, 11}));
}

TEST(HistogramChooserTest, LengthsHaveTheirWeights) {
  const std::string path = testing::TempDir() + "/choosers_test.hist";
  std::ofstream(path) << "BlockSize\t100\n0\t1\n2\t3\n5\t6\n";
  uint64_t block_size = 0;
  std::vector<uint64_t> counts;
  ASSERT_EQ(ReadLengthHistogram(path, &block_size, &counts), "");
  EXPECT_EQ(block_size, 100u);
  HistogramChooser chooser(block_size, counts);
  auto drawn = Count(&chooser);
  EXPECT_EQ(drawn.size(), 3u);
  ExpectShare(drawn[100], 0.1, "bucket 0");
  ExpectShare(drawn[300], 0.3, "bucket 2");
  ExpectShare(drawn[600], 0.6, "bucket 5");

  const std::pair<const char*, const char*> kBad[] = {
      {"Size 3\n0 1\n", ":1: the first line has to be BlockSize and a number above 0"},
      {"BlockSize\t10\n1\tx\n", ":2: not a bucket and a count"},
      {"BlockSize\t10\n1\t0\n", ": no bucket has a count"},
      {"", ": no bucket has a count"},
      {"BlockSize\t10\n99999999999\t1\n", ":2: bucket or count is too large"}};
  for (const auto& [text, problem] : kBad) {
    std::ofstream(path) << text;
    EXPECT_EQ(ReadLengthHistogram(path, &block_size, &counts), path + problem);
  }
  EXPECT_EQ(ReadLengthHistogram(path + ".none", &block_size, &counts), path + ".none: cannot read it");
}

TEST(ScanLengthTest, LiesBetweenItsBoundsAndIsNeverZero) {
  for (const char* distribution : {"uniform", "zipfian"}) {
    const Settings s =
        ReadSettings({{"scanlengthdistribution", distribution}, {"minscanlength", "3"}, {"maxscanlength", "9"}});
    const auto chooser = NewScanLengthChooser(s);
    const auto counts = Count(chooser.get(), 100000);
    EXPECT_EQ(counts.begin()->first, 3u) << distribution;
    EXPECT_EQ(counts.rbegin()->first, 9u) << distribution;
    EXPECT_EQ(counts.at(3) > 2 * counts.at(9), std::string(distribution) == "zipfian");
  }
}

TEST(FieldLengthTest, LiesBetweenItsBounds) {
  for (const char* distribution : {"constant", "uniform", "zipfian"}) {
    const Settings s = ReadSettings({{"field_len_dist", distribution}, {"fieldlength", "20"}, {"minfieldlength", "4"}});
    const auto chooser = NewFieldLengthChooser(s);
    const auto counts = Count(chooser.get(), 100000);
    EXPECT_EQ(counts.rbegin()->first, 20u) << distribution;
    EXPECT_EQ(counts.begin()->first, std::string(distribution) == "constant" ? 20u : 4u) << distribution;
  }
}

// The range of zipfian draws: the loaded records and twice the inserts to be expected, from insertstart on.
TEST(KeyChooserTest, ZipfianReachesBeyondTheLoadedRecordsAsFarAsInsertsWill) {
  const Settings s = ReadSettings({{"requestdistribution", "zipfian"},
                                   {"insertproportion", "0.05"},
                                   {"readproportion", "0.95"},
                                   {"updateproportion", "0"},
                                   {"operationcount", "2000"}});
  InsertCounter inserts(1000);
  SharedCounter turn{0};
  const auto chooser = NewKeyChooser(s, &inserts, &turn);
  const auto counts = Count(chooser.get());
  EXPECT_EQ(counts.size(), 1200u);
  EXPECT_EQ(counts.rbegin()->first, 1199u);
}

TEST(KeyChooserTest, EveryDistributionReachesEveryLoadedRecord) {
  for (const char* name : {"uniform", "zipfian", "latest", "hotspot", "exponential", "sequential"}) {
    const Settings s = ReadSettings({{"requestdistribution", name}, {"insertstart", "900"}});
    InsertCounter inserts(1000);
    SharedCounter turn{0};
    const auto chooser = NewKeyChooser(s, &inserts, &turn);
    const auto counts = Count(chooser.get());
    EXPECT_EQ(counts.size(), 100u) << name;
    EXPECT_EQ(counts.begin()->first, 900u) << name;
    EXPECT_EQ(counts.rbegin()->first, 999u) << name;
  }
}

}  // namespace
}  // namespace miodb::ycsb
