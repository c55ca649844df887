#include "src/db/read/kept_records.h"

#include <memory>
#include <new>

#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "src/util/clock/perf_clock.h"

namespace miodb {

namespace {

constexpr uint32_t kReadsPerKeep = 8;

}  // namespace

// The order of the tables is that of Version::Get, and so is the answer.
Status KeptRecords::Get(const KeyOrder& order, const LookupKey& key, uint64_t hash, const Version& version, bool fill,
                        BlockPin* pin, bool* found, RecordView* record) {
  DCHECK(!pin->holds_any() && key.sequence <= kMaxSequence && key.checksums == Checksums::kTrust);
  DCHECK_EQ(hash, HashOf(key));
  *found = false;
  const RecordRing::Found kept = ring_.Find(key.key, hash);
  for (const Run* run : version.runs) {
    const PMTable* const table = run->TableFor(order, key.key);
    if (table == nullptr) continue;
    PerfClock clock;
    const bool is_kept = kept.any && kept.table == table->number();
    if (is_kept && TakeKept(kept, key, pin, record)) {
      *found = true;
      if (fill && ring_.IsOld(kept)) ring_.Keep(key.key, hash, kept.table, record->tag, record->value);
      clock.Lap(&PerfContext::get_record);
      clock.Count(&PerfContext::records_kept);
      return Status::OK();
    }
    if (!table->MayHave(key, &clock)) continue;
    Status s = table->GetPastFilter(key, &clock, found, record);
    if (!s.ok()) return s;
    if (!*found) continue;
    const bool is_newest = key.sequence >= table->max_sequence() && record->sequence() <= key.sequence;
    if (fill && is_newest && ShouldKeep()) ring_.Keep(key.key, hash, table->number(), record->tag, record->value);
    return s;
  }
  return Status::OK();
}

// Without memory for the record the table is asked.
bool KeptRecords::TakeKept(const RecordRing::Found& kept, const LookupKey& key, BlockPin* pin,
                           RecordView* record) const {
  DCHECK(kept.any);
  if (TagSequence(kept.tag) > key.sequence) return false;
  std::unique_ptr<char[]> value;
  try {
    value = ring_.Take(kept);
  } catch (const std::bad_alloc&) {
    return false;
  }
  if (value == nullptr) return false;
  record->begin = nullptr;
  record->tag = kept.tag;
  record->key = key.key;
  record->value = Slice(value.get(), kept.value_bytes);
  pin->Hold(std::move(value));
  return true;
}

bool KeptRecords::ShouldKeep() const {
  if (!ring_.IsFull()) return true;
  thread_local uint32_t reads = 0;
  return ++reads % kReadsPerKeep == 0;
}

}  // namespace miodb
