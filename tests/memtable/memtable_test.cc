#include "src/memtable/memtable.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/common/comparators.h"
#include "tests/common/environment.h"
#include "tests/common/generator.h"
#include "tests/common/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/memtable/record_arena.h"

namespace miodb::test {
namespace {

class MemTableTest : public testing::TestWithParam<const Comparator* (*)()> {
 protected:
  struct Less {
    const Comparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
  };
  // Versions of each key by sequence.
  using Model = std::map<std::string, std::map<uint64_t, std::string>, Less>;

  void Fill(uint64_t seed) {
    table_ = std::make_unique<MemTable>(KeyOrder(GetParam()()), &blocks_, 4096, kTestSecret);
    model_ = Model(Less{GetParam()()});
    Random random(seed);
    const KeySpace keys(KeyStyle::kMixed, 100, seed);
    first_ = 1 + random.Uniform(1000);
    last_ = first_ - 1;
    for (int i = 0; i < 500; i++) {
      const std::string key = keys.Any(&random), value = random.Bytes(random.Uniform(50));
      const uint64_t tag = PackTag(++last_, kTypeValue);
      const StoredRecord record = records_.Add(key, tag, value);
      table_->Add(key, tag, record.place, record.size);
      model_[key][last_] = value;
    }
  }

  LookupKey Lookup(const Slice& key, uint64_t sequence) const {
    return LookupKey(KeyOrder(GetParam()()), key, sequence);
  }

  BlockPool blocks_{16 * 1024, 4};
  RecordArena records_;
  std::unique_ptr<MemTable> table_;
  Model model_{Less{nullptr}};
  uint64_t first_ = 0;
  uint64_t last_ = 0;
};

TEST_P(MemTableTest, GetFindsTheNewestVersionAtEverySequence) {
  for (uint64_t seed : Seeds(ByScale(3, 10, 50))) {
    SCOPED_TRACE(Repeat(seed));
    Fill(seed);
    for (const auto& [key, versions] : model_) {
      for (uint64_t sequence = first_ - 1; sequence <= last_ + 1; sequence += 3) {
        const auto after = versions.upper_bound(sequence);
        RecordView record;
        bool found;
        ASSERT_OK(table_->Get(Lookup(key, sequence), true, &found, &record));
        ASSERT_EQ(after != versions.begin(), found);
        if (!found) continue;
        ASSERT_EQ(std::prev(after)->first, record.sequence());
        ASSERT_EQ(std::prev(after)->second, record.value.ToString());
      }
    }
  }
}

TEST_P(MemTableTest, GetFindsNoOtherKey) {
  Fill(1);
  Random random(1);
  const KeySpace keys(KeyStyle::kMixed, 100, 1);
  for (int i = 0; i < 2000; i++) {
    const std::string key = keys.Near(&random);
    RecordView record;
    bool found;
    ASSERT_OK(table_->Get(Lookup(key, kMaxSequence), true, &found, &record));
    ASSERT_EQ(model_.count(key) > 0, found);
  }
}

TEST_P(MemTableTest, IteratesBothWaysOverAllVersions) {
  Fill(7);
  const std::unique_ptr<InternalIterator> it = table_->NewIterator();
  EXPECT_FALSE(it->Valid());
  it->SeekToFirst();
  for (const auto& [key, versions] : model_) {
    for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(version->first, it->record().sequence());
      ASSERT_EQ(version->second, it->record().value.ToString());
      it->Next();
    }
  }
  EXPECT_FALSE(it->Valid());
  it->SeekToLast();
  for (auto key = model_.rbegin(); key != model_.rend(); ++key) {
    for (const auto& [sequence, value] : key->second) {
      ASSERT_TRUE(it->Valid());
      ASSERT_EQ(sequence, it->record().sequence());
      it->Prev();
    }
  }
  EXPECT_FALSE(it->Valid());
  EXPECT_OK(it->status());
}

INSTANTIATE_TEST_SUITE_P(All, MemTableTest,
                         testing::Values(&BytewiseComparator, &ReverseComparator, &CaseInsensitiveComparator),
                         [](const auto& name) {
                           return name.index == 0 ? "Bytewise" : name.index == 1 ? "Reverse" : "CaseInsensitive";
                         });

TEST(MemTableSequences, AreThoseOfTheFirstAndLastRecord) {
  BlockPool blocks(16 * 1024, 4);
  MemTable table(KeyOrder(BytewiseComparator()), &blocks, 4096, kTestSecret);
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(0u, table.min_sequence());
  EXPECT_EQ(0u, table.max_sequence());
  RecordArena records;
  for (uint64_t sequence : {17, 18, 30}) {
    const StoredRecord record = records.Add("k", PackTag(sequence, kTypeDeletion), "");
    table.Add("k", PackTag(sequence, kTypeDeletion), record.place, record.size);
    EXPECT_EQ(17u, table.min_sequence());
    EXPECT_EQ(sequence, table.max_sequence());
  }
  EXPECT_FALSE(table.empty());
  EXPECT_GT(table.memory_bytes(), 0u);
  RecordView record;
  bool found;
  ASSERT_OK(table.Get(LookupKey(KeyOrder(BytewiseComparator()), "k", 29), true, &found, &record));
  ASSERT_TRUE(found);
  EXPECT_EQ(18u, record.sequence());
  EXPECT_EQ(kTypeDeletion, record.type());
  ASSERT_OK(table.Get(LookupKey(KeyOrder(BytewiseComparator()), "k", 16), true, &found, &record));
  EXPECT_FALSE(found);
}

}  // namespace
}  // namespace miodb::test
