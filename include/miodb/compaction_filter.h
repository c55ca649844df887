// A say in what background work keeps. Options::compaction_filter is asked about records while they are copied: it
// keeps them, removes them or gives them another value.
//
//   class OldSessions : public miodb::CompactionFilter {
//    public:
//     const char* Name() const override { return "OldSessions"; }
//     Decision Filter(int, const miodb::Slice& key, ValueKind, const miodb::Slice& value,
//                     std::string*) const override {
//       return IsOld(value) ? Decision::kRemove : Decision::kKeep;
//     }
//   };
//
// When it is asked: only about records that are touched anyway, since most merges move indexes and read no record.
// The filter is asked about small records (options.h has the limit) that lazy copies, settling and quiet merges copy
// into the repository, about records that garbage collection moves, in whatever level, and about all records that
// drains and compactions of the SSD tier write. A large record, and a table that is moved as it is, may never be asked
// about; another may be asked about several times. A flush asks about none. So a filter is for what may stay longer
// without harm: for what has to be gone at a time there are lifetimes (lifetime.h).
//
// About what: the newest version of a key, if no snapshot sees it; an operand of Merge that is not folded, or what
// operands were folded into, as what it then is. Never about deletions, nor about values whose lifetime is over, nor
// about a value below an operand that could not be folded with it.
//
// Reads see a removal or a change from the moment on at which the job is installed, and then as if the record had been
// written that way. So reads of a snapshot that was made while the job ran change at that moment. A job that fails, or
// that a crash cuts off, has changed nothing, and is done anew. With a volatile pool a crash may bring back what was
// removed since the log was last cut, until the filter is asked again.
//
// Threads: several background threads may ask at once. A filter must not call the database. A slow filter slows merges
// down, and so writers. Ownership: it stays its maker's and outlives the database. Slices live for the call. Nothing
// may be thrown.
//
// A database does not know filters: another open may have another one or none.

#ifndef MIODB_INCLUDE_COMPACTION_FILTER_H_
#define MIODB_INCLUDE_COMPACTION_FILTER_H_

#include <string>

#include "miodb/export.h"

namespace miodb {

class Slice;

class MIODB_EXPORT CompactionFilter {
 public:
  enum class ValueKind {
    kValue,    // of a put, with or without a lifetime
    kOperand,  // of a merge
  };

  enum class Decision {
    kKeep,
    // The key is gone as if it had been deleted; of an operand that alone. A key that is removed so must not be
    // deleted by SingleDelete as well (db.h).
    kRemove,
    // *new_value takes the place of the value or operand. The lifetime stays as it is. If *new_value is larger than a
    // value may be (db.h), the record keeps its old value.
    kChangeValue,
  };

  virtual ~CompactionFilter();

  // The name of what the filter does, for messages.
  virtual const char* Name() const = 0;

  // level: where the record is going, 0 to num_levels - 1, which is the repository, and from num_levels on the levels
  // of the SSD tier. key: as the user knows it, of whichever column family. *new_value is empty before.
  virtual Decision Filter(int level, const Slice& key, ValueKind kind, const Slice& existing_value,
                          std::string* new_value) const = 0;
};

}  // namespace miodb

#endif  // MIODB_INCLUDE_COMPACTION_FILTER_H_
