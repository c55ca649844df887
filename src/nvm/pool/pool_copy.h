// PoolCopy: the file of a new pool that has extents of another one, at the same offsets and with the same bytes.
//
// References in a pool are absolute, and checksums are seeded with its secret. So a copy with the same secret is read
// as the original is, without a look at what it says; everything else of it is new: uuid, roots, manifest. Between the
// extents are holes, also where the original has the header page of a further region: the copy has one file.
//
// Step by step: Begin claims the extents in a pool that is memory of this process, where the caller makes a manifest
// beside them. Finish writes the file: the extents as their source has them, then the manifest's area, then the header
// page. All of it is written by calls of the file system, so a file system that is full is an error and no signal.
//
// The source is a pool, or what was kept of one. A pool goes on meanwhile: its extents do not change as long as their
// owner holds them, and whoever lets a log chunk be copied while it is filled copies the part that is full.
//
// Threads: one. Ownership: the source's bytes are there until Finish has returned.
// After a crash: a file that has no header page, or all of it. Errors leave the file; the caller removes it.

#ifndef MIODB_SRC_NVM_POOL_POOL_COPY_H_
#define MIODB_SRC_NVM_POOL_POOL_COPY_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/nvm/pool/pool.h"
#include "src/nvm/region/region_file.h"
#include "src/util/check/check.h"

namespace miodb {

class PoolCopy {
 public:
  // The first so many bytes of an extent; what else belongs to its last unit is zeros.
  struct Part {
    PmRef offset = 0;
    uint64_t bytes = 0;
    ExtentKind kind = ExtentKind::kLog;
  };

  // Takes bytes of a part to where they belong.
  using Sink = std::function<Status(PmRef offset, const char* bytes, uint64_t size)>;

  // Gives all bytes of a part, in any pieces.
  using Source = std::function<Status(const Part& part, const Sink& sink)>;

  // The parts as they lie in a pool.
  static Source FromPool(const Pool& original);

  // secret: the original's.
  PoolCopy(uint64_t secret, const std::string& path) : secret_(secret), path_(path), file_(path) {}
  ~PoolCopy();
  PoolCopy(const PoolCopy&) = delete;
  PoolCopy& operator=(const PoolCopy&) = delete;

  // manifest_room: bytes that the caller will need for the manifest. The parts do not overlap.
  Status Begin(const std::array<uint8_t, kUuidBytes>& uuid, std::vector<Part> parts, uint64_t manifest_room);

  // The new pool, for its manifest and nothing else: bytes of the extents are not in it. REQUIRES: Begin.
  Pool* pool() const {
    DCHECK(pool_ != nullptr);
    return pool_.get();
  }

  // Writes the file, which must not exist, and syncs it. REQUIRES: the pool has a manifest.
  Status Finish(FileAccess access, const Source& source);

 private:
  Status Write(PmRef offset, const char* bytes, uint64_t size) const;
  Status WriteFromMemory(PmRef offset, uint64_t size) const;

  const uint64_t secret_;
  const std::string path_;
  RegionFile file_;
  std::vector<Part> parts_;
  MemoryMedium memory_;
  std::unique_ptr<Pool> pool_;     // in memory_
  std::vector<ExtentRef> claims_;  // of it
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_POOL_COPY_H_
