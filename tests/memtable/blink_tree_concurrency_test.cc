// A thread inserts, or several do, and many read: entries that were inserted before a read began are found, in order,
// complete. Meant for ThreadSanitizer as well.

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/memtable/blink_tree.h"
#include "tests/common/environment.h"
#include "tests/common/random/comparators.h"
#include "tests/common/random/random.h"
#include "tests/memtable/record_arena.h"

namespace miodb::test {
namespace {

// The key of insert number i: one of a few keys many times over, or a key of its own; some share 16 bytes.
std::string KeyOf(uint64_t i, uint64_t seed) {
  Random random(seed * 1000003 + i);
  if (random.OneIn(3)) return "hot" + std::to_string(random.Uniform(20));
  return (random.OneIn(2) ? "shared-16-bytes-" : "") + std::to_string(random.Uniform(1000000));
}

struct Shared {
  Shared(const Comparator* comparator, uint64_t seed_of_run, uint64_t number)
      : order(comparator),
        seed(seed_of_run),
        count(number),
        blocks(16 * 1024, 4),
        arena(&blocks),
        tree(order, &arena) {}

  void WriteAll() { Write(count); }

  // The next ones, up to number last, by one thread.
  void Write(uint64_t last) {
    for (uint64_t i = acknowledged.load() + 1; i <= last; i++) {
      const std::string key = KeyOf(i, seed);
      const StoredRecord record = records.Add(key, PackTag(i, kTypeValue), std::to_string(i));
      tree.Insert(key, PackTag(i, kTypeValue), record.place, record.size);
      acknowledged.store(i, std::memory_order_release);
    }
  }

  // The next ones, up to number last, by so many threads. Entries that are there without a gap count as acknowledged.
  void WriteBeside(uint64_t last, size_t threads) {
    const uint64_t first = acknowledged.load() + 1;
    std::vector<std::atomic<bool>> done(last - first + 1);
    std::atomic<uint64_t> next{first};
    std::vector<RecordArena> kept(threads);
    std::vector<std::unique_ptr<ArenaPiece>> pieces;
    std::vector<std::thread> writers;
    for (size_t t = 0; t < threads; t++) pieces.push_back(std::make_unique<ArenaPiece>(&arena));
    for (size_t t = 0; t < threads; t++) {
      writers.emplace_back([&, t] {
        for (uint64_t i; (i = next.fetch_add(1)) <= last;) {
          const std::string key = KeyOf(i, seed);
          const StoredRecord record = kept[t].Add(key, PackTag(i, kTypeValue), std::to_string(i));
          BLinkTree::Entry* const entry = BLinkTree::NewEntry(pieces[t].get());
          tree.InsertBeside(entry, pieces[t].get(), key, PackTag(i, kTypeValue), record.place, record.size);
          done[i - first].store(true);
          for (uint64_t seen = acknowledged.load(); seen < last && done[seen + 1 - first].load();) {
            if (acknowledged.compare_exchange_strong(seen, seen + 1)) seen++;
          }
        }
      });
    }
    for (std::thread& writer : writers) writer.join();
    for (RecordArena& arena_of_thread : kept) records.Take(&arena_of_thread);
    tree.EndBeside(last + 1 - first);
    tree.Check();
  }

  const KeyOrder order;
  const uint64_t seed;
  const uint64_t count;
  BlockPool blocks;
  Arena arena;
  BLinkTree tree;
  RecordArena records;  // the writer's
  std::atomic<uint64_t> acknowledged{0};
};

// Everything in the tree is in order and whole, and all that was acknowledged before is there.
void CheckScan(const Shared& shared) {
  const uint64_t before = shared.acknowledged.load(std::memory_order_acquire);
  uint64_t found = 0;
  const BLinkTree::Entry* last = nullptr;
  for (const BLinkTree::Entry* entry = shared.tree.First(); entry != nullptr; entry = entry->Next()) {
    const uint64_t sequence = TagSequence(entry->tag);
    RecordView record;
    ASSERT_TRUE(ParseRecord(entry->record, entry->record + entry->record_size, &record));
    ASSERT_EQ(KeyOf(sequence, shared.seed), record.key.ToString());
    ASSERT_EQ(std::to_string(sequence), record.value.ToString());
    if (last != nullptr) {
      const int c = shared.order.Compare(BLinkTree::KeyOf(last), record.key);
      ASSERT_TRUE(c < 0 || (c == 0 && TagSequence(last->tag) > sequence));
    }
    if (sequence <= before) found++;
    last = entry;
  }
  ASSERT_EQ(before, found);
}

void CheckSeeks(const Shared& shared, Random* random) {
  const uint64_t before = shared.acknowledged.load(std::memory_order_acquire);
  if (before == 0) return;
  const uint64_t i = 1 + random->Uniform(before);
  const std::string key = KeyOf(i, shared.seed);
  // The version itself, as a snapshot of its time would see it.
  const auto seek = [&](uint64_t sequence) -> const BLinkTree::Entry* {
    return random->OneIn(2) ? shared.tree.Seek(key, sequence) : SeekInSteps(shared.tree, key, sequence);
  };
  const BLinkTree::Entry* entry = seek(i);
  ASSERT_NE(nullptr, entry);
  ASSERT_EQ(i, TagSequence(entry->tag));
  // At the newest sequence: this version or a newer one of the key.
  entry = seek(before);
  ASSERT_NE(nullptr, entry);
  ASSERT_TRUE(shared.order.Equal(key, BLinkTree::KeyOf(entry)));
  ASSERT_GE(TagSequence(entry->tag), i);
  ASSERT_LE(TagSequence(entry->tag), before);
  // The version before it in order, if any, comes before it.
  const BLinkTree::Entry* const previous = shared.tree.Before(entry);
  if (previous != nullptr) {
    const int c = shared.order.Compare(BLinkTree::KeyOf(previous), key);
    ASSERT_TRUE(c < 0 || (c == 0 && TagSequence(previous->tag) > TagSequence(entry->tag)));
  }
  const BLinkTree::Entry* const end = shared.tree.Last();
  ASSERT_NE(nullptr, end);
  ASSERT_GE(shared.order.Compare(BLinkTree::KeyOf(end), key), 0);
}

// Calls write(shared) while three threads read.
template <typename Write>
void RunReadersBeside(const Comparator* comparator, uint64_t seed, Write write) {
  Shared shared(comparator, seed, ByScale(6000, 20000, 200000));
  std::vector<std::thread> readers;
  for (uint64_t t = 0; t < 3; t++) {
    readers.emplace_back([&shared, t] {
      Random random(shared.seed * 10 + t);
      do {
        for (int i = 0; i < 200 && !testing::Test::HasFatalFailure(); i++) CheckSeeks(shared, &random);
        if (t == 0 && !testing::Test::HasFatalFailure()) CheckScan(shared);
      } while (shared.acknowledged.load(std::memory_order_acquire) < shared.count && !testing::Test::HasFatalFailure());
    });
  }
  write(&shared);
  for (std::thread& reader : readers) reader.join();
  CheckScan(shared);
}

void WriteAll(Shared* shared) { shared->WriteAll(); }

// A single thread and several threads, in turn.
void WriteByTurns(Shared* shared) {
  Random random(shared->seed);
  while (shared->acknowledged < shared->count) {
    const uint64_t last = std::min(shared->count, shared->acknowledged + 1 + random.Uniform(shared->count / 4));
    if (random.OneIn(3)) {
      shared->Write(last);
    } else {
      shared->WriteBeside(last, 2 + random.Uniform(3));
    }
  }
}

TEST(BLinkTreeConcurrencyTest, ReadersSeeAllThatWasAcknowledgedBeforeTheyBegan) {
  for (uint64_t seed : Seeds(ByScale(3, 5, 20))) {
    SCOPED_TRACE(Repeat(seed));
    RunReadersBeside(BytewiseComparator(), seed, WriteAll);
  }
}

TEST(BLinkTreeConcurrencyTest, ReadersSeeItUnderAnotherOrderToo) {
  for (uint64_t seed : Seeds(ByScale(2, 5, 20))) {
    SCOPED_TRACE(Repeat(seed));
    RunReadersBeside(ReverseComparator(), seed, WriteAll);
  }
}

TEST(BLinkTreeConcurrencyTest, ReadersSeeAllThatSeveralInsertersHaveAcknowledged) {
  for (uint64_t seed : Seeds(ByScale(4, 8, 40))) {
    SCOPED_TRACE(Repeat(seed));
    RunReadersBeside(seed % 3 == 0 ? ReverseComparator() : BytewiseComparator(), seed, WriteByTurns);
  }
}

// Nobody reads, so that the inserters meet as often as they can: at the end of ascending keys, all in one page.
TEST(BLinkTreeConcurrencyTest, InsertersThatMeetAtTheEndLoseNothing) {
  constexpr uint64_t kThreads = 3;
  const uint64_t each = ByScale(5000, 20000, 200000);
  BlockPool blocks(16 * 1024, 4);
  Arena arena(&blocks);
  BLinkTree tree(KeyOrder(BytewiseComparator()), &arena);
  std::vector<RecordArena> records(kThreads);
  std::vector<std::thread> inserters;
  const auto key_of = [](uint64_t i) { return std::string(1, 'k') + std::to_string(100000000 + i); };
  for (uint64_t t = 0; t < kThreads; t++) {
    inserters.emplace_back([&, t] {
      ArenaPiece piece(&arena);
      for (uint64_t i = 0; i < each; i++) {
        const uint64_t number = i * kThreads + t;
        const StoredRecord record = records[t].Add(key_of(number), PackTag(number + 1, kTypeValue), "");
        tree.InsertBeside(BLinkTree::NewEntry(&piece), &piece, key_of(number), PackTag(number + 1, kTypeValue),
                          record.place, record.size);
      }
    });
  }
  for (std::thread& inserter : inserters) inserter.join();
  tree.EndBeside(kThreads * each);
  tree.Check();
  uint64_t number = 0;
  for (const BLinkTree::Entry* entry = tree.First(); entry != nullptr; entry = entry->Next(), number++) {
    ASSERT_EQ(key_of(number), BLinkTree::KeyOf(entry).ToString());
    ASSERT_EQ(entry, tree.Seek(key_of(number), kMaxSequence));
  }
  ASSERT_EQ(kThreads * each, number);
}

}  // namespace
}  // namespace miodb::test
