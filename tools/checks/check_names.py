#!/usr/bin/env python3
"""Checks that what the documents name is there: files, constants, members of classes.

  tools/checks/check_names.py               check this tree
  tools/checks/check_names.py --self-test   prove on small made-up trees that each kind of name is looked for

Looks at `code spans` of docs/*.md, README.md and CONTRIBUTING.md, outside of fenced blocks. A file's path has to end a
path of the tree; a constant (kName) and a member (Class::Member, Class::Member())
have to be in a source file, the member in one that has the class too. Decisions and logs tell what was, and are not
looked at. Fails as well when it looked at nothing.
"""

import os
import re
import sys
import tempfile

from tree import tree_files

SOURCES = ('.cc', '.h', '.c', '.py', '.sh', '.cmake', '.txt')
SPAN = re.compile(r'`([^`\n]+)`')
FILE = re.compile(r'(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_-]+\.(?:cc|h|py|sh|cmake)$')
CONSTANT = re.compile(r'k[A-Z][A-Za-z0-9]+$')
MEMBER = re.compile(r'([A-Z]\w+)::(~?\w+)(?:\(\))?$')
WORD = re.compile(r'\w+')


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


def is_document(path):
    return path in ('README.md', 'CONTRIBUTING.md') or re.match(r'docs/[^/]+\.md$', path) is not None


def check(root):
    """Returns (problems, number of names looked for)."""
    paths = tree_files(root)
    words = [set(WORD.findall(read(root, path))) for path in paths if path.endswith(SOURCES)]
    everywhere = set().union(*words) if words else set()
    problems, looked = [], 0
    for path in filter(is_document, paths):
        for number, span in spans(read(root, path)):
            member = MEMBER.match(span)
            if FILE.match(span):
                found = any(path == span or path.endswith('/' + span) for path in paths)
            elif CONSTANT.match(span):
                found = span in everywhere
            elif member:
                found = any(member.group(1) in here and member.group(2).lstrip('~') in here for here in words)
            else:
                continue
            looked += 1
            if not found:
                problems.append('%s:%d: `%s` is not in the tree' % (path, number, span))
    if looked == 0:
        problems.append('nothing was looked at: no names found in %s' % root)
    return problems, looked


def self_test():
    good = {
        'src/db/part.h': 'class Part { void Run(); };\nconstexpr int kLeast = 1;\n',
        'include/miodb/db.h': 'class DB {};\n',
        'docs/a.md': 'See `src/db/part.h`, `part.h`, `miodb/db.h`, `Part::Run`, `Part::Run()`, `kLeast`, `other words`.\n'
                     '```\n`kInAFence`\n```\n',
        'docs/decisions/1.md': '`kGone` and `src/gone.cc`\n',
    }
    cases = [(None, None), ('`src/part.h`', 1), ('`gone.cc`', 1), ('`kGone`', 1), ('`Part::Gone`', 1), ('`DB::Run`', 1),
             ('`kLeast` `kGone`\n`gone.h`', 2)]
    failures = 0
    for text, expected in cases:
        with tempfile.TemporaryDirectory() as root:
            files = dict(good)
            if text:
                files['docs/b.md'] = text + '\n'
            for name, content in files.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), 'w', encoding='utf-8') as file:
                    file.write(content)
            problems, _ = check(root)
        if len(problems) != (expected or 0) or not all(p.startswith('docs/b.md:') for p in problems):
            failures += 1
            print('self-test: expected %s problems for %r, got %r' % (expected or 0, text, problems))
    with tempfile.TemporaryDirectory() as root:
        problems, _ = check(root)
        if len(problems) != 1 or 'nothing was looked at' not in problems[0]:
            failures += 1
            print('self-test: an empty tree passed: %r' % problems)
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
