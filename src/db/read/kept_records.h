// KeptRecords: the records that gets find often in tables of the pool, in DRAM (Options::record_cache_size). A pool is
// slower memory, as CXL or persistent memory; a get that finds its record here touches nothing of the pool, and the
// filters of newer tables alone.
//
// Why an answer is never out of date. A record is kept with the number of the table that has it, and is the newest
// record that this table has of the key. A table is immutable, and no other table of the database ever gets its number,
// not after an open either (VersionSet::NewId). A get asks the tables in order of age, as without records that are
// kept. When it comes to the table of that number, the record that is kept stands for the look into the table. A merge
// leaves the tables that it reads as they are and makes tables with numbers of their own; a record of a table that no
// state names any more is never taken. Deletions of ranges, expiry and operands are judged behind that, by the record's
// sequence and type, as those of a record that was found in the table.
//
// A record is kept only if the get could see all versions in the table, and is taken only if the get's sequence is not
// below the record's. So snapshots see the record, or look into the table.
//
// Every read keeps its record until the ring is full, then one in kReadsPerKeep: reads of all keys alike then cost
// little, and a record that is read often is kept soon. A record that is read when it is about to be written over is
// kept again.
//
// Threads: any number. No lock is taken by a read, and none is waited for (record_ring.h). Ownership: a record that is
// taken out is the pin's. After a crash, or a close: nothing is left.
//
// Units: bytes.
//
// Errors: as of the table. The constructor throws bad_alloc without memory; a get without memory for its record reads
// the pool.

#ifndef MIODB_SRC_DB_READ_KEPT_RECORDS_H_
#define MIODB_SRC_DB_READ_KEPT_RECORDS_H_

#include <cstddef>

#include "src/db/read/record_ring.h"
#include "src/ssd/sst_reader.h"
#include "src/version/version.h"

namespace miodb {

class KeptRecords {
 public:
  // bytes: what is taken at most.
  explicit KeptRecords(size_t bytes) : ring_(bytes) {}

  // The hash by which a key is found. Under an order by which different bytes may be equal each spelling has its own.
  static uint64_t HashOf(const LookupKey& key) { return Hash64(key.key.data(), key.key.size()); }

  // Asks for memory that Get will look at.
  void Prefetch(uint64_t hash) const { ring_.Prefetch(hash); }

  // As Version::Get without verifying. hash: HashOf the key. fill: whether the read may change which records are kept.
  // If *pin holds anything in the end, the record's bytes lie there, and record->begin is null.
  Status Get(const KeyOrder& order, const LookupKey& key, uint64_t hash, const Version& version, bool fill,
             BlockPin* pin, bool* found, RecordView* record);

  size_t memory_bytes() const { return ring_.memory_bytes(); }

 private:
  bool TakeKept(const RecordRing::Found& kept, const LookupKey& key, BlockPin* pin, RecordView* record) const;
  bool ShouldKeep() const;

  RecordRing ring_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_KEPT_RECORDS_H_
