#include "src/util/bytes/crc32c.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb {
namespace {

uint32_t Crc(const std::string& bytes) { return Crc32c(bytes.data(), bytes.size()); }

// The examples of RFC 3720, appendix B.4.
TEST(Crc32cTest, KnownChecksums) {
  EXPECT_EQ(Crc(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(Crc(std::string(32, '\xff')), 0x62a8ab43u);
  std::string ascending, descending;
  for (char c = 0; c < 32; c++) {
    ascending.push_back(c);
    descending.push_back(static_cast<char>(31 - c));
  }
  EXPECT_EQ(Crc(ascending), 0x46dd794eu);
  EXPECT_EQ(Crc(descending), 0x113fdb5cu);
  EXPECT_EQ(Crc(""), 0u);
  EXPECT_EQ(Crc("123456789"), 0xe3069283u);
}

TEST(Crc32cTest, PartsAddUpToTheWholeWithAndWithoutTheInstruction) {
  for (uint64_t seed : test::Seeds(1)) {
    SCOPED_TRACE(test::Repeat(seed));
    Random random(seed);
    for (int round = 0; round < 2000; round++) {
      std::string bytes(random.Uniform(200), '\0');
      for (char& c : bytes) c = static_cast<char>(random.Uniform(256));
      const size_t cut = random.Uniform(bytes.size() + 1);
      const uint32_t whole = Crc(bytes);
      const uint32_t first = Crc32c(bytes.data(), cut);
      ASSERT_EQ(Crc32c(bytes.data() + cut, bytes.size() - cut, first), whole);
      ASSERT_EQ(Crc32cPortable(bytes.data(), bytes.size()), whole);
      ASSERT_EQ(Crc32cPortable(bytes.data() + cut, bytes.size() - cut, first), whole);
    }
  }
}

TEST(Crc32cTest, MaskingIsAOneToOneChange) {
  EXPECT_EQ(MaskedCrc(0), 0xa282ead8u);
  EXPECT_EQ(MaskedCrc(0x00008000), 0xa282ead9u);  // rotated right by 15
  EXPECT_NE(MaskedCrc(MaskedCrc(1)), 1u);
}

}  // namespace
}  // namespace miodb
