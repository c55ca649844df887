// The database object. Its functions are told in one file per path:
//
//   db_impl.cc        open and close, get, iterators, snapshots, flush and compaction requests
//   db_write.cc       the write path: groups, log frame, memtable, back-pressure
//   db_background.cc  what runs behind: preparing log chunks, flush, merges, garbage collection
//   db_file_log.cc    log files
//   db_ssd.cc         drains to SSD, compactions there
//   db_regions.cc     regions beyond the pool's own file
//   db_recovery.cc    from a manifest and log chunks to a state that can be written to
//   db_properties.cc  what the database says of itself
//
// Locks, in the order in which they may be taken: region_mutex_; mutex_; then one of SnapshotList's, ReadStates',
// BlockPool's, Persist's, FileLog's, PoolSpace's grow_mutex_; then PoolSpace's mutex_. Readers take none of them,
// except where read_state.h says so.

#ifndef MIODB_SRC_DB_DB_IMPL_H_
#define MIODB_SRC_DB_DB_IMPL_H_

#include <atomic>
#include <deque>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "compaction/merge.h"
#include "compaction/picker.h"
#include "compaction/scheduler.h"
#include "compaction/ssd_merge.h"
#include "compaction/ssd_picker.h"
#include "compaction/ssd_schedule.h"
#include "miodb/db.h"
#include "miodb/env.h"
#include "src/db/read_samples.h"
#include "src/db/read_state.h"
#include "src/db/snapshot_list.h"
#include "src/db/statistics.h"
#include "src/db/store_file.h"
#include "src/db/write_queue.h"
#include "src/db/write_turns.h"
#include "src/inspect/log_scan.h"
#include "src/log/file_log.h"
#include "src/log/frame_writer.h"
#include "src/nvm/memory_env.h"
#include "src/nvm/pool.h"
#include "src/trace/tracer.h"
#include "src/util/fork_guard.h"
#include "src/util/helper_threads.h"
#include "src/util/no_throw.h"
#include "src/util/read_rings.h"
#include "src/version/ssd_manifest.h"
#include "src/version/version_set.h"

namespace miodb {

class DBImpl final : public DB {
 public:
  // How tests drive the database.
  struct Hooks {
    // No threads: background work is done by RunStep, or by a call that cannot go on without it.
    bool manual_background = false;

    // Where the pool lies, instead of in a file. Outlives the database.
    MemoryMedium* memory = nullptr;

    // Sizes may be below their documented ranges, down to a few cache lines.
    bool any_sizes = false;

    // What was free so long is given back to the file system.
    uint64_t give_back_micros = 10 * 1000 * 1000;
  };

  static Status Open(const Options& options, const std::string& name, const Hooks& hooks, std::unique_ptr<DBImpl>* db);
  ~DBImpl() override;

  // In a child of fork() nothing of the object is touched, not even destroyed: its threads, locks and files are the
  // parent's.
  static void operator delete(DBImpl* db, std::destroying_delete_t);
  // Both for a constructor that throws.
  static void* operator new(size_t size, std::align_val_t alignment) { return ::operator new(size, alignment); }
  static void operator delete(void* space, std::align_val_t alignment) { ::operator delete(space, alignment); }

  Status Put(const WriteOptions& options, const Slice& key, const Slice& value) override;
  Status Delete(const WriteOptions& options, const Slice& key) override;
  Status Write(const WriteOptions& options, WriteBatch* updates) override;
  Status Get(const ReadOptions& options, const Slice& key, std::string* value) override;
  Status Get(const ReadOptions& options, const Slice& key, PinnableSlice* value) override;
  std::vector<Status> MultiGet(const ReadOptions& options, const std::vector<Slice>& keys,
                               std::vector<std::string>* values) override;
  Iterator* NewIterator(const ReadOptions& options) override;
  const Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;
  bool GetProperty(const Slice& property, std::string* value) override;
  void GetApproximateSizes(const Range* range, int n, uint64_t* sizes) override;
  void CompactRange(const Slice* begin, const Slice* end) override;
  Status Flush() override;
  Status WaitForIdle() override;
  void StopWaiting() override;
  Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter> writer) override;
  Status EndTrace() override;
  Status AddRegion(const NvmRegion& region) override;

  enum class Step { kPrepare, kFlush, kMerge, kSsd };

  // Does one piece of background work of this kind. False if there was nothing to do.
  bool RunStep(Step step);

 private:
  friend class DBPeer;  // tests that look inside

  DBImpl(const Options& options, const std::string& name, const Hooks& hooks);

  // ---- db_open.cc
  Status Start();
  Status LookForPool(bool* exists);
  Status LookForDatabase();
  Status OpenParts();
  Status LockDirectory();
  Status OpenPool();
  Status StartThreads();
  void StopThreads();
  void RemoveUnfinished(const std::string& ssd_manifest, const std::string& store, bool directory_existed);

  // ---- db_store.cc
  // A pool in memory that tests gave, about which there are no files.
  bool PoolIsOfTests() const { return hooks_.memory != nullptr && env_memory_ == nullptr; }
  bool KeepsStore() const;
  Status FindStore(bool pool_is_there);
  Status MissingPool(const std::string& path) const;
  Status CheckPool();
  Status CheckOriginal() const;
  Status KeepStore(StoreState state);

  // ---- db_impl.cc
  Status DoFlush();
  Status DoWaitForIdle();
  Iterator* MakeIterator(const ReadOptions& options);
  void SumSizes(const Range* range, int n, uint64_t* sizes);
  bool DoGetProperty(const Slice& property, std::string* value);
  Status Find(const ReadOptions& options, const Slice& key, ReadState* state, BlockPin* block, bool* found,
              RecordView* record);
  uint64_t ReadSequence(const ReadOptions& options) const;
  static void PrefetchFilters(const LookupKey& lookup, const ReadState& state);
  Status FindInPool(const ReadOptions& options, const LookupKey& lookup, const ReadState& state, bool* found,
                    RecordView* record);
  template <typename Use>
  Status GetPinned(const ReadOptions& options, const Slice& key, Use use);
  Status RequestFlush() REQUIRES(mutex_);
  Status Settle();
  void LogStatus(const char* what, const Status& s);
  void Log(const char* format, ...) __attribute__((format(printf, 2, 3)));

  // ---- db_multi_get.cc
  struct MultiGetCall;
  void RunMultiGet(MultiGetCall* call);
  void GetGroupFromPool(MultiGetCall* call, size_t begin);
  void GetGroupsFromSsd(MultiGetCall* call);
  void GetFromSsd(MultiGetCall* call, size_t i, const BlockReads* blocks_read);

  // ---- db_regions.cc
  Status AddMissingRegions();
  Status CheckRegionLimits();
  Status DoAddRegion(const NvmRegion& region);

  // ---- db_write.cc
  Status DoPut(const WriteOptions& options, const Slice& key, const Slice& value);
  Status DoDelete(const WriteOptions& options, const Slice& key);
  Status DoWrite(const WriteOptions& options, WriteBatch* updates);
  Status Submit(Writer* writer);
  Status Lead(Writer* writer);
  void WriteGroup(Writer* leader, Writer* last);
  void InsertGroup(uint64_t first_sequence);
  // Adds the updates of a batch, and returns the bytes that their records have.
  static uint64_t AppendRecords(const Slice& batch, std::vector<LogRecord>* records);
  void CollectRecords(Writer* leader, Writer* last);
  void TraceGroup(Writer* leader, Writer* last);
  Status MakeRoom(uint64_t frame_bytes, bool deletes_only);
  Status MakeRoomLocked(uint64_t frame_bytes, bool deletes_only) REQUIRES(mutex_);
  Status TakeChunk(uint64_t frame_bytes, bool deletes_only, bool* taken) REQUIRES(mutex_);
  Status NoRoom(bool* give_up) REQUIRES(mutex_);
  void UseChunk(std::unique_ptr<LogChunk> chunk) REQUIRES(mutex_);
  uint64_t SegmentBytes() REQUIRES(mutex_);
  bool MemTableFull() REQUIRES(mutex_);
  void SealMemTable() REQUIRES(mutex_);
  void Throttle(uint64_t bytes);

  // ---- db_background.cc
  void BackgroundLoop(Step step);
  MemTableRef NewMemTable(BloomFilter::Pages pages) const;
  uint64_t NextChunkBytes() const;
  void PrepareMemTable();
  bool PrepareStep();
  bool PrepareChunk();
  Status GiveSpaceBack();
  bool FlushStep();
  bool BuildFilter() REQUIRES(mutex_);
  bool MergeStep();
  // What a log chunk is wanted for: how much of the reserve it may leave unkept.
  enum class Demand { kAny, kDeletes, kDeletesAtLast };
  Status NewChunk(uint64_t size, uint64_t min_size, Demand demand, std::unique_ptr<LogChunk>* chunk);
  Status NewMemoryChunk(uint64_t size, uint64_t min_size, Pool::Leave leave, std::unique_ptr<LogChunk>* chunk);
  void InstallFlush(MemTableRef memtable, std::vector<TableRef> tables, Status s) REQUIRES(mutex_);
  PickerInput MakePickerInput() const REQUIRES(mutex_);
  bool HasMergeWork() const REQUIRES(mutex_);
  bool LookForWork() REQUIRES(mutex_);
  SpaceFigures MakeSpaceFigures() const REQUIRES(mutex_);
  void MarkGarbage() REQUIRES(mutex_);
  MergeRequest MakeMergeRequest(const MergeJob& job, const JobHold& hold, VersionRef* version);
  void RunJob(MergeJob job, const JobHold& hold);
  void NoteMerge(const MergeJob& job, const MergeResult& result, uint64_t micros);
  void FinishJob(const JobHold& hold, const Status& s, bool refused) REQUIRES(mutex_);
  Status InstallMerge(const MergeJob& job, const MergeResult& result) REQUIRES(mutex_);
  void PublishState() REQUIRES(mutex_);
  void SetBackgroundError(const Status& s) REQUIRES(mutex_);
  bool WaitForBackground(uint64_t micros) REQUIRES(mutex_);
  // relaxed: set under the mutex
  bool MustNotWait() const REQUIRES(mutex_) { return waiting_stopped_ || closing_.load(std::memory_order_relaxed); }
  Status ToldToStop() const { return Status::IOError(name_, "told to stop waiting"); }
  uint64_t NewId();
  uint64_t IndexReserve(Demand demand, uint64_t delete_bytes) const REQUIRES(mutex_);
  uint64_t Reserve(Demand demand) const REQUIRES(mutex_);
  bool ChunkForDeletes(uint64_t frame_bytes, Demand demand) REQUIRES(mutex_);
  void UpdateThrottle() REQUIRES(mutex_);
  bool IsIdle() const REQUIRES(mutex_);

  // ---- db_ssd.cc
  Status OpenSsd();
  Status CheckSsdEpoch() const;
  uint64_t SsdEpoch() const REQUIRES(mutex_);
  Status MarkSsdEpoch() EXCLUDES(mutex_);
  bool SsdStep();
  uint64_t NvmBudget() const;
  uint64_t PartitionBytes() const;
  uint64_t NvmBytes() const REQUIRES(mutex_);
  bool BufferTooLarge() const REQUIRES(mutex_);
  bool WantsPushDown() const REQUIRES(mutex_);
  bool SettlesAll() const REQUIRES(mutex_);
  bool WantsDrain() const REQUIRES(mutex_);
  uint64_t SsdThrottleNanos(uint64_t left) REQUIRES(mutex_);
  std::vector<uint64_t> SsdLevelLimits(const SsdLevels& ssd) const;
  SsdPickerInput MakeSsdPickerInput() REQUIRES(mutex_);
  std::optional<SsdJob> PickSsd() REQUIRES(mutex_);
  bool HasDrainWork() REQUIRES(mutex_);
  void RunSsdJob(SsdJob job, const JobHold& hold, std::shared_ptr<const SsdLevels> levels);
  void FinishSsdJob(const JobHold& hold, const SsdRange& range, const Status& s, bool inputs_damaged) REQUIRES(mutex_);
  Status InstallSsd(const SsdJob& job, const SsdMergeResult& result) REQUIRES(mutex_);
  Status WaitForSsd() REQUIRES(mutex_);
  Status PurgeSsd(const Slice* begin, const Slice* end);
  Status Purge(PurgeRequest request) REQUIRES(mutex_);
  SstReader::ReadMode SsdReadMode(const ReadOptions& options) const {
    return {options.verify_checksums || options_.paranoid_checks, options.fill_cache};
  }

  // ---- db_recovery.cc
  Status Recover() REQUIRES(mutex_);
  Status ReplayLog(std::vector<ExtentRef> extents, uint64_t* last_sequence, VersionEdit* edit) REQUIRES(mutex_);
  Status ScanLog(std::vector<ExtentRef> extents, std::vector<LogScan>* scans) REQUIRES(mutex_);
  Status RemoveOrphans() REQUIRES(mutex_);
  Status JudgeScan(const LogScan& scan, uint64_t last_sequence, bool* ended);
  Status ReplayChunk(const LogScan& scan, MemTable* memtable);
  Status ReplayFile(const LogScan& scan, MemTable* memtable);

  // ---- db_file_log.cc
  Status FindLog(StoreDescriptor::Log* log) const;
  Status OpenFileLog();
  Status MakeFileLog(const StoreDescriptor::Log& log);
  void LeaveFileLog();
  void RetireFileLog() REQUIRES(mutex_);
  void RetireFileLogUpTo(uint64_t sequence);
  bool FileLogTooLarge() const {
    return file_log_to_write_ != nullptr && options_.max_total_wal_size > 0 && !LogsUntilSsd() &&
           file_log_to_write_->live_bytes() > options_.max_total_wal_size;
  }

  // ---- db_volatile.cc
  bool LogsUntilSsd() const;
  Status CheckVolatility();
  Status ReadSsdManifest(bool exists);
  uint64_t LogLimit() const;
  bool LogTooLong() const;
  double LogExcess() REQUIRES(mutex_);
  bool LogWantsDrain() const REQUIRES(mutex_);
  uint64_t FloorWithout(const std::vector<uint64_t>& drained) REQUIRES(mutex_);
  bool BufferHoldsLog() const REQUIRES(mutex_);
  Status MakeFilesDurable(const VersionEdit& edit) REQUIRES(mutex_);
  Status ReplaceSsdManifest(const VersionEdit& edit, Status* in_doubt) REQUIRES(mutex_);
  bool RaiseFloor() REQUIRES(mutex_);
  Status RecoverVolatile() REQUIRES(mutex_);
  Status ReplayLogFiles();
  Status ReplayBatch(const std::string& batch);
  Status MakeRoomForReplay(uint64_t frame_bytes);

  // ---- db_properties.cc
  std::vector<std::pair<std::string, uint64_t>> Counters();
  std::string StatsText();
  std::string TablesText();
  std::string PoolText();
  std::string PlacementText();
  uint64_t MemoryBytes();
  uint64_t TableMemoryBytes() REQUIRES(mutex_);

  static void UnpinState(void* state, void*);

  Status OutOfMemory() const { return Status::IOError(name_, "out of memory"); }
  Status InChild() const {
    return Status::IOError(name_, "was opened before fork(): only the process that opened a database can use it");
  }
  // Every call that returns a status goes through this one.
  template <typename Call>
  Status WithMemory(Call call) const {
    if (fork_guard_.InChild()) [[unlikely]]
      return InChild();
    return NoThrow(name_, call);
  }

  // Takes a chunk that the manifest names. Without memory its space stays taken, because nobody else may have it.
  template <typename Chunks>
  static void KeepChunk(Chunks* chunks, std::unique_ptr<LogChunk>* chunk) {
    try {
      chunks->push_back(std::move(*chunk));
    } catch (const std::exception&) {
      if ((*chunk)->in_pool()) (*chunk)->extent->Abandon();
      throw;
    }
  }

  // Set once by Open.
  const ForkGuard fork_guard_;
  const Options options_;
  const std::string name_;
  const Hooks hooks_;
  const KeyOrder order_;
  uint64_t chunk_bytes_ = 0;  // of a log chunk, in a database that is not small
  Placement placement_;
  std::unique_ptr<NvmModel> nvm_model_;  // null: none
  std::unique_ptr<Logger> own_log_;
  Logger* info_log_ = nullptr;
  FileLock* file_lock_ = nullptr;
  bool existed_ = false;  // when the open looked for it
  // The open's, then the close's; between them DoAddRegion's, under region_mutex_.
  StoreDescriptor store_;                      // what STORE is to say
  StoreDescriptor stored_;                     // what it says
  std::unique_ptr<StoreDescriptor> original_;  // of the database of which this one is a copy; null: none is there
  bool log_folder_made_ = false;               // by the open
  MemoryEnv::Memory env_memory_;               // where the pool lies if options_.env keeps its files in memory
  std::unique_ptr<Pool> pool_;
  std::unique_ptr<SsdStore> ssd_;  // null: no SSD tier
  std::unique_ptr<BlockPool> blocks_;
  std::unique_ptr<FileLog> file_log_;  // null: there are no log files and will be none

  WriteTurns turns_;
  bool takes_turns_ = false;  // not where writers share what is slow, a sync

  // Of the leader of the current write group.
  WriteQueue queue_;
  std::unique_ptr<FrameWriter> frame_writer_;
  FileLog* file_log_to_write_ = nullptr;  // file_log_ with kLogFile
  std::vector<LogRecord> group_records_;
  LogChunk* chunk_ = nullptr;     // receives frames; owned by memtable_
  MemTable* writable_ = nullptr;  // memtable_, for the leader
  uint64_t allocated_sequence_ = 0;
  uint64_t throttle_debt_ = 0;  // nanoseconds of delay not yet slept

  // The last sequence when everything that a full pool could free had been freed: until it changes, or a snapshot is
  // released, there is no use in trying again.
  std::atomic<uint64_t> reclaimed_at_{UINT64_MAX};

  // Newest sequence that reads may see. Release by the leader after its group is in the memtable, acquire by readers.
  std::atomic<uint64_t> last_sequence_{0};

  Tracer tracer_;
  ReadStates states_;
  SnapshotList snapshots_;

  Mutex region_mutex_;  // taken before mutex_: one region is added at a time

  Mutex mutex_;
  CondVar work_;  // something for background threads to do
  CondVar done_;  // some background work has finished
  std::unique_ptr<VersionSet> versions_ GUARDED_BY(mutex_);
  MemTableRef memtable_ GUARDED_BY(mutex_);
  MemTableRef spare_memtable_ GUARDED_BY(mutex_);          // the next memtable_; nullptr while it is being prepared
  std::deque<MemTableRef> immutables_ GUARDED_BY(mutex_);  // newest first
  std::deque<std::unique_ptr<LogChunk>> spare_chunks_ GUARDED_BY(mutex_);
  std::vector<TableRef> unfiltered_ GUARDED_BY(mutex_);  // opened by recovery, filter not yet built
  bool filtering_ GUARDED_BY(mutex_) = false;            // a filter of one of them is being built
  Scheduler scheduler_ GUARDED_BY(mutex_);
  SsdSchedule ssd_schedule_ GUARDED_BY(mutex_);

  // Of a volatile pool with an SSD tier.
  SsdManifest ssd_manifest_;                           // as the open found it
  uint64_t opened_epoch_ = 0;                          // of the root, or of SSD_MANIFEST, as the open found it
  uint64_t manifest_epoch_ GUARDED_BY(mutex_) = 0;     // of SSD_MANIFEST
  std::vector<LogFile> to_replay_;                     // of the open
  uint64_t ssd_floor_ GUARDED_BY(mutex_) = 0;          // of SSD_MANIFEST
  bool ssd_manifest_busy_ GUARDED_BY(mutex_) = false;  // it is being replaced

  const PurgeRequest* purge_ GUARDED_BY(mutex_) = nullptr;  // of the CompactRange that waits
  Status ssd_error_ GUARDED_BY(mutex_);                     // of the last SSD job, until one succeeds
  std::vector<std::string> read_keys_ GUARDED_BY(mutex_);   // read_samples_ as of a moment ago
  uint64_t read_keys_micros_ GUARDED_BY(mutex_) = 0;        // when that was

  Status background_error_ GUARDED_BY(mutex_);
  std::atomic<bool> failed_{false};  // background_error_ is set; for the leader
  std::atomic<bool> closing_{false};
  bool waiting_stopped_ GUARDED_BY(mutex_) = false;  // see DB::StopWaiting
  std::vector<std::thread> threads_;

  // Nanoseconds a leader waits per KiB it writes; 0 far from any limit. Set under mutex_.
  std::atomic<uint64_t> throttle_nanos_{0};

  Statistics statistics_;
  HelperThreads helpers_;                      // for MultiGet
  ReadRings read_rings_;                       // the same
  std::unique_ptr<ReadSamples> read_samples_;  // with an SSD tier
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_DB_IMPL_H_
