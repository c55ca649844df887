#!/usr/bin/env bash
# Random writes: their time, that of waits and flushes, and write amplification. 80 GB times the scale of 4 KiB values
# are written; bytes of the log count. LevelDB does not tell how long its writers waited, and the peers not how long
# they flushed. (Table 1)

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

experiment table1_costs "Costs of random writes (Table 1)" "$@"
count=$(count_of 80000000000 4096)
plan_bench "" "4 KiB" $((count * 4112)) --benchmarks=fillrandom,wait,stats --num="$count" --value_size=4096
panel bars "Time of the writes" "values" "seconds" fillrandom seconds better=less
panel bars "Writers waited" "values" "microseconds" end stall_micros better=less
panel bars "Flushing" "values" "microseconds" end flush_micros better=less
panel bars "Write amplification" "values" "bytes written / bytes of the user" end write_amplification better=less
run_all
