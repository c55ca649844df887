// Quiet: whether writers are quiet, and how far a database has settled by itself since they are.
//
// After a while without a write, what is left in the elastic buffer is merged although nothing is due and nobody waits
// for it. A write ends that: the job that runs is given up, and the next attempt wants twice as long a silence, until a
// job was installed. So what is written in vain is at most what one job writes for each such doubling.
//
// No clock is inside: time is an argument. Threads: none of its own; the owner's lock guards it.

#ifndef MIODB_COMPACTION_POLICY_QUIET_H_
#define MIODB_COMPACTION_POLICY_QUIET_H_

#include <algorithm>
#include <cstdint>

#include "compaction/policy/machine.h"
#include "src/util/check/check.h"

namespace miodb {

// Writers write; they are quiet, and there may be something to settle; nothing is left that is worth it; a job settles;
// a job settles that a write has disturbed, and which ends soon.
enum class QuietState { kWriting, kQuiet, kResting, kSettling, kDisturbed };

// A write was seen; none was for long enough; another job or a flush was installed, or space was added; no job was
// found; a job begins; it was installed, given up because of a write, or it found no space or failed.
enum class QuietEvent { kWrite, kElapsed, kChanged, kNothing, kBegin, kInstalled, kGivenUp, kRefused };

inline constexpr std::array<Move<QuietState, QuietEvent>, 27> kQuietMoves = {{
    {QuietState::kWriting, QuietEvent::kWrite, QuietState::kWriting},
    {QuietState::kWriting, QuietEvent::kElapsed, QuietState::kQuiet},
    {QuietState::kWriting, QuietEvent::kChanged, QuietState::kWriting},
    {QuietState::kWriting, QuietEvent::kNothing, QuietState::kWriting},
    {QuietState::kQuiet, QuietEvent::kWrite, QuietState::kWriting},
    {QuietState::kQuiet, QuietEvent::kElapsed, QuietState::kQuiet},
    {QuietState::kQuiet, QuietEvent::kChanged, QuietState::kQuiet},
    {QuietState::kQuiet, QuietEvent::kNothing, QuietState::kResting},
    {QuietState::kQuiet, QuietEvent::kBegin, QuietState::kSettling},
    {QuietState::kResting, QuietEvent::kWrite, QuietState::kWriting},
    {QuietState::kResting, QuietEvent::kElapsed, QuietState::kResting},
    {QuietState::kResting, QuietEvent::kChanged, QuietState::kQuiet},
    {QuietState::kResting, QuietEvent::kNothing, QuietState::kResting},
    {QuietState::kSettling, QuietEvent::kWrite, QuietState::kDisturbed},
    {QuietState::kSettling, QuietEvent::kElapsed, QuietState::kSettling},
    {QuietState::kSettling, QuietEvent::kChanged, QuietState::kSettling},
    {QuietState::kSettling, QuietEvent::kNothing, QuietState::kSettling},
    {QuietState::kSettling, QuietEvent::kInstalled, QuietState::kQuiet},
    {QuietState::kSettling, QuietEvent::kGivenUp, QuietState::kWriting},
    {QuietState::kSettling, QuietEvent::kRefused, QuietState::kResting},
    {QuietState::kDisturbed, QuietEvent::kWrite, QuietState::kDisturbed},
    {QuietState::kDisturbed, QuietEvent::kElapsed, QuietState::kDisturbed},
    {QuietState::kDisturbed, QuietEvent::kChanged, QuietState::kDisturbed},
    {QuietState::kDisturbed, QuietEvent::kNothing, QuietState::kDisturbed},
    {QuietState::kDisturbed, QuietEvent::kInstalled, QuietState::kWriting},
    {QuietState::kDisturbed, QuietEvent::kGivenUp, QuietState::kWriting},
    {QuietState::kDisturbed, QuietEvent::kRefused, QuietState::kWriting},
}};
static_assert(IsDeterministic(kQuietMoves) && AllComeBack(kQuietMoves));

struct QuietPolicy {
  // A silence of writers this long begins the settling; 0: it never does.
  uint64_t settle_after_micros = 1000 * 1000;

  // The silence is doubled for each job that was given up, so often at most: a database into which somebody writes now
  // and then stops trying, and one that has fallen silent for good need not wait for ever.
  int most_doublings = 10;

  // A run is merged with those newer than it only if it has at most so many times their entries. Each byte that is
  // written by itself thus settles its share of what users wrote, however large the database is.
  uint64_t growth = 8;
};

class Quiet {
 public:
  explicit Quiet(const QuietPolicy& policy) : policy_(policy) {
    CHECK(policy_.most_doublings >= 0 && policy_.most_doublings < 20);
    CHECK_LE(policy_.settle_after_micros, UINT64_MAX >> 20);
  }

  // The last write at this time.
  void See(uint64_t sequence, uint64_t now_micros) {
    CHECK(sequence >= sequence_ && now_micros >= sequence_micros_);
    if (sequence != sequence_) {
      sequence_ = sequence;
      sequence_micros_ = now_micros;
      state_.On(QuietEvent::kWrite);
    } else if (policy_.settle_after_micros > 0 && SilentMicros(now_micros) >= WaitMicros()) {
      state_.On(QuietEvent::kElapsed);
    }
  }

  uint64_t sequence() const { return sequence_; }
  uint64_t SilentMicros(uint64_t now_micros) const {
    CHECK_GE(now_micros, sequence_micros_);
    return now_micros - sequence_micros_;
  }

  // The silence that begins the settling now.
  uint64_t WaitMicros() const {
    DCHECK(given_up_ >= 0 && given_up_ <= policy_.most_doublings);
    return policy_.settle_after_micros << given_up_;
  }

  // Something may have come that is worth a job; a look for one found none.
  void Changed() { state_.On(QuietEvent::kChanged); }
  // True: the database rests from now on.
  bool FoundNothing() {
    const bool quiet = MaySettle();
    state_.On(QuietEvent::kNothing);
    return quiet;
  }

  void Begin() {
    CHECK(MaySettle() && policy_.settle_after_micros > 0);
    state_.On(QuietEvent::kBegin);
  }

  // event: how the job ended.
  void End(QuietEvent event) {
    CHECK(event == QuietEvent::kInstalled || event == QuietEvent::kGivenUp || event == QuietEvent::kRefused);
    CHECK(running());
    state_.On(event);
    if (event == QuietEvent::kInstalled) given_up_ = 0;
    if (event == QuietEvent::kGivenUp) given_up_ = std::min(given_up_ + 1, policy_.most_doublings);
  }

  // Nothing was written since this sequence for long enough, and nothing is left to do.
  bool RestsAt(uint64_t sequence) const { return state_ == QuietState::kResting && sequence == sequence_; }

  // A job of its own may begin.
  bool MaySettle() const { return state_ == QuietState::kQuiet; }
  bool running() const { return state_ == QuietState::kSettling || state_ == QuietState::kDisturbed; }
  bool disturbed() const { return state_ == QuietState::kDisturbed; }

 private:
  const QuietPolicy policy_;
  Machine<QuietState, QuietEvent, kQuietMoves.size()> state_{&kQuietMoves};
  uint64_t sequence_ = 0;         // of the last write that was seen
  uint64_t sequence_micros_ = 0;  // when it was new
  int given_up_ = 0;              // jobs, one after the other
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_POLICY_QUIET_H_
