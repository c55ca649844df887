// Copies of a merge, its cuts between tables, and merges when space is short.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "compaction/merge/merge.h"
#include "compaction/policy/marked_tables.h"
#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/compaction/merge_world.h"

namespace miodb::test {
namespace {

// Calls visit(word, extent) for every entry of a table.
template <typename Visit>
void ForEachEntry(const PMTable& table, const ExtentList& payload, Visit visit) {
  for (uint64_t i = 0; i < table.entries(); i++) {
    const IndexWord word = table.WordAt(i);
    const Extent* const extent = FindExtent(payload, word.ref());
    ASSERT_NE(nullptr, extent);
    visit(word, *extent);
  }
}

MergeShape AnyShape(Random* random) {
  MergeShape shape;
  shape.keys = KeyShapes()[random->Uniform(KeyShapes().size())];
  shape.inputs = 1 + random->Uniform(5);
  shape.older = random->Uniform(2);
  shape.window = 20 + random->Uniform(180);
  shape.versions_per_table = 1 + random->Skewed(8);
  shape.most_value_bytes = random->OneIn(2) ? 100 : 2000;
  shape.snapshots = random->Uniform(4);
  shape.tables.ordered = random->OneIn(2);
  shape.tables.extent_bytes = random->OneIn(2) ? 4096 : 64 * 1024;
  return shape;
}

TEST(MergeSettleTest, CopiesRecordsOfLogChunksUpToTheLimitInKeyOrder) {
  for (uint64_t seed : Seeds(ByScale(30, 100, 3000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    MergeWorld world(AnyShape(&random), seed);
    MergeRequest request = world.Request();
    request.purpose = Purpose::kLazyCopy;
    request.settle_limit = 50 + random.Uniform(1000);
    request.copy_extents.bytes = random.OneIn(2) ? 4096 : 32 * 1024;
    request.copy_extents.least = random.OneIn(2) ? 0 : request.copy_extents.bytes / 4;
    MergeResult result;
    ASSERT_OK(MergeRuns(request, &result));
    world.Check(result);
    const ExtentList payload = MergeWorld::PayloadAfter(world.payload(), result);
    for (const TableRef& table : result.added) {
      PmRef last = 0;
      uint64_t backward = 0;
      ForEachEntry(*table, payload, [&](IndexWord word, const Extent& extent) {
        EXPECT_EQ(word.size() <= request.settle_limit, extent.kind() == ExtentKind::kSettled);
        if (extent.kind() != ExtentKind::kSettled) return;
        backward += word.ref() < last;
        last = word.ref();
      });
      // Back only from one extent to the next.
      EXPECT_LT(backward, std::max<size_t>(UsesOf(*table, payload).size(), 1));
    }
    if (HasFatalFailure()) return;
  }
}

TEST(MergeSettleTest, ALimitOf0CopiesNothing) {
  for (uint64_t seed = 1; seed <= 10; seed++) {
    Random random(seed);
    MergeWorld world(AnyShape(&random), seed);
    MergeResult result;
    ASSERT_OK(MergeRuns(world.Request(), &result));
    EXPECT_EQ(0u, result.bytes_copied);
  }
}

TEST(MergeSettleTest, SettledRecordsStayWhereTheyAre) {
  MergeShape shape;
  shape.tables.kind = ExtentKind::kSettled;
  MergeWorld world(shape, 1);
  MergeRequest request = world.Request();
  request.settle_limit = 1 << 20;
  MergeResult result;
  ASSERT_OK(MergeRuns(request, &result));
  world.Check(result);
  EXPECT_EQ(0u, result.bytes_copied);
}

TEST(MergeEvacuationTest, NothingOfAMarkedExtentIsLeft) {
  for (uint64_t seed : Seeds(ByScale(30, 100, 3000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    MergeShape shape = AnyShape(&random);
    shape.tables.kind = random.OneIn(2) ? ExtentKind::kLog : ExtentKind::kSettled;
    MergeWorld world(shape, seed);
    std::set<PmRef> marked;
    for (const TableRef& table : world.InputTables()) {
      for (const auto& [extent, bytes] : UsesOf(*table, world.payload())) {
        if (random.OneIn(3)) extent->evacuate.store(true);
        if (extent->evacuate.load()) marked.insert(extent->offset());
      }
    }
    Version version;
    version.payload = world.payload();
    const miodb::Run inputs{1, world.InputTables()};
    version.runs = {&inputs};
    MarkTables(
        version, [] { return false; }, [](const TableRef& table) { EXPECT_TRUE(table->marked); });
    MergeRequest request = world.Request();
    request.purpose = Purpose::kEvacuation;
    request.settle_limit = random.OneIn(2) ? 300 : 0;
    MergeResult result;
    ASSERT_OK(MergeRuns(request, &result));
    world.Check(result);
    const ExtentList payload = MergeWorld::PayloadAfter(world.payload(), result);
    for (const std::vector<TableRef>* tables : {&result.added, &result.moved}) {
      for (const TableRef& table : *tables) {
        EXPECT_FALSE(table->marked.load(std::memory_order_relaxed));
        for (const auto& [extent, bytes] : UsesOf(*table, payload)) EXPECT_EQ(0u, marked.count(extent->offset()));
      }
    }
    const Persist& persist = world.pool()->persist();
    EXPECT_GE(persist.counters(Purpose::kEvacuation).bytes.load() + persist.counters(Purpose::kLazyCopy).bytes.load(),
              result.bytes_copied);
    if (HasFatalFailure()) return;
  }
}

TEST(MergeCutTest, TablesAreCutAtTheirPayloadLimit) {
  for (uint64_t seed : Seeds(ByScale(30, 100, 3000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    MergeShape shape = AnyShape(&random);
    shape.key_count = 400;
    shape.keys_per_run = 400;
    MergeWorld world(shape, seed);
    MergeRequest request = world.Request();
    request.payload_limit = 4096 + random.Uniform(32 * 1024);
    request.settle_limit = random.OneIn(2) ? 0 : 500;
    MergeResult result;
    ASSERT_OK(MergeRuns(request, &result));
    world.Check(result);
    for (const TableRef& table : result.added) {
      uint64_t before_last_key = 0;
      RecordView last;
      ASSERT_OK(table->RecordAt(table->entries() - 1, Checksums::kVerify, &last));
      for (uint64_t i = 0; i < table->entries(); i++) {
        RecordView record;
        ASSERT_OK(table->RecordAt(i, Checksums::kVerify, &record));
        if (!world.order().Equal(record.key, last.key)) before_last_key += table->WordAt(i).size();
      }
      EXPECT_LT(before_last_key, request.payload_limit) << "the last key belongs into the next table";
    }
    if (HasFatalFailure()) return;
  }
}

// Many small records in front of few large ones: an average tells nothing about any table.
TEST(MergeCutTest, RecordsOfVeryDifferentSizesMerge) {
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  for (const bool small_first : {true, false}) {
    std::vector<TestVersion> newer, older;
    for (uint64_t i = 0; i < 9000; i++) {
      const bool small = (i < 8000) == small_first;
      std::vector<TestVersion>& run = i % 2 == 0 ? newer : older;
      run.push_back({std::to_string(1000000 + i), i + 1 + (i % 2 == 0 ? 10000 : 0), kTypeValue,
                     std::string(small ? 0 : 4000, 'v')});
    }
    const VersionFilter filter({});
    MergeRequest request{pool.get(), maker.order(), Purpose::kLazyCopy, &filter, nullptr, {}, {}};
    for (const auto* run : {&newer, &older})
      request.inputs.push_back({maker.Make(SortedVersions(maker.order(), *run))});
    const ExtentList payload = maker.payload();
    request.payload = &payload;
    request.new_table_number = [&] { return maker.NewNumber(); };
    request.payload_limit = 64 * 1024;
    request.copy_extents.bytes = 16 * 1024;
    for (size_t settle_limit : {0, 100}) {
      SCOPED_TRACE(testing::Message() << "small first " << small_first << " settle limit " << settle_limit);
      request.settle_limit = settle_limit;
      MergeResult result;
      ASSERT_OK(MergeRuns(request, &result));
      EXPECT_EQ(9000u, MergeWorld::RunOf(maker.order(), result).entries());
      EXPECT_EQ(0u, result.entries_dropped);
      EXPECT_EQ(9000u, result.entries_read);
      for (const TableRef& table : result.added) EXPECT_LT(table->payload_bytes(), request.payload_limit + 5000);
    }
  }
}

TEST(MergeSpaceTest, CopiesNothingIfTooLittleWouldBeLeft) {
  MergeShape shape;
  MergeWorld world(shape, 1);
  MergeRequest request = world.Request();
  request.settle_limit = 1000;
  request.leave_free = world.pool()->Room().free;
  MergeResult result;
  ASSERT_OK(MergeRuns(request, &result));
  world.Check(result);
  EXPECT_EQ(0u, result.bytes_copied);
}

TEST(MergeSpaceTest, CopiesAsMuchAsThereIsSpaceFor) {
  MergeShape shape;
  shape.keys_per_run = 1000;
  shape.key_count = 1000;
  shape.window = 1000;
  shape.most_value_bytes = 500;
  shape.tombstones = false;
  for (uint64_t seed : Seeds(ByScale(10, 30, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    MergeWorld world(shape, seed);
    MergeRequest request = world.Request();
    request.settle_limit = 1000;
    const uint64_t room = (5 + random.Uniform(40)) * kExtentUnit;
    request.leave_free = world.pool()->Room().free - room;
    MergeResult result;
    ASSERT_OK(MergeRuns(request, &result));
    world.Check(result);
    EXPECT_LE(result.bytes_copied, room);
    EXPECT_GE(world.pool()->Room().free + (uint64_t{1} << 20), request.leave_free);
    if (HasFatalFailure()) return;
  }
}

// Free space in single units: an index goes into as many tables as it takes.
TEST(MergeSpaceTest, ScatteredSpaceMakesMoreTablesNotWrongOnes) {
  for (uint64_t seed : Seeds(ByScale(5, 20, 500))) {
    SCOPED_TRACE(Repeat(seed));
    MergeShape shape;
    shape.inputs = 2;
    shape.older = 0;
    shape.key_count = 2000;
    shape.keys_per_run = 2000;
    shape.window = 2000;
    shape.most_versions = 1;
    shape.versions_per_table = SIZE_MAX;
    MergeWorld world(shape, seed, uint64_t{4} << 20);
    std::vector<ExtentRef> taken;
    for (;;) {
      ExtentRef extent;
      if (!world.pool()->Allocate(kExtentUnit, ExtentKind::kLog, &extent).ok()) break;
      taken.push_back(std::move(extent));
    }
    for (size_t i = 0; i < taken.size(); i += 2 + seed % 3) taken[i].reset();
    const uint64_t before = world.pool()->used_bytes();
    {
      MergeResult result;
      ASSERT_OK(MergeRuns(world.Request(), &result));
      EXPECT_GT(result.added.size(), 1u);
      world.Check(result);
    }
    EXPECT_EQ(before, world.pool()->used_bytes());
    if (HasFatalFailure()) return;
  }
}

TEST(MergeSpaceTest, WithoutSpaceForAnIndexNothingHappens) {
  MergeShape shape;
  shape.older = 0;
  MergeWorld world(shape, 3, uint64_t{2} << 20);
  std::vector<ExtentRef> taken;
  for (;;) {
    ExtentRef extent;
    if (!world.pool()->Allocate(kExtentUnit, ExtentKind::kLog, &extent).ok()) break;
    taken.push_back(std::move(extent));
  }
  {
    MergeResult result;
    EXPECT_STATUS(NoSpace, MergeRuns(world.Request(), &result));
  }
  EXPECT_EQ(0u, world.pool()->Room().free);
  taken.clear();
  MergeResult result;
  ASSERT_OK(MergeRuns(world.Request(), &result));
  world.Check(result);
}

}  // namespace
}  // namespace miodb::test
