// DeadStretches: stretches of keys in which an iterator has found nothing alive. Later iterators go over a stretch by a
// seek in each source, where the first one passed tombstones and what they hide step by step.
//
// A stretch at a sequence is like a deletion of the range: every version in it up to the sequence is deleted,
// overwritten, expired or removed by a compaction filter, for all reads from this sequence on of the state in which it
// was found and of later ones. Newer versions are not hidden. So a stretch stays right whatever is written, flushed or
// merged later, and nobody has to take it back. An iterator of an older state may see what has expired or was removed
// since.
//
// Threads: any. A call that meets another one finds or remembers nothing: no read waits for it, and a comparator may
// read its database. After a crash: nothing is left, and iterators find the stretches again.

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
  // Where a read stands: the number of its state, its sequence and its time.
  struct Moment {
    uint64_t state = 0;
    uint64_t sequence = 0;
    uint64_t micros = 0;

    // Whether a key that the other moment finds dead stays dead for this moment.
    bool IsBehind(const Moment& other) const {
      return other.state <= state && other.sequence <= sequence && other.micros <= micros;
    }
  };

  // Keys [begin, end), dead as of the moment, whose time is that by which some had expired.
  struct Stretch {
    std::string begin;
    std::string end;
    Moment as_of;
  };

  explicit DeadStretches(const KeyOrder& order) : order_(order), stretches_(Before{order}) {}
  DeadStretches(const DeadStretches&) = delete;
  DeadStretches& operator=(const DeadStretches&) = delete;

  // Finds the stretch of the key that holds for a read at this moment.
  bool Find(const Slice& key, const Moment& now, Stretch* found) NO_THREAD_SAFETY_ANALYSIS;

  // Remembers a stretch, which takes the place of older ones. Where a newer one lies in its range, that one stays and
  // this one is forgotten, as are stretches with keys that are too long.
  void Add(const Stretch& stretch) NO_THREAD_SAFETY_ANALYSIS;

  size_t count() const { return count_.load(std::memory_order_relaxed); }  // relaxed: a hint

 private:
  // More are forgotten one by one, in the order of keys, first those that were not found since the last look. A search
  // halves them. In DRAM they take 2.2 MiB at most.
  static constexpr size_t kMost = 1024;
  static constexpr size_t kMostKeyBytes = 1024;

  struct Before {
    using is_transparent = void;
    KeyOrder order;
    bool operator()(const Slice& a, const Slice& b) const { return order.Compare(a, b) < 0; }
  };
  struct Rest {
    std::string end;
    Moment as_of;
    bool found = false;  // since the last look of ForgetOne
  };
  using Map = std::map<std::string, Rest, Before>;  // by begin; no two overlap

  bool FindHeld(const Slice& key, const Moment& now, Stretch* found) REQUIRES(mutex_);
  void AddHeld(const Stretch& stretch) REQUIRES(mutex_);
  void Cut(Map::iterator at, const Stretch& stretch) REQUIRES(mutex_);
  void ForgetOne() REQUIRES(mutex_);

  const KeyOrder order_;
  Mutex mutex_;
  Map stretches_ GUARDED_BY(mutex_);
  std::string looked_at_ GUARDED_BY(mutex_);  // by ForgetOne, last
  std::atomic<size_t> count_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READ_DEAD_STRETCHES_H_
