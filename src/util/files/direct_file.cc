#include "src/util/files/direct_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "src/util/check/check.h"
#include "src/util/files/file_size_limit.h"
#include "src/util/files/posix_writable.h"

// Direct input and output wants three things to be multiples of a unit: the place in the file, the length, and the
// address in memory. Readers get what they ask for out of a unit-aligned read, without a copy where they asked for
// units. Writers gather units and write them when they are whole; the rest of the file, less than a unit, is written
// with zeros behind it and cut off again.

namespace miodb {

namespace {

constexpr size_t kDirectBufferBytes = 1 << 20;
static_assert(kDirectBufferBytes % kDirectAlignment == 0);

// No device has smaller sectors.
constexpr size_t kLeastAlignment = 512;
static_assert(kDirectAlignment % kLeastAlignment == 0);

// A thread keeps its buffer for reads up to this size.
constexpr size_t kKeptBytes = 256 * 1024;

// A buffer for reads whose place, length or memory is not aligned: one for each thread, so that a read needs neither a
// lock nor an allocation. A single large read does not leave it large.
class ThreadBuffer {
 public:
  char* Get(size_t size) {
    if (size > size_) {
      bytes_.reset();
      size_ = 0;
      bytes_ = NewAlignedBytes(size);
      size_ = size;
    }
    return bytes_.get();
  }
  void Shrink() {
    if (size_ <= kKeptBytes) return;
    bytes_.reset();
    size_ = 0;
  }

 private:
  AlignedBytes bytes_;
  size_t size_ = 0;
};

// The unit of reads of this file.
size_t ReadAlignment(int fd) {
#ifdef STATX_DIOALIGN
  struct statx info;
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &info) == 0 && (info.stx_mask & STATX_DIOALIGN) != 0 &&
      info.stx_dio_offset_align > 0 && kDirectAlignment % info.stx_dio_offset_align == 0) {
    return std::max<size_t>(info.stx_dio_offset_align, kLeastAlignment);
  }
#else
  static_cast<void>(fd);
#endif
  return kDirectAlignment;
}

// A file system without direct input and output says EINVAL to the flag: that is NotSupported, which the open of a
// database shows by name instead of reading through the page cache without a word.
Status OpenDirect(const std::string& fname, int opened, Descriptor* fd) {
  if (opened < 0 && errno == EINVAL) return Status::NotSupported(fname, "the file system has no direct I/O");
  return CheckOpened(fname, Descriptor(opened), FileType::kRegular, fd);
}

bool Aligned(uint64_t n) { return n % kDirectAlignment == 0; }

class DirectRandomAccessFile final : public RandomAccessFile {
 public:
  DirectRandomAccessFile(std::string fname, Descriptor fd)
      : fname_(std::move(fname)), fd_(std::move(fd)), unit_(ReadAlignment(fd_.get())) {
    CHECK(fd_.valid());
    CHECK(unit_ >= kLeastAlignment && kDirectAlignment % unit_ == 0);
  }

  // Reads straight into the caller's memory where all three are aligned, as block reads of the SSD tier arrange it;
  // else into the thread's buffer, and copies what was asked for.
  Status Read(uint64_t offset, size_t n, Slice* result, char* scratch) const override {
    size_t got;
    if (Aligned(offset) && Aligned(n) && Aligned(reinterpret_cast<uintptr_t>(scratch))) {
      Status s = ReadAligned(offset, n, scratch, &got);
      *result = Slice(scratch, got);
      return s;
    }
    thread_local ThreadBuffer buffer;
    const uint64_t start = offset / unit_ * unit_;
    const size_t lead = static_cast<size_t>(offset - start);
    const size_t wanted = (lead + n + unit_ - 1) / unit_ * unit_;
    char* const bytes = buffer.Get(static_cast<size_t>(AlignUp(wanted)));
    Status s = ReadAligned(start, wanted, bytes, &got);
    CHECK(lead < unit_ && got <= wanted);
    const size_t usable = got > lead ? std::min(n, got - lead) : 0;
    memcpy(scratch, bytes + lead, usable);
    *result = Slice(scratch, usable);
    buffer.Shrink();
    return s;
  }

  RawFile Raw() const override { return {fd_.get(), unit_}; }

 private:
  // *got is less than n only at the end of the file, and after an error.
  Status ReadAligned(uint64_t offset, size_t n, char* bytes, size_t* got) const {
    CHECK(offset % unit_ == 0 && n % unit_ == 0 && reinterpret_cast<uintptr_t>(bytes) % unit_ == 0);
    *got = 0;
    while (*got < n) {
      const auto at = static_cast<off_t>(offset + *got);
      const ssize_t more = Retry([&] { return ::pread(fd_.get(), bytes + *got, n - *got, at); });
      if (more < 0) {
        *got = 0;
        return PosixError(fname_, errno);
      }
      *got += static_cast<size_t>(more);
      if (more == 0 || *got % unit_ != 0) break;  // the end of the file
    }
    return Status::OK();
  }

  const std::string fname_;
  const Descriptor fd_;
  const size_t unit_;
};

// The last, incomplete unit stays in the buffer. A Sync writes it with zeros behind it and then cuts the file to its
// size; what is appended later is written over it.
class DirectWritableFile final : public PosixWritable {
 public:
  DirectWritableFile(std::string fname, Descriptor fd)
      : PosixWritable(std::move(fname), std::move(fd)), buffer_(NewAlignedBytes(kDirectBufferBytes)) {}

  ~DirectWritableFile() override {
    if (fd_.valid()) Close().IgnoreError();
  }

  // Data goes to the file in whole units, as soon as the buffer is full: writing in its units is what direct output
  // asks for, and a large buffer makes few writes of it.
  Status Append(const Slice& data) override {
    Status s = Writable();
    if (!s.ok()) return s;
    const char* p = data.data();
    size_t left = data.size();
    while (left > 0) {
      CHECK_LT(used_, kDirectBufferBytes);
      const size_t fits = std::min(left, kDirectBufferBytes - used_);
      memcpy(buffer_.get() + used_, p, fits);
      used_ += fits;
      p += fits;
      left -= fits;
      if (used_ < kDirectBufferBytes) break;
      s = WriteUnits();
      if (!s.ok()) return s;
    }
    return s;
  }

  // A flush also writes the tail, so that what was flushed can be read by others and survives the process, as
  // WritableFile promises.
  Status Flush() override {
    Status s = Writable();
    if (s.ok()) s = WriteUnits();
    return s.ok() ? WriteTail() : s;
  }

  // Written units are on the device already.
  Status RangeSync(uint64_t, uint64_t) override { return Writable(); }

 private:
  // REQUIRES: p, n and offset are aligned. A write that ends inside of a unit cannot be gone on with, so it is an
  // error for good.
  Status WriteAll(const char* p, size_t n, uint64_t offset) {
    CHECK(Aligned(n) && Aligned(offset) && Aligned(reinterpret_cast<uintptr_t>(p)));
    const NoFileSizeSignal no_signal;
    while (n > 0) {
      const ssize_t written = Retry([&] { return ::pwrite(fd_.get(), p, n, static_cast<off_t>(offset)); });
      if (written < 0) return Keep(PosixError(fname_, errno));
      if (!Aligned(static_cast<uint64_t>(written))) return Keep(Status::IOError(fname_, "wrote a part of a unit"));
      p += written;
      n -= static_cast<size_t>(written);
      offset += static_cast<uint64_t>(written);
    }
    return Status::OK();
  }

  // Complete units of the buffer go to the file; the rest stays.
  Status WriteUnits() {
    const size_t whole = static_cast<size_t>(AlignDown(used_));
    if (whole == 0) return Status::OK();
    CHECK_LE(used_, kDirectBufferBytes);
    CHECK(Aligned(offset_));
    Status s = WriteAll(buffer_.get(), whole, offset_);
    if (!s.ok()) return s;
    offset_ += whole;
    used_ -= whole;
    DCHECK_LT(used_, kDirectAlignment);
    memmove(buffer_.get(), buffer_.get() + whole, used_);
    return s;
  }

  // Writes the last unit as a whole, zeros behind the data, and cuts the file to its size. A crash between the two
  // leaves a file that is longer than what was appended, with zeros at its end: the formats that are written so know
  // their own end. The tail stays in the buffer, and the next write goes over it.
  Status WriteTail() {
    if (used_ == 0) return Status::OK();
    CHECK_LT(used_, kDirectAlignment);
    memset(buffer_.get() + used_, 0, kDirectAlignment - used_);
    Status s = WriteAll(buffer_.get(), kDirectAlignment, offset_);
    if (!s.ok()) return s;
    const auto size = static_cast<off_t>(offset_ + used_);
    if (Retry([&] { return ::ftruncate(fd_.get(), size); }) != 0) return Keep(PosixError(fname_, errno));
    return s;
  }

  const AlignedBytes buffer_;
  size_t used_ = 0;      // bytes in the buffer
  uint64_t offset_ = 0;  // of the buffer in the file, a multiple of the alignment
};

}  // namespace

Status OpenDirectForReading(const std::string& fname, RandomAccessFile** result) {
  *result = nullptr;
  Descriptor fd(-1);
  Status s = OpenDirect(fname, OpenFile(fname, O_RDONLY | O_DIRECT | kDontWait), &fd);
  if (s.ok()) *result = new DirectRandomAccessFile(fname, std::move(fd));
  return s;
}

Status OpenDirectForWriting(const std::string& fname, FileAccess access, Links links, WritableFile** result) {
  *result = nullptr;
  Descriptor fd(-1);
  Status s = OpenDirect(fname, OpenOrCreateFile(fname, O_WRONLY | O_TRUNC | O_DIRECT | kDontWait, access, links), &fd);
  if (s.ok()) *result = new DirectWritableFile(fname, std::move(fd));
  return s;
}

}  // namespace miodb
