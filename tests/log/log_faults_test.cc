// Faults of a closed log: none is taken for data, whole records behind a fault are seen, and every fault has a class.

#include "tests/log/log_faults.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/common/environment.h"

namespace miodb::test {
namespace {

constexpr LogMedium kMedia[] = {LogMedium::kFile, LogMedium::kPaddedFile, LogMedium::kPool};

void ExpectClasses(const FaultCounts& counts, uint64_t faults) {
  EXPECT_EQ(faults, counts.faults);
  EXPECT_EQ(0u, counts.wrong);
  EXPECT_EQ(0u, counts.missed) << "the log ended before a whole record";
  EXPECT_EQ(counts.faults, counts.told + counts.last + counts.before + counts.harmless + counts.wrong);
}

TEST(LogFaultsTest, ABitIsToldUnlessItIsOfTheLastRecord) {
  for (const LogMedium medium : kMedia) {
    SCOPED_TRACE(static_cast<int>(medium));
    ClosedLog log({.medium = medium, .records = 12, .key_bytes = 8, .value_bytes = 20}, 301);
    Random random(301);
    const uint64_t bits = 8 * log.used();
    const FaultCounts counts = TurnBits(&log, bits, &random);
    ExpectClasses(counts, bits);
    EXPECT_EQ(8 * log.ends()[10], counts.told);
    EXPECT_EQ(8 * (log.ends()[11] - log.ends()[10]), counts.last);
  }
}

// Of the last record's sequence the block before has nothing, or one byte.
TEST(LogFaultsTest, ALastRecordWhoseSequenceIsSplitIsSeen) {
  struct Split {
    uint64_t records;
    size_t value_bytes, here;
  };
  for (const Split& split : {Split{4, 45, 0}, Split{5, 24, 1}}) {
    SCOPED_TRACE(split.here);
    ClosedLog log({.block_bytes = 256, .records = split.records, .value_bytes = split.value_bytes}, 301);
    const uint64_t last_begin = log.ends()[split.records - 2];
    ASSERT_EQ(256u, last_begin + kFragmentHeaderBytes + split.here);
    Random random(301);
    const FaultCounts counts = TurnBits(&log, 8 * log.used(), &random);
    ExpectClasses(counts, 8 * log.used());
    EXPECT_EQ(8 * last_begin, counts.told);
    EXPECT_EQ(8 * (log.used() - last_begin), counts.last);
  }
}

// The last record begins a block and fits into it, or does not.
TEST(LogFaultsTest, ABitOfPaddingIsHarmlessOrTold) {
  for (const auto& [records, value_bytes] : {std::pair<uint64_t, size_t>{7, 150}, {4, 600}}) {
    SCOPED_TRACE(value_bytes);
    LogShape shape{.medium = LogMedium::kPaddedFile, .block_bytes = 512, .records = records};
    shape.value_bytes = value_bytes;
    ClosedLog log(shape, 301);
    ASSERT_EQ(0u, log.begins().back() % 512);
    ASSERT_LT(log.ends()[records - 2], log.begins().back());
    Random random(301);
    const FaultCounts counts = TurnBits(&log, 8 * log.used(), &random);
    ExpectClasses(counts, 8 * log.used());
    EXPECT_EQ(8 * (log.used() - log.begins().back()), counts.last);
    EXPECT_GT(counts.harmless, 0u);
  }
}

TEST(LogFaultsTest, NoTornSectorIsTakenForData) {
  for (const uint64_t seed : Seeds(ByScale(1, 4, 100))) {
    SCOPED_TRACE(Repeat(seed));
    for (const LogMedium medium : kMedia) {
      // The log ends within a block, and records are split between blocks unless they are padded.
      ClosedLog log({.medium = medium, .block_bytes = 4096, .records = 70, .value_bytes = 100}, seed);
      Random random(seed);
      FaultCounts sum;
      uint64_t faults = 0;
      for (const uint64_t sector_bytes : {512, 4096}) {
        for (const TornPart part : {TornPart::kPrefix, TornPart::kMiddle, TornPart::kSuffix, TornPart::kWhole}) {
          for (const TornContent content : {TornContent::kZeros, TornContent::kOld}) {
            sum.Add(TearSectors(&log, {sector_bytes, part, content}, 40, &random));
            faults += 40;
          }
        }
      }
      SCOPED_TRACE(static_cast<int>(medium));
      ExpectClasses(sum, faults);
      EXPECT_GT(sum.told, 0u);
    }
  }
}

// Zeros over all of the first block, which has whole records: the second block begins with a part of the last record.
TEST(LogFaultsTest, RecordsBetweenZerosAndTheNextBlockAreSeen) {
  ClosedLog log({.block_bytes = 512, .records = 5, .key_bytes = 16, .value_bytes = 80}, 301);
  ASSERT_GT(log.ends()[4], 512u);
  ASSERT_LT(log.ends()[3], 512u - kFragmentHeaderBytes);
  std::string damaged = log.bytes();
  std::fill_n(damaged.begin(), kFragmentHeaderBytes, '\0');
  const FaultAnswer answer = log.Recover(damaged);
  EXPECT_EQ(FaultClass::kTold, answer.kind);
}

}  // namespace
}  // namespace miodb::test
