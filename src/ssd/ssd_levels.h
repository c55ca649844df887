// The levels of the SSD tier at one moment: in each, files in key order that do not overlap. Versions in a level are
// older than versions of the same keys in the levels above, and all of them are older than those in the pool.
//
// Threads: immutable.

#ifndef MIODB_SRC_SSD_SSD_LEVELS_H_
#define MIODB_SRC_SSD_SSD_LEVELS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "src/ssd/ssd_store.h"

namespace miodb {

// The first file whose largest key is not before key, or files.size().
size_t FindFile(const KeyOrder& order, const FileList& files, const Slice& key);

// The files with keys in [smallest, largest].
FileList OverlappingFiles(const KeyOrder& order, const FileList& files, const Slice& smallest, const Slice& largest);

uint64_t TotalBytes(const FileList& files);

struct SsdLevels {
  SsdStore* store = nullptr;
  std::vector<FileList> levels;
  std::vector<uint64_t> level_bytes;  // the same as TotalBytes(levels[i])

  // See SsdStore::Get.
  Status Get(const LookupKey& key, SstReader::ReadMode mode, bool newest, BlockPin* pin, bool* found,
             RecordView* record) const;

  // Notes what Get would most likely read.
  void PlanGet(const LookupKey& key, BlockReads* reads) const;

  // Adds an iterator for each level that has files, newest first. This outlives them.
  void AddIterators(const SstReader::ReadMode& mode, std::vector<std::unique_ptr<InternalIterator>>* iterators) const;

  // Bytes in files of keys in [start, limit), about.
  uint64_t BytesIn(const Slice& start, const Slice& limit) const;

  // Whether a level from this one on has a file with keys in [smallest, largest].
  bool OverlapsFrom(size_t level, const Slice& smallest, const Slice& largest) const;

  uint64_t bytes() const;
  size_t file_count() const;
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_SSD_LEVELS_H_
