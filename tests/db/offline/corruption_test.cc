// Every bit of every structure of a small store, flipped one at a time; every 64-byte line zeroed; the file cut at
// every line. With any damage the store opens and every read is right or Corruption, or it does not open and says why.
// And the checker agrees: what it calls undamaged reads right from end to end.

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/env.h"
#include "pmtable/table_header.h"
#include "src/inspect/verify/verify.h"
#include "src/log/log_piece.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb::test {
namespace {

class CorruptionTest : public DbTestBase {
 protected:
  struct Range {
    std::string what;
    uint64_t begin;
    uint64_t end;
  };

  // A table with two levels in the repository, one with a single leaf above it, and a log with batches. The last write
  // is an empty value of kLast: the end of a log may always be a write that nobody was told of.
  void SetUp() override {
    options_.paranoid_checks = true;
    options_.persist_mode = kPersistEmulated;  // where holes in the log are damage, whatever the tests run on
    options_.write_buffer_size = 16 * 1024;
    options_.log_chunk_size = 8 * 1024;
    options_.pool_size = 384 * 1024;
    options_.pool_growth = 64 * 1024;
    Open();
    for (uint64_t i = 0; i < 130; i++) Write(FilledKey(i), FilledValue(i, 30, 1));
    db_->CompactRange(nullptr, nullptr);
    for (uint64_t i = 0; i < 20; i++) Write(FilledKey(i * 5), FilledValue(i, 20, 2));
    Delete(FilledKey(8));
    expected_.erase(FilledKey(8));
    ASSERT_OK(db_->Flush());
    for (uint64_t i = 0; i < 12; i++) Write(FilledKey(i * 7), FilledValue(i, 20, 3));
    WriteBatch batch;
    for (uint64_t i = 0; i < 3; i++) {
      batch.Put(FilledKey(1000 + i), "batch");
      expected_[FilledKey(1000 + i)] = "batch";
    }
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
    Put(kLast, "");
    Close();
    ASSERT_OK(ReadFileToString(Env::Default(), pool(), &good_));
    FindRanges();
  }

  void Write(const std::string& key, const std::string& value) {
    Put(key, value);
    expected_[key] = value;
  }

  std::string pool() const { return path_ + "/pool"; }

  void FindRanges() {
    std::unique_ptr<PoolImage> image;
    ASSERT_OK(PoolImage::Open(pool(), &image));
    const PoolHeader header = image->Header();
    for (int copy = 0; copy < kSuperblockCopies; copy++) {
      header_.push_back({"superblock", SuperblockOffset(copy), SuperblockOffset(copy) + sizeof(Superblock)});
    }
    for (const auto& slot : header.roots) {
      for (const PoolHeader::Root& root : slot)
        header_.push_back({"root", root.offset, root.offset + sizeof(RootSlot)});
    }
    const RootSlot& root = header.current;
    const ManifestImage manifest = ReadManifestArea(*image, root.manifest_offset, root.manifest_size, root.generation);
    ASSERT_GT(manifest.records.size(), 1u);
    for (const ManifestImage::Record& r : manifest.records) manifest_.push_back({"edit", r.offset, r.offset + r.bytes});
    const uint64_t area_end = manifest.offset + manifest.size;
    manifest_.push_back({"footer", area_end - kAreaFooterBytes, area_end});
    for (const auto& [id, place] : manifest.state.chunks) {
      const LogPiece chunk = ReadLogChunk(place, image->At(place.offset), image->secret());
      for (const FrameView& frame : chunk.frames) {
        frames_.push_back({"frame", image->RefOf(frame.begin), image->RefOf(frame.end)});
      }
    }
    ASSERT_EQ(14u, frames_.size());
    for (const auto& [number, place] : manifest.state.tables) {
      TableHeader h;
      ASSERT_TRUE(ReadTableHeader(image->At(place.index_offset), image->secret(), &h));
      indexes_.push_back(
          {"index", place.index_offset, place.index_offset + h.inner_offset + h.inner_count * sizeof(InnerNode)});
      two_levels_ = two_levels_ || h.inner_count > 0;
    }
    ASSERT_EQ(2u, indexes_.size());
    ASSERT_TRUE(two_levels_);
  }

  // Judges a damaged pool. detected: the checker or the engine found something.
  void Check(const std::string& bytes, bool* opened, bool* detected) {
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
    bool clean = false;
    {
      std::unique_ptr<PoolImage> image;
      ASSERT_OK(PoolImage::Open(pool(), &image));
      clean = CheckReadable(*image).ok() && VerifyPool(*image, BytewiseComparator(), VerifyOptions()).problems.empty();
    }
    const Status s = TryOpen();
    *opened = s.ok();
    bool corrupt = false;
    if (s.ok()) {
      CheckReads(&corrupt);
      Close();
    } else {
      ASSERT_TRUE(s.IsCorruption() || s.IsNotSupportedError()) << s.ToString();
      ASSERT_TRUE(Mentions(s, pool()));
      corrupt = true;
    }
    ASSERT_FALSE(clean && corrupt) << "the checker finds nothing: " << s.ToString();
    *detected = corrupt || !clean;
  }

  // Every read is right or Corruption.
  void CheckReads(bool* corrupt) {
    ReadOptions verify;
    verify.verify_checksums = true;
    std::string value;
    for (const auto& [key, expected] : expected_) {
      const Status s = db_->Get(verify, key, &value);
      if (s.IsCorruption()) *corrupt = true;
      if (s.IsCorruption()) continue;
      ASSERT_TRUE(s.ok()) << "lost silently: " << key << ": " << s.ToString();
      ASSERT_EQ(expected, value) << key;
    }
    const Status deleted = db_->Get(verify, FilledKey(8), &value);
    ASSERT_TRUE(deleted.IsNotFound() || deleted.IsCorruption()) << "came back: " << deleted.ToString();
    const std::unique_ptr<Iterator> it(db_->NewIterator(verify));
    auto next = expected_.begin();
    for (it->SeekToFirst(); it->Valid() && it->key() != Slice(kLast); it->Next(), ++next) {
      ASSERT_TRUE(next != expected_.end());
      ASSERT_EQ(next->first, it->key().ToString());
      ASSERT_EQ(next->second, it->value().ToString());
    }
    if (it->status().IsCorruption()) *corrupt = true;
    ASSERT_TRUE(next == expected_.end() || *corrupt) << "a scan ends before " << next->first;
  }

  // Flips single bits of the ranges, every step-th of all.
  void FlipAll(const std::vector<Range>& ranges, bool must_detect, bool may_open) {
    const uint64_t step = RunsUnderSanitizer() ? 997 : ByScale(41, 1, 1);
    uint64_t n = 0, detected_count = 0;
    for (const Range& range : ranges) {
      for (uint64_t bit = range.begin * 8; bit < range.end * 8; bit++) {
        if (n++ % step != 0) continue;
        std::string bytes = good_;
        bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
        SCOPED_TRACE("bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8 - range.begin) +
                     " of the " + range.what + " at offset " + std::to_string(range.begin));
        bool opened = false, detected = false;
        Check(bytes, &opened, &detected);
        if (HasFatalFailure()) return;
        if (detected) detected_count++;
        ASSERT_TRUE(detected || !must_detect);
        ASSERT_TRUE(!opened || may_open);
      }
    }
    EXPECT_GT(detected_count, 0u);
    RecordProperty("images", std::to_string((n + step - 1) / step));
    printf("%llu bits flipped, %llu detected\n", static_cast<unsigned long long>((n + step - 1) / step),
           static_cast<unsigned long long>(detected_count));
  }

  static constexpr char kLast[] = "last";
  std::map<std::string, std::string> expected_;
  std::string good_;
  std::vector<Range> header_, manifest_, frames_, indexes_;
  bool two_levels_ = false;
};

TEST_F(CorruptionTest, TheGoodPoolHasNone) {
  bool opened, detected;
  Check(good_, &opened, &detected);
  EXPECT_TRUE(opened);
  EXPECT_FALSE(detected);
}

TEST_F(CorruptionTest, OfAnyBitOfSuperblockOrRootCostsNothing) { FlipAll(header_, false, true); }

TEST_F(CorruptionTest, OfAnyBitOfAnEditIsReportedAtOpen) {
  std::vector<Range> edits(manifest_.begin(), manifest_.end() - 1);
  // Behind the payload a record is padded with zeros that mean nothing.
  for (Range& edit : edits) edit.end = edit.begin + 24 + DecodeFixed32(&good_[edit.begin]);
  FlipAll(edits, true, false);
}

TEST_F(CorruptionTest, OfAnyBitOfTheFooterIsHarmless) { FlipAll({manifest_.back()}, false, true); }

TEST_F(CorruptionTest, OfAnyBitOfAFrameBeforeTheLastIsReportedAtOpen) {
  FlipAll({frames_.begin(), frames_.end() - 1}, true, false);
}

TEST_F(CorruptionTest, OfAnyBitOfTheLastFrameCostsNoMoreThanIt) {
  bool opened, detected;
  for (uint64_t bit = frames_.back().begin * 8; bit < frames_.back().end * 8; bit++) {
    std::string bytes = good_;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    Check(bytes, &opened, &detected);
    ASSERT_FALSE(HasFatalFailure()) << bit;
    ASSERT_TRUE(opened);
  }
}

TEST_F(CorruptionTest, OfAnyBitOfAnIndexIsReportedAtOpen) { FlipAll(indexes_, true, false); }

// The same for a store that does not look at leaves when it opens.
TEST_F(CorruptionTest, OfAnyBitOfAnIndexIsFoundByReadsThatVerify) {
  options_.paranoid_checks = false;
  FlipAll(indexes_, true, true);
}

TEST_F(CorruptionTest, OfAnyLineThatIsZeroedIsSeenOrHarmless) {
  const uint64_t step = 64 * (RunsUnderSanitizer() ? 61 : ByScale(11, 1, 1));
  for (uint64_t at = 0; at < good_.size(); at += step) {
    SCOPED_TRACE(at);
    if (at / 64 == frames_.back().begin / 64) continue;
    std::string bytes = good_;
    std::fill_n(bytes.begin() + static_cast<ptrdiff_t>(at), 64, '\0');
    bool opened, detected;
    Check(bytes, &opened, &detected);
    if (HasFatalFailure()) return;
  }
}

TEST_F(CorruptionTest, ByTruncationIsSeenOrHarmless) {
  const uint64_t step = 64 * (RunsUnderSanitizer() ? 61 : ByScale(11, 1, 1));
  for (uint64_t size = 0; size < good_.size(); size += step) {
    SCOPED_TRACE(size);
    bool opened, detected;
    Check(good_.substr(0, size), &opened, &detected);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace miodb::test
