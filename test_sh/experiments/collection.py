"""What collecting garbage has to cost where space is short, by arithmetic.

Records of one size are overwritten in random order, all of them as often. Space is taken in order and collected in the
order in which it was taken; what is still live in it is copied to the end. With a share "fill" of the space live, a share
"moved" of what is collected still is, where (1 - moved) / -ln(moved) = fill: each overwrite makes each record garbage
with the same chance, until as much was written as the space has room for. Source: Menon, "A performance comparison of
RAID-5 and log-structured arrays", HPDC 1995; Desnoyers, "Analytic models of SSD write performance", ACM Transactions on
Storage 10(2), 2014. For such overwrites nothing that does not know what comes can be much better.
"""

import math


def moved(fill):
    """The share of what is collected that is live, and has to be copied. fill: the share of the space that is live."""
    if not 0 < fill < 1:
        raise ValueError('a share of live data between 0 and 1, not %g' % fill)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if middle > 0 and (1 - middle) / -math.log(middle) < fill:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def copies(fill):
    """Bytes copied by collection for each byte that is written new."""
    share = moved(fill)
    return share / (1 - share)


def add_allowed(runs):
    """Adds to runs what the arithmetic allows them.

    runs: dictionaries with fill, ops_per_sec and write_amplification, in one series; the one with the least fill is what
    the rest is held against: as many bytes a second as it wrote, of which more are copies. Sets least_copies and, where
    it can, allowed_ops_per_sec in each.
    """
    roomy = min(runs, key=lambda run: run['fill'])
    for run in runs:
        run['least_copies'] = copies(run['fill'])
        if 'ops_per_sec' in roomy and 'write_amplification' in roomy:
            written = roomy['write_amplification'] + run['least_copies'] - copies(roomy['fill'])
            run['allowed_ops_per_sec'] = roomy['ops_per_sec'] * roomy['write_amplification'] / written
