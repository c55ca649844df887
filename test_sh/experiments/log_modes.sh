#!/usr/bin/env bash
# What durability costs: random writes of 100 B and 1 KiB values, 5 GB times the scale, with the log as it is by default,
# without it, and with every write synced (a tenth of the writes). LevelDB always logs.
#
# Log modes that this build of db_bench does not have are named and left out.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment log_modes "Log modes and sync" "$@"
has_file_mode=true
if ! "$bin/db_bench" --log_mode=file --benchmarks= >/dev/null 2>&1; then
  has_file_mode=false
  say "log_modes: this db_bench has no log mode \"file\"; left out" >&2
fi
for size in 100 1024; do
  count=$(count_of 5000000000 "$size")
  flags=(--benchmarks=fillrandom --num="$count" --value_size="$size")
  data=$((count * (size + 16)))
  run_engines=
  plan_bench "$size B" "log on" "$data" "${flags[@]}"
  run_engines=miodb,rocksdb
  plan_bench "$size B" "log off" "$data" "${flags[@]}" --disable_wal
  if $has_file_mode; then
    run_engines=miodb
    plan_bench "$size B" "log in a file" "$data" "${flags[@]}" --log_mode=file
  fi
  run_engines=
  plan_bench "$size B" "sync" "$data" "${flags[@]}" --writes="$((count / 10))" --sync
done
panel bars "Random write, values of 100 B" "mode" "operations per second" fillrandom ops_per_sec "series=100 B"
panel bars "Random write, values of 1 KiB" "mode" "operations per second" fillrandom ops_per_sec "series=1024 B"
panel bars "99.9th percentile, 100 B" "mode" "microseconds" fillrandom p999_us "series=100 B" log=y better=less
panel bars "99.9th percentile, 1 KiB" "mode" "microseconds" fillrandom p999_us "series=1024 B" log=y better=less
run_all
