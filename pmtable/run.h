// A run: PMTables in key order that do not overlap, of one age. Levels are lists of runs.
//
// Threads: immutable.

#ifndef MIODB_PMTABLE_RUN_H_
#define MIODB_PMTABLE_RUN_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "pmtable/pmtable.h"
#include "src/iterator/internal_iterator.h"
#include "src/util/bytes/key_range.h"
#include "src/util/bytes/shared_list.h"
#include "src/util/check/check.h"

namespace miodb {

using TableRef = std::shared_ptr<const PMTable>;

// Whether some key has a version that only a snapshot can see, or operands that only a snapshot keeps apart: without
// one a merge would drop or fold it.
inline bool HoldsHidden(const PMTable& table) {
  return (table.has(kTableDuplicates) && !table.has(kTableChains)) || table.has(kTableApart);
}

// The moment from which the table has a tombstone, which an entry that expired is too; 0: it has one already.
inline uint64_t FirstTombstone(const PMTable& table) {
  DCHECK_LE(table.tombstones(), table.entries());
  return table.tombstones() > 0 ? 0 : table.expiry().first;
}

// Figures of a part of a run, by which the pickers and the log floor search. An edit copies these, so they are small.
struct TableSummary {
  void Add(const TableRef& table) {
    DCHECK(table != nullptr);
    Add({.oldest_sequence = table->oldest_sequence(),
         .hidden = HoldsHidden(*table),
         .first_tombstone = FirstTombstone(*table),
         .whole_expiry = table->expiry().whole,
         .entries = table->entries(),
         .most_entries = table->entries(),
         .index_bytes = table->index()->size(),
         .payload_bytes = table->payload_bytes()});
  }
  void Add(const TableSummary& other) {
    oldest_sequence = std::min<uint64_t>(oldest_sequence, other.oldest_sequence);
    hidden = hidden || other.hidden;
    first_tombstone = std::min(first_tombstone, other.first_tombstone);
    whole_expiry = std::min(whole_expiry, other.whole_expiry);
    entries += other.entries;
    most_entries = std::max(most_entries, other.most_entries);
    index_bytes += other.index_bytes;
    payload_bytes += other.payload_bytes;
  }

  uint64_t oldest_sequence : 63 = kMaxSequence;
  bool hidden : 1 = false;               // a table has versions that a newer one hides
  uint64_t first_tombstone = kNoExpiry;  // the earliest of the tables'
  uint64_t whole_expiry = kNoExpiry;     // no table has expired as a whole earlier
  uint64_t entries = 0;                  // of all the tables
  uint64_t most_entries = 0;             // of one of them
  uint64_t index_bytes = 0;              // of all of them
  uint64_t payload_bytes = 0;            // the same
};

// Tables of one run in key order. Versions share what of it does not change.
using TableList = SharedList<TableRef, TableSummary>;

inline std::vector<uint64_t> Numbers(const std::vector<TableRef>& tables) {
  std::vector<uint64_t> numbers;
  numbers.reserve(tables.size());
  for (const TableRef& table : tables) numbers.push_back(table->number());
  return numbers;
}

// Entries of all these tables.
inline uint64_t EntriesOf(const std::vector<TableRef>& tables) {
  uint64_t entries = 0;
  for (const TableRef& table : tables) entries += table->entries();
  return entries;
}

struct Run {
  uint64_t id = 0;  // of two runs of one level the higher id is newer
  TableList tables;

  // The first table whose largest key is not before key, or tables.size().
  size_t FindTable(const KeyOrder& order, const Slice& key) const;

  // The one table that can have the key; null: none can. If there is one table only, its filter decides sooner than the
  // key range would.
  const PMTable* TableFor(const KeyOrder& order, const Slice& key) const {
    const size_t i = tables.size() == 1 ? 0 : FindTable(order, key);
    DCHECK_LE(i, tables.size());
    return i < tables.size() ? tables[i].get() : nullptr;
  }

  // The tables whose keys reach into the range, by their bounds.
  std::vector<TableRef> TablesIn(const KeyOrder& order, const KeyRange& range) const;

  Status Get(const KeyOrder& order, const LookupKey& key, bool* found, RecordView* record) const;

  // Whether the keys of some table reach into this range.
  bool Overlaps(const KeyOrder& order, const Slice& smallest, const Slice& largest) const;

  // False: the run does not have the key, by what of it is in DRAM.
  bool MayHave(const KeyOrder& order, const LookupKey& key) const;

  // All versions and tombstones: a run may hold several of a key.
  uint64_t entries() const { return tables.Total().entries; }

  // Live bytes that the tables of this run refer to. Tables of other runs may refer to the same extents, and count
  // theirs.
  uint64_t payload_bytes() const { return tables.Total().payload_bytes; }
};

using RunRef = std::shared_ptr<const Run>;

// Walks all versions in a run. The run must outlive the iterator.
std::unique_ptr<InternalIterator> NewRunIterator(const Run* run, const KeyOrder& order, Checksums checksums);

}  // namespace miodb

#endif  // MIODB_PMTABLE_RUN_H_
