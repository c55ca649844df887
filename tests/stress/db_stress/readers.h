// Readers that know what they may see while writers and merges go on.
//
// The lower bound of a unit is the last version that was acknowledged before the read began (or that this reader has
// seen already), the upper bound the last one begun before it returned. A read must show a version between them, whole,
// and a scan every key once, in order, with nothing left out.

#ifndef MIODB_TESTS_STRESS_DB_STRESS_READERS_H_
#define MIODB_TESTS_STRESS_DB_STRESS_READERS_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "tests/common/random/random.h"
#include "tests/stress/db_stress/expected_state.h"
#include "tests/stress/db_stress/plan.h"

namespace miodb::test {

class StressReader {
 public:
  // stop and failure belong to the caller; a reader that finds a fault stores it in *failure and returns.
  StressReader(DB* db, const StressData& data, ExpectedState* state, uint64_t seed, const std::atomic<bool>* stop)
      : db_(db), data_(data), state_(state), random_(seed), stop_(stop) {}

  // Each runs until *stop; returns a fault, or "".
  std::string GetLoop();
  std::string ScanLoop();
  std::string SnapshotLoop();

 private:
  static constexpr uint32_t kAbsent = UINT32_MAX;
  static constexpr uint32_t kUnclear = UINT32_MAX - 1;  // there, but too short to say which version

  struct Window {
    std::vector<uint32_t> low;
    std::vector<uint32_t> high;
  };

  bool Stopped() const { return stop_->load(std::memory_order_relaxed); }  // relaxed: a wish
  void Low(Window* window) const;
  void High(Window* window) const;
  void Count(std::atomic<uint64_t>* total, uint64_t* own, uint64_t n);

  // Empty if a read may show this. *version: what it shows.
  std::string Judge(const StressKey& key, const Slice* value, uint32_t low, uint32_t high, uint32_t* version) const;
  uint32_t Following(const UnitState& unit, uint32_t version) const;
  // Reads everything forward; stores the version of every key, by rank.
  std::string Scan(Iterator* it, const Window& window, std::vector<uint32_t>* versions);
  std::string ScanBackward(Iterator* it, const std::vector<uint32_t>& versions);
  std::string Wander(Iterator* it, const std::vector<uint32_t>& versions);
  std::string ReadAt(const Snapshot* snapshot, const Window& window, std::vector<uint32_t>* versions);

  DB* const db_;
  const StressData& data_;
  ExpectedState* const state_;
  Random random_;
  const std::atomic<bool>* const stop_;
  uint64_t reads_ = 0;  // not yet added to the state's
  uint64_t steps_ = 0;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_STRESS_DB_STRESS_READERS_H_
