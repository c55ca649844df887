#!/usr/bin/env bash
# outputs.py on recorded output of db_bench with each engine and of ycsbc, figure by figure.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
need_python
cat >"$scratch/show.py" <<'END'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import outputs
figures, mode = outputs.read_run(sys.argv[2])
for benchmark, seconds, metric, value in figures:
    print('%s %s %s %g' % (benchmark, '-' if seconds is None else '%g' % seconds, metric, value))
print('persist mode', mode)
END
show() { run python3 "$scratch/show.py" "$MIODB_ROOT/test_sh/experiments" "$1"; }

show "$here/recorded_runs/000-miodb-1"
expect_status 0
expect_line "persist mode emulated"
expect_line "end - write_amplification 1.791"
expect_line "end - wa_log 1.02461"
expect_line "stats - flushes 15"
expect_line "end - compactions 10"
expect_line "end - space_bytes 7e+07"
expect_line "stats - compaction_seconds 0.224964"
expect_part "fillrandom - ops_per_sec "
expect_part "readrandom - p9999_us "
expect_part "readrandom#2 - mb_per_sec "
expect_line "wait - seconds 0"

show "$here/recorded_runs/000-rocksdb-1"
expect_status 0
expect_line "persist mode None"
expect_line "stats - flushes 16"
expect_line "end - compactions 4"
expect_line "end - written_bytes 2.3105e+08"
expect_line "end - write_amplification 3.79"

# Version 10 has a column more in front of these.
show "$here/recorded_runs/000-rocksdb10-1"
expect_status 0
expect_line "stats - flushes 6"
expect_line "stats - compactions 1"
expect_line "stats - compaction_seconds 0.22"

show "$here/recorded_runs/000-leveldb-1"
expect_status 0
expect_line "end - write_amplification 4.603"
expect_line "stats - compaction_seconds 1"

# Rounds that warm up are not the benchmark.
cat >"$scratch/warm.out" <<'END'
command
Warming up benchmark by running 2 times
readzipfian  :       4.000 micros/op 250000 ops/sec 1.000 seconds 250000 operations;
readzipfian  :       3.000 micros/op 333333 ops/sec 1.000 seconds 333333 operations;
readzipfian  :       2.000 micros/op 500000 ops/sec 1.000 seconds 500000 operations;
readzipfian  :       1.000 micros/op 1000000 ops/sec 1.000 seconds 1000000 operations;
END
show "$scratch/warm"
expect_status 0
expect_line "readzipfian(warm-up) - ops_per_sec 250000"
expect_line "readzipfian(warm-up)#2 - ops_per_sec 333333"
expect_line "readzipfian - ops_per_sec 500000"
expect_line "readzipfian#2 - ops_per_sec 1e+06"

# What each benchmark read of the medium, and what was read since the start.
cat >"$scratch/reads.out" <<'END'
command
fillseq      :       1.000 micros/op 1000000 ops/sec 1.000 seconds 1000000 operations;
PERF_CONTEXT:
block reads = 5, block cache hits = 6, block bytes read = 700
mixgraph     :       2.000 micros/op 500000 ops/sec 1.000 seconds 500000 operations;
PERF_CONTEXT:
NVM units read = 50, NVM units found in cache = 60, NVM bytes read = 12800
NVM units read: 90
END
show "$scratch/reads"
expect_status 0
expect_line "fillseq - reads 5"
expect_line "fillseq - bytes_read 700"
expect_line "mixgraph - reads 50"
expect_line "mixgraph - cache_hits 60"
expect_line "mixgraph - bytes_read 12800"
expect_line "end - reads 90"

cat >"$scratch/hot.out" <<'END'
command
mixgraph     :       2.000 micros/op 500000 ops/sec 1.000 seconds 500000 operations; ( Gets:1 Puts:0 Seek:0, reads 1 in 1 found, avg size: 0.0 value, 0.0 scan) (hottest 1 % of keys: 23.4 % of accesses)
END
show "$scratch/hot"
expect_line "mixgraph - hottest_percent 23.4"

# A database of MioDB with log files and an SSD tier, and what its info log tells.
cat >"$scratch/files.out" <<'END'
db_bench
user bytes: 1000
NVM bytes total: 500
pool bytes used: 300
live bytes: 200
log file bytes: 1000
log file bytes padding: 50
SSD bytes: 100
write amplification: 1.600
END
printf 'open micros: 7\nreplay micros: 5\n' >"$scratch/files.more"
show "$scratch/files"
expect_status 0
expect_line "end - written_bytes 1600"
expect_line "end - write_amplification 1.6"
expect_line "end - log_padding_percent 5"
expect_line "end - space_amplification 1.5"
expect_line "end - open_micros 7"
expect_line "end - replay_micros 5"

# Exports of ycsbc, and series.
echo ycsbc input >"$scratch/run.out"
cat >"$scratch/run.a.csv" <<'END'
metric,measurement,value
OVERALL,RunTime(ms),2000
OVERALL,Throughput(ops/sec),1234.5
READ,Operations,100
READ,99.9PercentileLatency(us),7.5
CLEANUP,Operations,1
END
cat >"$scratch/run.intervals" <<'END'
phase,seconds,ops_per_sec,operation,count,avg_us,p50_us,p90_us,p99_us,p99.9_us,p99.99_us,max_us
run,1.000,500.0,READ,500,1,1,1,2,3,4,5
run,2.000,600.0,READ,600,1,1,1,2,6,4,5
run,2.001,5.0,READ,1,1,1,1,2,900,4,5
END
# A second without operations, and a short one behind it, which is not the last.
cat >"$scratch/stall.intervals" <<'END'
phase,seconds,ops_per_sec,operation,count,avg_us,p50_us,p90_us,p99_us,p99.9_us,p99.99_us,max_us
run,1.000,500.0,READ,500,1,1,1,2,3,4,5
run,2.000,500.0,READ,500,1,1,1,2,3,4,5
run,3.000,0.0,READ,0,0,0,0,0,0,0,0
run,4.001,600.0,READ,600,1,1,1,2,6,4,5
run,4.200,500.0,READ,600,1,1,1,2,6,4,5
run,5.200,500.0,READ,600,1,1,1,2,6,4,5
END
echo ycsbc input >"$scratch/stall.out"
printf '100,4096\n200,8192\n300,81' >"$scratch/run.space.csv"
show "$scratch/run"
expect_status 0
expect_line "a - ops_per_sec 1234.5"
expect_line "a-read - p999_us 7.5"
expect_line "run-read 2 p999_us 6"
expect_no_line "run-read 2.001 p999_us 900"
expect_line "run-read - slowest_second 0.909091"
expect_line "space 0.2 space_bytes 8192"
expect_no_line "a-cleanup - operations 1"
show "$scratch/stall"
expect_status 0
expect_line "run-read 3 ops_per_sec 0"
expect_no_line "run-read 3 p999_us 0"
expect_line "run-read 4.2 p999_us 6"
expect_line "run-read - slowest_second 0"
# What collection has to copy: the formula against a log that is simulated, and what it allows a smaller pool.
cat >"$scratch/collect.py" <<'END'
import collections
import random
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import collection

def simulated(ratio, records=6000, segments=200):
    """Copies for each overwrite, in a log that is collected in its order."""
    most = int(records * ratio) // segments
    at, live, queue, counts = [None] * records, collections.defaultdict(set), collections.deque(), collections.Counter()
    newest, filled = 0, 0
    dice = random.Random(1)
    def store(record):
        nonlocal newest, filled
        if at[record] is not None:
            live[at[record]].discard(record)
        at[record] = newest
        live[newest].add(record)
        filled += 1
        if filled == most:
            queue.append(newest)
            newest, filled = newest + 1, 0
    for record in range(records):
        store(record)
    for i in range(records * 15):
        while len(queue) >= segments - 1:
            kept = list(live.pop(queue.popleft()))
            counts['copied'] += len(kept) if i > records * 5 else 0
            for record in kept:
                store(record)
        counts['written'] += 1 if i > records * 5 else 0
        store(dice.randrange(records))
    return counts['copied'] / counts['written']

for ratio in (1.5, 2, 3):
    by_formula, by_log = collection.copies(1 / ratio), simulated(ratio)
    print('%g: %s' % (ratio, 'agree' if abs(by_log - by_formula) <= 0.1 * by_formula else '%g, %g' % (by_formula, by_log)))
runs = [{'fill': 0.2, 'ops_per_sec': 1000, 'write_amplification': 2}, {'fill': 1 / 1.5}]
collection.add_allowed(runs)
print('allowed %.0f %.0f' % (runs[0]['allowed_ops_per_sec'], runs[1]['allowed_ops_per_sec']))
try:
    collection.moved(1)
except ValueError as error:
    print(error)
END
run python3 "$scratch/collect.py" "$MIODB_ROOT/test_sh/experiments"
expect_status 0
expect_line "1.5: agree"
expect_line "2: agree"
expect_line "3: agree"
expect_line "allowed 1000 738"
expect_line "a share of live data between 0 and 1, not 1"

# Labels of an axis have one kind of unit, and what nobody may miss is said.
cat >"$scratch/judge.py" <<'END'
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import results
def panel(groups):
    data = [{'engine': 'miodb', 'series': '', 'x': x, 'benchmark': 'b', 'metric': 'm', 'round': 1, 'run': '0',
             'seconds': None, 'value': 1} for x in groups]
    return results.Panel({'kind': 'lines', 'title': '', 'xlabel': 'data set, bytes', 'ylabel': '', 'benchmarks': 'b',
                          'metrics': 'm', 'options': ''}, data)
for groups in (['399999632', '822083584'], ['16', '1024', '65536'], ['1000', '4112000']):
    shown = panel(groups)
    print(', '.join(shown.group_label(group) for group in groups))
machine = {'scale': 0.01, 'persist_modes': ['emulated, all figures MODELLED: optane'], 'busy_cpus_before': 1.5,
           'cpu': {'count': 2}}
rows = [{'round': 1, 'benchmark': 'fillrandom', 'metric': 'seconds', 'value': 0.5},
        {'round': 1, 'benchmark': 'wait', 'metric': 'seconds', 'value': 0}]
print('; '.join(results.labels(rows, machine, 1, 2)))
print('\n'.join(results.warnings(rows, machine, 1, 2)))
rows = [{'round': r, 'benchmark': 'fillrandom', 'metric': 'seconds', 'value': 1.5} for r in (1, 2, 3)]
machine['busy_cpus_before'] = 0.1
print('then', results.warnings(rows, machine, 2, 2))
END
run python3 "$scratch/judge.py" "$MIODB_ROOT/test_sh/experiments"
expect_status 0
expect_line "400 MB, 822 MB"
expect_line "16, 1 KiB, 64 KiB"
expect_line "1 kB, 4.11 MB"
expect_line "PARTIAL: 1 of 2 runs; scale 0.01; 1 round; persistent memory EMULATED; figures of miodb MODELLED"
expect_line "PARTIAL: 1 of 2 runs are finished; --resume goes on"
expect_line "one round: what is chance and what is not cannot be told; --rounds 3 shows the spread"
expect_line "runs of less than a second, which say little: fillrandom (0.5 s); a larger --scale makes longer ones"
expect_line "the machine was loaded before the first run: other programs kept 1.5 of 2 CPUs busy"
expect_line "then []"
passed
