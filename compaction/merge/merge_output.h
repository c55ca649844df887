// The output of the merge of a cluster: entries that were judged, one after the other, into tables. Some wait for what
// comes behind them: a single deletion for its put, and operands that are to be folded for their base.
//
// Folding: operands of a key that no snapshot tells apart become one record in the extents for copies, of the newest
// one's sequence: a value if their base is met, or if nothing older can have the key; else an operand, if the operator
// makes one. Records that are copied, and those that were folded, are the compaction filter's to judge. Operands that
// cannot be folded go out as they were; so do operands over a value that will expire, because they outlive it.
//
// Threads: one. Durable after the fence of the share, or at the end of the merge.

#ifndef MIODB_COMPACTION_MERGE_MERGE_OUTPUT_H_
#define MIODB_COMPACTION_MERGE_MERGE_OUTPUT_H_

#include <vector>

#include "compaction/filter/record_filter.h"
#include "compaction/merge/drop_account.h"
#include "compaction/merge/merge.h"
#include "compaction/merge/record_copier.h"
#include "compaction/merge/table_sink.h"
#include "src/iterator/operands.h"
#include "src/util/check/mutation.h"

namespace miodb {

class MergeOutput {
 public:
  // An entry and the table that it was found in.
  struct Version {
    IndexEntry entry;
    const PMTable* table;
    ExpiryRange expiry;  // of a value that expires
  };

  // may_copy: records may go to new extents. bottom: nothing older than the inputs lies in the cluster's range.
  MergeOutput(const MergeRequest& request, bool may_copy, bool bottom, DropAccount* account, RecordCopier* copier,
              TableSink* sink, MergeResult* result);

  // The next version of the present key, and the verdict on it. apart: a snapshot sees it, and not the one before it.
  Status Take(const Version& version, VersionJudge::Verdict verdict, bool apart);

  // Ends the current key: the next entry has another key, or there is none.
  Status NewKey();

 private:
  enum class Waiting : uint8_t { kNone, kSingleDeletion, kOperands };

  // Whether operands may be folded with it: not with a value that will expire, which they outlive.
  bool IsBase(const Version& version) const {
    DCHECK(version.entry.word.type() != kTypeMerge);
    return version.entry.word.type() != kTypeExpiringValue || version.expiry.HasExpired(request_.now_micros) ||
           MIODB_MUTATED(kFoldIntoExpiring);
  }
  Status Drop(const Version& version) { return account_->Drop(*version.table, version.entry.word); }
  Status Emit(const Version& version);
  Status EmitWaiting();
  Status EndOperands(Operands::Into into);
  Status Fold(const Version* base, Operands::Into into);
  Status ReadOperands(const Version* base, Operands* operands, RecordView* newest, uint64_t* oldest);
  Status EmitFolded(RecordView folded, uint64_t oldest, bool* done);

  const MergeRequest& request_;
  const bool may_copy_;
  const bool folds_;
  const bool bottom_;
  DropAccount* const account_;
  RecordCopier* const copier_;
  TableSink* const sink_;
  MergeResult* const result_;
  RecordFilter filter_;
  Waiting waiting_ = Waiting::kNone;
  std::vector<Version> held_;  // what waits, newest first
  bool key_added_ = false;     // a version of the present key is in the output
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_MERGE_OUTPUT_H_
