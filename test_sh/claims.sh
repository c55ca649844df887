#!/usr/bin/env bash
# Judges the claims of README and docs: builds, runs the experiment of each claim, and says of each whether it holds,
# does not hold, or cannot be judged on this machine, and why.
#
#   test_sh/claims.sh [options]                what two cores and 24 GiB can judge in less than half an hour
#   test_sh/claims.sh --tier=paper             at the size of the tables in docs/benchmarks.md: hours
#   test_sh/claims.sh --tier=hardware          what needs persistent memory, several nodes or many cores; --tier=all
#   test_sh/claims.sh --list [options]         the claims, without running anything
#   test_sh/claims.sh --diff BEFORE AFTER      how two reports (report.json) differ; fails where a claim fell
#
#   --only=NAME     of the tier only this claim; what is the name of none is a regular expression: those claims of the
#                   tier whose names match
#   --out=FOLDER    where the report goes; default: results/claims/TIME
#   --db=FOLDER     databases are made in fresh folders below it and removed; default: /dev/shm, where persistent memory
#                   is emulated
#   --build-only    build what the experiments run, and stop
#   --bin=FOLDER    use the programs of this build folder and build nothing; its folder peers/ is used as it is
#   --help          this text
#
# Leaves report.html, report.json, and what every program printed (raw/). docs/claims.md has the claims,
# docs/artifact.md a way through them. Exit status: 0 no claim fell, 1 one did, 2 a wrong call, 130 interrupted; then
# the report has what was finished.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# What the experiments of the first tier run.
targets=(db_bench crash_explorer db_stress operation_cost drop_cost reopen_cost stalls_agreement trace_analyzer
  tests.scaling.conflicts_test miodb_static miodb_shared)

tier=tires
only=
out=
db=/dev/shm
bin=
action=run
while (($# > 0)); do
  if [[ $1 == --diff ]]; then
    (($# == 3)) || die "--diff needs two reports; see --help"
    command -v python3 >/dev/null || die "python3 is not installed; test_sh/install_deps.sh installs it"
    exec python3 "$MIODB_ROOT/tools/claims/claims.py" diff "$2" "$3"
  fi
  take_option "--list --build-only" "$@"
  shift "$option_words"
  case $option in
    --tier) tier=$value ;;
    --only) only=$value ;;
    --out) out=$value ;;
    --db) db=$value ;;
    --bin) bin=$value ;;
    --list) action=list ;;
    --build-only) action=build ;;
    *) die "unknown option $option; see --help" ;;
  esac
done

if [[ -z $bin && $action != list ]]; then "$MIODB_ROOT/test_sh/install_deps.sh"; fi
command -v python3 >/dev/null || die "python3 is not installed; test_sh/install_deps.sh installs it"
# Wrong words are refused before anything is built.
python3 "$MIODB_ROOT/tools/claims/claims.py" list --tier="$tier" --only="$only" >/dev/null
if [[ $action == list ]]; then exec python3 "$MIODB_ROOT/tools/claims/claims.py" list --tier="$tier" --only="$only"; fi

if [[ $action == run ]]; then
  [[ -d $db && -w $db ]] || die "--db: no writable folder $db"
  if [[ -z $out ]]; then out=results/claims/$(date -u +%Y%m%d-%H%M%S); fi
  if [[ -e $out && ! -d $out ]]; then die "--out: $out is not a folder"; fi
  if [[ -d $out && -n $(ls -A "$out") ]]; then die "--out: $out is not empty"; fi
  mkdir -p "$out" || die "--out: cannot make $out"
fi

if [[ -z $bin ]]; then
  bin=$MIODB_ROOT/build
  configure build -DCMAKE_BUILD_TYPE=Release -DMIODB_BUILD_TESTS=ON -DMIODB_SANITIZE= -DMIODB_WERROR=OFF
  if [[ $tier != tires ]]; then targets+=(companion_cost reader_cost ycsbc mutant_tests tests.db.offline.corruption_test); fi
  build build "$(nproc)" "${targets[@]}"
  # Without release builds of the peers their claims are not judged; what is missing is said.
  if [[ ! -e $bin/peers/librocksdb.so || ! -e $bin/peers/libleveldb.so ]]; then
    "$MIODB_ROOT/test_sh/peers.sh" --bin "$bin" || true
  fi
fi
if [[ $action == build ]]; then exit 0; fi
[[ -d $bin ]] || die "--bin: no folder $bin"
exec python3 "$MIODB_ROOT/tools/claims/claims.py" run --tier="$tier" --only="$only" --bin="$bin" --db="$db" --out="$out"
