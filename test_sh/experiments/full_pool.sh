#!/usr/bin/env bash
# Pools that are nearly full: the longest overwrite, the tail, and what writers waited for. 20 GB times the scale of 1 KiB values
# are overwritten in random order for some seconds in pools of 1.5, 2, 3 and 5 times that, with the log in the pool, without
# it and in files; the throughput of each second is shown, too. Beside the overwrites is what the arithmetic of collection
# allows (collection.py): as many bytes a second as in the largest pool, with as many more copies as have to be.
#
#   --seconds N      of overwriting. Default: 20
#   --ratios LIST    pools in percent of what keys and values take. Default: 150,200,300,500
#   --pool FOLDER    where pools lie; the database (--db, on an SSD) then has a tier, which takes what the pool does not hold,
#                    and there is one series, with the log in the pool. Default ratios: 50,75,100

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb
memtable_scales=true
seconds=20
ratios=
pool=
own_options='seconds ratios pool'
experiment full_pool "Overwriting in a nearly full pool" "$@"
check_counts seconds
if [[ -n $pool ]]; then
  pool_before_ssd "$pool"
  ratios=${ratios:-50,75,100}
fi
ratios=${ratios:-150,200,300,500}
check_sizes ratios
count=$(count_of 20000000000 1024)
data=$((count * 1040))
for ratio in ${ratios//,/ }; do
  flags=("--benchmarks=fillseq,wait,overwrite,stats" --num="$count" --value_size=1024 --duration="$seconds"
    --pool_size="$((data * ratio / 100 / 4096 * 4096))" --report_interval_seconds=1
    --intervalfile=@RAW@.intervals)
  plan_bench "log in the pool" "$ratio" "$data" "${flags[@]}"
  if [[ -n $pool ]]; then continue; fi
  plan_bench "no log" "$ratio" "$data" "${flags[@]}" --disable_wal
  plan_bench "log in files" "$ratio" "$data" "${flags[@]}" --log_mode=file
done
panel bars "Longest put" "pool, % of the data" "microseconds" overwrite max_us log=y better=less show=largest
panel bars "99.99th percentile" "pool, % of the data" "microseconds" overwrite p9999_us log=y better=less
panel bars "Overwrites" "pool, % of the data" "operations per second" overwrite ops_per_sec,allowed_ops_per_sec
panel bars "Slowest second" "pool, % of the data" "share of the median second" overwrite-write slowest_second
panel stack "What writers waited for, log in the pool" "pool, % of the data" "microseconds" stats \
  stall_flush_micros,stall_chunk_micros,stall_space_micros,throttle_micros "series=log in the pool" better=less
panel time "Throughput, log in the pool" "seconds" "operations per second" overwrite-write ops_per_sec \
  "series=log in the pool"
run_all
