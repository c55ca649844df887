// The C functions of LevelDB's and RocksDB's libraries that engines and importers call, as a table of names and types.
// Where both have a function, the name differs by its first word alone. Objects of a library are void*.
//
// Threads: any, after Load. Ownership: as both libraries document it for their C headers.

#ifndef MIODB_BENCHMARKS_COMMON_ENGINES_C_API_H_
#define MIODB_BENCHMARKS_COMMON_ENGINES_C_API_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "benchmarks/common/library.h"

namespace miodb::bench {

// Where neither a flag nor the options name one.
inline constexpr int64_t kDefaultCacheBytes = 8 << 20;

// F(result, name, arguments): of both, and needed.
#define MIODB_C_API_OF_BOTH(F)                                                                             \
  F(void*, options_create, ())                                                                             \
  F(void, options_destroy, (void* options))                                                                \
  F(void, options_set_create_if_missing, (void* options, unsigned char))                                   \
  F(void, options_set_error_if_exists, (void* options, unsigned char))                                     \
  F(void, options_set_paranoid_checks, (void* options, unsigned char))                                     \
  F(void, options_set_comparator, (void* options, void* comparator))                                       \
  F(void*, comparator_create,                                                                              \
    (void* state, void (*destroy)(void*), int (*compare)(void*, const char*, size_t, const char*, size_t), \
     const char* (*name)(void*)))                                                                          \
  F(void, comparator_destroy, (void* comparator))                                                          \
  F(void*, readoptions_create, ())                                                                         \
  F(void, readoptions_destroy, (void* options))                                                            \
  F(void, readoptions_set_verify_checksums, (void* options, unsigned char))                                \
  F(void, readoptions_set_fill_cache, (void* options, unsigned char))                                      \
  F(void, readoptions_set_snapshot, (void* options, const void* snapshot))                                 \
  F(void*, writeoptions_create, ())                                                                        \
  F(void, writeoptions_destroy, (void* options))                                                           \
  F(void, writeoptions_set_sync, (void* options, unsigned char))                                           \
  F(void, close, (void* db))                                                                               \
  F(void, destroy_db, (const void* options, const char* path, char** error))                               \
  F(void, free, (void* bytes))                                                                             \
  F(void, write, (void* db, const void* options, void* batch, char** error))                               \
  F(void*, writebatch_create, ())                                                                          \
  F(void, writebatch_destroy, (void* batch))                                                               \
  F(void, writebatch_clear, (void* batch))                                                                 \
  F(void, iter_destroy, (void* iterator))                                                                  \
  F(unsigned char, iter_valid, (const void* iterator))                                                     \
  F(void, iter_seek_to_first, (void* iterator))                                                            \
  F(void, iter_seek_to_last, (void* iterator))                                                             \
  F(void, iter_seek, (void* iterator, const char* key, size_t size))                                       \
  F(void, iter_next, (void* iterator))                                                                     \
  F(void, iter_prev, (void* iterator))                                                                     \
  F(const char*, iter_key, (const void* iterator, size_t* size))                                           \
  F(const char*, iter_value, (const void* iterator, size_t* size))                                         \
  F(void, iter_get_error, (const void* iterator, char** error))                                            \
  F(const void*, create_snapshot, (void* db))                                                              \
  F(void, release_snapshot, (void* db, const void* snapshot))                                              \
  F(char*, property_value, (void* db, const char* name))                                                   \
  F(void, compact_range, (void* db, const char* start, size_t, const char* limit, size_t))

// Functions of LevelDB alone. A library without one of them is refused.
#define MIODB_C_API_OF_LEVELDB(F)                                                                                 \
  F(void*, open, (const void* options, const char* path, char** error))                                           \
  F(void, put, (void* db, const void* options, const char* key, size_t, const char* value, size_t, char** error)) \
  F(void, delete, (void* db, const void* options, const char* key, size_t, char** error))                         \
  F(char*, get, (void* db, const void* options, const char* key, size_t, size_t* size, char** error))             \
  F(void, writebatch_put, (void* batch, const char* key, size_t, const char* value, size_t))                      \
  F(void, writebatch_delete, (void* batch, const char* key, size_t))                                              \
  F(void*, create_iterator, (void* db, const void* options))                                                      \
  F(void, approximate_sizes,                                                                                      \
    (void* db, int count, const char* const* starts, const size_t*, const char* const* limits, const size_t*,     \
     uint64_t* sizes))                                                                                            \
  F(void, options_set_write_buffer_size, (void* options, size_t))                                                 \
  F(void, options_set_max_open_files, (void* options, int))                                                       \
  F(void, options_set_block_size, (void* options, size_t))                                                        \
  F(void, options_set_compression, (void* options, int))                                                          \
  F(void, options_set_cache, (void* options, void* cache))                                                        \
  F(void*, cache_create_lru, (size_t capacity))                                                                   \
  F(void, cache_destroy, (void* cache))                                                                           \
  F(void, options_set_filter_policy, (void* options, void* policy))                                               \
  F(void*, filterpolicy_create_bloom, (int bits))                                                                 \
  F(void, filterpolicy_destroy, (void* policy))

// Functions of LevelDB alone. Forks of old versions lack them.
#define MIODB_C_API_OF_NEW_LEVELDB(F)                               \
  F(void, options_set_max_file_size, (void* options, size_t))       \
  F(void, options_set_block_restart_interval, (void* options, int)) \
  F(int, major_version, ())                                         \
  F(int, minor_version, ())

// Functions of RocksDB alone. A library without one of them is refused.
#define MIODB_C_API_OF_ROCKSDB(F)                                                                                      \
  F(void, get_options_from_string, (const void* base, const char* text, void* options, char** error))                  \
  F(void, options_set_wal_recovery_mode, (void* options, int))                                                         \
  F(void*, open_column_families,                                                                                       \
    (const void* options, const char* path, int count, const char* const* names, const void* const* family_options,    \
     void** families, char** error))                                                                                   \
  F(void*, open_for_read_only_column_families,                                                                         \
    (const void* options, const char* path, int count, const char* const* names, const void* const* family_options,    \
     void** families, unsigned char error_if_log_exists, char** error))                                                \
  F(char**, list_column_families, (const void* options, const char* path, size_t* count, char** error))                \
  F(void, list_column_families_destroy, (char** names, size_t count))                                                  \
  F(void, column_family_handle_destroy, (void* family))                                                                \
  F(void, put_cf,                                                                                                      \
    (void* db, const void* options, void* family, const char* key, size_t, const char* value, size_t, char** error))   \
  F(void, merge_cf,                                                                                                    \
    (void* db, const void* options, void* family, const char* key, size_t, const char* value, size_t, char** error))   \
  F(void, delete_cf, (void* db, const void* options, void* family, const char* key, size_t, char** error))             \
  F(char*, get_cf, (void* db, const void* options, void* family, const char* key, size_t, size_t* size, char** error)) \
  F(void, writebatch_put_cf, (void* batch, void* family, const char* key, size_t, const char* value, size_t))          \
  F(void, writebatch_merge_cf, (void* batch, void* family, const char* key, size_t, const char* value, size_t))        \
  F(void, writebatch_delete_cf, (void* batch, void* family, const char* key, size_t))                                  \
  F(void*, create_iterator_cf, (void* db, const void* options, void* family))                                          \
  F(void, writeoptions_disable_WAL, (void* options, int))                                                              \
  F(void, flush, (void* db, const void* options, char** error))                                                        \
  F(void, compact_range_cf, (void* db, void* family, const char* start, size_t, const char* limit, size_t))            \
  F(char*, property_value_cf, (void* db, void* family, const char* name))                                              \
  F(void*, flushoptions_create, ())                                                                                    \
  F(void, flushoptions_destroy, (void* options))                                                                       \
  F(void, options_enable_statistics, (void* options))                                                                  \
  F(char*, options_statistics_get_string, (void* options))

// Functions of RocksDB alone. Old versions lack some of them.
#define MIODB_C_API_OF_NEW_ROCKSDB(F)                                                                                  \
  F(void, flush_cf, (void* db, const void* options, void* family, char** error))                                       \
  F(void, singledelete_cf, (void* db, const void* options, void* family, const char* key, size_t, char** error))       \
  F(void, writebatch_singledelete_cf, (void* batch, void* family, const char* key, size_t))                            \
  F(void*, get_pinned_cf, (void* db, const void* options, void* family, const char* key, size_t, char** error))        \
  F(const char*, pinnableslice_value, (const void* slice, size_t* size))                                               \
  F(void, pinnableslice_destroy, (void* slice))                                                                        \
  F(void, batched_multi_get_cf,                                                                                        \
    (void* db, const void* options, void* family, size_t count, const char* const* keys, const size_t*, void** slices, \
     char** errors, bool sorted))                                                                                      \
  F(void, readoptions_set_readahead_size, (void* options, size_t))                                                     \
  F(void, disable_manual_compaction, (void* db))                                                                       \
  F(void, enable_manual_compaction, (void* db))                                                                        \
  F(void, load_latest_options,                                                                                         \
    (const char* path, void* env, bool ignore_unknown, void* cache, void** options, size_t* count, char*** names,      \
     void*** family_options, char** error))                                                                            \
  F(void, load_latest_options_destroy, (void* options, char** names, void** family_options, size_t count))             \
  F(void*, create_default_env, ())                                                                                     \
  F(void, approximate_sizes_cf,                                                                                        \
    (void* db, void* family, int count, const char* const* starts, const size_t*, const char* const* limits,           \
     const size_t*, uint64_t* sizes, char** error))

#define MIODB_C_API_MEMBER(result, name, arguments) result(*name##_) arguments = nullptr;

// The functions of either library. A member of the other library is nullptr.
struct CApi {
  enum class Kind { kLevelDb, kRocksDb };

  // Loads the library in this file, or the one that is installed. kNotFound: there is none; kError: it is not one.
  static Outcome Load(Kind kind, const std::string& file, CApi* api);

  // Takes the text of an error, which a call has stored, and frees it.
  Outcome Take(char* error) const;
  // A property of the database, or nothing.
  bool Property(void* db, const char* name, std::string* text) const;
  // The same of a column family of RocksDB's.
  bool Property(void* db, void* family, const char* name, std::string* text) const;

  Library library;
  MIODB_C_API_OF_BOTH(MIODB_C_API_MEMBER)
  MIODB_C_API_OF_LEVELDB(MIODB_C_API_MEMBER)
  MIODB_C_API_OF_NEW_LEVELDB(MIODB_C_API_MEMBER)
  MIODB_C_API_OF_ROCKSDB(MIODB_C_API_MEMBER)
  MIODB_C_API_OF_NEW_ROCKSDB(MIODB_C_API_MEMBER)

 private:
  // Frees the value, which may be nullptr.
  bool TakeText(char* value, std::string* text) const;
};

}  // namespace miodb::bench

#endif  // MIODB_BENCHMARKS_COMMON_ENGINES_C_API_H_
