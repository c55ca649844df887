// The registered snapshots.
//
// Threads: any; has a lock of its own, taken by nobody who writes or reads data.

#ifndef MIODB_SRC_DB_CONTEXT_SNAPSHOT_LIST_H_
#define MIODB_SRC_DB_CONTEXT_SNAPSHOT_LIST_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "miodb/db.h"
#include "src/util/check/check.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class SnapshotImpl final : public Snapshot {
 public:
  explicit SnapshotImpl(uint64_t seq) : sequence(seq) {}
  ~SnapshotImpl() override = default;
  uint64_t GetSequenceNumber() const override { return sequence; }
  const uint64_t sequence;
};

class SnapshotList {
 public:
  // The sequence is read with the lock held: a merge that asks for the list afterwards either finds this snapshot, or
  // this snapshot sees everything that was in tables when the merge asked.
  const SnapshotImpl* Take(const std::atomic<uint64_t>& last_sequence) {
    MutexLock lock(&mutex_);
    // acquire: the snapshot's reader sees the writes up to this sequence.
    auto snapshot = std::make_unique<SnapshotImpl>(last_sequence.load(std::memory_order_acquire));
    DCHECK(sequences_.empty() || *sequences_.rbegin() <= snapshot->sequence);  // what is published only grows
    sequences_.insert(snapshot->sequence);
    return snapshot.release();
  }

  void Release(const SnapshotImpl* snapshot) {
    CHECK(snapshot != nullptr);
    {
      MutexLock lock(&mutex_);
      auto it = sequences_.find(snapshot->sequence);
      CHECK(it != sequences_.end());
      sequences_.erase(it);
    }
    delete snapshot;
  }

  // Without duplicates, ascending.
  std::vector<uint64_t> Sequences() {
    MutexLock lock(&mutex_);
    std::vector<uint64_t> result;
    for (uint64_t sequence : sequences_) {
      if (result.empty() || result.back() != sequence) result.push_back(sequence);
    }
    return result;
  }

  bool empty() const {
    MutexLock lock(&mutex_);
    return sequences_.empty();
  }

 private:
  mutable Mutex mutex_;
  std::multiset<uint64_t> sequences_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_SNAPSHOT_LIST_H_
