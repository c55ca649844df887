// Takes the entries that a flush or merge keeps, in key order, and turns them into tables: one if there is room for
// one, more where a partition is full or free space is scattered. All versions of a key end up in one table.
//
// Threads: one. Durable after the fence that the caller makes when it is done.

#ifndef MIODB_COMPACTION_MERGE_TABLE_SINK_H_
#define MIODB_COMPACTION_MERGE_TABLE_SINK_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "pmtable/run.h"
#include "pmtable/table_builder.h"

namespace miodb {

class TableSink {
 public:
  struct Options {
    Pool* pool;
    KeyOrder order;
    Purpose purpose;
    int filter_bits;
    int level = 0;                            // where the tables go, as PlacementRequest has it
    uint64_t max_entries = 0;                 // no more will come
    uint64_t payload_limit = UINT64_MAX;      // live bytes at which a table is cut
    uint64_t entries_per_table = UINT64_MAX;  // a guess at how many that makes, to take the right space
    uint64_t min_sequence = 0;                // bounds of what comes
    uint64_t max_sequence = 0;
    bool apart = false;           // every table counts as one in which a snapshot keeps operands apart
    bool logged = false;          // the same of kTableLogged
    bool marked = false;          // and of PMTable::marked
    uint64_t ranges_applied = 0;  // of the tables, unless LimitRangesApplied says less
    std::function<uint64_t()> new_table_number = nullptr;
    // Told when an index extent is taken, with its size, and when its unused tail is given back, with minus the size of
    // that.
    std::function<void(int64_t)> index_taken = nullptr;
  };

  explicit TableSink(Options options);

  // Sees to a table with room for one more entry, a new one if the last is full. same_key: the entry to come has the
  // key of the one added last.
  Status MakeRoom(bool same_key);

  // oldest: the entry's sequence, or one that is not above it. expiry: bounds of when it expires, if it does.
  // REQUIRES: MakeRoom(entry.same_key_as_last) has returned OK since the last Add.
  void Add(const IndexEntry& entry, uint64_t oldest, const ExpiryRange& expiry);

  // The entry added last refers to a record in this extent.
  void NotePlace(const Extent& extent);

  // A version is kept that a deletion of a range hides, of the sequence behind this one.
  void LimitRangesApplied(uint64_t sequence) { ranges_applied_ = std::min(ranges_applied_, sequence); }

  // A snapshot keeps operands of the key added last apart, or perhaps of some key to come.
  void NoteApart() { apart_ = true; }

  // Whether MakeRoom failed because a key had more versions than the table being built had room for. With
  // entries_per_table left at its default that happens only where free space is scattered.
  bool overflowed() const { return overflowed_; }

  // Finishes the last table and returns all.
  Status Finish(std::vector<TableRef>* tables);

 private:
  Status StartTable();
  Status FinishTable();

  const Options options_;
  std::unique_ptr<PMTableBuilder> builder_;
  uint64_t taken_ = 0;          // entries in finished tables
  uint64_t payload_bytes_ = 0;  // of the table being built
  uint64_t oldest_ = 0;         // the least that was said of its entries
  ExpiryRange expiry_;          // the same of expiries
  uint64_t ranges_applied_;     // of the tables that are finished from now on
  bool apart_ = false;          // of the table being built, or the next
  bool logged_ = false;         // of the table being built
  bool marked_ = false;         // the same
  bool overflowed_ = false;
  std::vector<TableRef> tables_;
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_TABLE_SINK_H_
