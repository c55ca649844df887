// Tables of which much has expired: a sample of a table's records says from when on, because the bounds of its expiries
// do not say how many lie near which bound.
//
// Threads: any. Cost: a sample reads the beginning of kExpirySamples records at most, unverified, once for each table
// that lies in DRAM. A model of other memory charges all of these records.

#ifndef MIODB_COMPACTION_POLICY_EXPIRED_TABLES_H_
#define MIODB_COMPACTION_POLICY_EXPIRED_TABLES_H_

#include <cstdint>
#include <functional>

#include "pmtable/run.h"

namespace miodb {

inline constexpr uint64_t kExpirySamples = 64;

// The moment from which on a quarter of the table's entries has expired, as far as a sample shows; kNoExpiry: never, or
// a record of the sample is not where it should be.
uint64_t MuchExpiredAt(const PMTable& table);

struct ExpiredLook {
  TableRef table = nullptr;          // the first of which much has expired; null: none
  uint64_t next_micros = kNoExpiry;  // if none: before this moment there will be none
};

// stop: asked before each table; the look ends when it says so.
ExpiredLook LookForExpired(const TableList& tables, uint64_t now_micros, const std::function<bool()>& stop);

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_EXPIRED_TABLES_H_
