#!/usr/bin/env bash
# The time with the log over that without, by the size of keys: random writes by two threads. Keys have 16, 128, 512 and 1024 B,
# values 100 B, 5 GB times the scale; MioDB also runs with the log in files, where RocksDB always has it. MioDB and RocksDB:
# LevelDB cannot do without its log. Shown over the size of the key and over that of the record, which is key and
# value; the table of the cost has the time with the log over that without.
#
#   --key_sizes LIST   Default: 16,128,512,1024
#   --value_sizes LIST   Default: 100
#   --study            keys of 16, 128, 512 and 1024 B, values of 16 B to 8 KiB in twelve sizes

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb,rocksdb
memtable_scales=true
key_sizes=16,128,512,1024
value_sizes=100
study=false
own_switches=study
own_options="key_sizes value_sizes"
experiment log_overhead "Cost of the log by record size" "$@"
take_study_sizes
check_sizes key_sizes value_sizes
IFS=, read -ra keys <<<"$key_sizes"
IFS=, read -ra values <<<"$value_sizes"
for value in "${values[@]}"; do
  series="values of $value B"
  for key in "${keys[@]}"; do
    count=$(scaled $((5000000000 / (key + value))) "$scale" 1000)
    flags=(--benchmarks=fillrandom --num="$count" --key_size="$key" --value_size="$value" --threads=2
      --writes="$((count / 2))")
    data=$((count * (key + value)))
    plan_bench "$series, log on" "$key" "$data" "${flags[@]}"
    plan_bench "$series, log off" "$key" "$data" "${flags[@]}" --disable_wal
    run_engines=miodb
    plan_bench "$series, log in files" "$key" "$data" "${flags[@]}" --log_mode=file
    run_engines=
  done
done
panel lines "Random write" "key size, bytes" "operations per second" fillrandom ops_per_sec log=x
panel lines "Random write" "record size, bytes" "MB/s" fillrandom mb_per_sec log=x axis=record
panel lines "99th percentile" "key size, bytes" "microseconds" fillrandom p99_us log=xy better=less
panel lines "99.9th percentile" "key size, bytes" "microseconds" fillrandom p999_us log=xy better=less
panel lines "Cost of the log" "record size, bytes" "seconds" fillrandom seconds log=x better=less axis=record \
  "versus=log on|log off;log in files|log off"
run_all
