// The page of readers: slots, pins, what is left of readers that died, and what others may have written to it.

#include "src/nvm/readers/reader_page.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/nvm/readers/reader_guard.h"
#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb::test {
namespace {

constexpr uint64_t kClockOffset = 16;

class ReaderPageTest : public testing::Test {
 protected:
  std::unique_ptr<ReaderPage> Owner() const {
    std::unique_ptr<ReaderPage> page;
    EXPECT_OK(ReaderPage::Open(path_, FileAccess(), &page));
    return page;
  }
  std::unique_ptr<ReaderPage> Reader() const {
    std::unique_ptr<ReaderPage> page;
    EXPECT_OK(ReaderPage::OpenExisting(path_, &page));
    return page;
  }

  // By a program that may write to the file.
  void Overwrite(uint64_t offset, uint64_t word) const {
    const int file = open(path_.c_str(), O_WRONLY);
    EXPECT_EQ(static_cast<ssize_t>(sizeof(word)), pwrite(file, &word, sizeof(word), static_cast<off_t>(offset)));
    close(file);
  }

  TestDir dir_;
  const std::string path_ = dir_ / "READERS";
};

TEST_F(ReaderPageTest, APinIsPassedByWhatCameBefore) {
  const auto owner = Owner();
  const auto reader = Reader();
  int slot = -1;
  const uint64_t before = owner->Advance();
  EXPECT_TRUE(owner->PassedBy(before));
  ASSERT_OK(reader->Enter(&slot));
  EXPECT_FALSE(owner->PassedBy(before)) << "the pin of one that enters keeps everything";
  reader->Pin(slot, reader->clock());
  EXPECT_TRUE(owner->PassedBy(before));
  const uint64_t after = owner->Advance();
  EXPECT_FALSE(owner->PassedBy(after));
  reader->Pin(slot, reader->clock());
  EXPECT_TRUE(owner->PassedBy(after));
  reader->Pin(slot, before);
  reader->Leave(slot);
  EXPECT_TRUE(owner->PassedBy(after));
}

TEST_F(ReaderPageTest, APinEndsWithWhoHasIt) {
  const auto owner = Owner();
  auto reader = Reader();
  int slot = -1;
  ASSERT_OK(reader->Enter(&slot));
  const uint64_t time = owner->Advance();
  EXPECT_FALSE(owner->PassedBy(time));
  reader.reset();  // without leaving
  EXPECT_TRUE(owner->PassedBy(time));
}

TEST_F(ReaderPageTest, ThereIsAnEndToSlots) {
  const auto owner = Owner();
  std::vector<std::unique_ptr<ReaderPage>> readers;
  int slot = -1;
  for (int i = 0; i < ReaderPage::kSlots; i++) {
    readers.push_back(Reader());
    ASSERT_OK(readers.back()->Enter(&slot));
  }
  EXPECT_TRUE(Reader()->Enter(&slot).IsIOError());
  readers.pop_back();
  EXPECT_OK(Reader()->Enter(&slot));
}

// Several threads of the owner meet the slot of a reader that died, while the next one takes it.
TEST_F(ReaderPageTest, NoThreadOfTheOwnerTakesAPinAway) {
  const auto owner = Owner();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; i++) {
    threads.emplace_back([&] {
      while (!stop.load()) owner->PassedBy(owner->Advance());
    });
  }
  uint64_t lost = 0;
  for (uint64_t round = 0; round < ByScale(3000, 20000, 1000000); round++) {
    int slot = -1;
    auto dead = Reader();
    EXPECT_OK(dead->Enter(&slot));
    dead.reset();
    const auto living = Reader();
    EXPECT_OK(living->Enter(&slot));
    const uint64_t time = owner->Advance();
    for (int look = 0; look < 3; look++) lost += owner->PassedBy(time);
    living->Leave(slot);
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(0u, lost);
}

TEST_F(ReaderPageTest, TheOwnersTimesAreItsOwn) {
  ReaderGuard guard(Owner());
  const auto reader = Reader();
  int slot = -1;
  ASSERT_OK(reader->Enter(&slot));
  for (const uint64_t clock : {uint64_t{0}, uint64_t{2}, ~uint64_t{0}}) {
    EXPECT_TRUE(guard.HoldIfRead(4096, 4096));
    Overwrite(kClockOffset, clock);
    guard.WaitUntilPassed();
  }
  EXPECT_EQ(3u * 4096, guard.held_bytes());
  reader->Leave(slot);
  uint64_t freed = 0;
  guard.ForEachPassed([&](PmRef, uint64_t size) { freed += size; });
  EXPECT_EQ(3u * 4096, freed);
}

TEST_F(ReaderPageTest, WhatIsNoPageIsRefused) {
  std::unique_ptr<ReaderPage> page;
  EXPECT_TRUE(ReaderPage::OpenExisting(path_, &page).IsIOError()) << "there is none";
  std::ofstream(path_) << "something else";
  EXPECT_TRUE(ReaderPage::Open(path_, FileAccess(), &page).IsCorruption());
  EXPECT_TRUE(ReaderPage::OpenExisting(path_, &page).IsCorruption());
  unlink(path_.c_str());
  Owner();
  for (const uint64_t clock : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 62}) {
    Overwrite(kClockOffset, clock);
    EXPECT_TRUE(ReaderPage::Open(path_, FileAccess(), &page).IsCorruption()) << clock;
    EXPECT_TRUE(ReaderPage::OpenExisting(path_, &page).IsCorruption()) << clock;
  }
}

}  // namespace
}  // namespace miodb::test
