// The iterator that users see: of every key the newest version at one sequence, tombstones left out.

#ifndef MIODB_SRC_DB_DB_ITER_H_
#define MIODB_SRC_DB_DB_ITER_H_

#include "miodb/iterator.h"
#include "miodb/options.h"
#include "src/db/read_state.h"
#include "src/trace/tracer.h"

namespace miodb {

// The state must outlive the iterator (it is kept by a reference that the iterator's cleanup gives back). Its seeks and
// moves are recorded by the tracer if there is one.
Iterator* NewDBIterator(const KeyOrder& order, const ReadState& state, uint64_t sequence, bool verify,
                        const ReadOptions& options, Tracer* tracer = nullptr);

}  // namespace miodb

#endif  // MIODB_SRC_DB_DB_ITER_H_
