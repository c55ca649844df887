#!/usr/bin/env python3
"""Counts what a house is measured by, and fails if a figure is worse than recorded: a ratchet.

  tools/checks/check_house.py               compare with house.txt
  tools/checks/check_house.py --update      record the figures of this tree
  tools/checks/check_house.py --list        print besides every class, the longest functions, and the comment sentences
                                            that are hollow or open with an empty word
  tools/checks/check_house.py --self-test   prove on a small made-up tree that each figure is counted, and can fail

The figures are of the engine: src, pmtable, compaction; those of options also of the programs, those of English of all
C++ files. Text is counted, not what a compiler sees: a statement of a class is a function if it has parentheses
besides those of annotations, template arguments and initial values.

English is counted in the sentences of lines that are nothing but a // comment, and of the documents (documents.py). A
sentence with an empty opening begins with a word that names nothing (EMPTY). A hollow sentence has HOLLOW_WORDS words or more, and half of them are such words
or others that carry no meaning (WEAK). Sentences of fewer than SENTENCE_WORDS words are headings and are left out.
"""

import os
import re
import sys
import tempfile

import documents
from tree import tree_files

ENGINE = ('src/', 'pmtable/', 'compaction/')
WRITTEN = {  # figure of English -> folders
    'include/miodb': ('include/miodb/',),
    'engine': ENGINE,
    'programs': ('benchmarks/', 'ycsbc/', 'tools/', 'examples/', 'bindings/'),
    'tests': ('tests/',),
}
ASSERTED = {  # figure -> folders
    'core': ('pmtable/', 'compaction/', 'src/nvm/', 'src/version/'),
    'elsewhere': ENGINE,
}
ASSERTION = re.compile(r'\b(D?CHECK(_EQ|_NE|_LT|_LE|_GT|_GE)?|static_assert)\s*\(')
ANNOTATION = re.compile(r'\b(GUARDED_BY|PT_GUARDED_BY|REQUIRES|EXCLUDES|ACQUIRE|RELEASE|RETURN_CAPABILITY|alignas|'
                        r'__attribute__|CAPABILITY|decltype)\s*\((?:[^()]|\([^()]*\))*\)')
# Options whose way is counted, in the files that every new option touches: not in those of the C API and of RocksDB,
# which only some have.
SAMPLE_OPTIONS = ('compaction_readahead_size', 'lazy_copy_limit')
OPTION_FILES = re.compile(r'(?!benchmarks/cost/|include/miodb/c\.h|src/c_api/|benchmarks/common/engines/rocksdb_engine\.cc)'
                          r'(include/miodb|src|pmtable|compaction|benchmarks|ycsbc)/')
LARGER_IS_BETTER = {'assertions per 100 functions'}
EMPTY = frozenset('what those that which one ones it its of others other none such whatever whoever who whose these '
                  'both'.split())
WEAK = EMPTY | frozenset('is are was were be has have had do does not no any some all as so than there they them'.split())
SENTENCE_WORDS, HOLLOW_WORDS = 4, 11
COMMENT_LINE = re.compile(r'\s*//+ ?(.*)$')
SENTENCE_END = re.compile(r'(?<=[.!?:])\s+(?=[A-Z(`])')
ENGLISH_WORD = re.compile(r"[A-Za-z_]+(?:'[a-z]+)?|\d[\d.]*")


def strip(text, keep_comments=False):
    """The text with strings emptied and comments blanked, lines kept."""
    pattern = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)

    def replace(match):
        token = match.group(0)
        if token.startswith(('//', '/*')):
            return token if keep_comments else re.sub(r'[^\n]', ' ', token)
        return '""' + '\n' * token.count('\n') if token[0] in '"R' else "' '"

    text = pattern.sub(replace, text)
    # Macros, with the lines that they go on in.
    return re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', lambda m: '\n' * m.group(0).count('\n'), text, flags=re.M)


def closing(text, at):
    """The place behind the brace that closes the one at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += {'{': 1, '}': -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


def statements(body):
    """What stands in the body of a class at its own depth; of what has braces, what stands before them."""
    start = i = 0
    while i < len(body):
        if body[i] == ';':
            yield body[start:i]
            start = i + 1
        elif body[i] == '{':
            yield body[start:i]
            i = closing(body, i)
            rest = re.match(r'[^;{}()]*;', body[i:])  # of a member with braces for its value, or an enum
            if rest:
                i += rest.end()
            start = i
            continue
        i += 1


def without_arguments(text):
    """Template arguments left out."""
    previous = None
    while previous != text:
        previous, text = text, re.sub(r'<[^<>;]*>', '', text)
    return text


def classes(text):
    """(name, members, functions, guarded members, booleans) of each class of this stripped text."""
    for match in re.finditer(r'\b(?:class|struct)\s+(?:CAPABILITY\(\w*\)\s+|SCOPED_CAPABILITY\s+|\[\[\w+\]\]\s+|'
                             r'alignas\([^)]*\)\s+)?(?:\w+::)*(\w+)\s*(?:final\s*)?(?::(?!:)[^;{]*)?\{', text):
        body = text[match.end():closing(text, match.end() - 1) - 1]
        members = functions = guarded = booleans = 0
        for statement in statements(body):
            statement = re.sub(r'\b(public|private|protected)\s*:', ' ', statement).strip()
            is_guarded = 'GUARDED_BY(mutex_)' in statement
            plain = without_arguments(ANNOTATION.sub(' ', statement))
            plain = re.sub(r'^template\s*', '', plain)
            if not plain or re.match(r'(friend|using|typedef|static_assert|enum|class|struct|union)\b', plain):
                continue
            if '(' in plain.split('=')[0] or 'operator' in plain:
                functions += 1
            elif not re.match(r'(static\s+)?(inline\s+)?(static\s+)?constexpr\b', plain):
                members += 1
                guarded += is_guarded
                booleans += bool(re.match(r'(mutable\s+)?(const\s+)?(std::atomic\s+)?bool\b', plain))
        yield match.group(1), members, functions, guarded, booleans


FUNCTION = re.compile(r'^( *)(?! |namespace|class|struct|enum|union|extern|using|if|for|while|switch|do|else|return|case|'
                      r'try|catch|typedef)[\w:~<>,&*\[\]" ]+[\w\])>=*&+\-!] ?\(.*')


def functions(text):
    """(first line, lines) of each function of this stripped text: it ends at a brace as far in as it begins."""
    lines = text.split('\n')
    i = 0
    while i < len(lines):
        match = FUNCTION.match(lines[i])
        if match and len(match.group(1)) <= 6:
            j = i
            while j < len(lines) and not re.search(r'[;{}]\s*$', lines[j]):
                j += 1
            if j < len(lines) and lines[j].rstrip().endswith('{') and not re.search(r'[^=!<>]=[^=]', lines[i].split('(')[0]):
                end = re.compile('^' + match.group(1) + r'\}[;,)]*\s*$')
                k = j + 1
                while k < len(lines) and not end.match(lines[k]):
                    k += 1
                yield i + 1, k - i + 1
                i = k
            elif j == i and re.search(r'\{.*\}\s*$', lines[i]):
                yield i + 1, 1
        i += 1


def pulled_in(root, path):
    """Headers of the tree that this one includes, and those they include."""
    seen, todo = set(), [path]
    while todo:
        with open(os.path.join(root, todo.pop()), encoding='utf-8') as file:
            names = re.findall(r'^#include "([^"]+)"', file.read(), re.M)
        for name in names:
            for candidate in (name, 'include/' + name):
                if candidate not in seen and os.path.isfile(os.path.join(root, candidate)):
                    seen.add(candidate)
                    todo.append(candidate)
    return seen


def files_of_option(root, paths, name):
    """How many of the files that a new option touches mention this one."""
    number = 0
    for path in filter(OPTION_FILES.match, paths):
        with open(os.path.join(root, path), encoding='utf-8') as file:
            number += re.search(r'\b%s\b' % name, file.read()) is not None
    return number


def filled_lines(text):
    return sum(bool(line.strip()) for line in text.splitlines())


def sentences(text):
    """(first line of its comment, words) of each sentence in the comments of a C++ file."""
    first, block = 0, []
    for number, line in enumerate(text.splitlines() + [''], 1):
        match = COMMENT_LINE.match(line)
        if match and not line.lstrip().startswith('// ----'):
            first = first if block else number
            block.append(match.group(1).strip())
            continue
        for sentence in SENTENCE_END.split(' '.join(block)):
            words = ENGLISH_WORD.findall(sentence)
            if len(words) >= SENTENCE_WORDS:
                yield first, words
        block = []


def has_empty_opening(words):
    return words[0].lower() in EMPTY


def is_hollow(words):
    return len(words) >= HOLLOW_WORDS and 2 * sum(word.lower() in WEAK for word in words) >= len(words)


def percent(part, whole):
    return 100 * part // max(whole, 1)


def measure(root, report=None):
    """Figure -> value."""
    asserted = {figure: [0, 0] for figure in ASSERTED}
    english = {figure: [0, 0, 0] for figure in WRITTEN}  # sentences, empty openings, hollow ones
    result = {'DBImpl: members': 0, 'DBImpl: functions': 0, 'DBImpl: members under its mutex': 0,
              'DBImpl: booleans': 0}
    most_members = most_functions = code = 0
    longest_function, longest_file = (0, ''), (0, '')
    paths = tree_files(root, ('.cc', '.h'))
    for path in paths:
        written = next((figure for figure, folders in WRITTEN.items() if path.startswith(folders)), None)
        if written is None:
            continue
        with open(os.path.join(root, path), encoding='utf-8') as file:
            text = file.read()
        lines = text.splitlines()
        counts = english[written]
        for first, words in sentences(text):
            empty, hollow = has_empty_opening(words), is_hollow(words)
            counts[0], counts[1], counts[2] = counts[0] + 1, counts[1] + empty, counts[2] + hollow
            if report is not None and (empty or hollow):
                report.append('%s: %s:%d: %s' % ('hollow' if hollow else 'empty', path, first, ' '.join(words)))
        if not path.startswith(ENGINE):
            continue
        plain = strip(text)
        code += filled_lines(plain)
        longest_file = max(longest_file, (len(lines), path))
        here = list(functions(plain))
        for first, length in here:
            longest_function = max(longest_function, (length, '%s:%d' % (path, first)))
            if report is not None and length > 60:
                report.append('%4d lines: %s:%d' % (length, path, first))
        group = 'core' if path.startswith(ASSERTED['core']) else 'elsewhere'
        asserted[group][0] += len(ASSERTION.findall(plain))
        asserted[group][1] += len(here)
        for name, members, number, guarded, booleans in classes(plain):
            if report is not None:
                report.append('%4d members, %4d functions: %s in %s' % (members, number, name, path))
            if name == 'DBImpl':
                result.update(zip(list(result)[:4], (members, number, guarded, booleans)))
            else:
                most_members, most_functions = max(most_members, members), max(most_functions, number)
    result['any other class: members'] = most_members
    result['any other class: functions'] = most_functions
    impl = 'src/db/open/db_impl.h'
    result['headers that db_impl.h pulls in'] = len(pulled_in(root, impl)) if os.path.exists(
        os.path.join(root, impl)) else 0
    for name in SAMPLE_OPTIONS:
        result['files of an option: ' + name] = files_of_option(root, paths, name)
    english['documents'] = [0, 0, 0]
    for page, line, _, words, _ in documents.sentences(root):
        empty, hollow = has_empty_opening(words), is_hollow(words)
        counts = english['documents']
        counts[0], counts[1], counts[2] = counts[0] + 1, counts[1] + empty, counts[2] + hollow
        if report is not None and (empty or hollow):
            report.append('%s: %s:%d: %s' % ('hollow' if hollow else 'empty', page, line, ' '.join(words)))
    result['lines of code'] = code
    result['longest function'], result['longest file'] = longest_function[0], longest_file[0]
    for group, (count, number) in asserted.items():
        result['assertions per 100 functions: ' + group] = percent(count, number)
    for group, (number, empty, hollow) in english.items():
        result['empty openings in percent: ' + group] = -(-100 * empty // max(number, 1))  # rounded up
        result['hollow sentences: ' + group] = hollow
    if report is not None:
        report.append('longest: %s, %s' % (longest_function[1], longest_file[1]))
    if code == 0:
        raise SystemExit('no source was found in ' + root)
    return result


def read_record(path):
    with open(path, encoding='utf-8') as file:
        pairs = [line.rsplit(' ', 1) for line in file.read().splitlines() if line and not line.startswith('#')]
    return {name: int(value) for name, value in pairs}


def compare(figures, recorded):
    """Prints each figure; the number that are worse than recorded, or not recorded."""
    worse = 0
    for name, value in figures.items():
        before = recorded.get(name)
        better = name.split(':')[0] in LARGER_IS_BETTER
        bad = before is None or (value < before if better else value > before)
        worse += bad
        print('%-45s %6d, recorded %s%s' % (name, value, before, '  WORSE' if bad else ''))
    return worse


def self_test():
    files = {
        'include/miodb/db.h': '// A database of keys and values. What it has is kept,\n// as long as needed.\nclass DB {};\n'
                              '// It is\n// Not a sentence. Those of others are what none of it has, which they are not.\n',
        'src/db/open/db_impl.h': '#include "miodb/db.h"\n#include "src/db/part.h"\n' + '''
class DBImpl final : public DB {
 public:
  DBImpl(int a);
  template <typename T>
  void Call(T t) { t(); }
  enum class Kind { kA, kB };
  static constexpr int kSize = 3;

 private:
  friend class Peer;
  Status Query() const REQUIRES(mutex_);
  const std::function<void(int)> hook_;
  int a_ GUARDED_BY(mutex_) = (1 + 2);
  std::map<int, std::pair<int, int>> map_ GUARDED_BY(mutex_){{1, 2}};
  bool b_ = false;  // bool c_;
};
''',
        'src/db/part.h': 'struct Part {\n  int x, y;\n  int z{3};\n};\n',
        'pmtable/a.cc': '// ---- What has no sentence here\n\n// Of F: "those are counted". It counts too.\n'
                        'int F(int a) {\n  CHECK_GT(a, 0);\n  DCHECK(a < 9);\n  return a;\n}\n'
                        'void G() {}\n',
        'src/c_api/types.h': 'lazy_copy_limit\n',
        'include/miodb/options.h': '// An option.\nint lazy_copy_limit;\n',
        'include/miodb/c.h': '/* A call\n\n   of two lines. */\nint F(int /* a */);\nint G(void);  // That.\n',
        'benchmarks/common/flags.cc': '// Flags are bound here.\n\n// Those of all programs.\n'
                                      'lazy_copy_limit = compaction_readahead_size_of;\n',
        'tests/a_test.cc': '// What is there is what was there, as it was when it was made.\n',
        'README.md': '# What a heading has in it\n\nA store keeps records. It is\nfast. What it does not have: speed.\n'
                     '```\nWhat a block has in it.\n```\n| a cell has four words | two words |\n',
        'docs/decisions/1.md': '- One of those that are not what it was, as there was none.\n',
    }
    expected = {'DBImpl: members': 4, 'DBImpl: functions': 3, 'DBImpl: members under its mutex': 2,
                'DBImpl: booleans': 1, 'any other class: members': 2, 'headers that db_impl.h pulls in': 2,
                'files of an option: lazy_copy_limit': 2, 'files of an option: compaction_readahead_size': 0,
                'longest function': 5, 'assertions per 100 functions: core': 100,
                'empty openings in percent: include/miodb': 75, 'hollow sentences: include/miodb': 1,
                'empty openings in percent: engine': 100, 'hollow sentences: engine': 0,
                'empty openings in percent: programs': 50, 'hollow sentences: tests': 1,
                'empty openings in percent: documents': 50, 'hollow sentences: documents': 1}
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                file.write(text)
        figures = measure(root)
    for name, value in expected.items():
        if figures[name] != value:
            raise SystemExit('self-test: %s is %d, not %d' % (name, figures[name], value))
    stdout, sys.stdout = sys.stdout, open(os.devnull, 'w', encoding='utf-8')
    worse = {}
    for name, value in figures.items():
        worse[name] = value + (1 if name.split(':')[0] in LARGER_IS_BETTER else -1)
    counts = compare(figures, figures), compare(figures, worse), compare(figures, {})
    sys.stdout = stdout
    if counts != (0, len(figures), len(figures)):
        raise SystemExit('self-test: the ratchet counts %s' % (counts,))


def main():
    root = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
    record = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'house.txt')
    arguments = sys.argv[1:]
    if arguments == ['--self-test']:
        self_test()
        return 0
    if arguments not in ([], ['--update'], ['--list']):
        print(__doc__)
        return 0 if arguments in (['--help'], ['-h']) else 2
    report = [] if arguments else None
    figures = measure(root, report)
    if arguments == ['--update']:
        with open(record, 'w', encoding='utf-8') as file:
            file.write('# Figures of the engine, counted by check_house.py. None may get worse.\n')
            file.writelines('%s %d\n' % pair for pair in figures.items())
        print('recorded %d figures' % len(figures))
        return 0
    if report is not None:
        print('\n'.join(sorted(report, reverse=True)))
    worse = compare(figures, read_record(record))
    print('%d figures, %d worse' % (len(figures), worse))
    return 1 if worse else 0


if __name__ == '__main__':
    sys.exit(main())
