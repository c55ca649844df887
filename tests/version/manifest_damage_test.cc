// Manifests that were torn by a crash or damaged later.

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "src/format/manifest_area.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/hash.h"
#include "src/version/manifest/manifest.h"
#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/nvm/pool_files.h"
#include "tests/version/edit_maker.h"

namespace miodb::test {
namespace {

const Pool::Options kLimits = [] {
  Pool::Options options;
  options.limit = 64 * 1024;
  options.growth = 4096;
  options.secret = kTestSecret;
  return options;
}();

class ManifestDamageTest : public testing::Test {
 protected:
  // A pool with this many edits; images_ and states_ before the first and after each of them.
  void Make(uint64_t seed, int edits) {
    ASSERT_OK(Pool::Destroy(path_));
    std::unique_ptr<Pool> pool;
    ASSERT_OK(Pool::Create(path_, kLimits, &pool));
    Manifest manifest(pool.get());
    ASSERT_OK(manifest.Create("test.Order"));
    ASSERT_OK(pool->Publish());
    EditMaker maker(seed);
    maker.Reset(manifest.state());
    images_.clear();
    states_.clear();
    for (int i = 0; i <= edits; i++) {
      if (i > 0) ASSERT_OK(manifest.Append(maker.NextEdit(4)));
      images_.push_back(ReadFileBytes(path_));
      states_.push_back(TextOf(manifest.state()));
    }
    ASSERT_OK(pool->ReadRoot(&root_));
  }

  // The state that these bytes recover to, or the error.
  std::string Recover(const std::string& bytes) {
    WriteFileBytes(copy_, bytes);
    std::unique_ptr<Pool> pool;
    Status s = Pool::Open(copy_, kLimits, &pool);
    if (!s.ok()) return Kind(s);
    Manifest manifest(pool.get());
    s = manifest.Recover();
    return s.ok() ? TextOf(manifest.state()) : Kind(s);
  }

  // The image with the confirmed count of another one: it is stored after the fence of the record that it counts, so
  // before that fence the older one still stands.
  std::string WithCountOf(std::string image, const std::string& other) const {
    const uint64_t at = root_.manifest_offset + root_.manifest_size - kAreaFooterBytes + kConfirmedInFooter;
    return image.replace(at, 8, other, at, 8);
  }

  static std::string Kind(const Status& s) { return s.IsCorruption() ? "Corruption" : s.ToString(); }

  // Where the records of the current area begin, and the end of the last.
  std::vector<uint64_t> Records() const {
    std::vector<uint64_t> starts;
    uint64_t at = root_.manifest_offset;
    const std::string& bytes = images_.back();
    for (uint64_t number = 0; DecodeFixed64(&bytes[at + 8]) == number && DecodeFixed32(&bytes[at]) > 0; number++) {
      starts.push_back(at);
      at += (24 + DecodeFixed32(&bytes[at]) + 7) / 8 * 8;
    }
    starts.push_back(at);
    return starts;
  }

  TestDir dir_;
  const std::string path_ = dir_ / "pool";
  const std::string copy_ = dir_ / "copy";
  std::vector<std::string> images_;
  std::vector<std::string> states_;
  RootSlot root_ = {};
};

TEST_F(ManifestDamageTest, AnEditThatIsTornAtAnyByteDidNotHappen) {
  for (uint64_t seed : Seeds(ByScale(3, 10, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Make(seed, 6);
    const std::string before = images_[5], after = WithCountOf(images_[6], before);
    const std::vector<uint64_t> records = Records();
    ASSERT_EQ(8u, records.size()) << "six edits behind the snapshot";
    const uint64_t begin = records[6], end = records[7];
    EXPECT_EQ(states_[6], Recover(after));
    for (uint64_t cut = begin; cut <= end; cut++) {
      std::string head = before, tail = after;
      head.replace(begin, cut - begin, after, begin, cut - begin);
      tail.replace(begin, cut - begin, before, begin, cut - begin);
      ASSERT_EQ(head == after ? states_[6] : states_[5], Recover(head)) << cut - begin << " bytes arrived";
      ASSERT_EQ(tail == after ? states_[6] : states_[5], Recover(tail))
          << "all but " << cut - begin << " bytes arrived";
    }
  }
}

TEST_F(ManifestDamageTest, AnySubsetOfItsWordsIsTheEditOrNone) {
  for (uint64_t seed : Seeds(ByScale(300, 1000, 30000))) {
    SCOPED_TRACE(Repeat(seed));
    if (images_.empty() || seed % 50 == 0) Make(seed, 4);
    Random random(seed);
    std::string image = images_[3];
    const std::string after = WithCountOf(images_[4], image);
    for (uint64_t at = kPoolHeaderSize; at < image.size(); at += 8) {
      if (random.OneIn(2)) image.replace(at, 8, after, at, 8);
    }
    ASSERT_EQ(image == after ? states_[4] : states_[3], Recover(image));
  }
}

// A roll-over writes a whole area and then the root. Until the root has changed, the old area holds.
TEST_F(ManifestDamageTest, ARollOverThatIsTornAnywhereIsTheOldStateOrTheNewOne) {
  for (uint64_t seed : Seeds(ByScale(3, 10, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Make(seed, 5);
    const std::string before = images_[5];
    std::unique_ptr<Pool> pool;
    ASSERT_OK(Pool::Open(path_, kLimits, &pool));
    Manifest manifest(pool.get());
    ASSERT_OK(manifest.Recover());
    EditMaker maker(seed + 1);
    maker.Reset(manifest.state());
    ASSERT_OK(manifest.Append(maker.NextEdit()));
    const std::string after = ReadFileBytes(path_), new_state = TextOf(manifest.state());
    ASSERT_EQ(new_state, Recover(after));
    // The area in any state of arrival, the root not yet.
    Random random(seed);
    for (int i = 0; i < 200; i++) {
      std::string image = before;
      for (uint64_t at = kPoolHeaderSize; at < image.size(); at += 8) {
        if (random.OneIn(2)) image.replace(at, 8, after, at, 8);
      }
      ASSERT_EQ(states_[5], Recover(image));
    }
    // The area arrived, the root in part; its copies come one after the other.
    const uint64_t epoch = root_.epoch + 1;
    std::string image = after;
    image.replace(0, kPoolHeaderSize, before, 0, kPoolHeaderSize);
    for (int copy : {0, 1}) {
      for (uint64_t word = 0; word < sizeof(RootSlot) / 8; word++) {
        const std::string state = Recover(image);
        ASSERT_EQ(copy == 0 ? states_[5] : new_state, state) << "copy " << copy << " word " << word;
        const uint64_t at = RootSlotOffset(epoch, copy) + 8 * word;
        image.replace(at, 8, after, at, 8);
      }
    }
    ASSERT_EQ(new_state, Recover(image));
  }
}

TEST_F(ManifestDamageTest, ADamagedRecordInTheMiddleIsReported) {
  Make(2, 6);
  const std::vector<uint64_t> records = Records();
  for (size_t record = 0; record + 2 < records.size(); record++) {
    const uint64_t payload = DecodeFixed32(&images_.back()[records[record]]);
    for (uint64_t bit = 0; bit < (24 + payload) * 8; bit++) {
      std::string image = images_.back();
      const uint64_t at = records[record] + bit / 8;
      image[at] = static_cast<char>(image[at] ^ (1 << bit % 8));
      ASSERT_EQ("Corruption", Recover(image)) << "bit " << bit << " of record " << record;
      if (bit % 7 != 0) continue;
      // The records behind it show it, too, where the confirmed count is lost as well.
      memset(&image[root_.manifest_offset + root_.manifest_size - kAreaFooterBytes], 0, kAreaFooterBytes);
      ASSERT_EQ("Corruption", Recover(image)) << "bit " << bit << " of record " << record << ", no footer";
    }
  }
}

TEST_F(ManifestDamageTest, ADamagedLastRecordIsReportedIfItWasConfirmed) {
  Make(2, 6);
  const std::vector<uint64_t> records = Records();
  const uint64_t last = records[records.size() - 2];
  const uint64_t payload = DecodeFixed32(&images_.back()[last]);
  for (uint64_t bit = 0; bit < (24 + payload) * 8; bit++) {
    std::string image = images_.back();
    image[last + bit / 8] = static_cast<char>(image[last + bit / 8] ^ (1 << bit % 8));
    ASSERT_EQ("Corruption", Recover(image)) << "bit " << bit;
    ASSERT_EQ(states_[5], Recover(WithCountOf(image, images_[5]))) << "bit " << bit;
  }
}

TEST_F(ManifestDamageTest, ADamagedFooterIsHarmless) {
  Make(2, 6);
  const uint64_t footer = root_.manifest_offset + root_.manifest_size - kAreaFooterBytes;
  for (uint64_t bit = 0; bit < kAreaFooterBytes * 8; bit++) {
    std::string image = images_.back();
    image[footer + bit / 8] = static_cast<char>(image[footer + bit / 8] ^ (1 << bit % 8));
    ASSERT_EQ(states_[6], Recover(image)) << "bit " << bit;
  }
}

TEST_F(ManifestDamageTest, ALostSnapshotIsReported) {
  Make(2, 0);
  const std::vector<uint64_t> records = Records();
  std::string image = images_.back();
  image[records[0] + 16] ^= 1;
  EXPECT_EQ("Corruption", Recover(image));
  image = images_.back();
  memset(&image[root_.manifest_offset], 0, root_.manifest_size);
  EXPECT_EQ("Corruption", Recover(image));
}

// A record of an earlier use of the area behind its end: the right edit number at the right place.
TEST_F(ManifestDamageTest, RecordsOfAnotherGenerationDoNotCount) {
  Make(3, 5);
  VersionEdit edit;
  edit.SetFlushedSequence(uint64_t{1} << 40);
  std::string payload;
  edit.EncodeTo(&payload);
  for (uint64_t generation = root_.generation - 1; generation <= root_.generation + 2; generation++) {
    std::string record;
    PutFixed32(&record, static_cast<uint32_t>(payload.size()));
    PutFixed32(&record, 0);
    PutFixed64(&record, 6);
    PutFixed64(&record, Hash64(payload.data(), payload.size(), Mix64(AreaSeed(kTestSecret, generation), 6)));
    record += payload;
    std::string image = images_.back();
    image.replace(Records().back(), record.size(), record);
    EXPECT_EQ(generation == root_.generation, Recover(image) != states_[5]) << generation;
  }
}

// A crash in the middle of a roll-over leaves a snapshot of the next generation in free space. The next roll-over has
// that generation again; its area may cover the place.
TEST_F(ManifestDamageTest, AStaleSnapshotInsideOfALaterAreaIsNoEdit) {
  Make(1, 0);
  std::string crashed;
  {
    std::unique_ptr<Pool> pool;
    ASSERT_OK(Pool::Open(path_, kLimits, &pool));
    Manifest manifest(pool.get());
    ASSERT_OK(manifest.Recover());
    ExtentRef in_the_way;
    ASSERT_OK(pool->Allocate(kExtentUnit, ExtentKind::kLog, &in_the_way));
    VersionEdit edit;
    edit.SetFlushedSequence(1);
    ASSERT_OK(manifest.Append(edit));
    RootSlot root;
    ASSERT_OK(pool->ReadRoot(&root));
    ASSERT_EQ(in_the_way->end(), root.manifest_offset);
    crashed = ReadFileBytes(path_);
    crashed.replace(0, kPoolHeaderSize, images_[0], 0, kPoolHeaderSize);  // the root did not arrive
  }
  WriteFileBytes(path_, crashed);
  std::unique_ptr<Pool> pool;
  ASSERT_OK(Pool::Open(path_, kLimits, &pool));
  Manifest manifest(pool.get());
  ASSERT_OK(manifest.Recover());
  ASSERT_EQ(0u, manifest.state().flushed_sequence);
  // Large enough that its area takes three pages.
  VersionEdit edit;
  edit.has_comparator = true;
  edit.comparator = std::string(2000, 'c');
  ASSERT_OK(manifest.Append(edit));
  RootSlot root;
  ASSERT_OK(pool->ReadRoot(&root));
  ASSERT_EQ(3 * kExtentUnit, root.manifest_size);
  // The next record ends where the stale one begins.
  std::string snapshot;
  manifest.state().Snapshot().EncodeTo(&snapshot);
  const uint64_t position = (24 + snapshot.size() + 7) / 8 * 8;
  edit.comparator = std::string(kExtentUnit - position - 24 - 3, 'd');
  ASSERT_OK(manifest.Append(edit));
  const std::string expected = TextOf(manifest.state());
  EXPECT_EQ(expected, Recover(ReadFileBytes(path_)));
}

// Edits that somebody made up, with good checksums, give a state or Corruption.
TEST_F(ManifestDamageTest, HostileEditsAreRefusedOrApplied) {
  for (uint64_t seed : Seeds(ByScale(200, 1000, 30000))) {
    SCOPED_TRACE(Repeat(seed));
    if (images_.empty()) Make(1, 3);
    Random random(seed);
    std::string image = images_.back();
    const std::vector<uint64_t> records = Records();
    const uint64_t victim = random.Uniform(4);
    const uint64_t size = DecodeFixed32(&image[records[victim]]);
    for (uint64_t n = 1 + random.Uniform(3); n > 0; n--) {
      image[records[victim] + 24 + random.Uniform(size)] = static_cast<char>(random.Next64());
    }
    const uint64_t checksum =
        Hash64(&image[records[victim] + 24], size, Mix64(root_.generation, DecodeFixed64(&image[records[victim] + 8])));
    memcpy(&image[records[victim] + 16], &checksum, sizeof(checksum));
    const std::string state = Recover(image);
    EXPECT_TRUE(state == "Corruption" || state.find(" next ") != std::string::npos) << state;
  }
}

}  // namespace
}  // namespace miodb::test
