#!/usr/bin/env bash
# Placement policies beside each other, in a pool of two regions, by the share of the data that the first one holds. 5 GB times
# the scale of 100-byte values are written in random order and read, while merges run and after the last one. MioDB only.
#
# By default the first region is this machine's memory, and the last one is modelled: two_media.model has the figures of one
# Optane DCPMM (docs/nvm_model.md). With --model none and two folders the media are those of the folders.
#
#   --policies LIST    names of Options::placement_policy, or paths of libraries. Default: default,hot-first,spread
#   --shares LIST      percent of the data that the first region may hold. Default: 25,50,100
#   --last FOLDER      where the last region lies; --db says where the first one does. Default: /dev/shm
#   --model M          Options::nvm_model. Default: two_media.model beside this script
#   --value_size N     bytes. Default: 100

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb
memtable_scales=true
policies=default,hot-first,spread
shares=25,50,100
last=/dev/shm
model=$experiments_folder/two_media.model
value_size=100
own_options="policies shares last model value_size"
experiment placement_policies "Placement policies" "$@"
check_miodb_alone
[[ -d $last ]] || die "--last: $last is no folder"
check_counts value_size
count=$(count_of 5000000000 "$value_size")
data=$((count * (value_size + 16)))
reads=$(scaled 10000000 "$scale" 100000)
IFS=, read -ra policy_list <<<"$policies"
IFS=, read -ra share_list <<<"$shares"
pool_file=$last/miodb_placement_policies_$$.region # removed before each run and at the end
for policy in "${policy_list[@]}"; do
  for share in "${share_list[@]}"; do
    if ! is_whole_number "$share" || ((share < 1 || share > 1000)); then
      die "--shares: \"$share\" is not from 1 to 1000"
    fi
    first=$((data * share / 100))
    plan_bench "$(basename "$policy" .so)" "$share" "$data" \
      --benchmarks=fillrandom,readrandom,wait,readrandom,stats --num="$count" --value_size="$value_size" --reads="$reads" \
      --pool_size="$((first - first % 4096))" --nvm_regions=@POOL@ --nvm_model="$model" \
      --settle_after_idle_ms=0 --placement_policy="$policy"
  done
done
panel lines "Random write" "percent of the data that the first region holds" "operations per second" fillrandom ops_per_sec
panel lines "Random read, while merges run" "percent of the data that the first region holds" "operations per second" \
  readrandom ops_per_sec
panel lines "Random read, once merges are done" "percent of the data that the first region holds" "operations per second" \
  "readrandom#2" ops_per_sec
panel lines "Write amplification" "percent of the data that the first region holds" "bytes written / bytes of the user" end \
  write_amplification better=less
run_all
