// LogFiles: the log files of a database. Sequences alone tell which files hold anything that is not in tables: there is
// a file for each memtable, and the manifest has the flushed sequence. So no edit names them, and the only thing to
// remember is where they are: STORE says it (format/store_descriptor.h), whatever the log mode is at the next open.
//
// Threads: Open, Leave and Remove by the open and the close; to_write() by the leader of a write group; the rest by
// any, because FileLog has a lock of its own. After a crash: files that nobody needs any more may stay, and the
// next open retires them.

#ifndef MIODB_SRC_DB_SPACE_LOG_FILES_H_
#define MIODB_SRC_DB_SPACE_LOG_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/db/context/db_context.h"
#include "src/db/store/store_keeper.h"
#include "src/log/file_log.h"
#include "src/util/check/check.h"

namespace miodb {

class LogFiles {
 public:
  LogFiles(const DbContext& db, StoreKeeper* store) : db_(db), store_(store) { CHECK(store != nullptr); }
  LogFiles(const LogFiles&) = delete;
  LogFiles& operator=(const LogFiles&) = delete;

  // Finds the log files, and prepares to write some if the mode asks for it. STORE says so before anybody can write.
  // store_id: whose SSD tier the log belongs to, with a volatile pool.
  Status Open(uint64_t store_id);

  // When the database is closed: if all is flushed there is nothing in the log, wherever it is then.
  void Leave();

  // For an open that failed: nobody writes any more, and the close has nothing to leave.
  void Abandon() {
    to_write_ = nullptr;
    files_.reset();
  }

  // And if it had nothing before it: takes the log away again.
  void Remove();

  // Null: there are no log files, and will be none.
  FileLog* files() const { return files_.get(); }

  // The same, if writes go to them.
  FileLog* to_write() const {
    DCHECK(to_write_ == nullptr || to_write_ == files_.get());
    return to_write_;
  }

  // Whether the files are longer than max_total_wal_size lets them be.
  bool TooLarge() const;

  // Lets go of files that hold nothing newer than this sequence.
  void Retire(uint64_t sequence);
  void TrimArchive();

 private:
  Status Find(const std::string& folder, uint64_t id, std::vector<LogFile>* files) const;
  Status FindUnused(bool* same) const;
  Status Make(const StoreDescriptor::Log& log, uint64_t store_id);

  const DbContext& db_;
  StoreKeeper* const store_;
  std::unique_ptr<FileLog> files_;
  FileLog* to_write_ = nullptr;
  bool folder_made_ = false;  // by the open
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_SPACE_LOG_FILES_H_
