// PMTable: an immutable sorted table in persistent memory. A packed skip list over records that lie where the log or
// a lazy copy put them.
//
// Threads: immutable, any number of readers without locks. The filter alone is set later (once, atomically).
//
// Ownership: holds its index extent. The version that has the table keeps the records (Version::payload).
//
// A point lookup reads: the filter (DRAM, one line), the inner levels (DRAM), then in persistent memory the
// fingerprint line of one leaf, the line of the matching entry, and the record.
//
// Errors: bytes of the pool are checked before they are used as sizes or references; damage is Corruption with table
// number and place.

#ifndef MIODB_PMTABLE_PMTABLE_H_
#define MIODB_PMTABLE_PMTABLE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/format/checksums.h"
#include "src/format/expiry.h"
#include "src/format/index_node.h"
#include "src/format/record.h"
#include "src/iterator/lookup_key.h"
#include "src/nvm/pool/pool.h"
#include "src/util/bytes/bloom_filter.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

namespace miodb {

class PerfClock;

// When entries of a table expire: bounds of the moments, of none if none does.
struct TableExpiry : ExpiryRange {
  uint64_t whole = kNoExpiry;  // from this moment on the table is tombstones and nothing else
};

class PMTable {
 public:
  // Opens the table whose index extent this is. kVerify: check every node, not only header and inner levels.
  static Status Open(Pool* pool, KeyOrder order, ExtentRef index, uint64_t number, Checksums checksums,
                     std::shared_ptr<const PMTable>* table);

  uint64_t number() const { return header_.number; }
  uint64_t entries() const { return header_.entries; }
  uint64_t tombstones() const { return header_.tombstones; }
  uint64_t min_sequence() const { return header_.min_sequence; }
  uint64_t max_sequence() const { return header_.max_sequence; }

  // No entry is older. Closer than min_sequence(), which also stands for what a merge has dropped, but in DRAM only: an
  // opened table has nothing better than that.
  uint64_t oldest_sequence() const { return oldest_sequence_; }

  // When its entries expire, of which nothing is known but these bounds.
  TableExpiry expiry() const {
    if (!has(kTableExpiring)) return TableExpiry();
    DCHECK_LE(header_.first_expiry, header_.last_expiry);
    const bool whole = header_.expiring + header_.tombstones == header_.entries;
    return {{header_.first_expiry, header_.last_expiry}, whole ? header_.last_expiry : kNoExpiry};
  }
  // No entry is hidden by a deletion of a range that is at or below this sequence.
  uint64_t ranges_applied() const { return header_.ranges_applied; }

  bool has(TableFlags flag) const { return (header_.flags & flag) != 0; }

  Slice smallest() const { return smallest_; }
  Slice largest() const { return largest_; }
  const ExtentRef& index() const { return index_; }
  uint64_t payload_bytes() const { return header_.payload_bytes; }  // sum of the words' sizes
  uint64_t memory_bytes() const;                                    // DRAM: inner levels and filter
  Pool* pool() const { return pool_; }
  const KeyOrder& order() const { return order_; }

  // False: the table does not have the key, by its filter. The clock counts the question.
  bool MayHave(const LookupKey& key, PerfClock* clock) const;

  // Finds the newest version of key at or below its sequence. *found says whether there is one.
  Status Get(const LookupKey& key, bool* found, RecordView* record) const;

  // The same where MayHave was asked and said that it may, with that clock.
  Status GetPastFilter(const LookupKey& key, PerfClock* clock, bool* found, RecordView* record) const;

  // The same in steps (table_search.h).
  class Search;

  // The line of the filter that Get will look at, for a prefetch; null, which a prefetch may be given, without a
  // filter.
  const void* FilterLine(const LookupKey& key) const {
    const BloomFilter* const filter = filter_.load(std::memory_order_acquire);  // acquire: see filter_
    return filter != nullptr ? filter->LineOf(key.hash) : nullptr;
  }

  // The position of the first entry not before (key, sequence), or entries(). kVerify: check the leaf's checksum.
  Status Seek(const Slice& key, uint64_t sequence, Checksums checksums, uint64_t* position) const;

  // The record of the entry at this position, or of this word of this table's. The call is Corruption if the record is
  // longer than the word says, or lies outside of the pool. kVerify: check its checksum.
  Status RecordAt(uint64_t position, Checksums checksums, RecordView* record) const {
    return ReadRecord(WordAt(position), checksums, record);
  }
  Status ReadRecord(IndexWord word, Checksums checksums, RecordView* record) const {
    return ReadRecord(word.ref(), word.size(), checksums, record);
  }
  IndexWord WordAt(uint64_t position) const {
    DCHECK_LT(position, header_.entries);
    return IndexWord(Leaf(position / kNodeFanout).word[position % kNodeFanout]);
  }

  uint64_t leaf_count() const { return header_.leaf_count; }
  const LeafNode& Leaf(uint64_t i) const {
    DCHECK_LT(i, header_.leaf_count);
    return leaves_[i];
  }
  int LeafEntries(uint64_t leaf) const {
    DCHECK_LT(leaf, header_.leaf_count);
    return leaf + 1 < header_.leaf_count ? kNodeFanout : static_cast<int>(header_.entries - leaf * kNodeFanout);
  }

  // Some record lies in an extent that is marked for evacuation: a hint, kept by those who make the marks.
  mutable std::atomic<bool> marked{false};

  // The moment that a sample of the records gave (compaction/policy/expired_tables.h); 0: no sample was made.
  mutable std::atomic<uint64_t> much_expired_at{0};

  // Whether the header of this leaf can be trusted as far as memory safety goes, and with kVerify its checksum too.
  Status CheckLeaf(uint64_t leaf, Checksums checksums) const;

  // Builds the filter from the leaves' hashes, if there is none yet and no leaf is damaged. A single thread at a time
  // builds the filter of a table.
  void BuildFilter(int bits_per_key) const;
  void SetFilter(std::unique_ptr<BloomFilter> filter) const;
  bool has_filter() const { return filter_.load(std::memory_order_acquire) != nullptr; }  // acquire: see filter_

  ~PMTable();
  PMTable(const PMTable&) = delete;

 private:
  friend class PMTableBuilder;

  PMTable(Pool* pool, KeyOrder order, ExtentRef index);

  // By fingerprint a get reads one leaf, so all versions of a key must lie in one leaf (kTableSpanning is not set) and
  // equal keys must have equal hashes.
  bool by_fingerprint() const { return order_.bytewise() && !has(kTableSpanning); }

  // The end of a search: before the keys that are equal to the target, or behind them.
  enum class Bound : uint8_t { kLower, kUpper };

  Status Load(uint64_t number, Checksums checksums);
  Status ReadRecord(PmRef ref, uint64_t most_bytes, Checksums checksums, RecordView* record) const;
  Status LoadInner(Checksums checksums);
  Status LoadKeyRange(Checksums checksums);
  Status Descend(const Slice& key, Bound bound, Checksums checksums, size_t level, uint64_t* node) const;
  Status FindLeaf(const Slice& key, Bound bound, Checksums checksums, uint64_t* leaf) const;
  Status LeafLowerBound(uint64_t leaf, const Slice& key, Checksums checksums, int* position) const;
  Status ReadMatch(const LookupKey& key, IndexWord word, bool* found, RecordView* record) const;
  Status GetBySeek(const LookupKey& key, bool* found, RecordView* record) const;
  Status Find(const LookupKey& key, PerfClock* clock, bool* found, RecordView* record) const;

  // The first i in [low, high) for which key_of(i) lies behind the bound of the target; probes records, so keep the
  // range small.
  template <typename RefOf>
  Status SearchRecords(const Slice& target, Bound bound, Checksums checksums, int low, int high, RefOf ref_of,
                       int* result) const;

  Pool* const pool_;
  const KeyOrder order_;
  const ExtentRef index_;
  TableHeader header_ = {};
  uint64_t oldest_sequence_ = 0;
  const LeafNode* leaves_ = nullptr;
  std::vector<InnerNode> inner_;       // all levels above 0, level 1 first
  std::vector<uint64_t> level_start_;  // where level i + 1 starts in inner_
  std::string smallest_;
  std::string largest_;

  // Set once; the release store publishes the filter's bits to readers' acquire loads. Owned.
  mutable std::atomic<BloomFilter*> filter_{nullptr};
};

// Calls visit(word) for the table's entries in order until it returns false. Corruption: a leaf is damaged.
template <typename Visit>
Status ForEachWord(const PMTable& table, Visit visit) {
  for (uint64_t leaf = 0; leaf < table.leaf_count(); leaf++) {
    Status s = table.CheckLeaf(leaf, Checksums::kVerify);
    if (!s.ok()) return s;
    for (int i = 0, n = table.LeafEntries(leaf); i < n; i++) {
      if (!visit(IndexWord(table.Leaf(leaf).word[i]))) return s;
    }
  }
  return Status::OK();
}

// Nodes of each level above 0 of a table with this many leaves, from level 1 up to the root; empty for one leaf.
std::vector<uint64_t> InnerLevelSizes(uint64_t leaf_count);

}  // namespace miodb

#endif  // MIODB_PMTABLE_PMTABLE_H_
