// A run of a pool's space, and who keeps it taken.
//
// The manifest is the only durable owner of space. While the database is open an ExtentRef keeps it; when the last one
// goes, the space is free for reuse at once. Hence the rule for whoever drops an extent: the manifest edit without it
// is durable before its last reference goes.
//
// Threads: any, but for Shrink, Trim, ReleaseTrimmed, Abandon and SetPayloadBytes: the one thread that has the extent.

#ifndef MIODB_SRC_NVM_POOL_EXTENT_H_
#define MIODB_SRC_NVM_POOL_EXTENT_H_

#include <atomic>
#include <cstdint>
#include <memory>

#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/format/superblock.h"
#include "src/util/check/check.h"

namespace miodb {

class Pool;
class Region;

// Offsets and sizes of extents are multiples of kExtentUnit.
inline constexpr uint64_t RoundToUnit(uint64_t bytes) { return (bytes + kExtentUnit - 1) / kExtentUnit * kExtentUnit; }
static_assert(RoundToUnit(0) == 0 && RoundToUnit(1) == kExtentUnit && RoundToUnit(kExtentUnit) == kExtentUnit);
static_assert(kExtentUnit % 256 == 0);  // nodes and frames that begin an extent begin a unit of the medium

enum class ExtentKind : uint8_t {
  kManifest = 0,
  kIndex = 1,    // packed index of one table
  kLog = 2,      // log chunk, later the payload of the tables flushed from it
  kSettled = 3,  // payload that a lazy copy or an evacuation wrote in key order
};

inline constexpr int kExtentKinds = static_cast<int>(ExtentKind::kSettled) + 1;

static_assert(static_cast<int>(ExtentKind::kLog) == 2 && static_cast<int>(ExtentKind::kSettled) == 3);  // manifests

// A run of pool space. Freed when the last reference goes.
class Extent {
 public:
  Extent(Pool* pool, PmRef offset, uint64_t size, ExtentKind kind);
  ~Extent();
  Extent(const Extent&) = delete;
  Extent& operator=(const Extent&) = delete;

  PmRef offset() const { return offset_; }
  uint64_t size() const { return size_; }
  PmRef end() const { return offset_ + size_; }
  ExtentKind kind() const { return kind_; }
  char* data() const;
  bool Contains(PmRef ref) const { return ref >= offset_ && ref < end(); }

  // Faults the extent in for writing.
  void Populate() const;

  // The same for a part: whole units that lie in the extent.
  void PopulatePart(uint64_t from, uint64_t bytes) const;

  // Makes the pages from there on small (Region::UseSmallPages); from: a multiple of kExtentUnit, below the size. The
  // content of these pages is lost. False if the pages cannot be made small.
  bool UseSmallPages(uint64_t from) const;

  // Maps the extent in for reading from end to end.
  void PopulateForReading() const;

  // Gives the tail beyond the first size bytes (rounded up to kExtentUnit) back. Only before the extent is named in
  // the manifest or shared between threads.
  void Shrink(uint64_t size);

  // The same in two steps, for an extent that the manifest still names at its full size: the tail stays taken until
  // ReleaseTrimmed, which comes after the edit that names the shorter extent.
  void Trim(uint64_t size);
  void ReleaseTrimmed();

  // Never gives the space back while the database is open: its state on the medium is in doubt.
  void Abandon() { abandoned_ = true; }

  // The manifest does not name this index extent, because it was just made or because a durable edit has dropped it:
  // when its last reader is gone its magic number is erased, so that a repair which has no manifest to go by does not
  // take it for a table. By any thread.
  void MarkUnnamed() { SetUnnamed(true); }

  // An edit that names it may be durable from now on.
  void MarkNamed() { SetUnnamed(false); }

  // Payload extents: bytes that were written for records. Payload bytes that are not live are garbage; the rest of the
  // extent is rounding. Set before the extent is shared.
  uint64_t payload_bytes() const { return payload_bytes_; }
  void SetPayloadBytes(uint64_t bytes) {
    DCHECK_LE(bytes, size_);
    payload_bytes_ = bytes;
  }

  // Payload extents: garbage collection wants this one empty; merges copy what is live out of it.
  std::atomic<bool> evacuate{false};

  // Payload extents: bytes of the records that tables of the newest version refer to. Changed under the lock of the
  // version set alone, with the manifest's figure, which it equals; an extent goes from the version by it. Others read
  // it without the lock, to choose.
  std::atomic<uint64_t> live_bytes{0};

  // Payload extents: tables of lower numbers do not refer to this one. 0: nothing is known. Set before the extent is
  // shared.
  uint64_t first_table = 0;

 private:
  void SetUnnamed(bool unnamed) {
    CHECK(kind_ == ExtentKind::kIndex);                  // others have no magic number at their beginning
    unnamed_.store(unnamed, std::memory_order_relaxed);  // relaxed: ordered by the reference count
  }
  void EraseMagic();
  Region* RegionOf(uint64_t* offset) const;

  Pool* const pool_;
  const PmRef offset_;
  uint64_t size_;
  uint64_t payload_bytes_ = 0;
  uint64_t trimmed_ = 0;  // bytes behind the extent that are still taken for it
  const ExtentKind kind_;
  bool abandoned_ = false;
  std::atomic<bool> unnamed_{false};
};

using ExtentRef = std::shared_ptr<Extent>;

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_EXTENT_H_
