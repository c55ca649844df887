// A process writes and several read, and all of them are killed at any moment. A reader sees a prefix of the writes,
// with whole batches, and never an earlier one than before; the next writer opens beside the readers; and space that
// dead processes held comes back.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "miodb/write_batch.h"
#include "tests/common/environment.h"
#include "tests/common/random/model_test_base.h"
#include "tests/db/reader/reader_plan.h"

namespace miodb::test {
namespace {

constexpr char kFamilyName[] = "f";

uint64_t Now() { return Env::Default()->NowMicros(); }

// Figures of one kind from all processes; what comes after the last place counts no more.
struct Samples {
  static constexpr uint64_t kPlaces = 1 << 16;
  std::atomic<uint64_t> count{0};
  std::atomic<uint32_t> values[kPlaces];

  void Add(uint64_t value) {
    const uint64_t place = count.fetch_add(1);
    if (place < kPlaces) values[place].store(static_cast<uint32_t>(std::min<uint64_t>(value, UINT32_MAX)));
  }
  uint32_t Quantile(double part) const {
    std::vector<uint32_t> sorted(values, values + std::min(count.load(), kPlaces));
    if (sorted.empty()) return 0;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<size_t>(part * static_cast<double>(sorted.size() - 1))];
  }
};

// Shared memory of the processes of a run.
struct Shared {
  static constexpr uint64_t kTimes = 1 << 16;
  std::atomic<uint64_t> acknowledged{0};  // the number of the last batch
  std::atomic<uint64_t> at[kTimes];       // when a batch was acknowledged
  std::atomic<uint64_t> checked{0};       // reads
  std::atomic<uint64_t> entries{0};       // that these reads gave, each compared
  std::atomic<uint64_t> held{0};          // of these with an iterator that was held
  std::atomic<uint64_t> no_space{0};      // writes that were refused for the time being
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  char failure[400] = "";
  Samples lags, opens;  // micros

  void Fail(const std::string& what) {
    if (failures.fetch_add(1) == 0) snprintf(failure, sizeof(failure), "%s", what.c_str());
  }
  void Check(const Status& s, const char* what) {
    if (!s.ok()) Fail(std::string(what) + ": " + s.ToString());
  }
  bool ends() const { return stop.load() || failures.load() > 0; }
};

// ---- the process that writes

class Writer {
 public:
  Writer(const Options& options, std::string path, Shared* shared)
      : options_(options), path_(std::move(path)), shared_(shared), random_(static_cast<uint64_t>(getpid())) {}

  int Run() {
    while (!shared_->ends()) {
      std::unique_ptr<DB> db;
      const uint64_t start = Now();
      const Status s = OpenDb(options_, path_, &db);
      if (s.IsNoSpace()) {
        shared_->no_space.fetch_add(1);
        usleep(10000);
        continue;
      }
      shared_->Check(s, "open");
      if (!s.ok()) break;
      shared_->opens.Add(Now() - start);
      WriteUntilReopened(db.get());
    }
    return 0;
  }

 private:
  // Every acknowledged write is there, and at most the write under way besides.
  uint64_t LastNumber(DB* db) {
    std::string value;
    const Status s = db->Get(ReadOptions(), kCounter, &value);
    if (!s.IsNotFound()) shared_->Check(s, "counter");
    const uint64_t number = strtoull(value.c_str(), nullptr, 10), acknowledged = shared_->acknowledged.load();
    if (number < acknowledged || number > acknowledged + 1) {
      shared_->Fail("a writer finds batch " + value + " after " + std::to_string(acknowledged));
    }
    return number;
  }

  void WriteUntilReopened(DB* db) {
    ColumnFamilyHandle* family = nullptr;
    shared_->Check(db->GetColumnFamily(kFamilyName, &family), "family");
    uint64_t number = LastNumber(db);
    while (!shared_->ends()) {
      WriteBatch batch;
      AddTo(OpsOf(++number), family, db->DefaultColumnFamily(), &batch);
      if (!WriteOne(db, &batch)) return;
      shared_->at[number % Shared::kTimes].store(Now());
      shared_->acknowledged.store(number);
      if (random_.OneIn(300)) usleep(static_cast<useconds_t>(random_.Uniform(3000)));
      if (random_.OneIn(500)) Stir(db);
      if (random_.OneIn(20000)) return;
    }
  }

  // Where readers hold the space that a write needs, it is tried again.
  bool WriteOne(DB* db, WriteBatch* batch) {
    const uint64_t end = Now() + 20000000;
    Status s = db->Write(WriteOptions(), batch);
    for (; s.IsNoSpace() && Now() < end && !shared_->ends(); s = db->Write(WriteOptions(), batch)) {
      shared_->no_space.fetch_add(1);
      usleep(1000);
    }
    if (s.IsNoSpace() && shared_->ends()) return false;
    shared_->Check(s, "write");
    return s.ok();
  }

  void Stir(DB* db) {
    ColumnFamilyHandle* other = nullptr;
    Status s;
    switch (random_.Uniform(6)) {
      case 0:
        s = db->Flush();
        break;
      case 1:
        db->CompactRange(nullptr, nullptr);
        break;
      case 2:
        s = db->CreateSavepoint("s");
        break;
      case 3:
        s = db->DropSavepoint("s");
        break;
      case 4:
        if (db->GetColumnFamily("other", &other).IsNotFound()) s = db->CreateColumnFamily("other", &other);
        if (s.ok()) s = db->Put(WriteOptions(), other, "k", std::string(300, 'o'));
        break;
      default:
        if (db->GetColumnFamily("other", &other).ok()) s = db->DropColumnFamily(other);
    }
    if (!s.IsNoSpace() && !s.IsNotFound() && !s.IsInvalidArgument()) shared_->Check(s, "stir");
  }

  const Options options_;
  const std::string path_;
  Shared* const shared_;
  Random random_;
};

// ---- a process that reads

class Reader {
 public:
  Reader(const Options& options, std::string path, Shared* shared)
      : options_(options), path_(std::move(path)), shared_(shared), random_(static_cast<uint64_t>(getpid())) {}

  int Run() {
    while (!shared_->ends()) {
      DB* opened = nullptr;
      const Status s = DB::OpenReader(options_, path_, &opened);
      db_.reset(opened);
      shared_->Check(s, "reader");
      if (!s.ok()) break;
      shared_->Check(db_->GetColumnFamily(kFamilyName, &family_), "family of reader");
      for (int reads = 0; reads < 3000 && !shared_->ends(); reads++) ReadSome();
    }
    db_.reset();
    return 0;
  }

 private:
  void ReadSome() {
    const uint64_t what = random_.Uniform(100);
    if (what < 40) {
      Walk(random_.OneIn(2) ? family_ : nullptr, nullptr, 0);
    } else if (what < 80) {
      GetSome();
    } else if (what < 90) {
      Walk(nullptr, nullptr, random_.Uniform(20000));
    } else if (what < 99) {
      const uint64_t least = shared_->acknowledged.load();
      shared_->Check(db_->Refresh(), "refresh");
      CheckNumber(Walk(nullptr, nullptr, 0), least);
    } else {
      GoIdle();
    }
    usleep(static_cast<useconds_t>(random_.Uniform(1000)));
  }

  // An iterator that was made before the reader went idle is as new as any once it is refreshed.
  void GoIdle() {
    const std::unique_ptr<Iterator> walk(db_->NewIterator(ReadOptions()));
    usleep(150000);
    shared_->Check(walk->Refresh(), "refresh of an iterator");
    Walk(nullptr, walk.get(), 0);
  }

  void CheckNumber(uint64_t number, uint64_t least) {
    if (number < least) shared_->Fail("batch " + std::to_string(number) + " after " + std::to_string(least));
  }

  // How old what was seen is: since when there is a batch behind it.
  void AddLag(uint64_t number) {
    if (shared_->acknowledged.load() > number) {
      shared_->lags.Add(Now() - std::min(Now(), shared_->at[(number + 1) % Shared::kTimes].load()));
    } else {
      shared_->lags.Add(0);
    }
  }

  // All of a family is what it was after the batch that its counter tells. hold: for so long it is looked through again
  // and again, while the writer would use its space for something else.
  uint64_t Walk(ColumnFamilyHandle* family, Iterator* given, uint64_t hold) {
    std::unique_ptr<Iterator> made;
    if (given == nullptr) {
      made.reset(family != nullptr ? db_->NewIterator(ReadOptions(), family) : db_->NewIterator(ReadOptions()));
      given = made.get();
    }
    Content* const content = family != nullptr ? &of_family_ : &of_default_;
    given->Seek(kCounter);
    shared_->Check(given->status(), "seek");
    const uint64_t number =
        given->Valid() && given->key() == kCounter ? strtoull(given->value().ToString().c_str(), nullptr, 10) : 0;
    if (hold == 0) AddLag(number);
    if (!content->GoTo(number)) shared_->Fail("an earlier batch than before: " + std::to_string(number));
    for (const uint64_t end = hold > 0 ? Now() + hold : 0; Now() < end && !shared_->ends(); usleep(200)) {
      Compare(given, *content, number);
      shared_->held.fetch_add(1);
    }
    Compare(given, *content, number);
    return number;
  }

  void Compare(Iterator* given, const Content& content, uint64_t number) {
    auto expected = content.pairs().begin();
    uint64_t entries = 0;
    for (given->SeekToFirst(); given->Valid(); given->Next(), ++expected, entries++) {
      if (expected == content.pairs().end() || given->key() != expected->first || given->value() != expected->second) {
        shared_->Fail("batch " + std::to_string(number) + ": " + given->key().ToString() + " -> " +
                      given->value().ToString().substr(0, 40) + ", expected " +
                      (expected == content.pairs().end() ? "the end"
                                                         : expected->first + " -> " + expected->second.substr(0, 40)));
        return;
      }
    }
    shared_->Check(given->status(), "iterator");
    if (expected != content.pairs().end()) {
      shared_->Fail("batch " + std::to_string(number) + " ends before " + expected->first);
    }
    shared_->entries.fetch_add(entries);
    shared_->checked.fetch_add(1);
  }

  // The same of some keys, which one call reads.
  void GetSome() {
    std::vector<std::string> names = {kCounter}, values;
    for (int i = 0; i < 6; i++) names.push_back(KeyOf(random_.Uniform(kKeys)));
    const std::vector<Slice> keys(names.begin(), names.end());
    const std::vector<Status> found = db_->MultiGet(ReadOptions(), keys, &values);
    if (!found[0].IsNotFound()) shared_->Check(found[0], "counter");
    const uint64_t number = found[0].ok() ? strtoull(values[0].c_str(), nullptr, 10) : 0;
    AddLag(number);
    if (!of_default_.GoTo(number)) shared_->Fail("an earlier batch than before: " + std::to_string(number));
    for (size_t i = 0; i < names.size(); i++) {
      const auto expected = of_default_.pairs().find(names[i]);
      const bool there = expected != of_default_.pairs().end();
      if (!found[i].ok() && !found[i].IsNotFound()) shared_->Check(found[i], "get");
      if (found[i].ok() != there || (there && values[i] != expected->second)) {
        shared_->Fail("batch " + std::to_string(number) + ": get of " + names[i] + " is " + found[i].ToString());
      }
    }
    shared_->entries.fetch_add(names.size());
    shared_->checked.fetch_add(1);
  }

  const Options options_;
  const std::string path_;
  Shared* const shared_;
  Random random_;
  std::unique_ptr<DB> db_;
  ColumnFamilyHandle* family_ = nullptr;
  Content of_default_{false}, of_family_{true};
};

// ---- the run

class ReaderProcessesTest : public ModelTestBase {
 protected:
  static constexpr size_t kReaders = 4;

  ReaderProcessesTest() {
    void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) abort();
    shared_ = new (memory) Shared;
    options_.write_buffer_size = 16 * kKiB;
    options_.log_chunk_size = 8 * kKiB;
    options_.keep_log_bytes = 256 * kKiB;
  }
  ~ReaderProcessesTest() override { munmap(shared_, sizeof(Shared)); }

  // Place 0 is the writer's.
  pid_t Start(size_t place) {
    const pid_t child = fork();
    if (child != 0) return child;
    _exit(place == 0 ? Writer(options_, path_, shared_).Run() : Reader(options_, path_, shared_).Run());
  }

  void Kill(std::vector<pid_t>* children, size_t place) {
    int status = 0;
    pid_t& child = (*children)[place];
    if (waitpid(child, &status, WNOHANG) != child) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      kills_[place == 0 ? 0 : 1]++;
    }
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    if (!killed) shared_->Fail("process " + std::to_string(place) + " ended by itself: " + std::to_string(status));
    child = shared_->ends() ? 0 : Start(place);
  }

  void Run(uint64_t seconds, bool kills_writer) {
    Open();
    ColumnFamilyHandle* family = nullptr;
    ASSERT_OK(db_->CreateColumnFamily(kFamilyName, &family));
    Close();
    std::vector<pid_t> children;
    for (size_t place = 0; place <= kReaders; place++) children.push_back(Start(place));
    Random random(Seeds(1).front());
    const uint64_t end = Now() + seconds * 1000000;
    while (Now() < end && !shared_->ends()) {
      usleep(static_cast<useconds_t>(20000 + random.Uniform(200000)));
      Kill(&children, kills_writer && random.OneIn(3) ? 0 : 1 + random.Uniform(kReaders));
    }
    shared_->stop.store(true);
    for (const pid_t child : children) {
      if (child != 0) waitpid(child, nullptr, 0);
    }
    ASSERT_EQ(0, shared_->failures.load()) << shared_->failure;
    CheckEnd();
    Print();
  }

  // What is left is what was written, and a pool in which all of the space can be used.
  void CheckEnd() {
    Open();
    Content content(false);
    const uint64_t number = strtoull(Get(kCounter).c_str(), nullptr, 10);
    EXPECT_GE(number, shared_->acknowledged.load());
    ASSERT_TRUE(content.GoTo(number));
    std::string expected;
    for (const auto& [key, value] : content.pairs()) expected += "(" + key + "->" + value + ")";
    EXPECT_EQ(expected, Forward(db_.get()));
    db_->DropSavepoint("s").IgnoreError();  // there may be none
    ASSERT_OK(db_->DeleteRange(WriteOptions(), kCounter, FilledKey(0)));
    for (uint64_t round = 0; round < 12; round++) Fill(2000, 400, round);
    CheckFilled(2000, 400, 11);
    EXPECT_GT(shared_->checked.load(), 0u);
  }

  void Print() const {
    std::cout << shared_->acknowledged.load() << " batches, " << shared_->checked.load() << " reads of "
              << shared_->entries.load() << " entries checked, " << shared_->held.load() << " of them held; killed "
              << kills_[0] << " writers, " << kills_[1] << " readers; lag " << shared_->lags.Quantile(0.5)
              << " us, p99 " << shared_->lags.Quantile(0.99) << " us; " << shared_->opens.count.load() << " opens, "
              << shared_->opens.Quantile(0.5) << " us, at most " << shared_->opens.Quantile(1) << " us; no space "
              << shared_->no_space.load() << " times\n";
  }

  Shared* shared_ = nullptr;
  uint64_t kills_[2] = {0, 0};
};

uint64_t Seconds() { return ByScale(4, 20, 300); }

TEST_F(ReaderProcessesTest, SeeAPrefixWhoeverDies) {
  options_.pool_size = 8 * kMiB;
  Run(Seconds(), true);
}

TEST_F(ReaderProcessesTest, SeeAPrefixInAPoolWithoutALimit) { Run(Seconds(), true); }

TEST_F(ReaderProcessesTest, SeeAPrefixOfADatabaseWithAnSsdTier) {
  UseSsd();
  options_.pool_size = 6 * kMiB;
  Run(Seconds(), true);
}

}  // namespace
}  // namespace miodb::test
