// Reading and writing blocks.

#include "src/db/copy/backup_data.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/util/check/check.h"
#include "src/util/files/copy_files.h"
#include "src/util/files/file_size_limit.h"

namespace miodb {

namespace {

// Data files that a reader has open at a time.
constexpr size_t kMostOpenFiles = 64;

// As many bytes as there are, up to size.
Status ReadAt(int fd, const std::string& path, uint64_t position, char* bytes, size_t size, size_t* got) {
  for (*got = 0; *got < size;) {
    const off_t at = static_cast<off_t>(position + *got);
    const ssize_t n = Retry([&] { return ::pread(fd, bytes + *got, size - *got, at); });
    if (n < 0) return PosixError(path, errno);
    if (n == 0) break;
    *got += static_cast<size_t>(n);
  }
  return Status::OK();
}

// A write that the file system cuts short goes on with the rest; one that writes nothing is an error.
Status WriteAt(int fd, const std::string& path, uint64_t position, const char* bytes, size_t size) {
  DCHECK(bytes != nullptr);
  const NoFileSizeSignal no_signal;
  while (size > 0) {
    const ssize_t n = Retry([&] { return ::pwrite(fd, bytes, size, static_cast<off_t>(position)); });
    if (n <= 0) return RoomError(path, n < 0 ? errno : ENOSPC, FullDisk::kIsNoSpace);
    bytes += n;
    position += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
  return Status::OK();
}

// The advice is the same for every kind of damage to a block.
Status Damaged(const std::string& path, const BackupBlock& block, const char* what) {
  return Status::Corruption(path, std::string("block of ") + std::to_string(block.bytes) + " bytes at " +
                                      std::to_string(block.position) + " " + what +
                                      ": delete the generations that have it");
}

}  // namespace

// A link or a FIFO that somebody may have put in the place of the file is refused.
Status DataWriter::Open() {
  CHECK(!file_.valid() && left_.empty());
  Status s =
      CheckOpened(path_, Descriptor(OpenOrCreateFile(path_, O_RDWR | kDontWait, folder_.access(), Links::kRefused)),
                  FileType::kRegular, &file_);
  return s.ok() ? TakeUp() : s;
}

// Bytes from the first block on that does not fit its checksums were not written to their end.
Status DataWriter::TakeUp() {
  std::string bytes(kMostBlockBytes, '\0');
  for (;;) {
    BlockHeader header;
    PmRef offset;
    BackupBlock block;
    size_t got;
    Status s = ReadAt(file_.get(), path_, end_, header.data(), header.size(), &got);
    if (!s.ok()) return s;
    if (got < header.size() || !DecodeBlockHeader(header, &offset, &block)) break;
    s = ReadAt(file_.get(), path_, end_ + header.size(), bytes.data(), block.bytes, &got);
    if (!s.ok()) return s;
    if (got < block.bytes || HashOfBlock(bytes.data(), block.bytes, secret_) != block.hash) break;
    block.file = generation_;
    block.position = end_;
    left_[offset] = block;
    end_ += header.size() + block.bytes;
  }
  if (Retry([&] { return ::ftruncate(file_.get(), static_cast<off_t>(end_)); }) != 0) return PosixError(path_, errno);
  return Status::OK();
}

// After an error the written bytes lie behind the end, where the next block goes.
Status DataWriter::Append(PmRef offset, const char* bytes, BackupBlock* block) {
  CHECK(file_.valid() && bytes != nullptr);
  const BlockHeader header = EncodeBlockHeader(offset, *block);
  block->file = generation_;
  block->position = end_;
  Status s = WriteAt(file_.get(), path_, end_, header.data(), header.size());
  if (s.ok()) s = WriteAt(file_.get(), path_, end_ + header.size(), bytes, block->bytes);
  if (s.ok()) end_ += header.size() + block->bytes;
  return s;
}

// An empty file is none: a generation in which nothing is new has no data file.
Status DataWriter::Finish() {
  CHECK(file_.valid());
  if (end_ == 0) return folder_.env()->RemoveFile(path_);
  if (SyncFailed(Retry([&] { return ::fsync(file_.get()); }))) return RoomError(path_, errno, FullDisk::kIsNoSpace);
  return SyncDirectoryOf(path_);
}

// Files stay open from block to block; all of them are closed where there are too many.
Status DataReader::Open(uint64_t file, int* fd) {
  DCHECK(fd != nullptr && file > 0);
  const auto found = files_.find(file);
  if (found != files_.end()) {
    *fd = found->second.get();
    return Status::OK();
  }
  const std::string path = folder_.DataPath(file);
  Descriptor opened(-1);
  const Status s = OpenTyped(path, O_RDONLY, FileType::kRegular, &opened);
  if (s.IsNotFound()) return Status::Corruption(path, "missing: a generation has blocks in it");
  if (!s.ok()) return s;
  if (files_.size() >= kMostOpenFiles) files_.clear();
  *fd = opened.get();
  files_.emplace(file, std::move(opened));
  return s;
}

// Header and bytes are read at once: a block whose header is another one's is damage, too.
Status DataReader::Read(PmRef offset, const BackupBlock& block, const char** bytes) {
  DCHECK(bytes != nullptr);
  CHECK(block.bytes > 0 && block.bytes <= kMostBlockBytes);
  int fd = -1;
  Status s = Open(block.file, &fd);
  if (!s.ok()) return s;
  const std::string path = folder_.DataPath(block.file);
  buffer_.resize(kBlockHeaderBytes + block.bytes);
  size_t got;
  s = ReadAt(fd, path, block.position, buffer_.data(), buffer_.size(), &got);
  if (!s.ok()) return s;
  const BlockHeader header = EncodeBlockHeader(offset, block);
  if (got < buffer_.size()) return Damaged(path, block, "is cut off");
  if (memcmp(buffer_.data(), header.data(), header.size()) != 0) return Damaged(path, block, "is another one");
  *bytes = buffer_.data() + header.size();
  return HashOfBlock(*bytes, block.bytes, secret_) == block.hash ? s : Damaged(path, block, "has damaged bytes");
}

}  // namespace miodb
