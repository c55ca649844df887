"""Figures by name and round, and how they are read from what an experiment left."""

import csv
import glob
import os
import re
import sys

STUDIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'test_sh', 'experiments')
sys.path.insert(0, STUDIES)
import outputs  # noqa: E402  pylint: disable=wrong-import-position


class Samples:
    """Values by name and round."""

    def __init__(self, values=None):
        self.values = values or {}

    def add(self, name, number, value):
        """One value of a figure. Of several in one round the last one counts."""
        self.values.setdefault(name, {})[str(number)] = float(value)

    def find(self, name):
        """Values by round of a figure; none if there is no such figure."""
        return self.values.get(name, {})

    def read_lines(self, label, number, text, figures):
        """Reads figures from an output by their regular expressions; thousands may be set off by commas."""
        for name, pattern in figures.items():
            found = re.findall(pattern, text, re.M)
            if found:
                self.add('%s|%s' % (label, name), number, found[-1].replace(',', ''))

    def read_bench(self, label, number, text):
        """Reads figures from the output of db_bench."""
        for benchmark, _, metric, value in outputs.BenchOutput().read(text.splitlines()).figures:
            self.add('%s|%s|%s' % (label, benchmark, metric), number, value)

    def read_study(self, folder):
        """Reads data.csv of the one study whose results lie below a folder."""
        for path in glob.glob(os.path.join(glob.escape(folder), '*', '*', 'data.csv')):
            with open(path, newline='', encoding='utf-8') as file:
                for row in csv.DictReader(file):
                    if row['seconds']:
                        continue
                    short = '%s|%s|%s' % (row['engine'], row['benchmark'], row['metric'])
                    full = '|'.join(row[key] for key in ('engine', 'series', 'x', 'benchmark', 'metric'))
                    for name in (short, full):
                        self.add(name, row['round'], row['value'])


def lower_is_better(bar):
    """Whether a bar limits a figure from above."""
    return bar.startswith('<=')
