#!/usr/bin/env bash
# Checks that no operation executes many more instructions than it used to. callgrind counts them, so the result is the
# same on a busy machine; it says nothing of cache misses and of waiting.
#
#   tools/checks/check_instructions.sh BUILD            count in this build folder; 10 % more than recorded fails, and a
#                                                       put, get or step that Options::statistics makes 2 % dearer, and
#                                                       any operation that 10,000 live deleted ranges make 20 %
#   tools/checks/check_instructions.sh --update BUILD   record the counts of this build
#   tools/checks/check_instructions.sh --self-test      prove that a higher count fails
#
# Recorded are instructions per operation, in instructions.txt beside this script, for a release build by gcc 12. Other
# builds execute others, so record anew when the compiler changes, and say why when the code did it.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

recorded=$(dirname "${BASH_SOURCE[0]}")/instructions.txt
allowed_percent=110
operations=5000  # of each kind: kOperations of benchmarks/cost/operation_cost.cc

folder=$(mktemp -d -p /dev/shm)  # tmpfs: the puts of persistent memory, with flushes and fences
exit_on_signals
trap 'rm -rf "$folder"' EXIT

# count BUILD [statistics | RANGES]: lines "operation instructions". All of them have the same database to work on.
count() {
  local program=$1/operation_cost
  [[ -x $program ]] || die "no $program; build it first"
  command -v valgrind >/dev/null || die "no valgrind; install it"
  local log=$folder/log
  rm -rf "$folder/db"
  if [[ -d $folder/filled ]]; then
    cp -a "$folder/filled" "$folder/db"
  else
    "$program" "$folder/db" fill >"$log" 2>&1 || die "operation_cost failed: $(cat "$log")"
    cp -a "$folder/db" "$folder/filled"
  fi
  valgrind --tool=callgrind --toggle-collect='Counted*' --callgrind-out-file="$folder/out" "$program" "$folder/db" \
    ${2:+"$2"} \
    >"$log" 2>&1 || die "operation_cost failed: $(cat "$log")"
  callgrind_annotate --inclusive=yes --threshold=100 "$folder/out" |
    sed -nE 's/^ *([0-9,]+) .*:(Counted[A-Za-z]+)( \[.*)?$/\2 \1/p' | tr -d , | sort -u |
    awk -v operations="$operations" '{ sub("Counted", "", $1); printf "%s %d\n", $1, $2 / operations }'
}

# compare FILE: prints every operation, and fails if one of the file has become dearer or is no longer counted.
compare() {
  awk -v allowed="$allowed_percent" '
    /^#/ { next }
    NR == FNR { before[$1] = $2; next }
    {
      seen[$1] = 1
      if (!($1 in before)) { printf "%-12s %6d, not recorded\n", $1, $2; bad = 1; next }
      dearer = $2 * 100 > before[$1] * allowed
      printf "%-12s %6d, recorded %6d%s\n", $1, $2, before[$1], dearer ? "  MORE" : ""
      if (dearer) bad = 1
    }
    END {
      for (name in before) if (!(name in seen)) { printf "%s was not counted\n", name; bad = 1 }
      exit bad
    }' "$recorded" "$1"
}

case ${1:-} in
  --self-test)
    grep -v '^#' "$recorded" >"$folder/same"
    awk 'NR == 1 { $2 = int($2 * 1.2) } { print }' "$folder/same" >"$folder/dearer"
    tail -n +2 "$folder/same" >"$folder/fewer"
    compare "$folder/same" >/dev/null || die "self-test: what is recorded fails"
    if compare "$folder/dearer" >/dev/null; then die "self-test: 20 % more instructions pass"; fi
    if compare "$folder/fewer" >/dev/null; then die "self-test: an operation that is not counted passes"; fi
    say "self-test: 3 of 3 cases right"
    ;;
  --update)
    count "${2:?build folder}" >"$folder/counts"
    { sed -n '/^#/p' "$recorded"; cat "$folder/counts"; } >"$folder/new"
    cp "$folder/new" "$recorded"
    cat "$folder/counts"
    ;;
  '' | -*) die "usage: check_instructions.sh [--update] BUILD" ;;
  *)
    count "$1" >"$folder/counts"
    problems=()
    compare "$folder/counts" || problems+=("see above; --update records the new counts")
    count "$1" statistics >"$folder/timed"
    # Counts differ by some instructions from run to run.
    join <(sort "$folder/counts") <(sort "$folder/timed") | awk '
      { printf "%-12s %6d, with statistics %6d\n", $1, $2, $3 }
      $1 ~ /^(Get|GetBuffered|Put|Next)$/ && $3 * 100 > $2 * 102 + 1000 { bad = 1 }
      END { exit bad || NR == 0 }' || problems+=("Options::statistics costs more than 2 % of a put, a get or a step")
    count "$1" 10000 >"$folder/ranges"
    join <(sort "$folder/counts") <(sort "$folder/ranges") | awk '
      { printf "%-12s %6d, with 10,000 deleted ranges %6d\n", $1, $2, $3 }
      $3 * 100 > $2 * 120 { bad = 1 }
      END { exit bad || NR == 0 }' || problems+=("10,000 deleted ranges cost more than 20 % of an operation")
    # What is counted is counted before anything fails.
    if ((${#problems[@]} > 0)); then die "$(printf '%s; ' "${problems[@]}")"; fi
    ;;
esac
