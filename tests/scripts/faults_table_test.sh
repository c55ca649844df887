#!/usr/bin/env bash
# Tables of faults. docs/experiments.md: each row names a test that exists. docs/crash_model.md: a program that shows a
# planted fault is built with faults planted.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"

# rows FILE: the rows of the table, without headings.
rows() { sed -n '/^## Faults that are not repeated$/,/^## /p' "$1" | grep '^| [^-*]' | grep -v '^| there |'; }

# has_test NAME
has_test() {
  if [[ $1 == *.sh ]]; then
    [[ -f $here/$1 ]]
  else
    grep -rqE --include='*_test.cc' "^TEST(_F|_P)?\([A-Za-z]+, $1\)" "$MIODB_ROOT/tests"
  fi
}

count=0
status=0
while IFS= read -r row; do
  count=$((count + 1))
  IFS='|' read -r _ _ _ tests _ <<<"$row"
  named=0
  while IFS= read -r name; do
    named=$((named + 1))
    expect "there is the test $name" has_test "$name"
  done < <(grep -o "\`[^\`]*\`" <<<"$tests" | tr -d "\`")
  expect "a test is named in: $row" test "$named" -gt 0
done < <(rows "$MIODB_ROOT/docs/experiments.md")
expect "the table has its rows" test "$count" -gt 45

# Programs of the target mutant_tests, by the names that they have in the table.
planted=$(sed -n '/^set(mutant_test_names$/,/)$/p' "$MIODB_ROOT/cmake/MiodbSimulation.cmake" |
  grep -oE '[a-z]+/[a-z_/]+' | tr / _)
count=0
while IFS= read -r program; do
  count=$((count + 1))
  expect "$program is built with faults planted" grep -qx "${program%_test}" <<<"$planted"
done < <(grep '^| k' "$MIODB_ROOT/docs/crash_model.md" | grep -oE "\`[a-z_]+_test\`" | tr -d "\`" | sort -u)
expect "faults are shown by programs" test "$count" -gt 15
lacks_test() { ! has_test "$1"; }
expect "a name that there is not is seen" lacks_test NoSuchTest
expect "a script that there is not is seen" lacks_test no_such_test.sh
passed
