"""Options reach the engine, wrong ones are refused by name, and errors are of their kinds."""

import errno
import importlib.metadata
import inspect
import os
import pathlib
import pickle
import re
import subprocess
import sys

import pytest

import miodb


class Named(miodb.DB):
    """A database with a constructor of its own."""

    def __init__(self, folder, number):
        super().__init__(folder / str(number), create_if_missing=True)
        self.number = number


def test_a_database_can_be_a_base_class(tmp_path):
    with Named(tmp_path, 7) as db:
        db.put(b'k', b'v')
        assert (db.number, db.get(b'k'), db.prefixed_db(b'').db) == (7, b'v', db)
    assert db.closed


def test_options_of_the_pool_reach_the_database(tmp_path):
    pool = tmp_path / 'elsewhere'
    with miodb.DB(tmp_path / 'db', create_if_missing=True, pool_path=pool, pool_size=8 << 20, pool_growth=1 << 20,
                  persist_mode='file', file_access='group_reads', log_mode='pmem', num_levels=3, reuse_logs=True,
                  filter_bits_per_key=5, settle_after_idle_ms=20, ssd_path=os.fsencode(tmp_path / 'ssd'),
                  compression='zstd', use_direct_reads=False, max_open_files=None) as db:
        assert pool.exists() and (tmp_path / 'ssd').exists()
        assert db.get_property(b'miodb.persist-mode') == b'file'
        assert db.get_property(b'miodb.pool-bytes-capacity') == b'%d' % (8 << 20)
        assert db.name == tmp_path / 'db'
        assert str(tmp_path) in repr(db)
    miodb.destroy_db(tmp_path / 'db', pool_path=pool, ssd_path=tmp_path / 'ssd')
    assert not (tmp_path / 'db').exists() and not pool.exists()


def test_options_that_are_not_there_or_of_a_wrong_type_are_refused(path):
    for options, kind in (({'no_such_option': 1}, TypeError), ({'pool_size': 'large'}, TypeError),
                          ({'pool_size': -1}, miodb.InvalidArgumentError), ({'num_levels': 1 << 40}, miodb.InvalidArgumentError),
                          ({'num_levels': 3.5}, TypeError), ({'wal_dir': 7}, TypeError),
                          ({'persist_mode': 'paper'}, ValueError), ({'persist_mode': 1}, ValueError),
                          ({'log_mode': 'none'}, ValueError), ({'compression': 'lzma'}, ValueError),
                          ({'pool_path': 3}, TypeError), ({'pool_path': 'a\0b'}, ValueError),
                          ({'comparator': len}, ValueError), ({'lru_cache_size': '1'}, TypeError),
                          ({'comparator': len, 'comparator_name': b''}, ValueError)):
        for call in (miodb.DB, miodb.repair_db, miodb.destroy_db):
            with pytest.raises(kind):
                call(path, **options)
    for name in (3, None, 'a\0b'):
        with pytest.raises((TypeError, ValueError)):
            miodb.DB(name)
    assert not os.path.exists(path)


def test_an_option_out_of_range_is_named(path):
    with pytest.raises(miodb.InvalidArgumentError, match='Options::num_levels'):
        miodb.DB(path, create_if_missing=True, num_levels=1)


def test_errors_are_of_their_kinds(path):
    with pytest.raises(miodb.InvalidArgumentError):
        miodb.DB(path)
    with miodb.DB(path, create_if_missing=True) as db:
        for i in range(1000):
            db.put(b'%d' % i, b'v' * 1000)
        db.wait_for_idle()
    with pytest.raises(miodb.InvalidArgumentError):
        miodb.DB(path, error_if_exists=True)
    assert issubclass(miodb.IOError, OSError) and issubclass(miodb.IOError, miodb.Error)
    pool = max(pathlib.Path(path).iterdir(), key=lambda file: file.stat().st_size)
    pool.write_bytes(b'\xff' * pool.stat().st_size)
    with pytest.raises(miodb.CorruptionError):
        miodb.DB(path)


def source(*parts):
    """Text of a file of the sources."""
    return pathlib.Path(__file__).parents[3].joinpath(*parts).read_text()


def test_the_kinds_are_those_of_the_engine():
    kinds = set(re.findall('return "(.+: )" \\+', source('src', 'api', 'types', 'status.cc')))
    known = set(re.findall("b'(.+)', \\w+Error", source('bindings', 'python', 'src', 'miodb', 'errors.pxi')))
    # Transactions and merges, which the module does not offer, have these.
    assert known and kinds - known == {'Resource busy: ', 'Merge in progress: '} and known <= kinds


def test_an_error_of_the_system_has_its_number(path):
    pathlib.Path(path).write_text('')
    for name, number, kind in ((path + '.none/db', errno.ENOENT, FileNotFoundError), (path + '/db', errno.ENOTDIR, miodb.IOError)):
        with pytest.raises(kind) as raised:
            miodb.DB(name, create_if_missing=True)
        error = raised.value
        assert isinstance(error, miodb.IOError) and error.errno == number and name in str(error)
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again), again.errno) == (type(error), str(error), number)


def test_a_full_pool_has_the_number_of_a_full_device(path):
    with miodb.DB(path, create_if_missing=True, pool_size=4 << 20, write_buffer_size=256 << 10) as db:
        with pytest.raises(miodb.IOError) as raised:
            for i in range(1000):
                db.put(b'%d' % i, os.urandom(10_000))
        assert raised.value.errno == errno.ENOSPC


def test_repair_and_destroy(path):
    with miodb.DB(path, create_if_missing=True) as db:
        db.put(b'k', b'v')
        with pytest.raises(miodb.Error):
            miodb.destroy_db(path)
    miodb.repair_db(path)
    with miodb.DB(path) as db:
        assert db.get(b'k') == b'v'
    miodb.destroy_db(path)
    assert not os.path.exists(path)


def test_what_a_database_says_of_itself(db):
    for i in range(1000):
        db.put(b'%04d' % i, b'v' * 100)
    db.flush()
    db.wait_for_idle()
    db.compact_range(start=b'0', stop=b'5')
    stats = db.stats()
    assert stats and all(isinstance(value, int) for value in stats.values())
    assert db.get_property(b'none') is None
    assert db.approximate_size(b'0', b'9') > 50_000
    sizes = db.approximate_sizes((b'0', b'0500'), (b'0500', b'9'), (b'x', b'y'))
    assert sizes[0] > 0 and sizes[1] > 0 and sizes[2] == 0
    assert db.approximate_sizes() == []
    for wrong in ([b'a', b'b'], (b'a',), b'ab', (1, 2)):
        with pytest.raises(TypeError):
            db.approximate_sizes(wrong)


def stub():
    return pathlib.Path(miodb.__file__).with_name('__init__.pyi').read_text()


def test_the_stubs_name_what_there_is():
    classes = {match[1]: match for match in re.finditer(r'^class (\w+)(?:\(([^)]*)\))?:(.*?)(?=^\S|\Z)', stub(), re.M | re.S)}

    def members(name):
        match = classes.get(name)
        if match is None:
            return set()
        bases = [base.strip() for base in (match[2] or '').split(',')]
        return set(re.findall(r'def (\w+)\(', match[3])).union(*map(members, bases))

    assert pathlib.Path(miodb.__file__).with_name('py.typed').exists()
    for name in miodb.__all__:
        kind = getattr(miodb, name)
        if not inspect.isclass(kind):
            assert f'def {name}(' in stub()
        elif not issubclass(kind, Exception):
            there = {member for member in dir(kind) if not member.startswith('__')}
            assert there and there == {member for member in members(name) if not member.startswith('__')}, name


def test_the_stubs_the_engine_and_the_module_have_the_same_options(path):
    rows = re.findall(r'^\| `(\w+)` \| `?(.*?)`? \| (.*?) \|', source('docs', 'options.md'), re.M)
    body = stub().split('class _Options')[1].split('class _AnyOptions')[0]
    of_stub = set(re.findall(r'^    (\w+): ', body, re.M)) | {'create_if_missing', 'error_if_exists'}
    assert len(rows) > 50 and of_stub == {name for name, _, _ in rows}
    values = {'false': False, 'true': True}
    given = {name: values.get(text, int(text) if re.fullmatch('-?[0-9]+', text) else text) for name, text, _ in rows}
    miodb.DB(path, **dict(given, create_if_missing=True)).close()
    miodb.DB(path, **dict.fromkeys(given)).close()


def test_the_licences_of_all_that_it_carries_are_there():
    files = importlib.metadata.files('miodb')
    there = {file.parts[2]: file.read_text() for file in files if 'licenses' in file.parts}
    assert 'MioDB authors' in there['LICENSE'] and 'Yann Collet' in there['xxHash']
    carried = {re.sub(r'-[0-9a-f]+\.so.*', '', file.name) for file in files if file.parts[0] == 'miodb.libs'}
    assert carried <= set(there) and all(there.values())


def test_the_module_shows_nothing_of_the_engine_to_other_libraries():
    module = sys.modules['miodb._miodb'].__file__
    names = subprocess.run(['nm', '-D', '--defined-only', module], capture_output=True, text=True, check=True).stdout
    assert [line.split()[-1] for line in names.splitlines()] == ['PyInit__miodb']
