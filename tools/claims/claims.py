#!/usr/bin/env python3
"""Judges the claims of the documents by running their experiments. test_sh/claims.sh is the command for users.

  claims.py run --tier T --only NAME|REGEX --bin FOLDER --db FOLDER --out FOLDER [--plots true|false]
  claims.py list --tier T --only NAME|REGEX
  claims.py diff BEFORE.json AFTER.json
  claims.py join --out FOLDER REPORT.json...   one report of several, which judged pieces: of each experiment the last
                                               that ran it as the registry has it now, judged anew from its figures
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time

import judge
import registry
import report as reports
import runner
import samples

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..'))


def first_line(words):
    """The first line that a command prints, or "unknown"."""
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return 'unknown'
    return done.stdout.splitlines()[0] if done.returncode == 0 and done.stdout else 'unknown'


def machine_record(options):
    """What machine.py of the experiments says of this machine."""
    words = [sys.executable, os.path.join(samples.STUDIES, 'machine.py'), '--db', options.db, '--programs',
             first_line([os.path.join(options.bin, 'db_bench'), '--version']), '--script', 'claims.sh', '--options',
             '--tier=%s --only=%s' % (options.tier, options.only), '--memtable', str(64 << 20), '--scale', '1']
    return json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)


def verdict_of(claim, experiment, outcome):
    """The verdict on a claim, and the values by round that it rests on."""
    if outcome is None:
        return judge.Verdict(judge.UNJUDGED, None, 'not asked for; tier %s: %s' % (
            claim['tier'], registry.TIER_TEXTS[claim['tier']])), {}
    if outcome.unjudged:
        return judge.Verdict(judge.UNJUDGED, None, outcome.unjudged), {}
    peers = [outcome.samples.find(name) for name in claim['over']]
    best = min if samples.lower_is_better(claim['bar']) else max
    values = judge.per_round(outcome.samples.find(claim['figure']), peers, best)
    verdict = judge.judge(claim, values, experiment['rounds'])
    # A program that ended badly has measured nothing, whatever it printed before. Where its status is the figure, the
    # bar says which status is right.
    ended_badly = outcome.failed and not claim['figure'].endswith('|status')
    if ended_badly and (not values or verdict.verdict != judge.FALLS):
        verdict = judge.Verdict(judge.FALLS, None, outcome.failed)
    return verdict, values


def result_of(claim, experiments, outcome):
    """The entry of a claim in a report."""
    verdict, values = verdict_of(claim, experiments[claim['experiment']], outcome)
    return {**claim, 'verdict': verdict.verdict, 'value': verdict.value, 'reason': verdict.reason, 'rounds': values}


def entry_of(outcome):
    """The entry of an experiment in a report."""
    return {'commands': outcome.commands, 'seconds': round(outcome.seconds), 'figures': outcome.samples.values}


def show(result):
    """Prints one verdict."""
    print('%-22s %-30s %s' % (result['verdict'], result['id'], result['reason']), flush=True)


def run_claims(options, claims, experiments):
    """Runs what the chosen claims rest on; returns (outcomes by experiment, whether it was interrupted)."""
    wanted = registry.chosen(claims, options.tier, options.only)
    names = list(dict.fromkeys(claim['experiment'] for claim in wanted))
    left = sum(experiments[name]['seconds'] for name in names)
    engine = runner.Runner(options)
    outcomes = {}
    for name in names:
        seconds = experiments[name]['seconds']
        print('... %s, about %d s; %d min of all left' % (name, seconds, -(-left // 60)), flush=True)
        try:
            outcomes[name] = engine.run(experiments[name])
        except KeyboardInterrupt:
            return outcomes, True
        left -= seconds
        for claim in wanted:
            if claim['experiment'] == name:
                show(result_of(claim, experiments, outcomes[name]))
    return outcomes, False


def write_reports(options, report, outcomes):
    """report.json and report.html in the folder of results."""
    reports.write_json(report, os.path.join(options.out, 'report.json'))
    plots = []
    for outcome in outcomes.values():
        for path in outcome.plots:
            with open(path, encoding='utf-8') as file:
                plots.append(file.read())
    with open(os.path.join(options.out, 'report.html'), 'w', encoding='utf-8') as file:
        file.write(reports.page(report, plots))


def command_run(options):
    """Runs claims and writes the reports. 0: no claim fell; 1: one did; 130: interrupted."""
    claims, experiments = registry.load()
    wanted = registry.chosen(claims, options.tier, options.only)
    if not wanted:
        raise registry.RegistryError(
            'no claim of tier %s matches "%s"; --list shows them' % (options.tier, options.only))
    os.makedirs(options.out, exist_ok=True)
    machine = machine_record(options)
    began = time.monotonic()
    outcomes, interrupted = run_claims(options, claims, experiments)
    ids = {claim['id'] for claim in wanted}
    results = [result_of(claim, experiments, outcomes.get(claim['experiment']) if claim['id'] in ids else None)
               for claim in claims]
    report = {
        'version': reports.VERSION, 'commit': first_line(['git', '-C', ROOT, 'describe', '--always', '--dirty']),
        'machine': machine, 'seconds': round(time.monotonic() - began), 'tier': options.tier, 'only': options.only,
        'claims': results,
        'experiments': {name: entry_of(outcome) for name, outcome in outcomes.items()},
    }
    write_reports(options, report, outcomes)
    asked = [result for result in results if result['id'] in ids]
    print('Report: %s' % os.path.join(options.out, 'report.html'))
    if interrupted:
        print('Interrupted: claims that were not reached cannot be judged')
    print(reports.summary({'claims': asked}))
    return 130 if interrupted else int(any(result['verdict'] == judge.FALLS for result in asked))


def command_list(options):
    """Prints the claims."""
    claims, experiments = registry.load()
    for claim in registry.chosen(claims, options.tier, options.only):
        print('%-9s %-30s %s' % (claim['tier'], claim['id'], claim['statement']))
    names = {claim['experiment'] for claim in registry.chosen(claims, options.tier, options.only)}
    print('%d s of experiments' % sum(experiments[name]['seconds'] for name in names))
    return 0


def command_diff(options):
    """Prints how two reports differ. 1: a claim that held does not hold any more."""
    before, after = reports.read_json(options.before), reports.read_json(options.after)
    lines = reports.differences(before, after)
    print('\n'.join(lines) if lines else 'no difference')
    held = {claim['id'] for claim in before['claims'] if claim['verdict'] == judge.HOLDS}
    return int(any(claim['id'] in held and claim['verdict'] == judge.FALLS for claim in after['claims']))


def last_that_ran(name, experiment, pieces):
    """The last report with the figures of an experiment whose commands are those of the registry, or None."""
    for piece in reversed(pieces):
        ran = piece['experiments'].get(name)
        if ran and ran['figures'] and ran['commands'] == list(experiment['commands'].values()):
            return piece
    return None


def joined(claims, experiments, pieces):
    """One report of several."""
    outcomes, origins = {}, {}
    for name, experiment in experiments.items():
        piece = last_that_ran(name, experiment, pieces)
        if piece:
            outcomes[name] = runner.Outcome()
            outcomes[name].samples = samples.Samples(piece['experiments'][name]['figures'])
            outcomes[name].commands = piece['experiments'][name]['commands']
            outcomes[name].seconds = piece['experiments'][name]['seconds']
            origins[name] = '%s, %s' % (piece['commit'], piece['machine'].get('date_utc'))
    results = [result_of(claim, experiments, outcomes.get(claim['experiment'])) for claim in claims]
    report = dict(pieces[-1], claims=results, pieces=origins, seconds=round(sum(o.seconds for o in outcomes.values())))
    report['experiments'] = {name: entry_of(outcome) for name, outcome in outcomes.items()}
    return report


def command_join(options):
    """Writes one report of several, with the plots that lie beside those from which the experiments are taken."""
    claims, experiments = registry.load()
    pieces = [reports.read_json(path) for path in options.reports]
    outcomes = {}
    for name, experiment in experiments.items():
        piece = last_that_ran(name, experiment, pieces)
        if piece:
            outcomes[name] = runner.Outcome()
            outcomes[name].plots = runner.plots_below(
                os.path.join(os.path.dirname(options.reports[pieces.index(piece)]), 'raw', name))
    report = joined(claims, experiments, pieces)
    os.makedirs(options.out, exist_ok=True)
    write_reports(options, report, outcomes)
    print(reports.summary(report))
    return 0


def parse(arguments):
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest='command', required=True)
    for name in ('run', 'list'):
        command = commands.add_parser(name)
        command.add_argument('--tier', default='tires')
        command.add_argument('--only', default='')
        if name == 'run':
            for folder in ('bin', 'db', 'out'):
                command.add_argument('--' + folder, required=True)
    command = commands.add_parser('diff')
    command.add_argument('before')
    command.add_argument('after')
    command = commands.add_parser('join')
    command.add_argument('--out', required=True)
    command.add_argument('reports', nargs='+')
    options = parser.parse_args(arguments)
    if options.command in ('run', 'list'):
        if options.tier not in registry.TIERS + ('all',):
            raise ValueError('--tier=%s is none of %s, all' % (options.tier, ', '.join(registry.TIERS)))
        try:
            re.compile(options.only)
        except re.error as error:
            raise ValueError('--only=%s is no regular expression: %s' % (options.only, error)) from error
    return options


def main(arguments):
    """The command."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    options = parse(arguments)
    options.root = ROOT
    for name in ('bin', 'db', 'out'):
        if hasattr(options, name):
            setattr(options, name, os.path.abspath(getattr(options, name)))
    commands = {'run': command_run, 'list': command_list, 'diff': command_diff, 'join': command_join}
    return commands[options.command](options)


if __name__ == '__main__':
    try:
        sys.exit(main(sys.argv[1:]))
    except (registry.RegistryError, ValueError, OSError) as error:
        sys.stderr.write('claims.sh: %s\n' % error)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
