/* What MioDB adds to LevelDB's C API.

   The C API is that of leveldb/c.h, which lies in compat/ and says how objects, errors and threads are handled;
   everything there holds here. Both are in libleveldb, the library for LevelDB programs, and not in libmiodb. This
   header works with leveldb/c.h's objects, whose types it declares only as structs, so either may be included first and
   this one also alone.

   Valid C89 but for <stdint.h>, and C++. */

#ifndef MIODB_INCLUDE_C_H_
#define MIODB_INCLUDE_C_H_

#include <stddef.h>
#include <stdint.h>

/* As MIODB_EXPORT, which belongs to the C++ headers. */
#if defined(__GNUC__) || defined(__clang__)
#define MIODB_C_EXPORT __attribute__((visibility("default")))
#else
#define MIODB_C_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct leveldb_t;
struct leveldb_iterator_t;
struct leveldb_options_t;
struct leveldb_readoptions_t;
struct leveldb_writebatch_t;
struct leveldb_writeoptions_t;

/* ---- The version of MioDB. ---- */

MIODB_C_EXPORT int miodb_major_version(void);
MIODB_C_EXPORT int miodb_minor_version(void);

/* ---- Options by their names in miodb/options.h, which says what each means and its unit. docs/options.md has their
   ranges and words. Whatever is no object is set here; comparators, filter policies, caches and their like have calls
   of their own. ---- */

/* Gives an option the value that the text says: "true" or "false", a decimal number, a word such as "emulated", or a
   path, which is copied. If there is no option of this name, or the value is none that is allowed, *errptr is the
   error, which names the option, the text and what is allowed, and the options are as they were. The range of an option
   that needs the SSD tier is looked at only if ssd_path is set already, and again when a database is opened. */
MIODB_C_EXPORT void miodb_options_set(struct leveldb_options_t*, const char* name, const char* text, char** errptr);

/* The value of an option in this form, to be freed with leveldb_free. NULL and the error if there is no option of this
   name. */
MIODB_C_EXPORT char* miodb_options_get(const struct leveldb_options_t*, const char* name, char** errptr);

/* How the text of an option is written; miodb_option_none: there is no option of this name. */
enum {
  miodb_option_none = -1,
  miodb_option_switch = 0,
  miodb_option_number = 1,
  miodb_option_word = 2,
  miodb_option_text = 3
};
MIODB_C_EXPORT int miodb_option_kind(const char* name);

/* The names of all options, by a number from 0 on; NULL behind the last. They live as long as the process. */
MIODB_C_EXPORT const char* miodb_option_name(size_t number);

/* ---- What databases of a process share: threads, memory of memtables, a block cache (miodb/shared_resources.h, which
   says what each option means, its unit and its range). Databases that are given none share one that the process has.

   Ownership: databases keep what they need of it from their open on, so destroy may come before they are closed. ----
 */

typedef struct miodb_sharedresources_t miodb_sharedresources_t;

/* NULL: an option is out of its range, or there is no memory. */
MIODB_C_EXPORT miodb_sharedresources_t* miodb_sharedresources_create(int threads_of_a_kind, size_t memory_budget,
                                                                     size_t memory_of_each, size_t block_cache_bytes);
MIODB_C_EXPORT void miodb_sharedresources_destroy(miodb_sharedresources_t*);
MIODB_C_EXPORT size_t miodb_sharedresources_threads(const miodb_sharedresources_t*);
MIODB_C_EXPORT size_t miodb_sharedresources_memory_bytes(const miodb_sharedresources_t*);

/* NULL: those that the process has. */
MIODB_C_EXPORT void miodb_options_set_shared_resources(struct leveldb_options_t*, const miodb_sharedresources_t*);

/* ---- What iterators read ahead of table files. ---- */

MIODB_C_EXPORT void miodb_readoptions_set_readahead_size(struct leveldb_readoptions_t*, size_t bytes);

/* ---- Bounds of iterators: keys in [lower, upper) only. The key is copied; NULL takes the bound away. ---- */

MIODB_C_EXPORT void miodb_readoptions_set_iterate_lower_bound(struct leveldb_readoptions_t*, const char* key,
                                                              size_t keylen);
MIODB_C_EXPORT void miodb_readoptions_set_iterate_upper_bound(struct leveldb_readoptions_t*, const char* key,
                                                              size_t keylen);

/* ---- A value read without a copy. It holds its bytes in the pool until it is destroyed, which must happen before the
   database is closed. ---- */

typedef struct miodb_pinnedslice_t miodb_pinnedslice_t;

/* NULL if the key is not there, which is no error, or if an error occurred. */
MIODB_C_EXPORT miodb_pinnedslice_t* miodb_get_pinned(struct leveldb_t* db, const struct leveldb_readoptions_t* options,
                                                     const char* key, size_t keylen, char** errptr);
MIODB_C_EXPORT const char* miodb_pinnedslice_value(const miodb_pinnedslice_t*, size_t* vallen);
MIODB_C_EXPORT void miodb_pinnedslice_destroy(miodb_pinnedslice_t*);

/* ---- Many gets as of one moment. Each of the three arrays has num_keys places: of a key that is there its value,
   which the caller frees with leveldb_free, and its size; of another NULL and 0; and of one whose read failed the
   error, to be freed too, else NULL. ---- */

MIODB_C_EXPORT void miodb_multi_get(struct leveldb_t* db, const struct leveldb_readoptions_t* options, size_t num_keys,
                                    const char* const* keys, const size_t* keylens, char** values, size_t* vallens,
                                    char** errors);

/* The same without copies: slices has num_keys places, and gets of a key that is there a pinned slice, of another NULL.
 */
MIODB_C_EXPORT void miodb_multi_get_pinned(struct leveldb_t* db, const struct leveldb_readoptions_t* options,
                                           size_t num_keys, const char* const* keys, const size_t* keylens,
                                           miodb_pinnedslice_t** slices, char** errors);

/* 0: the key is not there. 1: it may be. *value is a copy, for leveldb_free, of the value if that was found in memory,
 *and vallen its size; else NULL and 0. Both may be NULL. */
MIODB_C_EXPORT uint8_t miodb_key_may_exist(struct leveldb_t* db, const struct leveldb_readoptions_t* options,
                                           const char* key, size_t keylen, char** value, size_t* vallen);

/* ---- Iterators. ---- */

/* Has the iterator show the database as it is now. It is not valid afterwards. */
MIODB_C_EXPORT void miodb_iter_refresh(struct leveldb_iterator_t*, char** errptr);

/* ---- Merges, single deletions, deletions of ranges. miodb/merge_operator.h and miodb/db.h say what they do and
   promise.
   ---- */

typedef struct miodb_mergeoperator_t miodb_mergeoperator_t;

/* full_merge returns the new value and stores its length; existing_value is NULL if there is none. partial_merge makes
   one operand of several, and may be NULL. Operands come oldest first. Both store 0 in *success, and may return NULL,
   if they fail. What they return is given to delete_value, or to free if that is NULL. destructor, if not NULL, is
   called with state in the end. All but that may be called by several threads at once. */
MIODB_C_EXPORT miodb_mergeoperator_t* miodb_mergeoperator_create(
    void* state, void (*destructor)(void* state),
    char* (*full_merge)(void* state, const char* key, size_t keylen, const char* existing_value, size_t existing_len,
                        const char* const* operands, const size_t* operand_lens, int num_operands, uint8_t* success,
                        size_t* new_len),
    char* (*partial_merge)(void* state, const char* key, size_t keylen, const char* const* operands,
                           const size_t* operand_lens, int num_operands, uint8_t* success, size_t* new_len),
    void (*delete_value)(void* state, const char* value, size_t len), const char* (*name)(void* state));

/* The operators of the library. */
MIODB_C_EXPORT miodb_mergeoperator_t* miodb_mergeoperator_create_uint64_add(void);
MIODB_C_EXPORT miodb_mergeoperator_t* miodb_mergeoperator_create_max(void);
MIODB_C_EXPORT miodb_mergeoperator_t* miodb_mergeoperator_create_put(void);
MIODB_C_EXPORT miodb_mergeoperator_t* miodb_mergeoperator_create_string_append(const char* delimiter, size_t len);

/* After the databases that use it were closed. */
MIODB_C_EXPORT void miodb_mergeoperator_destroy(miodb_mergeoperator_t*);

/* The operator stays the caller's. NULL: none. */
MIODB_C_EXPORT void miodb_options_set_merge_operator(struct leveldb_options_t*, miodb_mergeoperator_t*);

MIODB_C_EXPORT void miodb_merge(struct leveldb_t* db, const struct leveldb_writeoptions_t* options, const char* key,
                                size_t keylen, const char* operand, size_t operand_len, char** errptr);
MIODB_C_EXPORT void miodb_single_delete(struct leveldb_t* db, const struct leveldb_writeoptions_t* options,
                                        const char* key, size_t keylen, char** errptr);
MIODB_C_EXPORT void miodb_writebatch_merge(struct leveldb_writebatch_t*, const char* key, size_t keylen,
                                           const char* operand, size_t operand_len);
MIODB_C_EXPORT void miodb_writebatch_single_delete(struct leveldb_writebatch_t*, const char* key, size_t keylen);
/* From begin up to end, which is not deleted. */
MIODB_C_EXPORT void miodb_delete_range(struct leveldb_t* db, const struct leveldb_writeoptions_t* options,
                                       const char* begin, size_t beginlen, const char* end, size_t endlen,
                                       char** errptr);
MIODB_C_EXPORT void miodb_writebatch_delete_range(struct leveldb_writebatch_t*, const char* begin, size_t beginlen,
                                                  const char* end, size_t endlen);

/* ---- Column families. miodb/column_family.h says what they are. A handle belongs to the database, lives until that is
   closed and is never freed. Functions that are given one are otherwise those of the same name without "_cf". ---- */

typedef struct miodb_column_family_t miodb_column_family_t;

/* NULL and an error, if there is one of this name already; under another comparator than the bytewise one also for the
   first family while there is a savepoint. */
MIODB_C_EXPORT miodb_column_family_t* miodb_create_column_family(struct leveldb_t* db, const char* name, size_t namelen,
                                                                 char** errptr);
/* NULL if there is none of this name, which is no error. "default" always is. */
MIODB_C_EXPORT miodb_column_family_t* miodb_get_column_family(struct leveldb_t* db, const char* name, size_t namelen,
                                                              char** errptr);
/* The handle stays one of a family that was dropped: an error of every call that is given it. */
MIODB_C_EXPORT void miodb_drop_column_family(struct leveldb_t* db, miodb_column_family_t* family, char** errptr);

/* The names of all families, each with its size in (*lens)[i], and their number in *count; for
   miodb_list_column_families_destroy. NULL if an error occurred. */
MIODB_C_EXPORT char** miodb_list_column_families(struct leveldb_t* db, size_t* count, size_t** lens, char** errptr);
MIODB_C_EXPORT void miodb_list_column_families_destroy(char** names, size_t count, size_t* lens);

/* The name is the handle's, and may have zeros in it; *namelen is its size. The default family has number 0. */
MIODB_C_EXPORT const char* miodb_column_family_name(const miodb_column_family_t* family, size_t* namelen);
MIODB_C_EXPORT uint32_t miodb_column_family_id(const miodb_column_family_t* family);

/* Writes of one family. */
MIODB_C_EXPORT void miodb_put_cf(struct leveldb_t* db, const struct leveldb_writeoptions_t* options,
                                 miodb_column_family_t* family, const char* key, size_t keylen, const char* val,
                                 size_t vallen, char** errptr);
MIODB_C_EXPORT void miodb_delete_cf(struct leveldb_t* db, const struct leveldb_writeoptions_t* options,
                                    miodb_column_family_t* family, const char* key, size_t keylen, char** errptr);
MIODB_C_EXPORT void miodb_merge_cf(struct leveldb_t* db, const struct leveldb_writeoptions_t* options,
                                   miodb_column_family_t* family, const char* key, size_t keylen, const char* operand,
                                   size_t operand_len, char** errptr);
MIODB_C_EXPORT void miodb_single_delete_cf(struct leveldb_t* db, const struct leveldb_writeoptions_t* options,
                                           miodb_column_family_t* family, const char* key, size_t keylen,
                                           char** errptr);

MIODB_C_EXPORT void miodb_delete_range_cf(struct leveldb_t* db, const struct leveldb_writeoptions_t* options,
                                          miodb_column_family_t* family, const char* begin, size_t beginlen,
                                          const char* end, size_t endlen, char** errptr);

/* As leveldb_get and miodb_get_pinned. */
MIODB_C_EXPORT char* miodb_get_cf(struct leveldb_t* db, const struct leveldb_readoptions_t* options,
                                  miodb_column_family_t* family, const char* key, size_t keylen, size_t* vallen,
                                  char** errptr);
MIODB_C_EXPORT miodb_pinnedslice_t* miodb_get_pinned_cf(struct leveldb_t* db,
                                                        const struct leveldb_readoptions_t* options,
                                                        miodb_column_family_t* family, const char* key, size_t keylen,
                                                        char** errptr);
/* As miodb_multi_get, with a family for each key; NULL in place of the array: the default one for all. */
MIODB_C_EXPORT void miodb_multi_get_cf(struct leveldb_t* db, const struct leveldb_readoptions_t* options,
                                       miodb_column_family_t* const* families, size_t num_keys, const char* const* keys,
                                       const size_t* keylens, char** values, size_t* vallens, char** errors);
/* Of the keys of the family alone. The bounds of the options are keys of it. */
MIODB_C_EXPORT struct leveldb_iterator_t* miodb_create_iterator_cf(struct leveldb_t* db,
                                                                   const struct leveldb_readoptions_t* options,
                                                                   miodb_column_family_t* family);

/* A batch may have updates of several families and of none; leveldb_write writes all of them or nothing. */
MIODB_C_EXPORT void miodb_writebatch_put_cf(struct leveldb_writebatch_t*, miodb_column_family_t* family,
                                            const char* key, size_t keylen, const char* val, size_t vallen);
MIODB_C_EXPORT void miodb_writebatch_delete_cf(struct leveldb_writebatch_t*, miodb_column_family_t* family,
                                               const char* key, size_t keylen);
MIODB_C_EXPORT void miodb_writebatch_merge_cf(struct leveldb_writebatch_t*, miodb_column_family_t* family,
                                              const char* key, size_t keylen, const char* operand, size_t operand_len);
MIODB_C_EXPORT void miodb_writebatch_single_delete_cf(struct leveldb_writebatch_t*, miodb_column_family_t* family,
                                                      const char* key, size_t keylen);

MIODB_C_EXPORT void miodb_writebatch_delete_range_cf(struct leveldb_writebatch_t*, miodb_column_family_t* family,
                                                     const char* begin, size_t beginlen, const char* end,
                                                     size_t endlen);

/* NULL if there is no such property; else for the caller to free. */
MIODB_C_EXPORT char* miodb_property_value_cf(struct leveldb_t* db, miodb_column_family_t* family, const char* propname);
/* As leveldb_approximate_sizes. */
MIODB_C_EXPORT void miodb_approximate_sizes_cf(struct leveldb_t* db, miodb_column_family_t* family, int num_ranges,
                                               const char* const* range_start_key, const size_t* range_start_key_len,
                                               const char* const* range_limit_key, const size_t* range_limit_key_len,
                                               uint64_t* sizes);

/* ---- Readers in other processes. DB::OpenReader in miodb/db.h says what they see. ---- */

/* For every call that reads, and for leveldb_close. NULL and an error also for a database that has its log in files
   (kLogFile), or its pool in anonymous memory. */
MIODB_C_EXPORT struct leveldb_t* miodb_open_reader(const struct leveldb_options_t* options, const char* name,
                                                   char** errptr);
/* What reads see from now on is what the database has now. */
MIODB_C_EXPORT void miodb_refresh(struct leveldb_t* db, char** errptr);

/* ---- Savepoints. DB::CreateSavepoint in miodb/db.h says what they are. ---- */

/* An error, if there is one of this name already. */
MIODB_C_EXPORT void miodb_create_savepoint(struct leveldb_t* db, const char* name, size_t namelen, char** errptr);
/* An error, if there is none of this name. */
MIODB_C_EXPORT void miodb_drop_savepoint(struct leveldb_t* db, const char* name, size_t namelen, char** errptr);

/* What there is of savepoints at the moment, the oldest first; for miodb_savepoints_destroy. NULL if an error
   occurred. */
typedef struct miodb_savepoints_t miodb_savepoints_t;
MIODB_C_EXPORT miodb_savepoints_t* miodb_list_savepoints(struct leveldb_t* db, char** errptr);
MIODB_C_EXPORT void miodb_savepoints_destroy(miodb_savepoints_t*);
MIODB_C_EXPORT size_t miodb_savepoints_count(const miodb_savepoints_t*);

/* Of number i of them, which is less than their count. The name is the list's, and may have zeros in it; *namelen is
   its size. */
MIODB_C_EXPORT const char* miodb_savepoints_name(const miodb_savepoints_t*, size_t i, size_t* namelen);
MIODB_C_EXPORT uint64_t miodb_savepoints_sequence(const miodb_savepoints_t*, size_t i);
MIODB_C_EXPORT uint64_t miodb_savepoints_micros(const miodb_savepoints_t*, size_t i);
MIODB_C_EXPORT uint64_t miodb_savepoints_held_bytes(const miodb_savepoints_t*, size_t i);

/* A view of it, for every call that reads; leveldb_close closes it, before the database. NULL and an error, if there is
   none of this name. */
MIODB_C_EXPORT struct leveldb_t* miodb_open_savepoint(struct leveldb_t* db, const char* name, size_t namelen,
                                                      char** errptr);

/* ---- Backups. miodb/backup.h says what they are. ---- */

/* Told how many bytes are done of how many; 0 ends the call with an error. */
typedef uint8_t (*miodb_backup_progress_t)(void* state, uint64_t done, uint64_t all);

/* Adds a generation to the folder and returns its number, or 0 if an error occurred. bytes_per_second: 0 is no limit.
   progress: may be NULL. */
MIODB_C_EXPORT uint64_t miodb_create_backup(struct leveldb_t* db, const char* folder, uint64_t bytes_per_second,
                                            miodb_backup_progress_t progress, void* state, char** errptr);

/* What there is of generations at the moment, the oldest first; for miodb_backups_destroy. NULL if an error occurred.
 */
typedef struct miodb_backups_t miodb_backups_t;
MIODB_C_EXPORT miodb_backups_t* miodb_list_backups(const char* folder, char** errptr);
MIODB_C_EXPORT void miodb_backups_destroy(miodb_backups_t*);
MIODB_C_EXPORT size_t miodb_backups_count(const miodb_backups_t*);

/* Of number i of them, which is less than their count. */
MIODB_C_EXPORT uint64_t miodb_backups_generation(const miodb_backups_t*, size_t i);
MIODB_C_EXPORT uint64_t miodb_backups_micros(const miodb_backups_t*, size_t i);
MIODB_C_EXPORT uint64_t miodb_backups_bytes(const miodb_backups_t*, size_t i);
MIODB_C_EXPORT uint64_t miodb_backups_new_bytes(const miodb_backups_t*, size_t i);

/* As VerifyBackup, RestoreBackup and DeleteBackup. */
MIODB_C_EXPORT void miodb_verify_backup(const char* folder, uint64_t generation, char** errptr);
MIODB_C_EXPORT void miodb_restore_backup(const struct leveldb_options_t* options, const char* folder,
                                         uint64_t generation, const char* directory, char** errptr);
MIODB_C_EXPORT void miodb_delete_backup(const char* folder, uint64_t generation, char** errptr);

/* ---- The update stream. miodb/updates.h says what it gives. ---- */

/* From the update with this number on; for miodb_updates_destroy, before the database is closed. NULL and an error, if
   the log does not reach back so far any more, and unless the log mode is kLogPmem. */
typedef struct miodb_updates_t miodb_updates_t;
MIODB_C_EXPORT miodb_updates_t* miodb_get_updates_since(struct leveldb_t* db, uint64_t sequence, char** errptr);
MIODB_C_EXPORT void miodb_updates_destroy(miodb_updates_t*);

/* 0 without an error: everything was given, and the next call of miodb_updates_next looks once more. */
MIODB_C_EXPORT uint8_t miodb_updates_valid(const miodb_updates_t*);
MIODB_C_EXPORT void miodb_updates_next(miodb_updates_t*);
MIODB_C_EXPORT void miodb_updates_get_error(const miodb_updates_t*, char** errptr);

/* Of the batch that it is at, if it is valid: the numbers of its first and last update, the family that was
   dropped by it, or 0, and a copy of it, for leveldb_writebatch_destroy. */
MIODB_C_EXPORT uint64_t miodb_updates_sequence(const miodb_updates_t*);
MIODB_C_EXPORT uint64_t miodb_updates_last_sequence(const miodb_updates_t*);
MIODB_C_EXPORT uint32_t miodb_updates_dropped_family(const miodb_updates_t*);
MIODB_C_EXPORT struct leveldb_writebatch_t* miodb_updates_batch(const miodb_updates_t*, char** errptr);

/* As DB::FollowSource: the text is the property miodb.identity of the source (leveldb_property_value). */
MIODB_C_EXPORT void miodb_follow_source(struct leveldb_t* copy, const char* identity, char** errptr);

/* The number of the last update that reads see. */
MIODB_C_EXPORT uint64_t miodb_latest_sequence(struct leveldb_t* db);

/* ---- Batches that are read before they are written. miodb/write_batch_with_index.h says what they do. ---- */

typedef struct miodb_writebatch_wi_t miodb_writebatch_wi_t;

/* options: the database's. Its comparator and merge operator must outlive the batch. */
MIODB_C_EXPORT miodb_writebatch_wi_t* miodb_writebatch_wi_create(const struct leveldb_options_t* options,
                                                                 size_t reserved_bytes, uint8_t overwrite_keys);
MIODB_C_EXPORT void miodb_writebatch_wi_destroy(miodb_writebatch_wi_t*);
MIODB_C_EXPORT void miodb_writebatch_wi_clear(miodb_writebatch_wi_t*);
MIODB_C_EXPORT void miodb_writebatch_wi_put(miodb_writebatch_wi_t*, const char* key, size_t keylen, const char* value,
                                            size_t vallen);
MIODB_C_EXPORT void miodb_writebatch_wi_merge(miodb_writebatch_wi_t*, const char* key, size_t keylen,
                                              const char* operand, size_t operand_len);
MIODB_C_EXPORT void miodb_writebatch_wi_delete(miodb_writebatch_wi_t*, const char* key, size_t keylen);
MIODB_C_EXPORT void miodb_writebatch_wi_single_delete(miodb_writebatch_wi_t*, const char* key, size_t keylen);
MIODB_C_EXPORT void miodb_writebatch_wi_delete_range(miodb_writebatch_wi_t*, const char* begin, size_t beginlen,
                                                     const char* end, size_t endlen);
MIODB_C_EXPORT void miodb_writebatch_wi_set_save_point(miodb_writebatch_wi_t*);
MIODB_C_EXPORT void miodb_writebatch_wi_rollback_to_save_point(miodb_writebatch_wi_t*, char** errptr);
MIODB_C_EXPORT void miodb_writebatch_wi_pop_save_point(miodb_writebatch_wi_t*, char** errptr);

/* The value that the key would have with the batch, for the caller to free. NULL if it has none, which is no error, or
   if an error occurred. */
MIODB_C_EXPORT char* miodb_writebatch_wi_get(const miodb_writebatch_wi_t*, struct leveldb_t* db,
                                             const struct leveldb_readoptions_t* options, const char* key,
                                             size_t keylen, size_t* vallen, char** errptr);

/* Takes base, an iterator over the database, which must not be used any more; the new one is to be destroyed before the
   batch. options: those that base was made with, or NULL. */
MIODB_C_EXPORT struct leveldb_iterator_t* miodb_writebatch_wi_create_iterator(
    const miodb_writebatch_wi_t*, struct leveldb_iterator_t* base, const struct leveldb_readoptions_t* options);

/* The same of a column family, NULL: of the default one. base is an iterator over it. */
MIODB_C_EXPORT void miodb_writebatch_wi_put_cf(miodb_writebatch_wi_t*, miodb_column_family_t* family, const char* key,
                                               size_t keylen, const char* value, size_t vallen);
MIODB_C_EXPORT void miodb_writebatch_wi_merge_cf(miodb_writebatch_wi_t*, miodb_column_family_t* family, const char* key,
                                                 size_t keylen, const char* operand, size_t operand_len);
MIODB_C_EXPORT void miodb_writebatch_wi_delete_cf(miodb_writebatch_wi_t*, miodb_column_family_t* family,
                                                  const char* key, size_t keylen);
MIODB_C_EXPORT void miodb_writebatch_wi_single_delete_cf(miodb_writebatch_wi_t*, miodb_column_family_t* family,
                                                         const char* key, size_t keylen);
MIODB_C_EXPORT void miodb_writebatch_wi_delete_range_cf(miodb_writebatch_wi_t*, miodb_column_family_t* family,
                                                        const char* begin, size_t beginlen, const char* end,
                                                        size_t endlen);
MIODB_C_EXPORT char* miodb_writebatch_wi_get_cf(const miodb_writebatch_wi_t*, struct leveldb_t* db,
                                                const struct leveldb_readoptions_t* options,
                                                miodb_column_family_t* family, const char* key, size_t keylen,
                                                size_t* vallen, char** errptr);
MIODB_C_EXPORT struct leveldb_iterator_t* miodb_writebatch_wi_create_iterator_cf(
    const miodb_writebatch_wi_t*, miodb_column_family_t* family, struct leveldb_iterator_t* base,
    const struct leveldb_readoptions_t* options);

/* Writes the batch, which stays as it is. */
MIODB_C_EXPORT void miodb_writebatch_wi_write(miodb_writebatch_wi_t*, struct leveldb_t* db,
                                              const struct leveldb_writeoptions_t* options, char** errptr);

/* ---- Optimistic transactions. miodb/optimistic_transaction.h says what they do and promise. ---- */

typedef struct miodb_transaction_t miodb_transaction_t;

/* options: the database's, as above. NULL without memory, and with a snapshot to be set also in a child of fork() that
   did not open the database itself. */
MIODB_C_EXPORT miodb_transaction_t* miodb_transaction_begin(struct leveldb_t* db,
                                                            const struct leveldb_options_t* options,
                                                            const struct leveldb_writeoptions_t* write_options,
                                                            uint8_t set_snapshot);
/* Before the database is closed. What was not committed is forgotten. */
MIODB_C_EXPORT void miodb_transaction_destroy(miodb_transaction_t*);
MIODB_C_EXPORT void miodb_transaction_put(miodb_transaction_t*, const char* key, size_t keylen, const char* value,
                                          size_t vallen, char** errptr);
MIODB_C_EXPORT void miodb_transaction_merge(miodb_transaction_t*, const char* key, size_t keylen, const char* operand,
                                            size_t operand_len, char** errptr);
MIODB_C_EXPORT void miodb_transaction_delete(miodb_transaction_t*, const char* key, size_t keylen, char** errptr);
MIODB_C_EXPORT void miodb_transaction_single_delete(miodb_transaction_t*, const char* key, size_t keylen,
                                                    char** errptr);
/* Tracks no key. */
MIODB_C_EXPORT void miodb_transaction_delete_range(miodb_transaction_t*, const char* begin, size_t beginlen,
                                                   const char* end, size_t endlen, char** errptr);

/* Both give the value, for the caller to free, or NULL as above. */
MIODB_C_EXPORT char* miodb_transaction_get(miodb_transaction_t*, const struct leveldb_readoptions_t* options,
                                           const char* key, size_t keylen, size_t* vallen, char** errptr);
MIODB_C_EXPORT char* miodb_transaction_get_for_update(miodb_transaction_t*, const struct leveldb_readoptions_t* options,
                                                      const char* key, size_t keylen, size_t* vallen, char** errptr);

/* To be destroyed before the transaction ends. */
MIODB_C_EXPORT struct leveldb_iterator_t* miodb_transaction_create_iterator(
    miodb_transaction_t*, const struct leveldb_readoptions_t* options);

/* The same of a column family, NULL: of the default one. */
MIODB_C_EXPORT void miodb_transaction_put_cf(miodb_transaction_t*, miodb_column_family_t* family, const char* key,
                                             size_t keylen, const char* value, size_t vallen, char** errptr);
MIODB_C_EXPORT void miodb_transaction_merge_cf(miodb_transaction_t*, miodb_column_family_t* family, const char* key,
                                               size_t keylen, const char* operand, size_t operand_len, char** errptr);
MIODB_C_EXPORT void miodb_transaction_delete_cf(miodb_transaction_t*, miodb_column_family_t* family, const char* key,
                                                size_t keylen, char** errptr);
MIODB_C_EXPORT void miodb_transaction_single_delete_cf(miodb_transaction_t*, miodb_column_family_t* family,
                                                       const char* key, size_t keylen, char** errptr);
MIODB_C_EXPORT void miodb_transaction_delete_range_cf(miodb_transaction_t*, miodb_column_family_t* family,
                                                      const char* begin, size_t beginlen, const char* end,
                                                      size_t endlen, char** errptr);
MIODB_C_EXPORT char* miodb_transaction_get_cf(miodb_transaction_t*, const struct leveldb_readoptions_t* options,
                                              miodb_column_family_t* family, const char* key, size_t keylen,
                                              size_t* vallen, char** errptr);
MIODB_C_EXPORT char* miodb_transaction_get_for_update_cf(miodb_transaction_t*,
                                                         const struct leveldb_readoptions_t* options,
                                                         miodb_column_family_t* family, const char* key, size_t keylen,
                                                         size_t* vallen, char** errptr);
MIODB_C_EXPORT struct leveldb_iterator_t* miodb_transaction_create_iterator_cf(
    miodb_transaction_t*, const struct leveldb_readoptions_t* options, miodb_column_family_t* family);
MIODB_C_EXPORT void miodb_transaction_set_snapshot(miodb_transaction_t*, char** errptr);
MIODB_C_EXPORT void miodb_transaction_set_save_point(miodb_transaction_t*, char** errptr);
MIODB_C_EXPORT void miodb_transaction_rollback_to_save_point(miodb_transaction_t*, char** errptr);

/* 1: everything is written, and the transaction is empty. 0 without an error: a key that it depends on was changed by
   somebody else, nothing is written, and it should be rolled back. 0 with an error: it failed. */
MIODB_C_EXPORT uint8_t miodb_transaction_commit(miodb_transaction_t*, char** errptr);
MIODB_C_EXPORT void miodb_transaction_rollback(miodb_transaction_t*, char** errptr);

/* ---- Lifetimes and compaction filters. miodb/lifetime.h and miodb/compaction_filter.h say what they do. Of both,
   destructor, if not NULL, is called with state in the end. All but that may be called by several threads at once. ----
 */

/* 0: as the options of the database say; UINT64_MAX: for ever. */
MIODB_C_EXPORT void miodb_writeoptions_set_lifetime_seconds(struct leveldb_writeoptions_t*, uint64_t);

/* lifetime_seconds returns how long the value of a put lives, 0 for ever. */
typedef struct miodb_lifetimepolicy_t miodb_lifetimepolicy_t;
MIODB_C_EXPORT miodb_lifetimepolicy_t* miodb_lifetimepolicy_create(
    void* state, void (*destructor)(void* state),
    uint64_t (*lifetime_seconds)(void* state, const char* key, size_t keylen, const char* value, size_t vallen));

/* After the databases that use it were closed. */
MIODB_C_EXPORT void miodb_lifetimepolicy_destroy(miodb_lifetimepolicy_t*);

/* The policy stays the caller's. NULL: none. */
MIODB_C_EXPORT void miodb_options_set_lifetime_policy(struct leveldb_options_t*, miodb_lifetimepolicy_t*);

/* filter returns 0 to keep the record and 1 to remove it; or it stores another value and its length, which is given to
   delete_value, or to free if that is NULL, and returns 2. is_operand: value is an operand of a merge. */
typedef struct miodb_compactionfilter_t miodb_compactionfilter_t;
MIODB_C_EXPORT miodb_compactionfilter_t* miodb_compactionfilter_create(
    void* state, void (*destructor)(void* state),
    int (*filter)(void* state, int level, const char* key, size_t keylen, uint8_t is_operand, const char* value,
                  size_t vallen, char** new_value, size_t* new_vallen),
    void (*delete_value)(void* state, const char* value, size_t len), const char* (*name)(void* state));
MIODB_C_EXPORT void miodb_compactionfilter_destroy(miodb_compactionfilter_t*);
MIODB_C_EXPORT void miodb_options_set_compaction_filter(struct leveldb_options_t*, miodb_compactionfilter_t*);

/* ---- Waiting, and what the database says of itself. ---- */

/* Returns when what is in memory is in a table. */
MIODB_C_EXPORT void miodb_flush(struct leveldb_t* db, char** errptr);

/* Returns when everything is flushed, merged and collected. */
MIODB_C_EXPORT void miodb_wait_for_idle(struct leveldb_t* db, char** errptr);

/* Writes the database as it is into a directory that does not exist yet, as a database of its own; see
   DB::CreateCheckpoint. */
MIODB_C_EXPORT void miodb_create_checkpoint(struct leveldb_t* db, const char* directory, char** errptr);

/* A property that is a decimal number, such as "miodb.live-bytes". Stores it and returns 1, or returns 0 and leaves
 *value alone if there is no such property or it is no number. Any property: leveldb_property_value. */
MIODB_C_EXPORT uint8_t miodb_property_int(struct leveldb_t* db, const char* propname, uint64_t* value);

/* All counters, one "name: value" a line, for the caller to free. */
MIODB_C_EXPORT char* miodb_stats(struct leveldb_t* db);

/* ---- Batches. ---- */

/* Bytes that the updates take in the batch. */
MIODB_C_EXPORT size_t miodb_writebatch_approximate_size(const struct leveldb_writebatch_t*);

/* ---- Files. ---- */

/* Writes the text of DumpFile (miodb/dumpfile.h) of the pool file fname to the file text_name, which is replaced. */
MIODB_C_EXPORT void miodb_dump_file(const char* fname, const char* text_name, char** errptr);

#ifdef __cplusplus
}
#endif

#endif /* MIODB_INCLUDE_C_H_ */
