// FamilyGate: decides the meaning of keys that begin with the mark of column families (util/bytes/family_key.h).
//
//   no family yet      keys of the default family like any others
//   there was one      keys of families. Of the default one none may be written, and none is there to be read
//
// The step from the first to the second is made while the gate is closed: a writer of such a key holds the gate open
// until the write is done. So is the step that ends a family: after it no write of the family is under way, and none
// begins. All other writes ignore the gate.
//
// Families are changed by one thread at a time, and stand still while a state of the database is put together (Still).
// Such a state takes records and families by several looks, and both have to be of one moment.
//
// Threads: any. Lock order: Still comes first, then the mutex of FamilyHandles, then the gate. All three come before
// the queue of writers and before the database's mutex. After a crash: nothing; an open sets the gate up by the
// manifest.

#ifndef MIODB_SRC_DB_CONTEXT_FAMILY_GATE_H_
#define MIODB_SRC_DB_CONTEXT_FAMILY_GATE_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/util/bytes/family_key.h"
#include "src/util/check/check.h"

namespace miodb {

class FamilyGate {
 public:
  FamilyGate() = default;
  FamilyGate(const FamilyGate&) = delete;
  FamilyGate& operator=(const FamilyGate&) = delete;

  // Whether there is or was a family: for the order of keys and whoever tells keys apart. Set once, by an open that
  // finds families or by the making of the first one.
  std::atomic<bool>* has_families() { return &has_families_; }
  bool HasFamilies() const { return has_families_.load(std::memory_order_acquire); }  // acquire: with whoever sets it

  // REQUIRES: the gate is closed, or nobody writes to this database.
  void SetHasFamilies() { has_families_.store(true, std::memory_order_release); }  // release: with HasFamilies

  // Whether a read of the default family does not see this key, whatever there is of it.
  bool Hides(const Slice& key) const { return HasFamilyMark(key) && HasFamilies(); }

  // The gate stays open while the result lives. A writer of keys with the mark asks CheckWrite for each of them
  // meanwhile.
  std::shared_lock<std::shared_mutex> Enter() const {
    // relaxed: a thread that misses that the gate is to be closed keeps it open once more, and the next thread waits.
    if (closing_.load(std::memory_order_relaxed)) const std::lock_guard<std::mutex> wait(turn_);
    return std::shared_lock<std::shared_mutex>(mutex_);
  }

  // The family that a key with the mark is written to.
  enum class Side : uint8_t {
    kDefault,   // the default family
    kOfPrefix,  // the family that the key's prefix names
  };

  // REQUIRES: entered; key has the mark.
  Status CheckWrite(const Slice& key, Side side) const {
    const uint32_t id = FamilyOf(key);
    if (side == Side::kDefault) {
      if (!HasFamilies()) return Status::OK();
      return Status::InvalidArgument("key", "begins with the bytes of column families' keys, which the database has");
    }
    if (open_.count(id) > 0) return Status::OK();
    return Status::InvalidArgument("column family " + std::to_string(id), "was dropped, or is another database's");
  }

  // While this lives no other thread makes or drops a family. A thread that makes or drops a family holds it until that
  // is done as a whole. A thread that puts a state together holds it from the first look to the last. Writes do not
  // wait for it.
  class Still {
   public:
    explicit Still(const FamilyGate& gate) : lock_(gate.still_) {}
    Still(const Still&) = delete;
    Still& operator=(const Still&) = delete;

   private:
    const std::lock_guard<std::mutex> lock_;
  };

  // Nobody is inside while this lives. Threads that come meanwhile wait, or else threads inside could keep the gate
  // open for ever, one after the other.
  class Closed {
   public:
    Closed(FamilyGate* gate, const Still&) : gate_(gate), turn_(gate->turn_) {
      gate_->closing_.store(true, std::memory_order_relaxed);  // relaxed: see Enter
      gate_->mutex_.lock();
    }
    ~Closed() {
      gate_->mutex_.unlock();
      gate_->closing_.store(false, std::memory_order_relaxed);  // relaxed: see Enter
    }
    Closed(const Closed&) = delete;
    Closed& operator=(const Closed&) = delete;

    void Open(uint32_t family) {
      DCHECK(family != kDefaultFamily && family <= kMostFamilyId);
      gate_->open_.insert(family);
    }
    void Shut(uint32_t family) { CHECK_EQ(gate_->open_.erase(family), 1u); }

   private:
    FamilyGate* const gate_;
    const std::lock_guard<std::mutex> turn_;
  };

 private:
  mutable std::mutex still_;
  mutable std::mutex turn_;  // of whoever closes the gate: those who are to wait for that wait for this
  mutable std::shared_mutex mutex_;
  std::atomic<bool> closing_{false};
  std::atomic<bool> has_families_{false};
  std::set<uint32_t> open_;  // families that may be written to
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_CONTEXT_FAMILY_GATE_H_
