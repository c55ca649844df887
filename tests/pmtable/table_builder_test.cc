#include "pmtable/table_builder.h"

#include <gtest/gtest.h>

#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

class TableBuilderTest : public testing::Test {
 protected:
  SortedVersions Versions(const std::vector<TestVersion>& versions) const {
    return SortedVersions(maker_.order(), versions);
  }

  // Keys "00000000"..., one version each.
  SortedVersions Plain(size_t count) const {
    std::vector<TestVersion> versions;
    for (size_t i = 0; i < count; i++) {
      std::string key = std::to_string(i);
      key.insert(0, 8 - key.size(), '0');
      versions.push_back({key, i + 1, kTypeValue, "value"});
    }
    return Versions(versions);
  }

  // The same key count times.
  SortedVersions OneKey(size_t count) const {
    std::vector<TestVersion> versions;
    for (size_t i = 0; i < count; i++) versions.push_back({"key", i + 1, kTypeValue, "value"});
    return Versions(versions);
  }

  TestPool pool_{uint64_t{128} << 20};
  TableMaker maker_{&pool_, BytewiseComparator()};
};

TEST_F(TableBuilderTest, FlagsSayWhatIsInTheTable) {
  const TableRef plain = maker_.Make(Plain(1000));
  EXPECT_TRUE(plain->has(kTableBytewise));
  EXPECT_TRUE(plain->has(kTableOrdered));
  EXPECT_FALSE(plain->has(kTableDuplicates) || plain->has(kTableSpanning));
  EXPECT_TRUE(maker_.Make(OneKey(2))->has(kTableDuplicates));
  EXPECT_FALSE(maker_.Make(OneKey(64))->has(kTableSpanning));
  EXPECT_TRUE(maker_.Make(OneKey(65))->has(kTableSpanning));
  TableMaker reverse(&pool_, ReverseComparator());
  const TableRef backward = reverse.Make(SortedVersions(reverse.order(), Plain(1000).all()));
  EXPECT_FALSE(backward->has(kTableBytewise));
  EXPECT_FALSE(backward->has(kTableOrdered)) << "its records lie in the opposite order";
}

TEST_F(TableBuilderTest, OrderedMeansFifteenOfSixteen) {
  for (size_t every : {4, 64}) {
    // Every so many-th key was written last.
    std::vector<TestVersion> versions = Plain(1024).all();
    for (size_t i = every / 2; i < versions.size(); i += every) versions[i].sequence += 5000;
    EXPECT_EQ(every == 64, maker_.Make(Versions(versions))->has(kTableOrdered)) << every;
  }
}

TEST_F(TableBuilderTest, CountsTombstonesAndBounds) {
  const TableRef table = maker_.Make(Versions({{"b", 7, kTypeDeletion, ""},
                                               {"a", 30, kTypeValue, "x"},
                                               {"c", 9, kTypeDeletion, ""},
                                               {"c", 5, kTypeValue, "y"}}));
  EXPECT_EQ(4u, table->entries());
  EXPECT_EQ(2u, table->tombstones());
  EXPECT_EQ(5u, table->min_sequence());
  EXPECT_EQ(30u, table->max_sequence());
  EXPECT_EQ("a", table->smallest());
  EXPECT_EQ("c", table->largest());
}

TEST_F(TableBuilderTest, TheIndexIsCutToWhatItNeeds) {
  for (size_t count : {1, 64, 65, 4096, 4097}) {
    const TableRef table = maker_.Make(Plain(count));
    uint64_t bytes = sizeof(TableHeader) + table->leaf_count() * sizeof(LeafNode);
    for (uint64_t nodes : InnerLevelSizes(table->leaf_count())) bytes += nodes * sizeof(InnerNode);
    EXPECT_GE(table->index()->size(), bytes);
    EXPECT_LE(table->index()->size(), bytes + PMTableBuilder::kBytesPerTable);
    EXPECT_EQ(ExtentKind::kIndex, table->index()->kind());
  }
}

TEST_F(TableBuilderTest, EveryIndexByteIsCountedForItsPurpose) {
  const Persist& persist = pool_->persist();
  const uint64_t before = persist.counters(Purpose::kFlush).bytes.load();
  const TableRef table = maker_.Make(Plain(5000));
  const uint64_t bytes = persist.counters(Purpose::kFlush).bytes.load() - before;
  EXPECT_LE(bytes, table->index()->size());
  EXPECT_GT(bytes + kExtentUnit, table->index()->size());
  EXPECT_EQ(0u, persist.counters(Purpose::kFlush).fences.load()) << "the caller fences";
}

TEST_F(TableBuilderTest, WithoutFinishItsSpaceIsFree) {
  const uint64_t before = pool_->used_bytes();
  {
    PMTableBuilder builder(pool_.get(), maker_.order(), Purpose::kMerge, 1, 10);
    ASSERT_OK(builder.Start(100000, 100000));
    EXPECT_EQ(before + builder.index_bytes(), pool_->used_bytes());
  }
  EXPECT_EQ(before, pool_->used_bytes());
}

TEST_F(TableBuilderTest, WithRoomForAllItIsNeverNearlyFull) {
  PMTableBuilder builder(pool_.get(), maker_.order(), Purpose::kMerge, 1, 10);
  ASSERT_OK(builder.Start(300, 300));
  for (int i = 0; i < 300; i++) {
    EXPECT_TRUE(builder.HasRoom());
    EXPECT_FALSE(builder.NearlyFull());
    IndexEntry entry = {};
    entry.SetKey(std::to_string(i + 1000));
    entry.word = IndexWord(kExtentUnit, kTypeValue, 10);
    builder.Add(entry);
  }
  EXPECT_FALSE(builder.HasRoom());
  EXPECT_EQ(300u, builder.entries());
}

TEST_F(TableBuilderTest, SaysWhenItIsNearlyFullIfMoreMayCome) {
  PMTableBuilder builder(pool_.get(), maker_.order(), Purpose::kMerge, 1, 10);
  ASSERT_OK(builder.Start(300, 301));
  int nearly = 0;
  for (int i = 0; i < 300; i++) {
    EXPECT_TRUE(builder.HasRoom());
    nearly += builder.NearlyFull();
    IndexEntry entry = {};
    entry.SetKey(std::to_string(i + 1000));
    entry.word = IndexWord(kExtentUnit, kTypeValue, 10);
    builder.Add(entry);
  }
  EXPECT_EQ(kNodeFanout - 1, nearly);
}

// Adds two entries that refer to the same record.
void AddBoth(Pool* pool, const Slice& first, const Slice& second, bool same_key) {
  PMTableBuilder builder(pool, KeyOrder(BytewiseComparator()), Purpose::kMerge, 1, 10);
  ASSERT_OK(builder.Start(2, 2));
  IndexEntry entry = {};
  entry.word = IndexWord(kExtentUnit, kTypeValue, 10);
  entry.SetKey(first);
  builder.Add(entry);
  entry.SetKey(second);
  entry.same_key_as_last = same_key;
  builder.Add(entry);
}

TEST(TableBuilderDeathTest, RefusesEntriesOutOfOrder) {
  TestPool pool;
  AddBoth(pool.get(), "a", "b", false);
  AddBoth(pool.get(), "a", "a", true);
  const std::string beginning(kMaxKnownBytes, 'k');
  AddBoth(pool.get(), beginning + "b", beginning + "a", false);  // nobody knows
  EXPECT_DEATH(AddBoth(pool.get(), "b", "a", false), "ComesNext");
  EXPECT_DEATH(AddBoth(pool.get(), "a", "a", false), "ComesNext");
  EXPECT_DEATH(AddBoth(pool.get(), "a", "b", true), "ComesNext");
}

TEST(TableBuilderSpace, TakesLessWhereSpaceIsScatteredAndNoneWhereThereIsNone) {
  TestPool pool(1 << 20);
  const KeyOrder order(BytewiseComparator());
  std::vector<ExtentRef> extents;
  for (;;) {
    ExtentRef extent;
    if (!pool->Allocate(kExtentUnit, ExtentKind::kLog, &extent).ok()) break;
    extents.push_back(std::move(extent));
  }
  {
    PMTableBuilder builder(pool.get(), order, Purpose::kMerge, 1, 10);
    EXPECT_STATUS(NoSpace, builder.Start(1, 1));
  }
  for (size_t i = 0; i < extents.size(); i += 4) {
    extents[i].reset();
    if (i + 1 < extents.size()) extents[i + 1].reset();
  }
  PMTableBuilder builder(pool.get(), order, Purpose::kMerge, 1, 10);
  ASSERT_OK(builder.Start(100000, 100000));
  EXPECT_EQ(2 * kExtentUnit, builder.index_bytes());
  // All that is promised must fit: the header, leaves and one inner node.
  char* const place = extents[2]->data();
  uint64_t hash;
  EncodeRecordHead(place, PackTag(1, kTypeValue), "key", "", kTestSecret, &hash);
  uint64_t added = 0;
  for (; builder.HasRoom(); added++) {
    IndexEntry entry = {};
    entry.SetKey(std::to_string(added + 1000));
    entry.word = IndexWord(extents[2]->offset(), kTypeValue, 17);
    builder.Add(entry);
  }
  EXPECT_GT(added, 4u * kNodeFanout) << "two units hold a header, five leaves and an inner node";
  TableRef table;
  PMTableBuilder::Summary summary;
  summary.min_sequence = summary.max_sequence = 1;
  ASSERT_OK(builder.Finish(summary, &table));
  EXPECT_EQ(added, table->entries());
  EXPECT_EQ(17 * added, table->payload_bytes());
}

TEST(TableBuilderSpace, AShortTableTakesMostOfWhatItHasRoomFor) {
  TestPool pool(1 << 20);
  std::vector<ExtentRef> extents;
  for (;;) {
    ExtentRef extent;
    if (!pool->Allocate(kExtentUnit, ExtentKind::kLog, &extent).ok()) break;
    extents.push_back(std::move(extent));
  }
  extents[10].reset();
  PMTableBuilder builder(pool.get(), KeyOrder(BytewiseComparator()), Purpose::kMerge, 1, 10);
  ASSERT_OK(builder.Start(100000, 100000));
  ASSERT_EQ(kExtentUnit, builder.index_bytes());
  IndexEntry entry = {};
  entry.word = IndexWord(kExtentUnit, kTypeValue, 17);
  while (builder.HasRoom() && !builder.NearlyFull()) {
    entry.SetKey(std::to_string(1000 + builder.entries()));
    builder.Add(entry);
  }
  EXPECT_GE(builder.entries(), kNodeFanout / 2u) << "one unit has room for a leaf";
}

}  // namespace
}  // namespace miodb::test
