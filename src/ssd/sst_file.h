// A table file of the SSD tier, as the manifest knows it, and as versions share it.
//
// Threads: immutable, but for the mark that it is obsolete.
//
// Ownership: versions and running jobs hold SstRefs. When the last one of an obsolete file goes, its store removes the
// file from the disk. The store outlives all of its files.

#ifndef MIODB_SRC_SSD_SST_FILE_H_
#define MIODB_SRC_SSD_SST_FILE_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "src/format/expiry.h"
#include "src/util/bytes/shared_list.h"
#include "src/util/check/check.h"

namespace miodb {

class SsdStore;

struct SstMeta {
  uint64_t number = 0;
  uint64_t size = 0;
  uint64_t entries = 0;
  uint64_t tombstones = 0;
  uint64_t fingerprint = 0;  // SstReader::fingerprint
  std::string smallest;      // user keys
  std::string largest;

  // Whether the two are known. The manifest does not hold long keys: they are read from the file (SsdStore::ReadRange).
  bool has_range = true;

  // No entry is hidden by a deletion of a range that is no newer. 0: nothing is known.
  uint64_t ranges_applied = 0;

  uint64_t expiring = 0;  // entries that expire
  ExpiryRange expiry;     // of these

  // No entry is newer, of a file that was written since the open. 0: it is older than that, and not in the manifest.
  uint64_t max_sequence = 0;

  // From this moment on the file is tombstones and nothing else; kNoExpiry: it never is.
  uint64_t whole_expiry() const {
    DCHECK(expiring == 0 || expiry.any());
    return expiring > 0 && expiring + tombstones == entries ? expiry.last : kNoExpiry;
  }
};

class SstFile {
 public:
  SstFile(SsdStore* store, std::shared_ptr<const SstMeta> meta) : store_(store), meta_(std::move(meta)) {
    CHECK(store_ != nullptr && meta_ != nullptr);
  }
  ~SstFile();
  SstFile(const SstFile&) = delete;
  SstFile& operator=(const SstFile&) = delete;

  const SstMeta& meta() const { return *meta_; }
  const std::shared_ptr<const SstMeta>& shared_meta() const { return meta_; }

  // No durable record names the file any more, or none ever will.
  void MarkObsolete() const { obsolete_.store(true, std::memory_order_relaxed); }  // relaxed: ordered by the references

 private:
  SsdStore* const store_;
  const std::shared_ptr<const SstMeta> meta_;
  mutable std::atomic<bool> obsolete_{false};
};

using SstRef = std::shared_ptr<const SstFile>;

// Figures of a part of a level, by which the picker searches, and of a whole level for estimates.
struct FileSummary {
  void Add(const SstRef& file) {
    DCHECK(file != nullptr);
    Add({.whole_expiry = file->meta().whole_expiry(), .entries = file->meta().entries});
  }
  void Add(const FileSummary& other) {
    whole_expiry = std::min(whole_expiry, other.whole_expiry);
    entries += other.entries;
  }

  uint64_t whole_expiry = kNoExpiry;  // no file has expired as a whole earlier
  uint64_t entries = 0;               // of all the files
};

// Files of one level in key order. Versions share what of it does not change.
using FileList = SharedList<SstRef, FileSummary>;

}  // namespace miodb

#endif  // MIODB_SRC_SSD_SST_FILE_H_
