#!/usr/bin/env bash
# A log that fails: which share of bits that turn, and of torn sectors, recovery tells from the end of the log. Logs of 200
# records in a file, in a padded file and in a chunk of the pool; values of 16 B to 8 KiB. Each fault is put into a copy of
# the closed log, and the copy is recovered. A round draws other faults. The classes: docs/crash_model.md, "A log that fails".
#
#   --faults N         of each kind. Default: 4000
#   --value_sizes LIST   Default: 16,100,1024,8192
#   --study            values of 16 B to 8 KiB in twelve sizes

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

engines=miodb
faults=4000
value_sizes=16,100,1024,8192
study=false
own_switches=study
own_options="faults value_sizes"
experiment log_faults "A log that fails" "$@"
check_miodb_alone
take_study_sizes
find_program "$bin" log_faults
check_counts faults
check_sizes value_sizes
IFS=, read -ra values <<<"$value_sizes"
for log in file padded pool; do
  for value in "${values[@]}"; do
    plan_tool "$log" "$value" $((400 * (value + 16))) log_faults --log="$log" --value_size="$value" --faults="$faults" \
      --csv=@RAW@.figures
  done
done
for kind in bit torn-512-zeros torn-512-old torn-4096-zeros torn-4096-old; do
  panel lines "Told, $kind" "value size, bytes" "percent of the faults" "$kind" told_percent log=x
  panel lines "Taken for an end before the last record, $kind" "value size, bytes" "percent of the faults" "$kind" \
    before_percent log=x better=less
done
for kind in bit torn-512-zeros torn-512-old torn-4096-zeros torn-4096-old; do
  panel lines "Wrong content, $kind" "value size, bytes" "faults" "$kind" wrong log=x better=less
done
run_all
