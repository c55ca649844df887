// How turns begin, go from writer to writer, and end. Everything is advice: a race makes a turn longer or shorter.

#include "src/db/write/write_turns.h"

#include "src/util/check/check.h"
#include "src/util/clock/clock.h"

namespace miodb {

namespace {

// The address of the mark tells threads apart.
const void* ThisThread() {
  thread_local const char mark = 0;
  return &mark;
}

}  // namespace

// A writer that cannot have the mutex at once goes on without being counted: meetings are many, and this must not
// become one more place to meet.
void WriteTurns::NoteMeeting() {
  if (!mutex_.TryLock()) return;
  const uint64_t now = NowNanos();
  if (now - meetings_since_ > kTurnNanos) {
    meetings_since_ = now;
    meetings_ = 0;
  }
  meetings_++;
  if (meetings_ >= kManyPuts) {
    meetings_ = 0;
    Begin(ThisThread(), now);
    idle_turns_ = 0;
    taken_.store(true, std::memory_order_relaxed);  // relaxed: advice
  }
  mutex_.Unlock();
}

// A turn whose holder is null belongs to the writer that was just woken and has not run yet.
void WriteTurns::Begin(const void* holder, uint64_t now) {
  // relaxed, all three: advice
  puts_.store(0, std::memory_order_relaxed);
  end_nanos_.store(now + kTurnNanos, std::memory_order_relaxed);
  holder_.store(holder, std::memory_order_relaxed);
}

// Everybody who waits is woken, because without turns nobody passes one on.
void WriteTurns::End() {
  taken_.store(false, std::memory_order_relaxed);  // relaxed: advice
  for (Waiter* waiter : waiting_) waiter->mine.Signal();
}

// A holder counts its puts without the mutex. A writer that waits sleeps until the turn of the writer before it must be
// over, so a holder that goes away delays the others by a turn and no more.
void WriteTurns::WaitForTurn() {
  const void* const me = ThisThread();
  uint64_t now = NowNanos();
  // relaxed, here and below: what matters was written by this thread, or comes with the mutex
  if (holder_.load(std::memory_order_relaxed) == me && now < end_nanos_.load(std::memory_order_relaxed)) {
    puts_.store(puts_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  MutexLock lock(&mutex_);
  if (!taken()) return;
  Waiter self(&mutex_);
  waiting_.push_back(&self);
  while (taken() && !self.has_turn) {
    DCHECK(!waiting_.empty() && idle_turns_ < kIdleTurns);
    now = NowNanos();
    const uint64_t end = end_nanos_.load(std::memory_order_relaxed);
    // The holder passes the turn on. Where it has gone away, the next one notices; the others need not wake up for it.
    const uint64_t grace = holder_.load(std::memory_order_relaxed) == me ? 0
                           : waiting_.front() == &self                   ? kGraceNanos
                                                                         : waiting_.size() * kTurnNanos;
    const uint64_t until = end + grace;
    if (now < until) {
      self.mine.TimedWait((until - now) / 1000 + 1);
      continue;
    }
    // The turn is over.
    idle_turns_ = puts_.load(std::memory_order_relaxed) < kManyPuts ? idle_turns_ + 1 : 0;
    if (idle_turns_ == kIdleTurns || waiting_.size() == 1 || !Short(waiting_.size())) {
      End();
      break;
    }
    Waiter* const next = waiting_.front();
    waiting_.pop_front();
    next->has_turn = true;
    Begin(nullptr, now);
    next->mine.Signal();
  }
  if (self.has_turn) {
    Begin(me, NowNanos());  // anew, as waking up took its time
  } else {
    std::erase(waiting_, &self);
  }
}

}  // namespace miodb
