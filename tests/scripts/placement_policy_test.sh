#!/usr/bin/env bash
# A placement policy of a stranger: examples/placement_policy.cc, built from the public headers alone, serves db_bench
# and ycsbc, which know nothing of it: data lies where the default policy would put none. A wrong library is refused by
# name.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
build=$PWD
need_programs db_bench ycsbc miodb

policy=$scratch/kept_for_indexes.so
build_example placement_policy.cc "$policy"

# expect_bytes_behind DATABASE REGION PURPOSE: the further region has bytes for this purpose.
expect_bytes_behind() {
  run "$build/miodb" properties "$1" miodb.placement --option=nvm_regions="$2:64m"
  expect_status 0
  expect "the second region has bytes for $3" grep -qE "^region1-bytes-$3: [1-9]" "$scratch/out"
}

# The first region has room for everything, so the copies of merges go behind by the policy alone.
small=(--num=40000 --value_size=40 --write_buffer_size=65536 --pool_size=67108864 --nvm_regions="$scratch/region:64m")
run "$build/db_bench" --db="$scratch/db" --benchmarks=fillrandom,wait,readrandom,stats "${small[@]}" \
  --placement_policy="$policy"
expect_status 0
expect_bytes_behind "$scratch/db" "$scratch/region" copied
# Records of 1 KB are not copied. The first region has room for all of them, and the policy leaves a quarter of it free.
run "$build/ycsbc" -load -t -db miodb -P "$MIODB_ROOT/ycsbc/workloads/workloada" -p recordcount=2000 \
  -p operationcount=2000 -dbpath "$scratch/ycsb" -p miodb.nvm_regions="$scratch/second:64m" \
  -p miodb.pool_size=4718592 -p miodb.write_buffer_size=65536 -p miodb.placement_policy="$policy"
expect_status 0
expect_bytes_behind "$scratch/ycsb" "$scratch/second" log

for wrong in /nowhere/policy.so "$build/libmiodb.a" "no policy"; do
  run "$build/db_bench" --db="$scratch/other" --benchmarks=fillrandom --num=10 --placement_policy="$wrong"
  expect_status 1
  expect_error_part "Options::placement_policy is \"$wrong\""
done
passed
