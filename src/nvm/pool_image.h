// The file of a pool, mapped for reading only, damaged or not: for repair and for the tools that look at pools.
//
// Unlike Pool it takes nothing for granted but that the file is there, and it cannot change a byte of it. It keeps the
// pool from being opened while it lives, and fails if it is open.
//
// Threads: immutable.

#ifndef MIODB_SRC_NVM_POOL_IMAGE_H_
#define MIODB_SRC_NVM_POOL_IMAGE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/format/superblock.h"
#include "src/nvm/region.h"

namespace miodb {

class PoolImage {
 public:
  // NotFound if there is no file, IOError if it is open or cannot be read.
  static Status Open(const std::string& path, std::unique_ptr<PoolImage>* image);

  // Looks at bytes in memory instead, which stay the caller's. REQUIRES: base is aligned as a page is.
  static std::unique_ptr<PoolImage> Wrap(const std::string& name, const char* base, uint64_t size);

  ~PoolImage();
  PoolImage(const PoolImage&) = delete;
  PoolImage& operator=(const PoolImage&) = delete;

  const std::string& path() const { return path_; }

  // Length of the file, rounded down to a multiple of kExtentUnit; may be 0.
  uint64_t size() const { return size_; }
  uint64_t file_size() const { return file_size_; }

  const char* At(PmRef ref) const { return base_ + ref; }
  const char* end() const { return base_ + size_; }
  PmRef RefOf(const char* p) const { return static_cast<PmRef>(p - base_); }

  // Whether [ref, ref + n) lies behind the header page and inside of the file.
  bool Readable(PmRef ref, uint64_t n) const { return ref >= kPoolHeaderSize && ref <= size_ && n <= size_ - ref; }

  // Whether an extent could lie there.
  bool IsExtent(PmRef offset, uint64_t n) const {
    return n > 0 && offset % kExtentUnit == 0 && n % kExtentUnit == 0 && Readable(offset, n);
  }

 private:
  explicit PoolImage(const std::string& path) : path_(path) {}

  const std::string path_;
  std::unique_ptr<Region> device_;  // holds the mapping of a DAX device
  int fd_ = -1;
  const char* base_ = nullptr;
  uint64_t size_ = 0;
  uint64_t file_size_ = 0;
};

// What the first page of a pool says.
struct PoolHeader {
  struct Copy {
    Superblock superblock;
    bool good;  // it checks and is of this version
  };
  struct Root {
    uint64_t offset;  // of this copy
    RootSlot slot;
    bool blank;
    bool good;
  };
  Copy copies[kSuperblockCopies];
  Root roots[2][kRootCopies];  // by parity of the epoch
  bool has_superblock = false;
  bool another_version = false;
  uint32_t version = 0;
  uint64_t pool_id = 0;
  RootSlot current = {};  // the good root of the highest epoch; epoch 0 if there is none
};

// Reads the header page; a file without one has nothing good.
PoolHeader ReadPoolHeader(const char* page, uint64_t size);

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_IMAGE_H_
