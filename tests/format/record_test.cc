#include "src/format/record.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "src/api/batch/write_batch_internal.h"
#include "src/log/frame_writer.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/test_secret.h"

namespace miodb::test {
namespace {

std::string Encode(uint64_t tag, const std::string& key, const std::string& value) {
  std::string bytes(kMaxRecordHeader + key.size(), '\0');
  uint64_t hash;
  char* const end = EncodeRecordHead(bytes.data(), tag, key, value, kTestSecret, &hash);
  bytes.resize(static_cast<size_t>(end - bytes.data()));
  return bytes + value;
}

// Parses bytes that stand alone on the heap, so that AddressSanitizer sees any read beyond them. What was parsed is
// checked to lie inside, then passed on; its slices are valid during the call.
template <typename Visit>
bool ParseAlone(const std::string& bytes, Visit visit) {
  const std::unique_ptr<char[]> copy(new char[bytes.size()]);
  memcpy(copy.get(), bytes.data(), bytes.size());
  const char* const limit = copy.get() + bytes.size();
  RecordView record;
  if (!ParseRecord(copy.get(), limit, &record)) return false;
  EXPECT_EQ(copy.get(), record.begin);
  EXPECT_GE(record.key.data(), copy.get() + kRecordFixedSize + 2);
  EXPECT_EQ(record.key.data() + record.key.size(), record.value.data());
  EXPECT_LE(record.value.data() + record.value.size(), limit);
  EXPECT_LE(record.size(), bytes.size());
  visit(record);
  return true;
}

bool ParseAlone(const std::string& bytes) {
  return ParseAlone(bytes, [](const RecordView&) {});
}

std::string AnyBytes(Random* random) {
  constexpr size_t kSizes[] = {0, 1, 2, 8, 16, 100, 127, 128, 129, 300, 16383, 16384, 20000, kMaxKeySize};
  return random->Bytes(random->OneIn(3) ? random->Uniform(64) : kSizes[random->Uniform(std::size(kSizes))]);
}

TEST(RecordTest, RoundTrips) {
  for (uint64_t seed : Seeds(ByScale(5, 20, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    for (int i = 0; i < 200; i++) {
      const std::string key = AnyBytes(&random), value = AnyBytes(&random);
      const ValueType type = random.OneIn(2) ? kTypeValue : kTypeDeletion;
      const uint64_t sequence = random.Uniform(kMaxSequence + 1);
      const std::string bytes = Encode(PackTag(sequence, type), key, value);
      EXPECT_EQ(RecordSize(key.size(), value.size()), bytes.size());
      // What follows does not matter.
      EXPECT_TRUE(ParseAlone(bytes + std::string(random.Uniform(20), '\xff'), [&](const RecordView& record) {
        EXPECT_EQ(key, record.key.ToString());
        EXPECT_EQ(value, record.value.ToString());
        EXPECT_EQ(sequence, record.sequence());
        EXPECT_EQ(type, record.type());
        EXPECT_EQ(bytes.size(), record.size());
        EXPECT_TRUE(record.Verify(kTestSecret));
      }));
    }
  }
}

TEST(RecordTest, ATruncatedRecordIsRefused) {
  for (size_t value_size : {0, 1, 127, 128, 500}) {
    const std::string bytes = Encode(PackTag(7, kTypeValue), "key", std::string(value_size, 'v'));
    for (size_t size = 0; size < bytes.size(); size++) EXPECT_FALSE(ParseAlone(bytes.substr(0, size))) << size;
    EXPECT_TRUE(ParseAlone(bytes));
  }
}

TEST(RecordTest, EveryFlippedBitIsFoundByTheChecksum) {
  const std::string bytes = Encode(PackTag(123456, kTypeValue), "a key of some bytes", std::string(150, 'v'));
  for (size_t i = 0; i < bytes.size() * 8; i++) {
    std::string damaged = bytes;
    damaged[i / 8] = static_cast<char>(damaged[i / 8] ^ (1 << i % 8));
    // Room behind, so that a larger size does not already fail.
    ParseAlone(damaged + std::string(40000, 'x'),
               [&](const RecordView& record) { EXPECT_FALSE(record.Verify(kTestSecret)) << "bit " << i; });
    ParseAlone(damaged, [&](const RecordView& record) { EXPECT_FALSE(record.Verify(kTestSecret)) << "bit " << i; });
  }
}

TEST(RecordTest, HostileBytesAreNeverReadBeyondTheirEnd) {
  for (uint64_t seed : Seeds(ByScale(5, 20, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    for (int i = 0; i < 20000; i++) {
      std::string bytes = random.Bytes(random.Uniform(64));
      // Small sizes now and then, so that some of them parse.
      if (bytes.size() > 14 && random.OneIn(2)) bytes[12] = static_cast<char>(random.Uniform(20));
      if (bytes.size() > 14 && random.OneIn(2)) bytes[13] = static_cast<char>(random.Uniform(20));
      ParseAlone(bytes, [](const RecordView& record) { record.Verify(kTestSecret); });
    }
  }
}

TEST(RecordTest, SizesBeyondTheLimitsAreRefused) {
  const auto with_sizes = [](uint32_t key_size, uint32_t value_size) {
    std::string bytes(kRecordFixedSize, '\0');
    PutVarint32(&bytes, key_size);
    PutVarint32(&bytes, value_size);
    return bytes + std::string(kMaxKeySize + 100, 'x');
  };
  EXPECT_TRUE(ParseAlone(with_sizes(kMaxKeySize, 10)));
  EXPECT_FALSE(ParseAlone(with_sizes(kMaxKeySize + 1, 10)));
  EXPECT_FALSE(ParseAlone(with_sizes(10, kMaxValueSize + 1)));
  EXPECT_FALSE(ParseAlone(with_sizes(UINT32_MAX, UINT32_MAX)));
  EXPECT_FALSE(ParseAlone(std::string(kRecordFixedSize, '\0') + std::string(100, '\xff')));
}

TEST(RecordTest, ASinglePutOf100BytesCostsAtMost24BytesMore) {
  for (size_t key_size = 0; key_size <= 100; key_size++) {
    const uint64_t body = RecordSize(key_size, 100 - key_size);
    EXPECT_LE(FrameWriter::FrameSize(body), 100u + 24) << "key of " << key_size;
    const uint64_t with_full_value = RecordSize(key_size, 100);
    EXPECT_LE(FrameWriter::FrameSize(with_full_value), key_size + 100 + 24) << "key of " << key_size;
  }
}

TEST(RecordTest, TheHeadersAreNeverLongerThanTheirLimits) {
  EXPECT_EQ(kMaxFrameHeader, FrameHeaderSize(kMaxFrameBody));
  EXPECT_LE(RecordSize(kMaxKeySize, kMaxValueSize) - kMaxKeySize - kMaxValueSize, kMaxRecordHeader);
}

TEST(RecordTest, TheHeaderSizeFollowsFromTheOtherTwo) {
  const size_t sizes[] = {0, 1, 100, 126, 127, 128, 129, 1000, 16382, 16383, 16384, 16385, 65535, 65536};
  for (size_t key_size : sizes) {
    for (size_t value_size : sizes) {
      const std::string key(key_size, 'k'), value(value_size, 'v');
      const std::string bytes = Encode(PackTag(1, kTypeValue), key, value);
      EXPECT_EQ(bytes.size() - key_size - value_size, RecordHeaderSize(key_size, bytes.size()))
          << key_size << " " << value_size;
    }
  }
  for (size_t value_size : {size_t{1} << 21, (size_t{1} << 21) - 1, size_t{1} << 28, kMaxValueSize}) {
    EXPECT_EQ(RecordSize(10, value_size) - 10 - value_size, RecordHeaderSize(10, RecordSize(10, value_size)));
  }
}

TEST(RecordTest, TagsHoldSequenceAndType) {
  for (uint64_t sequence : {uint64_t{0}, uint64_t{1}, kMaxSequence - 1, kMaxSequence}) {
    for (ValueType type : {kTypeDeletion, kTypeValue, kTypeMerge, kTypeSingleDeletion, kTypeRangeDeletion}) {
      EXPECT_EQ(sequence, TagSequence(PackTag(sequence, type)));
      EXPECT_EQ(type, TagType(PackTag(sequence, type)));
    }
  }
  EXPECT_LT(PackTag(5, kTypeRangeDeletion), PackTag(6, kTypeDeletion)) << "tags sort by sequence";
}

TEST(RecordTest, BatchesUseTheSameTypeNumbers) {
  EXPECT_EQ(static_cast<uint8_t>(kTypeDeletion), kBatchDeletion);
  EXPECT_EQ(static_cast<uint8_t>(kTypeValue), kBatchPut);
  EXPECT_EQ(static_cast<uint8_t>(kTypeMerge), kBatchMerge);
  EXPECT_EQ(static_cast<uint8_t>(kTypeSingleDeletion), kBatchSingleDeletion);
  EXPECT_EQ(static_cast<uint8_t>(kTypeRangeDeletion), kBatchRangeDeletion);
}

TEST(RecordTest, KeyAndValueCannotTradeBytes) {
  // The same bytes behind the tag, cut in two places.
  const std::string a = Encode(PackTag(1, kTypeValue), "abc", "def"), b = Encode(PackTag(1, kTypeValue), "abcd", "ef");
  EXPECT_NE(DecodeFixed32(a.data()), DecodeFixed32(b.data()));
}

}  // namespace
}  // namespace miodb::test
