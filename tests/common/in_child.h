// Runs a part of a test in a child process, so that a signal ends that alone.
//
// Threads: one. What a child has opened is its own, and gone with it.

#ifndef MIODB_TESTS_COMMON_IN_CHILD_H_
#define MIODB_TESTS_COMMON_IN_CHILD_H_

#include <signal.h>
#include <sys/types.h>
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

// A child process that has done something and waits until it is killed: for what a crash leaves, or what it holds.
class WaitingChild {
 public:
  // run: what the child does; true if all went well.
  explicit WaitingChild(const std::function<bool()>& run) {
    int told[2];
    if (pipe(told) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      if (!run() || write(told[1], "x", 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(told[1]);
    char byte;
    waits_ = child_ > 0 && read(told[0], &byte, 1) == 1;
    close(told[0]);
  }
  ~WaitingChild() { Kill(); }
  WaitingChild(const WaitingChild&) = delete;
  WaitingChild& operator=(const WaitingChild&) = delete;

  // Whether it has done all of it.
  bool waits() const { return waits_; }

  // False if it was not this that ended it.
  bool Kill() {
    if (child_ <= 0) return false;
    kill(child_, SIGKILL);
    int status = 0;
    const bool ended = waitpid(child_, &status, 0) == child_;
    child_ = -1;
    return ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  pid_t child_ = -1;
  bool waits_ = false;
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_IN_CHILD_H_
