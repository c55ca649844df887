// The default family's walk goes around the others, whatever they do meanwhile and in whatever order keys are.

#include "src/iterator/default_family_iterator.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "src/util/bytes/family_key.h"
#include "src/util/bytes/key_order.h"
#include "tests/common/status_asserts.h"

namespace miodb::test {
namespace {

std::string InFamily(uint32_t id, const std::string& key) { return FamilyPrefix(id).slice().ToString() + key; }

// Keys as they were given, in order or not. A search looks for the first that is not before the target, as a search in
// a table does; after_seek may put more keys in, as writers do into a memtable.
class Keys final : public InternalIterator {
 public:
  Keys(std::vector<std::string> keys, std::function<void(Keys*)> after_seek)
      : keys_(std::move(keys)), after_seek_(std::move(after_seek)) {}

  bool Valid() const override { return at_ < keys_.size(); }
  void SeekToFirst() override { Go(0); }
  void SeekToLast() override { Go(keys_.size() - 1); }
  void Seek(const Slice& key, uint64_t) override {
    size_t at = 0;
    while (at < keys_.size() && Slice(keys_[at]).compare(key) < 0) at++;
    Go(at);
    if (after_seek_ != nullptr) after_seek_(this);
  }
  void Next() override { Go(at_ + 1); }
  void Prev() override { Go(at_ == 0 ? keys_.size() : at_ - 1); }
  const RecordView& record() const override { return record_; }
  Status status() const override { return Status::OK(); }

  // Before where the walk stands, which stays on its key.
  void InsertBefore(const std::string& key) {
    keys_.insert(keys_.begin() + static_cast<ptrdiff_t>(at_), key);
    Go(at_ + 1);
  }

  void Go(size_t at) {
    at_ = at;
    if (Valid()) record_.key = keys_[at_];
  }

 private:
  std::vector<std::string> keys_;
  const std::function<void(Keys*)> after_seek_;
  size_t at_ = SIZE_MAX;
  RecordView record_;
};

std::unique_ptr<InternalIterator> Walk(std::vector<std::string> keys, std::function<void(Keys*)> after_seek = nullptr) {
  return NewDefaultFamilyIterator(std::make_unique<Keys>(std::move(keys), std::move(after_seek)), "/db");
}

// The keys of a walk, in one string; the walk ends by itself, or the test fails.
std::string Shown(InternalIterator* it, bool forward) {
  std::string shown;
  forward ? it->SeekToFirst() : it->SeekToLast();
  for (int steps = 0; it->Valid(); steps++) {
    EXPECT_FALSE(HasFamilyMark(it->record().key));
    shown += it->record().key.ToString();
    EXPECT_LT(steps, 100) << "it never ends";
    if (steps == 100) break;
    forward ? it->Next() : it->Prev();
  }
  return shown;
}

TEST(DefaultFamilyIteratorTest, PassesTheOthersBothWays) {
  const auto it = Walk({"a", "b", InFamily(1, "x"), InFamily(2, "y"), "\xff\xff"});
  EXPECT_EQ("ab\xff\xff", Shown(it.get(), true));
  EXPECT_EQ(
      "\xff\xff"
      "ba",
      Shown(it.get(), false));
  it->SeekToLast();
  for (int turn = 0; turn < 3; turn++) {
    it->Prev();
    EXPECT_EQ("b", it->record().key.ToString());
    it->Next();
    EXPECT_EQ("\xff\xff", it->record().key.ToString());
  }
  EXPECT_OK(it->status());
}

// Between the search and the step back another thread writes.
TEST(DefaultFamilyIteratorTest, PassesWhatIsWrittenIntoAFamilyMeanwhile) {
  char next = 'z';
  const auto it = Walk({"a", "b", InFamily(1, "zz")}, [&](Keys* keys) {
    for (int i = 0; i < 3 && keys->Valid() && next > 'a'; i++) keys->InsertBefore(InFamily(1, std::string(1, next--)));
  });
  EXPECT_EQ("ba", Shown(it.get(), false));
  EXPECT_OK(it->status());
}

TEST(DefaultFamilyIteratorTest, EndsWithCorruptionWhereAFamilyLiesAmongItsKeys) {
  const auto forward = Walk({"a", "\xff\xff", InFamily(1, "x"), "b"});
  Shown(forward.get(), true);
  EXPECT_STATUS(Corruption, forward->status());
  EXPECT_NE(std::string::npos, forward->status().ToString().find("/db"));
  // The search leads to the same place again and again.
  const auto backward = Walk({"a", InFamily(1, "x"), "b", InFamily(1, "y"), "c"}, [](Keys* keys) { keys->Go(3); });
  Shown(backward.get(), false);
  EXPECT_STATUS(Corruption, backward->status());
}

}  // namespace
}  // namespace miodb::test
