#!/usr/bin/env bash
# Stores of eight times their persistent memory, on an SSD: writes, reads, bytes written to the SSD. 8 GiB of 1 KiB values lie on
# an SSD, MioDB has a pool of 1 GiB in front of it. Random writes and waiting for what they leave to do, then reads: uniform,
# Zipfian (after two rounds that warm the caches up), sequential, and seeks with 50 steps; at last everything in key order
# (readtocache).
# All engines have the same memtables (a 16th of the pool) and block caches (a quarter), and no compression.
#
# So that reads reach the SSD, MioDB and RocksDB use direct I/O. LevelDB has none: it runs in a memory cgroup of
# --memory bytes (default: the size of the pool); with --limit_all they all do, MioDB with its pool besides.
#
# --scale multiplies sizes, 1 being those above. --db has to be on the SSD.
#
#   --pool FOLDER    where MioDB's pool lies. Default: /dev/shm
#   --reads N        random reads of each kind. Default: 50000 times the scale
#   --memory BYTES   see above
#   --limit_all

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

scale=1
rounds=1
db_parent=/tmp
pool=/dev/shm
reads=
memory=
limit_all=false
own_options="pool reads memory"
own_switches=limit_all
experiment ssd_tier "Eight times the pool on an SSD" "$@"

pool_bytes=$(scaled $((1 << 30)) "$scale" $((16 << 20)))
memory=${memory:-$pool_bytes}
reads=${reads:-$(scaled 50000 "$scale" 1000)}
check_counts reads memory
pool_before_ssd "$pool"
if ! $dry_run && { $limit_all || [[ " ${engine_list[*]} " == *" leveldb "* ]]; } &&
  ! why=$("$MIODB_ROOT/test_sh/limit_memory.sh" 100000000 true 2>&1); then
  cannot_run_here "$why, which LevelDB and --limit_all need; --engines miodb,rocksdb does without"
fi
memtable=$((pool_bytes / 16))
count=$((8 * pool_bytes / 1040))

direct="--use_direct_reads --use_direct_io_for_flush_and_compaction"
engine_flags[miodb]+=" $direct --pool_size=$pool_bytes"
engine_flags[rocksdb]=$direct
engine_prefix[leveldb]="$MIODB_ROOT/test_sh/limit_memory.sh $memory"
if $limit_all; then
  engine_prefix[rocksdb]=${engine_prefix[leveldb]}
  engine_prefix[miodb]="$MIODB_ROOT/test_sh/limit_memory.sh $((memory + pool_bytes))"
fi
plan_bench "" "" $((count * 1040)) \
  --benchmarks='fillrandom,wait,stats,readrandom,readzipfian[W2],readseq,seekrandom,readtocache' --num="$count" --value_size=1024 \
  --cache_size=$((pool_bytes / 4)) --reads="$reads" --seek_nexts=50 --writes="$count"
panel bars "Throughput" "" "operations per second" fillrandom,readrandom,readzipfian,readseq,seekrandom,readtocache ops_per_sec log=y
panel bars "Slowest write" "" "microseconds" fillrandom max_us better=less
panel bars "Bytes written to the SSD" "" "bytes / bytes of the user" end ssd_write_amplification better=less
run_all
