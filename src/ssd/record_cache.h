// RecordCache: single records of table files, kept in the block cache.
//
// Why an answer is never out of date. A record is kept under the number of its table and its key, and is the newest
// record that this table has of the key. A table is immutable, and no other table of the database ever gets its number,
// not after an open either (VersionSet::NewId). A merge makes tables with numbers of their own. Deletions of ranges,
// expiry and operands are judged behind the cache, by the record's sequence and type, as those of a record that was
// found in the table.
//
// Threads: any number. Ownership: the cache outlives this, and the pins that Find fills.
//
// Errors: Keep throws bad_alloc without memory.

#ifndef MIODB_SRC_SSD_RECORD_CACHE_H_
#define MIODB_SRC_SSD_RECORD_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "miodb/cache.h"
#include "src/format/record.h"
#include "src/iterator/lookup_key.h"
#include "src/ssd/sst_reader.h"
#include "src/util/bytes/coding.h"
#include "src/util/check/check.h"

namespace miodb {

class RecordCache {
 public:
  // Bytes that a record takes in the cache besides its key and its value.
  static constexpr size_t kRecordBytes = sizeof(uint64_t) + sizeof(uint32_t);
  static constexpr size_t kKeyBytes = 2 * sizeof(uint64_t);

  explicit RecordCache(Cache* cache) : cache_(cache), id_(cache->NewId()) {}

  // The record of the key if it is kept and the read sees it; *pin holds its bytes. *record is changed in any case.
  bool Find(uint64_t table, const LookupKey& key, BlockPin* pin, RecordView* record) const {
    Cache::Handle* const handle = cache_->Lookup(Place(id_, table, key.key).bytes());
    if (handle == nullptr) return false;
    DCHECK(pin != nullptr && record != nullptr);
    pin->Hold(cache_, handle);
    const char* const bytes = static_cast<const char*>(cache_->Value(handle));
    record->begin = nullptr;
    record->tag = DecodeFixed64(bytes);
    record->key = key.key;
    record->value = Slice(bytes + kRecordBytes, DecodeFixed32(bytes + sizeof(uint64_t)));
    if (record->sequence() <= key.sequence) return true;
    pin->Reset();
    return false;
  }

  // Bytes that the record is charged with, without what the cache needs for an entry.
  static size_t BytesOf(const Slice& key, const RecordView& record) {
    return kKeyBytes + key.size() + kRecordBytes + record.value.size();
  }

  // REQUIRES: the table has no newer record of the key.
  void Keep(uint64_t table, const Slice& key, const RecordView& record) const {
    DCHECK_LE(record.value.size(), kMaxValueSize);
    auto bytes = std::make_unique_for_overwrite<char[]>(kRecordBytes + record.value.size());
    EncodeFixed64(bytes.get(), record.tag);
    EncodeFixed32(bytes.get() + sizeof(uint64_t), static_cast<uint32_t>(record.value.size()));
    memcpy(bytes.get() + kRecordBytes, record.value.data(), record.value.size());
    const size_t charge = BytesOf(key, record);
    cache_->Release(cache_->Insert(Place(id_, table, key).bytes(), bytes.get(), charge, &Delete));
    bytes.release();  // the cache's
  }

 private:
  // The key of a record in the cache. A short one needs no memory of its own.
  class Place {
   public:
    Place(uint64_t id, uint64_t table, const Slice& key) : size_(kKeyBytes + key.size()) {
      if (size_ > sizeof(space_)) longer_ = std::make_unique_for_overwrite<char[]>(size_);
      char* const begin = longer_ != nullptr ? longer_.get() : space_;
      EncodeFixed64(begin, id);
      EncodeFixed64(begin + sizeof(id), table);
      memcpy(begin + kKeyBytes, key.data(), key.size());
    }
    Slice bytes() const { return Slice(longer_ != nullptr ? longer_.get() : space_, size_); }

   private:
    const size_t size_;
    std::unique_ptr<char[]> longer_;
    char space_[128];
  };

  static void Delete(const Slice&, void* value) { delete[] static_cast<char*>(value); }

  Cache* const cache_;
  const uint64_t id_;  // in front of the keys
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_RECORD_CACHE_H_
