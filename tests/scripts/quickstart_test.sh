#!/usr/bin/env bash
# test_sh/quickstart.sh in a tree of its own, where cmake and the packages are stand-ins and db_bench is that of the build:
# the ten lines at the end, the progress of the build in one line, wrong calls, and that nothing stays after a failure.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
bench=$PWD/db_bench
need_programs db_bench

tree=$scratch/tree
mkdir -p "$tree/test_sh" "$tree/build" "$scratch/bin"
ln -s "$MIODB_ROOT/test_sh/quickstart.sh" "$MIODB_ROOT/test_sh/lib.sh" "$tree/test_sh/"
ln -s "$bench" "$tree/build/db_bench"
printf '#!/bin/sh\n' >"$tree/test_sh/install_deps.sh"
cat >"$scratch/bin/cmake" <<'END'
#!/usr/bin/env bash
if [[ $1 != --build ]]; then exit 0; fi
echo "[1/2] Re-running CMake..."
for step in 1 2 3 4; do echo "[$step/4] Building CXX object $step.o"; done
END
chmod +x "$scratch/bin/cmake" "$tree/test_sh/install_deps.sh"
export PATH=$scratch/bin:$PATH
quickstart=$tree/test_sh/quickstart.sh

# Draws of 2000 keys find some 1264 of them, if they are drawn evenly.
run "$quickstart" --num=2000 --db="$scratch/db"
expect_status 0
amount='[0-9]+\.[0-9] MiB'
number='[0-9]{1,3}(,[0-9]{3})*'
wanted=(
  "Puts:     $number a second, [0-9.]+ MiB/s: one thread put 2,000 values of 1024 bytes\."
  "Keys:     1,[0-9]{3} are distinct: each put drew one of 2,000 at random, and a second draw overwrites\."
  "Gets:     $number a second after all merges: the thread drew 2,000 keys again, 1,[0-9]{3} were there\."
  "Scan:     $number keys a second: an iterator went over all of them in their order\."
  "Written:  $amount for 2\.0 MiB put, [1-9]\.[0-9]{2} times as much: $amount of log, the rest indexes and copies\."
  "Space:    $amount by du: 1\.[0-9] MiB live, the rest old values to be collected, indexes, free room\."
  "Place:    $scratch/db, persist mode (pmem|emulated|file)\. The folder is removed now; --keep leaves it\."
  "Crash:    a killed process loses no put that has returned: each is in the pool by then\."
  "Power:    loss of power .*: the .*\."
  "Next:     .*test_sh/run_tests\.sh.*"
)
tail -n 10 "$scratch/out" >"$scratch/end"
for ((i = 0; i < 10; i++)); do
  expect "line $((i + 1)) of the end is: ${wanted[i]}" grep -qxE "${wanted[i]}" <(sed -n "$((i + 1))p" "$scratch/end")
done
expect "an empty line stands before them" test -z "$(sed -n 3p "$scratch/out")"
expect_line "Building in $tree/build: 10% 20% 30% 40% 50% 60% 70% 80% 90% 100% done"
expect "two more lines, and no output of db_bench" test "$(wc -l <"$scratch/out")" = 13
expect "the folder is gone" test ! -e "$scratch/db"

for word in docs/tutorial.md test_sh/run_tests.sh test_sh/experiments/run.sh; do
  expect "what the end names is there: $word" test -e "$MIODB_ROOT/$word"
  expect_part "$word"
done

run "$quickstart" --num 2000 --db "$scratch/db" --keep --verbose
expect_status 0
expect "counters are shown" grep -qx 'NVM fences: [0-9]*' "$scratch/out"
expect "no header tells a size that is not stored" test -z "$(grep -E 'after compression|FileSize' "$scratch/out")"
expect_part "The folder stays."
expect "and does" test -s "$scratch/db/pool"

# Wrong calls: a line that says why, before anything is built.
for words in "--num=0" "--num=010" "--num=99999999999999999999" "--num=x" "--num" "--value_size=-1" "--db=" "--keep=no" "--unknown=1" word; do
  run "$quickstart" "$words"
  expect_status 1
  expect "one line tells why $words is wrong" test "$(wc -l <"$scratch/err")" = 1
  expect "nothing is built" test ! -s "$scratch/out"
done
run "$quickstart" --db="$scratch/db"
expect_status 1
expect_error "quickstart.sh: $scratch/db is not empty; give a folder that is missing or empty"
expect "and is left alone" test -s "$scratch/db/pool"
run "$quickstart" --db="$scratch/db/STORE"
expect_status 1
run "$quickstart" --num=1000000000 --value_size=1000000000 --db="$scratch/new"
expect_status 1
expect_error_part "MiB may be needed"
expect "no folder is left" test ! -e "$scratch/new"
run "$quickstart" --help
expect_status 0
expect_part "--verbose"

# A failure, and an interruption, leave no folder that the script made and nothing in one that was there. The first step of an
# interruption is that of Ctrl-C; db_bench, which was started in the background, does not hear of it.
rm "$tree/build/db_bench"
cat >"$tree/build/db_bench" <<'END'
#!/usr/bin/env bash
for word in "$@"; do if [[ $word == --db=* ]]; then touch "${word#*=}/pool"; fi; done
if [[ -e $(dirname "$0")/fail ]]; then
  echo "put error: NoSpace"
  exit 1
fi
trap 'exit 143' TERM
kill -INT "$PPID"
for ((i = 0; i < 300; i++)); do read -rt 0.1 <> <(:) || true; done
END
chmod +x "$tree/build/db_bench"
mkdir "$scratch/there"
for db in new there; do
  touch "$tree/build/fail"
  run "$quickstart" --num=2000 --keep --db="$scratch/$db"
  expect_status 1
  expect_error "put error: NoSpace"
  expect_error "quickstart.sh: db_bench failed"
  rm "$tree/build/fail"
  run "$quickstart" --num=2000 --keep --db="$scratch/$db"
  expect_status 130
done
expect "no new folder" test ! -e "$scratch/new"
expect "the other is empty as before" test -z "$(ls -A "$scratch/there")"
expect "no scratch file is left" test -z "$(find "$scratch" -maxdepth 1 -name 'tmp.*')"
printf '#!/bin/sh\nexit 0\n' >"$tree/build/db_bench"
run "$quickstart" --num=2000 --db="$scratch/new"
expect_status 1
expect_error_part "quickstart.sh: db_bench printed no line \"fillrandom "
cat >>"$scratch/bin/cmake" <<'END'
echo "x.cc:1: error"
exit 1
END
run "$quickstart" --num=2000 --db="$scratch/new"
expect_status 1
expect_line "x.cc:1: error"
expect_error "quickstart.sh: building failed"
expect "no new folder" test ! -e "$scratch/new"
passed
