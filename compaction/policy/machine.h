// Machine: a state that changes by events, along moves that are listed.

#ifndef MIODB_COMPACTION_POLICY_MACHINE_H_
#define MIODB_COMPACTION_POLICY_MACHINE_H_

#include <array>
#include <cstddef>

#include "src/util/check/check.h"

namespace miodb {

template <typename State, typename Event>
struct Move {
  State from;
  Event event;
  State to;
};

// Whether no state has two moves for one event.
template <typename State, typename Event, size_t kMoves>
constexpr bool IsDeterministic(const std::array<Move<State, Event>, kMoves>& moves) {
  for (size_t i = 0; i < kMoves; i++) {
    for (size_t j = 0; j < i; j++) {
      if (moves[i].from == moves[j].from && moves[i].event == moves[j].event) return false;
    }
  }
  return true;
}

// Whether the first state is reached again from every state, so that none is the last.
template <typename State, typename Event, size_t kMoves>
constexpr bool AllComeBack(const std::array<Move<State, Event>, kMoves>& moves) {
  std::array<bool, kMoves> back = {};  // of the state that the move leads to
  for (size_t i = 0; i < kMoves; i++) back[i] = moves[i].to == moves[0].from;
  for (size_t round = 0; round < kMoves; round++) {
    for (size_t i = 0; i < kMoves; i++) {
      for (size_t j = 0; j < kMoves; j++) back[i] = back[i] || (moves[j].from == moves[i].to && back[j]);
    }
  }
  for (const bool comes_back : back) {
    if (!comes_back) return false;
  }
  return true;
}

// Threads: none of its own; the owner's lock guards it. An event that has no move from the present state is a fault of
// the program, and ends it.
template <typename State, typename Event, size_t kMoves>
class Machine {
  static_assert(kMoves > 0);  // the first move says which state is the first

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

#endif  // MIODB_COMPACTION_POLICY_MACHINE_H_
