#!/usr/bin/env bash
# Compares the micro-benchmarks of two builds: runs micro_bench of either in turn and shows medians and ratios.
#
#   benchmarks/compare_builds.sh BEFORE AFTER [--rounds=N] [--filter=REGEX]
#
#   BEFORE, AFTER    build folders, each with micro_bench
#   --rounds=N       runs of each build (5)
#   --filter=REGEX   only benchmarks whose names match
#
# A ratio below 1 means that AFTER takes less time. Needs Google Benchmark (libbenchmark-dev) in both builds, and nothing
# else running. Exit status 0, whatever the ratios are.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../test_sh/lib.sh"
exit_on_signals

rounds=5
filter=.
builds=()
while (($# > 0)); do
  case $1 in
    --help | -h) take_option "" "$1" ;;
    --rounds | --rounds=* | --filter | --filter=*)
      take_option "" "$@"
      case $option in
        --rounds) rounds=$value ;;
        --filter) filter=$value ;;
      esac
      shift "$option_words"
      ;;
    -*) die "unknown argument $1; see --help" ;;
    *)
      builds+=("$1")
      shift
      ;;
  esac
done
((${#builds[@]} == 2)) || die "two build folders are needed; see --help"
[[ $rounds =~ ^[1-9][0-9]{0,3}$ ]] || die "--rounds=$rounds: not a number of runs"
for build in "${builds[@]}"; do
  [[ -x $build/micro_bench ]] || die "$build/micro_bench is not built (it needs libbenchmark-dev)"
done
command -v python3 >/dev/null || die "python3 is not installed"

scratch=$(mktemp -d "${TMPDIR:-/tmp}/miodb_builds.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
for ((round = 1; round <= rounds; round++)); do
  for which in 0 1; do
    printf '\r%d of %d runs ' $((2 * (round - 1) + which)) $((2 * rounds)) >&2
    "${builds[which]}/micro_bench" --benchmark_filter="$filter" --benchmark_format=csv \
      >"$scratch/$which.$round.csv" 2>"$scratch/err" || die "$(tail -n 1 "$scratch/err")"
  done
done
printf '\r\033[K' >&2
python3 - "$scratch" "$rounds" <<'PYTHON'
import csv, statistics, sys

scratch, rounds = sys.argv[1], int(sys.argv[2])


def times(which):
    found = {}
    for round in range(1, rounds + 1):
        with open(f"{scratch}/{which}.{round}.csv", newline="") as file:
            for row in csv.DictReader(file):
                if row["error_occurred"] == "true":
                    continue
                rate = row["items_per_second"] or row["bytes_per_second"]
                found.setdefault(row["name"], []).append(1e9 / float(rate))
    return {name: statistics.median(values) for name, values in found.items()}


before, after = times(0), times(1)
print(f"{'nanoseconds per item or byte':34}{'before':>12}{'after':>12}{'ratio':>8}")
for name, old in before.items():
    if name in after:
        print(f"{name:34}{old:12.4g}{after[name]:12.4g}{after[name] / old:8.2f}")
for name in sorted(set(before) ^ set(after)):
    print(f"{name:34}in one build only")
PYTHON
