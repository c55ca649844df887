#!/usr/bin/env bash
# Settings of log files, and what each costs: random writes, tail, flushes, space. 5 GB times the scale of 1 KiB values are
# written with the log in files, and with it written to the device in ranges of 512 KiB, archived by age and by size,
# limited in size to an eighth of the data (which makes memtables be flushed early), in a folder of its own, and synced at
# every write (a tenth of the writes).
# MioDB with log_mode file, and RocksDB, whose settings these are.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb,rocksdb
memtable_scales=true
experiment log_files "Settings of log files" "$@"
count=$(count_of 5000000000 1024)
data=$((count * 1040))

# plan_setting NAME FLAG...
plan_setting() {
  local setting=$1
  shift
  plan_bench "" "$setting" $((2 * data)) --benchmarks=fillrandom,wait,stats --num="$count" --value_size=1024 \
    --log_mode=file "$@"
}
plan_setting "plain"
plan_setting "range sync" --wal_bytes_per_sync=524288
plan_setting "archive by age" --wal_ttl_seconds=3600
plan_setting "archive by size" --wal_size_limit_MB=$((data >> 21 > 0 ? data >> 21 : 1))
plan_setting "limited log" --max_total_wal_size=$((data / 8))
plan_setting "own folder" --wal_dir=@DB@.wal
plan_setting "synced" --writes=$((count / 10)) --sync
panel bars "Random write" "setting" "operations per second" fillrandom ops_per_sec
panel bars "99.9th percentile" "setting" "microseconds" fillrandom p999_us log=y better=less
panel bars "Flushes" "setting" "number" end flushes better=less
panel bars "Closed database, archive included" "setting" "bytes" end space_bytes better=less
run_all
