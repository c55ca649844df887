# Keyword arguments as options of the C API.
#
# An object that options point to (comparator, filter policy, cache) has to outlive the store, so whoever opened with
# options keeps them until the store is closed.

ctypedef void (*_SetSize)(leveldb_options_t*, size_t) noexcept nogil
ctypedef void (*_SetInt)(leveldb_options_t*, int) noexcept nogil
ctypedef void (*_SetFlag)(leveldb_options_t*, uint8_t) noexcept nogil
ctypedef void (*_SetPath)(leveldb_options_t*, const char*) noexcept nogil

cdef enum Kind:
    SIZE
    INTEGER
    FLAG
    PATH


# A setter of the C API, and how a Python object becomes its argument.
@cython.final
cdef class _Setter:
    cdef Kind kind
    cdef void* function
    cdef dict words

    # None leaves the engine's default.
    cdef int apply(self, leveldb_options_t* options, str name, object value) except -1:
        if value is None:
            return 0
        if self.kind == SIZE:
            (<_SetSize>self.function)(options, value)
        elif self.kind == FLAG:
            (<_SetFlag>self.function)(options, bool(value))
        elif self.kind == PATH:
            (<_SetPath>self.function)(options, _path(value))
        elif self.words is None:
            (<_SetInt>self.function)(options, value)
        elif value not in self.words:
            raise ValueError(f'{name} must be one of {", ".join(map(repr, self.words))}, not {value!r}')
        else:
            (<_SetInt>self.function)(options, self.words[value])
        return 0


cdef bytes _path(object name):
    path = os.fsencode(name)
    if b'\0' in path:
        raise ValueError('a path has no zero byte')
    return path


cdef _Setter _setter(Kind kind, void* function, dict words=None):
    cdef _Setter setter = _Setter.__new__(_Setter)
    setter.kind = kind
    setter.function = function
    setter.words = words
    return setter


cdef dict _SETTERS = {
    # LevelDB's.
    'create_if_missing': _setter(FLAG, <void*>leveldb_options_set_create_if_missing),
    'error_if_exists': _setter(FLAG, <void*>leveldb_options_set_error_if_exists),
    'paranoid_checks': _setter(FLAG, <void*>leveldb_options_set_paranoid_checks),
    'write_buffer_size': _setter(SIZE, <void*>leveldb_options_set_write_buffer_size),
    'max_open_files': _setter(INTEGER, <void*>leveldb_options_set_max_open_files),
    'block_size': _setter(SIZE, <void*>leveldb_options_set_block_size),
    'block_restart_interval': _setter(INTEGER, <void*>leveldb_options_set_block_restart_interval),
    'max_file_size': _setter(SIZE, <void*>leveldb_options_set_max_file_size),
    # Of the pool and of compactions.
    'pool_path': _setter(PATH, <void*>miodb_options_set_pool_path),
    'pool_size': _setter(SIZE, <void*>miodb_options_set_pool_size),
    'pool_growth': _setter(SIZE, <void*>miodb_options_set_pool_growth),
    'persist_mode': _setter(INTEGER, <void*>miodb_options_set_persist_mode,
                            {'auto': 0, 'pmem': 1, 'emulated': 2, 'file': 3}),
    'file_access': _setter(INTEGER, <void*>miodb_options_set_file_access,
                           {'owner': 0, 'group_reads': 1, 'group_writes': 2}),
    'dram_node': _setter(INTEGER, <void*>miodb_options_set_dram_node),
    'nvm_node': _setter(INTEGER, <void*>miodb_options_set_nvm_node),
    'nvm_next_node': _setter(INTEGER, <void*>miodb_options_set_nvm_next_node),
    'log_mode': _setter(INTEGER, <void*>miodb_options_set_log_mode, {'pmem': 0, 'off': 1, 'file': 2}),
    'wal_dir': _setter(PATH, <void*>miodb_options_set_wal_dir),
    'wal_block_size': _setter(SIZE, <void*>miodb_options_set_wal_block_size),
    'wal_padding': _setter(FLAG, <void*>miodb_options_set_wal_padding),
    'log_chunk_size': _setter(SIZE, <void*>miodb_options_set_log_chunk_size),
    'max_immutable_memtables': _setter(INTEGER, <void*>miodb_options_set_max_immutable_memtables),
    'keep_log_bytes': _setter(SIZE, <void*>miodb_options_set_keep_log_bytes),
    'num_levels': _setter(INTEGER, <void*>miodb_options_set_num_levels),
    'level_trigger': _setter(INTEGER, <void*>miodb_options_set_level_trigger),
    'max_background_merges': _setter(INTEGER, <void*>miodb_options_set_max_background_merges),
    'partition_size': _setter(SIZE, <void*>miodb_options_set_partition_size),
    'settle_after_idle_ms': _setter(INTEGER, <void*>miodb_options_set_settle_after_idle_ms),
    'lazy_copy_limit': _setter(SIZE, <void*>miodb_options_set_lazy_copy_limit),
    'lifetime_seconds': _setter(SIZE, <void*>miodb_options_set_lifetime_seconds),
    'space_amplification_percent': _setter(INTEGER, <void*>miodb_options_set_space_amplification_percent),
    'filter_bits_per_key': _setter(INTEGER, <void*>miodb_options_set_filter_bits_per_key),
    'reuse_logs': _setter(FLAG, <void*>miodb_options_set_reuse_logs),
    'statistics': _setter(FLAG, <void*>miodb_options_set_statistics),
    'info_log_level': _setter(INTEGER, <void*>miodb_options_set_info_log_level,
                              {'info': 0, 'warning': 1, 'error': 2, 'none': 3}),
    'max_log_file_size': _setter(SIZE, <void*>miodb_options_set_max_log_file_size),
    'keep_log_file_num': _setter(SIZE, <void*>miodb_options_set_keep_log_file_num),
    # Of the SSD tier.
    'ssd_path': _setter(PATH, <void*>miodb_options_set_ssd_path),
    'nvm_budget': _setter(SIZE, <void*>miodb_options_set_nvm_budget),
    'ssd_levels': _setter(INTEGER, <void*>miodb_options_set_ssd_levels),
    'ssd_level_size': _setter(SIZE, <void*>miodb_options_set_ssd_level_size),
    'ssd_level_multiplier': _setter(INTEGER, <void*>miodb_options_set_ssd_level_multiplier),
    'ssd_file_size': _setter(SIZE, <void*>miodb_options_set_ssd_file_size),
    'max_background_ssd_jobs': _setter(INTEGER, <void*>miodb_options_set_max_background_ssd_jobs),
    'ssd_rate_limit': _setter(SIZE, <void*>miodb_options_set_ssd_rate_limit),
    'use_direct_reads': _setter(FLAG, <void*>miodb_options_set_use_direct_reads),
    'use_direct_io_for_flush_and_compaction':
        _setter(FLAG, <void*>miodb_options_set_use_direct_io_for_flush_and_compaction),
    'compaction_readahead_size': _setter(SIZE, <void*>miodb_options_set_compaction_readahead_size),
    'multi_get_io_uring': _setter(FLAG, <void*>miodb_options_set_multi_get_io_uring),
    'multi_get_threads': _setter(INTEGER, <void*>miodb_options_set_multi_get_threads),
    'zstd_compression_level': _setter(INTEGER, <void*>miodb_options_set_zstd_compression_level),
}

cdef _Setter _SET_COMPRESSION = _setter(INTEGER, <void*>leveldb_options_set_compression,
                                        {'none': 0, 'snappy': 1, 'zstd': 2})


# A comparator in Python. The comparator of the C API holds a reference to it that the garbage collector does not see, so
# that the functions below can be called as long as the store has threads.
@cython.final
cdef class _Order:
    cdef object compare
    cdef bytes name


# How deep this thread is in functions of comparators: these must not close a store, which would wait for themselves.
cdef extern from *:
    """
    static __thread int miodb_compare_depth = 0;
    static void miodb_end_for_comparator(void) { Py_FatalError("miodb: a comparator raised; no order is left"); }
    """
    int miodb_compare_depth
    void miodb_end_for_comparator() noexcept


# An order that changes in the middle destroys the database, so a comparator that raises ends the process: what is on the
# medium stays whole.
cdef int _compare(void* state, const char* a, size_t a_size, const char* b, size_t b_size) noexcept with gil:
    global miodb_compare_depth
    cdef _Order order = <_Order>state
    cdef object answer
    miodb_compare_depth += 1
    try:
        answer = order.compare(PyBytes_FromStringAndSize(a, a_size), PyBytes_FromStringAndSize(b, b_size))
        return -1 if answer < 0 else 1 if answer > 0 else 0
    except BaseException:
        import traceback
        traceback.print_exc()
        miodb_end_for_comparator()
    finally:
        miodb_compare_depth -= 1
    return 0


cdef const char* _name_of_order(void* state) noexcept with gil:
    return PyBytes_AS_STRING((<_Order>state).name)


cdef void _release_order(void* state) noexcept with gil:
    Py_DECREF(<_Order>state)


# Options, with the objects that they point to.
@cython.final
cdef class _Options:
    cdef leveldb_options_t* options
    cdef leveldb_cache_t* cache
    cdef leveldb_filterpolicy_t* filter_policy
    cdef leveldb_comparator_t* comparator
    cdef object compare

    def __cinit__(self):
        self.options = leveldb_options_create()

    def __dealloc__(self):
        if self.options is not NULL:
            leveldb_options_destroy(self.options)
        if self.cache is not NULL:
            leveldb_cache_destroy(self.cache)
        if self.filter_policy is not NULL:
            leveldb_filterpolicy_destroy(self.filter_policy)
        if self.comparator is not NULL:
            leveldb_comparator_destroy(self.comparator)

    # Takes the arguments out of the dictionary.
    cdef int fill(self, dict arguments) except -1:
        self.set_objects(arguments.pop('lru_cache_size', None), arguments.pop('bloom_filter_bits', None))
        self.set_order(arguments.pop('comparator', None), arguments.pop('comparator_name', None))
        compression = arguments.pop('compression', 'snappy')
        _SET_COMPRESSION.apply(self.options, 'compression', 'none' if compression is None else compression)
        for name, value in arguments.items():
            setter = _SETTERS.get(name)
            if setter is None:
                raise TypeError(f'there is no option {name!r}')
            (<_Setter>setter).apply(self.options, name, value)
        return 0

    cdef int set_objects(self, object cache_bytes, object bits_per_key) except -1:
        cdef size_t capacity
        cdef int bits
        if cache_bytes is not None:
            capacity = cache_bytes
            self.cache = leveldb_cache_create_lru(capacity)
            leveldb_options_set_cache(self.options, self.cache)
        if bits_per_key:
            bits = bits_per_key
            self.filter_policy = leveldb_filterpolicy_create_bloom(bits)
            leveldb_options_set_filter_policy(self.options, self.filter_policy)
        return 0

    cdef int set_order(self, object compare, object name) except -1:
        if (compare is None) != (name is None):
            raise ValueError('comparator and comparator_name need each other')
        if compare is None:
            return 0
        if not callable(compare):
            raise TypeError('comparator must be callable')
        if not isinstance(name, bytes):
            raise TypeError('comparator_name must be bytes')
        if not name or b'\0' in name:
            raise ValueError('comparator_name must have characters, and no zero byte')
        cdef _Order order = _Order.__new__(_Order)
        order.compare = compare
        order.name = name
        Py_INCREF(order)
        self.comparator = leveldb_comparator_create(<void*>order, _release_order, _compare, _name_of_order)
        self.compare = compare
        leveldb_options_set_comparator(self.options, self.comparator)
        return 0
