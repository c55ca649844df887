"""From figures to a verdict: pure functions, which read nothing and print nothing.

A claim has a bar, a comparison of its figure with one number or two: ">= 2", "<= 1.25", "== 0", "in 3.6 4.0". A figure
has one value for each round. Counted figures are held against the bar as they are, each round of them. Timed figures
are held with their median against the bar widened by the tolerance, in percent of the bar; where the rounds, but for
one, lie on both sides of that and far apart, the machine was too noisy to tell.
"""

import collections
import re
import statistics

HOLDS = 'holds'
FALLS = 'does not hold'
UNJUDGED = 'cannot be judged here'
VERDICTS = (HOLDS, FALLS, UNJUDGED)

# Timed rounds on both sides of the bar are believed as long as they differ by no more than this share of their median.
# The one farthest from the median is left out of that: one bad minute of the machine is what medians are for.
WIDEST_SPREAD = 0.5

Verdict = collections.namedtuple('Verdict', 'verdict value reason')
NUMBER = r'-?\d+(?:\.\d+)?'
BAR = re.compile(r'(>=|<=|==) (%s)$|in (%s) (%s)$' % ((NUMBER,) * 3))


def parse_bar(text):
    """The least and the largest value that meet a bar; None is no limit. Raises ValueError where it is no bar."""
    match = BAR.match(text)
    if not match:
        raise ValueError('"%s" is no bar; bars are like ">= 2", "<= 2", "== 2", "in 1 2"' % text)
    sign, number, least, largest = match.groups()
    if sign is None:
        if float(least) > float(largest):
            raise ValueError('"%s" has no value in it' % text)
        return float(least), float(largest)
    value = float(number)
    return {'>=': (value, None), '<=': (None, value), '==': (value, value)}[sign]


def widened(limits, percent):
    """The limits, each moved outwards by so many percent of itself."""
    least, largest = limits
    return (None if least is None else least - abs(least) * percent / 100,
            None if largest is None else largest + abs(largest) * percent / 100)


def meets(value, limits):
    """Whether a value lies within limits, which belong to them."""
    least, largest = limits
    return (least is None or value >= least) and (largest is None or value <= largest)


def per_round(values, peers, best):
    """Values by round, over the best of the peers of the same round if there are peers. Rounds that lack one are left
    out, and so are those whose peer is zero."""
    if not peers:
        return dict(values)
    ratios = {}
    for number, value in values.items():
        others = [peer[number] for peer in peers if number in peer]
        if len(others) == len(peers) and best(others) != 0:
            ratios[number] = value / best(others)
    return ratios


def plain(value):
    """A number as a reason shows it."""
    return '%.4g' % value if abs(value) < 1e6 else '%.0f' % value


def judge_counted(values, limits, bar):
    """Every round has to meet the bar as it stands."""
    value = statistics.median(values)
    missed = [one for one in values if not meets(one, limits)]
    if missed:
        return Verdict(FALLS, missed[0], '%s, the bar is %s' % (plain(missed[0]), bar))
    return Verdict(HOLDS, value, '%s, the bar is %s' % (plain(value), bar))


def judge_timed(values, limits, bar, tolerance):
    """The median has to meet the bar widened by the tolerance, unless the rounds say too little."""
    value = statistics.median(values)
    limits = widened(limits, tolerance)
    text = 'median %s of %d, from %s to %s; the bar is %s with %g %% of tolerance' % (
        plain(value), len(values), plain(min(values)), plain(max(values)), bar, tolerance)
    near = sorted(values, key=lambda one: abs(one - value))[:max(1, len(values) - 1)]
    sides = {meets(one, limits) for one in near}
    spread = (max(near) - min(near)) / abs(value) if value else float('inf')
    if len(sides) == 2 and spread > WIDEST_SPREAD:
        return Verdict(UNJUDGED, value, 'rounds lie on both sides of the bar and too far apart: ' + text)
    return Verdict(HOLDS if meets(value, limits) else FALLS, value, text)


def judge(claim, values, rounds):
    """The verdict on a claim (a dictionary with kind, bar and tolerance) whose figure had these values by round."""
    if not values:
        return Verdict(FALLS, None, 'the experiment ended without the figure')
    if len(values) < rounds:
        return Verdict(UNJUDGED, None, '%d of %d rounds have the figure' % (len(values), rounds))
    limits = parse_bar(claim['bar'])
    in_order = [values[number] for number in sorted(values)]
    if claim['kind'] == 'counted':
        return judge_counted(in_order, limits, claim['bar'])
    return judge_timed(in_order, limits, claim['bar'], claim['tolerance'])
