#!/usr/bin/env bash
# Prints the figures of a run of test_sh/auto.sh, block by block as the parser of MioDB's prototype does.
#
#   test_sh/parser.sh [--present] [--outfilepath FOLDER | FOLDER]
#
# --present leaves out the blocks of which no file is there.
#
# FOLDER holds the output files; default: $outfilepath, or results/auto. Figures are found by the names before them, the
# last of a name counts, and units that stick to a number do not matter, so files of the prototype are read as well.
# Data sizes come from the command in the first line of a file; without one, the published 80 GB are taken.
#
# "Write Amplification" is the published figure: (wa + total) / total, cut to one decimal, which counts the log as one
# copy of the values and leaves keys out. The line below it is what was measured, log and keys included.
# "Interval Stall" and "Deserialization" are 0 by design: there is no level 0 that can fill up, and tables are read where
# they lie; the two lines are there because the published table has them.
#
# Exit status 1 if a file is missing or lacks a figure; the block says which.

[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@" # called with sh
set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

folder=${outfilepath:-results/auto}
present=false
while (($# > 0)); do
  if [[ $1 != -* ]]; then
    folder=$1
    shift
    continue
  fi
  take_option "--present" "$@"
  shift "$option_words"
  case $option in
    --outfilepath) folder=$value ;;
    --present) present=true ;;
    *) die "unknown option $option; see --help" ;;
  esac
done
[[ -d $folder ]] || die "no folder $folder with output files; run test_sh/auto.sh first"

status=0
published_bytes=81920000000

# begin_block TITLE PATTERN...: prints the title of a block, whose files have names of these patterns. Fails if the block
# is left out.
begin_block() {
  local text=$1 pattern
  shift
  if $present; then
    for pattern in "$@"; do
      if compgen -G "$folder/$pattern" >/dev/null; then pattern=; break; fi
    done
    [[ -z $pattern ]] || return 1
  fi
  printf '\n---------- %s ----------\n' "$text"
}

# missing FILE WHAT
missing() {
  say "$1: $2 is missing"
  status=1
}

# find_file NAME...: sets file to the first of these that there is in the folder; else says that the first is missing.
find_file() {
  local name
  for name in "$@"; do
    file=$folder/$name
    if [[ -r $file ]]; then return 0; fi
  done
  missing "$1" "the file"
  return 1
}

# lines PATTERN NAME...: the lines of a file that match.
lines() {
  local pattern=$1
  shift
  find_file "$@" || return 0
  # The first line is the command, which names every benchmark.
  sed 1d "$file" | grep -- "$pattern" || missing "$1" "a line with \"$pattern\""
}

# Digits of the last line of $file that begins with one of the labels, or nothing.
last_number() {
  local label
  for label in "$@"; do
    sed -nE "s/^$label: *([0-9.]+).*/\1/p" "$file" | tail -n 1
  done | sed -n 1p
}

# The bytes of values that the command in the first line of $file writes.
data_bytes() {
  head -n 1 "$file" | awk -v published="$published_bytes" '{
    for (i = 1; i <= NF; i++) {
      if (sub(/^--?num=/, "", $i)) num = $i
      if (sub(/^--?value_size=/, "", $i)) size = $i
    }
    printf "%.0f\n", (num > 0 && size > 0 ? num * size : published)
  }'
}

# amplification NAME...: the two lines of write amplification of a file.
amplification() {
  local bytes measured
  find_file "$@" || return 0
  bytes=$(last_number wa)
  if [[ -z $bytes ]]; then
    missing "$1" "wa"
    return
  fi
  awk -v wa="$bytes" -v total="$(data_bytes)" 'BEGIN {
    printf "Write Amplification: %.1f X\n", int((wa + total) * 10 / total) / 10
  }'
  measured=$(last_number "write amplification")
  if [[ -n $measured ]]; then say "Measured, log and keys included: $measured X"; fi
}

value_sizes=(1 4 16 64)
data_sizes=(40 80 120 160 200)
memtable_sizes=(64 128 256 512)

for block in "random write:fillrandom:random" "sequential write:fillseq:seq" "random read:readrandom:random" \
  "sequential read:readseq:seq"; do
  IFS=: read -r name benchmark order <<<"$block"
  begin_block "$name: values of 1, 4, 16, 64 KB (Figure 6)" "db_bench_${order}_*KB.out" || continue
  for kilobytes in "${value_sizes[@]}"; do lines "$benchmark  " "db_bench_${order}_${kilobytes}KB.out"; done
done

if begin_block "Different costs: random writes of 4 KB (Table 1)" db_bench_random_4KB.out &&
  find_file db_bench_random_4KB.out; then
  stall=$(last_number "stall time")
  dump=$(last_number "dump time" "flush time")
  say "Interval Stall: 0"
  if [[ -n $stall ]]; then say "Cumulative Stall: $stall us"; else missing db_bench_random_4KB.out "stall time"; fi
  say "Deserialization: 0"
  if [[ -n $dump ]]; then say "Flushing Time: $dump us"; else missing db_bench_random_4KB.out "dump time"; fi
  amplification db_bench_random_4KB.out
fi

for kilobytes in 1 4; do
  begin_block "YCSB throughput: Load, A, B, C, D, E, F, records of $kilobytes KB (Figure 7)" \
    "YCSB_${kilobytes}KB.out" || continue
  lines loading "YCSB_${kilobytes}KB.out"
  lines "all op" "YCSB_${kilobytes}KB.out"
done

if begin_block "Tail latency: YCSB A (Figure 8, Table 2)" "YCSB_*KB_tail_latency.out"; then
  "$MIODB_ROOT/test_sh/tail_latency.sh" "$folder"/YCSB_{1,4}KB_tail_latency.out || status=1
fi

data_patterns=("dateset_size_*GB.out" "dataset_size_*GB.out")
if begin_block "data set size: 40, 80, 120, 160, 200 GB (Figure 10)" "${data_patterns[@]}"; then
  for benchmark in readrandom fillrandom; do
    for gigabytes in "${data_sizes[@]}"; do
      lines "$benchmark  " "dateset_size_${gigabytes}GB.out" "dataset_size_${gigabytes}GB.out"
    done
  done
fi

if begin_block "Write Amplification by data set size: 40, 80, 120, 160, 200 GB (Figure 11)" "${data_patterns[@]}"; then
  for gigabytes in "${data_sizes[@]}"; do
    amplification "dateset_size_${gigabytes}GB.out" "dataset_size_${gigabytes}GB.out"
  done
fi

if begin_block "memtable size: 64, 128, 256, 512 MB (Figure 12)" "memtable_size_*MB.out"; then
  for megabytes in "${memtable_sizes[@]}"; do
    find_file "memtable_size_${megabytes}MB.out" || continue
    dump=$(last_number "dump time" "flush time")
    if [[ -n $dump ]]; then say "Flushing Time: $dump us"; else missing "memtable_size_${megabytes}MB.out" "dump time"; fi
  done
  for benchmark in fillrandom readrandom; do
    for megabytes in "${memtable_sizes[@]}"; do lines "$benchmark  " "memtable_size_${megabytes}MB.out"; done
  done
fi
exit "$status"
