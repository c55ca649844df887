#!/usr/bin/env python3
"""Draws docs/claims/peers.svg, MioDB beside its peers, from the committed report; with the plots of the experiments.

  peers_plot.py REPORT.json PEERS.svg
"""

import os
import shutil
import sys
import tempfile

import report as reports
import samples  # which knows where the experiments' modules are
import plots
import results

BENCHMARKS = ('fillrandom', 'overwrite', 'readrandom', 'readwhilewriting', 'seekrandom')
assert samples.STUDIES


def rows_of(figures):
    """The figures of a study as rows of its data.csv."""
    rows = []
    for name, values in figures.items():
        parts = name.split('|')
        if len(parts) == 3 and parts[1] in BENCHMARKS and parts[2] == 'ops_per_sec':
            rows += [{'run': '000', 'engine': parts[0], 'round': int(number), 'series': '', 'x': 'all', 'sizes': None,
                      'benchmark': parts[1], 'seconds': None, 'metric': parts[2], 'value': value}
                     for number, value in values.items()]
    return rows


def draw(report, path):
    """The plot of a report; raises ValueError where gnuplot complains."""
    panel = results.Panel({'kind': 'bars', 'title': 'One thread, values of 1 KiB', 'xlabel': '', 'options': '',
                           'ylabel': 'operations per second', 'benchmarks': ','.join(BENCHMARKS),
                           'metrics': 'ops_per_sec'},
                          rows_of(report['experiments']['peers']['figures']))
    with tempfile.TemporaryDirectory() as folder:
        complaints = plots.draw(folder, [panel], 'median and range of all rounds; databases on tmpfs')
        if complaints:
            raise ValueError('gnuplot failed: ' + complaints)
        shutil.copyfile(os.path.join(folder, 'plot.svg'), path)


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    draw(reports.read_json(sys.argv[1]), sys.argv[2])
