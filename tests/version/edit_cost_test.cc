// An edit takes memory for what it changes, not for what there is, and if it does not get it nothing has changed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "src/version/version_set.h"
#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/pmtable/table_maker.h"
#include "tests/version/edit_maker.h"

namespace {

// Allocations of this thread, while it counts.
struct Allocations {
  uint64_t count = 0;
  uint64_t bytes = 0;
};
thread_local Allocations* counted = nullptr;
thread_local uint64_t refused = 0;  // of those counted the one with this number fails, from 1 on

void* Allocate(size_t size) {
  if (counted != nullptr) {
    counted->count++;
    counted->bytes += size;
    if (counted->count == refused) throw std::bad_alloc();
  }
  void* const p = std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }

namespace miodb::test {
namespace {

class EditCostTest : public testing::Test {
 protected:
  // A repository of so many tables.
  void Fill(uint64_t tables) {
    versions_.reset();
    pool_.reset();
    ASSERT_OK(Pool::Destroy(path_));
    ASSERT_OK(Pool::Create(path_, Limits(), &pool_));
    versions_ = std::make_unique<VersionSet>(pool_.get(), KeyOrder(BytewiseComparator()), 4);
    ASSERT_OK(versions_->Create());
    ASSERT_OK(pool_->Publish());
    VersionEdit edit;
    std::vector<TableRef> added;
    for (uint64_t i = 0; i < tables; i++) {
      added.push_back(MakeTable(i));
      edit.tables.push_back(Place(*added.back(), kRepositoryLevel, 0));
    }
    ASSERT_OK(versions_->Apply(std::move(edit), {added, {std::exchange(made_, {}), {}}, {}, {}}));
  }

  static Pool::Options Limits() {
    Pool::Options options;
    options.limit = uint64_t{256} << 20;
    options.growth = uint64_t{1} << 20;
    options.secret = kTestSecret;
    return options;
  }

  void Reopen() {
    versions_.reset();
    pool_.reset();
    ASSERT_OK(Pool::Open(path_, Limits(), &pool_));
    versions_ = std::make_unique<VersionSet>(pool_.get(), KeyOrder(BytewiseComparator()), 4);
    std::vector<ExtentRef> chunks;
    ASSERT_OK(versions_->Recover(Checksums::kVerify, &chunks));
    versions_->Check();
  }

  TableRef MakeTable(uint64_t key) {
    TableMaker maker(pool_.get(), BytewiseComparator());
    maker.SetLastNumber(versions_->NewId() - 1);
    TableMaker::Options options;
    options.extent_bytes = kExtentUnit;
    TableRef table = maker.Make(
        SortedVersions(maker.order(), {{std::to_string(1000000 + key), ++sequence_, kTypeValue, "v"}}), options);
    made_.push_back(maker.TakeMade().front());
    return table;
  }

  // With the payload of the tables made since the last call. A removed table drops its one record.
  Additions AdditionsOf(std::vector<TableRef> added, const std::vector<uint64_t>& removed) {
    Additions additions;
    additions.tables = std::move(added);
    additions.payload.made = std::exchange(made_, {});
    for (const miodb::Run* run : versions_->current()->runs) {
      for (const TableRef& table : run->tables) {
        if (std::count(removed.begin(), removed.end(), table->number()) == 0) continue;
        const IndexWord word = table->WordAt(0);
        additions.payload.dropped.push_back({*FindItem(versions_->current()->payload, word.ref()), word.size()});
      }
    }
    return additions;
  }

  static TablePlace Place(const PMTable& table, uint32_t level, uint64_t run) {
    return {table.number(), level, run, table.index()->offset(), table.index()->size()};
  }

  // The usual cost of an edit: the median, as a few roll the manifest over.
  template <typename Edit>
  Allocations Usual(Edit edit) {
    std::vector<uint64_t> counts, bytes;
    for (int i = 0; i < 41; i++) {
      std::vector<TableRef> added;
      VersionEdit next = edit(&added);
      const Additions additions = AdditionsOf(std::move(added), next.removed_tables);
      Allocations taken;
      counted = &taken;
      const Status s = versions_->Apply(std::move(next), additions);
      counted = nullptr;
      EXPECT_OK(s);
      counts.push_back(taken.count);
      bytes.push_back(taken.bytes);
    }
    std::sort(counts.begin(), counts.end());
    std::sort(bytes.begin(), bytes.end());
    return {counts[counts.size() / 2], bytes[bytes.size() / 2]};
  }

  Allocations OfAFlush() {
    return Usual([&](std::vector<TableRef>* added) {
      added->push_back(MakeTable(0));
      VersionEdit edit;
      edit.tables.push_back(Place(*added->back(), 0, versions_->NewId()));
      if (!versions_->current()->levels[0].empty()) {
        edit.removed_tables.push_back(versions_->current()->levels[0].back()->tables[0]->number());
      }
      return edit;
    });
  }

  Allocations OfARewrite() {
    Random random(1);
    return Usual([&](std::vector<TableRef>* added) {
      const TableList& repository = versions_->current()->levels.back()[0]->tables;
      const uint64_t i = random.Uniform(repository.size());
      added->push_back(MakeTable(i));
      VersionEdit edit;
      edit.removed_tables.push_back(repository[i]->number());
      edit.tables.push_back(Place(*added->back(), kRepositoryLevel, 0));
      return edit;
    });
  }

  Allocations OfALogChunk() {
    return Usual([&](std::vector<TableRef>*) {
      VersionEdit edit;
      edit.chunks.push_back({versions_->NewId(), kExtentUnit, kExtentUnit, false, 0});
      return edit;
    });
  }

  void MakeSavepoints(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
      VersionEdit edit;
      const uint64_t id = versions_->NewId();
      edit.savepoints.push_back({id, "savepoint " + std::to_string(id), 0, 0, {}, {}});
      ASSERT_OK(versions_->Apply(std::move(edit), {}));
    }
  }

  void MakeFamilies(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
      VersionEdit edit;
      edit.families.push_back({family_, "family " + std::to_string(family_)});
      edit.next_family = ++family_;
      ASSERT_OK(versions_->Apply(std::move(edit), {}));
    }
  }

  // Each takes the place of the one before.
  Allocations OfASavepoint() {
    uint64_t before = 0;
    return Usual([&](std::vector<TableRef>*) {
      VersionEdit edit;
      if (before > 0) edit.removed_savepoints.push_back(before);
      before = versions_->NewId();
      edit.savepoints.push_back({before, "of " + std::to_string(versions_->savepoints().size()), 0, 0, {}, {}});
      return edit;
    });
  }
  Allocations OfAFamily() {
    uint64_t before = 0;
    return Usual([&](std::vector<TableRef>*) {
      VersionEdit edit;
      if (before > 0) edit.removed_families.push_back(before);
      before = family_;
      edit.families.push_back({before, "of " + std::to_string(versions_->manifest().families.size())});
      edit.next_family = ++family_;
      return edit;
    });
  }

  // Of reading the manifest with all savepoints.
  Allocations OfAnOpen() {
    versions_.reset();
    pool_.reset();
    EXPECT_OK(Pool::Open(path_, Limits(), &pool_));
    versions_ = std::make_unique<VersionSet>(pool_.get(), KeyOrder(BytewiseComparator()), 4);
    std::vector<ExtentRef> chunks;
    Allocations taken;
    counted = &taken;
    const Status s = versions_->Recover(Checksums::kTrust, &chunks);
    counted = nullptr;
    EXPECT_OK(s);
    return taken;
  }

  // The edit that adds the first table, or one that replaces a table and adds another, whose allocation with this
  // number fails.
  Status ApplyWithout(uint64_t number, bool* was_refused) {
    const VersionRef before = versions_->current();
    const std::string state = TextOf(versions_->manifest());
    std::vector<TableRef> added = {MakeTable(7)};
    VersionEdit edit;
    if (!before->levels.back().empty()) {
      edit.removed_tables.push_back(before->levels.back()[0]->tables[7]->number());
      added.push_back(MakeTable(7));
      edit.tables.push_back(Place(*added[1], 0, versions_->NewId()));
    }
    edit.tables.push_back(Place(*added[0], kRepositoryLevel, 0));
    const Additions additions = AdditionsOf(std::move(added), edit.removed_tables);
    Allocations taken;
    refused = number;
    counted = &taken;
    Status s = versions_->Apply(std::move(edit), additions);
    counted = nullptr;
    refused = 0;
    *was_refused = taken.count >= number;
    EXPECT_TRUE(s.ok() || *was_refused);
    EXPECT_EQ(!s.ok(), versions_->in_doubt());
    EXPECT_EQ(!s.ok(), before == versions_->current());
    EXPECT_EQ(!s.ok(), state == TextOf(versions_->manifest()));
    return s;
  }

  TestDir dir_;
  const std::string path_ = dir_ / "pool";
  std::vector<MadePayload> made_;  // of the tables made since the last edit
  uint64_t sequence_ = 0;
  uint64_t family_ = 1;  // the next one
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<VersionSet> versions_;
};

TEST_F(EditCostTest, AFewNodesMoreFortyTimesTheTables) {
  if (kChecksWhole) GTEST_SKIP() << "every install is checked, which takes memory for all that there is";
  Fill(100);
  const Allocations few[] = {OfAFlush(), OfARewrite(), OfALogChunk()};
  Fill(4000);
  const Allocations many[] = {OfAFlush(), OfARewrite(), OfALogChunk()};
  for (int i = 0; i < 3; i++) {
    SCOPED_TRACE(i);
    RecordProperty("allocations_" + std::to_string(i),
                   std::to_string(few[i].count) + " to " + std::to_string(many[i].count));
    RecordProperty("bytes_" + std::to_string(i), std::to_string(few[i].bytes) + " to " + std::to_string(many[i].bytes));
    EXPECT_LE(2 * many[i].count, 3 * few[i].count);
    EXPECT_LE(many[i].bytes, 2 * few[i].bytes);
  }
  // The list of extents is a tree, of which an edit copies a path.
  EXPECT_LE(many[0].bytes, few[0].bytes + 1000) << "a flush does not look at the repository";
}

// An edit looks a name up in an index, and does not compare the name with all others.
TEST_F(EditCostTest, ANameTakesTheSameHoweverManyThereAre) {
  if (kChecksWhole) GTEST_SKIP() << "every install is checked, which takes memory for all that there is";
  Fill(1);
  MakeFamilies(20);
  const Allocations few_families = OfAFamily();
  MakeFamilies(400);
  const Allocations many_families = OfAFamily();
  EXPECT_LE(many_families.count, few_families.count + 2);
  EXPECT_LE(many_families.bytes, few_families.bytes + 200);
  Fill(1);
  MakeSavepoints(20);
  const Allocations few = OfASavepoint();
  MakeSavepoints(400);
  const Allocations many = OfASavepoint();
  EXPECT_LE(many.count, few.count + 2);
}

// Four times the savepoints take four times the memory, and not the square of it: the states of all of them come from
// one pass over the records.
TEST_F(EditCostTest, AnOpenReadsTheRecordsOfSavepointsOnce) {
  if (kChecksWhole) GTEST_SKIP() << "every install is checked, which takes memory for all that there is";
  Fill(10);
  MakeSavepoints(100);
  const Allocations few = OfAnOpen();
  EXPECT_EQ(100u, versions_->savepoints().size());
  MakeSavepoints(300);
  const Allocations many = OfAnOpen();
  EXPECT_EQ(400u, versions_->savepoints().size());
  RecordProperty("allocations", std::to_string(few.count) + " to " + std::to_string(many.count));
  EXPECT_LE(many.count, 5 * few.count);
}

// The first edit after an open rolls the manifest over.
TEST_F(EditCostTest, AnEditThatGetsNoMemoryChangesNothing) {
  for (const auto& [few, rolls_over] : {std::pair(0, false), std::pair(30, false), std::pair(30, true)}) {
    SCOPED_TRACE(std::to_string(few) + (rolls_over ? " tables, with a roll-over" : " tables"));
    uint64_t at = 0;
    for (bool was_refused = true; was_refused && !HasFailure();) {
      SCOPED_TRACE(++at);
      Fill(static_cast<uint64_t>(few));
      if (rolls_over) Reopen();
      const Status s = ApplyWithout(at, &was_refused);
      versions_->Check();
      Reopen();
      const size_t tables = versions_->manifest().tables.size();
      const size_t before = static_cast<size_t>(few), after = before + 1;
      EXPECT_TRUE(tables == after || (!s.ok() && tables == before)) << tables;
    }
    EXPECT_GT(at, 10u);
  }
}

}  // namespace
}  // namespace miodb::test
