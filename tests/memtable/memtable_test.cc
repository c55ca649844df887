#include "src/memtable/memtable.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "src/log/record_order.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/generator.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/memtable/record_arena.h"

namespace miodb::test {
namespace {

// How a memtable came to its records: one by one, with a filter from the beginning or from the middle on, or as chunks
// of a log that a recovery has read.
enum class Filling { kAdded, kFilteredLater, kSorted, kBuilt };

class MemTableTest : public testing::TestWithParam<std::tuple<const Comparator* (*)(), Filling>> {
 protected:
  struct Less {
    const Comparator* comparator;
    bool operator()(const std::string& a, const std::string& b) const { return comparator->Compare(a, b) < 0; }
  };
  static std::vector<std::unique_ptr<std::string>> MakeChunks() {
    std::vector<std::unique_ptr<std::string>> chunks;
    chunks.push_back(std::make_unique<std::string>());
    return chunks;
  }

  // Versions of each key by sequence.
  using Model = std::map<std::string, std::map<uint64_t, std::string>, Less>;

  void Fill(uint64_t seed) {
    const bool is_log = filling_ == Filling::kSorted || filling_ == Filling::kBuilt;
    const MemTable::Filter filter =
        filling_ == Filling::kFilteredLater ? MemTable::Filter::kLater : MemTable::Filter::kNow;
    table_ = std::make_unique<MemTable>(order_, &blocks_, 4096, kTestSecret, filter);
    model_ = Model(Less{order_.comparator()});
    Random random(seed);
    const KeySpace keys(KeyStyle::kMixed, 100, seed);
    first_ = 1 + random.Uniform(1000);
    last_ = first_ - 1;
    for (int i = 0; i < 500; i++) {
      const std::string key = keys.Any(&random), value = random.Bytes(random.Uniform(50));
      const uint64_t tag = PackTag(++last_, kTypeValue);
      model_[key][last_] = value;
      if (is_log) {
        AddToChunk(key, tag, value);
        if (random.OneIn(60)) EndChunk();
        continue;
      }
      const StoredRecord record = records_.Add(key, tag, value);
      table_->Add(key, tag, record.place, record.size);
      if (i == 250) {
        EXPECT_EQ(order_.bytewise() && filter == MemTable::Filter::kNow, table_->filter_bytes() > 0);
        table_->StartFilter();
        EXPECT_EQ(order_.bytewise(), table_->filter_bytes() > 0);
      }
    }
    if (is_log) EndChunk();
    if (filling_ == Filling::kBuilt) ASSERT_OK(table_->BuildTree());
    ASSERT_EQ(500u, table_->count());
    ASSERT_EQ(first_, table_->min_sequence());
    ASSERT_EQ(last_, table_->max_sequence());
  }

  void AddToChunk(const std::string& key, uint64_t tag, const std::string& value) {
    std::string& chunk = *chunks_.back();
    places_.push_back(static_cast<uint32_t>(chunk.size()));
    chunk.resize(chunk.size() + RecordSize(key.size(), value.size()));
    uint64_t hash;
    char* const end = EncodeRecordHead(chunk.data() + places_.back(), tag, key, value, kTestSecret, &hash);
    memcpy(end, value.data(), value.size());
  }

  void EndChunk() {
    if (places_.empty()) return;
    const std::string& chunk = *chunks_.back();
    const uint64_t first = last_ + 1 - places_.size();
    SortByKey(order_, chunk.data(), chunk.data() + chunk.size(), &places_);
    table_->AddSorted(std::make_unique<SortedChunk>(
        order_, SortedChunk::Bytes{chunk.data(), chunk.size(), first, last_}, std::move(places_)));
    places_.clear();
    chunks_.push_back(std::make_unique<std::string>());
  }

  LookupKey Lookup(const Slice& key, uint64_t sequence) const {
    return LookupKey(order_, key, sequence, Checksums::kVerify);
  }

  const KeyOrder order_{std::get<0>(GetParam())()};
  const Filling filling_ = std::get<1>(GetParam());
  BlockPool blocks_{16 * 1024, 4};
  RecordArena records_;
  std::vector<std::unique_ptr<std::string>> chunks_ = MakeChunks();
  std::vector<uint32_t> places_;  // of the last chunk
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
        ASSERT_OK(table_->Get(Lookup(key, sequence), &found, &record));
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
    ASSERT_OK(table_->Get(Lookup(key, kMaxSequence), &found, &record));
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

TEST_P(MemTableTest, SearchesInStepsFindWhatGetFinds) {
  Fill(3);
  Random random(3);
  const KeySpace keys(KeyStyle::kMixed, 100, 3);
  for (int i = 0; i < 500; i++) {
    const std::string key = random.OneIn(2) ? keys.Any(&random) : keys.Near(&random);
    const LookupKey lookup = Lookup(key, first_ + random.Uniform(600));
    RecordView got, stepped;
    bool get_found = false, found = false;
    ASSERT_OK(table_->Get(lookup, &get_found, &got));
    PrefetchList wanted;
    Status s;
    MemTable::Search search;
    search.Start(*table_);
    while (!search.Step(lookup, &wanted, &s, &found, &stepped)) wanted.Issue();
    ASSERT_OK(s);
    ASSERT_EQ(get_found, found);
    ASSERT_EQ(found ? got.begin : nullptr, found ? stepped.begin : nullptr);
  }
}

TEST_P(MemTableTest, SeeksFindTheFirstVersionThatIsNotBefore) {
  Fill(5);
  Random random(5);
  const KeySpace keys(KeyStyle::kMixed, 100, 5);
  const std::unique_ptr<InternalIterator> it = table_->NewIterator();
  for (int i = 0; i < 500; i++) {
    const std::string key = random.OneIn(2) ? keys.Any(&random) : keys.Near(&random);
    const uint64_t sequence = first_ + random.Uniform(600);
    it->Seek(key, sequence);
    auto at = model_.lower_bound(key);
    const bool same = at != model_.end() && order_.Equal(at->first, key);
    if (same && at->second.begin()->first > sequence) ++at;  // all versions are newer
    ASSERT_EQ(at != model_.end(), it->Valid());
    if (at == model_.end()) continue;
    ASSERT_TRUE(order_.Equal(at->first, it->record().key));
    const bool of_key = order_.Equal(at->first, key);
    const auto version = of_key ? std::prev(at->second.upper_bound(sequence)) : std::prev(at->second.end());
    ASSERT_EQ(version->first, it->record().sequence());
  }
}

std::string NameOf(size_t index) {
  const char* const orders[] = {"Bytewise", "Reverse", "CaseInsensitive"};
  const char* const fillings[] = {"Added", "FilteredLater", "Sorted", "Built"};
  return std::string(orders[index / 4]) + fillings[index % 4];
}

INSTANTIATE_TEST_SUITE_P(
    All, MemTableTest,
    testing::Combine(testing::Values(&BytewiseComparator, &ReverseComparator, &CaseInsensitiveComparator),
                     testing::Values(Filling::kAdded, Filling::kFilteredLater, Filling::kSorted, Filling::kBuilt)),
    [](const auto& each) { return NameOf(each.index); });

// Records of a chunk were verified long ago, or never; after a flush they are taken for whole.
TEST(MemTableSortedChunks, DamageIsFoundByTheBuildAndByReadsThatVerify) {
  BlockPool blocks(16 * 1024, 4);
  const KeyOrder order(BytewiseComparator());
  std::string bytes(RecordSize(1, 5), 0);
  uint64_t hash;
  memcpy(EncodeRecordHead(bytes.data(), PackTag(8, kTypeValue), "k", "value", kTestSecret, &hash), "value", 5);
  const auto make = [&](uint64_t first) {
    auto table = std::make_unique<MemTable>(order, &blocks, 4096, kTestSecret);
    table->AddSorted(std::make_unique<SortedChunk>(order, SortedChunk::Bytes{bytes.data(), bytes.size(), first, first},
                                                   std::vector<uint32_t>{0}));
    return table;
  };
  RecordView record;
  bool found;
  const LookupKey lookup(order, "k", 9), verified(order, "k", 9, Checksums::kVerify);
  ASSERT_OK(make(8)->BuildTree());
  EXPECT_STATUS(Corruption, make(7)->BuildTree());  // a record of another life of the memory
  EXPECT_STATUS(Corruption, make(7)->Get(lookup, &found, &record));
  bytes.back() ^= 1;
  EXPECT_STATUS(Corruption, make(8)->BuildTree());
  EXPECT_STATUS(Corruption, make(8)->Get(verified, &found, &record));
  ASSERT_OK(make(8)->Get(lookup, &found, &record));
  EXPECT_TRUE(found);
  bytes[RecordSize(1, 5) - 7] = 100;  // the value's size
  EXPECT_STATUS(Corruption, make(8)->Get(lookup, &found, &record));
}

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
  ASSERT_OK(table.Get(LookupKey(KeyOrder(BytewiseComparator()), "k", 29, Checksums::kVerify), &found, &record));
  ASSERT_TRUE(found);
  EXPECT_EQ(18u, record.sequence());
  EXPECT_EQ(kTypeDeletion, record.type());
  ASSERT_OK(table.Get(LookupKey(KeyOrder(BytewiseComparator()), "k", 16, Checksums::kVerify), &found, &record));
  EXPECT_FALSE(found);
}

}  // namespace
}  // namespace miodb::test
