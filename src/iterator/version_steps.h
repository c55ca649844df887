// VersionSteps: when a walk seeks past the versions of a key, rather than to step over them.
//
// The seek comes once the steps have cost as much, so a walk costs at most twice what either would. A version is sought
// once, in the order of the walk: the walk ends also on a damaged medium, where a seek may lead back.
//
// Threads: one.

#ifndef MIODB_SRC_ITERATOR_VERSION_STEPS_H_
#define MIODB_SRC_ITERATOR_VERSION_STEPS_H_

#include <cstdint>
#include <string>

#include "miodb/slice.h"
#include "src/format/record.h"
#include "src/iterator/range_cover.h"
#include "src/util/bytes/key_order.h"
#include "src/util/check/check.h"

namespace miodb {

class VersionSteps {
 public:
  // The key of the versions that were passed since Begin.
  enum class Passed : uint8_t { kOfKey, kOfAnyKey };

  // The order outlives this. sources: that a seek has to search.
  VersionSteps(const KeyOrder& order, size_t sources) : order_(&order), most_(kStepsOfSeek * sources) {
    DCHECK_GT(sources, 0u);
  }

  // A seek in all sources costs about so many steps.
  size_t of_seek() const { return most_; }

  // The walk goes on somewhere else, or turns.
  void Jump() { known_ = false; }

  // No version was stepped over yet.
  void Begin() { steps_ = 0; }

  // Counts a version that is to be passed. True: the walk seeks this version of the key instead. Where those before
  // were of any key, the key is only noted, and sought if the walk is still there as many steps later.
  bool Seeks(const Slice& key, uint64_t sequence, RangeCover::Walk walk, Passed before) {
    DCHECK_LE(sequence, kMaxSequence);
    if (++steps_ < most_) [[likely]]
      return false;
    steps_ = 0;
    const int side = known_ ? order_->Compare(key, key_) : 0;
    if (!known_ || (walk == RangeCover::Walk::kForward ? side > 0 : side < 0)) {
      known_ = true;
      key_.assign(key.data(), key.size());
      sequence_ = before == Passed::kOfKey ? sequence : kNoted;
      return before == Passed::kOfKey;
    }
    if (side != 0 || sequence >= sequence_) return false;
    sequence_ = sequence;
    return true;
  }

 private:
  // A seek in one source costs about so many steps.
  static constexpr size_t kStepsOfSeek = 8;
  static constexpr uint64_t kNoted = UINT64_MAX;  // no record's sequence

  const KeyOrder* order_;
  size_t most_;
  size_t steps_ = 0;
  bool known_ = false;  // key_ and sequence_ are what was sought or noted last
  std::string key_;
  uint64_t sequence_ = 0;
};

}  // namespace miodb

#endif  // MIODB_SRC_ITERATOR_VERSION_STEPS_H_
