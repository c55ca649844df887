// A merged walk over a memtable that grows meanwhile: whatever was there when the walk began is passed in order, in
// both directions and at every turn. Meant for ThreadSanitizer as well.

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "src/iterator/merging_iterator.h"
#include "src/memtable/memtable.h"
#include "tests/common/environment.h"
#include "tests/common/status_asserts.h"
#include "tests/common/test_secret.h"
#include "tests/memtable/record_arena.h"
#include "tests/pmtable/table_maker.h"

namespace miodb::test {
namespace {

constexpr uint64_t kKeys = 200;
constexpr uint64_t kRunVersions = 300;

TestVersion VersionNumber(uint64_t sequence) {
  Random random(sequence);
  return {"key" + std::to_string(1000 + random.Uniform(kKeys)), sequence, kTypeValue, std::to_string(sequence)};
}

// A run with the oldest versions and a memtable that a thread of its own fills with the others.
class GrowingWorld {
 public:
  explicit GrowingWorld(uint64_t writes)
      : last_(kRunVersions + writes), table_(maker_.order(), &blocks_, 4096, kTestSecret), acknowledged_(kRunVersions) {
    std::vector<TestVersion> versions;
    for (uint64_t i = 1; i <= kRunVersions; i++) versions.push_back(VersionNumber(i));
    run_.tables = maker_.MakeRun(SortedVersions(maker_.order(), versions), 50, TableMaker::Options());
  }

  void WriteAll() {
    for (uint64_t i = kRunVersions + 1; i <= last_; i++) {
      const TestVersion v = VersionNumber(i);
      const StoredRecord record = records_.Add(v.key, PackTag(i, v.type), v.value);
      table_.Add(v.key, PackTag(i, v.type), record.place, record.size);
      acknowledged_.store(i, std::memory_order_release);
      if (i % 64 == 0) std::this_thread::yield();
    }
  }

  // Walks at random and turns often. Versions newer than the walk's beginning may show up or not.
  void Walk(Random* random) {
    const uint64_t known = acknowledged_.load(std::memory_order_acquire);
    std::vector<TestVersion> versions;
    for (uint64_t i = 1; i <= known; i++) versions.push_back(VersionNumber(i));
    const SortedVersions before(maker_.order(), versions);
    std::vector<std::unique_ptr<InternalIterator>> sources;
    sources.push_back(table_.NewIterator());
    sources.push_back(NewRunIterator(&run_, maker_.order(), Checksums::kTrust));
    const auto iterator = NewMergingIterator(maker_.order(), std::move(sources));
    TestVersion at;
    for (int i = 0; i < 300; i++) {
      if (!iterator->Valid()) {
        iterator->Seek("key" + std::to_string(1000 + random->Uniform(kKeys)), known);
        if (iterator->Valid()) at = VersionOf(iterator->record());
        continue;
      }
      const bool forward = random->OneIn(2);
      forward ? iterator->Next() : iterator->Prev();
      // How many of the known versions lie before the place, itself not counted.
      const size_t old_place = before.LowerBound(at.key, at.sequence);
      const bool old_known = at.sequence <= known;
      if (!iterator->Valid()) {
        ASSERT_EQ(forward ? before.size() : 0, forward ? old_place + old_known : old_place) << "ended too early";
        continue;
      }
      const TestVersion next = VersionOf(iterator->record());
      ASSERT_EQ(VersionNumber(next.sequence), next);
      const int c = maker_.order().Compare(next.key, at.key);
      ASSERT_EQ(forward, c != 0 ? c > 0 : next.sequence < at.sequence) << "moved the wrong way or not at all";
      const size_t new_place = before.LowerBound(next.key, next.sequence);
      const bool new_known = next.sequence <= known;
      // Nothing known lies in between.
      ASSERT_EQ(forward ? old_place + old_known : old_place, forward ? new_place : new_place + new_known) << "skipped";
      at = next;
    }
  }

  // Goes before keys of which newer versions are written meanwhile.
  void GoBefore(Random* random) {
    const auto iterator = table_.NewIterator();
    for (int i = 0; i < 300; i++) {
      const std::string key = "key" + std::to_string(1000 + random->Uniform(kKeys));
      iterator->Seek(key, kMaxSequence);
      if (!iterator->Valid()) continue;
      iterator->PrevBefore(key, UINT64_MAX);
      ASSERT_OK(iterator->status());
      if (!iterator->Valid()) continue;
      ASSERT_LT(maker_.order().Compare(iterator->record().key, key), 0);
    }
  }

  bool done() const { return acknowledged_.load(std::memory_order_acquire) == last_; }

 private:
  const uint64_t last_;
  TestPool pool_;
  BlockPool blocks_{16 * 1024, 4};
  RecordArena records_;  // the writer's
  TableMaker maker_{&pool_, BytewiseComparator()};
  MemTable table_;
  miodb::Run run_;
  std::atomic<uint64_t> acknowledged_;
};

TEST(MergingIteratorConcurrencyTest, AGrowingMemtableHidesNothingAndBreaksNoOrder) {
  for (uint64_t round = 0; round < ByScale(3, 10, 300); round++) {
    GrowingWorld world(ByScale(RunsUnderSanitizer() ? 2000 : 5000, 10000, 20000));
    std::vector<std::thread> readers;
    for (uint64_t t = 0; t < 2; t++) {
      readers.emplace_back([&world, t, round] {
        Random random(round * 10 + t);
        do {
          world.Walk(&random);
          world.GoBefore(&random);
        } while (!world.done() && !testing::Test::HasFailure());
      });
    }
    world.WriteAll();
    for (std::thread& reader : readers) reader.join();
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace miodb::test
