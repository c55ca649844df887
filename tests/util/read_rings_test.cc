// Reads with io_uring give what the files hold, whoever asks and however many they are; what cannot be read says so.

#include "src/util/files/read_rings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "tests/common/random/random.h"

namespace miodb {
namespace {

constexpr size_t kFileBytes = 1 << 20;
constexpr size_t kPieceBytes = 100;

class ReadRingsTest : public testing::Test {
 protected:
  void SetUp() override {
    Random random(1);
    while (content_.size() < kFileBytes) content_.push_back(static_cast<char>(random.Next64()));
    file_ = std::tmpfile();
    ASSERT_EQ(kFileBytes, std::fwrite(content_.data(), 1, kFileBytes, file_));
    ASSERT_EQ(0, std::fflush(file_));
    char byte;
    ReadRings::Read read{fileno(file_), 0, &byte, 1};
    if (!rings_.Run(&read, 1)) GTEST_SKIP() << "this kernel has no io_uring, or forbids it";
  }
  void TearDown() override { std::fclose(file_); }

  // Reads so many pieces from anywhere, and compares.
  void ReadSome(size_t count, uint64_t seed) {
    Random random(seed);
    std::string space(count * kPieceBytes, 0);
    std::vector<ReadRings::Read> reads;
    for (size_t i = 0; i < count; i++) {
      reads.push_back({fileno(file_), random.Uniform(kFileBytes - kPieceBytes), &space[i * kPieceBytes], kPieceBytes});
    }
    ASSERT_TRUE(rings_.Run(reads.data(), reads.size()));
    for (const ReadRings::Read& read : reads) {
      ASSERT_EQ(static_cast<int64_t>(kPieceBytes), read.got);
      ASSERT_EQ(content_.substr(read.offset, kPieceBytes), std::string(read.bytes, kPieceBytes));
    }
  }

  std::FILE* file_ = nullptr;
  std::string content_;
  ReadRings rings_;
};

TEST_F(ReadRingsTest, MoreReadsThanARingHasRoomFor) {
  for (const size_t count : {1, 2, 63, 64, 65, 1000}) ReadSome(count, count);
}

TEST_F(ReadRingsTest, ManyCallersAtOnce) {
  std::vector<std::thread> callers;
  for (uint64_t t = 0; t < 20; t++) {
    callers.emplace_back([this, t] {
      for (uint64_t i = 0; i < 20; i++) ReadSome(100, 100 * t + i);
    });
  }
  for (std::thread& caller : callers) caller.join();
}

TEST_F(ReadRingsTest, EndsOfFilesAndErrorsBelongToTheirReads) {
  char bytes[4][10];
  ReadRings::Read reads[] = {{fileno(file_), 0, bytes[0], 10},
                             {fileno(file_), kFileBytes - 3, bytes[1], 10},
                             {fileno(file_), kFileBytes + 5, bytes[2], 10},
                             {-1, 0, bytes[3], 10}};
  ASSERT_TRUE(rings_.Run(reads, 4));
  EXPECT_EQ(10, reads[0].got);
  EXPECT_EQ(3, reads[1].got);
  EXPECT_EQ(0, reads[2].got);
  EXPECT_EQ(-EBADF, reads[3].got);
}

// Without a descriptor for a ring nothing is read; with one again, it is.
TEST_F(ReadRingsTest, ALackOfDescriptorsIsForNow) {
  ReadRings fresh;
  rlimit before;
  ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
  rlimit none = before;
  none.rlim_cur = 0;
  char byte = 0;
  ReadRings::Read read{fileno(file_), 7, &byte, 1};
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
  const bool possible = fresh.Run(&read, 1);
  ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
  EXPECT_FALSE(possible);
  EXPECT_TRUE(fresh.Run(&read, 1));
  EXPECT_EQ(1, read.got);
  EXPECT_EQ(content_[7], byte);
}

}  // namespace
}  // namespace miodb
