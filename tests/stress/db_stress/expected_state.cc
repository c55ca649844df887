#include "tests/stress/db_stress/expected_state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace miodb::test {

void ExpectedState::StartRound() {
  phase.store(StressPhase::kStarting);
  stop.store(false);
  closed.store(false);
  clock.store(0);
  flushed.store(0);
  for (int w = 0; w < kMaxStressWriters; w++) {
    for (uint64_t n = 0; n <= kMaxStressOperations && (n <= writers[w].begun.load() + 1); n++) {
      times[w][n].begun.store(0);
      times[w][n].ended.store(0);
    }
    writers[w].begun.store(0);
  }
}

void ExpectedState::TakeOver(uint32_t unit_count) {
  for (uint32_t unit = 0; unit < unit_count; unit++) {
    UnitState& state = units[unit];
    state.base_current = state.verified_current;
    state.base_last = state.verified_last;
    state.begun.store(state.base_last);
    state.committed.store(state.base_current);
  }
}

void ExpectedState::StartGeneration() {
  for (UnitState& state : units) state.verified_current = state.verified_last = 0;
  TakeOver(kMaxStressUnits);
}

ExpectedState* ExpectedState::Map(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  void* memory = MAP_FAILED;
  if (fd >= 0 && ftruncate(fd, sizeof(ExpectedState)) == 0) {
    memory = mmap(nullptr, sizeof(ExpectedState), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (memory == MAP_FAILED) {
    std::perror(path.c_str());
    std::exit(2);
  }
  close(fd);
  return static_cast<ExpectedState*>(memory);
}

}  // namespace miodb::test
