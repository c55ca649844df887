// A file or DAX device of persistent memory, mapped into an address range that grows with it in place, so that no
// reference or pointer into it ever moves.
//
// Region brings three parts together: what it lies on (region_file.h), where it is mapped (region_mapping.h) and the
// NUMA nodes that its storage comes from (region_nodes.h). A Region owns the file and the mapping, and knows how many
// bytes are ready for use: they have storage, on the right nodes, and are mapped. Later stores have no page left to
// allocate.
//
// Threads: Grow, Cut and LimitTo by one thread at a time; the rest by any.

#ifndef MIODB_SRC_NVM_REGION_REGION_H_
#define MIODB_SRC_NVM_REGION_REGION_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/options.h"
#include "miodb/status.h"
#include "src/numa/numa.h"
#include "src/numa/placement.h"
#include "src/nvm/persist/persist_hook.h"
#include "src/nvm/region/address_range.h"
#include "src/nvm/region/region_file.h"
#include "src/nvm/region/region_mapping.h"
#include "src/util/check/check.h"

namespace miodb {

class Region {
 public:
  using Place = RegionPlace;

  // Creates path, which must not exist, with size bytes. max_size: what it may grow to; 0: all that the file
  // system could hold.
  static Status Create(const std::string& path, uint64_t size, uint64_t max_size, PersistMode wanted,
                       std::unique_ptr<Region>* region, const Place& place = Place());

  // Opens an existing file at its present size, or a DAX device, which has one size for ever. In file mode all that the
  // file has is durable then, for an owner. InvalidArgument if its memory does not lie on the nodes, or if it does not
  // fit into what the range has for it.
  static Status Open(const std::string& path, uint64_t max_size, PersistMode wanted, std::unique_ptr<Region>* region,
                     const Place& place = Place());

  // A region in memory of the caller, which grows up to capacity and keeps medium->size.
  static std::unique_ptr<Region> OnCallersMemory(MemoryMedium* medium, uint64_t capacity);

  // A part of such memory that is there from the beginning and has one size.
  static std::unique_ptr<Region> OnPartOfCallersMemory(MemoryMedium* medium, uint64_t offset, uint64_t size);

  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  const RegionFile& file() const { return file_; }
  const std::string& path() const { return file_.path(); }
  RegionKind kind() const { return file_.kind(); }
  uint64_t granularity() const { return file_.granularity(); }
  char* base() const {
    DCHECK(mapping_.base() != nullptr);
    return mapping_.base();
  }
  PersistMode mode() const { return mode_; }
  const RegionNodes& nodes() const { return mapping_.place().nodes; }
  bool huge_pages() const { return mapping_.place().huge_pages; }

  // Bytes of the file. Everything below is backed by storage but its holes.
  uint64_t size() const { return size_.load(std::memory_order_acquire); }  // acquire: pairs with SetSize

  // Most bytes that the region may have. The bound falls when a Grow finds no addresses for more.
  uint64_t max_size() const { return mapping_.max_size(); }

  bool can_grow() const { return growth_ == Growth::kGrows; }

  // From now on it grows to no more than this.
  void LimitTo(uint64_t max_size) {
    CHECK_GE(max_size, size());
    mapping_.LimitTo(max_size);
  }

  // The addresses it lies in; null: memory of the caller.
  const std::shared_ptr<AddressRange>& range() const { return mapping_.place().range; }

  // Gives storage to what of [offset, offset + size) has none, as Grow does. IOError, or NoSpace.
  Status Fill(uint64_t offset, uint64_t size);

  // Gives the storage of [offset, offset + size), multiples of the granularity, back to the file system. Until Fill
  // nobody may store there, whatever it returns. NotSupported if this medium, or its file system, keeps it for ever.
  Status Punch(uint64_t offset, uint64_t size);

  // Bytes of the file that have storage, as far as its file system says.
  uint64_t stored_bytes() const { return file_.StoredBytes(size()); }

  // Makes the file shorter, new_size bytes rounded up to its granularity. Nobody may look at what was behind. Does
  // nothing where files do not grow.
  Status Cut(uint64_t new_size);

  // Makes the file new_size bytes long, rounded up to its granularity. On failure (IOError, or NoSpace from the file
  // system, or because the addresses behind its own are taken) it is as before.
  Status Grow(uint64_t new_size);

  // Bytes that the file system could still give; for a bound region, bytes that its nodes could give.
  uint64_t FileSystemAvailable() const;

  // Reasons other than limit and file system that keep the region from growing, for errors: "NUMA node 2 has 4096 bytes
  // available" for a bound region, and a lack of addresses; else "".
  std::string DescribeShortage() const;

  // Where its pages lie now, of up to count.
  PageSample Sample(uint64_t count) const;

  // Faults in [offset, offset + size) for writing, so that later stores there take no page faults.
  void Populate(uint64_t offset, uint64_t size);

  // For regions whose fences are syncs; others do nothing. UseSmallPages: from now on pages that are touched first are
  // small, and [offset, offset + size), whole pages that hold nothing, are zeros without any, so that a sync of a few
  // bytes there writes a page. False if there are no huge ones, or none that can be made small; the part keeps its
  // storage in any case. UseHugePages: pages that are touched first are again as the region was asked for.
  bool UseSmallPages(uint64_t offset, uint64_t size);
  void UseHugePages();

  // Maps in [offset, offset + size) for reading, in one go.
  void PopulateForReading(uint64_t offset, uint64_t size);

  // In a reader's region: takes up the size that its file has now.
  Status Follow();

  // As of its file.
  Status SyncFile() { return file_.Sync(); }
  Status Rename(const std::string& to) { return file_.Rename(to); }

  static bool IsDevice(const std::string& path) { return KindOfPath(path) == PathKind::kDevice; }

 private:
  // Whether the file may have another size than it has.
  enum class Growth { kGrows, kFixed };

  Region(const std::string& path, const Place& place) : file_(path), mapping_(file_, place) {}
  Region(MemoryMedium* medium, uint64_t offset, uint64_t max_size, Growth growth);

  bool InCallersMemory() const { return file_.memory() != nullptr; }
  void SetSize(uint64_t size);
  Status Map(uint64_t max_size, PersistMode wanted);
  Status Store(uint64_t offset, uint64_t size, const std::string& what);
  Status GrowFile(uint64_t old_size, uint64_t new_size);
  Status CheckNodes(uint64_t offset, uint64_t size) const;
  void SampleStored(uint64_t count, Touch touch, PageSample* sample) const;

  RegionFile file_;
  RegionMapping mapping_;  // of file_
  PersistMode mode_ = kPersistFile;
  Growth growth_ = Growth::kGrows;
  std::atomic<uint64_t> size_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_REGION_REGION_H_
