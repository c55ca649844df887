// A single walk over several sources of versions.

#ifndef MIODB_SRC_ITERATOR_MERGING_ITERATOR_H_
#define MIODB_SRC_ITERATOR_MERGING_ITERATOR_H_

#include <memory>
#include <vector>

#include "src/iterator/internal_iterator.h"
#include "src/util/bytes/key_order.h"

namespace miodb {

// Sources newest first. A version that is in several of them comes as often, one right after the other; a walk that
// turns around there passes all of them at once.
std::unique_ptr<InternalIterator> NewMergingIterator(const KeyOrder& order,
                                                     std::vector<std::unique_ptr<InternalIterator>> sources);

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_MERGING_ITERATOR_H_
