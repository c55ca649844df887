#include "compaction/policy/marked_tables.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "pmtable/payload_bounds.h"
#include "src/util/check/check.h"

namespace miodb {

// Extents that edits emptied meanwhile are no garbage any more. Marks that stay are never away.
MarkedExtents MarkExtents(const Version& version, const MarkRequest& request) {
  std::vector<ExtentUse> extents;
  for (const ExtentRef& extent : version.payload) {
    const uint64_t live = extent->live_bytes.load(std::memory_order_relaxed);  // relaxed, as below: policy only
    if (live > 0) extents.push_back({extent.get(), extent->payload_bytes(), live});
  }
  MarkedExtents result{PickEvacuation(request, &extents), 0, true};
  for (size_t i = 0; i < extents.size(); i++) {
    const bool mark = i < result.count;
    if (extents[i].extent->evacuate.exchange(mark, std::memory_order_relaxed) != mark) result.same = false;
    if (mark) result.live += extents[i].live;
  }
  CHECK_LE(result.live, request.budget);
  return result;
}

// A damaged leaf ends the look at its table: no collection is begun for what is behind it.
void MarkTables(const Version& version, const std::function<bool()>& stop,
                const std::function<void(const TableRef&)>& found) {
  CHECK(stop != nullptr && found != nullptr);
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
      if (refers) found(table);
    }
  }
}

}  // namespace miodb
