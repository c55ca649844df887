"""Writes docs/claims.md from the registry: every claim as one entry."""

import registry

HEAD = """# Claims

What README and docs claim, each with the experiment that judges it. `test_sh/claims.sh` runs them; this page is written
by `tools/claims/doc_figures.py --write` from the files of `tools/claims/registry/`, where a claim is changed or added.
[artifact.md](artifact.md) is a way through them.

```sh
test_sh/claims.sh                      # the first tier: two cores, 24 GiB, less than half an hour
test_sh/claims.sh --only=power-loss    # some of them
test_sh/claims.sh --tier=paper         # at the size of the tables in benchmarks.md
test_sh/claims.sh --diff BEFORE AFTER  # how two reports differ
```

A verdict is one of *holds*, *does not hold*, and *cannot be judged here*, with the reason: a program, engine or
device that is missing, too little memory, or rounds that lie on both sides of the bar and too far apart. Counted
figures are held against their bar as they are, in every round. Timed ones are ratios to another run of the same round
where that is possible; their median is held against the bar widened by the tolerance. The seed of a run is the number
of its round.

*Seconds, memory and disk* are those of the whole experiment on two cores, in MiB; claims that share an experiment are
judged by the same runs.
"""

TITLES = {'tires': 'Kick the tires', 'paper': 'Paper scale', 'hardware': 'Hardware'}


def bar_text(claim):
    """The bar with its tolerance."""
    if claim['kind'] == 'counted':
        return '%s, exact' % claim['bar']
    return '%s, tolerance %g %%, timed' % (claim['bar'], claim['tolerance'])


def figure_text(claim):
    """The figure with what it is divided by."""
    text = '`%s`' % claim['figure'].replace('|', ' ')
    if claim['over']:
        best = 'the best of ' if len(claim['over']) > 1 else ''
        text += ' over %s%s' % (best, ', '.join('`%s`' % name.replace('|', ' ') for name in claim['over']))
    return text


def entry(claim, experiment):
    """One claim."""
    where = ', '.join('[%s](%s)' % (path, path[5:] if path.startswith('docs/') else '../' + path)
                      for path in claim['where'])
    return '\n'.join([
        '### %s' % claim['id'], '', claim['statement'], '',
        '- Why it matters: %s' % claim['why'],
        '- Made in: %s' % where,
        '- Experiment: %s, %d round%s; figure: %s' % (experiment['name'], experiment['rounds'],
                                                     '' if experiment['rounds'] == 1 else 's', figure_text(claim)),
        '- Bar: %s' % bar_text(claim),
        '- Takes: %d s, %d MiB of memory, %d MiB of disk%s' % (
            experiment['seconds'], experiment['memory_mib'], experiment['disk_mib'],
            '; needs ' + ', '.join(experiment['needs']) if experiment['needs'] else ''), ''])


def document(claims, experiments):
    """The text of docs/claims.md."""
    parts = [HEAD]
    for tier in registry.TIERS:
        text = registry.TIER_TEXTS[tier]
        parts.append('## %s\n\n%s%s.\n' % (TITLES[tier], text[0].upper(), text[1:]))
        parts += [entry(claim, experiments[claim['experiment']]) for claim in claims if claim['tier'] == tier]
    parts.append('## Experiments\n')
    parts.append('`{bin}` is the build folder, `{db}` a fresh folder for databases, `{parent}` the folder above it, '
                 '`{out}` where results go.\n')
    for experiment in experiments.values():
        parts.append('### Experiment %s\n\n```\n%s\n```\n' % (experiment['name'], '\n'.join(
            ('%s: %s' % (label, command)) if len(experiment['commands']) > 1 else command
            for label, command in experiment['commands'].items())))
    return '\n'.join(parts)
