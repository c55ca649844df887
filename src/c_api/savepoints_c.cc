// Savepoints and readers in the C API: other ways to look at a database.

#include <vector>

#include "miodb/c.h"
#include "src/c_api/c_types.h"
#include "src/util/check/check.h"

using miodb::At;
using miodb::NewHandle;
using miodb::RepOf;
using miodb::SaveError;
using miodb::SavepointInfo;
using miodb::Slice;

struct miodb_savepoints_t {
  std::vector<SavepointInfo> rep;
};

extern "C" {

void miodb_create_savepoint(leveldb_t* db, const char* name, size_t namelen, char** errptr) {
  DCHECK(name != nullptr || namelen == 0);
  SaveError(errptr, RepOf(db)->CreateSavepoint(Slice(name, namelen)));
}

void miodb_drop_savepoint(leveldb_t* db, const char* name, size_t namelen, char** errptr) {
  DCHECK(name != nullptr || namelen == 0);
  SaveError(errptr, RepOf(db)->DropSavepoint(Slice(name, namelen)));
}

// The list is the caller's until it is destroyed, and does not change with the database.
miodb_savepoints_t* miodb_list_savepoints(leveldb_t* db, char** errptr) {
  return NewHandle<miodb_savepoints_t>("savepoints", errptr,
                                       [&](auto* list) { return RepOf(db)->ListSavepoints(list); });
}

void miodb_savepoints_destroy(miodb_savepoints_t* savepoints) { delete savepoints; }

size_t miodb_savepoints_count(const miodb_savepoints_t* savepoints) { return RepOf(savepoints).size(); }

const char* miodb_savepoints_name(const miodb_savepoints_t* savepoints, size_t i, size_t* namelen) {
  DCHECK(namelen != nullptr);
  *namelen = At(savepoints, i).name.size();
  return At(savepoints, i).name.c_str();
}

uint64_t miodb_savepoints_sequence(const miodb_savepoints_t* savepoints, size_t i) {
  return At(savepoints, i).sequence;
}

uint64_t miodb_savepoints_micros(const miodb_savepoints_t* savepoints, size_t i) { return At(savepoints, i).micros; }

uint64_t miodb_savepoints_held_bytes(const miodb_savepoints_t* savepoints, size_t i) {
  return At(savepoints, i).held_bytes;
}

leveldb_t* miodb_open_savepoint(leveldb_t* db, const char* name, size_t namelen, char** errptr) {
  DCHECK(name != nullptr || namelen == 0);
  return NewHandle<leveldb_t>("savepoint", errptr,
                              [&](miodb::DB** view) { return RepOf(db)->OpenSavepoint(Slice(name, namelen), view); });
}

leveldb_t* miodb_open_reader(const leveldb_options_t* options, const char* name, char** errptr) {
  DCHECK(name != nullptr);
  return NewHandle<leveldb_t>(name, errptr,
                              [&](miodb::DB** reader) { return miodb::DB::OpenReader(RepOf(options), name, reader); });
}

void miodb_refresh(leveldb_t* db, char** errptr) { SaveError(errptr, RepOf(db)->Refresh()); }

}  // extern "C"
