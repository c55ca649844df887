// Whether a key may be there, by what is in memory alone. In a file of its own: a second caller of what a get calls
// once would cost each get some calls that are inlined now.

#include <algorithm>

#include "src/db/read/read_path.h"
#include "src/format/expiry.h"

namespace miodb {

// Memory alone decides: memtables by their records, tables by their filters. A file that has the key in its range may
// have it.
bool ReadPath::KeyMayExist(const ReadOptions& options, const Slice& key, std::string* value, bool* value_found) {
  ReadStates::Pin pin(&sources_->states);
  DCHECK(pin->memtable != nullptr && pin->version != nullptr);
  const LookupKey lookup(order_, key, ReadSequence(options), db_.ChecksumsOf(options));
  bool found = false;
  RecordView record;
  Status s = pin->memtable->Get(lookup, &found, &record);
  for (size_t i = 0; s.ok() && !found && i < pin->immutables.size(); i++) {
    s = pin->immutables[i]->Get(lookup, &found, &record);
  }
  if (!s.ok()) return true;
  if (pin->has_ranges()) {
    // A key that memtables do not have is older than their range deletions, and a record in memtables is not older than
    // the range deletions of tables.
    std::vector<const RangeSet*> sets;
    pin->memtable->ranges().AppendTo(&sets);
    for (const MemTableRef& sealed : pin->immutables) sealed->ranges().AppendTo(&sets);
    uint64_t hidden = 0;
    for (const RangeSet* set : sets) hidden = std::max(hidden, set->NewestAt(key, lookup.sequence));
    if (hidden > 0 && !(found && record.sequence() > hidden)) return false;
  }
  if (found && (HidesKey(record) || !IsPut(record.type()))) return !HidesKey(record);
  if (found) {
    const Slice stored = UserValue(record);
    if (value != nullptr) value->assign(stored.data(), stored.size());
    if (value_found != nullptr) *value_found = true;
    return true;
  }
  return pin->version->MayHave(order_, lookup);
}

}  // namespace miodb
