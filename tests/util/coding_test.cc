#include "src/util/bytes/coding.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/common/random/random.h"

namespace miodb {
namespace {

// A copy of the bytes with nothing behind them, so that a sanitizer sees every read past the end.
class Exact {
 public:
  explicit Exact(const std::string& bytes) : size_(bytes.size()), bytes_(new char[bytes.size()]) {
    std::memcpy(bytes_.get(), bytes.data(), size_);
  }
  const char* begin() const { return bytes_.get(); }
  const char* end() const { return bytes_.get() + size_; }
  Slice slice() const { return Slice(bytes_.get(), size_); }

 private:
  size_t size_;
  std::unique_ptr<char[]> bytes_;
};

// Values around every power of two.
std::vector<uint64_t> InterestingValues() {
  std::vector<uint64_t> values = {0, 100, UINT32_MAX, UINT64_MAX};
  for (int bit = 0; bit < 64; ++bit) {
    const uint64_t power = uint64_t{1} << bit;
    values.insert(values.end(), {power - 1, power, power + 1});
  }
  return values;
}

TEST(CodingTest, FixedIntegersAreLittleEndian) {
  std::string s;
  PutFixed32(&s, 0x04030201);
  PutFixed64(&s, 0x0c0b0a0908070605);
  EXPECT_EQ("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c", s);
  char buffer[8];
  EncodeFixed32(buffer, 0x04030201);
  EXPECT_EQ(0, std::memcmp(buffer, "\x01\x02\x03\x04", 4));
  EncodeFixed64(buffer, 0x0807060504030201);
  EXPECT_EQ(0, std::memcmp(buffer, "\x01\x02\x03\x04\x05\x06\x07\x08", 8));
}

TEST(CodingTest, FixedIntegersReadBackAtAnyAlignment) {
  for (size_t shift = 0; shift < 8; ++shift) {
    std::string s(shift, 'x');
    for (uint64_t v : InterestingValues()) {
      PutFixed32(&s, static_cast<uint32_t>(v));
      PutFixed64(&s, v);
    }
    Slice input(s);
    input.remove_prefix(shift);
    for (uint64_t v : InterestingValues()) {
      EXPECT_EQ(static_cast<uint32_t>(v), DecodeFixed32(input.data()));
      uint32_t v32;
      uint64_t v64;
      ASSERT_TRUE(GetFixed32(&input, &v32));
      EXPECT_EQ(static_cast<uint32_t>(v), v32);
      EXPECT_EQ(v, DecodeFixed64(input.data()));
      ASSERT_TRUE(GetFixed64(&input, &v64));
      EXPECT_EQ(v, v64);
    }
    EXPECT_TRUE(input.empty());
  }
}

TEST(CodingTest, FixedIntegersCutShortAreRefusedAndNothingIsTaken) {
  for (size_t n = 0; n < 8; ++n) {
    const Exact bytes(std::string(n, 'x'));
    Slice input = bytes.slice();
    uint32_t v32;
    uint64_t v64;
    EXPECT_FALSE(GetFixed64(&input, &v64));
    EXPECT_EQ(n, input.size());
    EXPECT_EQ(n >= 4, GetFixed32(&input, &v32));
    EXPECT_EQ(n >= 4 ? n - 4 : n, input.size());
  }
}

TEST(CodingTest, VarintsHaveTheDocumentedBytes) {
  const auto encoded = [](uint64_t v) {
    std::string s;
    PutVarint64(&s, v);
    return s;
  };
  EXPECT_EQ(std::string(1, '\0'), encoded(0));
  EXPECT_EQ("\x7f", encoded(127));
  EXPECT_EQ("\x80\x01", encoded(128));
  EXPECT_EQ("\xac\x02", encoded(300));
  EXPECT_EQ("\xff\xff\xff\xff\x0f", encoded(UINT32_MAX));
  EXPECT_EQ("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", encoded(UINT64_MAX));
}

TEST(CodingTest, VarintsReadBackInTheirStatedLength) {
  for (uint64_t v : InterestingValues()) {
    std::string s;
    PutVarint64(&s, v);
    EXPECT_EQ(static_cast<size_t>(VarintLength(v)), s.size());
    char buffer[kMaxVarint64Bytes];
    EXPECT_EQ(buffer + s.size(), EncodeVarint64(buffer, v));
    EXPECT_EQ(s, std::string(buffer, s.size()));
    const Exact bytes(s);
    uint64_t v64 = ~v;
    EXPECT_EQ(bytes.end(), GetVarint64Ptr(bytes.begin(), bytes.end(), &v64));
    EXPECT_EQ(v, v64);

    uint32_t v32 = 0;
    const char* end = GetVarint32Ptr(bytes.begin(), bytes.end(), &v32);
    if (v <= UINT32_MAX) {
      EXPECT_EQ(bytes.end(), end);
      EXPECT_EQ(v, v32);
      std::string s32;
      PutVarint32(&s32, static_cast<uint32_t>(v));
      EXPECT_EQ(s, s32);
      EXPECT_EQ(buffer + s.size(), EncodeVarint32(buffer, static_cast<uint32_t>(v)));
    } else {
      EXPECT_EQ(nullptr, end) << v;  // too large for the type, never cut down to it
    }
  }
}

TEST(CodingTest, VarintsCutShortAreRefused) {
  for (uint64_t v : InterestingValues()) {
    std::string s;
    PutVarint64(&s, v);
    for (size_t n = 0; n < s.size(); ++n) {
      const Exact bytes(s.substr(0, n));
      uint32_t v32;
      uint64_t v64;
      EXPECT_EQ(nullptr, GetVarint32Ptr(bytes.begin(), bytes.end(), &v32));
      EXPECT_EQ(nullptr, GetVarint64Ptr(bytes.begin(), bytes.end(), &v64));
      Slice input = bytes.slice();
      EXPECT_FALSE(GetVarint32(&input, &v32));
      EXPECT_FALSE(GetVarint64(&input, &v64));
      EXPECT_EQ(n, input.size());
    }
  }
}

TEST(CodingTest, VarintsThatNeverEndOrOverflowAreRefused) {
  uint32_t v32;
  uint64_t v64;
  for (const std::string& s : {std::string("\xff\xff\xff\xff\x10"), std::string("\x80\x80\x80\x80\x80\x01"),
                               std::string("\xff\xff\xff\xff\x8f\x00", 6), std::string(100, '\xff')}) {
    const Exact bytes(s);
    EXPECT_EQ(nullptr, GetVarint32Ptr(bytes.begin(), bytes.end(), &v32));
  }
  for (const std::string& s : {std::string("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"),
                               std::string(10, '\x80') + "\x01", std::string(100, '\xff')}) {
    const Exact bytes(s);
    EXPECT_EQ(nullptr, GetVarint64Ptr(bytes.begin(), bytes.end(), &v64));
  }
}

TEST(CodingTest, VarintsMayBeLongerThanNeeded) {
  const Exact bytes(std::string("\x81\x80\x80\x80\x00", 5));
  uint32_t v32;
  EXPECT_EQ(bytes.end(), GetVarint32Ptr(bytes.begin(), bytes.end(), &v32));
  EXPECT_EQ(1u, v32);
}

TEST(CodingTest, SlicesReadBackAndKeepEveryByte) {
  const std::vector<std::string> values = {
      "", "a", std::string("\0\xff", 2), std::string(127, 'x'), std::string(128, 'y'), std::string(100000, 'z')};
  std::string s;
  for (const std::string& value : values) PutLengthPrefixedSlice(&s, value);
  Slice input(s);
  for (const std::string& value : values) {
    Slice got;
    ASSERT_TRUE(GetLengthPrefixedSlice(&input, &got));
    EXPECT_EQ(value, got.ToString());
  }
  EXPECT_TRUE(input.empty());
}

TEST(CodingTest, SlicesCutShortAreRefusedAndNothingIsTaken) {
  std::string s;
  PutLengthPrefixedSlice(&s, std::string(200, 'x'));
  for (size_t n = 0; n < s.size(); ++n) {
    const Exact bytes(s.substr(0, n));
    Slice input = bytes.slice();
    Slice got;
    EXPECT_FALSE(GetLengthPrefixedSlice(&input, &got));
    EXPECT_EQ(n, input.size());
  }
  const Exact huge("\xff\xff\xff\xff\x0fx");  // says 4 GiB
  Slice input = huge.slice();
  Slice got;
  EXPECT_FALSE(GetLengthPrefixedSlice(&input, &got));
}

TEST(CodingTest, RandomBytesNeverMakeADecoderReadPastTheEnd) {
  Random random(301);
  for (int round = 0; round < 20000; ++round) {
    std::string s = random.Bytes(random.Uniform(24));
    if (random.OneIn(2)) {
      for (char& c : s) c = static_cast<char>(c | 0x80);
    }
    const Exact bytes(s);
    Slice input = bytes.slice();
    while (!input.empty()) {
      const size_t before = input.size();
      uint32_t v32;
      uint64_t v64;
      Slice got;
      bool taken = false;
      switch (random.Uniform(5)) {
        case 0:
          taken = GetFixed32(&input, &v32);
          break;
        case 1:
          taken = GetFixed64(&input, &v64);
          break;
        case 2:
          taken = GetVarint32(&input, &v32);
          break;
        case 3:
          taken = GetVarint64(&input, &v64);
          break;
        case 4:
          taken = GetLengthPrefixedSlice(&input, &got);
          if (taken) {
            ASSERT_LE(got.data() + got.size(), bytes.end());
          }
          break;
      }
      ASSERT_EQ(bytes.end(), input.data() + input.size());
      if (!taken) {
        ASSERT_EQ(before, input.size());
        break;
      }
      ASSERT_LT(input.size(), before);
    }
  }
}

}  // namespace
}  // namespace miodb
