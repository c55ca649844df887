# The functions of the C API that the module calls. leveldb/c.h and miodb/c.h say what each does.
#
# On the 64-bit systems that the engine runs on size_t and uint64_t are one type, so setters of either are declared alike.

from libc.stdint cimport uint8_t, uint64_t


cdef extern from "leveldb/c.h" nogil:
    ctypedef struct leveldb_t:
        pass
    ctypedef struct leveldb_cache_t:
        pass
    ctypedef struct leveldb_comparator_t:
        pass
    ctypedef struct leveldb_filterpolicy_t:
        pass
    ctypedef struct leveldb_iterator_t:
        pass
    ctypedef struct leveldb_options_t:
        pass
    ctypedef struct leveldb_readoptions_t:
        pass
    ctypedef struct leveldb_snapshot_t:
        pass
    ctypedef struct leveldb_writebatch_t:
        pass
    ctypedef struct leveldb_writeoptions_t:
        pass

    leveldb_t* leveldb_open(const leveldb_options_t* options, const char* name, char** errptr)
    void leveldb_close(leveldb_t* db)
    void leveldb_put(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen,
                     const char* val, size_t vallen, char** errptr)
    void leveldb_delete(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen,
                        char** errptr)
    void leveldb_write(leveldb_t* db, const leveldb_writeoptions_t* options, leveldb_writebatch_t* batch,
                       char** errptr)
    leveldb_iterator_t* leveldb_create_iterator(leveldb_t* db, const leveldb_readoptions_t* options)
    const leveldb_snapshot_t* leveldb_create_snapshot(leveldb_t* db)
    void leveldb_release_snapshot(leveldb_t* db, const leveldb_snapshot_t* snapshot)
    char* leveldb_property_value(leveldb_t* db, const char* propname)
    void leveldb_approximate_sizes(leveldb_t* db, int num_ranges, const char* const* range_start_key,
                                   const size_t* range_start_key_len, const char* const* range_limit_key,
                                   const size_t* range_limit_key_len, uint64_t* sizes)
    void leveldb_compact_range(leveldb_t* db, const char* start_key, size_t start_key_len, const char* limit_key,
                               size_t limit_key_len)
    void leveldb_destroy_db(const leveldb_options_t* options, const char* name, char** errptr)
    void leveldb_repair_db(const leveldb_options_t* options, const char* name, char** errptr)

    void leveldb_iter_destroy(leveldb_iterator_t*)
    uint8_t leveldb_iter_valid(const leveldb_iterator_t*)
    void leveldb_iter_seek_to_first(leveldb_iterator_t*)
    void leveldb_iter_seek_to_last(leveldb_iterator_t*)
    void leveldb_iter_seek(leveldb_iterator_t*, const char* k, size_t klen)
    void leveldb_iter_next(leveldb_iterator_t*)
    void leveldb_iter_prev(leveldb_iterator_t*)
    const char* leveldb_iter_key(const leveldb_iterator_t*, size_t* klen)
    const char* leveldb_iter_value(const leveldb_iterator_t*, size_t* vlen)
    void leveldb_iter_get_error(const leveldb_iterator_t*, char** errptr)

    leveldb_writebatch_t* leveldb_writebatch_create()
    void leveldb_writebatch_destroy(leveldb_writebatch_t*)
    void leveldb_writebatch_clear(leveldb_writebatch_t*)
    void leveldb_writebatch_put(leveldb_writebatch_t*, const char* key, size_t klen, const char* val, size_t vlen)
    void leveldb_writebatch_delete(leveldb_writebatch_t*, const char* key, size_t klen)
    void leveldb_writebatch_append(leveldb_writebatch_t* destination, const leveldb_writebatch_t* source)

    leveldb_options_t* leveldb_options_create()
    void leveldb_options_destroy(leveldb_options_t*)
    void leveldb_options_set_comparator(leveldb_options_t*, leveldb_comparator_t*)
    void leveldb_options_set_filter_policy(leveldb_options_t*, leveldb_filterpolicy_t*)
    void leveldb_options_set_write_buffer_size(leveldb_options_t*, size_t)
    void leveldb_options_set_cache(leveldb_options_t*, leveldb_cache_t*)

    leveldb_comparator_t* leveldb_comparator_create(void* state, void (*destructor)(void*) noexcept nogil,
                                                    int (*compare)(void*, const char*, size_t, const char*,
                                                                   size_t) noexcept nogil,
                                                    const char* (*name)(void*) noexcept nogil)
    void leveldb_comparator_destroy(leveldb_comparator_t*)
    leveldb_filterpolicy_t* leveldb_filterpolicy_create_bloom(int bits_per_key)
    void leveldb_filterpolicy_destroy(leveldb_filterpolicy_t*)
    leveldb_cache_t* leveldb_cache_create_lru(size_t capacity)
    void leveldb_cache_destroy(leveldb_cache_t* cache)

    leveldb_readoptions_t* leveldb_readoptions_create()
    void leveldb_readoptions_destroy(leveldb_readoptions_t*)
    void leveldb_readoptions_set_verify_checksums(leveldb_readoptions_t*, uint8_t)
    void leveldb_readoptions_set_fill_cache(leveldb_readoptions_t*, uint8_t)
    void leveldb_readoptions_set_snapshot(leveldb_readoptions_t*, const leveldb_snapshot_t*)
    leveldb_writeoptions_t* leveldb_writeoptions_create()
    void leveldb_writeoptions_destroy(leveldb_writeoptions_t*)
    void leveldb_writeoptions_set_sync(leveldb_writeoptions_t*, uint8_t)

    void leveldb_free(void* ptr)
    int leveldb_major_version()
    int leveldb_minor_version()


cdef extern from "miodb/c.h" nogil:
    int miodb_major_version()
    int miodb_minor_version()

    ctypedef struct miodb_pinnedslice_t:
        pass
    miodb_pinnedslice_t* miodb_get_pinned(leveldb_t* db, const leveldb_readoptions_t* options, const char* key,
                                          size_t keylen, char** errptr)
    const char* miodb_pinnedslice_value(const miodb_pinnedslice_t*, size_t* vallen)
    void miodb_pinnedslice_destroy(miodb_pinnedslice_t*)
    void miodb_multi_get(leveldb_t* db, const leveldb_readoptions_t* options, size_t num_keys,
                         const char* const* keys, const size_t* keylens, char** values, size_t* vallens,
                         char** errors)
    void miodb_flush(leveldb_t* db, char** errptr)
    void miodb_wait_for_idle(leveldb_t* db, char** errptr)
    char* miodb_stats(leveldb_t* db)
    size_t miodb_writebatch_approximate_size(const leveldb_writebatch_t*)

    void miodb_readoptions_set_readahead_size(leveldb_readoptions_t*, size_t)
    void miodb_readoptions_set_iterate_lower_bound(leveldb_readoptions_t*, const char* key, size_t keylen)
    void miodb_readoptions_set_iterate_upper_bound(leveldb_readoptions_t*, const char* key, size_t keylen)

    enum:
        miodb_option_none
        miodb_option_switch
        miodb_option_number
        miodb_option_word
    int miodb_option_kind(const char* name)
    void miodb_options_set(leveldb_options_t*, const char* name, const char* text, char** errptr)
