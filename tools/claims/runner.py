"""Runs experiments: every command in every round, the commands of a round in turns."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

import conditions
import samples

# An experiment that takes so many times its stated time is ended.
PATIENCE = 6
# What a machine that is too small says, in whatever program. Such an end is no verdict on the claim.
LACKS = ('may be needed', 'No space left on device', 'are needed', 'Cannot allocate memory', 'is not installed',
         'another measurement is running')


class Outcome:
    """What came of an experiment: samples, or why there are none."""

    def __init__(self):
        self.samples = samples.Samples()
        self.unjudged = None   # why nothing can be said here
        self.failed = None     # how a command ended badly
        self.seconds = 0
        self.commands = []     # as they were run
        self.plots = []        # paths of SVG files


def end_group(child):
    """Ends a command with everything that it started."""
    try:
        os.killpg(child.pid, signal.SIGTERM)
        child.wait(timeout=20)
    except ProcessLookupError:
        pass
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def run_command(words, folder, log, seconds):
    """(status, text) of a command in a group of its own; status None: it did not end in time. The text goes to the log
    as well. Ctrl-C ends the command first."""
    with open(log, 'w+', encoding='utf-8', errors='replace') as output:
        output.write(shlex.join(words) + '\n')
        output.flush()
        child = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                 start_new_session=True)
        try:
            status = child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            end_group(child)
            status = None
        except BaseException:
            end_group(child)
            raise
        output.seek(0)
        return status, output.read().split('\n', 1)[1]


def plots_below(folder):
    """The plots, one by one, of the study that left its results below a folder."""
    found = []
    for parent, _, names in os.walk(os.path.join(folder, 'study')):
        found += [os.path.join(parent, name) for name in sorted(names) if re.fullmatch(r'plot-\d+\.svg', name)]
    return found


class Runner:
    """Runs experiments below the folders of options: root, bin, db, out."""

    def __init__(self, options):
        self.options = options

    def words(self, command, database, results, number, rounds):
        """The words of a command with its places filled in."""
        places = {'root': self.options.root, 'bin': self.options.bin, 'db': database, 'out': results,
                  'round': str(number), 'rounds': str(rounds), 'parent': self.options.db}
        filled = [word.format(**places) for word in shlex.split(command)]
        if '/' in filled[0] and not filled[0].startswith('/'):
            filled[0] = os.path.join(self.options.root, filled[0])
        return filled

    def run(self, experiment):
        """The outcome of an experiment."""
        outcome = Outcome()
        outcome.unjudged = conditions.why_not(experiment, self.options)
        if outcome.unjudged:
            return outcome
        began = time.monotonic()
        folder = os.path.join(self.options.out, 'raw', experiment['name'])
        os.makedirs(folder, exist_ok=True)
        # A study has rounds of its own.
        rounds = 1 if experiment['reader'] == 'study' else experiment['rounds']
        labels = list(experiment['commands'])
        for number in range(1, rounds + 1):
            for turn in range(len(labels)):
                label = labels[(turn + number - 1) % len(labels)]
                self.run_one(experiment, label, number, folder, outcome)
                if outcome.unjudged:
                    break
        outcome.seconds = time.monotonic() - began
        if experiment['reader'] == 'study':
            outcome.samples.read_study(os.path.join(folder, 'study'))
            outcome.plots = plots_below(folder)
        return outcome

    def run_one(self, experiment, label, number, folder, outcome):
        """One command in one round, its figures added to the outcome."""
        database = tempfile.mkdtemp(prefix='miodb_claims.', dir=self.options.db)
        try:
            words = self.words(experiment['commands'][label], database, os.path.join(folder, 'study'), number,
                               experiment['rounds'])
            if number == 1:
                outcome.commands.append(experiment['commands'][label])
            began = time.monotonic()
            status, text = run_command(words, self.options.root, os.path.join(folder, '%s-%d.out' % (label, number)),
                                       PATIENCE * experiment['seconds'])
        finally:
            shutil.rmtree(database, ignore_errors=True)
        if status is None:
            outcome.unjudged = 'not finished after %d s, %d times its time' % (
                PATIENCE * experiment['seconds'], PATIENCE)
            return
        if experiment['reader'] == 'bench':
            outcome.samples.read_bench(label, number, text)
        outcome.samples.read_lines(label, number, text, experiment['figures'])
        outcome.samples.add('%s|status' % label, number, status)
        outcome.samples.add('%s|seconds' % label, number, time.monotonic() - began)
        if status != 0:
            lines = [line for line in text.splitlines() if line.strip()]
            last = lines[-1][:200] if lines else 'no output'
            outcome.failed = '%s ended with status %d: %s' % (label, status, last)
            if any(word in text for word in LACKS):
                outcome.unjudged = 'the machine lacks something: %s' % last
