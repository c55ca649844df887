// The pool: all persistent memory of one database, handed out as extents.
//
// It is one file, or that and further regions (src/format/region_table.h): files or devices that hold the references
// behind those of the file before. Which they are is written in the header page; where they are is found out at open.
//
// Ownership of space is ownership of an Extent. The manifest is the only durable owner: an extent that no manifest
// record names is free after a crash, so neither allocating nor freeing writes anything. While the database is open an
// ExtentRef keeps the space; when the last one goes, the space is free for reuse at once. Hence the rule for whoever
// drops an extent: the manifest edit without it is durable before its last reference goes.
//
// Threads: all functions by any number at once, except where noted.

#ifndef MIODB_SRC_NVM_POOL_H_
#define MIODB_SRC_NVM_POOL_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/format/superblock.h"
#include "src/nvm/persist.h"
#include "src/nvm/pool_space.h"
#include "src/nvm/region.h"
#include "src/nvm/region_finder.h"
#include "src/nvm/region_set.h"
#include "src/util/mutex.h"

namespace miodb {

class Pool;

enum class ExtentKind : uint8_t {
  kManifest = 0,
  kIndex = 1,    // packed index of one table
  kLog = 2,      // log chunk, later the payload of the tables flushed from it
  kSettled = 3,  // payload that a lazy copy or an evacuation wrote in key order
};

// A run of pool space. Freed when the last reference goes.
class Extent {
 public:
  Extent(Pool* pool, PmRef offset, uint64_t size, ExtentKind kind)
      : pool_(pool), offset_(offset), size_(size), kind_(kind) {}
  ~Extent();
  Extent(const Extent&) = delete;
  Extent& operator=(const Extent&) = delete;

  PmRef offset() const { return offset_; }
  uint64_t size() const { return size_; }
  PmRef end() const { return offset_ + size_; }
  ExtentKind kind() const { return kind_; }
  char* data() const;
  bool Contains(PmRef ref) const { return ref >= offset_ && ref < offset_ + size_; }

  // Gives the tail beyond the first size bytes (rounded up to kExtentUnit) back. Only before the extent is named in
  // the manifest or shared between threads.
  void Shrink(uint64_t size);

  // The same in two steps, for an extent that the manifest still names at its full size: the tail stays taken until
  // ReleaseTrimmed, which comes after the edit that names the shorter extent.
  void Trim(uint64_t size);
  void ReleaseTrimmed();

  // Never gives the space back while the database is open: its state on the medium is in doubt.
  void Abandon() { abandoned_ = true; }

  // The manifest names this index extent no more, durably: when its last reader is gone its magic number is erased, so
  // that a repair which has no manifest to go by does not take it for a table. By any thread.
  void MarkDropped() { dropped_.store(true, std::memory_order_relaxed); }  // relaxed: ordered by the reference count

  // Payload extents: bytes of records that tables of the current version refer to. Kept by Version installation.
  std::atomic<int64_t> live_bytes{0};

  // Payload extents: bytes that were written for records. Garbage is what of them is not live; the rest of the extent
  // is rounding. Set before the extent is shared.
  uint64_t payload_bytes() const { return payload_bytes_; }
  void SetPayloadBytes(uint64_t bytes) { payload_bytes_ = bytes; }

  // Payload extents: garbage collection wants this one empty; merges copy what is live out of it.
  std::atomic<bool> evacuate{false};

 private:
  Pool* const pool_;
  const PmRef offset_;
  uint64_t size_;
  uint64_t payload_bytes_ = 0;
  uint64_t trimmed_ = 0;  // bytes behind the extent that are still taken for it
  const ExtentKind kind_;
  bool abandoned_ = false;
  std::atomic<bool> dropped_{false};
};

using ExtentRef = std::shared_ptr<Extent>;

class Pool {
 public:
  struct RegionOptions {
    std::string path;
    uint64_t limit = 0;  // most bytes; 0: what its file system has
    RegionNodes nodes = {};
  };

  struct Options {
    uint64_t limit = 0;   // most bytes of the pool's own file; 0: what the file system has
    uint64_t growth = 0;  // see Options::pool_growth
    PersistMode persist_mode = kPersistAuto;
    MemoryMedium* memory = nullptr;           // not null: the pool lies there, its path is only a name
    RegionNodes nodes = {};                   // where the memory of its own file has to lie
    NvmModel* model = nullptr;                // not null: what stores and reads are charged to; outlives the pool
    std::vector<RegionOptions> regions = {};  // further regions
    RegionPlaces search = {};                 // where to look for those that are not where regions says
    bool huge_pages = true;
    FileAccess access = FileAccess::kOwner;     // of files that are made
    std::array<uint8_t, kUuidBytes> uuid = {};  // of a new pool; zeros: drawn
    uint64_t secret = 0;  // of a new pool; 0: a random one, as it has to be wherever others choose values
  };

  // Whether a DAX device holds a pool, from its first root on, or anything else: only a device whose first page is
  // zero, or on which making a pool was cut short, does not.
  static Status ExistsOnDevice(const std::string& path, bool* exists);

  // Makes an empty pool in a temporary file beside path. It becomes the pool at path with Publish, after its first
  // root was written; until then a crash leaves only the temporary file, which the next Create with the same uuid
  // removes. A DAX device is used as it is.
  static Status Create(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool);
  Status Publish();

  // Whether nothing of the pool outlives the process.
  bool is_volatile() const { return regions_.first().kind() == RegionKind::kAnonymous; }

  // Opens an existing pool and all regions that it has, with all of its space free; recovery claims what the manifest
  // names. What was read is on its way to the medium: a fence has to come before anything is stored that relies on it.
  static Status Open(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool);

  // Removes the pool at path and its regions; of DAX devices the first page is cleared
  // if there is a pool or region of it on them. Fails if it is open; OK if there is none. A region that is nowhere is
  // an error after all else is gone.
  static Status Destroy(const std::string& path, const RegionPlaces& places = RegionPlaces());

  // Makes a further region and adds it, durably. What a crash leaves is the pool without it, or with it, empty; a file
  // that it left is taken for a new region by the next call. InvalidArgument if there is something else at its path, if
  // the pool has it already, if its persist mode is not the pool's, or if no addresses are left for it. By one thread
  // at a time.
  Status AddRegion(const RegionOptions& options);

  // Of Options::regions, those that the pool did not have when it was opened or made. They are to be added when its
  // recovery has found nothing amiss.
  const std::vector<RegionOptions>& missing_regions() const { return missing_regions_; }

  // Removes the file of a new pool that is not wanted after all. What is mapped stays usable.
  void Remove();

  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  char* At(PmRef ref) const { return base_ + ref; }
  PmRef RefOf(const char* p) const { return static_cast<PmRef>(p - base_); }
  Persist& persist() { return persist_; }
  PersistMode persist_mode() const { return persist_.mode(); }

  // [p, p + size), in the pool, is about to be read. Free without a model.
  void ChargeRead(const void* p, size_t size) const {
    if (options_.model != nullptr) options_.model->Read(p, size);
  }
  const std::string& path() const { return path_; }

  // Whether [ref, ref + size) lies inside one of the pool's files, so that reading it cannot fault.
  bool Readable(PmRef ref, uint64_t size) const { return regions_.Readable(ref, size); }

  // The end of the file that ref lies in.
  const char* ReadableEnd(PmRef ref) const { return At(regions_.Of(ref).end()); }

  using Leave = PoolSpace::Leave;

  // Takes size bytes (rounded up to kExtentUnit), growing the file as needed. NoSpace if the pool does not have them.
  Status Allocate(uint64_t size, ExtentKind kind, ExtentRef* extent) {
    return AllocateAtMost(size, size, Leave(), kind, extent);
  }

  // The same, but settles for a shorter extent of at least min_size if space is short or scattered, and leaves what is
  // asked for.
  Status AllocateAtMost(uint64_t size, uint64_t min_size, Leave leave, ExtentKind kind, ExtentRef* extent);

  // Recovery: takes exactly this range. Corruption if it is outside of the file or taken already.
  Status Claim(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent);

  // Has the files grow if no free run of so many bytes is left in them; see PoolSpace.
  bool GrowAhead(uint64_t bytes) { return space_.GrowAhead(bytes); }

  // Give storage of free space back to the file systems, unless space is not reused any more; see PoolSpace.
  bool GiveBackIdle(uint64_t now_micros, uint64_t window_micros, uint64_t reserve);
  void GiveBackAll(uint64_t reserve);

  // Faults the extent in for writing.
  void Populate(const Extent& extent) {
    const RegionSet::Member& m = regions_.Of(extent.offset());
    m.region->Populate(extent.offset() - m.base, extent.size());
  }

  // Maps the extent in for reading from end to end.
  void PopulateForReading(const Extent& extent) {
    const RegionSet::Member& m = regions_.Of(extent.offset());
    m.region->PopulateForReading(extent.offset() - m.base, extent.size());
  }

  // From now on no space is given to anybody else: it is in doubt what the manifest on the medium names.
  // release: see Release.
  void StopReuse() { reuse_stopped_.store(true, std::memory_order_release); }

  // The current root; Corruption if neither slot is valid. Epoch 0 in a new pool.
  Status ReadRoot(RootSlot* root) const;

  // Durably makes this manifest area the current one. One thread at a time.
  Status SwitchRoot(const Extent& manifest, uint64_t generation);

  // A number that no pool has drawn before.
  uint64_t Random64() const;

  // Marks what belongs to this pool and no other.
  uint64_t id() const { return PoolId(superblock_); }

  // What the checksums of all that lies in extents start with. Never to be shown.
  uint64_t secret() const { return superblock_.secret; }

  // Epoch of the root in force, 0 in a new pool. It rises with every SwitchRoot.
  uint64_t epoch() const { return root_.epoch; }

  // Epoch of the root that the next SwitchRoot writes.
  uint64_t next_epoch() const { return root_.epoch + 1; }

  const RegionSet& regions() const { return regions_; }
  const uint8_t* uuid() const { return superblock_.uuid; }
  const PoolSpace::Growth& growth() const { return space_.growth(); }
  uint64_t file_bytes() const { return regions_.size(); }
  uint64_t used_bytes() const { return space_.used(); }  // of extents in use, and header pages
  uint64_t used_in(int region) const { return space_.used_in(region); }
  uint64_t limit_of(int region) const { return space_.limit_of(region); }

  // The limits, or file sizes plus what the file systems could give.
  uint64_t capacity() const { return space_.capacity(); }
  uint64_t free_bytes() const { return space_.free_bytes(); }  // capacity - used

  // "the pool is full: ..." with these figures and what its nodes have.
  std::string DescribeFull() const { return space_.DescribeFull(); }

 private:
  friend class Extent;

  Pool(const std::string& path, const Options& options, std::unique_ptr<Region> region);

  static Status CreateOn(std::unique_ptr<Region> region, const std::string& path, const Options& options,
                         std::unique_ptr<Pool>* pool);
  static Status FreeTemporaryName(const std::string& path, const uint8_t* uuid, std::string* name);
  static Status OpenFirst(const std::string& path, const Options& options, std::unique_ptr<Region>* region);
  Status CheckSuperblock();
  void WriteSuperblock();
  void RepairRoots();
  void UnpoisonAll();
  void EraseMagic(PmRef offset);
  void MakeExtent(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent);
  void Release(PmRef offset, uint64_t size);

  // ---- pool_regions.cc
  static uint64_t AddressesWanted(const char* header_page);
  Status OpenRegions();
  Status RepairRegionTable();
  Status MatchRegions(const std::vector<RegionEntry>& entries, std::vector<RegionOptions>* found);
  Status OpenRegion(const RegionEntry& entry, const RegionOptions& options);
  Status CheckRegion(const Region& region, const RegionEntry& entry) const;
  Status CheckMode(const Region& region) const;
  Status CheckFree(const std::string& path);
  Status PlanRegion(const RegionOptions& options, RegionEntry* entry) const;
  Status MakeRegion(const RegionOptions& options, const RegionEntry& entry, std::unique_ptr<Region>* region);
  Status WriteRegionHeader(const Region& region, const RegionEntry& entry);
  Status WriteEntry(const RegionEntry& entry);
  void Discard(const Region& region);
  void DrawUuid(uint8_t* uuid) const;

  const std::string path_;
  const Options options_;
  RegionSet regions_;
  char* const base_;
  PoolSpace space_;
  Persist persist_;
  Superblock superblock_ = {};
  RootSlot root_ = {};
  std::vector<RegionOptions> missing_regions_;
  std::atomic<bool> reuse_stopped_{false};
  bool removed_ = false;
};

inline char* Extent::data() const { return pool_->At(offset_); }

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_H_
