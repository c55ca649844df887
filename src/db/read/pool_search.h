// A search for one key in the memtables and tables of a read state, in steps: each does what a get does until it would
// wait for memory, and says which. A caller that takes the steps of several searches in turn waits for the misses of
// all of them together (multi_get.cc).
//
// The order of the sources is that of a get (read_path.cc), so is the answer.
//
// Threads: one. Ownership: the state has to be pinned, and key and sources to live, until the search is over; the
// record's bytes stay where they are while the state is pinned.

#ifndef MIODB_SRC_DB_READ_POOL_SEARCH_H_
#define MIODB_SRC_DB_READ_POOL_SEARCH_H_

#include <cstddef>
#include <vector>

#include "pmtable/table_search.h"
#include "src/db/state/read_state.h"

namespace miodb {

// The sources of a search, from the newest to the oldest: memtables, then runs.
struct PoolSources {
  PoolSources(const ReadState& state, const KeyOrder& key_order);

  const KeyOrder order;
  std::vector<const MemTable*> memtables;
  std::vector<const Run*> runs;
};

class PoolSearch {
 public:
  // Asks for the filters that can be known. index: which one of a batch this is.
  void Start(const PoolSources& sources, const LookupKey& key, size_t index);

  // True: there are no more steps. Then index, status, found and record are the answer, as from ReadPath::FindInPool.
  // Else what the next step reads is in what is wanted, or was asked for.
  bool Step(PrefetchList* wanted);

  size_t index() const { return index_; }
  const Status& status() const { return status_; }
  bool found() const { return found_; }
  const RecordView& record() const { return record_; }

 private:
  enum class Stage : uint8_t { kBetween, kMemTable, kTable };
  enum class Next : uint8_t { kNone, kReady, kAskedFor };

  Next EnterNext(PrefetchList* wanted);
  bool StepInSource(PrefetchList* wanted);

  const PoolSources* sources_ = nullptr;
  const LookupKey* key_ = nullptr;
  size_t index_ = 0;
  size_t source_ = 0;  // the next one: memtables first, then runs
  Stage stage_ = Stage::kBetween;
  bool found_ = false;
  PMTable::Search table_;
  MemTable::Search memtable_;
  RecordView record_;
  Status status_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_POOL_SEARCH_H_
