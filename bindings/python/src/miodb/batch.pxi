# Write batches.

@cython.final
@cython.no_gc_clear
cdef class WriteBatch:
    """Updates that are written together: all or none of them survive a crash.

    Made by DB.write_batch(). As a context manager it writes itself at the end of the block; after an exception too, unless
    it is a transaction. One thread at a time may use it.
    """
    cdef _Store store
    cdef object __weakref__
    cdef leveldb_writebatch_t* batch
    cdef bytes prefix
    cdef bint transaction
    cdef bint sync
    # Whether a write of it is on its way.
    cdef bint busy

    def __cinit__(self):
        self.store = _NO_STORE
        self.batch = leveldb_writebatch_create()

    def __init__(self):
        raise TypeError('use write_batch() of a database')

    def __dealloc__(self):
        leveldb_writebatch_destroy(self.batch)

    def __reduce__(self):
        raise _no_copies(self)

    cdef int ready(self) except -1:
        self.store.require_open()
        if self.busy:
            raise RuntimeError('another thread writes this batch')
        return 0

    def put(self, key, value):
        """Adds an update that sets a key to a value."""
        cdef Chunk k
        cdef Chunk v
        self.ready()
        _take(key if self.prefix is None else self.prefix + _to_bytes(key), &k)
        try:
            _take(value, &v)
            leveldb_writebatch_put(self.batch, k.data, k.size, v.data, v.size)
            _drop(&v)
        finally:
            _drop(&k)

    def delete(self, key):
        """Adds an update that removes a key."""
        cdef Chunk k
        self.ready()
        _take(key if self.prefix is None else self.prefix + _to_bytes(key), &k)
        leveldb_writebatch_delete(self.batch, k.data, k.size)
        _drop(&k)

    def append(self, WriteBatch source not None):
        """Adds the updates of another batch."""
        self.ready()
        leveldb_writebatch_append(self.batch, source.batch)

    def clear(self):
        """Forgets all updates."""
        self.ready()
        leveldb_writebatch_clear(self.batch)

    def approximate_size(self):
        """Bytes that the updates take in the batch."""
        self.ready()
        return miodb_writebatch_approximate_size(self.batch)

    def write(self):
        """Writes the updates to the database. They stay in the batch."""
        cdef char* error = NULL
        cdef _Store store = self.store
        cdef leveldb_writeoptions_t* options
        self.ready()
        store.enter()
        self.busy = True
        options = store.sync_write if self.sync else store.lazy_write
        with nogil:
            leveldb_write(store.db, options, self.batch, &error)
        self.busy = False
        store.leave()
        _check(error)

    def __enter__(self):
        self.ready()
        return self

    def __exit__(self, kind, value, traceback):
        if self.transaction and kind is not None:
            self.clear()
        else:
            self.write()
        return False


cdef WriteBatch _new_batch(_Store store, bytes prefix, bint transaction, bint sync):
    store.require_open()
    cdef WriteBatch batch = WriteBatch.__new__(WriteBatch)
    batch.store = store
    batch.prefix = prefix
    batch.transaction = transaction
    batch.sync = sync
    return batch
