"""The stubs tell a type checker what calls give."""

import subprocess
import sys
import textwrap

PROGRAM = '''
    from typing import Any

    from typing_extensions import assert_type

    import miodb

    def use(db: miodb.DB, flag: bool) -> None:
        assert_type(next(db.iterator()), tuple[bytes, bytes])
        assert_type(next(db.iterator(include_value=False, prefix=b'p', reverse=True)), bytes)
        assert_type(db.snapshot().iterator(include_key=False).prev(), bytes)
        assert_type(db.prefixed_db(b'p').iterator(include_key=False, include_value=False), miodb.Iterator[None])
        assert_type(db.iterator(include_value=flag), miodb.Iterator[Any])
        for key, value in db:
            assert_type(key, bytes)
        assert_type(b'k' in db, bool)
        try:
            db.flush()
        except miodb.NotFoundError as error:
            assert_type(error.errno, int | None)
'''


def test_mypy_knows_what_calls_give(tmp_path):
    program = textwrap.dedent(PROGRAM)
    for text, result in ((program, 0), (program.replace('tuple[bytes, bytes]', 'bytes'), 1)):
        (tmp_path / 'program.py').write_text(text)
        done = subprocess.run([sys.executable, '-m', 'mypy', '--strict', '--cache-dir', tmp_path / 'cache', 'program.py'],
                              cwd=tmp_path, capture_output=True, text=True, timeout=600)
        assert done.returncode == result, done.stdout + done.stderr
