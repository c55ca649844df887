// Backup: adding a generation to a folder of backups (DB::CreateBackup; miodb/backup.h has the other calls).
//
// Making one, step by step:
//
//   1 Open the folder, or make it (backup_folder.h), and read the record of the newest generation.
//   2 Hold the state (Savepoints::Freeze), as for a checkpoint.
//   3 Walk over every extent that the state names. Where the newest generation has a block whose bytes are those of the
//     pool, the new one has it too; so with what a run that was cut off has left. Everything else is appended to the
//     data file of the new generation.
//   4 The same with table files, of which each is there once: linked, or copied where that cannot be.
//   5 Sync all of that, and write the record, which makes the generation.
//
// Threads: any; one at a time in a folder.
// After a crash: the generations that there were, and what the next run takes up; or the new one as well.

#ifndef MIODB_SRC_DB_COPY_BACKUP_H_
#define MIODB_SRC_DB_COPY_BACKUP_H_

#include <map>
#include <optional>
#include <string>

#include "miodb/backup.h"
#include "src/db/context/db_context.h"
#include "src/db/context/db_mutex.h"
#include "src/db/copy/backup_data.h"
#include "src/db/copy/backup_folder.h"
#include "src/db/copy/backup_pace.h"
#include "src/db/copy/savepoints.h"
#include "src/util/check/check.h"

namespace miodb {

class Backup {
 public:
  // All of them outlive this.
  Backup(const DbContext& db, Savepoints* savepoints, const BackupOptions& options)
      : db_(db), savepoints_(savepoints), options_(options) {
    CHECK(savepoints != nullptr);
  }
  Backup(const Backup&) = delete;
  Backup& operator=(const Backup&) = delete;

  // As DB::CreateBackup.
  Status Create(const std::string& path, BackupInfo* info) EXCLUDES(db_mutex);

 private:
  // Parts that the new generation may share: blocks by their offsets in the pool, table files by their numbers.
  struct Shared {
    std::map<PmRef, BackupBlock> blocks;
    std::map<uint64_t, BackupTable> tables;
  };

  // The objects that a run works with.
  struct Run {
    const BackupFolder& folder;
    const Shared& shared;
    DataWriter data;
    BackupPace pace;
    BackupRecord record;
    uint64_t copied = 0;                                 // bytes of table files
    std::optional<BackupFolder::TableHashes> held = {};  // of all generations, once it is asked for
  };

  Status FindShared(const BackupFolder& folder, uint64_t* newest, Shared* shared) const;
  Status CreateIn(const BackupFolder& folder, BackupInfo* info) EXCLUDES(db_mutex);
  Status CopyState(Run* run, const FrozenState& frozen) const;
  Status CopyExtent(Run* run, const PoolCopy::Part& part) const;
  bool Fits(const std::map<PmRef, BackupBlock>& blocks, PmRef offset, uint64_t rest, BackupBlock* block) const;
  Status CopyTable(Run* run, const SstMeta& meta) const;
  Status HashTable(Run* run, const std::string& path, BackupTable* table) const;
  Status MayBecome(Run* run, const BackupTable& table) const;

  const DbContext& db_;
  Savepoints* const savepoints_;
  const BackupOptions& options_;
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_COPY_BACKUP_H_
