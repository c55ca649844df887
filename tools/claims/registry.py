"""Reads the claims and the experiments that they rest on, from the files of registry/, and refuses what is wrong in
them.

A file has tables of two kinds.

  [[experiment]]  name; commands, by label, or just command (labelled "run"); reader: "study" (a script of
                  test_sh/experiments or benchmarks, which leaves data.csv), "bench" (output of db_bench), "lines"
                  (figures, by name, are regular expressions with one group; what one matches in an output is its
                  figure); rounds; seconds, memory_mib and disk_mib that it takes; needs: programs of the build folder,
                  commands of the system, or conditions of conditions.py
  [[claim]]       id; statement; where: the documents that make it; why it matters; tier; experiment; figure, and over,
                  the figures that it is divided by: of several the one that is best for them; kind: counted or timed;
                  bar; tolerance, in percent, of timed ones

A figure is called LABEL|FIGURE (lines), LABEL|BENCHMARK|METRIC (bench), ENGINE|BENCHMARK|METRIC or
ENGINE|SERIES|X|BENCHMARK|METRIC (study). Every label has the figures "status" and "seconds" besides.
"""

import glob
import os
import re
import tomllib

import judge

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'registry')
TIERS = ('tires', 'paper', 'hardware')
TIER_TEXTS = {
    'tires': 'kick the tires: two cores, 24 GiB, under half an hour',
    'paper': 'paper scale: the same machine, hours',
    'hardware': 'needs real persistent memory, CXL memory, several nodes or many cores',
}
READERS = ('study', 'bench', 'lines')
KINDS = ('counted', 'timed')
EXPERIMENT_KEYS = {'name', 'commands', 'command', 'reader', 'figures', 'rounds', 'seconds', 'memory_mib', 'disk_mib',
                   'needs'}
CLAIM_KEYS = {'id', 'statement', 'where', 'why', 'tier', 'experiment', 'figure', 'over', 'kind', 'bar', 'tolerance'}
OPTIONAL_KEYS = {'commands', 'command', 'figures', 'needs', 'over', 'tolerance'}


class RegistryError(Exception):
    """What is wrong in a file of the registry."""


def check_keys(entry, known, place):
    """Every key is a known one, and none that is needed lacks."""
    for key in entry:
        if key not in known:
            raise RegistryError('%s: unknown key "%s"' % (place, key))
    for key in sorted(known - OPTIONAL_KEYS):
        if key not in entry:
            raise RegistryError('%s: "%s" is missing' % (place, key))


def check_experiment(entry, place):
    """Returns the entry with its defaults."""
    check_keys(entry, EXPERIMENT_KEYS, place)
    entry = {'needs': [], 'figures': {}, **entry}
    if ('command' in entry) == ('commands' in entry):
        raise RegistryError('%s: either command or commands' % place)
    if 'command' in entry:
        entry['commands'] = {'run': entry.pop('command')}
    if entry['reader'] not in READERS:
        raise RegistryError('%s: reader "%s" is none of %s' % (place, entry['reader'], ', '.join(READERS)))
    if entry['reader'] == 'study' and len(entry['commands']) != 1:
        raise RegistryError('%s: a study is one command' % place)
    for name, pattern in entry['figures'].items():
        if re.compile(pattern).groups != 1:
            raise RegistryError('%s: the pattern of "%s" needs one group' % (place, name))
    return entry


def check_claim(entry, place, experiments):
    """Returns the entry with its defaults."""
    check_keys(entry, CLAIM_KEYS, place)
    entry = {'over': [], 'tolerance': 0, **entry}
    if entry['tier'] not in TIERS:
        raise RegistryError('%s: tier "%s" is none of %s' % (place, entry['tier'], ', '.join(TIERS)))
    if entry['kind'] not in KINDS:
        raise RegistryError('%s: kind "%s" is none of %s' % (place, entry['kind'], ', '.join(KINDS)))
    if entry['kind'] == 'counted' and entry['tolerance'] != 0:
        raise RegistryError('%s: what is counted has no tolerance' % place)
    if entry['experiment'] not in experiments:
        raise RegistryError('%s: no experiment "%s"' % (place, entry['experiment']))
    try:
        judge.parse_bar(entry['bar'])
    except ValueError as error:
        raise RegistryError('%s: %s' % (place, error)) from error
    return entry


def load(folder=FOLDER):
    """(claims in their order, experiments by name) of all files of a folder."""
    tables = []
    for path in sorted(glob.glob(os.path.join(glob.escape(folder), '*.toml'))):
        with open(path, 'rb') as file:
            try:
                tables.append((os.path.basename(path), tomllib.load(file)))
            except tomllib.TOMLDecodeError as error:
                raise RegistryError('%s: %s' % (path, error)) from error
    experiments, claims = {}, {}
    for name, table in tables:
        for entry in table.get('experiment', []):
            place = '%s: experiment %s' % (name, entry.get('name'))
            if entry.get('name') in experiments:
                raise RegistryError('%s: twice' % place)
            experiments[entry.get('name')] = check_experiment(entry, place)
    for name, table in tables:
        for entry in table.get('claim', []):
            place = '%s: claim %s' % (name, entry.get('id'))
            if entry.get('id') in claims:
                raise RegistryError('%s: twice' % place)
            claims[entry.get('id')] = check_claim(entry, place, experiments)
    if not claims:
        raise RegistryError('no claims in %s' % folder)
    for name in experiments:
        if not any(claim['experiment'] == name for claim in claims.values()):
            raise RegistryError('experiment %s: no claim rests on it' % name)
    return list(claims.values()), experiments


def chosen(claims, tier, only):
    """The claims of a tier (or of every one: "all"): the one whose id this is, or else those whose id it matches as a
    regular expression."""
    is_id = any(claim['id'] == only for claim in claims)
    return [claim for claim in claims if tier in ('all', claim['tier'])
            and (claim['id'] == only if is_id else re.search(only, claim['id']))]
