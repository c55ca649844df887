// Writers beside one another, without a leader: each writes its own frame into space that one atomic step reserved,
// inserts it into the memtable, fences its own lines, and becomes visible in the order of sequences.
//
//   1 Enter    Take a lane: an arena piece, counters and a place in a list, which are the writer's alone meanwhile.
//              Reserve place and sequence together, with one compare-and-swap of word_.
//   2 Store    Wait until the window reaches so far (kLogWindow); encode the frame and start its way to the medium.
//   3 Insert   Into the memtable. Readers do not see it yet.
//   4 Fence    The frame is durable, if all before it are.
//   5 Publish  Whoever comes first moves the last sequence on over all that is finished in front; so what is visible is
//              durable, and everything before it, too.
//   6 Wait     Until the own write is visible. Only then it is told to the caller.
//
// The leader of the write queue opens the lanes for the chunk and the memtable that it writes to, and closes them
// before it writes a group: Close returns when nobody is in a lane. A writer that finds them closed, or no free lane,
// or no room in the chunk, goes by the queue. So chunks, memtables and sequences change hands in one place, and the
// leader's way knows nothing of the lanes.
//
// Threads: Write and its steps by any; Open and Close by the leader. A writer that loses its CPU in a lane holds up
// those that come after it and the leader, until it has its CPU again; so lanes are open only where there are CPUs for
// all. After a crash: of each frame all or nothing, by its checksum; frames behind one that is missing only
// within the window, and none of those was told to anybody.

#ifndef MIODB_SRC_DB_WRITE_WRITE_LANES_H_
#define MIODB_SRC_DB_WRITE_WRITE_LANES_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "src/db/stats/statistics.h"
#include "src/db/write/write_queue.h"
#include "src/log/frame_writer.h"
#include "src/memtable/memtable.h"
#include "src/util/check/check.h"

namespace miodb {

class WriteLanes {
 public:
  // visible: the last sequence that readers see, which writers in lanes move on.
  WriteLanes(std::atomic<uint64_t>* visible, Statistics* statistics) : visible_(visible), statistics_(statistics) {
    CHECK(visible_ != nullptr && statistics_ != nullptr);
  }

  // A write on its way through a lane.
  struct Pass {
    size_t lane;
    uint64_t offset;  // of the frame in the chunk
    uint64_t sequence;
    uint32_t hash;  // of the key
    LogRecord record;
    BLinkTree::Entry* entry;
  };

  bool open() const { return (word_.load(std::memory_order_relaxed) & kClosed) == 0; }  // relaxed: advice

  // A single small update. All other writes go by the queue.
  static bool Fits(const Writer& writer) {
    return writer.count == 1 && writer.batch.empty() && writer.body_bytes <= FrameWriter::kMostBodyBeside;
  }

  // All steps. False: nothing was done, the write has to go by the queue. REQUIRES: Fits(writer).
  bool Write(const Writer& writer);

  // The steps. Each returns at once but where it says that it waits.
  bool Enter(const Writer& writer, Pass* pass);
  bool WindowReaches(const Pass& pass) const;
  void Store(Pass* pass);  // REQUIRES: WindowReaches
  void Insert(const Pass& pass);
  void Fence(const Pass& pass);
  void Publish(const Pass& pass, const Writer& writer);
  bool IsVisible(const Pass& pass) const;

  // The objects that writers in lanes write to.
  struct Room {
    const FrameWriter* frames = nullptr;
    Persist* persist = nullptr;
    LogChunk* chunk = nullptr;
    MemTable* memtable = nullptr;
    uint64_t sequence = 0;  // the last one that is in use
  };

  // REQUIRES: the lanes are closed; the memtable is not empty; everything up to room.sequence is visible.
  void Open(const Room& room);

  // Waits until nobody is in a lane, and returns the last sequence in use. The chunk's used and the memtable's figures
  // are right again. Closed lanes stay so. REQUIRES: the lanes were open, or nothing is asked for: 0 then.
  uint64_t Close();

  // Whether several writers had lanes, rather than one nearly all the time, when the lanes were open last. By the
  // leader.
  bool several() const { return several_; }

  // How many had a lane for a good part of the writes then.
  size_t writers() const { return writers_; }

 private:
  // word_: kClosed | writes since Open << kBytesBits | bytes of the chunk in use.
  static constexpr uint64_t kClosed = uint64_t{1} << 63;
  static constexpr int kBytesBits = 36;
  static constexpr uint64_t kBytesMask = (uint64_t{1} << kBytesBits) - 1;
  static constexpr uint64_t WritesOf(uint64_t word) { return (word & ~kClosed) >> kBytesBits; }

  // A waiting thread looks for so long before it sleeps: a few times what a write takes.
  static constexpr uint64_t kSpinNanos = 10 * 1000;
  static constexpr int kLooksPerClock = 16;

  struct alignas(64) Lane {
    std::atomic<bool> taken{false};
    std::atomic<uint64_t> writes{0};  // since Open
  };
  struct alignas(64) Slot {
    std::atomic<uint64_t> finished{0};  // of the slot's sequences the last one
  };

  bool TakeLane(size_t* lane);
  void TurnAway(size_t lane);
  bool Reserve(Pass* pass);
  void MoveOn();
  void WakeSleepers();
  bool LanesAreFree() const;
  template <typename Done>
  void Wait(Done done);
  Slot& SlotOf(uint64_t sequence) { return slots_[sequence % kLogWindow]; }

  std::atomic<uint64_t>* const visible_;
  Statistics* const statistics_;
  Room room_;             // changes while the lanes are closed and free
  bool several_ = false;  // the leader's
  size_t writers_ = 0;    // the leader's

  alignas(64) std::atomic<uint64_t> word_{kClosed};
  alignas(64) std::atomic<int> sleepers_{0};
  std::atomic<int> wakes_{0};  // changes when sleepers are to look again
  std::array<Lane, kLogLanes> lanes_;
  std::array<Slot, kLogWindow> slots_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_WRITE_WRITE_LANES_H_
