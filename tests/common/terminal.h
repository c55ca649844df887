// A program on a terminal of its own, as a person sits before it.

#ifndef MIODB_TESTS_COMMON_TERMINAL_H_
#define MIODB_TESTS_COMMON_TERMINAL_H_

#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include <cstring>
#include <string>

namespace miodb::test {

class Terminal {
 public:
  static constexpr char kCtrlC = '\x03';
  static constexpr char kCtrlD = '\x04';

  // Runs a command of the shell, which should begin with "exec".
  explicit Terminal(const std::string& command) {
    winsize size{24, 80, 0, 0};
    if (openpty(&master_, &slave_, nullptr, nullptr, &size) != 0) return;
    tcgetattr(slave_, &mode_);
    process_ = fork();
    if (process_ != 0) return;
    close(master_);
    login_tty(slave_);
    setenv("TERM", "xterm", 1);
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }

  ~Terminal() {
    if (process_ > 0) {
      kill(process_, SIGKILL);
      waitpid(process_, nullptr, 0);
    }
    close(master_);
    close(slave_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void Send(const std::string& keys) {
    if (write(master_, keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) text_ += "[not sent]";
  }
  void Send(char key) { Send(std::string(1, key)); }
  void Kill(int signal) { kill(process_, signal); }

  // Reads until this has come behind what was waited for before. False if the program ends without it, or is silent for
  // a minute.
  bool WaitFor(const std::string& what) {
    for (int silent = 0; silent < kMaxSilent; silent++) {
      const size_t at = text_.find(what, seen_);
      if (at != std::string::npos) {
        seen_ = at + what.size();
        return true;
      }
      if (ReadSome(100)) {
        silent = -1;
      } else if (HasEnded()) {
        return text_.find(what, seen_) != std::string::npos;
      }
    }
    return false;
  }

  // Reads the output until the program ends. Returns the exit code, or 1000 and the signal that ended it, or -1 after a
  // minute of silence.
  int Wait() {
    for (int silent = 0; silent < kMaxSilent; silent++) {
      if (ReadSome(100)) {
        silent = -1;
      } else if (HasEnded()) {
        return WIFEXITED(status_) ? WEXITSTATUS(status_) : 1000 + WTERMSIG(status_);
      }
    }
    return -1;
  }

  const std::string& text() const { return text_; }
  bool Says(const std::string& what) const { return text_.find(what) != std::string::npos; }

  // Whether the terminal is as it was before the program.
  bool IsAsBefore() const {
    termios now;
    return tcgetattr(slave_, &now) == 0 && now.c_iflag == mode_.c_iflag && now.c_oflag == mode_.c_oflag &&
           now.c_cflag == mode_.c_cflag && now.c_lflag == mode_.c_lflag &&
           memcmp(now.c_cc, mode_.c_cc, sizeof(now.c_cc)) == 0;
  }

 private:
  static constexpr int kMaxSilent = 600;  // looks of 100 ms

  bool ReadSome(int milliseconds) {
    pollfd wait{master_, POLLIN, 0};
    if (poll(&wait, 1, milliseconds) <= 0 || (wait.revents & POLLIN) == 0) return false;
    char buffer[4096];
    const ssize_t n = read(master_, buffer, sizeof(buffer));
    if (n <= 0) return false;
    text_.append(buffer, static_cast<size_t>(n));
    return true;
  }

  // The program may have written between the last read and its end, so the rest is read behind the end.
  bool HasEnded() {
    if (process_ > 0 && waitpid(process_, &status_, WNOHANG) != process_) return false;
    process_ = -1;
    while (ReadSome(0)) {
    }
    return true;
  }

  int master_ = -1;
  int slave_ = -1;
  pid_t process_ = -1;
  int status_ = 0;
  termios mode_ = {};
  std::string text_;
  size_t seen_ = 0;  // what was waited for ends here
};

}  // namespace miodb::test

#endif  // MIODB_TESTS_COMMON_TERMINAL_H_
