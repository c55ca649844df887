// The cost of searching a pool without a manifest: in hashed bytes and in comparisons of keys.

#include "src/inspect/salvage/salvage.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "miodb/env.h"
#include "src/format/manifest_area.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

class SalvageTest : public DbTestBase {
 protected:
  std::string pool() const { return path_ + "/pool"; }

  // Erases the roots and every manifest area.
  void EraseManifests() {
    std::string bytes;
    ASSERT_OK(ReadFileToString(Env::Default(), pool(), &bytes));
    for (uint64_t end = kPoolHeaderSize + kExtentUnit; end <= bytes.size(); end += kExtentUnit) {
      AreaFooter footer;
      if (ReadAreaFooter(bytes.data() + end, &footer)) memset(bytes.data() + footer.offset, 0, footer.size);
    }
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
      for (int copy = 0; copy < kRootCopies; copy++) {
        memset(bytes.data() + RootSlotOffset(epoch, copy), 0, sizeof(RootSlot));
      }
    }
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
  }

  // The result of a search, and its cost.
  std::map<std::string, std::string> Search(Salvage::Counts* counts) {
    std::map<std::string, std::string> found;
    std::unique_ptr<PoolImage> image;
    EXPECT_OK(PoolImage::Open(pool(), &image));
    if (image == nullptr) return found;
    std::atomic<bool> has_families{false};
    Salvage salvage(image.get(), KeyOrder(options_.comparator, &has_families), &has_families, [](const Problem&) {});
    EXPECT_OK(salvage.Find());
    EXPECT_EQ(nullptr, salvage.state()) << "there is a manifest";
    EXPECT_OK(salvage.JudgeLog(salvage.flushed_sequence(), 0));
    const uint64_t live_bytes = salvage.LiveBytes();
    uint64_t found_bytes = 0;
    EXPECT_OK(salvage.ForEach([&](const RecordView& record) {
      if (record.type() == kTypeDeletion) return Status::OK();
      found[record.key.ToString()] = record.value.ToString();
      found_bytes += record.size();
      return Status::OK();
    }));
    EXPECT_EQ(found_bytes, live_bytes);
    *counts = salvage.counts();
    return found;
  }
};

TEST_F(SalvageTest, IncompressibleValuesCostNoMoreHashingThanThereAreBytes) {
  options_.pool_size = 64 << 20;
  options_.write_buffer_size = 512 << 10;
  Open();
  Random random(301);
  std::map<std::string, std::string> expected;
  const uint64_t writes = ByScale(2000, 6000, 20000);
  for (uint64_t i = 0; i < writes; i++) {
    const std::string key = FilledKey(random.Uniform(writes));
    expected[key] = random.Bytes(random.OneIn(10) ? random.Uniform(60000) : random.Uniform(2000));
    Put(key, expected[key]);
    if (i == writes / 2) db_->CompactRange(nullptr, nullptr);
  }
  Close();
  EraseManifests();
  Salvage::Counts counts;
  EXPECT_EQ(expected, Search(&counts));
  EXPECT_GT(counts.searched_bytes, uint64_t{1} << 20);
  EXPECT_LE(counts.hashed_bytes, counts.searched_bytes + counts.searched_bytes / 10);
}

TEST_F(SalvageTest, AnEntryDoesNotAskEveryTable) {
  CountingComparator comparator;
  options_.comparator = &comparator;
  options_.write_buffer_size = 4 << 10;
  options_.pool_size = 64 << 20;
  options_.partition_size = 64 << 10;
  Open();
  Random random(301);
  std::map<std::string, std::string> expected;
  const uint64_t writes = ByScale(4000, 10000, 50000);
  for (uint64_t i = 0; i < writes; i++) {
    const std::string key = FilledKey(random.Uniform(1000000));
    expected[key] = FilledValue(i, 100, 0);
    Put(key, expected[key]);
  }
  db_->CompactRange(nullptr, nullptr);
  Close();
  EraseManifests();
  Salvage::Counts counts;
  const uint64_t before = comparator.count();
  EXPECT_EQ(expected, Search(&counts));
  const uint64_t log_tables = static_cast<uint64_t>(std::bit_width(counts.tables + 2));
  EXPECT_GE(counts.tables, 5u);
  EXPECT_GE(counts.entries, writes / 2);
  // Three times through all tables in their own order, twice through a heap of them, and what covers an entry.
  EXPECT_LE(comparator.count() - before, counts.entries * (3 * 2 + 2 * (2 + 2 + 4 * log_tables)));
}

}  // namespace
}  // namespace miodb::test
