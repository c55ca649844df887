#include "src/nvm/pool_image.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace miodb {

Status PoolImage::Open(const std::string& path, std::unique_ptr<PoolImage>* image) {
  std::unique_ptr<PoolImage> i(new PoolImage(path));
  if (Region::IsDevice(path)) {
    Status s = Region::Open(path, 0, kPersistAuto, &i->device_);
    if (!s.ok()) return s;
    i->base_ = i->device_->base();
    i->size_ = i->file_size_ = i->device_->size();
    *image = std::move(i);
    return s;
  }
  i->fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (i->fd_ < 0) {
    return errno == ENOENT ? Status::NotFound(path, "no such file") : Status::IOError(path, strerror(errno));
  }
  if (flock(i->fd_, LOCK_EX | LOCK_NB) != 0) {
    return Status::IOError(path, errno == EWOULDBLOCK ? "the pool is in use by an open database" : strerror(errno));
  }
  struct stat st;
  if (fstat(i->fd_, &st) != 0) return Status::IOError(path, strerror(errno));
  if (!S_ISREG(st.st_mode)) return Status::IOError(path, "not a regular file");
  i->file_size_ = static_cast<uint64_t>(st.st_size);
  const uint64_t size = i->file_size_ / kExtentUnit * kExtentUnit;
  if (size > 0) {
    void* const base = mmap(nullptr, size, PROT_READ, MAP_SHARED, i->fd_, 0);
    if (base == MAP_FAILED) return Status::IOError(path, std::string("mmap: ") + strerror(errno));
    i->base_ = static_cast<const char*>(base);
    i->size_ = size;
  }
  *image = std::move(i);
  return Status::OK();
}

std::unique_ptr<PoolImage> PoolImage::Wrap(const std::string& name, const char* base, uint64_t size) {
  std::unique_ptr<PoolImage> image(new PoolImage(name));
  image->file_size_ = size;
  image->size_ = size / kExtentUnit * kExtentUnit;
  image->base_ = base;
  return image;
}

PoolImage::~PoolImage() {
  if (fd_ >= 0 && base_ != nullptr) munmap(const_cast<char*>(base_), size_);
  if (fd_ >= 0) close(fd_);
}

PoolHeader ReadPoolHeader(const char* page, uint64_t size) {
  PoolHeader header = {};
  if (size < kPoolHeaderSize) return header;
  for (int copy = 0; copy < kSuperblockCopies; copy++) {
    PoolHeader::Copy& c = header.copies[copy];
    memcpy(&c.superblock, page + SuperblockOffset(copy), sizeof(c.superblock));
    c.good = SuperblockChecks(c.superblock);
    if (c.good && c.superblock.version != kPoolFormatVersion) {
      header.another_version = true;
      header.version = c.superblock.version;
      c.good = false;
    }
    if (c.good && !header.has_superblock) {
      header.has_superblock = true;
      header.pool_id = PoolId(c.superblock);
    }
  }
  for (uint64_t parity = 0; parity < 2; parity++) {
    for (int copy = 0; copy < kRootCopies; copy++) {
      PoolHeader::Root& r = header.roots[parity][copy];
      r.offset = RootSlotOffset(parity, copy);
      memcpy(&r.slot, page + r.offset, sizeof(r.slot));
      const RootSlot blank = {};
      r.blank = memcmp(&r.slot, &blank, sizeof(blank)) == 0;
      r.good = header.has_superblock && RootChecks(r.slot, parity, header.pool_id);
      if (r.good && r.slot.epoch > header.current.epoch) header.current = r.slot;
    }
  }
  return header;
}

}  // namespace miodb
