#!/usr/bin/env bash
# Models of a workload, from uniform to hot ranges with hot keys: throughput, tail, reads of the medium. Models are the four mixes
# of the study that mixgraph comes from (keys all alike; hot keys; hot ranges; hot ranges with hot keys in them), where hot
# keys lie together, as the study's text has it, or anywhere, as its program has it; and four distributions of YCSB. 50 million
# records times the scale with keys of 48 and values of 43 bytes are loaded, then as many queries made: 83 % gets, 14 %
# puts, 3 % scans; of YCSB half reads and half updates. (Figure 14 of the study, FAST'20)
#
# The study's distribution of hot keys, a x^b for the x hottest of 50 million, is scaled with the keys: the same share of
# the keys gets the same share of the queries (a times scale^-b). As it is, hot keys would share their places with so many
# others here that all keys were alike. The share that the hottest 1 % of the keys really got is shown.
#
# Shown are operations per second, tail, and bytes written by mixgraph's runs; and what a query reads of the medium, how
# much of that a cache of 1 % of the data has, and how many bytes come from behind it. Of RocksDB that are blocks, and its
# block cache (mapped tables would bypass it); of MioDB, which has no cache, units of 256 bytes, and a modelled cache of
# such. Throughput and tails are from runs in which nothing is counted.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

memtable_scales=true
experiment workload_models "Models of a workload" "$@"
find_program "$bin" ycsbc
count=$(scaled 50000000 "$scale" 100000)
data=$((count * 91))
ranges=(--keyrange_num=30 --keyrange_dist_a=14.18 --keyrange_dist_b=-2.917 --keyrange_dist_c=0.0164
  --keyrange_dist_d=-0.08082)
keys=(--key_dist_a="$(awk -v n="$count" 'BEGIN { printf "%.6g", 0.002312 * (n / 50000000) ^ -0.3467 }')" --key_dist_b=0.3467)

# plan_model NAME FLAG...
plan_model() {
  local model=$1 level
  shift
  for level in 1 2; do
    # Reads of the medium are counted behind a small cache; the timed runs have each engine's usual settings.
    if ((level == 2)); then set -- "$@" --mixgraph_hotness --cache_size=$((data / 100)) --mmap_read=0; fi
    plan_bench "$([[ $level == 2 ]] && say counted)" "$model" "$data" --benchmarks=fillseq,compact,mixgraph,wait,stats \
      --num="$count" --reads="$count" --key_size=48 --value_size=43 --mix_get_ratio=0.83 --mix_put_ratio=0.14 \
      --mix_seek_ratio=0.03 --perf_level="$level" "$@"
  done
}
plan_model All_random
plan_model All_dist "${keys[@]}" --key_dist_together
plan_model All_scattered "${keys[@]}"
plan_model Prefix_random "${ranges[@]}"
plan_model Prefix_dist "${ranges[@]}" "${keys[@]}" --key_dist_together
plan_model Prefix_scattered "${ranges[@]}" "${keys[@]}"
for distribution in uniform zipfian hotspot exponential; do
  words=(-threads 1 -p "recordcount=$count" -p "operationcount=$count" -p fieldcount=1 -p fieldlength=43
    -p zeropadding=44 -p dbwaitforbalance=true -p "requestdistribution=$distribution")
  plan_ycsb YCSB "$distribution" "$data" load a -- "${words[@]}"
  plan_ycsb "YCSB counted" "$distribution" "$data" load a -- "${words[@]}" -p perf_level=2 \
    -p "cache_size=$((data / 100))" -p mmap_read=false
done
panel bars "Throughput" "model" "operations per second" mixgraph ops_per_sec series=
panel bars "Queries that the hottest 1 % of the keys got" "model" "percent" mixgraph hottest_percent series=counted
panel bars "Throughput of YCSB A" "distribution" "operations per second" a ops_per_sec series=YCSB
panel bars "99.9th percentile" "model" "microseconds" mixgraph p999_us series= log=y better=less
panel bars "Bytes written, the load's included" "model" "bytes" end written_bytes series= better=less
panel bars "Bytes read" "model" "bytes" mixgraph bytes_read series=counted better=less
panel bars "RocksDB: blocks read" "model" "blocks" mixgraph reads series=counted engines=rocksdb better=less
panel bars "RocksDB: blocks found in its cache" "model" "blocks" mixgraph cache_hits series=counted engines=rocksdb
panel bars "MioDB: units of 256 bytes read" "model" "units" mixgraph reads series=counted engines=miodb better=less
panel bars "MioDB: units found in the modelled cache" "model" "units" mixgraph cache_hits series=counted engines=miodb
for reader in rocksdb miodb; do
  read_units="units of 256 bytes"
  if [[ $reader == rocksdb ]]; then read_units=blocks; fi
  of_reader=("series=YCSB counted" "engines=$reader")
  panel bars "YCSB A, $reader: $read_units read" "distribution" "$read_units" a reads "${of_reader[@]}" better=less
  panel bars "YCSB A, $reader: $read_units found in the cache" "distribution" "$read_units" a cache_hits "${of_reader[@]}"
done
run_all
