#!/usr/bin/env bash
# test_sh/claims.sh and what is behind it: the judge, the registry, wrong calls, made-up programs, Ctrl-C, a full disk,
# documents that differ from the report.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
need_python
claims="$MIODB_ROOT/test_sh/claims.sh"
bin="$scratch/bin"
mkdir "$bin" "$scratch/db"

run python3 "$MIODB_ROOT/tests/claims/judge_test.py"
expect_status 0
run python3 "$MIODB_ROOT/tools/claims/doc_figures.py" --self-test
expect_status 0

run "$MIODB_ROOT/tests/claims/container.sh" --lint
expect_status 0
run "$MIODB_ROOT/tools/site/links.py" --self-test
expect_status 0

run "$claims" --help
expect_status 0
expect_part "--tier=paper"
for words in "--tier=huge" "--only=(" "--only=nosuchclaim --bin=$bin --db=$scratch/db --out=$scratch/none" \
  "--bogus=1"; do
  read -ra list <<<"$words"
  run "$claims" "${list[@]}"
  expect "$words is refused" test "$status" != 0
  expect "$words is refused in one line" test "$(wc -l <"$scratch/err")" = 1
done
run "$claims" --list --only='^power-loss'
expect_status 0
expect_part "power-loss-adr"
# The name of a claim is that claim, and no other whose name has it in it.
run "$claims" --list --tier=all --only=scans
expect_status 0
expect "one claim and the time that it takes" test "$(wc -l <"$scratch/out")" = 2
expect_part " scans "
run "$claims" --diff "$scratch/nowhere.json" "$scratch/nowhere.json"
expect_status 2
printf '{}\n' >"$scratch/empty.json"
run "$claims" --diff "$scratch/empty.json" "$scratch/empty.json"
expect_status 2
expect_error_part "is no report"

# program NAME TEXT: a program that prints the text.
program() {
  printf '#!/usr/bin/env bash\n%s\n' "$2" >"$bin/$1"
  chmod +x "$bin/$1"
}
# judge_power OUT: one claim, with a made-up crash_explorer.
judge_power() {
  run "$claims" --only='^power-loss-adr$' --bin="$bin" --db="$scratch/db" --out="$scratch/$1"
}
judge_power missing
expect_status 0
expect_part "cannot be judged here  power-loss-adr"
program db_bench 'echo "db_bench: miodb 1.0"'
program crash_explorer 'echo "40000 passed, 0 failed"'
judge_power holds
expect_status 0
expect_part "holds                  power-loss-adr"
expect "a report is there" test -s "$scratch/holds/report.html"
program crash_explorer 'echo "39999 passed, 1 failed"; exit 1'
judge_power falls
expect_status 1
expect_part "does not hold          power-loss-adr"
program crash_explorer 'echo aborted; exit 134'
judge_power aborts
expect_status 1
expect_part "ended with status 134: aborted"
program crash_explorer 'echo "40000 passed, 0 failed"; kill -SEGV $$'
judge_power crashes
expect_status 1
expect_part "does not hold          power-loss-adr"
expect_part "ended with status -11"
program crash_explorer 'echo "write: No space left on device"; exit 1'
judge_power full
expect_status 0
expect_part "the machine lacks something"
run "$claims" --diff "$scratch/holds/report.json" "$scratch/falls/report.json"
expect_status 1
expect_part "power-loss-adr: holds -> does not hold"
run "$claims" --diff "$scratch/holds/report.json" "$scratch/holds/report.json"
expect_status 0
expect_line "no difference"
judge_power holds
expect_status 1
expect_error_part "is not empty"

# What plants.sh would plant fits into the sources. Without patch, which it needs, it is not asked.
for plant in "$MIODB_ROOT"/tests/claims/plants/*.patch; do
  command -v patch >/dev/null || break
  expect "$(basename "$plant") applies" patch --dry-run --fuzz=0 --directory="$MIODB_ROOT" -s -p1 --input="$plant"
done

# Ctrl-C ends the program that runs, and leaves a report.
program crash_explorer "echo \$\$ >$scratch/pid; exec sleep 100"
"$claims" --only='^power-loss-adr$' --bin="$bin" --db="$scratch/db" --out="$scratch/stopped" \
  >"$scratch/out" 2>&1 </dev/null &
child=$!
for _ in $(seq 200); do
  if [[ -s $scratch/pid ]]; then break; fi
  sleep 0.1
done
kill -TERM "$child"
status=0
wait "$child" || status=$?
expect_status 130
expect_part "Interrupted"
gone() { ! kill -0 "$(<"$scratch/pid")" 2>/dev/null; }
expect "the program was ended" gone
expect "a report is there" test -s "$scratch/stopped/report.json"
expect "no database is left" test -z "$(ls -A "$scratch/db")"
passed
