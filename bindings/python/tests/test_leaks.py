"""What is leaked goes, whatever finalizers do with it, and nothing crashes."""

import gc
import os
import pathlib
import resource

import pytest

import miodb

HEAVY = os.environ.get('MIODB_TEST_SCALE') == 'heavy'


def test_cycles_are_collected(path):
    class Holder(list):
        pass

    db = miodb.DB(path, create_if_missing=True)
    holder = Holder([db, db.iterator(), db.snapshot(), db.raw_iterator(), db.write_batch(), db.prefixed_db(b'p')])
    holder.append(holder)
    del db, holder
    gc.collect()
    miodb.DB(path).close()


def test_a_finalizer_may_use_and_close_what_is_collected_with_its_object(path):
    said = []

    class Holder:
        def __init__(self, db):
            self.itself, self.db, self.snapshot = self, db, db.snapshot()
            self.iterator, self.batch, self.value = db.iterator(), db.write_batch(), db.get_pinned(b'k')

        def __del__(self):
            said.append((self.snapshot.get(b'k'), next(self.iterator), bytes(self.value)))
            self.batch.put(b'l', b'w')
            self.batch.write()
            self.db.close()
            for call in (lambda: next(self.iterator), self.batch.write, lambda: self.snapshot.get(b'k')):
                with pytest.raises(RuntimeError, match='Database is closed'):
                    call()
            said.append('closed')

    for _ in range(3):
        db = miodb.DB(path, create_if_missing=True)
        db.put(b'k', b'v')
        holder = Holder(db)
        del db, holder
        gc.collect()
    assert said == [(b'v', (b'k', b'v'), b'v'), 'closed'] * 3
    with miodb.DB(path) as db:
        assert db.get(b'l') == b'w'


def resident_bytes():
    pages = int(pathlib.Path('/proc/self/statm').read_text().split()[1])
    return pages * resource.getpagesize()


def test_leaked_iterators_leave_nothing(db):
    for i in range(100):
        db.put(b'%03d' % i, b'v' * 100)
    db.flush()

    def leak(count):
        for _ in range(count):
            next(db.iterator(start=b'050', stop=b'060'))
        gc.collect()

    leak(20_000)
    before = resident_bytes()
    leak(10_000_000 if HEAVY else 1_000_000)
    # A leak of sixteen bytes an iterator would show.
    assert resident_bytes() - before < 16_000_000


def test_leaked_snapshots_values_batches_and_databases_leave_nothing(path):
    def leak(count):
        db = miodb.DB(path, create_if_missing=True, write_buffer_size=256 << 10)
        db.put(b'k', b'v' * 1000)
        for _ in range(count):
            db.snapshot().get(b'k')
            memoryview(db.get_pinned(b'k'))
            db.multi_get([b'k', b'none'])
            with db.write_batch(transaction=True) as batch:
                batch.put(b'l', b'v')
            db.raw_iterator().seek_to_first()

    leak(5_000)
    before = resident_bytes()
    for _ in range(10):
        leak(10_000)
    gc.collect()
    assert resident_bytes() - before < 16_000_000
