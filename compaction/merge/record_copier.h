// Copies records into extents of their own, as the policy of a merge asks. The extents are filled one after the other,
// in key order, and each ends with the table that refers to it: a partition's copies lie in extents of their own.
//
// Threads: one. Durable after the fence at the end of the merge. After a crash: free space.

#ifndef MIODB_COMPACTION_MERGE_RECORD_COPIER_H_
#define MIODB_COMPACTION_MERGE_RECORD_COPIER_H_

#include <cstdint>

#include "compaction/merge/merge.h"
#include "compaction/merge/payload_tracker.h"
#include "src/util/check/check.h"

namespace miodb {

class RecordCopier {
 public:
  // Both outlive this. The tracker gets to know the extents.
  RecordCopier(const MergeRequest& request, PayloadTracker* tracker) : request_(request), tracker_(tracker) {
    CHECK(tracker_ != nullptr);
  }

  // Whether the policy wants the record of this word, in this extent, copied.
  bool Wanted(const Extent& extent, const IndexWord& word) const;

  // Copies the record and points *word at the copy. Without space nothing happens, and nothing is wanted any more.
  void Copy(const RecordView& record, bool evacuated, IndexWord* word);

  // Writes a record that a merge has made, and points *word at it. False: there is no space, and nothing is wanted any
  // more.
  bool Write(uint64_t tag, const Slice& key, const Slice& value, IndexWord* word);

  // Tells of an index extent that the job has taken or cut, for a table with room for this many more payload extents.
  void CountIndex(int64_t bytes, uint64_t extents);

  // Gives back the unused tail of the extent being filled, before a table names it.
  void Finish();

  uint64_t bytes_copied() const { return bytes_copied_; }
  bool full() const { return full_; }

 private:
  char* TakeSpace(uint64_t size);
  bool TakeExtent(uint64_t size);
  void TellTaken(int64_t bytes) const {
    DCHECK(extent_ != nullptr);
    if (request_.copy_extents.took) request_.copy_extents.took(bytes);
  }

  const MergeRequest& request_;
  PayloadTracker* const tracker_;
  ExtentRef extent_;
  uint64_t used_ = 0;
  uint64_t evacuated_ = 0;  // of it, by marked records
  uint64_t bytes_copied_ = 0;
  uint64_t index_taken_ = 0;
  uint64_t extents_left_ = 0;  // that the table being built has room for
  bool full_ = false;
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_RECORD_COPIER_H_
