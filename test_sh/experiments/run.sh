#!/usr/bin/env bash
# Runs experiments, one after the other.
#
#   test_sh/experiments/run.sh NAME... [option...]
#   test_sh/experiments/run.sh all [option...]
#   test_sh/experiments/run.sh --list     their names, each with a sentence
#
# NAME is that of a script in this folder without its ending. Options are those that all experiments have:
# test_sh/experiments/NAME.sh --help lists them. An experiment with a default of its own for --engines (such as one that
# only makes sense for MioDB) keeps to those of its engines that LIST names, and is left out if there are none. "all" leaves
# out what cannot be run here (ssd_tier, where --db is not on an SSD), and says so.
# The rest runs on if one fails; the exit status is 1 then.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
folder=$MIODB_ROOT/test_sh/experiments
all_names=(fig6_value_sizes table1_costs fig7_ycsb fig8_latency fig9_levels fig10_data_size fig12_memtable
  write_amplification space_over_time space_dial full_pool threads reopen_time log_modes log_files log_blocks log_overhead log_faults
  log_compression kv_sizes workload_models merge_policies placement_policies heat placement ssd_tier)

# sentence_of NAME: the first sentence of the script.
sentence_of() { sed -n '2,/^#*$/s/^# //p' "$folder/$1.sh" | paste -sd ' ' | sed 's/\. .*/./'; }

names=()
options=()
engines=
check=false
runs_all=false
while (($# > 0)); do
  case $1 in
    --list)
      for name in "${all_names[@]}"; do printf '%-19s  %s\n' "$name" "$(sentence_of "$name")"; done
      exit 0
      ;;
    --help | -h)
      show_help
      exit 0
      ;;
    --engines=* | --engine=*)
      engines=${1#*=}
      shift
      ;;
    --engines | --engine)
      (($# > 1)) || die "$1 needs a value"
      engines=$2
      shift 2
      ;;
    --)
      options+=("$@")
      break
      ;;
    --resume | --resume=*) die "--resume is for one experiment; --resume-last is for all" ;;
    --resume-last | --dry-run | --no-plots | --check)
      if [[ $1 == --check ]]; then check=true; fi
      options+=("$1")
      shift
      ;;
    --*=*)
      options+=("$1")
      shift
      ;;
    -*)
      (($# > 1)) || die "$1 needs a value"
      options+=("$1" "$2")
      shift 2
      ;;
    all)
      names=("${all_names[@]}")
      runs_all=true
      shift
      ;;
    *)
      [[ " ${all_names[*]} " == *" $1 "* ]] || die "unknown experiment \"$1\"; --list names them"
      names+=("$1")
      shift
      ;;
  esac
done
((${#names[@]} > 0)) || die "name an experiment, or all; --list names them"
exit_on_signals

# engines_of NAME: sets words to the option that says which engines NAME runs, and returns 1 if none is left.
engines_of() {
  local own kept=() engine
  words=()
  if [[ -z $engines ]]; then return 0; fi
  own=$(sed -n 's/^engines=//p' "$folder/$1.sh")
  if [[ -z $own ]]; then
    words=(--engines "$engines")
    return 0
  fi
  IFS=, read -ra list <<<"$engines"
  for engine in "${list[@]}"; do
    if [[ ,$own, == *",$engine,"* ]]; then kept+=("$engine"); fi
  done
  ((${#kept[@]} > 0)) || return 1
  words=(--engines "$(IFS=,; printf '%s' "${kept[*]}")")
}

# What is wrong with the call or the machine is said before anything starts.
run_options=()
for option in "${options[@]}"; do
  if [[ $option != --check ]]; then run_options+=("$option"); fi
done
runnable=()
for name in "${names[@]}"; do
  if ! engines_of "$name"; then
    runnable+=("$name")
    continue
  fi
  errors=$("$folder/$name.sh" "${words[@]}" --check "${run_options[@]}" 2>&1 >&3 3>&-) || {
    status=$?
    if ((status == 77)) && $runs_all; then
      say "left out: $errors"
      continue
    fi
    say "$errors" >&2
    exit $((status == 77 ? 1 : status))
  }
  runnable+=("$name")
done 3>&1
names=("${runnable[@]}")
if $check; then exit 0; fi

failed=()
number=0
for name in "${names[@]}"; do
  number=$((number + 1))
  printf '\n===== %s (%d of %d) =====\n' "$name" "$number" "${#names[@]}"
  if ! engines_of "$name"; then
    say "not for $engines; left out"
    continue
  fi
  status=0
  "$folder/$name.sh" "${words[@]}" "${run_options[@]}" || status=$?
  if ((status >= 128)); then exit "$status"; fi
  if ((status != 0)); then failed+=("$name"); fi
done
((${#failed[@]} == 0)) || die "failed: ${failed[*]}"
