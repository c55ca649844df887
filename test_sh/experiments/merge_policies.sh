#!/usr/bin/env bash
# Merge policies beside each other, by the runs that make a level due. Values have 100 bytes, 20 GB times the scale of them
# are written in random order and read, while merges run and after the last one that the policy wants. MioDB only.
#
#   --policies LIST    names of Options::merge_policy, or paths of libraries. Default: default,levelled,tiered
#   --triggers LIST    Options::level_trigger. Default: 2,4,8
#   --value_size N     bytes. Default: 100

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb
memtable_scales=true
policies=default,levelled,tiered
triggers=2,4,8
value_size=100
own_options="policies triggers value_size"
experiment merge_policies "Merge policies" "$@"
check_miodb_alone
check_counts value_size
count=$(count_of 20000000000 "$value_size")
reads=$(scaled 10000000 "$scale" 100000)
IFS=, read -ra policy_list <<<"$policies"
IFS=, read -ra trigger_list <<<"$triggers"
for policy in "${policy_list[@]}"; do
  for trigger in "${trigger_list[@]}"; do
    if ! is_whole_number "$trigger" || ((trigger < 2 || trigger > 64)); then
      die "--triggers: \"$trigger\" is not from 2 to 64"
    fi
    plan_bench "$(basename "$policy" .so)" "$trigger" $((count * (value_size + 16))) \
      --benchmarks=fillrandom,readrandom,wait,readrandom,stats --num="$count" --value_size="$value_size" --reads="$reads" \
      --level_trigger="$trigger" --settle_after_idle_ms=0 --merge_policy="$policy"
  done
done
panel lines "Random write" "runs that make a level due" "operations per second" fillrandom ops_per_sec log=x
panel lines "Random read, while merges run" "runs that make a level due" "operations per second" readrandom ops_per_sec log=x
panel lines "Random read, once merges are done" "runs that make a level due" "operations per second" "readrandom#2" \
  ops_per_sec log=x
panel lines "Write amplification" "runs that make a level due" "bytes written / bytes of the user" end \
  write_amplification log=x better=less
run_all
