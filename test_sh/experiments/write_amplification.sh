#!/usr/bin/env bash
# Write amplification, by the size of values from 100 B to 4 KiB. Log and keys count: 20 GB times the scale are written
# in random order, then all overwritten in random order, then settled. For MioDB also what the bytes were written for.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment write_amplification "Write amplification by value size" "$@"
for size in 100 400 1024 4096; do
  count=$(count_of 20000000000 "$size")
  plan_bench "" "$size" $((2 * count * (size + 16))) --benchmarks=fillrandom,overwrite,wait,stats --num="$count" \
    --value_size="$size"
done
panel bars "Write amplification" "value size, bytes" "bytes written / bytes of the user" end write_amplification \
  better=less
panel stack "MioDB: what was written" "value size, bytes" "bytes written / bytes of the user" end \
  wa_log,wa_flush,wa_merge,wa_lazy_copy,wa_evacuation,wa_manifest engines=miodb
run_all
