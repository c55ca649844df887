#!/usr/bin/env bash
# Numbers of levels, 2 to 8: random writes, then random reads during and after compactions. Values have 4 KiB, 80 GB times
# the scale of them are written. MioDB only unless --engines says otherwise: LevelDB's number of levels is fixed. (Figure 9)
#
#   --levels LIST      Default: 2,3,4,5,6,7,8
#   --value_size N     bytes. Default: 4096

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb
levels=2,3,4,5,6,7,8
value_size=4096
own_options="levels value_size"
experiment fig9_levels "Number of levels (Figure 9)" "$@"
check_counts value_size
count=$(count_of 80000000000 "$value_size")
reads=$(scaled 10000000 "$scale" 100000)
IFS=, read -ra level_list <<<"$levels"
for number in "${level_list[@]}"; do
  if ! is_whole_number "$number" || ((number < 2 || number > 16)); then die "--levels: \"$number\" is not from 2 to 16"; fi
  plan_bench "" "$number" $((count * (value_size + 16))) --benchmarks=fillrandom,readrandom,wait,readrandom,stats \
    --num="$count" --value_size="$value_size" --reads="$((reads < count ? reads : count))" --num_levels="$number"
done
panel lines "Random write" "levels" "operations per second" fillrandom ops_per_sec
panel lines "Random read, while compactions run" "levels" "operations per second" readrandom ops_per_sec
panel lines "Random read, settled" "levels" "operations per second" "readrandom#2" ops_per_sec
panel lines "Write amplification" "levels" "bytes written / bytes of the user" end write_amplification better=less
run_all
