// The iterators of a WriteBatchWithIndex.

#ifndef MIODB_SRC_API_BATCH_ITERATOR_H_
#define MIODB_SRC_API_BATCH_ITERATOR_H_

#include <memory>

#include "miodb/iterator.h"
#include "miodb/options.h"
#include "miodb/write_batch_with_index.h"
#include "src/api/batch_index.h"

namespace miodb {

// Over what base shows, within the bounds, as it is with the batch. Throws bad_alloc.
Iterator* NewBatchOverBase(const BatchIndex* index, std::unique_ptr<Iterator> base, const ReadOptions& bounds);

// Over the updates themselves. Throws bad_alloc.
WBWIIterator* NewBatchEntries(const BatchIndex* index);

}  // namespace miodb

#endif  // MIODB_SRC_API_BATCH_ITERATOR_H_
