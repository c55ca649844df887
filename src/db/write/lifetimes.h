// Lifetimes: which moment of expiry each put of a write gets, by the options of the database and of the write, and puts
// in the form in which they are stored (format/expiry.h).
//
// Threads: any number. Ownership: the context outlives this.

#ifndef MIODB_SRC_DB_WRITE_LIFETIMES_H_
#define MIODB_SRC_DB_WRITE_LIFETIMES_H_

#include <cstdint>
#include <string>

#include "miodb/options.h"
#include "miodb/write_batch.h"
#include "src/db/context/db_context.h"

namespace miodb {

class Lifetimes {
 public:
  explicit Lifetimes(const DbContext& db) : db_(db) {}
  Lifetimes(const Lifetimes&) = delete;
  Lifetimes& operator=(const Lifetimes&) = delete;

  // Whether a write with these options may have values that expire. Most databases have none, which costs a put this.
  bool MayGive(const WriteOptions& options) const {
    return (options.lifetime_seconds | db_.options.lifetime_seconds) != 0 || db_.options.lifetime_policy != nullptr;
  }

  // Makes of a put what is to be stored: if it has a lifetime, *batch_type becomes kBatchExpiringPut, of the family
  // that it was of, and *value refers to *space, with the expiry in front. Else all stay. InvalidArgument for a
  // lifetime that is too long. key, batch_type: as a batch has them (src/api/batch/write_batch_internal.h).
  Status Store(const WriteOptions& options, const Slice& key, uint8_t* batch_type, Slice* value,
               std::string* space) const {
    return StoreAt(db_.WallMicros(), options, key, batch_type, value, space);
  }

  // The batch with its puts as they are stored. Puts with the same lifetime expire at the same moment.
  Status Store(const WriteOptions& options, const WriteBatch& batch, WriteBatch* stored) const;

 private:
  Status ExpiryOfPut(const WriteOptions& options, const Slice& key, const Slice& value, uint64_t now_micros,
                     uint64_t* expiry) const;
  Status StoreAt(uint64_t now_micros, const WriteOptions& options, const Slice& key, uint8_t* batch_type, Slice* value,
                 std::string* space) const;

  const DbContext& db_;
};

// A write for the tracer, in the form that its user gave it: without expiries, and none that deletes a dropped family.
// A replay gives the values lifetimes by its own options. Throws nothing: a failure is the trace's, and not the
// write's.
void TraceStored(DbContext* db, ValueType type, const Slice& key, const Slice& value);
void TraceStored(DbContext* db, const Slice& batch);

}  // namespace miodb

#endif  // MIODB_SRC_DB_WRITE_LIFETIMES_H_
