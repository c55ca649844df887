// A cursor over a sequence of key/value pairs in key order.
//
// An iterator stands on one pair, or on none: before its first positioning, past either end, or after an error.
// Valid() tells which. A loop over everything:
//
//   for (it->SeekToFirst(); it->Valid(); it->Next()) Use(it->key(), it->value());
//   if (!it->status().ok()) ...   // the loop ended early
//
// Threads: one thread at a time, const methods included. Different iterators are independent.
//
// Ownership: whoever was given the iterator deletes it. What it reads from (for a database, the DB itself) must
// outlive it. What key() and value() return belongs to the iterator and changes with its position.
//
// Errors: positioning never fails aloud. After an error the iterator is not Valid() and status() holds the reason.

#ifndef MIODB_INCLUDE_ITERATOR_H_
#define MIODB_INCLUDE_ITERATOR_H_

#include "miodb/export.h"
#include "miodb/slice.h"
#include "miodb/status.h"

namespace miodb {

class MIODB_EXPORT Iterator {
 public:
  Iterator();

  Iterator(const Iterator&) = delete;
  Iterator& operator=(const Iterator&) = delete;

  // Runs the registered cleanups.
  virtual ~Iterator();

  // Whether the iterator stands on a pair.
  virtual bool Valid() const = 0;

  // Goes to the first pair. Valid() afterwards unless the sequence is empty.
  virtual void SeekToFirst() = 0;

  // Goes to the last pair. Valid() afterwards unless the sequence is empty.
  virtual void SeekToLast() = 0;

  // Goes to the first pair whose key is target or comes after it. Valid() afterwards if there is one.
  virtual void Seek(const Slice& target) = 0;

  // Goes to the pair after this one; not Valid() afterwards if this was the last. REQUIRES: Valid().
  virtual void Next() = 0;

  // Goes to the pair before this one; not Valid() afterwards if this was the first. REQUIRES: Valid().
  virtual void Prev() = 0;

  // The key of this pair. The bytes stay as they are until the iterator is moved or deleted. REQUIRES: Valid().
  virtual Slice key() const = 0;

  // The value of this pair; the bytes live as those of key(). REQUIRES: Valid().
  virtual Slice value() const = 0;

  // OK, or the error met by the positioning so far.
  virtual Status status() const = 0;

  // Has function(arg1, arg2) called when the iterator is destroyed, to let go of what it reads from. May be called
  // more than once; the last one registered runs first. REQUIRES: function != nullptr.
  using CleanupFunction = void (*)(void* arg1, void* arg2);
  void RegisterCleanup(CleanupFunction function, void* arg1, void* arg2);

 private:
  struct Cleanup {
    CleanupFunction function;
    void* arg1;
    void* arg2;
    Cleanup* older;
  };

  // The newest cleanup is stored in place, because most iterators have at most one; older ones are on the heap.
  Cleanup newest_;
};

// An iterator over nothing whose status is OK. The caller deletes it.
MIODB_EXPORT Iterator* NewEmptyIterator();

// An iterator over nothing whose status is the given one. The caller deletes it.
MIODB_EXPORT Iterator* NewErrorIterator(const Status& status);

}  // namespace miodb

#endif  // MIODB_INCLUDE_ITERATOR_H_
