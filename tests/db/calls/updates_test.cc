// The update stream: that a follower gets every write, in order and once, whatever source and follower do meanwhile;
// how far back it reaches, and what it says when it does not.

#include "miodb/updates.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "miodb/lifetime.h"
#include "src/inspect/verify/verify.h"
#include "tests/common/environment.h"
#include "tests/common/in_child.h"
#include "tests/common/random/model_test_base.h"

namespace miodb::test {
namespace {

// The updates of a batch, for people.
class Printer : public WriteBatch::Handler {
 public:
  void Put(const Slice& key, const Slice& value) override { Add("put", 0, key, value).IgnoreError(); }
  void Delete(const Slice& key) override { Add("delete", 0, key, "").IgnoreError(); }
  Status Merge(const Slice& key, const Slice& operand) override { return Add("merge", 0, key, operand); }
  Status SingleDelete(const Slice& key) override { return Add("single", 0, key, ""); }
  Status DeleteRange(const Slice& begin, const Slice& end) override { return Add("range", 0, begin, end); }
  Status PutCF(uint32_t family, const Slice& key, const Slice& value) override {
    return Add("put", family, key, value);
  }
  Status DeleteCF(uint32_t family, const Slice& key) override { return Add("delete", family, key, ""); }
  Status MergeCF(uint32_t family, const Slice& key, const Slice& operand) override {
    return Add("merge", family, key, operand);
  }
  Status SingleDeleteCF(uint32_t family, const Slice& key) override { return Add("single", family, key, ""); }
  Status DeleteRangeCF(uint32_t family, const Slice& begin, const Slice& end) override {
    return Add("range", family, begin, end);
  }

  std::string text;

 private:
  Status Add(const char* what, uint32_t family, const Slice& key, const Slice& value) {
    text += std::string(text.empty() ? "" : " ") + what + (family == 0 ? "" : std::to_string(family)) + ":" +
            key.ToString() + ":" + value.ToString();
    return Status::OK();
  }
};

std::string Updates(const WriteBatch& batch) {
  Printer printer;
  EXPECT_OK(batch.Iterate(&printer));
  return printer.text;
}

class UpdatesTest : public ModelTestBase {
 protected:
  UpdatesTest() { options_.keep_log_bytes = uint64_t{1} << 40; }
  ~UpdatesTest() override { follower_.reset(); }

  std::string FollowerPath() const { return dir_ / "follower"; }

  void OpenFollower() {
    follower_.reset();
    Options options = options_;
    options.keep_log_bytes = 0;
    ASSERT_OK(OpenDb(options, FollowerPath(), &follower_));
  }

  std::unique_ptr<UpdateIterator> Since(uint64_t sequence) {
    std::unique_ptr<UpdateIterator> updates;
    const Status s = db_->GetUpdatesSince(sequence, &updates);
    EXPECT_OK(s);
    EXPECT_EQ(s.ok(), updates != nullptr);
    return updates;
  }

  // Applies what the follower lacks, by its own number.
  void Follow() {
    const std::unique_ptr<UpdateIterator> updates = Since(follower_->GetLatestSequenceNumber() + 1);
    if (updates != nullptr) FollowBy(updates.get());
  }
  void FollowBy(UpdateIterator* updates) {
    for (; updates->Valid(); updates->Next()) {
      ASSERT_EQ(follower_->GetLatestSequenceNumber() + 1, updates->sequence());
      ASSERT_OK(follower_->Write(WriteOptions(), updates->batch()));
      ASSERT_EQ(follower_->GetLatestSequenceNumber(), updates->last_sequence());
    }
    ASSERT_OK(updates->status());
  }
  void ExpectSame() {
    EXPECT_EQ(db_->GetLatestSequenceNumber(), follower_->GetLatestSequenceNumber());
    EXPECT_EQ(Forward(db_.get()), Forward(follower_.get()));
    std::vector<std::string> names;
    ASSERT_OK(db_->ListColumnFamilies(&names));
    for (const std::string& name : names) {
      std::string texts[2];
      for (DB* db : {db_.get(), follower_.get()}) {
        ColumnFamilyHandle* family = nullptr;
        ASSERT_OK(db->GetColumnFamily(name, &family));
        const std::unique_ptr<Iterator> it(db->NewIterator(ReadOptions(), family));
        std::string* const text = &texts[db == follower_.get()];
        for (it->SeekToFirst(); it->Valid(); it->Next()) {
          *text += "(" + it->key().ToString() + "->" + it->value().ToString() + ")";
        }
        ASSERT_OK(it->status());
      }
      EXPECT_EQ(texts[0], texts[1]) << name;
    }
  }

  // All that there is from the beginning on.
  std::vector<std::string> Texts(uint64_t since = 1) {
    std::vector<std::string> texts;
    const std::unique_ptr<UpdateIterator> updates = Since(since);
    for (; updates != nullptr && updates->Valid(); updates->Next()) texts.push_back(Updates(*updates->batch()));
    if (updates != nullptr) EXPECT_OK(updates->status());
    return texts;
  }

  // Closes it, and has the checker look at the pool.
  void ExpectGoodPool() {
    Close();
    std::unique_ptr<PoolImage> image;
    ASSERT_OK(PoolImage::Open(path_ + "/pool", &image));
    const VerifyResult result = VerifyPool(*image, BytewiseComparator(), VerifyOptions());
    for (const Problem& problem : result.problems) ADD_FAILURE() << problem.ToString();
  }

  // A batch of a few updates of every kind.
  static WriteBatch AnyBatch(Random* random, ColumnFamilyHandle* family) {
    WriteBatch batch;
    for (uint64_t i = 0; i <= random->Uniform(4); i++) {
      const std::string key = "k" + std::to_string(random->Uniform(50));
      const std::string value = std::to_string(random->Uniform(1000)) + std::string(random->Uniform(200), 'v');
      ColumnFamilyHandle* const to = random->OneIn(3) ? family : nullptr;
      switch (random->Uniform(8)) {
        case 0:
          batch.Delete(to, key);
          break;
        case 1:
          batch.Merge(to, key, value);
          break;
        case 2:
          batch.DeleteRange(to, key, key + "5");
          break;
        case 3:
          batch.Put(to, "single" + value, value);
          batch.SingleDelete(to, "single" + value);
          break;
        default:
          batch.Put(to, key, value);
      }
    }
    return batch;
  }

  std::unique_ptr<DB> follower_;
};

TEST_F(UpdatesTest, GivesWhatWasWritten) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("f", &family));
  Put("a", "1");
  WriteBatch batch;
  batch.Put("b", "2");
  batch.Delete("a");
  batch.Merge("b", "3");
  batch.SingleDelete("c");
  batch.DeleteRange("d", "e");
  batch.Put(family, "b", "4");
  batch.Delete(family, "a");
  batch.Merge(family, "b", "5");
  batch.SingleDelete(family, "c");
  batch.DeleteRange(family, "d", "e");
  ASSERT_OK(db_->Write(WriteOptions(), &batch));
  const std::vector<std::string> wanted = {"put:a:1",
                                           "put:b:2 delete:a: merge:b:3 single:c: range:d:e put1:b:4 delete1:a: "
                                           "merge1:b:5 single1:c: range1:d:e"};
  EXPECT_EQ(wanted, Texts());
  ASSERT_OK(db_->Flush());
  EXPECT_EQ(wanted, Texts());
  Settle();
  Open();
  EXPECT_EQ(wanted, Texts());
  EXPECT_EQ(std::vector<std::string>({wanted[1]}), Texts(2));
  EXPECT_EQ(std::vector<std::string>({wanted[1]}), Texts(7));  // in the middle of the batch
  EXPECT_EQ(2u, Since(7)->sequence());
  EXPECT_EQ(11u, Since(7)->last_sequence());
  ExpectGoodPool();
}

TEST_F(UpdatesTest, GoesOnAtItsEnd) {
  Open();
  const std::unique_ptr<UpdateIterator> updates = Since(1);
  EXPECT_FALSE(updates->Valid());
  EXPECT_OK(updates->status());
  Put("a", "1");
  EXPECT_FALSE(updates->Valid());
  updates->Next();
  ASSERT_TRUE(updates->Valid());
  EXPECT_EQ("put:a:1", Updates(*updates->batch()));
  updates->Next();
  EXPECT_FALSE(updates->Valid());
  for (int i = 0; i < 3; i++) {
    ASSERT_OK(db_->Flush());
    Put("b", std::to_string(i));
    updates->Next();
    ASSERT_TRUE(updates->Valid());
    EXPECT_EQ("put:b:" + std::to_string(i), Updates(*updates->batch()));
  }
  std::unique_ptr<UpdateIterator> behind;
  EXPECT_OK(db_->GetUpdatesSince(db_->GetLatestSequenceNumber() + 1, &behind));
  EXPECT_FALSE(behind->Valid());
  EXPECT_TRUE(db_->GetUpdatesSince(db_->GetLatestSequenceNumber() + 2, &behind).IsInvalidArgument());
  EXPECT_EQ(nullptr, behind);
}

TEST_F(UpdatesTest, SaysWhatItHasNoMore) {
  options_.keep_log_bytes = 0;
  Open();
  Put("a", "1");
  Put("b", "2");
  EXPECT_EQ(2u, Texts().size());
  const std::unique_ptr<UpdateIterator> slow = Since(1);
  ASSERT_OK(db_->Flush());
  Put("c", "3");
  std::unique_ptr<UpdateIterator> updates;
  const Status s = db_->GetUpdatesSince(1, &updates);
  EXPECT_TRUE(s.IsNotFound());
  EXPECT_NE(std::string::npos, s.ToString().find("the oldest there is 3")) << s.ToString();
  EXPECT_EQ(nullptr, updates);
  EXPECT_EQ(1u, Texts(3).size());
  // The log that an iterator has read ahead stays for it, and nothing else.
  ASSERT_TRUE(slow->Valid());
  slow->Next();
  EXPECT_TRUE(slow->Valid());
  EXPECT_EQ("put:b:2", Updates(*slow->batch()));
  slow->Next();
  EXPECT_EQ("put:c:3", Updates(*slow->batch()));
  ASSERT_OK(db_->Flush());
  Put("d", "4");
  ASSERT_OK(db_->Flush());
  slow->Next();
  EXPECT_FALSE(slow->Valid());
  EXPECT_TRUE(slow->status().IsNotFound());
  slow->Next();
  EXPECT_TRUE(slow->status().IsNotFound());
}

TEST_F(UpdatesTest, KeepsNoMoreThanItMay) {
  options_.keep_log_bytes = 64 * kKiB;
  Open();
  for (uint64_t round = 0; round < 10; round++) {
    Fill(500, 100, round);
    ASSERT_OK(db_->Flush());
    EXPECT_LE(Counter("kept-log-bytes"), options_.keep_log_bytes);
  }
  EXPECT_GT(Counter("kept-log-bytes"), options_.keep_log_bytes / 4);
  const uint64_t last = db_->GetLatestSequenceNumber();
  EXPECT_EQ(101u, Texts(last - 100).size());
  std::unique_ptr<UpdateIterator> updates;
  EXPECT_TRUE(db_->GetUpdatesSince(1, &updates).IsNotFound());
  options_.keep_log_bytes = 8 * kKiB;
  Open();
  EXPECT_LE(Counter("kept-log-bytes"), options_.keep_log_bytes);
  EXPECT_EQ(11u, Texts(last - 10).size());
  options_.keep_log_bytes = 0;
  Open();
  EXPECT_EQ(0u, Counter("kept-log-bytes"));
  ExpectGoodPool();
}

// A chunk has 64 KiB at least, and its frame a few words.
TEST_F(UpdatesTest, KeptLogOfDeletionsOfRangesIsTrimmed) {
  Open();
  uint64_t used = 0;
  for (uint64_t round = 0; round < 40; round++) {
    if (round == 10) used = Counter("pool-bytes-used");
    ASSERT_OK(db_->DeleteRange(WriteOptions(), "a", "b"));
    ASSERT_OK(db_->Flush());
  }
  EXPECT_EQ(40u, Texts(1).size());
  EXPECT_LT(Counter("pool-bytes-used"), used + 30 * 32 * kKiB);
  ExpectGoodPool();
}

TEST_F(UpdatesTest, ASavepointHasPartsOfWhatIsKept) {
  Open();
  Fill(100, 100);
  ASSERT_OK(db_->CreateSavepoint("s"));
  Fill(100, 100, 1);
  ASSERT_OK(db_->Flush());
  Fill(100, 100, 2);
  Settle();
  Open();
  EXPECT_EQ(300u, Texts().size());
  DB* view = nullptr;
  ASSERT_OK(db_->OpenSavepoint("s", &view));
  std::unique_ptr<UpdateIterator> updates;
  EXPECT_TRUE(view->GetUpdatesSince(1, &updates).IsNotSupportedError());
  delete view;
  ASSERT_OK(db_->DropSavepoint("s"));
  EXPECT_EQ(300u, Texts().size());
  ExpectGoodPool();
}

TEST_F(UpdatesTest, NeedsTheLogInThePool) {
  for (const LogMode mode : {kLogFile, kLogOff}) {
    options_.log_mode = mode;
    Open();
    Put("a", "1");
    std::unique_ptr<UpdateIterator> updates;
    EXPECT_TRUE(db_->GetUpdatesSince(1, &updates).IsNotSupportedError());
    EXPECT_EQ(0u, Counter("kept-log-bytes"));
  }
  // What came by files is not in the stream, and what came before it neither.
  options_.log_mode = kLogFile;
  Open();
  Put("b", "1");
  options_.log_mode = kLogPmem;
  Open();
  Put("c", "2");
  const uint64_t last = db_->GetLatestSequenceNumber();
  for (int round = 0; round < 3; round++) {
    std::unique_ptr<UpdateIterator> updates;
    EXPECT_TRUE(db_->GetUpdatesSince(last - 1, &updates).IsNotFound());
    EXPECT_EQ(std::vector<std::string>({"put:c:2"}), Texts(last));
    if (round == 0) ASSERT_OK(db_->Flush());
    if (round > 0) Open();
  }
  ExpectGoodPool();
}

TEST_F(UpdatesTest, AFollowerIsTheSame) {
  for (uint64_t seed = 1; seed <= ByScale(4, 20, 100) && !HasFailure(); seed++) {
    SCOPED_TRACE(seed);
    Close();
    follower_.reset();
    ASSERT_OK(DestroyDB(path_, options_));
    ASSERT_OK(DestroyDB(FollowerPath(), options_));
    options_.persist_mode = seed % 4 == 0 ? kPersistFile : kPersistAuto;
    Random random(seed);
    Open();
    OpenFollower();
    ColumnFamilyHandle* family = nullptr;
    for (DB* db : {db_.get(), follower_.get()}) ASSERT_OK(db->CreateColumnFamily("f", &family));
    for (int round = 0; round < 30 && !HasFailure(); round++) {
      ASSERT_OK(db_->GetColumnFamily("f", &family));
      for (uint64_t i = random.Uniform(60); i > 0; i--) {
        WriteBatch batch = AnyBatch(&random, family);
        ASSERT_OK(db_->Write(WriteOptions(), &batch));
      }
      switch (random.Uniform(6)) {
        case 0:
          ASSERT_OK(db_->Flush());
          break;
        case 1:
          Settle();
          break;
        case 2:
          Open();
          break;
        case 3:
          OpenFollower();
          break;
        default:
          break;
      }
      if (random.OneIn(2)) Follow();
    }
    Follow();
    ExpectSame();
    ExpectGoodPool();
  }
}

TEST_F(UpdatesTest, ADroppedFamilyIsABatchWithoutUpdates) {
  Open();
  OpenFollower();
  ColumnFamilyHandle* family = nullptr;
  for (DB* db : {db_.get(), follower_.get()}) ASSERT_OK(db->CreateColumnFamily("f", &family));
  ASSERT_OK(db_->GetColumnFamily("f", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "a", "1"));
  Follow();
  const uint32_t id = family->GetID();
  ASSERT_OK(db_->DropColumnFamily(family));
  Put("b", "2");
  EXPECT_EQ(std::vector<std::string>({"put1:a:1", "", "put:b:2"}), Texts());
  const std::unique_ptr<UpdateIterator> dropped = Since(2);
  EXPECT_EQ(id, dropped->dropped_family());
  dropped->Next();
  EXPECT_EQ(0u, dropped->dropped_family());
  ASSERT_OK(follower_->GetColumnFamily("f", &family));
  ASSERT_OK(follower_->DropColumnFamily(family));
  Follow();
  ExpectSame();
  ASSERT_OK(db_->CreateColumnFamily("g", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "c", "3"));
  const std::unique_ptr<UpdateIterator> updates = Since(follower_->GetLatestSequenceNumber() + 1);
  EXPECT_TRUE(follower_->Write(WriteOptions(), updates->batch()).IsInvalidArgument());
  ASSERT_OK(follower_->CreateColumnFamily("g", &family));
  FollowBy(updates.get());
  ExpectSame();
}

TEST_F(UpdatesTest, FollowsFromACheckpoint) {
  Open();
  Fill(500, 100);
  ASSERT_OK(db_->Flush());
  Fill(100, 100, 1);
  ASSERT_OK(db_->CreateCheckpoint(FollowerPath()));
  Fill(500, 100, 2);
  Settle();
  ASSERT_OK(db_->Delete(WriteOptions(), FilledKey(3)));
  OpenFollower();
  EXPECT_EQ(600u, follower_->GetLatestSequenceNumber());
  Follow();
  ExpectSame();
}

TEST_F(UpdatesTest, LifetimesEndAtTheSameMoment) {
  Open();
  WriteOptions long_lived;
  long_lived.lifetime_seconds = 1000 * 1000;
  ASSERT_OK(db_->Put(long_lived, "a", "1"));
  WriteBatch batch;
  batch.Put("b", "2");
  ASSERT_OK(db_->Write(long_lived, &batch));
  Put("c", "3");
  EXPECT_EQ(std::vector<std::string>({"put:a:1", "put:b:2", "put:c:3"}), Texts());
  OpenFollower();
  Follow();
  ExpectSame();
}

// Writers in groups and beside one another, with flushes and merges under way: each one's batches come in its order,
// whole, none missing.
TEST_F(UpdatesTest, BesideWriters) {
  options_.write_buffer_size = 256 * kKiB;
  Open();
  OpenFollower();
  constexpr int kWriters = 4;
  const uint64_t rounds = ByScale(8000, 30000, 100000);
  std::atomic<int> running{kWriters};
  std::vector<std::thread> writers;
  for (int w = 0; w < kWriters; w++) {
    writers.emplace_back([&, w] {
      const std::string name = std::to_string(w);
      for (uint64_t i = 1; i <= rounds; i++) {
        const std::string value = std::to_string(i);
        if (w < 2) {
          EXPECT_OK(db_->Put(WriteOptions(), "a" + name, value));
          continue;
        }
        WriteBatch batch;
        batch.Put("a" + name, value);
        batch.Put("b" + name, value + std::string(w * 20, '.'));
        EXPECT_OK(db_->Write(WriteOptions(), &batch));
      }
      running--;
    });
  }
  const std::unique_ptr<UpdateIterator> updates = Since(1);
  std::map<std::string, uint64_t> counts;
  uint64_t last = 0;
  while (!HasFailure()) {
    const bool over = running.load() == 0;
    for (; updates->Valid() && !HasFailure(); updates->Next()) {
      ASSERT_EQ(last + 1, updates->sequence());
      last = updates->last_sequence();
      ASSERT_OK(follower_->Write(WriteOptions(), updates->batch()));
      ASSERT_EQ(last, follower_->GetLatestSequenceNumber());
    }
    ASSERT_OK(updates->status());
    for (int w = 2; w < kWriters; w++) {
      std::string a = "0", b = "0";
      follower_->Get(ReadOptions(), "a" + std::to_string(w), &a).IgnoreError();
      follower_->Get(ReadOptions(), "b" + std::to_string(w), &b).IgnoreError();
      EXPECT_EQ(std::stoull(a), std::stoull(b));
      EXPECT_GE(std::stoull(a), counts[std::to_string(w)]);
      counts[std::to_string(w)] = std::stoull(a);
    }
    if (over && !updates->Valid() && last == db_->GetLatestSequenceNumber()) break;
    updates->Next();
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(kWriters * rounds + (kWriters - 2) * rounds, last);
  ExpectSame();
}

// The process dies; what it had acknowledged is in the stream, and a follower that was copied to before goes on. No
// thread starts or works while this process forks: the child of one that holds AddressSanitizer's allocator never ends.
TEST_F(UpdatesTest, AfterAKill) {
  for (int round = 0; round < 4 && !HasFailure(); round++) {
    DB* opened = nullptr;  // not closed by the child
    if (follower_ != nullptr) ASSERT_OK(follower_->WaitForIdle());
    WaitingChild child([&] {
      if (!DB::Open(options_, path_, &opened).ok()) return false;
      for (uint64_t i = 0; i < 3000; i++) {
        WriteBatch batch;
        batch.Put(FilledKey(i % 200), FilledValue(i, 150, static_cast<uint64_t>(round)));
        batch.Delete(FilledKey(i * 7 % 200));
        if (!opened->Write(WriteOptions(), &batch).ok()) return false;
      }
      return true;
    });
    EXPECT_TRUE(child.waits());
    ASSERT_TRUE(child.Kill());
    if (follower_ == nullptr) OpenFollower();
    Open();
    EXPECT_EQ(6000u * static_cast<uint64_t>(round + 1), db_->GetLatestSequenceNumber());
    Follow();
    ExpectSame();
    Close();
  }
  ExpectGoodPool();
}

// Damage is told by the stream and by the check; nobody else reads what is kept.
TEST_F(UpdatesTest, DamageIsTold) {
  Open();
  Put("a", std::string(100, 'd'));
  Put("a", "2");
  ASSERT_OK(db_->Flush());
  Put("b", "3");
  Settle();
  Close();
  std::string pool;
  ASSERT_OK(ReadFileToString(Env::Default(), path_ + "/pool", &pool));
  const size_t at = pool.find(std::string(100, 'd'));
  ASSERT_NE(std::string::npos, at);
  pool[at + 50] = 'e';
  ASSERT_OK(WriteStringToFile(Env::Default(), pool, path_ + "/pool"));
  Open();
  EXPECT_EQ("(a->2)(b->3)", Forward(db_.get()));
  std::unique_ptr<UpdateIterator> updates;
  const Status s = db_->GetUpdatesSince(1, &updates);
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_EQ(std::vector<std::string>({"put:b:3"}), Texts(3));
  Close();
  std::unique_ptr<PoolImage> image;
  ASSERT_OK(PoolImage::Open(path_ + "/pool", &image));
  const VerifyResult result = VerifyPool(*image, BytewiseComparator(), VerifyOptions());
  ASSERT_FALSE(result.problems.empty());
  EXPECT_NE(std::string::npos, result.problems[0].ToString().find("kept log chunk")) << result.problems[0].ToString();
  EXPECT_EQ(2u, result.kept_log.chunks);
}

TEST_F(UpdatesTest, ARepairKeepsNoLog) {
  Open();
  Fill(300, 100);
  ASSERT_OK(db_->Flush());
  Fill(300, 100, 1);
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  CheckFilled(300, 100, 1);
  Put("a", "1");
  EXPECT_EQ(std::vector<std::string>({"put:a:1"}), Texts(db_->GetLatestSequenceNumber()));
  ExpectGoodPool();
}

// Log that is kept for followers is no reason for a put to find no space.
TEST_F(UpdatesTest, AFullPoolLetsGoOfIt) {
  options_.pool_size = 4 * kMiB;
  Open();
  for (uint64_t round = 0; round < 30 && !HasFailure(); round++) Fill(2000, 200, round);
  CheckFilled(2000, 200, 29);
  const uint64_t last = db_->GetLatestSequenceNumber();
  EXPECT_EQ(1u, Texts(last).size());
  std::unique_ptr<UpdateIterator> updates;
  EXPECT_TRUE(db_->GetUpdatesSince(1, &updates).IsNotFound());
  EXPECT_LT(Counter("kept-log-bytes"), options_.pool_size);
  ExpectGoodPool();
}

// Where a fence is slow an edit lets go of the mutex, and then a flush, a merge and a writer may look for log to let go
// of at the same time.
TEST_F(UpdatesTest, AFullPoolInFileModeGoesOn) {
  options_.persist_mode = kPersistFile;
  options_.pool_size = 8 * kMiB;
  Open();
  const uint64_t rounds = ByScale(8, 30, 300);
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; writer++) {
    writers.emplace_back([&, writer] {
      for (uint64_t i = 0; i < rounds * 1000; i++) {
        const std::string key = std::to_string(writer) + FilledKey(i % 200);
        const Status s = db_->Put(WriteOptions(), key, FilledValue(i, 500, i));
        if (!s.ok() && !s.IsNoSpace()) ADD_FAILURE() << s.ToString();
        if (!s.ok() && !s.IsNoSpace()) return;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  ASSERT_OK(db_->Flush());
  ExpectGoodPool();
}

TEST_F(UpdatesTest, AFullPoolIsAsFullAsWithoutIt) {
  uint64_t written[2];
  for (const bool keeps : {false, true}) {
    options_.keep_log_bytes = keeps ? kMiB * kKiB : 0;
    options_.pool_size = 2 * kMiB;
    Open();
    Status s;
    uint64_t i = 0;
    for (; s.ok(); i++) s = db_->Put(WriteOptions(), FilledKey(i), FilledValue(i, 200, 0));
    EXPECT_TRUE(s.IsNoSpace()) << s.ToString();
    written[keeps] = i;
    EXPECT_EQ(0u, Counter("kept-log-bytes"));
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
  }
  EXPECT_GE(written[1], written[0] * 9 / 10);
}

}  // namespace
}  // namespace miodb::test
