#!/usr/bin/env python3
"""Checks that no cost of a database grows faster than its data, in a model that has the counts of large databases.

    tools/checks/check_scale.py BUILD         run scale_cost of this build folder, some ten seconds of CPU time
    tools/checks/check_scale.py --self-test   prove that each curve fails where it is bent

scale_cost prints its figures for each number of puts; docs/scaling.md says what they are. A bar is of the largest number
of puts, or of its figure over that of the smallest: then the figure may grow by so much while the data grows eightfold.
"""

import os
import re
import subprocess
import sys
import tempfile

PUTS = {'copied': (62500, 125000, 250000, 500000), 'referred': (125000, 250000, 500000, 1000000)}

# model, figure, most, most over the figure of the smallest number of puts. Counts depend a little on when merges ran;
# the CPU time also on what else the machine does, which two runs of one program share.
BARS = (
    ('copied', 'written', 4.2, None),
    ('copied', 'extents', 1.2, None),
    ('copied', 'open_ns', 250, None),
    ('copied', 'runs', 40, None),
    ('copied', 'cpu_us', None, 2.5),
    ('copied', 'space', 1.8, None),
    ('copied', 'reserve', 0.08, None),
    ('copied', 'longest', 0.12, None),
    ('referred', 'written', 3.0, None),
    ('referred', 'extents', 1.1, None),
    ('referred', 'heap', 8.0, None),
    ('referred', 'open_ns', 40, None),
    ('referred', 'runs', 40, None),
    ('referred', 'cpu_us', None, 2.5),
    ('referred', 'space', 1.8, None),
    ('referred', 'reserve', 0.15, None),
)


def read(text):
    """Figures by model, number of puts and name."""
    figures = {}
    for model, puts, rest in re.findall(r'^(\w+) (\d+) puts: (.*)$', text, re.M):
        values = re.findall(r'(\w+) ([\d.]+)', rest)
        figures[model, int(puts)] = {name: float(value) for name, value in values}
    return figures


def judge(figures):
    """Prints each curve, and returns the ones that are above their bar or that have no figures."""
    bent = []
    for model, name, most, most_growth in BARS:
        curve = [figures.get((model, puts), {}).get(name) for puts in PUTS[model]]
        if None in curve:
            bent.append('%s of %s was not measured' % (name, model))
            continue
        value, bar = (curve[-1], most) if most_growth is None else (curve[-1] / curve[0], most_growth)
        kind = 'at most' if most_growth is None else 'last over first at most'
        verdict = '' if value <= bar else '  ABOVE'
        print('%-9s %-11s %s, %s %g%s' % (model, name, ' '.join('%8.3f' % each for each in curve), kind, bar, verdict))
        if verdict:
            bent.append('%s of %s is %.3f' % (name, model, value))
    return bent


def self_test():
    """Straight curves pass, each curve that is bent fails, and so does one that is missing."""
    straight = {(model, puts): {name: 0.05 for _, name, _, _ in BARS} for model in PUTS for puts in PUTS[model]}
    stdout, sys.stdout = sys.stdout, open(os.devnull, 'w', encoding='utf-8')
    found = [judge(straight)]
    for model, name, _, _ in BARS:
        for value in (1000.0, None):
            bent = {key: dict(values) for key, values in straight.items()}
            bent[model, PUTS[model][-1]][name] = value
            found.append(judge(bent))
    sys.stdout.close()
    sys.stdout = stdout
    if found[0] or not all(len(each) == 1 for each in found[1:]):
        raise SystemExit('self-test: a straight curve fails, or a bent one passes')
    print('self-test: %d of %d cases right' % (len(found), len(found)))


def main():
    if sys.argv[1:] == ['--self-test']:
        return self_test()
    if len(sys.argv) != 2 or sys.argv[1].startswith('-'):
        raise SystemExit('usage: check_scale.py BUILD | --self-test')
    program = os.path.join(sys.argv[1], 'scale_cost')
    if not os.path.exists(program):
        raise SystemExit('no %s; build it first' % program)
    text = ''
    shm = '/dev/shm' if os.access('/dev/shm', os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=shm) as folder:
        for model, puts in PUTS.items():
            command = [program, folder, model] + [str(each) for each in puts]
            text += subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding='utf-8').stdout
    bent = judge(read(text))
    if bent:
        raise SystemExit('costs grow: ' + '; '.join(bent))
    return None


if __name__ == '__main__':
    main()
