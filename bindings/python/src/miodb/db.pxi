# The database.

cdef class DB(_View):
    """A database, opened by its name: the path of its folder.

    Arguments besides the name are plyvel's, then options of MioDB by their names in miodb/options.h; None leaves the
    engine's default. Any thread may call a database, also while others do. close() waits for calls of other threads that
    are on their way; afterwards every call raises RuntimeError, on what was made from the database as well.
    """
    cdef object path

    def __init__(self, name, *, create_if_missing=False, error_if_exists=False, **options):
        cdef _Options made = _Options.__new__(_Options)
        cdef _Store store = _Store.__new__(_Store)
        if self.store is not _NO_STORE:
            raise RuntimeError('Database was opened before')
        path = _path(name)
        made.fill(dict(options, create_if_missing=create_if_missing, error_if_exists=error_if_exists))
        store.open(path, made)
        self.store = store
        self.path = name

    def __repr__(self):
        return f'<miodb.DB {self.path!r}{" (closed)" if self.closed else ""}>'

    @property
    def name(self):
        """The name that it was opened by."""
        return self.path

    @property
    def closed(self):
        """Whether it is closed."""
        return self.store.state != OPEN

    def close(self):
        """Closes it, with its iterators and snapshots. A second call does nothing.

        Raises BufferError, and leaves it open, while a memoryview of a PinnedValue is alive.
        """
        self.store.close()

    def __enter__(self):
        if self.closed:
            raise RuntimeError('Database is closed')
        return self

    def __exit__(self, kind, value, traceback):
        self.close()
        return False

    def get_property(self, name):
        """A property as bytes, such as b'miodb.counters'; None if there is none of this name."""
        cdef _Store store = self.store
        cdef bytes text = None
        cdef char* value
        cdef bytes copy = _to_bytes(name)
        cdef const char* wanted = copy
        store.enter()
        with nogil:
            value = leveldb_property_value(store.db, wanted)
        store.leave()
        if value is not NULL:
            try:
                text = value
            finally:
                leveldb_free(value)
        return text

    def stats(self):
        """All counters, as a dictionary from names to numbers."""
        text = self.get_property(b'miodb.counters').decode()
        pairs = (line.split(':', 1) for line in text.splitlines() if ':' in line)
        return {name.strip(): int(value) for name, value in pairs}

    def compact_range(self, *, start=None, stop=None):
        """Merges what lies between two keys; without them everything."""
        cdef Chunk first
        cdef Chunk last
        cdef _Store store = self.store
        # NULL stands for no bound.
        memset(&first, 0, sizeof(first))
        memset(&last, 0, sizeof(last))
        try:
            if start is not None:
                _take(start, &first)
            if stop is not None:
                _take(stop, &last)
            store.enter()
            with nogil:
                leveldb_compact_range(store.db, first.data, first.size, last.data, last.size)
            store.leave()
        finally:
            _drop(&first)
            _drop(&last)

    def flush(self):
        """Returns when what is in memory is in a table."""
        cdef _Store store = self.store
        cdef char* error = NULL
        store.enter()
        with nogil:
            miodb_flush(store.db, &error)
        store.leave()
        _check(error)

    def wait_for_idle(self):
        """Returns when everything is flushed, merged and collected."""
        cdef _Store store = self.store
        cdef char* error = NULL
        store.enter()
        with nogil:
            miodb_wait_for_idle(store.db, &error)
        store.leave()
        _check(error)

    def approximate_size(self, start, stop):
        """Roughly how many bytes the keys from start to before stop take."""
        return self.approximate_sizes((start, stop))[0]

    def approximate_sizes(self, *ranges):
        """The same for several ranges, each a pair of keys; a list."""
        cdef _Store store = self.store
        for pair in ranges:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TypeError('a range is a tuple of two keys')
        cdef _Many first = _Many.__new__(_Many, [start for start, _ in ranges])
        cdef _Many last = _Many.__new__(_Many, [stop for _, stop in ranges])
        cdef uint64_t* sizes = <uint64_t*>calloc(max(len(ranges), 1), sizeof(uint64_t))
        if sizes is NULL:
            raise MemoryError()
        try:
            store.enter()
            with nogil:
                leveldb_approximate_sizes(store.db, <int>first.count, first.keys, first.key_sizes, last.keys,
                                          last.key_sizes, sizes)
            store.leave()
            return [sizes[i] for i in range(len(ranges))]
        finally:
            free(sizes)


def repair_db(name, **options):
    """Makes a database that does not open usable again, with what of it is readable. Options as of DB."""
    cdef _Options made = _Options.__new__(_Options)
    cdef char* error = NULL
    cdef bytes copy = _path(name)
    cdef const char* path = copy
    made.fill(options)
    with nogil:
        leveldb_repair_db(made.options, path, &error)
    _check(error)


def destroy_db(name, **options):
    """Removes a database with all that is in it. Options as of DB."""
    cdef _Options made = _Options.__new__(_Options)
    cdef char* error = NULL
    cdef bytes copy = _path(name)
    cdef const char* path = copy
    made.fill(options)
    with nogil:
        leveldb_destroy_db(made.options, path, &error)
    _check(error)
