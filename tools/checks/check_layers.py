#!/usr/bin/env python3
"""Checks that every include points down the table of layers in layers.txt.

  tools/checks/check_layers.py               check this tree
  tools/checks/check_layers.py --self-test   prove on small made-up trees that each rule is kept

Fails on an include that points up or sideways, on one that it cannot find, on a file in no layer, on a public header
that needs anything but the standard library and its neighbours, on a system header behind its door, when it judged
nothing, and when the floors that docs/architecture.md draws, or the rooms that it lists, are not those of the table.
Fails on a folder with more than MOST_FILES source files, and on a folder inside of one with rooms that is none of them.
"""

import os
import re
import sys
import tempfile

from tree import tree_files

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

# What a public header may take from the standard library: it has to compile as C++11.
STANDARD_HEADERS = set(
    """algorithm array atomic bitset cassert cctype cerrno cfloat chrono cinttypes climits clocale cmath condition_variable
    csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cwchar deque exception forward_list functional future
    initializer_list iomanip ios iosfwd iostream istream iterator limits list locale map memory mutex new numeric ostream
    queue random ratio regex set sstream stack stdexcept streambuf string system_error thread tuple type_traits typeindex
    typeinfo unordered_map unordered_set utility valarray vector
    stdarg.h stddef.h stdint.h stdio.h""".split())


SOURCES = ('.cc', '.h', '.c', '.def')
MOST_FILES = 25  # in one folder, which a reader can look over


class Table:
    """layers.txt, parsed."""

    def __init__(self, text):
        self.rank = {}  # folder of a layer -> its height
        self.public = None
        self.compat = None
        self.programs = []
        self.shared = []  # what programs may include of each other
        self.lent = []  # headers of layers that programs may include
        self.free = []
        self.doors = {}  # system header -> folders
        self.rooms = {}  # folder -> its rooms, the lowest first; '.' is the folder without those
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split('#')[0].split()
            if not words:
                continue
            word, folders = words[0], words[1:]
            if not folders:
                raise ValueError('layers.txt:%d: no folder' % number)
            if word == 'layer':
                for folder in folders:
                    self.rank[folder] = number
            elif word == 'public':
                (self.public,) = folders
            elif word == 'compat':
                (self.compat,) = folders
            elif word == 'program':
                self.programs += folders
            elif word == 'shared':
                self.shared += folders
            elif word == 'lent':
                self.lent += folders
            elif word == 'free':
                self.free += folders
            elif word == 'rooms':
                self.rooms[folders[0]] = folders[1:] if '.' in folders else folders[1:] + ['.']
            elif word == 'door':
                self.doors[folders[0]] = folders[1:]
            else:
                raise ValueError('layers.txt:%d: unknown word %s' % (number, word))

    def folder_of(self, path):
        """The folder of the table that holds this file, or None. The deepest one wins."""
        public = [self.public] + [self.compat] * bool(self.compat)
        folders = list(self.rank) + public + self.programs + self.shared + self.free
        holders = [folder for folder in folders if path.startswith(folder + '/')]
        return max(holders, key=len) if holders else None

    def room_of(self, path):
        """(folder with rooms, place of the room in the order, its name) of the room that holds this file, or None."""
        parents = [folder for folder in self.rooms if path.startswith(folder + '/')]
        if not parents:
            return None
        parent = max(parents, key=len)
        folder = os.path.dirname(path)
        room = '.' if folder == parent else os.path.relpath(folder, parent).split('/')[0]
        rooms = self.rooms[parent]
        return parent, rooms.index(room) if room in rooms else None, room

    def objection_to_room(self, source, target):
        """Why the file `source` may not include the file `target` of the same folder, by its rooms, or None."""
        ours, theirs = self.room_of(source), self.room_of(target)
        if ours is None or theirs is None or ours[0] != theirs[0] or None in (ours[1], theirs[1]):
            return None
        return 'room %s lies above room %s' % (theirs[2], ours[2]) if theirs[1] > ours[1] else None

    def objection(self, source, target):
        """Why a file of folder `source` may not include one of folder `target`, or None."""
        if source in self.free or source == target:
            return None
        if source == self.public:
            return 'a public header includes only public headers'
        if target in (self.public, self.compat):
            return None
        if source == self.compat:
            return 'a header of LevelDB includes only %s and %s' % (self.compat, self.public)
        if source in self.programs and target in self.shared:
            return None
        if source in self.programs and source not in self.rank:
            return 'a program includes only %s' % self.public
        if source in self.shared:
            return 'what programs share includes only %s' % self.public
        if target not in self.rank:
            return 'a layer does not include %s' % target
        if self.rank[target] == self.rank[source]:
            return '%s and %s lie side by side' % (source, target)
        if self.rank[target] > self.rank[source]:
            return '%s lies above %s' % (target, source)
        return None


def resolve(root, table, path, name):
    """The file of the tree that `path` means by the include `name`, relative to root, or None."""
    for base in [os.path.dirname(path), '', os.path.dirname(table.public)] + [table.compat] * bool(table.compat):
        candidate = os.path.normpath(os.path.join(base, name))
        if not candidate.startswith('..') and os.path.isfile(os.path.join(root, candidate)):
            return candidate
    return None


def check(root, table):
    """Returns (problems, number of includes judged)."""
    problems = []
    judged = 0
    for path in tree_files(root, ('.cc', '.h')):
        source = table.folder_of(path)
        if source is None:
            problems.append('%s: lies in no layer' % path)
            continue
        room = table.room_of(path)
        if room is not None and room[1] is None:
            problems.append('%s: %s is no room of %s' % (path, room[2], room[0]))
        with open(os.path.join(root, path), encoding='utf-8') as file:
            lines = file.readlines()
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quoted, name = match.group(1) == '"', match.group(2)
            place = '%s:%d: includes %s: ' % (path, number, name)
            target = resolve(root, table, path, name)
            judged += 1
            if target is None:
                if quoted and source not in table.free:
                    problems.append(place + 'no such file in the tree')
                elif source in (table.public, table.compat) and name not in STANDARD_HEADERS:
                    problems.append(place + 'not a header of C++11')
                elif name in table.doors and source not in table.doors[name] + table.free:
                    problems.append(place + 'only %s may' % ' '.join(table.doors[name]))
                continue
            folder = table.folder_of(target)
            reason = table.objection(source, folder) if folder else 'it lies in no layer'
            reason = reason or table.objection_to_room(path, target)
            if target in table.lent and source in table.programs:
                reason = None
            if reason:
                problems.append(place + reason)
    problems += crowded(root, table)
    if judged == 0:
        problems.append('nothing was judged: no includes found in %s' % root)
    return problems, judged


def crowded(root, table):
    """The folders with too many source files. Public headers lie where programs include them, however many they are."""
    count = {}
    for path in tree_files(root, SOURCES):
        folder = os.path.dirname(path)
        count[folder] = count.get(folder, 0) + 1
    return ['%s: has %d source files, more than %d: divide it into rooms' % (folder, number, MOST_FILES)
            for folder, number in sorted(count.items())
            if number > MOST_FILES and folder != table.public]


def check_rooms(text, table):
    """The problems of the tables of rooms in this text: a row `FOLDER/ROOM` for each, in the order of layers.txt."""
    told = {}
    for folder, room in re.findall(r'^\| `([\w/]+)/(\w+)` \|', text, re.M):
        told.setdefault(folder, []).append(room)
    rooms = {folder: [room for room in table.rooms[folder] if room != '.'] for folder in table.rooms}
    return ['docs/architecture.md: tells the rooms %s of %s, layers.txt has %s'
            % (' '.join(told.get(folder, [])), folder, ' '.join(rooms[folder]))
            for folder in rooms if told.get(folder) != rooms[folder]]


def test_rooms():
    """The number of cases in which check_rooms is wrong."""
    table = Table('rooms src/db context write .\n')
    good = '| `src/db/context` | options |\n| `src/db/write` | the put |\n'
    bad = ['', good.replace('context', 'contexts'), '\n'.join(reversed(good.splitlines())), good.splitlines()[0]]
    return bool(check_rooms(good, table)) + sum(len(check_rooms(text, table)) != 1 for text in bad)


def floors_of(table):
    """The folders of each layer, the lowest first."""
    return [sorted(f for f in table.rank if table.rank[f] == rank) for rank in sorted(set(table.rank.values()))]


def check_picture(text, table):
    """What is wrong with the floors in this text: a line each, its number in front, the highest first."""
    drawn = []
    for line in text.splitlines():
        match = re.match(r' {0,2}(\d+)  +(\S.*)', line)
        if match:
            folders = [word for word in match.group(2).split('   ')[0].split() if word in table.rank]
            drawn.insert(0, (int(match.group(1)), sorted(folders)))
    if drawn == list(enumerate(floors_of(table))):
        return []
    return ['docs/architecture.md: the floors are not those of layers.txt, which has, from below: %s'
            % ', '.join(' '.join(floor) for floor in floors_of(table))]


def test_picture(table):
    """The number of cases in which check_picture is wrong."""
    good = ' 4  tools/inspect  x\n 3  src/db         y\n 2  src/log  src/memtable\n 1  src/nvm\n 0  src/util\n'
    bad = [good.replace('src/nvm', 'src/no'), good.replace(' 3  src/db         y\n', ''), '',
           good.replace('3 ', '1 ').replace('1  src/nvm', '3  src/nvm')]
    return bool(check_picture(good, table)) + sum(not check_picture(text, table) for text in bad)


def self_test():
    """Plants each violation in a tree of its own and expects exactly that complaint."""
    table = Table('layer src/util\nlayer src/nvm\nlayer src/log src/memtable  # side by side\nlayer src/db\n'
                  'layer tools/inspect\npublic include/miodb\ncompat include/compat\nshared benchmarks/common\n'
                  'program benchmarks tools tools/inspect\nlent src/util/hash.h\n'
                  'rooms src/db state write\nrooms tools/miodb draw . figures\n'
                  'free tests\ndoor libpmem.h src/nvm\n')
    good = {
        'include/miodb/db.h': '#include <string>\n#include "miodb/status.h"\n',
        'include/miodb/status.h': '#include <cstdint>\n',
        'include/compat/leveldb/db.h': '#include <string>\n#include "leveldb/status.h"\n#include "miodb/db.h"\n',
        'include/compat/leveldb/status.h': '#include "miodb/status.h"\n',
        'src/util/coding.h': '#include "miodb/status.h"\n',
        'src/util/hash.h': '\n',
        'src/nvm/pool.cc': '#include <libpmem.h>\n#include "src/util/coding.h"\n',
        'src/db/db_impl.cc': '#include "src/nvm/../util/coding.h"\n#include "miodb/db.h"\n#include <vector>\n',
        'tests/a_test.cc': '#include "src/util/coding.h"\n#include <libpmem.h>\n#include "gtest/gtest.h"\n',
        'tools/dump.cc': '#include "miodb/db.h"\n#include "benchmarks/common/engine.h"\n',
        'tools/inspect/check.cc': '#include "benchmarks/common/engine.h"\n#include "src/db/db_impl.h"\n',
        'benchmarks/common/engine.h': '#include "miodb/db.h"\n',
        'benchmarks/driver.h': '#include "benchmarks/common/engine.h"\n#include "src/util/hash.h"\n',
        'src/log/frame.h': '\n',
        'src/memtable/list.h': '\n',
        'src/db/db_impl.h': '#include "src/db/write/put.h"\n',
        'src/db/write/put.h': '#include "src/db/state/tree.h"\n',
        'src/db/state/tree.h': '#include "src/db/state/more.h"\n',
        'src/db/state/more.h': '\n',
        'tools/miodb/draw/draw.h': '\n',
        'tools/miodb/verb.h': '\n',
        'tools/miodb/figures/figure.h': '#include "tools/miodb/draw/draw.h"\n#include "tools/miodb/verb.h"\n',
    }
    good.update({'tests/file_%d.cc' % i: '\n' for i in range(MOST_FILES - 1)})
    good.update({'include/miodb/file_%d.h' % i: '\n' for i in range(MOST_FILES)})
    cases = [
        (None, None, None),
        ('src/util/bad.cc', '#include "src/db/db_impl.h"\n', 'lies above'),
        ('src/util/bad.cc', '  #  include "../db/db_impl.h"\n', 'lies above'),
        ('src/util/bad.cc', '#include <src/db/db_impl.h>\n', 'lies above'),
        ('src/log/bad.cc', '#include "src/memtable/list.h"\n', 'side by side'),
        ('tools/bad.cc', '#include "src/util/coding.h"\n', 'a program includes only'),
        ('tools/inspect/bad.cc', '#include "benchmarks/driver.h"\n', 'a layer does not include'),
        ('benchmarks/engines/bad.cc', '#include "tools/dump.cc"\n', 'a program includes only'),
        ('tools/bad.cc', '#include "benchmarks/driver.h"\n', 'a program includes only'),
        ('benchmarks/common/bad.h', '#include "benchmarks/driver.h"\n', 'what programs share'),
        ('benchmarks/common/bad.h', '#include "src/util/coding.h"\n', 'what programs share'),
        ('benchmarks/common/bad.h', '#include "src/util/hash.h"\n', 'what programs share'),
        ('src/util/bad.h', '#include "benchmarks/common/engine.h"\n', 'a layer does not include'),
        ('include/miodb/bad.h', '#include "src/util/coding.h"\n', 'a public header includes only'),
        ('include/miodb/bad.h', '#include <span>\n', 'not a header of C++11'),
        ('include/miodb/bad.h', '#include <sys/mman.h>\n', 'not a header of C++11'),
        ('include/miodb/bad.h', '#include "leveldb/db.h"\n', 'a public header includes only'),
        ('include/compat/leveldb/bad.h', '#include "src/util/coding.h"\n', 'a header of LevelDB includes only'),
        ('include/compat/leveldb/bad.h', '#include <span>\n', 'not a header of C++11'),
        ('src/util/bad.h', '#include "tests/a_test.cc"\n', 'a layer does not include'),
        ('src/util/bad.h', '#include "util/nothing.h"\n', 'no such file'),
        ('src/util/bad.h', '#include <libpmem.h>\n', 'only src/nvm may'),
        ('src/db/state/bad.h', '#include "src/db/write/put.h"\n', 'room write lies above room state'),
        ('src/db/write/bad.h', '#include "src/db/db_impl.h"\n', 'room . lies above room write'),
        ('tools/miodb/bad.h', '#include "tools/miodb/figures/figure.h"\n', 'room figures lies above room .'),
        ('src/db/misc/bad.h', '\n', 'misc is no room of src/db'),
        ('tests/bad.c', '\n', 'has %d source files' % (MOST_FILES + 1)),
        ('src/misc/bad.h', '\n', 'lies in no layer'),
        ('src/bad.cc', '\n', 'lies in no layer'),
    ]
    failures = 0
    for path, text, expected in cases:
        with tempfile.TemporaryDirectory() as root:
            files = dict(good)
            if path:
                files[path] = text
            for name, content in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), 'w', encoding='utf-8') as file:
                    file.write(content)
            problems, _ = check(root, table)
        if expected is None:
            right = not problems
        else:
            places = (path, os.path.dirname(path) + ':')
            right = len(problems) == 1 and expected in problems[0] and problems[0].startswith(places)
        if not right:
            failures += 1
            print('self-test: expected %r for %r in %s, got %r' % (expected, text, path, problems))
    with tempfile.TemporaryDirectory() as root:
        problems, _ = check(root, table)
        if len(problems) != 1 or 'nothing was judged' not in problems[0]:
            failures += 1
            print('self-test: an empty tree passed: %r' % problems)
    if test_picture(table) or test_rooms():
        failures += 1
        print('self-test: the floors of a picture, or a list of rooms, are judged wrongly')
    print('self-test: %d of %d cases right' % (len(cases) + 2 - failures, len(cases) + 2))
    return 1 if failures else 0


def main(arguments):
    here = os.path.dirname(os.path.abspath(__file__))
    if arguments == ['--self-test']:
        return self_test()
    if arguments:
        sys.stderr.write(__doc__)
        return 2
    with open(os.path.join(here, 'layers.txt'), encoding='utf-8') as file:
        table = Table(file.read())
    root = os.path.dirname(os.path.dirname(here))
    problems, judged = check(root, table)
    with open(os.path.join(root, 'docs', 'architecture.md'), encoding='utf-8') as file:
        text = file.read()
    problems += check_picture(text, table) + check_rooms(text, table)
    for problem in problems:
        print(problem)
    print('%d includes judged, %d problems' % (judged, len(problems)))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
