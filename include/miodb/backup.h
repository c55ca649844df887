// Backups: a folder that takes any number of generations of one database, each the state of one moment.
//
//   miodb::BackupInfo made;
//   miodb::Status s = db->CreateBackup(miodb::BackupOptions(), "/backup/store", &made);   // as often as wanted
//   s = miodb::RestoreBackup(miodb::Options(), miodb::BackupOptions(), "/backup/store", 0, "/var/lib/restored");
//
// A generation has what it shares with older ones by reference, and copies the rest. Every generation can be restored
// and deleted by itself, whatever becomes of the others. All that lies in the folder has checksums, which VerifyBackup
// and RestoreBackup look at.
//
// A folder is for one database, the one that made its first generation. A database that was restored or repaired is
// another one, and so is one with an anonymous pool after each open.
//
// Threads: any, for different folders at the same time. In one folder one call adds or deletes at a time, by any
// process: others are an IOError that says so. Verifying and restoring may go on beside an adding, not beside a
// deletion.
//
// After a crash: the generations that there were, and what the call was about as a whole or not at all. If the
// making of a generation was cut off, the next generation uses the blocks that were copied.
//
// Errors: InvalidArgument for a folder that is no backup or another database's, NotFound for a generation that is not
// there, Corruption naming the file for what is damaged, NoSpace where the file system has no room, IOError for other
// errors of the file system. NotSupported for an Env of the user's, for a database that has both an anonymous pool and
// an SSD tier, and for a pool_path that is no place for a file, such as a device, when a generation is restored.

#ifndef MIODB_INCLUDE_BACKUP_H_
#define MIODB_INCLUDE_BACKUP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "miodb/export.h"
#include "miodb/options.h"
#include "miodb/status.h"

namespace miodb {

struct BackupOptions {
  // The rate at which the backup is written; 0: as fast as it goes. While a generation is made, its content stays in
  // the pool.
  uint64_t bytes_per_second = 0;

  // Told, by the calling thread and many times a second, how many bytes are done of how many. Bytes that older
  // generations share count like bytes that are copied. False ends the call with an IOError: the copied bytes stay, and
  // the next call uses them.
  std::function<bool(uint64_t done, uint64_t all)> progress;
};

struct BackupInfo {
  uint64_t generation = 0;  // from 1 on, one above the newest that there was
  uint64_t micros = 0;      // when it was made, by the system's date: microseconds since 1970
  uint64_t bytes = 0;       // of extents and table files that it has
  uint64_t new_bytes = 0;   // written for it: what no generation before had, and its record; no linked table files
};

// DB::CreateBackup adds a generation (db.h).

// Stores what generations there are, the oldest first. A record that is damaged is a Corruption, which names it, and
// the others are stored.
MIODB_EXPORT Status ListBackups(const std::string& folder, std::vector<BackupInfo>* generations);

// Reads all bytes of a generation and looks at their checksums; 0: of all generations, each byte once. Corruption names
// the first place that is damaged.
MIODB_EXPORT Status VerifyBackup(const BackupOptions& backup, const std::string& folder, uint64_t generation);

// Makes the database of a generation in a directory, which must not exist; 0: of the newest. The pool is one file:
// options.pool_path, or "pool" in the directory; it must not exist. Table files go to options.ssd_path, or to "ssd" in
// the directory. The database is opened with the same options, its pool_size being what all regions had, and may get
// regions then. Bytes are verified on the way. Until everything is there and durable it is "<directory>.tmp", and a
// pool elsewhere "<pool_path>.restoring"; the next call with the same directory and paths removes what a crash left of
// them. On failure nothing is left.
MIODB_EXPORT Status RestoreBackup(const Options& options, const BackupOptions& backup, const std::string& folder,
                                  uint64_t generation, const std::string& directory);

// Deletes a generation, and gives back what no other one has. Also for one whose record is damaged.
MIODB_EXPORT Status DeleteBackup(const std::string& folder, uint64_t generation);

}  // namespace miodb

#endif  // MIODB_INCLUDE_BACKUP_H_
