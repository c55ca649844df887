// Reading ahead gives the same bytes in fewer reads, and none for reads here and there.

#include "src/ssd/readahead.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>

#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

class CountingFile final : public RandomAccessFile {
 public:
  explicit CountingFile(std::string contents) : contents_(std::move(contents)) {}

  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    reads++;
    if (fail_from > 0 && offset + n > fail_from) return Status::IOError("file", "broken");
    const std::string bytes = offset < contents_.size() ? contents_.substr(offset, n) : "";
    bytes.copy(scratch, bytes.size());
    *result = Slice(scratch, bytes.size());
    return Status::OK();
  }

  mutable std::atomic<int> reads = 0;
  uint64_t fail_from = 0;

 private:
  const std::string contents_;
};

class ReadaheadTest : public testing::Test {
 protected:
  static constexpr size_t kFileBytes = 1000 * 1000;

  ReadaheadTest() : contents_(random_.Bytes(kFileBytes)), file_(std::make_unique<CountingFile>(contents_)) {}

  void ExpectRead(const ReadaheadFile& ahead, uint64_t offset, size_t n) {
    std::string scratch(n, '\0');
    Slice got;
    ASSERT_OK(ahead.Read(offset, n, &got, scratch.data()));
    ASSERT_TRUE(got == Slice(contents_.substr(offset, n))) << offset << " " << n;
  }

  Random random_{7};
  const std::string contents_;
  const std::unique_ptr<CountingFile> file_;
};

TEST_F(ReadaheadTest, AWalkNeedsFewReads) {
  const ReadaheadFile ahead(file_.get(), kFileBytes, {0, 256 * 1024});
  for (uint64_t at = 0; at + 4100 <= kFileBytes; at += 4100) ExpectRead(ahead, at, 4100);
  // 1 alone, then 16, 32, ... 256 KiB.
  EXPECT_LE(file_->reads, 10);
}

TEST_F(ReadaheadTest, WithAStartSizeItBeginsAtOnce) {
  const ReadaheadFile ahead(file_.get(), kFileBytes, {kFileBytes, kFileBytes});
  for (uint64_t at = 0; at + 4100 <= kFileBytes; at += 4100) ExpectRead(ahead, at, 4100);
  EXPECT_LE(file_->reads, 2);
}

TEST_F(ReadaheadTest, ReadsHereAndThereAreReadsOfTheFile) {
  const ReadaheadFile ahead(file_.get(), kFileBytes, {0, 256 * 1024});
  for (int i = 0; i < 100; i++) ExpectRead(ahead, 4100 * ((i * 37) % 200), 4100);
  EXPECT_EQ(100, file_->reads);
}

TEST_F(ReadaheadTest, AnyMixtureGivesTheBytesOfTheFile) {
  const ReadaheadFile ahead(file_.get(), kFileBytes, {0, 64 * 1024});
  uint64_t at = 0;
  for (int i = 0; i < 2000; i++) {
    const size_t n = 1 + random_.Uniform(8000);
    if (random_.OneIn(10) || at + n > kFileBytes) at = random_.Uniform(kFileBytes - 8000);
    ExpectRead(ahead, at, n);
    at += n;
  }
}

TEST_F(ReadaheadTest, HelpersReadWhatComesNext) {
  HelperThreads helpers(2);
  for (const size_t step : {1, 100, 4096, 4100, 70000}) {
    const ReadaheadFile ahead(file_.get(), kFileBytes, {16 * 1024, 128 * 1024, nullptr, &helpers});
    for (uint64_t at = 0; at + step <= kFileBytes; at += step) ExpectRead(ahead, at, step);
  }
}

TEST_F(ReadaheadTest, AMixtureWithHelpersGivesTheBytesOfTheFile) {
  HelperThreads helpers(3);
  for (int round = 0; round < 20; round++) {
    size_t reads_ahead = 0;
    const ReadaheadFile one(file_.get(), kFileBytes, {0, 32 * 1024, nullptr, &helpers});
    const ReadaheadFile other(file_.get(), kFileBytes, {0, 64 * 1024, &reads_ahead, &helpers});
    uint64_t at = random_.Uniform(kFileBytes / 2);
    for (int i = 0; i < 500; i++) {
      const size_t n = 1 + random_.Uniform(8000);
      if (random_.OneIn(100) || at + n > kFileBytes) at = random_.Uniform(kFileBytes - 8000);
      ExpectRead(random_.OneIn(2) ? one : other, at, n);
      at += n;
    }
  }
}

TEST_F(ReadaheadTest, TheNextFileIsReadAsFarAheadAsTheLast) {
  size_t bytes = 0;
  for (int i = 0; i < 2; i++) {
    file_->reads = 0;
    const ReadaheadFile ahead(file_.get(), kFileBytes, {0, 256 * 1024, &bytes});
    for (uint64_t at = 0; at + 4100 <= kFileBytes; at += 4100) ExpectRead(ahead, at, 4100);
    if (i == 1) {
      EXPECT_LE(file_->reads, 5);
    }
    EXPECT_EQ(256u * 1024, bytes);
  }
}

TEST_F(ReadaheadTest, AFailureFurtherOnIsNotOneYet) {
  const ReadaheadFile ahead(file_.get(), kFileBytes, {0, 256 * 1024});
  file_->fail_from = 50000;
  for (uint64_t at = 0; at + 4100 <= 50000; at += 4100) ExpectRead(ahead, at, 4100);
  std::string scratch(4100, '\0');
  Slice got;
  EXPECT_TRUE(ahead.Read(49200, 4100, &got, scratch.data()).IsIOError());
}

TEST_F(ReadaheadTest, AHelpersFailureShowsWhereTheBytesAreNeeded) {
  HelperThreads helpers(1);
  const ReadaheadFile ahead(file_.get(), kFileBytes, {16 * 1024, 16 * 1024, nullptr, &helpers});
  file_->fail_from = 50000;
  for (uint64_t at = 0; at + 4100 <= 50000; at += 4100) ExpectRead(ahead, at, 4100);
  std::string scratch(4100, '\0');
  Slice got;
  EXPECT_TRUE(ahead.Read(49200, 4100, &got, scratch.data()).IsIOError());
  file_->fail_from = 0;
  for (uint64_t at = 49200; at + 4100 <= kFileBytes; at += 4100) ExpectRead(ahead, at, 4100);
}

}  // namespace
}  // namespace miodb::test
