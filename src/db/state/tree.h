// Tree: the memtables and tables of a database, and what readers see of them.
//
//   memtable     takes the writes of the leader of a write group. Sealed, it becomes an immutable one.
//   immutables   wait for their flush, newest first.
//   versions     the tables of each level, and the manifest that makes edits of them durable.
//   ReadSources  pairs of memtables and version that reads pin without a lock, and up to which sequence reads see. A
//                change is not visible before Publish.
//
// Threads: the annotations say what the database's mutex guards; the rest has locks or atomics of its own. The
// memtable's contents belong to the leader.
// After a crash: what the manifest and the log hold; nothing here outlives the process.

#ifndef MIODB_SRC_DB_STATE_TREE_H_
#define MIODB_SRC_DB_STATE_TREE_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "src/db/context/control.h"
#include "src/db/context/db_context.h"
#include "src/db/state/read_sources.h"
#include "src/util/check/check.h"
#include "src/version/version_set.h"

namespace miodb {

class Tree : public ReadSources {
 public:
  Tree(const DbContext& db, Control* control) : db_(db), control_(control) { CHECK(control != nullptr); }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;

  MemTableRef NewMemTable(MemTable::Filter filter) const;

  // The first memtable of an open.
  void Begin() REQUIRES(db_mutex);

  // Makes the next memtable ready once the present one is in use. By the thread that prepares.
  void PrepareMemTable() EXCLUDES(db_mutex);

  // Bytes of the memtable's log chunks, full or not.
  uint64_t SegmentBytes() const REQUIRES(db_mutex);

  // Has the memtable make its filter if it has had enough log to be worth one. By the leader.
  void StartFilter() REQUIRES(db_mutex);

  // Whether the memtable has had its share of log, which is at most so many bytes, or, with records that are small
  // against their nodes, of DRAM, or of memory for deletions of ranges.
  bool MemTableFull(uint64_t most_log) const REQUIRES(db_mutex);

  // The memtable becomes the newest immutable one, and another takes its place. Readers are to be told by Publish.
  // REQUIRES: it is not empty.
  void Seal() REQUIRES(db_mutex);

  // From now on whoever writes joins the queue, as a seal on request does; a replay does not.
  void BeginSeals() REQUIRES(db_mutex) { seals_begun_ = true; }

  // Whether the memtable is to be sealed, by its next writer or by the thread that flushes.
  bool SealIsAsked() const REQUIRES(db_mutex) { return seals_begun_ && !memtable->empty() && IsAsked(memtable.get()); }
  bool IsAsked(const MemTable* of) const {
    return seal_asked.load(std::memory_order_relaxed) == of;
  }  // relaxed: a wish
  void AskSeal() REQUIRES(db_mutex);

  // Lets go of the oldest immutable memtable, which has been flushed.
  void DropFlushed(const MemTableRef& memtable) REQUIRES(db_mutex);

  // Waits for an edit that is under way. A caller that takes something out of the manifest looks for it after this, and
  // holds the mutex until Apply.
  void AwaitEdit() REQUIRES(db_mutex);

  // Makes an edit durable, then the version that it leads to current; one at a time. Where a fence is slow, and for a
  // roll-over of the manifest, the mutex is let go of meanwhile, so what the caller knows of other parts' state may
  // have changed; what it holds has not. On failure see VersionSet::Apply.
  Status Apply(VersionEdit edit, const Additions& added) REQUIRES(db_mutex);

  // Readers see the memtables and the version of now.
  void Publish() REQUIRES(db_mutex);

  // A number for a new table, run or chunk.
  uint64_t NewId() EXCLUDES(db_mutex);

  // Nothing waits for a flush, and all tables are in the repository.
  bool Settled() const REQUIRES(db_mutex) { return immutables.empty() && versions->current()->BufferEmpty(); }

  // DRAM that the memtable takes, and that the sealed ones take.
  uint64_t MemTableBytes() const REQUIRES(db_mutex);
  uint64_t SealedBytes() const REQUIRES(db_mutex);

  // The same of the memory of all of them alone, without filters, and without records that are not in the pool.
  uint64_t MemTableMemory() const REQUIRES(db_mutex);

  std::unique_ptr<VersionSet> versions GUARDED_BY(db_mutex);
  MemTableRef memtable GUARDED_BY(db_mutex);
  std::deque<MemTableRef> immutables GUARDED_BY(db_mutex);
  MemTableRef indexing GUARDED_BY(db_mutex);  // a chunk of it gets its index just now, so its flush has to wait

  // How often the version has changed.
  uint64_t version_changes GUARDED_BY(db_mutex) = 0;

 private:
  const DbContext& db_;
  Control* const control_;
  MemTableRef spare_ GUARDED_BY(db_mutex);      // the next memtable; null while it is being prepared
  bool applying_ GUARDED_BY(db_mutex) = false;  // an edit is under way
  bool seals_begun_ GUARDED_BY(db_mutex) = false;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATE_TREE_H_
