// The pool: all persistent memory of one database, handed out as extents.
//
// Ownership of space is ownership of an Extent. The manifest is the only durable owner: an extent that no manifest
// record names is free after a crash, so neither allocating nor freeing writes anything. While the database is open an
// ExtentRef keeps the space; when the last one goes, the space is free for reuse at once. Hence the rule for whoever
// drops an extent: the manifest edit without it is durable before its last reference goes.
//
// Threads: all functions by any number at once, except where noted.

#ifndef MIODB_SRC_NVM_POOL_H_
#define MIODB_SRC_NVM_POOL_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/format/superblock.h"
#include "src/nvm/extent_allocator.h"
#include "src/nvm/persist.h"
#include "src/nvm/region.h"
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
  struct Options {
    uint64_t limit = 0;   // most bytes of the pool; 0: what the file system has
    uint64_t growth = 0;  // step of growing
    PersistMode persist_mode = kPersistAuto;
    MemoryMedium* memory = nullptr;  // not null: the pool lies there, its path is only a name
    RegionNodes nodes = {};          // where its memory has to lie
    NvmModel* model = nullptr;       // not null: what stores and reads are charged to; outlives the pool
  };

  // Whether a DAX device holds a pool, from its first root on, or anything else: only a device whose first page is
  // zero, or on which making a pool was cut short, does not.
  static Status ExistsOnDevice(const std::string& path, bool* exists);

  // Makes an empty pool in a temporary file beside path. It becomes the pool at path with Publish, after its first
  // root was written; until then a crash leaves only the temporary file, which the next Create removes. A DAX device is
  // used as it is.
  static Status Create(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool);
  Status Publish();

  // Opens an existing pool with all of its space free; recovery claims what the manifest names. What was read is on its
  // way to the medium: a fence has to come before anything is stored that relies on it.
  static Status Open(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool);

  // Removes the pool at path and what an unfinished Create left, or clears a DAX device's first page if there is a pool
  // on it. Fails if it is open; OK if there is none.
  static Status Destroy(const std::string& path);

  // Removes the file of a new pool that is not wanted after all. What is mapped stays usable.
  void Remove();

  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  char* At(PmRef ref) const { return region_->base() + ref; }
  PmRef RefOf(const char* p) const { return static_cast<PmRef>(p - region_->base()); }
  Persist& persist() { return persist_; }
  PersistMode persist_mode() const { return persist_.mode(); }

  // [p, p + size), in the pool, is about to be read. Free without a model.
  void ChargeRead(const void* p, size_t size) const {
    if (options_.model != nullptr) options_.model->Read(p, size);
  }
  const std::string& path() const { return path_; }

  // Whether [ref, ref + size) lies inside the pool's file, so that reading it cannot fault.
  bool Readable(PmRef ref, uint64_t size) const {
    const uint64_t file = region_->size();
    return ref >= kPoolHeaderSize && ref <= file && size <= file - ref;
  }
  const char* readable_end() const { return region_->base() + region_->size(); }

  // What has to stay free after an allocation: so many bytes, and so many of them in one piece.
  struct Leave {
    uint64_t bytes = 0;
    uint64_t run = 0;
  };

  // Takes size bytes (rounded up to kExtentUnit), growing the file as needed. NoSpace if the pool does not have them.
  Status Allocate(uint64_t size, ExtentKind kind, ExtentRef* extent) {
    return AllocateAtMost(size, size, Leave(), kind, extent);
  }

  // The same, but settles for a shorter extent of at least min_size if space is short or scattered, and leaves what is
  // asked for.
  Status AllocateAtMost(uint64_t size, uint64_t min_size, Leave leave, ExtentKind kind, ExtentRef* extent);

  // Recovery: takes exactly this range. Corruption if it is outside of the file or taken already.
  Status Claim(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent);

  // Faults the extent in for writing.
  void Populate(const Extent& extent) { region_->Populate(extent.offset(), extent.size()); }

  // Maps the extent in for reading from end to end.
  void PopulateForReading(const Extent& extent) { region_->PopulateForReading(extent.offset(), extent.size()); }

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

  // Epoch of the root that the next SwitchRoot writes.
  uint64_t next_epoch() const { return root_.epoch + 1; }

  const Region& region() const { return *region_; }
  uint64_t file_bytes() const { return region_->size(); }
  uint64_t used_bytes() const;  // of extents in use, and the pool header
  uint64_t capacity() const;    // limit, or file size plus what the file system could give
  uint64_t free_bytes() const;  // capacity - used

  // "the pool is full: ..." with these figures and what its nodes have.
  std::string DescribeFull() const;

 private:
  friend class Extent;

  Pool(const std::string& path, const Options& options, std::unique_ptr<Region> region);

  void ClearHeader();
  static Status CreateOn(std::unique_ptr<Region> region, const std::string& path, const Options& options,
                         std::unique_ptr<Pool>* pool);
  Status CheckSuperblock();
  void WriteSuperblock();
  void RepairRoots();
  bool TryAllocate(uint64_t size, uint64_t min_size, Leave leave, uint64_t* taken, uint64_t* offset, bool* fits);
  Status GrowFor(uint64_t size, uint64_t min_size);
  void EraseMagic(PmRef offset);
  void MakeExtent(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent);
  void Release(PmRef offset, uint64_t size);
  bool RefreshCapacity();
  Status Full(uint64_t size) const;

  const std::string path_;
  const Options options_;
  const std::unique_ptr<Region> region_;
  Persist persist_;
  Superblock superblock_ = {};
  RootSlot root_ = {};

  Mutex grow_mutex_;  // taken before mutex_
  mutable Mutex mutex_;
  ExtentAllocator allocator_ GUARDED_BY(mutex_);
  uint64_t total_ GUARDED_BY(mutex_) = 0;  // bytes of the file that the allocator knows of
  std::atomic<uint64_t> file_system_available_{0};
  std::atomic<bool> reuse_stopped_{false};
  bool removed_ = false;
};

inline char* Extent::data() const { return pool_->At(offset_); }

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_H_
