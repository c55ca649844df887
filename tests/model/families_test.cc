// Column families against a map of maps: random writes, batches over several families, reads in both directions and
// through snapshots, flushes, merges, reopens, and families that come and go. Under several option sets and orders.

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/util/bytes/family_key.h"
#include "tests/common/db_test_base.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/model.h"
#include "tests/common/random/random.h"

namespace miodb::test {
namespace {

using Content = std::map<std::string, std::string>;  // of one family
using Contents = std::map<std::string, Content>;     // by name; the default one is there always
const std::string kDefault = "default";

class FamiliesModelTest : public DbTestBase, public testing::WithParamInterface<std::string> {
 protected:
  struct Moment {
    const Snapshot* snapshot;
    Contents contents;
  };

  FamiliesModelTest() : random_(0) { options_ = FindOptionSet(GetParam()).options; }
  ~FamiliesModelTest() override { ForgetMoments(); }

  ColumnFamilyHandle* Handle(const std::string& name) {
    ColumnFamilyHandle* family = nullptr;
    EXPECT_OK(db_->GetColumnFamily(name, &family));
    return family;
  }

  std::string RandomFamily() {
    auto it = model_.begin();
    std::advance(it, random_.Uniform(model_.size()));
    return it->first;
  }

  // Few keys, some of them at the borders of the families' range. Not those that the default family is refused.
  std::string RandomKey(const std::string& family) {
    static const std::string kMark(kFamilyMark, kFamilyMarkBytes);
    switch (random_.Uniform(10)) {
      case 0:
        return random_.OneIn(2) ? "" : "\xff\xff\xff\xff\xff\xff\xff\xff\xff";
      case 1:
        return kMark.substr(0, 7) + std::string(1, static_cast<char>(random_.Uniform(2) ? 0xf4 : 0xf6)) +
               random_.Bytes(random_.Uniform(2));
      case 2:
        return family == kDefault ? kMark.substr(0, random_.Uniform(8)) : kMark + random_.Bytes(random_.Uniform(6));
      default:
        return "key" + std::to_string(random_.Uniform(300));
    }
  }

  void Step() {
    const std::string family = RandomFamily();
    Content& content = model_[family];
    const std::string key = RandomKey(family), value = random_.Bytes(random_.Skewed(10));
    switch (random_.Uniform(40)) {
      case 0:
        return WriteOverSeveral();
      case 1:
      case 2:
        ASSERT_OK(db_->Delete(WriteOptions(), Handle(family), key));
        content.erase(key);
        return;
      case 6:
        return DeleteRange(family, key, RandomKey(family), &content);
      case 3:
        return CheckMultiGet();
      case 4:
      case 5:
        return CheckGet(family, key, content, nullptr);
      default:
        ASSERT_OK(db_->Put(WriteOptions(), Handle(family), key, value));
        content[key] = value;
    }
  }

  void DeleteRange(const std::string& family, std::string begin, std::string end, Content* content) {
    const bool reversed = family == kDefault && options_.comparator != BytewiseComparator();
    if ((begin > end) != reversed) std::swap(begin, end);
    if (random_.OneIn(3)) begin = reversed ? std::string(12, '\xff') : "";
    ASSERT_OK(db_->DeleteRange(WriteOptions(), Handle(family), begin, end));
    for (auto it = content->begin(); it != content->end();) {
      const bool in = reversed ? it->first <= begin && it->first > end : it->first >= begin && it->first < end;
      it = in ? content->erase(it) : std::next(it);
    }
  }

  void WriteOverSeveral() {
    WriteBatch batch;
    for (uint64_t n = 1 + random_.Uniform(12); n > 0; n--) {
      const std::string family = RandomFamily(), key = RandomKey(family);
      if (random_.OneIn(3)) {
        batch.Delete(Handle(family), key);
        model_[family].erase(key);
      } else {
        batch.Put(Handle(family), key, std::to_string(n));
        model_[family][key] = std::to_string(n);
      }
    }
    ASSERT_OK(db_->Write(WriteOptions(), &batch));
  }

  void CheckGet(const std::string& family, const std::string& key, const Content& content, const Snapshot* snapshot) {
    ReadOptions options;
    options.snapshot = snapshot;
    std::string value;
    const Status s = db_->Get(options, Handle(family), key, &value);
    const auto expected = content.find(key);
    ASSERT_EQ(expected == content.end(), s.IsNotFound()) << family << " " << Printable(key) << " " << s.ToString();
    if (s.ok()) {
      ASSERT_EQ(expected->second, value);
    }
  }

  void CheckMultiGet() {
    std::vector<ColumnFamilyHandle*> families;
    std::vector<std::string> names, keys, values;
    for (int i = 0; i < 20; i++) {
      names.push_back(RandomFamily());
      families.push_back(Handle(names.back()));
      keys.push_back(RandomKey(names.back()));
    }
    const std::vector<Slice> slices(keys.begin(), keys.end());
    const std::vector<Status> statuses = db_->MultiGet(ReadOptions(), families, slices, &values);
    for (size_t i = 0; i < keys.size(); i++) {
      const Content& content = model_[names[i]];
      const auto expected = content.find(keys[i]);
      ASSERT_EQ(expected == content.end(), statuses[i].IsNotFound()) << statuses[i].ToString();
      if (statuses[i].ok()) {
        ASSERT_EQ(expected->second, values[i]);
      }
    }
  }

  // All of a family forward and backward, and a random walk.
  void CheckFamily(const std::string& family, const Content& content, const Snapshot* snapshot) {
    SCOPED_TRACE(family);
    const bool reversed = family == kDefault && options_.comparator != BytewiseComparator();
    std::vector<std::pair<std::string, std::string>> sorted(content.begin(), content.end());
    if (reversed) std::reverse(sorted.begin(), sorted.end());
    ReadOptions options;
    options.snapshot = snapshot;
    const std::unique_ptr<Iterator> it(db_->NewIterator(options, Handle(family)));
    size_t i = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), i++) {
      ASSERT_LT(i, sorted.size());
      ASSERT_EQ(Printable(sorted[i].first), Printable(it->key()));
      ASSERT_EQ(sorted[i].second, it->value().ToString());
    }
    ASSERT_OK(it->status());
    ASSERT_EQ(sorted.size(), i);
    for (it->SeekToLast(); it->Valid(); it->Prev()) {
      ASSERT_GT(i, 0u);
      ASSERT_EQ(Printable(sorted[--i].first), Printable(it->key()));
    }
    ASSERT_EQ(0u, i);
    for (int steps = 0; steps < 30; steps++) {
      const std::string target = RandomKey(family);
      it->Seek(target);
      size_t at = 0;
      while (at < sorted.size() && (reversed ? sorted[at].first > target : sorted[at].first < target)) at++;
      for (int moves = 0; moves < 4; moves++) {
        ASSERT_EQ(at < sorted.size(), it->Valid());
        if (!it->Valid()) break;
        ASSERT_EQ(Printable(sorted[at].first), Printable(it->key()));
        const bool forward = random_.OneIn(2);
        forward ? it->Next() : it->Prev();
        at = forward ? at + 1 : at == 0 ? sorted.size() : at - 1;
      }
    }
  }

  void CheckAll(const Contents& contents, const Snapshot* snapshot) {
    for (const auto& [family, content] : contents) {
      if (model_.count(family) == 0) continue;  // dropped since
      CheckFamily(family, content, snapshot);
    }
  }

  // Before the database is closed.
  void ForgetMoments() {
    for (const Moment& moment : moments_) db_->ReleaseSnapshot(moment.snapshot);
    moments_.clear();
  }

  // Does a rare event.
  void Event() {
    switch (random_.Uniform(9)) {
      case 0: {
        const std::string name = "family" + std::to_string(named_++);
        ColumnFamilyHandle* family = nullptr;
        ASSERT_OK(db_->CreateColumnFamily(name, &family));
        model_[name];
        break;
      }
      case 1: {
        const std::string name = RandomFamily();
        if (name == kDefault || model_.size() < 4) break;
        ASSERT_OK(db_->DropColumnFamily(Handle(name)));
        model_.erase(name);
        break;
      }
      case 2:
        ForgetMoments();
        Open();
        break;
      case 3:
        ASSERT_OK(db_->Flush());
        break;
      case 4:
        Settle();
        break;
      case 5:
        if (moments_.size() < 3) moments_.push_back({db_->GetSnapshot(), model_});
        break;
      case 6:
        if (!moments_.empty()) CheckAll(moments_[0].contents, moments_[0].snapshot);
        break;
      default:
        CheckAll(model_, nullptr);
    }
  }

  void Run() {
    for (const uint64_t seed : Seeds(ByScale(4, 20, 400))) {
      SCOPED_TRACE(Repeat(seed));
      random_ = Random(seed);
      RunOnce();
      if (HasFatalFailure()) return;
      ASSERT_OK(DestroyDB(path_, AtPath(options_, path_)));
    }
  }

  void RunOnce() {
    model_.clear();
    model_[kDefault];
    Open();
    for (int i = 0; i < 6; i++) Event();
    for (int i = 0; i < 3000 && !HasFatalFailure(); i++) {
      Step();
      if (random_.OneIn(50)) Event();
    }
    ForgetMoments();
    Open();
    CheckAll(model_, nullptr);
    std::vector<std::string> names;
    ASSERT_OK(db_->ListColumnFamilies(&names));
    EXPECT_EQ(model_.size(), names.size());
    Close();
  }

  Random random_;
  Contents model_;
  std::vector<Moment> moments_;
  int named_ = 0;
};

TEST_P(FamiliesModelTest, FamiliesAreMapsOfTheirOwn) { Run(); }

TEST_P(FamiliesModelTest, FamiliesAreMapsOfTheirOwnBesideAnotherOrder) {
  options_.comparator = ReverseComparator();
  Run();
}

INSTANTIATE_TEST_SUITE_P(OptionSets, FamiliesModelTest, testing::Values("small", "ssd", "log_file", "log_off"),
                         [](const auto& param) { return param.param; });

}  // namespace
}  // namespace miodb::test
