// Memtables over log chunks that nobody writes to any more: after a crash, and of savepoints.
//
// Threads: one; what was made is read by any. Ownership: a memtable keeps the extents of its chunks.

#ifndef MIODB_SRC_DB_STATE_CHUNK_MEMTABLE_H_
#define MIODB_SRC_DB_STATE_CHUNK_MEMTABLE_H_

#include "src/log/log_piece.h"
#include "src/memtable/memtable.h"
#include "src/version/savepoint.h"

namespace miodb {

// Adds the records of a chunk, which stay where they are. REQUIRES: the piece counts as replayed.
Status TakeUpChunk(const KeyOrder& order, const LogPiece& piece, const ExtentRef& extent, MemTable* memtable);

// Adds the records of a savepoint's log that are in none of its tables. Corruption if these are not the records from
// the time at which the savepoint was made.
Status TakeUpLog(const KeyOrder& order, const Pool& pool, const Savepoint& savepoint, MemTable* memtable);

}  // namespace miodb

#endif  // MIODB_SRC_DB_STATE_CHUNK_MEMTABLE_H_
