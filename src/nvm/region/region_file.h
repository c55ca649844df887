// The storage of a region: an open file, a DAX device, memory without a name, or memory of the caller.
//
// Space is allocated in the file system before it is used (fallocate), so a full device is an error of Store and not a
// SIGBUS at some later store to memory.
//
// RegionFile owns the descriptor and the lock that keeps a second opener out, in this process or another, until it is
// destroyed. Memory of the caller stays the caller's.
//
// Threads: Open, Create, Cut and Rename by one thread, with nobody else at work; the rest by any.

#ifndef MIODB_SRC_NVM_REGION_REGION_FILE_H_
#define MIODB_SRC_NVM_REGION_REGION_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/options.h"
#include "miodb/status.h"
#include "src/numa/file_system.h"
#include "src/nvm/persist/persist_hook.h"
#include "src/util/check/check.h"

namespace miodb {

enum class RegionKind { kFsdax, kDevdax, kTmpfs, kHugetlbfs, kOtherFile, kAnonymous, kCallersMemory };

const char* RegionKindName(RegionKind kind);

// The kind of object behind the path of a region.
enum class PathKind {
  kFile,       // a file, whether it is there or not
  kDevice,     // a character device; only those of devdax can be opened
  kAnonymous,  // memory that has no name and is gone when the region is; it is only ever created
};

PathKind KindOfPath(const std::string& path);

// The same question, of the path alone, for kAnonymous.
bool IsAnonymousPath(const std::string& path);

// The role of a process that opens a region. A single process owns the region; any number read it meanwhile, and never
// store.
enum class RegionUse { kOwner, kReader };

class RegionFile {
 public:
  // Not open yet. Errors name the path.
  explicit RegionFile(std::string path) : path_(std::move(path)) {}

  // Memory of the caller, which outlives this.
  explicit RegionFile(MemoryMedium* medium);

  ~RegionFile();
  RegionFile(const RegionFile&) = delete;
  RegionFile& operator=(const RegionFile&) = delete;

  // Makes the file, which must not exist, empty, locked, and never copied on write.
  Status Create(FileAccess access);

  // Opens an existing file or device; an owner locks it. *size: its bytes, none of which is shared with another file.
  Status Open(uint64_t* size, RegionUse use = RegionUse::kOwner);

  // The bytes that a reader's file has now.
  Status SizeNow(uint64_t* size) const;

  const std::string& path() const { return path_; }
  RegionKind kind() const { return kind_; }
  int fd() const { return fd_; }                         // of what can be mapped
  MemoryMedium* memory() const { return medium_; }       // null: it is mapped
  uint64_t file_system() const { return file_system_; }  // tells file systems apart; 0: none

  // Sizes are multiples of this: pages, where they are large ones.
  uint64_t granularity() const { return granularity_; }
  uint64_t RoundUp(uint64_t bytes) const {
    CHECK_GT(granularity_, 0u);  // it is open
    return (bytes + granularity_ - 1) / granularity_ * granularity_;
  }

  // Whether a store takes new space of the file system, without which it is a SIGBUS. Only of a file that was copied to
  // where files are copied on write: those that are made here are not.
  bool copies_on_write() const { return copies_on_write_; }

  // Stretches that may have had no storage when the file was opened: a store there may be a SIGBUS. Never the header
  // page.
  const std::vector<FileHole>& holes_at_open() const { return holes_at_open_; }

  // Whether it has all the storage that it ever has: a device, or memory of the caller.
  bool keeps_storage() const { return kind_ == RegionKind::kDevdax || kind_ == RegionKind::kCallersMemory; }

  // Notes that the file system is DAX: the file was mapped with MAP_SYNC.
  void SetDax();

  // The most that its file system could hold.
  Status LargestSize(uint64_t* bytes) const;

  // Gives storage to a part, which may lie behind the end. IOError, or NoSpace, beginning with "what".
  Status Store(uint64_t offset, uint64_t size, const std::string& what);

  // Takes the storage of a part away, and keeps the length. NotSupported if that is not possible here, for ever.
  Status Punch(uint64_t offset, uint64_t size);

  // Makes a part zeros: pages of the cache go, storage stays, whatever it returns. False: nothing may have changed, as
  // on all file systems but ext4.
  bool Zero(uint64_t offset, uint64_t size);

  // Makes it shorter, or what a failed Store made longer as it was.
  Status Cut(uint64_t size);

  // How many of the first "size" bytes have storage, as far as the file system says.
  uint64_t StoredBytes(uint64_t size) const;
  bool HasStorageAt(uint64_t offset) const;

  // Bytes by which a file of this size may grow: the file system, and the limit of this process for files (ulimit -f),
  // decide.
  uint64_t Available(uint64_t size) const;

  // Makes length and allocation durable.
  Status Sync();

  // Renames the file and makes its name durable. Fails if there is a file of the new name. Without a durable name the
  // file is removed.
  Status Rename(const std::string& to);

  // NoSpace or IOError for errno, with what failed.
  Status Error(const char* what) const;

  // ---- Files by their paths

  // Bytes of a file, which need not be a pool, or of a device.
  static Status SizeOf(const std::string& path, uint64_t* bytes);

  // The most that the file system or device of path could hold, which may be a name in it that is not there yet.
  static Status LargestSizeOf(const std::string& path, uint64_t* bytes);

  // IOError if a region has the file at path open.
  static Status CheckUnused(const std::string& path);

  // Removes the file at path, unless a region has it open: IOError. OK if there is none.
  static Status Remove(const std::string& path);

  // Gives the file "fresh" the name path, in one atomic step; the file that had it is then named kept. On failure all
  // names are as before, or kept is a second name of path. Fails if there is a file named kept.
  static Status Replace(const std::string& path, const std::string& fresh, const std::string& kept);

 private:
  Status OpenExisting(RegionUse use = RegionUse::kOwner);
  Status Lock() const;
  Status Measure(uint64_t* size, RegionUse use = RegionUse::kOwner);
  Status MeasureFile(uint64_t* size, RegionUse use);
  Status MeasureDevice(unsigned major, unsigned minor, uint64_t* size);
  Status FindKind();
  Status WriteInPlace();
  Status OwnAllBlocks(uint64_t size, uint64_t allocated);
  Status FindHoles(uint64_t size, uint64_t allocated);

  std::string path_;
  int fd_ = -1;                     // opened once; -1: not open, or memory of the caller
  MemoryMedium* medium_ = nullptr;  // not null: memory of the caller
  RegionKind kind_ = RegionKind::kOtherFile;
  uint64_t granularity_ = 0;
  uint64_t file_system_ = 0;
  bool copies_on_write_ = false;
  std::vector<FileHole> holes_at_open_;
};

}  // namespace miodb

#endif  // MIODB_SRC_NVM_REGION_REGION_FILE_H_
