// Stores and fences in file mode while another thread's msync takes its time, or fails.

#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <thread>
#include <vector>

#include "src/nvm/persist/persist.h"
#include "src/nvm/region/region.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"
#include "tests/faults/gate.h"
#include "tests/faults/system_calls.h"

namespace miodb::test {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// Time for a wrong return, which then is seen.
constexpr std::chrono::milliseconds kMoment(50);

// Holds the first call that syncs.
class HoldFirstSync : public FileWatch {
 public:
  HoldFirstSync() { SetFileWatch(this); }
  ~HoldFirstSync() override { SetFileWatch(nullptr); }
  void BeforeCall() override { gate.Pass(); }
  void Synced(int) override {}
  void Mapped(int, char*, size_t) override {}
  void PagesSynced(char*, size_t) override {}

  Gate gate;
};

class PersistCallsTest : public testing::Test {
 protected:
  PersistCallsTest() { EXPECT_OK(Region::Create(dir_ / "region", kMiB, kMiB, kPersistFile, &region_)); }
  ~PersistCallsTest() override { DisarmCallFault(); }

  void Store(uint64_t offset) { persist_.Copy(Purpose::kFlush, region_->base() + offset, "bytes", 5); }
  std::future<Status> FenceOfAnother() {
    return std::async(std::launch::async, [this] { return persist_.Fence(Purpose::kFlush); });
  }

  TestDir dir_;
  std::unique_ptr<Region> region_;
  Persist persist_{kPersistFile};
};

TEST_F(PersistCallsTest, NoStoreWaitsForTheSyncOfAnother) {
  HoldFirstSync hold;
  Store(0);
  std::future<Status> fence = FenceOfAnother();
  hold.gate.WaitUntilHeld();
  std::future<void> store = std::async(std::launch::async, [this] { Store(100000); });
  EXPECT_EQ(std::future_status::ready, store.wait_for(kForEver));
  hold.gate.Release();
  EXPECT_OK(fence.get());
}

TEST_F(PersistCallsTest, AFenceWaitsForASyncThatTookWhatItsThreadStored) {
  HoldFirstSync hold;
  Store(0);
  std::future<Status> first = FenceOfAnother();
  hold.gate.WaitUntilHeld();
  // Nothing is left for it to sync, or something else.
  std::future<Status> second = FenceOfAnother();
  EXPECT_EQ(std::future_status::timeout, second.wait_for(kMoment));
  Store(100000);
  std::future<Status> third = FenceOfAnother();
  EXPECT_EQ(std::future_status::timeout, third.wait_for(kMoment));
  hold.gate.Release();
  EXPECT_OK(first.get());
  EXPECT_OK(second.get());
  EXPECT_OK(third.get());
}

TEST_F(PersistCallsTest, AFenceFailsWithTheSyncThatTookWhatItsThreadStored) {
  HoldFirstSync hold;
  Store(0);
  std::future<Status> first = FenceOfAnother();
  hold.gate.WaitUntilHeld();
  std::future<Status> second = FenceOfAnother();
  EXPECT_EQ(std::future_status::timeout, second.wait_for(kMoment));
  CallFault fault;
  fault.at = 1;
  fault.error = EIO;
  fault.only = "msync";
  ArmCallFault(fault);
  hold.gate.Release();
  EXPECT_STATUS(IOError, first.get());
  EXPECT_STATUS(IOError, second.get());
  EXPECT_EQ(1u, DisarmCallFault());
  Store(0);
  EXPECT_STATUS(IOError, persist_.Fence(Purpose::kFlush));
}

TEST_F(PersistCallsTest, WhatComesIntoTheLogDuringAFlushsSyncStaysForTheNext) {
  class CountSyncs : public HoldFirstSync {
   public:
    void PagesSynced(char*, size_t) override { syncs.fetch_add(1); }
    std::atomic<int> syncs{0};
  };
  CountSyncs hold;
  persist_.Copy(Purpose::kLog, region_->base(), "bytes", 5);
  persist_.Cover(Purpose::kFlush, region_->base(), 5);
  std::future<Status> flush = FenceOfAnother();
  hold.gate.WaitUntilHeld();
  persist_.Copy(Purpose::kLog, region_->base() + 5, "bytes", 5);
  hold.gate.Release();
  EXPECT_OK(flush.get());
  EXPECT_EQ(1, hold.syncs.load());
  EXPECT_OK(persist_.Fence(Purpose::kLog));
  EXPECT_EQ(2, hold.syncs.load());
  EXPECT_OK(persist_.Fence(Purpose::kLog));
  EXPECT_EQ(2, hold.syncs.load());
}

TEST_F(PersistCallsTest, AFenceDoesNotWaitForTheSyncOfAnotherStream) {
  HoldFirstSync hold;
  Store(0);
  std::future<Status> flush = FenceOfAnother();
  hold.gate.WaitUntilHeld();
  std::future<Status> log = std::async(std::launch::async, [this] { return persist_.Fence(Purpose::kLog); });
  EXPECT_EQ(std::future_status::ready, log.wait_for(kForEver));
  EXPECT_OK(log.get());
  hold.gate.Release();
  EXPECT_OK(flush.get());
}

TEST_F(PersistCallsTest, ManyThreadsHaveWhatTheyStoredSyncedWhenTheirFencesReturn) {
  // Counts what was synced by page; a thread stores into pages of its own.
  class Count : public FileWatch {
   public:
    explicit Count(char* base) : base_(base) { SetFileWatch(this); }
    ~Count() override { SetFileWatch(nullptr); }
    void BeforeCall() override {}
    void Synced(int) override {}
    void Mapped(int, char*, size_t) override {}
    void PagesSynced(char* at, size_t size) override {
      const auto first = static_cast<size_t>(at - base_) / 4096;
      for (size_t page = first; page < first + size / 4096; page++) syncs[page].fetch_add(1);
    }
    std::atomic<uint64_t> syncs[kMiB / 4096] = {};

   private:
    char* const base_;
  };
  Count count(region_->base());
  std::atomic<int> missed{0};
  std::vector<std::thread> threads;
  for (uint64_t t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (uint64_t i = 0; i < 200; i++) {
        const uint64_t page = t * 64 + i % 64;
        const uint64_t before = count.syncs[page].load();
        Store(page * 4096);
        if (i % 3 == 0) continue;  // the next fence is for this one as well
        if (!persist_.Fence(Purpose::kFlush).ok() || count.syncs[page].load() == before) missed.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0, missed.load());
}

}  // namespace
}  // namespace miodb::test
