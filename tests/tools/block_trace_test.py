#!/usr/bin/env python3
"""tools/block_trace: what it counts of traces whose accesses are known, and what it refuses."""

import importlib.machinery
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'tools', 'block_trace')
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader('block_trace', SCRIPT)
block_trace = importlib.util.module_from_spec(importlib.util.spec_from_loader('block_trace', loader))
loader.exec_module(block_trace)

GET, OPEN, COMPACTION = 1, 9, 10


def line(block, size=4096, kind=9, level=0, caller=GET, unkept=0, hit=0):
    where = f'{size},0,default,{level},5,{caller},{unkept}'
    return f'1700000000000000,{block},{kind},{where},0,0,0,{hit},0,0,0,0,16,0,{block}\n'


def run(lines, *flags):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'trace')
        with open(path, 'w', encoding='utf-8') as file:
            file.writelines(lines)
        return subprocess.run([SCRIPT, '--trace_path=' + path, *flags], capture_output=True, text=True, check=False)


def rows_of(text, table):
    """The rows of a table that was printed, without its header."""
    rows = text.split(f'\n{table}\n')[1].split('\n\n')[0].strip().split('\n')[1:]
    return [row.split() for row in rows]


def accesses_of(blocks, size=1):
    return [block_trace.Access(block, 9, size, 0, GET, 0, 0) for block in blocks]


class BlockTraceTest(unittest.TestCase):
    def test_counts_by_kind_caller_and_level(self):
        result = run([line(1, kind=7, caller=OPEN, unkept=1), line(2), line(2, hit=1), line(3, level=1),
                      line(2, caller=COMPACTION, unkept=1, hit=1)])
        self.assertEqual((result.returncode, result.stderr), (0, ''))
        self.assertEqual(rows_of(result.stdout, 'counts'), [
            ['index', 'open', '0', '1', '1', '4096', '0.00'], ['data', 'get', '0', '2', '1', '8192', '50.00'],
            ['data', 'get', '1', '1', '1', '4096', '0.00'], ['data', 'compaction', '0', '1', '1', '4096', '100.00']])

    def test_a_cache_finds_what_is_asked_for_again_while_it_has_room(self):
        lines = [line(block) for block in (1, 2, 1, 3, 2, 1)]
        result = run(lines, '--cache_sizes=4k,8k,12k')
        self.assertEqual([row[:4] for row in rows_of(result.stdout, 'cache_sizes') if row[1] == 'all'],
                         [['4096', 'all', '6', '0'], ['8192', 'all', '6', '1'], ['12288', 'all', '6', '3']])

    def test_reads_that_keep_nothing_bring_nothing_in(self):
        lines = [line(1, caller=COMPACTION, unkept=1), line(1), line(1, caller=COMPACTION, unkept=1), line(1)]
        result = run(lines, '--cache_sizes=1m')
        self.assertEqual(rows_of(result.stdout, 'cache_sizes'), [
            ['1048576', 'all', '4', '2', '50.00'], ['1048576', 'get', '2', '1', '50.00'],
            ['1048576', 'compaction', '2', '1', '50.00']])

    def test_distances_are_the_least_caches_that_find(self):
        blocks = [random.Random(7).randrange(40) for _ in range(2000)]
        accesses = accesses_of(blocks)
        distances = block_trace.reuse_distances(accesses)
        self.assertEqual(sum(distance is None for distance in distances), len(set(blocks)))
        for capacity in (1, 2, 5, 17, 39, 40):
            _, found = block_trace.simulate(accesses, capacity)
            found_by_distance = sum(distance is not None and distance <= capacity for distance in distances)
            self.assertEqual(sum(found.values()), found_by_distance)

    def test_a_sampled_trace_counts_for_all_blocks(self):
        lines = [line(block) for block in (1, 2, 1)]
        whole, sampled = run(lines, '--cache_sizes=8k'), run(lines, '--cache_sizes=80k', '--sampling=10')
        self.assertEqual([row[2:] for row in rows_of(whole.stdout, 'cache_sizes')],
                         [row[2:] for row in rows_of(sampled.stdout, 'cache_sizes')])
        self.assertEqual([row[0] for row in rows_of(whole.stdout, 'reuse_distance')], ['8192', 'first'])
        self.assertEqual([row[0] for row in rows_of(sampled.stdout, 'reuse_distance')], ['131072', 'first'])

    def test_hot_blocks_come_first(self):
        result = run([line(block) for block in (1, 1, 1, 2, 3)])
        self.assertEqual(rows_of(result.stdout, 'accesses_of_blocks'), [['3', '1', '60.00'], ['1', '2', '100.00']])

    def test_a_block_that_rocksdb_did_not_size_has_the_size_of_its_other_accesses(self):
        sizes = [access.bytes for access in block_trace.sized(accesses_of([1], 0) + accesses_of([1], 4096))]
        self.assertEqual(sizes, [4096, 4096])

    def test_tables_go_into_files(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run([line(1), line(1)], '--output_dir=' + os.path.join(folder, 'new'), '--cache_sizes=4k')
            self.assertEqual((result.returncode, result.stdout), (0, ''))
            with open(os.path.join(folder, 'new', 'cache_sizes.csv'), encoding='utf-8') as file:
                self.assertEqual(file.read(), 'cache_bytes,caller,accesses,hits,hit_percent\n4096,all,2,1,50.00\n'
                                              '4096,get,2,1,50.00\n')

    def test_a_cut_last_line_is_told_and_left_out(self):
        result = run([line(1), line(2)[:20]])
        self.assertEqual(result.returncode, 0)
        self.assertIn('the last line is cut', result.stderr)
        self.assertEqual(len(rows_of(result.stdout, 'counts')), 1)

    def test_what_is_no_trace_is_refused(self):
        for lines, error in (([], 'no block was asked for'), (['a,b\n'], 'line 1 is not that of a block trace'),
                             ([line(1), line('x')], 'line 2 is not that of a block trace')):
            result = run(lines)
            self.assertEqual((result.returncode, result.stdout), (1, ''))
            self.assertIn(error, result.stderr)
        for flag in ('--cache_sizes=0', '--cache_sizes=4x', '--sampling=0'):
            self.assertEqual(run([line(1)], flag).returncode, 2)


if __name__ == '__main__':
    unittest.main()
