// Reading ahead gives the same bytes in fewer reads, and none for reads here and there.

#include "src/ssd/readahead.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "src/util/random.h"
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

  mutable int reads = 0;
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
  const ReadaheadFile ahead(file_.get(), kFileBytes, 0, 256 * 1024);
  for (uint64_t at = 0; at + 4100 <= kFileBytes; at += 4100) ExpectRead(ahead, at, 4100);
  // 1 alone, then 16, 32, ... 256 KiB.
  EXPECT_LE(file_->reads, 10);
}

TEST_F(ReadaheadTest, WithAStartSizeItBeginsAtOnce) {
  const ReadaheadFile ahead(file_.get(), kFileBytes, kFileBytes, kFileBytes);
  for (uint64_t at = 0; at + 4100 <= kFileBytes; at += 4100) ExpectRead(ahead, at, 4100);
  EXPECT_LE(file_->reads, 2);
}

TEST_F(ReadaheadTest, ReadsHereAndThereAreReadsOfTheFile) {
  const ReadaheadFile ahead(file_.get(), kFileBytes, 0, 256 * 1024);
  for (int i = 0; i < 100; i++) ExpectRead(ahead, 4100 * ((i * 37) % 200), 4100);
  EXPECT_EQ(100, file_->reads);
}

TEST_F(ReadaheadTest, AnyMixtureGivesTheBytesOfTheFile) {
  const ReadaheadFile ahead(file_.get(), kFileBytes, 0, 64 * 1024);
  uint64_t at = 0;
  for (int i = 0; i < 2000; i++) {
    const size_t n = 1 + random_.Uniform(8000);
    if (random_.OneIn(10) || at + n > kFileBytes) at = random_.Uniform(kFileBytes - 8000);
    ExpectRead(ahead, at, n);
    at += n;
  }
}

TEST_F(ReadaheadTest, AFailureFurtherOnIsNotOneYet) {
  const ReadaheadFile ahead(file_.get(), kFileBytes, 0, 256 * 1024);
  file_->fail_from = 50000;
  for (uint64_t at = 0; at + 4100 <= 50000; at += 4100) ExpectRead(ahead, at, 4100);
  std::string scratch(4100, '\0');
  Slice got;
  EXPECT_TRUE(ahead.Read(49200, 4100, &got, scratch.data()).IsIOError());
}

}  // namespace
}  // namespace miodb::test
