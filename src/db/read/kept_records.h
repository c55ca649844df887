// KeptRecords: the records that gets find often in tables of the pool, in DRAM (Options::record_cache_size). A pool is
// slower memory, as CXL or persistent memory; a get that finds its record here touches the filter of the table and
// DRAM, and nothing of the pool.
//
// A record is kept at its second read within a while (RecentReads), so that reads which hit all keys alike find hardly
// anything to keep. A read that is not remembered asks for no record either: such a read costs a line of marks. The
// while is measured in reads: about kReadsPerRecord times as many marks are in use as records fit.
//
// Why an answer is right: record_cache.h. A record is kept only if the get could see all versions in the table, and is
// taken only if the get's sequence is not below the record's. So snapshots see the record, or look into the table.
//
// Threads: any number. No lock is shared by all gets: a part of the cache is locked for a look into it. Ownership: pins
// hold records, so they go before this does. After a crash, or a close: nothing is left.
//
// Units: bytes, of everything that is kept, with what the cache needs for it.
//
// Errors: as of the table. The constructor throws bad_alloc without memory.

#ifndef MIODB_SRC_DB_READ_KEPT_RECORDS_H_
#define MIODB_SRC_DB_READ_KEPT_RECORDS_H_

#include <atomic>
#include <cstddef>
#include <memory>

#include "miodb/cache.h"
#include "src/ssd/record_cache.h"
#include "src/util/threads/recent_reads.h"
#include "src/version/version.h"

namespace miodb {

class KeptRecords {
 public:
  // bytes: what records and marks take at most. A pin that is held may keep its record beyond that.
  explicit KeptRecords(size_t bytes);

  // As Version::Get without verifying. fill: whether the read may change which records are kept. If *pin holds anything
  // in the end, the record's bytes lie there, and record->begin is null.
  Status Get(const KeyOrder& order, const LookupKey& key, const Version& version, bool fill, BlockPin* pin, bool* found,
             RecordView* record);

  // Bytes that are taken, of those given to the constructor.
  size_t memory_bytes() const { return recent_.memory_bytes() + cache_->TotalCharge(); }

 private:
  // The cache takes so much for an entry besides key and record: entry, node of its map, and what malloc adds.
  static constexpr size_t kEntryBytes = 212;
  static constexpr size_t kLeastCharge = kEntryBytes + RecordCache::kKeyBytes + RecordCache::kRecordBytes;

  static constexpr size_t kReadsPerRecord = 2;
  static constexpr size_t kMostMarks = size_t{1} << 28;  // 1 GiB of them, however large the cache

  // A heavier record would push out half of what its part of the cache has.
  static constexpr size_t kLeastRecords = 32;

  Status GetFrom(const PMTable& table, const LookupKey& key, bool fill, BlockPin* pin, bool* found, RecordView* record);
  bool Find(const PMTable& table, const LookupKey& key, BlockPin* pin, RecordView* record) const;
  void Keep(const PMTable& table, const LookupKey& key, const RecordView& record);
  void NoteCharge(size_t charge);

  RecentReads recent_;
  const size_t capacity_;  // of the cache
  const std::unique_ptr<Cache> cache_;
  const RecordCache records_;
  alignas(64) std::atomic<size_t> charges_;  // of the last kCharges records that were kept, about; on a line of its own
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_KEPT_RECORDS_H_
