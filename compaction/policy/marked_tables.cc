#include "compaction/policy/marked_tables.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pmtable/payload_bounds.h"
#include "src/util/check/check.h"

namespace miodb {

// A damaged leaf ends the look at its table: no collection is begun for what is behind it.
void MarkTables(const Version& version, const std::function<bool()>& stop) {
  CHECK(stop != nullptr);
  std::vector<PayloadBounds::Bounds> marked;
  uint64_t first_table = UINT64_MAX;
  for (const ExtentRef& extent : version.payload) {
    if (!extent->evacuate.load(std::memory_order_relaxed)) continue;  // relaxed: policy only
    marked.push_back({extent->offset(), extent->end()});
    first_table = std::min(first_table, extent->first_table);
  }
  CHECK_EQ(marked.empty(), first_table == UINT64_MAX);
  PayloadBounds bounds;
  bounds.Set(std::move(marked));
  for (const Run* run : version.runs) {
    for (const TableRef& table : run->tables) {
      CHECK(table != nullptr);
      if (stop()) return;
      bool refers = false;
      if (table->number() >= first_table) {
        ForEachWord(*table, [&](IndexWord word) {
          refers = bounds.IndexOf(word.ref()) != PayloadBounds::kNone;
          return !refers;
        }).IgnoreError();
      }
      table->marked.store(refers, std::memory_order_relaxed);  // relaxed: as above
    }
  }
}

}  // namespace miodb
