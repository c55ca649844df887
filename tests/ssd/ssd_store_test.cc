// Table files that are not those of the manifest.

#include "src/ssd/ssd_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "src/nvm/readers/reader_guard.h"
#include "src/nvm/readers/reader_page.h"
#include "src/ssd/internal_key.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/ssd/sst_maker.h"

namespace miodb::test {
namespace {

class SsdStoreTest : public testing::Test {
 protected:
  SsdStoreTest() {
    options_.ssd_path = dir_ / "ssd";
    options_.compression = kNoCompression;
    options_.filter_bits_per_key = 0;
    Reopen();
  }

  void Reopen() {
    store_.reset();
    EXPECT_OK(SsdStore::Open(options_, 7, &store_));
  }

  // Makes file 1, with keys that begin like this.
  void Write(const std::string& prefix) {
    Entries entries;
    for (int i = 100; i < 200; i++) entries[SeekKey(prefix + std::to_string(i), 5)] = std::string(50, 'v');
    ASSERT_OK(WriteStringToFile(options_.env, MakeSst(store_->format(), entries), store_->FileName(1)));
  }

  // A reader that stands still keeps files until it leaves slot_.
  void EnterAsReader() {
    std::unique_ptr<ReaderPage> owner;
    ASSERT_OK(ReaderPage::Open(dir_ / "READERS", options_.file_access, &owner));
    ASSERT_OK(ReaderPage::OpenExisting(dir_ / "READERS", &reader_));
    ASSERT_OK(reader_->Enter(&slot_));
    store_->GuardReaders(std::make_shared<ReaderGuard>(std::move(owner)));
  }

  TestDir dir_;
  Options options_;
  std::unique_ptr<SsdStore> store_;
  std::unique_ptr<ReaderPage> reader_;
  int slot_ = 0;
};

TEST_F(SsdStoreTest, AFileOfAnotherSizeIsNotThatOfTheManifest) {
  Write("a");
  SstMeta meta;
  ASSERT_OK(store_->ReadMeta(1, &meta));
  EXPECT_OK(store_->CheckFile(meta));
  for (const uint64_t size : {meta.size + 1, meta.size - 1, uint64_t{0}}) {
    meta.size = size;
    const Status s = store_->CheckFile(meta);
    EXPECT_STATUS(Corruption, s);
    EXPECT_TRUE(Mentions(s, store_->FileName(1)));
  }
}

TEST_F(SsdStoreTest, NorIsAGoodFileOfTheSameSize) {
  Write("a");
  SstMeta meta;
  ASSERT_OK(store_->ReadMeta(1, &meta));
  SsdStore::Pin pin;
  EXPECT_OK(store_->OpenTable(meta, &pin));
  pin.Reset();
  Write("b");
  Reopen();
  EXPECT_OK(store_->CheckFile(meta));
  const Status s = store_->OpenTable(meta, &pin);
  EXPECT_STATUS(Corruption, s);
  EXPECT_TRUE(Mentions(s, store_->FileName(1)));
  SstMeta other;
  ASSERT_OK(store_->ReadMeta(1, &other));
  EXPECT_OK(store_->OpenTable(other, &pin));
}

// Two names may have one number, of which no manifest means the second.
TEST_F(SsdStoreTest, OrphansOfOneNumberGoThoughAReaderStandsStill) {
  ASSERT_NO_FATAL_FAILURE(EnterAsReader());
  const std::string usual = store_->FileName(12), other = options_.ssd_path + "/12.sst";
  ASSERT_NE(usual, other);
  for (const std::string& name : {usual, other}) ASSERT_OK(WriteStringToFile(options_.env, "orphan", name));
  ASSERT_OK(store_->RemoveOrphans({}));
  EXPECT_TRUE(options_.env->FileExists(usual)) << "a reader may have it";
  EXPECT_FALSE(options_.env->FileExists(other));
  reader_->Leave(slot_);
  store_->RemoveDiscarded();
  EXPECT_FALSE(options_.env->FileExists(usual));
}

// A version with 100,000 files goes: each file is noted in a short time, whatever waits already.
TEST_F(SsdStoreTest, ManyFilesWaitForAReaderAndThenGo) {
  constexpr uint64_t kFiles = 100000;
  ASSERT_NO_FATAL_FAILURE(EnterAsReader());
  const std::string first = store_->FileName(1), middle = store_->FileName(kFiles / 2), last = store_->FileName(kFiles);
  for (const std::string& name : {first, middle, last}) ASSERT_OK(WriteStringToFile(options_.env, "table", name));
  for (uint64_t number = kFiles; number > 0; number--) store_->Discard(number);
  store_->RemoveDiscarded();
  for (const std::string& name : {first, middle, last}) EXPECT_TRUE(options_.env->FileExists(name));
  std::unique_ptr<WritableFile> again;
  ASSERT_OK(store_->NewFile(kFiles / 2, &again));  // waits no longer
  reader_->Leave(slot_);
  store_->RemoveDiscarded();
  EXPECT_FALSE(options_.env->FileExists(first));
  EXPECT_TRUE(options_.env->FileExists(middle));
  EXPECT_FALSE(options_.env->FileExists(last));
}

}  // namespace
}  // namespace miodb::test
