// Faults of the SSD under a database: full, failing, lying.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/env.h"
#include "miodb/filter_policy.h"
#include "miodb/merge_operator.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;
constexpr uint64_t kMiB = 1024 * kKiB;
constexpr size_t kValueBytes = 500;

bool IsTable(const std::string& name) { return name.size() > 4 && name.compare(name.size() - 4, 4, ".sst") == 0; }

// An Env whose table files fail when told to.
class FaultyEnv final : public EnvWrapper {
 public:
  enum class Fault { kNone, kWrite, kSync, kOpen };

  FaultyEnv() : EnvWrapper(Env::Default()) {}

  std::atomic<Fault> fault{Fault::kNone};
  std::atomic<bool> reads_fail{false};
  std::atomic<int64_t> reads_until_one_fails{-1};  // negative: none does
  std::atomic<uint64_t> faults{0};

  Status NewWritableFile(const std::string& name, WritableFile** result) override {
    if (!IsTable(name)) return target()->NewWritableFile(name, result);
    *result = nullptr;
    Status s = Check(Fault::kOpen, name);
    if (!s.ok()) return s;
    WritableFile* file = nullptr;
    s = target()->NewWritableFile(name, &file);
    if (s.ok()) *result = new File(this, name, file);
    return s;
  }

  Status NewRandomAccessFile(const std::string& name, RandomAccessFile** result) override {
    RandomAccessFile* file = nullptr;
    Status s = target()->NewRandomAccessFile(name, &file);
    *result = s.ok() && IsTable(name) ? new Reader(this, name, file) : file;
    return s;
  }

 private:
  Status Check(Fault kind, const std::string& name) {
    if (fault.load() != kind) return Status::OK();
    faults++;
    return Status::IOError(name, "No space left on device");
  }

  class File final : public WritableFile {
   public:
    File(FaultyEnv* env, std::string name, WritableFile* target) : env_(env), name_(std::move(name)), target_(target) {}

    Status Append(const Slice& data) override {
      Status s = env_->Check(Fault::kWrite, name_);
      return s.ok() ? target_->Append(data) : s;
    }
    Status Close() override { return target_->Close(); }
    Status Flush() override { return target_->Flush(); }
    Status Sync() override {
      Status s = env_->Check(Fault::kSync, name_);
      return s.ok() ? target_->Sync() : s;
    }

   private:
    FaultyEnv* const env_;
    const std::string name_;
    const std::unique_ptr<WritableFile> target_;
  };

  class Reader final : public RandomAccessFile {
   public:
    Reader(FaultyEnv* env, std::string name, RandomAccessFile* target)
        : env_(env), name_(std::move(name)), target_(target) {}

    Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
      if (env_->reads_fail || (env_->reads_until_one_fails >= 0 && env_->reads_until_one_fails-- == 0)) {
        return Status::IOError(name_, "Input/output error");
      }
      return target_->Read(offset, n, result, scratch);
    }

   private:
    FaultyEnv* const env_;
    const std::string name_;
    const std::unique_ptr<RandomAccessFile> target_;
  };
};

class SsdFaultsTest : public DbTestBase, public testing::WithParamInterface<FaultyEnv::Fault> {
 protected:
  SsdFaultsTest() {
    options_.env = &env_;
    options_.pool_size = 3 * kMiB;
    options_.ssd_path = dir_ / "ssd";
    options_.ssd_level_size = 1 * kMiB;
    options_.ssd_file_size = 128 * kKiB;
    options_.num_levels = 4;
  }
  ~SsdFaultsTest() override { db_.reset(); }  // before the Env

  // A scan meets no error.
  void ExpectScan() {
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    for (it->SeekToFirst(); it->Valid(); it->Next()) continue;
    EXPECT_OK(it->status());
  }

  FaultyEnv env_;
};

// Writes go on until the pool is full as well, then say NoSpace; reads and deletes go on; when the SSD has space again
// writes do, too, without anybody's help.
TEST_P(SsdFaultsTest, AnSsdThatCannotBeWrittenStopsWritesOnlyWhenThePoolIsFull) {
  Open();
  const uint64_t before = 2 * kMiB / kValueBytes;
  Fill(before, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  env_.fault = GetParam();
  uint64_t written = 0;
  Status s;
  while (s.ok()) {
    ASSERT_LT(written, 4 * kMiB / kValueBytes) << "a full pool takes writes";
    s = db_->Put(WriteOptions(), "more" + FilledKey(written), FilledValue(written, kValueBytes, 3));
    if (s.ok()) written++;
  }
  EXPECT_STATUS(NoSpace, s);
  // What is not in use then is kept for merges and collections.
  EXPECT_GT(Counter("pool-bytes-used") + Counter("pool-bytes-reserved"), Counter("pool-bytes-capacity") / 100 * 85)
      << Property("miodb.counters") << Property("leveldb.stats");
  EXPECT_GT(written, 0u);
  EXPECT_GT(env_.faults, 0u);
  EXPECT_TRUE(Property("miodb.ssd-error").find("No space left") != std::string::npos) << Property("miodb.ssd-error");
  EXPECT_EQ(Property("miodb.background-error"), "OK");
  for (uint64_t i = 0; i < before; i += 5) ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 0));
  for (uint64_t i = 0; i < written; i += 5) {
    ASSERT_EQ(Get("more" + FilledKey(i)), FilledValue(i, kValueBytes, 3));
  }
  env_.fault = FaultyEnv::Fault::kNone;
  for (int tries = 0; tries < 3000; tries++) {
    s = db_->Put(WriteOptions(), "resumed", "yes");
    if (s.ok()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_OK(s);
  Fill(2 * before, kValueBytes, 1);
  ExpectScan();
}

// Nothing else is due then, so nobody else would try.
TEST_P(SsdFaultsTest, CompactRangeTriesAgainWhatFailed) {
  Open();
  const uint64_t count = 8 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  for (uint64_t i = 0; i < count; i++) Delete(FilledKey(i));
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  env_.fault = GetParam();
  db_->CompactRange(nullptr, nullptr);
  EXPECT_NE("OK", Property("miodb.ssd-error"));
  EXPECT_NE("OK", Property("miodb.compact-error")) << "what miodb compact ends with";
  env_.fault = FaultyEnv::Fault::kNone;
  db_->CompactRange(nullptr, nullptr);
  EXPECT_EQ("OK", Property("miodb.ssd-error"));
  EXPECT_EQ("OK", Property("miodb.compact-error"));
  EXPECT_EQ(0u, Counter("ssd-files"));
}

INSTANTIATE_TEST_SUITE_P(Faults, SsdFaultsTest,
                         testing::Values(FaultyEnv::Fault::kWrite, FaultyEnv::Fault::kSync, FaultyEnv::Fault::kOpen));

TEST_F(SsdFaultsTest, AnSsdThatCannotBeReadFailsThoseReadsAlone) {
  options_.max_open_files = 16;
  Open();
  const uint64_t count = 6 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  Put("fresh", "in the pool");
  env_.reads_fail = true;
  uint64_t failed = 0;
  for (uint64_t i = 0; i < count; i++) {
    std::string value;
    const Status s = db_->Get(ReadOptions(), FilledKey(i), &value);
    if (s.ok()) {
      ASSERT_EQ(value, FilledValue(i, kValueBytes, 0));
    } else {
      failed++;
      ASSERT_STREQ(s.ToString().substr(0, 9).c_str(), "IO error:");
      ASSERT_TRUE(Mentions(s, ".sst"));
    }
  }
  EXPECT_GT(failed, count / 10);
  EXPECT_LT(failed, count);
  EXPECT_EQ(Get("fresh"), "in the pool");
  const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
  it->SeekToFirst();
  while (it->Valid()) it->Next();
  EXPECT_FALSE(it->status().ok());
  env_.reads_fail = false;
  for (uint64_t i = 0; i < count; i++) ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 0));
  it->SeekToFirst();
  uint64_t seen = 0;
  for (; it->Valid(); it->Next()) seen++;
  EXPECT_OK(it->status());
  EXPECT_EQ(seen, count + 1);
}

// Compactions that cannot read their inputs leave them alone; the rest of the database goes on.
TEST_F(SsdFaultsTest, DamageMetByACompactionStopsNothingElse) {
  Open();
  const uint64_t count = 4 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  env_.reads_fail = true;
  for (uint64_t i = 0; i < kMiB / kValueBytes; i++) {
    const Status s = db_->Put(WriteOptions(), "more" + FilledKey(i), FilledValue(i, kValueBytes, 3));
    ASSERT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
  }
  EXPECT_EQ(Property("miodb.background-error"), "OK");
  env_.reads_fail = false;
  for (uint64_t i = 0; i < count; i++) ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 0));
  Open();
  ExpectScan();
  for (uint64_t i = 0; i < count; i++) ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 0));
  Fill(count, kValueBytes, 1);
  for (uint64_t i = 0; i < count; i++) ASSERT_EQ(Get(FilledKey(i)), FilledValue(i, kValueBytes, 1));
}

// A read that failed for a moment keeps no part of the tier from being compacted later.
TEST_F(SsdFaultsTest, AJobThatCouldNotReadIsTriedAgain) {
  Open();
  const uint64_t count = 4 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  env_.reads_fail = true;
  Status s;
  for (uint64_t i = 0; s.ok(); i++) s = db_->Put(WriteOptions(), FilledKey(i % count), FilledValue(i, kValueBytes, 1));
  EXPECT_STATUS(NoSpace, s);
  env_.reads_fail = false;
  for (int tries = 0; tries < 3000; tries++) {
    s = db_->Put(WriteOptions(), FilledKey(0), FilledValue(0, kValueBytes, 2));
    if (s.ok()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ASSERT_OK(s);
  Fill(4 * count, kValueBytes, 2);
  ASSERT_OK(db_->WaitForIdle());
  CheckFilled(4 * count, kValueBytes, 2);
}

// The policy alone knows what an empty filter means.
TEST_F(SsdFaultsTest, AFilterPolicyMayMakeNone) {
  class NoFilters : public FilterPolicy {
   public:
    const char* Name() const override { return "none"; }
    void CreateFilter(const Slice*, int, std::string*) const override {}
    bool KeyMayMatch(const Slice&, const Slice&) const override { return true; }
  };
  const NoFilters none;
  options_.filter_policy = &none;
  Open();
  const uint64_t count = 4 * kMiB / kValueBytes;
  Fill(count, kValueBytes);
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  CheckFilled(count, kValueBytes);
  db_.reset();  // before the policy
}

// An iterator that a read fails once shows nothing wrong, also where it seeks past many versions of a key: the failure
// is not forgotten by the seek behind it.
TEST_F(SsdFaultsTest, AReadThatFailsOnceEndsAWalkOverManyVersions) {
  constexpr int kVersions = 2000;
  options_.nvm_budget = 64 * kKiB;
  options_.block_size = kKiB;
  const std::unique_ptr<const MergeOperator> append(NewStringAppendOperator(""));
  options_.merge_operator = append.get();
  Open();
  Put("a", "first");
  Put("c", "last");
  std::vector<const Snapshot*> snapshots;
  std::vector<std::string> values;  // of each snapshot
  for (int i = 0; i < kVersions; i++) {
    const bool merges = i % 100 > 97;
    const std::string value = std::to_string(i) + std::string(30, '.');
    ASSERT_OK(merges ? db_->Merge(WriteOptions(), "b", value) : db_->Put(WriteOptions(), "b", value));
    values.push_back(merges ? values.back() + value : value);
    snapshots.push_back(db_->GetSnapshot());
  }
  Settle();
  ASSERT_OK(db_->WaitForIdle());
  ASSERT_GT(Counter("ssd-files"), 0u);
  int failed = 0;
  for (const int at : {10, 98, 500, 998, 1999}) {
    ReadOptions options;
    options.snapshot = snapshots[static_cast<size_t>(at)];
    options.fill_cache = false;
    const std::string expected = "(a->first)(b->" + values[static_cast<size_t>(at)] + ")(c->last)";
    for (int64_t read = 0;; read++) {
      for (auto walk : {Forward, Backward}) {
        env_.reads_until_one_fails = read;
        const std::string shown = walk(db_.get(), options);
        if (shown.find("Input/output error") != std::string::npos) {
          failed++;
        } else {
          ASSERT_EQ(expected, shown) << "read " << read << " fails";
        }
      }
      if (env_.reads_until_one_fails >= 0) break;
    }
    env_.reads_until_one_fails = -1;
  }
  EXPECT_GT(failed, 10);
  for (const Snapshot* snapshot : snapshots) db_->ReleaseSnapshot(snapshot);
  Close();
}

TEST_F(SsdFaultsTest, OptionsOutOfRangeAreNamed) {
  const auto refused = [&](const char* name, auto change) {
    const Options good = options_;
    change(&options_);
    const Status s = TryOpen();
    EXPECT_STATUS(InvalidArgument, s);
    EXPECT_TRUE(Mentions(s, name));
    options_ = good;
  };
  refused("ssd_levels", [](Options* o) { o->ssd_levels = 0; });
  refused("ssd_levels", [](Options* o) { o->ssd_levels = 9; });
  refused("ssd_level_size", [](Options* o) { o->ssd_level_size = 100; });
  refused("ssd_level_multiplier", [](Options* o) { o->ssd_level_multiplier = 1; });
  refused("ssd_file_size", [](Options* o) { o->ssd_file_size = 10; });
  refused("nvm_budget", [](Options* o) { o->nvm_budget = 1; });
  refused("max_background_ssd_jobs", [](Options* o) { o->max_background_ssd_jobs = 0; });
  refused("max_open_files", [](Options* o) { o->max_open_files = 3; });
  refused("block_size", [](Options* o) { o->block_size = 1; });
  refused("block_restart_interval", [](Options* o) { o->block_restart_interval = 0; });
  refused("compression", [](Options* o) { o->compression = static_cast<CompressionType>(7); });
  refused("zstd_compression_level", [](Options* o) { o->zstd_compression_level = 99; });
  Open();
  Close();
  options_.ssd_path = "/nowhere/at/all";
  const Status s = TryOpen();
  EXPECT_FALSE(s.ok());
  EXPECT_TRUE(Mentions(s, "/nowhere/at/all"));
}

}  // namespace
}  // namespace miodb::test
