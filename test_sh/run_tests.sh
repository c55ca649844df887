#!/usr/bin/env bash
# Builds MioDB and runs its tests.
#
#   test_sh/run_tests.sh [options]
#
#   --asan           with AddressSanitizer and UndefinedBehaviorSanitizer, in build-asan/
#   --tsan           with ThreadSanitizer, in build-tsan/
#                    (without either: the release build, in build/)
#   --filter=REGEX   only tests whose name matches, e.g. --filter=nvm/pool
#   --except=REGEX   only tests whose name does not match
#   --label=REGEX    only tests of these kinds, e.g. --label='unit|stress'
#   --heavy          let the tests run long (sets MIODB_TEST_SCALE=heavy)
#   --jobs=N         compile and test N at a time; default: one for every CPU
#   --werror         warnings are errors
#   --help           this text
#
# Installs missing packages first (test_sh/install_deps.sh). Tests write below TEST_TMPDIR; unless it is set, that is a
# fresh folder, on tmpfs where there is room, removed at the end. The last line is "N passed, N failed", counting test
# programs. Exit status: 0 all passed, 1 something failed, 130 interrupted.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

jobs=$(nproc)
folder="build"
cmake_options=(-DCMAKE_BUILD_TYPE=Release -DMIODB_BUILD_TESTS=ON -DMIODB_SANITIZE= -DMIODB_WERROR=OFF)
ctest_options=()
test_seconds=900
for argument in "$@"; do
  case $argument in
    --asan)
      folder="build-asan"
      cmake_options=(-DCMAKE_BUILD_TYPE=Debug -DMIODB_BUILD_TESTS=ON "-DMIODB_SANITIZE=address;undefined" -DMIODB_WERROR=OFF)
      ;;
    --tsan)
      folder="build-tsan"
      cmake_options=(-DCMAKE_BUILD_TYPE=Debug -DMIODB_BUILD_TESTS=ON -DMIODB_SANITIZE=thread -DMIODB_WERROR=OFF)
      ;;
    --filter=*) ctest_options+=(-R "${argument#*=}") ;;
    --except=*) ctest_options+=(-E "${argument#*=}") ;;
    --label=*) ctest_options+=(-L "${argument#*=}") ;;
    --heavy)
      export MIODB_TEST_SCALE=heavy
      test_seconds=14400
      ;;
    --jobs=*)
      jobs=${argument#*=}
      if ! is_whole_number "$jobs" || ((jobs == 0)); then die "--jobs needs a number, not \"$jobs\""; fi
      ;;
    --werror) cmake_options+=(-DMIODB_WERROR=ON) ;;
    *) help_or_die "$argument" ;;
  esac
done

# At this scale a test may take minutes by itself, and more on a machine that does other work as well.
if [[ ${MIODB_TEST_SCALE:-quick} == ci ]]; then test_seconds=3600; fi

exit_on_signals
"$MIODB_ROOT/test_sh/install_deps.sh"
configure "$folder" "${cmake_options[@]}"
build "$folder" "$jobs"

if [[ -z ${TEST_TMPDIR:-} ]]; then
  scratch=$(mktemp -d "$(scratch_parent $((4 << 30)))/miodb_tests.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  export TEST_TMPDIR=$scratch
fi
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1:strict_string_checks=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$MIODB_ROOT/tests/lsan_suppressions.txt:print_suppressions=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
# Children of tests open databases, which have threads.
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1:die_after_fork=0:suppressions=$MIODB_ROOT/tests/tsan_suppressions.txt}

# ThreadSanitizer's fixed memory layout clashes with the address randomisation of some kernels.
launcher=()
if [[ $folder == build-tsan ]] && setarch "$(uname -m)" -R true 2>/dev/null; then
  launcher=(setarch "$(uname -m)" -R)
fi

output=$MIODB_ROOT/$folder/ctest_output.txt
status=0
"${launcher[@]}" ctest --test-dir "$MIODB_ROOT/$folder" --output-on-failure --no-tests=error --parallel "$jobs" \
  --timeout "$test_seconds" "${ctest_options[@]}" 2>&1 | tee "$output" || status=1

# "98% tests passed, 1 tests failed out of 50"
counts=$(sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$output" | tail -n 1)
if [[ -z $counts ]]; then die "no test was run"; fi
read -r failed total <<<"$counts"
# Repeats the failed assertions and the names of the failed tests, which otherwise stand far above the last line.
awk '/: Failure$/ {shown = 1} shown && lines++ < 100; /^\[  FAILED  \]/ {shown = 0}' "$output"
sed -n '/^The following tests FAILED:$/,/^Errors while running CTest$/p' "$output"
say "$((total - failed)) passed, $failed failed"
exit "$status"
