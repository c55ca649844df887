#!/usr/bin/env bash
# Memtables of 64 to 512 MiB: random writes, reads, time in flushes, write amplification. Sizes are 64, 128, 256
# and 512 MiB times the scale (1, 2, 4 and 8 MiB at least), 80 GB times the scale of 4 KiB values, so that a memtable is the
# same share of the data as in the paper. (Figure 12)

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment fig12_memtable "Memtable size (Figure 12)" "$@"
count=$(count_of 80000000000 4096)
reads=$(scaled 10000000 "$scale" 100000)
base=$(scaled $((64 << 20)) "$scale" 1048576)
for factor in 1 2 4 8; do
  plan_bench "" $((base * factor)) $((count * 4112)) --benchmarks=fillrandom,readrandom,wait,stats --num="$count" \
    --value_size=4096 --reads="$((reads < count ? reads : count))" --write_buffer_size=$((base * factor))
done
panel lines "Random write" "memtable, bytes" "MB/s" fillrandom mb_per_sec log=x
panel lines "Random read" "memtable, bytes" "operations per second" readrandom ops_per_sec log=x
panel lines "Flushing, MioDB" "memtable, bytes" "microseconds" end flush_micros log=x engines=miodb better=less
panel lines "Write amplification" "memtable, bytes" "bytes written / bytes of the user" end write_amplification log=x \
  better=less
run_all
