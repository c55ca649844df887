#include "src/db/read/db_iter.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/model.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/memtable/record_arena.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

// A read state whose parts hold one history, each part a span of it: memtable, sealed memtables, runs of all levels.
class StateWorld {
 public:
  StateWorld(const Comparator* comparator, uint64_t seed) : random_(seed), maker_(&pool_, comparator) {
    const KeyShape& shape = KeyShapes()[random_.Uniform(KeyShapes().size())];
    keys_ = MakeKeys(shape, 1 + random_.Uniform(random_.OneIn(3) ? 3 : 60), maker_.order(), &random_);
    const uint64_t versions = 1 + random_.Uniform(random_.OneIn(4) ? 4000 : 400);
    for (uint64_t i = 1; i <= versions; i++) {
      const bool tombstone = random_.OneIn(3);
      history_.push_back({keys_[random_.Uniform(keys_.size())], i, tombstone ? kTypeDeletion : kTypeValue,
                          tombstone ? "" : random_.Bytes(random_.Uniform(20))});
    }
    auto version = std::make_shared<Version>();
    version->levels.resize(4);
    size_t at = 0;
    AddRun(&at, &version->levels[3]);
    for (size_t level : {2, 1, 1, 0, 0, 0}) AddRun(&at, &version->levels[level]);
    version->ListRuns();
    for (int i = 0; i < 2; i++) state_.immutables.insert(state_.immutables.begin(), FillMemTable(&at, false));
    state_.memtable = FillMemTable(&at, true);
    state_.version = std::move(version);
  }

  Model::State At(uint64_t sequence) const {
    Model model(maker_.order().comparator());
    for (const TestVersion& v : history_) {
      if (v.sequence > sequence) break;
      v.type == kTypeDeletion ? model.Delete(v.key) : model.Put(v.key, v.value);
    }
    return model.Snapshot();
  }

  std::unique_ptr<Iterator> NewIterator(uint64_t sequence, Checksums checksums, const ReadOptions& options) const {
    return std::unique_ptr<Iterator>(
        NewDBIterator({maker_.order(), checksums},
                      {std::shared_ptr<const ReadState>(std::shared_ptr<void>(), &state_), sequence}, options));
  }

  uint64_t last_sequence() const { return history_.back().sequence; }
  std::string AnyKey() { return NearKey(keys_, &random_); }
  Random* random() { return &random_; }

  // The tables of all runs.
  std::vector<TableRef> Tables() const {
    std::vector<TableRef> tables;
    for (const auto& level : state_.version->levels) {
      for (const RunRef& run : level) tables.insert(tables.end(), run->tables.begin(), run->tables.end());
    }
    return tables;
  }

 private:
  std::vector<TestVersion> Take(size_t* at, bool all) {
    const size_t left = history_.size() - *at;
    const size_t count = all ? left : random_.Uniform(left / 2 + 1);
    const auto begin = history_.begin() + static_cast<ptrdiff_t>(*at);
    *at += count;
    return std::vector<TestVersion>(begin, begin + static_cast<ptrdiff_t>(count));
  }

  void AddRun(size_t* at, std::vector<RunRef>* level) {
    std::vector<TestVersion> versions = Take(at, false);
    if (versions.empty()) return;
    auto run = std::make_shared<miodb::Run>();
    run->id = *at;
    run->tables = maker_.MakeRun(SortedVersions(maker_.order(), std::move(versions)), 1 + random_.Uniform(40),
                                 TableMaker::Options());
    level->insert(level->begin(), run);
  }

  MemTableRef FillMemTable(size_t* at, bool all) {
    auto table = std::make_shared<MemTable>(maker_.order(), &blocks_, 4096, kTestSecret);
    for (const TestVersion& v : Take(at, all)) {
      const StoredRecord record = records_.Add(v.key, PackTag(v.sequence, v.type), v.value);
      table->Add(v.key, PackTag(v.sequence, v.type), record.place, record.size);
    }
    return table;
  }

  Random random_;
  TestPool pool_;
  BlockPool blocks_{16 * 1024, 4};
  RecordArena records_;
  TableMaker maker_;
  std::vector<std::string> keys_;
  std::vector<TestVersion> history_;  // by sequence
  ReadState state_;
};

void Compare(const ModelCursor& cursor, const Iterator& iterator) {
  ASSERT_EQ(cursor.Valid(), iterator.Valid());
  if (!cursor.Valid()) return;
  ASSERT_EQ(cursor.key(), iterator.key().ToString());
  ASSERT_EQ(cursor.value(), iterator.value().ToString());
}

void MoveBoth(StateWorld* world, ModelCursor* cursor, Iterator* iterator) {
  Random* const random = world->random();
  const uint64_t dice = cursor->Valid() ? random->Uniform(20) : random->Uniform(3);
  if (dice == 0) {
    cursor->SeekToFirst();
    iterator->SeekToFirst();
  } else if (dice == 1) {
    cursor->SeekToLast();
    iterator->SeekToLast();
  } else if (dice == 2) {
    const std::string key = world->AnyKey();
    cursor->Seek(key);
    iterator->Seek(key);
  } else if (dice < 11) {
    cursor->Next();
    iterator->Next();
  } else {
    cursor->Prev();
    iterator->Prev();
  }
}

void CheckAt(StateWorld* world, uint64_t sequence) {
  Random* const random = world->random();
  std::optional<std::string> lower, upper;
  if (random->OneIn(2)) lower = world->AnyKey();
  if (random->OneIn(2)) upper = world->AnyKey();
  ReadOptions options;
  Slice lower_slice, upper_slice;
  if (lower.has_value()) lower_slice = *lower, options.iterate_lower_bound = &lower_slice;
  if (upper.has_value()) upper_slice = *upper, options.iterate_upper_bound = &upper_slice;
  const auto iterator = world->NewIterator(sequence, ChecksumsIf(random->OneIn(2)), options);
  ModelCursor cursor(world->At(sequence), lower, upper);
  for (int i = 0; i < 150; i++) {
    MoveBoth(world, &cursor, iterator.get());
    Compare(cursor, *iterator);
    if (testing::Test::HasFatalFailure()) return;
  }
  ASSERT_OK(iterator->status());
}

TEST(DBIteratorTest, ShowsTheHistoryAsOfEverySequence) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseComparator()}) {
    for (uint64_t seed : Seeds(ByScale(60, 200, 5000))) {
      SCOPED_TRACE(Repeat(seed));
      StateWorld world(comparator, seed);
      for (int i = 0; i < 5; i++) CheckAt(&world, world.random()->Uniform(world.last_sequence() + 2));
      CheckAt(&world, kMaxSequence);
      if (HasFatalFailure()) return;
    }
  }
}

// A damaged leaf under an iterator that verifies: what it yields is true and complete, or it ends with an error.
TEST(DBIteratorTest, DamageEndsAVerifyingWalkBeforeAnythingWrongIsShown) {
  for (uint64_t seed : Seeds(ByScale(300, 1000, 30000))) {
    SCOPED_TRACE(Repeat(seed));
    StateWorld world(BytewiseComparator(), seed);
    Random* const random = world.random();
    const std::vector<TableRef> tables = world.Tables();
    if (tables.empty()) continue;
    const TableRef& victim = tables[random->Uniform(tables.size())];
    const uint64_t bit = random->Uniform(victim->leaf_count() * sizeof(LeafNode) * 8);
    char* const byte = victim->index()->data() + sizeof(TableHeader) + bit / 8;
    *byte = static_cast<char>(*byte ^ (1 << bit % 8));
    const auto iterator = world.NewIterator(kMaxSequence, Checksums::kVerify, ReadOptions());
    ModelCursor cursor(world.At(kMaxSequence), std::nullopt, std::nullopt);
    for (int i = 0; i < 200; i++) {
      MoveBoth(&world, &cursor, iterator.get());
      if (!iterator->status().ok()) {
        ASSERT_FALSE(iterator->Valid());
        break;
      }
      Compare(cursor, *iterator);
      if (HasFatalFailure()) return;
    }
  }
}

// The checksums of leaves are right, and their entries are not in the order of keys.
TEST(DBIteratorTest, ShowsNothingOutsideOfItsBoundsWhateverTheOrderOfEntriesIs) {
  int outside = 0;
  for (uint64_t seed : Seeds(ByScale(100, 1000, 20000))) {
    SCOPED_TRACE(Repeat(seed));
    StateWorld world(BytewiseComparator(), seed);
    Random* const random = world.random();
    for (const TableRef& table : world.Tables()) {
      auto* const leaf = reinterpret_cast<LeafNode*>(table->index()->data() + sizeof(TableHeader));
      const auto any = [&] { return random->Uniform(static_cast<uint64_t>(table->LeafEntries(0))); };
      std::swap(leaf->word[any()], leaf->word[any()]);
      leaf->header.checksum = Hash64(reinterpret_cast<const char*>(leaf) + 8, sizeof(*leaf) - 8,
                                     NodeSeed(table->pool()->secret(), sizeof(TableHeader)));
    }
    std::string from = world.AnyKey(), to = world.AnyKey();
    if (to < from) std::swap(from, to);
    const Slice lower = from, upper = to;
    ReadOptions options;
    options.iterate_lower_bound = &lower;
    options.iterate_upper_bound = &upper;
    const auto it = world.NewIterator(kMaxSequence, ChecksumsIf(random->OneIn(2)), options);
    const auto is_inside = [&] { return it->key().compare(lower) >= 0 && it->key().compare(upper) < 0; };
    uint64_t steps = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), steps++) ASSERT_TRUE(is_inside());
    for (it->SeekToLast(); it->Valid(); it->Prev(), steps++) ASSERT_TRUE(is_inside());
    ASSERT_LE(steps, 2 * world.last_sequence());
    ASSERT_TRUE(it->status().ok() || it->status().IsCorruption()) << it->status().ToString();
    if (!it->status().ok()) outside++;
  }
  EXPECT_GT(outside, 0);
}

}  // namespace
}  // namespace miodb::test
