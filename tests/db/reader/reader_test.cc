// Readers of a database that another process, or this one, has open: that they see what it had at some moment, never an
// earlier one than before; that what they look at is not used again; and what is left when one of the two dies.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "miodb/column_family.h"
#include "miodb/comparator.h"
#include "miodb/env.h"
#include "miodb/write_batch.h"
#include "src/db/store/places.h"
#include "src/db/store/store_file.h"
#include "src/util/bytes/family_key.h"
#include "tests/common/environment.h"
#include "tests/common/in_child.h"
#include "tests/common/reader_test_base.h"

namespace miodb::test {
namespace {

namespace fs = std::filesystem;

class ReaderTest : public ReaderTestBase {
 protected:
  Status TryReader() const {
    DB* reader = nullptr;
    const Status s = DB::OpenReader(options_, path_, &reader);
    EXPECT_EQ(s.ok(), reader != nullptr);
    delete reader;
    return s;
  }
};

std::string ValueOf(DB* db, const std::string& key) {
  std::string value;
  const Status s = db->Get(ReadOptions(), key, &value);
  return s.ok() ? value : s.IsNotFound() ? "NOT_FOUND" : s.ToString();
}

TEST_F(ReaderTest, SeesADatabaseThatNobodyHasOpen) {
  Open();
  Put("a", "1");
  ASSERT_OK(db_->Flush());
  Put("b", "2");
  Delete("a");
  Close();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  EXPECT_EQ("(b->2)", Forward(reader.get()));
  EXPECT_EQ("NOT_FOUND", ValueOf(reader.get(), "a"));
  EXPECT_TRUE(reader->Put(WriteOptions(), "c", "3").IsNotSupportedError());
  EXPECT_EQ(nullptr, reader->GetSnapshot());
}

TEST_F(ReaderTest, FollowsTheWriter) {
  Open();
  Put("a", "1");
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  EXPECT_EQ("1", ValueOf(reader.get(), "a"));
  Put("a", "2");
  Put("b", "3");
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ("(a->2)(b->3)", Forward(reader.get()));
  ASSERT_OK(db_->Flush());
  Delete("a");
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ("(b->3)", Forward(reader.get()));
  EXPECT_EQ(db_->GetLatestSequenceNumber(), reader->GetLatestSequenceNumber());
  Settle();
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ("(b->3)", Forward(reader.get()));
}

// Without a call of Refresh, too: a read after a while looks by itself.
TEST_F(ReaderTest, IsNeverOldForLong) {
  Open();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  for (int i = 0; i < 5; i++) {
    const std::string value = std::to_string(i);
    Put("key", value);
    for (int wait = 0; wait < 5000 && ValueOf(reader.get(), "key") != value; wait++) usleep(1000);
    EXPECT_EQ(value, ValueOf(reader.get(), "key"));
    if (i % 2 == 1) usleep(100000);  // the reader goes idle
  }
}

// Every call that reads looks first: an idle reader's own looks would never see a write that is in the log alone.
TEST_F(ReaderTest, AnIdleReaderLooksForEveryCall) {
  Open();
  Put("a", "0");
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  ColumnFamilyHandle* const family = reader->DefaultColumnFamily();
  const std::vector<std::function<std::string()>> calls = {
      [&] { return ValueOf(reader.get(), "a"); },
      [&] {
        PinnableSlice value;
        return reader->Get(ReadOptions(), "a", &value).ok() ? value.ToString() : "";
      },
      [&] {
        std::string value;
        return reader->Get(ReadOptions(), family, "a", &value).ok() ? value : "";
      },
      [&] {
        std::string value;
        uint64_t expiry = 0;
        return reader->GetWithExpiry(ReadOptions(), family, "a", &value, &expiry).ok() ? value : "";
      },
      [&] {
        std::vector<std::string> values;
        return reader->MultiGet(ReadOptions(), {"a"}, &values)[0].ok() ? values[0] : "";
      },
      [&] {
        std::vector<std::string> values;
        return reader->MultiGet(ReadOptions(), {family}, {"a"}, &values)[0].ok() ? values[0] : "";
      },
      [&] {
        const std::unique_ptr<Iterator> it(reader->NewIterator(ReadOptions()));
        it->SeekToFirst();
        return it->Valid() ? it->value().ToString() : "";
      },
      [&] {
        const std::unique_ptr<Iterator> it(reader->NewIterator(ReadOptions(), family));
        it->SeekToFirst();
        return it->Valid() ? it->value().ToString() : "";
      },
  };
  for (size_t i = 0; i < calls.size(); i++) {
    usleep(100000);  // the reader goes idle
    const std::string value = std::to_string(i + 1);
    Put("a", value);
    for (int wait = 0; wait < 5000 && calls[i]() != value; wait++) usleep(1000);  // it may follow still
    EXPECT_EQ(value, calls[i]()) << i;
  }
}

TEST_F(ReaderTest, EqualsTheModelAtEveryStep) {
  Random random(Seeds(1).front());
  Model model(BytewiseComparator());
  Open();
  std::unique_ptr<DB> reader = OpenReader();
  const int rounds = static_cast<int>(ByScale(60, 200, 2000));
  for (int round = 0; round < rounds && !HasFailure(); round++) {
    ASSERT_NE(nullptr, reader);
    WriteSome(&random, static_cast<int>(random.Uniform(200)), &model);
    if (random.OneIn(4)) ASSERT_OK(db_->Flush());
    if (random.OneIn(6)) Settle();
    if (random.OneIn(8)) Open();
    if (random.OneIn(8)) reader = OpenReader();
    ASSERT_OK(reader->Refresh());
    ASSERT_EQ(Text(model.Snapshot()), Forward(reader.get())) << round;
    ASSERT_EQ(Text(model.Snapshot()), Backward(reader.get())) << round;
  }
}

TEST_F(ReaderTest, FollowsColumnFamilies) {
  Open();
  Put("a", "1");
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("f", &family));
  ASSERT_OK(db_->Put(WriteOptions(), family, "a", "2"));
  ColumnFamilyHandle* seen = nullptr;
  ASSERT_OK(reader->GetColumnFamily("f", &seen));
  std::string value;
  ASSERT_OK(reader->Get(ReadOptions(), seen, "a", &value));
  EXPECT_EQ("2", value);
  EXPECT_EQ("1", ValueOf(reader.get(), "a"));
  ASSERT_OK(db_->DropColumnFamily(family));
  EXPECT_TRUE(reader->GetColumnFamily("f", &seen).IsNotFound());
}

// Refreshes beside one another: none brings back what another one has replaced.
TEST_F(ReaderTest, AFamilyThatWasFoundIsNotLost) {
  Open();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 6; i++) {
    threads.emplace_back([&] {
      while (!done) EXPECT_OK(reader->Refresh());
    });
  }
  const uint64_t count = ByScale(40, 200, 2000);
  for (uint64_t i = 0; i < count && !HasFailure(); i++) {
    ColumnFamilyHandle *family = nullptr, *seen = nullptr;
    EXPECT_OK(db_->CreateColumnFamily("f" + std::to_string(i), &family));
    EXPECT_OK(db_->Put(WriteOptions(), family, "k", "v"));
    EXPECT_OK(reader->GetColumnFamily("f" + std::to_string(i), &seen));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // in which others have time to go wrong
    std::string value;
    EXPECT_OK(reader->Get(ReadOptions(), seen, "k", &value));
  }
  done = true;
  for (std::thread& thread : threads) thread.join();
  std::vector<std::string> names;
  ASSERT_OK(reader->ListColumnFamilies(&names));
  EXPECT_EQ(count + 1, names.size());
}

// Keys backward, and whether any key was one of a column family, which only databases compare. A thread that asks for
// it stands still when it meets the key "gate".
class BackwardComparator final : public Comparator {
 public:
  const char* Name() const override { return "miodb.test.Backward"; }
  int Compare(const Slice& a, const Slice& b) const override {
    if (HasFamilyMark(a) || HasFamilyMark(b)) saw_family.store(true);
    if (stops_at_gate && (a == "gate" || b == "gate")) {
      stops_at_gate = false;
      arrived.count_down();
      gate.wait();
    }
    return b.compare(a);
  }
  void FindShortestSeparator(std::string*, const Slice&) const override {}
  void FindShortSuccessor(std::string*) const override {}

  static thread_local bool stops_at_gate;
  mutable std::atomic<bool> saw_family{false};
  mutable std::latch arrived{1};
  mutable std::latch gate{1};
};
thread_local bool BackwardComparator::stops_at_gate = false;

// The first family comes into the log that a reader is just reading.
TEST_F(ReaderTest, UnderAnotherOrderTheFirstFamilyHidesNothing) {
  const BackwardComparator backward;
  options_.comparator = &backward;
  Open();
  Put("zzz", "there");
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  Put("gate", "v");
  std::thread looks([&] {
    BackwardComparator::stops_at_gate = true;
    EXPECT_OK(reader->Refresh());
    // The look of another thread may have taken the key up.
    if (BackwardComparator::stops_at_gate) backward.arrived.count_down();
  });
  backward.arrived.wait();
  ColumnFamilyHandle *family = nullptr, *seen = nullptr;
  EXPECT_OK(db_->CreateColumnFamily("f", &family));
  for (int i = 0; i < 20; i++) EXPECT_OK(db_->Put(WriteOptions(), family, "key" + std::to_string(i), "v"));
  backward.gate.count_down();
  looks.join();
  EXPECT_EQ("there", ValueOf(reader.get(), "zzz"));
  EXPECT_OK(reader->GetColumnFamily("f", &seen));
  std::string value;
  EXPECT_OK(reader->Get(ReadOptions(), seen, "key19", &value));
  EXPECT_EQ("there", ValueOf(reader.get(), "zzz"));
  EXPECT_FALSE(backward.saw_family);
}

// A look ends where the log ended when it began, however fast the writer goes on, and not before.
TEST_F(ReaderTest, ARefreshSeesWhatWasThereBesideAFastWriter) {
  options_.write_buffer_size = 64 << 20;
  options_.log_chunk_size = 64 << 20;
  options_.pool_size = uint64_t{4} << 30;
  Open();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  std::atomic<bool> done{false};
  std::thread puts([&] {
    for (uint64_t i = 0; !done; i++) Put(std::to_string(i * 7919 % 1000000), "v");
  });
  for (int i = 0; i < 30; i++) {
    const uint64_t begin = db_->GetLatestSequenceNumber();
    EXPECT_OK(reader->Refresh());
    EXPECT_GE(reader->GetLatestSequenceNumber(), begin);
  }
  done = true;
  puts.join();
}

// An iterator keeps what it sees, though the writer overwrites everything many times in a pool that has little room.
TEST_F(ReaderTest, WhatAnIteratorSeesIsNotUsedAgain) {
  options_.pool_size = 24 * kMiB;
  Open();
  Fill(2000, 400);
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  const std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  for (uint64_t round = 1; round <= 8; round++) {
    for (uint64_t i = 0; i < 2000; i++) {
      const Status s = db_->Put(WriteOptions(), FilledKey(i), FilledValue(i, 400, round));
      ASSERT_TRUE(s.ok() || s.IsNoSpace()) << s.ToString();
    }
  }
  uint64_t seen = 0;
  for (walk->SeekToFirst(); walk->Valid(); walk->Next(), seen++) {
    ASSERT_EQ(FilledKey(seen), walk->key().ToString());
    ASSERT_EQ(FilledValue(seen, 400, 0), walk->value().ToString());
  }
  ASSERT_OK(walk->status());
  EXPECT_EQ(2000u, seen);
}

// A reader that holds nothing but itself keeps no space: the same pool is overwritten for as long as one likes.
TEST_F(ReaderTest, AnIdleReaderKeepsNoSpace) {
  options_.pool_size = 24 * kMiB;
  Open();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  for (uint64_t round = 0; round < 40; round++) Fill(2000, 400, round);
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ(FilledValue(7, 400, 39), ValueOf(reader.get(), FilledKey(7)));
}

// Batches of one writer, each of which sets all keys to its number: a reader sees equal values, and never a lower one
// than before.
TEST_F(ReaderTest, SeesWholeBatchesInOrder) {
  constexpr int kKeys = 20;
  Open();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int number = 1; !stop.load(); number++) {
      WriteBatch batch;
      for (int key = 0; key < kKeys; key++) {
        batch.Put("key" + std::to_string(key), std::to_string(number) + std::string(200, 'x'));
      }
      ASSERT_OK(db_->Write(WriteOptions(), &batch));
    }
  });
  const std::unique_ptr<DB> reader = OpenReader();
  int changes = 0;
  long before = 0;  // NOLINT(runtime/int): as atol
  const int looks = static_cast<int>(ByScale(2000, 5000, 200000));
  for (int look = 0; look < looks && reader != nullptr && !HasFailure(); look++) {
    const std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
    long first = 0;  // NOLINT(runtime/int)
    int seen = 0;
    for (walk->SeekToFirst(); walk->Valid(); walk->Next(), seen++) {
      const long number = atol(walk->value().ToString().c_str());  // NOLINT(runtime/int)
      if (seen == 0) first = number;
      EXPECT_EQ(first, number);
    }
    EXPECT_OK(walk->status());
    EXPECT_TRUE(seen == kKeys || (seen == 0 && before == 0)) << seen;
    EXPECT_GE(first, before);
    changes += first > before;
    before = first;
    if (look % 20 == 0) usleep(2000);
  }
  EXPECT_GT(changes, 20);
  stop.store(true);
  writer.join();
}

// A process that reads and is killed keeps nothing.
TEST_F(ReaderTest, AReaderThatDiesKeepsNoSpace) {
  options_.pool_size = 24 * kMiB;
  Open();
  Fill(2000, 400);
  Close();
  WaitingChild child([this] {
    DB* reader = nullptr;
    if (!DB::OpenReader(options_, path_, &reader).ok()) return false;
    Iterator* const walk = reader->NewIterator(ReadOptions());
    walk->SeekToFirst();
    return walk->Valid();
  });
  ASSERT_TRUE(child.waits());
  Open();
  for (uint64_t round = 1; round < 3; round++) {
    for (uint64_t i = 0; i < 2000; i++)
      db_->Put(WriteOptions(), FilledKey(i), FilledValue(i, 400, round)).IgnoreError();
  }
  ASSERT_TRUE(child.Kill());
  for (uint64_t round = 3; round < 20; round++) Fill(2000, 400, round);
  CheckFilled(2000, 400, 19);
}

// The writer is killed; the reader goes on, and the next writer opens beside it.
TEST_F(ReaderTest, GoesOnWhenTheWriterDies) {
  Open();
  Put("a", "1");
  Close();
  WaitingChild child([this] {
    DB* db = nullptr;
    if (!DB::Open(options_, path_, &db).ok()) return false;
    for (int i = 0; i < 3000; i++) db->Put(WriteOptions(), FilledKey(static_cast<uint64_t>(i)), "x").IgnoreError();
    return db->Put(WriteOptions(), "a", "2").ok();
  });
  ASSERT_TRUE(child.waits());
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  EXPECT_EQ("2", ValueOf(reader.get(), "a"));
  const std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
  ASSERT_TRUE(child.Kill());
  EXPECT_EQ("2", ValueOf(reader.get(), "a"));
  Open();
  for (uint64_t round = 1; round < 4; round++) Fill(3000, 100, round);
  Put("a", "3");
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ("3", ValueOf(reader.get(), "a"));
  int seen = 0;
  for (walk->SeekToFirst(); walk->Valid(); walk->Next()) {
    EXPECT_EQ(walk->key() == "a" ? "2" : "x", walk->value().ToString());
    seen++;
  }
  EXPECT_EQ(3001, seen);
}

// Shared memory of the processes of a run.
struct Shared {
  std::atomic<uint64_t> acknowledged{0};  // the number of the last batch
  std::atomic<uint64_t> looks{0};
  std::atomic<uint64_t> kills{0};
  std::atomic<bool> stop{false};
  std::atomic<int> failures{0};
  char failure[200] = "";
};

void Fail(Shared* shared, const std::string& what) {
  if (shared->failures.fetch_add(1) == 0) snprintf(shared->failure, sizeof(shared->failure), "%s", what.c_str());
}

// One reader's process: every look shows one batch, none that is older than what was acknowledged before it refreshed,
// and none before the one that it saw last.
int ReadUntilStopped(const Options& options, const std::string& path, int keys, Shared* shared) {
  DB* opened = nullptr;
  const Status s = DB::OpenReader(options, path, &opened);
  const std::unique_ptr<DB> reader(opened);
  if (!s.ok()) Fail(shared, s.ToString());
  uint64_t before = 0;
  Random random(static_cast<uint64_t>(getpid()));
  while (s.ok() && !shared->stop.load() && shared->failures.load() == 0) {
    uint64_t least = before;
    if (random.OneIn(4)) {
      least = std::max(least, shared->acknowledged.load());
      const Status refreshed = reader->Refresh();
      if (!refreshed.ok()) Fail(shared, refreshed.ToString());
    }
    const std::unique_ptr<Iterator> walk(reader->NewIterator(ReadOptions()));
    uint64_t number = 0;
    int seen = 0;
    for (walk->SeekToFirst(); walk->Valid(); walk->Next(), seen++) {
      const uint64_t here = strtoull(walk->value().ToString().c_str(), nullptr, 10);
      if (seen == 0) number = here;
      if (here != number) Fail(shared, "torn: " + std::to_string(here) + " beside " + std::to_string(number));
      if (seen == keys / 2 && random.OneIn(50)) usleep(static_cast<useconds_t>(random.Uniform(20000)));
    }
    if (!walk->status().ok()) Fail(shared, walk->status().ToString());
    if (seen != keys && !(seen == 0 && least == 0)) Fail(shared, "keys: " + std::to_string(seen));
    if (number < least) Fail(shared, std::to_string(number) + " after " + std::to_string(least));
    std::string value;
    const Status got = reader->Get(ReadOptions(), "key1", &value);
    const uint64_t now = strtoull(value.c_str(), nullptr, 10);
    if (seen > 0 && (!got.ok() || now < number)) Fail(shared, "get: " + got.ToString() + " " + std::to_string(now));
    before = std::max(number, now);
    shared->looks.fetch_add(1);
  }
  return 0;
}

// Keeps so many readers running, and kills one now and then.
void KeepReaders(int readers, const std::function<int()>& run, Shared* shared) {
  std::vector<pid_t> children(static_cast<size_t>(readers), 0);
  Random random(1);
  while (!shared->stop.load()) {
    for (pid_t& child : children) {
      if (child == 0) child = fork();
      if (child == 0) _exit(run());
    }
    usleep(static_cast<useconds_t>(random.Uniform(60000)));
    pid_t& victim = children[random.Uniform(children.size())];
    kill(victim, SIGKILL);
    waitpid(victim, nullptr, 0);
    victim = 0;
    shared->kills.fetch_add(1);
  }
  for (const pid_t child : children) {
    if (child != 0) waitpid(child, nullptr, 0);
  }
}

// Readers in processes of their own, which are killed at any moment, while the writer fills a pool many times over.
TEST_F(ReaderTest, ReadersOfOtherProcessesSeeWholeBatches) {
  constexpr int kKeys = 30;
  options_.pool_size = 48 * kMiB;
  Open();
  Close();
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, memory);
  auto* const shared = new (memory) Shared;
  const pid_t keeper = fork();  // before there are threads
  if (keeper == 0) {
    KeepReaders(
        3, [&] { return ReadUntilStopped(options_, path_, kKeys, shared); }, shared);
    _exit(0);
  }
  const uint64_t micros = ByScale(4, 20, 600) * 1000000;
  Open();
  const uint64_t end = Env::Default()->NowMicros() + micros;
  Random random(7);
  for (uint64_t number = 1; Env::Default()->NowMicros() < end && shared->failures.load() == 0; number++) {
    WriteBatch batch;
    for (int key = 0; key < kKeys; key++) {
      batch.Put("key" + std::to_string(key), std::to_string(number) + std::string(random.Uniform(600), 'x'));
    }
    const Status s = db_->Write(WriteOptions(), &batch);
    if (!s.ok()) Fail(shared, s.ToString());
    shared->acknowledged.store(number);
    if (random.OneIn(5000)) Settle();
    if (random.OneIn(20000)) Open();
  }
  shared->stop.store(true);
  int status = 0;
  ASSERT_EQ(keeper, waitpid(keeper, &status, 0));
  EXPECT_EQ(0, shared->failures.load()) << shared->failure;
  EXPECT_GT(shared->looks.load(), 0u);
  std::cout << shared->acknowledged.load() << " batches, " << shared->looks.load() << " looks, " << shared->kills.load()
            << " readers killed\n";
  munmap(memory, sizeof(Shared));
}

// Where READERS cannot be written to, whoever could take away what is read is kept out.
TEST_F(ReaderTest, KeepsOwnersOutFromAReadOnlyMount) {
  Open();
  Put("a", "1");
  Close();
  const std::string view = dir_ / "view";
  fs::create_directory(view);
  if (mount(path_.c_str(), view.c_str(), nullptr, MS_BIND, nullptr) != 0) GTEST_SKIP() << "cannot mount";
  ASSERT_EQ(0, mount(nullptr, view.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr));
  {
    DB* opened = nullptr;
    ASSERT_OK(DB::OpenReader(options_, view, &opened));
    const std::unique_ptr<DB> reader(opened);
    EXPECT_EQ("1", ValueOf(reader.get(), "a"));
    EXPECT_TRUE(TryOpen().IsIOError());
  }
  Open();
  Put("a", "2");
  DB* opened = nullptr;
  EXPECT_TRUE(DB::OpenReader(options_, view, &opened).IsNotSupportedError());
  Close();
  ASSERT_EQ(0, umount(view.c_str()));
}

// STORE may come to have another spelling of the folder of the SSD tier, which is the same place.
TEST_F(ReaderTest, AnotherSpellingOfTheSsdTierIsNoOtherTier) {
  options_.ssd_path = dir_ / "ssd";
  options_.nvm_budget = 64 << 10;
  options_.ssd_file_size = 8 << 10;
  options_.ssd_level_size = 16 << 10;
  Open();
  Put("a", "1");
  Close();
  const std::unique_ptr<DB> reader = OpenReader();
  ASSERT_NE(nullptr, reader);
  for (const char* spelling : {"./ssd", "ssd/"}) {
    SCOPED_TRACE(spelling);
    Options other = options_;
    other.ssd_path = dir_ / spelling;
    ASSERT_OK(MoveStore(path_, other));
    StoreDescriptor store;
    ASSERT_OK(ReadStore(Env::Default(), path_, &store));
    ASSERT_EQ(other.ssd_path, store.ssd_path);
    EXPECT_OK(reader->Refresh());
    EXPECT_EQ("1", ValueOf(reader.get(), "a"));
  }
  Open();
  Put("a", "2");
  ASSERT_OK(reader->Refresh());
  EXPECT_EQ("2", ValueOf(reader.get(), "a"));
}

TEST_F(ReaderTest, RefusesWhatItCannotFollow) {
  EXPECT_TRUE(TryReader().IsInvalidArgument());  // there is no database
  EXPECT_FALSE(fs::exists(path_));
  options_.log_mode = kLogFile;
  Open();
  EXPECT_TRUE(TryReader().IsNotSupportedError());
  Close();
  ASSERT_OK(DestroyDB(path_, options_));
  EXPECT_FALSE(fs::exists(path_));
  options_.log_mode = kLogPmem;
  Open();
  Close();
  std::ofstream(path_ + "/READERS") << "something else";
  const Status s = TryReader();
  EXPECT_TRUE(s.IsCorruption()) << s.ToString();
  EXPECT_NE(std::string::npos, s.ToString().find("READERS")) << s.ToString();
  EXPECT_TRUE(TryOpen().IsCorruption());
  fs::remove(path_ + "/READERS");
  Open();
}

}  // namespace
}  // namespace miodb::test
