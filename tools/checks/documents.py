"""The sentences of README, CONTRIBUTING, docs/*.md and docs/decisions, for the checks beside this one.

Paragraphs, items of lists and cells of tables have sentences. Fenced blocks, headings, tables of figures, and pages that a
check compares with their source (docs/claims.md, docs/messages.md) are left out.
"""

import glob
import os
import re

END = re.compile(r'(?<=[.!?:;])\s+(?=[A-Z(`\[*])')
WORD = re.compile(r"[A-Za-z_]+(?:'[a-z]+)?|\d[\d.]*")
LEAST_WORDS = 4  # fewer are a label


def documents(root):
    """The pages, as paths of the tree."""
    pages = sorted(glob.glob(os.path.join(root, 'docs', '*.md')) + glob.glob(os.path.join(root, 'docs', 'decisions', '*.md')))
    names = ['README.md', 'CONTRIBUTING.md'] + [os.path.relpath(page, root) for page in pages]
    left_out = ('docs/claims.md', 'docs/messages.md')
    return [name for name in names if name not in left_out and os.path.exists(os.path.join(root, name))]


def blocks(text):
    """(line, text, whether it is a cell) of each paragraph, item and cell."""
    text = re.sub(r'<!-- table .*?<!-- /table -->', lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text, flags=re.S)
    fenced, block = False, []
    for number, line in enumerate(text.splitlines() + [''], 1):
        stripped = line.strip().lstrip('> ')
        if stripped.startswith('```'):
            fenced = not fenced
        item = re.match(r'([-*]|\d+[a-z]?\.) ', stripped)
        ends = fenced or not stripped or stripped[0] in '#|' or stripped.startswith(('```', '<!--')) or item
        if ends and block:
            yield block[0][0], ' '.join(part for _, part in block), False
            block = []
        if fenced or not stripped or stripped[0] == '#' or stripped.startswith(('```', '<!--')):
            continue
        if stripped[0] == '|':
            yield from ((number, cell.strip(), True) for cell in stripped.strip('|').split('|'))
        else:
            block.append((number, stripped[item.end():] if item else stripped))


def sentences(root):
    """(page, line, sentence, its words, whether it stands in a cell)."""
    for page in documents(root):
        with open(os.path.join(root, page), encoding='utf-8') as file:
            text = file.read()
        for number, block, cell in blocks(text):
            for sentence in END.split(block):
                words = WORD.findall(sentence)
                if len(words) >= LEAST_WORDS:
                    yield page, number, sentence, words, cell
