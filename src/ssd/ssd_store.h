// The directory of the SSD tier: its table files, and what is needed to read and write them.
//
//   POOL          whose files these are: the pool's id, and the epoch that it had when files were last made or removed
//                 (format/owner_mark.h)
//   LOCK          held while the database is open
//   <number>.sst  a table; the manifest in the pool says which of them count
//
// Threads: every method by any number at once, except Open.
//
// Ownership: owns its caches unless they were given; outlives every SstFile, BlockPin and iterator made from it.
//
// After a crash: files that no manifest names, which RemoveOrphans removes. A file that the manifest names is
// complete, because it was synced before, its directory with it.
//
// Errors: those of reading are Corruption or IOError naming the file; nothing here is sticky.

#ifndef MIODB_SRC_SSD_SSD_STORE_H_
#define MIODB_SRC_SSD_SSD_STORE_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "miodb/cache.h"
#include "miodb/env.h"
#include "miodb/options.h"
#include "src/format/owner_mark.h"
#include "src/iterator/internal_iterator.h"
#include "src/iterator/lookup_key.h"
#include "src/ssd/internal_key.h"
#include "src/ssd/sst_file.h"
#include "src/ssd/sst_reader.h"
#include "src/util/check/check.h"
#include "src/util/files/rate_limiter.h"
#include "src/util/files/replace_file.h"
#include "src/util/threads/helper_threads.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class ReaderGuard;

class SsdStore {
 public:
  // Opens or makes the directory ssd_path for the pool with this id. InvalidArgument if the directory holds table files
  // of another pool, or of nobody's. Whether they are a newer pool's is the caller's to find out, by marked_epoch.
  // has_families: as KeyOrder.
  static Status Open(const Options& options, uint64_t pool_id, std::unique_ptr<SsdStore>* store,
                     const std::atomic<bool>* has_families = &kNoFamilies);

  // The same of a directory that another process may have open: nothing in it changes.
  static Status OpenForReader(const Options& options, uint64_t pool_id, std::unique_ptr<SsdStore>* store,
                              const std::atomic<bool>* has_families);

  // From now on a file that goes waits until no reader in another process needs it. By the open.
  void GuardReaders(std::shared_ptr<ReaderGuard> guard) { guard_ = std::move(guard); }

  // From now on blocks that are read go into the trace, which outlives this. By the open.
  void TraceTo(BlockTrace* trace) { trace_ = trace; }

  // Removes what a store put into a directory, and the directory if it is empty then. OK if there is none.
  static Status Destroy(Env* env, const std::string& path);

  // The mark in this directory. NotFound if there is none.
  static Status ReadMark(Env* env, const std::string& path, OwnerMark* mark);

  // Marks the directory as that of this pool, durably.
  static Status WriteMark(Env* env, const std::string& path, uint64_t pool_id, uint64_t epoch);

  // Reads the owner of the directory: the id of the pool. NotFound if the directory has no mark.
  static Status ReadOwner(Env* env, const std::string& path, uint64_t* pool_id);

  // The same, if it can be told. A mark that cannot be read, for want of memory or of descriptors, is an error, and not
  // the sign of nobody's.
  static Status FindOwner(Env* env, const std::string& path, std::optional<uint64_t>* pool_id);

  ~SsdStore();
  SsdStore(const SsdStore&) = delete;
  SsdStore& operator=(const SsdStore&) = delete;

  const std::string& path() const { return options_.ssd_path; }
  const KeyOrder& order() const { return comparator_.order(); }
  const SstFormat& format() const { return format_; }
  std::string FileName(uint64_t number) const { return path() + "/" + TableName(number); }

  // The name of a table file in the directory; and all that have such a name there, ours or LevelDB's.
  static std::string TableName(uint64_t number);
  using TableFiles = std::vector<std::pair<uint64_t, std::string>>;  // numbers and paths
  static Status FindTables(Env* env, const std::string& path, TableFiles* files);

  // ---- Epoch

  // The epoch in the file POOL: a pool with a lower epoch is an older copy of the pool that owns these files. 0: none.
  // relaxed: the epoch only rises, and a thread that reads an older epoch marks for nothing.
  uint64_t marked_epoch() const { return marked_epoch_.load(std::memory_order_relaxed); }

  // Has POOL say so, durably, before files are made or removed by a pool of this epoch.
  Status MarkEpoch(uint64_t epoch) EXCLUDES(mark_mutex_);

  // ---- Files

  // Corruption if the file is not there or has another size.
  Status CheckFile(const SstMeta& meta) const;

  // The numbers of all table files that are there, ascending.
  Status ListFiles(std::vector<uint64_t>* numbers) const;

  // Stores number, size and fingerprint of a file of which no manifest tells.
  Status ReadMeta(uint64_t number, SstMeta* meta) const;

  // Reads the first and the last key of a file into a meta that is without them.
  Status ReadRange(SstMeta* meta) const;

  // Removes every table file that is not among these, or has it wait for readers.
  Status RemoveOrphans(const std::set<uint64_t>& named);

  // Makes a file to be filled. Bytes written to the file are counted and held down to the rate.
  Status NewFile(uint64_t number, std::unique_ptr<WritableFile>* file);

  // Notes that a file is to be removed; by SstFile.
  void Discard(uint64_t number) noexcept;

  // Removes what was noted and no reader needs. Files that cannot be removed are left to the next RemoveOrphans.
  void RemoveDiscarded();

  // ---- Reading

  // Keeps the open table of a file from being closed.
  class Pin {
   public:
    Pin() = default;
    ~Pin() { Reset(); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

    void Reset() {
      if (cache_ != nullptr) cache_->Release(handle_);
      cache_ = nullptr;
    }
    const SstReader* operator->() const {
      DCHECK(cache_ != nullptr);
      return reader_;
    }

   private:
    friend class SsdStore;

    Cache* cache_ = nullptr;
    Cache::Handle* handle_ = nullptr;
    const SstReader* reader_ = nullptr;
  };

  // Opens the table of a file, or finds it open. Corruption if it is another file than the manifest means.
  Status OpenTable(const SstMeta& meta, Pin* pin) const;

  // Finds the newest version of key at or below its sequence in this file. record->value lives as long as *pin is not
  // changed; record->begin is null.
  //
  // A get puts the record that it has read into the block cache, not the block, which would take the room of several
  // records: keys that are read often seldom lie side by side. Where they do, that is in blocks that are read again a
  // short while later, the blocks are kept.
  //
  // newest: the sequence is not below that of any record in the file.
  Status Get(const SstFile& file, const LookupKey& key, const SstReader::ReadMode& mode, bool newest, BlockPin* pin,
             bool* found, RecordView* record) const;

  // Notes what Get would read of this file. False if the file does not have the key for sure.
  bool PlanGet(const SstFile& file, const LookupKey& key, BlockReads* reads) const;

  // Walks all versions in files that are in key order and do not overlap. The list outlives the iterator. The
  // records' bytes live until the iterator moves; their begin is null.
  std::unique_ptr<InternalIterator> NewIterator(const FileList* files, const SstReader::ReadMode& mode) const;

  // The same for drains and compactions: whatever is read is verified, nothing is kept. level: of the files.
  std::unique_ptr<InternalIterator> NewMergeIterator(const FileList* files, int level) const {
    const size_t ahead = options_.compaction_readahead_size;
    SstReader::ReadMode mode{Checksums::kVerify, false, ahead, ahead};
    mode.caller = BlockCaller::kCompaction;
    mode.level = static_cast<uint32_t>(level);
    return NewIterator(files, mode);
  }

  // ---- Figures

  uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }  // relaxed: a statistic

 private:
  // Walks that can have something read ahead at a time; others read as they go.
  static constexpr int kReaders = 8;

  SsdStore(const Options& options, const std::atomic<bool>* has_families);

  Status Claim(uint64_t pool_id);
  Status CheckDirectAccess() const;
  std::string RecordKey(const SstFile& file, const LookupKey& key) const;
  bool GetCached(const Slice& cache_key, const LookupKey& key, BlockPin* pin, RecordView* record) const;
  void KeepRecord(const Slice& cache_key, const RecordView& record) const;
  Status OpenForReading(const std::string& name, RandomAccessFile** file) const;

  const Options options_;
  const InternalKeyComparator comparator_;
  std::unique_ptr<const FilterPolicy> own_policy_;
  std::unique_ptr<const InternalFilterPolicy> policy_;
  SstFormat format_;
  std::unique_ptr<Cache> own_cache_;
  Cache* const block_cache_;
  const std::unique_ptr<Cache> tables_;  // SstReaders by file number
  FileLock* lock_ = nullptr;
  RateLimiter limiter_;
  std::atomic<uint64_t> bytes_written_{0};
  const uint64_t records_id_;  // in front of the keys of cached records
  mutable RecentBlocks recent_;
  mutable HelperThreads readers_{kReaders};  // read ahead

  std::shared_ptr<ReaderGuard> guard_;  // null: nobody else reads
  BlockTrace* trace_ = nullptr;         // null: none

  Mutex mark_mutex_;  // held while POOL is replaced
  uint64_t pool_id_ = 0;
  std::atomic<uint64_t> marked_epoch_{0};

  Mutex mutex_;

  // Files that are to be removed, by number: each once readers in other processes have passed its time.
  std::map<uint64_t, uint64_t> discarded_ GUARDED_BY(mutex_);
};

}  // namespace miodb

#endif  // MIODB_SRC_SSD_SSD_STORE_H_
