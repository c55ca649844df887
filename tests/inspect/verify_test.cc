// The checker finds nothing in good pools, and in pools with good checksums but wrong contents what is wrong.

#include "src/inspect/verify/verify.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/dumpfile.h"
#include "miodb/env.h"
#include "src/nvm/pool/pool.h"
#include "src/version/manifest/manifest.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/random.h"
#include "tests/common/string_file.h"

namespace miodb::test {
namespace {

class VerifyTest : public DbTestBase {
 protected:
  std::string pool() const { return path_ + "/pool"; }

  void Load() {
    std::unique_ptr<PoolImage> image;
    ASSERT_OK(PoolImage::Open(pool(), &image));
    bytes_.assign(image->At(0), image->size());
    const PoolHeader header = image->Header();
    root_ = header.current;
    secret_ = header.secret;
    manifest_ = ReadManifestArea(*image, root_.manifest_offset, root_.manifest_size, root_.generation);
  }

  // Tables on two levels and a log.
  void Make() {
    Open();
    Fill(300, 100);
    Settle();
    Fill(100, 50, 1);
    Delete(FilledKey(3));
    ASSERT_OK(db_->Flush());
    Put("log", "1");
    Close();
    Load();
    ASSERT_GE(manifest_.state.tables.size(), 2u);
  }

  VerifyResult Verify(const Comparator* comparator = BytewiseComparator()) {
    std::unique_ptr<PoolImage> image;
    EXPECT_OK(PoolImage::Open(pool(), &image));
    return VerifyPool(*image, comparator, VerifyOptions());
  }

  std::string Problems(const VerifyResult& result) {
    std::string text;
    for (const Problem& p : result.problems) text += p.ToString() + "\n";
    return text;
  }

  // The checker's report of the bytes as they are now.
  std::string ProblemsNow() {
    EXPECT_OK(WriteStringToFile(Env::Default(), bytes_, pool()));
    return Problems(Verify());
  }

  TableHeader* Header(size_t i) {
    auto table = manifest_.state.tables.begin();
    std::advance(table, i);
    return reinterpret_cast<TableHeader*>(&bytes_[table->second.index_offset]);
  }

  void Seal(TableHeader* h) { h->checksum = TableHeaderChecksum(*h); }

  // leaf: the first of its table.
  void SealFirst(LeafNode* leaf) {
    leaf->header.checksum =
        Hash64(reinterpret_cast<const char*>(leaf) + 8, sizeof(LeafNode) - 8, NodeSeed(secret_, sizeof(TableHeader)));
  }

  // Puts another edit behind the last.
  void Append(const VersionEdit& edit) {
    std::string payload, record;
    edit.EncodeTo(&payload);
    const uint64_t number = manifest_.records.size();
    PutFixed32(&record, static_cast<uint32_t>(payload.size()));
    PutFixed32(&record, 0);
    PutFixed64(&record, number);
    PutFixed64(&record, ManifestRecordChecksum(AreaSeed(secret_, root_.generation), number, payload));
    record += payload;
    bytes_.replace(manifest_.records.back().offset + manifest_.records.back().bytes, record.size(), record);
  }

  std::string bytes_;
  RootSlot root_ = {};
  uint64_t secret_ = 0;
  ManifestImage manifest_;
};

TEST_F(VerifyTest, ProgressRisesToAll) {
  Make();
  uint64_t leaves = 0;
  for (const auto& table : manifest_.state.tables) {
    leaves += reinterpret_cast<TableHeader*>(&bytes_[table.second.index_offset])->leaf_count;
  }
  VerifyOptions options;
  std::vector<double> shares;
  options.on_progress = [&shares](double share) { shares.push_back(share); };
  std::unique_ptr<PoolImage> image;
  ASSERT_OK(PoolImage::Open(pool(), &image));
  VerifyPool(*image, BytewiseComparator(), options);
  EXPECT_EQ(leaves + 1, shares.size());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  ASSERT_FALSE(shares.empty());
  EXPECT_GT(shares.front(), 0);
  EXPECT_LT(shares.front(), 1);
  EXPECT_EQ(1, shares.back());
}

TEST_F(VerifyTest, FindsNothingWrongInAnyGoodPool) {
  for (const OptionSet& set : OptionSets()) {
    SCOPED_TRACE(set.name);
    options_ = AtPath(set.options, path_);
    for (const uint64_t seed : Seeds(ByScale(2, 5, 50))) {
      SCOPED_TRACE(Repeat(seed));
      Random random(seed);
      ASSERT_OK(DestroyDB(path_, options_));
      Open();
      for (int i = 0; i < 1500; i++) {
        const std::string key = FilledKey(random.Uniform(400));
        if (random.OneIn(4)) {
          Delete(key);
        } else {
          Put(key, random.Bytes(random.Skewed(9)));
        }
        if (random.OneIn(300)) ASSERT_OK(db_->Flush());
        if (random.OneIn(700)) db_->CompactRange(nullptr, nullptr);
      }
      const bool idle = random.OneIn(2);
      if (idle) Settle();
      const uint64_t settled_entries = Counter("entries"), settled_live = Counter("live-bytes");
      Close();
      const VerifyResult result = Verify(options_.comparator);
      EXPECT_EQ("", Problems(result));
      EXPECT_TRUE(result.order_checked);
      EXPECT_EQ(options_.comparator->Name(), result.comparator);
      EXPECT_EQ(result.file_bytes, result.used_bytes + result.free_bytes);
      EXPECT_LE(result.live_bytes, result.payload_bytes);
      if (idle && options_.log_mode != kLogOff) {
        EXPECT_EQ(settled_entries, result.entries);
        EXPECT_EQ(settled_live, result.live_bytes);
      }
      if (HasFailure()) return;
    }
  }
}

TEST_F(VerifyTest, ChangesNothing) {
  Make();
  const std::string before = bytes_;
  EXPECT_EQ("", Problems(Verify()));
  Load();
  EXPECT_TRUE(before == bytes_);
}

TEST_F(VerifyTest, AnOpenPoolIsRefused) {
  Open();
  std::unique_ptr<PoolImage> image;
  EXPECT_STATUS(IOError, PoolImage::Open(pool(), &image));
  Close();
  EXPECT_OK(PoolImage::Open(pool(), &image));
  EXPECT_STATUS(IOError, TryOpen());
  image.reset();
  Open();
}

TEST_F(VerifyTest, WithoutTheComparatorAllButOrderIsChecked) {
  options_.comparator = ReverseComparator();
  Make();
  const VerifyResult result = Verify();
  EXPECT_EQ("", Problems(result));
  EXPECT_FALSE(result.order_checked);
  EXPECT_EQ(ReverseComparator()->Name(), result.comparator);
  EXPECT_GT(result.entries, 0u);
}

TEST_F(VerifyTest, WrongCountsAreFound) {
  Make();
  const std::string good = bytes_;
  TableHeader* h = Header(0);
  h->tombstones++;
  Seal(h);
  EXPECT_NE(std::string::npos, ProblemsNow().find("tombstones")) << ProblemsNow();
  bytes_ = good;
  h = Header(0);
  h->max_sequence = h->min_sequence;
  Seal(h);
  EXPECT_NE(std::string::npos, ProblemsNow().find("is not in the table's")) << ProblemsNow();
}

TEST_F(VerifyTest, WrongLiveBytesAreFound) {
  Make();
  TableHeader* const h = Header(0);
  h->payload_bytes++;
  Seal(h);
  EXPECT_NE(std::string::npos, ProblemsNow().find("its header says")) << ProblemsNow();
  h->payload_bytes--;
  Seal(h);
  ASSERT_EQ("", ProblemsNow());
  {
    std::unique_ptr<Pool> pool_file;
    ASSERT_OK(Pool::Open(pool(), Pool::Options(), &pool_file));
    Manifest manifest(pool_file.get());
    ASSERT_OK(manifest.Recover());
    VersionEdit edit;
    edit.dropped.push_back({manifest.state().payload.begin()->first, 1});
    ASSERT_OK(manifest.Append(edit));
  }
  EXPECT_NE(std::string::npos, Problems(Verify()).find("bytes of it, the manifest says")) << Problems(Verify());
}

TEST_F(VerifyTest, EntriesOutOfOrderAreFound) {
  Make();
  TableHeader* const h = Header(0);
  LeafNode* const leaf = reinterpret_cast<LeafNode*>(reinterpret_cast<char*>(h) + sizeof(TableHeader));
  std::swap(leaf->word[10], leaf->word[11]);
  std::swap(leaf->head[10], leaf->head[11]);
  const uint32_t hash = leaf->Hash(10);
  leaf->SetHash(10, leaf->Hash(11));
  leaf->SetHash(11, hash);
  SealFirst(leaf);
  EXPECT_NE(std::string::npos, ProblemsNow().find("is before the key of the entry before")) << ProblemsNow();
}

TEST_F(VerifyTest, AnEntryWithAnotherRecordIsFound) {
  Make();
  TableHeader* const h = Header(0);
  LeafNode* const leaf = reinterpret_cast<LeafNode*>(reinterpret_cast<char*>(h) + sizeof(TableHeader));
  leaf->word[10] = leaf->word[11];
  SealFirst(leaf);
  EXPECT_NE(std::string::npos, ProblemsNow().find("not the one that the index means")) << ProblemsNow();
}

TEST_F(VerifyTest, SpaceThatBelongsTwiceIsFound) {
  Make();
  const std::string good = bytes_;
  VersionEdit edit;
  LogChunkPlace chunk;
  chunk.id = manifest_.state.next_id;
  chunk.offset = manifest_.state.tables.begin()->second.index_offset;
  chunk.size = kExtentUnit;
  edit.SetNextId(chunk.id + 1);
  edit.chunks.push_back(chunk);
  Append(edit);
  EXPECT_NE(std::string::npos, ProblemsNow().find("belongs to")) << ProblemsNow();
  bytes_ = good;
  edit.chunks[0].offset = kPoolHeaderSize;
  edit.chunks[0].size = bytes_.size() - kPoolHeaderSize;
  Append(edit);
  EXPECT_NE(std::string::npos, ProblemsNow().find("overlaps")) << ProblemsNow();
  bytes_ = good;
  edit.chunks[0].size = bytes_.size();
  Append(edit);
  EXPECT_NE(std::string::npos, ProblemsNow().find("lies outside of the pool")) << ProblemsNow();
}

TEST_F(VerifyTest, TablesOfOneRunThatOverlapAreFound) {
  Make();
  // All of them into one run.
  VersionEdit edit;
  for (const auto& [number, place] : manifest_.state.tables) {
    TablePlace moved = place;
    moved.level = kRepositoryLevel;
    moved.run = 0;
    edit.tables.push_back(moved);
  }
  Append(edit);
  EXPECT_NE(std::string::npos, ProblemsNow().find("overlap")) << ProblemsNow();
}

// The savepoint lies in the area in force, between the edit that makes the table longer and the one that mends it.
TEST_F(VerifyTest, ATableThatASavepointHasWithAnotherSizeIsFound) {
  Make();
  const TablePlace good = manifest_.state.tables.begin()->second;
  TablePlace longer = good;
  longer.index_size += kExtentUnit;
  SavepointEntry savepoint;
  savepoint.id = manifest_.state.next_id;
  savepoint.name = "s";
  savepoint.sequence = manifest_.state.flushed_sequence;
  VersionEdit edit;
  edit.tables = {longer};
  edit.savepoints = {savepoint};
  edit.SetNextId(savepoint.id + 1);
  Append(edit);
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes_, pool()));
  Load();
  VersionEdit mend;
  mend.tables = {good};
  Append(mend);
  const std::string found = "savepoint \"s\", table " + std::to_string(good.number) + ": is another table";
  EXPECT_NE(std::string::npos, ProblemsNow().find(found)) << ProblemsNow();
}

TEST_F(VerifyTest, RunsThatAreNotInOneLevelAreFound) {
  Make();
  const std::string good = bytes_;
  TablePlace of_repository, of_buffer;
  for (const auto& [number, place] : manifest_.state.tables) {
    (place.level == kRepositoryLevel ? of_repository : of_buffer) = place;
  }
  ASSERT_TRUE(of_repository.number > 0 && of_buffer.number > 0);
  of_repository.level = of_buffer.level + 1;
  of_repository.run = of_buffer.run;
  VersionEdit edit;
  edit.tables = {of_repository};
  Append(edit);
  const std::string twice = "run " + std::to_string(of_buffer.run) + " is in two levels";
  EXPECT_NE(std::string::npos, ProblemsNow().find(twice)) << ProblemsNow();
  bytes_ = good;
  of_buffer.run = 0;
  edit.tables = {of_buffer};
  Append(edit);
  const std::string zero = "table " + std::to_string(of_buffer.number) + " has no proper place";
  EXPECT_NE(std::string::npos, ProblemsNow().find(zero)) << ProblemsNow();
}

TEST_F(VerifyTest, WritesThatAreMissingInTheLogAreFound) {
  Make();
  VersionEdit edit;
  edit.SetFlushedSequence(manifest_.state.flushed_sequence - 1);
  Append(edit);
  EXPECT_NE(std::string::npos, ProblemsNow().find("are missing")) << ProblemsNow();
}

TEST_F(VerifyTest, ADamagedCopyOfARootIsANoteAndOfTheSuperblockAProblem) {
  Make();
  const std::string good = bytes_;
  bytes_[RootSlotOffset(root_.epoch, 1) + 8] ^= 1;
  EXPECT_EQ("", ProblemsNow());
  EXPECT_EQ(1u, Verify().notes.size());
  bytes_ = good;
  bytes_[SuperblockOffset(1) + 20] ^= 1;
  EXPECT_NE(std::string::npos, ProblemsNow().find("superblock at offset 3072"));
}

// The second copy is begun when the first is durable, so a crash within the second root leaves that one blank.
TEST_F(VerifyTest, ATornSecondRootIsANoteAndTwoDamagedCopiesAreAProblem) {
  Make();
  Superblock superblock;
  memcpy(&superblock, bytes_.data() + kSuperblockOffset, sizeof(superblock));
  RootSlot first = root_;
  first.epoch = 1;
  first.checksum = RootChecksum(first, PoolId(superblock));
  for (int copy = 0; copy < kRootCopies; copy++) {
    memcpy(&bytes_[RootSlotOffset(1, copy)], &first, sizeof(first));
    memset(&bytes_[RootSlotOffset(2, copy)], 0, sizeof(first));
  }
  EXPECT_EQ(std::string::npos, ProblemsNow().find("root copy")) << ProblemsNow();
  bytes_[RootSlotOffset(2, 0) + 8] = 1;
  EXPECT_EQ(std::string::npos, ProblemsNow().find("root copy")) << ProblemsNow();
  EXPECT_FALSE(Verify().notes.empty());
  bytes_[RootSlotOffset(2, 1) + 8] = 1;
  EXPECT_NE(std::string::npos, ProblemsNow().find("root copy at offset 1536")) << ProblemsNow();
}

// A database with a savepoint that nothing but its area, a table and a part of a log chunk are left of.
class SavedVerifyTest : public VerifyTest {
 protected:
  void MakeSaved() {
    Open();
    Fill(300, 100);
    ASSERT_OK(db_->Flush());
    Put("log", "1");
    ASSERT_OK(db_->CreateSavepoint("s"));
    Put("log", "2");
    Open();
    ASSERT_OK(db_->DeleteRange(WriteOptions(), "", "z"));
    Settle();
    Put("log", "3");
    Close();
    Load();
    ASSERT_EQ(1u, manifest_.state.savepoints.size());
    entry_ = manifest_.state.savepoints.begin()->second;
    std::unique_ptr<PoolImage> image;
    ASSERT_OK(PoolImage::Open(pool(), &image));
    area_ = ReadManifestArea(*image, entry_.area.offset, entry_.area.size, entry_.area.generation, entry_.area.records);
    ASSERT_TRUE(area_.problems.empty());
    ASSERT_NE(root_.manifest_offset, area_.offset);
    ASSERT_EQ(1u, area_.state.tables.size());
    ASSERT_EQ(0u, manifest_.state.tables.count(area_.state.tables.begin()->first));
    ASSERT_EQ(1u, entry_.chunks.size());
  }

  // Damages one byte, and expects problems of the savepoint alone, the first of which begins so.
  void ExpectDamage(PmRef offset, const std::string& begin) {
    bytes_[offset] ^= 1;
    const std::string problems = ProblemsNow();
    bytes_[offset] ^= 1;
    EXPECT_EQ("savepoint \"s\", " + begin, problems.substr(0, begin.size() + 15)) << problems;
    for (size_t at = problems.find('\n'); at + 1 < problems.size(); at = problems.find('\n', at + 1)) {
      EXPECT_EQ(0u, problems.compare(at + 1, 15, "savepoint \"s\", ")) << problems;
    }
  }

  // The checker's report of another savepoint.
  std::string ProblemsOf(const SavepointEntry& entry) {
    const std::string good = bytes_;
    VersionEdit edit;
    edit.removed_savepoints = {entry_.id};
    edit.savepoints = {entry};
    edit.savepoints[0].id++;
    edit.SetNextId(std::max(manifest_.state.next_id, entry_.id + 2));
    Append(edit);
    const std::string problems = ProblemsNow();
    bytes_ = good;
    return problems;
  }

  SavepointEntry entry_;
  ManifestImage area_;
};

TEST_F(SavedVerifyTest, ASoundSavepointHasNoProblemAndHoldsItsSpace) {
  MakeSaved();
  const VerifyResult result = Verify();
  EXPECT_EQ("", Problems(result));
  EXPECT_EQ(1u, result.savepoints.count);
  EXPECT_GE(result.savepoints.bytes, 300u * 100 + entry_.area.size);
  EXPECT_EQ(result.file_bytes, result.used_bytes + result.free_bytes);
  Open();
  ASSERT_OK(db_->DropSavepoint("s"));
  Close();
  const VerifyResult dropped = Verify();
  EXPECT_EQ("", Problems(dropped));
  EXPECT_EQ(0u, dropped.savepoints.count);
  EXPECT_EQ(0u, dropped.savepoints.bytes);
  EXPECT_LT(dropped.used_bytes, result.used_bytes - 300 * 100);
}

TEST_F(SavedVerifyTest, SavepointsOfAnyMomentsAreSound) {
  for (const OptionSet& set : OptionSets()) {
    SCOPED_TRACE(set.name);
    options_ = AtPath(set.options, path_);
    for (const uint64_t seed : Seeds(ByScale(1, 3, 30))) {
      SCOPED_TRACE(Repeat(seed));
      Random random(seed);
      ASSERT_OK(DestroyDB(path_, options_));
      Open();
      uint64_t savepoints = 0;
      for (int i = 0; i < 1500; i++) {
        Put(FilledKey(random.Uniform(400)), random.Bytes(random.Skewed(9)));
        if (random.OneIn(100)) ASSERT_OK(db_->CreateSavepoint(std::to_string(++savepoints)));
        if (random.OneIn(200)) ASSERT_OK(db_->Flush());
        if (random.OneIn(500)) db_->CompactRange(nullptr, nullptr);
        if (random.OneIn(500) && options_.log_mode != kLogOff) Open();
      }
      Close();
      const VerifyResult result = Verify(options_.comparator);
      EXPECT_EQ("", Problems(result));
      EXPECT_EQ(savepoints, result.savepoints.count);
      EXPECT_EQ(result.file_bytes, result.used_bytes + result.free_bytes);
      if (HasFailure()) return;
    }
  }
}

TEST_F(SavedVerifyTest, ADumpNamesIt) {
  MakeSaved();
  StringSink dump;
  ASSERT_OK(DumpFile(Env::Default(), pool(), &dump));
  const std::string line = "\n--- savepoint " + std::to_string(entry_.id) + " 's': sequence 301, made ";
  EXPECT_NE(std::string::npos, dump.contents.find(line)) << dump.contents.substr(0, 2000);
  const ChunkPart& part = entry_.chunks[0];
  EXPECT_NE(std::string::npos, dump.contents.find("\npart: " + std::to_string(part.bytes) + " bytes of log chunk " +
                                                  std::to_string(part.id) + "\n"));
}

TEST_F(SavedVerifyTest, DamageInWhatOnlyASavepointHasIsFound) {
  MakeSaved();
  const TablePlace& table = area_.state.tables.begin()->second;
  const LogChunkPlace& chunk = area_.state.chunks.at(entry_.chunks[0].id);
  ExpectDamage(area_.records[1].offset + kManifestRecordHeader, "manifest at offset " + std::to_string(area_.offset));
  ExpectDamage(area_.records.back().offset + kManifestRecordHeader, "manifest at offset ");
  ExpectDamage(table.index_offset + 8, "table " + std::to_string(table.number) + " at offset ");
  ExpectDamage(table.index_offset + sizeof(TableHeader) + 100, "table " + std::to_string(table.number) + " at offset ");
  ExpectDamage(chunk.offset + entry_.chunks[0].bytes - 1, ChunkName(chunk));
  EXPECT_EQ("", ProblemsNow());
}

TEST_F(SavedVerifyTest, ASavepointThatSaysWhatIsNotSoIsFound) {
  MakeSaved();
  EXPECT_EQ("", ProblemsOf(entry_));
  SavepointEntry wrong = entry_;
  wrong.sequence++;
  EXPECT_NE(std::string::npos, ProblemsOf(wrong).find("\"s\", log: ends at sequence")) << ProblemsOf(wrong);
  wrong = entry_;
  wrong.chunks.clear();
  EXPECT_NE(std::string::npos, ProblemsOf(wrong).find("\"s\", log: ends at sequence")) << ProblemsOf(wrong);
  wrong = entry_;
  wrong.chunks[0].bytes = uint64_t{1} << 40;
  EXPECT_NE(std::string::npos, ProblemsOf(wrong).find("is shorter than the savepoint says")) << ProblemsOf(wrong);
  wrong = entry_;
  wrong.area.records += 1000;
  EXPECT_NE(std::string::npos, ProblemsOf(wrong).find("which the savepoint needs")) << ProblemsOf(wrong);
  wrong = entry_;
  wrong.area.size = uint64_t{1} << 50;
  EXPECT_NE(std::string::npos, ProblemsOf(wrong).find("lies outside of the pool's")) << ProblemsOf(wrong);
  wrong = entry_;
  wrong.area.offset = root_.manifest_offset;
  EXPECT_NE(std::string::npos, ProblemsOf(wrong).find("is described in two ways")) << ProblemsOf(wrong);
  wrong = entry_;
  wrong.id = manifest_.state.next_id + 1000;
  VersionEdit edit;
  edit.removed_savepoints = {entry_.id};
  edit.savepoints = {wrong};
  Append(edit);
  EXPECT_NE(std::string::npos, ProblemsNow().find("\"s\": the next id is not above it")) << ProblemsNow();
}

// Space that the current state and a savepoint both claim, as different things.
TEST_F(SavedVerifyTest, SpaceOfASavepointThatIsInUseIsFound) {
  MakeSaved();
  VersionEdit edit;
  LogChunkPlace chunk;
  chunk.id = manifest_.state.next_id;
  chunk.offset = area_.state.tables.begin()->second.index_offset;
  chunk.size = kExtentUnit;
  edit.SetNextId(chunk.id + 1);
  edit.chunks.push_back(chunk);
  Append(edit);
  const std::string problems = ProblemsNow();
  EXPECT_NE(std::string::npos, problems.find("savepoint \"s\", extent at offset ")) << problems;
  EXPECT_NE(std::string::npos, problems.find("belongs to table")) << problems;
}

}  // namespace
}  // namespace miodb::test
