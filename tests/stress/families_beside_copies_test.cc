// Savepoints, checkpoints and backups while a column family is made, written to and dropped all the time: each copy has
// to be the database of one moment, in each log mode.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/backup.h"
#include "tests/common/environment.h"
#include "tests/common/random/model_test_base.h"

namespace miodb::test {
namespace {

constexpr char kNone[] = "-";

// What a database has of the writer's keys: a counter of the default family, two keys of the other one, and that one.
struct Content {
  std::string counter = kNone;
  std::string of_batch = kNone;  // written in one batch with the counter
  std::string alone = kNone;
  bool has_family = false;

  bool operator==(const Content&) const = default;
};

std::string Described(const Content& c) {
  return "counter " + c.counter + ", of the batch " + c.of_batch + ", alone " + c.alone + ", family " +
         (c.has_family ? "there" : "not there");
}

// The writes of a round are numbered like the sequences of the database. The making of the family takes none, and lies
// between the first two. The sixth only takes space.
constexpr uint64_t kBatch = 3, kAlone = 4, kCounter = 5, kDrop = 7, kWritesOfARound = 8;

// The contents that the database had while its last sequence was this one.
std::vector<Content> ContentsAt(uint64_t sequence) {
  if (sequence == 0) return {Content()};
  const uint64_t round = (sequence - 1) / kWritesOfARound, step = (sequence - 1) % kWritesOfARound + 1;
  const std::string of_round = std::to_string(round);
  Content c;
  c.counter = of_round + "." +
              std::to_string(step < kBatch            ? 1
                             : step < kCounter        ? kBatch
                             : step < kWritesOfARound ? kCounter
                                                      : kWritesOfARound);
  if (step == 1) {
    Content made = c;
    made.has_family = true;
    return {c, made};
  }
  c.has_family = step >= kBatch && step < kDrop;
  if (c.has_family) c.of_batch = of_round;
  if (c.has_family && step >= kAlone) c.alone = of_round;
  return {c};
}

class FamiliesBesideCopiesTest : public ModelTestBase {
 protected:
  FamiliesBesideCopiesTest() {
    options_.merge_operator = nullptr;
    options_.write_buffer_size = 16 << 10;  // flushes all the time
  }

  // One round of the writer.
  void WriteRound(uint64_t round) {
    const WriteOptions o;
    const std::string of_round = std::to_string(round);
    const auto count = [&](uint64_t step) { return of_round + "." + std::to_string(step); };
    EXPECT_OK(db_->Put(o, "counter", count(1)));
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily("own", &family));
    WriteBatch batch;
    batch.Put("counter", count(kBatch));
    batch.Put(family, "of_batch", of_round);
    EXPECT_OK(db_->Write(o, &batch));
    EXPECT_OK(db_->Put(o, family, "alone", of_round));
    EXPECT_OK(db_->Put(o, "counter", count(kCounter)));
    EXPECT_OK(db_->Put(o, "pad" + std::to_string(round % 100), std::string(200, 'x')));
    EXPECT_OK(db_->DropColumnFamily(family));
    EXPECT_OK(db_->Put(o, "counter", count(kWritesOfARound)));
  }

  static std::string Value(DB* copy, ColumnFamilyHandle* family, const std::string& key) {
    std::string value;
    const Status s = copy->Get(ReadOptions(), family, key, &value);
    if (s.IsNotFound()) return kNone;
    EXPECT_OK(s);
    return value;
  }

  static void CheckCopy(DB* copy) {
    Content found;
    found.counter = Value(copy, copy->DefaultColumnFamily(), "counter");
    ColumnFamilyHandle* family = nullptr;
    const Status s = copy->GetColumnFamily("own", &family);
    found.has_family = s.ok();
    if (!s.IsNotFound()) ASSERT_OK(s);
    if (found.has_family) found.of_batch = Value(copy, family, "of_batch");
    if (found.has_family) found.alone = Value(copy, family, "alone");
    const uint64_t sequence = copy->GetLatestSequenceNumber();
    std::string could_be;
    for (const Content& content : ContentsAt(sequence)) {
      if (content == found) return;
      could_be += "\n  and could be  " + Described(content);
    }
    ADD_FAILURE() << "at sequence " << sequence << " it is " << Described(found) << could_be;
  }

  void CheckSavepoint() {
    ASSERT_OK(db_->CreateSavepoint("s"));
    DB* opened = nullptr;
    ASSERT_OK(db_->OpenSavepoint("s", &opened));
    const std::unique_ptr<DB> view(opened);
    CheckCopy(view.get());
    ASSERT_OK(db_->DropSavepoint("s"));
  }

  void CheckDirectory(const std::string& directory) {
    CheckCopy(OpenCopy(directory).get());
    std::filesystem::remove_all(directory);
  }

  void CheckCheckpoint() {
    ASSERT_OK(db_->CreateCheckpoint(dir_ / "copy"));
    CheckDirectory(dir_ / "copy");
  }

  // The generation before the newest is deleted: its blocks are shared as long as it is there.
  void CheckBackup() {
    const std::string folder = dir_ / "backups";
    BackupInfo made;
    ASSERT_OK(db_->CreateBackup(BackupOptions(), folder, &made));
    ASSERT_OK(RestoreBackup(OptionsOfCopy(dir_ / "copy"), BackupOptions(), folder, 0, dir_ / "copy"));
    if (made.generation > 1) ASSERT_OK(DeleteBackup(folder, made.generation - 1));
    CheckDirectory(dir_ / "copy");
  }

  // Copies of each kind beside the writer, one after the other. The numbers of dropped families stay until the next
  // open, and copies take them too, so the database is opened anew after some copies.
  void MakeCopies() {
    constexpr int kCopiesOfAnOpen = 5;
    Open();
    std::atomic<bool> stop{false};
    std::thread writer([&, round = db_->GetLatestSequenceNumber() / kWritesOfARound]() mutable {
      for (; !stop.load() && !HasFailure(); round++) WriteRound(round);
    });
    for (int i = 0; i < kCopiesOfAnOpen && !HasFailure(); i++) {
      CheckSavepoint();
      CheckCheckpoint();
      CheckBackup();
      copies_++;
    }
    stop.store(true);
    writer.join();
  }

  // Until the time is over.
  void Run(LogMode mode) {
    options_.log_mode = mode;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(ByScale(2, 10, 300));
    do {
      MakeCopies();
    } while (!HasFailure() && std::chrono::steady_clock::now() < end);
    std::printf("%d savepoints, checkpoints and backups each, %llu rounds of the family\n", copies_,
                static_cast<unsigned long long>(db_->GetLatestSequenceNumber() / kWritesOfARound));
  }

  int copies_ = 0;  // of each kind
};

TEST_F(FamiliesBesideCopiesTest, AreOfOneMomentWithTheLogInThePool) { Run(kLogPmem); }

TEST_F(FamiliesBesideCopiesTest, AreOfOneMomentWithTheLogOff) { Run(kLogOff); }

TEST_F(FamiliesBesideCopiesTest, AreOfOneMomentWithTheLogInFiles) { Run(kLogFile); }

}  // namespace
}  // namespace miodb::test
