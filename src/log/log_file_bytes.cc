// A window over a file. A file of any length, sparse or damaged, is read in pieces of a bounded size.

#include "src/log/log_file_bytes.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "src/util/check/check.h"

namespace miodb {

namespace {

constexpr uint64_t kWindowBytes = 256 * 1024;

}  // namespace

// The size is asked for once: what is appended later is not looked at.
Status LogFileBytes::Open(Env* env, const std::string& path, std::unique_ptr<LogFileBytes>* bytes) {
  uint64_t size;
  RandomAccessFile* opened = nullptr;
  Status s = env->NewRandomAccessFile(path, &opened);
  std::unique_ptr<RandomAccessFile> file(opened);
  if (s.ok()) s = env->GetFileSize(path, &size);
  if (s.ok()) bytes->reset(new LogFileBytes(std::move(file), size));
  return s;
}

// The call reads a window's worth from the offset on, because readers go forward in small steps. A window that has it
// all already is used again. After an error the window is empty, and its reader takes that for the end, with a status.
Slice LogFileBytes::At(uint64_t offset, uint64_t n) {
  // No more than there is, and nothing behind the end.
  n = std::min(n, size_ - std::min(size_, offset));
  const bool inside = offset >= window_begin_ && n <= window_.size() && offset - window_begin_ <= window_.size() - n;
  if (!inside && file_ != nullptr) {
    buffer_.resize(std::max(n, std::min(kWindowBytes, size_ - offset)));
    window_begin_ = offset;
    window_.clear();
    Status s = file_->Read(offset, buffer_.size(), &window_, buffer_.data());
    if (!s.ok()) {
      status_ = s;
      window_.clear();
    }
  }
  DCHECK_GE(offset, window_begin_);
  const uint64_t lead = std::min<uint64_t>(offset - window_begin_, window_.size());
  return Slice(window_.data() + lead, std::min<uint64_t>(n, window_.size() - lead));
}

// A system call for each question, so readers ask where a block is padding and not for each fragment. Files of an Env
// that has no descriptors count as whole.
uint64_t LogFileBytes::SkipHole(uint64_t offset) const {
  const int fd = file_ == nullptr ? -1 : file_->Raw().descriptor;
  if (fd < 0 || offset >= size_) return offset;
  const off_t data = lseek(fd, static_cast<off_t>(offset), SEEK_DATA);
  if (data >= 0) return std::min(size_, static_cast<uint64_t>(data));
  return errno == ENXIO ? size_ : offset;  // there is no more data; or the file system does not know
}

}  // namespace miodb
