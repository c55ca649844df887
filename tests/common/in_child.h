// Runs a part of a test in a child process, so that a signal ends that alone.

#ifndef MIODB_TESTS_COMMON_IN_CHILD_H_
#define MIODB_TESTS_COMMON_IN_CHILD_H_

#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace miodb::test {

// Exit status of a child process that runs this, or 1000 and the signal that ended it.
inline int InChild(const std::function<int()>& run) {
  const pid_t child = fork();
  if (child == 0) _exit(run());
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_IN_CHILD_H_
