#!/usr/bin/env bash
# Runs db_bench as the script of this name of MioDB's prototype does, and keeps what it prints.
#
#   test_sh/miodb_test.sh [option...] [RUN_ONE_TEST | RUN_VALUE_TEST]
#
#   RUN_ONE_TEST     (default) one run: write_key_num keys of size bytes, the benchmarks of test_type, into outfile
#   RUN_VALUE_TEST   for each size of value_array three runs over test_size bytes: rwrr-SIZE.out (fillrandom,stats,
#                    readrandom,stats), fillseq-SIZE.out (fillseq,stats), readseq-SIZE.out (fillrandom,stats,readseq,
#                    stats), in outfilepath
#
# Options; an environment variable of the same name sets one as well:
#   --db_path PATH             the database, which is removed before each run. Default: /dev/shm/miodb_test
#   --outfilepath FOLDER       where results go. Default: results/miodb_test
#   --outfile FILE             of RUN_ONE_TEST. Default: test.out in outfilepath
#   --bench_path FOLDER        where db_bench lies. Default: build of this tree
#   --test_size BYTES          of values in RUN_VALUE_TEST. Default: 81920000000
#   --size BYTES               of a value in RUN_ONE_TEST. Default: 4096
#   --value_array LIST         sizes of RUN_VALUE_TEST. Default: 1024,4096,16384,65536
#   --write_key_num N          Default: 20000000
#   --read_key_num N           reads. Default: 1000000
#   --test_type LIST           benchmarks of RUN_ONE_TEST. Default: fillrandom,stats,readrandom,stats
#   --comp_ratio R             compression_ratio. Default: 1
#   --bench_keys_per_datatable N                              Default: 2097152
#   --numa_dram_node N, --numa_nvm_node N, --numa_nvm_next_node N   Default: 0, 2, -1; one that this machine does not
#                              have becomes -1
#   --write_buffer_size BYTES  Default: 67108864
#   --scale F                  multiplies test_size and the numbers of keys and reads. Default: 1
#   --resume                   leave out runs whose output is there already; refused if that was made with other options
#   --dry-run                  print the commands and run nothing
#   --help                     this text
#
# Options take their value as the next word or after "=". The first line of an output file is the command. A file
# appears when its run has succeeded, so Ctrl-C leaves what is finished and nothing else; --resume goes on from there.

[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@" # called with sh
set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=test_sh/bench_lib.sh
source "$MIODB_ROOT/test_sh/bench_lib.sh"

: "${db_path:=/dev/shm/miodb_test}" "${outfilepath:=results/miodb_test}" "${outfile:=}"
: "${bench_path:=$MIODB_ROOT/build}" "${test_size:=81920000000}" "${size:=4096}"
: "${value_array:=1024,4096,16384,65536}" "${write_key_num:=20000000}" "${read_key_num:=1000000}"
: "${test_type:=fillrandom,stats,readrandom,stats}" "${comp_ratio:=1}" "${bench_keys_per_datatable:=2097152}"
: "${numa_dram_node:=0}" "${numa_nvm_node:=2}" "${numa_nvm_next_node:=-1}" "${write_buffer_size:=67108864}"
: "${scale:=1}"
resume=false
dry_run=false
test=RUN_ONE_TEST

while (($# > 0)); do
  if [[ $1 == RUN_ONE_TEST || $1 == RUN_VALUE_TEST ]]; then
    test=$1
    shift
    continue
  fi
  take_option "--resume --dry-run" "$@"
  shift "$option_words"
  case $option in
    --resume) resume=true ;;
    --dry-run) dry_run=true ;;
    --db_path | --outfilepath | --outfile | --bench_path | --test_size | --size | --value_array | --write_key_num | \
      --read_key_num | --test_type | --comp_ratio | --bench_keys_per_datatable | --numa_dram_node | --numa_nvm_node | \
      --numa_nvm_next_node | --write_buffer_size | --scale)
      printf -v "${option#--}" %s "$value"
      ;;
    *) die "unknown option $option; see --help" ;;
  esac
done

check_scale "$scale"
IFS=', ' read -ra values <<<"$value_array"
for name in test_size size write_key_num read_key_num bench_keys_per_datatable write_buffer_size; do
  if ! is_whole_number "${!name}" || ((${!name} == 0)); then die "--$name needs a number above 0, not \"${!name}\""; fi
done
((${#values[@]} > 0)) || die "--value_array needs a size"
for bytes in "${values[@]}"; do
  if ! is_whole_number "$bytes" || ((bytes == 0)); then die "--value_array: \"$bytes\" is not a size"; fi
done
outfile=${outfile:-$outfilepath/test.out}
find_program "$bench_path" db_bench
check_database_folder "$db_path"
check_writable_parent "$db_path"
check_writable_parent "$outfilepath"
check_writable_parent "$(dirname "$outfile")"
exit_on_signals

# run FILE BENCHMARKS VALUE_SIZE NUM READS
run() {
  local command=("$bench_path/db_bench" --num="$4" --value_size="$3" --benchmarks="$2" --reads="$5"
    --compression_ratio="$comp_ratio" --db="$db_path" --keys_per_datatable="$bench_keys_per_datatable"
    --dram_node="$(existing_node "$numa_dram_node")" --nvm_node="$(existing_node "$numa_nvm_node")"
    --nvm_next_node="$(existing_node "$numa_nvm_next_node")" --write_buffer_size="$write_buffer_size"
    --report_style=leveldb)
  if $dry_run; then
    say "$1: ${command[*]}"
    return
  fi
  if $resume && [[ -e $1 ]]; then
    check_recorded "$1" "${command[@]}"
    progress_skip $(($3 * $4))
    return
  fi
  progress_say "$(basename "$1")"
  remove_database "$db_path"
  need_room "$(dirname "$db_path")" $((3 * $3 * $4 + 4 * write_buffer_size + (256 << 20)))
  say "${command[*]}"
  record "$1" "${command[@]}"
  remove_database "$db_path"
  progress_step $(($3 * $4))
}

RUN_ONE_TEST() {
  local num reads
  num=$(scaled "$write_key_num" "$scale")
  reads=$(scaled "$read_key_num" "$scale")
  progress_add $((size * num))
  run "$outfile" "$test_type" "$size" "$num" "$reads"
}

RUN_VALUE_TEST() {
  local bytes num reads
  reads=$(scaled "$read_key_num" "$scale")
  for bytes in "${values[@]}"; do progress_add $((3 * bytes * $(scaled $((test_size / bytes)) "$scale"))); done
  for bytes in "${values[@]}"; do
    num=$(scaled $((test_size / bytes)) "$scale")
    run "$outfilepath/rwrr-$bytes.out" fillrandom,stats,readrandom,stats "$bytes" "$num" "$reads"
    run "$outfilepath/fillseq-$bytes.out" fillseq,stats "$bytes" "$num" "$reads"
    run "$outfilepath/readseq-$bytes.out" fillrandom,stats,readseq,stats "$bytes" "$num" "$reads"
  done
}

if ! $dry_run; then
  measure_alone
  mkdir -p "$(dirname "$db_path")"
fi
"$test"
