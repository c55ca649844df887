"""MioDB, a key-value store for persistent memory, with the interface of plyvel.

    import miodb

    with miodb.DB('/var/lib/store', create_if_missing=True) as db:
        db.put(b'key', b'value')
        for key, value in db.iterator(prefix=b'k'):
            print(key, value)

docs/bindings.md in MioDB's sources tells lifetimes, threads and what a crash leaves.
"""

from miodb._miodb import (
    DB,
    CorruptionError,
    Error,
    InvalidArgumentError,
    IOError,
    Iterator,
    IteratorInvalidError,
    NotFoundError,
    NotSupportedError,
    PinnedValue,
    PrefixedDB,
    RawIterator,
    Snapshot,
    WriteBatch,
    __leveldb_version__,
    __version__,
    destroy_db,
    repair_db,
)

__all__ = [
    'DB',
    'CorruptionError',
    'Error',
    'IOError',
    'InvalidArgumentError',
    'Iterator',
    'IteratorInvalidError',
    'NotFoundError',
    'NotSupportedError',
    'PinnedValue',
    'PrefixedDB',
    'RawIterator',
    'Snapshot',
    'WriteBatch',
    'destroy_db',
    'repair_db',
]
