// Builds a PMTable from entries in key order: streams the leaves out, keeps the first key of each leaf, and builds the
// levels above from those at the end.
//
// Threads: one. After a crash: free space; the table exists once a manifest record names it, and the caller
// fences between Finish and that record.

#ifndef MIODB_PMTABLE_TABLE_BUILDER_H_
#define MIODB_PMTABLE_TABLE_BUILDER_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "pmtable/pmtable.h"

namespace miodb {

// An entry on its way into an index. known holds the key's first bytes: all of a key that is complete, followed by
// zeros, else at least kHeadSize bytes.
struct IndexEntry {
  char known[kMaxKnownBytes];
  uint8_t known_size;
  bool complete;          // known_size bytes are the whole key
  bool same_key_as_last;  // another version of the key before it
  uint32_t hash;
  IndexWord word;

  // Whether the figures fit each other.
  bool Sound() const { return known_size <= kMaxKnownBytes && (complete || known_size >= kHeadSize); }

  void SetKey(const Slice& key) {
    complete = key.size() <= kMaxKnownBytes;
    known_size = static_cast<uint8_t>(complete ? key.size() : kMaxKnownBytes);
    memcpy(known, key.data(), known_size);
    memset(known + known_size, 0, kMaxKnownBytes - known_size);
    static_assert(kMaxKnownBytes <= UINT8_MAX);
    DCHECK(Sound());
  }
};

class PMTableBuilder {
 public:
  // For estimates of space: what an index extent takes besides its entries, rounding included.
  static constexpr uint64_t kBytesPerTable = 2 * kExtentUnit;

  PMTableBuilder(Pool* pool, KeyOrder order, Purpose purpose, uint64_t number, int filter_bits);
  ~PMTableBuilder();
  PMTableBuilder(const PMTableBuilder&) = delete;
  PMTableBuilder& operator=(const PMTableBuilder&) = delete;

  // Takes the space for a table of max_entries entries; if free space is scattered, for fewer. may_come: as many
  // entries may be offered. level: where the table goes, as PlacementRequest has it. Call once, first.
  Status Start(uint64_t max_entries, uint64_t may_come, int level = 0);

  // Whether another entry still fits. A table need not take all entries: go on in a next one.
  bool HasRoom() const {
    DCHECK_LE(entries_, capacity_);
    return entries_ < capacity_;
  }

  // Whether so little room is left that the next key is better put into another table, because a key's versions have to
  // stay together. Never so if there was room for all that may come.
  bool NearlyFull() const {
    DCHECK_LE(entries_, capacity_);
    return shortened_ && capacity_ - entries_ < std::min<uint64_t>(kNodeFanout, capacity_ / 4);
  }

  // REQUIRES: HasRoom(), and the entry comes after all before it.
  void Add(const IndexEntry& entry);

  uint64_t entries() const { return entries_; }

  // The size of the extent taken by Start.
  uint64_t index_bytes() const {
    CHECK(index_ != nullptr);
    return index_->size();
  }

  // The figures of the entries added, for Finish.
  struct Summary {
    uint64_t min_sequence = 0;
    uint64_t max_sequence = 0;
    uint64_t oldest_sequence = 0;  // see PMTable
    uint64_t ranges_applied = 0;   // the same
    ExpiryRange expiry = {};       // of the entries that expire
    bool apart = false;            // see kTableApart
    bool logged = false;           // see kTableLogged
    bool marked = false;           // see PMTable
  };

  // Writes the upper levels and the header. REQUIRES: at least one entry. Durable after a fence.
  Status Finish(const Summary& summary, std::shared_ptr<const PMTable>* table);

 private:
  struct FirstKey {
    char known[kMaxKnownBytes];
    uint8_t known_size;
    bool complete;
    PmRef ref;
  };

  bool ComesNext(const IndexEntry& entry) const;
  void EmitLeaf();
  void BuildInner(std::vector<InnerNode>* inner);

  Pool* const pool_;
  const KeyOrder order_;
  const Purpose purpose_;
  const uint64_t number_;
  const int filter_bits_;
  ExtentRef index_;
  uint64_t capacity_ = 0;
  bool shortened_ = false;  // capacity is less than what may come
  uint64_t entries_ = 0;
  uint64_t tombstones_ = 0;
  uint64_t expiring_ = 0;
  uint64_t ascending_ = 0;
  uint64_t leaf_count_ = 0;
  uint64_t live_bytes_ = 0;
  uint32_t flags_ = 0;
  bool chains_only_ = true;  // see kTableChains
  IndexEntry last_ = {};
  std::vector<IndexEntry> pending_;   // of the leaf being filled
  std::vector<FirstKey> first_keys_;  // of the leaves written
  std::unique_ptr<BloomFilter> filter_;
};

}  // namespace miodb

#endif  // MIODB_PMTABLE_TABLE_BUILDER_H_
