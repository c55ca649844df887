// Reading a log chunk or a log file: frames and batches that follow one another, and the place of the first hole.

#include "src/log/log_piece.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/log/file_log_reader.h"
#include "src/log/file_log_writer.h"
#include "src/util/bytes/coding.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/log/log_pool.h"

namespace miodb::test {
namespace {

constexpr uint64_t kChunk = 77;

class ChunkScanTest : public testing::Test {
 protected:
  // A chunk with a frame of two updates at each of these sequences.
  void Fill(const std::vector<uint64_t>& sequences) {
    chunk_ = NewPoolChunk(&pool_, kChunk, 1 << 16);
    for (const uint64_t first : sequences) {
      WriteFrame(&writer_, chunk_.get(), {{kTypeValue, "key", "value"}, {kTypeDeletion, "key", ""}}, first);
    }
  }
  LogPiece Scan() {
    LogChunkPlace place;
    place.id = kChunk;
    place.size = chunk_->extent->size();
    return ReadLogChunk(place, chunk_->base, pool_->secret());
  }
  // The part before the first hole.
  LogPiece Whole() {
    LogPiece scan = Scan();
    scan.CutAtHole();
    return scan;
  }

  TestPool pool_;
  FrameWriter writer_{&pool_->persist(), pool_->secret()};
  std::unique_ptr<LogChunk> chunk_;
};

TEST_F(ChunkScanTest, TakesFramesThatFollowOneAnother) {
  Fill({5, 7, 9});
  const LogPiece scan = Whole();
  EXPECT_EQ(5u, scan.first_sequence);
  EXPECT_EQ(10u, scan.last_sequence);
  EXPECT_EQ(3u, scan.frames.size());
  EXPECT_EQ(chunk_->used, scan.valid_bytes);
  EXPECT_FALSE(scan.damaged());
}

TEST_F(ChunkScanTest, AFrameThatDoesNotFollowIsDamage) {
  for (const uint64_t next : {6, 8, 5, 100}) {
    Fill({5, next});
    const LogPiece scan = Whole();
    EXPECT_EQ(1u, scan.frames.size()) << next;
    EXPECT_EQ(6u, scan.last_sequence) << next;
    EXPECT_TRUE(scan.damaged()) << next;
  }
}

TEST_F(ChunkScanTest, ADamagedFrameBeforeALaterOneIsDamage) {
  Fill({5, 7, 9});
  const LogPiece good = Scan();
  chunk_->base[static_cast<size_t>(good.frames[1].body - chunk_->base)] ^= 1;
  const LogPiece scan = Whole();
  EXPECT_EQ(1u, scan.frames.size());
  EXPECT_TRUE(scan.damaged());
}

// For those who repair and check: what comes behind a hole is read as well.
TEST_F(ChunkScanTest, FramesBehindHolesAreFound) {
  Fill({5, 7, 9, 11, 13, 20});
  const LogPiece good = Scan();
  ASSERT_EQ(6u, good.frames.size());
  for (const size_t frame : {1, 3}) chunk_->base[static_cast<size_t>(good.frames[frame].body - chunk_->base)] ^= 1;
  const LogPiece scan = Scan();
  EXPECT_EQ(1u, scan.whole_frames);
  EXPECT_EQ(4u, scan.frames.size());
  EXPECT_EQ(5u, scan.first_sequence);
  EXPECT_EQ(21u, scan.last_sequence);
  EXPECT_EQ(8u, scan.writes);
  EXPECT_EQ(static_cast<uint64_t>(good.frames[0].end - chunk_->base), scan.valid_bytes);
  ASSERT_EQ(5u, scan.holes.size()) << "two damaged frames, two that do not follow them, and one that follows nothing";
  EXPECT_EQ("writes 15 to 19 are missing before it", scan.holes.back().reason);
}

TEST_F(ChunkScanTest, ASealedChunkHasNoTornEnd) {
  Fill({5, 7});
  LogChunkPlace place;
  place.id = kChunk;
  place.size = chunk_->extent->size();
  place.sealed = true;
  place.sealed_size = chunk_->used;
  EXPECT_FALSE(ReadLogChunk(place, chunk_->base, pool_->secret()).damaged());
  chunk_->base[chunk_->used - 1] ^= 1;
  const LogPiece torn = ReadLogChunk(place, chunk_->base, pool_->secret());
  EXPECT_TRUE(torn.damaged());
  EXPECT_EQ(6u, torn.last_sequence);
}

TEST_F(ChunkScanTest, FramesOfAnotherChunkOrPoolAreNotFound) {
  Fill({5, 7});
  LogChunkPlace place;
  place.id = kChunk + 1;
  place.size = chunk_->extent->size();
  EXPECT_TRUE(ReadLogChunk(place, chunk_->base, pool_->secret()).empty());
  place.id = kChunk;
  EXPECT_TRUE(ReadLogChunk(place, chunk_->base, pool_->secret() + 1).empty());
  EXPECT_FALSE(ReadLogChunk(place, chunk_->base, pool_->secret()).empty());
}

TEST_F(ChunkScanTest, ADamagedLastFrameIsTheEnd) {
  Fill({5, 7});
  const LogPiece good = Scan();
  chunk_->base[static_cast<size_t>(good.frames[1].body - chunk_->base)] ^= 1;
  const LogPiece scan = Whole();
  EXPECT_EQ(1u, scan.frames.size());
  EXPECT_FALSE(scan.damaged());
}

class FileScanTest : public testing::Test {
 protected:
  // A file with a batch of one put at each of these sequences.
  void Fill(const std::vector<uint64_t>& sequences, size_t value_bytes = 5) {
    WritableFile* opened = nullptr;
    ASSERT_OK(env_->NewWritableFile(dir_ / file_.name(), &opened));
    const std::unique_ptr<WritableFile> file(opened);
    FileLogWriter writer(file.get(), file_.block_size, false);
    for (const uint64_t first : sequences) {
      std::string batch;
      PutFixed64(&batch, first);
      PutFixed32(&batch, 1);
      batch.push_back(static_cast<char>(kTypeValue));
      PutLengthPrefixedSlice(&batch, "key");
      PutLengthPrefixedSlice(&batch, std::string(value_bytes, 'v'));
      ASSERT_OK(writer.Add(batch));
    }
    ASSERT_OK(file->Close());
  }
  struct FileScan : LogPiece {
    std::vector<std::string> batches;
  };
  FileScan Scan(uint64_t flushed) {
    FileScan scan;
    scan.file = file_;
    const auto add = [&](const Slice& batch) {
      scan.batches.push_back(batch.ToString());
      return Status::OK();
    };
    EXPECT_OK(ReadLogFile(env_, dir_.path(), flushed, add, &scan));
    EXPECT_EQ(scan.batches.size(), scan.writes);
    return scan;
  }

  Env* const env_ = Env::Default();
  TestDir dir_;
  LogFile file_{3, 4096};
};

TEST_F(FileScanTest, TakesBatchesThatFollowOneAnotherAboveWhatIsFlushed) {
  Fill({5, 6, 7});
  const FileScan scan = Scan(5);
  EXPECT_EQ(6u, scan.first_sequence);
  EXPECT_EQ(7u, scan.last_sequence);
  EXPECT_EQ(2u, scan.batches.size());
  EXPECT_FALSE(scan.damaged());
}

TEST_F(FileScanTest, ABatchThatDoesNotFollowIsDamage) {
  for (const uint64_t next : {7, 5, 100}) {
    Fill({5, next});
    const FileScan scan = Scan(0);
    EXPECT_EQ(1u, scan.batches.size()) << next;
    EXPECT_EQ(5u, scan.last_sequence) << next;
    EXPECT_TRUE(scan.damaged()) << next;
  }
}

// Writes that are in tables may be missing: nothing is lost with them.
TEST_F(FileScanTest, AGapAmongFlushedWritesIsNoDamage) {
  Fill({5, 8, 9, 10});
  FileScan scan = Scan(8);
  EXPECT_EQ(9u, scan.first_sequence);
  EXPECT_EQ(10u, scan.last_sequence);
  EXPECT_FALSE(scan.damaged());
  scan = Scan(10);
  EXPECT_TRUE(scan.empty());
  EXPECT_FALSE(scan.damaged());
  EXPECT_TRUE(Scan(7).damaged()) << "write 8 is not in tables, and nobody knows what was before it";
}

// A crash leaves none: it is of another version, whose writes must not be cut away.
TEST_F(FileScanTest, ABatchWithoutANextSequenceIsUnknown) {
  Fill({kMostReadSequence});
  EXPECT_EQ(1u, Scan(0).batches.size());
  for (const uint64_t sequence : {uint64_t{0}, kMostReadSequence + 1, UINT64_MAX}) {
    Fill({sequence});
    EXPECT_EQ(0u, Scan(0).batches.size()) << sequence;
    EXPECT_TRUE(Scan(0).has_unknown_batch) << sequence;
  }
}

// Pages that were lost in the midst of two records, which then look like one.
TEST_F(FileScanTest, TwoHalvesOfRecordsAreNone) {
  Fill({50, 51}, 5000);
  std::string content;
  ASSERT_OK(ReadFileToString(env_, dir_ / file_.name(), &content));
  FileLogReader whole(content, file_.block_size);
  std::string scratch;
  Slice batch;
  ASSERT_TRUE(whole.Next(&batch, &scratch));
  // From the end of the first block to the last fragment of the second record.
  const size_t second_last = content.size() / file_.block_size * file_.block_size;
  for (size_t i = file_.block_size; i < second_last; i++) content[i] = 0;
  FileLogReader reader(content, file_.block_size);
  EXPECT_FALSE(reader.Next(&batch, &scratch));
  EXPECT_EQ(0u, reader.valid_bytes());
}

// What a killed process leaves of a batch larger than a block. That writes before it are not flushed either is nothing
// that the file knows.
TEST_F(FileScanTest, ATornBatchOfManyBlocksIsTheEnd) {
  for (const bool first : {true, false}) {
    Fill(first ? std::vector<uint64_t>{50} : std::vector<uint64_t>{49, 50}, 10000);
    std::string content;
    ASSERT_OK(ReadFileToString(env_, dir_ / file_.name(), &content));
    const size_t least = first ? 0 : content.size() / 2;
    for (size_t size = content.size() - 1; size > least; size -= std::min<size_t>(500, size)) {
      ASSERT_OK(WriteStringToFile(env_, content.substr(0, size), dir_ / file_.name()));
      const FileScan scan = Scan(3);
      EXPECT_EQ(first ? 0u : 1u, scan.batches.size()) << size;
      EXPECT_FALSE(scan.damaged()) << size;
    }
  }
}

TEST_F(FileScanTest, ATornBatchBeforeALaterOneIsDamage) {
  Fill({50, 51, 52}, 10000);
  std::string content;
  ASSERT_OK(ReadFileToString(env_, dir_ / file_.name(), &content));
  content[5000] ^= 1;
  ASSERT_OK(WriteStringToFile(env_, content, dir_ / file_.name()));
  const FileScan scan = Scan(3);
  EXPECT_EQ(0u, scan.batches.size());
  EXPECT_TRUE(scan.damaged());
}

// Only the bytes that a file holds are read, whatever length the file has.
TEST_F(FileScanTest, HolesAreNotRead) {
  constexpr uint64_t kSparseBytes = uint64_t{1} << 42;
  const std::string path = dir_ / file_.name();
  Fill({5, 6, 7}, 1000);
  std::string content;
  ASSERT_OK(ReadFileToString(env_, path, &content));
  std::filesystem::resize_file(path, kSparseBytes);
  FileScan scan = Scan(0);
  EXPECT_EQ(3u, scan.batches.size());
  EXPECT_EQ(content.size(), scan.valid_bytes);
  EXPECT_FALSE(scan.damaged());

  // A batch behind the hole is a later one, and the sign of damage.
  Fill({9}, 1000);
  std::string later;
  ASSERT_OK(ReadFileToString(env_, path, &later));
  ASSERT_OK(WriteStringToFile(env_, content, path));
  std::filesystem::resize_file(path, kSparseBytes - later.size());
  WritableFile* opened = nullptr;
  ASSERT_OK(env_->NewAppendableFile(path, &opened));
  ASSERT_OK(opened->Append(later));
  delete opened;
  scan = Scan(0);
  EXPECT_EQ(3u, scan.batches.size());
  EXPECT_EQ(content.size(), scan.valid_bytes);
  EXPECT_TRUE(scan.damaged());
}

}  // namespace
}  // namespace miodb::test
