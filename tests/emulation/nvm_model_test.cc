// The waits that the model adds. How exactly it waits is measured by nvm_model_main, because it depends on the
// machine's load.

#include "src/emulation/nvm_model.h"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "src/util/clock/clock.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

constexpr uint64_t kUnit = 256;

// Memory that is never touched: only its addresses count.
const char* Unit(uint64_t i) { return reinterpret_cast<const char*>(uintptr_t{1} << 40) + i * kUnit; }

NvmModelFigures Figures() {
  NvmModelFigures figures;
  figures.read_random_nanos = 1000;
  figures.read_sequential_nanos = 100;
  figures.cache_bytes = 64 * kUnit;
  return figures;
}

TEST(NvmModelTest, PresetsAreThePublishedFigures) {
  NvmModelFigures figures;
  bool off;
  ASSERT_OK(NvmModelFigures::Parse("optane", &figures, &off));
  EXPECT_FALSE(off);
  EXPECT_EQ(204, figures.read_random_nanos);
  EXPECT_EQ(88, figures.read_sequential_nanos);
  EXPECT_EQ(6.6e9, figures.read_bytes_per_second);
  EXPECT_EQ(2.2e9, figures.write_bytes_per_second);
  EXPECT_NE(std::string::npos, figures.Describe().find("read_bytes_per_second 6.6e+09"))
      << "what results are labelled with";
  ASSERT_OK(NvmModelFigures::Parse("cxl", &figures, &off));
  EXPECT_EQ(150, figures.read_random_nanos);
  EXPECT_EQ(0, figures.read_bytes_per_second);
  EXPECT_EQ(0, figures.write_bytes_per_second);
  ASSERT_OK(NvmModelFigures::Parse("cxl-switch", &figures, &off));
  EXPECT_EQ(450, figures.read_random_nanos);
  EXPECT_EQ(0, figures.device_cache_bytes);
  ASSERT_OK(NvmModelFigures::Parse("cmm-h", &figures, &off));
  EXPECT_EQ(405, figures.read_random_nanos);
  EXPECT_EQ(48e9, figures.device_cache_bytes);
  EXPECT_EQ(70e3, figures.device_miss_nanos);
  ASSERT_OK(NvmModelFigures::Parse("cmm-h:1073741824", &figures, &off));
  EXPECT_EQ(1073741824, figures.device_cache_bytes) << "a smaller device, for a smaller pool";
  EXPECT_EQ(70e3, figures.device_miss_nanos);
  EXPECT_STATUS(InvalidArgument, NvmModelFigures::Parse("cmm-h:100", &figures, &off));
  EXPECT_STATUS(InvalidArgument, NvmModelFigures::Parse("cxl:4096", &figures, &off));
  for (const char* none : {"", "none"}) {
    ASSERT_OK(NvmModelFigures::Parse(none, &figures, &off));
    EXPECT_TRUE(off);
  }
}

TEST(NvmModelTest, AFileGivesItsFiguresAndErrorsNameTheLine) {
  const TestDir dir;
  const std::string path = dir / "model";
  NvmModelFigures figures;
  bool off;
  const auto parse = [&](const std::string& text) {
    std::ofstream(path) << text;
    return NvmModelFigures::Parse(path, &figures, &off);
  };
  ASSERT_OK(parse("# a device\nread_random_nanos = 500\n\nwrite_bytes_per_second=1e9 # one\nremote_factor = 1.5\n"));
  EXPECT_FALSE(off);
  EXPECT_EQ(500, figures.read_random_nanos);
  EXPECT_EQ(1e9, figures.write_bytes_per_second);
  EXPECT_EQ(1.5, figures.remote_factor);
  EXPECT_NE(std::string::npos, figures.Describe().find("read_random_nanos 500"));
  const struct {
    const char* text;
    const char* told;
  } cases[] = {{"read_random_nanos = 1\nspeed = 3\n", ":2: unknown name \"speed\""},
               {"read_random_nanos 5\n", ":1: no \"=\""},
               {"remote_factor = fast\n", "which is no number"},
               {"remote_factor = 0.5\n", "allowed: 1 to 100"},
               {"read_bytes_per_second = -1\n", "allowed: 0 to 1e+12"},
               {"cache_bytes = nan\n", "allowed: 4096"}};
  for (const auto& c : cases) {
    const Status s = parse(c.text);
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, c.told));
  }
  const Status s = NvmModelFigures::Parse(dir / "nothing", &figures, &off);
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, "nor a file"));
}

TEST(NvmModelTest, AColdUnitCostsOnceAndInSequenceLess) {
  NvmModel model(Figures());
  model.Read(Unit(1000), 1);
  EXPECT_EQ(1000u, model.read_nanos());
  model.Read(Unit(1000) + 100, kUnit - 100);
  EXPECT_EQ(1000u, model.read_nanos()) << "it is in the cache";
  model.Read(Unit(1001), kUnit);
  EXPECT_EQ(1100u, model.read_nanos()) << "it goes on";
  model.Read(Unit(1002) - 1, 2 * kUnit);
  EXPECT_EQ(1300u, model.read_nanos()) << "two more units; the first was there";
  model.Read(Unit(500), 10);
  model.Read(Unit(1004), 10);
  EXPECT_EQ(1300u + 1000 + 100, model.read_nanos()) << "another read in between does not end a stream";
  model.Read(Unit(0), 0);
  EXPECT_EQ(2400u, model.read_nanos());
}

TEST(NvmModelTest, TheCacheHoldsAsMuchAsItShould) {
  NvmModel model(Figures());
  for (int round = 0; round < 2; round++) {
    for (uint64_t i = 0; i < 64; i += 2) model.Read(Unit(i), 1);
  }
  EXPECT_EQ(32 * 1000u, model.read_nanos()) << "the second round is free";
  for (uint64_t i = 64; i < 128; i += 2) model.Read(Unit(i), 1);
  model.Read(Unit(0), 1);
  EXPECT_EQ(65 * 1000u, model.read_nanos()) << "others have taken its place";
}

constexpr uint64_t kPageUnits = 16;

// 64 units in the processor's cache and three pages in the device's.
NvmModelFigures WithDeviceCache() {
  NvmModelFigures figures = Figures();
  figures.device_cache_bytes = 3 * 4096;
  figures.device_miss_nanos = 20000;
  return figures;
}

TEST(NvmModelTest, APageThatTheDeviceMissesCostsMoreAndOnce) {
  NvmModel model(WithDeviceCache());
  constexpr uint64_t kFirst = 200 * kPageUnits;
  model.Read(Unit(kFirst), 1);
  EXPECT_EQ(21000u, model.read_nanos()) << "on top of the unit's latency";
  model.Read(Unit(kFirst + 1), 1);
  model.Read(Unit(kFirst + 9), 1);
  EXPECT_EQ(21000u + 100 + 1000, model.read_nanos()) << "other units of the page";
  model.Read(Unit(kFirst), 1);
  EXPECT_EQ(22100u, model.read_nanos()) << "what the processor has does not ask the device";
  model.Read(Unit(kFirst + 15), 2 * kUnit);
  EXPECT_EQ(2u, model.device_misses()) << "the read goes on in the next page";
  EXPECT_EQ(22100u + 1000 + 100 + 20000, model.read_nanos());
}

TEST(NvmModelTest, TheDeviceHoldsAsManyPagesAsItShould) {
  NvmModel model(WithDeviceCache());
  // The first units of all of these pages have one place in the processor's cache.
  const auto read = [&model](uint64_t page) { model.Read(Unit(4 * page * kPageUnits), 1); };
  for (int round = 0; round < 10; round++) {
    for (uint64_t page = 0; page < 3; page++) read(page);
  }
  EXPECT_EQ(0u, model.cached_units());
  EXPECT_EQ(3u, model.device_misses());
  read(3);
  read(0);
  EXPECT_EQ(5u, model.device_misses()) << "another has taken its place";
  read(1);
  EXPECT_EQ(5u, model.device_misses());
}

TEST(NvmModelTest, WhatIsWrittenIsInTheDevice) {
  NvmModel model(WithDeviceCache());
  model.Write(TraceAccess::kLog, Unit(kPageUnits - 1) + 255, 2);
  model.Read(Unit(0), 1);
  model.Read(Unit(kPageUnits), 1);
  EXPECT_EQ(0u, model.device_misses());
  EXPECT_EQ(0u, model.write_nanos()) << "nothing waits for a write";
  model.Read(Unit(2 * kPageUnits), 1);
  EXPECT_EQ(1u, model.device_misses());
}

TEST(NvmModelTest, DistanceMakesNoMissLonger) {
  NvmModelFigures figures = WithDeviceCache();
  figures.remote_factor = 2;
  NvmModel model(figures);
  model.Read(Unit(400 * kPageUnits), 1);
  EXPECT_EQ(22000u, model.read_nanos());
}

TEST(NvmModelTest, CountsUnitsAndWaitsForNothingIfNothingIsSlower) {
  NvmModelFigures figures;
  bool off;
  ASSERT_OK(NvmModelFigures::Parse("count:16384", &figures, &off));
  EXPECT_FALSE(off);
  EXPECT_EQ(16384, figures.cache_bytes);
  NvmModel model(figures);
  model.Read(Unit(1000) + 200, kUnit);
  model.Read(Unit(1000), 1);
  model.Read(Unit(1064), 1);  // takes the place of 1000
  model.Read(Unit(1000), 3 * kUnit);
  EXPECT_EQ(5u, model.read_units());
  EXPECT_EQ(2u, model.cached_units());
  EXPECT_EQ(0u, model.read_nanos());
  EXPECT_STATUS(InvalidArgument, NvmModelFigures::Parse("count:100", &figures, &off));
  EXPECT_STATUS(InvalidArgument, NvmModelFigures::Parse("count:many", &figures, &off));
  EXPECT_STATUS(InvalidArgument, NvmModelFigures::Parse("counting", &figures, &off));
  ASSERT_OK(NvmModelFigures::Parse("count", &figures, &off));
}

TEST(NvmModelTest, TheRemoteFactorMultiplies) {
  NvmModelFigures figures = Figures();
  figures.remote_factor = 2;
  NvmModel model(figures);
  model.Read(Unit(7), 1);
  EXPECT_EQ(2000u, model.read_nanos());
}

TEST(NvmModelTest, WritesTakeAtLeastTheirTimeByUnits) {
  NvmModelFigures figures = Figures();
  figures.write_bytes_per_second = 256e6;  // a unit in a microsecond
  figures.burst_bytes = 4 * kUnit;
  for (const uint64_t size : {kUnit, uint64_t{64}}) {
    NvmModel model(figures);
    const uint64_t start = NowNanos();
    for (uint64_t i = 0; i < 3000; i++) model.Write(TraceAccess::kLog, Unit(i), size);
    EXPECT_GE(NowNanos() - start, 2990 * 1000u) << "64 bytes cost a whole unit";
  }
  NvmModel free(Figures());
  free.Write(TraceAccess::kLog, Unit(0), 1 << 30);
  EXPECT_EQ(0u, free.write_nanos()) << "no limit, no wait";
}

// Bandwidth alone: a unit in a microsecond, and four ahead.
NvmModelFigures ReadBandwidth() {
  NvmModelFigures figures;
  figures.read_bytes_per_second = 256e6;
  figures.burst_bytes = 4 * kUnit;
  figures.cache_bytes = 64 * kUnit;
  return figures;
}

TEST(NvmModelTest, ReadsTakeAtLeastTheirTimeByUnits) {
  NvmModel model(ReadBandwidth());
  const uint64_t start = NowNanos();
  for (uint64_t i = 0; i < 3000; i++) model.Read(Unit(i), 64);
  EXPECT_GE(NowNanos() - start, 2990 * 1000u) << "64 bytes cost a whole unit";
  EXPECT_EQ(3000u, model.read_units());
  EXPECT_GT(model.read_nanos(), 0u) << "what was waited for is told";
  EXPECT_EQ(0u, model.write_nanos());
}

TEST(NvmModelTest, ThreadsShareTheBandwidthOfReads) {
  NvmModel model(ReadBandwidth());
  const uint64_t start = NowNanos();
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 3; t++) {
    threads.emplace_back([&model, t] {
      for (uint64_t i = 0; i < 1000; i++) model.Read(Unit(t * 1000 + i), kUnit);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(NowNanos() - start, 2990 * 1000u);
}

TEST(NvmModelTest, LatencyIsPartOfTheTimeInTheQueue) {
  NvmModelFigures figures = ReadBandwidth();
  figures.read_random_nanos = 1000;
  NvmModel model(figures);
  for (uint64_t i = 0; i < 1000; i++) model.Read(Unit(2 * i), 1);
  // A unit takes as long to come as the medium to serve the next one: only what is late has to queue, so the waits are
  // far from the sum of both.
  EXPECT_LT(model.read_nanos(), 1900 * 1000u);
}

TEST(NvmModelTest, OnlyWhatIsNotInTheCacheTakesBandwidth) {
  NvmModelFigures figures = ReadBandwidth();
  figures.read_bytes_per_second = 256;  // a unit in a second
  NvmModel model(figures);
  for (uint64_t i = 0; i < 4; i++) model.Read(Unit(i), kUnit);
  for (int round = 0; round < 1000; round++) model.Read(Unit(0), 4 * kUnit);
  EXPECT_EQ(4000u, model.cached_units());
  EXPECT_EQ(0u, model.read_nanos()) << "the burst holds four, and the rest was in the cache";
}

TEST(NvmModelTest, FastRegionsCostNothing) {
  NvmModelFigures figures = Figures();
  figures.write_bytes_per_second = 1e6;
  figures.burst_bytes = 256;
  figures.fast_regions = 1;
  NvmModel model(figures);
  model.AddRegion(Unit(0), 1000 * kUnit);
  model.AddRegion(Unit(1000), 1000 * kUnit);
  for (uint64_t i = 0; i < 100; i++) model.Read(Unit(2 * i), kUnit);
  model.Write(TraceAccess::kNoPurpose, Unit(0), 100 * kUnit);
  EXPECT_EQ(0u, model.read_units() + model.cached_units());
  EXPECT_EQ(0u, model.read_nanos() + model.write_nanos());
  model.Read(Unit(1500), kUnit);
  EXPECT_EQ(1u, model.read_units());
  EXPECT_EQ(1000u, model.read_nanos());
  model.Write(TraceAccess::kNoPurpose, Unit(1000), 10 * kUnit);
  EXPECT_GT(model.write_nanos(), 0u);
}

TEST(NvmModelTest, RegionsHaveBandwidthsOfTheirOwnAndDistanceDividesThem) {
  NvmModelFigures figures = ReadBandwidth();
  figures.read_bytes_per_second = 256;
  NvmModel model(figures);
  model.AddRegion(Unit(0), 1000 * kUnit);
  model.AddRegion(Unit(1000), 1000 * kUnit);
  model.Read(Unit(0), 4 * kUnit);
  model.Read(Unit(1000), 4 * kUnit);
  EXPECT_EQ(0u, model.read_nanos()) << "each has room for four units";

  figures = ReadBandwidth();
  figures.remote_factor = 3;
  NvmModel remote(figures);
  const uint64_t start = NowNanos();
  for (uint64_t i = 0; i < 1000; i++) remote.Read(Unit(i), kUnit);
  EXPECT_GE(NowNanos() - start, 2980 * 1000u);
}

}  // namespace
}  // namespace miodb::test
