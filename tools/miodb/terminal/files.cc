#include "tools/miodb/terminal/files.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "benchmarks/common/interrupt.h"
#include "src/util/files/posix_file.h"

namespace miodb::tool {

namespace {

constexpr size_t kPieceBytes = 64 * 1024;

}  // namespace

Output::Output() : descriptor_(STDOUT_FILENO) {}

Output::Output(const std::string& path) : path_(path), descriptor_(-1) {
  if (Exists(path)) {
    SetFailed(path + ": exists; give another name, or remove it");
    return;
  }
  descriptor_ = open(Unfinished(path).c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ >= 0) return;
  SetFailed(Unfinished(path) + ": " + strerror(errno) +
            (errno == EEXIST ? "; it was left by an export that was cut off: remove it" : ""));
}

Output::~Output() {
  if (path_.empty() || descriptor_ < 0) return;
  close(descriptor_);
  unlink(Unfinished(path_).c_str());
}

void Output::SetFailed(const std::string& what) {
  state_ = State::kFailed;
  error_ = what;
}

void Output::Write(std::string_view text) {
  if (state_ != State::kOpen) return;
  buffer_ += text;
  if (buffer_.size() >= kPieceBytes) Flush();
}

void Output::Flush() {
  for (size_t done = 0; state_ == State::kOpen && done < buffer_.size();) {
    if (!bench::Interrupt::Wait(descriptor_, POLLOUT)) {
      state_ = State::kInterrupted;
      break;
    }
    const ssize_t n = write(descriptor_, buffer_.data() + done, std::min(buffer_.size() - done, kPieceBytes));
    if (n >= 0) {
      done += static_cast<size_t>(n);
    } else if (errno == EPIPE) {
      state_ = State::kReaderGone;
    } else if (errno != EINTR && errno != EAGAIN) {
      SetFailed((path_.empty() ? "standard output" : path_) + ": " + strerror(errno) +
                (errno == ENOSPC ? "; make room there, or write elsewhere" : ""));
    }
  }
  buffer_.clear();
}

int Output::Finish(const Call& call, int code) {
  Flush();
  if (state_ == State::kOpen && !path_.empty() && !bench::Interrupt::StopRequested()) {
    Status s;
    if (fsync(descriptor_) != 0) s = Status::IOError(path_, strerror(errno));
    if (s.ok()) s = GiveName(Unfinished(path_), path_);
    if (!s.ok()) {
      SetFailed(s.ToString());
    } else {
      close(descriptor_);
      descriptor_ = -1;
    }
  }
  if (state_ == State::kFailed) return Fail(call, error_);
  if (state_ == State::kReaderGone) return kFailed;
  return CodeAfter(code);
}

Input::Input(const std::string& path)
    : path_(path == "-" ? "standard input" : path),
      descriptor_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  struct stat st;
  if (descriptor_ < 0 || fstat(descriptor_, &st) != 0) {
    status_ = Status::IOError(path_, strerror(errno));
  } else if (S_ISREG(st.st_mode)) {
    bytes_ = static_cast<uint64_t>(st.st_size);
  }
}

Input::~Input() {
  if (descriptor_ > STDERR_FILENO) close(descriptor_);
}

bool Input::Fill() {
  if (!status_.ok() || at_end_ || !bench::Interrupt::Wait(descriptor_, POLLIN)) return false;
  if (begin_ > 0) {
    buffer_.erase(0, begin_);
    begin_ = 0;
  }
  const size_t before = buffer_.size();
  buffer_.resize(before + kPieceBytes);
  const ssize_t n = read(descriptor_, buffer_.data() + before, kPieceBytes);
  buffer_.resize(before + (n > 0 ? static_cast<size_t>(n) : 0));
  if (n < 0) status_ = Status::IOError(path_, strerror(errno));
  at_end_ = n == 0;
  bytes_read_ += n > 0 ? static_cast<uint64_t>(n) : 0;
  return n > 0;
}

bool Input::ReadLine(std::string_view* line) {
  size_t looked = 0;  // bytes that have no newline
  for (;;) {
    const size_t newline = buffer_.find('\n', begin_ + looked);
    if (newline != std::string::npos) {
      *line = std::string_view(buffer_).substr(begin_, newline - begin_);
      begin_ = newline + 1;
      return true;
    }
    looked = buffer_.size() - begin_;
    if (Fill()) continue;
    if (!at_end_ || looked == 0) return false;
    *line = std::string_view(buffer_).substr(begin_);  // the last line, without a newline
    begin_ = buffer_.size();
    return true;
  }
}

bool Input::ReadAll(uint64_t most, std::string* text) {
  while (buffer_.size() - begin_ <= most && Fill()) {
  }
  if (buffer_.size() - begin_ > most) {
    status_ = Status::InvalidArgument(path_, "has more than " + std::to_string(most) + " bytes");
  }
  *text = buffer_.substr(begin_);
  return status_.ok() && at_end_;
}

double Input::ShareRead() const {
  return bytes_ == 0 ? 0 : static_cast<double>(bytes_read_) / static_cast<double>(bytes_);
}

bool Exists(const std::string& path) {
  struct stat st;
  return lstat(path.c_str(), &st) == 0;
}

bool IsDirectory(const std::string& path) {
  struct stat st;
  return stat(path.c_str(), &st) == 0 && S_ISDIR(st.st_mode);
}

std::vector<std::string> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  DIR* const d = opendir(directory.c_str());
  if (d == nullptr) return names;
  while (const dirent* entry = readdir(d)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  closedir(d);
  return names;
}

bool IsReplaceable(const std::string& directory) {
  const std::string path = WithoutLastSlashes(directory);
  struct statx own;
  return statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_TYPE, &own) == 0 && S_ISDIR(own.stx_mode) &&
         (own.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0;
}

std::string WithoutLastSlashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

std::string Unfinished(const std::string& path) { return WithoutLastSlashes(path) + ".unfinished"; }

// A rename of a directory takes the place of an empty one, and of nothing else.
Status GiveName(const std::string& unfinished, const std::string& given) {
  const std::string path = WithoutLastSlashes(given);
  int result = RenameToNew(unfinished, path);
  if (result != 0 && errno == EEXIST && IsDirectory(unfinished)) result = rename(unfinished.c_str(), path.c_str());
  if (result != 0) {
    if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR) {
      return Status::InvalidArgument(path, "has come to be meanwhile: the result was removed");
    }
    return Status::IOError(path, strerror(errno));
  }
  return SyncDirectoryOf(path);
}

}  // namespace miodb::tool
