# Keys and values of a caller. Anything that has a buffer is taken: bytes, bytearray, memoryview, arrays.

# Stands for NULL, which the engine takes for no key.
cdef const char* _EMPTY = b''


cdef struct Chunk:
    const char* data
    size_t size
    # What holds the bytes: a reference to bytes, which never move, or a buffer.
    PyObject* owner
    bint has_view
    Py_buffer view


# Lets the chunk point to the bytes of the object, which stay where they are until _drop.
cdef int _take(object source, Chunk* chunk) except -1:
    chunk.owner = NULL
    chunk.has_view = False
    if PyBytes_CheckExact(source):
        Py_INCREF(source)
        chunk.owner = <PyObject*>source
        chunk.data = PyBytes_AS_STRING(source)
        chunk.size = <size_t>PyBytes_GET_SIZE(source)
        return 0
    if not PyObject_CheckBuffer(source):
        raise TypeError(f'a bytes-like object is required, not {type(source).__name__}')
    PyObject_GetBuffer(source, &chunk.view, PyBUF_SIMPLE)
    chunk.has_view = True
    chunk.data = <const char*>chunk.view.buf
    chunk.size = <size_t>chunk.view.len
    if chunk.data is NULL:
        chunk.data = _EMPTY
    return 0


# The same for a write, whose bytes go into the log with their checksum: a copy, unless nobody can change them meanwhile.
cdef int _take_to_write(object source, Chunk* chunk) except -1:
    return _take(_to_bytes(source), chunk)


cdef void _drop(Chunk* chunk) noexcept:
    if chunk.has_view:
        PyBuffer_Release(&chunk.view)
    elif chunk.owner is not NULL:
        Py_DECREF(<object>chunk.owner)


# The object as bytes.
cdef bytes _to_bytes(object source):
    cdef Chunk chunk
    if PyBytes_CheckExact(source):
        return source
    _take(source, &chunk)
    try:
        return PyBytes_FromStringAndSize(chunk.data, chunk.size)
    finally:
        _drop(&chunk)


# The smallest key that is larger than every key with this prefix, in bytewise order; None if there is no such key.
cdef bytes _behind_prefix(bytes prefix):
    cdef bytes head = prefix.rstrip(b'\xff')
    if not head:
        return None
    return head[:len(head) - 1] + bytes((head[len(head) - 1] + 1,))
