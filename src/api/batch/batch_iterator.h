// The iterators of a WriteBatchWithIndex.

#ifndef MIODB_SRC_API_BATCH_BATCH_ITERATOR_H_
#define MIODB_SRC_API_BATCH_BATCH_ITERATOR_H_

#include <cstdint>
#include <memory>

#include "miodb/iterator.h"
#include "miodb/options.h"
#include "miodb/write_batch_with_index.h"
#include "src/api/batch/batch_index.h"

namespace miodb {

// Over what base shows of a family, within the bounds, as it is with the batch. Throws bad_alloc.
Iterator* NewBatchOverBase(const BatchIndex* index, uint32_t family, std::unique_ptr<Iterator> base,
                           const ReadOptions& bounds);

// Over the updates of a family's single keys themselves. Throws bad_alloc.
WBWIIterator* NewBatchEntries(const BatchIndex* index, uint32_t family);

}  // namespace miodb

#endif  // MIODB_SRC_API_BATCH_BATCH_ITERATOR_H_
