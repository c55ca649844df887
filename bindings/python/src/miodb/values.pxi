# Values without a copy.

@cython.final
@cython.no_gc_clear
cdef class PinnedValue(_Held):
    """A value where the engine has it, as a read-only buffer.

    memoryview(value), bytes(value), len(value), and whatever takes a buffer. While it is held the engine cannot use the
    space of its table again, so hold it briefly: release() it, or use it as a context manager. It cannot be released, nor
    its database be closed, while a memoryview of it is alive; that raises BufferError.
    """
    cdef miodb_pinnedslice_t* slice

    def __cinit__(self):
        self.store = _NO_STORE

    def __init__(self):
        raise TypeError('use get_pinned() of a database')

    def __dealloc__(self):
        if self.slice is not NULL:
            self.let_go()

    cdef void let_go(self) noexcept:
        self.unlink()
        if self.store.state != FORKED:
            miodb_pinnedslice_destroy(self.slice)
        self.slice = NULL

    cdef const char* bytes_of(self, size_t* size) except NULL:
        cdef const char* data
        if self.slice is NULL or self.store.state != OPEN:
            raise ValueError('the value was released, or its database is closed')
        data = miodb_pinnedslice_value(self.slice, size)
        return _EMPTY if data is NULL else data

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        cdef size_t size
        cdef const char* data = self.bytes_of(&size)
        PyBuffer_FillInfo(buffer, self, <void*>data, size, 1, flags)
        self.exports += 1

    def __releasebuffer__(self, Py_buffer* buffer):
        self.exports -= 1

    def __len__(self):
        cdef size_t size
        self.bytes_of(&size)
        return size

    def __bytes__(self):
        cdef size_t size
        cdef const char* data = self.bytes_of(&size)
        return PyBytes_FromStringAndSize(data, size)

    @property
    def closed(self):
        """Whether it was released, or its database closed."""
        return self.slice is NULL or self.store.state != OPEN

    def release(self):
        """Lets go of the bytes. A second call does nothing."""
        if self.exports > 0:
            raise BufferError('the value is in use; release its memoryviews first')
        if self.slice is not NULL:
            self.let_go()

    def __enter__(self):
        cdef size_t size
        self.bytes_of(&size)
        return self

    def __exit__(self, kind, value, traceback):
        self.release()
        return False


cdef PinnedValue _new_value(_Store store, miodb_pinnedslice_t* slice, PinnedValue value):
    value.slice = slice
    value.link(store)
    return value


# The value of a key as bytes, or the default. With a pin the value is that of its snapshot.
cdef object _get(_Store store, _Pin pin, object key, object default, bint verify_checksums, bint fill_cache):
    cdef Chunk k
    cdef char* error = NULL
    cdef leveldb_readoptions_t* options
    cdef miodb_pinnedslice_t* slice
    cdef const char* data
    cdef size_t size
    cdef object value = default
    _take(key, &k)
    try:
        _enter(store, pin)
        options = _reading(store, pin, verify_checksums, fill_cache)
        with nogil:
            slice = miodb_get_pinned(store.db, options, k.data, k.size, &error)
        # bytes are no objects of the garbage collector, so they may be made here, before the slice goes.
        try:
            if slice is not NULL:
                data = miodb_pinnedslice_value(slice, &size)
                value = PyBytes_FromStringAndSize(data, size)
        finally:
            if slice is not NULL:
                miodb_pinnedslice_destroy(slice)
            _leave(store, pin)
    finally:
        _drop(&k)
    _check(error)
    return value


# Whether a key is there.
cdef bint _contains(_Store store, _Pin pin, object key) except -1:
    cdef Chunk k
    cdef char* error = NULL
    cdef leveldb_readoptions_t* options
    cdef miodb_pinnedslice_t* slice
    _take(key, &k)
    try:
        _enter(store, pin)
        options = _reading(store, pin, False, True)
        with nogil:
            slice = miodb_get_pinned(store.db, options, k.data, k.size, &error)
            miodb_pinnedslice_destroy(slice)
        _leave(store, pin)
    finally:
        _drop(&k)
    _check(error)
    return slice is not NULL


# The value of a key as a PinnedValue, or the default.
cdef object _get_pinned(_Store store, _Pin pin, object key, object default, bint verify_checksums, bint fill_cache):
    cdef Chunk k
    cdef char* error = NULL
    cdef leveldb_readoptions_t* options
    cdef miodb_pinnedslice_t* slice
    # Made first: the garbage collector may run here, and not between the get and the link.
    cdef PinnedValue value = PinnedValue.__new__(PinnedValue)
    _take(key, &k)
    try:
        _enter(store, pin)
        options = _reading(store, pin, verify_checksums, fill_cache)
        with nogil:
            slice = miodb_get_pinned(store.db, options, k.data, k.size, &error)
        if slice is not NULL:
            _new_value(store, slice, value)
        _leave(store, pin)
    finally:
        _drop(&k)
    _check(error)
    return default if slice is NULL else value


# What a call with many keys takes and gives: one array for each.
@cython.final
cdef class _Many:
    cdef size_t count
    cdef Chunk* chunks
    cdef const char** keys
    cdef size_t* key_sizes
    cdef char** values
    cdef size_t* value_sizes
    cdef char** errors
    def __cinit__(self, list sources):
        cdef size_t i
        cdef size_t wanted = max(len(sources), 1)
        self.chunks = <Chunk*>calloc(wanted, sizeof(Chunk))
        self.keys = <const char**>calloc(wanted, sizeof(char*))
        self.key_sizes = <size_t*>calloc(wanted, sizeof(size_t))
        self.values = <char**>calloc(wanted, sizeof(char*))
        self.value_sizes = <size_t*>calloc(wanted, sizeof(size_t))
        self.errors = <char**>calloc(wanted, sizeof(char*))
        if (self.chunks is NULL or self.keys is NULL or self.key_sizes is NULL or self.values is NULL
                or self.value_sizes is NULL or self.errors is NULL):
            raise MemoryError()
        for i in range(<size_t>len(sources)):
            _take(sources[i], &self.chunks[i])
            self.keys[i] = self.chunks[i].data
            self.key_sizes[i] = self.chunks[i].size
            self.count += 1

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.count):
            _drop(&self.chunks[i])
            leveldb_free(self.values[i])
            leveldb_free(self.errors[i])
        free(self.chunks)
        free(self.keys)
        free(self.key_sizes)
        free(self.values)
        free(self.value_sizes)
        free(self.errors)

    # The values, or the first error.
    cdef list result(self, object default):
        cdef size_t i
        cdef char* error
        for i in range(self.count):
            error = self.errors[i]
            self.errors[i] = NULL
            _check(error)
        return [PyBytes_FromStringAndSize(self.values[i], self.value_sizes[i]) if self.values[i] is not NULL else default
                for i in range(self.count)]


# The values of the keys, or the default for each that is not there.
cdef list _multi_get(_Store store, _Pin pin, list keys, object default, bint verify_checksums, bint fill_cache):
    cdef leveldb_readoptions_t* options
    cdef _Many many = _Many.__new__(_Many, keys)
    _enter(store, pin)
    options = _reading(store, pin, verify_checksums, fill_cache)
    with nogil:
        miodb_multi_get(store.db, options, many.count, many.keys, many.key_sizes, many.values, many.value_sizes,
                        many.errors)
    _leave(store, pin)
    return many.result(default)
