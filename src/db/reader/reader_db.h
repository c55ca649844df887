// ReaderDb: a database that another process may have open, for reading (DB::OpenReader).
//
// Threads: any; one of its own. After a crash: nothing; the kernel ends what its place in the page of readers
// said.

#ifndef MIODB_SRC_DB_READER_READER_DB_H_
#define MIODB_SRC_DB_READER_READER_DB_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "src/db/calls/family_handles.h"
#include "src/db/calls/read_only_db.h"
#include "src/db/reader/reader_follower.h"
#include "src/util/threads/mutex.h"

namespace miodb {

class ReaderDb final : public ReadOnlyDb {
 public:
  static Status Open(const Options& options, const std::string& name, std::unique_ptr<ReaderDb>* reader);
  ~ReaderDb() override;

  Status Refresh() override;

  // The sequence of the state that reads see, which a look publishes behind its sequence.
  uint64_t GetLatestSequenceNumber() const override;
  Status GetUpdatesSince(uint64_t sequence, std::unique_ptr<UpdateIterator>* updates) override;

  Status GetColumnFamily(const std::string& name, ColumnFamilyHandle** family) override;
  Status ListColumnFamilies(std::vector<std::string>* names) override;

  // A sequence alone keeps nothing from being merged away by the writer; an iterator keeps what it sees.
  const Snapshot* GetSnapshot() override { return nullptr; }
  void ReleaseSnapshot(const Snapshot*) override {}

 private:
  // The pace of the thread's looks.
  enum class Pace { kFollowing, kIdle };

  class Families;

  ReaderDb(const Options& options, const std::string& name);

  Status Refusal() const override;
  Status Start();
  Status BeforeRead() const;
  void Run();

  const std::unique_ptr<DbContext> context_;
  const std::unique_ptr<ReadSources> sources_;
  const std::unique_ptr<ReadPath> read_;
  const std::unique_ptr<ReaderFollower> follower_;
  const std::unique_ptr<Families> families_;

  mutable std::atomic<bool> read_since_{true};  // the last look of the thread
  mutable std::atomic<Pace> pace_{Pace::kFollowing};
  mutable Mutex mutex_;
  mutable CondVar wake_{&mutex_};
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_READER_READER_DB_H_
