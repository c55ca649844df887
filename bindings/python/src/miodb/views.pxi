# What can be read: a database, a snapshot of it, and either within a prefix.

cdef class _Reader:
    cdef _Store store
    cdef object __weakref__
    # The snapshot that is read, or None.
    cdef _Pin pin
    # Is put before every key, and taken off what is read; or None.
    cdef bytes key_prefix

    def __cinit__(self):
        self.store = _NO_STORE

    def __reduce__(self):
        raise _no_copies(self)

    cdef inline object whole(self, object key):
        return key if self.key_prefix is None else self.key_prefix + _to_bytes(key)

    def get(self, key, default=None, *, bint verify_checksums=False, bint fill_cache=True):
        """The value of a key as bytes; the default if the key is not there."""
        return _get(self.store, self.pin, self.whole(key), default, verify_checksums, fill_cache)

    def get_pinned(self, key, default=None, *, bint verify_checksums=False, bint fill_cache=True):
        """The value of a key without a copy, as a PinnedValue; the default if the key is not there."""
        return _get_pinned(self.store, self.pin, self.whole(key), default, verify_checksums, fill_cache)

    def multi_get(self, keys, default=None, *, bint verify_checksums=False, bint fill_cache=True):
        """The values of many keys as of one moment, as a list; the default for each that is not there."""
        return _multi_get(self.store, self.pin, [self.whole(key) for key in keys], default, verify_checksums,
                          fill_cache)

    def iterator(self, *, bint reverse=False, start=None, stop=None, bint include_start=True, bint include_stop=False,
                 prefix=None, bint include_key=True, bint include_value=True, bint verify_checksums=False,
                 bint fill_cache=True, size_t readahead_size=0):
        """An Iterator over the keys from start to stop, or over those with a prefix."""
        cdef _Range bounds = _Range.__new__(_Range)
        cdef Iterator iterator = Iterator.__new__(Iterator)
        cdef _Pin pin = self.pin
        cdef bint ordered = self.store.options is not None and self.store.options.compare is not None
        cdef bint lower = ordered and start is not None and not include_start
        cdef bint upper = ordered and stop is not None and include_stop
        bounds.fill(self.key_prefix, start, stop, include_start or lower, include_stop and not upper, prefix)
        if (lower or upper) and pin is None:
            pin = _new_pin(self.store)
        if lower or upper:
            _move_bounds(bounds, self.store, pin, lower, upper)
        _start(iterator, self.store, pin, verify_checksums, fill_cache, bounds, readahead_size)
        iterator.reverse = reverse
        iterator.place = AT_END if reverse else AT_BEGIN
        iterator.include_key = include_key
        iterator.include_value = include_value
        iterator.prefix = self.key_prefix
        iterator.prefix_size = 0 if self.key_prefix is None else len(self.key_prefix)
        return iterator

    def raw_iterator(self, *, bint verify_checksums=False, bint fill_cache=True):
        """A RawIterator. That of a prefixed view keeps to the prefix, and gives whole keys."""
        cdef _Range bounds = _Range.__new__(_Range)
        cdef RawIterator iterator = RawIterator.__new__(RawIterator)
        bounds.fill(self.key_prefix, None, None, True, False, None)
        _start(iterator, self.store, self.pin, verify_checksums, fill_cache, bounds, 0)
        return iterator

    def __iter__(self):
        return self.iterator()

    def __contains__(self, key):
        """Whether a key is there."""
        return _contains(self.store, self.pin, self.whole(key))


@cython.final
cdef class Snapshot(_Reader):
    """What a database had when snapshot() was called. Close it soon: what it sees keeps its space."""

    def __init__(self):
        raise TypeError('use snapshot() of a database')

    def close(self):
        """Releases the snapshot. Iterators over it go on; a second call does nothing; any other raises RuntimeError."""
        if self.pin is not None:
            self.pin.close()

    def release(self):
        """The same as close()."""
        self.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.close()
        return False


# What can be written as well.
cdef class _View(_Reader):

    def put(self, key, value, *, bint sync=False):
        """Sets a key to a value. With sync it survives loss of power when the call returns."""
        cdef Chunk k
        cdef Chunk v
        cdef char* error = NULL
        cdef _Store store = self.store
        _take_to_write(self.whole(key), &k)
        try:
            _take_to_write(value, &v)
            try:
                store.enter()
                with nogil:
                    leveldb_put(store.db, store.sync_write if sync else store.lazy_write, k.data, k.size, v.data, v.size,
                                &error)
                store.leave()
            finally:
                _drop(&v)
        finally:
            _drop(&k)
        _check(error)

    def delete(self, key, *, bint sync=False):
        """Removes a key, if it is there."""
        cdef Chunk k
        cdef char* error = NULL
        cdef _Store store = self.store
        _take_to_write(self.whole(key), &k)
        try:
            store.enter()
            with nogil:
                leveldb_delete(store.db, store.sync_write if sync else store.lazy_write, k.data, k.size, &error)
            store.leave()
        finally:
            _drop(&k)
        _check(error)

    def write_batch(self, *, bint transaction=False, bint sync=False):
        """A new WriteBatch. As a transaction it is not written if its block ends with an exception."""
        return _new_batch(self.store, self.key_prefix, transaction, sync)

    def snapshot(self):
        """A Snapshot of what is there now."""
        cdef Snapshot snapshot = Snapshot.__new__(Snapshot)
        snapshot.store = self.store
        snapshot.key_prefix = self.key_prefix
        snapshot.pin = _new_pin(self.store)
        return snapshot

    def prefixed_db(self, prefix):
        """A PrefixedDB: the keys with this prefix, without it."""
        cdef PrefixedDB view = PrefixedDB.__new__(PrefixedDB)
        view.store = self.store
        view.database = self.base()
        view.key_prefix = self.whole(_to_bytes(prefix))
        return view

    cdef object base(self):
        return self


@cython.final
cdef class PrefixedDB(_View):
    """The keys of a database that begin with a prefix, without it. Behaves like a database."""
    cdef object database

    def __init__(self):
        raise TypeError('use prefixed_db() of a database')

    @property
    def db(self):
        """The database."""
        return self.database

    @property
    def prefix(self):
        """The prefix."""
        return self.key_prefix

    cdef object base(self):
        return self.database
