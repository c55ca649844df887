// The iterator that users see: of every key the newest version at one sequence, tombstones left out.

#ifndef MIODB_SRC_DB_READ_DB_ITER_H_
#define MIODB_SRC_DB_READ_DB_ITER_H_

#include <functional>
#include <memory>
#include <string>

#include "miodb/iterator.h"
#include "miodb/merge_operator.h"
#include "miodb/options.h"
#include "src/db/state/read_state.h"
#include "src/db/stats/op_times.h"
#include "src/format/checksums.h"
#include "src/iterator/internal_iterator.h"
#include "src/trace/tracer.h"

namespace miodb {

class DeadStretches;

// The view of an iterator: a state, which it keeps, at a sequence.
struct ReadPoint {
  std::shared_ptr<const ReadState> state;
  uint64_t sequence = 0;
  uint64_t now_micros = 0;  // what has expired by then is not shown
};

// How an iterator reads.
struct DBIteratorContext {
  KeyOrder order;
  Checksums checksums = Checksums::kTrust;
  const MergeOperator* merge_operator = nullptr;
  Tracer* tracer = nullptr;                            // of seeks and moves; null: none
  OpTimes* times = nullptr;                            // where seeks are timed; null: nowhere
  std::function<Status(ReadPoint*)> newest = nullptr;  // the point that Refresh goes to; null: there is no Refresh
  uint32_t family = kDefaultFamily;    // whose iterator it is; of another one, its bounds are in the family
  DeadStretches* dead = nullptr;       // that iterators have found; null: none are remembered
  const std::string* place = nullptr;  // of the database, for messages. REQUIRES: there, if it may have families
};

Iterator* NewDBIterator(DBIteratorContext context, ReadPoint point, const ReadOptions& options);

// All versions of all sources of a state. They may come in any order of sources: versions of a key are told apart by
// their sequences alone.
std::unique_ptr<InternalIterator> NewVersionIterator(const KeyOrder& order, const ReadState& state, Checksums checksums,
                                                     const ReadOptions& options);

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_DB_ITER_H_
