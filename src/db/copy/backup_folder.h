// The folder of backups: its files, who may use it, and which generations there are.
//
//   BACKUP               the mark: of which database (backup_format.h)
//   BACKUP.lock          locked by whoever uses the folder
//   generations/NNNNNN   a record for each generation; all that it names was durable before it
//   data/NNNNNN          the blocks that generation NNNNNN was the first to have, and that others may share
//   tables/NNNNNN-F.sst  table files, by their numbers in the database and their fingerprints, in hexadecimal
//
// A generation is there when its record has its name, and gone when that is removed. Files that no record names are
// left from a call that was cut off: Sweep removes them. A data file above the newest generation is taken up by the
// next one.
//
// Threads: one for an object. Ownership: the lock is let go with the object.

#ifndef MIODB_SRC_DB_COPY_BACKUP_FOLDER_H_
#define MIODB_SRC_DB_COPY_BACKUP_FOLDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "miodb/env.h"
#include "src/db/copy/backup_format.h"
#include "src/util/files/posix_file.h"

namespace miodb {

class BackupFolder {
 public:
  // access: of what is made.
  explicit BackupFolder(const std::string& path, FileAccess access = FileAccess::kOwner);
  ~BackupFolder();
  BackupFolder(const BackupFolder&) = delete;
  BackupFolder& operator=(const BackupFolder&) = delete;

  // For one of these kinds of use. To add, the folder is made if it is not there; it is refused if it is another
  // database's than that with this pool.
  Status OpenToAdd(const Uuid& pool);
  Status OpenToRead();
  Status OpenToDelete();
  // To see what there is at this moment, beside all others.
  Status OpenToList();

  const std::string& path() const { return path_; }
  FileAccess access() const { return access_; }
  Env* env() const { return env_; }
  std::string RecordsPath() const { return path_ + "/generations"; }
  std::string DataPath() const { return path_ + "/data"; }
  std::string TablesPath() const { return path_ + "/tables"; }
  std::string DataPath(uint64_t generation) const { return DataPath() + "/" + NumberName(generation); }
  std::string TablePath(const BackupTable& table) const { return TablesPath() + "/" + TableName(table); }
  std::string RecordPath(uint64_t generation) const { return RecordsPath() + "/" + NumberName(generation); }

  // The generations, ascending.
  Status List(std::vector<uint64_t>* generations) const;

  // NotFound if there is no such record; Corruption if the record is damaged or not the one that its name says.
  Status Read(uint64_t generation, BackupRecord* record) const;

  // Reads the record of the newest generation; NotFound if there is none.
  Status ReadNewest(BackupRecord* record) const;

  // Makes a generation of what its record names, which is durable.
  Status Publish(const BackupRecord& record) const;

  // Hashes by path of the table files that generations have, of pools with this secret.
  using TableHashes = std::map<std::string, BlockHash>;
  Status HeldTables(uint64_t secret, TableHashes* held) const;

  Status Remove(uint64_t generation) const;

  // Removes what no record names, and gives back the parts of data files that none names.
  Status Sweep() const;

 private:
  static std::string TableName(const BackupTable& table);
  static std::string NumberName(uint64_t number);
  static bool ParseNumberName(const std::string& name, uint64_t* number);

  Status CheckMark(const Uuid* pool) const;
  Status MakeMark(const Uuid& pool) const;
  Status Decode(uint64_t generation, BackupRecord* record) const;
  Status OfAnotherDatabase() const;
  Status Damaged(uint64_t generation) const;
  Status Make(const Uuid& pool);
  Status Lock(int flags, const std::vector<int>& parts, short type);
  Status Numbers(const std::string& folder, std::vector<uint64_t>* numbers) const;

  const std::string path_;
  const FileAccess access_;
  Env* const env_;
  Descriptor lock_{-1};
};

}  // namespace miodb

#endif  // MIODB_SRC_DB_COPY_BACKUP_FOLDER_H_
