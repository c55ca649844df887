"""Writes a gnuplot script for the panels of an experiment, and runs it."""

import math
import os
import subprocess

from pages import COLORS, ENGINE_COLORS

PANEL_WIDTH, PANEL_HEIGHT = 620, 400
LABEL_HEIGHT = 26  # of the line above all panels
# A panel alone, for a page: small, so that its labels can be read where the page is as narrow as a phone.
ALONE_WIDTH, ALONE_HEIGHT, ALONE_FONT = 500, 350, 14


def quoted(text):
    """A gnuplot string."""
    return '"' + str(text).replace('\\', '\\\\').replace('"', '\\"').replace('\n', '\\n') + '"'


def amount(value, is_bytes, is_binary):
    """A short label of a number: 64 KiB, 820 MB, 20M, 0.5. "is_binary": units of 1024, which all labels of an axis have or
    none."""
    if is_bytes and value >= 1000:
        base, units = (1024, ('KiB', 'MiB', 'GiB')) if is_binary else (1000, ('kB', 'MB', 'GB'))
        if value < base:
            return '%.4g' % value
        power = min(3, int(math.log(value, base) + 1e-9))
        return '%.3g %s' % (value / base ** power, units[power - 1])
    for limit, letter in ((1e9, 'G'), (1e6, 'M'), (1e4, 'k')):
        if value >= limit:
            return '%.4g%s' % (value / (1e3 if letter == 'k' else limit), letter)
    return '%.4g' % value


def wrapped(label, letters):
    """The label in lines of less than so many letters, as far as its words allow."""
    lines = []
    for word in label.split(' '):
        if lines and len(lines[-1]) + 1 + len(word) < letters:
            lines[-1] += ' ' + word
        else:
            lines.append(word)
    return '\n'.join(lines)


def unit_of(label, largest):
    """The label of an axis in a unit that keeps its numbers to four digits, and what values are divided by."""
    if label == 'bytes':
        for divisor, unit in ((2 ** 30, 'GiB'), (2 ** 20, 'MiB'), (2 ** 10, 'KiB')):
            if largest >= 4 * divisor:
                return unit, divisor
        return label, 1
    if label == 'microseconds':
        return (label, 1) if largest < 5e3 else ('milliseconds', 1e3) if largest < 5e6 else ('seconds', 1e6)
    if label == 'MB/s':
        return (label, 1) if largest < 5e3 else ('GB/s', 1024)
    if largest >= 5e6:
        return 'million ' + label, 1e6
    return ('thousand ' + label, 1e3) if largest >= 5e3 else (label, 1)


def color_of(engine, index):
    """The colour of a line: the engine's, unless several lines belong to one engine."""
    return ENGINE_COLORS.get(engine, COLORS[index % len(COLORS)])


def number(value):
    """A number in a data block; what was not measured is a gap."""
    return 'NaN' if value is None else '%.10g' % value


class Script:
    """The text of a gnuplot script."""
    letters = 72  # that have room below all groups
    most_tics = 10  # of a logarithmic axis, before powers of ten alone have one

    def __init__(self, head):
        self.blocks = 0
        self.divisor = 1
        self.lines = head + [
            'set datafile missing "NaN"', 'set offsets 0, 0, graph 0.04, 0',
            'set border 3 lc rgb "#444444"', 'set tics nomirror out',
            'set grid ytics lc rgb "#dddddd" lt 1 lw 1',
            'set key horizontal center bottom at graph 0.5,1.02 Left reverse noenhanced samplen 2 maxrows 2',
        ]

    def above_key(self, panel):
        """How far above the panel its title lies, in letters."""
        return 0.1 + 1.2 * panel.key_rows()

    def turned(self, longest, letters):
        """Settings for labels of groups that are so long where so many have room, or none if they stay level."""
        del longest, letters
        return []

    def scaled(self, value):
        """A value in the unit of the panel's axis."""
        return number(None if value is None else value / self.divisor)

    def block(self, rows):
        """Adds a data block and returns its name."""
        self.blocks += 1
        name = '$data%d' % self.blocks
        self.lines += [name + ' << END'] + [' '.join(row) for row in rows] + ['END']
        return name

    def begin(self, panel):
        """Settings of one panel."""
        is_log = 'y' in panel.options.get('log', '') and panel.largest() is not None
        label, self.divisor = unit_of(panel.ylabel, panel.largest() or 0)
        self.lines += [
            'unset logscale', 'set autoscale', 'set xtics autofreq norotate noenhanced', 'unset style',
            'set title %s noenhanced offset 0,%g' % (quoted(panel.title), self.above_key(panel)),
            'set xlabel %s noenhanced offset 0,0' % quoted(panel.xlabel),
            # A label instead of ylabel, whose place depends on the width of tics that are not known yet.
            'set label 1 %s noenhanced at graph 0, graph 0.5 center rotate by 90 offset character -7.5,0' % quoted(label),
            'set format y "%g"', 'set ytics autofreq',
        ]
        if is_log:
            self.lines += ['set logscale y'] + self.log_tics(panel)
        else:
            self.lines += ['set yrange [0:*]']

    def log_tics(self, panel):
        """The range of a logarithmic axis in whole steps of 1, 2, 5, with a tick at each or, if these are many, at powers
        of ten."""
        values = [row['value'] / self.divisor for row in panel.data if row['value'] > 0]
        if not values:
            return []
        steps = [digit * 10.0 ** power for power in range(-6, 13) for digit in (1, 2, 5)]
        # Bars begin at the lower end, so the least value lies well above it.
        low = max(step for step in steps if step <= min(values) / 1.5 or step == steps[0])
        high = min(step for step in steps if step >= max(values) or step == steps[-1])
        shown = [step for step in steps if low <= step <= high]
        if len(shown) > self.most_tics:
            shown = [step for step in shown if ('%e' % step).startswith('1')]
        # gnuplot leaves out a tick that lies exactly at the end of a logarithmic axis, for some numbers.
        return ['set yrange [%g:%g]' % (low * 0.999, high * 1.001),
                'set ytics (%s)' % ', '.join('"%g" %g' % (step, step) for step in shown)]

    def empty(self):
        """A panel for which nothing was measured yet."""
        self.lines += ['set label 2 "nothing measured" at graph 0.5,0.5 center', 'set xrange [0:1]', 'set yrange [0:1]',
                       'plot NaN notitle', 'unset label 2']

    def group_tics(self, panel):
        """Labels of the groups, in lines that have room below each; returns them."""
        labels = [panel.group_label(group) for group in panel.groups]
        letters = self.letters // len(labels)
        longest = max(len(label) for label in labels)
        if longest < letters:
            return labels
        turned = self.turned(longest, letters)
        if turned:
            self.lines += turned
            return labels
        labels = [wrapped(label, letters) for label in labels]
        if max(len(line) for label in labels for line in label.split('\n')) >= letters:
            labels = ['\n' * (i % 2) + label for i, label in enumerate(labels)]
        self.lines += ['set xlabel offset 0,%g' % (-0.9 * max(label.count('\n') for label in labels))]
        return labels

    def bars(self, panel):
        """Groups of bars with whiskers from the least to the largest value. The length of a bar is its value, so bars begin
        at 0: over a logarithmic axis there are points instead."""
        is_log = 'y' in panel.options.get('log', '')
        labels = self.group_tics(panel)
        spreads = [[panel.spread(line, group) or (None, None, None) for line in panel.lines] for group in panel.groups]
        self.lines += ['set xrange [-0.6:%g]' % (len(panel.groups) - 0.4)]
        if is_log:
            self.lines += ['set xtics (%s)' % ', '.join('%s %d' % (quoted(label), i) for i, label in enumerate(labels))]
            step = 0.8 / len(panel.lines)
            names = [self.block([[number(at + step * (i - (len(panel.lines) - 1) / 2))] + [self.scaled(v) for v in group[i]]
                                 for at, group in enumerate(spreads)]) for i in range(len(panel.lines))]
            self.plot(['%s using 1:2:3:4 with yerrorbars title %s lc rgb "%s" lw 1.5 pt 7 ps 0.9' % (
                name, quoted(panel.line_label(line)), panel.color(line, i))
                       for i, (name, line) in enumerate(zip(names, panel.lines))])
            return
        name = self.block([[quoted(label)] + [self.scaled(value) for spread in group for value in spread]
                           for label, group in zip(labels, spreads)])
        self.lines += ['set style data histograms', 'set style histogram errorbars gap 1.2 lw 1.2',
                       'set style fill solid 0.85 border -1', 'set boxwidth 0.92']
        self.plot(['%s using %d:%d:%d:xtic(1) title %s lc rgb "%s"' % (
            name, 3 * i + 2, 3 * i + 3, 3 * i + 4, quoted(panel.line_label(line)), panel.color(line, i))
                   for i, line in enumerate(panel.lines)])

    def stack(self, panel):
        """Bars made of the metrics, one for each group and engine."""
        rows = []
        for group in panel.groups:
            for line in panel.lines:
                parts = [panel.median(line, group, metric) for metric in panel.metrics]
                if any(part is not None for part in parts):
                    label = panel.group_label(group)
                    if len(panel.lines) > 1:
                        label += ' ' + panel.line_label(line)
                    rows.append([quoted(label)] + [self.scaled(part or 0) for part in parts])
        name = self.block(rows)
        self.lines += ['set style data histograms', 'set style histogram rowstacked', 'set boxwidth 0.6',
                       'set style fill solid 0.85 border -1', 'set xrange [-0.6:%g]' % (len(rows) - 0.4)]
        self.plot(['%s using %d:xtic(1) title %s lc rgb "%s"' % (name, i + 2, quoted(panel.metric_label(metric)), COLORS[i])
                   for i, metric in enumerate(panel.metrics)])

    def over_x(self, panel):
        """Lines over a numeric x, with whiskers."""
        xs = sorted({float(group) for group in panel.groups})
        if 'x' in panel.options.get('log', ''):
            self.lines += ['set logscale x 2']
        is_bytes = 'bytes' in panel.xlabel.lower()
        ticks = ', '.join('%s %.10g' % (quoted(amount(x, is_bytes, panel.has_binary_groups())), x) for x in xs)
        margin = (max(xs) - min(xs)) * 0.05 or max(xs) * 0.1 or 1
        low, high = (min(xs) * 0.85, max(xs) * 1.15) if 'x' in panel.options.get('log', '') else (
            min(xs) - margin, max(xs) + margin)
        self.lines += ['set xtics (%s)' % ticks, 'set xrange [%.10g:%.10g]' % (low, high)]
        if len(xs) > 9:
            self.lines += ['set xtics autofreq']
        plots = []
        for i, line in enumerate(panel.lines):
            rows = []
            for group in sorted(panel.groups, key=float):
                spread = panel.spread(line, group)
                if spread:
                    rows.append([number(float(group))] + [self.scaled(value) for value in spread])
            if rows:
                plots.append('%s using 1:2:3:4 with yerrorlines title %s lc rgb "%s" lw 1.8 pt %d ps 0.9 dt %d' % (
                    self.block(rows), quoted(panel.line_label(line)), panel.color(line, i), 5 + 2 * (i % 5),
                    panel.dash(line)))
        self.plot(plots)

    def over_time(self, panel):
        """Lines over seconds, as measured in the first round that has them."""
        plots = []
        for i, line in enumerate(panel.lines):
            samples = panel.samples(line)
            if samples:
                name = self.block([[number(seconds), self.scaled(value)] for seconds, value in samples])
                style = ('linespoints', ' pt 7 ps 0.5') if len(samples) < 40 else ('lines', '')
                plots.append('%s using 1:2 with %s title %s lc rgb "%s" lw 1.4 dt %d%s' % (
                    name, style[0], quoted(panel.line_label(line)), panel.color(line, i), panel.dash(line), style[1]))
        self.lines += ['set xrange [0:*]']
        self.plot(plots)

    def plot(self, parts):
        """The plot command of one panel."""
        if parts:
            self.lines += ['plot \\', ', \\\n'.join('  ' + part for part in parts)]
        else:
            self.empty()


    def panel(self, panel):
        """Everything of one panel."""
        self.begin(panel)
        if panel.largest() is None:
            self.empty()
        else:
            {'bars': self.bars, 'stack': self.stack, 'time': self.over_time}.get(panel.kind, self.over_x)(panel)


class Sheet(Script):
    """All panels with a label above them."""

    def __init__(self, panels, label):
        columns = 1 if len(panels) == 1 else 2
        rows = -(-len(panels) // columns)
        width, height = columns * PANEL_WIDTH, rows * PANEL_HEIGHT + LABEL_HEIGHT
        key_pixels = 18 * (max([1] + [panel.key_rows() for panel in panels]) - 1)
        super().__init__([
            '# Made by the experiment; gnuplot -e \'kind="svg"\' plot.gp draws it again.',
            'if (!exists("kind")) kind = "png"',
            'width = %d' % width, 'height = %d' % height,
            'if (kind eq "svg") set terminal svg size width, height font "Sans,12" background "white" dynamic; '
            'else set terminal pngcairo size width, height font "Sans,10" background "white"',
            'set output "plot.".kind',
            'set multiplot layout %d,%d margins screen %g,%g,%g,%g spacing screen %g,%g' % (
                rows, columns, 86 / width, 1 - 26 / width, 76 / height, 1 - (64 + key_pixels + LABEL_HEIGHT) / height,
                112 / width, (150 + key_pixels) / height),
            'set label 100 %s noenhanced at screen 0.5, screen %g center' % (quoted(label), 1 - LABEL_HEIGHT / 2 / height)])


class Single(Script):
    """A panel alone, as an SVG of this name."""
    letters = 44
    most_tics = 7

    def __init__(self, panel, name):
        key_pixels = 20 * (self.key_rows(panel) - 1)
        self.height = ALONE_HEIGHT + key_pixels
        super().__init__([
            'set terminal svg size %d, %d font "Sans,%d" background "white" dynamic' % (ALONE_WIDTH, self.height, ALONE_FONT),
            'set output %s' % quoted(name),
            'set lmargin at screen %g' % (96 / ALONE_WIDTH), 'set rmargin at screen %g' % (1 - 16 / ALONE_WIDTH),
            'set bmargin at screen %g' % (72 / self.height),
            'set tmargin at screen %g' % (1 - (70 + key_pixels) / self.height)])

    @staticmethod
    def key_rows(panel):
        """How many rows the key has: three short entries lie side by side, or two."""
        count = len(panel.metrics if panel.kind == 'stack' else panel.lines)
        return 1 if count <= 3 else -(-count // 2)

    def above_key(self, panel):
        return 0.4 + 0.85 * self.key_rows(panel)

    def turned(self, longest, letters):
        if longest <= 2 * letters:
            return []
        return ['set xtics rotate by 35 right',
                'set bmargin at screen %g' % (min(48 + 4 * longest, 120) / self.height), 'unset xlabel']


def run_gnuplot(folder, arguments, text=None):
    """What gnuplot complained about, or nothing."""
    done = subprocess.run(['gnuplot'] + arguments, cwd=folder, input=text, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode != 0 else ''


def draw(folder, panels, label):
    """Writes plot.gp, plot.png and plot.svg, with the label above all panels, and each panel alone as plot-N.svg. Returns
    what gnuplot complained about, or nothing."""
    script = Sheet(panels, label)
    for i, panel in enumerate(panels):
        if i == 1:
            script.lines.append('unset label 100')  # which was drawn with the first
        script.panel(panel)
    with open(os.path.join(folder, 'plot.gp'), 'w', encoding='utf-8') as file:
        file.write('\n'.join(script.lines + ['unset multiplot', '']))
    complaints = ''.join(run_gnuplot(folder, ['-e', 'kind="%s"' % kind, 'plot.gp']) for kind in ('png', 'svg'))
    for i, panel in enumerate(panels):
        alone = Single(panel, 'plot-%d.svg' % (i + 1))
        alone.panel(panel)
        complaints += run_gnuplot(folder, ['-'], '\n'.join(alone.lines + ['']))
    return complaints


def drawn_alone(folder, panels):
    """The texts of the panels' SVG files."""
    texts = []
    for i in range(len(panels)):
        with open(os.path.join(folder, 'plot-%d.svg' % (i + 1)), encoding='utf-8') as file:
            texts.append(file.read())
    return texts
