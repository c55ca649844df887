// A stream of random calls goes to this store and to RocksDB, where that is installed: every answer is the same. All
// kinds of writes, batches, snapshots, gets of one and of many keys, iterators in both directions with bounds, flushes,
// compactions, reopens.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "tests/common/environment.h"

#ifdef MIODB_WITH_ROCKSDB

#include <rocksdb/db.h>
#include <rocksdb/options.h>
#include <rocksdb/write_batch.h>

#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/common/engines/family_name.h"
#include "miodb/merge_operator.h"
#include "src/util/check/check.h"
#include "tests/benchmarks/rocksdb_peer.h"
#include "tests/common/db_test_base.h"
#include "tests/common/program.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKeys = 400;
constexpr uint64_t kSingleKeys = 100;  // the last ones: put once, then deleted by a single deletion, and so on
constexpr size_t kMaxSnapshots = 4;
constexpr uint64_t kReportEvery = 1000000;

std::string Shown(const rocksdb::Status& s) { return s.IsNotFound() ? "not found" : s.ok() ? "ok" : s.ToString(); }
std::string Shown(const Status& s) { return s.IsNotFound() ? "not found" : s.ok() ? "ok" : s.ToString(); }

class Pair {
 public:
  Pair(uint64_t seed, Options ours, const TestDir& dir)
      : random_(seed), ours_(std::move(ours)), our_path_(dir / "ours"), their_path_(dir / "theirs") {
    ours_.merge_operator = append_.get();
    theirs_.create_if_missing = true;
    theirs_.write_buffer_size = 256 << 10;
    theirs_.target_file_size_base = 256 << 10;
    theirs_.max_bytes_for_level_base = 1 << 20;
    theirs_.merge_operator = std::make_shared<RocksAppend>();
    theirs_write_.disableWAL = false;
    for (uint64_t i = 0; i < kKeys; i++) sorted_[Key(i)] = i;
  }

  ~Pair() { ReleaseAll(); }

  void Run(uint64_t calls) {
    Open();
    for (uint64_t i = 0; i < calls && !testing::Test::HasFatalFailure(); i++) {
      Step();
      if (i % kReportEvery == kReportEvery - 1) std::printf("%llu calls\n", static_cast<unsigned long long>(i + 1));
    }
    if (testing::Test::HasFatalFailure()) return;
    CompareAll(nullptr);
    Open();
    CompareAll(nullptr);
  }

 private:
  struct Held {
    const Snapshot* ours;
    const rocksdb::Snapshot* theirs;
  };

  void ReleaseAll() {
    for (const Held& held : snapshots_) {
      db_->ReleaseSnapshot(held.ours);
      rocks_->ReleaseSnapshot(held.theirs);
    }
    snapshots_.clear();
  }

  void Open() {
    ReleaseAll();
    ASSERT_OK(OpenDb(ours_, our_path_, &db_));
    rocks_.reset();
    rocksdb::DB* rocks = nullptr;
    const rocksdb::Status s = rocksdb::DB::Open(theirs_, their_path_, &rocks);
    ASSERT_TRUE(s.ok()) << s.ToString();
    rocks_.reset(rocks);
  }

  void Step() {
    const uint64_t dice = random_.Uniform(1000);
    if (dice < 500) {
      WriteSome(random_.OneIn(8) ? random_.Uniform(20) : 1);
    } else if (dice < 750) {
      CompareGet();
    } else if (dice < 780) {
      CompareMany();
    } else if (dice < 940) {
      Walk();
    } else if (dice < 970) {
      if (snapshots_.size() < kMaxSnapshots) snapshots_.push_back({db_->GetSnapshot(), rocks_->GetSnapshot()});
    } else if (dice < 998) {
      if (!snapshots_.empty()) Release();
    } else {
      Background();
    }
  }

  void Background() {
    const uint64_t dice = random_.Uniform(100);
    if (dice < 60) {
      ASSERT_OK(db_->Flush());
      ASSERT_TRUE(rocks_->Flush(rocksdb::FlushOptions()).ok());
    } else if (dice < 90) {
      std::string from = AnyKey(), to = AnyKey();
      if (to < from) from.swap(to);
      const Slice our_from(from), our_to(to);
      db_->CompactRange(&our_from, &our_to);
      const rocksdb::Slice their_from(from), their_to(to);
      ASSERT_TRUE(rocks_->CompactRange(rocksdb::CompactRangeOptions(), &their_from, &their_to).ok());
    } else if (dice < 95) {
      ASSERT_OK(db_->WaitForIdle());
    } else {
      Open();
    }
  }

  void Release() {
    const size_t i = random_.Uniform(snapshots_.size());
    db_->ReleaseSnapshot(snapshots_[i].ours);
    rocks_->ReleaseSnapshot(snapshots_[i].theirs);
    snapshots_.erase(snapshots_.begin() + static_cast<ptrdiff_t>(i));
  }

  std::string Key(uint64_t i) const { return "key" + std::to_string(i * 7919 % 1000) + (i % 3 == 0 ? "" : "x"); }
  std::string AnyKey() { return Key(random_.Uniform(kKeys + 10)); }

  void WriteSome(uint64_t count) {
    WriteBatch ours;
    rocksdb::WriteBatch theirs;
    for (uint64_t i = 0; i < count; i++) AddUpdate(&ours, &theirs);
    ASSERT_OK(db_->Write(WriteOptions(), &ours));
    const rocksdb::Status s = rocks_->Write(theirs_write_, &theirs);
    ASSERT_TRUE(s.ok()) << s.ToString();
  }

  void AddUpdate(WriteBatch* ours, rocksdb::WriteBatch* theirs) {
    const uint64_t i = random_.Uniform(kKeys);
    const std::string key = Key(i), value(random_.Skewed(9), static_cast<char>('a' + random_.Uniform(26)));
    if (i >= kKeys - kSingleKeys) {
      if (single_.insert(i).second) {
        ours->Put(key, value);
        theirs->Put(key, value);
      } else {
        single_.erase(i);
        ours->SingleDelete(key);
        theirs->SingleDelete(key);
      }
      return;
    }
    const uint64_t dice = random_.Uniform(103);
    if (dice >= 100) {
      DeleteRange(ours, theirs);
    } else if (dice < 40) {
      ours->Put(key, value);
      theirs->Put(key, value);
    } else if (dice < 80) {
      const std::string operand = value.substr(0, 12);
      ours->Merge(key, operand);
      theirs->Merge(key, operand);
    } else {
      ours->Delete(key);
      theirs->Delete(key);
    }
  }

  // From a key to one of those that come soon after it, or now and then to any.
  void DeleteRange(WriteBatch* ours, rocksdb::WriteBatch* theirs) {
    std::string begin = AnyKey(), end = AnyKey();
    if (!random_.OneIn(30)) {
      const auto from = sorted_.lower_bound(begin);
      auto to = from;
      for (uint64_t i = random_.Skewed(5); i > 0 && to != sorted_.end(); i--) ++to;
      if (to != sorted_.end()) end = to->first;
    }
    if (end < begin) begin.swap(end);
    for (auto it = sorted_.lower_bound(begin); it != sorted_.end() && it->first < end; ++it) single_.erase(it->second);
    ours->DeleteRange(begin, end);
    theirs->DeleteRange(begin, end);
  }

  const Held* AnySnapshot() {
    return snapshots_.empty() || random_.OneIn(2) ? nullptr : &snapshots_[random_.Uniform(snapshots_.size())];
  }

  static void Read(const Held* held, ReadOptions* ours, rocksdb::ReadOptions* theirs) {
    if (held == nullptr) return;
    ours->snapshot = held->ours;
    theirs->snapshot = held->theirs;
  }

  void CompareGet() {
    ReadOptions ours;
    rocksdb::ReadOptions theirs;
    Read(AnySnapshot(), &ours, &theirs);
    const std::string key = AnyKey();
    std::string our_value, their_value;
    const Status s = db_->Get(ours, key, &our_value);
    ASSERT_EQ(Shown(rocks_->Get(theirs, key, &their_value)), Shown(s)) << key;
    if (s.ok()) {
      ASSERT_EQ(their_value, our_value) << key;
    }
    ASSERT_TRUE(!s.ok() || db_->KeyMayExist(ours, key));
  }

  void CompareMany() {
    ReadOptions ours;
    rocksdb::ReadOptions theirs;
    Read(AnySnapshot(), &ours, &theirs);
    std::vector<std::string> keys(random_.Uniform(40));
    for (std::string& key : keys) key = AnyKey();
    std::vector<PinnableSlice> our_values;
    std::vector<std::string> their_values;
    const std::vector<Status> our = db_->MultiGet(ours, std::vector<Slice>(keys.begin(), keys.end()), &our_values);
    const std::vector<rocksdb::Status> their =
        rocks_->MultiGet(theirs, std::vector<rocksdb::Slice>(keys.begin(), keys.end()), &their_values);
    for (size_t i = 0; i < keys.size(); i++) {
      ASSERT_EQ(Shown(their[i]), Shown(our[i])) << keys[i];
      if (our[i].ok()) {
        ASSERT_EQ(their_values[i], our_values[i].ToString()) << keys[i];
      }
    }
  }

  // The same moves of both iterators, with a refresh in between where there is no snapshot.
  void Walk() {
    ReadOptions ours;
    rocksdb::ReadOptions theirs;
    Read(AnySnapshot(), &ours, &theirs);
    const std::string lower = AnyKey(), upper = AnyKey();
    const Slice our_lower(lower), our_upper(upper);
    const rocksdb::Slice their_lower(lower), their_upper(upper);
    const bool bounded = lower < upper;
    if (bounded && random_.OneIn(3)) ours.iterate_lower_bound = &our_lower, theirs.iterate_lower_bound = &their_lower;
    if (bounded && random_.OneIn(3)) ours.iterate_upper_bound = &our_upper, theirs.iterate_upper_bound = &their_upper;
    const std::unique_ptr<Iterator> a(db_->NewIterator(ours));
    const std::unique_ptr<rocksdb::Iterator> b(rocks_->NewIterator(theirs));
    for (uint64_t i = 0; i < 12 && !testing::Test::HasFatalFailure(); i++) {
      MoveBoth(&random_, a.get(), b.get(), [this] { return AnyKey(); });
    }
  }

  void CompareAll(const Held* held) {
    ReadOptions ours;
    rocksdb::ReadOptions theirs;
    Read(held, &ours, &theirs);
    const std::unique_ptr<Iterator> a(db_->NewIterator(ours));
    const std::unique_ptr<rocksdb::Iterator> b(rocks_->NewIterator(theirs));
    a->SeekToFirst(), b->SeekToFirst();
    for (ComparePosition(*a, *b); b->Valid() && !testing::Test::HasFatalFailure(); ComparePosition(*a, *b)) {
      a->Next(), b->Next();
    }
  }

  Random random_;
  Options ours_;
  rocksdb::Options theirs_;
  rocksdb::WriteOptions theirs_write_;
  const std::string our_path_;
  const std::string their_path_;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  std::unique_ptr<DB> db_;
  std::unique_ptr<rocksdb::DB> rocks_;
  std::vector<Held> snapshots_;
  std::map<std::string, uint64_t> sorted_;  // all keys
  std::set<uint64_t> single_;               // those that are there
};

// In all, at the scale heavy, 10 million calls.
TEST(RocksdbPeerTest, GivesTheSameAnswers) {
  const char* const sets[] = {"small", "tiny", "ssd", "log_file", "all_lazy_copy"};
  const uint64_t calls = ByScale(4000, 20000, 2000000);
  uint64_t stream = 0;
  for (const char* name : sets) {
    for (const uint64_t seed : Seeds(1, 1 + stream++)) {
      SCOPED_TRACE(std::string(name) + ", " + Repeat(seed));
      const TestDir dir;
      Pair(seed, FindOptionSet(name).options, dir).Run(calls);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// The file of the RocksDB that this test is linked with, which cannot open databases of every newer release.
std::string LinkedLibrary() {
  Dl_info info = {};
  CHECK(dladdr(reinterpret_cast<const void*>(&rocksdb::DestroyDB), &info) != 0);
  return info.dli_fname;
}

// Two flushes leave two files of each family at level 0, too few for a compaction that nobody asks for.
TEST(RocksdbPeerTest, DbBenchFlushesAndCompactsAllFamilies) {
  const TestDir dir;
  const std::string path = dir.path() + "/rocksdb";
  constexpr int kFamilies = 3;
  const std::string command = "db_bench --engine=rocksdb --library=" + LinkedLibrary() + " --db=" + path +
                              " --num=300 --num_column_families=" + std::to_string(kFamilies) +
                              " --benchmarks=fillseq,flush,overwrite,flush";
  const auto files_of = [&](const std::string& property) {
    std::vector<std::string> files;
    std::vector<rocksdb::ColumnFamilyDescriptor> families;
    for (int i = 0; i < kFamilies; i++) families.emplace_back(bench::FamilyName(i), rocksdb::ColumnFamilyOptions());
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* opened = nullptr;
    EXPECT_TRUE(rocksdb::DB::OpenForReadOnly({}, path, families, &handles, &opened).ok());
    const std::unique_ptr<rocksdb::DB> db(opened);
    for (rocksdb::ColumnFamilyHandle* const handle : handles) {
      EXPECT_TRUE(db->GetProperty(handle, property, &files.emplace_back()));
      EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    }
    return files;
  };
  ProgramResult result = RunTool(command);
  ASSERT_EQ(0, result.code) << result.text;
  EXPECT_EQ(std::vector<std::string>(kFamilies, "2"), files_of("rocksdb.num-files-at-level0"));
  result = RunTool(command + ",compact,waitforcompaction");
  ASSERT_EQ(0, result.code) << result.text;
  EXPECT_EQ(std::vector<std::string>(kFamilies, "0"), files_of("rocksdb.num-files-at-level0"));
}

}  // namespace
}  // namespace miodb::test

#else

TEST(RocksdbPeerTest, GivesTheSameAnswers) {
  GTEST_SKIP() << "built without RocksDB (Debian package librocksdb-dev): nothing is compared";
}

#endif
