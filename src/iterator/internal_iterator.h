// A walk over versions of keys, which memtables, tables and merges of them all offer.
//
// Order: user key ascending, then sequence descending, so that the newest version of a key comes first.
// Threads: one at a time. The slices live until the iterator moves.

#ifndef MIODB_SRC_ITERATOR_INTERNAL_ITERATOR_H_
#define MIODB_SRC_ITERATOR_INTERNAL_ITERATOR_H_

#include <cstdint>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/format/record.h"
#include "src/util/check/check.h"

namespace miodb {

class InternalIterator {
 public:
  InternalIterator() = default;
  virtual ~InternalIterator() = default;
  InternalIterator(const InternalIterator&) = delete;
  InternalIterator& operator=(const InternalIterator&) = delete;

  virtual bool Valid() const = 0;
  virtual void SeekToFirst() = 0;
  virtual void SeekToLast() = 0;

  // Goes to the first version that is not before (key, sequence): a version of key of at most that sequence, or a
  // version of a later key.
  virtual void Seek(const Slice& key, uint64_t sequence) = 0;

  virtual void Next() = 0;  // REQUIRES: Valid()
  virtual void Prev() = 0;  // REQUIRES: Valid()

  // Moves on like Next, and may leave out versions of keys before end that are older than sequence: for a walk that
  // would only pass them. The other one moves like Prev, over keys that are not before begin. REQUIRES: Valid(), on
  // such a version.
  virtual void NextFrom(const Slice& /*end*/, uint64_t /*sequence*/) { Next(); }
  virtual void PrevBefore(const Slice& /*begin*/, uint64_t /*sequence*/) { Prev(); }

  virtual const RecordView& record() const = 0;  // REQUIRES: Valid()

  // Damage found so far. An iterator that meets damage stops being Valid.
  virtual Status status() const = 0;
};

// An iterator that has a view of the record it stands on, and the damage that it met.
class RecordIterator : public InternalIterator {
 public:
  const RecordView& record() const final {
    DCHECK(Valid());
    return record_;
  }
  Status status() const final { return status_; }

 protected:
  RecordView record_;
  Status status_;
};

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_INTERNAL_ITERATOR_H_
