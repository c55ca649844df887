# Iterators: the engine's own as RawIterator, and plyvel's Iterator, which stands between two entries.

# What both have: an iterator of the engine, and that one thread at a time moves it.
@cython.no_gc_clear
cdef class _Cursor(_Held):
    cdef leveldb_iterator_t* iterator
    # Holds the bounds, which the iterator looks at as long as it lives.
    cdef leveldb_readoptions_t* options
    # Whether a thread is moving it.
    cdef bint busy

    def __cinit__(self):
        self.store = _NO_STORE

    def __init__(self):
        raise TypeError('use iterator() or raw_iterator() of a database')

    def __dealloc__(self):
        if self.iterator is not NULL:
            self.let_go()
        if self.options is not NULL:
            leveldb_readoptions_destroy(self.options)

    cdef void let_go(self) noexcept:
        self.unlink()
        if self.store.state != FORKED:
            leveldb_iter_destroy(self.iterator)
        self.iterator = NULL

    # To be called before a use of the iterator, and end() behind it.
    cdef inline int begin(self) except -1:
        self.store.require_open()
        if self.iterator is NULL:
            raise RuntimeError('Iterator is closed')
        if self.busy:
            raise RuntimeError('another thread uses this iterator')
        self.busy = True
        self.store.calls += 1
        return 0

    cdef inline void end(self) noexcept:
        self.busy = False
        self.store.leave()

    # Raises the error that ended the walk, if there is one.
    cdef int check(self) except -1:
        cdef char* error = NULL
        leveldb_iter_get_error(self.iterator, &error)
        return _check(error)

    cdef inline bytes key_bytes(self, size_t prefix_size):
        cdef size_t size
        cdef const char* data = leveldb_iter_key(self.iterator, &size)
        if size < prefix_size:  # a comparator of its own, or damage
            raise CorruptionError('a key is shorter than the prefix of the view')
        return PyBytes_FromStringAndSize(data + prefix_size, size - prefix_size)

    cdef inline bytes value_bytes(self):
        cdef size_t size
        cdef const char* data = leveldb_iter_value(self.iterator, &size)
        return PyBytes_FromStringAndSize(data, size)

    def close(self):
        """Lets go of the iterator. A second call does nothing; any other raises RuntimeError."""
        if self.busy:
            raise RuntimeError('another thread uses this iterator')
        if self.iterator is not NULL:
            self.let_go()

    def __enter__(self):
        if self.iterator is NULL:
            raise RuntimeError('Iterator is closed')
        return self

    def __exit__(self, kind, value, traceback):
        self.close()
        return False


@cython.final
@cython.no_gc_clear
cdef class RawIterator(_Cursor):
    """The engine's iterator: it stands at an entry, or at none.

    Made by raw_iterator() of a database or a snapshot; it stands at no entry then.
    """

    def valid(self):
        """Whether it stands at an entry."""
        self.begin()
        cdef bint valid = leveldb_iter_valid(self.iterator)
        self.end()
        return valid

    def seek_to_first(self):
        """Moves to the first entry, if there is one."""
        self.begin()
        with nogil:
            leveldb_iter_seek_to_first(self.iterator)
        self.end()
        self.check_end()

    def seek_to_last(self):
        """Moves to the last entry, if there is one."""
        self.begin()
        with nogil:
            leveldb_iter_seek_to_last(self.iterator)
        self.end()
        self.check_end()

    def seek(self, target):
        """Moves to the first entry whose key is not before the target, if there is one."""
        cdef Chunk t
        _take(target, &t)
        try:
            self.begin()
            with nogil:
                leveldb_iter_seek(self.iterator, t.data, t.size)
            self.end()
        finally:
            _drop(&t)
        self.check_end()

    def next(self):
        """Moves to the next entry, if there is one."""
        self.begin_at_entry()
        with nogil:
            leveldb_iter_next(self.iterator)
        self.end()
        self.check_end()

    def prev(self):
        """Moves to the entry before, if there is one."""
        self.begin_at_entry()
        with nogil:
            leveldb_iter_prev(self.iterator)
        self.end()
        self.check_end()

    def key(self):
        """The key of the entry."""
        self.begin_at_entry()
        try:
            return self.key_bytes(0)
        finally:
            self.end()

    def value(self):
        """The value of the entry."""
        self.begin_at_entry()
        try:
            return self.value_bytes()
        finally:
            self.end()

    def item(self):
        """Key and value of the entry."""
        cdef bytes key, value
        self.begin_at_entry()
        try:
            key = self.key_bytes(0)
            value = self.value_bytes()
        finally:
            self.end()
        return key, value

    cdef int begin_at_entry(self) except -1:
        self.begin()
        if not leveldb_iter_valid(self.iterator):
            self.end()
            raise IteratorInvalidError('the iterator stands at no entry')
        return 0

    cdef int check_end(self) except -1:
        cdef char* error = NULL
        self.begin()
        if not leveldb_iter_valid(self.iterator):
            leveldb_iter_get_error(self.iterator, &error)
        self.end()
        return _check(error)


# Where an Iterator stands, which is always between entries: before all; behind all; or beside the entry of the engine's
# iterator, which is the next one (BEFORE_ENTRY) or the one before (BEHIND_ENTRY). Giving an entry moves no iterator of the
# engine, only from one side of the entry to the other; so nothing is read that nobody asked for.
cdef enum Place:
    AT_BEGIN
    AT_END
    BEFORE_ENTRY
    BEHIND_ENTRY


@cython.final
@cython.no_gc_clear
cdef class Iterator(_Cursor):
    """Walks over the entries of a range, in either direction.

    Made by iterator() of a database, a snapshot or a prefixed view, and sees what they had then. One thread at a time may
    use it; another one gets RuntimeError.
    """
    cdef Place place
    cdef bint reverse
    cdef bint include_key
    cdef bint include_value
    # Is in front of every key here, and taken off.
    cdef bytes prefix
    cdef size_t prefix_size

    # Annotations name what an iterator gives: Iterator[bytes].
    __class_getitem__ = classmethod(types.GenericAlias)

    def __iter__(self):
        return self

    def __next__(self):
        return self.step(not self.reverse)

    def next(self):
        """The next entry, as next() gives it."""
        return self.step(not self.reverse)

    def prev(self):
        """Moves back by one entry, and returns it."""
        return self.step(self.reverse)

    def seek_to_start(self):
        """Moves before the first key of the range."""
        self.begin()
        self.place = AT_BEGIN
        self.end()

    def seek_to_stop(self):
        """Moves behind the last key of the range."""
        self.begin()
        self.place = AT_END
        self.end()

    def seek(self, target):
        """Moves before the first key of the range that is not before the target."""
        cdef Chunk t
        cdef char* error = NULL
        _take(target if self.prefix is None else self.prefix + _to_bytes(target), &t)
        try:
            self.begin()
            with nogil:
                leveldb_iter_seek(self.iterator, t.data, t.size)
            self.place = BEFORE_ENTRY if leveldb_iter_valid(self.iterator) else AT_END
            if self.place == AT_END:
                leveldb_iter_get_error(self.iterator, &error)
            self.end()
        finally:
            _drop(&t)
        _check(error)

    # Goes over one entry, towards larger keys or towards smaller ones, and returns it.
    cdef object step(self, bint up):
        cdef object key = None
        cdef object value = None
        cdef char* error = NULL
        cdef bint found
        self.begin()
        try:
            with nogil:
                found = self.reach_entry(up)
            if not found:
                leveldb_iter_get_error(self.iterator, &error)
            else:
                if self.include_key:
                    key = self.key_bytes(self.prefix_size)
                if self.include_value:
                    value = self.value_bytes()
        finally:
            self.end()
        if not found:
            _check(error)
            raise StopIteration
        if self.include_key:
            return (key, value) if self.include_value else key
        return value

    # Brings the engine's iterator to the entry in this direction and moves to its other side, or to the end. Returns
    # whether there is one. Behind an error of the engine each call says that there is none.
    cdef bint reach_entry(self, bint up) noexcept nogil:
        if up:
            if self.place == AT_END:
                return False
            if self.place == AT_BEGIN:
                leveldb_iter_seek_to_first(self.iterator)
            elif self.place == BEHIND_ENTRY:
                leveldb_iter_next(self.iterator)
        else:
            if self.place == AT_BEGIN:
                return False
            if self.place == AT_END:
                leveldb_iter_seek_to_last(self.iterator)
            elif self.place == BEFORE_ENTRY:
                leveldb_iter_prev(self.iterator)
        if not leveldb_iter_valid(self.iterator):
            self.place = AT_END if up else AT_BEGIN
            return False
        self.place = BEHIND_ENTRY if up else BEFORE_ENTRY
        return True


# The range of an iterator, as bounds of the engine: keys in [lower, upper), None for no bound.
@cython.final
cdef class _Range:
    cdef bytes lower
    cdef bytes upper

    # An iterator's arguments, within the keys of a prefix.
    cdef int fill(self, bytes view, start, stop, bint include_start, bint include_stop, prefix) except -1:
        cdef bytes base = b'' if view is None else view
        if prefix is not None:
            if start is not None or stop is not None:
                raise TypeError('a prefix goes with neither start nor stop')
            base = base + _to_bytes(prefix)
        if base:
            self.lower = base
            self.upper = _behind_prefix(base)
        # The key right behind another one, in bytewise order, has a zero byte more.
        if start is not None:
            self.lower = base + _to_bytes(start) + (b'' if include_start else b'\0')
        if stop is not None:
            self.upper = base + _to_bytes(stop) + (b'\0' if include_stop else b'')
        return 0


# Gives the cursor an iterator of the engine over these bounds.
cdef int _start(_Cursor cursor, _Store store, _Pin pin, bint verify_checksums, bint fill_cache, _Range bounds,
                size_t readahead_size) except -1:
    cdef leveldb_readoptions_t* options = leveldb_readoptions_create()
    cursor.options = options
    leveldb_readoptions_set_verify_checksums(options, verify_checksums)
    leveldb_readoptions_set_fill_cache(options, fill_cache)
    if readahead_size > 0:
        miodb_readoptions_set_readahead_size(options, readahead_size)
    if bounds.lower is not None:
        miodb_readoptions_set_iterate_lower_bound(options, bounds.lower, len(bounds.lower))
    if bounds.upper is not None:
        miodb_readoptions_set_iterate_upper_bound(options, bounds.upper, len(bounds.upper))
    _enter(store, pin)
    if pin is not None:
        leveldb_readoptions_set_snapshot(options, pin.snapshot)
    with nogil:
        cursor.iterator = leveldb_create_iterator(store.db, options)
    # The snapshot may go now, the bounds may not.
    leveldb_readoptions_set_snapshot(options, NULL)
    cursor.link(store)
    _leave(store, pin)
    return 0


# The bounds of an iterator where a comparator in Python orders the keys. There the key right behind another one is the
# first that the snapshot has behind it.
cdef int _move_bounds(_Range bounds, _Store store, _Pin pin, bint lower, bint upper) except -1:
    if upper:
        bounds.upper = _key_behind(store, pin, bounds.upper)
    if lower:
        bounds.lower = _key_behind(store, pin, bounds.lower)
        if bounds.lower is None:
            bounds.lower = bounds.upper = b''
    return 0


# The first key of the snapshot behind this one, or None.
cdef bytes _key_behind(_Store store, _Pin pin, bytes key):
    cdef RawIterator iterator = RawIterator.__new__(RawIterator)
    compare = store.options.compare
    _start(iterator, store, pin, False, True, _Range.__new__(_Range), 0)
    with iterator:
        iterator.seek(key)
        if iterator.valid() and compare(iterator.key(), key) == 0:
            iterator.next()
        return iterator.key() if iterator.valid() else None
