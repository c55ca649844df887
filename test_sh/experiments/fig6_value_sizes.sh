#!/usr/bin/env bash
# Values of 1, 4, 16 and 64 KiB: MB/s of random and sequential writes and reads. Each size writes 80 GB times the scale.
# Reads follow right after the writes, while compactions may still run, and load every cache line of the values, since
# scans hand out pointers in all engines. (Figure 6)

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment fig6_value_sizes "Throughput by value size (Figure 6)" "$@"
bytes=80000000000
reads=$(scaled 10000000 "$scale" 100000)
for size in 1024 4096 16384 65536; do
  count=$(count_of "$bytes" "$size")
  data=$((count * (size + 16)))
  flags=(--num="$count" --value_size="$size" --reads="$((reads < count ? reads : count))" --touch_values)
  plan_bench random "$size" "$data" --benchmarks=fillrandom,readrandom "${flags[@]}"
  plan_bench sequential "$size" "$data" --benchmarks=fillseq,readseq "${flags[@]}"
done
panel bars "Random write" "value size, bytes" "MB/s" fillrandom mb_per_sec
panel bars "Random read" "value size, bytes" "MB/s" readrandom mb_per_sec
panel bars "Sequential write" "value size, bytes" "MB/s" fillseq mb_per_sec
panel bars "Sequential read" "value size, bytes" "MB/s" readseq mb_per_sec
run_all
