// Savepoints, checkpoints and backups: that a copy of each kind is the database of one moment, whatever the database
// does afterwards, in each log mode, with pools of several kinds, and beside writers. A promise of a single kind is
// tested in the file of that kind.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "miodb/backup.h"
#include "tests/common/environment.h"
#include "tests/common/random/model_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

// The options that a copy in this directory is opened with.
using OptionsOf = std::function<Options(const std::string& directory)>;

// The copies of one kind, which are told apart by their names.
class Copies {
 public:
  // place: a path at which nothing lies, for the files of all copies.
  Copies(const std::string& place, const OptionsOf& options_of) : place_(place), options_of_(options_of) {}
  virtual ~Copies() = default;

  // How many there are at once at most: except for a savepoint, each takes as much room as the database.
  virtual size_t Most() const { return 4; }
  virtual Status Make(DB* db, std::string* name) = 0;
  // The caller closes a copy before the next call.
  virtual Status Open(DB* db, const std::string& name, DB** copy) = 0;
  virtual Status Drop(DB* db, const std::string& name) = 0;
  virtual Status List(DB* db, std::set<std::string>* names) = 0;

 protected:
  std::string NextName() { return "copy" + std::to_string(made_++); }

  const std::string place_;
  const OptionsOf options_of_;

 private:
  int made_ = 0;
};

class Savepoints : public Copies {
 public:
  using Copies::Copies;
  size_t Most() const override { return ByScale(40, 200, 1000); }
  Status Make(DB* db, std::string* name) override { return db->CreateSavepoint(*name = NextName()); }
  Status Open(DB* db, const std::string& name, DB** copy) override { return db->OpenSavepoint(name, copy); }
  Status Drop(DB* db, const std::string& name) override { return db->DropSavepoint(name); }
  Status List(DB* db, std::set<std::string>* names) override {
    std::vector<SavepointInfo> savepoints;
    const Status s = db->ListSavepoints(&savepoints);
    for (const SavepointInfo& info : savepoints) {
      if (info.name.starts_with("copy")) names->insert(info.name);
    }
    return s;
  }
};

class Checkpoints : public Copies {
 public:
  using Copies::Copies;
  Status Make(DB* db, std::string* name) override {
    fs::create_directory(place_);
    return db->CreateCheckpoint(Directory(*name = NextName()));
  }
  Status Open(DB*, const std::string& name, DB** copy) override {
    return DB::Open(options_of_(Directory(name)), Directory(name), copy);
  }
  Status Drop(DB*, const std::string& name) override {
    fs::remove_all(Directory(name));
    return Status::OK();
  }
  Status List(DB*, std::set<std::string>* names) override {
    for (const auto& entry : fs::directory_iterator(place_)) names->insert(entry.path().filename());
    return Status::OK();
  }

 private:
  std::string Directory(const std::string& name) const { return place_ + "/" + name; }
};

// A backup is restored to be opened, and verified to be listed.
class Backups : public Copies {
 public:
  using Copies::Copies;
  Status Make(DB* db, std::string* name) override {
    BackupInfo info;
    const Status s = db->CreateBackup(BackupOptions(), place_, &info);
    *name = std::to_string(info.generation);
    return s;
  }
  Status Open(DB*, const std::string& name, DB** copy) override {
    const std::string directory = place_ + ".restored";
    fs::remove_all(directory);
    const Options options = options_of_(directory);
    const Status s = RestoreBackup(options, BackupOptions(), place_, std::stoull(name), directory);
    EXPECT_FALSE(fs::exists(directory + ".tmp"));
    return s.ok() ? DB::Open(options, directory, copy) : s;
  }
  Status Drop(DB*, const std::string& name) override { return DeleteBackup(place_, std::stoull(name)); }
  Status List(DB*, std::set<std::string>* names) override {
    if (!fs::exists(place_)) return Status::OK();
    std::vector<BackupInfo> generations;
    Status s = VerifyBackup(BackupOptions(), place_, 0);
    if (s.ok()) s = ListBackups(place_, &generations);
    for (const BackupInfo& info : generations) names->insert(std::to_string(info.generation));
    return s;
  }
};

struct Kind {
  const char* name;
  std::unique_ptr<Copies> (*make)(const std::string& place, const OptionsOf& options_of);
};

template <typename T>
std::unique_ptr<Copies> New(const std::string& place, const OptionsOf& options_of) {
  return std::make_unique<T>(place, options_of);
}

constexpr Kind kSavepoint{"Savepoint", New<Savepoints>};
constexpr Kind kCheckpoint{"Checkpoint", New<Checkpoints>};
constexpr Kind kBackup{"Backup", New<Backups>};

class CopyTestBase : public ModelTestBase {
 protected:
  explicit CopyTestBase(const Kind& kind)
      : place_(dir_ / "copies"),
        copies_(kind.make(place_, [this](const std::string& d) { return OptionsOfCopy(d); })) {}

  std::string Make() {
    std::string name;
    EXPECT_OK(copies_->Make(db_.get(), &name));
    return name;
  }
  void Drop(const std::string& name) { ASSERT_OK(copies_->Drop(db_.get(), name)); }
  std::unique_ptr<DB> Opened(const std::string& name) {
    DB* copy = nullptr;
    EXPECT_OK(copies_->Open(db_.get(), name, &copy));
    return std::unique_ptr<DB>(copy);
  }

  // Compares the list of copies, and the content of each, with the copies that were made.
  void CheckAll(const std::map<std::string, std::string>& made) {
    std::set<std::string> expected, listed;
    for (const auto& [name, content] : made) expected.insert(name);
    ASSERT_OK(copies_->List(db_.get(), &listed));
    ASSERT_EQ(expected, listed);
    for (const auto& [name, content] : made) ASSERT_EQ(content, ContentOf(Opened(name))) << name;
  }

  // Flushes, merges or opens the database again, or leaves it alone.
  void Stir(Random* random) {
    if (random->OneIn(4)) ASSERT_OK(db_->Flush());
    if (random->OneIn(6)) Settle();
    if (options_.pool_path != "anonymous" && random->OneIn(6)) Open();
  }

  // Makes a copy in each round, beside savepoints of the user's, and drops some.
  void CheckAtRandom(uint64_t seed, int rounds) {
    Random random(seed);
    Model model(BytewiseComparator());
    std::map<std::string, std::string> made;
    for (int round = 0; round < rounds && !HasFailure(); round++) {
      SCOPED_TRACE(round);
      WriteSome(&random, static_cast<int>(random.Uniform(200)), &model);
      Stir(&random);
      if (random.OneIn(4)) ASSERT_OK(db_->CreateSavepoint("round" + std::to_string(round)));
      made[Make()] = Text(model.Snapshot());
      WriteSome(&random, static_cast<int>(random.Uniform(20)), &model);
      Stir(&random);
      CheckAll(made);
      if (made.size() >= copies_->Most() || random.OneIn(2)) {
        const auto victim = std::next(made.begin(), static_cast<std::ptrdiff_t>(random.Uniform(made.size())));
        Drop(victim->first);
        made.erase(victim);
      }
      ASSERT_EQ(Text(model.Snapshot()), Forward(db_.get()));
    }
    CheckAll(made);
    for (const auto& [name, content] : made) Drop(name);
    CheckAll({});
  }

  const std::string place_;
  const std::unique_ptr<Copies> copies_;
};

class CopyTest : public CopyTestBase, public testing::WithParamInterface<Kind> {
 protected:
  CopyTest() : CopyTestBase(GetParam()) {}
};

std::string NameOfKind(const testing::TestParamInfo<Kind>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(Kinds, CopyTest, testing::Values(kSavepoint, kCheckpoint, kBackup), NameOfKind);

TEST_P(CopyTest, OfAnEmptyDatabase) {
  Open();
  const std::string name = Make();
  Put("a", "1");
  CheckAll({{name, ""}});
  Open();
  CheckAll({{name, ""}});
}

TEST_P(CopyTest, HasFamiliesOfItsTime) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("f", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "a", "1"));
  ASSERT_OK(db_->CreateSavepoint("s"));
  const std::string name = Make();
  ASSERT_OK(db_->DropColumnFamily(family));
  ASSERT_OK(db_->CreateColumnFamily("g", &family));
  Settle();
  for (int opened = 0; opened < 2; opened++, Open()) {
    const std::unique_ptr<DB> copy = Opened(name);
    ASSERT_NE(nullptr, copy);
    std::vector<std::string> names;
    ASSERT_OK(copy->ListColumnFamilies(&names));
    EXPECT_EQ((std::vector<std::string>{"default", "f"}), names);
    ColumnFamilyHandle* seen = nullptr;
    ASSERT_OK(copy->GetColumnFamily("f", &seen));
    std::string value;
    ASSERT_OK(copy->Get(ReadOptions(), seen, "a", &value));
    EXPECT_EQ("1", value);
    EXPECT_TRUE(copy->GetColumnFamily("g", &seen).IsNotFound());
  }
}

TEST_P(CopyTest, AtRandomMoments) {
  for (uint64_t seed = 1; seed <= ByScale(3, 10, 60) && !HasFailure(); seed++) {
    SCOPED_TRACE(seed);
    Close();
    fs::remove_all(place_);
    ASSERT_OK(DestroyDB(path_, options_));
    Open();
    CheckAtRandom(seed, 25);
  }
}

TEST_P(CopyTest, WithTheLogOff) {
  options_.log_mode = kLogOff;
  Open();
  CheckAtRandom(7, 20);
}

TEST_P(CopyTest, WithTheLogInFiles) {
  options_.log_mode = kLogFile;
  Open();
  CheckAtRandom(8, 20);
}

TEST_P(CopyTest, InFileMode) {
  options_.persist_mode = kPersistFile;
  Open();
  CheckAtRandom(9, 12);
}

TEST_P(CopyTest, OfAVolatilePool) {
  options_.pool_path = "anonymous";
  options_.log_mode = kLogOff;
  Open();
  CheckAtRandom(10, 12);
}

// Checkpoints and restored backups, which outlive the database.
class OwnDatabaseTest : public CopyTest {};

INSTANTIATE_TEST_SUITE_P(Kinds, OwnDatabaseTest, testing::Values(kCheckpoint, kBackup), NameOfKind);

TEST_P(OwnDatabaseTest, OfAVolatilePoolLasts) {
  options_.pool_path = "anonymous";
  options_.log_mode = kLogOff;
  Open();
  Put("last", "1");
  const std::string name = Make();
  Close();
  EXPECT_EQ("(last->1)", ContentOf(Opened(name)));
}

TEST_P(OwnDatabaseTest, OfSeveralRegionsIsOneFile) {
  options_.pool_size = 4 * kMiB;
  NvmRegion region;
  region.path = dir_ / "second";
  region.limit = 32 * kMiB;
  options_.nvm_regions = {region};
  Open();
  Fill(8000, 800);
  const std::string name = Make();
  options_.pool_size = 64 * kMiB;
  std::unique_ptr<DB> copy = Opened(name);
  ASSERT_NE(nullptr, copy);
  db_.swap(copy);
  CheckFilled(8000, 800);
  Fill(8000, 800, 1);
  CheckFilled(8000, 800, 1);
  db_.swap(copy);
  CheckFilled(8000, 800);
}

TEST_P(OwnDatabaseTest, HasNoSavepoints) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->CreateSavepoint("s"));
  const std::unique_ptr<DB> copy = Opened(Make());
  ASSERT_NE(nullptr, copy);
  std::vector<SavepointInfo> savepoints;
  ASSERT_OK(copy->ListSavepoints(&savepoints));
  EXPECT_TRUE(savepoints.empty());
}

TEST_P(OwnDatabaseTest, OfAVolatilePoolWithAnSsdTierIsRefused) {
  options_.pool_path = "anonymous";
  options_.log_mode = kLogFile;
  options_.ssd_path = ssd_;
  Open();
  std::string name;
  EXPECT_STATUS(NotSupportedError, copies_->Make(db_.get(), &name));
  CheckAll({});
}

// ---- beside writers

// Threads that count, each in two keys that a batch writes.
class CountingWriters {
 public:
  static constexpr size_t kWriters = 3;
  using Counts = std::array<uint64_t, kWriters>;

  explicit CountingWriters(DB* db) {
    for (size_t w = 0; w < kWriters; w++) {
      threads_.emplace_back([this, db, w] { Count(db, w); });
    }
  }
  ~CountingWriters() {
    stop_.store(true);
    for (std::thread& thread : threads_) thread.join();
  }
  CountingWriters(const CountingWriters&) = delete;
  CountingWriters& operator=(const CountingWriters&) = delete;

  Counts Acknowledged() const {
    Counts counts;
    for (size_t w = 0; w < kWriters; w++) counts[w] = acknowledged_[w].load();
    return counts;
  }

  // Compares the two keys of each writer with one another, and with what was acknowledged before the copy was made.
  static void Check(DB* copy, const Counts& least) {
    for (size_t w = 0; w < kWriters; w++) {
      const uint64_t a = Read(copy, "a" + std::to_string(w));
      EXPECT_EQ(a, Read(copy, "b" + std::to_string(w))) << "writer " << w;
      EXPECT_GE(a, least[w]) << "writer " << w;
    }
  }

 private:
  void Count(DB* db, size_t w) {
    for (uint64_t i = 1; !stop_.load(); i++) {
      WriteBatch batch;
      batch.Put("a" + std::to_string(w), std::to_string(i));
      batch.Put("b" + std::to_string(w), std::to_string(i) + std::string(w == 0 ? 2000 : 50, '.'));
      if (!db->Write(WriteOptions(), &batch).ok()) break;
      acknowledged_[w].store(i);
    }
  }
  static uint64_t Read(DB* copy, const std::string& key) {
    std::string value;
    const Status s = copy->Get(ReadOptions(), key, &value);
    if (s.IsNotFound()) return 0;
    EXPECT_OK(s);
    return s.ok() ? std::stoull(value) : 0;
  }

  std::atomic<bool> stop_{false};
  std::array<std::atomic<uint64_t>, kWriters> acknowledged_{};
  std::vector<std::thread> threads_;
};

struct Log {
  const char* name;
  LogMode mode;
};

class CopyBesideWritersTest : public CopyTestBase, public testing::WithParamInterface<std::tuple<Kind, Log>> {
 protected:
  CopyBesideWritersTest() : CopyTestBase(std::get<Kind>(GetParam())) {
    options_.log_mode = std::get<Log>(GetParam()).mode;
    options_.write_buffer_size = 256 * kKiB;
  }

  void Check(const std::string& name, const CountingWriters::Counts& least) {
    SCOPED_TRACE(name);
    const std::unique_ptr<DB> copy = Opened(name);
    ASSERT_NE(nullptr, copy);
    CountingWriters::Check(copy.get(), least);
  }
};

INSTANTIATE_TEST_SUITE_P(Kinds, CopyBesideWritersTest,
                         testing::Combine(testing::Values(kSavepoint, kCheckpoint, kBackup),
                                          testing::Values(Log{"LogInThePool", kLogPmem}, Log{"LogOff", kLogOff},
                                                          Log{"LogInFiles", kLogFile})),
                         [](const auto& each) {
                           return std::string(std::get<Kind>(each.param).name) + std::get<Log>(each.param).name;
                         });

// The copies that are kept are read again at the end, and after an open.
TEST_P(CopyBesideWritersTest, HasAPrefix) {
  Open();
  std::vector<std::pair<std::string, CountingWriters::Counts>> made;
  {
    const CountingWriters writers(db_.get());
    const uint64_t rounds = std::max<uint64_t>(copies_->Most(), ByScale(20, 100, 500));
    for (uint64_t round = 0; round < rounds && !HasFailure(); round++) {
      if (made.size() == copies_->Most()) {
        Drop(made.front().first);
        made.erase(made.begin());
      }
      const CountingWriters::Counts least = writers.Acknowledged();
      made.emplace_back(Make(), least);
      Check(made.back().first, least);
      if (round % 8 == 7) ASSERT_OK(db_->Flush());
    }
  }
  for (int opened = 0; opened < 2 && !HasFailure(); opened++, Open()) {
    for (const auto& [name, least] : made) Check(name, least);
  }
}

}  // namespace
}  // namespace miodb::test
