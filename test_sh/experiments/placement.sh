#!/usr/bin/env bash
# Placement of memtables and pool on NUMA nodes: random writes and reads. 5 GB times the scale of 1 KiB values, with memtables
# and background threads on each node that has CPUs, and the pool on each node that has memory, beside placement left to
# the system. MioDB only. On a machine with one node that is one case, which shows what binding costs.
#
# The client runs where the system puts it: numactl --cpunodebind=N before this script places it as well.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb
memtable_scales=true
experiment placement "Placement on NUMA nodes" "$@"
check_miodb_alone
count=$(count_of 5000000000 1024)
data=$((count * 1040))

dram_nodes=()
pool_nodes=()
for node in /sys/devices/system/node/node[0-9]*; do
  [[ -d $node ]] || continue
  if [[ -n $(<"$node/cpulist") ]]; then dram_nodes+=("${node##*node}"); fi
  if (($(awk '/MemTotal/ { print $4 }' "$node/meminfo") > 0)); then pool_nodes+=("${node##*node}"); fi
done

# plan_nodes NAME FLAG...
plan_nodes() {
  local placed=$1
  shift
  plan_bench "" "$placed" "$data" --benchmarks=fillrandom,readrandom,wait,readrandom,stats --num="$count" \
    --value_size=1024 --reads="$((count / 2))" "$@"
}
plan_nodes "left to the system"
for dram in "${dram_nodes[@]}"; do
  for pool in "${pool_nodes[@]}"; do
    plan_nodes "DRAM $dram, pool $pool" --dram_node="$dram" --nvm_node="$pool"
  done
done
panel bars "Random write" "nodes" "operations per second" fillrandom ops_per_sec
panel bars "Random read, while compactions run" "nodes" "operations per second" readrandom ops_per_sec
panel bars "Random read, settled" "nodes" "operations per second" "readrandom#2" ops_per_sec
panel bars "99.9th percentile of writes" "nodes" "microseconds" fillrandom p999_us log=y better=less
run_all
