// The contents that the simulated memory may have after a crash, by the rules of its modes.

#include "tests/simulation/sim_medium.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "src/nvm/persist/persist.h"
#include "tests/simulation/choices.h"

namespace miodb::sim {
namespace {

constexpr uint64_t kBytes = 16 * 1024;

class SimMediumTest : public testing::TestWithParam<Mode> {
 protected:
  SimMediumTest() : medium_(GetParam(), kBytes), image_(GetParam(), kBytes) {
    medium_.Reset(kBytes);
    persist_.emplace(medium_.memory()->mode, "memory", &medium_);
  }

  char* At(uint64_t offset) { return medium_.memory()->base + offset; }
  void Store(uint64_t offset, const std::string& bytes) {
    persist_->Copy(Purpose::kLog, At(offset), bytes.data(), bytes.size());
  }

  // The bytes there in every image that is tried.
  std::set<std::string> Left(uint64_t offset, size_t size) {
    std::set<std::string> result;
    Random random(1);
    ForEachChoice(medium_.open_lines(), ChoiceLimits(), &random, [&](const std::vector<Choice>& choices) {
      const uint64_t hash = medium_.ImageHash(choices);
      medium_.LoadImage(choices, &image_);
      EXPECT_EQ(hash, image_.durable_hash());
      result.emplace(image_.memory()->base + offset, size);
      return true;
    });
    return result;
  }

  SimMedium medium_;
  SimMedium image_;
  std::optional<Persist> persist_;
};

std::string Zeros(size_t n) { return std::string(n, '\0'); }

using AdrTest = SimMediumTest;
INSTANTIATE_TEST_SUITE_P(Adr, AdrTest, testing::Values(Mode::kAdr));

TEST_P(AdrTest, AStoreMayBeLeftOrNotUntilTheFence) {
  Store(64, "12345678");
  EXPECT_EQ((std::set<std::string>{Zeros(8), "12345678"}), Left(64, 8));
  ASSERT_TRUE(persist_->Fence(Purpose::kLog).ok());
  EXPECT_EQ((std::set<std::string>{"12345678"}), Left(64, 8));
}

TEST_P(AdrTest, StoresToOneLineStayInOrder) {
  Store(0, "first...");
  Store(8, "second..");
  const std::set<std::string> left = Left(0, 16);
  EXPECT_TRUE(left.contains("first..." + Zeros(8)));
  EXPECT_TRUE(left.contains("first...second.."));
  EXPECT_TRUE(left.contains(Zeros(16)));
}

TEST_P(AdrTest, LinesAreIndependent) {
  Store(0, std::string(128, 'x'));
  const std::set<std::string> left = Left(0, 128);
  EXPECT_TRUE(left.contains(std::string(64, 'x') + Zeros(64)));
  EXPECT_TRUE(left.contains(Zeros(64) + std::string(64, 'x')));
}

TEST_P(AdrTest, AStoreMayBeTornAtEveryEightBytes) {
  Store(0, "aaaaaaaabbbbbbbb");
  EXPECT_TRUE(Left(0, 16).contains(Zeros(8) + "bbbbbbbb"));
}

TEST_P(AdrTest, TheFenceOfAnotherThreadDoesNotCount) {
  medium_.set_thread(1);
  Store(0, "12345678");
  medium_.set_thread(2);
  ASSERT_TRUE(persist_->Fence(Purpose::kLog).ok());
  EXPECT_EQ(2u, Left(0, 8).size());
  medium_.set_thread(1);
  ASSERT_TRUE(persist_->Fence(Purpose::kLog).ok());
  EXPECT_EQ(1u, Left(0, 8).size());
}

TEST_P(AdrTest, AfterAKillNobodyHasFlushedTheStores) {
  Store(0, "12345678");
  medium_.LoadKilled(&image_);
  EXPECT_EQ(0, memcmp(image_.memory()->base, "12345678", 8));
  Persist after(image_.memory()->mode, "memory", &image_);
  ASSERT_TRUE(after.Fence(Purpose::kLog).ok());
  EXPECT_EQ(1u, image_.open_lines().size());
  after.Flush(Purpose::kLog, image_.memory()->base, 8);
  ASSERT_TRUE(after.Fence(Purpose::kLog).ok());
  EXPECT_EQ(0u, image_.open_lines().size());
}

TEST_P(AdrTest, AStoreThatBypassesTheDoorIsFound) {
  EXPECT_EQ("", medium_.FindStrayStore());
  Store(0, "12345678");
  EXPECT_EQ("", medium_.FindStrayStore());
  *At(100) = 'x';
  EXPECT_NE(std::string::npos, medium_.FindStrayStore().find("100"));
}

TEST_P(AdrTest, AnImageFollowsItsParentAndForgetsItsOwnStores) {
  for (int round = 0; round < 20; round++) {
    Store(static_cast<uint64_t>(round) * 40, "round" + std::to_string(round));
    if (round % 3 == 0) {
      ASSERT_TRUE(persist_->Fence(Purpose::kLog).ok());
    }
    Left(0, 8);  // checks every image's hash
    medium_.LoadImage(std::vector<Choice>(medium_.open_lines().size(), 0), &image_);
    EXPECT_EQ(medium_.durable_hash(), image_.durable_hash());
    Persist own(image_.memory()->mode, "memory", &image_);
    own.Copy(Purpose::kLog, image_.memory()->base + 8000 + round, "own", 3);
    if (round % 2 == 0) {
      ASSERT_TRUE(own.Fence(Purpose::kLog).ok());
    }
  }
}

using EadrTest = SimMediumTest;
INSTANTIATE_TEST_SUITE_P(Eadr, EadrTest, testing::Values(Mode::kEadr));

TEST_P(EadrTest, ACachedStoreIsDurableAtOnceAStreamedOneAfterTheFence) {
  Store(0, "12345678");
  EXPECT_EQ((std::set<std::string>{"12345678"}), Left(0, 8));
  Store(1024, std::string(1024, 'x'));
  EXPECT_LT(2u, Left(1024, 1024).size());
  ASSERT_TRUE(persist_->Fence(Purpose::kLog).ok());
  EXPECT_EQ(1u, Left(1024, 1024).size());
}

using FileTest = SimMediumTest;
INSTANTIATE_TEST_SUITE_P(File, FileTest, testing::Values(Mode::kFile));

TEST_P(FileTest, StoresOfAllThreadsAreDurableAfterAFence) {
  medium_.set_thread(1);
  Store(0, "12345678");
  medium_.set_thread(2);
  EXPECT_EQ(2u, Left(0, 8).size());
  ASSERT_TRUE(persist_->Fence(Purpose::kLog).ok());
  EXPECT_EQ(1u, Left(0, 8).size());
}

TEST_P(FileTest, AFenceWithAFaultLeavesEverythingOpen) {
  for (const bool fault : {false, true}) {
    Store(0, fault ? "12345678" : "abcdefgh");
    ASSERT_TRUE(persist_->Fence(Purpose::kLog).ok());
    EXPECT_EQ(fault ? 2u : 1u, Left(0, 8).size());
    // The site is known now; next time it is to do nothing.
    for (int site = 0; site < Sites::Count(); site++) {
      if (Sites::Name(site).find("AFenceWithAFault") != std::string::npos && Sites::KindOf(site) == SiteKind::kFence) {
        medium_.set_fault({site, SiteKind::kFence});
      }
    }
  }
}

// ---- Choices

std::vector<SimMedium::OpenLine> Lines(size_t count) {
  std::vector<SimMedium::OpenLine> lines(count);
  for (auto& line : lines) line.stores = 1;
  return lines;
}

TEST(ChoicesTest, EveryOrderedPairOfLinesOccurs) {
  Random random(1);
  for (const size_t count : {1, 2, 3, 5, 12, 13, 64, 65, 200}) {
    PairCover pairs(count);
    uint64_t images = 0;
    ForEachChoice(Lines(count), ChoiceLimits{4096, 0, 0}, &random, [&](const std::vector<Choice>& choices) {
      images++;
      pairs.Add(choices);
      return true;
    });
    EXPECT_EQ(0u, pairs.Missing()) << count;
    // All choices of up to 12 lines, and five tears of all lines.
    if (count <= 12) {
      EXPECT_EQ((uint64_t{1} << count) + 5, images);
    } else {
      EXPECT_LE(images, 32u) << count;
    }
  }
}

TEST(ChoicesTest, AMissingPairIsCounted) {
  PairCover pairs(2);
  pairs.Add({0, 0});
  pairs.Add({1, 1});
  EXPECT_EQ(2u, pairs.Missing());
  pairs.Add({1, 0});
  EXPECT_EQ(1u, pairs.Missing());
  pairs.Add({0, 1});
  EXPECT_EQ(0u, pairs.Missing());
}

}  // namespace
}  // namespace miodb::sim
