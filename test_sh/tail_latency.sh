#!/usr/bin/env bash
# Prints the tail of the latencies that ycsbc recorded with "-timeseries true".
#
#   test_sh/tail_latency.sh FILE...
#
# Each FILE is what ycsbc printed: a line for every 100 operations of a thread, with their average latency. Of these
# averages a line of mean, P90, P99 and P99.9 is printed (by nearest rank). Averages of 100 hide single slow operations;
# where FILE.ops is there, which test_sh/auto.sh has ycsbc export, a line for each kind of operation follows with the
# same figures of every single operation.
# Exit status 1 if a file is missing or has no such line.

[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@" # called with sh
set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if [[ ${1:-} == --help || ${1:-} == -h ]]; then
  show_help
  exit 0
fi
(($# > 0)) || die "name a file; see --help"

status=0
for file in "$@"; do
  if [[ ! -r $file ]]; then
    say "$(basename "$file"): missing"
    status=1
    continue
  fi
  sed -nE 's/.*average latency:([0-9.]+).*/\1/p' "$file" | sort -g | awk -v name="$(basename "$file")" '
    function rank(percent,    at) { at = int(percent * NR / 100); if (at < percent * NR / 100) at++; return value[at < 1 ? 1 : at] }
    { value[NR] = $1; sum += $1 }
    END {
      if (NR == 0) { print name ": no line with an average latency"; exit 1 }
      printf "%s: average of 100 operations, us: mean %.3f  P90 %.3f  P99 %.3f  P99.9 %.3f  (%d values)\n",
        name, sum / NR, rank(90), rank(99), rank(99.9), NR
    }' || status=1
  [[ -r $file.ops ]] || continue
  awk -F', *' -v name="$(basename "$file")" '
    { gsub(/[][]/, "", $1) }
    $2 == "Operations" && $1 != "CLEANUP" { order[++kinds] = $1; count[$1] = $3 }
    $2 == "AverageLatency(us)" { mean[$1] = $3 }
    $2 == "90thPercentileLatency(us)" { p90[$1] = $3 }
    $2 == "99thPercentileLatency(us)" { p99[$1] = $3 }
    $2 == "99.9PercentileLatency(us)" { p999[$1] = $3 }
    END {
      for (i = 1; i <= kinds; i++) {
        kind = order[i]
        printf "%s: each %s, us: mean %.3f  P90 %.3f  P99 %.3f  P99.9 %.3f  (%d values)\n", name, tolower(kind),
          mean[kind], p90[kind], p99[kind], p999[kind], count[kind]
      }
    }' "$file.ops"
done
exit "$status"
