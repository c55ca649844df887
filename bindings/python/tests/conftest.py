"""What the tests share: databases in scratch folders."""

import pytest

import miodb


@pytest.fixture
def path(tmp_path):
    """Of a database that is not there yet."""
    return str(tmp_path / 'db')


@pytest.fixture
def db(path):
    """An empty database, small, closed at the end."""
    database = miodb.DB(path, create_if_missing=True, error_if_exists=True, write_buffer_size=256 << 10)
    yield database
    database.close()
