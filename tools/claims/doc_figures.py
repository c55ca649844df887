#!/usr/bin/env python3
"""Keeps the figures of README and docs equal to where they come from: the committed report, docs/claims/report.json,
or a file beside it, docs/measured/*.csv.

  doc_figures.py --check      fails where a document differs from its source, or has a table of figures without one
  doc_figures.py --write      writes the figures, and docs/claims.md, anew
  doc_figures.py --take FOLDER   makes the report in this folder of results the committed one, draws its plot, and
                                 writes
  doc_figures.py --self-test  proves on made-up documents that each kind of difference is found

In a document stand, in comments that no reader sees:

  <!-- table engines EXPERIMENT METRIC -->     a table of all benchmarks of a study that compares engines; medians
  <!-- table labels EXPERIMENT NAME=FIGURE ... -->   a row for each command of an experiment, medians of figures as
                                                     columns
  <!-- table verdicts TIER -->                 the claims of a tier with figure and verdict
  <!-- table measured NAME -->                 the rows of docs/measured/NAME.csv, whose first lines say how they came
                                               about
  <!-- /table -->                              its end; what stands between is written by this script
  <!-- = CLAIM -->1.23<!-- / -->               the figure of one claim
"""

import argparse
import csv
import os
import re
import shutil
import statistics
import sys

import document
import registry
import report as reports

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))
REPORT = 'docs/claims/report.json'
TABLE = re.compile(r'(<!-- table (\w+)((?: \S+)*) -->\n)(.*?)(<!-- /table -->)', re.S)
VALUE = re.compile(r'(<!-- = (\S+) -->)(.*?)(<!-- / -->)')
FIGURE_CELL = re.compile(r'\| *[\d.,]+ *(ms|us|MiB|GiB|%)? *(\||$)')
# Documents whose every table of figures has to have a source, and their sections that have settings instead.
FIGURES_IN = ('docs/benchmarks.md', 'README.md')
SETTINGS = ('Settings', 'Commands', 'Machine', 'Options that most users touch')
ENGINES = (('miodb', 'MioDB'), ('leveldb', 'LevelDB'), ('rocksdb', 'RocksDB'), ('rocksdb-plain', 'PlainTable'),
           ('rocksdb-blob', 'BlobDB'), ('lmdb', 'LMDB'), ('wiredtiger', 'WiredTiger'))


class SourceError(Exception):
    """A document names a source that is not there."""


def number(value):
    """A figure with three digits, thousands set off."""
    if value is None:
        return ''
    if abs(value) >= 1000:
        return '{:,.0f}'.format(value)
    return '%.3g' % value


def table(heading, rows):
    """A Markdown table."""
    lines = [heading, ['---'] * len(heading)] + rows
    return ''.join('| %s |\n' % ' | '.join(line) for line in lines)


class Sources:
    """The committed report, the registry, and what was measured besides."""

    def __init__(self, root, report, experiments):
        self.root = root
        self.report = report
        self.experiments = experiments
        self.claims = {claim['id']: claim for claim in report['claims']}

    def claim(self, name):
        """A claim of the report."""
        if name not in self.claims:
            raise SourceError('the report has no claim "%s"' % name)
        return self.claims[name]

    def engines(self, name, metric):
        """A table of medians by benchmark and engine, and of ratios to the best peer, by round."""
        if name not in self.report['experiments']:
            raise SourceError('the report has no experiment "%s"' % name)
        experiment = self.report['experiments'][name]
        figures = experiment['figures']
        less = metric.endswith('_us')
        rows = []
        engines = [engine for engine in ENGINES if any(key.startswith(engine[0] + '|') for key in figures)]
        for key in figures:
            parts = key.split('|')
            if len(parts) != 3 or parts[0] != 'miodb' or parts[2] != metric or parts[1] in ('end', 'stats'):
                continue
            columns = [figures.get('%s|%s|%s' % (engine, parts[1], metric), {}) for engine, _ in engines]
            if not all(columns):
                continue
            best = min if less else max
            ratios = [columns[0][at] / best(column[at] for column in columns[1:]) for at in columns[0]]
            medians = [number(statistics.median(column.values())) for column in columns]
            rows.append([parts[1].replace('#2', ', settled')] + medians + [number(statistics.median(ratios))])
        text = table(['benchmark'] + [label for _, label in engines] + ['ratio'], rows)
        return text + '\nCommand: `%s`; %s.\n' % (self.shown(experiment['commands'][0], name), self.origin(name))

    def origin(self, name):
        """Which report the figures of an experiment are from."""
        commit = self.report.get('pieces', {}).get(name, self.report['commit'])
        return 'report: [%s](claims/report.html), commit %s, %d rounds' % (
            REPORT, commit, self.experiments[name]['rounds'])

    def labels(self, name, *columns):
        """A table of medians by label of an experiment."""
        experiment = self.report['experiments'].get(name)
        if experiment is None:
            raise SourceError('the report has no experiment "%s"' % name)
        figures = [column.split('=', 1) for column in columns]
        rows = []
        for label in self.experiments[name]['commands']:
            values = [experiment['figures'].get('%s|%s' % (label, figure), {}) for _, figure in figures]
            rows.append([label] + [number(statistics.median(value.values())) if value else '' for value in values])
        text = table([''] + [title.replace('_', ' ') for title, _ in figures], rows)
        return text + '\nCommands: experiment *%s* in [claims.md](claims.md#experiment-%s); %s.\n' % (
            name, name, self.origin(name))

    def shown(self, command, name):
        """A command without the options that name places."""
        command = re.sub(r' --(bin|db|out) \{\w+\}', '', command)
        return command.replace('{rounds}', str(self.experiments[name]['rounds'])).replace('{bin}', 'build')

    def verdicts(self, tier):
        """A table of claims."""
        rows = [['[%s](claims.md#%s)' % (claim['id'], claim['id']), number(claim['value']), claim['bar'],
                 claim['verdict']] for claim in self.report['claims'] if claim['tier'] == tier]
        text = table(['claim', 'figure', 'bar', 'verdict'], rows)
        return text + '\nReport: [%s](claims/report.html), commit %s.\n' % (REPORT, self.report['commit'])

    def measured(self, name):
        """A table from a file."""
        path = os.path.join(self.root, 'docs', 'measured', name + '.csv')
        if not os.path.exists(path):
            raise SourceError('no docs/measured/%s.csv' % name)
        with open(path, newline='', encoding='utf-8') as file:
            lines = file.readlines()
        notes = dict(line[2:].rstrip('\n').split(': ', 1) for line in lines if line.startswith('# '))
        rows = list(csv.reader(line for line in lines if not line.startswith('# ')))
        return table(rows[0], rows[1:]) + (
            '\nCommand: `%s`; figures: [measured/%s.csv](measured/%s.csv), recorded in commit %s; report: %s.\n' % (
                notes['command'], name, name, notes['commit'], notes['report'].split(';')[0]))

    def filled(self, text):
        """A document with its figures written anew."""
        def fill_table(match):
            kinds = {'engines': self.engines, 'labels': self.labels, 'verdicts': self.verdicts,
                     'measured': self.measured}
            if match.group(2) not in kinds:
                raise SourceError('no kind of table "%s"' % match.group(2))
            return match.group(1) + '\n' + kinds[match.group(2)](*match.group(3).split()) + '\n' + match.group(5)

        def fill_value(match):
            return match.group(1) + number(self.claim(match.group(2))['value']) + match.group(4)
        return VALUE.sub(fill_value, TABLE.sub(fill_table, text))


def bare_tables(text):
    """Lines of tables with figures outside of any block, by number."""
    blanked = TABLE.sub(lambda match: re.sub(r'[^\n]', ' ', match.group(0)), text)
    section, found = '', []
    for at, line in enumerate(blanked.splitlines(), 1):
        if line.startswith('## '):
            section = line[3:]
        if section not in SETTINGS and line.startswith('|') and FIGURE_CELL.search(line):
            found.append(at)
    return found


def documents(root):
    """README.md and the pages of docs."""
    pages = sorted(os.listdir(os.path.join(root, 'docs')))
    return ['README.md'] + ['docs/' + name for name in pages if name.endswith('.md')]


def texts_of(root, sources, claims, experiments):
    """(document, its text now, its text as it should be)."""
    found = []
    for name in documents(root):
        with open(os.path.join(root, name), encoding='utf-8') as file:
            now = file.read()
        try:
            wanted = document.document(claims, experiments) if name == 'docs/claims.md' else sources.filled(now)
        except SourceError as error:
            raise SourceError('%s: %s' % (name, error)) from error
        found.append((name, now, wanted))
    return found


def problems_of(texts):
    """What is wrong, a line each."""
    problems = []
    for name, now, wanted in texts:
        if now != wanted:
            pairs = zip(now.splitlines(), wanted.splitlines())
            at = next((i for i, (a, b) in enumerate(pairs, 1) if a != b), min(now.count('\n'), wanted.count('\n')) + 1)
            problems.append('%s:%d: differs from its source; tools/claims/doc_figures.py --write' % (name, at))
        if name in FIGURES_IN:
            problems += ['%s:%d: a table of figures that names no source' % (name, at) for at in bare_tables(now)]
    return problems


def stale_claims(claims, report):
    """Claims of the registry that the report judged by other words, or not at all."""
    judged = {claim['id']: claim for claim in report['claims']}
    problems = []
    for claim in claims:
        was = judged.pop(claim['id'], None)
        changed = was and [key for key in claim if was.get(key) != claim[key]]
        if was is None or changed:
            problems.append('%s: claim %s: %s; judge it anew and take the report' % (
                REPORT, claim['id'], 'is not in it' if was is None else 'other ' + ', '.join(changed)))
    return problems + ['%s: claim %s is in no registry' % (REPORT, name) for name in judged]


def take(folder):
    """Makes the report of a folder the committed one."""
    import peers_plot  # needs gnuplot, which nothing else here does
    report = reports.read_json(os.path.join(folder, 'report.json'))
    into = os.path.join(ROOT, os.path.dirname(REPORT))
    peers_plot.draw(report, os.path.join(into, 'peers.svg'))
    for name in ('report.json', 'report.html'):
        shutil.copyfile(os.path.join(folder, name), os.path.join(into, name))
    # gnuplot leaves blanks at the ends of lines, which the tree has nowhere.
    for name in ('peers.svg', 'report.html'):
        with open(os.path.join(into, name), 'r+', encoding='utf-8') as file:
            text = re.sub(r'[ \t]+$', '', file.read(), flags=re.M)
            file.seek(0)
            file.write(text)
            file.truncate()


def self_test():
    """Made-up documents, each with one fault or none."""
    claim = {'id': 'a', 'value': 2.5, 'bar': '>= 2', 'verdict': 'holds', 'tier': 'tires'}
    figures = {'%s|fill|ops_per_sec' % engine: {'1': value} for (engine, _), value in zip(ENGINES, (8, 4, 2))}
    report = {'commit': 'c', 'claims': [claim], 'experiments': {'e': {'commands': ['x --db {db}'], 'figures': figures}}}
    sources = Sources('', report, {'e': {'rounds': 1}})
    good = sources.filled('<!-- = a --><!-- / -->\n<!-- table engines e ops_per_sec -->\n<!-- /table -->\n'
                          '<!-- table verdicts tires -->\n<!-- /table -->\n')
    cases = [(good, 0), (good.replace('-->2.5<', '-->2.6<'), 1), (good.replace('| 8 |', '| 9 |'), 1),
             (good.replace('| holds |', '| does not hold |'), 1), (good + '\n## Speed\n| put | 12 |\n', 1)]
    other = dict(claim, bar='>= 3')
    right = sum(len(stale_claims(registered, report)) == wanted
                for registered, wanted in (([claim], 0), ([other], 1), ([], 1)))
    right += sum(len(problems_of([('README.md', text, sources.filled(text))])) == wanted for text, wanted in cases)
    for text in ('<!-- = b -->1<!-- / -->', '<!-- table engines f x -->\n<!-- /table -->',
                 '<!-- table odd -->\n<!-- /table -->'):
        try:
            sources.filled(text)
        except SourceError:
            right += 1
    print('self-test: %d of %d cases right' % (right, len(cases) + 6))
    return 0 if right == len(cases) + 6 else 1


def main(arguments):
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    action = parser.add_mutually_exclusive_group()
    for name in ('--check', '--write', '--self-test'):
        action.add_argument(name, action='store_true')
    action.add_argument('--take', metavar='FOLDER')
    options = parser.parse_args(arguments)
    if options.self_test:
        return self_test()
    if options.take:
        take(options.take)
    claims, experiments = registry.load()
    report = reports.read_json(os.path.join(ROOT, REPORT))
    sources = Sources(ROOT, report, experiments)
    texts = texts_of(ROOT, sources, claims, experiments)
    if options.write or options.take:
        for name, now, wanted in texts:
            if now != wanted:
                with open(os.path.join(ROOT, name), 'w', encoding='utf-8') as file:
                    file.write(wanted)
                print('written: %s' % name)
        return 0
    problems = problems_of(texts) + stale_claims(claims, report)
    for problem in problems:
        print(problem)
    print('%d documents, %d problems' % (len(texts), len(problems)))
    return 1 if problems else 0


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except (SourceError, registry.RegistryError, ValueError, OSError) as error:
        sys.stderr.write('doc_figures.py: %s\n' % error)
        sys.exit(2)
