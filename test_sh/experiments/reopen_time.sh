#!/usr/bin/env bash
# Databases of 10 to 80 GB: the time to open after a close, and after the process was killed. Sizes are times the scale, of 1 KiB
# values. After closing in order and settled, the time is that of closing and opening together, the mean of as many times as
# there are ten thousands of keys. After the death of the process behind the last write, it is that of the first opening,
# with whatever the engine has to recover.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment reopen_time "Reopening by data set size" "$@"
for gigabytes in 10 20 40 80; do
  count=$(count_of $((gigabytes * 1000000000)) 1024)
  data=$((count * 1040))
  flags=(--num="$count" --value_size=1024)
  plan_bench closed "$data" "$data" --benchmarks=fillrandom,wait,open "${flags[@]}"
  plan_crash killed "$data" "$data" fillrandom "${flags[@]}"
done
panel lines "Closing and opening, closed in order" "data set, bytes" "microseconds" open micros_per_op log=xy better=less
panel lines "Longest of these" "data set, bytes" "microseconds" open max_us log=xy better=less
panel lines "Opening after the process was killed" "data set, bytes" "microseconds" recover micros_per_op log=xy better=less
run_all
