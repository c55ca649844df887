// Writers in line: the first becomes the leader of a group and writes for all of it.
//
// Threads: any number call Join; each Writer lives on its thread's stack until Join or the leader releases it.
//
//   1 A writer pushes itself onto newest_ with one compare-and-swap. If the queue was empty it leads.
//   2 The leader takes itself and those behind it as a group, does their work, sets their results.
//   3 Leave: the writer behind the group, if any, becomes the next leader; the others of the group are woken.
//
// At most one leader exists at any time, so all that only leaders touch needs no lock: each hand-over is a
// release store of a Writer's state, read with acquire by the next leader.

#ifndef MIODB_SRC_DB_WRITE_WRITE_QUEUE_H_
#define MIODB_SRC_DB_WRITE_WRITE_QUEUE_H_

#include <atomic>
#include <cstdint>
#include <functional>

#include "miodb/slice.h"
#include "miodb/status.h"
#include "src/format/value_type.h"
#include "src/util/check/check.h"
#include "src/util/clock/clock.h"
#include "src/util/clock/cpu_relax.h"
#include "src/util/threads/futex.h"

namespace miodb {

// A condition of a write: the leader asks it while nobody else can write. An error is the result of the write.
using WriteCondition = std::function<Status()>;

// The updates of a caller: a batch's bytes, or a single put or delete. Or a request, which has no updates.
struct Writer {
  enum State : int { kWaiting, kAsleep, kLeader, kDone };
  // kSeal: seals the memtable behind all that was written before. kAsk: asks for the condition between two groups.
  enum class Kind : uint8_t { kWrite, kSeal, kAsk };

  explicit Writer(Kind a_kind = Kind::kWrite) : kind(a_kind) {}

  const Kind kind;
  Slice batch;  // WriteBatch contents; empty: the single update below
  ValueType type = kTypeValue;
  Slice key;
  Slice value;
  uint64_t body_bytes = 0;  // of all records
  uint64_t user_bytes = 0;  // of all keys and values
  uint32_t count = 0;
  bool sync = false;
  bool deletes_only = false;
  const WriteCondition* condition = nullptr;  // null: none
  Status status;

  // A group by itself. Writers before one with a condition could break it, and a flush that was asked for must not fail
  // together with puts that find no room.
  bool StandsAlone() const { return condition != nullptr || kind != Kind::kWrite; }

  std::atomic<int> state{kWaiting};
  Writer* older = nullptr;
  Writer* newer = nullptr;  // set by leaders
};

class WriteQueue {
 public:
  // Returns true when the writer leads, false when its work has been done by another leader.
  bool Join(Writer* writer) {
    // acq_rel: publishes the writer's fields to the leader; a leader that finds the queue empty sees all that the last
    // one did. Pairs with itself and with Leave.
    Writer* older = newest_.load(std::memory_order_relaxed);  // relaxed: checked by the exchange
    DCHECK(older != writer && writer->newer == nullptr);
    DCHECK_EQ(writer->state.load(std::memory_order_relaxed), Writer::kWaiting);  // relaxed: nobody else has it yet
    do {
      writer->older = older;
    } while (!newest_.compare_exchange_weak(older, writer, std::memory_order_acq_rel, std::memory_order_relaxed));
    if (older == nullptr) return true;
    return Wait(writer) == Writer::kLeader;
  }

  // Join, of a writer that leads at once or not at all. False: somebody else is there.
  bool TryJoin(Writer* writer) {
    DCHECK(writer->older == nullptr && writer->newer == nullptr);
    Writer* nobody = nullptr;
    // acq_rel: as in Join. relaxed: whoever is there is left alone.
    return newest_.compare_exchange_strong(nobody, writer, std::memory_order_acq_rel, std::memory_order_relaxed);
  }

  // The last writer of a group that starts with leader: as many as fit into max_bytes and agree with it about sync and,
  // because a full pool treats them differently, about being deletes; none that stands alone. Links the writers that
  // wait, in the group or behind it, through Writer::newer.
  Writer* FormGroup(Writer* leader, uint64_t max_bytes) {
    DCHECK(leader != nullptr);
    LinkNewer(newest_.load(std::memory_order_acquire), leader);  // acquire: sees the fields of all that joined
    if (leader->StandsAlone()) return leader;
    uint64_t bytes = leader->body_bytes;
    Writer* last = leader;
    for (Writer* w = leader->newer; w != nullptr; w = w->newer) {
      DCHECK(w->newer == nullptr || w->newer->older == w);
      bytes += w->body_bytes;
      if (bytes > max_bytes || (w->sync && !leader->sync) || w->deletes_only != leader->deletes_only ||
          w->StandsAlone()) {
        break;
      }
      last = w;
    }
    return last;
  }

  // Hands the queue on and releases the group's followers.
  void Leave(Writer* leader, Writer* last) {
    Writer* expected = last;
    // acq_rel: as in Join.
    if (!newest_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel, std::memory_order_acquire)) {
      LinkNewer(expected, last);
      DCHECK(last->newer != nullptr && last->newer->older == last);  // or nobody would lead any more
      SetState(last->newer, Writer::kLeader);
    }
    for (Writer* w = last; w != leader;) {
      Writer* const older = w->older;  // read first: the writer may be gone once its state is set
      SetState(w, Writer::kDone);
      w = older;
    }
  }

 private:
  // A follower looks for so long before it sleeps: a few times what a group takes, and less than waking up costs.
  static constexpr uint64_t kSpinNanos = 10 * 1000;
  static constexpr int kLooksPerClock = 16;

  static void LinkNewer(Writer* from, Writer* to) {
    for (Writer* w = from; w != to && w->older != nullptr && w->older->newer == nullptr; w = w->older) {
      w->older->newer = w;
    }
  }

  static void SetState(Writer* writer, int state) {
    // release: pairs with Wait; publishes the results. The writer may be gone after it.
    const int before = writer->state.exchange(state, std::memory_order_release);
    DCHECK(before == Writer::kWaiting || before == Writer::kAsleep);  // led or served once
    if (before == Writer::kAsleep) FutexWake(&writer->state);
  }

  static int Wait(Writer* writer) {
    const uint64_t start = NowNanos();
    do {
      for (int i = 0; i < kLooksPerClock; i++) {
        const int state = writer->state.load(std::memory_order_acquire);  // acquire: pairs with SetState
        if (state != Writer::kWaiting) return state;
        CpuRelax();
      }
    } while (NowNanos() - start < kSpinNanos);
    int state = Writer::kWaiting;
    // acquire: as above.
    if (!writer->state.compare_exchange_strong(state, Writer::kAsleep, std::memory_order_acquire)) return state;
    do {
      FutexWait(&writer->state, Writer::kAsleep);
      state = writer->state.load(std::memory_order_acquire);  // acquire: as above
    } while (state == Writer::kAsleep);
    DCHECK(state == Writer::kLeader || state == Writer::kDone);
    return state;
  }

  std::atomic<Writer*> newest_{nullptr};
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_WRITE_WRITE_QUEUE_H_
