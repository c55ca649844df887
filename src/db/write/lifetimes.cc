// A put with a lifetime on its way to the log:
//
//   1 The write's own lifetime counts, then the policy's, then that of Options (ExpiryOfPut).
//   2 The clock is read once for each write that may have lifetimes, before it has its place among others: what expires
//     first need not have been written first.
//   3 The value is copied behind its moment of expiry, and the update gets the type that says so (StoreAt). From there
//     on it is a value like any other to the queue, the frame, log files and the memtable.
//
// A value without a lifetime takes the way that it always took, and is not copied.

#include "src/db/write/lifetimes.h"

#include "miodb/lifetime.h"
#include "src/api/batch/write_batch_internal.h"
#include "src/db/write/marked_batch.h"
#include "src/format/expiry.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

namespace miodb {

// The batch's folder may not include the format's.
static_assert(kBatchExpiringPut == kTypeExpiringValue && kBatchExpiryBytes == kExpiryBytes);

LifetimePolicy::~LifetimePolicy() = default;

// The lifetime of the write comes before the lifetime in Options. A lifetime that is out of range is refused, whoever
// gives it: a sum that overflows would be a moment in the past.
Status Lifetimes::ExpiryOfPut(const WriteOptions& options, const Slice& key, const Slice& value, uint64_t now_micros,
                              uint64_t* expiry) const {
  DCHECK(expiry != nullptr);
  constexpr uint64_t kMicros = 1000 * 1000;
  static_assert(kMostLifetimeSeconds < UINT64_MAX / kMicros / 2);
  *expiry = kNoExpiry;
  uint64_t seconds = options.lifetime_seconds;
  if (seconds == kNoLifetime) return Status::OK();
  if (seconds == 0) {
    const LifetimePolicy* const policy = db_.options.lifetime_policy;
    seconds = policy != nullptr ? policy->LifetimeSeconds(key, value) : db_.options.lifetime_seconds;
  }
  if (seconds == 0) return Status::OK();
  if (seconds > kMostLifetimeSeconds) {
    return Status::InvalidArgument("lifetime of " + std::to_string(seconds) + " seconds",
                                   "the limit is " + std::to_string(kMostLifetimeSeconds));
  }
  *expiry = now_micros + seconds * kMicros;
  DCHECK_LT(*expiry, kNoExpiry);
  return Status::OK();
}

// The policy is asked about the key that its user knows.
Status Lifetimes::StoreAt(uint64_t now_micros, const WriteOptions& options, const Slice& key, uint8_t* batch_type,
                          Slice* value, std::string* space) const {
  DCHECK(BaseBatchType(*batch_type) == kBatchPut && space != nullptr);
  const uint8_t family_bit = *batch_type & kBatchFamily;
  uint64_t expiry;
  Status s = ExpiryOfPut(options, family_bit != 0 ? KeyInFamily(key) : key, *value, now_micros, &expiry);
  if (!s.ok() || expiry == kNoExpiry) return s;
  space->clear();
  space->reserve(kExpiryBytes + value->size());
  PutFixed64(space, expiry);
  space->append(value->data(), value->size());
  *batch_type = kBatchExpiringPut | family_bit;
  *value = *space;
  return s;
}

Status Lifetimes::Store(const WriteOptions& options, const WriteBatch& batch, WriteBatch* stored) const {
  DCHECK(stored != nullptr && stored != &batch);
  BatchReader reader(WriteBatchInternal::Contents(&batch));
  uint8_t type;
  Slice key, value;
  std::string space;
  const uint64_t now_micros = db_.WallMicros();
  while (reader.Next(&type, &key, &value)) {
    if (BaseBatchType(type) == kBatchPut) {
      Status s = StoreAt(now_micros, options, key, &type, &value, &space);
      if (!s.ok()) return s;
    }
    WriteBatchInternal::Add(stored, type, key, value);
  }
  return reader.corrupt() ? Status::Corruption("WriteBatch", "damaged contents") : Status::OK();
}

void TraceStored(DbContext* db, ValueType type, const Slice& key, const Slice& value) {
  DCHECK(db != nullptr);
  const bool expires = type == kTypeExpiringValue;
  db->tracer.Update(expires ? kTypeValue : type, key, expires ? ValueBehindExpiry(value) : value);
}

// Most batches have no expiries and are traced without a copy.
void TraceStored(DbContext* db, const Slice& batch) {
  DCHECK(db != nullptr);
  if (IsErasure(db->families, batch)) return;
  bool any_expires = false;
  uint8_t type;
  Slice key, value;
  for (BatchReader reader(batch); !any_expires && reader.Next(&type, &key, &value);) {
    any_expires = BaseBatchType(type) == kBatchExpiringPut;
  }
  if (!any_expires) return db->tracer.Batch(batch);
  const Status s = NoThrow("trace", [&] {
    WriteBatch as_given;
    for (BatchReader reader(batch); reader.Next(&type, &key, &value);) {
      if (BaseBatchType(type) == kBatchExpiringPut) {
        type = kBatchPut | (type & kBatchFamily);
        value = ValueBehindExpiry(value);
      }
      WriteBatchInternal::Add(&as_given, type, key, value);
    }
    db->tracer.Batch(WriteBatchInternal::Contents(&as_given));
    return Status::OK();
  });
  if (!s.ok()) db->tracer.Fail(s);
}

}  // namespace miodb
