// One file or DAX device of persistent memory, mapped into an address range that grows with it in place, so that no
// reference or pointer into it ever moves. Regions of one pool share an address range.
//
// Space is allocated in the file system before it is used (fallocate), so a full device is an error of Grow and not a
// SIGBUS at some later store. Where a NUMA node is asked for, the same step takes the memory from that node, or from
// the next one, or fails: later stores have no page left to allocate.
//
// Threads: Grow by one thread at a time; the rest by any.

#ifndef MIODB_SRC_NVM_REGION_H_
#define MIODB_SRC_NVM_REGION_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "miodb/options.h"
#include "miodb/status.h"
#include "src/numa/file_system.h"
#include "src/numa/placement.h"
#include "src/nvm/address_range.h"
#include "src/nvm/persist_hook.h"

namespace miodb {

// What a region lies on.
enum class RegionKind { kFsdax, kDevdax, kTmpfs, kHugetlbfs, kOtherFile, kAnonymous, kMemory };

const char* RegionKindName(RegionKind kind);

// Addresses that a region takes when it is opened, where it may become as large: any number of pools of this size have
// room in a process. Larger files take kAddressesPerByte times their size. Under the thread sanitizer a program has
// few.
#if defined(__SANITIZE_THREAD__)
inline constexpr uint64_t kAddressesAtOpen = uint64_t{16} << 30;
#else
inline constexpr uint64_t kAddressesAtOpen = uint64_t{256} << 30;
#endif
inline constexpr uint64_t kAddressesPerByte = 4;

// Where a region lies in the address space, and on which nodes and pages.
struct RegionPlace {
  RegionNodes nodes = {};  // where its memory has to lie; InvalidArgument if that cannot be had there
  std::shared_ptr<AddressRange> range = nullptr;  // null: one of its own
  uint64_t offset = 0;                            // in range
  uint64_t least = 0;                             // bytes that a range of its own has to have
  uint64_t room = 0;                              // that had better be free behind it
  uint64_t at_open = kAddressesAtOpen;
  bool huge_pages = true;                  // ask for them where the kernel may give them
  FileAccess access = FileAccess::kOwner;  // of the file, if it is made
};

class Region {
 public:
  using Place = RegionPlace;

  // Creates path, which must not exist, with size bytes. max_size: what it may grow to; 0: all that the file
  // system could hold.
  static Status Create(const std::string& path, uint64_t size, uint64_t max_size, PersistMode wanted,
                       std::unique_ptr<Region>* region, const Place& place = Place());

  // Opens an existing file at its present size, or a DAX device, which has one size for ever. InvalidArgument if its
  // memory does not lie on the nodes, or if it does not fit into what the range has for it.
  static Status Open(const std::string& path, uint64_t max_size, PersistMode wanted, std::unique_ptr<Region>* region,
                     const Place& place = Place());

  // A region in memory of the caller, which grows up to capacity and keeps medium->size.
  static std::unique_ptr<Region> InMemory(MemoryMedium* medium, uint64_t capacity);

  // A part of such memory that is there from the beginning and has one size.
  static std::unique_ptr<Region> PartOfMemory(MemoryMedium* medium, uint64_t offset, uint64_t size);

  // Bytes of a file, which need not be a pool, or of a device.
  static Status SizeOf(const std::string& path, uint64_t* bytes);

  // The most that the file system or device of path could hold, which may be a name in it that is not there yet.
  static Status LargestSize(const std::string& path, uint64_t* bytes);

  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  char* base() const { return base_; }
  const std::string& path() const { return path_; }
  PersistMode mode() const { return mode_; }
  RegionKind kind() const { return kind_; }
  const RegionNodes& nodes() const { return place_.nodes; }
  bool huge_pages() const { return place_.huge_pages; }

  // Bytes of the file. Everything below is backed by storage but its holes.
  uint64_t size() const { return size_.load(std::memory_order_acquire); }  // acquire: pairs with Grow

  // What it may grow to. Less from the moment on at which a Grow found no addresses for more.
  uint64_t max_size() const { return max_size_.load(std::memory_order_relaxed); }  // relaxed: a bound that only shrinks

  bool can_grow() const { return grows_; }

  // Whether a store takes new space of the file system, without which it is a SIGBUS. Only of a file that was copied to
  // where files are copied on write: those that are made here are not.
  bool copies_on_write() const { return copies_on_write_; }

  // Sizes of the file are multiples of this: its pages, where they are large ones.
  uint64_t granularity() const { return granularity_; }

  // From now on it grows to no more than this. REQUIRES: nobody grows it at the same time.
  void LimitTo(uint64_t max_size);

  // The addresses it lies in; null: memory of the caller.
  const std::shared_ptr<AddressRange>& range() const { return place_.range; }

  // Tells file systems apart; 0: none.
  uint64_t file_system() const { return file_system_; }

  // What of it may have had no storage when it was opened: a store there may be a SIGBUS. Never the header page.
  const std::vector<FileHole>& holes_at_open() const { return holes_at_open_; }

  // Gives storage to what of [offset, offset + size) has none, as Grow does. IOError, or NoSpace.
  Status Fill(uint64_t offset, uint64_t size);

  // Gives the storage of [offset, offset + size), multiples of the granularity, back to the file system. Until Fill
  // nobody may store there, whatever it returns. NotSupported if this medium, or its file system, keeps it for ever.
  Status Punch(uint64_t offset, uint64_t size);

  // Bytes of the file that have storage, as far as its file system says.
  uint64_t stored_bytes() const;

  // Makes the file shorter, new_size bytes rounded up to its granularity. Nobody may look at what was behind. Does
  // nothing where files do not grow.
  Status Cut(uint64_t new_size);

  // Makes the file new_size bytes long, rounded up to its granularity. On failure (IOError, or NoSpace from the file
  // system, or because the addresses behind its own are taken) it is as before.
  Status Grow(uint64_t new_size);

  // What the file system could still give, in bytes; of a bound region, what its nodes could.
  uint64_t FileSystemAvailable() const;

  // What keeps it from growing but its limit and its file system, for errors: "NUMA node 2 has 4096 bytes available" of
  // a bound region, and that it has no more addresses; else "".
  std::string DescribeShortage() const;

  // Where its pages lie now, of up to count.
  PageSample Sample(uint64_t count) const;

  // Faults in [offset, offset + size) for writing, so that later stores there take no page faults.
  void Populate(uint64_t offset, uint64_t size);

  // Maps in [offset, offset + size) for reading, in one go.
  void PopulateForReading(uint64_t offset, uint64_t size);

  // Makes the file's length and allocation durable.
  Status SyncFile();

  // Whether path stands for memory that has no name and is gone when the region is. It is only ever created.
  static bool IsAnonymous(const std::string& path) { return path == "anonymous"; }

  // Whether path is a character device. Only those of devdax can be opened.
  static bool IsDevice(const std::string& path);

  // IOError if a Region has the file at path open.
  static Status CheckUnused(const std::string& path);

  // Removes the file at path, unless a Region has it open: IOError. OK if there is none.
  static Status Remove(const std::string& path);

  // Gives the file "fresh" the name path, in one atomic step; the file that had it is then named kept. On failure all
  // names are as before, or kept is a second name of path. Fails if there is a file named kept.
  static Status Replace(const std::string& path, const std::string& fresh, const std::string& kept);

  // Renames the file and makes its name durable. Fails if there is a file of the new name. Without a durable name the
  // file is removed.
  Status Rename(const std::string& to);

 private:
  explicit Region(std::string path) : path_(std::move(path)) {}

  Status OpenExisting();
  Status Measure();
  Status MeasureFile();
  Status MeasureDevice(unsigned major, unsigned minor);

  // Keeps a second opener out, in this process or another, until the region is destroyed.
  Status Lock() const;
  Status FindKind();
  Status WriteInPlace();
  Status OwnAllBlocks(uint64_t size, uint64_t allocated);
  Status FindHoles(uint64_t size, uint64_t allocated);
  Status Reserve(uint64_t max_size);
  Status Map(uint64_t max_size, PersistMode wanted);
  Status MapPages(uint64_t offset, uint64_t size);
  bool CanMapWithSync() const;
  bool MapWith(int flags, uint64_t offset, uint64_t size);
  uint64_t AddressesFor(uint64_t size, uint64_t at_open) const;
  Status TakeAddresses(uint64_t size);
  Status CheckBindable() const;
  std::string DescribeNodes() const;
  uint64_t AvailableOn(const NumaTopology& topology, int node) const;
  Status BindGrowth(uint64_t offset, uint64_t size, int* node);
  Status Store(uint64_t offset, uint64_t size, const std::string& what);
  Status CheckNodes(uint64_t offset, uint64_t size) const;
  void SampleStored(uint64_t count, Touch touch, PageSample* sample) const;
  Status Error(const char* what) const;

  std::string path_;
  int fd_ = -1;                     // opened once; -1: in memory
  MemoryMedium* medium_ = nullptr;  // not null: in memory
  char* base_ = nullptr;
  std::atomic<uint64_t> max_size_{0};
  uint64_t addresses_ = 0;  // bytes of the range that are its own
  std::atomic<bool> out_of_addresses_{false};
  PersistMode mode_ = kPersistFile;
  RegionKind kind_ = RegionKind::kMemory;
  Place place_;
  uint64_t granularity_ = 0;  // of the mapping and of sizes
  uint64_t file_system_ = 0;
  bool grows_ = true;
  bool copies_on_write_ = false;
  std::vector<FileHole> holes_at_open_;
  std::atomic<uint64_t> size_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_REGION_H_
