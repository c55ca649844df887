// Views of a database at one moment, beside the database that goes on: random histories of puts, lifetimes, deletions,
// deletions of ranges, operands and families, with flushes, merges and an SSD tier, against what a model had then.

#include "src/db/reader/view_db.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "miodb/comparator.h"
#include "miodb/lifetime.h"
#include "miodb/merge_operator.h"
#include "miodb/write_batch.h"
#include "src/db/open/db_impl.h"
#include "src/db/open/db_parts.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/merge_policies.h"
#include "tests/common/random/model.h"
#include "tests/common/random/random.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_dir.h"

namespace miodb {

class DBPeer {
 public:
  // The state that the database shows now; its newest writes are in a memtable that is sealed for this. REQUIRES:
  // nobody writes.
  static ViewState StateOf(DBImpl* db) {
    DbLock lock(db->control_.get());
    EXPECT_OK(db->write_->RequestFlush());
    Tree& tree = *db->tree_;
    EXPECT_TRUE(tree.memtable->empty());
    const ManifestState& manifest = tree.versions->manifest();
    return {db->context_->pool,        db->context_->ssd,
            tree.versions->current(),  {tree.immutables.begin(), tree.immutables.end()},
            tree.last_sequence.load(), manifest.next_family,
            manifest.families};
  }

  static std::unique_ptr<ViewDb> View(DBImpl* db) {
    std::unique_ptr<ViewDb> view;
    EXPECT_OK(ViewDb::Make(db->context_->UserOptions(), db->context_->name, db->context_->hooks, StateOf(db), &view));
    return view;
  }
};

}  // namespace miodb

namespace miodb::test {
namespace {

constexpr uint64_t kSecond = 1000 * 1000;
constexpr uint64_t kKeys = 40;
constexpr char kEstimate[] = "miodb.estimate-num-keys";
constexpr char kBytes[] = "miodb.approximate-bytes";

std::atomic<uint64_t> g_date{0};

struct Entry {
  std::string value;
  uint64_t expiry = UINT64_MAX;
};
using Content = std::map<std::string, Entry>;                   // of one family
using Contents = std::map<std::string, Content>;                // by name; the default one is there always
using Pairs = std::map<std::string, std::string, Model::Less>;  // in the order of a family
const std::string kDefault = "default";

std::string KeyOf(uint64_t i) { return "key" + std::to_string(100 + i); }
bool MayExpire(const std::string& key) { return key < KeyOf(kKeys / 2); }  // the others may have operands

Pairs Shown(const Content& content, const Comparator* order = BytewiseComparator()) {
  Pairs shown(Model::Less{order});
  for (const auto& [key, entry] : content) {
    if (g_date < entry.expiry) shown[key] = entry.value;
  }
  return shown;
}

// Calls by the handle of a family or, where it is null, those without one.
class Calls {
 public:
  Calls(DB* db, ColumnFamilyHandle* family, const Snapshot* snapshot) : db_(db), family_(family) {
    options_.snapshot = snapshot;
  }

  template <typename Value>
  Status Get(const Slice& key, Value* value) {
    return family_ != nullptr ? db_->Get(options_, family_, key, value) : db_->Get(options_, key, value);
  }
  template <typename Value>
  std::vector<Status> MultiGet(const std::vector<Slice>& keys, std::vector<Value>* values) {
    const std::vector<ColumnFamilyHandle*> families(keys.size(), family_);
    return family_ != nullptr ? db_->MultiGet(options_, families, keys, values) : db_->MultiGet(options_, keys, values);
  }
  bool MayExist(const Slice& key, std::string* value, bool* found) {
    return family_ != nullptr ? db_->KeyMayExist(options_, family_, key, value, found)
                              : db_->KeyMayExist(options_, key, value, found);
  }
  std::unique_ptr<Iterator> NewIterator() {
    return std::unique_ptr<Iterator>(family_ != nullptr ? db_->NewIterator(options_, family_)
                                                        : db_->NewIterator(options_));
  }

  // Every call that reads keys, against what they should have.
  void Check(const Pairs& expected) {
    std::vector<std::string> keys;
    for (uint64_t i = 0; i < kKeys; i++) keys.push_back(KeyOf(i));
    const std::vector<Slice> slices(keys.begin(), keys.end());
    std::vector<std::string> copies;
    std::vector<PinnableSlice> pins;
    const std::vector<Status> copied = MultiGet(slices, &copies), pinned = MultiGet(slices, &pins);
    for (size_t i = 0; i < keys.size(); i++) {
      SCOPED_TRACE(keys[i]);
      const auto found = expected.find(keys[i]);
      std::string value;
      PinnableSlice pin;
      CheckOne(found, expected, Get(keys[i], &value), value);
      const Status got = Get(keys[i], &pin);
      CheckOne(found, expected, got, pin.ToString());
      CheckOne(found, expected, copied[i], copies[i]);
      CheckOne(found, expected, pinned[i], pins[i].ToString());
      bool has = false;
      std::string near;
      const bool may = MayExist(keys[i], &near, &has);
      ASSERT_TRUE(may || found == expected.end());
      if (has) {
        ASSERT_EQ(found->second, near);
      }
    }
    CheckWalks(expected);
  }

 private:
  static void CheckOne(Pairs::const_iterator found, const Pairs& expected, const Status& s, const std::string& value) {
    if (found == expected.end()) {
      ASSERT_TRUE(s.IsNotFound()) << s.ToString() << " " << value;
    } else {
      ASSERT_TRUE(s.ok()) << s.ToString() << ", should have " << found->second;
      ASSERT_EQ(found->second, value);
    }
  }

  void CheckWalks(const Pairs& expected) {
    const std::unique_ptr<Iterator> it = NewIterator();
    const std::vector<std::pair<std::string, std::string>> wanted(expected.begin(), expected.end());
    std::vector<std::pair<std::string, std::string>> forward, backward;
    for (it->SeekToFirst(); it->Valid(); it->Next()) forward.emplace_back(it->key().ToString(), it->value().ToString());
    ASSERT_OK(it->status());
    for (it->SeekToLast(); it->Valid(); it->Prev()) backward.emplace_back(it->key().ToString(), it->value().ToString());
    ASSERT_OK(it->status());
    std::reverse(backward.begin(), backward.end());
    ASSERT_EQ(wanted, forward);
    ASSERT_EQ(wanted, backward);
    const std::string middle = KeyOf(kKeys / 2);
    it->Seek(middle);
    const auto next = expected.lower_bound(middle);
    ASSERT_EQ(next != expected.end(), it->Valid());
    if (it->Valid()) {
      ASSERT_EQ(next->first, it->key().ToString());
    }
  }

  DB* const db_;
  ColumnFamilyHandle* const family_;
  ReadOptions options_;
};

// What calls say that do not look for keys. It is the same of the database at a moment and of the view of it.
std::vector<std::string> Figures(DB* db) {
  std::vector<std::string> figures{std::to_string(db->GetLatestSequenceNumber())};
  const std::string ends[3] = {KeyOf(0), KeyOf(kKeys / 2), KeyOf(kKeys)};
  const Range ranges[2] = {Range(ends[0], ends[1]), Range(ends[1], ends[2])};
  uint64_t sizes[2];
  const auto add_sizes = [&] {
    figures.push_back(std::to_string(sizes[0]));
    figures.push_back(std::to_string(sizes[1]));
  };
  std::string value;
  db->GetApproximateSizes(ranges, 2, sizes);
  add_sizes();
  EXPECT_TRUE(db->GetProperty(kEstimate, &value));
  figures.push_back(value);
  std::vector<std::string> names;
  EXPECT_OK(db->ListColumnFamilies(&names));
  for (const std::string& name : names) {
    ColumnFamilyHandle* family = nullptr;
    EXPECT_OK(db->GetColumnFamily(name, &family));
    figures.push_back(name + " " + std::to_string(family->GetID()));
    db->GetApproximateSizes(family, ranges, 2, sizes);
    add_sizes();
    for (const char* property : {kEstimate, kBytes}) {
      const bool has = db->GetProperty(family, property, &value);
      EXPECT_EQ(has, name != kDefault || property == kEstimate);
      figures.push_back(has ? value : "none");
    }
  }
  return figures;
}

// A view and what it should show.
struct Moment {
  const Comparator* order;  // of the default family
  Contents contents;
  std::vector<std::string> figures;
  std::unique_ptr<ViewDb> view;

  void Check() {
    ASSERT_EQ(figures, Figures(view.get()));
    const Snapshot* const snapshot = view->GetSnapshot();
    ASSERT_EQ(view->GetLatestSequenceNumber(), snapshot->GetSequenceNumber());
    for (const auto& [name, content] : contents) {
      SCOPED_TRACE(name);
      const Pairs expected = Shown(content, name == kDefault ? order : BytewiseComparator());
      ColumnFamilyHandle* family = nullptr;
      ASSERT_OK(view->GetColumnFamily(name, &family));
      Calls(view.get(), family, nullptr).Check(expected);
      Calls(view.get(), family, snapshot).Check(expected);
      if (name == kDefault) Calls(view.get(), nullptr, nullptr).Check(expected);
    }
    view->ReleaseSnapshot(snapshot);
  }
};

class World {
 public:
  explicit World(uint64_t seed) : random_(seed) {
    g_date = (uint64_t{4000000000} + random_.Uniform(1000)) * kSecond;
    options_.create_if_missing = true;
    options_.merge_operator = append_.get();
    if (random_.OneIn(3)) options_.comparator = ReverseComparator();
    options_.write_buffer_size = 2048u << random_.Uniform(4);
    options_.log_chunk_size = 4096;
    options_.pool_growth = 64 << 10;
    options_.num_levels = static_cast<int>(2 + random_.Uniform(4));
    options_.level_trigger = static_cast<int>(2 + random_.Uniform(3));
    options_.merge_policy = AnyMergePolicy(&random_);
    options_.partition_size = 4096u << random_.Uniform(4);
    options_.lazy_copy_limit = random_.OneIn(4) ? 0 : 32u << random_.Uniform(7);
    options_.filter_bits_per_key = random_.OneIn(3) ? 0 : 10;
    if (random_.OneIn(4)) options_.log_mode = kLogFile;
    if (random_.OneIn(2)) {
      options_.ssd_path = dir_ / "ssd";
      options_.nvm_budget = 8 << 10;
      options_.ssd_file_size = 4096;
      options_.ssd_level_size = 16 << 10;
    }
    hooks_.background = BackgroundMode::kBySteps;
    hooks_.wall_micros = [] { return g_date.load(); };
    EXPECT_OK(DBImpl::Open(options_, dir_ / "db", hooks_, &db_));
  }

  void Step() {
    switch (random_.Uniform(24)) {
      case 0:
        g_date += random_.Uniform(2 * kSecond);
        return;
      case 1:
      case 2:
        return Background();
      case 3:
        if (random_.OneIn(6)) db_->CompactRange(nullptr, nullptr);
        return;
      case 4:
        return random_.OneIn(3) ? ChangeFamilies() : DeleteRange();
      case 5:
        return random_.OneIn(3) ? ChangeMoments() : CheckAny();
      default:
        return Write();
    }
  }

  void CheckAll() {
    for (Moment& moment : moments_) moment.Check();
    g_date += 100 * kSecond;
    db_->CompactRange(nullptr, nullptr);
    for (Moment& moment : moments_) moment.Check();
    Moment now = Now();
    now.Check();
  }

 private:
  ColumnFamilyHandle* Handle(const std::string& name) {
    ColumnFamilyHandle* family = nullptr;
    EXPECT_OK(db_->GetColumnFamily(name, &family));
    return family;
  }
  Contents::iterator AnyFamily() {
    return std::next(model_.begin(), static_cast<ptrdiff_t>(random_.Uniform(model_.size())));
  }
  std::string AnyKey() { return KeyOf(random_.Uniform(kKeys)); }

  void Write() {
    auto& [name, content] = *AnyFamily();
    ColumnFamilyHandle* const family = Handle(name);
    const std::string key = AnyKey(),
                      text = std::string(random_.Skewed(9), 'v') + std::to_string(random_.Uniform(1000));
    WriteOptions options;
    if (random_.OneIn(4)) {
      ASSERT_OK(db_->Delete(options, family, key));
      content.erase(key);
    } else if (!MayExpire(key) && random_.OneIn(2)) {
      ASSERT_OK(db_->Merge(options, family, key, text));
      std::string& value = content[key].value;
      value += value.empty() ? text : "," + text;
    } else {
      Entry entry{text};
      if (MayExpire(key) && random_.OneIn(2)) {
        options.lifetime_seconds = 1 + random_.Uniform(10);
        entry.expiry = g_date + options.lifetime_seconds * kSecond;
      }
      ASSERT_OK(db_->Put(options, family, key, text));
      content[key] = entry;
    }
  }

  void DeleteRange() {
    auto& [name, content] = *AnyFamily();
    const uint64_t first = random_.Uniform(kKeys), last = first + random_.Uniform(10);
    const bool reversed = name == kDefault && options_.comparator != BytewiseComparator();
    const std::string begin = KeyOf(reversed ? last : first), end = KeyOf(reversed ? first : last);
    ASSERT_OK(db_->DeleteRange(WriteOptions(), Handle(name), begin, end));
    for (uint64_t i = first; i < last; i++) content.erase(KeyOf(reversed ? i + 1 : i));
  }

  void Background() {
    constexpr DBImpl::Step kSteps[] = {DBImpl::Step::kPrepare, DBImpl::Step::kFlush, DBImpl::Step::kMerge,
                                       DBImpl::Step::kSsd};
    const DBImpl::Step step = kSteps[random_.Uniform(4)];
    for (uint64_t i = random_.Skewed(4); i > 0 && db_->RunStep(step); i--) {
    }
  }

  void ChangeFamilies() {
    const auto any = AnyFamily();
    if (any->first != kDefault && random_.OneIn(2)) {
      ASSERT_OK(db_->DropColumnFamily(Handle(any->first)));
      model_.erase(any);
    } else if (model_.size() < 4) {
      const std::string name = "family" + std::to_string(random_.Uniform(6));
      ColumnFamilyHandle* family = nullptr;
      const Status s = db_->CreateColumnFamily(name, &family);
      // Under another order the first one is refused while there are views.
      const bool may_refuse = model_.size() == 1 && options_.comparator != BytewiseComparator();
      ASSERT_TRUE(model_.count(name) == 0 ? s.ok() || may_refuse : !s.ok()) << s.ToString();
      if (s.ok()) model_[name];
    }
  }

  Moment Now() {
    Moment now{options_.comparator, model_, {}, DBPeer::View(db_.get())};
    now.figures = Figures(db_.get());
    return now;
  }

  void ChangeMoments() {
    if (moments_.size() < 3) {
      moments_.push_back(Now());
      moments_.back().Check();
    } else {
      moments_.erase(moments_.begin() + static_cast<ptrdiff_t>(random_.Uniform(moments_.size())));
    }
  }

  void CheckAny() {
    if (!moments_.empty()) moments_[random_.Uniform(moments_.size())].Check();
  }

  Random random_;
  TestDir dir_;
  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  Options options_;
  DBImpl::Hooks hooks_;
  std::unique_ptr<DBImpl> db_;
  Contents model_{{kDefault, {}}};
  std::vector<Moment> moments_;  // closed before the database
};

TEST(ViewDbTest, AViewShowsItsMomentWhateverTheDatabaseDoes) {
  for (uint64_t seed : Seeds(ByScale(RunsUnderSanitizer() ? 8 : 40, 300, 10000))) {
    SCOPED_TRACE(Repeat(seed));
    World world(seed);
    for (uint64_t i = 0; i < 1500 && !testing::Test::HasFailure(); i++) {
      SCOPED_TRACE(testing::Message() << "step " << i);
      world.Step();
    }
    if (!testing::Test::HasFailure()) world.CheckAll();
    if (testing::Test::HasFailure()) return;
  }
}

class OneViewTest : public testing::Test {
 protected:
  void Open() {
    options_.create_if_missing = true;
    options_.merge_operator = append_.get();
    ASSERT_OK(DBImpl::Open(options_, dir_ / "db", DBImpl::Hooks(), &db_));
  }

  const std::unique_ptr<const MergeOperator> append_{NewStringAppendOperator(",")};
  TestDir dir_;
  Options options_;
  std::unique_ptr<DBImpl> db_;
};

TEST_F(OneViewTest, AViewOfNothingIsEmpty) {
  Open();
  const std::unique_ptr<ViewDb> view = DBPeer::View(db_.get());
  ASSERT_OK(db_->Put(WriteOptions(), KeyOf(0), "value"));
  Calls(view.get(), nullptr, nullptr).Check(Shown({}));
  Calls(view.get(), view->DefaultColumnFamily(), nullptr).Check(Shown({}));
  std::string value = "as it was";
  EXPECT_FALSE(view->GetProperty("leveldb.stats", &value));
  EXPECT_EQ("as it was", value);
}

TEST_F(OneViewTest, EveryCallThatWritesIsRefused) {
  Open();
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("family", &family));
  ASSERT_OK(db_->Put(WriteOptions(), KeyOf(0), "value"));
  ASSERT_OK(db_->Put(WriteOptions(), family, KeyOf(1), "other"));
  const std::unique_ptr<ViewDb> opened = DBPeer::View(db_.get());
  DB* const view = opened.get();
  std::string value;
  EXPECT_STATUS(InvalidArgument, view->Get(ReadOptions(), family, KeyOf(1), &value));  // the live one's handle
  ASSERT_OK(view->GetColumnFamily("family", &family));
  const WriteOptions write;
  WriteBatch batch;
  batch.Put(KeyOf(2), "value");
  ColumnFamilyHandle* made = family;
  const Status refused[] = {view->Put(write, "a", "b"),
                            view->Put(write, family, "a", "b"),
                            view->Delete(write, KeyOf(0)),
                            view->Delete(write, family, KeyOf(1)),
                            view->Merge(write, "a", "b"),
                            view->Merge(write, family, "a", "b"),
                            view->SingleDelete(write, KeyOf(0)),
                            view->SingleDelete(write, family, KeyOf(1)),
                            view->DeleteRange(write, KeyOf(0), KeyOf(9)),
                            view->DeleteRange(write, family, KeyOf(0), KeyOf(9)),
                            view->Write(write, &batch),
                            view->WriteIfUnchanged(write, &batch, {}),
                            view->CreateColumnFamily("another", &made),
                            view->DropColumnFamily(family),
                            view->StartTrace(TraceOptions(), nullptr),
                            view->EndTrace(),
                            view->AddRegion(NvmRegion())};
  for (const Status& s : refused) {
    EXPECT_TRUE(s.IsNotSupportedError()) << s.ToString();
    EXPECT_EQ("Not implemented: " + (dir_ / "db") + ": is a view of a savepoint, which nobody can write to",
              s.ToString());
  }
  EXPECT_EQ(nullptr, made);
  EXPECT_OK(view->Flush());
  EXPECT_OK(view->WaitForIdle());
  view->CompactRange(nullptr, nullptr);
  view->CompactRange(family, nullptr, nullptr);
  view->StopWaiting();
  Calls(view, nullptr, nullptr).Check(Shown({{KeyOf(0), {"value"}}}));
  Calls(view, family, nullptr).Check(Shown({{KeyOf(1), {"other"}}}));
}

// Keys that a family is refused for belong to the default one where there is no family.
TEST_F(OneViewTest, KeysWithTheMarkAreSeenOfTheTimeBeforeThereWereFamilies) {
  Open();
  const std::string key = std::string(kFamilyMark, kFamilyMarkBytes) + "key";
  ASSERT_OK(db_->Put(WriteOptions(), key, "value"));
  const std::unique_ptr<ViewDb> view = DBPeer::View(db_.get());
  ASSERT_OK(db_->Delete(WriteOptions(), key));
  db_->CompactRange(nullptr, nullptr);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("family", &family));
  std::string value;
  EXPECT_OK(view->Get(ReadOptions(), key, &value));
  EXPECT_STATUS(NotFound, db_->Get(ReadOptions(), key, &value));
  EXPECT_STATUS(NotFound, view->GetColumnFamily("family", &family));
}

TEST_F(OneViewTest, ManyThreadsReadWhileTheDatabaseGoesOn) {
  options_.write_buffer_size = 64 << 10;
  options_.ssd_path = dir_ / "ssd";
  options_.nvm_budget = 256 << 10;
  Open();
  Random random(17);
  ColumnFamilyHandle* family = nullptr;
  ASSERT_OK(db_->CreateColumnFamily("family", &family));
  Moment moment{BytewiseComparator(), {{kDefault, {}}, {"family", {}}}, {}, nullptr};
  const auto write = [&](uint64_t round, bool modelled) {
    const std::string key = KeyOf(random.Uniform(kKeys)), value = std::string(500, 'v') + std::to_string(round);
    const bool in_family = random.OneIn(2);
    ASSERT_OK(db_->Put(WriteOptions(), in_family ? family : db_->DefaultColumnFamily(), key, value));
    if (modelled) moment.contents[in_family ? "family" : kDefault][key] = {value};
  };
  for (uint64_t i = 0; i < 2000; i++) write(i, true);
  moment.view = DBPeer::View(db_.get());
  moment.figures = Figures(moment.view.get());
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 4; i++) {
    readers.emplace_back([&] {
      while (!done && !testing::Test::HasFailure()) moment.Check();
    });
  }
  for (uint64_t i = 0; i < ByScale(4000, 20000, 200000) && !testing::Test::HasFailure(); i++) {
    write(i, false);
    if (i % 1000 == 500) ASSERT_OK(db_->DeleteRange(WriteOptions(), KeyOf(3), KeyOf(30)));
    if (i % 2000 == 1500) db_->CompactRange(nullptr, nullptr);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  moment.Check();
  moment.view.reset();
}

}  // namespace
}  // namespace miodb::test
