// Files past the page cache: what is written is what any other file would hold, and is read at any place.

#include "src/util/files/direct_file.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

class DirectFileTest : public testing::Test {
 protected:
  // False where the file system has none, which ends the test.
  bool Create() {
    WritableFile* opened = nullptr;
    Status s = Env::Default()->NewDirectWritableFile(name_, &opened);
    file_.reset(opened);
    return s.ok();
  }

  void Append(size_t n) {
    const std::string bytes = random_.Bytes(n);
    ASSERT_OK(file_->Append(bytes));
    expected_ += bytes;
  }

  void ExpectContents() {
    std::string contents;
    ASSERT_OK(ReadFileToString(Env::Default(), name_, &contents));
    EXPECT_TRUE(contents == expected_) << contents.size() << " bytes, expected " << expected_.size();
  }

  const TestDir dir_;
  const std::string name_ = dir_ / "file";
  std::unique_ptr<WritableFile> file_;
  std::string expected_;
  Random random_{301};
};

TEST_F(DirectFileTest, HoldsWhatWasAppendedAfterEverySync) {
  if (!Create()) GTEST_SKIP() << "no direct I/O here";
  for (const size_t n : {1, 10, 4085, 1, 4095, 4096, 3 << 20, 7}) {
    Append(n);
    ASSERT_OK(file_->Sync());
    ExpectContents();
    Append(n / 2);
  }
  ASSERT_OK(file_->Close());
  ExpectContents();
  EXPECT_FALSE(file_->Append("x").ok());
  EXPECT_FALSE(file_->Close().ok());
}

TEST_F(DirectFileTest, ReadsAnyRangeAndEndsWhereTheFileEnds) {
  if (!Create()) GTEST_SKIP() << "no direct I/O here";
  Append(1234567);
  ASSERT_OK(file_->Close());
  RandomAccessFile* opened = nullptr;
  ASSERT_OK(Env::Default()->NewDirectRandomAccessFile(name_, &opened));
  const std::unique_ptr<RandomAccessFile> reader(opened);
  std::string scratch(600 * 1024, '\0');
  for (int i = 0; i < 300; i++) {
    const uint64_t offset = random_.Uniform(expected_.size() + 10000);
    const size_t n = static_cast<size_t>(random_.Uniform(scratch.size() + 1));
    Slice got;
    ASSERT_OK(reader->Read(offset, n, &got, scratch.data()));
    const std::string expected = offset < expected_.size() ? expected_.substr(offset, n) : "";
    ASSERT_TRUE(got == Slice(expected)) << offset << " " << n << ": " << got.size();
  }
  const AlignedBytes aligned = NewAlignedBytes(2 * kDirectAlignment);
  Slice got;
  ASSERT_OK(reader->Read(kDirectAlignment, 2 * kDirectAlignment, &got, aligned.get()));
  EXPECT_TRUE(got == Slice(expected_.data() + kDirectAlignment, 2 * kDirectAlignment));
}

TEST_F(DirectFileTest, AMissingFileIsNotFound) {
  RandomAccessFile* opened = nullptr;
  EXPECT_TRUE(Env::Default()->NewDirectRandomAccessFile(name_, &opened).IsNotFound());
  EXPECT_EQ(nullptr, opened);
}

}  // namespace
}  // namespace miodb::test
