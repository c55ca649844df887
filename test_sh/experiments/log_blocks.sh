#!/usr/bin/env bash
# Log blocks of 8, 16 and 32 KiB, padded or not: random writes, and the zeros that padding wrote. Padding keeps records from
# being split; keys have 16, 128, 512 and 1024 B, values 16 B to 8 KiB. Six threads make 10 million random writes times the
# scale for each pair of sizes, but not more than 5 GB times the scale. Shown are operations per second and the zeros that
# padding wrote; data.csv has the tail. Tables have the seconds with padding minus those without, over the size of the value
# and over that of the record, which is key and value. Records of S bytes, headers included, leave BLOCK mod S of each block
# empty if write groups are of one record; groups of several make records longer. (The WAL study of RocksDB Festival)
#
# LevelDB and RocksDB have blocks of 32 KiB, fixed when they are compiled, and do not pad: they run that case only.
#
#   --threads N        Default: 6
#   --key_sizes LIST   Default: 16,128,512,1024
#   --value_sizes LIST   Default: 16,128,512,1024,8192
#   --study            keys of 16, 128, 512 and 1024 B, values of 16 B to 8 KiB in twelve sizes

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

threads=6
key_sizes=16,128,512,1024
value_sizes=16,128,512,1024,8192
study=false
own_switches=study
own_options="threads key_sizes value_sizes"
experiment log_blocks "Block size and padding of the log" "$@"
take_study_sizes
check_counts threads
check_sizes key_sizes value_sizes
IFS=, read -ra keys <<<"$key_sizes"
IFS=, read -ra values <<<"$value_sizes"

for key in "${keys[@]}"; do
  for value in "${values[@]}"; do
    count=$(scaled $((5000000000 / (key + value))) "$scale" 1000)
    most=$(scaled 10000000 "$scale" 1000)
    if ((count > most)); then count=$most; fi
    flags=("--benchmarks=fillrandom,stats" --num="$count" --writes="$((count / threads))" --threads="$threads"
      --key_size="$key" --value_size="$value")
    data=$((count * (key + value)))
    for kilobytes in 8 16 32; do
      run_engines=miodb
      file=(--log_mode=file --wal_block_size="$((kilobytes << 10))")
      plan_bench "keys of $key B, $kilobytes KiB" "$value" "$data" "${flags[@]}" "${file[@]}"
      plan_bench "keys of $key B, $kilobytes KiB padded" "$value" "$data" "${flags[@]}" "${file[@]}" --wal_padding
    done
    run_engines=leveldb,rocksdb
    plan_bench "keys of $key B, 32 KiB" "$value" "$data" "${flags[@]}"
  done
done

for key in "${keys[@]}"; do
  series=
  for kilobytes in 8 16 32; do series+="${series:+;}keys of $key B, $kilobytes KiB;keys of $key B, $kilobytes KiB padded"; done
  panel lines "Random write, keys of $key B" "value size, bytes" "operations per second" fillrandom ops_per_sec log=x \
    engines=miodb "series=$series"
done
for key in "${keys[@]}"; do
  series=
  for kilobytes in 8 16 32; do series+="${series:+;}keys of $key B, $kilobytes KiB padded"; done
  panel lines "Padding, keys of $key B" "value size, bytes" "percent of the log" end log_padding_percent log=x \
    engines=miodb "series=$series" better=less
done
for key in "${keys[@]}"; do
  series=
  pairs=
  for kilobytes in 8 16 32; do
    plain="keys of $key B, $kilobytes KiB"
    series+="${series:+;}$plain;$plain padded"
    pairs+="${pairs:+;}$plain padded|$plain"
  done
  panel lines "Time, keys of $key B" "value size, bytes" "seconds" fillrandom seconds log=x engines=miodb better=less \
    "series=$series" "versus=$pairs" as=difference
done
pairs=
for kilobytes in 8 16 32; do
  pairs+="${pairs:+;}$kilobytes KiB padded|$kilobytes KiB"
done
panel lines "Random write by record size" "record size, bytes" "operations per second" fillrandom ops_per_sec log=xy \
  engines=miodb axis=record
panel lines "Padding by record size" "record size, bytes" "percent of the log" end log_padding_percent log=x engines=miodb \
  axis=record better=less
panel lines "Time by record size" "record size, bytes" "seconds" fillrandom seconds log=x engines=miodb axis=record better=less \
  "versus=$pairs" as=difference
for key in "${keys[@]}"; do
  panel lines "Blocks of 32 KiB, not padded, keys of $key B" "value size, bytes" "operations per second" fillrandom \
    ops_per_sec log=x "series=keys of $key B, 32 KiB"
done
run_all
