#!/usr/bin/env bash
# Space on the file system during writes and overwrites at one rate, and after settling. 20 GB times the scale of 1 KiB values
# are written in random order and then overwritten three times in random order, all engines at the same rate; the space is
# measured five times a second, and when the database is closed.
#
#   --seconds N   how long the writing takes, if the engine is fast enough. Default: 20

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# shellcheck disable=SC2034  # read by lib.sh
space_over_time=true
seconds=20
own_options=seconds
experiment space_over_time "Space over time" "$@"
check_counts seconds
count=$(count_of 20000000000 1024)
data=$((4 * count * 1040))
plan_bench "" "fill, 3 x overwrite" "$data" --num="$count" --value_size=1024 \
  --benchmarks=fillrandom,overwrite,overwrite,overwrite,wait,stats --benchmark_write_rate_limit=$((data / seconds))
panel time "Bytes on the file system" "seconds" "bytes" space space_bytes
panel bars "Closed after settling" "load" "bytes" end space_bytes better=less
run_all
