# The open store. Databases, batches, snapshots, iterators and values hold it; it knows those of them that the C API wants
# gone before a close, and lets go of them itself when it is closed. They say then that they are closed.

cdef enum State:
    CLOSED
    OPEN
    CLOSING
    # In the child of a fork: the parent's database.
    FORKED


# Options of reads that differ in two flags, made once.
cdef struct Reads:
    leveldb_readoptions_t* variants[4]


cdef void _make_reads(Reads* reads, const leveldb_snapshot_t* snapshot) noexcept:
    cdef int i
    for i in range(4):
        reads.variants[i] = leveldb_readoptions_create()
        leveldb_readoptions_set_verify_checksums(reads.variants[i], i & 1)
        leveldb_readoptions_set_fill_cache(reads.variants[i], 1 if i & 2 else 0)
        leveldb_readoptions_set_snapshot(reads.variants[i], snapshot)


cdef void _free_reads(Reads* reads) noexcept:
    cdef int i
    for i in range(4):
        if reads.variants[i] is not NULL:
            leveldb_readoptions_destroy(reads.variants[i])
            reads.variants[i] = NULL


# The stores that are open, for the end of the interpreter.
_open_stores = weakref.WeakSet()


@cython.final
@cython.no_gc_clear
cdef class _Store:
    cdef leveldb_t* db
    cdef State state
    # Calls that are on their way in the engine.
    cdef Py_ssize_t calls
    # Events of a close: the last call is over; the close is.
    cdef object drained
    cdef object ended
    # What has to be gone before a close, in a list of its own links: no references, since each holds the store.
    cdef PyObject* first_held
    cdef Reads reads
    cdef leveldb_writeoptions_t* lazy_write
    cdef leveldb_writeoptions_t* sync_write
    # Their objects are used as long as the store is open.
    cdef _Options options
    cdef object __weakref__

    def __cinit__(self):
        self.state = CLOSED

    def __dealloc__(self):
        # Nothing that is held is left, and no call: each has a reference to the store.
        if self.state == OPEN:
            self.state = CLOSED
            self.close_engine()

    cdef int open(self, bytes path, _Options options) except -1:
        cdef char* error = NULL
        cdef leveldb_t* db
        cdef const char* name = path
        with nogil:
            db = leveldb_open(options.options, name, &error)
        _check(error)
        self.db = db
        self.options = options
        _make_reads(&self.reads, NULL)
        self.lazy_write = leveldb_writeoptions_create()
        self.sync_write = leveldb_writeoptions_create()
        leveldb_writeoptions_set_sync(self.sync_write, 1)
        self.state = OPEN
        _open_stores.add(self)
        return 0

    cdef inline int require_open(self) except -1:
        if self.state == FORKED:
            raise Error('Database was opened before fork()')
        if self.state != OPEN:
            raise RuntimeError('Database is closed')
        return 0

    # To be called before a call of the engine, and leave() behind it.
    cdef inline int enter(self) except -1:
        self.require_open()
        self.calls += 1
        return 0

    cdef inline void leave(self) noexcept:
        self.calls -= 1
        if self.calls == 0 and self.drained is not None:
            self.drained.set()

    # Closes the store, and what depends on it. Returns when it is closed, also where another thread does it.
    cdef int close(self) except -1:
        if miodb_compare_depth > 0:
            raise RuntimeError('a comparator cannot close a database')
        while self.state == CLOSING:
            self.ended.wait()
        if self.state == CLOSED or self.state == FORKED:
            return 0
        drained = threading.Event()
        ended = threading.Event()
        # No other code runs between this and the move to CLOSING, where values give no buffers any more.
        self.refuse_exports()
        if self.state != OPEN:
            return self.close()
        self.state = CLOSING
        self.drained = drained
        self.ended = ended
        try:
            self.wait_for_calls()
        except BaseException:
            self.state = OPEN
            ended.set()
            raise
        while self.first_held is not NULL:
            (<_Held>self.first_held).let_go()
        self.close_engine()
        self.state = CLOSED
        ended.set()
        _open_stores.discard(self)
        return 0

    # A call that ends behind clear() sets the event again, and one that ended before is seen by the count.
    cdef int wait_for_calls(self) except -1:
        while True:
            self.drained.clear()
            if self.calls == 0:
                return 0
            self.drained.wait()

    # Bytes that somebody looks at cannot be taken away. No reference is taken on the way: an object whose weak references
    # are being told of its end is still in the list.
    cdef int refuse_exports(self) except -1:
        cdef Py_ssize_t exports = 0
        cdef PyObject* place = self.first_held
        while place is not NULL:
            exports += (<_Held>place).exports
            place = (<_Held>place).next_held
        if exports > 0:
            raise BufferError(f'{exports} buffers of values are in use; release their memoryviews before closing')
        return 0

    cdef void close_engine(self) noexcept:
        cdef leveldb_t* db = self.db
        self.db = NULL
        with nogil:
            leveldb_close(db)
        _free_reads(&self.reads)
        leveldb_writeoptions_destroy(self.lazy_write)
        leveldb_writeoptions_destroy(self.sync_write)
        self.options = None


# What the engine wants gone before a close: the base class of snapshots, values and iterators.
#
# let_go() is called with the GIL, once; behind it the object says that it is closed.
@cython.no_gc_clear
cdef class _Held:
    cdef _Store store
    cdef object __weakref__
    cdef PyObject* next_held
    cdef PyObject* previous_held
    # Buffers that somebody has of it.
    cdef Py_ssize_t exports

    cdef void link(self, _Store store) noexcept:
        self.store = store
        self.previous_held = NULL
        self.next_held = store.first_held
        if self.next_held is not NULL:
            (<_Held>self.next_held).previous_held = <PyObject*>self
        store.first_held = <PyObject*>self

    cdef void unlink(self) noexcept:
        if self.previous_held is not NULL:
            (<_Held>self.previous_held).next_held = self.next_held
        else:
            self.store.first_held = self.next_held
        if self.next_held is not NULL:
            (<_Held>self.next_held).previous_held = self.previous_held
        self.next_held = NULL
        self.previous_held = NULL

    cdef void let_go(self) noexcept:
        pass

    def __reduce__(self):
        raise _no_copies(self)


# The error of a pickle or a copy: there is one object of the engine, in this process.
cdef object _no_copies(object self):
    return TypeError(f'{type(self).__name__} cannot be pickled or copied: it stands for something open in this process; '
                     'pass on the name of the database and open that, or bytes of what was read')


# A snapshot of the engine. Closing it while other threads read with it lets them end: the last of them releases it.
@cython.final
@cython.no_gc_clear
cdef class _Pin(_Held):
    cdef const leveldb_snapshot_t* snapshot
    cdef Reads reads
    cdef Py_ssize_t users
    cdef bint closed

    def __dealloc__(self):
        if self.snapshot is not NULL:
            self.let_go()

    cdef void let_go(self) noexcept:
        self.unlink()
        if self.store.state != FORKED:
            leveldb_release_snapshot(self.store.db, self.snapshot)
        self.snapshot = NULL
        _free_reads(&self.reads)

    cdef void close(self) noexcept:
        self.closed = True
        if self.users == 0 and self.snapshot is not NULL:
            self.let_go()


cdef _Pin _new_pin(_Store store):
    cdef _Pin pin = _Pin.__new__(_Pin)
    store.enter()
    with nogil:
        pin.snapshot = leveldb_create_snapshot(store.db)
    _make_reads(&pin.reads, pin.snapshot)
    pin.link(store)
    store.leave()
    return pin


# enter() and leave() for a read of the store, or of a snapshot if there is a pin.
cdef inline int _enter(_Store store, _Pin pin) except -1:
    store.enter()
    if pin is not None:
        if pin.closed:
            store.leave()
            raise RuntimeError('Snapshot is closed')
        pin.users += 1
    return 0


cdef inline void _leave(_Store store, _Pin pin) noexcept:
    if pin is not None:
        pin.users -= 1
        if pin.closed and pin.users == 0:
            pin.let_go()
    store.leave()


# The options of such a read, between the two.
cdef inline leveldb_readoptions_t* _reading(_Store store, _Pin pin, bint verify_checksums, bint fill_cache) noexcept:
    cdef int variant = verify_checksums + 2 * fill_cache
    return store.reads.variants[variant] if pin is None else pin.reads.variants[variant]


# The threads that have calls on their way, or close a database, do not exist in a child. Its copy is never closed.
def _leave_to_parent():
    for store in list(_open_stores):
        (<_Store>store).state = FORKED
    _open_stores.clear()


os.register_at_fork(after_in_child=_leave_to_parent)


# No database outlives the interpreter: its threads may call a comparator.
@atexit.register
def _close_all():
    for store in list(_open_stores):
        try:
            (<_Store>store).close()
        except BufferError:
            pass


# Stands for a store in objects that were not made by a database.
cdef _Store _NO_STORE = _Store.__new__(_Store)
