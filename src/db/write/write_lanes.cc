// Lanes by their atomics. Orders that are said to be seq_cst are of pairs "say, then look" on both sides: of two
// threads that say something and then look for what the other one says, at least one sees it.

#include "src/db/write/write_lanes.h"

#include <algorithm>
#include <climits>

#include "src/util/check/mutation.h"
#include "src/util/clock/clock.h"
#include "src/util/clock/cpu_relax.h"
#include "src/util/clock/perf_clock.h"
#include "src/util/threads/futex.h"

namespace miodb {

namespace {

// Threads begin their search for a lane at different ones, and each finds the one again that it had last.
size_t UsualLane() {
  static std::atomic<size_t> threads{0};
  thread_local const size_t mine = threads.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
  return mine % kLogLanes;
}

}  // namespace

// A write waits in two places: where the window does not reach it yet, and where others before it are not visible. The
// two waits end with the steps of other threads, which wait for nothing that comes after them in sequence.
bool WriteLanes::Write(const Writer& writer) {
  PerfClock clock;
  Pass pass;
  if (!Enter(writer, &pass)) return false;
  if (!WindowReaches(pass)) [[unlikely]]
    Wait([&] { return WindowReaches(pass); });
  clock.Lap(&PerfContext::put_room);
  Store(&pass);
  clock.Lap(&PerfContext::put_log);
  Insert(pass);
  clock.Lap(&PerfContext::put_memtable);
  Fence(pass);
  clock.Lap(&PerfContext::put_fence);
  Publish(pass, writer);
  if (!IsVisible(pass)) Wait([&] { return IsVisible(pass); });
  clock.Lap(&PerfContext::put_leave);
  return true;
}

// More writers than lanes: the others go by the queue.
bool WriteLanes::TakeLane(size_t* lane) {
  size_t i = UsualLane();
  for (size_t looked = 0; looked < kLogLanes; looked++, i = (i + 1) % kLogLanes) {
    // seq_cst: says that the lane is taken, before the look at word_ in Enter; pairs with Close.
    if (!lanes_[i].taken.load(std::memory_order_relaxed) && !lanes_[i].taken.exchange(true)) {
      *lane = i;
      return true;
    }
  }
  return false;
}

// seq_cst: the leader may be asleep until the lane is free.
void WriteLanes::TurnAway(size_t lane) {
  lanes_[lane].taken.store(false);
  WakeSleepers();
}

// Everything that may fail comes before the reservation: a sequence that was given out has to become visible, or nobody
// after it does.
bool WriteLanes::Enter(const Writer& writer, Pass* pass) {
  DCHECK(Fits(writer));
  if (!open() || !TakeLane(&pass->lane)) return false;
  // Where the lanes are open now, chunk and memtable stay: Close waits for this lane. seq_cst: see TakeLane.
  if ((word_.load() & kClosed) == 0) {
    pass->record = {writer.type, writer.key, writer.value};
    pass->hash = KeyHash(writer.key);
    room_.memtable->PrefetchFilter(pass->hash);
    pass->entry = room_.memtable->NewEntry(pass->lane);
    if (pass->entry != nullptr && Reserve(pass)) return true;
  }
  TurnAway(pass->lane);
  return false;
}

// relaxed, both orders: what the winner relies on was acquired with the look at word_ after the lane was taken.
bool WriteLanes::Reserve(Pass* pass) {
  const uint64_t frame_bytes = FrameWriter::FrameSize(pass->record.size());
  uint64_t word = word_.load(std::memory_order_relaxed);
  do {
    if ((word & kClosed) != 0 || (word & kBytesMask) + frame_bytes > room_.chunk->capacity) return false;
  } while (
      !word_.compare_exchange_weak(word, word + (uint64_t{1} << kBytesBits) + frame_bytes, std::memory_order_relaxed));
  pass->offset = word & kBytesMask;
  pass->sequence = room_.sequence + WritesOf(word) + 1;
  DCHECK_LE(pass->sequence, kMaxSequence);
  return true;
}

// Visible writes are durable, which recovery relies on. seq_cst, here and in IsVisible: looked at, after Wait has said
// that it sleeps.
bool WriteLanes::WindowReaches(const Pass& pass) const {
  return pass.sequence <= visible_->load() + kLogWindow || MIODB_MUTATED(kLogWindowUnkept);
}

// No locked instruction comes between the frame's flush and the search for the entry's place, so the frame goes to the
// medium while the search waits for memory.
void WriteLanes::Store(Pass* pass) {
  DCHECK(WindowReaches(*pass));
  room_.memtable->FilterBeside(pass->hash);
  const uint64_t ahead = pass->sequence - 1 - visible_->load(std::memory_order_acquire);  // acquire: what is durable
  room_.frames->WriteBeside(pass->lane, *room_.chunk, pass->offset, &pass->record, pass->sequence, ahead);
}

void WriteLanes::Insert(const Pass& pass) {
  const LogRecord& record = pass.record;
  DCHECK(room_.chunk->Contains(record.place));
  room_.memtable->AddBeside(pass.lane, pass.entry, record.key, PackTag(pass.sequence, record.type), record.place,
                            record.size());
}

// The caller's own stores are durable after it. Frames in front may not be durable yet: Publish waits for their fences.
void WriteLanes::Fence(const Pass& pass) { room_.persist->FenceBeside(pass.lane); }

// The lane is free before the write is finished: when everything is visible, nobody is in a lane. A write that finds
// everybody before it visible is the only one that can go on from there, and needs no slot.
void WriteLanes::Publish(const Pass& pass, const Writer& writer) {
  Lane& lane = lanes_[pass.lane];
  statistics_->lane_user_bytes[pass.lane].AddAlone(writer.user_bytes);
  lane.writes.store(lane.writes.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // relaxed: own
  lane.taken.store(false, std::memory_order_release);  // release: the next one in the lane, or Close, goes on from here
  // acquire: what the one before did is released again with what comes now.
  const uint64_t visible = visible_->load(std::memory_order_acquire);
  if (visible + 1 == pass.sequence || (visible < pass.sequence && MIODB_MUTATED(kVisibleOutOfOrder))) {
    visible_->store(pass.sequence);  // seq_cst: said, before the look at the next slot
  } else {
    SlotOf(pass.sequence).finished.store(pass.sequence);  // seq_cst: said, before the look at visible_
    if (IsVisible(pass)) return;
  }
  MoveOn();
}

// Moves the last sequence on as far as writes are finished. Numbers that a slot holds from earlier rounds are below it.
void WriteLanes::MoveOn() {
  uint64_t visible = visible_->load();  // seq_cst: see Publish
  for (;;) {
    const uint64_t next = visible + 1;
    if (SlotOf(next).finished.load() != next) break;  // seq_cst: see Publish
    // seq_cst: said, before the look at the next slot. On failure somebody else has moved it on.
    if (visible_->compare_exchange_strong(visible, next)) visible = next;
  }
  WakeSleepers();
}

bool WriteLanes::IsVisible(const Pass& pass) const { return visible_->load() >= pass.sequence; }

// seq_cst: what there is to see was said before; pairs with Wait.
void WriteLanes::WakeSleepers() {
  if (sleepers_.load() == 0) [[likely]]
    return;
  wakes_.fetch_add(1);
  FutexWake(&wakes_, INT_MAX);
}

// Looks a while, since those before it are mostly about to end, and sleeps then, since one of them may have lost its
// CPU.
template <typename Done>
void WriteLanes::Wait(Done done) {
  const uint64_t start = NowNanos();
  do {
    for (int i = 0; i < kLooksPerClock; i++) {
      if (done()) return;
      CpuRelax();
    }
  } while (NowNanos() - start < kSpinNanos);
  sleepers_.fetch_add(1);  // seq_cst: said, before the looks below
  for (;;) {
    const int wakes = wakes_.load();
    if (done()) break;
    FutexWait(&wakes_, wakes);
  }
  sleepers_.fetch_sub(1);
}

bool WriteLanes::LanesAreFree() const {
  // seq_cst: pairs with TakeLane and TurnAway
  return std::none_of(lanes_.begin(), lanes_.end(), [](const Lane& lane) { return lane.taken.load(); });
}

void WriteLanes::Open(const Room& room) {
  DCHECK(!open());
  DCHECK(room.frames != nullptr && room.persist != nullptr && room.chunk->in_pool() && !room.memtable->empty());
  DCHECK_EQ(room.sequence, visible_->load());
  CHECK_LT(room.chunk->capacity, kBytesMask);
  room_ = room;
  room_.memtable->BeginBeside(kLogLanes);
  for (Lane& lane : lanes_) lane.writes.store(0, std::memory_order_relaxed);  // relaxed: nobody is in a lane
  // release: publishes room_ to the look at word_ in Enter. relaxed: the leader's own.
  word_.store(room.chunk->used.load(std::memory_order_relaxed), std::memory_order_release);
}

// A write that comes after the bit is set reserves nothing; those before it are waited for, first until all is visible,
// then until those have left that only looked in.
uint64_t WriteLanes::Close() {
  if (!open()) return 0;
  const uint64_t word = word_.fetch_or(kClosed);  // seq_cst: said, before the look at the lanes
  const uint64_t last = room_.sequence + WritesOf(word);
  Wait([&] { return visible_->load() == last && LanesAreFree(); });
  uint64_t sum = 0, most = 0;
  for (const Lane& lane : lanes_) {
    const uint64_t writes = lane.writes.load(std::memory_order_relaxed);  // relaxed: the lane is free, see above
    sum += writes;
    most = std::max(most, writes);
  }
  several_ = sum - most >= sum / 8 && sum > most;
  writers_ = static_cast<size_t>(std::count_if(lanes_.begin(), lanes_.end(), [sum](const Lane& lane) {
    const uint64_t writes = lane.writes.load(std::memory_order_relaxed);  // relaxed: as above
    return writes > 0 && writes >= sum / (2 * kLogLanes);
  }));
  room_.memtable->EndBeside(last);
  room_.chunk->used.store(word & kBytesMask, std::memory_order_relaxed);  // relaxed: see LogChunk::used
  room_ = Room();
  return last;
}

}  // namespace miodb
