#include "src/iterator/merging_iterator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "src/memtable/memtable.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/memtable/record_arena.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

// Versions dealt out to memtables and runs: each to one of them, or some to two.
class Sources {
 public:
  Sources(const Comparator* comparator, uint64_t seed, uint64_t first_sequence = 1, bool twice = false)
      : random_(seed), maker_(&pool_, comparator) {
    const KeyShape& shape = KeyShapes()[random_.Uniform(KeyShapes().size())];
    const std::vector<std::string> keys = MakeKeys(shape, 1 + random_.Uniform(100), maker_.order(), &random_);
    std::vector<TestVersion> all = MakeVersions(keys, random_.OneIn(4) ? 0 : SIZE_MAX, first_sequence, &random_);
    std::vector<std::vector<TestVersion>> parts(1 + random_.Uniform(9));
    for (const TestVersion& v : all) {
      // Any part: neither keys nor ages are apart.
      const size_t part = random_.Uniform(parts.size());
      parts[part].push_back(v);
      if (twice && part > 0 && random_.OneIn(2)) parts[part - 1].push_back(v);
    }
    for (std::vector<TestVersion>& part : parts) {
      if (random_.OneIn(2)) {
        AddMemTable(std::move(part));
      } else {
        AddRun(std::move(part));
      }
    }
    versions_ = std::make_unique<SortedVersions>(maker_.order(), all);
  }

  std::unique_ptr<InternalIterator> Merge(Checksums checksums) const {
    std::vector<std::unique_ptr<InternalIterator>> sources;
    for (const auto& table : memtables_) sources.push_back(table->NewIterator());
    for (const auto& run : runs_) sources.push_back(NewRunIterator(run.get(), maker_.order(), checksums));
    return NewMergingIterator(maker_.order(), std::move(sources));
  }

  const SortedVersions& versions() const { return *versions_; }
  Random* random() { return &random_; }

 private:
  // In the order of writing, as a memtable gets them.
  void AddMemTable(std::vector<TestVersion> versions) {
    std::sort(versions.begin(), versions.end(),
              [](const TestVersion& a, const TestVersion& b) { return a.sequence < b.sequence; });
    auto table = std::make_unique<MemTable>(maker_.order(), &blocks_, 4096, kTestSecret);
    for (const TestVersion& v : versions) {
      const StoredRecord record = records_.Add(v.key, PackTag(v.sequence, v.type), v.value);
      table->Add(v.key, PackTag(v.sequence, v.type), record.place, record.size);
    }
    memtables_.push_back(std::move(table));
  }

  void AddRun(std::vector<TestVersion> versions) {
    auto run = std::make_unique<miodb::Run>();
    run->tables = maker_.MakeRun(SortedVersions(maker_.order(), std::move(versions)), 1 + random_.Uniform(50),
                                 TableMaker::Options());
    runs_.push_back(std::move(run));
  }

  Random random_;
  TestPool pool_;
  BlockPool blocks_{16 * 1024, 4};
  RecordArena records_;
  TableMaker maker_;
  std::vector<std::unique_ptr<MemTable>> memtables_;
  std::vector<std::unique_ptr<miodb::Run>> runs_;
  std::unique_ptr<SortedVersions> versions_;
};

TEST(MergingIteratorTest, WalksAllSourcesAsOneInBothDirections) {
  for (const Comparator* comparator : {BytewiseComparator(), ReverseComparator(), CaseInsensitiveComparator()}) {
    for (uint64_t seed : Seeds(ByScale(30, 100, 3000))) {
      SCOPED_TRACE(Repeat(seed));
      Sources sources(comparator, seed);
      const auto iterator = sources.Merge(ChecksumsIf(seed % 2 == 0));
      EXPECT_FALSE(iterator->Valid());
      CheckIterator(iterator.get(), sources.versions(), 1000, sources.random());
      if (HasFatalFailure()) return;
    }
  }
}

void TurnAroundAtEveryVersion(const Sources& sources) {
  const SortedVersions& versions = sources.versions();
  const auto iterator = sources.Merge(Checksums::kTrust);
  for (size_t i = 0; i < versions.size(); i++) {
    iterator->Seek(versions[i].key, versions[i].sequence);
    ASSERT_TRUE(iterator->Valid());
    ExpectVersion(versions[i], iterator->record());
    iterator->Prev();
    ASSERT_EQ(i > 0, iterator->Valid());
    if (!iterator->Valid()) continue;
    ExpectVersion(versions[i - 1], iterator->record());
    iterator->Next();
    ExpectVersion(versions[i], iterator->record());
    iterator->Prev();
    ExpectVersion(versions[i - 1], iterator->record());
  }
}

TEST(MergingIteratorTest, TurnsAroundAtEveryVersion) {
  for (uint64_t seed : Seeds(ByScale(10, 100, 3000))) {
    SCOPED_TRACE(Repeat(seed));
    TurnAroundAtEveryVersion(Sources(BytewiseComparator(), seed));
  }
}

// As after writes that were written once more from the log of a volatile pool.
TEST(MergingIteratorTest, TurnsAroundAtVersionsThatAreInTwoSources) {
  for (uint64_t seed : Seeds(ByScale(10, 100, 3000))) {
    SCOPED_TRACE(Repeat(seed));
    TurnAroundAtEveryVersion(Sources(BytewiseComparator(), seed, 1, true));
  }
}

TEST(MergingIteratorTest, WithoutSourcesThereIsNothing) {
  const auto iterator = NewMergingIterator(KeyOrder(BytewiseComparator()), {});
  iterator->SeekToFirst();
  EXPECT_FALSE(iterator->Valid());
  iterator->SeekToLast();
  EXPECT_FALSE(iterator->Valid());
  iterator->Seek("x", 1);
  EXPECT_FALSE(iterator->Valid());
  EXPECT_OK(iterator->status());
}

// Walks some versions and meets damage at the n-th move. Until somebody positions it anew, it stays where damage left
// it; even then it is of no more use.
class FailingIterator final : public InternalIterator {
 public:
  FailingIterator(std::unique_ptr<InternalIterator> good, int moves) : good_(std::move(good)), moves_(moves) {}

  bool Valid() const override { return status_.ok() && good_->Valid(); }
  void SeekToFirst() override {
    Count([this] { good_->SeekToFirst(); });
  }
  void SeekToLast() override {
    Count([this] { good_->SeekToLast(); });
  }
  void Seek(const Slice& key, uint64_t sequence) override {
    Count([&] { good_->Seek(key, sequence); });
  }
  void Next() override {
    Count([this] { good_->Next(); });
  }
  void Prev() override {
    Count([this] { good_->Prev(); });
  }
  const RecordView& record() const override { return good_->record(); }
  Status status() const override { return status_; }

 private:
  template <typename Move>
  void Count(Move move) {
    if (--moves_ < 0) status_ = Status::Corruption("damage", "met");
    move();
  }

  const std::unique_ptr<InternalIterator> good_;
  int moves_;
  Status status_;
};

// A source meets damage: from then on the merged iterator is not valid. Records that this source hides (newer versions,
// tombstones) must not be passed over.
TEST(MergingIteratorTest, DamageInOneSourceEndsTheWalk) {
  for (uint64_t seed : Seeds(ByScale(100, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    Sources good(BytewiseComparator(), seed), other(BytewiseComparator(), seed + 1000000, 1000000);
    Random random(seed);
    std::vector<std::unique_ptr<InternalIterator>> sources;
    sources.push_back(good.Merge(Checksums::kTrust));
    sources.push_back(
        std::make_unique<FailingIterator>(other.Merge(Checksums::kTrust), static_cast<int>(random.Uniform(60))));
    const auto iterator = NewMergingIterator(KeyOrder(BytewiseComparator()), std::move(sources));
    bool damaged = false;
    for (int i = 0; i < 300; i++) {
      if (!iterator->Valid() || random.OneIn(20)) {
        const uint64_t dice = random.Uniform(3);
        if (dice == 0) iterator->SeekToFirst();
        if (dice == 1) iterator->SeekToLast();
        if (dice == 2) iterator->Seek(random.Bytes(random.Uniform(3)), kMaxSequence);
      } else if (random.OneIn(2)) {
        iterator->Next();
      } else {
        iterator->Prev();
      }
      damaged = damaged || !iterator->status().ok();
      ASSERT_TRUE(!damaged || !iterator->Valid()) << "went on without a damaged source, move " << i;
    }
  }
}

}  // namespace
}  // namespace miodb::test
