// The bytes of a WriteBatch, for those who write them to a log and read them back.
//
//   batch   := fixed64 sequence of the first update, fixed32 number of updates, update*
//   update  := kBatchPut             varint32 length, key, varint32 length, value
//            | kBatchDeletion        varint32 length, key
//            | kBatchMerge           varint32 length, key, varint32 length, operand
//            | kBatchSingleDeletion  varint32 length, key
//            | kBatchRangeDeletion   varint32 length, begin, varint32 length, end
//            | kBatchExpiringPut     varint32 length, key, varint32 length, fixed64 expiry and value
//            | kBatchFamily and one of these: the same, with keys of a column family (util/bytes/family_key.h)
//
// The first byte of an update is its type. This is the batch format that LevelDB documents, with three of RocksDB's
// types and two that are our own. A batch of a program has no kBatchExpiringPut; a database makes batches that have it.
// The type of families is in memory alone: what a log gets are the keys, and what a trace gets is RocksDB's
// (trace/trace_format.h).
//
// Threads: as WriteBatch: const calls at any time, one thread alone for a change.

#ifndef MIODB_SRC_API_BATCH_WRITE_BATCH_INTERNAL_H_
#define MIODB_SRC_API_BATCH_WRITE_BATCH_INTERNAL_H_

#include <cstddef>
#include <cstdint>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "miodb/write_batch.h"
#include "src/util/bytes/coding.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"

namespace miodb {

// Types of updates: the same numbers as in format/value_type.h, which this folder may not include. A test compares.
inline constexpr uint8_t kBatchDeletion = 0;
inline constexpr uint8_t kBatchPut = 1;
inline constexpr uint8_t kBatchMerge = 2;
inline constexpr uint8_t kBatchSingleDeletion = 7;
inline constexpr uint8_t kBatchRangeDeletion = 15;
inline constexpr uint8_t kBatchExpiringPut = 64;

// Bytes of the expiry in front of the value of a kBatchExpiringPut.
inline constexpr size_t kBatchExpiryBytes = 8;

// A bit beside those of the type: the key begins with the prefix of its family. Where it is not set, a key that begins
// like one is the default family's all the same.
inline constexpr uint8_t kBatchFamily = 0x80;

// The type without the bit of families.
inline uint8_t BaseBatchType(uint8_t type) { return static_cast<uint8_t>(type & ~kBatchFamily); }

// Whether an update of the type has a value, an operand, or the end of a range.
inline bool HasBatchValue(uint8_t type) {
  const uint8_t base = BaseBatchType(type);
  return base == kBatchPut || base == kBatchMerge || base == kBatchRangeDeletion || base == kBatchExpiringPut;
}

// Types that updates have.
inline bool IsBatchType(uint8_t type) {
  const uint8_t base = BaseBatchType(type);
  return base <= kBatchMerge || base == kBatchSingleDeletion || base == kBatchRangeDeletion ||
         base == kBatchExpiringPut;
}

// Bytes in front of the first update.
inline constexpr size_t kBatchHeaderBytes = 12;

// Access to the bytes of a batch, for the library alone.
class WriteBatchInternal {
 public:
  // Number of updates. The number stands in the header and need not be true if a caller of SetContents gave the bytes.
  static uint32_t Count(const WriteBatch* batch);
  static void SetCount(WriteBatch* batch, uint32_t count);

  // The sequence of the first update.
  static void SetSequence(WriteBatch* batch, uint64_t sequence);

  // The batch's bytes. Valid until it changes.
  static Slice Contents(const WriteBatch* batch) { return Slice(batch->rep_); }

  // Replaces the batch by a copy of these bytes. Corruption, and the batch unchanged, unless they are a whole batch
  // with as many updates as its header says.
  static Status SetContents(WriteBatch* batch, const Slice& contents);

  // Adds an update. value: empty for types that have none.
  static void Add(WriteBatch* batch, uint8_t type, const Slice& key, const Slice& value);

  // The same with a key of this family, without its prefix, and a type without kBatchFamily.
  static void AddToFamily(WriteBatch* batch, uint32_t family, uint8_t type, const Slice& key, const Slice& value);

  // Room for so many bytes, to begin with.
  static void Reserve(WriteBatch* batch, size_t bytes) { batch->rep_.reserve(bytes); }

  // Takes back all updates but the first count ones, which have these bytes, the header's included.
  static void Truncate(WriteBatch* batch, size_t bytes, uint32_t count);

  // Adds the updates of *source behind those of *target. The sequence of *target stays.
  static void Append(WriteBatch* target, const WriteBatch* source);
};

// Walks the updates of a batch. Any bytes may be given: what is damaged ends the walk and is never read past.
//
//   BatchReader reader(WriteBatchInternal::Contents(batch));
//   while (reader.Next(&type, &key, &value)) ...
//   if (reader.corrupt()) ...
class BatchReader {
 public:
  // The bytes must outlive the reader.
  explicit BatchReader(Slice rep) : p_(rep.data()), limit_(rep.data() + rep.size()) {
    if (rep.size() < kBatchHeaderBytes) {
      corrupt_ = true;
      return;
    }
    remaining_ = DecodeFixed32(p_ + 8);
    p_ += kBatchHeaderBytes;
  }

  // Stores the next update and returns true; *value is empty for a deletion. The slices refer to the batch's bytes.
  // False at the end and at damage, and the three are then unspecified.
  bool Next(uint8_t* type, Slice* key, Slice* value) {
    if (corrupt_) return false;
    DCHECK(p_ <= limit_);
    if (p_ == limit_) {
      corrupt_ = remaining_ != 0;
      return false;
    }
    if (remaining_ == 0) return Damaged();
    *type = static_cast<uint8_t>(*p_++);
    if (!IsBatchType(*type) || !ReadString(key)) return Damaged();
    if ((*type & kBatchFamily) != 0 && FamilyOf(*key) == kDefaultFamily) return Damaged();
    if (HasBatchValue(*type)) {
      if (!ReadString(value)) return Damaged();
      if (BaseBatchType(*type) == kBatchExpiringPut && value->size() < kBatchExpiryBytes) return Damaged();
    } else {
      value->clear();
    }
    if (*type == (kBatchRangeDeletion | kBatchFamily) && FamilyOf(*value) != FamilyOf(*key)) return Damaged();
    --remaining_;
    return true;
  }

  // Whether the walk ended at damage rather than at the end: no header, an unknown type, an update that is cut short, a
  // family's key without a family, or not as many updates as the header says.
  bool corrupt() const { return corrupt_; }

 private:
  bool Damaged() {
    corrupt_ = true;
    return false;
  }

  bool ReadString(Slice* result) {
    uint32_t length;
    const char* start = GetVarint32Ptr(p_, limit_, &length);
    if (start == nullptr || static_cast<size_t>(limit_ - start) < length) return false;
    *result = Slice(start, length);
    p_ = start + length;
    DCHECK(p_ <= limit_);
    return true;
  }

  const char* p_;
  const char* const limit_;
  uint32_t remaining_ = 0;
  bool corrupt_ = false;
};

}  // namespace miodb

#endif  // MIODB_SRC_API_BATCH_WRITE_BATCH_INTERNAL_H_
