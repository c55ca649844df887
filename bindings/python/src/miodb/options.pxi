# Keyword arguments as options of the C API.
#
# An object that options point to (comparator, filter policy, cache) has to outlive the store, so whoever opened with
# options keeps them until the store is closed.

cdef bytes _path(object name):
    path = os.fsencode(name)
    if b'\0' in path:
        raise ValueError('a path has no zero byte')
    return path


# The text that the C API has for a value. What is not of the kind of the option is Python's own error, as elsewhere.
cdef bytes _text_of_option(str name, int kind, object value):
    if kind == miodb_option_switch:
        return b'true' if value else b'false'
    if kind == miodb_option_number:
        return b'%d' % operator.index(value)
    if kind == miodb_option_word:
        return str(value).encode()
    return _path(value)


# None leaves the engine's default.
cdef int _set_option(leveldb_options_t* options, str name, object value) except -1:
    cdef char* error = NULL
    cdef bytes encoded = name.encode()
    cdef int kind = miodb_option_kind(encoded)
    if kind == miodb_option_none:
        raise TypeError(f'there is no option {name!r}')
    if value is None:
        return 0
    if name == 'write_buffer_size' and value > 0:
        leveldb_options_set_write_buffer_size(options, value)  # of any size, as in LevelDB
        return 0
    cdef bytes text = _text_of_option(name, kind, value)
    miodb_options_set(options, encoded, text, &error)
    try:
        return _check(error)
    except InvalidArgumentError as wrong:
        if kind == miodb_option_word:
            raise ValueError(str(wrong)) from None
        raise


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
        _set_option(self.options, 'compression', 'none' if compression is None else compression)
        # Ranges of the SSD tier's options count if there is one.
        _set_option(self.options, 'ssd_path', arguments.pop('ssd_path', None))
        for name, value in arguments.items():
            _set_option(self.options, name, value)
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
