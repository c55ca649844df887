# Exceptions. Misuse raises Python's own: TypeError, ValueError, RuntimeError of a closed object, BufferError of a value that
# is still in use. What the engine reports becomes one of these.

_builtin_IOError = OSError

# The texts that the C library has for the numbers of the system's errors, the longest first.
cdef list _SYSTEM_ERRORS = sorted(((os.strerror(number), number) for number in errno.errorcode), key=lambda e: -len(e[0]))


# The number of the system's error that the text of an error tells, in its last part that begins with one; None if there is none.
cdef object _errno_of(str text):
    if text.startswith('No space: '):
        return errno.ENOSPC
    for part in reversed(text.split(': ')):
        for words, number in _SYSTEM_ERRORS:
            if part.startswith(words):
                return number
    return errno.ENOENT if text.startswith('NotFound: ') else None


class Error(Exception):
    """An error that the engine reports, and the base class of the others."""


class IOError(Error, _builtin_IOError):
    """The system or the medium failed, or there is no space. If the system failed, errno says why."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        # With strerror or filename str() would give other words than the engine's.
        if len(arguments) == 1:
            self.errno = _errno_of(str(arguments[0]))


class NotFoundError(IOError, FileNotFoundError):
    """A file of the database is not there, or the folder that it should be in."""


class CorruptionError(Error):
    """Stored bytes are damaged."""


class InvalidArgumentError(Error):
    """An option out of its range, or a database that is not what was asked for."""


class NotSupportedError(Error):
    """The database, the medium or the build cannot do this."""


class IteratorInvalidError(Error):
    """A raw iterator stands at no entry."""


# What the text of an error begins with; the C API has no codes.
cdef tuple _KINDS = (
    (b'NotFound: ', NotFoundError),
    (b'IO error: ', IOError),
    (b'No space: ', IOError),
    (b'Corruption: ', CorruptionError),
    (b'Invalid argument: ', InvalidArgumentError),
    (b'Not implemented: ', NotSupportedError),
)


# The exception of an error's text.
cdef object _exception_of(bytes text):
    for beginning, kind in _KINDS:
        if text.startswith(beginning):
            return kind(text.decode('utf-8', 'surrogateescape'))
    return Error(text.decode('utf-8', 'surrogateescape'))


# Raises what the C API left in *error, and frees it; NULL is no error.
cdef int _check(char* error) except -1:
    if error is NULL:
        return 0
    cdef bytes text
    try:
        text = error
    finally:
        leveldb_free(error)
    raise _exception_of(text)
