#include "src/version/version_set.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>

#include "compaction/merge/drop_account.h"
#include "tests/common/environment.h"
#include "tests/common/free_space.h"
#include "tests/common/random/comparators.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/pmtable/table_maker.h"
#include "tests/version/edit_maker.h"

namespace miodb::test {
namespace {

class VersionSetTest : public testing::Test {
 protected:
  void Create(int num_levels) {
    Close();
    ASSERT_OK(Pool::Destroy(path_));
    num_levels_ = num_levels;
    sequence_ = 0;
    runs_.clear();
    Pool::Options options;
    options.limit = uint64_t{64} << 20;
    options.growth = uint64_t{1} << 20;
    options.secret = kTestSecret;
    ASSERT_OK(Pool::Create(path_, options, &pool_));
    versions_ = std::make_unique<VersionSet>(pool_.get(), KeyOrder(comparator_), num_levels);
    ASSERT_OK(versions_->Create());
    ASSERT_OK(pool_->Publish());
  }

  void Close() {
    chunks_.clear();
    made_.clear();
    versions_.reset();
    pool_.reset();
  }

  Status Reopen(int num_levels, Checksums checksums = Checksums::kTrust, const Comparator* comparator = nullptr) {
    Close();
    num_levels_ = num_levels;
    Pool::Options options;
    options.limit = uint64_t{64} << 20;
    options.growth = uint64_t{1} << 20;
    Status s = Pool::Open(path_, options, &pool_);
    if (!s.ok()) return s;
    versions_ = std::make_unique<VersionSet>(pool_.get(), KeyOrder(comparator != nullptr ? comparator : comparator_),
                                             num_levels);
    return versions_->Recover(checksums, &chunks_);
  }

  // Closes the set and names in its manifest what the set itself would not.
  void AppendToManifest(const VersionEdit& edit) {
    Close();
    Pool::Options options;
    options.limit = uint64_t{64} << 20;
    options.growth = kExtentUnit;
    std::unique_ptr<Pool> pool;
    ASSERT_OK(Pool::Open(path_, options, &pool));
    Manifest manifest(pool.get());
    ASSERT_OK(manifest.Recover());
    ASSERT_OK(manifest.Append(edit));
  }

  // The payload of the tables made last, and all of these tables that go.
  Additions AdditionsOf(const std::vector<TableRef>& added, const std::vector<uint64_t>& removed) {
    Additions additions;
    additions.tables = added;
    additions.payload.made = std::exchange(made_, {});
    std::vector<TableRef> gone;
    for (const miodb::Run* run : versions_->current()->runs) {
      for (const TableRef& table : run->tables) {
        if (std::count(removed.begin(), removed.end(), table->number()) > 0) gone.push_back(table);
      }
    }
    EXPECT_OK(DropTables(versions_->current()->payload, gone, &additions.payload.dropped));
    return additions;
  }

  // Tables of one version each, next to each other in key order, with sequences above all before.
  std::vector<TableRef> MakeTables(size_t count) {
    TableMaker maker(pool_.get(), comparator_);
    std::vector<TableRef> tables;
    for (size_t i = 0; i < count; i++) {
      maker.SetLastNumber(versions_->NewId() - 1);
      std::vector<TestVersion> versions;
      for (uint64_t n = 1 + sequence_ % 3; n > 0; n--) {
        const std::string key = static_cast<char>('a' + i) + std::to_string(n);
        versions.push_back({key, ++sequence_, kTypeValue, std::string(100, 'v')});
      }
      tables.push_back(maker.Make(SortedVersions(maker.order(), versions)));
    }
    made_ = maker.TakeMade();
    return tables;
  }

  static TablePlace Place(const TableRef& table, uint32_t level, uint64_t run) {
    return {table->number(), level, run, table->index()->offset(), table->index()->size()};
  }

  // A new run on a level, as a flush or merge installs it; it takes the place of the given runs.
  uint64_t Install(uint32_t level, size_t tables, const std::vector<uint64_t>& replaced = {}) {
    const std::vector<TableRef> added = MakeTables(tables);
    VersionEdit edit;
    const uint64_t run = level == kRepositoryLevel ? 0 : versions_->NewId();
    for (uint64_t id : replaced) {
      for (uint64_t number : runs_.at(id).tables) edit.removed_tables.push_back(number);
      runs_.erase(id);
    }
    for (const TableRef& table : added) {
      edit.tables.push_back(Place(table, level, run));
      runs_[run].tables.push_back(table->number());
    }
    runs_[run].level = level;
    const Additions additions = AdditionsOf(added, edit.removed_tables);
    EXPECT_OK(versions_->Apply(std::move(edit), additions));
    return run;
  }

  // "level: run(table table) run(...)" for each level that is not empty.
  static std::string TextOf(const Version& version) {
    std::string text;
    for (size_t level = 0; level < version.levels.size(); level++) {
      if (version.levels[level].empty()) continue;
      text += std::to_string(level) + ":";
      for (const RunRef& run : version.levels[level]) {
        text += " " + std::to_string(run->id) + "(";
        for (const TableRef& table : run->tables) text += std::to_string(table->number()) + " ";
        text.back() = ')';
      }
      text += "\n";
    }
    return text;
  }

  std::string Expected() const {
    std::string text;
    for (int level = 0; level < num_levels_; level++) {
      std::string line;
      for (auto run = runs_.rbegin(); run != runs_.rend(); ++run) {
        const bool repository = run->second.level == kRepositoryLevel;
        if (level != (repository ? num_levels_ - 1 : static_cast<int>(run->second.level))) continue;
        line += " " + std::to_string(run->first) + "(";
        for (uint64_t number : run->second.tables) line += std::to_string(number) + " ";
        line.back() = ')';
      }
      if (!line.empty()) text += std::to_string(level) + ":" + line + "\n";
    }
    return text;
  }

  // Everything that the set counts, counted again.
  void CheckAccounts() {
    uint64_t entries = 0, tables = 0, live = 0, index_bytes = 0;
    std::map<Extent*, uint64_t> payload;
    for (const auto& level : versions_->current()->levels) {
      for (const RunRef& run : level) {
        for (const TableRef& table : run->tables) {
          tables++;
          entries += table->entries();
          index_bytes += table->index()->size();
          for (const auto& [extent, bytes] : UsesOf(*table, versions_->current()->payload)) payload[extent] += bytes;
        }
      }
    }
    uint64_t written = 0, payload_bytes = 0;
    for (const auto& [extent, bytes] : payload) {
      live += bytes;
      written += extent->payload_bytes();
      payload_bytes += extent->size();
    }
    EXPECT_EQ(entries, versions_->entries());
    EXPECT_EQ(tables, versions_->tables());
    EXPECT_EQ(live, versions_->payload_live_bytes());
    EXPECT_EQ(written, versions_->payload_bytes());
    size_t visited = 0;
    for (const ExtentRef& extent : versions_->current()->payload) {
      EXPECT_EQ(payload.at(extent.get()), extent->live_bytes);
      visited++;
    }
    EXPECT_EQ(payload.size(), visited);
    RootSlot root;
    EXPECT_OK(pool_->ReadRoot(&root));
    const uint64_t named = kPoolHeaderSize + index_bytes + payload_bytes + root.manifest_size;
    EXPECT_GE(pool_->used_bytes(), named);
    EXPECT_LE(pool_->used_bytes(), named + root.manifest_size) << "more is taken than tables, manifest and its spare";
  }

  struct RunModel {
    uint32_t level;
    std::vector<uint64_t> tables;  // in key order
  };

  const Comparator* comparator_ = BytewiseComparator();
  TestDir dir_;
  std::vector<MadePayload> made_;  // of the tables made last
  const std::string path_ = dir_ / "pool";
  int num_levels_ = 0;
  uint64_t sequence_ = 0;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<VersionSet> versions_;
  std::vector<ExtentRef> chunks_;
  std::map<uint64_t, RunModel> runs_;
};

TEST_F(VersionSetTest, RunsOfALevelComeNewestFirstAndTheirTablesInKeyOrder) {
  Create(4);
  EXPECT_TRUE(versions_->current()->BufferEmpty());
  EXPECT_EQ("", TextOf(*versions_->current()));
  Install(kRepositoryLevel, 3);
  EXPECT_TRUE(versions_->current()->BufferEmpty());
  Install(1, 2);
  Install(0, 1);
  Install(0, 3);
  Install(0, 2);
  EXPECT_FALSE(versions_->current()->BufferEmpty());
  EXPECT_EQ(Expected(), TextOf(*versions_->current()));
  EXPECT_EQ(3u, versions_->current()->levels[0].size());
  EXPECT_EQ(3, versions_->current()->repository());
  CheckAccounts();
  ASSERT_OK(Reopen(4, Checksums::kVerify));
  EXPECT_EQ(Expected(), TextOf(*versions_->current()));
  CheckAccounts();
}

TEST_F(VersionSetTest, UnderAnotherOrderTheTablesOfARunFollowThatOrder) {
  comparator_ = ReverseComparator();
  Create(3);
  Install(0, 3);
  for (auto& [id, run] : runs_) std::reverse(run.tables.begin(), run.tables.end());
  EXPECT_EQ(Expected(), TextOf(*versions_->current()));
  ASSERT_OK(Reopen(3));
  EXPECT_EQ(Expected(), TextOf(*versions_->current()));
  EXPECT_STATUS(InvalidArgument, Reopen(3, Checksums::kTrust, BytewiseComparator()));
}

TEST_F(VersionSetTest, RandomHistoriesSurviveReopening) {
  for (uint64_t seed : Seeds(ByScale(8, 20, 300))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    Create(static_cast<int>(2 + random.Uniform(6)));
    std::vector<VersionRef> pinned;
    for (int i = 0; i < 60; i++) {
      const uint32_t buffers = static_cast<uint32_t>(num_levels_ - 1);
      std::vector<uint64_t> replaced;
      for (const auto& [id, run] : runs_) {
        if (random.OneIn(4) || (id == 0 && random.OneIn(2))) replaced.push_back(id);
      }
      const bool repository = runs_.count(0) == 0 || (!replaced.empty() && replaced[0] == 0);
      const uint32_t level =
          repository && random.OneIn(3) ? kRepositoryLevel : static_cast<uint32_t>(random.Uniform(buffers));
      if (level != kRepositoryLevel) std::erase(replaced, uint64_t{0});
      if (random.OneIn(3)) replaced.clear();
      if (level == kRepositoryLevel && runs_.count(0) > 0) replaced.insert(replaced.begin(), 0);
      std::sort(replaced.begin(), replaced.end());
      replaced.erase(std::unique(replaced.begin(), replaced.end()), replaced.end());
      Install(level, 1 + random.Uniform(4), replaced);
      ASSERT_EQ(Expected(), TextOf(*versions_->current()));
      if (random.OneIn(4)) pinned.push_back(versions_->current());
      if (!random.OneIn(6)) continue;
      pinned.clear();
      CheckAccounts();
      const uint64_t next = versions_->NewId();
      ASSERT_OK(Reopen(num_levels_, ChecksumsIf(random.OneIn(2))));
      ASSERT_EQ(Expected(), TextOf(*versions_->current()));
      CheckAccounts();
      // No number comes again, not even one that no durable edit knew.
      const uint64_t again = versions_->NewId();
      for (const auto& [id, run] : runs_) {
        EXPECT_GT(again, id);
        for (uint64_t number : run.tables) EXPECT_GT(again, number);
      }
      EXPECT_GT(again, next);
      if (HasFatalFailure()) return;
    }
  }
}

// So that a repair without a manifest does not take it for a table.
TEST_F(VersionSetTest, ATableThatNobodyNeedsAnyMoreLosesItsMagicNumber) {
  Create(3);
  const uint64_t run = Install(0, 1);
  VersionRef pinned = versions_->current();
  const TablePlace place = versions_->PlaceOf(runs_.at(run).tables[0]);
  const auto magic = [&] { return WordAt(pool_->At(place.index_offset)); };
  VersionEdit edit;
  edit.removed_tables = runs_.at(run).tables;
  const Additions additions = AdditionsOf({}, edit.removed_tables);
  ASSERT_OK(versions_->Apply(std::move(edit), additions));
  EXPECT_EQ(kTableMagic, magic()) << "a reader still has it";
  pinned.reset();
  EXPECT_EQ(0u, magic());
}

// As a flush whose edit found no space does: its log chunks are the same.
TEST_F(VersionSetTest, PayloadOfAnEditWithoutSpaceMayComeAgain) {
  Create(3);
  const uint64_t run = versions_->NewId();
  const std::vector<TableRef> tables = MakeTables(1);
  Additions added;
  added.tables = tables;
  added.payload.made = std::exchange(made_, {});
  VersionEdit edit;
  edit.tables.push_back(Place(tables[0], 0, run));
  VersionEdit large = edit;
  large.has_comparator = true;
  large.comparator = std::string(100000, 'c');
  {
    std::vector<ExtentRef> taken(1);
    while (pool_->Allocate(kExtentUnit, ExtentKind::kLog, &taken.back()).ok()) taken.emplace_back();
    EXPECT_STATUS(NoSpace, versions_->Apply(std::move(large), added));
  }
  EXPECT_FALSE(versions_->in_doubt());
  EXPECT_OK(versions_->Apply(std::move(edit), added));
  added = Additions();
  CheckAccounts();
}

TEST_F(VersionSetTest, ATableThatIsStillThereKeepsItsMagicNumber) {
  Create(3);
  const uint64_t run = Install(0, 1);
  const TablePlace place = versions_->PlaceOf(runs_.at(run).tables[0]);
  ASSERT_OK(Reopen(3));
  EXPECT_EQ(kTableMagic, DecodeFixed64(pool_->At(place.index_offset)));
}

TEST_F(VersionSetTest, APinnedVersionKeepsItsTables) {
  Create(3);
  const uint64_t run = Install(0, 2);
  const VersionRef pinned = versions_->current();
  const uint64_t used = pool_->used_bytes();
  VersionEdit edit;
  edit.removed_tables = runs_.at(run).tables;
  const Additions additions = AdditionsOf({}, edit.removed_tables);
  ASSERT_OK(versions_->Apply(std::move(edit), additions));
  EXPECT_EQ("", TextOf(*versions_->current()));
  EXPECT_EQ(0u, versions_->entries());
  EXPECT_EQ(0u, versions_->payload_bytes());
  EXPECT_EQ(used, pool_->used_bytes());
  const LookupKey key(KeyOrder(comparator_), "a1", kMaxSequence, Checksums::kVerify);
  bool found;
  RecordView record;
  ASSERT_OK(pinned->Get(KeyOrder(comparator_), key, &found, &record));
  EXPECT_TRUE(found);
}

TEST_F(VersionSetTest, GetsTheNewestVersionInTheOrderOfAge) {
  Create(4);
  const KeyOrder order(comparator_);
  for (uint32_t level : {kRepositoryLevel, 2u, 1u, 1u, 0u, 0u}) {
    Install(level, 2);
    bool found;
    RecordView record;
    ASSERT_OK(
        versions_->current()->Get(order, LookupKey(order, "a1", kMaxSequence, Checksums::kVerify), &found, &record));
    ASSERT_TRUE(found);
    const TableRef newest = versions_->current()->levels[level == kRepositoryLevel ? 3 : level][0]->tables[0];
    EXPECT_EQ(newest->max_sequence(), record.sequence());
  }
  bool found = true;
  RecordView record;
  ASSERT_OK(
      versions_->current()->Get(order, LookupKey(order, "zzz", kMaxSequence, Checksums::kVerify), &found, &record));
  EXPECT_FALSE(found);
}

TEST_F(VersionSetTest, WithFewerLevelsTheDeeperOnesJoinTheLastThatIsLeft) {
  Create(8);
  for (uint32_t level : {kRepositoryLevel, 6u, 6u, 5u, 4u, 3u, 2u, 2u, 1u, 1u, 0u, 0u}) Install(level, 2);
  // Run after run in the order of age.
  const auto tables_by_age = [&] {
    std::string text;
    for (const auto& level : versions_->current()->levels) {
      for (const RunRef& run : level) {
        for (const TableRef& table : run->tables) text += std::to_string(table->number()) + " ";
        text += "| ";
      }
    }
    return text;
  };
  const std::string order = tables_by_age();
  for (int levels : {8, 6, 5, 5, 7, 3, 2, 4, 8}) {
    SCOPED_TRACE(levels);
    ASSERT_OK(Reopen(levels));
    EXPECT_EQ(order, tables_by_age());
    ASSERT_EQ(static_cast<size_t>(levels), versions_->current()->levels.size());
    EXPECT_EQ(1u, versions_->current()->levels.back().size()) << "the repository stays the repository";
    for (const auto& level : versions_->current()->levels) {
      for (size_t i = 1; i < level.size(); i++) EXPECT_GT(level[i - 1]->id, level[i]->id);
    }
    CheckAccounts();
    VersionEdit edit;  // life goes on
    edit.SetFlushedSequence(sequence_);
    ASSERT_OK(versions_->Apply(std::move(edit), {}));
  }
}

TEST_F(VersionSetTest, LogChunksAreClaimed) {
  Create(3);
  VersionEdit edit;
  std::vector<ExtentRef> extents(3);
  for (uint64_t i = 0; i < 3; i++) {
    ASSERT_OK(pool_->Allocate((i + 1) * kExtentUnit, ExtentKind::kLog, &extents[i]));
    edit.chunks.push_back({versions_->NewId(), extents[i]->offset(), extents[i]->size(), i == 1, i});
  }
  ASSERT_OK(versions_->Apply(std::move(edit), {}));
  std::vector<PmRef> offsets;
  for (const ExtentRef& extent : extents) offsets.push_back(extent->offset());
  extents.clear();
  ASSERT_OK(Reopen(3));
  ASSERT_EQ(3u, chunks_.size());
  auto place = versions_->manifest().chunks.begin();
  for (size_t i = 0; i < 3; i++, ++place) {
    EXPECT_EQ(offsets[i], chunks_[i]->offset());
    EXPECT_EQ(place->second.offset, chunks_[i]->offset());
    EXPECT_EQ(place->second.size, chunks_[i]->size());
    EXPECT_EQ(ExtentKind::kLog, chunks_[i]->kind());
    EXPECT_EQ(i == 1, place->second.sealed);
    EXPECT_GT(versions_->NewId(), place->first);
  }
}

TEST_F(VersionSetTest, SpaceThatIsNamedTwiceOrOutsideIsCorruption) {
  for (int what = 0; what < 6; what++) {
    SCOPED_TRACE(what);
    Create(3);
    Install(0, 2);
    TablePlace place = Place(versions_->current()->levels[0][0]->tables[0], 1, 999);
    place.number = 1000;
    const PmRef payload = versions_->current()->payload.front()->offset();
    VersionEdit edit;
    if (what == 0) edit.tables.push_back(place);  // the index of another table
    if (what == 1) edit.chunks.push_back({1001, place.index_offset, kExtentUnit, false, 0});
    if (what == 2) edit.chunks.push_back({1001, payload, kExtentUnit, false, 0});
    if (what == 3) edit.chunks.push_back({1001, uint64_t{60} << 20, kExtentUnit, false, 0});
    if (what == 4) edit.chunks.push_back({1001, 0, kExtentUnit, false, 0});
    if (what == 5) edit.chunks.push_back({1001, kExtentUnit + 1, kExtentUnit, false, 0});
    AppendToManifest(edit);
    EXPECT_STATUS(Corruption, Reopen(3));
  }
}

// Jobs hold runs by their ids, and the id of the repository's run is 0.
TEST_F(VersionSetTest, ARunInTwoLevelsIsCorruption) {
  for (const uint64_t run : {0, 1}) {
    for (const bool repository : {false, true}) {
      SCOPED_TRACE(testing::Message() << run << " " << repository);
      Create(4);
      runs_.clear();
      if (repository) Install(kRepositoryLevel, 1);
      const uint64_t id = Install(0, 2);
      VersionEdit edit;
      edit.tables.push_back(Place(versions_->current()->levels[0][0]->tables[0], 1, run == 0 ? 0 : id));
      AppendToManifest(edit);
      EXPECT_STATUS(Corruption, Reopen(4));
    }
  }
}

TEST_F(VersionSetTest, DamagedTablesAreReportedAtOpen) {
  Create(3);
  Install(0, 1);
  const PmRef index = versions_->current()->levels[0][0]->tables[0]->index()->offset();
  Close();
  const std::string good = ReadFileBytes(path_);
  for (const bool leaf : {false, true}) {
    std::string bytes = good;
    bytes[index + (leaf ? sizeof(TableHeader) + 1300 : 100)] ^= 1;
    WriteFileBytes(path_, bytes);
    EXPECT_STATUS(Corruption, Reopen(3, Checksums::kVerify));
    EXPECT_EQ(leaf, Reopen(3).ok());
  }
}

}  // namespace
}  // namespace miodb::test
