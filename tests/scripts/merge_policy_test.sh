#!/usr/bin/env bash
# A merge policy of a stranger: examples/merge_policy.cc, built from the public headers alone, serves db_bench, ycsbc
# and crash_explorer, which know nothing of it. A wrong library is refused by name.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
build=$PWD
need_programs db_bench ycsbc crash_explorer

policy=$scratch/lazy_levels.so
build_example merge_policy.cc "$policy"

small=(--num=40000 --value_size=40 --write_buffer_size=65536 --level_trigger=2)
run "$build/db_bench" --db="$scratch/db" --benchmarks=fillrandom,wait,readrandom,stats "${small[@]}" --merge_policy="$policy"
expect_status 0
run "$build/ycsbc" -load -t -db miodb -P "$MIODB_ROOT/ycsbc/workloads/workloada" -p recordcount=2000 \
  -p operationcount=2000 -dbpath "$scratch/ycsb" -p miodb.merge_policy="$policy"
expect_status 0
run "$build/crash_explorer" --merge_policy="$policy" --images=2000 --quiet
expect_status 0

for wrong in /nowhere/policy.so "$build/libmiodb.a" "no policy"; do
  run "$build/db_bench" --db="$scratch/db" --benchmarks=fillrandom "${small[@]}" --merge_policy="$wrong"
  expect_status 1
  expect_error_part "Options::merge_policy is \"$wrong\""
done
passed
