#!/usr/bin/env bash
# Space against bytes written, by the percentage at which garbage collection starts. 80 GB times the scale are written in random
# order, then overwritten once in random order; the percentage is that of live bytes (space_amplification_percent), values
# have 100 B, 1 KiB and 4 KiB.
#
#   --percents LIST   those percentages. Default: 110,125,150,200,300

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb
percents=110,125,150,200,300
own_options=percents
experiment space_dial "Bytes written against space" "$@"
check_miodb_alone
IFS=, read -ra list <<<"$percents"
for percent in "${list[@]}"; do
  if ! is_whole_number "$percent" || ((percent < 105 || percent > 1000)); then
    die "--percents: \"$percent\" is not a percentage from 105 to 1000"
  fi
  for size in 100 1024 4096; do
    count=$(count_of 80000000000 "$size")
    plan_bench "values of $size B" "$percent" $((2 * count * (size + 16))) --benchmarks=fillrandom,overwrite,wait,stats \
      --num="$count" --value_size="$size" --space_amplification_percent="$percent"
  done
done
panel lines "Bytes written" "percent of live bytes at which collection starts" "bytes written / bytes of the user" \
  end write_amplification log=x better=less
panel lines "Space, settled" "percent of live bytes at which collection starts" "bytes in use / live bytes" \
  end space_amplification log=x better=less
panel lines "Overwrites" "percent of live bytes at which collection starts" "operations per second" overwrite ops_per_sec log=x
run_all
