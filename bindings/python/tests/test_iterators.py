"""Iterators against a model: a sorted list and a place between two of its entries."""

import bisect
import random

import pytest

import miodb

KEYS = [b'%02d' % i for i in range(0, 40, 2)]


@pytest.fixture
def filled(db):
    for i, key in enumerate(KEYS):
        db.put(key, b'v' + key)
        if i == len(KEYS) // 2:
            db.flush()
    return db


class Model:
    """What Iterator does, on a list."""

    def __init__(self, keys, reverse):
        self.keys, self.reverse = keys, reverse
        self.place = len(keys) if reverse else 0

    def step(self, up):
        if self.place == (len(self.keys) if up else 0):
            return None
        self.place += 1 if up else -1
        return self.keys[self.place - 1 if up else self.place]

    def next(self):
        return self.step(not self.reverse)

    def prev(self):
        return self.step(self.reverse)

    def seek(self, target):
        self.place = bisect.bisect_left(self.keys, target)

    def seek_to_start(self):
        self.place = 0

    def seek_to_stop(self):
        self.place = len(self.keys)


def chosen(arguments):
    """The keys that an iterator with these arguments has to have."""
    def within(key):
        if 'prefix' in arguments:
            return key.startswith(arguments['prefix'])
        start, stop = arguments.get('start'), arguments.get('stop')
        if start is not None and (key < start or (key == start and not arguments.get('include_start', True))):
            return False
        return stop is None or key < stop or (key == stop and arguments.get('include_stop', False))
    return [key for key in KEYS if within(key)]


def random_arguments(rng):
    arguments = {'reverse': rng.random() < 0.5}
    if rng.random() < 0.2:
        arguments['prefix'] = rng.choice([b'', b'0', b'1', b'12', b'9', b'\xff'])
        return arguments
    for name in ('start', 'stop'):
        if rng.random() < 0.6:
            arguments[name] = rng.choice([b'', b'%02d' % rng.randrange(42), b'\xff'])
        if rng.random() < 0.5:
            arguments['include_' + name] = rng.random() < 0.5
    return arguments


def move(iterator, name, *arguments):
    try:
        return getattr(iterator, name)(*arguments)
    except StopIteration:
        return None


@pytest.mark.parametrize('seed', range(20))
def test_random_moves_over_random_ranges_are_those_of_a_list(filled, seed):
    rng = random.Random(seed)
    for _ in range(50):
        arguments = random_arguments(rng)
        iterator = filled.iterator(include_value=False, **arguments)
        model = Model(chosen(arguments), arguments['reverse'])
        done = []
        for _ in range(rng.randrange(60)):
            name = rng.choice(['next', 'next', 'next', 'prev', 'prev', 'seek', 'seek_to_start', 'seek_to_stop'])
            target = [b'%02d' % rng.randrange(42)] if name == 'seek' else []
            done.append((name, *target))
            assert move(iterator, name, *target) == move(model, name, *target), (arguments, done)
        rest = []
        while (key := model.next()) is not None:
            rest.append(key)
        assert list(iterator) == rest, (arguments, done)


def test_entries_have_the_parts_that_were_asked_for(filled):
    assert next(filled.iterator()) == (b'00', b'v00')
    assert next(filled.iterator(include_value=False)) == b'00'
    assert next(filled.iterator(include_key=False)) == b'v00'
    assert next(filled.iterator(include_key=False, include_value=False)) is None
    assert next(filled.iterator(verify_checksums=True, fill_cache=False, readahead_size=4096)) == (b'00', b'v00')


def test_a_prefix_goes_with_no_other_bound(filled):
    with pytest.raises(TypeError):
        filled.iterator(prefix=b'0', start=b'0')
    with pytest.raises(TypeError):
        filled.iterator(prefix=b'0', stop=b'0')


def test_an_iterator_sees_what_was_there_when_it_was_made(filled):
    iterator = filled.iterator(include_value=False)
    for key in KEYS:
        filled.delete(key)
    filled.put(b'zz', b'')
    filled.compact_range()
    assert list(iterator) == KEYS


def test_the_range_of_a_view_is_that_of_plain_keys(filled):
    view = filled.prefixed_db(b'1')
    assert list(view.iterator(start=b'2', include_start=False, stop=b'6', include_stop=True,
                              include_value=False)) == [b'4', b'6']
    iterator = view.iterator(include_value=False, reverse=True)
    iterator.seek(b'4')
    assert next(iterator) == b'2'
    iterator.seek_to_start()
    with pytest.raises(StopIteration):
        next(iterator)
    assert iterator.prev() == b'0'


def test_a_raw_iterator_is_the_engines(filled):
    iterator = filled.raw_iterator()
    assert not iterator.valid()
    for call in (iterator.key, iterator.value, iterator.item, iterator.next, iterator.prev):
        with pytest.raises(miodb.IteratorInvalidError):
            call()
    iterator.seek_to_first()
    assert iterator.item() == (b'00', b'v00')
    iterator.next()
    assert (iterator.key(), iterator.value()) == (b'02', b'v02')
    iterator.seek(b'03')
    assert iterator.key() == b'04'
    iterator.prev()
    assert iterator.key() == b'02'
    iterator.seek_to_last()
    assert iterator.key() == KEYS[-1]
    iterator.next()
    assert not iterator.valid()


def backwards(a, b):
    return (a < b) - (a > b)


@pytest.mark.parametrize('seed', range(5))
def test_ranges_follow_a_comparator_in_python(path, seed):
    rng = random.Random(seed)
    with miodb.DB(path, create_if_missing=True, comparator=backwards, comparator_name=b'backwards') as db:
        for key in KEYS:
            db.put(key, b'')
        assert list(db.iterator(include_value=False)) == KEYS[::-1]
        for _ in range(50):
            start, stop = (b'%02d' % rng.randrange(42) for _ in range(2))
            include = {'include_start': rng.random() < 0.5, 'include_stop': rng.random() < 0.5}
            expected = [key for key in KEYS[::-1] if stop < key < start
                        or (key == start != stop and include['include_start'])
                        or (key == stop != start and include['include_stop'])
                        or (key == stop == start and include['include_start'] and include['include_stop'])]
            expected = expected if stop <= start else []
            for reverse in (False, True):
                found = list(db.iterator(start=start, stop=stop, include_value=False, reverse=reverse, **include))
                assert found == (expected[::-1] if reverse else expected), (start, stop, include)
    with pytest.raises(miodb.InvalidArgumentError):
        miodb.DB(path)
