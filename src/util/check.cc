#include "src/util/check.h"

#include <cstdio>
#include <cstdlib>

namespace miodb {
namespace check_internal {

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
