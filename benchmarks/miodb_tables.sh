#!/usr/bin/env bash
# What docs/benchmarks.md has about MioDB alone: bytes written by purpose, space, and times of opening. Sizes are the ones
# in its tables; --scale other than 0.01 shrinks or grows them in proportion.

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../test_sh/experiments/lib.sh"

engines=miodb
memtable=67108864
experiment miodb_tables "MioDB: bytes written, space, opening" "$@"
[[ $engines == miodb ]] || die "--engines: these tables are about miodb alone"

# plan_table TABLE ROW KEYS VALUE_SIZE WRITES BENCHMARKS: WRITES is how often the data is written.
plan_table() {
  local count
  count=$(scaled $((100 * $3)) "$scale" 1000)
  plan_bench "$1" "$2" $((count * ($4 + 16) * $5)) --num="$count" --value_size="$4" --benchmarks="$6"
}
plan_table written "fillrandom, 1 KiB" 2000000 1024 1 fillrandom,wait,stats
plan_table written "fillseq, 1 KiB" 2000000 1024 1 fillseq,wait,stats
plan_table written "fillrandom, 100 B" 5000000 100 1 fillrandom,wait,stats
plan_table space "fillrandom" 2000000 1024 1 fillrandom,wait,stats
plan_table space "fillrandom, 5 x overwrite" 2000000 1024 1 \
  fillrandom,overwrite,overwrite,overwrite,overwrite,overwrite,wait,stats
plan_table deleted "fillrandom, deleteseq" 2000000 1024 1 fillrandom,deleteseq,wait,stats
plan_table closed "closed properly" 2000000 1024 1 fillrandom,wait,open
count=$(scaled 200000000 "$scale" 1000)
plan_crash killed "killed" $((count * 1040)) fillrandom --num="$count" --value_size=1024

panel stack "Bytes written" "load" "bytes written / bytes of the user" end \
  wa_log,wa_flush,wa_merge,wa_lazy_copy,wa_evacuation,wa_manifest series=written
panel bars "Their sum" "load" "bytes written / bytes of the user" end write_amplification series=written better=less
panel bars "Space, settled" "load" "bytes in use / live bytes" end space_amplification series=space better=less
panel bars "Space after deleting everything, settled" "load" "bytes" end pool_bytes_used series=deleted better=less
panel bars "Opening after closing in order" "database" "microseconds" end open_micros series=closed better=less
panel bars "Closing and opening, median of many" "database" "microseconds" open p50_us series=closed better=less
panel bars "Opening after the process was killed" "database" "microseconds" end open_micros series=killed better=less
panel bars "Of that, replay of the log" "database" "microseconds" end replay_micros series=killed better=less
run_all
