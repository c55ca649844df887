// A damaged pool, opened with paranoid_checks: Corruption that names the pool, or right data. Without them damage of a
// table's index may go unnoticed, but it never gives a wrong value, and nothing ever crashes.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/format/manifest_area.h"
#include "src/format/record.h"
#include "src/format/superblock.h"
#include "src/util/bytes/hash.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/model.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

class DamageTest : public DbTestBase {
 protected:
  // A database with tables on several levels, a log that was not flushed, and its pool's bytes.
  void SetUp() override {
    options_ = FindOptionSet("tiny").options;
    options_.num_levels = 4;
    Open();
    for (uint64_t i = 0; i < 400; i++) Write(FilledKey(i % 150), FilledValue(i, 60, 0));
    Settle();
    for (uint64_t i = 0; i < 120; i++) Write(FilledKey(i * 3), FilledValue(i, 90, 1));
    ASSERT_OK(db_->Flush());
    for (uint64_t i = 0; i < 20; i++) Write(FilledKey(i * 7), FilledValue(i, 40, 2));
    // The last frame of a log may always be one that never was acknowledged, so its damage may go unnoticed. Noise is
    // shorter than the frame before it, so it never hides those before both.
    for (const std::string& last : {std::string(1000, 'l'), std::string()}) {
      Put(kLast, last);
      written_[kLast].insert(last);
    }
    Close();
    ASSERT_OK(ReadFileToString(Env::Default(), pool(), &good_));
    options_.paranoid_checks = true;
  }

  void Write(const std::string& key, const std::string& value) {
    Put(key, value);
    expected_[key] = value;
    written_[key].insert(value);
  }

  std::string pool() const { return path_ + "/pool"; }

  RootSlot SlotAt(uint64_t parity) const {
    RootSlot slot;
    std::memcpy(&slot, good_.data() + RootSlotOffset(parity, 0), sizeof(slot));
    return slot;
  }

  RootSlot Root() const { return SlotAt(0).epoch > SlotAt(1).epoch ? SlotAt(0) : SlotAt(1); }

  // Opens a pool of these bytes. Either that fails as it should, or what can be read is right.
  void Check(const std::string& bytes) {
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
    const Status s = TryOpen();
    if (!s.ok()) {
      EXPECT_TRUE(s.IsCorruption() || s.IsNotSupportedError()) << s.ToString();
      EXPECT_TRUE(Mentions(s, pool()));
      EXPECT_EQ(nullptr, db_);
      std::string after;
      ASSERT_OK(ReadFileToString(Env::Default(), pool(), &after));
      // If an open finds one of the two copies in the header page torn, it makes the copy whole before it goes on.
      const size_t header = std::min<size_t>(bytes.size(), kPoolHeaderSize);
      EXPECT_TRUE(after.size() == bytes.size() && after.substr(header) == bytes.substr(header))
          << "a failed open changed the pool";
      return;
    }
    CheckReads();
    db_->CompactRange(nullptr, nullptr);
    CheckReads();
    Close();
  }

  void CheckReads() {
    if (options_.paranoid_checks) {
      CheckAllRight();
    } else {
      CheckNothingWrong();
    }
  }

  // Everything that is read is right or Corruption.
  void CheckAllRight() {
    ReadOptions verify;
    verify.verify_checksums = true;
    std::string value;
    for (const auto& [key, expected] : expected_) {
      const Status s = db_->Get(verify, key, &value);
      if (s.IsCorruption()) continue;
      ASSERT_TRUE(s.ok()) << "lost silently: " << key << ": " << s.ToString();
      ASSERT_TRUE(value == expected) << "wrong value of " << key;
    }
    CheckManyAsGets(verify);
    const std::unique_ptr<Iterator> it(db_->NewIterator(verify));
    auto next = expected_.begin();
    for (it->SeekToFirst(); it->Valid() && it->key() != Slice(kLast); it->Next(), ++next) {
      ASSERT_TRUE(next != expected_.end()) << "a scan yields " << Printable(it->key());
      ASSERT_EQ(next->first, it->key().ToString());
      ASSERT_TRUE(it->value() == Slice(next->second)) << "a scan yields a wrong value of " << next->first;
    }
    ASSERT_TRUE(next == expected_.end() || it->status().IsCorruption())
        << "a scan ends silently before " << next->first;
  }

  // Damage of one key's record does not show in other keys, and MultiGet answers as Get does.
  void CheckManyAsGets(const ReadOptions& options) {
    std::vector<Slice> keys;
    for (const auto& [key, all] : written_) keys.emplace_back(key);
    std::vector<std::string> values, before;
    std::string value;
    for (const Slice& key : keys) before.push_back(db_->Get(options, key, &value).ToString());
    const std::vector<Status> statuses = db_->MultiGet(options, keys, &values);
    ASSERT_EQ(keys.size(), statuses.size());
    for (size_t i = 0; i < keys.size(); i++) {
      // Filters are made in the background, and spare a get the damage of another key's record.
      const Status after = db_->Get(options, keys[i], &value);
      ASSERT_TRUE(statuses[i].ToString() == before[i] || statuses[i].ToString() == after.ToString())
          << keys[i].ToString() << ": " << statuses[i].ToString();
      if (statuses[i].ok() && after.ok()) {
        ASSERT_EQ(value, values[i]) << keys[i].ToString();
      }
    }
  }

  // No value is read that was never written to its key.
  void CheckNothingWrong() {
    ReadOptions verify;
    verify.verify_checksums = true;
    std::string value;
    for (const auto& [key, all] : written_) {
      const Status s = db_->Get(verify, key, &value);
      ASSERT_TRUE(s.ok() || s.IsNotFound() || s.IsCorruption()) << s.ToString();
      ASSERT_TRUE(!s.ok() || all.count(value) > 0) << "wrong value of " << key;
    }
    CheckManyAsGets(ReadOptions());
    CheckManyAsGets(verify);
    const std::unique_ptr<Iterator> it(db_->NewIterator(verify));
    for (it->SeekToFirst(); it->Valid(); it->Next()) {
      const auto found = written_.find(it->key().ToString());
      ASSERT_TRUE(found != written_.end()) << "a scan yields " << Printable(it->key());
      ASSERT_TRUE(found->second.count(it->value().ToString()) > 0) << "a scan yields a wrong value of " << found->first;
    }
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
    }
  }

  void CheckFlipped(uint64_t bit) {
    std::string bytes = good_;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << (bit % 8)));
    const std::string around = good_.substr(std::max<uint64_t>(bit / 8, 32) - 32, 64);
    SCOPED_TRACE("bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8) + " in " + Printable(around));
    Check(bytes);
  }

  // Flips every bit of [begin, end), or every step-th at a smaller scale.
  void CheckEveryBit(uint64_t begin, uint64_t end, uint64_t step) {
    for (uint64_t bit = begin * 8; bit < end * 8 && !HasFailure(); bit += step) CheckFlipped(bit);
  }

  // Writes random bytes over a few places.
  void CheckNoise(uint64_t seeds) {
    for (const uint64_t seed : Seeds(seeds)) {
      SCOPED_TRACE(Repeat(seed));
      Random random(seed);
      std::string bytes = good_;
      const uint64_t places = 1 + random.Uniform(4);
      std::string noisy = "noise at";
      for (uint64_t i = 0; i < places; i++) {
        const uint64_t at = random.Uniform(bytes.size());
        const std::string noise = random.Bytes(1 + random.Skewed(8));
        const size_t length = std::min<size_t>(noise.size(), bytes.size() - at);
        bytes.replace(at, length, noise, 0, length);
        noisy += " [" + std::to_string(at) + ", " + std::to_string(at + length) + ")";
      }
      SCOPED_TRACE(noisy);
      Check(bytes);
      if (HasFailure()) return;
    }
  }

  // Flips single bits of pages that hold anything.
  void CheckRandomBits(uint64_t seeds) {
    std::vector<uint64_t> pages;
    for (uint64_t page = 0; page < good_.size() / kExtentUnit; page++) {
      if (good_.find_first_not_of('\0', page * kExtentUnit) < (page + 1) * kExtentUnit) pages.push_back(page);
    }
    for (const uint64_t seed : Seeds(seeds)) {
      SCOPED_TRACE(Repeat(seed));
      Random random(seed);
      CheckFlipped(pages[random.Uniform(pages.size())] * kExtentUnit * 8 + random.Uniform(kExtentUnit * 8));
      if (HasFailure()) return;
    }
  }

  static constexpr char kLast[] = "last";
  std::map<std::string, std::string> expected_;
  std::map<std::string, std::set<std::string>> written_;
  std::string good_;
};

TEST_F(DamageTest, NoneIsSeenInTheGoodPool) {
  Check(good_);
  Open();
  CheckReads();
}

TEST_F(DamageTest, OfAnySuperblockBitIsSeen) {
  CheckEveryBit(kSuperblockOffset, kSuperblockOffset + sizeof(Superblock), ByScale(3, 1, 1));
}

TEST_F(DamageTest, OfAnyRootBitIsSeenOrHarmless) {
  for (uint64_t parity = 0; parity < 2; parity++) {
    for (int copy = 0; copy < kRootCopies; copy++) {
      const uint64_t begin = RootSlotOffset(parity, copy);
      CheckEveryBit(begin, begin + sizeof(RootSlot), ByScale(7, 1, 1));
    }
  }
}

TEST_F(DamageTest, OfAnyManifestBitIsSeenOrHarmless) {
  const RootSlot root = Root();
  ASSERT_LE(root.manifest_offset + root.manifest_size, good_.size());
  // Records lie at the start of the area; the rest is zero or stale.
  const uint64_t used = std::min<uint64_t>(root.manifest_size, ByScale(2048, 4096, 16384));
  CheckEveryBit(root.manifest_offset, root.manifest_offset + used, ByScale(29, 11, 1));
}

TEST_F(DamageTest, OfRandomBytesIsSeenOrHarmless) { CheckNoise(ByScale(300, 1000, 50000)); }

TEST_F(DamageTest, OfRandomBytesGivesNoWrongValueWithoutParanoidChecks) {
  options_.paranoid_checks = false;
  CheckNoise(ByScale(300, 1000, 50000));
}

TEST_F(DamageTest, OfRandomBitsInUsedPagesIsSeenOrHarmless) { CheckRandomBits(ByScale(600, 2000, 100000)); }

TEST_F(DamageTest, OfRandomBitsInUsedPagesGivesNoWrongValueWithoutParanoidChecks) {
  options_.paranoid_checks = false;
  CheckRandomBits(ByScale(600, 2000, 100000));
}

TEST_F(DamageTest, ByTruncationIsSeenOrHarmless) {
  for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{111}, uint64_t{4095}, uint64_t{4096}, uint64_t{8191},
                              uint64_t{8192}, uint64_t{12288}, uint64_t{65536}, uint64_t{good_.size() / 2},
                              uint64_t{good_.size() - 4096}, uint64_t{good_.size() - 1}}) {
    SCOPED_TRACE(size);
    Check(good_.substr(0, size));
  }
}

TEST_F(DamageTest, OfAForeignFileIsRefused) {
  Check("this is no pool");
  Check(std::string(1 << 20, '\0'));
  Check(std::string(1 << 20, '\xff'));
  Check(Random(1).Bytes(1 << 20));
  EXPECT_EQ(nullptr, db_);
}

TEST_F(DamageTest, APoolOfAnotherVersionIsRefusedByItsNumber) {
  Superblock superblock;
  std::memcpy(&superblock, good_.data(), sizeof(superblock));
  superblock.version = kPoolFormatVersion + 41;
  superblock.checksum = Hash64(&superblock, offsetof(Superblock, checksum));
  std::string bytes = good_;
  std::memcpy(bytes.data(), &superblock, sizeof(superblock));
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
  const Status s = TryOpen();
  EXPECT_STATUS(NotSupportedError, s);
  EXPECT_TRUE(Mentions(s, pool()));
  EXPECT_TRUE(Mentions(s, std::to_string(kPoolFormatVersion + 41)));
  EXPECT_TRUE(Mentions(s, std::to_string(kPoolFormatVersion)));
  Check(good_);
}

// Behind the last epoch there is none for the next root.
TEST_F(DamageTest, ARootWithoutANextEpochIsRefused) {
  uint64_t seed;
  std::memcpy(&seed, good_.data() + offsetof(Superblock, uuid), sizeof(seed));
  for (const uint64_t epoch : {UINT64_MAX, UINT64_MAX - 1, kMostEpoch + 1, kMostEpoch}) {
    SCOPED_TRACE(epoch);
    RootSlot slot = Root();
    slot.epoch = epoch;
    slot.checksum = Hash64(&slot, offsetof(RootSlot, checksum), seed);
    std::string bytes = good_;
    for (int copy = 0; copy < kRootCopies; copy++) {
      std::memcpy(&bytes[RootSlotOffset(epoch, copy)], &slot, sizeof(slot));
    }
    ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
    const Status s = TryOpen();
    // In a new pool the other slot may have been torn at its first write.
    EXPECT_TRUE(s.IsCorruption() || (s.ok() && epoch % 2 != Root().epoch % 2 && Root().epoch == 1)) << s.ToString();
    Close();
  }
}

// There are numbers for new tables whatever numbers a manifest has.
TEST_F(DamageTest, AManifestWithoutNextNumbersIsRefused) {
  Superblock superblock;
  std::memcpy(&superblock, good_.data(), sizeof(superblock));
  const RootSlot root = Root();
  const uint64_t area_seed = AreaSeed(superblock.secret, root.generation);
  uint64_t position = 0, edits = 0;
  ManifestRecord record;
  while (ReadManifestRecord(&good_[root.manifest_offset], root.manifest_size - kAreaFooterBytes, position, area_seed,
                            &record)) {
    position += ManifestRecordBytes(record.payload.size());
    edits++;
  }
  for (const char field : {'\2', '\3'}) {
    for (const uint64_t number : {UINT64_MAX, UINT64_MAX / 2, UINT64_MAX / 4 + 1, kMaxSequence}) {
      if (field == '\2' && number == kMaxSequence) continue;
      SCOPED_TRACE(static_cast<int>(field));
      std::string payload(1, field), bytes = good_;
      PutVarint64(&payload, number);
      std::string fresh;
      PutFixed32(&fresh, static_cast<uint32_t>(payload.size()));
      PutFixed32(&fresh, 0);
      PutFixed64(&fresh, edits);
      PutFixed64(&fresh, ManifestRecordChecksum(area_seed, edits, payload));
      fresh += payload;
      fresh.resize(ManifestRecordBytes(payload.size()), '\0');
      bytes.replace(root.manifest_offset + position, fresh.size(), fresh);
      ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
      EXPECT_STATUS(Corruption, TryOpen());
    }
  }
}

TEST_F(DamageTest, ARootThatLeadsAstrayIsRefused) {
  uint64_t seed;
  std::memcpy(&seed, good_.data() + offsetof(Superblock, uuid), sizeof(seed));
  for (const uint64_t offset : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, Root().manifest_offset + 1, good_.size(),
                                uint64_t{1} << 40, UINT64_MAX - 4095, UINT64_MAX}) {
    for (const uint64_t size : {uint64_t{0}, uint64_t{1}, uint64_t{4096}, uint64_t{good_.size()}, UINT64_MAX - 4095}) {
      SCOPED_TRACE(std::to_string(offset) + " + " + std::to_string(size));
      RootSlot slot = Root();
      slot.epoch += 2;
      slot.manifest_offset = offset;
      slot.manifest_size = size;
      slot.checksum = Hash64(&slot, offsetof(RootSlot, checksum), seed);
      std::string bytes = good_;
      for (int copy = 0; copy < kRootCopies; copy++) {
        std::memcpy(&bytes[RootSlotOffset(slot.epoch, copy)], &slot, sizeof(slot));
      }
      Check(bytes);
    }
  }
}

}  // namespace
}  // namespace miodb::test
