// The files of a pool, mapped for reading only, damaged or not: for repair and for the tools that look at pools.
//
// Unlike Pool it takes nothing for granted but that the file is there, and it cannot change a byte of it. While a
// PoolImage lives, the pool cannot be opened; if the pool is open, there is no PoolImage.
//
// Threads: immutable but for UseSecret, which comes first.

#ifndef MIODB_SRC_NVM_POOL_POOL_IMAGE_H_
#define MIODB_SRC_NVM_POOL_POOL_IMAGE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/format/superblock.h"
#include "src/nvm/region/region.h"
#include "src/nvm/region/region_finder.h"
#include "src/util/check/check.h"

namespace miodb {

// The content of the first page of a pool.
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
  using Roots = std::array<std::array<Root, kRootCopies>, 2>;  // by parity of the epoch
  Copy copies[kSuperblockCopies];
  Roots roots;
  bool has_superblock = false;
  bool another_version = false;
  uint32_t version = 0;
  uint64_t pool_id = 0;
  uint64_t secret = 0;
  uint8_t uuid[kUuidBytes] = {};
  RootSlot current = {};  // the good root of the highest epoch; epoch 0 if there is none
};

class PoolImage {
 public:
  // The bytes of one of its regions.
  struct Part {
    Part() = default;
    Part(Part&& other) noexcept;
    ~Part();
    Status Open(const std::string& path);

    PmRef base = 0;
    uint64_t size = 0;  // of the file, rounded down to a multiple of kExtentUnit; may be 0
    uint64_t file_size = 0;
    int fd = -1;
    std::unique_ptr<Region> device;  // of a DAX device
  };

  // NotFound if there is no file, IOError if it is open or cannot be read. Further regions are looked for in places and
  // beside the pool; those that are not found are missing.
  static Status Open(const std::string& path, std::unique_ptr<PoolImage>* image,
                     const RegionPlaces& places = RegionPlaces());

  // Looks at bytes in memory instead, which stay the caller's. REQUIRES: base is aligned as a page is.
  static std::unique_ptr<PoolImage> Wrap(const std::string& name, const char* base, uint64_t size);

  PoolImage(const PoolImage&) = delete;
  PoolImage& operator=(const PoolImage&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<std::string>& region_paths() const { return region_paths_; }  // of further regions

  // The superblock's secret, the seed of the checksums of everything in extents. If the superblock has no good copy, 0
  // until UseSecret gives a secret that was found elsewhere.
  uint64_t secret() const { return secret_; }
  void UseSecret(uint64_t secret) {
    CHECK_EQ(secret_, 0u);
    secret_ = secret;
  }

  // Problems of the list of regions: a line for each region that could not be had.
  const std::vector<std::string>& missing() const { return missing_; }

  // The pool's own file first.
  const std::vector<Part>& parts() const { return parts_; }

  // Where the files hold bytes, in whole units: holes of some size are left out. For those who search a pool, so that
  // they look at what is there and not at how long the files say they are.
  struct Range {
    PmRef begin;
    PmRef end;
  };
  std::vector<Range> DataRanges() const;

  // The header in the pool's own file, which may be shorter than a header page, whatever regions there are.
  PoolHeader Header() const;

  uint64_t size() const;  // of all parts
  uint64_t file_size() const;

  // REQUIRES: ref is one that there can be, or the end of the last; whether there are bytes is what Readable says.
  const char* At(PmRef ref) const {
    DCHECK_LE(ref, IndexWord::kMaxRef + 1);
    return base_ + ref;
  }
  PmRef RefOf(const char* p) const {
    DCHECK(p >= base_);
    return static_cast<PmRef>(p - base_);
  }

  // The end of the part that ref lies in.
  const char* End(PmRef ref) const;

  // Whether [ref, ref + n) lies behind the header page and inside of one file.
  bool Readable(PmRef ref, uint64_t n) const;

  // Whether an extent could lie there.
  bool IsExtent(PmRef offset, uint64_t n) const {
    return n > 0 && offset % kExtentUnit == 0 && n % kExtentUnit == 0 && Readable(offset, n);
  }

 private:
  explicit PoolImage(const std::string& path) : path_(path) {}

  Status Add(const std::string& path, PmRef base, uint64_t most);
  const Part* PartOf(PmRef ref) const;

  const std::string path_;
  std::shared_ptr<AddressRange> range_;
  const char* base_ = nullptr;
  uint64_t secret_ = 0;
  std::vector<Part> parts_;
  std::vector<std::string> region_paths_;
  std::vector<std::string> missing_;
};

// Reads all copies of the roots. Returns the good root of the highest epoch; epoch 0 if there is none. No root is good
// without the id of the pool.
RootSlot ReadRoots(const char* page, std::optional<uint64_t> pool_id, PoolHeader::Roots* roots);

// Reads the header page; a file without one has nothing good.
PoolHeader ReadPoolHeader(const char* page, uint64_t size);

// Whether a device with this header page holds nothing of anybody's: the page is zero, or as a crash leaves it before
// the first root of a new pool is durable.
bool HoldsNothing(const char* page);

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_POOL_IMAGE_H_
