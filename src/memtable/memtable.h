// The memtable: the newest writes, a tree in DRAM over the records in a log segment, and a filter that spares gets
// the search for keys that are not there.
//
// Threads: one thread adds at a time (the leader of the current write group), or writers beside one another do, each
// with a lane of its own; any number read meanwhile without locks.
// Once sealed (Tree::Seal) nobody adds. Ownership: owns its segment; records stay where they are while the memtable
// lives.
//
// A memtable that a recovery makes of log chunks is sealed from the beginning and has no tree: its records are found by
// the order of each chunk (sorted_chunks.h) until BuildTree, which its flush needs.

#ifndef MIODB_SRC_MEMTABLE_MEMTABLE_H_
#define MIODB_SRC_MEMTABLE_MEMTABLE_H_

#include <atomic>
#include <memory>
#include <vector>

#include "src/iterator/internal_iterator.h"
#include "src/iterator/lookup_key.h"
#include "src/log/log_chunk.h"
#include "src/memtable/blink_tree.h"
#include "src/memtable/memtable_ranges.h"
#include "src/memtable/sorted_chunks.h"
#include "src/util/bytes/bloom_filter.h"
#include "src/util/bytes/prefetch.h"
#include "src/util/check/check.h"

namespace miodb {

class MemTable {
 public:
  // When the filter is made: now, because writes are about to fill it, or not before StartFilter.
  enum class Filter { kNow, kLater };

  // DRAM for the filter of a memtable with so many bytes of records: 10 bits a key, were each of them 80 bytes; none
  // where bits_per_key, that of tables, is 0.
  static constexpr size_t FilterBytes(int bits_per_key, uint64_t bytes) { return bits_per_key > 0 ? bytes / 64 : 0; }

  // filter_bytes: DRAM for the filter that tells gets of absent keys from the rest; 0: none. Under an order that is not
  // bytewise there is none. secret: of the pool, which the checks of records start with.
  MemTable(KeyOrder order, BlockPool* blocks, size_t filter_bytes, uint64_t secret, Filter filter = Filter::kNow);
  MemTable(const MemTable&) = delete;
  MemTable& operator=(const MemTable&) = delete;

  // Adds the record at place; key is the record's key wherever it is at hand. Sequences ascend from call to call.
  void Add(const Slice& key, uint64_t tag, const char* place, size_t record_size) {
    // First, so that whoever finds the entry, or the sequence that makes it visible, finds these bits.
    DCHECK_GT(TagSequence(tag), max_sequence_);
    DCHECK(IsKnownType(TagType(tag)));
    if (BloomFilter* const filter = filter_.load(std::memory_order_relaxed)) filter->Add(KeyHash(key));  // relaxed: own
    tree_.Insert(key, tag, place, record_size);
    if (min_sequence_ == 0) min_sequence_ = TagSequence(tag);
    max_sequence_ = TagSequence(tag);
    DCHECK(min_sequence_ > 0 && min_sequence_ <= max_sequence_);
  }

  // Any record of a log: a range deletion goes to the ranges, which ShowRanges has to show.
  void AddRecord(const Slice& key, const Slice& value, uint64_t tag, const char* place, size_t record_size) {
    if (TagType(tag) == kTypeRangeDeletion) [[unlikely]] {
      AddRange(key, value, TagSequence(tag));
    } else {
      Add(key, tag, place, record_size);
    }
  }

  // All keys in [begin, end) are gone as of the sequence, for readers from the next ShowRanges on.
  void AddRange(const Slice& begin, const Slice& end, uint64_t sequence);

  // Readers find the ranges that were added. Once for all records that become visible together, and before they do.
  void ShowRanges() { ranges_.Show(order_); }
  const MemTableRanges& ranges() const { return ranges_; }

  // Makes a filter that was left for later, of the keys that are there; from then on it has those that come. Without
  // memory there is none yet. By the leader.
  void StartFilter();

  // Any number of writers may add from now on, each with one of so many lanes, until EndBeside. By the leader.
  void BeginBeside(size_t lanes);

  // An entry for AddBeside. nullptr: there is no memory. By who has the lane.
  BLinkTree::Entry* NewEntry(size_t lane) { return BLinkTree::NewEntry(lanes_[lane].get()); }

  // The first half of adding a record by who has a lane: the filter. This half is apart because its locked instructions
  // would wait for stores on their way to the medium.
  void FilterBeside(uint32_t hash) {
    if (BloomFilter* const filter = Asked()) filter->AddBeside(hash);
  }
  void PrefetchFilter(uint32_t hash) const {
    if (const BloomFilter* const filter = Asked()) filter->Prefetch(hash);
  }

  // The second half: adds the record at place, by who has the lane. REQUIRES: entry is a new one of that lane;
  // BeginBeside and FilterBeside were called.
  void AddBeside(size_t lane, BLinkTree::Entry* entry, const Slice& key, uint64_t tag, const char* place,
                 size_t record_size) {
    DCHECK(IsKnownType(TagType(tag)));
    tree_.InsertBeside(entry, lanes_[lane].get(), key, tag, place, record_size);
  }

  // Everybody who added has ended, and together they added all up to this sequence. By the leader.
  void EndBeside(uint64_t last_sequence);

  // Takes up a recovered chunk, in the order of sequences, and then the ranges that it deletes, which it has no places
  // of, and which ShowRanges has to show. By the open, before anybody reads. REQUIRES: nothing was added by Add.
  void AddSorted(std::unique_ptr<SortedChunk> chunk);
  void AddSortedRange(const Slice& begin, const Slice& end, uint64_t sequence);

  // Has the tree take what sorted chunks hold, if there are any; readers go by the tree afterwards. May be called again
  // after an attempt that lacked memory. Corruption if a record is damaged. Threads: one, while any number read.
  Status BuildTree();

  // Bounds of the sequences of the records added; 0 while empty. Sealed memtables and the adder only.
  uint64_t min_sequence() const { return min_sequence_; }
  uint64_t max_sequence() const { return max_sequence_; }

  // Finds the newest version of the key at or below its sequence. The view points into the segment. Corruption if the
  // record there is damaged; with kVerify the get looks at its checksum as well.
  Status Get(const LookupKey& key, bool* found, RecordView* record) const;

  // A Get that is made in steps, so that those of many keys wait for memory together. Threads: one. The memtable must
  // outlive it.
  class Search {
   public:
    // The first step asks the filter: Prefetch some time before it.
    void Start(const MemTable& memtable) {
      memtable_ = &memtable;
      stage_ = Stage::kFilter;
    }

    // Does what Get does until it would wait for memory, and asks for that memory or adds it to what is wanted. True:
    // there are no more steps, and *s, *found and *record are what Get would have given. *s is OK before the first
    // step. The key is the same in all steps.
    bool Step(const LookupKey& key, PrefetchList* wanted, Status* s, bool* found, RecordView* record);

   private:
    enum class Stage : uint8_t { kFilter, kTree, kRecord };

    const MemTable* memtable_ = nullptr;
    Stage stage_ = Stage::kFilter;
    BLinkTree::Search tree_;
  };

  // Asks for the memory that Get will look at first.
  void Prefetch(const LookupKey& key) const { PrefetchFilter(key.hash); }

  // Has the filter take all its memory now. By any thread.
  void PopulateFilter() const {
    if (const BloomFilter* const filter = Asked()) filter->Populate();
  }

  // Notes that a walk has passed so many hidden versions here one by one, which it need not have done were the memtable
  // sealed.
  void NotePassed(uint64_t steps) const;

  // Whether such walks have cost as much as a flush would. True once.
  bool IsToBeSealed() const {
    // relaxed: a wish
    return passed_.load(std::memory_order_relaxed) == Passed::kMuch &&
           passed_.exchange(Passed::kTold, std::memory_order_relaxed) == Passed::kMuch;
  }

  // newest: no version that the walk meets is newer; kMaxSequence of a memtable that may get more.
  std::unique_ptr<InternalIterator> NewIterator(uint64_t newest = kMaxSequence) const;

  // How many places a seek has to search.
  size_t sources() const { return GoesByChunks() ? sorted_->chunks() : 1; }

  Segment& segment() { return segment_; }
  const Segment& segment() const { return segment_; }
  const KeyOrder& order() const { return order_; }
  const BLinkTree& tree() const { return tree_; }  // complete, but for sorted chunks before BuildTree
  uint64_t count() const { return sorted_ == nullptr ? tree_.count() : sorted_->count(); }  // without ranges
  bool empty() const { return count() == 0 && ranges_.view() == nullptr; }

  uint64_t filter_bytes() const {
    const BloomFilter* const filter = Asked();
    return filter == nullptr ? 0 : filter->memory_bytes();
  }

  // DRAM in use, without records and filter.
  size_t memory_bytes() const {
    return arena_.memory_bytes() + ranges_.memory_bytes() + (sorted_ == nullptr ? 0 : sorted_->memory_bytes());
  }

 private:
  enum class Passed : uint8_t { kLittle, kMuch, kTold };

  // Whether records are found by the order of chunks. acquire: pairs with the release in BuildTree; the tree and the
  // filter are complete.
  bool GoesByChunks() const { return sorted_ != nullptr && !built_.load(std::memory_order_acquire); }
  Status GetFromChunks(const LookupKey& key, bool* found, RecordView* record) const;
  // acquire: pairs with StartFilter; the filter has all keys that were there before it.
  BloomFilter* Asked() const { return filter_.load(std::memory_order_acquire); }
  bool MayHave(const LookupKey& key) const {
    const BloomFilter* const filter = Asked();
    return filter == nullptr || filter->MayContain(key.hash);
  }
  Status Read(const BLinkTree::Entry* entry, const LookupKey& key, bool* found, RecordView* record) const;

  Segment segment_;
  Arena arena_;
  BLinkTree tree_;
  MemTableRanges ranges_;
  std::vector<std::unique_ptr<ArenaPiece>> lanes_;  // from the first BeginBeside on
  std::unique_ptr<BloomFilter> own_filter_;         // nullptr: none, or none yet
  std::atomic<BloomFilter*> filter_{nullptr};       // the same, for those who ask
  size_t later_filter_bytes_ = 0;                   // of one that is not made yet
  std::unique_ptr<SortedChunks> sorted_;            // nullptr: everything was added by Add
  std::atomic<bool> built_{false};                  // the tree has what sorted_ has
  mutable std::atomic<uint64_t> passed_steps_{0};
  mutable std::atomic<Passed> passed_{Passed::kLittle};
  const KeyOrder order_;
  const uint64_t secret_;
  uint64_t min_sequence_ = 0;
  uint64_t max_sequence_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_MEMTABLE_MEMTABLE_H_
