#include "src/memtable/blink_tree.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/generator.h"
#include "tests/common/random/random.h"
#include "tests/common/test_secret.h"
#include "tests/memtable/record_arena.h"

namespace miodb::test {
namespace {

// (key, sequence) in the order of internal iterators: keys ascending, of one key the newest version first.
struct VersionLess {
  const Comparator* comparator;
  bool operator()(const std::pair<std::string, uint64_t>& a, const std::pair<std::string, uint64_t>& b) const {
    const int c = comparator->Compare(a.first, b.first);
    return c != 0 ? c < 0 : a.second > b.second;
  }
};
using VersionSetModel = std::set<std::pair<std::string, uint64_t>, VersionLess>;

class TreeAgainstModel {
 public:
  TreeAgainstModel(const Comparator* comparator, uint64_t seed)
      : random_(seed),
        blocks_(16 * 1024, 4),
        arena_(&blocks_),
        tree_(KeyOrder(comparator), &arena_),
        model_(VersionLess{comparator}) {}

  void Insert(const std::string& key) {
    const uint64_t tag = PackTag(++sequence_, random_.OneIn(4) ? kTypeDeletion : kTypeValue);
    const StoredRecord record = records_.Add(key, tag, std::to_string(sequence_));
    tree_.Insert(key, tag, record.place, record.size);
    model_.emplace(key, sequence_);
  }

  uint64_t sequence() const { return sequence_; }
  Random& random() { return random_; }

  void CheckSeek(const std::string& key, uint64_t sequence) const {
    const auto it = model_.lower_bound({key, sequence});
    Expect(it, tree_.Seek(key, sequence));
    Expect(it, SeekInSteps(tree_, key, sequence));
    Expect(it == model_.begin() ? model_.end() : std::prev(it), tree_.SeekBefore(key, sequence));
  }

  void CheckAll() const {
    EXPECT_EQ(model_.size(), tree_.count());
    const BLinkTree::Entry* entry = tree_.First();
    const BLinkTree::Entry* before = nullptr;
    for (auto it = model_.begin(); it != model_.end(); ++it) {
      Expect(it, entry);
      ASSERT_EQ(before, tree_.Before(entry));
      before = entry;
      entry = entry->Next();
    }
    ASSERT_EQ(nullptr, entry);
    ASSERT_EQ(before, tree_.Last());
    tree_.Check();
  }

 private:
  void Expect(VersionSetModel::const_iterator it, const BLinkTree::Entry* entry) const {
    if (it == model_.end()) {
      ASSERT_EQ(nullptr, entry);
      return;
    }
    ASSERT_NE(nullptr, entry);
    ASSERT_EQ(it->first, BLinkTree::KeyOf(entry).ToString());
    ASSERT_EQ(it->second, TagSequence(entry->tag));
    RecordView record;
    ASSERT_TRUE(ParseRecord(entry->record, entry->record + entry->record_size, &record));
    ASSERT_TRUE(record.Verify(kTestSecret));
    ASSERT_EQ(it->first, record.key.ToString());
    ASSERT_EQ(std::to_string(it->second), record.value.ToString());
  }

  Random random_;
  BlockPool blocks_;
  Arena arena_;
  BLinkTree tree_;
  RecordArena records_;
  VersionSetModel model_;
  uint64_t sequence_ = 0;
};

// Keys of 0 to 40 bytes from few letters, among them zero, behind one of a few prefixes of up to 16 bytes: what the
// heads in the nodes can and cannot tell apart.
std::string HardKey(Random* random) {
  static const std::string alphabet("\0\1ab\xff", 5);
  constexpr size_t kPrefixes[] = {0, 7, 8, 9, 15, 16};
  std::string key(kPrefixes[random->Uniform(std::size(kPrefixes))], random->OneIn(2) ? 'p' : '\0');
  const size_t more = random->OneIn(3) ? random->Uniform(4) : random->Uniform(41 - key.size());
  for (size_t i = 0; i < more; i++) key.push_back(random->OneIn(3) ? '\0' : alphabet[random->Uniform(alphabet.size())]);
  return key;
}

class BLinkTreeOrders : public testing::TestWithParam<const Comparator* (*)()> {};

TEST_P(BLinkTreeOrders, AgreesWithASetOfVersions) {
  for (uint64_t seed : Seeds(ByScale(10, 30, 500))) {
    SCOPED_TRACE(Repeat(seed));
    TreeAgainstModel test(GetParam()(), seed);
    Random& random = test.random();
    for (int i = 0; i < 600; i++) {
      test.Insert(HardKey(&random));
      test.CheckSeek(HardKey(&random), random.OneIn(3) ? kMaxSequence : random.Uniform(test.sequence() + 2));
    }
    test.CheckAll();
    if (HasFatalFailure()) return;
  }
}

TEST_P(BLinkTreeOrders, AgreesForEveryStyleOfKeys) {
  for (KeyStyle style : {KeyStyle::kShort, KeyStyle::kLongShared, KeyStyle::kBinary, KeyStyle::kNumbers,
                         KeyStyle::kLetters, KeyStyle::kMixed}) {
    for (uint64_t seed : Seeds(ByScale(2, 10, 100))) {
      SCOPED_TRACE(Repeat(seed));
      TreeAgainstModel test(GetParam()(), seed);
      const KeySpace keys(style, 300, seed);
      for (int i = 0; i < 600; i++) {
        test.Insert(keys.Any(&test.random()));
        test.CheckSeek(keys.Near(&test.random()), test.random().Uniform(test.sequence() + 2));
      }
      test.CheckAll();
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BLinkTreeOrders,
                         testing::Values(&BytewiseComparator, &ReverseComparator, &CaseInsensitiveComparator),
                         [](const auto& name) {
                           return name.index == 0 ? "Bytewise" : name.index == 1 ? "Reverse" : "CaseInsensitive";
                         });

TEST(BLinkTreeTest, AnEmptyListHasNothing) {
  BlockPool blocks(16 * 1024, 1);
  Arena arena(&blocks);
  const BLinkTree tree(KeyOrder(BytewiseComparator()), &arena);
  EXPECT_EQ(nullptr, tree.First());
  EXPECT_EQ(nullptr, tree.Last());
  EXPECT_EQ(nullptr, tree.Seek("", kMaxSequence));
  EXPECT_EQ(nullptr, tree.SeekBefore("x", 0));
  EXPECT_EQ(0u, tree.count());
}

TEST(BLinkTreeTest, ZeroBytesAtTheEndOfAKeyCount) {
  TreeAgainstModel test(BytewiseComparator(), 1);
  for (size_t length = 0; length <= 20; length++) {
    for (size_t zeros = 0; zeros <= 20; zeros++) test.Insert(std::string(length, 'k') + std::string(zeros, '\0'));
  }
  test.CheckAll();
  for (size_t length = 0; length <= 21; length++) {
    for (size_t zeros = 0; zeros <= 21; zeros++) {
      test.CheckSeek(std::string(length, 'k') + std::string(zeros, '\0'), kMaxSequence);
    }
  }
}

TEST(BLinkTreeTest, TakesAscendingDescendingAndEqualKeys) {
  TreeAgainstModel ascending(BytewiseComparator(), 1), descending(BytewiseComparator(), 2),
      equal(BytewiseComparator(), 3);
  for (int i = 0; i < 3000; i++) {
    ascending.Insert(std::to_string(100000 + i));
    descending.Insert(std::to_string(100000 - i));
    equal.Insert("the same key, longer than sixteen bytes");
  }
  ascending.CheckAll();
  descending.CheckAll();
  equal.CheckAll();
  for (uint64_t sequence = 0; sequence < 3002; sequence += 7) {
    equal.CheckSeek("the same key, longer than sixteen bytes", sequence);
    ascending.CheckSeek(std::to_string(100000 + sequence), kMaxSequence);
    descending.CheckSeek(std::to_string(100000 - sequence), 0);
  }
}

// Runs of ascending keys that begin again below their end: the insert's short cut at the tail comes and goes.
TEST(BLinkTreeTest, TakesAscendingRunsAmongOthers) {
  TreeAgainstModel test(BytewiseComparator(), 5);
  for (int run = 0; run < 50; run++) {
    const uint64_t start = test.random().Uniform(10000);
    for (uint64_t i = 0; i < 60; i++) test.Insert(std::to_string(1000000 + start + i));
  }
  test.CheckAll();
}

TEST(BLinkTreeTest, NoAllocationIsLongerThanItsLimit) {
  BlockPool blocks(BLinkTree::kMaxAllocation, 4);
  Arena arena(&blocks);
  BLinkTree tree(KeyOrder(BytewiseComparator()), &arena);
  RecordArena records;
  for (uint64_t i = 1; i <= 20000; i++) {
    const std::string key = std::to_string(i * 7919 % 20011);
    const StoredRecord record = records.Add(key, PackTag(i, kTypeValue), "");
    tree.Insert(key, PackTag(i, kTypeValue), record.place, record.size);
  }
  EXPECT_EQ(20000u, tree.count());
}

}  // namespace
}  // namespace miodb::test
