#include "src/util/check/check.h"

#include <cstdio>
#include <cstdlib>

namespace miodb {
namespace check_internal {

// The process ends: what is broken is an invariant of the engine itself, and the next store might spread it to the
// pool. An open afterwards finds what a crash leaves. The message goes to stderr, because nobody will ask for a status
// any more.
void Fail(const char* file, int line, const char* expression, const std::string& values) {
  if (values.empty()) {
    std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, expression);
  } else {
    std::fprintf(stderr, "%s:%d: check failed: %s (%s)\n", file, line, expression, values.c_str());
  }
  std::abort();
}

std::string FormatPointer(const void* p) {
  char buffer[32];
  std::snprintf(buffer, sizeof(buffer), "%p", p);
  return buffer;
}

}  // namespace check_internal
}  // namespace miodb
