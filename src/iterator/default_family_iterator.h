// A walk over the versions of the default column family, out of those of a database that has others: it passes all
// other families together by one search, in both directions. Corruption, if a family's key lies among those of the
// default one.
//
// Threads and ownership: as InternalIterator. The iterator owns the walk that it is made of.

#ifndef MIODB_SRC_ITERATOR_DEFAULT_FAMILY_ITERATOR_H_
#define MIODB_SRC_ITERATOR_DEFAULT_FAMILY_ITERATOR_H_

#include <memory>
#include <string>

#include "src/iterator/internal_iterator.h"

namespace miodb {

// place: of the database, for messages.
std::unique_ptr<InternalIterator> NewDefaultFamilyIterator(std::unique_ptr<InternalIterator> all,
                                                           const std::string& place);

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_DEFAULT_FAMILY_ITERATOR_H_
