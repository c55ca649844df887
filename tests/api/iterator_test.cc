#include "miodb/iterator.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace miodb {
namespace {

void Record(void* arg1, void* arg2) { static_cast<std::vector<int>*>(arg1)->push_back(*static_cast<int*>(arg2)); }

TEST(IteratorTest, TheEmptyOneIsNeverValidAndOk) {
  const std::unique_ptr<Iterator> it(NewEmptyIterator());
  EXPECT_FALSE(it->Valid());
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  it->SeekToLast();
  EXPECT_FALSE(it->Valid());
  it->Seek("key");
  EXPECT_FALSE(it->Valid());
  EXPECT_TRUE(it->status().ok());
}

TEST(IteratorTest, TheErrorOneKeepsItsStatus) {
  const std::unique_ptr<Iterator> it(NewErrorIterator(Status::Corruption("node", "checksum")));
  it->SeekToFirst();
  EXPECT_FALSE(it->Valid());
  EXPECT_EQ("Corruption: node: checksum", it->status().ToString());
}

TEST(IteratorTest, CleanupsRunOnceAtTheEndTheLastOneFirst) {
  std::vector<int> ran;
  int numbers[] = {1, 2, 3};
  std::unique_ptr<Iterator> it(NewEmptyIterator());
  for (int& number : numbers) it->RegisterCleanup(&Record, &ran, &number);
  EXPECT_TRUE(ran.empty());
  it.reset();
  EXPECT_EQ((std::vector<int>{3, 2, 1}), ran);
}

}  // namespace
}  // namespace miodb
