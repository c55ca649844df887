#include "pmtable/index_cursor.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/status_asserts.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

int Sign(int c) { return c < 0 ? -1 : static_cast<int>(c > 0); }

// The known bytes must be those of the key, and zeros follow them.
void ExpectKnown(const IndexEntry& entry, const std::string& key, const KeyOrder& order) {
  if (!order.bytewise()) {
    ASSERT_FALSE(entry.complete);
    return;
  }
  ASSERT_LE(entry.known_size, kMaxKnownBytes);
  std::string padded = key;
  padded.resize(std::max<size_t>(key.size(), kMaxKnownBytes), '\0');
  ASSERT_EQ(padded.substr(0, entry.known_size), std::string(entry.known, entry.known_size));
  if (entry.complete) {
    ASSERT_EQ(key.size(), entry.known_size);
  } else {
    ASSERT_GE(entry.known_size, kHeadSize);
  }
  for (size_t i = entry.known_size; i < kMaxKnownBytes; i++) ASSERT_EQ(0, entry.known[i]);
}

class IndexCursorTest : public testing::TestWithParam<KeyShape> {
 protected:
  void Make(const Comparator* comparator, size_t keys, size_t per_table, Random* random) {
    maker_ = std::make_unique<TableMaker>(&pool_, comparator);
    versions_ = std::make_unique<SortedVersions>(
        maker_->order(),
        MakeVersions(MakeKeys(GetParam(), keys, maker_->order(), random), random->Uniform(3 * keys), 1, random));
    tables_ = maker_->MakeRun(*versions_, per_table, TableMaker::Options());
  }

  TestPool pool_{uint64_t{256} << 20};
  std::unique_ptr<TableMaker> maker_;
  std::unique_ptr<SortedVersions> versions_;
  std::vector<TablePiece> Pieces() const { return {tables_.begin(), tables_.end()}; }

  std::vector<TableRef> tables_;
};

TEST_P(IndexCursorTest, YieldsEveryEntryOfEveryTableInOrder) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseComparator(), CaseInsensitiveComparator()}) {
    Random random(1);
    Make(comparator, 500, 130, &random);
    bool failed = false;
    IndexCursor cursor(Pieces(), &failed);
    for (size_t i = 0; i < versions_->size(); i++) {
      ASSERT_TRUE(cursor.Valid());
      const TestVersion& v = (*versions_)[i];
      ExpectKnown(cursor.entry(), v.key, maker_->order());
      ASSERT_EQ(v.type == kTypeDeletion, cursor.entry().word.tombstone());
      ASSERT_EQ(LookupKey(maker_->order(), v.key, 0).hash, cursor.entry().hash);
      RecordView record;
      ASSERT_TRUE(cursor.ReadRecord(&record));
      ExpectVersion(v, record);
      cursor.Next();
    }
    EXPECT_FALSE(cursor.Valid());
    EXPECT_OK(cursor.status());
    EXPECT_FALSE(failed);
  }
}

TEST_P(IndexCursorTest, YieldsTheEntriesOfPiecesAlone) {
  for (uint64_t seed : Seeds(ByScale(20, 40, 400))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    Make(BytewiseComparator(), 500, 1 + random.Uniform(300), &random);
    std::vector<TablePiece> pieces;
    std::vector<size_t> expected;
    size_t first = 0;
    for (const TableRef& table : tables_) {
      const uint64_t begin = random.Uniform(table->entries());
      const uint64_t end = begin + 1 + random.Uniform(table->entries() - begin);
      if (!random.OneIn(4)) {
        pieces.emplace_back(table, begin, end);
        for (uint64_t i = begin; i < end; i++) expected.push_back(first + i);
      }
      first += table->entries();
    }
    if (pieces.empty()) continue;
    bool failed = false;
    IndexCursor cursor(pieces, &failed);
    for (const size_t i : expected) {
      ASSERT_TRUE(cursor.Valid());
      RecordView record;
      ASSERT_TRUE(cursor.ReadRecord(&record));
      ExpectVersion((*versions_)[i], record);
      cursor.Next();
    }
    EXPECT_FALSE(cursor.Valid());
    EXPECT_FALSE(failed);
  }
}

TEST_P(IndexCursorTest, KnowsTheOrderOfTwoKeysOrSaysThatItDoesNot) {
  for (uint64_t seed : Seeds(ByScale(3, 10, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    const Comparator* const comparator = random.OneIn(3) ? ReverseComparator() : BytewiseComparator();
    Make(comparator, 200, 70, &random);
    std::vector<TableRef> same = maker_->MakeRun(*versions_, 64, TableMaker::Options());
    int unknown = 0;
    for (int i = 0; i < 300; i++) {
      bool failed = false;
      IndexCursor a(Pieces(), &failed), b({same.begin(), same.end()}, &failed);
      const size_t at_a = random.Uniform(versions_->size());
      // Mostly neighbours: they are hard to tell apart.
      const size_t at_b = random.OneIn(3) ? random.Uniform(versions_->size())
                                          : std::min(versions_->size() - 1, at_a + random.Uniform(3));
      for (size_t n = 0; n < at_a; n++) a.Next();
      for (size_t n = 0; n < at_b; n++) b.Next();
      const int expected = Sign(maker_->order().Compare((*versions_)[at_a].key, (*versions_)[at_b].key));
      int order;
      if (!maker_->order().bytewise()) {
        unknown++;
      } else if (KnownOrder(a.entry(), b.entry(), &order)) {
        ASSERT_EQ(expected, Sign(order)) << at_a << " " << at_b;
      } else {
        unknown++;
      }
      ASSERT_EQ(expected, Sign(IndexCursor::CompareKeys(&a, &b))) << at_a << " " << at_b;
    }
    if (comparator == BytewiseComparator() && GetParam().tail == KeyShape::kDigits8 && GetParam().prefix == 0) {
      EXPECT_EQ(0, unknown) << "short keys of one length are known whole";
    }
  }
}

// Merges build tables from what cursors know, again and again: less may be known each time, never something wrong.
TEST_P(IndexCursorTest, ATableBuiltFromAnIndexAnswersTheSame) {
  for (uint64_t seed : Seeds(ByScale(1, 4, 40))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    Make(random.OneIn(4) ? ReverseComparator() : BytewiseComparator(), 400, 1 + random.Uniform(300), &random);
    for (int generation = 0; generation < 4; generation++) {
      SCOPED_TRACE(generation);
      PMTableBuilder builder(pool_.get(), maker_->order(), Purpose::kMerge, maker_->NewNumber(), 10);
      PMTableBuilder::Summary summary;
      summary.min_sequence = 1;
      summary.max_sequence = versions_->size();
      ASSERT_OK(builder.Start(versions_->size(), versions_->size()));
      bool failed = false;
      IndexCursor cursor(Pieces(), &failed);
      for (size_t i = 0; cursor.Valid(); cursor.Next(), i++) {
        IndexEntry entry = cursor.entry();
        entry.same_key_as_last = i > 0 && maker_->order().Equal((*versions_)[i - 1].key, (*versions_)[i].key);
        builder.Add(entry);
      }
      TableRef table;
      ASSERT_OK(builder.Finish(summary, &table));
      CheckTable(*table, *versions_, 300, &random);
      if (HasFatalFailure()) return;
      tables_ = {table};
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, IndexCursorTest, testing::ValuesIn(KeyShapes()),
                         [](const auto& name) { return name.param.name; });

TEST(IndexCursorDamage, ADamagedLeafEndsTheWalkAndSetsTheFlag) {
  Random random(1);
  TestPool pool;
  TableMaker maker(&pool, BytewiseComparator());
  const SortedVersions versions(maker.order(),
                                MakeVersions(MakeKeys(KeyShapes()[0], 400, maker.order(), &random), 9999, 1, &random));
  const TableRef table = maker.Make(versions);
  char* const byte = table->index()->data() + sizeof(TableHeader) + 2 * sizeof(LeafNode) + 700;
  *byte = static_cast<char>(*byte ^ 4);
  bool failed = false;
  IndexCursor cursor({table}, &failed);
  for (int i = 0; i < 2 * kNodeFanout; i++) {
    ASSERT_TRUE(cursor.Valid());
    EXPECT_FALSE(failed);
    cursor.Next();
  }
  EXPECT_FALSE(cursor.Valid());
  EXPECT_TRUE(failed);
  EXPECT_STATUS(Corruption, cursor.status());
}

}  // namespace
}  // namespace miodb::test
