#!/usr/bin/env bash
# YCSB's load and workloads A to F: operations a second, 99.9th percentiles. Load, A, B, C, F, D, then load and E on a fresh
# database, 80 GB times the scale of 1 KiB records: the same as test_sh/ycsb.sh with these sizes. (Figure 7)
#
#   --threads LIST   numbers of client threads. Default: 1

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=test_sh/experiments/ycsb_plan.sh
source "$experiments_folder/ycsb_plan.sh"

program=ycsbc
threads=1
own_options=threads
experiment fig7_ycsb "YCSB (Figure 7)" "$@"
records=$(count_of 80000000000 1024)
plan_all_workloads "$records" "$(scaled 10000000 "$scale" 50000)" 1 1024 "$threads" false
run_all
