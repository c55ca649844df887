"""What is closed says so, and nothing crashes."""

import copy
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import threading
import time
import weakref

import pytest

import miodb


def run(program, *arguments, **environment):
    """Runs a program in a fresh interpreter."""
    return subprocess.run([sys.executable, '-X', 'faulthandler', '-c', textwrap.dedent(program), *arguments],
                          capture_output=True, text=True, timeout=120, env={**os.environ, **environment})


def test_everything_of_a_closed_database_raises(db):
    db.put(b'k', b'v')
    batch, snapshot, iterator, raw, view = (db.write_batch(), db.snapshot(), db.iterator(), db.raw_iterator(),
                                            db.prefixed_db(b'p'))
    view_snapshot = view.snapshot()
    pinned = db.get_pinned(b'k')
    next(iterator)
    raw.seek_to_first()
    db.close()
    db.close()
    assert db.closed and pinned.closed
    calls = [lambda: db.put(b'k', b'v'), lambda: db.delete(b'k'), db.write_batch, db.snapshot, db.iterator,
             db.raw_iterator, db.compact_range, db.flush, db.wait_for_idle, db.stats, db.__enter__,
             lambda: db.get_property(b'miodb.counters'), lambda: db.approximate_size(b'a', b'b'),
             lambda: list(db), lambda: b'k' in db, lambda: next(iterator), iterator.prev, iterator.seek_to_start,
             iterator.seek_to_stop,
             lambda: iterator.seek(b'k'), iterator.__enter__, raw.valid, raw.key, raw.value, raw.item, raw.next,
             raw.prev, raw.seek_to_first, raw.seek_to_last, lambda: raw.seek(b'k'), batch.write, batch.clear,
             batch.approximate_size, lambda: batch.put(b'k', b'v'), lambda: batch.delete(b'k'),
             lambda: batch.append(batch), view.snapshot, view.write_batch, lambda: view.put(b'k', b'v')]
    for reader in (db, snapshot, view, view_snapshot, view.prefixed_db(b'q')):
        calls += [lambda r=reader: r.get(b'k'), lambda r=reader: r.get_pinned(b'k'),
                  lambda r=reader: r.multi_get([b'k']), reader.iterator, reader.raw_iterator]
    for call in calls:
        with pytest.raises(RuntimeError, match=' is closed$'):
            call()
    for call in (lambda: memoryview(pinned), lambda: bytes(pinned), lambda: len(pinned)):
        with pytest.raises(ValueError, match='its database is closed$'):
            call()
    for thing in (snapshot, view_snapshot, iterator, raw):
        thing.close()
    pinned.release()


def test_a_closed_iterator_or_snapshot_raises_and_others_go_on(db):
    db.put(b'k', b'v')
    for iterator in (db.iterator(), db.raw_iterator()):
        with iterator:
            pass
        iterator.close()
        with pytest.raises(RuntimeError):
            iterator.seek(b'k')
    snapshot = db.snapshot()
    walk = snapshot.iterator()
    snapshot.close()
    snapshot.release()
    for call in (lambda: snapshot.get(b'k'), snapshot.iterator, lambda: snapshot.multi_get([b'k'])):
        with pytest.raises(RuntimeError):
            call()
    assert list(walk) == [(b'k', b'v')]
    assert db.get(b'k') == b'v'


def test_a_database_can_be_opened_again_right_after_its_close(path):
    for i in range(5):
        db = miodb.DB(path, create_if_missing=True)
        iterators = [db.iterator(), db.snapshot().iterator(), db.raw_iterator(), db.get_pinned(b'k')]
        with pytest.raises(miodb.IOError):
            miodb.DB(path)
        db.put(b'k', b'%d' % i)
        db.close()
        del iterators


def test_what_is_made_by_no_database_raises(db, path):
    for kind in (miodb.Iterator, miodb.RawIterator, miodb.Snapshot, miodb.WriteBatch, miodb.PinnedValue,
                 miodb.PrefixedDB):
        with pytest.raises(TypeError):
            kind()
        made = kind.__new__(kind)
        for name in ('close', 'release'):
            if hasattr(made, name):
                getattr(made, name)()
        for name, arguments in (('get', [b'k']), ('put', [b'k', b'v']), ('seek', [b'k']), ('write', []),
                                ('iterator', []), ('next', []), ('prev', []), ('valid', [])):
            if hasattr(made, name):
                with pytest.raises(RuntimeError):
                    getattr(made, name)(*arguments)
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            memoryview(made) if kind is miodb.PinnedValue else next(made)
    unopened = miodb.DB.__new__(miodb.DB)
    assert unopened.closed
    unopened.close()
    with pytest.raises(RuntimeError):
        unopened.get(b'k')
    with pytest.raises(RuntimeError):
        db.__init__(path)
    db.put(b'still', b'open')


def one_of_each(db):
    db.put(b'k', b'v')
    return [db, db.snapshot(), db.prefixed_db(b'p'), db.write_batch(), db.iterator(), db.raw_iterator(), db.get_pinned(b'k')]


def test_what_is_open_has_no_copies(db):
    for thing in one_of_each(db):
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=f'^{type(thing).__name__} cannot be pickled or copied: .* open in this process'):
                call(thing)


def test_weak_references_are_of_what_is_there(db):
    things = one_of_each(db)
    references = [weakref.ref(thing) for thing in things]
    assert [reference() for reference in references] == things
    del things
    gc.collect()
    assert [reference() for reference in references] == [db] + [None] * 6


def test_a_pinned_value_is_a_buffer_without_a_copy(db):
    value = os.urandom(1 << 20)
    db.put(b'k', value)
    assert db.get_pinned(b'none') is None and db.get_pinned(b'none', 7) == 7
    with db.get_pinned(b'k', verify_checksums=True) as pinned:
        assert len(pinned) == len(value) and bytes(pinned) == value
        view = memoryview(pinned)
        assert view.readonly and view == value
        db.put(b'k', b'new')
        db.compact_range()
        assert view == value
        with pytest.raises(BufferError):
            pinned.release()
        with pytest.raises(BufferError):
            db.close()
        assert not db.closed and db.get(b'k') == b'new'
        view.release()
    assert pinned.closed
    with pytest.raises(ValueError):
        memoryview(pinned)
    db.put(b'k', b'')
    assert bytes(memoryview(db.get_pinned(b'k'))) == b''


def test_a_view_of_a_value_keeps_the_database_open(path):
    db = miodb.DB(path, create_if_missing=True)
    db.put(b'k', b'v' * 100)
    view = memoryview(db.get_pinned(b'k'))
    del db
    gc.collect()
    assert view == b'v' * 100
    with pytest.raises(miodb.IOError):
        miodb.DB(path)
    view.release()
    gc.collect()
    miodb.DB(path).close()


def test_an_iterator_keeps_the_database_open(path):
    iterator = iter(miodb.DB(path, create_if_missing=True))
    assert list(iterator) == []
    with pytest.raises(miodb.IOError):
        miodb.DB(path)
    del iterator
    miodb.DB(path).close()


@pytest.mark.parametrize('seed', range(3))
def test_closing_while_threads_read_and_write_raises_in_them(path, seed):
    db = miodb.DB(path, create_if_missing=True, write_buffer_size=256 << 10)
    for i in range(2000):
        db.put(b'%05d' % i, b'v' * 50)
    snapshot = db.snapshot()
    unexpected, ended = [], []
    started = threading.Barrier(8)

    def work(step):
        started.wait()
        try:
            while True:
                step()
        except (RuntimeError, ValueError) as error:
            ended.append(error)
        except BaseException as error:
            unexpected.append(error)

    steps = [lambda: db.get(b'00100'), lambda: db.put(b'x', b'y' * 1000), lambda: list(db), lambda: snapshot.get(b'0'),
             lambda: list(snapshot.iterator(reverse=True)), lambda: bytes(db.get_pinned(b'00100')),
             lambda: db.multi_get([b'00001', b'none'])]
    threads = [threading.Thread(target=work, args=(step,)) for step in steps]
    for thread in threads:
        thread.start()
    started.wait()
    for _ in range(seed * 20):
        snapshot.get(b'00001')
    closers = [threading.Thread(target=close, args=(db,)) for _ in range(3)]
    for thread in closers + threads:
        if thread in closers:
            thread.start()
    for thread in threads + closers:
        thread.join(60)
        assert not thread.is_alive()
    assert unexpected == [] and len(ended) == len(steps)
    miodb.DB(path).close()


def close(db):
    """Closes it, also where a value is looked at right now."""
    while not db.closed:
        try:
            db.close()
        except BufferError:
            pass


def test_a_snapshot_closed_while_threads_read_it_ends_their_reads(db):
    for i in range(1000):
        db.put(b'%04d' % i, b'v')
    for _ in range(20):
        snapshot = db.snapshot()
        reading = threading.Event()

        def read():
            try:
                while True:
                    snapshot.multi_get([b'%04d' % i for i in range(100)])
                    reading.set()
            except RuntimeError:
                pass

        threads = [threading.Thread(target=read) for _ in range(3)]
        for thread in threads:
            thread.start()
        reading.wait()
        snapshot.close()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()


def test_one_iterator_in_several_threads_gives_each_entry_once_or_raises(db):
    keys = [b'%05d' % i for i in range(20_000)]
    with db.write_batch() as batch:
        for key in keys:
            batch.put(key, b'')
    iterator = db.iterator(include_value=False)
    found = []

    def walk():
        while True:
            try:
                found.append(next(iterator))
            except StopIteration:
                return
            except RuntimeError:
                pass

    threads = [threading.Thread(target=walk) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == keys


@pytest.mark.parametrize('waiting', ['wait_for_idle', 'flush', 'compact_range', 'close'])
def test_a_comparator_runs_in_threads_of_the_engine_while_a_call_waits_for_them(path, waiting):
    threads = set()

    def order(a, b):
        threads.add(threading.get_ident())
        return (a > b) - (a < b)

    with miodb.DB(path, create_if_missing=True, comparator=order, comparator_name=b'order',
                  write_buffer_size=64 << 10) as db:
        # When the engine's threads begin is up to the machine: a close before that would drop their work.
        deadline = time.monotonic() + 60
        while not threads - {threading.get_ident()}:
            assert time.monotonic() < deadline, 'the engine never compared in a thread of its own'
            for i in range(2000):
                db.put(b'%04d' % (i % 500), b'v' * 100)
        # A call that kept the GIL would wait for ever.
        getattr(db, waiting)()


def test_an_interpreter_ends_with_everything_open(path):
    done = run('''
        import sys, threading, miodb
        order = lambda a, b: (a > b) - (a < b)
        db = miodb.DB(sys.argv[1], create_if_missing=True, comparator=order, comparator_name=b'order',
                      write_buffer_size=65536)
        for i in range(5000):
            db.put(b'%05d' % i, b'v' * 100)
        def read():
            while True:
                db.get(b'00001')
        for _ in range(2):
            threading.Thread(target=read, daemon=True).start()
        kept = [db.iterator(), db.snapshot(), memoryview(db.snapshot().get(b'00001')), db.write_batch()]
        next(kept[0])
        print('end')
        ''', path)
    assert (done.returncode, done.stdout) == (0, 'end\n'), done.stderr


def test_an_interpreter_ends_with_a_view_of_a_value(path):
    done = run('''
        import sys, miodb
        db = miodb.DB(sys.argv[1], create_if_missing=True)
        db.put(b'k', b'v')
        view = memoryview(db.get_pinned(b'k'))
        print('end')
        ''', path)
    assert (done.returncode, done.stdout) == (0, 'end\n'), done.stderr


@pytest.mark.parametrize('call', [
    'view.put(key, b"new"); assert db.get(whole) == b"new"',
    'view.delete(key); assert db.get(whole) is None',
    'assert view.get(key) == b"old"',
    'assert bytes(view.get_pinned(key)) == b"old"',
    'assert view.multi_get([key]) == [b"old"]',
    'assert view.snapshot().get(key) == b"old"',
    'batch.put(key, b"new"); batch.write(); assert db.get(whole) == b"new"',
    'batch.delete(key); batch.write(); assert db.get(whole) is None',
    'walk = view.iterator(); walk.seek(key); assert next(walk) == (key, b"old")',
    'assert list(view.iterator(start=key, stop=key, include_stop=True)) == [(key, b"old")]',
])
def test_a_key_that_is_made_for_a_call_lives_as_long_as_it(path, call):
    # Large blocks go back to the system when they are freed, so that a use afterwards is seen.
    done = run('''
        import sys, miodb
        db = miodb.DB(sys.argv[1], create_if_missing=True)
        view = db.prefixed_db(b'p' * 8192)
        batch = view.write_batch()
        key = b'k' * 8192
        whole = b'p' * 8192 + key
        db.put(whole, b'old')
        exec(sys.argv[2])
        print('end')
        ''', path, call, MALLOC_MMAP_THRESHOLD_='4096')
    assert (done.returncode, done.stdout) == (0, 'end\n'), done.stderr


def test_a_comparator_that_raises_ends_the_process_and_says_why(path):
    done = run('''
        import sys, miodb
        def order(a, b):
            if b'bad' in (a, b):
                raise LookupError('no order')
            return (a > b) - (a < b)
        db = miodb.DB(sys.argv[1], create_if_missing=True, comparator=order, comparator_name=b'order')
        for key in (b'1', b'2', b'bad'):
            db.put(key, b'')
        ''', path)
    assert done.returncode < 0
    assert 'LookupError: no order' in done.stderr and 'a comparator raised' in done.stderr
    with miodb.DB(path, comparator=lambda a, b: (a > b) - (a < b), comparator_name=b'order') as db:
        assert list(db.iterator(include_value=False))[:2] == [b'1', b'2']


def test_a_comparator_cannot_close_its_database(path):
    refused = []

    def order(a, b):
        if databases and not refused:
            try:
                databases[0].close()
            except RuntimeError as error:
                refused.append(error)
        return (a > b) - (a < b)

    databases = []
    with miodb.DB(path, create_if_missing=True, comparator=order, comparator_name=b'order') as db:
        databases.append(db)
        db.put(b'a', b'')
        db.put(b'b', b'')
        assert len(refused) == 1
        databases.clear()


def child(db, iterator, queue):
    """What a forked child meets of its parent's database."""
    raised = []
    for call in (lambda: db.get(b'k'), lambda: db.put(b'k', b'child'), db.snapshot, db.compact_range, db.stats,
                 lambda: db.approximate_size(b'a', b'b'), lambda: next(iterator), db.iterator, db.write_batch):
        try:
            call()
        except miodb.Error as error:
            raised.append(str(error))
    iterator.close()
    db.close()
    queue.put(raised)


def test_a_forked_child_does_no_harm(db):
    db.put(b'k', b'v')
    context = multiprocessing.get_context('fork')
    queue = context.Queue()
    process = context.Process(target=child, args=(db, db.iterator(), queue))
    process.start()
    raised = queue.get(timeout=60)
    process.join(60)
    assert process.exitcode == 0
    assert len(raised) == 9 and all('fork' in text for text in raised)
    assert db.get(b'k') == b'v'


def test_a_forked_child_does_not_wait_for_calls_of_threads_that_it_has_not(tmp_path):
    """A comparator holds a call of another thread while the process forks."""
    inside, go_on = threading.Event(), threading.Event()

    def order(a, b):
        if threading.current_thread() is not threading.main_thread() and not go_on.is_set():
            inside.set()
            go_on.wait(60)
        return (a > b) - (a < b)

    db = miodb.DB(str(tmp_path / 'db'), create_if_missing=True, comparator=order, comparator_name=b'order')
    db.put(b'a', b'1')
    reader = threading.Thread(target=lambda: db.get(b'b'))
    reader.start()
    assert inside.wait(60)
    process = multiprocessing.get_context('fork').Process(target=db.close)
    process.start()
    process.join(60)
    ended = process.exitcode
    process.kill()
    go_on.set()
    reader.join()
    assert ended == 0
    db.close()


def test_the_end_of_an_object_may_close_its_database(tmp_path):
    """A weak reference's callback runs while the object is still known to its database."""
    for make in ('db.iterator()', 'db.raw_iterator()', 'db.snapshot()', "db.get_pinned(b'k')"):
        done = run(f"""
            import sys, weakref
            import miodb
            db = miodb.DB(sys.argv[1], create_if_missing=True)
            db.put(b'k', b'v')
            thing = {make}
            weakref.finalize(thing, db.close)
            del thing
            assert db.closed
            print('done')
        """, str(tmp_path / 'db'))
        assert done.returncode == 0 and done.stdout == 'done\n', (make, done)


def test_bytes_that_change_during_a_put_damage_nothing(tmp_path):
    """The log has the checksum of what it has, whatever the writer's bytes become meanwhile."""
    path = str(tmp_path / 'db')
    value = bytearray(4 << 20)
    stop = threading.Event()

    def change():
        while not stop.is_set():
            for i in range(0, len(value), 1 << 16):
                value[i] = (value[i] + 1) & 255

    with miodb.DB(path, create_if_missing=True) as db:
        changes = threading.Thread(target=change)
        changes.start()
        for i in range(40):
            db.put(b'%d' % i, value)
        stop.set()
        changes.join()
        db.put(b'last', b'1')
    with miodb.DB(path) as db:
        for i in range(40):
            assert len(db.get(b'%d' % i, verify_checksums=True)) == len(value)
        assert db.get(b'last') == b'1'
