#!/usr/bin/env python3
"""Keeps the durations of the stages of .ci/run in a table, which docs/testing.md shows.

  stage_times.py FILE         takes lines "ok 12s NAME" or "FAILED 12s NAME" from standard input: a stage that passed gets
                              its row, in the order in which the stages run; rows of other stages stay
  stage_times.py --self-test  proves this on made-up lines
"""

import csv
import io
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
LINE = re.compile(r'(ok|FAILED)\s+(\d+)s\s+(.+)$')
HEADING = ['stage', 'seconds', 'CPUs', 'commit']


def stages():
    """The names of all stages, in their order."""
    with open(os.path.join(ROOT, '.ci', 'run'), encoding='utf-8') as file:
        return re.findall(r'\b(?:stage|beside) "([^"]+)"', file.read())


def rows_of(text):
    """Stage -> row of a table."""
    rows = list(csv.reader(line for line in text.splitlines() if not line.startswith('#')))
    return {row[0]: row for row in rows[1:]}


def merged(old, lines, order, cpus, commit):
    """The text of the table with these lines taken in."""
    rows = rows_of(old)
    for line in lines:
        match = LINE.match(line.strip())
        if match is None:
            raise SystemExit('stage_times.py: not a line of a summary: ' + line.strip())
        if match.group(1) == 'ok':
            rows[match.group(3)] = [match.group(3), match.group(2), str(cpus), commit]
    out = io.StringIO()
    out.write('# command: .ci/run --full --times=docs/measured/ci-stages.csv\n')
    out.write('# commit: %s\n# report: none was kept; each row names its commit\n' % commit)
    writer = csv.writer(out, lineterminator='\n')
    writer.writerow(HEADING)
    # A stage that .ci/run has no more loses its row.
    writer.writerows(rows[name] for name in order if name in rows)
    return out.getvalue()


def self_test():
    order = ['a', 'b', 'c, with a comma']
    first = merged('', ['ok      12s  b', 'FAILED   3s  a'], order, 2, 'c1')
    second = merged(first, ['ok       1s  c, with a comma', 'ok       4s  a', 'ok  9s  gone'], order, 4, 'c2')
    again = merged(second, ['FAILED  99s  b'], order, 2, 'c3')
    wanted = [['a', '4', '4', 'c2'], ['b', '12', '2', 'c1'], ['c, with a comma', '1', '4', 'c2']]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'times.csv')
        keep(path, ['ok 5s %s' % stages()[0]])
        with open(path, encoding='utf-8') as file:
            kept = list(rows_of(file.read()).values())
    right = [list(rows_of(first)) == ['b'], list(rows_of(second).values()) == wanted,
             list(rows_of(again).values()) == wanted, kept[0][:2] == [stages()[0], '5'] and len(kept) == 1,
             'format' in stages() and 'hygiene' in stages()]
    print('self-test: %d of %d cases right' % (sum(right), len(right)))
    return 0 if all(right) else 1


def keep(path, lines):
    """Takes lines into a file."""
    old = ''
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            old = file.read()
    head = subprocess.run(['git', '-C', ROOT, 'rev-parse', '--short', 'HEAD'], capture_output=True, text=True, check=False)
    text = merged(old, lines, stages(), len(os.sched_getaffinity(0)), head.stdout.strip() or 'unknown')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


def main(arguments):
    if arguments == ['--self-test']:
        return self_test()
    if len(arguments) != 1 or arguments[0].startswith('-'):
        sys.stderr.write(__doc__)
        return 2
    keep(arguments[0], sys.stdin.readlines())
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
