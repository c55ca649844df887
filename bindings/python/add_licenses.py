#!/usr/bin/env python3
"""Adds to a wheel the licences of the libraries that auditwheel has copied into it, as Debian's packages have them.

    bindings/python/add_licenses.py WHEEL

The file copyright of the package of libX lies in licenses/libX of the wheel's dist-info folder then, and the licences that such
files only refer to in licenses/common-licenses. The wheel is written anew. Exit status: 0 each library has its licence, 1 a
library is of no package, or its package has no such file.
"""

import base64
import hashlib
import pathlib
import re
import subprocess
import sys
import zipfile

DOCUMENTS = pathlib.Path('/usr/share/doc')
COMMON = pathlib.Path('/usr/share/common-licenses')


def copyright_of(library):
    """The file copyright of the package that a library such as libpmem.so.1.0.0 is from."""
    found = subprocess.run(['dpkg-query', '--search', f'*/{library}'], capture_output=True, text=True)
    for line in found.stdout.splitlines():
        text = DOCUMENTS / line.split(':')[0] / 'copyright'
        if text.exists():
            return text.read_bytes()
    sys.exit(f'add_licenses.py: no package here has {library} and a copyright file; its licence cannot be added')


def licenses(names):
    """What is to be added for the libraries of a wheel: texts by their paths in the folder of licences."""
    texts = {}
    for name in names:
        # auditwheel puts a hash behind the name: libpmem-6b94cf5a.so.1.0.0.
        library = re.sub(r'-[0-9a-f]{8}(?=\.so)', '', name)
        texts[library.split('.so')[0] + '/copyright'] = copyright_of(library)
    for text in list(texts.values()):
        for common in re.findall(rb'/usr/share/common-licenses/([\w.-]*\w)', text):
            texts['common-licenses/' + common.decode()] = (COMMON / common.decode()).read_bytes()
    return texts


def record(path, content):
    """The line of RECORD for a file."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
    return f'{path},sha256={digest},{len(content)}\n'


def main(wheel):
    with zipfile.ZipFile(wheel) as old:
        entries = [(entry, old.read(entry)) for entry in old.infolist()]
    names = [entry.filename for entry, _ in entries]
    register = next(name for name in names if name.endswith('.dist-info/RECORD'))
    folder = register.rsplit('/', 1)[0] + '/licenses/'
    texts = {folder + path: text for path, text in
             licenses(name.rsplit('/', 1)[1] for name in names if re.match(r'[^/]+\.libs/.+', name)).items()}
    with zipfile.ZipFile(wheel, 'w', zipfile.ZIP_DEFLATED) as new:
        for path, text in sorted(texts.items()):
            new.writestr(path, text)
        for entry, content in entries:
            if entry.filename == register:
                content = ''.join(record(path, text) for path, text in sorted(texts.items())).encode() + content
            new.writestr(entry, content)
    print(f'{len(texts)} licences of libraries added')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
