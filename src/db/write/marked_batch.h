// Batches that may touch the keys of column families (family_gate.h): which of their updates may be written, and what
// becomes of deletions of ranges of the default family that would reach the others.
//
// Threads: pure functions.

#ifndef MIODB_SRC_DB_WRITE_MARKED_BATCH_H_
#define MIODB_SRC_DB_WRITE_MARKED_BATCH_H_

#include "miodb/slice.h"
#include "miodb/status.h"
#include "miodb/write_batch.h"
#include "src/db/context/db_hooks.h"
#include "src/db/context/family_gate.h"
#include "src/util/bytes/key_order.h"

namespace miodb {

// Whether a deletion of this range of the default family could reach keys of others.
bool ReachesFamilies(const KeyOrder& order, const Slice& begin, const Slice& end);

// The family that a key with the mark is written to by an update of this type. Records do not name the family, so all
// that a repair finds are its prefix's.
FamilyGate::Side SideOf(uint8_t type, Opener opener);

// Whether the updates may be written. *cut: the same updates, but for deletions of ranges of the default family, which
// leave out the other families; *is_cut: whether they differ. REQUIRES: the batch is whole, the gate is open, and stays
// so until one of the two is written.
Status CheckMarked(const FamilyGate& gate, const KeyOrder& order, const Slice& batch, Opener opener, WriteBatch* cut,
                   bool* is_cut);

// Whether a batch is the deletion of a dropped family, which no program has called for.
bool IsErasure(const FamilyGate& gate, const Slice& batch);

}  // namespace miodb

#endif  // MIODB_SRC_DB_WRITE_MARKED_BATCH_H_
