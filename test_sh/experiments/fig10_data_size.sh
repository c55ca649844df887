#!/usr/bin/env bash
# Data sets of 40 to 200 GB: random writes, random reads right after them, and write amplification. Sizes are times the
# scale, values have 4 KiB. (Figures 10 and 11)

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment fig10_data_size "Data set size (Figures 10 and 11)" "$@"
reads=$(scaled 10000000 "$scale" 100000)
for gigabytes in 40 80 120 160 200; do
  count=$(count_of $((gigabytes * 1000000000)) 4096)
  data=$((count * 4112))
  plan_bench "" "$data" "$data" --benchmarks=fillrandom,readrandom,wait,stats --num="$count" --value_size=4096 \
    --reads="$((reads < count ? reads : count))"
done
panel lines "Random write" "data set, bytes" "MB/s" fillrandom mb_per_sec
panel lines "Random read" "data set, bytes" "operations per second" readrandom ops_per_sec
panel lines "99.9th percentile of writes" "data set, bytes" "microseconds" fillrandom p999_us log=y better=less
panel lines "Write amplification (Figure 11)" "data set, bytes" "bytes written / bytes of the user" end \
  write_amplification better=less
run_all
