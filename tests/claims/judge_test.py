#!/usr/bin/env python3
"""The judge: each verdict from made-up figures, and the registry's refusals."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools', 'claims'))
import claims  # noqa: E402
import judge  # noqa: E402
import registry  # noqa: E402
import report  # noqa: E402
import runner  # noqa: E402
import samples  # noqa: E402


def counted(bar):
    return {'kind': 'counted', 'bar': bar, 'tolerance': 0}


def timed(bar, tolerance):
    return {'kind': 'timed', 'bar': bar, 'tolerance': tolerance}


def rounds(*values):
    return {str(number): value for number, value in enumerate(values, 1)}


class Bars(unittest.TestCase):
    def test_each_kind_is_read(self):
        self.assertEqual(judge.parse_bar('>= 2'), (2, None))
        self.assertEqual(judge.parse_bar('<= 1.25'), (None, 1.25))
        self.assertEqual(judge.parse_bar('== 0'), (0, 0))
        self.assertEqual(judge.parse_bar('in 3.5 4'), (3.5, 4))

    def test_what_is_none_is_refused(self):
        for text in ('', '2', '> 2', '>= x', 'in 2', 'in 4 3', '>= 2 or so', '>=2'):
            with self.assertRaises(ValueError):
                judge.parse_bar(text)

    def test_tolerance_moves_limits_outwards(self):
        self.assertEqual(judge.widened((2, None), 10), (1.8, None))
        self.assertEqual(judge.widened((None, 2), 10), (None, 2.2))
        self.assertEqual(judge.widened((-2, 2), 50), (-3, 3))


class Counted(unittest.TestCase):
    def test_the_bar_belongs_to_what_meets_it(self):
        self.assertEqual(judge.judge(counted('<= 2'), rounds(2), 1).verdict, judge.HOLDS)
        self.assertEqual(judge.judge(counted('<= 2'), rounds(2.0001), 1).verdict, judge.FALLS)
        self.assertEqual(judge.judge(counted('== 0'), rounds(0), 1).verdict, judge.HOLDS)
        self.assertEqual(judge.judge(counted('== 0'), rounds(1), 1).verdict, judge.FALLS)

    def test_one_round_beyond_the_bar_is_enough(self):
        found = judge.judge(counted('<= 2'), rounds(1, 1, 3), 3)
        self.assertEqual((found.verdict, found.value), (judge.FALLS, 3))


class Timed(unittest.TestCase):
    def test_the_median_is_judged_with_the_tolerance(self):
        self.assertEqual(judge.judge(timed('>= 2', 10), rounds(1.8, 1.85, 1.9), 3).verdict, judge.HOLDS)
        self.assertEqual(judge.judge(timed('>= 2', 10), rounds(1.7, 1.75, 1.9), 3).verdict, judge.FALLS)
        self.assertEqual(judge.judge(timed('<= 2', 10), rounds(2.1, 2.19, 2.3), 3).verdict, judge.HOLDS)

    def test_rounds_far_apart_on_both_sides_say_nothing(self):
        self.assertEqual(judge.judge(timed('>= 2', 0), rounds(1, 2.1, 4), 3).verdict, judge.UNJUDGED)
        self.assertEqual(judge.judge(timed('<= 2', 0), rounds(0.5, 1.9, 3.2), 3).verdict, judge.UNJUDGED)

    def test_one_round_far_off_is_left_to_the_median(self):
        self.assertEqual(judge.judge(timed('>= 2', 0), rounds(1, 3, 4), 3).verdict, judge.HOLDS)
        self.assertEqual(judge.judge(timed('>= 2', 0), rounds(1, 1, 4), 3).verdict, judge.FALLS)

    def test_rounds_far_apart_on_one_side_do(self):
        self.assertEqual(judge.judge(timed('>= 2', 0), rounds(3, 6, 9), 3).verdict, judge.HOLDS)
        self.assertEqual(judge.judge(timed('>= 2', 0), rounds(0.1, 0.5, 1), 3).verdict, judge.FALLS)


class Rounds(unittest.TestCase):
    def test_no_figure_is_no_pass(self):
        self.assertEqual(judge.judge(counted('== 0'), {}, 1).verdict, judge.FALLS)

    def test_missing_rounds_are_not_judged(self):
        self.assertEqual(judge.judge(timed('>= 2', 0), rounds(5, 5), 3).verdict, judge.UNJUDGED)

    def test_the_best_peer_of_the_same_round_counts(self):
        peers = [rounds(1, 4), rounds(2, 2)]
        self.assertEqual(judge.per_round(rounds(4, 8), peers, max), rounds(2, 2))
        self.assertEqual(judge.per_round(rounds(4, 8), peers, min), rounds(4, 4))

    def test_a_round_without_a_peer_is_left_out(self):
        self.assertEqual(judge.per_round(rounds(4, 8), [{'1': 2}], max), {'1': 2})
        self.assertEqual(judge.per_round(rounds(4), [rounds(0)], max), {})


class Registry(unittest.TestCase):
    EXPERIMENT = ('[[experiment]]\nname = "e"\ncommand = "true"\nreader = "lines"\nrounds = 1\nseconds = 1\n'
                  'memory_mib = 1\ndisk_mib = 1\n')
    CLAIM = ('[[claim]]\nid = "c"\nstatement = "s"\nwhere = ["README.md"]\nwhy = "w"\ntier = "tires"\n'
             'experiment = "e"\nfigure = "run|status"\nkind = "counted"\nbar = "== 0"\n')

    def load(self, text):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, 'a.toml'), 'w', encoding='utf-8') as file:
                file.write(text)
            return registry.load(folder)

    def test_a_claim_with_its_experiment(self):
        found, experiments = self.load(self.EXPERIMENT + self.CLAIM)
        self.assertEqual(found[0]['tolerance'], 0)
        self.assertEqual(experiments['e']['commands'], {'run': 'true'})

    def test_faults_are_named(self):
        good = self.EXPERIMENT + self.CLAIM
        for bad, part in ((self.EXPERIMENT, 'no claims'), (good.replace('"== 0"', '"0"'), 'no bar'),
                          (good.replace('"tires"', '"tyres"'), 'tier'),
                          (good.replace('experiment = "e"', 'experiment = "f"'), '"f"'),
                          (good + 'colour = "red"\n', 'unknown key'), (good + 'tolerance = 5\n', 'no tolerance'),
                          (good + self.CLAIM, 'twice'), (good.replace('why = "w"\n', ''), '"why" is missing'),
                          (good.replace('"lines"', '"eyes"'), 'reader'), (good + '[', 'a.toml')):
            with self.assertRaisesRegex(registry.RegistryError, part):
                self.load(bad)

    def test_the_files_of_this_tree_are_right(self):
        found, experiments = registry.load()
        root = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
        for claim in found:
            for path in claim['where']:
                self.assertTrue(os.path.exists(os.path.join(root, path)), path)
            if claim['tier'] == 'tires':
                self.assertLessEqual(experiments[claim['experiment']]['seconds'], 240, claim['id'])
        names = {claim['experiment'] for claim in registry.chosen(found, 'tires', '')}
        self.assertLess(sum(experiments[name]['seconds'] for name in names), 30 * 60)


class Verdicts(unittest.TestCase):
    CLAIM = {'id': 'c', 'tier': 'tires', 'figure': 'run|bad', 'over': [], 'kind': 'counted', 'bar': '== 0',
             'tolerance': 0}

    def test_what_was_not_run_is_not_judged(self):
        self.assertEqual(claims.verdict_of(self.CLAIM, {'rounds': 1}, None)[0].verdict, judge.UNJUDGED)

    def test_a_machine_that_lacks_something_is_not_judged(self):
        outcome = runner.Outcome()
        outcome.unjudged = 'no program'
        self.assertEqual(claims.verdict_of(self.CLAIM, {'rounds': 1}, outcome)[0].reason, 'no program')

    def test_an_experiment_that_failed_brings_the_claim_down(self):
        outcome = runner.Outcome()
        outcome.failed = 'run ended with status 1: aborted'
        found = claims.verdict_of(self.CLAIM, {'rounds': 1}, outcome)[0]
        self.assertEqual((found.verdict, found.reason), (judge.FALLS, outcome.failed))

    def test_lines_are_read(self):
        read = samples.Samples()
        figures = {'bad': r'^[\d,]+ passed, (\d+) failed$', 'good': r'^([\d,]+) passed'}
        read.read_lines('run', 1, 'a\n1,234 passed, 5 failed\n', figures)
        self.assertEqual((read.find('run|bad'), read.find('run|good')), ({'1': 5}, {'1': 1234}))


class Joined(unittest.TestCase):
    EXPERIMENTS = {'e': {'commands': {'run': 'now'}, 'rounds': 1}}

    def piece(self, command, value):
        return {'version': 1, 'commit': 'c', 'machine': {}, 'claims': [], 'seconds': 1, 'experiments': {
            'e': {'commands': [command], 'seconds': 1, 'figures': {'run|bad': {'1': value}}}}}

    def value(self, *pieces):
        claim = dict(Verdicts.CLAIM, experiment='e')
        return claims.joined([claim], self.EXPERIMENTS, list(pieces))['claims'][0]['value']

    def test_the_last_run_of_the_same_commands_counts(self):
        self.assertEqual(self.value(self.piece('now', 1), self.piece('now', 2)), 2)
        self.assertEqual(self.value(self.piece('now', 1), self.piece('then', 2)), 1)

    def test_without_one_nothing_is_judged(self):
        self.assertIsNone(self.value(self.piece('then', 2)))


class Differences(unittest.TestCase):
    def report(self, verdict, value, commit='a'):
        return {'commit': commit, 'machine': {}, 'claims': [
            {'id': 'c', 'verdict': verdict, 'value': value, 'reason': 'r', 'bar': '== 0'}]}

    def test_equal_reports_do_not_differ(self):
        self.assertEqual(report.differences(self.report('holds', 1), self.report('holds', 1)), [])

    def test_a_verdict_and_a_figure_that_changed_are_named(self):
        lines = report.differences(self.report('holds', 1), self.report('does not hold', 2, 'b'))
        self.assertEqual(lines, ['commit: a -> b', 'c: holds -> does not hold (r)', 'c: 1 -> 2 (+100.0 %)'])


if __name__ == '__main__':
    unittest.main()
