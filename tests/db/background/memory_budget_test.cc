// The choice of the database that has to seal its memtable when all take too much.

#include "src/db/context/memory_budget.h"

#include <gtest/gtest.h>

#include <vector>

namespace miodb::test {
namespace {

class MemoryBudgetTest : public testing::Test {
 protected:
  static constexpr uint64_t kBudget = 1000, kLeast = 100;

  MemoryBudgetTest() {
    for (size_t i = 0; i < accounts_.size(); i++) {
      budget_.Open(&accounts_[i], [this, i] { asked_.push_back(i); });
    }
  }
  ~MemoryBudgetTest() override {
    for (auto& account : accounts_) budget_.Close(&account);
    EXPECT_EQ(0u, budget_.used());
  }

  MemoryBudget budget_{kBudget, kLeast};
  std::vector<MemoryBudget::Account> accounts_ = std::vector<MemoryBudget::Account>(4);
  std::vector<size_t> asked_;
};

TEST_F(MemoryBudgetTest, TheLargestIsAskedOnce) {
  budget_.Set(&accounts_[0], 400, 0);
  budget_.Set(&accounts_[1], 500, 0);
  EXPECT_TRUE(asked_.empty());
  budget_.Set(&accounts_[2], 200, 0);
  EXPECT_EQ(std::vector<size_t>({1}), asked_);
  EXPECT_TRUE(accounts_[1].asked());
  budget_.Set(&accounts_[2], 300, 0);
  EXPECT_EQ(1u, asked_.size()) << "what was asked for is enough";
  budget_.Set(&accounts_[1], 0, 500);  // sealed
  EXPECT_FALSE(accounts_[1].asked());
  budget_.Set(&accounts_[1], 0, 0);  // flushed
  EXPECT_EQ(700u, budget_.used());
  EXPECT_EQ(1u, asked_.size());
}

TEST_F(MemoryBudgetTest, AsManyAreAskedAsItTakes) {
  for (auto& account : accounts_) budget_.Set(&account, 250, 0);
  EXPECT_TRUE(asked_.empty());
  budget_.Set(&accounts_[0], 800, 0);
  EXPECT_EQ(std::vector<size_t>({0}), asked_);
  budget_.Set(&accounts_[0], 1, 1500);
  EXPECT_EQ(1u, asked_.size());
  budget_.Set(&accounts_[0], 900, 0);
  EXPECT_EQ(std::vector<size_t>({0, 0}), asked_);
}

TEST_F(MemoryBudgetTest, TheLeastIsEverybodys) {
  budget_.Set(&accounts_[0], 100, 0);
  budget_.Set(&accounts_[1], 100, 850);
  EXPECT_TRUE(asked_.empty());
  budget_.Set(&accounts_[1], 950, 0);
  EXPECT_EQ(std::vector<size_t>({1}), asked_);
  budget_.Set(&accounts_[1], 90, 0);
  budget_.Set(&accounts_[2], 910, 0);
  EXPECT_EQ(std::vector<size_t>({1, 2}), asked_);
}

TEST_F(MemoryBudgetTest, AClosedDatabaseTakesNothing) {
  budget_.Set(&accounts_[0], 900, 0);
  budget_.Close(&accounts_[0]);
  EXPECT_EQ(0u, budget_.used());
  budget_.Set(&accounts_[0], 900, 0);
  EXPECT_EQ(0u, budget_.used());
}

TEST(MemoryBudgetWithoutLimitTest, NobodyIsAsked) {
  MemoryBudget budget(0, 0);
  MemoryBudget::Account account;
  budget.Open(&account, [] { FAIL(); });
  budget.Set(&account, UINT64_MAX / 2, 0);
  EXPECT_EQ(UINT64_MAX / 2, budget.used());
  budget.Close(&account);
}

}  // namespace
}  // namespace miodb::test
