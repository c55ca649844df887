// A family's iterator over damaged table files: reads that do not verify may be wrong, and show keys of the family
// alone.

#include "src/db/read/family_iterator.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "miodb/column_family.h"
#include "src/util/bytes/family_key.h"
#include "tests/common/ssd_test_base.h"
#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

class FamilyIteratorTest : public SsdTestBase {
 protected:
  // A family on SSD, with a family before and one behind it.
  void Make() {
    options_.nvm_budget = 64 * kKiB;
    options_.compression = kNoCompression;
    Open();
    for (const char* const name : {"before", "f", "behind"}) {
      ColumnFamilyHandle* family = nullptr;
      ASSERT_OK(db_->CreateColumnFamily(name, &family));
      for (uint64_t i = 0; i < 1000; i++) {
        ASSERT_OK(db_->Put(WriteOptions(), family, "key" + std::to_string(i), std::string(50, 'v')));
      }
    }
    ASSERT_OK(db_->WaitForIdle());
    Close();
  }

  void Overwrite(const std::string& file, uint64_t at, char byte) {
    std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
    out.seekp(static_cast<std::streamoff>(at));
    out.put(byte);
  }

  // Walks both ways give short keys alone, so no length in a damaged record has wrapped.
  void CheckWalks() {
    if (!TryOpen().ok()) return;
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->GetColumnFamily("f", &family));
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions(), family));
    int steps = 0;
    for (it->SeekToFirst(); it->Valid() && steps < 2000; it->Next(), steps++) ASSERT_LT(it->key().size(), 1000u);
    for (it->SeekToLast(); it->Valid() && steps < 4000; it->Prev(), steps++) ASSERT_LT(it->key().size(), 1000u);
    ASSERT_LT(steps, 4000);
    ASSERT_TRUE(it->status().ok() || it->status().IsCorruption()) << it->status().ToString();
  }
};

TEST_F(FamilyIteratorTest, ShowsKeysOfTheFamilyAloneWhateverAByteOfATableFileIs) {
  Make();
  const std::vector<std::string> files = FilesIn(ssd_, ".sst");
  ASSERT_FALSE(files.empty());
  std::string good;
  ASSERT_OK(ReadFileToString(Env::Default(), files[0], &good));
  for (uint64_t at = 0; at < 1200; at += RunsUnderSanitizer() ? 41 : ByScale(7, 1, 1)) {
    for (const char byte : {'\0', '\1'}) {
      if (good[at] == byte) continue;
      SCOPED_TRACE("byte " + std::to_string(at) + " is " + std::to_string(int{byte}));
      Overwrite(files[0], at, byte);
      CheckWalks();
      Close();
      if (HasFatalFailure()) return;
    }
    Overwrite(files[0], at, good[at]);
  }
}

// Bytes that are too short for a prefix have no key, rather than one of nearly 2^64 bytes.
TEST(FamilyKeyTest, AKeyInAFamilyIsNeverLongerThanItsBytes) {
  const std::string whole = FamilyPrefix(1).slice().ToString() + "ab";
  for (size_t size = 0; size <= whole.size(); size++) {
    const std::string bytes = whole.substr(0, size);
    EXPECT_EQ(size > kFamilyPrefixBytes ? size - kFamilyPrefixBytes : 0, KeyInFamily(bytes).size());
  }
}

}  // namespace
}  // namespace miodb::test
