#include "src/util/files/system_random.h"

#include <sys/random.h>

#include <cerrno>

#include "src/util/check/check.h"

namespace miodb {

// The system gives so few bytes whole or not at all: not before it has gathered enough chance after it was started, and
// then a signal may end the wait.
uint64_t SystemRandom64() {
  uint64_t number = 0;
  while (getrandom(&number, sizeof(number), 0) != sizeof(number)) CHECK_EQ(errno, EINTR);
  return number;
}

}  // namespace miodb
