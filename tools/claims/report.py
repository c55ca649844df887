"""A report: what a run of the claims found, as JSON, and as one page of HTML."""

import html
import json

import judge
import registry
import samples  # which knows where the experiments' modules are
import pages

assert samples.STUDIES
VERSION = 1
COLORS = {judge.HOLDS: pages.GOOD, judge.FALLS: pages.BAD, judge.UNJUDGED: pages.NEUTRAL}


def counts(claims):
    """How many claims have each verdict."""
    return {verdict: sum(1 for claim in claims if claim['verdict'] == verdict) for verdict in judge.VERDICTS}


def summary(report):
    """One line."""
    found = counts(report['claims'])
    return ', '.join('%s: %d' % (verdict, found[verdict]) for verdict in judge.VERDICTS)


def write_json(report, path):
    """Writes the report so that equal ones are equal bytes."""
    with open(path, 'w', encoding='utf-8') as file:
        json.dump(report, file, indent=1, sort_keys=True, ensure_ascii=False)
        file.write('\n')


def read_json(path):
    """Reads a report; raises ValueError where it is none."""
    with open(path, encoding='utf-8') as file:
        report = json.load(file)
    if not isinstance(report, dict) or report.get('version') != VERSION or 'claims' not in report:
        raise ValueError('%s is no report of claims.sh, or one of another version' % path)
    return report


def strip_plot(claim):
    """A small SVG: the rounds of a figure as dots on a line, the side of it that meets the bar coloured."""
    values = list(claim['rounds'].values())
    if not values:
        return ''
    least, largest = judge.parse_bar(claim['bar'])
    marks = values + [limit for limit in (least, largest) if limit is not None]
    low, high = min(marks), max(marks)
    room = (high - low) * 0.15 or abs(high) * 0.15 or 1
    low, high = low - room, high + room

    def place(value):
        return 10 + 280 * (value - low) / (high - low)
    left, right = place(low if least is None else least), place(high if largest is None else largest)
    dots = ''.join('<circle cx="%.1f" cy="14" r="4" fill="%s"/>' % (place(value), COLORS[claim['verdict']])
                   for value in values)
    return ('<svg viewBox="0 0 300 28" role="img" aria-label="rounds against the bar">'
            '<rect x="%.1f" y="4" width="%.1f" height="20" '
            'fill="%s" fill-opacity=".2"/><line x1="10" x2="290" y1="14" y2="14" stroke="#888"/>%s</svg>'
            % (left, max(right - left, 1.5), pages.GOOD, dots))


def claim_html(claim):
    """One claim with its verdict."""
    return ('<article id="%s" data-kind="%s"><h3>%s <span class="mark" style="background:%s">%s</span></h3><p>%s</p>'
            '<p class="faint">%s</p><div style="max-width:20rem">%s</div><p>%s</p>'
            '<p><code>%s: %s%s, %s, bar %s%s</code></p></article>' % (
                html.escape(claim['id']), claim['verdict'], html.escape(claim['id']), COLORS[claim['verdict']],
                claim['verdict'], html.escape(claim['statement']), html.escape(claim['why']), strip_plot(claim),
                html.escape(claim['reason']),
                html.escape(claim['experiment']), html.escape(claim['figure']),
                html.escape(' over the best of ' + ', '.join(claim['over']) if claim['over'] else ''), claim['kind'],
                html.escape(claim['bar']),
                ', tolerance %g %%' % claim['tolerance'] if claim['kind'] == 'timed' else ''))


def fallen_html(claims):
    """The claims that do not hold, which a reader has to see first."""
    fallen = [claim for claim in claims if claim['verdict'] == judge.FALLS]
    if not fallen:
        return '<p>No claim fell.</p>'
    return '<p>%s:</p><ul>%s</ul>' % (judge.FALLS.capitalize(), ''.join(
        '<li><a href="#%s">%s</a>: %s</li>' % tuple(html.escape(claim[key]) for key in ('id', 'id', 'reason'))
        for claim in fallen))


def machine_facts(report):
    """What every figure depends on."""
    machine = report['machine']
    pieces = {}
    for name, origin in sorted(report.get('pieces', {}).items()):
        pieces.setdefault(origin, []).append(name)
    return pages.facts(
        (('Commit', report['commit']), ('Date', machine.get('date_utc', '')),
         ('CPU', '%s, %s CPUs' % (machine['cpu']['model'], machine['cpu']['count'])),
         ('Memory', '%s MiB' % machine['memory_mib'].get('MemTotal')), ('Kernel', machine['kernel']),
         ('Databases on', '%(type)s, %(options)s' % machine['filesystem']),
         ('Busy before', '%s CPUs' % machine.get('busy_cpus_before')),
         ('Took', '%d s' % report['seconds']), ('Seeds', 'the number of the round')) + tuple(
             ('Piece', '%s: %s' % (origin, ', '.join(names))) for origin, names in pieces.items()))


def page(report, plots):
    """The page of a report; plots are texts of SVG files."""
    sections = [('Plots', pages.figures(plots))] if plots else []
    for tier in registry.TIERS:
        claims = [claim for claim in report['claims'] if claim['tier'] == tier]
        if claims:
            text = registry.TIER_TEXTS[tier]
            sections.append((text[0].upper() + text[1:], '\n'.join(claim_html(claim) for claim in claims)))
    sections.append(('Experiments', '\n'.join(
        '<details><summary>%s, %d s</summary><pre>%s</pre></details>' % (
            html.escape(name), experiment['seconds'], html.escape('\n'.join(experiment['commands'])))
        for name, experiment in sorted(report['experiments'].items()))))
    sections.append(('Machine', '<pre>%s</pre>' % html.escape(json.dumps(report['machine'], indent=1))))
    top = '<p>%s.</p>%s%s' % (html.escape(summary(report).capitalize()), fallen_html(report['claims']), machine_facts(report))
    return pages.page('Claims of MioDB', top, sections, judge.VERDICTS)


def differences(before, after):
    """Lines that say how a report differs from an earlier one."""
    lines = []
    if before['commit'] != after['commit']:
        lines.append('commit: %s -> %s' % (before['commit'], after['commit']))
    for name in ('cpu', 'kernel'):
        if before['machine'].get(name) != after['machine'].get(name):
            lines.append('the machines differ in %s, so timed figures do not compare' % name)
    old = {claim['id']: claim for claim in before['claims']}
    new = {claim['id']: claim for claim in after['claims']}
    for name in old:
        if name not in new:
            lines.append('%s: gone' % name)
    for name, claim in new.items():
        if name not in old:
            lines.append('%s: new, %s' % (name, claim['verdict']))
            continue
        was = old[name]
        if was['verdict'] != claim['verdict']:
            lines.append('%s: %s -> %s (%s)' % (name, was['verdict'], claim['verdict'], claim['reason']))
        if was['value'] is not None and claim['value'] is not None and was['value'] != claim['value']:
            change = ' (%+.1f %%)' % (100 * (claim['value'] / was['value'] - 1)) if was['value'] else ''
            lines.append('%s: %.4g -> %.4g%s' % (name, was['value'], claim['value'], change))
        if was['bar'] != claim['bar']:
            lines.append('%s: the bar was %s, is %s' % (name, was['bar'], claim['bar']))
    return lines
