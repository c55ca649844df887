// Holds a thread in the middle of a call, so that a test sees what the others do meanwhile.

#ifndef MIODB_TESTS_FAULTS_GATE_H_
#define MIODB_TESTS_FAULTS_GATE_H_

#include <atomic>
#include <chrono>
#include <future>

namespace miodb::test {

// How long a test waits for what has to happen while a thread is held.
inline constexpr std::chrono::seconds kForEver(60);

// Holds the thread that comes here first until it is released.
class Gate {
 public:
  ~Gate() { Release(); }

  void Pass() {
    if (held_.exchange(true)) return;
    arrived_.set_value();
    release_.get_future().wait();
  }
  void WaitUntilHeld() { arrived_.get_future().wait(); }
  void Release() {
    if (!released_.exchange(true)) release_.set_value();
  }

 private:
  std::promise<void> arrived_, release_;
  std::atomic<bool> held_{false}, released_{false};
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_FAULTS_GATE_H_
