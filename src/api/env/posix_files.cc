#include "src/api/env/posix_files.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <utility>

#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"
#include "src/util/files/file_size_limit.h"

// Reading, writing and logging by plain system calls. A call that a signal interrupts is made again.

namespace miodb {

namespace {

// Small appends are gathered up to this size, so that a record of some bytes costs no system call.
constexpr size_t kWriteBufferBytes = 64 * 1024;

// Reads n bytes, or fewer at the end of the file, by calls of read(to, bytes, done so far): a pipe or a network file
// system may give less than there is.
template <typename ReadSome>
Status ReadAll(const std::string& fname, size_t n, Slice* result, char* scratch, ReadSome read) {
  size_t done = 0;
  while (done < n) {
    const ssize_t got = Retry([&] { return read(scratch + done, n - done, done); });
    if (got < 0) {
      *result = Slice();
      return PosixError(fname, errno);
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  DCHECK_LE(done, n);
  *result = Slice(scratch, done);
  return Status::OK();
}

// A write may take less than it was given; the rest is written by further ones. False, with errno, if one fails.
bool WriteAll(int fd, const char* p, size_t n) {
  const NoFileSizeSignal no_signal;
  while (n > 0) {
    const ssize_t written = Retry([&] { return ::write(fd, p, n); });
    if (written == 0) errno = EIO;  // or the loop would not end
    if (written <= 0) return false;
    DCHECK_LE(static_cast<size_t>(written), n);
    p += written;
    n -= static_cast<size_t>(written);
  }
  return true;
}

// "2024-01-31T13:05:09.123456Z 4711 ": UTC and the thread's number.
int FormatPrefix(char* dst, size_t size) {
  DCHECK_GT(size, 0u);
  struct timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  struct tm utc;
  ::gmtime_r(&now.tv_sec, &utc);
  return std::snprintf(dst, size, "%04d-%02d-%02dT%02d:%02d:%02d.%06ldZ %ld ", utc.tm_year + 1900, utc.tm_mon + 1,
                       utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, now.tv_nsec / 1000,
                       static_cast<long>(::syscall(SYS_gettid)));
}

}  // namespace

// The system keeps the place in the file, so a read goes on where the last one, or a Skip, has ended.
Status PosixSequentialFile::Read(size_t n, Slice* result, char* scratch) {
  return ReadAll(fname_, n, result, scratch,
                 [this](char* to, size_t bytes, size_t) { return ::read(fd_.get(), to, bytes); });
}

// A place behind the end is no error here; the next read finds nothing there.
Status PosixSequentialFile::Skip(uint64_t n) {
  if (::lseek(fd_.get(), static_cast<off_t>(n), SEEK_CUR) < 0) return PosixError(fname_, errno);
  return Status::OK();
}

// pread has no place that threads would share, so any number of them read at once.
Status PosixRandomAccessFile::Read(uint64_t offset, size_t n, Slice* result, char* scratch) const {
  return ReadAll(fname_, n, result, scratch, [this, offset](char* to, size_t bytes, size_t done) {
    return ::pread(fd_.get(), to, bytes, static_cast<off_t>(offset + done));
  });
}

PosixWritableFile::PosixWritableFile(std::string fname, Descriptor fd, FullDisk full)
    : PosixWritable(std::move(fname), std::move(fd), full), buffer_(new char[kWriteBufferBytes]) {}

// A caller that did not close the file does not need to know what became of the last bytes.
PosixWritableFile::~PosixWritableFile() {
  if (fd_.valid()) Close().IgnoreError();
}

// Bytes in the buffer are lost with the process; Flush brings them to the system, Sync to the medium.
Status PosixWritableFile::Append(const Slice& data) {
  Status s = Writable();
  if (!s.ok()) return s;
  DCHECK_LE(used_, kWriteBufferBytes);
  const char* p = data.data();
  size_t left = data.size();
  const size_t fits = std::min(left, kWriteBufferBytes - used_);
  std::memcpy(&buffer_[used_], p, fits);
  used_ += fits;
  p += fits;
  left -= fits;
  if (left == 0) return Status::OK();

  // The buffer is full. Bytes that would fill the buffer again go to the file directly.
  s = Flush();
  if (!s.ok()) return s;
  DCHECK_EQ(used_, 0u);
  if (left >= kWriteBufferBytes) return WriteOut(p, left);
  std::memcpy(&buffer_[0], p, left);
  used_ = left;
  return Status::OK();
}

// The buffer counts as empty before it is written: after a failure nothing of it is written a second time.
Status PosixWritableFile::Flush() {
  DCHECK_LE(used_, kWriteBufferBytes);
  Status s = Writable();
  if (!s.ok()) return s;
  const size_t n = std::exchange(used_, 0);
  return WriteOut(&buffer_[0], n);
}

// Begins to write a range back and does not wait, so that the sync to come finds little left to do. RangeSync makes
// nothing durable.
Status PosixWritableFile::RangeSync(uint64_t offset, uint64_t size) {
  Status s = Flush();
  if (!s.ok()) return s;
  const auto from = static_cast<off64_t>(offset), length = static_cast<off64_t>(size);
  if (Retry([&] { return ::sync_file_range(fd_.get(), from, length, SYNC_FILE_RANGE_WRITE); }) == 0) return s;
  // File systems without it lose nothing but time.
  return errno == ENOSYS || errno == EINVAL || errno == ESPIPE ? s : Keep(PosixError(fname_, errno));
}

// The first error is kept for good.
Status PosixWritableFile::WriteOut(const char* p, size_t n) {
  return WriteAll(fd_.get(), p, n) ? Status::OK() : Keep(RoomError(fname_, errno, full_));
}

// The message is measured, then printed: the length of a line has no bound. The line ends with one newline, whether the
// caller gave a newline or not.
void PosixLogger::Logv(const char* format, std::va_list ap) {
  char prefix[96];
  const int prefix_length = FormatPrefix(prefix, sizeof(prefix));
  CHECK(prefix_length > 0 && static_cast<size_t>(prefix_length) < sizeof(prefix));

  // A list of arguments can be walked once, so the measuring takes a copy.
  std::va_list measured;
  va_copy(measured, ap);
  const int length = std::vsnprintf(nullptr, 0, format, measured);
  va_end(measured);
  if (length < 0) return;  // a format that cannot be printed; there is nobody to tell

  std::string line;
  const auto make_room = [&] {
    line.assign(prefix, static_cast<size_t>(prefix_length));
    line.resize(line.size() + static_cast<size_t>(length) + 1);  // one more for the final zero
    return Status::OK();
  };
  if (!NoThrow("log", make_room).ok()) return;  // a message less
  std::vsnprintf(&line[static_cast<size_t>(prefix_length)], static_cast<size_t>(length) + 1, format, ap);
  line.pop_back();
  if (line.back() != '\n') line.push_back('\n');

  static_cast<void>(WriteAll(fd_.get(), line.data(), line.size()));  // losing a message is better than stopping for it
}

}  // namespace miodb
