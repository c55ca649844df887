#!/usr/bin/env bash
# Modes of the log, and what durability costs: random writes and their tail. 5 GB times the scale of 100 B and 1 KiB values are
# written with the log as it is by default, in files (MioDB; the others' always is), without it, and with every write synced
# (a tenth of the writes). LevelDB always logs. A sync makes nothing durable on tmpfs: --db names a folder on a disk.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

memtable_scales=true
experiment log_modes "Log modes and sync" "$@"
for size in 100 1024; do
  count=$(count_of 5000000000 "$size")
  flags=(--benchmarks=fillrandom --num="$count" --value_size="$size")
  data=$((count * (size + 16)))
  run_engines=
  plan_bench "$size B" "log on" "$data" "${flags[@]}"
  run_engines=miodb,rocksdb
  plan_bench "$size B" "log off" "$data" "${flags[@]}" --disable_wal
  run_engines=miodb
  plan_bench "$size B" "log in files" "$data" "${flags[@]}" --log_mode=file
  run_engines=
  plan_bench "$size B" "sync" "$data" "${flags[@]}" --writes="$((count / 10))" --sync
  run_engines=miodb
  plan_bench "$size B" "files, sync" "$data" "${flags[@]}" --writes="$((count / 10))" --sync --log_mode=file
done
panel bars "Random write, values of 100 B" "mode" "operations per second" fillrandom ops_per_sec "series=100 B"
panel bars "Random write, values of 1 KiB" "mode" "operations per second" fillrandom ops_per_sec "series=1024 B"
panel bars "99.9th percentile, 100 B" "mode" "microseconds" fillrandom p999_us "series=100 B" log=y better=less
panel bars "99.9th percentile, 1 KiB" "mode" "microseconds" fillrandom p999_us "series=1024 B" log=y better=less
run_all
