// The clock is read once for each write that may have lifetimes, before it has its place among others: what expires
// first need not have been written first.

#include "src/db/lifetimes.h"

#include "miodb/lifetime.h"
#include "src/api/write_batch_internal.h"
#include "src/format/expiry.h"
#include "src/util/check.h"

namespace miodb {

static_assert(kBatchExpiringPut == kTypeExpiringValue && kBatchExpiryBytes == kExpiryBytes);

LifetimePolicy::~LifetimePolicy() = default;

// What the write says comes before what Options say.
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

Status Lifetimes::StoreAt(uint64_t now_micros, const WriteOptions& options, const Slice& key, const Slice& value,
                          std::string* stored, bool* expires) const {
  DCHECK(stored != nullptr && expires != nullptr);
  uint64_t expiry;
  Status s = ExpiryOfPut(options, key, value, now_micros, &expiry);
  *expires = s.ok() && expiry != kNoExpiry;
  if (!*expires) return s;
  stored->clear();
  stored->reserve(kExpiryBytes + value.size());
  PutFixed64(stored, expiry);
  stored->append(value.data(), value.size());
  return s;
}

Status Lifetimes::Store(const WriteOptions& options, const WriteBatch& batch, WriteBatch* stored) const {
  DCHECK(stored != nullptr && stored != &batch);
  BatchReader reader(WriteBatchInternal::Contents(&batch));
  uint8_t type;
  Slice key, value;
  std::string with_expiry;
  const uint64_t now_micros = db_.WallMicros();
  while (reader.Next(&type, &key, &value)) {
    bool expires = false;
    if (type == kBatchPut) {
      Status s = StoreAt(now_micros, options, key, value, &with_expiry, &expires);
      if (!s.ok()) return s;
    }
    if (expires) {
      WriteBatchInternal::Add(stored, kBatchExpiringPut, key, with_expiry);
    } else {
      WriteBatchInternal::Add(stored, type, key, value);
    }
  }
  return reader.corrupt() ? Status::Corruption("WriteBatch", "damaged contents") : Status::OK();
}

void TraceStored(Tracer* tracer, ValueType type, const Slice& key, const Slice& value) {
  DCHECK(tracer != nullptr);
  const bool expires = type == kTypeExpiringValue;
  tracer->Update(expires ? kTypeValue : type, key, expires ? ValueBehindExpiry(value) : value);
}

// Most batches are as they were given, and are not copied.
void TraceStored(Tracer* tracer, const Slice& batch) {
  DCHECK(tracer != nullptr);
  WriteBatch as_given;
  bool any_expires = false;
  uint8_t type;
  Slice key, value;
  for (BatchReader reader(batch); !any_expires && reader.Next(&type, &key, &value);) {
    any_expires = type == kBatchExpiringPut;
  }
  if (!any_expires) return tracer->Batch(batch);
  for (BatchReader reader(batch); reader.Next(&type, &key, &value);) {
    const bool expires = type == kBatchExpiringPut;
    WriteBatchInternal::Add(&as_given, expires ? kBatchPut : type, key, expires ? ValueBehindExpiry(value) : value);
  }
  tracer->Batch(WriteBatchInternal::Contents(&as_given));
}

}  // namespace miodb
