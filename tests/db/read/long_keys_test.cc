// Keys up to the limit of db.h take every way that short ones take: through every log, tables, SSD files, merges,
// reopens, crashes, repairs, iterators and traces. A model says what is there.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/env.h"
#include "miodb/trace.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr size_t kKiB = 1024;
constexpr size_t kMiB = 1024 * kKiB;
constexpr size_t kMaxKey = 16 * kMiB;

constexpr size_t kSizes[] = {0, 1, 64 * kKiB - 1, 64 * kKiB, 64 * kKiB + 1, kMiB, kMaxKey};

// Keys of sizes up to this one. Keys of the same size mostly differ in the last byte alone; a few differ from the
// start.
std::vector<std::string> MakeKeys(size_t most) {
  std::vector<std::string> keys;
  Random random(1);
  for (const size_t size : kSizes) {
    if (size > most) break;
    std::string alike(size, 'k');
    keys.push_back(alike);
    if (size == 0) continue;
    alike.back() = 'l';
    keys.push_back(alike);
    if (size > 1 && size <= kMiB) keys.push_back(random.Bytes(size));
  }
  return keys;
}

// The text that a failure prints instead of megabytes.
std::string Named(const Slice& key) {
  return std::to_string(key.size()) + " bytes" +
         (key.empty() ? "" : " ending in " + std::to_string(key[key.size() - 1]));
}

class LongKeysTest : public DbTestBase, public testing::WithParamInterface<std::string> {
 protected:
  struct Before {
    const Comparator* order;
    bool operator()(const std::string& a, const std::string& b) const { return order->Compare(a, b) < 0; }
  };
  using Model = std::map<std::string, std::string, Before>;

  LongKeysTest() : model_(Before{nullptr}) {
    const bool is_volatile = GetParam() == "volatile_ssd";
    options_ = FindOptionSet(is_volatile ? "ssd" : GetParam()).options;
    if (is_volatile) {
      options_.pool_path = "anonymous";
      options_.log_mode = kLogFile;
    }
    options_ = AtPath(options_, path_);
    model_ = Model(Before{options_.comparator});
    // The longest take their time; they are tested once with each kind of log and of levels.
    // ThreadSanitizer takes minutes for a walk over keys of a MiB.
    const std::set<std::string> all = {"small", "log_file", "ssd", "volatile_ssd"};
    const bool longest = all.count(GetParam()) > 0 || TestScale() == Scale::kHeavy;
    keys_ = MakeKeys(RunsUnderThreadSanitizer() ? 64 * kKiB + 1 : longest ? kMaxKey : kMiB);
  }

  void PutBoth(WriteBatch* batch, const std::string& key, const std::string& value) {
    batch->Put(key, value);
    model_[key] = value;
  }

  // Makes a random update: a put or a delete of a single key or in a batch.
  void Step(Random* random) {
    WriteBatch batch;
    for (uint64_t i = random->OneIn(3) ? 3 : 1; i > 0; i--) {
      const std::string& key = keys_[random->Uniform(keys_.size())];
      if (random->OneIn(4)) {
        batch.Delete(key);
        model_.erase(key);
      } else {
        PutBoth(&batch, key, random->Bytes(random->Uniform(random->OneIn(8) ? 100 * kKiB : 100)));
      }
    }
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
  }

  void WriteAll() {
    for (size_t i = 0; i < keys_.size(); i++) {
      const std::string value = "value " + std::to_string(i);
      ASSERT_OK(db_->Put(WriteOptions(), keys_[i], value));
      model_[keys_[i]] = value;
    }
  }

  void CheckGets() {
    std::vector<Slice> slices(keys_.begin(), keys_.end());
    std::vector<std::string> values;
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), slices, &values);
    for (size_t i = 0; i < keys_.size(); i++) {
      SCOPED_TRACE(Named(keys_[i]));
      const auto known = model_.find(keys_[i]);
      std::string value;
      const Status s = db_->Get(ReadOptions(), keys_[i], &value);
      if (known == model_.end()) {
        EXPECT_TRUE(s.IsNotFound()) << s.ToString();
        EXPECT_TRUE(statuses[i].IsNotFound()) << statuses[i].ToString();
        continue;
      }
      EXPECT_OK(s);
      EXPECT_OK(statuses[i]);
      EXPECT_TRUE(value == known->second && values[i] == known->second);
    }
  }

  void CheckIterators() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    auto at = model_.begin();
    for (it->SeekToFirst(); it->Valid() && at != model_.end(); it->Next(), ++at) {
      ASSERT_TRUE(it->key() == Slice(at->first)) << Named(it->key()) << " instead of " << Named(at->first);
      EXPECT_TRUE(it->value() == Slice(at->second)) << Named(at->first);
    }
    ASSERT_OK(it->status());
    EXPECT_TRUE(!it->Valid() && at == model_.end());
    auto back = model_.rbegin();
    for (it->SeekToLast(); it->Valid() && back != model_.rend(); it->Prev(), ++back) {
      ASSERT_TRUE(it->key() == Slice(back->first)) << Named(it->key()) << " instead of " << Named(back->first);
    }
    ASSERT_OK(it->status());
    EXPECT_TRUE(!it->Valid() && back == model_.rend());
    for (const std::string& key : keys_) {
      const auto next = model_.lower_bound(key);
      it->Seek(key);
      ASSERT_EQ(next != model_.end(), it->Valid()) << Named(key);
      EXPECT_TRUE(!it->Valid() || it->key() == Slice(next->first)) << Named(key);
    }
    ASSERT_OK(it->status());
  }

  void CheckAll() {
    CheckGets();
    CheckIterators();
  }

  std::vector<std::string> keys_;
  Model model_;
};

TEST_P(LongKeysTest, AreFoundInMemoryInTablesAndAfterAReopen) {
  Open();
  WriteAll();
  CheckAll();
  ASSERT_OK(db_->Flush());
  CheckAll();
  Settle();
  CheckAll();
  EXPECT_EQ(!options_.ssd_path.empty(), Counter("ssd-files") > 0);
  const Range all(Slice(), keys_.back());
  uint64_t bytes = 0;
  db_->GetApproximateSizes(&all, 1, &bytes);
  Open();
  CheckAll();
  for (const std::string& key : keys_) {
    ASSERT_OK(db_->Delete(WriteOptions(), key));
    model_.erase(key);
  }
  CheckAll();
  Open();
  Settle();
  CheckAll();
}

TEST_P(LongKeysTest, MatchTheModel) {
  if (TestScale() != Scale::kHeavy) keys_ = MakeKeys(kMiB);
  for (const uint64_t seed : Seeds(ByScale(1, 2, 20))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    Open();
    for (int phase = 0; phase < 3; phase++) {
      const Snapshot* const snapshot = random.OneIn(2) ? db_->GetSnapshot() : nullptr;
      const Model then = model_;
      for (int i = 0; i < 12 && !HasFatalFailure(); i++) Step(&random);
      if (random.OneIn(2)) ASSERT_OK(db_->Flush());
      if (snapshot != nullptr) {
        const std::string& key = keys_[random.Uniform(keys_.size())];
        const auto known = then.find(key);
        EXPECT_TRUE(Get(key, snapshot) == (known == then.end() ? kNotFound : known->second)) << Named(key);
        db_->ReleaseSnapshot(snapshot);
      }
      if (random.OneIn(2)) Settle();
      CheckAll();
      // Without a log what was not flushed is lost.
      if (options_.log_mode == kLogOff) ASSERT_OK(db_->Flush());
      Open();
      CheckAll();
    }
  }
}

// The process that dies has written all of these keys and not closed the database.
TEST_P(LongKeysTest, SurviveTheProcess) {
  if (RunsUnderThreadSanitizer())
    GTEST_SKIP() << "ThreadSanitizer lets no threads start in a child of a process that has had some";
  const pid_t child = fork();
  if (child == 0) {
    Open();
    WriteAll();
    if (options_.log_mode == kLogOff) EXPECT_OK(db_->Flush());
    _exit(HasFailure() ? 1 : 0);
  }
  int status = -1;
  ASSERT_EQ(child, waitpid(child, &status, 0));
  ASSERT_EQ(0, status);
  for (size_t i = 0; i < keys_.size(); i++) model_[keys_[i]] = "value " + std::to_string(i);
  Open();
  CheckAll();
}

TEST_P(LongKeysTest, SurviveARepair) {
  Open();
  WriteAll();
  ASSERT_OK(db_->Flush());
  Settle();
  WriteAll();
  if (options_.log_mode == kLogOff) ASSERT_OK(db_->Flush());
  Close();
  ASSERT_OK(RepairDB(path_, options_));
  Open();
  CheckAll();
}

INSTANTIATE_TEST_SUITE_P(OptionSets, LongKeysTest,
                         testing::Values("small", "log_off", "log_file", "file_mode", "all_lazy_copy", "reverse", "ssd",
                                         "ssd_reverse", "volatile_ssd"),
                         [](const testing::TestParamInfo<std::string>& param) { return param.param; });

using LongKeyLimitTest = DbTestBase;

TEST_F(LongKeyLimitTest, IsNamedByTheError) {
  Open();
  const std::string too_long(kMaxKey + 1, 'k');
  const Status s = db_->Put(WriteOptions(), too_long, "1");
  EXPECT_STATUS(InvalidArgument, s);
  EXPECT_TRUE(Mentions(s, std::to_string(kMaxKey)));
  EXPECT_TRUE(Mentions(s, std::to_string(kMaxKey + 1)));
}

TEST_F(LongKeyLimitTest, IsNoneOfTraces) {
  Open();
  const std::string path = dir_ / "trace", key(kMaxKey, 'k');
  std::unique_ptr<TraceWriter> writer;
  ASSERT_OK(NewFileTraceWriter(path, &writer));
  ASSERT_OK(db_->StartTrace(TraceOptions(), std::move(writer)));
  Put(key, "1");
  EXPECT_EQ("1", Get(key));
  ASSERT_OK(db_->EndTrace());
  std::unique_ptr<TraceReader> reader;
  ASSERT_OK(TraceReader::Open(path, &reader));
  bool written = false, read = false;
  for (TraceRecord record; reader->Next(&record);) {
    if (record.type == kTraceGet) read = read || record.key == Slice(key);
    if (record.type != kTraceWrite) continue;
    TraceUpdates updates(record.batch);
    TraceUpdate update;
    while (updates.Next(&update)) written = written || update.key == Slice(key);
  }
  EXPECT_OK(reader->status());
  EXPECT_TRUE(written && read);
}

// With these keys in it the manifest would not fit into the pool.
TEST_F(LongKeyLimitTest, IsNotTheManifests) {
  options_ = AtPath(FindOptionSet("ssd").options, path_);
  options_.pool_size = 40 * kMiB;
  Open();
  const int keys = RunsUnderThreadSanitizer() ? 10 : 100;
  std::string key(kMiB, 'k');
  for (int i = 0; i < keys; i++) {
    key[0] = static_cast<char>(i);
    Put(key, "value");
  }
  Settle();
  EXPECT_GT(Counter("ssd-files"), static_cast<uint64_t>(keys) * 2 / 5);
  Open();
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  int found = 0;
  for (it->SeekToFirst(); it->Valid(); it->Next()) {
    EXPECT_EQ(kMiB, it->key().size());
    EXPECT_EQ(found++, static_cast<unsigned char>(it->key()[0]));
  }
  EXPECT_OK(it->status());
  EXPECT_EQ(keys, found);
}

}  // namespace
}  // namespace miodb::test
