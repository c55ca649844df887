#!/usr/bin/env bash
# Runs clang-tidy (checks: .clang-tidy) over the sources, those that changed last first, until its time is up.
#
#   tools/checks/check_tidy.sh BUILD_FOLDER [SECONDS]   BUILD_FOLDER has compile_commands.json; default 600 seconds
#   tools/checks/check_tidy.sh --self-test              prove that a planted bug is found
#
# Files that there was no time for are counted in the last line and do not fail the check.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

clang_tidy=$(command -v clang-tidy-14 || command -v clang-tidy || true)
[[ -n $clang_tidy ]] || die "no clang-tidy; install clang-tidy-14"

self_test() {
  local folder
  folder=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now is meant
  trap "rm -rf '$folder'" EXIT
  cp "$MIODB_ROOT/.clang-tidy" "$folder"
  printf 'int F(int a) { return a; }\n' >"$folder/good.cc"
  printf '#include <string>\n#include <utility>\nauto F(std::string a) { auto b = std::move(a); return a + b; }\n' \
    >"$folder/bad.cc"
  "$clang_tidy" --quiet "$folder/good.cc" -- -std=c++20 >/dev/null 2>&1 || die "self-test: a good file failed"
  if "$clang_tidy" --quiet "$folder/bad.cc" -- -std=c++20 >/dev/null 2>&1; then die "self-test: a bad file passed"; fi
  say "self-test: 2 of 2 cases right"
}

# Sources of the tree: uncommitted changes first, then those of the last commits, then the others.
ordered_sources() {
  local all
  all=$(source_files 'src/*.cc' 'pmtable/*.cc' 'compaction/*.cc' 'benchmarks/*.cc' 'ycsbc/*.cc' 'tools/*.cc')
  {
    if git rev-parse --verify -q HEAD >/dev/null; then
      git diff --name-only HEAD
      git log -n 10 --name-only --pretty=format:
    fi
    say "$all"
  } | awk '!seen[$0]++' | grep -Fx -f <(say "$all")
}

# Judges one file; prints "skipped" or "clean" or the findings. Runs in a shell of its own.
judge() {
  local findings
  if (($(date +%s) >= tidy_deadline)); then
    say skipped
  elif findings=$("$clang_tidy" --quiet -p "$tidy_build" "$1" 2>/dev/null); then
    say clean
  else
    say "$findings"
    say "found something in $1"
  fi
}

if [[ ${1:-} == --self-test ]]; then
  self_test
  exit 0
fi
[[ $# -ge 1 && -f $1/compile_commands.json ]] || die "needs a build folder with compile_commands.json"
tidy_build=$(cd "$1" && pwd)
tidy_deadline=$(($(date +%s) + ${2:-600}))
export tidy_build tidy_deadline clang_tidy
export -f judge say

cd "$MIODB_ROOT"
# shellcheck disable=SC2016  # the inner shell expands it
output=$(ordered_sources | xargs -r -P "$(nproc)" -I '{}' bash -c 'judge "$1"' judge '{}')
grep -vxE 'clean|skipped' <<<"$output" || true
clean=$(grep -cx clean <<<"$output" || true)
skipped=$(grep -cx skipped <<<"$output" || true)
bad=$(grep -c '^found something in ' <<<"$output" || true)
say "$((clean + bad)) files judged, $bad with findings, $skipped without time"
((clean + bad > 0 && bad == 0))
