#include "tests/compaction/merge_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <thread>

#include "tests/common/status_asserts.h"

namespace miodb::test {

namespace {

// Versions of up to count keys out of a window of keys, with sequences from first on.
std::vector<TestVersion> DrawRun(const MergeShape& shape, const std::vector<std::string>& keys, uint64_t first,
                                 Random* random) {
  const size_t window = std::min(shape.window, keys.size());
  const size_t start = random->Uniform(keys.size() - window + 1);
  std::vector<TestVersion> versions;
  std::set<size_t> drawn;
  for (uint64_t i = 1 + random->Uniform(shape.keys_per_run); i > 0; i--) drawn.insert(start + random->Uniform(window));
  for (size_t i : drawn) {
    for (uint64_t n = 1 + random->Uniform(shape.most_versions); n > 0; n--) {
      const bool tombstone = shape.tombstones && random->OneIn(4);
      versions.push_back({keys[i], 0, tombstone ? kTypeDeletion : kTypeValue,
                          tombstone ? "" : random->Bytes(random->Uniform(shape.most_value_bytes + 1))});
    }
  }
  for (size_t i = versions.size(); i > 1; i--) std::swap(versions[i - 1], versions[random->Uniform(i)]);
  for (TestVersion& v : versions) v.sequence = first++;
  return versions;
}

}  // namespace

MergeWorld::MergeWorld(const MergeShape& shape, uint64_t seed, uint64_t pool_bytes)
    : random_(seed), pool_(pool_bytes), maker_(&pool_, shape.comparator) {
  const std::vector<std::string> keys = MakeKeys(shape.keys, shape.key_count, maker_.order(), &random_);
  uint64_t next = 1;
  for (size_t i = 0; i < shape.older + shape.inputs; i++) {
    InputRun run;
    run.versions = DrawRun(shape, keys, next, &random_);
    next += run.versions.size() + random_.Uniform(3);
    run.tables = maker_.MakeRun(SortedVersions(maker_.order(), run.versions), shape.versions_per_table, shape.tables);
    (i < shape.older ? older_ : inputs_).push_back(std::move(run));
  }
  payload_ = maker_.payload();
  std::set<uint64_t> snapshots;
  while (snapshots.size() < shape.snapshots) snapshots.insert(random_.Uniform(next + 1));
  snapshots_.assign(snapshots.begin(), snapshots.end());
  filter_ = std::make_unique<VersionFilter>(snapshots_);
}

Sharing InThreads(size_t shares) {
  return {shares, 1, [](size_t count, const Sharing::Work& work) {
            std::vector<std::thread> threads;
            for (size_t i = 0; i < count; i++) threads.emplace_back([&, i] { work(i); });
            for (std::thread& thread : threads) thread.join();
          }};
}

MergeRequest MergeWorld::Request() {
  MergeRequest request{pool_.get(), maker_.order(), Purpose::kMerge, filter_.get(), &payload_, {}, {}};
  older_runs_.clear();
  for (const InputRun& run : older_) older_runs_.push_back({0, run.tables});
  for (const miodb::Run& run : older_runs_) request.older.push_back(&run);
  for (auto run = inputs_.rbegin(); run != inputs_.rend(); ++run) request.inputs.push_back(run->tables);
  request.filter_bits = 10;
  request.copy_extents.bytes = 16 * 1024;
  request.new_table_number = [this] { return maker_.NewNumber(); };
  return request;
}

std::vector<TableRef> MergeWorld::InputTables() const {
  std::vector<TableRef> tables;
  for (const InputRun& run : inputs_) tables.insert(tables.end(), run.tables.begin(), run.tables.end());
  return tables;
}

std::vector<TableRef> MergeWorld::OlderTables() const {
  std::vector<TableRef> tables;
  for (const InputRun& run : older_) tables.insert(tables.end(), run.tables.begin(), run.tables.end());
  return tables;
}

miodb::Run MergeWorld::RunOf(const KeyOrder& order, const MergeResult& result) {
  std::vector<TableRef> tables = result.moved;
  tables.insert(tables.end(), result.added.begin(), result.added.end());
  std::sort(tables.begin(), tables.end(),
            [&](const TableRef& a, const TableRef& b) { return order.Compare(a->smallest(), b->smallest()) < 0; });
  return {0, tables};
}

// Connected components of overlap, found by joining until nothing joins any more.
std::vector<MergeWorld::Group> MergeWorld::Groups() const {
  std::vector<Group> groups;
  for (const TableRef& table : InputTables()) {
    groups.push_back({{table}, table->smallest().ToString(), table->largest().ToString()});
  }
  for (bool joined = true; joined;) {
    joined = false;
    for (size_t i = 0; i < groups.size() && !joined; i++) {
      for (size_t j = i + 1; j < groups.size() && !joined; j++) {
        Group &a = groups[i], &b = groups[j];
        if (order().Compare(a.smallest, b.largest) > 0 || order().Compare(b.smallest, a.largest) > 0) continue;
        a.tables.insert(a.tables.end(), b.tables.begin(), b.tables.end());
        if (order().Compare(b.smallest, a.smallest) < 0) a.smallest = b.smallest;
        if (order().Compare(b.largest, a.largest) > 0) a.largest = b.largest;
        groups.erase(groups.begin() + static_cast<ptrdiff_t>(j));
        joined = true;
      }
    }
  }
  return groups;
}

bool MergeWorld::Within(const Group& group, const std::string& key) const {
  return order().Compare(group.smallest, key) <= 0 && order().Compare(key, group.largest) <= 0;
}

bool MergeWorld::OverOlder(const Group& group) const {
  for (const TableRef& t : OlderTables()) {
    if (order().Compare(t->smallest(), group.largest) <= 0 && order().Compare(t->largest(), group.smallest) >= 0) {
      return true;
    }
  }
  return false;
}

// By the words of version_filter.h, applied to every group that was merged; moved tables stay as they are.
std::vector<TestVersion> MergeWorld::Expected(const MergeResult& result) const {
  std::vector<TestVersion> all;
  for (const InputRun& run : inputs_) all.insert(all.end(), run.versions.begin(), run.versions.end());
  const SortedVersions versions(order(), all);
  std::vector<TestVersion> expected;
  for (const Group& group : Groups()) {
    const bool moved =
        group.tables.size() == 1 && std::count(result.moved.begin(), result.moved.end(), group.tables[0]) > 0;
    const bool older = OverOlder(group);
    const TestVersion* newer = nullptr;
    for (const TestVersion& v : versions.all()) {
      if (!Within(group, v.key)) continue;
      const bool newest = newer == nullptr || !order().Equal(newer->key, v.key);
      bool visible = newest, snapshot_below = false;
      for (uint64_t s : snapshots_) {
        if (!newest && v.sequence <= s && s < newer->sequence) visible = true;
        if (s < v.sequence) snapshot_below = true;
      }
      newer = &v;
      const bool needed = v.type != kTypeDeletion || older || snapshot_below;
      if (moved || (visible && needed)) expected.push_back(v);
    }
  }
  return expected;
}

// The account of the merge makes of what the inputs refer to what the outputs refer to.
void MergeWorld::CheckPayload(const MergeResult& result, const std::vector<TableRef>& tables) const {
  std::map<PmRef, uint64_t> expected, live;
  const ExtentList after = PayloadAfter(payload_, result);
  for (const MadePayload& made : result.payload.made) {
    EXPECT_EQ(ExtentKind::kSettled, made.extent->kind());
    EXPECT_EQ(made.extent->payload_bytes(), made.live_bytes) << "copies that nobody refers to";
    EXPECT_TRUE(expected.emplace(made.extent->offset(), made.live_bytes).second);
  }
  for (const TableRef& table : InputTables()) {
    for (const auto& [extent, bytes] : UsesOf(*table, payload_)) expected[extent->offset()] += bytes;
  }
  for (const DroppedPayload& drop : result.payload.dropped) {
    EXPECT_GE(expected[drop.extent->offset()], drop.bytes);
    expected[drop.extent->offset()] -= drop.bytes;
  }
  for (const TableRef& table : tables) {
    bool logged = false;
    for (const auto& [extent, bytes] : UsesOf(*table, after)) {
      live[extent->offset()] += bytes;
      logged = logged || extent->kind() == ExtentKind::kLog;
    }
    EXPECT_TRUE(!logged || table->has(kTableLogged));
  }
  std::erase_if(expected, [](const auto& item) { return item.second == 0; });
  EXPECT_EQ(expected, live);
}

void MergeWorld::CheckTables(const MergeResult& result) {
  // Each input went one way.
  std::multiset<uint64_t> out, in;
  for (const TableRef& t : result.moved) out.insert(t->number());
  for (const TableRef& t : result.removed) out.insert(t->number());
  for (const TableRef& t : InputTables()) in.insert(t->number());
  EXPECT_EQ(in, out);
  // Groups of several tables are merged; none is cut in two.
  for (const Group& group : Groups()) {
    const bool moved = std::count(result.moved.begin(), result.moved.end(), group.tables[0]) > 0;
    EXPECT_TRUE(!moved || group.tables.size() == 1) << "tables that overlap must be merged";
  }
  const miodb::Run run = RunOf(order(), result);
  for (size_t i = 1; i < run.tables.size(); i++) {
    EXPECT_LT(order().Compare(run.tables[i - 1]->largest(), run.tables[i]->smallest()), 0)
        << "outputs overlap, or versions of a key are in two tables";
  }
  std::set<uint64_t> numbers(in.begin(), in.end());
  for (const TableRef& t : result.added) EXPECT_TRUE(numbers.insert(t->number()).second);
}

void MergeWorld::CheckContents(const MergeResult& result) {
  const SortedVersions expected(order(), Expected(result));
  const miodb::Run run = RunOf(order(), result);
  const auto iterator = NewRunIterator(&run, order(), Checksums::kVerify);
  CheckIterator(iterator.get(), expected, 200, &random_);
  // Each new table by itself, its filter included.
  for (const TableRef& t : result.added) {
    std::vector<TestVersion> part;
    for (const TestVersion& v : expected.all()) {
      if (order().Compare(t->smallest(), v.key) <= 0 && order().Compare(v.key, t->largest()) <= 0) part.push_back(v);
    }
    ASSERT_FALSE(part.empty());
    CheckTable(*t, SortedVersions(order(), part), 50, &random_);
    for (const TestVersion& v : part) {
      ASSERT_LE(t->min_sequence(), t->oldest_sequence());
      ASSERT_LE(t->oldest_sequence(), v.sequence);
      ASSERT_GE(t->max_sequence(), v.sequence);
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

// No read sees a difference: at every snapshot and now, through the outputs and what is older.
void MergeWorld::CheckReads(const std::vector<TableRef>& tables) const {
  std::vector<TestVersion> before, after;
  for (const InputRun& run : older_) before.insert(before.end(), run.versions.begin(), run.versions.end());
  after = before;
  for (const InputRun& run : inputs_) before.insert(before.end(), run.versions.begin(), run.versions.end());
  for (const TableRef& t : tables) {
    for (uint64_t i = 0; i < t->entries(); i++) {
      RecordView record;
      ASSERT_OK(t->RecordAt(i, Checksums::kVerify, &record));
      after.push_back(VersionOf(record));
    }
  }
  const SortedVersions old_versions(order(), before), new_versions(order(), after);
  std::vector<uint64_t> reads = snapshots_;
  reads.push_back(kMaxSequence);
  for (const TestVersion& v : old_versions.all()) {
    for (uint64_t sequence : reads) {
      const TestVersion* const a = old_versions.Find(v.key, sequence);
      const TestVersion* const b = new_versions.Find(v.key, sequence);
      const bool a_there = a != nullptr && a->type != kTypeDeletion, b_there = b != nullptr && b->type != kTypeDeletion;
      ASSERT_EQ(a_there, b_there) << "at " << sequence;
      ASSERT_TRUE(!a_there || *a == *b) << "at " << sequence;
    }
  }
}

void MergeWorld::CheckCounts(const MergeResult& result) const {
  uint64_t read = 0, added = 0, copied = 0;
  for (const TableRef& t : result.removed) read += t->entries();
  for (const TableRef& t : result.added) added += t->entries();
  for (const MadePayload& made : result.payload.made) copied += made.extent->payload_bytes();
  EXPECT_EQ(read, result.entries_read);
  EXPECT_EQ(read - added, result.entries_dropped);
  EXPECT_EQ(copied, result.bytes_copied);
}

void MergeWorld::Check(const MergeResult& result) {
  const miodb::Run run = RunOf(order(), result);
  const std::vector<TableRef> tables(run.tables.begin(), run.tables.end());
  EXPECT_TRUE(result.rests.empty());
  CheckTables(result);
  if (!testing::Test::HasFatalFailure()) CheckContents(result);
  if (!testing::Test::HasFatalFailure()) CheckReads(tables);
  if (!testing::Test::HasFatalFailure()) CheckPayload(result, tables);
  if (!testing::Test::HasFatalFailure()) CheckCounts(result);
}

// The tables of an input run after the merge, in key order; they have nothing in the range, and do not overlap.
std::vector<TableRef> MergeWorld::LeftOf(const InputRun& run, const MergeResult& result, const KeyRange& range) const {
  std::vector<TableRef> left;
  for (const TableRef& table : run.tables) {
    size_t rests = 0;
    const bool removed = std::count(result.removed.begin(), result.removed.end(), table) > 0;
    for (const MergeRest& rest : result.rests) {
      if (rest.input != table->number()) continue;
      EXPECT_EQ(table->max_sequence(), rest.table->max_sequence());
      left.push_back(rest.table);
      rests++;
    }
    EXPECT_TRUE(removed || rests == 0);
    if (!removed && std::count(result.moved.begin(), result.moved.end(), table) == 0) left.push_back(table);
  }
  std::sort(left.begin(), left.end(),
            [&](const TableRef& a, const TableRef& b) { return order().Compare(a->smallest(), b->smallest()) < 0; });
  for (size_t i = 0; i < left.size(); i++) {
    EXPECT_TRUE(i == 0 || order().Compare(left[i - 1]->largest(), left[i]->smallest()) < 0);
    for (uint64_t position = 0; position < left[i]->entries(); position++) {
      RecordView record;
      EXPECT_OK(left[i]->RecordAt(position, Checksums::kVerify, &record));
      EXPECT_FALSE(range.Contains(order(), record.key)) << "left in an input";
    }
  }
  return left;
}

void MergeWorld::CheckRange(const MergeResult& result, const KeyRange& range) {
  const miodb::Run run = RunOf(order(), result);
  std::vector<TableRef> tables(run.tables.begin(), run.tables.end());
  for (size_t i = 0; i < tables.size(); i++) {
    EXPECT_TRUE(range.Contains(order(), tables[i]->smallest())) << "outside of the range";
    EXPECT_TRUE(range.Contains(order(), tables[i]->largest())) << "outside of the range";
    EXPECT_TRUE(i == 0 || order().Compare(tables[i - 1]->largest(), tables[i]->smallest()) < 0);
  }
  for (const InputRun& input : inputs_) {
    const std::vector<TableRef> left = LeftOf(input, result, range);
    tables.insert(tables.end(), left.begin(), left.end());
  }
  CheckReads(tables);
  if (!testing::Test::HasFatalFailure()) CheckPayload(result, tables);
}

}  // namespace miodb::test
