// The log in files, for databases whose pool does not keep it (kLogFile): one file for each memtable.
//
// A file lives until everything in it is in tables. Then it is deleted, or moved to the folder "archive" in the log's
// folder and deleted when it is too old or the archive too large. The name there ends with the second of the move:
// 000017.log.1700000000.
//
// The folder belongs to one log, whose id the file WAL_OWNER in it tells, so that no database ever takes another's log
// for its own, nor one of its own of another time (format/owner_mark.h).
//
// Threads: Append and EndFile by one thread at a time, the leader of the current write group; the rest by any.
// After a crash: of the process, everything for which Append returned. If the machine goes down, everything up to the
// last Append with sync that returned, and perhaps some later batches: recovery goes up to the first batch that is
// missing.

#ifndef MIODB_SRC_LOG_FILE_LOG_H_
#define MIODB_SRC_LOG_FILE_LOG_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "miodb/status.h"
#include "src/format/owner_mark.h"
#include "src/log/file_log_format.h"
#include "src/log/file_log_writer.h"
#include "src/log/frame_writer.h"
#include "src/util/threads/mutex.h"

namespace miodb {

struct LogPiece;

class FileLog {
 public:
  struct Options {
    Env* env = nullptr;
    std::string folder;  // exists
    size_t block_size = kUsualLogBlock;
    bool padding = false;
    uint64_t bytes_per_sync = 0;
    uint64_t archive_seconds = 0;
    uint64_t archive_bytes = 0;
    std::function<uint64_t()> now_seconds;  // since 1970
  };

  explicit FileLog(Options options) : options_(std::move(options)) {}
  ~FileLog();
  FileLog(const FileLog&) = delete;
  FileLog& operator=(const FileLog&) = delete;

  // The log files in a folder by rising number; none if the system says that there is no such folder.
  static Status List(Env* env, const std::string& folder, std::vector<LogFile>* files);

  // Whether a log may begin in a folder that is not its own. InvalidArgument if the folder holds files of another log,
  // or none and the mark of another database, which has neither pool_id nor one of the former ids; null: the folder is
  // the database's, whatever its mark says.
  static Status MayBegin(Env* env, const std::string& folder, const std::optional<OwnerMark>& owner, uint64_t pool_id,
                         const std::vector<uint64_t>* former_ids);

  // Makes the folder this log's, of this epoch, and keeps others out of it. InvalidArgument as MayBegin; IOError if
  // somebody has it open. After a crash the folder has the old mark or the new mark.
  Status Own(uint64_t log_id, uint64_t pool_id, uint64_t epoch, const std::vector<uint64_t>* former_ids = nullptr);

  // Stores whose log the folder says it holds. NotFound if it says nothing, Corruption if what it says is damaged.
  static Status ReadOwner(Env* env, const std::string& folder, OwnerMark* owner);
  // Writes a mark that is damaged or missing anew. IOError if somebody has the folder's log open.
  static Status MendOwner(Env* env, const std::string& folder, const OwnerMark& owner);
  // The owner that the folder names, if there is one that can be told; and whether it is this log. A mark that cannot
  // be read, for want of memory or of descriptors, is an error, and not the sign of somebody else's.
  static Status FindOwner(Env* env, const std::string& folder, std::optional<OwnerMark>* owner);
  static Status IsOwnedBy(Env* env, const std::string& folder, uint64_t log_id, bool* owned);

  // Removes everything that logs have left in a folder, unless it says that it is another log's. log_id null: not
  // known. IOError if somebody has it open.
  static Status Destroy(Env* env, const std::string& folder, const uint64_t* log_id);

  // A file of the archive.
  struct Archived {
    LogFile file;
    std::string path;
    uint64_t second = 0;  // of its move there
  };

  // Recovery: goes on behind the files among these pieces of a log that was judged (log_history.h). Files that are kept
  // are made durable, and cut where they are damaged, because the next recovery would take writes of later files for
  // writes behind a gap. Files that are dropped are removed, also durably, before anything is appended.
  Status Adopt(const std::vector<LogPiece>& pieces);

  // Appends these updates as one batch, numbered from first_sequence on. After a failure nobody knows what the file
  // holds, and the caller must append nothing more.
  Status Append(const std::vector<LogRecord>& records, uint64_t first_sequence, bool sync);

  // The next Append begins a new file.
  void EndFile();

  // Makes all files but the current one durable. Once that has failed, every call for it fails, with or without sync.
  Status SyncEnded();

  // Makes all that was appended durable, the older files first; errors as of SyncEnded. The thread that appends calls
  // Sync.
  Status Sync();

  // The last sequence of the newest file that has ended and holds nothing above this one; "otherwise", if there is
  // none.
  uint64_t EndBefore(uint64_t sequence, uint64_t otherwise);

  // Removes or archives the files that hold nothing above this sequence; the current one stays.
  Status Retire(uint64_t flushed_sequence);

  // Deletes from the archive what is too old or too much. To be called now and then; looks every so often.
  void TrimArchive();

  const std::string& folder() const { return options_.folder; }
  uint64_t live_bytes() const { return live_bytes_.load(std::memory_order_relaxed); }        // relaxed: a statistic
  uint64_t bytes_written() const { return bytes_.load(std::memory_order_relaxed); }          // relaxed: a statistic
  uint64_t padding_bytes() const { return padding_bytes_.load(std::memory_order_relaxed); }  // relaxed: a statistic
  uint64_t syncs() const { return syncs_.load(std::memory_order_relaxed); }                  // relaxed: a statistic

 private:
  Status ReplaceMark(const OwnerMark& mark);
  struct Ended {
    LogFile file;
    uint64_t bytes = 0;
    uint64_t last_sequence = 0;
    std::shared_ptr<WritableFile> unsynced;  // not null: has writes that no sync has covered
  };

  std::string Path(const LogFile& file) const { return options_.folder + "/" + file.name(); }
  std::string ArchiveFolder() const { return options_.folder + "/archive"; }
  bool archives() const { return options_.archive_seconds > 0 || options_.archive_bytes > 0; }
  static Status ListArchive(Env* env, const std::string& archive, std::vector<Archived>* files);
  Status NoNumberLeft() const;
  Status StartFile();
  Status Discard(const LogFile& file);
  Status Cut(const LogFile& file, uint64_t bytes);

  const Options options_;

  FileLock* lock_ = nullptr;

  // Of the leader.
  LogFile current_;
  std::shared_ptr<WritableFile> file_;  // null: the next Append makes one
  std::unique_ptr<FileLogWriter> writer_;
  std::string batch_;
  uint64_t last_sequence_ = 0;
  uint64_t range_synced_ = 0;  // bytes of the current file
  bool unsynced_ = false;      // the current file has writes that no sync has covered
  uint64_t next_number_ = 1;

  Mutex sync_mutex_;  // taken before mutex_, held while ended files are synced
  Status sync_error_ GUARDED_BY(sync_mutex_);
  Mutex mutex_;
  std::list<Ended> ended_ GUARDED_BY(mutex_);  // oldest first
  std::atomic<uint64_t> live_bytes_{0};
  std::atomic<uint64_t> bytes_{0};
  std::atomic<uint64_t> padding_bytes_{0};
  std::atomic<uint64_t> syncs_{0};
  std::atomic<uint64_t> next_trim_{0};  // seconds
};

}  // namespace miodb

#endif  // MIODB_SRC_LOG_FILE_LOG_H_
