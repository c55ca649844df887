// The C functions of LevelDB's and RocksDB's shared libraries, found at run time: a program that does not ask for them
// needs neither. Where both have a function, it has the same name but for the first word.
//
// Threads: any, after Load. Ownership: as in the libraries' own headers, leveldb/c.h and rocksdb/c.h; objects are
// void*. A library stays loaded until the process ends.

#ifndef MIODB_TOOLS_MIODB_STORES_FOREIGN_LIBRARY_H_
#define MIODB_TOOLS_MIODB_STORES_FOREIGN_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "miodb/status.h"
#include "tools/miodb/stores/source.h"

namespace miodb::tool {

struct ForeignLibrary {
  // Loads the library at path, or, if that is empty, the system's. NotFound says what to install.
  static Status Load(Format format, const std::string& path, ForeignLibrary* library);

  // Takes the text of an error, which a call has stored, and frees it.
  Status TakeError(const std::string& place, char* error) const;

  Format format = Format::kLevelDb;

  void* (*options_create)();
  void (*options_destroy)(void*);
  void (*options_set_paranoid_checks)(void*, unsigned char);
  void (*options_set_create_if_missing)(void*, unsigned char);
  void (*options_set_error_if_exists)(void*, unsigned char);
  void* (*readoptions_create)();
  void (*readoptions_destroy)(void*);
  void (*readoptions_set_verify_checksums)(void*, unsigned char);
  void (*readoptions_set_fill_cache)(void*, unsigned char);
  void* (*open)(const void* options, const char* name, char** error);
  void (*close)(void* db);
  void (*free)(void*);
  void* (*create_iterator)(void* db, const void* read_options);
  void (*iter_destroy)(void*);
  unsigned char (*iter_valid)(const void*);
  void (*iter_seek_to_first)(void*);
  void (*iter_next)(void*);
  const char* (*iter_key)(const void*, size_t*);
  const char* (*iter_value)(const void*, size_t*);
  void (*iter_get_error)(const void*, char** error);

  // LevelDB alone.
  struct {
    void (*approximate_sizes)(void* db, int n, const char* const* starts, const size_t* start_sizes,
                              const char* const* limits, const size_t* limit_sizes, uint64_t* sizes);
    void* (*writeoptions_create)();
    void (*writeoptions_destroy)(void*);
    void* (*writebatch_create)();
    void (*writebatch_destroy)(void*);
    void (*writebatch_clear)(void*);
    void (*writebatch_put)(void*, const char* key, size_t key_size, const char* value, size_t value_size);
    void (*write)(void* db, const void* write_options, void* batch, char** error);
  } leveldb;

  // RocksDB alone.
  struct {
    void (*options_set_wal_recovery_mode)(void*, int);
    char** (*list_column_families)(const void* options, const char* name, size_t* count, char** error);
    void (*list_column_families_destroy)(char** names, size_t count);
    void* (*open_for_read_only_column_families)(const void* options, const char* name, int count,
                                                const char* const* names, const void* const* family_options,
                                                void** handles, unsigned char error_if_wal_file_exists, char** error);
    void (*column_family_handle_destroy)(void*);
    void* (*create_iterator_cf)(void* db, const void* read_options, void* family);
    void (*approximate_sizes_cf)(void* db, void* family, int n, const char* const* starts, const size_t* start_sizes,
                                 const char* const* limits, const size_t* limit_sizes, uint64_t* sizes, char** error);
  } rocksdb;
};

}  // namespace miodb::tool

#endif  // MIODB_TOOLS_MIODB_STORES_FOREIGN_LIBRARY_H_
