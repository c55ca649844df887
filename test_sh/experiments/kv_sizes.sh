#!/usr/bin/env bash
# Keys of 16 to 64 B with values of 100 to 400 B: sequential and random writes and reads. 10 million times the scale are written
# and read, with keys of 16, 32 and 64 B and values of 100, 200 and 400 B. Megabytes per second grow with the record, so
# operations per second, total time and how often was flushed and compacted stand beside them; a table compares each with
# the smallest record. MioDB only unless --engines says otherwise. (The key-value study of RocksDB Festival)

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb
memtable_scales=true
experiment kv_sizes "Key and value sizes" "$@"
count=$(scaled 10000000 "$scale" 1000)
for key in 16 32 64; do
  for size in 100 200 400; do
    flags=(--num="$count" --key_size="$key" --value_size="$size")
    plan_bench "keys of $key B" "$size" $((count * (key + size))) --benchmarks=fillrandom,readrandom,wait,stats \
      "${flags[@]}"
    plan_bench "sequential, keys of $key B" "$size" $((count * (key + size))) --benchmarks=fillseq,readseq "${flags[@]}"
  done
done
random="series=keys of 16 B;keys of 32 B;keys of 64 B"
panel lines "Random write" "value size, bytes" "MB/s" fillrandom mb_per_sec compare=first
panel lines "Random write" "value size, bytes" "operations per second" fillrandom ops_per_sec compare=first
panel lines "Random read" "value size, bytes" "MB/s" readrandom mb_per_sec compare=first
panel lines "Random read" "value size, bytes" "operations per second" readrandom ops_per_sec compare=first
panel lines "Sequential write" "value size, bytes" "MB/s" fillseq mb_per_sec compare=first
panel lines "Sequential read" "value size, bytes" "MB/s" readseq mb_per_sec compare=first
panel lines "Random write, total time" "value size, bytes" "seconds" fillrandom seconds compare=first better=less
panel lines "Compactions after random writes" "value size, bytes" "number" end compactions "$random" better=less
panel lines "Flushes after random writes" "value size, bytes" "number" end flushes "$random" better=less
run_all
