// Finds what can be read in a damaged pool and walks it in key order. RepairDB is made of this.
//
// With a whole manifest the tables and log chunks are those that it names. Without one the pool is searched:
//
//   tables  Every index extent begins with a header that identifies and checksums itself; a table that was dropped had
//           its magic number erased. The erasing may be missing if a crash came right after the edit, and an index that
//           was never named may lie there too. So of two tables that cover the same key and sequence the one with the
//           higher number counts: numbers are given out in the order in which tables are built, never twice, and no two
//           tables of one version cover the same key and sequence. An undamaged table hides what it covers in those
//           with lower numbers, a damaged one hides nothing: rather an old value than none. A table that edits
//           which are left show to be dropped counts for nothing: a savepoint may have kept it, with its magic number.
//   ranges  Deletions of ranges are in edits of whatever areas are left, whether they are in force or not: each has
//   happened
//           once, and hides what is older.
//   log     Frames with sequences above all that tables cover: what is at or below that was flushed. The id of a
//           frame's chunk follows from its checksum, and is believed if it is small enough to be one. In a frame no
//           other one is looked for, whatever its values look like.
//
// Threads: one. The image must outlive it.

#ifndef MIODB_SRC_INSPECT_SALVAGE_SALVAGE_H_
#define MIODB_SRC_INSPECT_SALVAGE_SALVAGE_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "src/format/problem.h"
#include "src/inspect/image/manifest_image.h"
#include "src/inspect/image/table_image.h"
#include "src/inspect/salvage/cover_sweep.h"
#include "src/iterator/internal_iterator.h"
#include "src/iterator/range_set.h"
#include "src/log/log_history.h"
#include "src/util/check/check.h"

namespace miodb {

class Salvage {
 public:
  // report is told of everything that is damaged or lost. has_families: what the order goes by; set by Find.
  Salvage(const PoolImage* image, const KeyOrder& order, std::atomic<bool>* has_families, ReportProblem report);

  // Looks for tables and frames. NotSupported, InvalidArgument or Corruption as RepairDB says.
  Status Find();

  // The history of the log: what Find found of it in the pool, and the files that the caller adds to it, and applies.
  LogHistory* log() { return &history_; }
  // Judges it, and takes the writes that the pool has of it. Arguments as of LogHistory::Judge. After Find.
  Status JudgeLog(uint64_t flushed_sequence, uint64_t reach);

  // The state of a whole manifest, or null. After Find.
  const ManifestState* state() const { return manifest_ != nullptr ? &manifest_->state : nullptr; }

  // The column families as far as edits of any area tell: all of them, if the manifest is whole. After Find.
  const VersionEdit& families() const { return families_; }

  // Tables and table files that are known to count no more. After Find.
  const std::set<uint64_t>& dropped() const { return dropped_; }

  // Adds a deletion of a range from elsewhere: it hides older versions wherever they were found. Every deletion that
  // was ever made may be added, also one that nothing knows of any more.
  void AddRange(RangeDeletion range) { ranges_.push_back(std::move(range)); }

  // All deletions of ranges that were found or added, for reads of the newest state; null: none.
  RangeSetRef ranges() const {
    const std::vector<uint64_t> no_snapshots;
    return RangeSet::Make(order_, ranges_, &no_snapshots);
  }

  // Adds versions from elsewhere, to be merged with those of the pool by key and sequence. The iterator goes forward
  // only, and its status is always OK.
  void Add(std::unique_ptr<InternalIterator> versions) {
    CHECK(versions != nullptr && other_ == nullptr);
    other_ = std::move(versions);
  }

  // Calls visit for the newest version of every key that is there, also where that is a deletion, in key order, until
  // it fails. Behind an operand come the older versions of its key, down to the first that is none.
  Status ForEach(const std::function<Status(const RecordView& record)>& visit);

  // How many bytes the records have of those that ForEach would hand out now and that are no deletions. Reads
  // everything once more, and reports nothing. REQUIRES: nothing was added from elsewhere.
  uint64_t LiveBytes();

  struct Counts {
    uint64_t tables = 0;
    uint64_t entries = 0;         // read from tables
    uint64_t entries_lost = 0;    // known to be there and not readable
    uint64_t writes = 0;          // read from the pool's log
    uint64_t keys = 0;            // handed out
    uint64_t searched_bytes = 0;  // for frames
    uint64_t hashed_bytes = 0;    // while searching for them
  };
  const Counts& counts() const { return counts_; }

  // Writes up to this one are in tables, or lost with them.
  uint64_t flushed_sequence() const { return flushed_sequence_; }

 private:
  class TableWalk;

  Status ChooseManifest();

  // Calls use(area, record) for every edit that can be read, of the oldest area first.
  template <typename Use>
  void ForEachEdit(Use use) const {
    std::vector<const ManifestImage*> oldest_first;
    for (const ManifestImage& area : areas_) oldest_first.push_back(&area);
    std::stable_sort(oldest_first.begin(), oldest_first.end(),
                     [](const ManifestImage* a, const ManifestImage* b) { return a->epoch < b->epoch; });
    for (const ManifestImage* area : oldest_first) {
      for (const ManifestImage::Record& record : area->records) {
        if (record.decoded) use(*area, record);
      }
    }
  }

  void FindFamilies();
  void TellSavepoints();
  void FindDropped();
  void FindNamed(const ManifestState& state);
  void Search();
  void SearchTables(std::vector<Cover>* covers);
  void SearchFrames(uint64_t flushed_sequence);
  Status Walk(const ReportProblem& report, const std::function<Status(const RecordView& record)>& visit);
  bool Measure(const TableImage& table, Cover* cover) const;
  void Report(std::string place, std::string reason);

  const PoolImage* const image_;
  const KeyOrder order_;
  std::atomic<bool>* const has_families_;
  const ReportProblem report_;
  Counts counts_;
  uint64_t flushed_sequence_ = 0;
  std::vector<ManifestImage> areas_;         // all that were found
  const ManifestImage* manifest_ = nullptr;  // the one that rules, if it is whole
  VersionEdit families_;                     // of them alone
  std::set<uint64_t> dropped_;
  std::vector<TableImage> tables_;
  std::vector<Cover> covers_;  // of undamaged tables, when searching
  LogHistory history_;
  std::vector<RangeDeletion> ranges_;        // of the log in the pool, and of all that is left of manifests
  std::vector<RecordView> log_;              // what counts of the log's pieces in the pool
  std::unique_ptr<InternalIterator> other_;  // null: none
};

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_SALVAGE_SALVAGE_H_
