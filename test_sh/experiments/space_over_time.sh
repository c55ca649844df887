#!/usr/bin/env bash
# What a database takes on its file system while 20 GB times the scale of 1 KiB values are written in random order and then
# overwritten three times in random order, measured ten times a second, and when it is closed after settling.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment space_over_time "Space over time" "$@"
# shellcheck disable=SC2034  # read by lib.sh
space_over_time=true
count=$(count_of 20000000000 1024)
plan_bench "" "fill, 3 x overwrite" $((4 * count * 1040)) --num="$count" --value_size=1024 \
  --benchmarks=fillrandom,overwrite,overwrite,overwrite,wait,stats
panel time "Bytes on the file system" "seconds" "bytes" space space_bytes
panel bars "Closed after settling" "load" "bytes" end space_bytes better=less
run_all
