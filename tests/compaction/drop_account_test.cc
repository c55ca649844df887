#include "compaction/merge/drop_account.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

// By the list of extents, and by the table of slots that a large job makes.
TEST(DropAccountTest, EveryByteIsOfTheExtentThatHoldsIt) {
  for (uint64_t seed : Seeds(ByScale(20, 50, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    TestPool pool;
    TableMaker maker(&pool, BytewiseComparator());
    const TableRef table = maker.Make(SortedVersions(maker.order(), {{"a", 1, kTypeValue, "1"}}));
    ExtentList payload;
    std::vector<ExtentRef> unknown;
    for (uint64_t i = random.Uniform(40); i > 0; i--) {
      ExtentRef extent = pool.Allocate((1 + random.Uniform(4)) * kExtentUnit);
      if (random.OneIn(3)) {
        unknown.push_back(std::move(extent));
      } else {
        payload.Insert(ExtentsBefore(payload, extent->offset()), extent);
      }
    }
    const PayloadExtents extents(payload, random.OneIn(2) ? 0 : 1000);
    DropAccount account(extents), other(extents);
    EXPECT_EQ(nullptr, account.Find(kExtentUnit));
    std::map<PmRef, uint64_t> kept, pending;
    for (int i = 0; i < 300 && !payload.empty(); i++) {
      const ExtentRef& extent = payload[random.Uniform(payload.size())];
      const PmRef ref = extent->offset() + random.Uniform(extent->size());
      const IndexWord word(ref, kTypeValue, 1 + random.Uniform(100));
      ASSERT_EQ(extent.get(), account.Find(ref));
      ASSERT_OK(account.Drop(*table, word));
      pending[extent->offset()] += word.size();
      for (const ExtentRef& stranger : unknown) {
        ASSERT_EQ(nullptr, account.Find(stranger->offset()));
        EXPECT_STATUS(Corruption, account.Drop(*table, word.WithRef(stranger->offset())));
      }
      if (!random.OneIn(20)) continue;
      if (random.OneIn(2)) {
        account.Commit();
        if (random.OneIn(2)) other.Absorb(&account);  // as the accounts of shares are
        for (const auto& [offset, bytes] : pending) kept[offset] += bytes;
      } else {
        account.Rollback();
      }
      pending.clear();
    }
    account.Rollback();
    account.Absorb(&other);
    EXPECT_TRUE(other.Take().empty());
    std::map<PmRef, uint64_t> taken;
    for (const DroppedPayload& drop : account.Take()) {
      ASSERT_TRUE(taken.empty() || taken.rbegin()->first < drop.extent->offset());
      taken.emplace(drop.extent->offset(), drop.bytes);
    }
    EXPECT_EQ(kept, taken);
    EXPECT_TRUE(account.Take().empty());
  }
}

TEST(DropAccountTest, ATableThatGoesDropsAllOfItsWords) {
  Random random(1);
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  const SortedVersions versions(maker.order(),
                                MakeVersions(MakeKeys(KeyShapes()[0], 3000, maker.order(), &random), 100, 1, &random));
  const std::vector<TableRef> tables = maker.MakeRun(versions, 500, TableMaker::Options());
  std::vector<DroppedPayload> dropped;
  ASSERT_OK(DropTables(maker.payload(), tables, &dropped));
  std::map<PmRef, uint64_t> expected, found;
  for (const MadePayload& made : maker.made()) expected[made.extent->offset()] = made.live_bytes;
  for (const DroppedPayload& drop : dropped) found[drop.extent->offset()] = drop.bytes;
  EXPECT_EQ(expected, found);
  EXPECT_STATUS(Corruption, DropTables(ExtentList(), tables, &dropped));
}

}  // namespace
}  // namespace miodb::test
