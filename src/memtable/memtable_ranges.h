// The range deletions of a memtable: a set of most of them, made anew now and then, and a small one of the newest, made
// anew for each group of writes that has some. Readers find both by one pointer.
//
// Threads: one adds, the adder of the memtable; any number read meanwhile without locks. Ownership: what a reader was
// given lives as long as this. A memtable is sealed before what nobody is given any more takes much memory
// (kMostBytes).

#ifndef MIODB_SRC_MEMTABLE_MEMTABLE_RANGES_H_
#define MIODB_SRC_MEMTABLE_MEMTABLE_RANGES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/iterator/range_set.h"

namespace miodb {

class MemTableRanges {
 public:
  // A memtable whose ranges take more has had its share.
  static constexpr size_t kMostBytes = size_t{8} << 20;

  struct View {
    RangeSetRef most;  // null: none
    RangeSetRef newest;
  };

  MemTableRanges() = default;
  MemTableRanges(const MemTableRanges&) = delete;
  MemTableRanges& operator=(const MemTableRanges&) = delete;

  // Readers find the range from the next Show on. A range of no keys, where begin does not come before end, is no
  // range; but there is a view from then on.
  void Add(const KeyOrder& order, const Slice& begin, const Slice& end, uint64_t sequence);

  // Readers find all that was added, by one view. May be called again after an attempt that lacked memory. REQUIRES: no
  // read has the sequence of a range that was added since the last call, but of the last one.
  void Show(const KeyOrder& order) {
    if (!all_shown_) [[unlikely]]
      MakeView(order);
  }

  // nullptr: nothing was shown.
  const View* view() const { return view_.load(std::memory_order_acquire); }  // acquire: pairs with Show

  // The sets of the view, behind those that are there.
  void AppendTo(std::vector<const RangeSet*>* sets) const;

  // All that were added, by the adder, or once nobody adds.
  std::vector<RangeDeletion> All() const;
  size_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }  // relaxed: a figure
  bool has_had_its_share() const { return memory_bytes() > kMostBytes; }

 private:
  void MakeView(const KeyOrder& order);

  // So many are in the small set at most.
  static constexpr size_t kMostNewest = 32;

  std::atomic<const View*> view_{nullptr};
  std::vector<std::unique_ptr<const View>> views_;  // all that there were
  std::vector<RangeDeletion> most_;
  std::vector<RangeDeletion> newest_;
  std::vector<uint64_t> ends_;  // the last range of each group, ascending
  size_t most_shown_ = 0;       // of most_, by the view
  bool all_shown_ = true;
  std::atomic<size_t> bytes_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_MEMTABLE_MEMTABLE_RANGES_H_
