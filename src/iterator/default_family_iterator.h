// A walk over the versions of the default column family, out of those of a database that has others: it passes all
// other families together by one search, in both directions.
//
// Threads and ownership: as InternalIterator. The iterator owns the walk that it is made of.

#ifndef MIODB_SRC_ITERATOR_DEFAULT_FAMILY_ITERATOR_H_
#define MIODB_SRC_ITERATOR_DEFAULT_FAMILY_ITERATOR_H_

#include <memory>

#include "src/iterator/internal_iterator.h"

namespace miodb {

std::unique_ptr<InternalIterator> NewDefaultFamilyIterator(std::unique_ptr<InternalIterator> all);

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_DEFAULT_FAMILY_ITERATOR_H_
