#include "compaction/policy/expired_tables.h"

#include <algorithm>
#include <vector>

#include "src/format/expiry.h"
#include "src/util/bytes/hash.h"
#include "src/util/check/check.h"

namespace miodb {

uint64_t MuchExpiredAt(const PMTable& table) {
  if (!table.expiry().any()) return kNoExpiry;
  uint64_t known = table.much_expired_at.load(std::memory_order_relaxed);  // relaxed: each sample says the same
  if (known != 0) return known;
  // The place in a step is random, since lifetimes may come round with the keys.
  const uint64_t step = (table.entries() + kExpirySamples - 1) / kExpirySamples;
  std::vector<uint64_t> expiries;
  for (uint64_t at = 0; at < table.entries(); at += step) {
    const uint64_t place = at + Mix64(table.number(), at) % std::min(step, table.entries() - at);
    RecordView record;
    if (!table.RecordAt(place, Checksums::kTrust, &record).ok()) {
      expiries.assign(1, kNoExpiry);
      break;
    }
    expiries.push_back(ExpiryOf(record));
  }
  CHECK(!expiries.empty());
  const auto quarter = expiries.begin() + static_cast<ptrdiff_t>((expiries.size() - 1) / 4);
  std::nth_element(expiries.begin(), quarter, expiries.end());
  known = *quarter;
  table.much_expired_at.store(known, std::memory_order_relaxed);
  return known;
}

// Parts of the list in which nothing has expired are passed by.
ExpiredLook LookForExpired(const TableList& tables, uint64_t now_micros, const std::function<bool()>& stop) {
  ExpiredLook look;
  tables.Search(
      [&](const TableSummary& part) {
        if (look.table != nullptr || part.first_tombstone <= now_micros) return look.table == nullptr;
        look.next_micros = std::min(look.next_micros, part.first_tombstone);
        return false;
      },
      [&](const TableRef& table) {
        if (look.table != nullptr || !table->expiry().any() || stop()) return;
        const bool may_have = table->expiry().MayHaveExpired(now_micros);
        const uint64_t at = may_have ? MuchExpiredAt(*table) : table->expiry().first;
        if (at <= now_micros) look.table = table;
        look.next_micros = std::min(look.next_micros, at);
      });
  return look;
}

}  // namespace miodb
