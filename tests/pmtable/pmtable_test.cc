// A table answers as the sorted list of its versions does: every shape of keys, every order, every size around the
// limits of nodes.

#include "pmtable/pmtable.h"

#include <gtest/gtest.h>

#include <tuple>

#include "pmtable/table_header.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/status_asserts.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

using OrderFunction = const Comparator* (*)();

class PMTableModel : public testing::TestWithParam<std::tuple<KeyShape, OrderFunction>> {
 protected:
  KeyShape shape() const { return std::get<0>(GetParam()); }
  const Comparator* comparator() const { return std::get<1>(GetParam())(); }

  // A table of this many keys against the model: as built, without filter, opened again, and with a filter built then.
  void CheckKeys(size_t count, size_t spanning, uint64_t seed) {
    SCOPED_TRACE(testing::Message() << count << " keys");
    Random random(seed);
    TestPool pool(uint64_t{1} << 30, 16 << 20);
    TableMaker maker(&pool, comparator());
    const SortedVersions versions(maker.order(), MakeVersions(MakeKeys(shape(), count, maker.order(), &random),
                                                              spanning, 1 + random.Uniform(1000), &random));
    TableMaker::Options options;
    options.filter_bits = random.OneIn(3) ? 0 : 10;
    options.ordered = random.OneIn(3);
    const TableRef table = maker.Make(versions, options);
    const int probes = static_cast<int>(100 + ByScale(versions.size() / 16, versions.size() / 4, versions.size()));
    CheckTable(*table, versions, probes, &random);
    if (HasFatalFailure()) return;
    EXPECT_EQ(options.filter_bits > 0 && maker.order().bytewise(), table->has_filter());

    TableRef reopened;
    ASSERT_OK(maker.Reopen(table, ChecksumsIf(random.OneIn(2)), &reopened));
    EXPECT_FALSE(reopened->has_filter());
    if (count < 1000 || TestScale() != Scale::kQuick) CheckTable(*reopened, versions, probes, &random);
    reopened->BuildFilter(10);
    EXPECT_EQ(maker.order().bytewise(), reopened->has_filter());
    CheckTable(*reopened, versions, probes, &random);
  }
};

TEST_P(PMTableModel, AgreesForAllSizesAroundNodes) {
  for (uint64_t seed : Seeds(ByScale(1, 2, 20))) {
    SCOPED_TRACE(Repeat(seed));
    for (size_t count : {1, 2, 63, 64, 65, 127, 128, 129, 700}) CheckKeys(count, SIZE_MAX, seed);
  }
}

TEST_P(PMTableModel, AgreesWhereALevelIsAdded) {
  for (uint64_t seed : Seeds(ByScale(1, 1, 5))) {
    SCOPED_TRACE(Repeat(seed));
    if (!RunsUnderSanitizer()) CheckKeys(4096, SIZE_MAX, seed);
    CheckKeys(4097, SIZE_MAX, seed);
    if (ByScale(0, 0, 1) == 1) CheckKeys(64 * 64 * 64 + 1, SIZE_MAX, seed);
  }
}

TEST_P(PMTableModel, AgreesWhenVersionsOfAKeySpanLeaves) {
  for (uint64_t seed : Seeds(ByScale(2, 5, 50))) {
    SCOPED_TRACE(Repeat(seed));
    for (size_t count : {1, 50, 200}) CheckKeys(count, seed % count, seed);
    CheckKeys(100, seed % 2 == 0 ? 0 : 99, seed);
  }
}

std::string Name(const testing::TestParamInfo<std::tuple<KeyShape, OrderFunction>>& info) {
  const Comparator* const order = std::get<1>(info.param)();
  const char* const name = order == BytewiseComparator()  ? "Bytewise"
                           : order == ReverseComparator() ? "Reverse"
                                                          : "CaseInsensitive";
  return std::string(std::get<0>(info.param).name) + name;
}

INSTANTIATE_TEST_SUITE_P(Bytewise, PMTableModel,
                         testing::Combine(testing::ValuesIn(KeyShapes()),
                                          testing::Values(OrderFunction(&BytewiseComparator))),
                         Name);
INSTANTIATE_TEST_SUITE_P(
    Others, PMTableModel,
    testing::Combine(testing::Values(KeyShapes()[0], KeyShapes()[2], KeyShapes()[3], KeyShapes()[10]),
                     testing::Values(OrderFunction(&ReverseComparator), OrderFunction(&CaseInsensitiveComparator))),
    Name);

TEST(PMTableTest, OpensAsTheSameTable) {
  Random random(3);
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  const SortedVersions versions(maker.order(),
                                MakeVersions(MakeKeys(KeyShapes()[3], 5000, maker.order(), &random), 70, 100, &random));
  const TableRef table = maker.Make(versions);
  TableRef opened;
  ASSERT_OK(maker.Reopen(table, Checksums::kVerify, &opened));
  EXPECT_EQ(table->number(), opened->number());
  EXPECT_EQ(table->entries(), opened->entries());
  EXPECT_EQ(table->tombstones(), opened->tombstones());
  EXPECT_EQ(table->min_sequence(), opened->min_sequence());
  EXPECT_EQ(table->max_sequence(), opened->max_sequence());
  EXPECT_EQ(table->smallest(), opened->smallest());
  EXPECT_EQ(table->largest(), opened->largest());
  EXPECT_EQ(table->leaf_count(), opened->leaf_count());
  EXPECT_EQ(table->payload_bytes(), opened->payload_bytes());
  EXPECT_GT(maker.made().size(), 1u);
  EXPECT_EQ(UsesOf(*table, maker.payload()), UsesOf(*opened, maker.payload()));
  for (TableFlags flag : {kTableBytewise, kTableDuplicates, kTableSpanning, kTableOrdered, kTableLogged}) {
    EXPECT_EQ(table->has(flag), opened->has(flag)) << flag;
  }
}

TEST(PMTableTest, RefusesAnotherNumberAndAnotherOrder) {
  Random random(3);
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  const SortedVersions versions(maker.order(),
                                MakeVersions(MakeKeys(KeyShapes()[0], 10, maker.order(), &random), 100, 1, &random));
  const TableRef table = maker.Make(versions);
  TableRef opened;
  EXPECT_OK(PMTable::Open(pool.get(), maker.order(), table->index(), table->number(), Checksums::kTrust, &opened));
  opened.reset();
  EXPECT_STATUS(Corruption, PMTable::Open(pool.get(), maker.order(), table->index(), table->number() + 1,
                                          Checksums::kTrust, &opened));
  EXPECT_STATUS(Corruption, PMTable::Open(pool.get(), KeyOrder(ReverseComparator()), table->index(), table->number(),
                                          Checksums::kTrust, &opened));
  EXPECT_EQ(nullptr, opened);
}

TEST(PMTableTest, RefusesExpiriesThatNoTableHas) {
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  const TableRef table =
      maker.Make(SortedVersions(maker.order(), {{"a", 1, kTypeValue, "1"}, {"b", 2, kTypeValue, "2"}}));
  TableHeader header;
  memcpy(&header, table->index()->data(), sizeof(header));
  const auto is_refused = [&](uint64_t expiring, uint64_t first, uint64_t last, uint32_t flags) {
    header.expiring = expiring;
    header.first_expiry = first;
    header.last_expiry = last;
    header.flags = (header.flags & ~uint32_t{kTableKinds | kTableExpiring}) | flags;
    return !TableHeaderProblem(header, table->index()->size(), table->number(), true).empty();
  };
  EXPECT_FALSE(is_refused(0, 0, 0, 0));
  EXPECT_FALSE(is_refused(2, 5, 5, kTableKinds | kTableExpiring));
  EXPECT_TRUE(is_refused(0, 5, 5, kTableKinds | kTableExpiring));
  EXPECT_TRUE(is_refused(3, 5, 5, kTableKinds | kTableExpiring));
  EXPECT_TRUE(is_refused(2, 6, 5, kTableKinds | kTableExpiring));
  EXPECT_TRUE(is_refused(2, 0, 5, kTableKinds | kTableExpiring)) << "no record expires at moment 0";
  EXPECT_TRUE(is_refused(2, 5, 5, kTableExpiring));
  EXPECT_TRUE(is_refused(2, 5, 5, kTableKinds));
  EXPECT_TRUE(is_refused(0, 5, 5, 0));
}

TEST(PMTableTest, KeepsItsIndexAndGivesItsSpaceBack) {
  Random random(4);
  TestPool pool;
  const uint64_t before = pool->used_bytes();
  TableMaker maker(&pool, BytewiseComparator());
  const SortedVersions versions(maker.order(),
                                MakeVersions(MakeKeys(KeyShapes()[0], 3000, maker.order(), &random), 100, 1, &random));
  TableRef table = maker.Make(versions);
  uint64_t payload = 0;
  for (const MadePayload& made : maker.made()) payload += made.extent->size();
  EXPECT_EQ(before + payload + table->index()->size(), pool->used_bytes());
  TableRef other;
  ASSERT_OK(maker.Reopen(table, Checksums::kTrust, &other));
  table.reset();
  EXPECT_GT(pool->used_bytes(), before + payload);
  other.reset();
  EXPECT_EQ(before + payload, pool->used_bytes());
  maker.TakeMade();
  EXPECT_EQ(before, pool->used_bytes());
}

TEST(InnerLevelSizesTest, EveryLevelHasANodeForEach64OfTheLevelBelow) {
  EXPECT_TRUE(InnerLevelSizes(1).empty());
  EXPECT_EQ(std::vector<uint64_t>({1}), InnerLevelSizes(2));
  EXPECT_EQ(std::vector<uint64_t>({1}), InnerLevelSizes(64));
  EXPECT_EQ(std::vector<uint64_t>({2, 1}), InnerLevelSizes(65));
  EXPECT_EQ(std::vector<uint64_t>({64, 1}), InnerLevelSizes(4096));
  EXPECT_EQ(std::vector<uint64_t>({65, 2, 1}), InnerLevelSizes(4097));
  for (uint64_t leaves = 1; leaves < 300000; leaves += 97) {
    uint64_t below = leaves;
    for (uint64_t nodes : InnerLevelSizes(leaves)) {
      ASSERT_TRUE((nodes - 1) * 64 < below && below <= nodes * 64);
      below = nodes;
    }
    ASSERT_EQ(1u, below);
  }
}

}  // namespace
}  // namespace miodb::test
