// Machine: a state that changes by events, along moves that are listed.

#ifndef MIODB_COMPACTION_MACHINE_H_
#define MIODB_COMPACTION_MACHINE_H_

#include <array>
#include <cstddef>

#include "src/util/check.h"

namespace miodb {

template <typename State, typename Event>
struct Move {
  State from;
  Event event;
  State to;
};

// Threads: none of its own; the owner's lock guards it. An event that has no move from the present state is a fault of
// the program, and ends it.
template <typename State, typename Event, size_t kMoves>
class Machine {
 public:
  using Moves = std::array<Move<State, Event>, kMoves>;

  explicit constexpr Machine(const Moves* moves) : moves_(moves), state_((*moves)[0].from) {}

  State state() const { return state_; }
  bool operator==(State state) const { return state_ == state; }

  void On(Event event) {
    for (const Move<State, Event>& move : *moves_) {
      if (move.from != state_ || move.event != event) continue;
      state_ = move.to;
      return;
    }
    CHECK(false);
  }

 private:
  const Moves* const moves_;  // the first begins with the first state
  State state_;
};

}  // namespace miodb

#endif  // MIODB_COMPACTION_MACHINE_H_
