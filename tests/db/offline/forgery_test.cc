// Values that look like parts of a pool. A client may choose the bytes of values and know the format and all numbers
// that are counted up, but not the pool's secret: nothing of what it makes up ever counts.

#include <gtest/gtest.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "miodb/dumpfile.h"
#include "miodb/env.h"
#include "src/db/open/db_impl.h"
#include "src/format/manifest_area.h"
#include "src/format/record.h"
#include "src/inspect/image/manifest_image.h"
#include "src/nvm/pool/pool_image.h"
#include "tests/common/db_test_base.h"
#include "tests/common/string_file.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

// The client's guess of the secret: it does not know better.
constexpr uint64_t kGuess = 0;

std::string ForgedFrame(uint64_t chunk_id, uint64_t sequence, const std::string& key, const std::string& value,
                        uint64_t secret = kGuess) {
  std::string record(kMaxRecordHeader + key.size(), '\0');
  uint64_t hash;
  const char* const end = EncodeRecordHead(record.data(), PackTag(sequence, kTypeValue), key, value, secret, &hash);
  record.resize(static_cast<size_t>(end - record.data()));
  record += value;
  std::string frame;
  PutFixed64(&frame, FrameFold(FrameSeed(secret, chunk_id, record.size()), hash));
  PutVarint32(&frame, static_cast<uint32_t>(record.size()));
  return frame + record;
}

class ForgeryTest : public DbTestBase {
 protected:
  ForgeryTest() { options_.pool_size = 8 << 20; }

  std::string pool() const { return path_ + "/pool"; }

  // The state in the manifest of a copy: the database may be open.
  ManifestState State() {
    const std::string copy = dir_ / "look";
    fs::copy_file(pool(), copy, fs::copy_options::overwrite_existing);
    std::unique_ptr<PoolImage> image;
    EXPECT_OK(PoolImage::Open(copy, &image));
    const PoolHeader header = image->Header();
    secret_ = header.secret;
    const RootSlot& root = header.current;
    return ReadManifestArea(*image, root.manifest_offset, root.manifest_size, root.generation).state;
  }

  // Erases every manifest area, and the roots.
  void EraseManifests(std::string* bytes) {
    for (uint64_t end = kPoolHeaderSize + kExtentUnit; end <= bytes->size(); end += kExtentUnit) {
      AreaFooter footer;
      if (ReadAreaFooter(bytes->data() + end, &footer) && footer.secret == secret_) {
        memset(bytes->data() + footer.offset, 0, footer.size);
      }
    }
    for (uint64_t epoch = 0; epoch < 2; epoch++) {
      for (int copy = 0; copy < kRootCopies; copy++) {
        memset(bytes->data() + RootSlotOffset(epoch, copy), 0, sizeof(RootSlot));
      }
    }
  }

  // The value of "admin" after a client with this guess of the secret has written frames into a value, and a repair has
  // to search the pool. The frame that holds the value is damaged: in an undamaged one no frame is looked for.
  std::string AdminAfterForging(uint64_t guess) {
    Open();
    Put("admin", "the right one");
    EXPECT_OK(db_->Flush());
    const uint64_t chunk_id = State().next_id + 1;
    std::string forged;
    for (uint64_t sequence = 1; sequence < 100; sequence++) {
      forged += ForgedFrame(chunk_id, sequence, "admin", "forged", guess);
    }
    Put("value", forged);
    EXPECT_OK(db_->Flush());
    Close();
    State();
    std::string bytes;
    EXPECT_OK(ReadFileToString(Env::Default(), pool(), &bytes));
    EraseManifests(&bytes);
    const size_t value = bytes.find(forged);
    EXPECT_NE(std::string::npos, value);
    const size_t record = value - RecordHeaderSize(5, RecordSize(5, forged.size())) - 5;
    const size_t checksum = record - FrameHeaderSize(RecordSize(5, forged.size()));
    bytes[checksum] = static_cast<char>(bytes[checksum] ^ 1);
    EXPECT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
    EXPECT_OK(RepairDB(path_, options_));
    Open();
    EXPECT_EQ(forged, Get("value"));
    return Get("admin");
  }

  std::string Lost() {
    std::string text;
    EXPECT_OK(ReadFileToString(Env::Default(), path_ + "/LOST", &text));
    return text;
  }

  uint64_t secret_ = 0;
};

// The file is copied in between the steps of the background, since a copy takes bytes one after another, and a killed
// process leaves those of one moment.
TEST_F(ForgeryTest, AValueInFreedSpaceIsNoLaterFrameOfAChunk) {
  DBImpl::Hooks hooks;
  hooks.background = BackgroundMode::kBySteps;
  std::unique_ptr<DBImpl> by_steps;
  ASSERT_OK(DBImpl::Open(options_, path_, hooks, &by_steps));
  DBImpl* const steps = by_steps.get();
  db_ = std::move(by_steps);
  for (int round = 0; round < 4; round++) {
    // Frames for the chunks to come, and writes to come.
    const uint64_t next_id = State().next_id;
    std::string forged;
    for (uint64_t id = next_id; id < next_id + 1000; id++) forged += ForgedFrame(id, 100000, "", "");
    for (int i = 0; i < 150; i++) Put(std::to_string(i), forged);
    for (int i = 0; i < 150; i++) Delete(std::to_string(i));
    db_->CompactRange(nullptr, nullptr);
    ASSERT_OK(db_->WaitForIdle());
    for (int i = 0; i < 20; i++) {
      Put("small" + std::to_string(i), std::string(3000, 's'));
      steps->RunStep(DBImpl::Step::kPrepare);
      const std::string killed = dir_ / "killed";
      fs::remove_all(killed);
      fs::copy(path_, killed, fs::copy_options::recursive);
      std::unique_ptr<DB> db;
      SCOPED_TRACE(testing::Message() << "round " << round << ", put " << i);
      ASSERT_OK(OpenDb(options_, killed, &db));
    }
  }
}

TEST_F(ForgeryTest, ARepairWithoutARootTakesNoValueForAWrite) {
  EXPECT_EQ("the right one", AdminAfterForging(kGuess)) << Lost();
}

// So it is the secret that keeps the value out, and nothing else.
TEST_F(ForgeryTest, WithTheSecretAValueWouldBeTakenForAWrite) {
  Open();
  State();
  Close();
  EXPECT_EQ("forged", AdminAfterForging(secret_)) << Lost();
}

// The areas that are there agree on the secret, and nothing disagrees.
TEST_F(ForgeryTest, WithoutASuperblockTheSecretIsTakenFromManifestAreasAndThatIsSaid) {
  Open();
  Put("a", "1");
  Close();
  std::string bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &bytes));
  memset(bytes.data(), 0, kPoolHeaderSize);
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
  ASSERT_OK(RepairDB(path_, options_));
  EXPECT_NE(std::string::npos, Lost().find("cannot be told from")) << Lost();
  Open();
  EXPECT_EQ("(a->1)", Forward(db_.get()));
}

TEST_F(ForgeryTest, WithoutASuperblockAForgedManifestAreaKeepsARepairFromGuessing) {
  // At every offset that a page may have in the value there is a footer: one for each of 8 bytes.
  AreaFooter footer = {kAreaMagic, 1, kPoolHeaderSize, kExtentUnit, 1000000, 1, 12345, 0};
  footer.checksum = AreaFooterChecksum(footer);
  const std::string one(reinterpret_cast<const char*>(&footer), sizeof(footer));
  Open();
  Put("a", "1");
  for (size_t shift = 0; shift < sizeof(footer); shift++) {
    std::string value(shift, 'x');
    while (value.size() < 2 * kExtentUnit) value += one;
    Put("forged" + std::to_string(shift), value);
  }
  Close();
  std::string bytes, after;
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &bytes));
  memset(bytes.data(), 0, kPoolHeaderSize);
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
  const Status s = RepairDB(path_, options_);
  EXPECT_STATUS(Corruption, s);
  EXPECT_NE(std::string::npos, s.ToString().find("superblock")) << s.ToString();
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &after));
  EXPECT_TRUE(bytes == after);
}

TEST_F(ForgeryTest, WithoutAnythingThatTellsTheSecretThereIsNothingToRepair) {
  Open();
  Put("a", "1");
  Close();
  State();
  std::string bytes;
  ASSERT_OK(ReadFileToString(Env::Default(), pool(), &bytes));
  EraseManifests(&bytes);
  memset(bytes.data(), 0, kPoolHeaderSize);
  ASSERT_OK(WriteStringToFile(Env::Default(), bytes, pool()));
  EXPECT_STATUS(Corruption, RepairDB(path_, options_));
}

TEST_F(ForgeryTest, TheSecretIsShownNowhere) {
  Open();
  Fill(1000, 100);
  ASSERT_OK(db_->Flush());
  Put("in the log", "1");
  std::string shown;
  for (const char* const name :
       {"leveldb.stats", "leveldb.sstables", "miodb.stats", "miodb.counters", "miodb.regions"}) {
    std::string text;
    if (db_->GetProperty(name, &text)) shown += text;
  }
  Close();
  State();
  ASSERT_NE(0u, secret_);
  StringSink dump;
  ASSERT_OK(DumpFile(Env::Default(), pool(), &dump));
  shown += dump.contents;
  for (const auto& entry : fs::directory_iterator(path_)) {
    if (entry.path().filename() == "pool") continue;
    std::string text;
    ASSERT_OK(ReadFileToString(Env::Default(), entry.path().string(), &text));
    shown += text;
  }
  char hex[17], backwards[17];
  snprintf(hex, sizeof(hex), "%016" PRIx64, secret_);
  snprintf(backwards, sizeof(backwards), "%016" PRIx64, __builtin_bswap64(secret_));
  const std::string raw(reinterpret_cast<const char*>(&secret_), sizeof(secret_));
  for (const std::string& form : {std::string(hex), std::string(backwards), std::to_string(secret_), raw}) {
    EXPECT_EQ(std::string::npos, shown.find(form)) << form;
  }
}

TEST_F(ForgeryTest, EveryPoolHasASecretOfItsOwn) {
  Open();
  Close();
  State();
  const uint64_t first = secret_;
  ASSERT_OK(DestroyDB(path_, options_));
  Open();
  Close();
  State();
  EXPECT_NE(first, secret_);
}

}  // namespace
}  // namespace miodb::test
