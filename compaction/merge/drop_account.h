// Keeps account of the records that a job drops: how many bytes of which payload extents of its version.
//
// An extent is found in the version's list, in the logarithm of its length. A job that may ask more often than the list
// is long makes a table of slots first (pmtable/payload_bounds.h), which finds an extent in a time that does not depend
// on their number.
//
// Threads: PayloadExtents any, a DropAccount one.

#ifndef MIODB_COMPACTION_MERGE_DROP_ACCOUNT_H_
#define MIODB_COMPACTION_MERGE_DROP_ACCOUNT_H_

#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "pmtable/payload_bounds.h"
#include "pmtable/run.h"
#include "src/nvm/pool/extent_list.h"
#include "src/util/check/check.h"

namespace miodb {

// The error of a table with a word that leads to no payload.
Status OutsideOfPayload(const PMTable& table, IndexWord word);

// The payload extents of a version, as a job searches them.
class PayloadExtents {
 public:
  // payload: of the version that has the job's tables; outlives this. entries: about how many extents may be asked for.
  PayloadExtents(const ExtentList& payload, uint64_t entries) : payload_(payload), entries_(entries) {}
  PayloadExtents(const PayloadExtents&) = delete;
  PayloadExtents& operator=(const PayloadExtents&) = delete;

  // The item of the list that holds this reference; null: none does.
  const ExtentRef* Find(PmRef ref) const;

 private:
  void MakeBounds() const;

  const ExtentList& payload_;
  const uint64_t entries_;
  // The table, made by the first search of a job that may ask often; empty: the list is asked.
  mutable std::once_flag made_;
  mutable std::vector<const ExtentRef*> extents_;
  mutable PayloadBounds bounds_;
};

class DropAccount {
 public:
  // payload outlives this.
  explicit DropAccount(const PayloadExtents& payload) : payload_(payload) {}
  DropAccount(const DropAccount&) = delete;
  DropAccount& operator=(const DropAccount&) = delete;

  // The extent that holds this reference, or null if none does: then the index is damaged.
  const Extent* Find(PmRef ref) {
    const ExtentRef* const extent = FindItem(ref);
    DCHECK(extent == nullptr || *extent != nullptr);
    return extent != nullptr ? extent->get() : nullptr;
  }

  // Accounts the record of the word as dropped. Corruption: the word is the table's and lies in no extent.
  Status Drop(const PMTable& table, IndexWord word);

  // The same of all of the table's words.
  Status DropAll(const PMTable& table);

  // Keeps, or forgets, what was accounted since the last call of one of the two.
  void Commit();
  void Rollback() { pending_.clear(); }

  // Takes over what the other account has kept. REQUIRES: nothing is pending in either.
  void Absorb(DropAccount* other);

  // All that was kept, by offset. REQUIRES: nothing is pending.
  std::vector<DroppedPayload> Take();

 private:
  using Bytes = std::unordered_map<const ExtentRef*, uint64_t>;  // by items of payload_

  const ExtentRef* FindItem(PmRef ref);

  const PayloadExtents& payload_;
  const ExtentRef* last_[2] = {nullptr, nullptr};  // found of the log, and of copies
  Bytes pending_;
  Bytes kept_;
};

// The account of a job that drops these tables as a whole.
Status DropTables(const ExtentList& payload, const std::vector<TableRef>& tables, std::vector<DroppedPayload>* dropped);

}  // namespace miodb

#endif  // MIODB_COMPACTION_MERGE_DROP_ACCOUNT_H_
