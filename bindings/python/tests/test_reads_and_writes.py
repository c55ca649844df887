"""Gets, puts, batches and many gets: what goes in comes out."""

import array

import pytest

import miodb


def test_a_value_is_what_was_put(db):
    db.put(b'key', b'value')
    assert db.get(b'key') == b'value'
    assert db.get(b'none') is None
    assert db.get(b'none', b'default') == b'default'
    db.delete(b'key', sync=True)
    assert db.get(b'key') is None
    db.delete(b'key')


@pytest.mark.parametrize('make', [bytes, bytearray, memoryview, lambda b: array.array('B', b)])
def test_whatever_has_bytes_is_a_key_and_a_value(db, make):
    for data in (b'', b'\0', b'x' * 100_000):
        db.put(make(b'k' + data[:100]), make(data))
        assert db.get(make(b'k' + data[:100])) == data
        with db.write_batch() as batch:
            batch.put(make(b'b'), make(data))
        assert db.get(b'b') == data
        assert db.multi_get([make(b'b')]) == [data]
    assert db.put(b'', b'of the empty key') is None
    assert db.get(make(b'')) == b'of the empty key'


def test_what_has_no_bytes_is_refused(db):
    batch = db.write_batch()
    for call in (db.get, db.get_pinned, db.delete, batch.delete, db.iterator().seek, db.raw_iterator().seek,
                 db.prefixed_db, db.prefixed_db(b'p').get):
        for wrong in ('text', 1, None, [b'']):
            with pytest.raises(TypeError):
                call(wrong)
    for call in (db.put, batch.put):
        for wrong in (('text', b''), (b'', 'text'), (None, b''), (b'', 1)):
            with pytest.raises(TypeError):
                call(*wrong)
    with pytest.raises(TypeError):
        db.multi_get([b'a', 'b'])
    with pytest.raises(TypeError):
        db.multi_get(None)
    with pytest.raises(BufferError):
        db.put(b'k', memoryview(b'every other')[::2])
    assert list(db) == []


def test_a_bytearray_can_be_resized_after_every_call(db):
    key, value = bytearray(b'k'), bytearray(b'v')
    db.put(key, value)
    db.get(key)
    db.get_pinned(key)
    db.multi_get([key])
    db.iterator(start=key, stop=value, include_stop=True).seek(key)
    db.compact_range(start=key, stop=value)
    db.approximate_size(key, value)
    with pytest.raises(TypeError):
        db.put(key, 'text')
    with pytest.raises(TypeError):
        db.multi_get([key, 'text'])
    key.extend(b'more')
    value.extend(b'more')


def test_a_key_is_in_whatever_has_it(db):
    db.put(b'k', b'v')
    db.put(b'pq', b'')
    snapshot, view = db.snapshot(), db.prefixed_db(b'p')
    db.delete(b'k')
    assert list(db) and b'pq' in db and bytearray(b'pq') in db and b'k' not in db
    assert b'k' in snapshot and b'none' not in snapshot
    assert b'q' in view and b'pq' not in view and b'q' in view.snapshot()
    assert (b'pq', b'') in list(db) and b'pq' in db.iterator(include_value=False)
    for wrong in ('pq', None, (b'pq', b'')):
        with pytest.raises(TypeError):
            wrong in db


def test_many_gets_in_one_call(db):
    for i in range(100):
        db.put(b'%03d' % i, b'value %d' % i)
    keys = [b'%03d' % i for i in range(0, 200, 7)]
    assert db.multi_get(keys) == [db.get(key) for key in keys]
    assert db.multi_get(iter(keys), b'none', verify_checksums=True) == [db.get(key, b'none') for key in keys]
    assert db.multi_get([]) == []
    assert db.multi_get([b'001', b'001']) == [b'value 1', b'value 1']
    assert db.prefixed_db(b'00').multi_get([b'1', b'x']) == [b'value 1', None]
    with db.snapshot() as snapshot:
        db.put(b'001', b'new')
        assert snapshot.multi_get([b'001']) == [b'value 1']


def test_a_batch_is_written_whole_and_in_order(db):
    batch = db.write_batch(sync=True)
    batch.put(b'a', b'1')
    batch.delete(b'a')
    batch.put(b'b', b'2')
    assert db.get(b'b') is None
    empty = db.write_batch().approximate_size()
    assert batch.approximate_size() > empty
    batch.write()
    batch.write()
    assert list(db) == [(b'b', b'2')]
    other = db.write_batch()
    other.put(b'c', b'3')
    batch.append(other)
    batch.append(batch)
    batch.write()
    assert list(db) == [(b'b', b'2'), (b'c', b'3')]
    batch.clear()
    assert batch.approximate_size() == empty
    with pytest.raises(TypeError):
        batch.append(None)


def test_only_a_transaction_is_dropped_by_an_exception(db):
    for transaction in (False, True):
        with pytest.raises(KeyError):
            with db.write_batch(transaction=transaction) as batch:
                batch.put(b'transaction' if transaction else b'batch', b'')
                raise KeyError
    assert db.get(b'batch') == b''
    assert db.get(b'transaction') is None


def test_a_snapshot_does_not_see_what_comes_later(db):
    db.put(b'a', b'old')
    with db.snapshot() as snapshot:
        db.put(b'a', b'new')
        db.put(b'b', b'')
        assert snapshot.get(b'a') == b'old'
        assert list(snapshot) == [(b'a', b'old')]
        assert bytes(snapshot.get_pinned(b'a')) == b'old'
        raw = snapshot.raw_iterator()
        raw.seek_to_last()
        assert raw.item() == (b'a', b'old')
        iterator = snapshot.iterator()
    assert list(iterator) == [(b'a', b'old')]


def test_a_view_shows_the_keys_of_its_prefix_alone(db):
    for key in (b'a', b'b', b'b1', b'b12', b'b\xff', b'c'):
        db.put(key, b'of ' + key)
    view = db.prefixed_db(b'b')
    assert view.prefix == b'b' and view.db is db
    assert list(view.iterator(include_value=False)) == [b'', b'1', b'12', b'\xff']
    assert view.get(b'1') == b'of b1'
    assert bytes(view.get_pinned(b'1')) == b'of b1'
    assert list(view.prefixed_db(b'1')) == [(b'', b'of b1'), (b'2', b'of b12')]
    assert view.prefixed_db(b'1').db is db
    assert list(view.iterator(start=b'1', stop=b'2', reverse=True, include_value=False)) == [b'12', b'1']
    raw = view.raw_iterator()
    raw.seek_to_first()
    assert raw.key() == b'b'
    view.put(b'2', b'two')
    view.delete(b'1')
    with view.write_batch() as batch:
        batch.put(b'3', b'three')
        batch.delete(b'12')
    assert list(db.iterator(include_value=False)) == [b'a', b'b', b'b2', b'b3', b'b\xff', b'c']
    with view.snapshot() as snapshot:
        view.put(b'4', b'')
        assert snapshot.get(b'4') is None
        assert list(snapshot.iterator(include_value=False, start=b'3')) == [b'3', b'\xff']
    iterator = view.iterator()
    iterator.seek(b'3')
    assert next(iterator) == (b'3', b'three')


def test_a_prefix_of_the_largest_bytes_has_an_end(db):
    keys = [b'\xfe', b'\xff', b'\xff\xff', b'\xff\xff\xff']
    for key in keys:
        db.put(key, b'')
    assert list(db.iterator(prefix=b'\xff\xff', include_value=False)) == keys[2:]
    assert list(db.iterator(prefix=b'', include_value=False)) == keys
    assert list(db.prefixed_db(b'\xff').iterator(include_value=False)) == [b'', b'\xff', b'\xff\xff']
    assert list(db.prefixed_db(b'').iterator(include_value=False, reverse=True)) == keys[::-1]


def test_what_was_written_is_there_after_a_reopen(path):
    with miodb.DB(path, create_if_missing=True) as db:
        db.put(b'a', b'1')
    with miodb.DB(path) as db:
        assert list(db) == [(b'a', b'1')]
