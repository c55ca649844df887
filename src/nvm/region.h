// One file or DAX device of persistent memory, mapped once into an address range reserved for its largest size, so that
// it grows in place and no reference or pointer into it ever moves.
//
// Space is allocated in the file system before it is used (fallocate), so a full device is an error of Grow and not a
// SIGBUS at some later store. Where a NUMA node is asked for, the same step takes the memory from that node, or from
// the next one, or fails: later stores have no page left to allocate.
//
// Threads: Grow by one thread at a time; the rest by any.

#ifndef MIODB_SRC_NVM_REGION_H_
#define MIODB_SRC_NVM_REGION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "miodb/options.h"
#include "miodb/status.h"
#include "src/nvm/persist_hook.h"
#include "src/nvm/placement.h"

namespace miodb {

// What a region lies on.
enum class RegionKind { kFsdax, kDevdax, kTmpfs, kHugetlbfs, kOtherFile, kMemory };

const char* RegionKindName(RegionKind kind);

class Region {
 public:
  // Creates path, which must not exist, with size bytes. max_size: the address range to reserve; 0: all that the file
  // system could hold. nodes: where its memory has to lie; InvalidArgument if that cannot be had there.
  static Status Create(const std::string& path, uint64_t size, uint64_t max_size, PersistMode wanted,
                       std::unique_ptr<Region>* region, const RegionNodes& nodes = RegionNodes());

  // Opens an existing file at its present size, or a DAX device, which has one size for ever. InvalidArgument if its
  // memory does not lie on the nodes.
  static Status Open(const std::string& path, uint64_t max_size, PersistMode wanted, std::unique_ptr<Region>* region,
                     const RegionNodes& nodes = RegionNodes());

  // A region in memory of the caller, of medium->size bytes; it grows up to medium->capacity and keeps medium->size.
  static std::unique_ptr<Region> InMemory(MemoryMedium* medium);

  ~Region();
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  char* base() const { return base_; }
  const std::string& path() const { return path_; }
  PersistMode mode() const { return mode_; }
  RegionKind kind() const { return kind_; }
  const RegionNodes& nodes() const { return nodes_; }

  // Bytes of the file; everything below is backed by storage.
  uint64_t size() const { return size_.load(std::memory_order_acquire); }  // acquire: pairs with Grow
  uint64_t max_size() const { return max_size_; }

  // Makes the file new_size bytes long. On failure (IOError, or NoSpace from the file system) it is as before.
  Status Grow(uint64_t new_size);

  // What the file system could still give, in bytes; of a bound region, what its nodes could.
  uint64_t FileSystemAvailable() const;

  // Of a bound region, "NUMA node 2 has 4096 bytes available", for errors; else "".
  std::string DescribeNodes() const;

  // Where its pages lie now, of up to count.
  PageSample Sample(uint64_t count) const;

  // Faults in [offset, offset + size) for writing, so that later stores there take no page faults.
  void Populate(uint64_t offset, uint64_t size);

  // Maps in [offset, offset + size) for reading, in one go.
  void PopulateForReading(uint64_t offset, uint64_t size);

  // Makes the file's length and allocation durable.
  Status SyncFile();

  // Whether path is a character device. Only those of devdax can be opened.
  static bool IsDevice(const std::string& path);

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

  Status MeasureFile();
  Status MeasureDevice(unsigned major, unsigned minor);

  // Keeps a second opener out, in this process or another, until the region is destroyed.
  Status Lock() const;
  Status Map(uint64_t max_size, PersistMode wanted);
  Status CheckBindable() const;
  Status BindGrowth(uint64_t offset, uint64_t size, int* node);
  Status CheckNodes(uint64_t offset, uint64_t size) const;
  Status Error(const char* what) const;

  std::string path_;
  int fd_ = -1;                     // opened once; -1: in memory
  MemoryMedium* medium_ = nullptr;  // not null: in memory
  char* base_ = nullptr;
  uint64_t max_size_ = 0;
  PersistMode mode_ = kPersistFile;
  RegionKind kind_ = RegionKind::kMemory;
  RegionNodes nodes_;
  uint64_t alignment_ = 0;  // of the mapping
  std::atomic<uint64_t> size_{0};
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_REGION_H_
