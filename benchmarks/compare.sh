#!/usr/bin/env bash
# Compares MioDB with LevelDB and RocksDB on this machine: runs db_bench for one engine after the other, several times
# over, and shows medians, spreads and ratios.
#
#   --num N            keys; default 2000000
#   --value_size V     bytes per value; default 1024
#   --reads N          operations of a benchmark that reads; default 1000000, or as many as there are keys if that is less
#   --benchmarks LIST  default: fillseq, fillrandom, readrandom, wait, readrandom, readseq, readmissing, seekrandom,
#                      overwrite, readwhilewriting, wait
#
# All engines get the same keys and values (the seed is the number of the round), 64 MiB memtables, filters of 10 bits per
# key, their log on but not synced, no checksums on reads, no compression, and as many open files as they like; on
# tmpfs RocksDB maps its tables, as LevelDB always does. In every round the engines take turns in another order.
# seekrandom steps 50 times after each seek. Nothing runs at the same time as another measurement. A benchmark that the
# list names twice appears a second time as name#2.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../test_sh/experiments/lib.sh"

num=2000000
value_size=1024
reads=
benchmarks=fillseq,fillrandom,readrandom,wait,readrandom,readseq,readmissing,seekrandom,overwrite,readwhilewriting,wait
own_options="num value_size reads benchmarks"
experiment compare Comparison "$@"
check_counts num
if [[ -z $reads ]]; then reads=$((num < 1000000 ? num : 1000000)); fi
check_counts reads
is_whole_number "$value_size" || die "--value_size needs a number, not \"$value_size\""
title="Comparison: $num keys, values of $value_size bytes"

# The names of the list as results know them.
names=
declare -A seen
IFS=, read -ra list <<<"$benchmarks"
for benchmark in "${list[@]}"; do
  seen[$benchmark]=$((${seen[$benchmark]:-0} + 1))
  if ((seen[$benchmark] > 1)); then benchmark+="#${seen[$benchmark]}"; fi
  names+="${names:+,}$benchmark"
done
plan_bench "" all $((num * (value_size + 64))) --benchmarks="$benchmarks" --num="$num" --value_size="$value_size" \
  --reads="$reads" --seek_nexts=50
panel bars "Throughput" "benchmark" "operations per second" "$names" ops_per_sec log=y
panel bars "99.9th percentile" "benchmark" "microseconds" "$names" p999_us log=y better=less
panel bars "Longest of all runs" "benchmark" "microseconds" "$names" max_us log=y better=less show=largest
panel bars "Write amplification of the last database" "" "bytes written / bytes of the user" end write_amplification \
  better=less
run_all
