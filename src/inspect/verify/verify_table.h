// Verifies one table of a pool: what verify.h says of tables.

#ifndef MIODB_SRC_INSPECT_VERIFY_VERIFY_TABLE_H_
#define MIODB_SRC_INSPECT_VERIFY_VERIFY_TABLE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "src/format/problem.h"
#include "src/inspect/image/table_image.h"
#include "src/iterator/range_set.h"
#include "src/version/edit/payload_place.h"

namespace miodb {

struct TableCheck {
  uint64_t entries = 0;     // that could be read
  uint64_t tombstones = 0;  // of these
  bool complete = false;    // all of them; then smallest and largest are known
  std::string smallest;
  std::string largest;
  uint32_t highest_family = 0;  // of those that the keys look like
};

// Counts the bytes that tables refer to, by payload extent of a state.
class LiveCount {
 public:
  explicit LiveCount(const std::map<PmRef, PayloadPlace>& payload);

  // Adds the record of a word. False: so many bytes do not lie in what was written of an extent.
  bool Add(IndexWord word, uint64_t record_bytes);

  // Something could not be read, so the count is too low.
  void Miss() { complete_ = false; }
  bool complete() const { return complete_; }

  uint64_t LiveOf(PmRef offset) const { return live_.at(offset); }

 private:
  const std::map<PmRef, PayloadPlace>& payload_;
  std::map<PmRef, uint64_t> live_;
  const PayloadPlace* last_ = nullptr;
  bool complete_ = true;
};

// REQUIRES: the table's header is good. order_known: order is the one that the table was built under. on_leaf, if it is
// one, is called behind each leaf.
// deleted: ranges of the manifest, one of which may hide what the table says it does not hold; null: none.
// count: gets all words of the table that can be read.
TableCheck VerifyTable(const PoolImage& image, const TableImage& table, const KeyOrder& order, bool order_known,
                       const ReportProblem& report, LiveCount* count, const std::function<void()>& on_leaf = nullptr,
                       const RangeSet* deleted = nullptr);

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_VERIFY_TABLE_H_
