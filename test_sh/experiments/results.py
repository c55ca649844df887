#!/usr/bin/env python3
"""Makes data.csv, table.txt, plots and report.html of what the runs of an experiment printed.

  results.py FOLDER --name NAME --title TITLE --description TEXT --plots true|false --runs N

N is how many runs the experiment has, of all engines and rounds. FOLDER is one that lib.sh filled: plan.csv, panels.csv, machine.json, raw/. What is not finished is left out; the rest
is as good as it would be otherwise. The folder above FOLDER's gets an index of all experiments in it.
"""

import argparse
import csv
import glob
import hashlib
import html
import json
import os
import re
import statistics
import sys

import collection
import outputs
import pages
import plots

RAW = re.compile(r'^(\d+)-([a-z][a-z0-9.-]*)-(\d+)$')
# Bytes of keys and values that db_bench takes if its command does not say.
DEFAULT_SIZES = {'key_size': 16, 'value_size': 100}
COLUMNS = ['run', 'engine', 'round', 'series', 'x', 'benchmark', 'seconds', 'metric', 'value']
DURABILITY = {
    'miodb': 'every acknowledged write is in the pool; persist mode %s',
    'leveldb': 'log written, not synced: survives the death of the process, not loss of power',
    'rocksdb': 'log written, not synced: survives the death of the process, not loss of power',
    'lmdb': 'each write committed, not synced: survives the death of the process, not loss of power',
    'wiredtiger': 'log written at each commit, not synced: survives the death of the process, not loss of power',
}


def record_sizes(command):
    """Bytes of key and value in a run of db_bench, or None if the command names neither."""
    named = {name: int(size) for name, size in re.findall(r'--(key_size|value_size)=(\d+)', command)}
    return tuple(dict(DEFAULT_SIZES, **named).values()) if named else None


def fill_of(command):
    """The share of the pool that the live data of a run take, or None if the command does not say it."""
    named = {name: int(size) for name, size in re.findall(r'--(num|pool_size)=(\d+)', command)}
    sizes = record_sizes(command)
    fill = named['num'] * sum(sizes) / named['pool_size'] if sizes and len(named) == 2 and named['pool_size'] > 0 else 0
    return fill if 0 < fill < 1 else None


def allowed(rows, plan):
    """Rows of what the arithmetic of collection allows the overwrites of runs in pools of a size that is given."""
    series = {}  # series and round -> run -> its row so far, and what the arithmetic is told
    for row in rows:
        fill = fill_of(plan[row['run']]['command']) if row['engine'] == 'miodb' else None
        wanted = {'overwrite': ('ops_per_sec',), 'stats': ('write_amplification',)}.get(row['benchmark'], ())
        if fill and row['metric'] in wanted:
            runs = series.setdefault((row['series'], row['round']), {})
            runs.setdefault(row['run'], (row, {'fill': fill}))[1][row['metric']] = row['value']
    found = []
    for runs in series.values():
        collection.add_allowed([run for _, run in runs.values()])
        found += [dict(row, benchmark='overwrite', metric=metric, value=run[metric]) for row, run in runs.values()
                  for metric in ('least_copies', 'allowed_ops_per_sec') if 'ops_per_sec' in run and metric in run]
    return found


PEER_LINES = (('version', re.compile(r'^Engine: +\S+ (.*)')), ('library', re.compile(r'^Library: +(.*)')),
              ('build', re.compile(r'^WARNING: .* is no release build: (.*)')),
              ('checksums', re.compile(r'^WARNING: .* computes checksums in (software)')),
              ('right', re.compile(r'^Answers: +right: (.*)')), ('wrong', re.compile(r'^WARNING: .* answers wrong, (.*)')))


def collect_peers(folder):
    """By engine what the headers of its runs say about its library: version, file and checksum of the file, how it was
    built, which answers are right and wrong."""
    peers = {}
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), 'raw', '*.out'))):
        match = RAW.match(os.path.basename(path)[:-4])
        with open(path, encoding='utf-8', errors='replace') as file:
            header = [line.rstrip('\n') for _, line in zip(range(60), file)]
        if not match or not any(line.startswith('Library: ') for line in header):
            continue
        peer = peers.setdefault(match.group(2), {})
        # ycsbc's header has no line below it.
        for line in header[:next((i for i, line in enumerate(header) if line.startswith('-----')), len(header))]:
            for name, pattern in PEER_LINES:
                found = pattern.match(line)
                if found and found.group(1) not in peer.get(name, ''):
                    peer[name] = peer[name] + '; ' + found.group(1) if name == 'wrong' and name in peer else found.group(1)
    for peer in peers.values():
        peer.setdefault('build', 'release')
        try:
            with open(peer['library'], 'rb') as file:
                peer['sha256'] = hashlib.sha256(file.read()).hexdigest()
        except OSError:
            pass
    return peers


def peer_label(name, peer):
    """A peer as charts name it: version, and whatever makes it weaker than it might be."""
    build = 'release build' if peer['build'] == 'release' else 'NO RELEASE BUILD'
    return '%s %s, %s%s' % (name, peer.get('version', 'of unknown version'), build, ', ANSWERS WRONG' if 'wrong' in peer else '')


def write_peers(folder, peers):
    """Writes peers.csv."""
    columns = ('engine', 'version', 'build', 'checksums', 'right', 'wrong', 'library', 'sha256')
    with open(os.path.join(folder, 'peers.csv'), 'w', newline='', encoding='utf-8') as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(dict(peer, engine=name) for name, peer in sorted(peers.items()))


def collect(folder):
    """The rows of data.csv, the persist modes met, and how many runs are finished."""
    with open(os.path.join(folder, 'plan.csv'), newline='', encoding='utf-8') as file:
        plan = {row['run']: row for row in csv.DictReader(file)}
    rows, modes, finished = [], set(), 0
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), 'raw', '*.out'))):
        match = RAW.match(os.path.basename(path)[:-4])
        if not match or match.group(1) not in plan:
            continue
        run, engine, repeat = match.groups()
        finished += 1
        figures, mode = outputs.read_run(path[:-4])
        if mode:
            modes.add(mode)
        for benchmark, seconds, metric, value in figures:
            rows.append({'run': run, 'engine': engine, 'round': int(repeat), 'series': plan[run]['series'],
                         'x': plan[run]['x'], 'sizes': record_sizes(plan[run]['command']), 'benchmark': benchmark, 'seconds': seconds, 'metric': metric, 'value': value})
    return rows + allowed(rows, plan), modes, finished


def labels(data, machine, finished, runs):
    """What nobody who looks at a figure may miss: where it was measured, how much, and whether something is missing."""
    words = []
    if finished < runs:
        words.append('PARTIAL: %d of %d runs' % (finished, runs))
    words.append('scale %g' % machine['scale'])
    rounds = len({row['round'] for row in data})
    words.append('%d round%s' % (rounds, '' if rounds == 1 else 's'))
    modes = machine['persist_modes']
    for mode, text in (('emulated', 'persistent memory EMULATED'), ('file', 'pool in a file'), ('pmem', 'persistent memory')):
        if any(found.split(',')[0] == mode for found in modes):
            words.append(text)
    if any('MODELLED' in found for found in modes):
        words.append('figures of miodb MODELLED')
    words += [peer_label(name, peer) for name, peer in sorted(machine.get('peers', {}).items())]
    return words


def warnings(data, machine, finished, runs):
    """Why figures may not be what they seem."""
    found = []
    if finished < runs:
        found.append('PARTIAL: %d of %d runs are finished; --resume goes on' % (finished, runs))
    if len({row['round'] for row in data}) == 1:
        found.append('one round: what is chance and what is not cannot be told; --rounds 3 shows the spread')
    short = {}
    for row in data:
        if row['metric'] == 'seconds' and row['benchmark'] != 'wait' and row['value'] < 1:
            short[row['benchmark']] = min(row['value'], short.get(row['benchmark'], 1))
    if short:
        found.append('runs of less than a second, which say little: %s; a larger --scale makes longer ones' % ', '.join(
            '%s (%.2g s)' % pair for pair in sorted(short.items())))
    for name, peer in sorted(machine.get('peers', {}).items()):
        if peer['build'] != 'release':
            found.append('%s is no release build: %s; ratios to it say little. test_sh/peers.sh brings one' % (name, peer['build']))
        if 'wrong' in peer:
            found.append('%s answers wrong, so its figures are of other work: %s' % (name, peer['wrong']))
    busy = machine.get('busy_cpus_before', 0)
    if busy > 0.25:
        found.append('the machine was loaded before the first run: other programs kept %.1f of %s CPUs busy' % (
            busy, machine['cpu']['count']))
    return found


def float_or_0(text):
    """The number that a text is, or 0."""
    return float(text) if re.fullmatch(r'[\d.]+', text) else 0


class Panel:
    """One plot: which figures it shows, as lines (an engine and a series each) over groups (an x or a benchmark)."""

    def __init__(self, row, data):
        self.kind, self.title, self.xlabel, self.ylabel = row['kind'], row['title'], row['xlabel'], row['ylabel']
        self.benchmarks = row['benchmarks'].split(',')
        self.metrics = row['metrics'].split(',')
        self.options = dict(word.split('=', 1) for word in row['options'].split('\x1e') if word)
        series = self.options['series'].split(';') if 'series' in self.options else None
        engines = self.options['engines'].split(',') if 'engines' in self.options else None
        self.data = [row for row in data
                     if row['benchmark'] in self.benchmarks and row['metric'] in self.metrics
                     and (series is None or row['series'] in series) and (engines is None or row['engine'] in engines)
                     and (row['seconds'] is not None) == (self.kind == 'time')]
        if self.options.get('axis') == 'record':
            self.data = [dict(row, x=str(sum(row['sizes'])), series=row['series'].partition(', ')[2] or row['series'])
                         for row in sorted((row for row in self.data if row['sizes']), key=lambda row: sum(row['sizes']))]
        self.by_benchmark = len(self.benchmarks) > 1
        order = {engine: i for i, engine in enumerate(pages.ENGINE_COLORS)}
        self.lines = list(dict.fromkeys(
            (row['engine'], row['series']) for row in sorted(self.data, key=lambda row: (row['run'], order.get(row['engine'], 9)))))
        self.engines = sorted({line[0] for line in self.lines}, key=lambda engine: order.get(engine, 9))
        self.series = list(dict.fromkeys(line[1] for line in self.lines))
        present = list(dict.fromkeys((row['benchmark'] if self.by_benchmark else row['x']) for row in self.data))
        self.groups = [name for name in self.benchmarks if name in present] if self.by_benchmark else present
        self.values = {}
        for row in self.data:
            group = row['benchmark'] if self.by_benchmark else row['x']
            key = (row['engine'], row['series'], group, row['metric'])
            self.values.setdefault(key, {})[row['round'], row.get('sizes')] = row['value']

    def is_about(self, engines):
        """Whether it shows one of these engines at all."""
        return 'engines' not in self.options or any(engine in engines for engine in self.options['engines'].split(','))

    def rounds(self, line, group, metric=None):
        """Values by round and sizes of the record."""
        return self.values.get(line + (group, metric or self.metrics[0]), {})

    def median(self, line, group, metric=None):
        """The median over rounds, or None."""
        values = self.rounds(line, group, metric)
        return statistics.median(values.values()) if values else None

    def spread(self, line, group):
        """Median, least and largest value, or None."""
        values = self.rounds(line, group)
        if not values:
            return None
        if self.options.get('show') == 'largest':
            return (max(values.values()),) * 3
        return statistics.median(values.values()), min(values.values()), max(values.values())

    def samples(self, line):
        """(seconds, value) of a series over time, of its first round."""
        rows = [row for row in self.data if (row['engine'], row['series']) == line]
        first = min((row['round'] for row in rows), default=0)
        return sorted((row['seconds'], row['value']) for row in rows if row['round'] == first)

    def largest(self):
        """The largest value shown, or None if there is nothing to show."""
        values = [row['value'] for row in self.data]
        return max(values) * (len(self.metrics) if self.kind == 'stack' else 1) if values else None

    def has_binary_groups(self):
        """Whether all groups are multiples of 1024, so that one axis does not mix KiB and kB."""
        return all(size % 1024 == 0 for size in map(float_or_0, self.groups) if size >= 1000)

    def group_label(self, group):
        """How a group is called on the axis."""
        if self.options.get('axis') == 'record':
            return group
        if not self.by_benchmark and re.fullmatch(r'[\d.]+', group):
            return plots.amount(float(group), 'bytes' in self.xlabel.lower(), self.has_binary_groups())
        # Phases of YCSB: "A", "A read", "load again".
        phase, _, operation = group.partition('-')
        if phase not in ('load', 'reload', 'run', 'a', 'b', 'c', 'd', 'e', 'f'):
            return group
        phase = {'reload': 'load again'}.get(phase, phase.upper() if len(phase) == 1 else phase)
        return (phase + ' ' + operation.replace('read-modify-write', 'rmw')).strip()

    def line_label(self, line):
        """How a line is called in the key."""
        engine, series = line
        if len(self.series) > 1:
            # What all series have in common, "sequential, " for example, the title says.
            first = series.split(', ')[0] + ', '
            if all(other.startswith(first) for other in self.series):
                series = series[len(first):]
            return '%s, %s' % (engine, series) if len(self.engines) > 1 else series
        return engine

    def key_rows(self):
        """How many rows its key takes."""
        names = [self.line_label(line) for line in self.lines] if self.kind != 'stack' else self.metrics
        return 1 if sum(len(name) + 6 for name in names) < 80 else 2

    def metric_label(self, metric):
        """How a part of a stack is called."""
        return re.sub('^(wa|nvm_bytes)_', '', metric).replace('_', ' ')

    def color(self, line, index):
        """Engines have colours; with one engine, series do."""
        if len(self.engines) == 1 and len(self.series) > 1:
            return pages.COLORS[index % len(pages.COLORS)]
        return plots.color_of(line[0], index)

    def dash(self, line):
        """Series of several engines are told apart by dashes."""
        return 1 + self.series.index(line[1]) % 5 if len(self.engines) > 1 else 1

    def ratio(self, line, other, group):
        """Median, least and largest of a line's value over another's, pair by pair of the same round, or None."""
        ours, theirs = self.rounds(line, group), self.rounds(other, group)
        return middle_and_ends([ours[pair] / theirs[pair] for pair in ours if theirs.get(pair, 0) > 0])

    def difference(self, line, other, group):
        """The same of a line's value minus another's."""
        ours, theirs = self.rounds(line, group), self.rounds(other, group)
        return middle_and_ends([ours[pair] - theirs[pair] for pair in ours if pair in theirs])


def middle_and_ends(values):
    """Median, least and largest, or None."""
    return (statistics.median(values), min(values), max(values)) if values else None


def figure(value):
    """A number of a table."""
    if value is None:
        return '-'
    return '{:,.0f}'.format(value) if abs(value) >= 1000 else '%.4g' % value


def spread_text(spread):
    """A median with half of its range in percent."""
    if spread is None:
        return '-'
    median, least, largest = spread
    if least == largest:
        return figure(median)
    half = 50 * (largest - least) / median if median > 0 else 0
    return '%s ±%.0f%%' % (figure(median), half)


def ratio_text(ratio):
    """A median with its range, if there is one."""
    if ratio is None:
        return '-'
    return '%.3g (%.3g-%.3g)' % ratio if ratio[1] < ratio[2] else '%.3g' % ratio[0]


def difference_text(difference):
    """A median with its range, if there is one, with signs."""
    if difference is None:
        return '-'
    return '%+.3g (%+.3g to %+.3g)' % difference if difference[1] < difference[2] else '%+.3g' % difference[0]


def table(panel):
    """Heading and rows of a panel's table."""
    peers = [engine for engine in panel.engines if engine != 'miodb']
    if 'miodb' not in panel.engines or panel.options.get('show') == 'largest':
        peers = []
    many = len(panel.metrics) > 1
    heading = ([''] if len(panel.series) > 1 else []) + [panel.xlabel or ''] + (
        ['engine'] + [panel.metric_label(metric) for metric in panel.metrics] if many
        else panel.engines + ['miodb/%s' % peer for peer in peers])
    rows = []
    for series in panel.series:
        for group in panel.groups:
            start = ([series] if len(panel.series) > 1 else []) + [panel.group_label(group)]
            if many:
                rows += [start + [engine] + [figure(panel.median((engine, series), group, metric)) for metric in panel.metrics]
                         for engine in panel.engines if (engine, series) in panel.lines]
                continue
            ratios = [panel.ratio(('miodb', series), (peer, series), group) for peer in peers]
            rows.append(start + [spread_text(panel.spread((engine, series), group)) for engine in panel.engines]
                        + [ratio_text(ratio) for ratio in ratios])
    return heading, rows


def comparison(panel):
    """Heading and rows of the table of medians over the first of each engine."""
    heading = ([''] if len(panel.series) > 1 else []) + [panel.xlabel] + panel.engines
    first = {engine: panel.median((engine, panel.series[0]), panel.groups[0]) for engine in panel.engines}
    rows = []
    for series in panel.series:
        for group in panel.groups:
            values = [panel.median((engine, series), group) for engine in panel.engines]
            rows.append(([series] if len(panel.series) > 1 else []) + [panel.group_label(group)]
                        + ['%.2f' % (value / first[engine]) if value is not None and first[engine] else '-'
                           for engine, value in zip(panel.engines, values)])
    return heading, rows


def versus(panel):
    """Heading and rows of the table that sets one series against another, for each engine that has both."""
    is_difference = panel.options.get('as') == 'difference'
    heading = ['', panel.xlabel] + panel.engines
    rows = []
    for first, second in (pair.split('|') for pair in panel.options['versus'].split(';')):
        head, _, tail = second.rpartition(', ')
        name = first + (' minus ' if is_difference else ' over ') + (tail if first.startswith(head + ', ') else second)
        for group in panel.groups:
            if is_difference:
                cells = [difference_text(panel.difference((engine, first), (engine, second), group)) for engine in panel.engines]
            else:
                cells = [ratio_text(panel.ratio((engine, first), (engine, second), group)) for engine in panel.engines]
            if any(cell != '-' for cell in cells):
                rows.append([name, panel.group_label(group)] + cells)
    return heading, rows


def text_table(heading, rows):
    """The table in columns of text."""
    widths = [max(len(row[i]) for row in [heading] + rows) for i in range(len(heading))]
    return ''.join('  '.join(cell.ljust(width) if i == 0 else cell.rjust(width)
                             for i, (cell, width) in enumerate(zip(row, widths))).rstrip() + '\n' for row in [heading] + rows)


def unit_note(panel):
    """What the figures of a panel's table are."""
    if panel.options.get('show') == 'largest':
        return '%s: %s.' % (panel.title, panel.ylabel)
    note = 'Medians ±half of their range' if panel.kind != 'stack' else 'Medians'
    if 'miodb' in panel.engines and len(panel.engines) > 1 and len(panel.metrics) == 1:
        better = 'below' if panel.options.get('better') == 'less' else 'above'
        note += '; ratios of runs of the same round: median (least-largest), %s 1 is better for MioDB' % better
    return '%s: %s. %s.' % (panel.title, panel.ylabel, note)


def panel_tables(panel):
    """What is told of a panel in tables: (what the figures are, heading, rows)."""
    if panel.kind == 'time' or not panel.groups:
        return []
    tables = [(unit_note(panel),) + table(panel)]
    if panel.options.get('compare') == 'first':
        tables.append(('%s: %s over that of the first row.' % (panel.title, panel.ylabel),) + comparison(panel))
    if 'versus' in panel.options:
        tables.append(('%s: %s, pairs of runs of the same round: median (least-largest).' % (panel.title, panel.ylabel),)
                      + versus(panel))
    return tables


def durability(engine, machine):
    """What an engine's acknowledged writes survive."""
    line = DURABILITY.get(engine.partition('-')[0], 'not stated')
    return line % (', '.join(machine['persist_modes']) or 'unknown') if '%s' in line else line


FILES = """<p>All figures: <a href="data.csv">data.csv</a>. Peers: <a href="peers.csv">peers.csv</a>. Runs and commands:
<a href="plan.csv">plan.csv</a>, <a href="raw/">raw output</a>. All plots: <a href="plot.png">PNG</a>,
<a href="plot.svg">SVG</a>, <a href="plot.gp">gnuplot script</a>.</p>
"""


def write_report(folder, options, panels, machine, engines, complaints, notes):
    """Writes table.txt and report.html. "notes": labels and warnings."""
    text = '%s\n%s\n' % ('; '.join(notes[0]), ''.join('warning: %s\n' % note for note in notes[1]))
    top = '<p>%s</p>\n' % html.escape(options.description).replace('\n', '<br>\n')
    top += '<p><b>%s</b></p>\n' % html.escape('; '.join(notes[0]))
    top += ''.join('<p><b>Warning:</b> %s</p>\n' % html.escape(note) for note in notes[1])
    sections = []
    if complaints:
        sections.append(('Plots', '<p>gnuplot failed:</p><pre>%s</pre>\n' % html.escape(complaints)))
    elif options.plots == 'true':
        sections.append(('Plots', pages.figures(plots.drawn_alone(folder, panels))))
    tables = ''
    for panel in panels:
        for note, heading, rows in panel_tables(panel):
            text += '%s\n%s\n' % (note, text_table(heading, rows))
            tables += '<p>%s</p>\n%s' % (html.escape(note), pages.table(heading, rows))
    lines = [(engine, durability(engine, machine)) for engine in engines]
    text += ''.join('Durability, %s: %s\n' % line for line in lines)
    sections += [('Tables', tables),
                 ('Durability', pages.facts(lines) + '<p>Unless a run says otherwise in its command.</p>\n'),
                 ('Machine', '<pre>%s</pre>\n' % html.escape(json.dumps(machine, indent=2))), ('Files', FILES)]
    with open(os.path.join(folder, 'table.txt'), 'w', encoding='utf-8') as file:
        file.write(text)
    with open(os.path.join(folder, 'report.html'), 'w', encoding='utf-8') as file:
        file.write(pages.page(options.title, top, sections))
    sys.stdout.write(text)


def write_index(root):
    """Writes index.html of all reports below a folder of results."""
    items = []
    for path in sorted(glob.glob(os.path.join(glob.escape(root), '*', '*', 'report.html'))):
        relative = os.path.relpath(path, root)
        with open(path, encoding='utf-8') as file:
            title = re.search('<title>(.*?)</title>', file.read(4000)).group(1)
        items.append('<li><a href="%s">%s</a>, %s</li>' % (relative, title, relative.split(os.sep)[1]))
    with open(os.path.join(root, 'index.html'), 'w', encoding='utf-8') as file:
        file.write(pages.page('Experiments', '<ul>\n%s\n</ul>\n' % '\n'.join(items)))


def main():
    """Makes everything of one folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder')
    for name in ('name', 'title', 'description', 'plots', 'runs'):
        parser.add_argument('--' + name, required=True)
    options = parser.parse_args()
    folder = os.path.normpath(options.folder)
    data, modes, finished = collect(folder)
    with open(os.path.join(folder, 'data.csv'), 'w', newline='', encoding='utf-8') as file:
        writer = csv.DictWriter(file, COLUMNS, extrasaction='ignore')
        writer.writeheader()
        writer.writerows(data)
    with open(os.path.join(folder, 'machine.json'), encoding='utf-8') as file:
        machine = json.load(file)
    machine['persist_modes'] = sorted(modes)
    machine['peers'] = collect_peers(folder)
    write_peers(folder, machine['peers'])
    with open(os.path.join(folder, 'machine.json'), 'w', encoding='utf-8') as file:
        json.dump(machine, file, indent=2)
    with open(os.path.join(folder, 'panels.csv'), newline='', encoding='utf-8') as file:
        panels = [Panel(row, data) for row in csv.DictReader(file)]
    engines = list(dict.fromkeys(row['engine'] for row in data))
    panels = [panel for panel in panels if panel.is_about(engines)]
    counts = (finished, int(options.runs))
    notes = (labels(data, machine, *counts), warnings(data, machine, *counts))
    complaints = plots.draw(folder, panels, '; '.join(notes[0])) if options.plots == 'true' else ''
    write_report(folder, options, panels, machine, engines, complaints, notes)
    write_index(os.path.dirname(os.path.dirname(folder)))
    if complaints:
        sys.exit('gnuplot failed: ' + complaints)


if __name__ == '__main__':
    main()
