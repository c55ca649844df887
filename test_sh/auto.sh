#!/usr/bin/env bash
# Runs the whole series of measurements of MioDB's paper in order, as the script of this name of the prototype does, then
# the experiments with their plots, and prints the figures.
#
#   test_sh/auto.sh [option...]
#
# Options; an environment variable of the same name sets the first ten as well:
#   --db_path PATH             the database, which is removed before and after each run. Default: /dev/shm/miodb_auto
#   --outfilepath FOLDER       where results go. Default: results/auto
#   --bench_path FOLDER        where db_bench lies. Default: build of this tree
#   --ycsbc_path FOLDER        where ycsbc lies. Default: the same
#   --input_path FOLDER        ycsbc's input files. Default: ycsbc/input of this tree
#   --read_key_num N           reads of each run of db_bench. Default: 1000000
#   --comp_ratio R             compression_ratio. Default: 1
#   --numa_dram_node N, --numa_nvm_node N, --numa_nvm_next_node N   Default: 0, 2, 5 (only from 120 GB on); one that this
#                              machine does not have becomes -1
#   --write_buffer_size BYTES  Default: 67108864; below scale 0.01 less, in proportion, 1 MiB at least
#   --scale F                  multiplies all numbers of keys, records, reads and operations (the last not below 10000).
#                              The memtables of stage memtable are scaled too, 64 to 512 KiB at least.
#                              Default: 1, which writes 80 GB again and again; 0.01 suits a machine with 2 cores and
#                              24 GiB
#   --only LIST                of the stages random, sequential, ycsb, tail, dataset, memtable, experiments
#   --engines LIST, --rounds R   of the experiments. Default: miodb, 1. "all" engines and 3 rounds make a comparison, and
#                              take ten times as long
#   --resume                   leave out what is finished; refused if that was made with other options
#   --dry-run                  print the commands and run nothing
#   --help                     this text
#
# Files: db_bench_random_{1,4,16,64}KB.out, db_bench_seq_{1,4,16,64}KB.out, YCSB_{1,4}KB.out,
# YCSB_{1,4}KB_tail_latency.out, dateset_size_{40,80,120,160,200}GB.out (so spelled; a link has the right name),
# memtable_size_{64,128,256,512}MB.out, named after the full sizes whatever the scale; parsed.txt, what parser.sh
# prints of them; experiments/, what test_sh/experiments/run.sh writes.
#
# With a scale other than 1, YCSB's operations ask for all records that were loaded; the published files, which scale 1
# runs as they are, ask for the first 100 thousand. A file appears when its run has succeeded, so Ctrl-C leaves what is
# finished and nothing else; --resume goes on from there.

[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@" # called with sh
set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=test_sh/bench_lib.sh
source "$MIODB_ROOT/test_sh/bench_lib.sh"

: "${db_path:=/dev/shm/miodb_auto}" "${outfilepath:=results/auto}" "${bench_path:=$MIODB_ROOT/build}"
: "${ycsbc_path:=}" "${input_path:=$MIODB_ROOT/ycsbc/input}" "${read_key_num:=1000000}" "${comp_ratio:=1}"
: "${numa_dram_node:=0}" "${numa_nvm_node:=2}" "${numa_nvm_next_node:=5}" "${write_buffer_size:=}"
: "${scale:=1}"
all_stages=random,sequential,ycsb,tail,dataset,memtable,experiments
only=$all_stages
engines=miodb
rounds=1
resume=false
dry_run=false

while (($# > 0)); do
  take_option "--resume --dry-run" "$@"
  shift "$option_words"
  case $option in
    --resume) resume=true ;;
    --dry-run) dry_run=true ;;
    --db_path | --outfilepath | --bench_path | --ycsbc_path | --input_path | --read_key_num | --comp_ratio | \
      --numa_dram_node | --numa_nvm_node | --numa_nvm_next_node | --write_buffer_size | --scale | --only | --engines | \
      --rounds)
      printf -v "${option#--}" %s "$value"
      ;;
    *) die "unknown option $option; see --help" ;;
  esac
done

check_scale "$scale"
write_buffer_size=${write_buffer_size:-$(scaled $((64 << 20)) "$(awk -v f="$scale" 'BEGIN { print f < 0.01 ? f * 100 : 1 }')" 1048576)}
for name in read_key_num write_buffer_size rounds; do
  if ! is_whole_number "${!name}" || ((${!name} == 0)); then die "--$name needs a number above 0, not \"${!name}\""; fi
done
IFS=, read -ra stages <<<"$only"
for stage in "${stages[@]}"; do
  [[ ,$all_stages, == *",$stage,"* ]] || die "--only: no stage \"$stage\"; there are $all_stages"
done
ycsbc_path=${ycsbc_path:-$bench_path}
find_program "$bench_path" db_bench
find_program "$ycsbc_path" ycsbc
check_database_folder "$db_path"
check_writable_parent "$db_path"
check_writable_parent "$outfilepath"
if [[ $db_path$outfilepath$input_path == *[[:space:]]* ]]; then
  die "a path with a blank in it: $db_path, $outfilepath or $input_path"
fi
has_stage() { [[ ,$only, == *",$1,"* ]]; }
experiments=("$MIODB_ROOT/test_sh/experiments/run.sh" all --scale "$scale" --rounds "$rounds" --bin "$bench_path"
  --db "$(dirname "$db_path")" --out "$outfilepath/experiments")
if [[ $engines != all ]]; then experiments+=(--engines "$engines"); fi
if $resume; then experiments+=(--resume-last); fi
# What they need, and whether they can go on, is judged before anything starts.
if has_stage experiments && ! $dry_run; then "${experiments[@]}" --check >/dev/null; fi
exit_on_signals

# The runs, in order: stage|file|bytes of data|words of the command, separated by "|".
plan=()
largest=0

# plan_run STAGE FILE BYTES COMMAND...
plan_run() {
  if ! has_stage "$1"; then return; fi
  plan+=("$(IFS='|'; say "$*")")
  progress_add "$3"
  if (($3 > largest)); then largest=$3; fi
}

# plan_bench STAGE FILE KEYS VALUE_SIZE BENCHMARKS [NEXT_NODE [MEMTABLE]]
plan_bench() {
  local keys
  keys=$(scaled "$3" "$scale")
  plan_run "$1" "$2" $((keys * ($4 + 16))) "$bench_path/db_bench" --num="$keys" --value_size="$4" --benchmarks="$5" \
    --reads="$(scaled "$read_key_num" "$scale")" --compression_ratio="$comp_ratio" --db="$db_path" \
    --dram_node="$(existing_node "$numa_dram_node")" --nvm_node="$(existing_node "$numa_nvm_node")" \
    --nvm_next_node="$(existing_node "${6:--1}")" --write_buffer_size="${7:-$write_buffer_size}" --report_style=leveldb
}

# plan_ycsb STAGE FILE INPUT RECORDS VALUE_SIZE OPERATIONS
plan_ycsb() {
  local records counts=()
  records=$(scaled "$4" "$scale" 100)
  if [[ $scale != 1 ]]; then
    counts=(-p "recordcount=$records" -p "operationcount=$(scaled "$6" "$scale" 10000)")
  fi
  plan_run "$1" "$2" $((records * $5)) "$ycsbc_path/ycsbc" "$input_path/$3" -dbpath "$db_path" "${counts[@]}" \
    -p exporter=text -p "exportfile=$outfilepath/$2.ops" -p hdrhistogram.percentiles=90,99,99.9
}

for kilobytes in 1 4 16 64; do
  benchmarks=fillrandom,readrandom
  if ((kilobytes == 4)); then benchmarks=fillrandom,stats,readrandom,stats,wait,stats; fi
  plan_bench random "db_bench_random_${kilobytes}KB.out" $((80000000 / kilobytes)) $((kilobytes * 1024)) "$benchmarks"
done
for kilobytes in 1 4 16 64; do
  plan_bench sequential "db_bench_seq_${kilobytes}KB.out" $((80000000 / kilobytes)) $((kilobytes * 1024)) \
    fillseq,readseq
done
plan_ycsb ycsb YCSB_1KB.out 1KB_busy 80000000 1024 100000
plan_ycsb ycsb YCSB_4KB.out 4KB_busy 20000000 4096 100000
plan_ycsb tail YCSB_1KB_tail_latency.out 1KB_busy_tail_latency 80000000 1024 2000000
plan_ycsb tail YCSB_4KB_tail_latency.out 4KB_busy_tail_latency 20000000 4096 2000000
for gigabytes in 40 80 120 160 200; do
  next_node=-1
  if ((gigabytes >= 120)); then next_node=$numa_nvm_next_node; fi
  plan_bench dataset "dateset_size_${gigabytes}GB.out" $((gigabytes * 250000)) 4096 \
    fillrandom,stats,readrandom,stats,wait,stats "$next_node"
done
for megabytes in 64 128 256 512; do
  plan_bench memtable "memtable_size_${megabytes}MB.out" 20000000 4096 fillrandom,readrandom -1 \
    "$(scaled $((megabytes << 20)) "$scale" $((megabytes << 10)))"
done

if $resume; then
  for run in "${plan[@]}"; do
    IFS='|' read -ra words <<<"$run"
    check_recorded "$outfilepath/${words[1]}" "${words[@]:3}"
  done
fi

if $dry_run; then
  for run in "${plan[@]}"; do
    IFS='|' read -ra words <<<"$run"
    say "${words[1]}: ${words[*]:3}"
  done
  if has_stage experiments; then say "experiments: ${experiments[*]}"; fi
  exit 0
fi

mkdir -p "$(dirname "$db_path")" "$outfilepath"
need_room "$(dirname "$db_path")" $((3 * largest + 4 * write_buffer_size + (256 << 20)))
measure_alone
trap 'remove_database "$db_path"' EXIT
for run in "${plan[@]}"; do
  IFS='|' read -ra words <<<"$run"
  out=$outfilepath/${words[1]}
  if $resume && [[ -e $out ]]; then
    progress_skip "${words[2]}"
    continue
  fi
  progress_say "${words[1]}"
  remove_database "$db_path"
  rm -f "$out.ops"
  say "${words[*]:3}"
  record "$out" "${words[@]:3}"
  if [[ $out == */dateset_* ]]; then ln -sf "${words[1]}" "${out/dateset_/dataset_}"; fi
  progress_step "${words[2]}"
done
remove_database "$db_path"
if has_stage experiments; then
  exec 9>&-
  "${experiments[@]}"
fi
if [[ $only == "$all_stages" ]]; then
  "$MIODB_ROOT/test_sh/parser.sh" "$outfilepath" | tee "$outfilepath/parsed.txt"
elif [[ $only != experiments ]]; then
  # Files of the other stages may be there from before; that they are not is no news.
  { "$MIODB_ROOT/test_sh/parser.sh" --present "$outfilepath" || true; } | sed -E '/: (the file is )?missing$/d' | tee "$outfilepath/parsed.txt"
fi
