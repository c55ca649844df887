"""Reads what a run printed: figures of db_bench and ycsbc by name.

A figure is (benchmark, seconds, metric, value). "seconds" is the time in the run at which a sample of a series was taken,
and None for everything else. A benchmark that a run names twice appears a second time as name#2, rounds that only warm up as name(warm-up); what
stands at the end belongs to the benchmark "end".

Metrics of a benchmark of db_bench: ops_per_sec, mb_per_sec, micros_per_op, seconds, operations, p50_us, p99_us, p999_us,
p9999_us, max_us; hottest_percent, the accesses to the hottest 1 % of the keys, where it prints that. Of "wait": seconds. Of
"stats" and "end", as far as the engine tells:
  flushes, compactions          how many
  flush_micros, stall_micros    time in flushes; time that writers waited
  stall_flush_micros, stall_chunk_micros, stall_space_micros, stall_readers_micros, throttle_micros   MioDB: of that time and
                                beside it, for what writers waited, and how long they were slowed down
  compaction_seconds            time in compactions, flushes included
  nvm_bytes_log, ..._flush, ..._merge, ..._lazy_copy, ..._evacuation, ..._manifest, ..._total   MioDB: bytes by purpose
  wa_log, wa_flush, ...         the same, for each byte that the user wrote
  user_bytes, written_bytes     put by the user; written by the engine, log included
  log_file_bytes, log_padding_bytes, log_padding_percent   MioDB with its log in files: written there, zeros among them
  ssd_written_bytes             MioDB with an SSD tier: written there
  write_amplification           written_bytes / user_bytes
  ssd_write_amplification       ssd_written_bytes, or what an engine without a pool has written, for each byte of the user
  pool_bytes_used, live_bytes, space_amplification   MioDB: in use, seen by readers, the first over the second
  open_micros, replay_micros    MioDB: the last opening of the database, and the replay of the log in it
  space_bytes                   what the closed database takes on its file system
  reads, cache_hits, bytes_read   of the medium with perf_level from 2 on, of each benchmark: blocks of RocksDB, units of 256
                bytes of MioDB, which are looked for in a cache of cache_size bytes; "end": since the start
Of "overwrite", in pools whose size is given: least_copies, how often collection copies a byte that was written, and
allowed_ops_per_sec, the overwrites that leaves, both by arithmetic (collection.py).
Of a phase of ycsbc: ops_per_sec, and the reads above; of PHASE-OPERATION: operations, avg_us, p50_us, p90_us, p95_us, p99_us, p999_us, p9999_us,
max_us, and as series over time those and ops_per_sec. What has such a series also has slowest_second, the least ops_per_sec
of an interval over the median.
Of log_faults, for each kind of fault: faults, told, last, before, harmless, missed, wrong, and percentages of the first
three classes; docs/crash_model.md explains them. Of log_compression_cost, for each codec: record_bytes, log_bytes, saved_percent, write_ns, read_ns.
"""

import csv
import glob
import os
import re
import statistics

RESULT = re.compile(r'^(\S+)\s+:\s+([\d.]+) micros/op (\d+) ops/sec ([\d.]+) seconds (\d+) operations;(.*)$')
PERCENTILES = re.compile(r'^Percentiles: P50: (\S+) P99: (\S+) P99\.9: (\S+) P99\.99: (\S+) Max: (\S+)$')
COUNTER = re.compile(r'^([a-z]+(?:-[a-z0-9]+)*): (\d+)$')
LABELED = re.compile(r'^([A-Za-z ]+): +([\d.]+)$')
PURPOSES = ('log', 'flush', 'merge', 'lazy_copy', 'evacuation', 'manifest')

# MioDB's counters, as "stats" prints them.
COUNTERS = {
    'flushes': 'flushes', 'merges': 'compactions', 'flush-micros': 'flush_micros', 'stall-micros': 'stall_micros',
    'user-bytes-written': 'user_bytes', 'nvm-bytes-total': 'written_bytes', 'pool-bytes-used': 'pool_bytes_used',
    'live-bytes': 'live_bytes', 'log-file-bytes': 'log_file_bytes', 'log-file-bytes-padding': 'log_padding_bytes',
    'ssd-bytes-written': 'ssd_written_bytes', 'throttle-micros': 'throttle_micros',
}
for reason in ('flush', 'chunk', 'space', 'readers'):
    COUNTERS['stall-micros-' + reason] = 'stall_%s_micros' % reason
# Lines at the end of the output.
LABELS = {
    'stall time': 'stall_micros', 'dump time': 'flush_micros', 'user bytes': 'user_bytes', 'file bytes': 'written_bytes',
    'NVM bytes total': 'written_bytes', 'write amplification': 'write_amplification', 'space bytes': 'space_bytes',
    'pool bytes used': 'pool_bytes_used', 'live bytes': 'live_bytes', 'flushes': 'flushes', 'compactions': 'compactions',
    'log file bytes': 'log_file_bytes', 'log file bytes padding': 'log_padding_bytes', 'SSD bytes': 'ssd_written_bytes',
    'open micros': 'open_micros', 'replay micros': 'replay_micros',
    'block reads': 'reads', 'block cache hits': 'cache_hits', 'block bytes read': 'bytes_read',
    'NVM units read': 'reads', 'NVM units found in cache': 'cache_hits', 'NVM bytes read': 'bytes_read',
}


class BenchOutput:
    """What one run of db_bench printed, read line by line."""

    def __init__(self):
        self.figures = []
        self.persist_mode = None
        self._seen = {}
        self._current = 'end'
        self._in_leveldb_table = False
        self._rocksdb_columns = []
        self._end = {}  # metric -> value; the last of a name counts
        self._stats = {}  # of the block that is being read
        self._warm_ups = 0  # results to come that only warm up

    def _enter(self, name):
        self._close_stats()
        self._seen[name] = self._seen.get(name, 0) + 1
        self._current = name if self._seen[name] == 1 else '%s#%d' % (name, self._seen[name])

    def _add(self, metric, value):
        self.figures.append((self._current, None, metric, float(value)))

    def _close_stats(self):
        if self._stats:
            add_shares(self._stats)
            for metric, value in self._stats.items():
                self._add(metric, value)
            # What stats said last stands in for what the end of the output does not say.
            for metric in ('flushes', 'compactions', 'compaction_seconds', 'ssd_written_bytes'):
                if metric in self._stats:
                    self._end[metric] = self._stats[metric]
        self._stats = {}
        self._in_leveldb_table = False

    def _read_result(self, match):
        self._enter(match.group(1) + ('(warm-up)' if self._warm_ups > 0 else ''))
        self._warm_ups = max(0, self._warm_ups - 1)
        for metric, group in (('micros_per_op', 2), ('ops_per_sec', 3), ('seconds', 4), ('operations', 5)):
            self._add(metric, match.group(group))
        rate = re.search(r'([\d.]+) MB/s', match.group(6))
        if rate:
            self._add('mb_per_sec', rate.group(1))
        hottest = re.search(r'\(hottest 1 % of keys: ([\d.]+) % of accesses\)', match.group(6))
        if hottest:
            self._add('hottest_percent', hottest.group(1))

    def _read_stats(self, line):
        """Lines of the engines' statistics. Returns whether it was one."""
        words = line.split()
        if line.strip() == 'Compactions' or line.startswith('Level    Files'):
            self._enter('stats')
            self._in_leveldb_table = line.strip() == 'Compactions'
            self._rocksdb_columns = words
            return True
        if not self._current.startswith('stats'):
            return False
        counter = COUNTER.match(line)
        if counter and counter.group(1) in ('flush-micros', 'merge-micros'):
            # The table above has whole seconds only.
            before = self._stats.get('compaction_seconds', 0) if counter.group(1) == 'merge-micros' else 0
            self._stats['compaction_seconds'] = before + float(counter.group(2)) / 1e6
        if counter and counter.group(1) in COUNTERS:
            self._stats[COUNTERS[counter.group(1)]] = float(counter.group(2))
        elif counter and counter.group(1).startswith('nvm-bytes-'):
            self._stats[counter.group(1).replace('-', '_')] = float(counter.group(2))
        elif self._in_leveldb_table and len(words) == 6 and words[0].isdigit():
            self._stats['compaction_seconds'] = self._stats.get('compaction_seconds', 0) + float(words[3])
        elif words and words[0] in ('L0', 'Sum') and len(words) == len(self._rocksdb_columns) + 1:
            # Versions of RocksDB differ in their columns. The size has its unit in a word of its own.
            count = float(words[self._rocksdb_columns.index('Comp(cnt)') + 1])
            if words[0] == 'L0':
                self._stats['flushes'] = count
            else:
                self._stats['compactions'] = count - self._stats.get('flushes', 0)
                self._stats['compaction_seconds'] = float(words[self._rocksdb_columns.index('Comp(sec)') + 1])
        elif line.startswith('Cumulative stall: '):
            hours, minutes, seconds = line.split()[2].split(':')
            self._stats['stall_micros'] = (int(hours) * 3600 + int(minutes) * 60 + float(seconds)) * 1e6
            self._end['stall_micros'] = self._stats['stall_micros']
        else:
            return False
        return True

    def read(self, lines):
        """Reads all lines. Returns self."""
        for line in lines:
            line = line.rstrip('\n')
            warm_up = re.match(r'^Warming up benchmark by running (\d+) times', line)
            if warm_up:
                self._warm_ups = int(warm_up.group(1))
                continue
            result = RESULT.match(line)
            if result:
                self._read_result(result)
                continue
            if self._read_stats(line):
                continue
            percentiles = PERCENTILES.match(line)
            if percentiles:
                for metric, value in zip(('p50_us', 'p99_us', 'p999_us', 'p9999_us', 'max_us'), percentiles.groups()):
                    self._add(metric, value)
                continue
            if re.match(r'^[A-Za-z ]+ = \d+, ', line):  # below PERF_CONTEXT
                for pair in line.split(', '):
                    name, value = pair.split(' = ')
                    if name in LABELS:
                        self._add(LABELS[name], value)
                continue
            if line.startswith('Wait balance:'):
                self._enter('wait')
                self._add('seconds', line.split(':')[1].split()[0])
                continue
            if line.startswith('persist mode: '):
                self.persist_mode = line.split(': ')[1]
            labeled = LABELED.match(line)
            if labeled and labeled.group(1) in LABELS:
                self._end[LABELS[labeled.group(1)]] = float(labeled.group(2))
            elif labeled and labeled.group(1).startswith('NVM bytes '):
                self._end['nvm_bytes_' + labeled.group(1)[10:].replace(' ', '_')] = float(labeled.group(2))
        self._close_stats()
        self._current = 'end'
        add_shares(self._end)
        for metric, value in self._end.items():
            self._add(metric, value)
        return self


def add_shares(values):
    """Adds bytes written by purpose for each byte of the user to a dictionary of metrics, and counts those in files as
    written."""
    if values.get('log_file_bytes', 0) > 0:
        values['log_padding_percent'] = 100 * values.get('log_padding_bytes', 0) / values['log_file_bytes']
    if 'written_bytes' in values:
        values['written_bytes'] += values.get('log_file_bytes', 0) + values.get('ssd_written_bytes', 0)
    if values.get('live_bytes', 0) > 0 and 'pool_bytes_used' in values:
        values['space_amplification'] = values['pool_bytes_used'] / values['live_bytes']
    user_bytes = values.get('user_bytes', 0)
    if user_bytes <= 0:
        return
    for purpose in PURPOSES:
        if 'nvm_bytes_' + purpose in values:
            values['wa_' + purpose] = values['nvm_bytes_' + purpose] / user_bytes
    if 'ssd_written_bytes' in values or 'written_bytes' in values:
        values['ssd_write_amplification'] = values.get('ssd_written_bytes', values.get('written_bytes')) / user_bytes
    if 'written_bytes' in values:
        values.setdefault('write_amplification', values['written_bytes'] / user_bytes)


def read_bench(base):
    """The figures of BASE.out with its supplement BASE.more, and the persist mode."""
    lines = []
    for path in (base + '.out', base + '.more'):
        if os.path.exists(path):
            with open(path, encoding='utf-8', errors='replace') as file:
                # The first line of the output is the command.
                lines += file.readlines()[1 if path.endswith('.out') else 0:]
    output = BenchOutput().read(lines)
    return output.figures, output.persist_mode


YCSB_METRICS = {
    'Operations': 'operations', 'AverageLatency(us)': 'avg_us', '50thPercentileLatency(us)': 'p50_us',
    '90thPercentileLatency(us)': 'p90_us', '95thPercentileLatency(us)': 'p95_us', '99thPercentileLatency(us)': 'p99_us',
    '99.9PercentileLatency(us)': 'p999_us', '99.99PercentileLatency(us)': 'p9999_us', 'MaxLatency(us)': 'max_us',
}


def read_phase(path):
    """The figures of one phase, from what ycsbc exported as CSV to BASE.PHASE.csv."""
    phase = path.split('.')[-2]
    figures = []
    with open(path, newline='', encoding='utf-8') as file:
        for row in csv.reader(file):
            if len(row) != 3 or row[0] == 'CLEANUP':
                continue
            operation, name, value = row
            if operation == 'OVERALL' and name.startswith('Throughput'):
                figures.append((phase, None, 'ops_per_sec', float(value)))
            elif operation == 'OVERALL' and LABELS.get(name) in ('reads', 'cache_hits', 'bytes_read'):
                figures.append((phase, None, LABELS[name], float(value)))
            elif name in YCSB_METRICS:
                figures.append(('%s-%s' % (phase, operation.lower()), None, YCSB_METRICS[name], float(value)))
    return figures


INTERVAL_METRICS = {'avg_us': 'avg_us', 'p50_us': 'p50_us', 'p99_us': 'p99_us', 'p99.9_us': 'p999_us',
                    'p99.99_us': 'p9999_us', 'max_us': 'max_us', 'ops_per_sec': 'ops_per_sec'}


def read_intervals(path):
    """The series of an intervalfile, BASE.intervals, without the row of a short interval at the end of a phase. A row
    without operations counts: it is a second in which a store stood."""
    figures = []
    series = {}  # benchmark -> its rows
    with open(path, newline='', encoding='utf-8') as file:
        for row in csv.DictReader(file):
            if row['operation'] != 'CLEANUP':
                series.setdefault('%s-%s' % (row['phase'], row['operation'].lower()), []).append(row)
    for benchmark, rows in series.items():
        ends = [0.0] + [float(row['seconds']) for row in rows]
        if len(rows) > 1 and ends[-1] - ends[-2] < (ends[-2] - ends[-3]) / 2:
            rows.pop()
        for row in rows:
            for column, metric in INTERVAL_METRICS.items():
                # Nothing ended, so nothing took a time.
                if metric == 'ops_per_sec' or row['count'] != '0':
                    figures.append((benchmark, float(row['seconds']), metric, float(row[column])))
        rates = [float(row['ops_per_sec']) for row in rows]
        if rates and statistics.median(rates) > 0:
            figures.append((benchmark, None, 'slowest_second', min(rates) / statistics.median(rates)))
    return figures


def read_space(path):
    """The series of sample_space, BASE.space.csv: lines of milliseconds and bytes."""
    figures = []
    with open(path, newline='', encoding='utf-8') as file:
        for row in csv.reader(file):
            # The last line may be torn, because its writer was killed.
            if len(row) == 2 and row[1].isdigit() and int(row[1]) > 0:
                figures.append(('space', int(row[0]) / 1000, 'space_bytes', float(row[1])))
    return figures


def read_figures(path):
    """The figures of a program that is no benchmark, BASE.figures: in each line a name, and metrics as the head says."""
    with open(path, newline='', encoding='utf-8') as file:
        return [(row['name'], None, metric, float(value)) for row in csv.DictReader(file)
                for metric, value in row.items() if metric != 'name' and value]


def read_run(base):
    """All figures of the run whose files are called BASE.*, and its persist mode or None."""
    figures, persist_mode = read_bench(base)
    for path in sorted(glob.glob(glob.escape(base) + '.*.csv')):
        if path.endswith('.space.csv'):
            figures += read_space(path)
        else:
            figures += read_phase(path)
    if os.path.exists(base + '.intervals'):
        figures += read_intervals(base + '.intervals')
    if os.path.exists(base + '.figures'):
        figures += read_figures(base + '.figures')
    return figures, persist_mode
