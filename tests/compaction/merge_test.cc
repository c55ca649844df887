// Merges of random runs leave exactly what reads may need (merge_world.h).

#include "compaction/merge/merge.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <utility>

#include "tests/common/environment.h"
#include "tests/common/free_space.h"
#include "tests/common/random/comparators.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/compaction/merge_world.h"

namespace miodb::test {
namespace {

// Merges a world of this shape once and checks the result; all space comes back.
void MergeAndCheck(const MergeShape& shape, uint64_t seed, void (*change)(MergeRequest*) = nullptr) {
  MergeWorld world(shape, seed);
  MergeRequest request = world.Request();
  if (change != nullptr) change(&request);
  const uint64_t before = world.pool()->used_bytes();
  const uint64_t fences = world.pool()->persist().counters(request.purpose).fences.load();
  {
    MergeResult result;
    ASSERT_OK(MergeRuns(request, &result));
    EXPECT_GT(world.pool()->persist().counters(request.purpose).fences.load(), fences) << "not durable";
    world.Check(result);
  }
  EXPECT_EQ(before, world.pool()->used_bytes()) << "space was leaked";
}

MergeShape DrawShape(const KeyShape& keys, uint64_t most_inputs, Random* random) {
  MergeShape shape;
  shape.keys = keys;
  shape.inputs = 1 + random->Uniform(most_inputs);
  shape.older = random->Uniform(3);
  shape.window = 20 + random->Uniform(180);
  shape.versions_per_table = 1 + random->Skewed(8);
  shape.snapshots = random->OneIn(2) ? 0 : random->Uniform(6);
  return shape;
}

class MergeShapes : public testing::TestWithParam<KeyShape> {};

TEST_P(MergeShapes, LeaveWhatReadsNeed) {
  for (uint64_t seed : Seeds(ByScale(12, 40, 2000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    MergeShape shape = DrawShape(GetParam(), 8, &random);
    shape.tables.filter_bits = random.OneIn(2) ? 10 : 0;
    MergeAndCheck(shape, seed);
    MergeAndCheck(shape, seed, [](MergeRequest* request) { request->sharing = InThreads(5); });
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST_P(MergeShapes, LeaveItUnderOtherOrdersToo) {
  for (const Comparator* comparator : {ReverseComparator(), CaseInsensitiveComparator()}) {
    for (uint64_t seed : Seeds(ByScale(4, 10, 500))) {
      SCOPED_TRACE(Repeat(seed));
      Random random(seed);
      MergeShape shape;
      shape.comparator = comparator;
      shape.keys = GetParam();
      shape.inputs = 1 + random.Uniform(5);
      shape.window = 20 + random.Uniform(180);
      shape.versions_per_table = 1 + random.Skewed(8);
      shape.snapshots = random.Uniform(4);
      MergeAndCheck(shape, seed);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MergeShapes, testing::ValuesIn(KeyShapes()),
                         [](const auto& name) { return name.param.name; });

TEST(MergeTest, AnyNumberOfInputsMerges) {
  for (size_t inputs = 1; inputs <= 8; inputs++) {
    for (size_t older : {0, 1, 4}) {
      SCOPED_TRACE(testing::Message() << inputs << " inputs over " << older);
      MergeShape shape;
      shape.inputs = inputs;
      shape.older = older;
      shape.keys_per_run = 1000;
      shape.key_count = 1000;
      shape.window = 1000;
      MergeAndCheck(shape, inputs * 10 + older);
    }
  }
}

TEST(MergeTest, EqualKeysInAllInputsKeepTheNewest) {
  for (size_t snapshots : {0, 1, 5}) {
    SCOPED_TRACE(snapshots);
    MergeShape shape;
    shape.key_count = 3;
    shape.keys_per_run = 20;
    shape.inputs = 8;
    shape.snapshots = snapshots;
    for (uint64_t seed = 1; seed <= 20; seed++) MergeAndCheck(shape, seed);
  }
}

// A range takes tables apart, and no read sees a difference.
TEST_P(MergeShapes, OfARangeLeaveAllElse) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseComparator()}) {
    for (uint64_t seed : Seeds(ByScale(12, 40, 2000))) {
      SCOPED_TRACE(Repeat(seed));
      Random random(seed);
      MergeShape shape = DrawShape(GetParam(), 5, &random);
      shape.comparator = comparator;
      MergeWorld world(shape, seed);
      MergeRequest request = world.Request();
      if (random.OneIn(3)) request.payload_limit = 1 + random.Uniform(4096);
      if (random.OneIn(3)) request.settle_limit = 4096;
      request.sharing = InThreads(1 + random.Uniform(4));
      const std::vector<TableRef> tables = world.InputTables();
      const auto any_key = [&] {
        const PMTable& table = *tables[random.Uniform(tables.size())];
        RecordView record;
        EXPECT_OK(table.RecordAt(random.Uniform(table.entries()), Checksums::kVerify, &record));
        return record.key.ToString();
      };
      std::string from = any_key(), to = any_key();
      if (world.order().Compare(from, to) > 0) std::swap(from, to);
      if (!random.OneIn(3)) request.range.from = from;
      if (!random.OneIn(3)) request.range.to = to;
      MergeResult result;
      ASSERT_OK(MergeRuns(request, &result));
      world.CheckRange(result, request.range);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Any number of shares takes the same entries, and the shares are of like sizes.
TEST(MergeTest, SharesAreOfLikeSizes) {
  MergeShape shape;
  shape.key_count = shape.keys_per_run = shape.window = 40000;
  shape.versions_per_table = SIZE_MAX;
  shape.most_versions = 1;
  shape.inputs = 4;
  shape.snapshots = 0;
  shape.tables.extent_bytes = 1 << 20;
  uint64_t entries = 0, dropped = 0;
  for (const size_t count : {1, 2, 8, 32}) {
    SCOPED_TRACE(count);
    MergeWorld world(shape, 1);
    MergeRequest request = world.Request();
    request.sharing = InThreads(count);
    MergeResult result;
    ASSERT_OK(MergeRuns(request, &result));
    world.Check(result);
    ASSERT_EQ(count, result.shares.size());
    EXPECT_EQ(result.entries_read, std::accumulate(result.shares.begin(), result.shares.end(), uint64_t{0}));
    if (count == 1) entries = result.entries_read, dropped = result.entries_dropped;
    EXPECT_EQ(entries, result.entries_read);
    EXPECT_EQ(dropped, result.entries_dropped);
    const uint64_t most = *std::max_element(result.shares.begin(), result.shares.end());
    EXPECT_LE(most * count, entries / 10 * 12);
  }
}

// Clusters that are too small to be cut, and a cluster that is most of the merge.
TEST(MergeTest, SharesOfManyClusters) {
  for (uint64_t seed : Seeds(ByScale(20, 50, 1000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    MergeShape shape;
    shape.key_count = 2000;
    shape.keys_per_run = 1000;
    shape.window = random.OneIn(2) ? 20 : 600;
    shape.versions_per_table = 1 + random.Skewed(8);
    shape.inputs = 2 + random.Uniform(5);
    MergeAndCheck(shape, seed, [](MergeRequest* request) {
      request->sharing = InThreads(8);
      request->rewrites = Rewrites::kAll;
    });
    MergeAndCheck(shape, seed, [](MergeRequest* request) {
      request->sharing = InThreads(3);
      request->settle_limit = 4096;
      request->payload_limit = 3000;
    });
    if (testing::Test::HasFatalFailure()) return;
  }
}

// An error of any share is that of the merge, and no share leaves anything.
TEST(MergeTest, AShareThatFailsLeavesNothing) {
  MergeShape shape;
  shape.key_count = shape.keys_per_run = shape.window = 5000;
  MergeWorld world(shape, 1);
  MergeRequest request = world.Request();
  request.sharing = InThreads(4);
  std::atomic<int> asked{0};
  request.stop = [&] { return ++asked == 2; };
  const uint64_t before = world.pool()->used_bytes();
  {
    MergeResult result;
    EXPECT_STATUS(IOError, MergeRuns(request, &result));
    EXPECT_TRUE(result.given_up && result.removed.empty());
  }
  EXPECT_EQ(before, world.pool()->used_bytes());
}

TEST(MergeTest, AKeyOfManyVersionsStaysInOneTable) {
  MergeShape shape;
  shape.key_count = 5;
  shape.keys_per_run = 20;
  shape.most_versions = 300;
  shape.inputs = 4;
  shape.snapshots = 200;
  for (uint64_t seed = 1; seed <= ByScale(3, 10, 100); seed++) {
    MergeAndCheck(shape, seed, [](MergeRequest* request) { request->payload_limit = 4096; });
    MergeAndCheck(shape, seed, [](MergeRequest* request) { request->sharing = InThreads(8); });
  }
}

TEST(MergeTest, LargeTablesMerge) {
  MergeShape shape;
  shape.key_count = ByScale(20000, 50000, 1000000);
  shape.keys_per_run = shape.key_count;
  shape.window = shape.key_count;
  shape.versions_per_table = SIZE_MAX;
  shape.most_versions = 1;
  shape.inputs = 3;
  shape.snapshots = 1;
  shape.tables.extent_bytes = 1 << 20;
  MergeAndCheck(shape, 1);
}

TEST(MergeTest, TablesThatOverlapNothingAreMovedAndNotRewritten) {
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  std::vector<TableRef> tables;
  for (char c = 'a'; c < 'i'; c++) {
    std::vector<TestVersion> versions;
    for (int i = 0; i < 100; i++)
      versions.push_back({c + std::to_string(i), tables.size() * 100 + 1 + i, kTypeValue, "v"});
    tables.push_back(maker.Make(SortedVersions(maker.order(), versions)));
  }
  const VersionFilter filter({});
  ExtentList payload = maker.payload();
  MergeRequest request{pool.get(), maker.order(), Purpose::kMerge, &filter, &payload, {}, {}};
  request.new_table_number = [&] { return maker.NewNumber(); };
  for (size_t i = 0; i < 8; i += 2) request.inputs.push_back({tables[i], tables[i + 1]});
  const uint64_t bytes = pool->persist().TotalBytes();
  MergeResult result;
  ASSERT_OK(MergeRuns(request, &result));
  EXPECT_EQ(8u, result.moved.size());
  EXPECT_TRUE(result.added.empty() && result.removed.empty());
  EXPECT_EQ(0u, result.entries_read);
  EXPECT_EQ(bytes, pool->persist().TotalBytes()) << "a move writes nothing";
  // A table in the way of two makes one merge of three.
  const TableRef bridge =
      maker.Make(SortedVersions(maker.order(), {{"a5", 5000, kTypeValue, "x"}, {"b5", 5001, kTypeValue, "y"}}));
  request.inputs.insert(request.inputs.begin(), {bridge});
  payload = maker.payload();
  result = MergeResult();
  ASSERT_OK(MergeRuns(request, &result));
  EXPECT_EQ(6u, result.moved.size());
  EXPECT_EQ(3u, result.removed.size());
  EXPECT_EQ(1u, result.added.size());
  EXPECT_EQ(202u, result.entries_read);
  EXPECT_EQ(2u, result.entries_dropped);
}

TEST(MergeTest, ATableOfOnlyDroppedEntriesLeavesNothing) {
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  const TableRef tombstones =
      maker.Make(SortedVersions(maker.order(), {{"a", 10, kTypeDeletion, ""}, {"b", 11, kTypeDeletion, ""}}));
  const TableRef values =
      maker.Make(SortedVersions(maker.order(), {{"a", 1, kTypeValue, "x"}, {"b", 2, kTypeValue, "y"}}));
  const VersionFilter filter({});
  const ExtentList payload = maker.payload();
  MergeRequest request{pool.get(), maker.order(), Purpose::kMerge, &filter, &payload, {{tombstones}, {values}}, {}};
  request.new_table_number = [&] { return maker.NewNumber(); };
  MergeResult result;
  ASSERT_OK(MergeRuns(request, &result));
  EXPECT_TRUE(result.added.empty() && result.moved.empty());
  EXPECT_EQ(2u, result.removed.size());
  EXPECT_EQ(4u, result.entries_dropped);
  EXPECT_TRUE(result.payload.made.empty());
  EXPECT_EQ(maker.made().size(), result.payload.dropped.size());
}

// So many keys that a merge asks more than once whether to stop.
MergeShape ManyKeys() {
  MergeShape shape;
  shape.key_count = 5000;
  shape.keys_per_run = 5000;
  shape.window = 5000;
  return shape;
}

TEST(MergeTest, GivesUpWhenToldToAndLeaksNothing) {
  MergeWorld world(ManyKeys(), 1);
  MergeRequest request = world.Request();
  request.stop = [] { return true; };
  const uint64_t before = world.pool()->used_bytes();
  {
    MergeResult result;
    EXPECT_FALSE(MergeRuns(request, &result).ok());
    EXPECT_TRUE(result.given_up);
  }
  EXPECT_EQ(before, world.pool()->used_bytes());
}

// Tables that no edit names, of a merge that was given up or of one that was done, are no tables to a repair.
TEST(MergeTest, TablesThatNoEditNamesLeaveNoHeader) {
  MergeWorld world(ManyKeys(), 1);
  const auto headers = [&] {
    std::set<PmRef> found;
    for (PmRef ref = kPoolHeaderSize; ref < world.pool()->file_bytes(); ref += kExtentUnit) {
      if (WordAt(world.pool()->At(ref)) == kTableMagic) found.insert(ref);
    }
    return found;
  };
  const std::set<PmRef> before = headers();
  for (const bool gives_up : {true, false}) {
    MergeRequest request = world.Request();
    request.payload_limit = 4096;
    int asked = 0;
    request.stop = [&] { return gives_up && ++asked > 1; };
    {
      MergeResult result;
      EXPECT_EQ(!gives_up, MergeRuns(request, &result).ok());
      EXPECT_TRUE(headers().size() > before.size() || gives_up);
    }
    EXPECT_EQ(before, headers());
  }
}

// Gives the first leaf of a table the checksum that is right for what is in it.
void SealFirst(LeafNode* leaf) {
  leaf->header.checksum =
      Hash64(reinterpret_cast<const char*>(leaf) + 8, sizeof(*leaf) - 8, NodeSeed(kTestSecret, sizeof(TableHeader)));
}

// Has two entries of a leaf change places.
void SwapEntries(LeafNode* leaf, int a, int b) {
  const uint32_t hash = leaf->Hash(a);
  leaf->SetHash(a, leaf->Hash(b));
  leaf->SetHash(b, hash);
  std::swap(leaf->head[a], leaf->head[b]);
  std::swap(leaf->word[a], leaf->word[b]);
  SealFirst(leaf);
}

TEST(MergeTest, ATableOutOfOrderIsDamage) {
  for (const bool beginning : {true, false}) {
    SCOPED_TRACE(beginning);
    MergeShape shape;
    shape.most_versions = 1;
    MergeWorld world(shape, 1);
    MergeRequest request = world.Request();
    request.rewrites = Rewrites::kAll;
    const TableRef victim = world.InputTables()[0];
    ASSERT_GT(victim->LeafEntries(0), 3);
    const int first = beginning ? 0 : 1;
    SwapEntries(reinterpret_cast<LeafNode*>(victim->index()->data() + sizeof(TableHeader)), first, first + 1);
    MergeResult result;
    EXPECT_STATUS(Corruption, MergeRuns(request, &result));
  }
}

// The checksums of the leaf are right, and its entries tell of other records than it refers to.
TEST(MergeTest, EntriesThatDoNotFitTheirRecordsAreDamageOrHarmless) {
  int damaged = 0;
  for (uint64_t seed : Seeds(ByScale(100, 500, 20000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    MergeShape shape;
    shape.keys = KeyShapes()[random.Uniform(KeyShapes().size())];
    shape.inputs = 3;
    shape.snapshots = random.Uniform(3);
    MergeWorld world(shape, seed);
    MergeRequest request = world.Request();
    request.rewrites = Rewrites::kAll;
    request.may_copy = random.OneIn(2);
    request.settle_limit = request.may_copy ? random.Skewed(12) : 0;
    const std::vector<TableRef> tables = world.InputTables();
    for (uint64_t n = 1 + random.Uniform(2); n > 0; n--) {
      const TableRef& victim = tables[random.Uniform(tables.size())];
      auto* const leaf = reinterpret_cast<LeafNode*>(victim->index()->data() + sizeof(TableHeader));
      const auto any = [&] { return random.Uniform(static_cast<uint64_t>(victim->LeafEntries(0))); };
      switch (random.Uniform(6)) {
        case 0:
          std::swap(leaf->word[any()], leaf->word[any()]);
          break;
        case 1:
          std::swap(leaf->head[any()], leaf->head[any()]);
          break;
        case 2:
          leaf->word[any()] = leaf->word[any()];
          break;
        case 3:
          leaf->word[any()] ^= uint64_t{1} << random.Uniform(64);
          break;
        case 4:
          leaf->header.prefix_size = static_cast<uint8_t>(random.Uniform(kMaxNodePrefix + 1));
          break;
        default:
          leaf->header.suffix_size = static_cast<uint8_t>(random.Uniform(kHeadSize + 1));
      }
      SealFirst(leaf);
    }
    const uint64_t before = world.pool()->used_bytes();
    {
      MergeResult result;
      const Status s = MergeRuns(request, &result);
      EXPECT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
      if (!s.ok()) damaged++;
    }
    EXPECT_EQ(before, world.pool()->used_bytes());
  }
  EXPECT_GT(damaged, 0);
}

// A copy is accounted by the bytes that were copied, or its extent would have more live bytes than there can be.
TEST(MergeTest, ACopyHasTheSizeOfItsRecord) {
  MergeShape shape;
  shape.tombstones = false;
  MergeWorld world(shape, 1);
  MergeRequest request = world.Request();
  request.rewrites = Rewrites::kAll;
  request.may_copy = true;
  request.settle_limit = UINT64_MAX;
  const TableRef table = world.InputTables()[0];
  auto* const leaf = reinterpret_cast<LeafNode*>(table->index()->data() + sizeof(TableHeader));
  for (int i = 0; i < table->LeafEntries(0); i++) {
    leaf->word[i] = IndexWord(IndexWord(leaf->word[i]).ref(), kTypeValue, 1 << 16).bits();
  }
  SealFirst(leaf);
  MergeResult result;
  const Status s = MergeRuns(request, &result);
  EXPECT_TRUE(s.ok() || s.IsCorruption()) << s.ToString();
  for (const MadePayload& made : result.payload.made) EXPECT_LE(made.live_bytes, made.extent->payload_bytes());
}

TEST(MergeTest, AnEntryThatExpiresInATableThatSaysNothingOfItIsDamage) {
  MergeWorld world(MergeShape(), 1);
  MergeRequest request = world.Request();
  request.rewrites = Rewrites::kAll;
  auto* const leaf = reinterpret_cast<LeafNode*>(world.InputTables()[0]->index()->data() + sizeof(TableHeader));
  const IndexWord word(leaf->word[0]);
  leaf->word[0] = IndexWord(word.ref(), kTypeExpiringValue, word.size()).bits();
  SealFirst(leaf);
  MergeResult result;
  EXPECT_STATUS(Corruption, MergeRuns(request, &result));
}

TEST(MergeTest, DamageEndsItWithCorruption) {
  for (uint64_t seed : Seeds(ByScale(30, 100, 3000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    MergeShape shape;
    shape.keys = KeyShapes()[random.Uniform(KeyShapes().size())];
    shape.inputs = 3;
    MergeWorld world(shape, seed);
    MergeRequest request = world.Request();
    request.rewrites = Rewrites::kAll;
    // Changes a bit of a leaf of one input.
    const std::vector<TableRef> tables = world.InputTables();
    const TableRef& victim = tables[random.Uniform(tables.size())];
    const uint64_t bit = random.Uniform(victim->leaf_count() * sizeof(LeafNode) * 8);
    char* const byte = victim->index()->data() + sizeof(TableHeader) + bit / 8;
    *byte = static_cast<char>(*byte ^ (1 << bit % 8));
    const uint64_t before = world.pool()->used_bytes();
    {
      MergeResult result;
      EXPECT_STATUS(Corruption, MergeRuns(request, &result));
    }
    EXPECT_EQ(before, world.pool()->used_bytes());
  }
}

}  // namespace
}  // namespace miodb::test
