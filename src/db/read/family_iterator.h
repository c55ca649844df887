// The iterator over one column family that users see: one over the family's range of the database's keys, which shows
// them as the family has them.
//
// Threads: one at a time. Ownership: it owns the iterator that it is made of.

#ifndef MIODB_SRC_DB_READ_FAMILY_ITERATOR_H_
#define MIODB_SRC_DB_READ_FAMILY_ITERATOR_H_

#include <cstdint>
#include <functional>

#include "miodb/iterator.h"
#include "miodb/options.h"

namespace miodb {

// options: as the user gave them, with bounds of the family. make: an iterator over the database's keys within the
// bounds that it is given, which are there while that lives.
Iterator* NewFamilyIterator(uint32_t family, const ReadOptions& options,
                            const std::function<Iterator*(const ReadOptions& bounded)>& make);

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_FAMILY_ITERATOR_H_
