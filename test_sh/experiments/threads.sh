#!/usr/bin/env bash
# Client threads: random writes, random reads, and random reads beside a writer. 20 GB times the scale of 1 KiB values in all,
# whatever the number of threads.
#
#   --threads LIST   Default: 1, 2, 4, ... up to twice the CPUs of this machine

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

threads=
own_options=threads
experiment threads "Threads" "$@"
if [[ -z $threads ]]; then
  for ((number = 1; number <= 2 * $(nproc); number *= 2)); do threads+="${threads:+,}$number"; done
fi
count=$(count_of 20000000000 1024)
IFS=, read -ra thread_list <<<"$threads"
for number in "${thread_list[@]}"; do
  if ! is_whole_number "$number" || ((number == 0)); then die "--threads: \"$number\" is not a number above 0"; fi
  plan_bench "" "$number" $((count * 1040)) --benchmarks=fillrandom,readrandom,readwhilewriting --num="$count" \
    --value_size=1024 --threads="$number" --writes="$((count / number))" --reads="$((count / number))"
done
panel lines "Random write" "threads" "operations per second" fillrandom ops_per_sec log=x
panel lines "Random read" "threads" "operations per second" readrandom ops_per_sec log=x
panel lines "Random read beside a writer" "threads" "operations per second" readwhilewriting ops_per_sec log=x
panel lines "99.9th percentile of writes" "threads" "microseconds" fillrandom p999_us log=xy better=less
run_all
