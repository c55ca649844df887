// The pool: all persistent memory of one database, handed out as extents.
//
// A pool is one file, or a file and further regions (src/format/region_table.h): files or devices whose references
// follow those of the region before. The header page names the regions; an open finds out where they are.
//
// Pool holds the parts, each with a header of its own, and is what all other folders know of them:
//
//   region_set.h     the regions (region.h) by the references that belong to them
//   pool_head.h      the header page: superblock, roots, entries of further regions
//   pool_regions.h   which further regions there are, and adding one
//   pool_space.h     which space is free, and how files grow and shrink
//   persist.h        the door through which all is stored
//
// Ownership of space is ownership of an Extent (extent.h). An extent that no manifest record names is free after a
// crash, so neither allocating nor freeing writes anything.
//
// Threads: all functions by any number at once, except where noted.

#ifndef MIODB_SRC_NVM_POOL_POOL_H_
#define MIODB_SRC_NVM_POOL_POOL_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "miodb/status.h"
#include "src/format/pm_ref.h"
#include "src/format/superblock.h"
#include "src/nvm/persist/persist.h"
#include "src/nvm/pool/extent.h"
#include "src/nvm/pool/pool_head.h"
#include "src/nvm/pool/pool_options.h"
#include "src/nvm/region/region_set.h"
#include "src/nvm/space/held_space.h"
#include "src/nvm/space/pool_space.h"

#if defined(__SANITIZE_ADDRESS__) && !defined(MIODB_SIMULATOR)
#define MIODB_POISONS_FREE_SPACE
#endif

namespace miodb {

class PoolRegions;

class Pool {
 public:
  using RegionOptions = PoolRegionOptions;
  using Options = PoolOptions;

  // Whether a DAX device holds a pool, from its first root on, or anything else: only a device whose first page is
  // zero, or on which making a pool was cut short, does not.
  static Status ExistsOnDevice(const std::string& path, bool* exists);

  // Makes an empty pool in a temporary file beside path. Publish makes the file the pool at path, after its first root
  // was written; until then a crash leaves only the temporary file, which the next Create with the same uuid removes. A
  // DAX device is used as it is.
  static Status Create(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool);
  Status Publish();

  // Whether nothing of the pool outlives the process.
  bool is_volatile() const { return regions_.first().kind() == RegionKind::kAnonymous; }

  // Opens an existing pool and all regions that it has, with all of its space free; recovery claims what the manifest
  // names. Bytes that were read may still be on their way to the medium: fence before storing anything that relies on
  // them.
  static Status Open(const std::string& path, const Options& options, std::unique_ptr<Pool>* pool);

  // For a pool that is read (PoolOptions::use) while another process may write to it: takes up the growth of its files,
  // and regions that were added. Extents that are claimed may overlap extents of another moment. search: asked where to
  // look, if there are some.
  Status Follow(const std::function<RegionPlaces()>& search);

  // Space that came free and waits for readers in other processes; in an owner's pool.
  HeldSpace* held() { return &held_; }

  // Removes the pool at path and its regions; of DAX devices the first page is cleared
  // if there is a pool or region of it on them. Fails if it is open; OK if there is none. A region that is nowhere is
  // an error after all else is gone.
  static Status Destroy(const std::string& path, const RegionPlaces& places = RegionPlaces());

  // Makes a further region and adds it, durably. After a crash the pool does not have the region, or has it, empty. If
  // a file was left, the next call takes the file for the new region. InvalidArgument if there is something else at its
  // path, data of a newer state of the pool as well, if the pool has it already, if its persist mode is not the pool's,
  // or if no addresses are left for it. By one thread at a time.
  Status AddRegion(const RegionOptions& options);

  // Regions of Options::regions that the pool did not have when it was opened or made. Add them when the recovery has
  // found nothing amiss.
  const std::vector<RegionOptions>& missing_regions() const;

  // Removes the file of a new pool that is not wanted after all. The mapping stays usable.
  void Remove();

  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  // REQUIRES: ref is one that there can be, or the end of the last.
  char* At(PmRef ref) const {
    DCHECK_LE(ref, IndexWord::kMaxRef + 1);
    return base_ + ref;
  }
  Persist& persist() { return persist_; }
  PersistMode persist_mode() const { return persist_.mode(); }

  // [p, p + size), in the pool, is about to be read. Free without a model.
  void ChargeRead(const void* p, size_t size) const {
    DCHECK(Readable(static_cast<PmRef>(static_cast<const char*>(p) - base_), size));
    if (options_.model != nullptr) options_.model->Read(p, size);
  }
  const std::string& path() const { return path_; }

  // Whether [ref, ref + size) lies inside one of the pool's files, so that reading it cannot fault.
  bool Readable(PmRef ref, uint64_t size) const { return regions_.Readable(ref, size); }

  // Takes size bytes (rounded up to kExtentUnit), growing the file as needed. NoSpace if the pool does not have them.
  Status Allocate(uint64_t size, ExtentKind kind, ExtentRef* extent) {
    return AllocateAtMost(size, size, 0, kind, extent);
  }

  // The same, but settles for a shorter extent of at least min_size if space is short or scattered, and leaves so many
  // bytes free. level: where the content goes, as PlacementRequest has it.
  Status AllocateAtMost(uint64_t size, uint64_t min_size, uint64_t leave, ExtentKind kind, ExtentRef* extent,
                        int level = 0);

  // Recovery: takes exactly this range. Corruption if it is outside of the file or taken already.
  Status Claim(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent);

  // Has the files grow if no free run of so many bytes is left in them; see PoolSpace.
  bool GrowAhead(uint64_t bytes) { return space_.GrowAhead(bytes); }

  // Give storage of free space back to the file systems, unless space is not reused any more; see PoolSpace.
  bool GiveBackIdle(uint64_t now_micros, uint64_t window_micros, uint64_t reserve,
                    KeptFree kept = KeptFree::kForWriters);
  void GiveBackAll(uint64_t reserve);

  // From now on no space is given to anybody else: it is in doubt what the manifest on the medium names.
  // release: see Release.
  void StopReuse() { reuse_stopped_.store(true, std::memory_order_release); }

  // The current root; Corruption if neither slot is valid. Epoch 0 in a new pool.
  Status ReadRoot(RootSlot* root) const { return head_.ReadRoot(root); }

  // Durably makes this manifest area the current one. By a single thread at a time.
  Status SwitchRoot(const Extent& manifest, uint64_t generation) {
    CHECK(manifest.kind() == ExtentKind::kManifest);
    return head_.SwitchRoot(manifest.offset(), manifest.size(), generation);
  }

  // A number that no pool has drawn before.
  uint64_t Random64() const { return options_.DrawRandom(); }

  // Marks what belongs to this pool and no other.
  uint64_t id() const { return head_.id(); }
  const uint8_t* uuid() const { return head_.uuid(); }

  // The seed of the checksums of everything in extents. Never to be shown.
  uint64_t secret() const { return head_.secret(); }

  // Epoch of the root in force, 0 in a new pool. The epoch rises with every SwitchRoot.
  uint64_t epoch() const { return head_.epoch(); }

  const RegionSet& regions() const { return regions_; }
  uint64_t file_bytes() const { return regions_.size(); }

  // Figures of the space, in all and by region.
  const PoolSpace& space() const { return space_; }
  uint64_t used_bytes() const { return space_.used(); }  // of extents in use, and header pages

  // Bytes of extents of a kind in one region. An extent whose last reference is gone does not count, even if its space
  // waits for readers.
  uint64_t bytes_of(ExtentKind kind, int region) const {
    DCHECK(region >= 0 && region < kMaxRegions);
    return bytes_[region][static_cast<int>(kind)].load(std::memory_order_relaxed);  // relaxed: a statistic
  }

  const PlacementPolicy& placement() const { return *placement_; }

  // The limits, or file sizes plus what the file systems could give.
  uint64_t capacity() const { return space_.capacity(); }
  PoolRoom Room() const { return space_.Room(); }

 private:
  friend class Extent;

  Pool(const std::string& path, const Options& options, std::unique_ptr<Region> region);

  void MakeNew();
  void UnpoisonAll();
  RegionOrder OrderFor(ExtentKind kind, int level, uint64_t size) const;
  void MakeExtent(PmRef offset, uint64_t size, ExtentKind kind, ExtentRef* extent);
  std::atomic<uint64_t>& BytesAt(PmRef offset, ExtentKind kind) {
    return bytes_[regions_.IndexOf(offset)][static_cast<int>(kind)];
  }
  void Release(PmRef offset, uint64_t size, ExtentKind kind);

  const std::string path_;
  const Options options_;
  RegionSet regions_;
  char* const base_;
  PoolSpace space_;
  HeldSpace held_;
  Persist persist_;
  PoolHead head_;
  const std::unique_ptr<PoolRegions> further_;
  const PlacementPolicy* const placement_;
  std::atomic<uint64_t> bytes_[kMaxRegions][kExtentKinds] = {};
  std::atomic<bool> reuse_stopped_{false};
  bool removed_ = false;
};

inline char* Extent::data() const { return pool_->At(offset_); }

// The first of n bytes of a pool that AddressSanitizer knows to be free, which a read to which damage has led must not
// touch; limit if none is. Each byte is asked for by itself: another thread may take or free what lies behind a record.
#ifdef MIODB_POISONS_FREE_SPACE
const char* StoredEnd(const char* p, size_t n, const char* limit);
#else
constexpr const char* StoredEnd(const char*, size_t, const char* limit) { return limit; }
#endif

}  // namespace miodb

#endif  // MIODB_SRC_NVM_POOL_POOL_H_
