#include "pmtable/table_meta.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

TableMeta AnyMeta(Random* random) {
  TableMeta meta;
  meta.payload.resize(random->Skewed(7));
  PmRef end = 0;
  for (PayloadMeta& p : meta.payload) {
    p.offset = end + random->Skewed(28) * kExtentUnit;
    p.size = (1 + random->Skewed(28)) * kExtentUnit;
    p.kind = random->OneIn(2) ? ExtentKind::kLog : ExtentKind::kSettled;
    p.payload_bytes = random->Uniform(p.size + 1);
    p.live_bytes = random->Uniform(2 * p.size + 1);
    end = p.offset + p.size;
  }
  return meta;
}

// Decodes bytes that stand alone on the heap.
bool DecodeAlone(const std::string& bytes, TableMeta* meta) {
  const std::unique_ptr<char[]> copy(new char[bytes.size()]);
  memcpy(copy.get(), bytes.data(), bytes.size());
  return meta->DecodeFrom(Slice(copy.get(), bytes.size()));
}

TEST(TableMetaTest, RoundTrips) {
  for (uint64_t seed : Seeds(ByScale(100, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    const TableMeta meta = AnyMeta(&random);
    std::string bytes;
    meta.EncodeTo(&bytes);
    EXPECT_LE(bytes.size(), 10 + meta.payload.size() * 27);
    TableMeta decoded;
    ASSERT_TRUE(DecodeAlone(bytes, &decoded));
    ASSERT_EQ(meta.payload.size(), decoded.payload.size());
    for (size_t i = 0; i < meta.payload.size(); i++) {
      EXPECT_EQ(meta.payload[i].offset, decoded.payload[i].offset);
      EXPECT_EQ(meta.payload[i].size, decoded.payload[i].size);
      EXPECT_EQ(meta.payload[i].kind, decoded.payload[i].kind);
      EXPECT_EQ(meta.payload[i].payload_bytes, decoded.payload[i].payload_bytes);
      EXPECT_EQ(meta.payload[i].live_bytes, decoded.payload[i].live_bytes);
    }
    EXPECT_FALSE(DecodeAlone(bytes + '\0', &decoded)) << "something follows";
    for (size_t size = 0; size < bytes.size(); size++) {
      EXPECT_FALSE(DecodeAlone(bytes.substr(0, size), &decoded)) << size;
    }
  }
}

TEST(TableMetaTest, RefusesExtentsThatOverlapOrAreEmpty) {
  const auto decodes = [](PmRef second, uint64_t size) {
    TableMeta meta;
    meta.payload = {{4 * kExtentUnit, 2 * kExtentUnit, ExtentKind::kLog, 0, 0},
                    {second * kExtentUnit, size * kExtentUnit, ExtentKind::kLog, 0, 0}};
    std::string bytes;
    meta.EncodeTo(&bytes);
    return DecodeAlone(bytes, &meta);
  };
  EXPECT_TRUE(decodes(6, 1));
  EXPECT_FALSE(decodes(6, 0));
  EXPECT_FALSE(decodes(5, 1));
  EXPECT_FALSE(decodes(4, 2));
  EXPECT_FALSE(decodes(1, 1)) << "not by offset";
}

TEST(TableMetaTest, HostileBytesAreRefusedOrSane) {
  for (uint64_t seed : Seeds(ByScale(20, 50, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    for (int i = 0; i < 2000; i++) {
      std::string bytes;
      AnyMeta(&random).EncodeTo(&bytes);
      for (uint64_t n = random.Uniform(4); n > 0; n--) {
        bytes[random.Uniform(bytes.size())] = static_cast<char>(random.Next64());
      }
      if (random.OneIn(4)) bytes = random.Bytes(random.Uniform(60));
      TableMeta meta;
      if (!DecodeAlone(bytes, &meta)) continue;
      for (const PayloadMeta& p : meta.payload) {
        ASSERT_EQ(0u, p.offset % kExtentUnit + p.size % kExtentUnit);
        ASSERT_LE(p.offset, IndexWord::kMaxRef);
        ASSERT_LE(p.payload_bytes, p.size);
        ASSERT_TRUE(p.kind == ExtentKind::kLog || p.kind == ExtentKind::kSettled);
      }
    }
  }
}

TEST(TableMetaTest, OnlyPayloadExtentsAreAccepted) {
  for (int kind = 0; kind < 256; kind++) {
    TableMeta meta;
    meta.payload.push_back({kExtentUnit, kExtentUnit, static_cast<ExtentKind>(kind), 10, 10});
    std::string bytes;
    meta.EncodeTo(&bytes);
    EXPECT_EQ(kind == 2 || kind == 3, DecodeAlone(bytes, &meta)) << kind;
  }
}

TEST(TableMetaTest, AHugeCountTakesNoMemory) {
  std::string bytes;
  PutVarint64(&bytes, uint64_t{1} << 60);
  bytes.append(100, '\1');
  TableMeta meta;
  EXPECT_FALSE(DecodeAlone(bytes, &meta));
}

}  // namespace
}  // namespace miodb::test
