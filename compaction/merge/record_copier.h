// Copies records into extents of their own, as the policy of a merge asks. The extents are filled one after the other,
// in key order; tables that follow one another share an extent.
//
// Threads: one, that of a share. Durable after the fence at the end of the share. After a crash: free space.

#ifndef MIODB_COMPACTION_MERGE_RECORD_COPIER_H_
#define MIODB_COMPACTION_MERGE_RECORD_COPIER_H_

#include <atomic>
#include <cstdint>
#include <vector>

#include "compaction/merge/merge.h"
#include "src/util/check/check.h"

namespace miodb {

class RecordCopier {
 public:
  // index_taken: what all shares of the job have taken for indexes. Both outlive this.
  RecordCopier(const MergeRequest& request, std::atomic<uint64_t>* index_taken)
      : request_(request), index_taken_(index_taken) {
    CHECK(index_taken != nullptr);
  }

  // Whether the policy wants the record of this word, in this extent, copied.
  bool Wanted(const Extent& extent, const IndexWord& word) const;

  // Copies the record and points *word at the copy. Without space nothing happens, and nothing is wanted any more.
  void Copy(const RecordView& record, bool evacuated, IndexWord* word);

  // Writes a record that a merge has made, and points *word at it. False: there is no space, and nothing is wanted any
  // more.
  bool Write(uint64_t tag, const Slice& key, const Slice& value, IndexWord* word);

  // Tells of an index extent that the job has taken or cut.
  void CountIndex(int64_t bytes);

  // Keeps, or forgets, the copies since the last call of one of the two. The space of those that are forgotten is used
  // again or garbage.
  void Commit();
  void Rollback();

  // The extents with copies. The unused tail of the last one goes back. Call once, last.
  std::vector<MadePayload> Take();

  uint64_t bytes_copied() const { return bytes_copied_; }
  bool full() const { return full_; }

 private:
  char* TakeSpace(uint64_t size);
  bool TakeExtent(uint64_t size);
  void Finish();
  void TellTaken(int64_t bytes) const {
    DCHECK(extent_ != nullptr);
    if (request_.copy_extents.took) request_.copy_extents.took(bytes);
  }

  const MergeRequest& request_;
  std::atomic<uint64_t>* const index_taken_;
  std::vector<MadePayload> made_;  // that are full
  ExtentRef extent_;               // being filled
  uint64_t used_ = 0;
  uint64_t live_ = 0;  // bytes of words that refer to it
  // The state at the last Commit.
  size_t kept_made_ = 0;
  uint64_t kept_used_ = 0;
  uint64_t kept_live_ = 0;
  uint64_t evacuated_ = 0;  // of it, by marked records
  uint64_t bytes_copied_ = 0;
  bool full_ = false;
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_RECORD_COPIER_H_
