#!/usr/bin/env python3
"""Checks how the documents are laid out: one sentence a line in prose, and no cell of a table with three sentences.

  tools/checks/check_prose.py               check README, CONTRIBUTING, docs/*.md and docs/decisions
  tools/checks/check_prose.py --fix [PAGE...]   lay paragraphs out, of all pages or of these
  tools/checks/check_prose.py --self-test   prove on made-up pages that each fault is found, and mended

A diff of such prose shows the sentence that changed, and nothing that merely moved. A cell that needs three sentences
becomes a list below its table. Fenced blocks, indented code, comments, quotations and headings stay as they are.
"""

import os
import re
import sys

from documents import documents

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
# A sentence ends here, unless an abbreviation or a number of an item stands before.
END = re.compile(r'(?<=[.!?])(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bcf\.)(?<!\bal\.)(?<!\bvs\.)(?<!\bNo\.)(?<!\*\*\d\.)[)*]* +(?=[A-Z`\[(*])')
ITEM = re.compile(r'( *)([-*+]|\d+[a-z]?[.)]) +')
# Words that would be something else than text at the beginning of a line.
MARKUP = re.compile(r'[-*+#>|] |[#>|]|\d+[.)] |=+$|-+$|<!--')
# The title of a paragraph stays with its first sentence.
TITLE = re.compile(r'(\*+)[^*]+\1')
MOST_IN_CELL = 2


def sentences(text):
    """The sentences of a paragraph, each to be a line."""
    lines, start = [], 0
    for match in END.finditer(text):
        if text[match.start():match.end()].strip(' '):  # what closes a bracket belongs to the sentence
            stop = match.start() + len(text[match.start():match.end()].rstrip(' '))
        else:
            stop = match.start()
        whole = text[start:stop].count('`') % 2 == 0 and not TITLE.fullmatch(text[start:stop])
        if whole and not MARKUP.match(text[match.end():]):
            lines.append(text[start:stop])
            start = match.end()
    return lines + [text[start:]]


def laid_out(text):
    """A page with each paragraph laid out."""
    out, block, fenced = [], [], False
    indent = first = ''

    def close():
        if block:
            lines = sentences(' '.join(block))
            out.append(first + lines[0])
            out.extend(indent + line for line in lines[1:])
            block.clear()

    for line in text.split('\n'):
        stripped = line.strip()
        if stripped.startswith('```'):
            close()
            fenced = not fenced
            out.append(line)
            continue
        item = ITEM.match(line)
        left_alone = (fenced or not stripped or stripped[0] in '#|>' or stripped.startswith(('<!--', '![')) or
                      line.startswith('    ') and not item and not block)
        if left_alone:
            close()
            out.append(line)
        elif item:
            close()
            first, indent = line[:item.end()], ' ' * item.end()
            block.append(line[item.end():].strip())
        else:
            if not block:
                first = indent = line[:len(line) - len(line.lstrip())]
            # Two blanks at the end of a line break it.
            block.append(stripped)
    close()
    return '\n'.join(out)


def crowded_cells(text):
    """(line, cell) of each cell of a table that has more than MOST_IN_CELL sentences."""
    text = re.sub(r'<!-- table .*?<!-- /table -->', lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text, flags=re.S)
    for number, line in enumerate(text.split('\n'), 1):
        if line.startswith('|'):
            for cell in re.split(r'(?<!\\)\|', line.strip('|')):
                if len(sentences(cell.strip())) > MOST_IN_CELL:
                    yield number, cell.strip()


def problems(page, text):
    found = ['%s:%d: a cell with more than %d sentences: %s' % (page, number, MOST_IN_CELL, cell[:60])
             for number, cell in crowded_cells(text)]
    wanted = laid_out(text)
    if wanted != text:
        pairs = zip(text.split('\n'), wanted.split('\n'))
        at = next((i for i, (a, b) in enumerate(pairs, 1) if a != b), 1)
        found.append('%s:%d: not one sentence a line; tools/checks/check_prose.py --fix' % (page, at))
    return found


def self_test():
    good = ('# A heading. It stays.\n\nOne sentence.\nThe next, e.g. This one.\n\n- An item.\n  Its second sentence (see below.)\n'
            '- Another.\n\n```\nA block. It stays.\n```\n\n| a cell. Two sentences. | `a. B` |\n\n    code. Code.\n')
    bad = {
        'One. Two.\n': 'One.\nTwo.\n',
        'One\nsentence.\n': 'One sentence.\n',
        '- One. Two\n  more.\n': '- One.\n  Two more.\n',
        '1. One. `two` is.\n': '1. One.\n   `two` is.\n',
        '**1. A title.** One. Two.\n': '**1. A title.** One.\nTwo.\n',
        'One (two.) Three.\n': 'One (two.)\nThree.\n',
        'One `a. B` two. **Three.** Four.\n': 'One `a. B` two.\n**Three.** Four.\n',
    }
    right = [not problems('p', good), laid_out(good) == good,
             len(problems('p', '| One. Two. Three. | x |\n')) == 1]
    right += [laid_out(text) == wanted and len(problems('p', text)) == 1 and not problems('p', wanted)
              for text, wanted in bad.items()]
    print('self-test: %d of %d cases right' % (sum(right), len(right)))
    return 0 if all(right) else 1


def read(page):
    with open(os.path.join(ROOT, page), encoding='utf-8') as file:
        return file.read()


def main(arguments):
    if arguments == ['--self-test']:
        return self_test()
    if arguments[:1] not in ([], ['--fix']):
        sys.stderr.write(__doc__)
        return 2
    pages = documents(ROOT)
    if arguments:
        for page in arguments[1:] or pages:
            text = laid_out(read(page))
            with open(os.path.join(ROOT, page), 'w', encoding='utf-8') as file:
                file.write(text)
        return 0
    found = [problem for page in pages for problem in problems(page, read(page))]
    for problem in found:
        print(problem)
    print('%d pages judged, %d problems' % (len(pages), len(found)))
    return 1 if found or not pages else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
