#include "pmtable/run.h"

#include <gtest/gtest.h>

#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/status_asserts.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

class RunTest : public testing::TestWithParam<const Comparator* (*)()> {
 protected:
  void Make(const KeyShape& shape, size_t keys, size_t versions_per_table, Random* random) {
    run_.tables = TableList();
    maker_ = std::make_unique<TableMaker>(&pool_, GetParam()());
    versions_ = std::make_unique<SortedVersions>(
        maker_->order(),
        MakeVersions(MakeKeys(shape, keys, maker_->order(), random), random->Uniform(2 * keys), 1, random));
    TableMaker::Options options;
    options.filter_bits = random->OneIn(2) ? 10 : 0;
    run_.tables = maker_->MakeRun(*versions_, versions_per_table, options);
  }

  TestPool pool_{uint64_t{256} << 20};
  std::unique_ptr<TableMaker> maker_;
  std::unique_ptr<SortedVersions> versions_;
  miodb::Run run_;  // not testing::Test::Run
};

TEST_P(RunTest, WalksSeeksAndTurnsAsTheSortedVersionsDo) {
  for (uint64_t seed : Seeds(ByScale(2, 5, 50))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    for (const KeyShape& shape : KeyShapes()) {
      SCOPED_TRACE(shape.name);
      Make(shape, 1 + random.Uniform(300), 1 + random.Skewed(7), &random);
      EXPECT_EQ(versions_->size(), run_.entries());
      for (const Checksums checksums : {Checksums::kTrust, Checksums::kVerify}) {
        const auto iterator = NewRunIterator(&run_, maker_->order(), checksums);
        EXPECT_FALSE(iterator->Valid());
        CheckIterator(iterator.get(), *versions_, 1000, &random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(RunTest, GetsFromTheTableThatMayHoldTheKey) {
  for (uint64_t seed : Seeds(ByScale(3, 10, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    Make(KeyShapes()[seed % KeyShapes().size()], 200, 1 + random.Uniform(60), &random);
    std::vector<std::string> keys{""};
    for (const TestVersion& v : versions_->all()) keys.push_back(v.key);
    for (int i = 0; i < 3000; i++) {
      const std::string key = NearKey(keys, &random);
      const uint64_t sequence = random.OneIn(2) ? kMaxSequence : random.Uniform(versions_->size() + 2);
      const TestVersion* const expected = versions_->Find(key, sequence);
      bool found;
      RecordView record;
      const LookupKey lookup(maker_->order(), key, sequence, ChecksumsIf(random.OneIn(2)));
      ASSERT_OK(run_.Get(maker_->order(), lookup, &found, &record));
      ASSERT_EQ(expected != nullptr, found);
      if (found) ExpectVersion(*expected, record);
      const size_t table = run_.FindTable(maker_->order(), key);
      ASSERT_TRUE(table == run_.tables.size() || maker_->order().Compare(run_.tables[table]->largest(), key) >= 0);
      ASSERT_TRUE(table == 0 || maker_->order().Compare(run_.tables[table - 1]->largest(), key) < 0);
    }
  }
}

// Changes a leaf of the table and makes its checksum right.
template <typename Change>
void ChangeLeaf(const PMTable& table, uint64_t leaf, Change change) {
  const uint64_t offset = sizeof(TableHeader) + leaf * sizeof(LeafNode);
  auto* const node = reinterpret_cast<LeafNode*>(table.index()->data() + offset);
  change(node);
  node->header.checksum =
      Hash64(reinterpret_cast<const char*>(node) + 8, sizeof(*node) - 8, NodeSeed(table.pool()->secret(), offset));
}

// A walk that leaves out stretches searches for their ends, and the search may lead anywhere.
TEST_P(RunTest, AWalkEndsWhateverTheOrderOfEntriesIs) {
  for (uint64_t seed : Seeds(ByScale(20, 100, 2000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    Make(KeyShapes()[seed % KeyShapes().size()], 100 + random.Uniform(200), 1000, &random);
    const PMTable& table = *run_.tables[0];
    for (int i = 0; i < 3; i++) {
      const uint64_t leaf = random.Uniform(table.leaf_count());
      const auto any = [&] { return random.Uniform(static_cast<uint64_t>(table.LeafEntries(leaf))); };
      ChangeLeaf(table, leaf, [&](LeafNode* node) {
        std::swap(node->word[any()], node->word[any()]);
        if (random.OneIn(2)) std::swap(node->head[any()], node->head[any()]);
      });
    }
    for (int i = 0; i < 20; i++) {
      const std::string bound = (*versions_)[random.Uniform(versions_->size())].key;
      const KeyOrder& order = maker_->order();
      const auto it = NewRunIterator(&run_, order, ChecksumsIf(random.OneIn(2)));
      uint64_t steps = 0;
      for (it->SeekToFirst(); it->Valid() && steps <= run_.entries(); steps++) {
        order.Compare(it->record().key, bound) < 0 ? it->NextFrom(bound, UINT64_MAX) : it->Next();
      }
      ASSERT_LE(steps, run_.entries()) << "forward";
      steps = 0;
      for (it->SeekToLast(); it->Valid() && steps <= run_.entries(); steps++) {
        order.Compare(it->record().key, bound) >= 0 ? it->PrevBefore(bound, UINT64_MAX) : it->Prev();
      }
      ASSERT_LE(steps, run_.entries()) << "backward";
      ASSERT_TRUE(it->status().ok() || it->status().IsCorruption()) << it->status().ToString();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, RunTest,
                         testing::Values(&BytewiseComparator, &ReverseComparator, &CaseInsensitiveComparator),
                         [](const auto& name) {
                           return name.index == 0 ? "Bytewise" : name.index == 1 ? "Reverse" : "CaseInsensitive";
                         });

TEST(EmptyRun, HasNothing) {
  const miodb::Run run;
  const KeyOrder order(BytewiseComparator());
  EXPECT_EQ(0u, run.entries());
  EXPECT_EQ(0u, run.payload_bytes());
  EXPECT_EQ(0u, run.FindTable(order, "x"));
  bool found = true;
  RecordView record;
  ASSERT_OK(run.Get(order, LookupKey(order, "x", kMaxSequence, Checksums::kVerify), &found, &record));
  EXPECT_FALSE(found);
  const auto iterator = NewRunIterator(&run, order, Checksums::kVerify);
  iterator->SeekToFirst();
  EXPECT_FALSE(iterator->Valid());
  iterator->SeekToLast();
  EXPECT_FALSE(iterator->Valid());
  iterator->Seek("x", 0);
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
}

}  // namespace
}  // namespace miodb::test
