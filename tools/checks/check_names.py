#!/usr/bin/env python3
"""Checks that the documents and the comments name only what is in the tree: files, constants, members of classes.

  tools/checks/check_names.py               check this tree
  tools/checks/check_names.py --self-test   prove on small made-up trees that each kind of name is looked for

The check reads the `code spans` of docs/*.md, README.md and CONTRIBUTING.md, outside of fenced blocks, and the comments of
C++, C, Python and shell files. A path of a file has to end a path of the tree. A constant (kName) has to stand in code. A
member (Class::Member, Class::Member()) has to be declared in the class, or in a class that this class derives from; a
struct, an enum and a namespace count as classes. Names of other projects (std::, leveldb::, rocksdb::) and placeholders in
capitals (NAME.sh) are left out. Decisions and logs tell what was, so the check does not read them. The check fails as well
if it looked at nothing.
"""

import os
import re
import sys
import tempfile

from check_house import ANNOTATION, closing, strip, without_arguments
from tree import tree_files

SELF = 'tools/checks/check_names.py'
SOURCES = ('.cc', '.h', '.c', '.py', '.sh', '.cmake', '.txt')
CODE = ('.cc', '.h', '.c')
SPAN = re.compile(r'`([^`\n]+)`')
FILE = re.compile(r'(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_-]+\.(?:cc|h|py|sh|cmake|md)$')
CONSTANT = re.compile(r'k[A-Z][A-Za-z0-9]+$')
MEMBER = re.compile(r'((?:\w+::)*[A-Z]\w+)::(~?\w+)(?:\(\))?$')
IN_COMMENT = re.compile(r'(?<![\w:/.<*~%{}-])((?:\w+::)+~?\w+|k[A-Z][A-Za-z0-9]+|'
                        r'(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_-]+\.(?:cc|h|py|sh|cmake|md))'
                        r'(?![\w/*<{-]|::|\.\w)')
# Namespaces and headers of other projects and of the system, and placeholders.
FOREIGN = re.compile(r'(std|leveldb|rocksdb|testing|benchmark)::|(leveldb|rocksdb|sys|linux)/|'
                     r'(libpmem|numa|numaif|xxhash|histedit)\.h$|(.*/)?[A-Z_]+\.\w+$')
WORD = re.compile(r'\w+')
CLASS = re.compile(r'\b(class|struct|union|enum|enum\s+class|enum\s+struct|namespace)\s+'
                   r'(?:[A-Z_]+(?:\([^)]*\))?\s+|\[\[[^]]*\]\]\s+|alignas\([^)]*\)\s+|__attribute__\(\([^)]*\)+\s+)*'
                   r'([\w:]+)\s*(?:<[^{;]*?>\s*)?(?:final\s*)?(:(?!:)[^;{()]*)?\{')


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
        return file.read()


def spans(text):
    """(line, code span) of a document, fenced blocks left out."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith('```'):
            fenced = not fenced
        elif not fenced:
            for match in SPAN.finditer(line):
                yield number, match.group(1)


def comment_names(path, text):
    """(line, name) of the paths, the constants and the names with `::` in the comments of a file."""
    if path.endswith(CODE):
        text, comments = strip(text, keep_comments=True), r'//[^\n]*|/\*.*?\*/'
    else:
        comments = r'^[ \t]*#[^\n]*'
    for comment in re.finditer(comments, text, re.S | re.M):
        for match in IN_COMMENT.finditer(comment.group(0)):
            yield text.count('\n', 0, comment.start() + match.start()) + 1, match.group(1)


def declared(body):
    """The names that the body of a class, an enum or a namespace declares at its own depth."""
    flat, i = [], 0
    while i < len(body):
        if body[i] == '{':
            i = closing(body, i)
            flat.append('{};')
        else:
            flat.append(body[i])
            i += 1
    plain = without_arguments(ANNOTATION.sub(' ', ''.join(flat)))
    previous = None
    while previous != plain:
        previous, plain = plain, re.sub(r'\([^()]+\)', '()', plain)
    names = set(re.findall(r'(\w+)\s*(?:\(|;|=|\{|\[|,|:(?!:)|$)', re.sub(r'=[^;,]*', '=', plain)))
    return names.union(re.findall(r'\b(?:class|struct|union|enum|enum class|using)\s+(\w+)', plain))


class Classes:
    """The classes, enums and namespaces of the tree, by their last name: what each declares, and its bases."""

    def __init__(self):
        self.names, self.bases = {}, {}

    def read(self, text):
        plain = strip(text)
        for match in CLASS.finditer(plain):
            name = match.group(2).split('::')[-1]
            body = plain[match.end():closing(plain, match.end() - 1) - 1]
            self.names.setdefault(name, set()).update(declared(body))
            if not match.group(1).startswith('enum'):
                bases = re.sub(r'\b(public|private|protected|virtual)\b', ' ', match.group(3) or '')
                self.bases.setdefault(name, set()).update(b.split('::')[-1] for b in re.findall(r'[\w:]+', bases))
        for alias, name in re.findall(r'\busing\s+(\w+)\s*=\s*([\w:]+)', plain):
            self.bases.setdefault(alias, set()).add(name.split('::')[-1])
            self.names.setdefault(alias, set())

    def has(self, name, member, seen=()):
        if member in self.names.get(name, ()) or member == name and name in self.names:
            return True
        return any(self.has(base, member, (*seen, name)) for base in self.bases.get(name, ()) if base not in seen)


def is_document(path):
    return path in ('README.md', 'CONTRIBUTING.md') or re.match(r'docs/[^/]+\.md$', path) is not None


def check(root):
    """Returns (problems, number of names looked for)."""
    paths = tree_files(root)
    endings = {path[at:] for path in paths for at in [0] + [i + 1 for i, c in enumerate(path) if c == '/']}
    texts = {path: read(root, path) for path in paths if path.endswith(SOURCES)}
    everywhere = set(WORD.findall('\n'.join(strip(t) if p.endswith(CODE) else t for p, t in texts.items())))
    classes = Classes()
    for path, text in texts.items():
        if path.endswith(CODE):
            classes.read(text)
    problems, looked = [], 0

    def look(path, number, name):
        nonlocal looked
        member = MEMBER.match(name)
        if FOREIGN.match(name):
            return
        if FILE.match(name):
            found = name in endings
        elif CONSTANT.match(name):
            found = name in everywhere
        elif member:
            found = classes.has(member.group(1).split('::')[-1], member.group(2).lstrip('~'))
        else:
            return
        looked += 1
        if not found:
            problems.append('%s:%d: `%s` is not in the tree' % (path, number, name))

    for path in filter(is_document, paths):
        for number, span in spans(read(root, path)):
            look(path, number, span)
    for path, text in texts.items():
        if path != SELF:
            for number, name in comment_names(path, text):
                look(path, number, name)
    if looked == 0:
        problems.append('nothing was looked at: no names found in %s' % root)
    return problems, looked


def self_test():
    good = {
        'src/db/part.h': '// Part: see part.cc, Base::Walk, Part::Kind::kOdd, std::Gone and kLeast; not foo*.h.\n'
                         'class Base { void Walk(Other::Seen seen); };\n'
                         'class Part final : public Base {\n  enum class Kind { kOdd, kEven };\n  void Run(int stop) {\n'
                         '    Inner();\n  }\n  int left_ GUARDED_BY(mutex_) = Least();\n};\n'
                         'constexpr int kLeast = 1;  // "kText" of leveldb/gone.h\n',
        'src/db/part.cc': 'namespace Deep { void Dive(); }\nchar kText[] = "Part::Stop gone.h";\n',
        'test_sh/run.sh': '# Runs src/db/part.cc by NAME.sh.\necho gone.sh\n',
        'include/miodb/db.h': 'class DB {};\n',
        'docs/a.md': 'See `src/db/part.h`, `part.h`, `miodb/db.h`, `Part::Run`, `Part::Run()`, `Part::left_`, '
                     '`Part::Walk`, `kLeast`, `Deep::Dive`, `Kind::kEven`, `other words`.\n```\n`kInAFence`\n```\n',
        'docs/decisions/1.md': '`kGone` and `src/gone.cc`\n',
    }
    cases = [('docs/b.md', text, expected) for text, expected in [
        ('', 0), ('`src/part.h`', 1), ('`gone.cc`', 1), ('`kGone`', 1), ('`Part::Gone`', 1), ('`DB::Run`', 1),
        ('`Gone::Run`', 1), ('`Base::Run`', 1), ('`kLeast` `kGone`\n`gone.h`', 2)]]
    # Words that stand in the class or in its file, and are no member: a call in a body, a parameter, a value, a string.
    cases += [('docs/b.md', '`%s`' % name, 1) for name in (
        'Part::Inner', 'Part::stop', 'Part::Least', 'Part::Stop', 'Base::Seen', 'Part::GUARDED_BY', 'Part::kLeast')]
    cases += [('src/b.h', '// In gone/part.h.\n', 1), ('src/b.cc', 'int a;  // Of Part::Gone.\n', 1),
              ('src/b.h', '/* See\n   Part::Gone() */\n', 1), ('src/b.h', '// kGone.\n', 1), ('a.py', '# See gone.py.\n', 1),
              ('src/b.cc', '// Part::Run, part.h, miodb/db.h.\n', 0)]
    failures = 0
    for path, text, expected in cases + [(None, '', 1)]:
        with tempfile.TemporaryDirectory() as root:
            files = {**good, path: text + '\n'} if path else {}
            for name, content in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), 'w', encoding='utf-8') as file:
                    file.write(content)
            problems, _ = check(root)
        if len(problems) != expected or not all(p.startswith(path or 'nothing was looked at') for p in problems):
            failures += 1
            print('self-test: expected %s problems for %r, got %r' % (expected, text, problems))
    print('self-test: %d of %d cases right' % (len(cases) + 1 - failures, len(cases) + 1))
    return 1 if failures else 0


def main(arguments):
    if arguments == ['--self-test']:
        return self_test()
    if arguments:
        sys.stderr.write(__doc__)
        return 2
    problems, looked = check(os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')))
    for problem in problems:
        print(problem)
    print('%d names looked for, %d problems' % (looked, len(problems)))
    return 1 if problems else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
