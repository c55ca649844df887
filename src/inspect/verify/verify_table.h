// Verifies one table of a pool: what verify.h says of tables.

#ifndef MIODB_SRC_INSPECT_VERIFY_VERIFY_TABLE_H_
#define MIODB_SRC_INSPECT_VERIFY_VERIFY_TABLE_H_

#include <cstdint>
#include <functional>
#include <string>

#include "pmtable/table_meta.h"
#include "src/format/problem.h"
#include "src/inspect/image/table_image.h"
#include "src/iterator/range_set.h"

namespace miodb {

struct TableCheck {
  uint64_t entries = 0;     // that could be read
  uint64_t tombstones = 0;  // of these
  bool complete = false;    // all of them; then smallest and largest are known
  std::string smallest;
  std::string largest;
  uint32_t highest_family = 0;  // of those that the keys look like
  TableMeta meta;               // empty if it is damaged
};

// REQUIRES: the table's header is good. order_known: order is the one that the table was built under. on_leaf, if it is
// one, is called behind each leaf.
// deleted: ranges of the manifest, one of which may hide what the table says it does not hold; null: none.
TableCheck VerifyTable(const PoolImage& image, const TableImage& table, const KeyOrder& order, bool order_known,
                       const ReportProblem& report, const std::function<void()>& on_leaf = nullptr,
                       const RangeSet* deleted = nullptr);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_VERIFY_TABLE_H_
