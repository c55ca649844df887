#include "src/nvm/persist/persist.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/common/environment.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

constexpr size_t kPage = 4096;
constexpr Purpose kPurposes[] = {Purpose::kLog,      Purpose::kFlush,      Purpose::kMerge,
                                 Purpose::kLazyCopy, Purpose::kEvacuation, Purpose::kManifest};

// Anonymous memory that can be taken away again.
class Pages {
 public:
  explicit Pages(size_t count)
      : bytes_(count * kPage),
        base_(static_cast<char*>(
            mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {
    EXPECT_NE(MAP_FAILED, base_);
  }
  ~Pages() { munmap(base_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  char* page(size_t i) const { return base_ + i * kPage; }
  size_t bytes() const { return bytes_; }

  // A hole, at which msync fails.
  void Unmap(size_t i) { ASSERT_EQ(0, munmap(page(i), kPage)); }
  void Remap(size_t i) {
    ASSERT_EQ(page(i), mmap(page(i), kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  }

 private:
  const size_t bytes_;
  char* const base_;
};

struct Expected {
  uint64_t bytes = 0, lines = 0, units = 0, fences = 0;

  void Store(const char* addr, size_t n) {
    std::set<uintptr_t> touched_lines, touched_units;
    for (size_t i = 0; i < n; i++) {
      touched_lines.insert((reinterpret_cast<uintptr_t>(addr) + i) / 64);
      touched_units.insert((reinterpret_cast<uintptr_t>(addr) + i) / 256);
    }
    bytes += n;
    lines += touched_lines.size();
    units += touched_units.size();
  }
};

void Compare(const Expected& expected, const PersistCounters& counters) {
  EXPECT_EQ(expected.bytes, counters.bytes.load());
  EXPECT_EQ(expected.lines, counters.lines.load());
  EXPECT_EQ(expected.units, counters.units.load());
  EXPECT_EQ(expected.fences, counters.fences.load());
}

class PersistModes : public testing::TestWithParam<PersistMode> {};

TEST_P(PersistModes, StoreTheBytesAndCountExactly) {
  for (uint64_t seed : Seeds(ByScale(3, 10, 100))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    Pages pages(16);
    Persist persist(GetParam());
    std::string shadow(pages.bytes(), '\0');
    Expected expected[static_cast<size_t>(Purpose::kCount)];
    uint64_t total = 0;
    for (int i = 0; i < 1000; i++) {
      const Purpose purpose = kPurposes[random.Uniform(std::size(kPurposes))];
      Expected& e = expected[static_cast<int>(purpose)];
      const size_t n = random.Skewed(12);
      const size_t at = random.Uniform(pages.bytes() - n);
      char* const to = pages.page(0) + at;
      if (random.OneIn(8)) {
        ASSERT_OK(persist.Fence(purpose));
        e.fences++;
        continue;
      }
      if (random.OneIn(8)) {
        persist.Flush(purpose, to, n);
      } else {
        const std::string data = random.Bytes(n);
        persist.Copy(purpose, to, data.data(), n);
        shadow.replace(at, n, data);
      }
      if (n > 0) e.Store(to, n);
      total += n;
    }
    EXPECT_EQ(0, memcmp(shadow.data(), pages.page(0), shadow.size()));
    for (Purpose purpose : kPurposes) {
      SCOPED_TRACE(PurposeName(purpose));
      Compare(expected[static_cast<int>(purpose)], persist.counters(purpose));
    }
    EXPECT_EQ(total, persist.TotalBytes());
  }
}

TEST_P(PersistModes, CountStoresOfManyThreads) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 2000;
  Pages pages(kThreads);
  Persist persist(GetParam());
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; t++) {
    threads.emplace_back([&, t] {
      const std::string data(96, static_cast<char>('a' + t));
      for (int i = 0; i < kRounds; i++) {
        // A single thread at a time may count for the log.
        const Purpose purpose = t == 0 ? Purpose::kLog : Purpose::kMerge;
        persist.Copy(purpose, pages.page(static_cast<size_t>(t)) + 64, data.data(), data.size());
        EXPECT_TRUE(persist.Fence(purpose).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const uint64_t rounds = kRounds;
  EXPECT_EQ(96 * rounds, persist.counters(Purpose::kLog).bytes.load());
  EXPECT_EQ(3 * 96 * rounds, persist.counters(Purpose::kMerge).bytes.load());
  EXPECT_EQ(3 * 2 * rounds, persist.counters(Purpose::kMerge).lines.load());
  EXPECT_EQ(3 * 1 * rounds, persist.counters(Purpose::kMerge).units.load());
  EXPECT_EQ(3 * rounds, persist.counters(Purpose::kMerge).fences.load());
  EXPECT_EQ(4 * 96 * rounds, persist.TotalBytes());
}

INSTANTIATE_TEST_SUITE_P(All, PersistModes, testing::Values(kPersistEmulated, kPersistFile),
                         [](const auto& name) { return name.param == kPersistFile ? "File" : "Emulated"; });

TEST(PersistTest, NothingStoredCountsNothing) {
  Persist persist(kPersistEmulated);
  char byte = 'x';
  persist.Copy(Purpose::kFlush, &byte, "", 0);
  persist.Flush(Purpose::kFlush, &byte, 0);
  Compare(Expected(), persist.counters(Purpose::kFlush));
  EXPECT_EQ(0u, persist.TotalBytes());
}

TEST(PersistTest, AFenceIsSlowOnlyInFileMode) {
  EXPECT_FALSE(Persist(kPersistPmem).fence_is_slow());
  EXPECT_FALSE(Persist(kPersistEmulated).fence_is_slow());
  EXPECT_TRUE(Persist(kPersistFile).fence_is_slow());
}

TEST(PersistTest, PurposesHaveDifferentNames) {
  std::set<std::string> names;
  for (Purpose purpose : kPurposes) names.insert(PurposeName(purpose));
  EXPECT_EQ(static_cast<size_t>(Purpose::kCount), names.size());
}

// A hole in the mapping shows where a fence calls msync.
TEST(PersistFileMode, AFenceSyncsWhatWasStoredAndNothingElse) {
  Pages pages(8);
  Persist persist(kPersistFile);
  persist.Copy(Purpose::kFlush, pages.page(1), "x", 1);
  pages.Unmap(3);
  EXPECT_OK(persist.Fence(Purpose::kFlush));
  pages.Remap(3);
  persist.Copy(Purpose::kFlush, pages.page(3) + 10, "x", 1);
  pages.Unmap(3);
  EXPECT_STATUS(IOError, persist.Fence(Purpose::kFlush));
}

TEST(PersistFileMode, AFenceSyncsNothingOfAnotherStream) {
  Pages pages(8);
  Persist persist(kPersistFile);
  persist.Copy(Purpose::kLog, pages.page(1), "x", 1);
  persist.Copy(Purpose::kLazyCopy, pages.page(3), "x", 1);
  persist.CopyHint(Purpose::kManifest, pages.page(5), "x", 1);
  pages.Unmap(1);
  pages.Unmap(5);
  EXPECT_OK(persist.Fence(Purpose::kManifest));
  EXPECT_OK(persist.Fence(Purpose::kMerge));
  EXPECT_STATUS(IOError, persist.Fence(Purpose::kLog));
}

TEST(PersistFileMode, WhatAFlushHasSyncedOfTheLogIsNotSyncedAgain) {
  Pages pages(8);
  Persist persist(kPersistFile);
  for (const size_t page : {1, 3, 5}) persist.Copy(Purpose::kLog, pages.page(page), "x", 1);
  persist.Cover(Purpose::kFlush, pages.page(1), 10);
  persist.Cover(Purpose::kFlush, pages.page(3), 10);
  EXPECT_OK(persist.Fence(Purpose::kFlush));
  persist.Copy(Purpose::kLog, pages.page(3) + 10, "x", 1);
  pages.Unmap(1);
  persist.Cover(Purpose::kFlush, pages.page(5), 10);
  EXPECT_OK(persist.Fence(Purpose::kLog));
  persist.Copy(Purpose::kLog, pages.page(3) + 20, "x", 1);
  pages.Unmap(3);
  EXPECT_STATUS(IOError, persist.Fence(Purpose::kLog));
}

TEST(PersistFileMode, ACoverIsOfFileModeAlone) {
  Pages pages(2);
  Persist persist(kPersistEmulated);
  persist.Cover(Purpose::kFlush, pages.page(1), 10);
  EXPECT_EQ(0u, persist.TotalBytes());
  EXPECT_OK(persist.Fence(Purpose::kFlush));
}

TEST(PersistFileMode, ManyScatteredStoresDoNotSyncWhatLiesFarBetween) {
  constexpr size_t kPageCount = 4096;
  Pages pages(kPageCount);
  Persist persist(kPersistFile);
  for (size_t i = 0; i < 600; i++) {
    persist.Copy(Purpose::kLazyCopy, pages.page(i * 7 % 600 * 2), "x", 1);
    persist.Copy(Purpose::kLazyCopy, pages.page(kPageCount - 1 - i * 7 % 600 * 2), "x", 1);
  }
  pages.Unmap(kPageCount / 2);
  EXPECT_OK(persist.Fence(Purpose::kLazyCopy));
}

// The kernel drops what it could not write and reports it once, so a second msync would prove nothing.
TEST(PersistFileMode, AfterAFailedSyncNoFenceSucceeds) {
  Pages pages(4);
  Persist persist(kPersistFile, "the/pool");
  persist.Copy(Purpose::kFlush, pages.page(0), "x", 1);
  persist.Copy(Purpose::kFlush, pages.page(2), "x", 1);
  pages.Unmap(2);
  const Status s = persist.Fence(Purpose::kFlush);
  EXPECT_STATUS(IOError, s);
  EXPECT_TRUE(Mentions(s, "the/pool"));
  pages.Remap(2);
  EXPECT_EQ(s.ToString(), persist.Fence(Purpose::kMerge).ToString());
  persist.Copy(Purpose::kLog, pages.page(1), "x", 1);
  EXPECT_EQ(s.ToString(), persist.Fence(Purpose::kLog).ToString());
}

TEST(PersistFileMode, StoresAcrossPagesSyncAllOfThem) {
  for (size_t hole = 1; hole < 4; hole++) {
    Pages pages(6);
    Persist persist(kPersistFile);
    const std::string data(2 * kPage + 2, 'x');
    persist.Copy(Purpose::kFlush, pages.page(2) - 1, data.data(), data.size());
    pages.Unmap(hole);
    SCOPED_TRACE(hole);
    EXPECT_STATUS(IOError, persist.Fence(Purpose::kFlush));
  }
}

TEST(PersistFileMode, AnyNumberOfScatteredStoresIsSynced) {
  constexpr size_t kPageCount = 2048;
  for (size_t stores : {size_t{10}, size_t{255}, size_t{256}, size_t{257}, size_t{1000}}) {
    for (size_t victim : {size_t{0}, stores / 2, stores - 1}) {
      Pages pages(kPageCount);
      Persist persist(kPersistFile);
      // Every second page, in an order in which neighbours do not follow each other.
      for (size_t i = 0; i < stores; i++) persist.Copy(Purpose::kLazyCopy, pages.page(i * 7 % stores * 2), "x", 1);
      pages.Unmap(victim * 2);
      SCOPED_TRACE(testing::Message() << stores << " stores, hole at " << victim);
      EXPECT_STATUS(IOError, persist.Fence(Purpose::kLazyCopy));
    }
  }
}

}  // namespace
}  // namespace miodb::test
