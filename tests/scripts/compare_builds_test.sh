#!/usr/bin/env bash
# benchmarks/compare_builds.sh: medians of runs of two builds, and its errors.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
need_python
script=$MIODB_ROOT/benchmarks/compare_builds.sh
status=0

# make_build NAME RATES...: a folder with a micro_bench that prints one of the rates of Step, items per second, in each run.
make_build() {
  local name=$1
  shift
  mkdir "$scratch/$name"
  printf '%s\n' "$@" >"$scratch/$name/rates"
  cat >"$scratch/$name/micro_bench" <<'PROGRAM'
#!/usr/bin/env bash
folder=$(dirname "$0")
echo "$*" >>"$folder/calls"
rate=$(sed -n "$(wc -l <"$folder/calls")p" "$folder/rates")
echo 'name,iterations,real_time,cpu_time,time_unit,bytes_per_second,items_per_second,label,error_occurred,error_message'
echo "\"Step\",1000,1,1,ns,,$rate,,,"
echo "\"Sum/$(basename "$folder")\",1000,1,1,ns,1e9,,,,"
echo '"Broken",,,,,,,,true,"no space"'
PROGRAM
  chmod +x "$scratch/$name/micro_bench"
}
make_build before 1e8 4e8 2e8
make_build after 2e8 8e8 4e8

run "$script" "$scratch/before" "$scratch/after" --rounds=3 --filter=S
expect_status 0
expect "medians and their ratio" grep -qE '^Step +5 +2\.5 +0\.50$' "$scratch/out"
expect "a benchmark of one build is named" grep -qE '^Sum/after +in one build only$' "$scratch/out"
expect "the broken one is left out" test "$(grep -c Broken "$scratch/out")" = 0
expect "three runs of each" test "$(wc -l <"$scratch/after/calls")" = 3
expect "the filter is passed on" grep -q -- '--benchmark_filter=S ' "$scratch/after/calls"

run "$script" "$scratch/before"
expect_status 1
expect_error_part "two build folders are needed"
run "$script" "$scratch/before" "$scratch/none"
expect_status 1
expect_error_part "none/micro_bench is not built"
run "$script" "$scratch/before" "$scratch/after" --rounds=x
expect_status 1
expect_error_part "--rounds=x"
run "$script" --help
expect_status 0
expect_part "Compares the micro-benchmarks of two builds"
passed
