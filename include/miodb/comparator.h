// A total order of keys.
//
// The order belongs to the data: a database remembers the name of the comparator it was created with and refuses to
// be opened with another. Change the order and you must change the name.
//
// Threads: every method may be called from any number of threads at once.
//
// Ownership: a comparator given to a database stays the caller's and must outlive it.

#ifndef MIODB_INCLUDE_COMPARATOR_H_
#define MIODB_INCLUDE_COMPARATOR_H_

#include <string>

#include "miodb/export.h"

namespace miodb {

class Slice;

class MIODB_EXPORT Comparator {
 public:
  virtual ~Comparator();

  // Negative if a comes before b, zero if they are the same key, positive if a comes after b.
  // Must be a total order that never changes: transitive, and Compare(a, b) and Compare(b, a) of opposite signs.
  virtual int Compare(const Slice& a, const Slice& b) const = 0;

  // The name of the order. A database stores it and checks it at every open. Names that begin with "miodb." or
  // "leveldb." are reserved. The string must live as long as the comparator.
  virtual const char* Name() const = 0;

  // The next two only make keys in indexes shorter. An implementation may leave its argument as it is.

  // If *start < limit, may change *start into a shorter key in [*start, limit).
  virtual void FindShortestSeparator(std::string* start, const Slice& limit) const = 0;

  // May change *key into a shorter key that is not before it.
  virtual void FindShortSuccessor(std::string* key) const = 0;
};

// The order of keys as strings of unsigned bytes, the default. Lives until the process ends; do not delete it.
// Its name is "leveldb.BytewiseComparator", LevelDB's, because it is the same order.
MIODB_EXPORT const Comparator* BytewiseComparator();

}  // namespace miodb

#endif  // MIODB_INCLUDE_COMPARATOR_H_
