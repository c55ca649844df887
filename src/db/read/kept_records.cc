#include "src/db/read/kept_records.h"

#include <algorithm>
#include <new>

#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"
#include "src/util/clock/perf_clock.h"

// Filter, mark, record: a get goes from cheap to dear, as a get of a table file does (SsdStore::Get). Records of a
// table that was merged are asked for no more, so the cache lets go of them first.

namespace miodb {

namespace {

// The mean charge of the last kCharges records says how many records fit. The first mean is kFirstCharge. A single
// large record among many small ones must not move the mean by much: a window that changes forgets what was read.
constexpr size_t kCharges = 1024;
constexpr size_t kFirstCharge = 512;

// The parts of the cache (NewLRUCache), between which its capacity is divided.
constexpr size_t kCacheParts = 16;

}  // namespace

KeptRecords::KeptRecords(size_t bytes)
    : recent_(std::min(kReadsPerRecord * (bytes / kLeastCharge), kMostMarks)),
      capacity_((bytes - std::min(bytes, recent_.memory_bytes())) / kCacheParts * kCacheParts),
      cache_(NewLRUCache(capacity_)),
      records_(cache_.get()),
      charges_(kCharges * kFirstCharge) {
  CHECK_LE(capacity_, bytes);
  recent_.SetWindow(kReadsPerRecord * (capacity_ / kFirstCharge));
}

// The order of the tables is that of Version::Get, and so is the answer.
Status KeptRecords::Get(const KeyOrder& order, const LookupKey& key, const Version& version, bool fill, BlockPin* pin,
                        bool* found, RecordView* record) {
  DCHECK(!pin->holds_any() && key.sequence <= kMaxSequence);
  *found = false;
  for (const Run* run : version.runs) {
    const PMTable* const table = run->TableFor(order, key.key);
    if (table == nullptr) continue;
    Status s = GetFrom(*table, key, fill, pin, found, record);
    if (!s.ok() || *found) return s;
  }
  return Status::OK();
}

Status KeptRecords::GetFrom(const PMTable& table, const LookupKey& key, bool fill, BlockPin* pin, bool* found,
                            RecordView* record) {
  DCHECK(!*found && !pin->holds_any());
  PerfClock clock;
  if (!table.MayHave(key, &clock)) return Status::OK();
  // Under an order by which different bytes may be equal the key has no hash of its own.
  const uint32_t hash = table.order().bytewise() ? key.hash : KeyHash(key.key);
  const bool again = !fill || recent_.Touch(Mix64(table.number(), hash));
  if (again && Find(table, key, pin, record)) {
    *found = true;
    clock.Lap(&PerfContext::get_record);
    clock.Count(&PerfContext::records_kept);
    return Status::OK();
  }
  Status s = table.GetPastFilter(key, false, &clock, found, record);
  const bool is_newest = key.sequence >= table.max_sequence() && record->sequence() <= key.sequence;
  if (fill && again && s.ok() && *found && is_newest) Keep(table, key, *record);
  return s;
}

// Without memory for a long key in the cache nothing is found there.
bool KeptRecords::Find(const PMTable& table, const LookupKey& key, BlockPin* pin, RecordView* record) const {
  DCHECK(pin != nullptr && record != nullptr);
  try {
    return records_.Find(table.number(), key, pin, record);
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// Without memory for a record it is not kept: the get has its answer.
void KeptRecords::Keep(const PMTable& table, const LookupKey& key, const RecordView& record) {
  DCHECK(record.begin != nullptr);
  const size_t charge = RecordCache::BytesOf(key.key, record) + kEntryBytes;
  if (charge > capacity_ / kLeastRecords) return;
  try {
    records_.Keep(table.number(), key.key, record, kEntryBytes);
  } catch (const std::bad_alloc&) {
    return;
  }
  NoteCharge(charge);
}

// The records that fit are as many as their mean size says, and the marks follow them: with more marks, reads of all
// keys alike would be taken for reads of a few, and with fewer, a record could be kept and not asked for.
void KeptRecords::NoteCharge(size_t charge) {
  // relaxed: an estimate; of two threads that meet, the charge of one is left out.
  const size_t charges = charges_.load(std::memory_order_relaxed);
  const size_t now = charges - charges / kCharges + charge;
  DCHECK_GT(now / kCharges, 0u);
  charges_.store(now, std::memory_order_relaxed);
  recent_.SetWindow(kReadsPerRecord * (capacity_ / (now / kCharges)));
}

}  // namespace miodb
