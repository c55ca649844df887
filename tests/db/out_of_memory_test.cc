// Every allocation may fail. Whatever does, nothing is thrown across the API and nothing crashes, the call that could
// not go on says so, and the database is intact when there is memory again.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "src/db/db_impl.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"

namespace {

// Allocations are counted while armed, in all threads that do not belong to the test itself.
std::atomic<bool> armed{false};
std::atomic<uint64_t> allocations{0};
std::atomic<uint64_t> refused{0};
uint64_t fail_at = 0;
bool fail_forever = false;
thread_local int exempt = 0;

bool Refuse() {
  if (!armed.load() || exempt > 0) return false;
  const uint64_t number = allocations.fetch_add(1) + 1;
  if (fail_forever ? number < fail_at : number != fail_at) return false;
  refused.fetch_add(1);
  return true;
}

void* Allocate(size_t size) {
  void* const p = Refuse() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

void* AllocateAligned(size_t size, std::align_val_t alignment) {
  const size_t a = static_cast<size_t>(alignment);
  void* const p = Refuse() ? nullptr : std::aligned_alloc(a, (size + a - 1) / a * a);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}

}  // namespace

void* operator new(size_t size) { return Allocate(size); }
void* operator new[](size_t size) { return Allocate(size); }
void* operator new(size_t size, std::align_val_t alignment) { return AllocateAligned(size, alignment); }
void* operator new[](size_t size, std::align_val_t alignment) { return AllocateAligned(size, alignment); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Refuse() ? nullptr : std::malloc(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Refuse() ? nullptr : std::malloc(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, size_t, std::align_val_t) noexcept { std::free(p); }

namespace miodb::test {
namespace {

constexpr uint64_t kKiB = 1024;

// The test's own work, which always has memory.
class Exempt {
 public:
  Exempt() { exempt++; }
  ~Exempt() { exempt--; }
  Exempt(const Exempt&) = delete;
  Exempt& operator=(const Exempt&) = delete;
};

class OutOfMemoryTest : public DbTestBase {
 protected:
  OutOfMemoryTest() {
    path_ = dir_ / "database";
    options_.write_buffer_size = 8 * kKiB;
    options_.log_chunk_size = 4 * kKiB;
    options_.pool_growth = 64 * kKiB;
    options_.partition_size = 16 * kKiB;
    options_.num_levels = 3;
  }
  ~OutOfMemoryTest() override { Disarm(); }

  static void Arm(uint64_t at, bool forever) {
    fail_at = at;
    fail_forever = forever;
    allocations.store(0);
    refused.store(0);
    armed.store(true);
  }
  static bool Disarm() {
    armed.store(false);
    return refused.load() > 0;
  }

  // A call of the API: nothing comes out of it but a status, which is OK or tells what was missing.
  template <typename Call>
  bool Ok(const char* what, Call call) {
    Status s;
    try {
      s = call();
    } catch (const std::exception& error) {
      const Exempt test;
      ADD_FAILURE() << what << " threw " << error.what();
      return false;
    }
    const Exempt test;
    if (s.ok() || s.IsNotFound()) return s.ok();
    EXPECT_STATUS(IOError, s);
    EXPECT_TRUE(Mentions(s, "memory")) << what;
    return false;
  }

  void PutNoted(const std::string& key, const std::string& value) {
    const bool ok = Ok("Put", [&] { return db_->Put(WriteOptions(), key, value); });
    const Exempt test;
    std::set<std::string>& allowed = allowed_.try_emplace(key, std::set<std::string>{""}).first->second;
    if (ok) {
      allowed = {value};
    } else {
      allowed.insert(value);
    }
  }

  // Key and value of a step, made with memory.
  void PutNumber(int i, size_t bytes) {
    std::string key, value;
    {
      const Exempt test;
      key = "a key that is longer than what a string holds in itself " + std::to_string(i);
      value = std::to_string(round_) + std::string(bytes, static_cast<char>('a' + i % 26));
    }
    PutNoted(key, value);
    const Exempt test;
    key = std::string();
    value = std::string();
  }

  void Read() {
    std::string key;
    {
      const Exempt test;
      key = "a key that is longer than what a string holds in itself 7";
    }
    std::string value;
    PinnableSlice pinned;
    Ok("Get", [&] { return db_->Get(ReadOptions(), key, &value); });
    Ok("Get", [&] { return db_->Get(ReadOptions(), key, &pinned); });
    const Snapshot* const snapshot = db_->GetSnapshot();
    Iterator* it = nullptr;
    Ok("iterator", [&] {
      it = db_->NewIterator(ReadOptions());
      for (it->SeekToFirst(); it->Valid(); it->Next()) continue;
      if (it->status().ok()) it->SeekToLast();
      for (int i = 0; i < 5 && it->Valid(); i++) it->Prev();
      for (int i = 0; i < 5 && it->Valid(); i++) it->Next();
      if (it->status().ok()) it->Seek(key);
      return it->status();
    });
    delete it;
    db_->ReleaseSnapshot(snapshot);
    const Range range(Slice("a"), Slice("b"));
    uint64_t size;
    db_->GetApproximateSizes(&range, 1, &size);
    db_->GetProperty("leveldb.stats", &value);
    db_->GetProperty("leveldb.sstables", &value);
    const Exempt test;
    value = std::string();
  }

  bool TryOpenHere() {
    DB* opened = nullptr;
    const bool ok = Ok("Open", [&] { return DB::Open(options_, path_, &opened); });
    db_.reset(opened);
    return ok;
  }

  void Scenario() {
    if (!TryOpenHere()) return;
    round_ = 1;
    for (int i = 0; i < 20; i++) PutNumber(i, 300);
    PutNumber(20, 30 * kKiB);  // a chunk of its own
    Ok("Flush", [&] { return db_->Flush(); });
    Read();
    round_ = 2;
    for (int i = 0; i < 20; i++) PutNumber(i, 400);
    db_->CompactRange(nullptr, nullptr);
    Ok("WaitForIdle", [&] { return db_->WaitForIdle(); });
    Read();
    Close();
    if (!TryOpenHere()) return;
    Read();
    PutNumber(30, 100);
    Close();
  }

  // Everything as promised, with memory.
  void CheckIntact() {
    const Exempt test;
    ASSERT_OK(TryOpen());
    std::string value;
    size_t there = 0;
    for (const auto& [key, allowed] : allowed_) {
      const Status s = db_->Get(ReadOptions(), key, &value);
      ASSERT_TRUE(s.ok() || s.IsNotFound()) << s.ToString();
      there += s.ok();
      ASSERT_EQ(1u, allowed.count(s.ok() ? value : "")) << key << " holds " << value.substr(0, 10);
    }
    const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
    size_t scanned = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) scanned++;
    ASSERT_OK(it->status());
    ASSERT_EQ(there, scanned);
  }

  void Sweep(bool forever, uint64_t step) {
    uint64_t runs = 0;
    for (uint64_t at = 1;; at += step) {
      SCOPED_TRACE("allocation " + std::to_string(at) + (forever ? " and all after it" : ""));
      allowed_.clear();
      Arm(at, forever);
      Scenario();
      const bool met = Disarm();
      db_.reset();
      if (HasFailure()) return;
      CheckIntact();
      if (HasFailure()) return;
      ASSERT_OK(db_->Put(WriteOptions(), "after", "all"));
      ASSERT_OK(db_->WaitForIdle());
      Close();
      ASSERT_OK(DestroyDB(path_, options_));
      ASSERT_FALSE(std::filesystem::exists(path_));
      if (!met) break;
      runs++;
    }
    EXPECT_GT(runs, 300 / step);
    std::printf("%llu allocations failed in turn\n", static_cast<unsigned long long>(runs));
  }

  std::map<std::string, std::set<std::string>> allowed_;
  int round_ = 0;
};

TEST_F(OutOfMemoryTest, OneAllocationThatFailsIsReportedAndHurtsNothing) {
  Sweep(false, (RunsUnderSanitizer() ? 23 : 1));
}

TEST_F(OutOfMemoryTest, NoMemoryAnyMoreIsReportedAndHurtsNothing) { Sweep(true, (RunsUnderSanitizer() ? 23 : 1)); }

TEST_F(OutOfMemoryTest, WithAVolatilePoolItIsTheSame) {
  options_.pool_path = "anonymous";
  options_.log_mode = kLogFile;
  options_.wal_dir = dir_ / "logs";
  options_.ssd_path = dir_ / "ssd";
  options_.nvm_budget = 64 * kKiB;
  options_.ssd_file_size = 32 * kKiB;
  for (const bool forever : {false, true}) Sweep(forever, (RunsUnderSanitizer() ? 97 : 7));
}

TEST_F(OutOfMemoryTest, WithTheLogOffItIsTheSame) {
  options_.log_mode = kLogOff;
  // Without a log what was acknowledged may be lost when its flush fails, so only what is there is checked.
  for (uint64_t at = 1;; at += (RunsUnderSanitizer() ? 23 : 1)) {
    SCOPED_TRACE("allocation " + std::to_string(at));
    Arm(at, false);
    Scenario();
    const bool met = Disarm();
    db_.reset();
    ASSERT_OK(TryOpen());
    {
      const std::unique_ptr<Iterator> it(db_->NewIterator(ReadOptions()));
      for (it->SeekToFirst(); it->Valid(); it->Next()) ASSERT_EQ(1u, allowed_.count(it->key().ToString()));
      ASSERT_OK(it->status());
    }
    ASSERT_FALSE(HasFailure());
    Close();
    ASSERT_OK(DestroyDB(path_, options_));
    if (!met) break;
  }
}

// A frame too large for a prepared chunk gets one of its own, which is made without the mutex. Running out of memory
// there must not unwind through a lock that is not held, and it is no reason to be read-only.
TEST_F(OutOfMemoryTest, AChunkThatCannotBeMadeFailsTheWriteAlone) {
  DBImpl::Hooks hooks;
  hooks.manual_background = true;
  uint64_t failed = 0;
  for (uint64_t at = 1;; at++) {
    std::unique_ptr<DBImpl> db;
    ASSERT_OK(DBImpl::Open(options_, path_, hooks, &db));
    const std::string large(20 * kKiB, 'x');
    Arm(at, false);
    const Status s = db->Put(WriteOptions(), "large", large);
    const bool met = Disarm();
    std::string value;
    if (!s.ok()) {
      failed++;
      EXPECT_STATUS(IOError, s);
      EXPECT_TRUE(Mentions(s, "out of memory"));
    }
    const Status again = db->Put(WriteOptions(), "small", "value");
    EXPECT_TRUE(again.ok() || !s.ok()) << again.ToString();
    db.reset();
    ASSERT_OK(DestroyDB(path_, options_));
    ASSERT_FALSE(HasFailure()) << "allocation " << at;
    if (!met) break;
  }
  EXPECT_GT(failed, 0u);
}

}  // namespace
}  // namespace miodb::test
