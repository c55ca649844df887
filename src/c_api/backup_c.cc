// Backups in the C API.

#include <vector>

#include "miodb/backup.h"
#include "miodb/c.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"
#include "src/util/check/no_throw.h"

using miodb::At;
using miodb::BackupInfo;
using miodb::BackupOptions;
using miodb::RepOf;
using miodb::SaveError;
using miodb::Status;

struct miodb_backups_t {
  std::vector<BackupInfo> rep;
};

extern "C" {

// An exception of the function of progress, which C has none of, would end here as an error.
uint64_t miodb_create_backup(leveldb_t* db, const char* folder, uint64_t bytes_per_second,
                             miodb_backup_progress_t progress, void* state, char** errptr) {
  DCHECK(folder != nullptr);
  BackupInfo info;
  const Status s = miodb::NoThrow("backup", [&] {
    BackupOptions options;
    options.bytes_per_second = bytes_per_second;
    if (progress != nullptr) {
      options.progress = [=](uint64_t done, uint64_t all) { return progress(state, done, all) != 0; };
    }
    return RepOf(db)->CreateBackup(options, folder, &info);
  });
  return SaveError(errptr, s) ? 0 : info.generation;
}

// The list is the caller's until it is destroyed, and does not change with the folder.
miodb_backups_t* miodb_list_backups(const char* folder, char** errptr) {
  DCHECK(folder != nullptr);
  return miodb::NewHandle<miodb_backups_t>("backups", errptr,
                                           [&](auto* list) { return miodb::ListBackups(folder, list); });
}

void miodb_backups_destroy(miodb_backups_t* backups) { delete backups; }

// Figures of one generation each, as they were when the list was made.
size_t miodb_backups_count(const miodb_backups_t* backups) {
  DCHECK(backups != nullptr);
  return RepOf(backups).size();
}

uint64_t miodb_backups_generation(const miodb_backups_t* backups, size_t i) { return At(backups, i).generation; }

uint64_t miodb_backups_micros(const miodb_backups_t* backups, size_t i) { return At(backups, i).micros; }

uint64_t miodb_backups_bytes(const miodb_backups_t* backups, size_t i) { return At(backups, i).bytes; }

uint64_t miodb_backups_new_bytes(const miodb_backups_t* backups, size_t i) { return At(backups, i).new_bytes; }

// The next three calls need no open database; each takes the lock of the folder for itself.
void miodb_verify_backup(const char* folder, uint64_t generation, char** errptr) {
  DCHECK(folder != nullptr);
  SaveError(errptr, miodb::VerifyBackup(BackupOptions(), folder, generation));
}

void miodb_restore_backup(const leveldb_options_t* options, const char* folder, uint64_t generation,
                          const char* directory, char** errptr) {
  DCHECK(options != nullptr && folder != nullptr && directory != nullptr);
  SaveError(errptr, miodb::RestoreBackup(RepOf(options), BackupOptions(), folder, generation, directory));
}

void miodb_delete_backup(const char* folder, uint64_t generation, char** errptr) {
  DCHECK(folder != nullptr);
  SaveError(errptr, miodb::DeleteBackup(folder, generation));
}

}  // extern "C"
