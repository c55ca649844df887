#!/usr/bin/env bash
# YCSB A over time: 99.9th percentile and throughput of every second, percentiles of the whole run. Records have 1 KiB, 80 GB
# times the scale of them are loaded. (Figure 8, Table 2)
#
#   --seconds N   how long A runs. Default: 20

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

program=ycsbc
seconds=20
own_options=seconds
experiment fig8_latency "Latency over time (Figure 8, Table 2)" "$@"
check_counts seconds
records=$(count_of 80000000000 1024)
plan_ycsb "" "A" $((records * 1100 + seconds * 50000000)) load a -- -p "recordcount=$records" -p operationcount=0 \
  -p "maxexecutiontime=$seconds" -p fieldcount=1 -p fieldlength=1024 -p status.interval=1 \
  -p intervalfile=@RAW@.intervals -p hdrhistogram.percentiles=50,90,95,99,99.9,99.99
panel time "99.9th percentile of updates in each second" "seconds" "microseconds" run-update p999_us log=y
panel time "99.9th percentile of reads in each second" "seconds" "microseconds" run-read p999_us log=y
panel time "Operations in each second" "seconds" "operations per second" run-update ops_per_sec
panel bars "Average" "operation" "microseconds" a-read,a-update avg_us better=less
panel bars "90th percentile" "operation" "microseconds" a-read,a-update p90_us better=less
panel bars "99th percentile" "operation" "microseconds" a-read,a-update p99_us better=less log=y
panel bars "99.9th percentile" "operation" "microseconds" a-read,a-update p999_us better=less log=y
run_all
