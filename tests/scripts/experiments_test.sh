#!/usr/bin/env bash
# The experiments with a stand-in for db_bench: what is run, what is written, what an interruption leaves, and what wrong
# calls say. Without plots, which need gnuplot.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
need_python
folder="$MIODB_ROOT/test_sh/experiments"

# Prints what was recorded of the engine; the throughput of a round is its seed. Padding takes a quarter of a second, and the
# log a fifth.
mkdir "$scratch/bin" "$scratch/db"
cat >"$scratch/bin/db_bench" <<END
#!/usr/bin/env bash
recorded="$here/recorded_runs"
END
cat >>"$scratch/bin/db_bench" <<'END'
here=$(dirname "$0")
seed=1
seconds=1.000
for word in "$@"; do
  case $word in
    --version) echo "db_bench: miodb 1.0, leveldb 1.23, rocksdb 7.8.3"; exit 0 ;;
    --db=*) db=${word#*=} ;;
    --engine=*) engine=${word#*=} ;;
    --seed=*) seed=${word#*=} ;;
    --wal_padding) seconds=1.250 ;;
    --disable_wal) seconds=0.800 ;;
    --wal_dir=*) mkdir -p "${word#*=}" ;;
    --pool_path=*)
      if [[ -e ${word#*=} ]]; then echo "${word#*=} belongs to another database" >&2; exit 1; fi
      touch "${word#*=}"
      ;;
  esac
done
echo "$*" >>"$here/calls"
"$here/held_now" >>"$here/held"
if [[ -e $here/fail && $engine == rocksdb ]]; then echo "put error: NoSpace" >&2; exit 1; fi
mkdir -p "$db"
touch "$db/LOG"
sed "1d; s/^fillrandom .*/fillrandom   :       1.000 micros\/op ${seed}000 ops\/sec ${seconds} seconds 1000 operations;   ${seed}0.0 MB\/s/" \
  "$recorded/000-$engine-1.out"
if [[ -e $here/interrupt && $engine == rocksdb ]]; then kill -INT "$PPID"; sleep 0.1; fi
exit 0
END
# The bytes that are held for experiments at the moment, a line for each.
cat >"$scratch/bin/held_now" <<'END'
#!/bin/sh
cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n' | sed -n '/hold_memory\.py$/{n;p}'
END
chmod +x "$scratch/bin/db_bench" "$scratch/bin/held_now"
common=(--bin "$scratch/bin" --db "$scratch/db" --out "$scratch/results" --scale 0.0001 --no-plots)
calls() { if [[ -e $scratch/bin/calls ]]; then wc -l <"$scratch/bin/calls"; else echo 0; fi; }
# The newest folder of results of experiment $1.
newest() { printf '%s\n' "$scratch/results/$1"/* | tail -n 1; }

run "$folder/table1_costs.sh" "${common[@]}" --rounds 3
expect_status 0
expect "three engines, three rounds" test "$(calls)" = 9
if [[ $(stat -f -c %T "$scratch") == tmpfs ]]; then
  bytes=$((2 * 1946 * 4112 + 4 * 1048576))
  expect "memory is held during each run" test "$(grep -cx $bytes "$scratch/bin/held")" = 9
  # The holder ends behind the script, when it finds its input closed.
  is_held() { [[ $("$scratch/bin/held_now" | grep -cx $bytes) != 0 ]]; }
  for ((looks = 0; looks < 600; looks++)); do
    is_held || break
    sleep 0.1
  done
  expect "and let go of" test "$looks" -lt 600
fi
results=$(newest table1_costs)
for file in data.csv machine.json plan.csv table.txt report.html raw/000-miodb-3.out; do
  expect "there is $file" test -s "$results/$file"
done
expect "medians over rounds, and ratios pair by pair" grep -qE '^4 KiB +1 +1 +1 +1 +1$' "$results/table.txt"
expect "data has every round" grep -q '^000,miodb,3,,4 KiB,fillrandom,,ops_per_sec,3000.0' "$results/data.csv"
expect "the machine is described" grep -q '"persist_modes": \[' "$results/machine.json"
expect "the index links the report" grep -q 'table1_costs/.*/report.html' "$scratch/results/index.html"
expect "engines take turns" test "$(sed -n 's/^--engine=\([a-z]*\) --seed=2 .*/\1/p' "$scratch/bin/calls" | paste -sd' ')" = \
  "leveldb rocksdb miodb"
expect "no database is left" test -z "$(ls "$scratch/db")"
expect_part "scale 0.0001; 3 rounds; persistent memory EMULATED"
expect "three rounds show the spread" test -z "$(grep 'warning: one round' "$results/table.txt")"

# What is finished is not run again.
run "$folder/table1_costs.sh" "${common[@]}" --rounds 4 --resume "$results"
expect_status 0
expect "only the new round ran" test "$(calls)" = 12
run "$folder/table1_costs.sh" --bin "$scratch/bin" --db "$scratch/db" --no-plots --scale 0.0002 --resume "$results"
expect_status 1
expect_error "table1_costs.sh: $results was begun with other options, see its plan.csv; results of both do not go together"

for options in "--memtable 2097152" "--db $scratch" "-- --sync"; do
  read -ra words <<<"$options"
  run "$folder/table1_costs.sh" --resume "$results" "${words[@]}"
  expect_status 1
  expect_error_part "table1_costs.sh: $results was begun with \"${words[0]} "
  expect_error_part "now it is \"$options\"; results of both do not go together"
  run "$folder/run.sh" table1_costs --out "$scratch/results" --bin "$scratch/bin" --resume-last --check "${words[@]}"
  expect_status 1
  expect_error_part "now it is \"$options\""
done
expect "none of these ran" test "$(calls)" = 12

# The options that a run was begun with need not be given again.
rm "$scratch/bin/calls"
before=$(head -n 1 "$results/plan.csv")
rm "$results/raw/000-rocksdb-2.out"
run "$folder/table1_costs.sh" --resume "$results"
expect_status 0
expect "the run that was missing is made" test "$(calls)" = 1
expect "with the memtables of before" grep -q -- "--engine=rocksdb --seed=2 --write_buffer_size=1048576 " "$scratch/bin/calls"
expect "the plan is the same" test "$before" = "$(head -n 1 "$results/plan.csv")"
expect "the report is of all runs" test -z "$(grep PARTIAL "$results/report.html" "$results/table.txt")"

# Presets and named libraries are engines of their own; a peer's header tells of its library.
rm "$scratch/bin/calls"
touch "$scratch/lib.so"
run "$folder/table1_costs.sh" "${common[@]}" --rounds 2 --engines "miodb,rocksdb-plain,fork=leveldb@$scratch/lib.so"
expect_status 0
results=$(newest table1_costs)
expect "a preset is a flag" test "$(grep -c -- '--engine=rocksdb .*--preset=plain' "$scratch/bin/calls")" = 2
expect "and so is a library" test "$(grep -c -- "--engine=leveldb .*--library=$scratch/lib.so" "$scratch/bin/calls")" = 2
expect "the first round asks" test "$(grep -c -- '--questions=0' "$scratch/bin/calls")" = 2
expect "peers print apart" test "$(grep -c -- '--engine_output=' "$scratch/bin/calls")" = 4
expect "figures have their names" grep -q '^000,fork,2,' "$results/data.csv"
sed -i "2i Library:    $scratch/lib.so\nWARNING: x is no release build: assertions (20 calls)\nWARNING: LevelDB answers wrong, deletes: found\n-----" \
  "$results/raw/000-fork-1.out"
run "$folder/table1_costs.sh" --resume "$results"
expect_status 0
expect_part "fork of unknown version, NO RELEASE BUILD, ANSWERS WRONG"
expect "the peer's library is recorded" \
  grep -q "^fork,,assertions (20 calls),,,deletes: found,$scratch/lib.so,e3b0c44298fc1c14" "$results/peers.csv"
expect "and the machine knows it" grep -q '"sha256": "e3b0c44298fc1c14' "$results/machine.json"
run "$folder/table1_costs.sh" "${common[@]}" --engines "fork=leveldb@$scratch/absent.so"
expect_status 1
expect_error_part "--engines: no file $scratch/absent.so"

# An interruption leaves a report of what is finished.
touch "$scratch/bin/interrupt"
run "$folder/fig9_levels.sh" "${common[@]}" --engines miodb,rocksdb --levels 2,3 --rounds 1
rm "$scratch/bin/interrupt"
expect_status 130
results=$(newest fig9_levels)
expect "the finished run is reported" grep -q '^000,miodb,1,,2,fillrandom,,ops_per_sec,1000.0' "$results/data.csv"
expect "the other is not" test ! -e "$results/raw/000-rocksdb-1.out"
for file in report.html table.txt; do
  expect "$file says that it is partial" grep -q 'PARTIAL: 1 of 4 runs' "$results/$file"
done
expect_line "warning: one round: what is chance and what is not cannot be told; --rounds 3 shows the spread"
expect "no database is left" test -z "$(ls "$scratch/db")"
rm "$scratch/bin/calls"
run "$folder/fig9_levels.sh" "${common[@]}" --engines miodb,rocksdb --levels 2,3 --rounds 1 --resume-last
expect_status 0
expect "three runs were left" test "$(calls)" = 3
expect "the report is whole now" test -z "$(grep PARTIAL "$results/report.html" "$results/table.txt")"

# A second region has another name in each process.
for rounds in 1 2; do
  rm -f "$scratch/bin/calls"
  run "$folder/placement_policies.sh" "${common[@]}" --policies default --shares 25 --last "$scratch" --rounds "$rounds" \
    --resume-last
  expect_status 0
  expect "round $rounds ran" test "$(grep -c -- "--nvm_regions=$scratch/miodb_" "$scratch/bin/calls")" = 1
done

# A failed run ends the experiment, and the next one begins.
touch "$scratch/bin/fail"
run "$folder/run.sh" table1_costs space_over_time "${common[@]}" --rounds 1
rm "$scratch/bin/fail"
expect_status 1
expect_error_part "put error: NoSpace"
expect_error "run.sh: failed: table1_costs space_over_time"
expect "the second ran" grep -q -- --benchmark_write_rate_limit= "$scratch/bin/calls"

# compare.sh is an experiment too. Plots are drawn where gnuplot is.
plotting=("${common[@]}")
if command -v gnuplot >/dev/null; then plotting=("${common[@]:0:8}"); fi
run "$MIODB_ROOT/benchmarks/compare.sh" "${plotting[@]}" --rounds 2 --num 1000 --benchmarks fillrandom,readrandom,wait,readrandom
expect_status 0
results=$(newest compare)
expect "the second reading has its own row" grep -q '^readrandom#2 ' "$results/table.txt"
expect "the longest is that of all rounds" grep -q '^Longest of all runs: microseconds.$' "$results/table.txt"
if command -v gnuplot >/dev/null; then
  expect "there is a PNG" grep -q PNG <(head -c 8 "$results/plot.png")
  expect "there is an SVG" grep -q '</svg>' "$results/plot.svg"
fi

# Engines that an experiment is not made for leave it out.
run "$folder/run.sh" fig9_levels log_modes "${common[@]}" --rounds 1 --engines leveldb
expect_status 0
expect_line "not for leveldb; left out"
expect "leveldb is never run without a log" test -z "$(grep -e --engine=leveldb "$scratch/bin/calls" | grep -e --disable_wal)"

# The studies of the log, and placement: what goes to which engine.
rm -f "$scratch/bin/calls"
run "$folder/log_blocks.sh" "${common[@]}" --rounds 1 --key_sizes 16,1024 --value_sizes 16,8192
expect_status 0
expect "block sizes and padding" test "$(grep -cE -- '--wal_block_size=(8192|16384|32768)( --wal_padding)?$' "$scratch/bin/calls")" = 24
expect "half of them are padded" test "$(grep -c -- --wal_padding "$scratch/bin/calls")" = 12
results=$(newest log_blocks)
expect "an experiment's own options are kept, too" grep -qx -- "--key_sizes 16,1024" "$results/settings"
expect "seconds with padding minus those without" grep -qE \
  '^keys of 1024 B, 8 KiB padded minus 8 KiB +8 KiB +\+0\.25$' "$results/table.txt"
for record in 32 1040 8208 9216; do
  expect "the same by record size, $record" grep -qE "^32 KiB padded minus 32 KiB +$record +\+0\.25$" "$results/table.txt"
done
expect "six threads" grep -q -- "--threads=6 --key_size=1024 --value_size=8192 --log_mode=file" "$scratch/bin/calls"
expect "peers run without such flags" test -z "$(grep -E -- '--engine=(leveldb|rocksdb)' "$scratch/bin/calls" | grep -e --wal_block_size)"
run "$folder/log_blocks.sh" "${common[@]}" --study --dry-run --engines miodb
expect_status 0
expect "four sizes of keys, twelve of values, six logs" test "$(grep -c -- --log_mode=file "$scratch/out")" = 288
for size in --key_size=512 --value_size=100 --value_size=4096; do
  expect "$size is among them" grep -q -- "$size " "$scratch/out"
done
run "$folder/log_blocks.sh" "${common[@]}" --key_sizes 16,x
expect_error 'log_blocks.sh: --key_sizes: "x" is not a size in bytes'
run "$folder/run.sh" log_files log_overhead log_modes placement "${common[@]}" --rounds 1
expect_status 0
for flag in --wal_bytes_per_sync= --wal_ttl_seconds= --wal_size_limit_MB= --max_total_wal_size= --wal_dir= --disable_wal --sync; do
  for engine in miodb rocksdb; do
    expect "$engine is run with $flag" grep -q -- "--engine=$engine .*$flag" "$scratch/bin/calls"
  done
done
results=$(newest log_overhead)
for record in 116 228 612 1124; do
  expect "time with the log over time without, records of $record B" \
    grep -qE "^log on over log off +$record +1\.25 +1\.25$" "$results/table.txt"
  expect "of files for MioDB alone" grep -qE "^log in files over log off +$record +1\.25 +-$" "$results/table.txt"
done
# A key of 16 B with a value of 116 B and one of 116 B with a value of 16 B are records of one size, and pairs of their own.
run "$folder/log_overhead.sh" "${common[@]}" --rounds 2 --key_sizes 16,116 --value_sizes 16,116
expect_status 0
results=$(newest log_overhead)
for record in 32 132 232; do
  expect "records of $record B" grep -qE "^log on over log off +$record +1\.25 +1\.25$" "$results/table.txt"
done
run "$folder/log_overhead.sh" "${common[@]}" --value_sizes ""
expect_error "log_overhead.sh: --value_sizes needs a size"
expect "the log's folder is beside the database" grep -qE -- '--db=([^ ]*) .*--wal_dir=\1\.wal' "$scratch/bin/calls"
if [[ -d /sys/devices/system/node/node0 ]]; then
  expect "the pool is placed" grep -q -- "--dram_node=0 --nvm_node=0" "$scratch/bin/calls"
fi
expect "no database is left" test -z "$(ls "$scratch/db")"

# Programs that are no benchmark: their figures are a table of their own.
cat >"$scratch/bin/log_faults" <<'END'
#!/usr/bin/env bash
for word in "$@"; do
  case $word in
    --seed=*) seed=${word#*=} ;;
    --csv=*) csv=${word#*=} ;;
  esac
done
echo "$*" >>"$(dirname "$0")/calls"
{
  echo name,faults,told_percent,before_percent,wrong
  for kind in bit torn-512-zeros torn-512-old torn-4096-zeros torn-4096-old; do echo "$kind,100,9$seed,1,0"; done
} >"$csv"
END
chmod +x "$scratch/bin/log_faults"
rm -f "$scratch/bin/calls"
run "$folder/log_faults.sh" "${common[@]}" --rounds 3 --faults 100 --value_sizes 16,1024
expect_status 0
expect "three logs, two sizes, three rounds" test "$(calls)" = 18
results=$(newest log_faults)
expect "its figures are data" grep -q '^000,miodb,3,file,16,torn-512-old,,told_percent,93.0' "$results/data.csv"
expect "and in tables" grep -qE '^pool +1 KiB +92' "$results/table.txt"
run "$folder/log_faults.sh" "${common[@]}" --faults 0
expect_error 'log_faults.sh: --faults needs a number above 0, not "0"'

cat >"$scratch/bin/log_compression_cost" <<'END'
#!/usr/bin/env bash
for word in "$@"; do
  case $word in --csv=*) csv=${word#*=} ;; esac
done
echo "log_compression_cost $*" >>"$(dirname "$0")/calls"
{
  echo name,record_bytes,log_bytes,saved_percent,write_ns,read_ns
  for codec in none snappy zstd zstd-stream; do echo "$codec,145,100,31.0,50,40"; done
} >"$csv"
END
chmod +x "$scratch/bin/log_compression_cost"
rm -f "$scratch/bin/calls"
run "$folder/log_compression.sh" "${common[@]}" --rounds 1 --value_sizes 100,1024
expect_status 0
expect "two sizes of groups, two of values" test "$(grep -c '^log_compression_cost ' "$scratch/bin/calls")" = 4
expect "RocksDB alone compresses" test "$(grep -- --wal_compression=kZSTD "$scratch/bin/calls" | grep -c -- --engine=rocksdb)" = 2
expect "and nobody else" test "$(grep -c -- --wal_compression=kZSTD "$scratch/bin/calls")" = 2
results=$(newest log_compression)
expect "what is saved is in a table" grep -qE '^32 puts +1 KiB +31$' "$results/table.txt"

# Wrong calls: one clear line before anything starts.
rm -f "$scratch/bin/calls"
run "$folder/run.sh" fig99
expect_status 1
expect_error 'run.sh: unknown experiment "fig99"; --list names them'
run "$folder/threads.sh" "${common[@]}" --threads 1,x
expect_error 'threads.sh: --threads: "x" is not a number above 0'
run "$folder/threads.sh" "${common[@]}" --engine mysql
expect_error_part "has no engine mysql"
run "$folder/threads.sh" "${common[@]}" --db /nowhere
expect_error "threads.sh: --db: no writable folder /nowhere"
run "$folder/threads.sh" "${common[@]}" --bin /nowhere
expect_error_part "no program /nowhere/db_bench"
run "$folder/threads.sh" "${common[@]}" --scale 1000
expect_error_part "may be needed"
run "$folder/threads.sh" "${common[@]}" --levels 3
expect_error "threads.sh: unknown option --levels; see --help"
expect "nothing was run" test "$(calls)" = 0

# The distribution of hot keys is that of the study for as many keys as there are: the hottest 1 % get the same share.
mkdir "$scratch/both"
ln -s "$scratch/bin/db_bench" "$scratch/bin/../both/db_bench"
for program in ycsbc log_faults log_compression_cost; do ln -s db_bench "$scratch/both/$program"; done
for scale in 0.0001 0.01 1; do
  run "$folder/workload_models.sh" --bin "$scratch/both" --db "$scratch/db" --out "$scratch/results" --no-plots --scale "$scale" --dry-run
  expect_status 0
  share=$(sed -n 's/.* --num=\([0-9]*\) .*--key_dist_a=\([0-9.e-]*\) --key_dist_b=\([0-9.]*\).*/\1 \2 \3/p' "$scratch/out" |
    awk '{ printf "%.1f\n", 100 * $2 * ($1 / 100) ^ $3 }' | sort -u)
  expect "at scale $scale the hottest 1 % get 21.9 %, not \"$share\"" test "$share" = 21.9
done
expect "what was drawn is counted where reads are" test "$(grep -c -- '--perf_level=2 .*--mixgraph_hotness' "$scratch/out")" = \
  "$(grep -c -- --perf_level=2 "$scratch/out")"

# The list has every script that is an experiment, and "all" leaves out what cannot be run here.
run "$folder/run.sh" --list
expect "each has a sentence" test -z "$(grep -vE '^[a-z0-9_]+ +[A-Z][^ ]* .{20,}\.$' "$scratch/out")"
expect "all experiments are listed" diff <(sed 's/ .*//' "$scratch/out" | sort) <(grep -lE '^run_all$' "$folder"/*.sh | sed 's|.*/||; s|\.sh$||' | sort)
if [[ $(stat -f -c %T "$scratch") == tmpfs ]]; then
  run "$folder/run.sh" all "${common[@]}" --bin "$scratch/both" --engines miodb --check
  expect_status 0
  expect_line "left out: ssd_tier.sh: --db: $scratch/db is tmpfs, which is no SSD"
  run "$folder/run.sh" ssd_tier "${common[@]}" --check
  expect_status 1
  expect_error "ssd_tier.sh: --db: $scratch/db is tmpfs, which is no SSD"
fi
run "$folder/run.sh" all "${common[@]}" --check
expect_error_part "no program $scratch/bin/ycsbc"
run "$folder/fig9_levels.sh" --db "$scratch/db" --bin "$scratch/nowhere" --no-plots --dry-run
expect_status 0
expect_part "$scratch/nowhere/db_bench"
run "$folder/fig9_levels.sh" "${common[@]}" --dry-run
expect_status 0
expect "seven commands" test "$(grep -c . "$scratch/out")" = 7
expect "nothing was run" test "$(calls)" = 0
if [[ $(stat -f -c %T "$scratch") != tmpfs ]]; then
  # A pool outside of the database goes with it after each run.
  mkdir "$scratch/pool"
  run "$folder/full_pool.sh" "${common[@]}" --rounds 2 --ratios 50,75 --pool "$scratch/pool"
  expect_status 0
  expect "no pool is left" test -z "$(ls -A "$scratch/pool")"
fi
run "$folder/watch_cpus.py" 0
expect_status 1
expect "its usage" grep -q 'Usage: watch_cpus.py' "$scratch/err"
run "$folder/watch_cpus.py" 1
# Not everybody may run in real time.
if [[ $status == 0 ]]; then
  expect "a second of each CPU" grep -qE '^[0-9]+\.[0-9]{3}(,[0-9]+)+$' "$scratch/out"
else
  expect "what is missing" grep -q 'needs root, or a limit of RLIMIT_RTPRIO' "$scratch/err"
fi
passed
