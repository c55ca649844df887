#!/usr/bin/env bash
# Builds the fuzz targets with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, in build-fuzz/, and runs them.
#
#   test_sh/fuzz.sh [options]
#
#   --executions=N   of each target; default 1000000
#   --target=REGEX   only targets whose name matches, e.g. --target='table|frame'
#   --corpus=FOLDER  keep what is found interesting in FOLDER/<target>, and start from it; default: a fresh folder
#   --build=FOLDER   the build folder; default: build-fuzz below the source tree
#   --jobs=N         compile N at a time; default: one for every CPU
#   --help           this text
#
# Needs clang (test_sh/install_deps.sh --checks). Runs start from the seeds in tests/fuzz/corpus. An input with a finding
# is left in the folder from which this was started, as crash-*. The last line is "N passed, N failed", counting targets.
# Exit status: 0 no finding, 1 a finding or an error, 130 interrupted.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

executions=1000000
wanted=.
corpus=
build=$MIODB_ROOT/build-fuzz
jobs=$(nproc)
for argument in "$@"; do
  case $argument in
    --executions=*)
      executions=${argument#*=}
      is_whole_number "$executions" || die "--executions needs a number, not \"$executions\""
      ;;
    --target=*) wanted=${argument#*=} ;;
    --corpus=*) corpus=${argument#*=} ;;
    --build=*) build=${argument#*=} ;;
    --jobs=*)
      jobs=${argument#*=}
      if ! is_whole_number "$jobs" || ((jobs == 0)); then die "--jobs needs a number, not \"$jobs\""; fi
      ;;
    *) help_or_die "$argument" ;;
  esac
done

exit_on_signals
if [[ -z $corpus ]]; then
  corpus=$(mktemp -d)
  trap 'rm -rf "$corpus"' EXIT
fi

compiler=$(command -v clang++-14 || command -v clang++ || true)
[[ -n $compiler ]] || die "needs clang++; test_sh/install_deps.sh --checks installs it"
options=(-DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Debug "-DMIODB_SANITIZE=address;undefined"
  -DMIODB_BUILD_FUZZERS=ON -DMIODB_BUILD_TESTS=ON -DMIODB_BUILD_BENCHMARKS=OFF)
if command -v ninja >/dev/null && [[ ! -f $build/CMakeCache.txt ]]; then options+=(-G Ninja); fi
if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
cmake -S "$MIODB_ROOT" -B "$build" "${options[@]}" >/dev/null

names=()
for file in "$MIODB_ROOT"/tests/fuzz/*_fuzz.cc; do
  name=$(basename "$file" _fuzz.cc)
  if [[ $name =~ $wanted ]]; then names+=("$name"); fi
done
((${#names[@]} > 0)) || die "no target matches $wanted"
programs=()
for name in "${names[@]}"; do programs+=("tests.fuzz.${name}_fuzz"); done
cmake --build "$build" --parallel "$jobs" --target "${programs[@]}"

# Inputs no longer than what the decoder has use for: longer ones only cost time.
declare -A max_len=([coding]=64 [record]=512 [header]=400 [version_edit]=512 [write_batch]=512 [frame]=1024
  [manifest]=4097 [region]=500 [store]=768 [table]=8192 [file_log]=2048 [trace]=700)
passed=0
failed=0
for name in "${names[@]}"; do
  mkdir -p "$corpus/$name"
  say "===== $name"
  if "$build/tests/fuzz/${name}_fuzz" -runs="$executions" -max_len="${max_len[$name]:-4096}" -print_final_stats=1 -verbosity=0 \
    "$corpus/$name" "$MIODB_ROOT/tests/fuzz/corpus/$name"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
  fi
done
say "$passed passed, $failed failed"
((failed == 0))
