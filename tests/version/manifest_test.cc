#include "src/version/manifest/manifest.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/nvm/pool_files.h"
#include "tests/version/edit_maker.h"

namespace miodb::test {
namespace {

constexpr char kName[] = "test.Order";

class ManifestTest : public testing::Test {
 protected:
  // Small: an area of one page, so that it rolls over often.
  void Create(uint64_t limit = 256 * 1024) {
    limit_ = limit;
    ASSERT_OK(Pool::Create(path_, Limits(), &pool_));
    manifest_ = std::make_unique<Manifest>(pool_.get());
    ASSERT_OK(manifest_->Create(kName));
    ASSERT_OK(pool_->Publish());
    ManifestState state;
    state.comparator = kName;
    maker_.Reset(state);
  }

  void Close() {
    manifest_.reset();
    pool_.reset();
  }

  Status Open(const std::string& path) {
    Close();
    Status s = Pool::Open(path, Limits(), &pool_);
    if (!s.ok()) return s;
    manifest_ = std::make_unique<Manifest>(pool_.get());
    return manifest_->Recover();
  }

  Pool::Options Limits() const {
    Pool::Options options;
    options.limit = limit_;
    options.growth = 64 * 1024;
    return options;
  }

  RootSlot Root() {
    RootSlot root;
    EXPECT_OK(pool_->ReadRoot(&root));
    return root;
  }

  // The state that a recovery makes of a copy of the pool as it is now. The copy is opened beside the original.
  std::string RecoveredFromCopy() {
    const std::string copy = dir_ / "copy";
    CopyPoolFile(path_, copy);
    std::unique_ptr<Pool> pool;
    const Status opened = Pool::Open(copy, Limits(), &pool);
    if (!opened.ok()) return opened.ToString();
    Manifest manifest(pool.get());
    const Status s = manifest.Recover();
    return s.ok() ? TextOf(manifest.state()) : s.ToString();
  }

  TestDir dir_;
  const std::string path_ = dir_ / "pool";
  uint64_t limit_ = 0;
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<Manifest> manifest_;
  EditMaker maker_{1};
};

TEST_F(ManifestTest, ANewOneHasItsComparatorAndNothingElse) {
  Create();
  ASSERT_OK(Open(path_));
  EXPECT_EQ(kName, manifest_->state().comparator);
  EXPECT_EQ(0u, manifest_->state().flushed_sequence);
  EXPECT_TRUE(manifest_->state().tables.empty() && manifest_->state().chunks.empty());
}

// An area that a savepoint names does not become the spare. All the same there is one at hand when it is left, also
// where the pool has no room left by then, and after a crash.
TEST_F(ManifestTest, IsLeftInAFullPoolThoughASavepointKeepsTheArea) {
  for (const bool crashes : {false, true}) {
    SCOPED_TRACE(crashes);
    Close();
    ASSERT_OK(Pool::Destroy(path_));
    Create();
    VersionEdit naming;
    naming.savepoints.push_back({7, "s", 0, 0, {}, {}});
    naming.SetNextId(10);
    ASSERT_OK(manifest_->Append(naming));
    const uint64_t kept = Root().manifest_offset;
    std::vector<ExtentRef> full;
    for (ExtentRef extent; pool_->Allocate(kExtentUnit, ExtentKind::kLog, &extent).ok();) full.push_back(extent);
    for (int left = 0; left < 3; left++) {
      const uint64_t before = Root().generation;
      if (crashes) {
        // What was allocated and is not named is free after a crash; nobody else is to get what the spares had.
        std::vector<std::pair<PmRef, uint64_t>> places;
        for (const ExtentRef& extent : full) places.emplace_back(extent->offset(), extent->size());
        full.clear();
        Close();
        ASSERT_OK(Pool::Open(path_, Limits(), &pool_));
        for (const auto& [offset, size] : places) {
          ASSERT_OK(pool_->Claim(offset, size, ExtentKind::kLog, &full.emplace_back()));
        }
        manifest_ = std::make_unique<Manifest>(pool_.get());
        ASSERT_OK(manifest_->Recover());
      }
      for (int i = 0; Root().generation == before; i++) {
        ASSERT_LT(i, 10000);
        VersionEdit edit;
        edit.SetNextId(11);
        ASSERT_OK(manifest_->Append(edit));
      }
      EXPECT_NE(kept, Root().manifest_offset);
    }
    int states = 0;
    ASSERT_OK(manifest_->ReadSavedStates([&](const SavepointEntry& savepoint, const ManifestState& state) {
      EXPECT_EQ(7u, savepoint.id);
      EXPECT_EQ(1u, state.savepoints.count(7));
      EXPECT_EQ(10u, state.next_id);
      states++;
      return Status::OK();
    }));
    EXPECT_EQ(1, states);
    VersionEdit dropping;
    dropping.removed_savepoints.push_back(7);
    ASSERT_OK(manifest_->Append(dropping));
    full.clear();
  }
}

TEST_F(ManifestTest, EveryPrefixOfEditsIsRecovered) {
  for (uint64_t seed : Seeds(ByScale(2, 5, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Close();
    ASSERT_OK(Pool::Destroy(path_));
    maker_ = EditMaker(seed);
    Create();
    std::set<uint64_t> areas;
    for (int i = 0; i < 120; i++) {
      ASSERT_OK(manifest_->Append(maker_.NextEdit()));
      ASSERT_EQ(TextOf(maker_.state()), TextOf(manifest_->state()));
      ASSERT_EQ(TextOf(maker_.state()), RecoveredFromCopy()) << "after edit " << i;
      areas.insert(Root().generation);
    }
    EXPECT_GE(areas.size(), 3u) << "the area was to fill up";
  }
}

TEST_F(ManifestTest, ReopeningAtAnyTimeGoesOn) {
  for (uint64_t seed : Seeds(ByScale(3, 10, 200))) {
    SCOPED_TRACE(Repeat(seed));
    Close();
    ASSERT_OK(Pool::Destroy(path_));
    maker_ = EditMaker(seed);
    Random random(seed);
    Create();
    for (int i = 0; i < 300; i++) {
      ASSERT_OK(manifest_->Append(maker_.NextEdit()));
      if (!random.OneIn(5)) continue;
      ASSERT_OK(Open(path_));
      ASSERT_EQ(TextOf(maker_.state()), TextOf(manifest_->state()));
    }
  }
}

TEST_F(ManifestTest, RollsOverAnyNumberOfTimesWithoutTakingMoreSpace) {
  Create();
  uint64_t most = 0;
  for (uint64_t i = 0; i < ByScale(5000, 10000, 200000); i++) {
    ASSERT_OK(manifest_->Append(maker_.NextEdit(5)));
    most = std::max(most, pool_->used_bytes());
  }
  EXPECT_GT(Root().epoch, 50u);
  EXPECT_LE(most, kPoolHeaderSize + 8 * kExtentUnit);
  EXPECT_EQ(TextOf(maker_.state()), RecoveredFromCopy());
}

TEST_F(ManifestTest, AStateThatOutgrowsItsAreaGetsALargerOne) {
  Create(8 << 20);
  for (int i = 0; i < 600; i++) {
    ASSERT_OK(manifest_->Append(maker_.NextEdit(5000)));
    if (i % 50 != 0) continue;
    ASSERT_EQ(TextOf(maker_.state()), RecoveredFromCopy());
  }
  // An edit larger than any area so far.
  VersionEdit edit;
  edit.has_comparator = true;
  edit.comparator = std::string(100000, 'c');
  ASSERT_OK(manifest_->Append(edit));
  EXPECT_EQ(TextOf(manifest_->state()), RecoveredFromCopy());
  EXPECT_GT(Root().manifest_size, 100000u);
}

TEST_F(ManifestTest, TheFirstEditAfterAnOpenGoesToAnotherArea) {
  Create();
  for (int i = 0; i < 5; i++) ASSERT_OK(manifest_->Append(maker_.NextEdit()));
  for (int opens = 0; opens < 10; opens++) {
    ASSERT_OK(Open(path_));
    const RootSlot before = Root();
    const std::string area(pool_->At(before.manifest_offset), before.manifest_size);
    ASSERT_OK(manifest_->Append(maker_.NextEdit()));
    const RootSlot after = Root();
    EXPECT_NE(before.manifest_offset, after.manifest_offset);
    EXPECT_NE(before.generation, after.generation);
    EXPECT_EQ(before.epoch + 1, after.epoch);
    EXPECT_TRUE(area == std::string(pool_->At(before.manifest_offset), before.manifest_size))
        << "something was appended behind what may be a torn record";
    // The next one is appended.
    ASSERT_OK(manifest_->Append(maker_.NextEdit()));
    EXPECT_EQ(after.epoch, Root().epoch);
  }
}

TEST_F(ManifestTest, AnOpenThatWritesNothingChangesNothing) {
  Create();
  for (int i = 0; i < 5; i++) ASSERT_OK(manifest_->Append(maker_.NextEdit()));
  Close();
  const std::string bytes = ReadFileBytes(path_);
  for (int i = 0; i < 3; i++) ASSERT_OK(Open(path_));
  Close();
  EXPECT_TRUE(bytes == ReadFileBytes(path_));
}

TEST_F(ManifestTest, AnEditThatDoesNotFitTheStateIsRefusedAndLeavesNothing) {
  Create();
  VersionEdit edit;
  edit.removed_tables = {12345};
  EXPECT_STATUS(Corruption, manifest_->Append(edit));
  EXPECT_EQ(TextOf(maker_.state()), TextOf(manifest_->state()));
  ASSERT_OK(manifest_->Append(maker_.NextEdit()));
  EXPECT_EQ(TextOf(maker_.state()), RecoveredFromCopy());
}

TEST_F(ManifestTest, AFullPoolCanStillBeWrittenToAndOpened) {
  Create();
  std::vector<ExtentRef> taken;
  const auto fill = [&] {
    for (;;) {
      ExtentRef extent;
      if (!pool_->Allocate(kExtentUnit, ExtentKind::kLog, &extent).ok()) return;
      taken.push_back(std::move(extent));
    }
  };
  fill();
  for (int i = 0; i < 2000; i++) ASSERT_OK(manifest_->Append(maker_.NextEdit(5)));
  EXPECT_GT(Root().epoch, 10u);
  EXPECT_EQ(TextOf(maker_.state()), RecoveredFromCopy());
}

TEST_F(ManifestTest, WithoutSpaceForAnEditNothingHappens) {
  Create();
  std::vector<ExtentRef> taken;
  for (;;) {
    ExtentRef extent;
    if (!pool_->Allocate(kExtentUnit, ExtentKind::kLog, &extent).ok()) break;
    taken.push_back(std::move(extent));
  }
  VersionEdit edit;
  edit.has_comparator = true;
  edit.comparator = std::string(20000, 'c');
  EXPECT_STATUS(NoSpace, manifest_->Append(edit));
  EXPECT_EQ(TextOf(maker_.state()), TextOf(manifest_->state()));
  EXPECT_EQ(TextOf(maker_.state()), RecoveredFromCopy());
  ASSERT_OK(manifest_->Append(maker_.NextEdit(5)));
  EXPECT_EQ(TextOf(maker_.state()), RecoveredFromCopy());
  taken.clear();
  ASSERT_OK(manifest_->Append(edit));
  EXPECT_EQ(edit.comparator, manifest_->state().comparator);
  EXPECT_EQ(TextOf(manifest_->state()), RecoveredFromCopy());
}

TEST_F(ManifestTest, CountsItsBytesAndFences) {
  Create();
  const PersistCounters& counters = pool_->persist().counters(Purpose::kManifest);
  VersionEdit edit;
  edit.SetFlushedSequence(5);
  const uint64_t bytes = counters.bytes.load(), fences = counters.fences.load();
  ASSERT_OK(manifest_->Append(edit));
  EXPECT_EQ(bytes + 40, counters.bytes.load()) << "24 of the record, 2 of the edit, rounded up to 8; 8 to confirm it";
  EXPECT_EQ(fences + 1, counters.fences.load()) << "one fence makes an edit durable";
}

}  // namespace
}  // namespace miodb::test
