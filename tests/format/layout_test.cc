// The stored bytes are those of docs/format.md: places of fields, magic numbers, and one example of each kind, byte by
// byte. A change here is a change of the format and needs a new version number.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "src/format/index_node.h"
#include "src/format/manifest_area.h"
#include "src/format/record.h"
#include "src/format/region_table.h"
#include "src/format/superblock.h"
#include "src/util/bytes/hash.h"
#include "src/util/bytes/key_order.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

std::string Hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (unsigned char c : bytes) {
    hex.push_back(kDigits[c >> 4]);
    hex.push_back(kDigits[c & 15]);
  }
  return hex;
}

template <typename T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

TEST(LayoutTest, Superblock) {
  EXPECT_EQ(0u, offsetof(Superblock, magic));
  EXPECT_EQ(8u, offsetof(Superblock, version));
  EXPECT_EQ(16u, offsetof(Superblock, uuid));
  EXPECT_EQ(32u, offsetof(Superblock, created_micros));
  EXPECT_EQ(40u, offsetof(Superblock, secret));
  EXPECT_EQ(48u, offsetof(Superblock, reserved));
  EXPECT_EQ(104u, offsetof(Superblock, checksum));
  EXPECT_EQ(112u, sizeof(Superblock));
  EXPECT_EQ("MIOPOOL1", BytesOf(kPoolMagic));
  EXPECT_EQ(3u, kPoolFormatVersion);
  EXPECT_EQ(4096u, kPoolHeaderSize);
  EXPECT_EQ(4096u, kExtentUnit);
}

TEST(LayoutTest, SuperblockCopies) {
  EXPECT_EQ(2, kSuperblockCopies);
  EXPECT_EQ(0u, SuperblockOffset(0));
  EXPECT_EQ(3072u, SuperblockOffset(1));
}

TEST(LayoutTest, Regions) {
  EXPECT_EQ(64u, sizeof(RegionEntry));
  EXPECT_EQ(8u, offsetof(RegionEntry, uuid));
  EXPECT_EQ(24u, offsetof(RegionEntry, base));
  EXPECT_EQ(32u, offsetof(RegionEntry, range));
  EXPECT_EQ(56u, offsetof(RegionEntry, checksum));
  EXPECT_EQ(256u, RegionEntryOffset(1, 0));
  EXPECT_EQ(3328u, RegionEntryOffset(1, 1));
  EXPECT_EQ(256u + 11 * 64, RegionEntryOffset(12, 0));
  EXPECT_EQ(96u, sizeof(RegionHeader));
  EXPECT_EQ(16u, offsetof(RegionHeader, pool_uuid));
  EXPECT_EQ(32u, offsetof(RegionHeader, uuid));
  EXPECT_EQ(48u, offsetof(RegionHeader, base));
  EXPECT_EQ(88u, offsetof(RegionHeader, checksum));
  EXPECT_EQ("MIOREGN1", BytesOf(kRegionMagic));
  EXPECT_EQ(13, kMaxRegions);
  EXPECT_EQ(uint64_t{1} << 30, kRegionAlignment);
}

TEST(LayoutTest, AreaFooter) {
  EXPECT_EQ("MPTArea1", BytesOf(kAreaMagic));
  EXPECT_EQ(64u, sizeof(AreaFooter));
  EXPECT_EQ(48u, offsetof(AreaFooter, secret));
  EXPECT_EQ(56u, offsetof(AreaFooter, checksum));
  EXPECT_EQ(128u, kAreaFooterBytes);
  EXPECT_EQ(64u, kConfirmedInFooter);
  EXPECT_EQ(24u, kManifestRecordHeader);
}

TEST(LayoutTest, RootSlots) {
  EXPECT_EQ(0u, offsetof(RootSlot, epoch));
  EXPECT_EQ(8u, offsetof(RootSlot, manifest_offset));
  EXPECT_EQ(16u, offsetof(RootSlot, manifest_size));
  EXPECT_EQ(24u, offsetof(RootSlot, generation));
  EXPECT_EQ(32u, offsetof(RootSlot, checksum));
  EXPECT_EQ(2, kRootCopies);
  EXPECT_EQ(2048u, RootSlotOffset(1, 0));
  EXPECT_EQ(2560u, RootSlotOffset(1, 1));
  EXPECT_EQ(1024u, RootSlotOffset(2, 0));
  EXPECT_EQ(1536u, RootSlotOffset(2, 1));
  EXPECT_EQ(2048u, RootSlotOffset(UINT64_MAX, 0));
}

TEST(LayoutTest, TableHeader) {
  const size_t offsets[] = {offsetof(TableHeader, magic),         offsetof(TableHeader, version) + 0,
                            offsetof(TableHeader, number),        offsetof(TableHeader, entries),
                            offsetof(TableHeader, tombstones),    offsetof(TableHeader, leaf_count),
                            offsetof(TableHeader, inner_offset),  offsetof(TableHeader, inner_count),
                            offsetof(TableHeader, payload_bytes), offsetof(TableHeader, inner_checksum),
                            offsetof(TableHeader, min_sequence),  offsetof(TableHeader, max_sequence),
                            offsetof(TableHeader, secret),        offsetof(TableHeader, ranges_applied),
                            offsetof(TableHeader, padding)};
  for (size_t i = 0; i < std::size(offsets); i++) EXPECT_EQ(8 * i, offsets[i]) << i;
  EXPECT_EQ(12u, offsetof(TableHeader, flags));
  EXPECT_EQ(248u, offsetof(TableHeader, checksum));
  EXPECT_EQ(256u, sizeof(TableHeader));
  EXPECT_EQ("MPTable1", BytesOf(kTableMagic));
  EXPECT_EQ(5u, kTableFormatVersion);
  EXPECT_EQ(1u, kTableBytewise);
  EXPECT_EQ(2u, kTableDuplicates);
  EXPECT_EQ(4u, kTableSpanning);
  EXPECT_EQ(8u, kTableOrdered);
}

TEST(LayoutTest, Nodes) {
  EXPECT_EQ(8u, offsetof(NodeHeader, count));
  EXPECT_EQ(9u, offsetof(NodeHeader, prefix_size));
  EXPECT_EQ(10u, offsetof(NodeHeader, suffix_size));
  EXPECT_EQ(11u, offsetof(NodeHeader, level));
  EXPECT_EQ(16u, offsetof(NodeHeader, prefix));
  EXPECT_EQ(64u, sizeof(NodeHeader));
  EXPECT_EQ(64u, offsetof(LeafNode, fingerprint));
  EXPECT_EQ(128u, offsetof(LeafNode, head));
  EXPECT_EQ(640u, offsetof(LeafNode, word));
  EXPECT_EQ(1152u, offsetof(LeafNode, hash_low));
  EXPECT_EQ(1344u, sizeof(LeafNode));
  EXPECT_EQ(64u, offsetof(InnerNode, head));
  EXPECT_EQ(576u, offsetof(InnerNode, ref));
  EXPECT_EQ(1088u, sizeof(InnerNode));
  EXPECT_EQ(0u, sizeof(LeafNode) % 8 + sizeof(InnerNode) % 8 + sizeof(TableHeader) % 8) << "read in place";
}

TEST(LayoutTest, ALeafSplitsAHashIntoTopByteAndRest) {
  LeafNode leaf = {};
  leaf.SetHash(5, 0xa1b2c3d4);
  EXPECT_EQ(0xa1, leaf.fingerprint[5]);
  EXPECT_EQ(0xd4, leaf.hash_low[5][0]);
  EXPECT_EQ(0xc3, leaf.hash_low[5][1]);
  EXPECT_EQ(0xb2, leaf.hash_low[5][2]);
  Random random(1);
  for (int i = 0; i < kNodeFanout; i++) {
    const uint32_t hash = static_cast<uint32_t>(random.Next64());
    leaf.SetHash(i, hash);
    EXPECT_EQ(hash, leaf.Hash(i));
  }
}

TEST(LayoutTest, HeadsCompareAsKeysDo) {
  EXPECT_EQ(0x6162636465666768u, KeyHead(Slice("abcdefgh"), 0));
  EXPECT_EQ(0x6263000000000000u, KeyHead(Slice("abc"), 1));
  EXPECT_EQ(0u, KeyHead(Slice("abc"), 3));
  EXPECT_EQ(0u, KeyHead(Slice("abc"), 50));
  Random random(2);
  for (int i = 0; i < 10000; i++) {
    const std::string a = random.Bytes(random.Uniform(12)), b = random.Bytes(random.Uniform(12));
    EXPECT_TRUE(KeyHead(a, 0) >= KeyHead(b, 0) || Slice(a).compare(b) < 0);
  }
}

// ---- Examples. Made once by this library; they hold as long as the format does.

TEST(LayoutTest, HashesNeverChange) {
  EXPECT_EQ(0x2d06800538d394c2u, Hash64("", 0));
  EXPECT_EQ(0xe6c632b61e964e1fu, Hash64("a", 1));
  EXPECT_EQ(0xd2f6d0996f37a720u, Hash64("a", 1, 1));
  EXPECT_EQ(0xa706dd2f4d197e6fu, Mix64(0, 0));
  EXPECT_EQ(0x847ae3ee5fd7df80u, Mix64(3, 1000));
  EXPECT_EQ(Mix64(3 ^ 0x5ec2e7, 1000), FrameSeed(0x5ec2e7, 3, 1000));
  EXPECT_EQ(3u ^ 0x5ec2e7, NodeSeed(0x5ec2e7, 3));
  EXPECT_EQ(3u ^ 0x5ec2e7, TableSeed(0x5ec2e7, 3));
  EXPECT_EQ(3u ^ 0x5ec2e7, AreaSeed(0x5ec2e7, 3));
  EXPECT_EQ(Mix64(3, 1000), FrameFold(3, 1000));
}

TEST(LayoutTest, Record) {
  const std::string key = "key", value = "value";
  std::string bytes(kMaxRecordHeader + key.size(), '\0');
  uint64_t hash;
  char* const end = EncodeRecordHead(bytes.data(), PackTag(0x0102, kTypeValue), key, value, 0x5ec2e7, &hash);
  bytes.resize(static_cast<size_t>(end - bytes.data()));
  bytes += value;
  const std::string after_check = std::string("\x01\x02\x01\0\0\0\0\0", 8) + "\x03\x05" + "key";
  EXPECT_EQ(Hex(after_check + "value"), Hex(bytes.substr(4)));
  EXPECT_EQ(0x93f4d93a2cafe2bfu, hash);
  EXPECT_EQ(hash, Hash64("value", 5, Hash64(after_check.data(), after_check.size(), 0x5ec2e7)));
  EXPECT_EQ(static_cast<uint32_t>(hash), DecodeFixed32(bytes.data()));
}

}  // namespace
}  // namespace miodb::test
