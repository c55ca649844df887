#!/usr/bin/env bash
# Compares MioDB with LevelDB and RocksDB on the YCSB workloads: runs ycsbc for one engine after the other, several times
# over, and shows medians, spreads and ratios.
#
#   --records N        records that are loaded; default 1000000
#   --operations N     operations of each workload; default 1000000
#   --fieldcount N     fields of a record; default 1
#   --fieldlength N    bytes of a field; default 1024
#   --threads LIST     numbers of client threads; default 1,2
#   --wait             let the engine finish its background work after every phase
#
# The phases are those that YCSB recommends, in that order: load, A, B, C, F, D in one process on one database, which
# stays open; then, on a fresh database, load again and E. The database is as the load left it when A begins.
#
# All engines get the same records and requests (the seed is the number of the round), 64 MiB memtables, filters of 10
# bits per key, their log on but not synced, no checksums on reads, no compression, and as many open files as they like;
# on tmpfs RocksDB maps its tables, as LevelDB always does. In every round the engines take turns in another order.
# Nothing runs at the same time as another measurement.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/experiments/lib.sh"
# shellcheck source=test_sh/experiments/ycsb_plan.sh
source "$experiments_folder/ycsb_plan.sh"

program=ycsbc
records=1000000
operations=1000000
fieldcount=1
fieldlength=1024
threads=1,2
wait=false
own_options="records operations fieldcount fieldlength threads"
own_switches="wait"
experiment ycsb YCSB "$@"
title="YCSB: $records records of $fieldcount x $fieldlength bytes, $operations operations of each workload"
check_counts records operations fieldcount fieldlength
plan_all_workloads "$records" "$operations" "$fieldcount" "$fieldlength" "$threads" "$wait"
run_all
