// Where descriptors are born: MakeDescriptor runs every system call of the library that makes one, and none of them is
// below 3.
//
// A process that was started with standard input, output or error closed gets the lowest free number for the next file
// that it opens. Were that file the pool, the program's next message to stderr would overwrite the pool's head. So the
// free numbers below 3 are filled before: with a descriptor that can neither be read nor written (O_PATH), which
// answers as a closed one does and is closed in programs that the process starts. The fillings stay until the program
// replaces or closes them. Programs of ours fill once, at the begin of main.
//
// Threads: any. The program must not close a standard descriptor while another thread of it opens something: the number
// might be given to that.

#ifndef MIODB_SRC_UTIL_FILES_DESCRIPTORS_H_
#define MIODB_SRC_UTIL_FILES_DESCRIPTORS_H_

#include <fcntl.h>
#include <unistd.h>

#include <type_traits>

namespace miodb {

// Fills the standard descriptors that are closed. False, with errno, if there is no descriptor to be had for that. The
// system gives out the lowest free number. Where another thread was faster this filling gets another number, and goes.
inline bool FillStandardDescriptors() {
  for (int standard = STDIN_FILENO; standard <= STDERR_FILENO; standard++) {
    if (::fcntl(standard, F_GETFD) >= 0) continue;
    const int filling = ::open("/", O_PATH | O_CLOEXEC);
    if (filling < 0) return false;
    if (filling > STDERR_FILENO) ::close(filling);
  }
  return true;
}

// Runs make, a call that makes a descriptor, or an object with one inside. Without descriptors for the filling nothing
// is made: a number is -1 with errno, an object is empty.
template <typename Make>
auto MakeDescriptor(Make make) -> decltype(make()) {
  using Made = decltype(make());
  if (FillStandardDescriptors()) return make();
  if constexpr (std::is_integral_v<Made>) return -1;
  return Made();
}

}  // namespace miodb

#endif  // MIODB_SRC_UTIL_FILES_DESCRIPTORS_H_
