// A total order of keys: which key comes first in an iterator, and which two keys are the same.
//
// The order belongs to the data: a database remembers the name of the comparator it was created with and refuses to be
// opened with another (InvalidArgument). Change the order and you must change the name: under the old name the
// database would look for keys in places where they are not, without an error.
//
//   class NewestFirst : public miodb::Comparator {   // keys of 8 bytes, larger numbers first
//    public:
//     int Compare(const miodb::Slice& a, const miodb::Slice& b) const override { return b.compare(a); }
//     const char* Name() const override { return "example.NewestFirst"; }
//     void FindShortestSeparator(std::string*, const miodb::Slice&) const override {}
//     void FindShortSuccessor(std::string*) const override {}
//   };
//
// What a comparator of one's own costs: tables compare whole keys, because prefixes, heads and fingerprints of keys
// say nothing of an order that the library does not know, and tables and table files have no filters unless
// Options::filter_policy brings some for the files. Where the order can be had from bytes, encode keys so that
// BytewiseComparator() has it: integers with their highest byte first, descending ones as their complement.
//
// Threads: every method may be called from any number of threads at once, those of flushes and compactions too.
//
// Ownership: a comparator given to a database stays the caller's and must outlive it, and its iterators.
//
// Errors: there is no way to report one. A comparator must not throw, must have an answer for any two byte strings,
// also damaged ones, and must not call the database that it is called by: that may hold locks and groups of writes.

#ifndef MIODB_INCLUDE_COMPARATOR_H_
#define MIODB_INCLUDE_COMPARATOR_H_

#include <string>

#include "miodb/export.h"

namespace miodb {

class Slice;

class MIODB_EXPORT Comparator {
 public:
  virtual ~Comparator();

  // Negative if a comes before b, zero if they are the same key, positive if a comes after b. Must be a total order
  // that never changes: transitive, and Compare(a, b) and Compare(b, a) of opposite signs.
  //
  // Different byte strings may be the same key, such as "A" and "a": then a put of one replaces the other, a get by
  // either finds it, and an iterator shows the bytes that were written last. The slices live during the call.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;

  // The name of the order. A database stores it in its manifest and checks it at every open. Names that begin with
  // "miodb." or "leveldb." are reserved. The string must live as long as the comparator and end with a zero.
  virtual const char* Name() const = 0;

  // The next two only make keys in the indexes of table files shorter (SSD tier, TableBuilder). An implementation may
  // leave its argument as it is, which is always right. A result outside of the range that is asked for makes files in
  // which keys are not found.

  // If *start < limit, may change *start into a shorter key in [*start, limit). Called for the last key of a block and
  // the first one of the next: the result stands in the index between them.
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;

  // May change *key into a shorter key that is not before it. Called for the last key of a file.
  virtual void FindShortSuccessor(std::string* key) const = 0;
};

// The order of keys as strings of unsigned bytes, the default. Lives until the process ends; do not delete it.
// The name is LevelDB's, "leveldb.BytewiseComparator", because the order is the same. The empty key is the first one; a
// key comes before all that begin with it. Only this very object gets the fast paths, not another one with the same
// order.
MIODB_EXPORT const Comparator* BytewiseComparator();

}  // namespace miodb

#endif  // MIODB_INCLUDE_COMPARATOR_H_
