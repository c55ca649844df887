#!/usr/bin/env python3
"""Draws sentences of README, CONTRIBUTING, docs/*.md and docs/decisions for a judgement by hand.

  draw_statements.py --seed=N [--count=20]              statements that name code, to be held against the code
  draw_statements.py --seed=N [--count=50] --sentences  any sentences, to be judged by the rules of CONTRIBUTING.md
  draw_statements.py --empty                            all sentences that open with an empty word or are hollow, and counts

docs/testing.md has the judgements. Cells of tables count as sentences, but for statements; fenced blocks, headings, tables of
figures, and pages that a check compares with their source (docs/claims.md, docs/messages.md) are left out.
"""

import argparse
import os
import random
import re
import sys

from check_house import has_empty_opening, is_hollow
from documents import sentences

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
# A statement about code has a code span with a letter in it, and so many words; cells say too little by themselves.
STATEMENT_WORDS = 8
NAMES_CODE = re.compile(r'`[^`]*[A-Za-z][^`]*`')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--seed', type=int)
    parser.add_argument('--count', type=int)
    parser.add_argument('--sentences', action='store_true')
    parser.add_argument('--empty', action='store_true')
    options = parser.parse_args()
    found = list(sentences(ROOT))
    if options.empty:
        bad = [s for s in found if has_empty_opening(s[3]) or is_hollow(s[3])]
        for page, number, sentence, _, _ in bad:
            print('%s:%d: %s' % (page, number, sentence))
        print('%d sentences, %d open with an empty word, %d are hollow' % (
            len(found), sum(has_empty_opening(s[3]) for s in found), sum(is_hollow(s[3]) for s in found)))
        return
    if options.seed is None:
        parser.error('--seed is needed')
    pool = [s for s in found if s[2][0].isupper()] if options.sentences else [
        s for s in found if NAMES_CODE.search(s[2]) and len(s[3]) >= STATEMENT_WORDS and not s[4] and s[2].endswith('.')]
    count = options.count or (50 if options.sentences else 20)
    if len(pool) < count:
        sys.exit('draw_statements.py: %d sentences found, %d wanted' % (len(pool), count))
    for at, (page, number, sentence, _, _) in enumerate(random.Random(options.seed).sample(pool, count), 1):
        print('%2d %s:%d: %s' % (at, page, number, sentence))


if __name__ == '__main__':
    main()
