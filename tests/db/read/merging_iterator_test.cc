// The merge of several sources against a sorted list, with turns, damage, and a source that grows under it.

#include "src/iterator/merging_iterator.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "miodb/comparator.h"
#include "tests/common/environment.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

// A version: key, and what makes newer ones come first.
using Version = std::pair<std::string, uint64_t>;

Version MakeVersion(const std::string& key, uint64_t sequence) { return {key, kMaxSequence - sequence}; }
uint64_t SequenceOf(const Version& version) { return kMaxSequence - version.second; }

// Walks over a set that may grow meanwhile, as a memtable does.
class Source final : public InternalIterator {
 public:
  explicit Source(std::set<Version>* versions) : versions_(versions), at_(versions->end()) {}

  bool Valid() const override { return at_ != versions_->end(); }
  void SeekToFirst() override { Go(versions_->begin()); }
  void SeekToLast() override { Go(versions_->empty() ? versions_->end() : std::prev(versions_->end())); }
  void Seek(const Slice& key, uint64_t sequence) override {
    Go(versions_->lower_bound(MakeVersion(key.ToString(), sequence)));
    if (after_seek) after_seek();
  }
  void Next() override { Go(std::next(at_)); }
  void Prev() override { Go(at_ == versions_->begin() ? versions_->end() : std::prev(at_)); }
  const RecordView& record() const override { return record_; }
  Status status() const override { return broken ? Status::Corruption("broken") : Status::OK(); }

  std::function<void()> after_seek;
  bool broken = false;
  std::string value;

 private:
  void Go(std::set<Version>::iterator at) {
    at_ = broken ? versions_->end() : at;
    if (!Valid()) return;
    record_.key = at_->first;
    record_.value = value;
    record_.tag = PackTag(SequenceOf(*at_), kTypeValue);
  }

  std::set<Version>* const versions_;
  std::set<Version>::iterator at_;
  RecordView record_;
};

class MergingIteratorTest : public testing::Test {
 protected:
  explicit MergingIteratorTest(size_t count = 3) : sets_(count) {
    std::vector<std::unique_ptr<InternalIterator>> sources;
    for (std::set<Version>& set : sets_) {
      auto source = std::make_unique<Source>(&set);
      sources_.push_back(source.get());
      sources.push_back(std::move(source));
    }
    merged_ = NewMergingIterator(KeyOrder(BytewiseComparator()), std::move(sources));
  }

  // "key@sequence" where the merge stands, or "none".
  std::string At() const {
    if (!merged_->Valid()) return "none";
    return merged_->record().key.ToString() + "@" + std::to_string(merged_->record().sequence());
  }

  std::vector<std::set<Version>> sets_;
  std::vector<Source*> sources_;
  std::unique_ptr<InternalIterator> merged_;
};

// A compaction filter and a replay may give versions of one sequence two values.
TEST_F(MergingIteratorTest, EqualVersionsComeInOneOrderAfterEachSeek) {
  for (size_t i = 0; i < sets_.size(); i++) {
    sets_[i].insert(MakeVersion("a", 5));
    sources_[i]->value = std::to_string(i);
  }
  std::set<std::string> seen;
  for (int seek = 0; seek < 6; seek++) {
    seek % 2 == 0 ? merged_->Seek("a", 5) : merged_->SeekToFirst();
    seen.insert(merged_->record().value.ToString());
    for (int step = 0; step < seek % 3; step++) merged_->Next();
  }
  EXPECT_EQ(1u, seen.size());
}

TEST_F(MergingIteratorTest, MatchesASortedList) {
  for (const uint64_t seed : Seeds(ByScale(50, 200, 5000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    std::set<Version> all;
    for (std::set<Version>& set : sets_) set.clear();
    const uint64_t count = random.Uniform(60);
    for (uint64_t sequence = 1; sequence <= count; sequence++) {
      const Version version = MakeVersion(std::string(1, static_cast<char>('a' + random.Uniform(12))), sequence);
      sets_[random.Uniform(sets_.size())].insert(version);
      all.insert(version);
    }
    auto at = all.end();
    for (int i = 0; i < 200; i++) {
      const uint64_t dice = random.Uniform(10);
      if (at == all.end() || dice == 0) {
        const Version target =
            MakeVersion(std::string(1, static_cast<char>('a' + random.Uniform(13))), random.Uniform(count + 2));
        merged_->Seek(target.first, SequenceOf(target));
        at = all.lower_bound(target);
      } else if (dice < 5) {
        merged_->Next();
        ++at;
      } else {
        merged_->Prev();
        at = at == all.begin() ? all.end() : std::prev(at);
      }
      const std::string expected = at == all.end() ? "none" : at->first + "@" + std::to_string(SequenceOf(*at));
      ASSERT_EQ(expected, At()) << "move " << i;
    }
  }
}

// A memtable takes new versions while an iterator turns round on it.
TEST_F(MergingIteratorTest, TurnsBackwardRightWhenASourceGrowsInTheMiddle) {
  for (const char* grown : {"d", "e"}) {
    SCOPED_TRACE(grown);
    sets_[0] = {MakeVersion("a", 1), MakeVersion("c", 3)};
    sets_[1] = {MakeVersion("b", 2)};
    if (*grown == 'd') sets_[1].insert(MakeVersion("e", 5));  // else the source ends before the pivot
    merged_->Seek("c", 3);
    ASSERT_EQ("c@3", At());
    sources_[1]->after_seek = [&] {
      for (uint64_t sequence = 10; sequence < 14; sequence++) sets_[1].insert(MakeVersion(grown, sequence));
    };
    merged_->Prev();
    EXPECT_EQ("b@2", At());
    merged_->Prev();
    EXPECT_EQ("a@1", At());
    sources_[1]->after_seek = nullptr;
  }
}

TEST_F(MergingIteratorTest, TurnsForwardRightWhenASourceGrowsInTheMiddle) {
  sets_[0] = {MakeVersion("a", 1), MakeVersion("c", 3)};
  sets_[1] = {MakeVersion("b", 2), MakeVersion("d", 4)};
  merged_->SeekToLast();
  merged_->Prev();
  ASSERT_EQ("c@3", At());
  sources_[1]->after_seek = [&] { sets_[1].insert(MakeVersion("a", 10)); };
  merged_->Next();
  EXPECT_EQ("d@4", At());
}

TEST_F(MergingIteratorTest, EndsWithTheErrorOfASource) {
  sets_[0] = {MakeVersion("a", 1), MakeVersion("c", 3)};
  sets_[1] = {MakeVersion("b", 2)};
  merged_->SeekToFirst();
  ASSERT_EQ("a@1", At());
  sources_[1]->broken = true;
  merged_->Seek("a", kMaxSequence);
  EXPECT_FALSE(merged_->Valid());
  EXPECT_TRUE(merged_->status().IsCorruption());
}

}  // namespace
}  // namespace miodb::test
