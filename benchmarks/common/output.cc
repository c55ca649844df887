#include "benchmarks/common/output.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace miodb::bench {

namespace {

FILE* output = nullptr;    // nullptr: stdout
FILE* messages = nullptr;  // nullptr: stderr

FILE* Duplicate(int stream) {
  const int copy = fcntl(stream, F_DUPFD_CLOEXEC, 0);
  FILE* const file = copy < 0 ? nullptr : fdopen(copy, "w");
  if (file == nullptr && copy >= 0) close(copy);
  return file;
}

}  // namespace

FILE* Output() { return output == nullptr ? stdout : output; }
FILE* Messages() { return messages == nullptr ? stderr : messages; }

std::string KeepOutputApart(const std::string& file) {
  const int apart = open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (apart < 0) return file + ": " + std::strerror(errno);
  std::fflush(stdout);
  FILE* const first = Duplicate(STDOUT_FILENO);
  FILE* const second = Duplicate(STDERR_FILENO);
  if (first != nullptr && second != nullptr) {
    std::setvbuf(second, nullptr, _IONBF, 0);
    output = first;
    messages = second;
    dup2(apart, STDOUT_FILENO);
    dup2(apart, STDERR_FILENO);
  }
  close(apart);
  return messages == nullptr ? file + ": no descriptors are left" : "";
}

}  // namespace miodb::bench
