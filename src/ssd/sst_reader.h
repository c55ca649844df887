// Reads a table file.
//
// Threads: immutable, any number of readers. Iterators belong to one thread each and must not outlive the reader.
//
// Ownership: blocks lie in the cache given to Open, under keys of this reader's own, or with whoever reads them.
//
// Errors: Corruption naming file and offset for bytes that cannot be right, what the file says for reads that fail. An
// iterator that meets either stops being Valid.

#ifndef MIODB_SRC_SSD_SST_READER_H_
#define MIODB_SRC_SSD_SST_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "miodb/cache.h"
#include "miodb/iterator.h"
#include "src/ssd/block.h"
#include "src/ssd/block_reads.h"
#include "src/ssd/filter_block.h"
#include "src/ssd/recent_blocks.h"
#include "src/ssd/table_format.h"
#include "src/trace/block_trace.h"
#include "src/util/check/check.h"
#include "src/util/threads/helper_threads.h"

namespace miodb {

// Holds a block in memory, in the cache or alone, a record in the cache, or bytes of its own.
class BlockPin {
 public:
  BlockPin() = default;
  ~BlockPin() { Reset(); }
  BlockPin(BlockPin&& other) noexcept { *this = std::move(other); }
  BlockPin& operator=(BlockPin&& other) noexcept;

  void Reset() {
    if (holds_any()) [[unlikely]]
      Release();
  }
  const Block* get() const { return block_; }
  bool holds_any() const { return block_ != nullptr || cache_ != nullptr || bytes_ != nullptr; }
  bool cached() const { return cache_ != nullptr; }

  // Keeps what this handle stands for, which becomes the pin's to release.
  void Hold(Cache* cache, Cache::Handle* handle) {
    DCHECK(cache != nullptr && handle != nullptr);
    Reset();
    cache_ = cache;
    handle_ = handle;
  }
  void Hold(std::unique_ptr<char[]> bytes) {
    DCHECK(bytes != nullptr);
    Reset();
    bytes_ = std::move(bytes);
  }

 private:
  friend class SstReader;

  void Release();

  const Block* block_ = nullptr;
  Cache* cache_ = nullptr;  // nullptr: the block is the pin's own
  Cache::Handle* handle_ = nullptr;
  std::unique_ptr<char[]> bytes_;
};

class SstReader {
 public:
  // How a read treats blocks.
  struct ReadMode {
    Checksums checksums = Checksums::kTrust;
    bool fill_cache = true;  // keep what is read

    // Bytes that a walk reads ahead at once, and at most (readahead.h).
    size_t readahead_start = 0;
    size_t readahead_most = 0;

    // With them, a long walk has the next bytes read while it works on the last.
    HelperThreads* readers = nullptr;

    // With it, a walk over several tables goes on reading ahead in the next one as far as in the last.
    size_t* readahead = nullptr;

    // With it, what is read is kept only if it was read a short while before as well.
    RecentBlocks* recent = nullptr;

    // With it, blocks that it has are not read again.
    const BlockReads* blocks_read = nullptr;

    // For a trace of blocks: who reads, and on which level of the SSD tier.
    BlockCaller caller = BlockCaller::kOther;
    uint32_t level = 0;
  };

  // cache: nullptr for none. The file is kept until the reader is gone; *reader stays nullptr on failure.
  static Status Open(const SstFormat& format, std::shared_ptr<const RandomAccessFile> file, const std::string& name,
                     uint64_t file_size, Checksums checksums, Cache* cache, std::unique_ptr<SstReader>* reader);

  // From now on blocks that are asked for go into the trace, beginning with index and filter, as blocks of the file
  // with this number. The trace outlives the reader. REQUIRES: nobody reads yet.
  void TraceTo(BlockTrace* trace, uint64_t number);

  // False only if a filter says that the table does not have this key; costs no search in the index.
  bool MayHave(const Slice& key) const {
    DCHECK(!filter_covers_all_ || filter_ != nullptr);
    return !filter_covers_all_ || filter_->KeyMayMatch(0, key);
  }

  // Looks into the one block that holds this key if the table does, unless the filter says that it does not. Stores the
  // first entry at or after key in that block; *value lives as long as *pin holds the block.
  Status Find(const ReadMode& mode, const Slice& key, BlockPin* pin, bool* found, std::string* found_key,
              Slice* value) const;

  // Notes what Find would read for this key, if anything. False if Find would not look into a block.
  bool PlanFind(const Slice& key, BlockReads* reads) const;

  // A walk over all entries as they are stored. The caller deletes it.
  Iterator* NewIterator(const ReadMode& mode) const;

  // About where in the file the data of this key is or would be.
  uint64_t ApproximateOffsetOf(const Slice& key) const;

  // Verifies the blocks that a walk over the entries does not read: filters, and all else that the meta index names.
  Status VerifyMeta() const;

  uint64_t file_size() const { return source_.size; }

  // A hash of index and footer, by which one file can be told from another.
  uint64_t fingerprint() const { return fingerprint_; }

  // Memory besides cached blocks.
  size_t memory_bytes() const {
    DCHECK(index_ != nullptr);
    return index_->size() + filter_bytes_;
  }

 private:
  friend class SstIterator;

  SstReader(const SstFormat& format, SstSource source, std::shared_ptr<const RandomAccessFile> file, Cache* cache);

  Status Load(Checksums checksums);
  void LoadFilter(Checksums checksums);
  // source: how to read the file.
  Status DecodeHandle(const Slice& encoded, BlockHandle* handle) const;
  // The one block that may hold this key, if any.
  Status Locate(const Slice& key, bool* any, BlockHandle* handle) const;
  Cache::Handle* FindCached(const BlockHandle& handle, char* key) const;
  void Trace(const ReadMode& mode, uint64_t offset, uint64_t bytes, bool is_hit) const;
  // source: how to read the file.
  Status GetBlock(const SstSource& source, const ReadMode& mode, const BlockHandle& handle, BlockPin* pin) const;

  const SstFormat format_;
  const SstSource source_;
  const std::shared_ptr<const RandomAccessFile> file_;
  Cache* const cache_;
  const uint64_t cache_id_;
  std::unique_ptr<const Block> index_;
  uint64_t index_offset_ = 0;
  BlockHandle meta_index_;  // where it begins, the data blocks end
  std::unique_ptr<const FilterBlockReader> filter_;
  bool filter_covers_all_ = false;  // it is one filter for the whole table
  size_t filter_bytes_ = 0;
  uint64_t filter_offset_ = 0;
  uint64_t fingerprint_ = 0;
  BlockTrace* trace_ = nullptr;  // null: none
  uint64_t number_ = 0;          // of the file, for the trace
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_SST_READER_H_
