// Damaged table files: every flipped byte gives Corruption that names file and offset, or what was written.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "src/ssd/internal_key.h"
#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/ssd/sst_maker.h"

namespace miodb {
namespace {

using test::Entries;
using test::MakeSst;
using test::OpenSst;

class SstDamageTest : public testing::TestWithParam<CompressionType> {
 protected:
  SstDamageTest() : policy_(NewBloomFilterPolicy(10)) {
    format_.comparator = BytewiseComparator();
    format_.filter_policy = policy_.get();
    format_.block_size = 256;
    format_.compression = GetParam();
    for (int i = 0; i < 60; i++) {
      entries_["key" + std::to_string(100 + i)] = std::string(static_cast<size_t>(i % 40), static_cast<char>('a' + i));
    }
  }

  // Reads everything there is. Returns the first error; what comes before one must be what was written.
  Status ReadAll(const std::string& file) {
    std::unique_ptr<SstReader> reader;
    Status s = OpenSst(format_, file, &reader);
    if (!s.ok()) return s;
    const std::unique_ptr<Iterator> it(reader->NewIterator({Checksums::kVerify, true}));
    auto expected = entries_.begin();
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++expected) {
      EXPECT_TRUE(expected != entries_.end() && it->key() == Slice(expected->first) &&
                  it->value() == Slice(expected->second));
      if (HasFailure()) return s;
    }
    s = it->status();
    EXPECT_TRUE(!s.ok() || expected == entries_.end());
    for (const auto& [key, value] : entries_) {
      BlockPin pin;
      bool found;
      std::string found_key;
      Slice found_value;
      Status found_status = reader->Find({Checksums::kVerify, true}, key, &pin, &found, &found_key, &found_value);
      if (found_status.ok()) {
        EXPECT_TRUE(found && found_key == key && found_value == Slice(value));
      } else if (s.ok()) {
        s = found_status;
      }
    }
    return s;
  }

  const std::unique_ptr<const FilterPolicy> policy_;
  SstFormat format_;
  Entries entries_;
};

TEST_P(SstDamageTest, AFlippedBitIsNoticedOrHarmless) {
  const std::string good = MakeSst(format_, entries_);
  ASSERT_OK(ReadAll(good));
  size_t flipped = 0, noticed = 0;
  for (size_t bit = 0; bit < 8 * good.size(); bit += test::ByScale(9, 1, 1), flipped++) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << (bit % 8)));
    SCOPED_TRACE("bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8) + " of " +
                 std::to_string(good.size()));
    const Status s = ReadAll(bad);
    if (HasFailure()) return;
    if (s.ok()) continue;
    noticed++;
    ASSERT_TRUE(s.IsCorruption()) << s.ToString();
    ASSERT_TRUE(test::Mentions(s, "some.sst"));
    ASSERT_TRUE(test::Mentions(s, "offset "));
  }
  // All but the filter, the meta index and unused bytes of the footer.
  EXPECT_GT(noticed, flipped / 2);
}

TEST_P(SstDamageTest, AFileCutShortIsNoTable) {
  const std::string good = MakeSst(format_, entries_);
  for (size_t size = 0; size < good.size(); size++) {
    std::unique_ptr<SstReader> reader;
    const Status s = OpenSst(format_, good.substr(0, size), &reader);
    ASSERT_TRUE(s.IsCorruption()) << size << ": " << s.ToString();
    ASSERT_TRUE(test::Mentions(s, "some.sst"));
    ASSERT_EQ(reader, nullptr);
  }
}

// Without checksums damage may show as other data, but nothing outside of the file is read (the sanitizers look).
TEST_P(SstDamageTest, UnverifiedReadsOfDamageEnd) {
  const std::string good = MakeSst(format_, entries_);
  for (size_t i = 0; i < good.size(); i += test::ByScale(3, 1, 1)) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0xff);
    std::unique_ptr<SstReader> reader;
    if (!OpenSst(format_, bad, &reader, Checksums::kTrust).ok()) continue;
    const std::unique_ptr<Iterator> it(reader->NewIterator({Checksums::kTrust, true}));
    size_t steps = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) ASSERT_LT(steps++, good.size());
    for (it->SeekToLast(); it->Valid(); it->Prev()) ASSERT_LT(steps++, 2 * good.size());
    it->Seek("key130");
    reader->ApproximateOffsetOf("key130");
  }
}

INSTANTIATE_TEST_SUITE_P(Compressions, SstDamageTest,
                         testing::Values(kNoCompression, kSnappyCompression, kZstdCompression));

// Blocks that no writer makes, with the right checksum.
TEST(BlockDamageTest, WhatCannotBeABlockIsCorruption) {
  const SstSource source{nullptr, "some.sst", 0};
  const std::string bytes[] = {"",
                               "abc",
                               std::string("\xff\xff\xff\xff", 4),
                               std::string("\0\0\0\0\x02\0\0\0", 8),
                               std::string("\x05\0\0\0\x01\0\0\0", 8),
                               std::string("\x01\x01\0k\0\0\0\0\x01\0\0\0", 12),   // shares what is not there
                               std::string("\0\x7f\0k\0\0\0\0\x01\0\0\0", 12),     // key too long
                               std::string("\0\x01\x7fk\0\0\0\0\x01\0\0\0", 12)};  // value too long
  for (const std::string& b : bytes) {
    const Block block(b);
    BlockIterator it(BytewiseComparator());
    it.Enter(&block, &source, 17);
    it.SeekToFirst();
    EXPECT_FALSE(it.Valid());
    EXPECT_STATUS(Corruption, it.status());
    EXPECT_TRUE(test::Mentions(it.status(), "some.sst")) << it.status().ToString();
    EXPECT_TRUE(test::Mentions(it.status(), "offset 17"));
    it.Seek("a");
    it.SeekToLast();
    EXPECT_FALSE(it.Valid());
  }
}

class Failing final : public RandomAccessFile {
 public:
  Status Read(uint64_t, size_t, Slice*, char*) const override { return Status::IOError("some.sst", "gone"); }
};

TEST(SstReadErrorTest, AReadErrorIsPassedOn) {
  SstFormat format;
  format.comparator = BytewiseComparator();
  std::unique_ptr<SstReader> reader;
  const Status s =
      SstReader::Open(format, std::make_shared<Failing>(), "some.sst", 1000, Checksums::kVerify, nullptr, &reader);
  EXPECT_STATUS(IOError, s);
}

}  // namespace
}  // namespace miodb
