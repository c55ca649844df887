#!/usr/bin/env bash
# A compressed log: what it would save, and what it costs. Records of a log in files, with values that compress to a half, are
# compressed by themselves (snappy, zstd) and as one stream (zstd, as RocksDB's wal_compression has it): bytes saved, CPU time
# of a put and of its recovery. Beside them random writes of 5 GB times the scale: RocksDB with wal_compression and without,
# MioDB with its log in files, which is not compressed. (Decision 0060)
#
#   --groups LIST      puts of a record. Default: 1,32
#   --value_sizes LIST   Default: the twelve of --study

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb,rocksdb
memtable_scales=true
groups=1,32
value_sizes=
study=true
own_options="groups value_sizes"
experiment log_compression "A compressed log" "$@"
find_program "$bin" log_compression_cost
if [[ -z $value_sizes ]]; then take_study_sizes; fi
check_sizes groups value_sizes
IFS=, read -ra puts <<<"$groups"
IFS=, read -ra values <<<"$value_sizes"
for value in "${values[@]}"; do
  run_engines=miodb
  for group in "${puts[@]}"; do
    plan_tool "$group puts" "$value" 64000000 log_compression_cost --value_size="$value" --group="$group" --csv=@RAW@.figures
  done
  count=$(count_of 5000000000 "$value")
  most=$(scaled 10000000 "$scale" 1000)
  if ((count > most)); then count=$most; fi
  flags=(--benchmarks=fillrandom --num="$count" --value_size="$value" --compression_ratio=0.5)
  plan_bench "log in files" "$value" $((count * (16 + value))) "${flags[@]}" --log_mode=file
  run_engines=rocksdb
  plan_bench "log in files" "$value" $((count * (16 + value))) "${flags[@]}"
  plan_bench "compressed log" "$value" $((count * (16 + value))) "${flags[@]}" --wal_compression=kZSTD
done
for codec in snappy zstd zstd-stream; do
  panel lines "Saved by $codec" "value size, bytes" "percent of the log" "$codec" saved_percent log=x engines=miodb
done
for codec in none snappy zstd zstd-stream; do
  panel lines "CPU time of a put, $codec" "value size, bytes" "nanoseconds" "$codec" write_ns log=x engines=miodb better=less
  panel lines "CPU time of recovery, $codec" "value size, bytes" "nanoseconds a put" "$codec" read_ns log=x engines=miodb better=less
done
panel lines "Random write" "value size, bytes" "operations per second" fillrandom ops_per_sec log=x \
  "series=log in files;compressed log"
panel lines "Random write, 99.9th percentile" "value size, bytes" "microseconds" fillrandom p999_us log=xy better=less \
  "series=log in files;compressed log"
run_all
