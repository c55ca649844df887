// DeadStretches: stretches of keys in which an iterator has found nothing alive. Later iterators go over a stretch by a
// seek in each source, where the first one passed tombstones and what they hide step by step.
//
// A stretch at a sequence is like a deletion of the range: every version in it up to the sequence is deleted,
// overwritten or expired for all reads from this sequence on. Newer versions are not hidden. So a stretch stays right
// whatever is written, flushed or merged later, and nobody has to take it back.
//
// Threads: any; the mutex is a leaf. After a crash: nothing is left, and iterators find the stretches again.

#ifndef MIODB_SRC_DB_READ_DEAD_STRETCHES_H_
#define MIODB_SRC_DB_READ_DEAD_STRETCHES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "miodb/slice.h"
#include "src/util/bytes/key_order.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class DeadStretches {
 public:
  // Keys [begin, end), dead up to the sequence for reads not before expired_by, the moment by which some had expired.
  struct Stretch {
    std::string begin;
    std::string end;
    uint64_t sequence = 0;
    uint64_t expired_by = 0;
  };

  explicit DeadStretches(const KeyOrder& order) : order_(order), stretches_(Before{order}) {}
  DeadStretches(const DeadStretches&) = delete;
  DeadStretches& operator=(const DeadStretches&) = delete;

  // Finds the stretch of the key that holds for a read at this sequence and time.
  bool Find(const Slice& key, uint64_t sequence, uint64_t now_micros, Stretch* found) const EXCLUDES(mutex_);

  // Remembers a stretch, which takes the place of older ones. Where a newer one lies in its range, that one stays and
  // this one is forgotten.
  void Add(Stretch stretch) EXCLUDES(mutex_);

  size_t count() const { return count_.load(std::memory_order_relaxed); }  // relaxed: a hint

 private:
  // More are forgotten one by one, in the order of keys. A search halves them, and each has two keys in DRAM.
  static constexpr size_t kMost = 1024;

  struct Before {
    using is_transparent = void;
    KeyOrder order;
    bool operator()(const Slice& a, const Slice& b) const { return order.Compare(a, b) < 0; }
  };
  using Map = std::map<std::string, Stretch, Before>;  // by begin; no two overlap

  void Cut(Map::iterator at, const Stretch& stretch) REQUIRES(mutex_);
  void ForgetOne() REQUIRES(mutex_);

  const KeyOrder order_;
  mutable Mutex mutex_;
  Map stretches_ GUARDED_BY(mutex_);
  std::string forgotten_ GUARDED_BY(mutex_);  // where the last one was that was forgotten
  std::atomic<size_t> count_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_DEAD_STRETCHES_H_
