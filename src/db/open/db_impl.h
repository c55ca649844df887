// The database object: the API, and the order in which the parts of a database are opened and closed.
//
//   part          owns                                                          what it gets done
//   DbContext     options, pool, SSD tier's files, info log, statistics         what all parts work with
//   Control       the mutex, wake-ups, the error that stopped writes            who waits, and whether to go on
//   StoreKeeper   STORE                                                         which files are this database's
//   CpuCensus     how many background threads work                              whether CPUs are short
//   Tree          memtables, versions, what reads look at (read_sources.h)      what is in the database
//   Scheduler     states of merges, collections, flush and space                what may run (policy/scheduler.h)
//   SsdSchedule   ranges that jobs of the tier hold                             what may run there (ssd_schedule.h)
//   Workers       its works, for threads that databases share                   work behind the writers, and waiting
//   LogFiles      log files                                                     the log with kLogFile
//   LogFloor      the floor of the log                                          how much of the log is needed
//   KeptLog       -                                                             flushed log that the update stream has
//   Space         log chunks that are ready                                     chunks, and what has to stay free
//   SsdTier       the tier's schedule and errors                                drains and compactions on SSD
//   JobShares     shares of jobs that nobody has begun                          help for flushes and merges
//   Flusher       tables without filters                                        flushes
//   Merger        -                                                             merges, garbage collection
//   WritePath     the queue of writers, the leader's state                      puts, deletes, batches
//   ReadPath      helper threads, rings                                         gets, iterators, sizes
//   Families      column families and their handles (families.h)                the calls with handles (family_calls.h)
//   Requests      -                                                             Flush, CompactRange, WaitForIdle
//   Savepoints    -                                                             states that keep a name
//   Checkpoint    -                                                             a copy that is a database
//   Recovery      log files that are to be replayed                             from manifest and log to a state
//   Properties    -                                                             GetProperty
//
// A part knows those above it that its constructor names, and none knows this object.
//
// Locks: docs/reference.md, "Locks", has all of them and the order in which they may be taken.

#ifndef MIODB_SRC_DB_OPEN_DB_IMPL_H_
#define MIODB_SRC_DB_OPEN_DB_IMPL_H_

#include <memory>
#include <string>
#include <vector>

#include "miodb/db.h"
#include "src/db/calls/family_calls.h"
#include "src/db/context/db_hooks.h"
#include "src/db/context/db_mutex.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class Checkpoint;
class Control;
class CpuCensus;
struct DbContext;
class DirectoryLock;
class Flusher;
class JobShares;
class KeptLog;
class LogFiles;
class LogFloor;
class Merger;
class Properties;
class ReadPath;
class Recovery;
class Requests;
class Savepoints;
class Scheduler;
class Space;
class SsdSchedule;
class SsdTier;
class StoreKeeper;
class Tree;
class Workers;
class WritePath;

class DBImpl final : public FamilyCalls {
 public:
  using FamilyCalls::CompactRange;
  using FamilyCalls::Delete;
  using FamilyCalls::GetProperty;
  using FamilyCalls::Put;
  using Hooks = DbHooks;
  using Step = BackgroundStep;

  static Status Open(const Options& options, const std::string& name, const Hooks& hooks, std::unique_ptr<DBImpl>* db);
  ~DBImpl() override;

  Status Put(const WriteOptions& options, const Slice& key, const Slice& value) override;
  Status Delete(const WriteOptions& options, const Slice& key) override;
  Status Write(const WriteOptions& options, WriteBatch* updates) override;
  void ReleaseSnapshot(const Snapshot* snapshot) override;
  bool GetProperty(const Slice& property, std::string* value) override;
  void CompactRange(const Slice* begin, const Slice* end) override;
  Status Flush() override;
  Status WaitForIdle() override;
  void StopWaiting() override;
  Status StartTrace(const TraceOptions& options, std::unique_ptr<TraceWriter> writer) override;
  Status EndTrace() override;
  Status AddRegion(const NvmRegion& region) override;
  Status CreateSavepoint(const Slice& name) override;
  Status DropSavepoint(const Slice& name) override;
  Status ListSavepoints(std::vector<SavepointInfo>* savepoints) override;
  Status OpenSavepoint(const Slice& name, DB** view) override;
  Status CreateCheckpoint(const std::string& directory) override;
  Status CreateBackup(const BackupOptions& options, const std::string& folder, BackupInfo* info) override;
  Status GetUpdatesSince(uint64_t sequence, std::unique_ptr<UpdateIterator>* updates) override;
  Status FollowSource(const Slice& identity) override;

  // Does one piece of background work of this kind. False if there was nothing to do.
  bool RunStep(Step step);

 private:
  friend class DBPeer;  // tests that look inside

  DBImpl(const Options& options, const std::string& name, const Hooks& hooks);

  // ---- db_open.cc
  Status Start();
  Status LookForPool(bool* exists) const;
  Status LookForDatabase();
  Status OpenParts();
  Status LockDirectory();
  Status OpenPool();
  Status MapPool();
  Status RecoverParts() REQUIRES(db_mutex);
  Status StartThreads();
  void RemoveUnfinished(const std::string& store);

  // ---- db_regions.cc
  Status AddMissingRegions();
  Status DoAddRegion(const NvmRegion& region);

  // In the order of the table above.
  const std::unique_ptr<DbContext> context_;
  const std::unique_ptr<Control> control_;
  const std::unique_ptr<StoreKeeper> store_;
  const std::unique_ptr<CpuCensus> census_;
  const std::unique_ptr<Tree> tree_;
  const std::unique_ptr<Scheduler> scheduler_ PT_GUARDED_BY(db_mutex);
  const std::unique_ptr<SsdSchedule> ssd_schedule_ PT_GUARDED_BY(db_mutex);
  const std::unique_ptr<Workers> workers_;
  const std::unique_ptr<LogFiles> logs_;
  const std::unique_ptr<LogFloor> floor_;
  const std::unique_ptr<KeptLog> kept_;
  const std::unique_ptr<Space> space_;
  const std::unique_ptr<SsdTier> tier_;
  const std::unique_ptr<JobShares> shares_;
  const std::unique_ptr<Flusher> flusher_;
  const std::unique_ptr<Merger> merger_;
  std::unique_ptr<WritePath> write_;
  std::unique_ptr<ReadPath> read_;
  std::unique_ptr<Requests> requests_;
  std::unique_ptr<Savepoints> savepoints_;
  std::unique_ptr<Checkpoint> checkpoint_;
  std::unique_ptr<Recovery> recovery_;
  std::unique_ptr<Properties> properties_;

  std::unique_ptr<DirectoryLock> lock_;
  Mutex region_mutex_;  // one region is added at a time
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_OPEN_DB_IMPL_H_
