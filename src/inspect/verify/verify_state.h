// Verifies what states of one manifest name of a pool, but for their logs: deletions of ranges, tables, runs. Part of
// VerifyPool.
//
// The current state comes first, then those of savepoints. A table that several states name is looked at once.
//
// Threads: one. Image and claims must outlive it.

#ifndef MIODB_SRC_INSPECT_VERIFY_VERIFY_STATE_H_
#define MIODB_SRC_INSPECT_VERIFY_VERIFY_STATE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "src/format/problem.h"
#include "src/inspect/verify/space_claims.h"
#include "src/inspect/verify/verify_table.h"
#include "src/iterator/range_set.h"
#include "src/nvm/pool/pool_image.h"
#include "src/util/bytes/key_order.h"
#include "src/version/edit/version_edit.h"

namespace miodb {

// Figures of a verified state. Tables that an earlier state has do not count again.
struct StateCheck {
  uint64_t runs = 0;
  uint64_t entries = 0;
  uint64_t tombstones = 0;
  uint64_t live_bytes = 0;
};

class StateVerifier {
 public:
  // order_known: order is the one that tables were built under. on_leaf is called behind each leaf.
  StateVerifier(const PoolImage& image, const KeyOrder& order, bool order_known, SpaceClaims* claims,
                std::function<void()> on_leaf)
      : image_(image), order_(order), order_known_(order_known), claims_(claims), on_leaf_(std::move(on_leaf)) {
    CHECK(claims != nullptr);
  }
  StateVerifier(const StateVerifier&) = delete;
  StateVerifier& operator=(const StateVerifier&) = delete;

  // manifest: where the state was read, for people.
  StateCheck Verify(const std::string& manifest, const ManifestState& state, const ReportProblem& report);

 private:
  void CheckPlaces(const std::string& manifest, const ManifestState& state, const ReportProblem& report) const;
  RangeSetRef CheckRanges(const ManifestState& state, const ReportProblem& report) const;
  void CheckTable(const ManifestState& state, const TablePlace& place, const RangeSet* deleted,
                  const ReportProblem& report, LiveCount* count, StateCheck* check);
  void CheckLive(const ManifestState& state, const LiveCount& count, const ReportProblem& report) const;
  void CountAgain(const TableImage& table, LiveCount* count) const;
  uint64_t CheckRuns(const ManifestState& state, const ReportProblem& report) const;

  const PoolImage& image_;
  const KeyOrder order_;
  const bool order_known_;
  SpaceClaims* const claims_;
  const std::function<void()> on_leaf_;
  std::map<uint64_t, std::pair<PmRef, uint64_t>> tables_;           // that were looked at: offset and size by number
  std::map<uint64_t, std::pair<std::string, std::string>> ranges_;  // first and last key by table
};

}  // namespace miodb

#endif  // MIODB_SRC_INSPECT_VERIFY_VERIFY_STATE_H_
