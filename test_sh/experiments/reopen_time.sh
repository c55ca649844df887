#!/usr/bin/env bash
# How long it takes to open a database that was closed in order, by its size: 10 to 80 GB times the scale of 1 KiB values,
# settled. The time is that of closing and opening together, the mean of as many times as there are ten thousands of keys.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment reopen_time "Reopening by data set size" "$@"
for gigabytes in 10 20 40 80; do
  count=$(count_of $((gigabytes * 1000000000)) 1024)
  data=$((count * 1040))
  plan_bench "" "$data" "$data" --benchmarks=fillrandom,wait,open --num="$count" --value_size=1024
done
panel lines "Closing and opening" "data set, bytes" "microseconds" open micros_per_op log=y better=less
panel lines "Longest" "data set, bytes" "microseconds" open max_us log=y better=less
run_all
