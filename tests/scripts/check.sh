# shellcheck shell=bash
# What tests of scripts share: run a command, then judge its status and what it printed. The first expectation that is
# not met ends the test with status 1 and says where.

# shellcheck disable=SC2034  # used by the tests that source this file
MIODB_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
scratch=$(mktemp -d "${TEST_TMPDIR:-/tmp}/miodb_scripts.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
# Locks and scratch files of the scripts go here too.
export TMPDIR=$scratch
expectations=0

# run COMMAND...: sets status; its output lies in $scratch/out and $scratch/err.
run() {
  status=0
  "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
}

# expect WHAT COMMAND...: WHAT is what should hold if the command succeeds.
expect() {
  local what=$1
  shift
  expectations=$((expectations + 1))
  if "$@"; then return; fi
  printf '%s:%s: %s\n--- status %s, output:\n' "${BASH_SOURCE[-1]}" "${BASH_LINENO[-2]}" "$what" "$status"
  tail -n 40 "$scratch/out"
  printf -- '--- errors:\n'
  tail -n 20 "$scratch/err"
  exit 1
}

expect_status() { expect "the status is $1" test "$status" = "$1"; }
expect_line() { expect "a line is: $1" grep -qxF -- "$1" "$scratch/out"; }
expect_part() { expect "a line has: $1" grep -qF -- "$1" "$scratch/out"; }
expect_error() { expect "an error is: $1" grep -qxF -- "$1" "$scratch/err"; }
expect_error_part() { expect "an error has: $1" grep -qF -- "$1" "$scratch/err"; }
lacks() { ! grep -qxF -- "$1" "$scratch/out"; }
expect_no_line() { expect "no line is: $1" lacks "$1"; }
# expect_same WHAT FILE: the output is the content of FILE.
expect_same() { expect "$1" diff "$2" "$scratch/out"; }

# Skips the test where there is no Python; ctest knows the status.
need_python() {
  command -v python3 >/dev/null && return
  printf 'skipped: python3 is not installed, and what is tested is written in it\n'
  exit 77
}

# need_programs NAME...: skips the test unless these are built, in the current folder.
need_programs() {
  local program
  for program in "$@"; do
    if [[ ! -x $PWD/$program ]]; then
      printf 'skipped: %s/%s is not built\n' "$PWD" "$program"
      exit 77
    fi
  done
}

# build_example NAME LIBRARY: compiles examples/NAME as a library, from the public headers alone.
build_example() {
  run "${CXX:-c++}" -std=c++20 -O2 -Wall -Werror -shared -fPIC -fvisibility=hidden -I "$MIODB_ROOT/include" \
    "$MIODB_ROOT/examples/$1" -o "$2"
  expect_status 0
}

# To be called at the end, so that a test that judged nothing fails.
passed() {
  ((expectations > 0)) || exit 1
  printf '%d expectations met\n' "$expectations"
}
