#!/usr/bin/env python3
"""Checks that docs/messages.md lists the errors that users meet, all of them and no others.

  tools/checks/check_messages.py               check this tree
  tools/checks/check_messages.py --print       the messages of the sources that the document lacks, by kind
  tools/checks/check_messages.py --self-test   prove on small made-up trees that each kind of disagreement is found

A message is what a source makes a Status of, in the library and in miodb, what miodb makes an error of by Fail, and what a
script of test_sh/ ends with by die. In the document it stands in a code span of a list below the heading that names its kind, with "..." for what the program puts in
or for words that are left out. A Status made of variables alone takes its text from elsewhere; PASSED_ON counts those. What
the document names has to be such a message, or words of one source. Fails as well when it looked at nothing.
"""

import os
import re
import sys
import tempfile

from tree import tree_files

DOCUMENT = 'docs/messages.md'
FOLDERS = ('src/', 'pmtable/', 'compaction/', 'include/miodb/', 'tools/miodb/', 'tools/inspect/')
KINDS = ('Corruption', 'IOError', 'InvalidArgument', 'NotSupported', 'NoSpace', 'Busy', 'NotFound', 'MergeInProgress')
CALL = re.compile(r'\bStatus::(%s)\(' % '|'.join(KINDS))
FAIL = re.compile(r'\bFail\(')
DIE = re.compile(r'\bdie "((?:[^"\\]|\\.)*)"')
EXPANSION = re.compile(r'\$(\([^)]*\)*|\{[^}]*\}?|\w+|[*@#])')
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
WORD = re.compile(r'[A-Za-z]{3}')
HOLE = '...'
PLAIN = ('NotFound', 'Busy', 'MergeInProgress')  # kinds whose few messages need no list

# How many errors a file makes of variables alone: what the system says, or texts that stand elsewhere in the sources.
PASSED_ON = {
    'src/util/files/policy_registry.cc': 1,
    'src/db/space/log_files.cc': 1,
    'src/db/reader/log_follower.cc': 1,
    'src/db/store/places.cc': 1,
    'src/db/context/pool_full.cc': 1,
    'src/db/reader/reader_follower.cc': 1,
    'src/db/offline/repair.cc': 1,
    'src/db/offline/repair_store.cc': 1,
    'src/emulation/nvm_model.cc': 1,
    'src/inspect/verify/dump_file.cc': 2,
    'src/log/log_history.cc': 1,
    'src/numa/file_system.cc': 1,
    'src/nvm/pool/pool_image.cc': 1,
    'src/nvm/region/region_file.cc': 5,
    'src/nvm/region/region_finder.cc': 1,
    'src/nvm/region/region_mapping.cc': 2,
    'src/ssd/ssd_store.cc': 1,
    'src/util/files/copy_files.h': 1,
    'src/util/check/no_throw.h': 1,
    'src/util/files/posix_file.h': 4,
    'src/version/edit/version_edit.cc': 1,
    'tools/miodb/terminal/files.cc': 4,
    'tools/miodb/stores/foreign_store.cc': 1,
}


def arguments(text, start):
    """The arguments of a call as source text; start is behind its opening bracket."""
    text = re.sub(r'//[^\n]*', '', text[start:start + 4000])
    parts, depth, begin, at = [], 1, 0, 0
    while depth:
        char = text[at]
        if char in '"\'' and not (char == "'" and at > 0 and text[at - 1].isalnum()):
            at += 1
            while text[at] != char:
                at += 2 if text[at] == '\\' else 1
        elif char in '([{':
            depth += 1
        elif char in ')]}':
            depth -= 1
        if (char == ',' and depth == 1) or depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
        at += 1
    return parts


def pattern(expression):
    """What an expression says: its literals, with a hole for everything else."""
    out, at = '', 0
    for match in LITERAL.finditer(expression):
        between = re.sub(r'\bstd::string\($', '', expression[at:match.start()].strip()).strip(' +()\n')
        if between:
            out += HOLE
        out += re.sub(r'\\(.)', r'\1', match.group(1))
        at = match.end()
    if expression[at:].strip(' +()\n'):
        out += HOLE
    return re.sub(r'(\.\.\.){2,}', HOLE, out)


def messages(path, text):
    """(kind, message or None, line) of each error that a source makes; None: of variables alone."""
    for match in CALL.finditer(text):
        parts = arguments(text, match.end())
        said = ': '.join(pattern(part) for part in parts)
        if not WORD.search(said):
            said = None
        if said is not None or parts != ['Slice()']:  # that of a key which is not there
            yield match.group(1), said, text.count('\n', 0, match.start()) + 1
    if path.startswith('tools/miodb/'):
        for match in FAIL.finditer(text):
            parts = arguments(text, match.end())
            if len(parts) > 1 and WORD.search(pattern(parts[1])):
                yield 'miodb', pattern(parts[1]), text.count('\n', 0, match.start()) + 1


def last_words(text):
    """(kind, message or None, line) of each end of a script."""
    for match in DIE.finditer(text):
        said = re.sub(r'(\.\.\.){2,}', HOLE, re.sub(r'\\(.)', r'\1', EXPANSION.sub(HOLE, match.group(1))))
        if WORD.search(said):  # else another function's words
            yield 'Scripts', said, text.count('\n', 0, match.start()) + 1


class Entry:
    """A code span of the document."""

    def __init__(self, kind, line, span):
        self.kind, self.line, self.span = kind, line, span
        holes = [re.escape(piece) for piece in span.split(HOLE)]
        self.regex = re.compile(r'(?:.*?: |\.\.\.:? )?' + '.*'.join(holes) + r'(?:\.\.\.)?', re.DOTALL)
        self.pieces = [piece.strip() for piece in span.split(HOLE) if piece.strip(' :;,.')]


def entries(text):
    """The spans in lists below headings that are kinds; links and names of things have no blank in them."""
    kind, in_list = None, False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith('## '):
            kind, in_list = line[3:].strip(), kind in PLAIN
        in_list = line.startswith('- ') or (in_list and line != '') or kind in PLAIN
        if kind in KINDS + ('miodb', 'Scripts') and in_list:
            for span in re.findall(r'`([^`]+)`', line):
                if ' ' in span and not span.startswith('miodb '):
                    yield Entry(kind, number, span)


def read(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as file:
        return file.read()


def check(root, passed_on):
    """Returns (problems, messages that the document lacks, number of messages looked at)."""
    problems, lacking, looked, silent, literals = [], [], 0, {}, []
    listed = list(entries(read(root, DOCUMENT)))
    for entry in listed:
        if not WORD.search(entry.span):
            problems.append('%s:%d: "%s" says too little to name a message' % (DOCUMENT, entry.line, entry.span))
    met = set()
    for path in tree_files(root, ('.cc', '.h', '.sh')):
        is_script = path.startswith('test_sh/')
        if not path.startswith(FOLDERS) and not is_script:
            continue
        text = read(root, path)
        literals.append(re.sub(r'\\(.)', r'\1', re.sub(r'"\s*\n\s*"', '', text)))
        for kind, said, line in last_words(text) if is_script else messages(path, text):
            looked += 1
            if said is None:
                silent[path] = silent.get(path, 0) + 1
                continue
            matching = [e for e in listed if e.kind == kind and e.regex.fullmatch(said)]
            met.update(matching)
            if not matching:
                lacking.append((kind, path, line, said))
                problems.append('%s:%d: %s lacks this %s: %s' % (path, line, DOCUMENT, kind, said))
    for entry in listed:
        if entry not in met and not any(all(piece in text for piece in entry.pieces) for text in literals):
            problems.append('%s:%d: no source says "%s"' % (DOCUMENT, entry.line, entry.span))
    for path in sorted(set(silent) | set(passed_on)):
        if silent.get(path, 0) != passed_on.get(path, 0):
            problems.append('%s: %d errors are made of variables alone, %d are known: list what they say, then count them '
                            'in PASSED_ON' % (path, silent.get(path, 0), passed_on.get(path, 0)))
    if not looked:
        problems.append('nothing was judged: no source makes an error')
    return problems, lacking, looked


def self_test():
    source = 'return Status::IOError(path_, "cannot turn " + name + " round: " + why);\n'
    document = '# Messages\n\n## IOError\n\n- **Turning.** `cannot turn ... round: ...`\n'
    cases = [
        ('', source, document, {}),
        ('lacks this IOError', source + 'return Status::IOError(a, "is flat as it was");\n', document, {}),
        ('lacks this Corruption', source.replace('IOError', 'Corruption'), document, {}),
        ('no source says', source, document + '- `is flat as it was`\n', {}),
        ('says too little', source, document + '- `... is ...`\n', {}),
        ('1 errors are made of variables alone, 0', source + 'return Status::Busy(a, what);\n', document, {}),
        ('0 errors are made of variables alone, 1', source, document, {'src/a.cc': 1}),
        ('', source + 'const char k[] = "is flat as it was"; return Status::Busy(a, k);\n',
         document + '- `is flat as it was`\n', {'src/a.cc': 1}),
        ('', 'return Status::NotFound(Slice());\n' + source, document, {}),
        ('lacks this Scripts: ... is no folder', source, document, {}, 'die "$1 is no folder"\n'),
        ('', source, document + '\n## Scripts\n\n- `is no folder`\n', {}, 'die "${a[*]} is no folder"\n'),
        ('nothing was judged', '', '# Messages\n', {}),
    ]
    for expected, text, page, passed_on, *script in cases:
        with tempfile.TemporaryDirectory() as root:
            for path, content in (('src/a.cc', text), (DOCUMENT, page), ('test_sh/a.sh', ''.join(script))):
                os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                    file.write(content)
            problems = check(root, passed_on)[0]
        if bool(expected) != bool(problems) or not any(expected in problem for problem in problems or ['']):
            sys.exit('self-test: expected "%s", got %s' % (expected, problems))
    print('self-test: %d of %d cases right' % (len(cases), len(cases)))


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
    problems, lacking, looked = check(root, PASSED_ON)
    if sys.argv[1:] == ['--print']:
        for kind, path, _, said in sorted(lacking):
            print('%s: %s   (%s)' % (kind, said, path))
    elif sys.argv[1:]:
        sys.exit('unknown argument ' + sys.argv[1])
    elif problems:
        sys.exit('\n'.join(problems))
    else:
        print('%d messages of the sources, all listed' % looked)


main()
