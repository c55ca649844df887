#include "compaction/merge/flush.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <set>

#include "src/log/frame_writer.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/compaction/merge_world.h"
#include "tests/log/log_pool.h"

namespace miodb::test {
namespace {

struct FlushShape {
  const Comparator* comparator = BytewiseComparator();
  KeyShape keys = KeyShapes()[0];
  size_t key_count = 300;
  size_t updates = 1000;
  size_t most_value_bytes = 60;
  uint64_t chunk_bytes = 16 * 1024;
  bool log_on = true;
};

// A memtable filled through a log, flushed, and compared with what was written.
class FlushWorld {
 public:
  FlushWorld(const FlushShape& shape, uint64_t seed, uint64_t pool_bytes = uint64_t{64} << 20)
      : shape_(shape),
        random_(seed),
        pool_(pool_bytes),
        order_(shape.comparator),
        table_(order_, &blocks_, 4096, kTestSecret) {
    const std::vector<std::string> keys = MakeKeys(shape.keys, shape.key_count, order_, &random_);
    uint64_t next = 1 + random_.Uniform(1000);
    while (versions_.size() < shape.updates) {
      std::vector<Update> group(1 + random_.Skewed(4));
      for (Update& u : group) {
        u.type = random_.OneIn(5) ? kTypeDeletion : kTypeValue;
        u.key = keys[random_.Uniform(keys.size())];
        if (u.type == kTypeValue) u.value = random_.Bytes(random_.Uniform(shape.most_value_bytes + 1));
      }
      Write(group, next);
      next += group.size();
    }
    for (const auto& chunk : table_.segment().chunks) chunk_bytes_ += chunk->used.load();
  }

  Status Flush(const std::vector<uint64_t>& snapshots, std::vector<TableRef>* tables, size_t shares = 1) {
    const VersionFilter filter(snapshots);
    FlushRequest request{pool_.get(), order_, &table_, &filter, 10, [this] { return ++last_number_; }};
    if (shares > 1) request.sharing = InThreads(shares);
    return FlushMemTable(request, tables, &payload_);
  }

  // The flush keeps what a snapshot or a read without one sees, tombstones included.
  SortedVersions Expected(const std::vector<uint64_t>& snapshots) const {
    const SortedVersions all(order_, versions_);
    std::vector<TestVersion> kept;
    for (size_t i = 0; i < all.size(); i++) {
      const bool newest = i == 0 || !order_.Equal(all[i - 1].key, all[i].key);
      const bool seen = std::any_of(snapshots.begin(), snapshots.end(), [&](uint64_t s) {
        return !newest && all[i].sequence <= s && s < all[i - 1].sequence;
      });
      if (newest || seen) kept.push_back(all[i]);
    }
    return SortedVersions(order_, kept);
  }

  void Check(const std::vector<uint64_t>& snapshots, const std::vector<TableRef>& tables) {
    const SortedVersions expected = Expected(snapshots);
    const miodb::Run run{1, tables};
    const auto iterator = NewRunIterator(&run, order_, Checksums::kVerify);
    CheckIterator(iterator.get(), expected, 300, &random_);
    if (testing::Test::HasFatalFailure()) return;
    uint64_t live = 0, entries_live = 0;
    for (const TableRef& table : tables) {
      EXPECT_EQ(versions_.front().sequence, table->min_sequence());
      EXPECT_EQ(versions_.back().sequence, table->max_sequence());
      for (uint64_t i = 0; i < table->entries(); i++) entries_live += table->WordAt(i).size();
    }
    for (const MadePayload& made : payload_) live += made.live_bytes;
    EXPECT_EQ(entries_live, live);
    if (tables.size() == 1) CheckTable(*tables[0], expected, 300, &random_);
  }

  const std::vector<MadePayload>& payload() const { return payload_; }
  uint64_t first_sequence() const { return versions_.front().sequence; }
  uint64_t last_sequence() const { return versions_.back().sequence; }
  TestPool& pool() { return pool_; }
  MemTable& memtable() { return table_; }
  uint64_t chunk_bytes() const { return chunk_bytes_; }  // that are used
  Random& random() { return random_; }

 private:
  void Write(const std::vector<Update>& group, uint64_t first_sequence) {
    auto& chunks = table_.segment().chunks;
    const uint64_t frame = FrameWriter::FrameSize(BodySize(group));
    if (chunks.empty() || chunks.back()->room() < frame) {
      const uint64_t size = std::max(frame, shape_.chunk_bytes);
      chunks.push_back(shape_.log_on ? NewPoolChunk(&pool_, chunks.size() + 1, size) : NewMemoryChunk(size));
      if (!shape_.log_on) chunks.back()->reserved = pool_.Allocate(size);
    }
    const std::vector<const char*> places = WriteFrame(&writer_, chunks.back().get(), group, first_sequence);
    for (size_t i = 0; i < group.size(); i++) {
      const Update& u = group[i];
      table_.Add(u.key, PackTag(first_sequence + i, u.type), places[i], RecordSize(u.key.size(), u.value.size()));
      versions_.push_back({u.key, first_sequence + i, u.type, u.value});
    }
  }

  const FlushShape shape_;
  Random random_;
  TestPool pool_;
  std::vector<MadePayload> payload_;  // of the last flush
  const KeyOrder order_;
  BlockPool blocks_{16 * 1024, 4};
  MemTable table_;
  FrameWriter writer_{&pool_->persist(), pool_->secret()};
  std::vector<TestVersion> versions_;  // by sequence
  uint64_t chunk_bytes_ = 0;
  std::atomic<uint64_t> last_number_{0};
};

std::vector<uint64_t> DrawSnapshots(FlushWorld* world) {
  std::set<uint64_t> snapshots;
  for (uint64_t i = world->random().Uniform(6); i > 0; i--) {
    snapshots.insert(world->first_sequence() - 1 +
                     world->random().Uniform(world->last_sequence() - world->first_sequence() + 2));
  }
  return std::vector<uint64_t>(snapshots.begin(), snapshots.end());
}

class FlushModes : public testing::TestWithParam<bool> {};

TEST_P(FlushModes, WritesWhatReadsNeed) {
  for (uint64_t seed : Seeds(ByScale(24, 60, 3000))) {
    SCOPED_TRACE(Repeat(seed));
    Random random(seed);
    FlushShape shape;
    shape.log_on = GetParam();
    shape.keys = KeyShapes()[seed % KeyShapes().size()];
    shape.comparator = random.OneIn(3) ? ReverseComparator() : BytewiseComparator();
    shape.updates = 1 + random.Uniform(2000);
    shape.chunk_bytes = random.OneIn(2) ? 4096 : 64 * 1024;
    shape.most_value_bytes = random.OneIn(3) ? 3000 : 60;
    FlushWorld world(shape, seed);
    const std::vector<uint64_t> snapshots = DrawSnapshots(&world);
    std::vector<TableRef> tables;
    const uint64_t fences = world.pool()->persist().counters(Purpose::kFlush).fences.load();
    ASSERT_OK(world.Flush(snapshots, &tables));
    EXPECT_GT(world.pool()->persist().counters(Purpose::kFlush).fences.load(), fences) << "not durable";
    EXPECT_EQ(1u, tables.size());
    world.Check(snapshots, tables);
    if (HasFatalFailure()) return;
  }
}

// As many tables as shares, of like sizes, with the same entries; keys of many versions stay in one.
TEST_P(FlushModes, SharesAreOfLikeSizes) {
  for (const size_t count : {2, 8, 32}) {
    for (const size_t keys : {size_t{30000}, size_t{7}}) {
      SCOPED_TRACE(testing::Message() << count << " shares of " << keys << " keys");
      FlushShape shape;
      shape.log_on = GetParam();
      shape.key_count = keys;
      shape.updates = 30000;
      FlushWorld world(shape, count);
      const std::vector<uint64_t> snapshots = DrawSnapshots(&world);
      std::vector<TableRef> tables;
      ASSERT_OK(world.Flush(snapshots, &tables, count));
      world.Check(snapshots, tables);
      if (HasFatalFailure()) return;
      EXPECT_LE(tables.size(), std::min(count, keys));
      if (keys < 30000) continue;
      ASSERT_EQ(count, tables.size());
      for (const TableRef& table : tables) EXPECT_LE(table->entries() * count, EntriesOf(tables) / 10 * 12);
    }
  }
}

TEST_P(FlushModes, CutsTheChunksToWhatTheyUse) {
  FlushShape shape;
  shape.log_on = GetParam();
  shape.chunk_bytes = 256 * 1024;
  FlushWorld world(shape, 1);
  const uint64_t before = world.pool()->used_bytes();
  std::vector<TableRef> tables;
  ASSERT_OK(world.Flush({}, &tables));
  uint64_t payload = 0;
  for (const MadePayload& p : world.payload()) {
    payload += p.extent->payload_bytes();
    EXPECT_LT(p.extent->size() - p.extent->payload_bytes(), kExtentUnit);
    EXPECT_EQ(ExtentKind::kLog, p.extent->kind());
  }
  EXPECT_EQ(world.chunk_bytes(), payload);
  EXPECT_EQ(before + tables[0]->index()->size(), world.pool()->used_bytes()) << "tails stay taken until the edit";
  for (const auto& chunk : world.memtable().segment().chunks) {
    (shape.log_on ? chunk->extent : chunk->reserved)->ReleaseTrimmed();
  }
  EXPECT_LT(world.pool()->used_bytes(), before + tables[0]->index()->size());
}

TEST_P(FlushModes, WithoutSpaceLeavesNothingAndCanBeTriedAgain) {
  for (uint64_t seed : Seeds(ByScale(10, 20, 300))) {
    SCOPED_TRACE(Repeat(seed));
    FlushShape shape;
    shape.log_on = GetParam();
    FlushWorld world(shape, seed, uint64_t{2} << 20);
    std::vector<ExtentRef> taken;
    for (;;) {
      ExtentRef extent;
      if (!world.pool()->Allocate(kExtentUnit, ExtentKind::kLog, &extent).ok()) break;
      taken.push_back(std::move(extent));
    }
    for (uint64_t i = world.random().Uniform(3); i > 0; i--) taken.pop_back();
    const uint64_t before = world.pool()->used_bytes();
    std::vector<TableRef> tables;
    const Status s = world.Flush({}, &tables);
    if (!s.ok()) {
      EXPECT_STATUS(NoSpace, s);
      EXPECT_TRUE(tables.empty());
      EXPECT_EQ(before, world.pool()->used_bytes());
      taken.clear();
      ASSERT_OK(world.Flush({}, &tables));
    }
    world.Check({}, tables);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FlushModes, testing::Bool(),
                         [](const auto& name) { return name.param ? "LogOn" : "LogOff"; });

TEST(FlushTest, AnEmptyMemtableMakesNoTable) {
  TestPool pool;
  BlockPool blocks(16 * 1024, 1);
  const KeyOrder order(BytewiseComparator());
  MemTable memtable(order, &blocks, 4096, kTestSecret);
  const VersionFilter filter({});
  std::vector<TableRef> tables(3);
  const uint64_t before = pool->used_bytes();
  std::vector<MadePayload> payload;
  ASSERT_OK(FlushMemTable({pool.get(), order, &memtable, &filter, 10, nullptr}, &tables, &payload));
  EXPECT_TRUE(payload.empty());
  EXPECT_TRUE(tables.empty());
  EXPECT_EQ(before, pool->used_bytes());
}

// With the log off a chunk needs its space in one piece.
TEST(FlushTest, RecordsOutOfOrderAreDamage) {
  FlushWorld world(FlushShape(), 1);
  const Slice key = BLinkTree::KeyOf(world.memtable().tree().First());
  memset(const_cast<char*>(key.data()), 0xff, key.size());
  std::vector<TableRef> tables;
  EXPECT_STATUS(Corruption, world.Flush({}, &tables));
  EXPECT_TRUE(tables.empty());
}

TEST(FlushTest, ScatteredSpaceMakesSeveralTables) {
  FlushShape shape;
  shape.updates = 5000;
  shape.key_count = 5000;
  FlushWorld world(shape, 1, uint64_t{2} << 20);
  std::vector<ExtentRef> taken;
  for (;;) {
    ExtentRef extent;
    if (!world.pool()->Allocate(kExtentUnit, ExtentKind::kLog, &extent).ok()) break;
    taken.push_back(std::move(extent));
  }
  for (size_t i = 0; i < taken.size(); i++) {
    if (i % 4 < 2) taken[i].reset();
  }
  std::vector<TableRef> tables;
  ASSERT_OK(world.Flush({}, &tables));
  EXPECT_GT(tables.size(), 1u);
  world.Check({}, tables);
}

TEST(FlushTest, WithTheLogOnNoPayloadIsWrittenAgain) {
  FlushShape shape;
  shape.most_value_bytes = 4000;
  FlushWorld world(shape, 1);
  std::vector<TableRef> tables;
  ASSERT_OK(world.Flush({}, &tables));
  EXPECT_LE(world.pool()->persist().counters(Purpose::kFlush).bytes.load(), tables[0]->index()->size());
}

}  // namespace
}  // namespace miodb::test
