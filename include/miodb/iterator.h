// A cursor over a sequence of key/value pairs in key order.
//
// An iterator stands on one pair, or on none: before its first positioning, past either end, or after an error.
// Valid() tells which. A loop over everything:
//
//   for (it->SeekToFirst(); it->Valid(); it->Next()) Use(it->key(), it->value());
//   if (!it->status().ok()) ...   // the loop ended early
//
// All keys with a prefix, and all keys backward:
//
//   for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) Use(it->key(), it->value());
//   for (it->SeekToLast(); it->Valid(); it->Prev()) Use(it->key(), it->value());
//
// The iterator of a database shows the state of one moment, that of DB::NewIterator or of its snapshot: each key once,
// with its newest value then; deleted keys not at all. Writes made since do not show, however long the iterator lives;
// a new iterator, or Refresh(), is needed to see them. The iterator reads records of the pool in place and copies only
// records of table files.
//
// Next() and Prev() may be mixed. A change of direction costs a search in every run and level, so a walk should keep
// its direction.
//
// Threads: one thread at a time, const methods included. Different iterators are independent.
//
// Ownership: whoever was given the iterator deletes it. The source of the iterator (for a database, the DB itself) must
// outlive the iterator. The bytes that key() and value() return belong to the iterator and change with its position.
//
// Cost to others: an iterator keeps the memtables, tables and files of its state, also those that compactions have
// replaced since. Their space is free when the iterator is deleted, so iterators that live long make a pool look full.
//
// Errors: positioning never fails aloud. After an error the iterator is not Valid() and status() holds the reason; it
// shows no pair behind damage, because another source could show what the damaged one hides. An error may stay for
// good: look at status(), delete the iterator, and make a new one to go on elsewhere.

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

  // Runs the registered cleanups, after the destructors of derived classes. May free tables and files that nobody else
  // needs.
  virtual ~Iterator();

  // Whether the iterator stands on a pair. False says that there is none here, or that there was an error: status()
  // tells.
  virtual bool Valid() const = 0;

  // Goes to the first pair, or with ReadOptions::iterate_lower_bound to the first one at or behind that. Valid()
  // afterwards unless there is none. Needs no position before; a position that there was is forgotten.
  virtual void SeekToFirst() = 0;

  // Goes to the last pair, or with ReadOptions::iterate_upper_bound to the last one before that. Valid() afterwards
  // unless there is none.
  virtual void SeekToLast() = 0;

  // Goes to the first pair whose key is target or comes after it, in the comparator's order. Valid() afterwards if
  // there is one. A target before the lower bound leads to the first pair within the bounds. The target need live only
  // for the call. To find the last pair at or before a key: Seek, then Prev() if the key there is another, or
  // SeekToLast() if there is none.
  virtual void Seek(const Slice& target) = 0;

  // Goes to the pair after this one; not Valid() afterwards if this was the last, from where only a Seek leads back.
  // Passes the versions and tombstones that merges have not dropped yet, so behind many deletes one call may take
  // long. REQUIRES: Valid().
  virtual void Next() = 0;

  // Goes to the pair before this one; not Valid() afterwards if this was the first. Costs more than Next(), because
  // the newest version of a key is the last one met on the way. REQUIRES: Valid().
  virtual void Prev() = 0;

  // The key of this pair. The bytes stay as they are until the iterator is moved or deleted. REQUIRES: Valid().
  virtual Slice key() const = 0;

  // The value of this pair, not copied; the bytes live as those of key(). To keep either, copy it (Slice::ToString).
  // REQUIRES: Valid().
  virtual Slice value() const = 0;

  // OK, or the error met by the positioning so far: Corruption names the place, IOError the file. To be looked at when
  // a loop has ended, because the end and an error look alike before.
  virtual Status status() const = 0;

  // Has the iterator show the database as it is now, and lets go of the state that it showed before: as deleting it and
  // making another one, also where it was made with a snapshot, but without the memory for that. Bounds stay. The
  // iterator is not Valid() afterwards, and an earlier error is forgotten; one that is returned here leaves it as it
  // was. NotSupported for iterators that are not a database's. Not LevelDB's.
  virtual Status Refresh();

  // Has function(arg1, arg2) called when the iterator is destroyed, to let go of what it reads from. May be called
  // more than once; the last one registered runs first. Each one but the first takes memory, and throws std::bad_alloc
  // without it. If the iterator itself was returned for lack of memory, the function is called at once, because such an
  // iterator reads nothing. The function must not throw and must not use the iterator. REQUIRES: function != nullptr.
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

// An iterator over nothing whose status is OK: the one to return for an empty range. Without memory for it, as below.
// The caller deletes it.
MIODB_EXPORT Iterator* NewEmptyIterator();

// An empty iterator with the given status. A function returns it if the function has met an error and must not return
// nullptr. Without memory for this iterator the status is IOError, "out of memory". The caller deletes it.
MIODB_EXPORT Iterator* NewErrorIterator(const Status& status);

}  // namespace miodb

#endif  // MIODB_INCLUDE_ITERATOR_H_
