#!/usr/bin/env bash
# What the log costs, by key size: random writes of 100 B values by two threads, with and without the log, for keys of 16,
# 128, 512 and 1024 B, 5 GB times the scale; of MioDB also with the log in files, where RocksDB always has it. MioDB and
# RocksDB: LevelDB cannot do without its log.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb,rocksdb
memtable_scales=true
experiment log_overhead "Cost of the log by key size" "$@"
for key in 16 128 512 1024; do
  count=$(scaled $((5000000000 / (key + 100))) "$scale" 1000)
  flags=(--benchmarks=fillrandom --num="$count" --key_size="$key" --value_size=100 --threads=2 --writes="$((count / 2))")
  plan_bench "log on" "$key" $((count * (key + 100))) "${flags[@]}"
  plan_bench "log off" "$key" $((count * (key + 100))) "${flags[@]}" --disable_wal
  run_engines=miodb
  plan_bench "log in files" "$key" $((count * (key + 100))) "${flags[@]}" --log_mode=file
  run_engines=
done
panel lines "Random write" "key size, bytes" "operations per second" fillrandom ops_per_sec log=x
panel lines "Random write" "key size, bytes" "MB/s" fillrandom mb_per_sec log=x
panel lines "99th percentile" "key size, bytes" "microseconds" fillrandom p99_us log=xy better=less
panel lines "99.9th percentile" "key size, bytes" "microseconds" fillrandom p999_us log=xy better=less
run_all
