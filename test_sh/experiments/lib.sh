# shellcheck shell=bash
# What the experiments share: options, checks, running, and the folder of results. An experiment is a script that
#
#   1. sources this file, and sets what differs from the defaults below,
#   2. calls "experiment NAME TITLE "$@"", which reads the options and checks what is needed,
#   3. names its runs with plan_bench, plan_crash, plan_ycsb and plan_tool, and its plots with panel,
#   4. calls run_all.
#
# A run is one process on a fresh database, but for runs of plan_crash and plan_tool. All runs are repeated in rounds;
# in each round the engines take turns in another order for every run. results.py makes data.csv, tables and plots of
# what the runs printed.
#
# Folder of results, OUT/NAME/TIME/: plan.csv, the runs; raw/N-ENGINE-ROUND.out, what each printed, with its command in
# the first line (and .csv, what it exported); options, the words that it was called with; settings, what all runs have in
# common; data.csv, every figure; machine.json; table.txt; plot.gp, plot.png,
# plot.svg; plot-N.svg; report.html. A raw file appears when its run has succeeded, and the rest is made of what there
# is, also after Ctrl-C; --resume FOLDER goes on.

# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=test_sh/bench_lib.sh
source "$MIODB_ROOT/test_sh/bench_lib.sh"
experiments_folder=$MIODB_ROOT/test_sh/experiments

# ---- Options; a script may set other defaults before "experiment" ----------------------------------------------------

program=db_bench    # what the runs need: db_bench or ycsbc
engines=            # comma list; empty: all that the program was built with
rounds=3
scale=0.01
memtable=           # bytes; empty: by the scale
memtable_scales=false # whether memtables are the share of the data that they have at scale 1, 4 MiB at least: for studies
                    # with little data
bin=$MIODB_ROOT/build
db_parent=/dev/shm
out=results
own_options=        # names of further options, blank separated; each sets the variable of its name
own_switches=       # names of options without a value; each sets the variable of its name to true

declare -A engine_flags  # by engine, further flags of its db_bench; @DATABASE@ stands for the path of the database
declare -A engine_prefix # by engine, words before its db_bench
pool_file=               # of miodb, if it lies outside of the database; removed at the end

resume_folder=
resume_last=false
dry_run=false
check_only=false
plots=true
extra_flags=()

common_help() {
  cat <<'END'

Common options:
  --engines LIST   of miodb, leveldb, rocksdb, lmdb, wiredtiger; also --engine. rocksdb-plain and the like: with a preset of
                   docs/db_bench.md; NAME=leveldb@FILE or NAME=rocksdb@FILE: a library with the C functions of either.
                   Default: miodb, leveldb, rocksdb, as far as they are there, unless said otherwise above
  --rounds R       runs of everything; tables show medians and spread. Default: 3
  --scale F        multiplies all data sizes, which are those of the paper (80 GB and so on). Default: 0.01
  --memtable BYTES   of all engines. Default: 64 MiB; below scale 0.01 less, in proportion, 1 MiB at least; in
                   studies of less than 10 GB 64 MiB times the scale, 4 MiB at least
  --db FOLDER      databases are made in a fresh folder below it and removed. Default: /dev/shm
  --out FOLDER     results go to FOLDER/NAME/TIME. Default: results
  --bin FOLDER     where db_bench and ycsbc lie. Default: build of this tree
  --resume FOLDER  finish the results in this folder, with the options that they were begun with and, after them, those
                   that are given now (--rounds may be larger, --engines more; what changes a run is refused)
  --resume-last    the same with the newest folder of this experiment, if there is one
  --dry-run        print the commands and run nothing
  --check          check that everything is there, and run nothing
  --no-plots       do without gnuplot
  -- FLAG...       go to every db_bench or ycsbc
END
}

# Replaces that of test_sh/lib.sh: the script's own text, then the options that all have.
show_help() {
  sed -n '2,/^[^#]/{/^#/!d;s/^# \{0,1\}//;p}' "$0"
  common_help
}

parse_options() {
  while (($# > 0)); do
    if [[ $1 == -- ]]; then
      extra_flags=("${@:2}")
      break
    fi
    take_option "--resume-last --dry-run --check --no-plots${own_switches:+ --${own_switches// / --}}" "$@"
    shift "$option_words"
    case $option in
      --engine | --engines) engines=$value ;;
      --rounds) rounds=$value ;;
      --scale) scale=$value ;;
      --memtable) memtable=$value ;;
      --db) db_parent=$value ;;
      --out) out=$value ;;
      --bin) bin=$value ;;
      --resume) resume_folder=$value ;;
      --resume-last) resume_last=true ;;
      --dry-run) dry_run=true ;;
      --check) check_only=true ;;
      --no-plots) plots=false ;;
      *)
        if [[ " $own_switches " == *" ${option#--} "* ]]; then
          printf -v "${option#--}" true
        elif [[ " $own_options " == *" ${option#--} "* ]]; then
          printf -v "${option#--}" %s "$value"
        else
          die "unknown option $option; see --help"
        fi
        ;;
    esac
  done
}

# cannot_run_here REASON: dies; run.sh, which asks with --check, knows the status.
cannot_run_here() {
  if $check_only; then (die "$1") || exit 77; fi
  die "$1"
}

# pool_before_ssd FOLDER: MioDB's pool lies in FOLDER, and below it is an SSD tier in the folder of the database. To be
# called after "experiment".
pool_before_ssd() {
  if $on_tmpfs && ! $dry_run; then cannot_run_here "--db: $db_parent is tmpfs, which is no SSD"; fi
  [[ -d $1 && -w $1 ]] || die "--pool: no writable folder $1"
  pool_file=$1/miodb_${name}_$$.pool
  engine_flags[miodb]="--pool_path=$pool_file --ssd_path=@DATABASE@/ssd"
}

# For experiments with a setting that no other engine has. To be called after "experiment".
check_miodb_alone() {
  [[ $engines == miodb ]] || die "--engines: this setting is miodb's alone"
}

# check_counts NAME...: dies unless these variables are whole numbers above 0.
check_counts() {
  local name
  for name in "$@"; do
    if ! is_whole_number "${!name}" || ((${!name} == 0)); then die "--$name needs a number above 0, not \"${!name}\""; fi
  done
}

# check_sizes NAME...: dies unless these variables are comma lists of sizes in bytes.
check_sizes() {
  local name size sizes
  for name in "$@"; do
    IFS=, read -ra sizes <<<"${!name}"
    ((${#sizes[@]} > 0)) || die "--$name needs a size"
    for size in "${sizes[@]}"; do
      if ! is_whole_number "$size" || ((size == 0)); then die "--$name: \"$size\" is not a size in bytes"; fi
    done
  done
}

# experiment NAME TITLE ARGUMENT...
experiment() {
  name=$1
  title=$2
  shift 2
  option_words_given=("$@")
  parse_options "$@"
  choose_folder
  # What is resumed has its own options; those given now come after them.
  if [[ -n $resume_folder || $resume_last == true ]] && [[ -e $folder/options ]]; then
    local recorded=()
    mapfile -d '' recorded <"$folder/options"
    parse_options "${recorded[@]}"
    parse_options "$@"
  fi
  command_words="${recorded[*]:-} ${option_words_given[*]}"
  check_scale "$scale"
  check_counts rounds
  command -v python3 >/dev/null || die "python3 is not installed; test_sh/install_deps.sh installs it"
  if $plots && ! command -v gnuplot >/dev/null; then
    die "gnuplot is not installed (Debian package gnuplot-nox); --no-plots does without"
  fi
  find_program "$bin" "$program"
  [[ -d $db_parent && -w $db_parent ]] || die "--db: no writable folder $db_parent"
  check_writable_parent "$out"
  choose_engines "$bin/$program" "$engines"
  if [[ -z $memtable ]] && $memtable_scales; then memtable=$(scaled $((64 << 20)) "$scale" 4194304); fi
  memtable=${memtable:-$(scaled $((64 << 20)) "$(awk -v f="$scale" 'BEGIN { print f < 0.01 ? f * 100 : 1 }')" 1048576)}
  check_counts memtable
  on_tmpfs=false
  if [[ $(stat -f -c %T "$db_parent") == tmpfs ]]; then on_tmpfs=true; fi
}

# ---- Planning --------------------------------------------------------------------------------------------------------

# Runs: kind, engines or nothing, series, x, bytes of data, words of the command; separated by the unit separator.
plan=()
run_engines= # comma list: only for these the runs named next are made. Empty: for all
panels=()
largest=0
run_count=0 # of all rounds and engines
unit=$'\x1f'

# take_study_sizes: with --study, key_sizes and value_sizes are the sizes of the studies of the log: four of keys, twelve of
# values. To be called after "experiment".
# shellcheck disable=SC2034  # scripts that source this file use them
take_study_sizes() {
  if [[ ${study:-false} != true ]]; then return 0; fi
  key_sizes=16,128,512,1024
  value_sizes=16,32,64,100,128,256,400,512,1024,2048,4096,8192
}

# count_of BYTES VALUE_SIZE: how many records with 16-byte keys make up so many bytes at this scale.
count_of() { scaled $(($1 / ($2 + 16))) "$scale" 1000; }

# plan_run KIND SERIES X BYTES WORD...
plan_run() {
  local kind=$1 run
  shift
  if (($3 > largest)); then largest=$3; fi
  run=$(IFS=$unit; printf '%s' "$*")
  plan+=("$kind$unit$run_engines$unit$run")
}

# has_run ENGINE: whether the run in "words" is made for this engine.
has_run() { [[ -z ${words[1]} || ,${words[1]}, == *",$1,"* || ,${words[1]}, == *",${engine_of[$1]},"* ]]; }

# plan_bench SERIES X BYTES FLAG...: a run of db_bench. SERIES and X place its figures in tables and plots, BYTES is the
# size of its data.
plan_bench() { plan_run bench "$@"; }

# plan_crash SERIES X BYTES BENCHMARKS FLAG...: a run of db_bench that ends itself after BENCHMARKS, and one that measures how
# long "recover" takes then.
plan_crash() { plan_run crash "$@"; }

# plan_ycsb SERIES X BYTES PHASE... -- WORD...: a run of ycsbc, its phases on one database; "load", "reload" or a letter.
# In the words of any kind, @RAW@ stands for the path of the run's raw files without their endings, and @POOL@ for pool_file,
# which has another name in each process.
# In those of the other kinds, @DB@ stands for the path of the database; @DB@.wal is removed with it.
plan_ycsb() { plan_run ycsb "$@"; }

# plan_tool SERIES X BYTES PROGRAM WORD...: a run of another program of the build folder, which takes --seed and writes its
# figures to @RAW@.figures, a CSV file: a name in each line, metrics above.
plan_tool() { plan_run tool "$@"; }

# panel KIND TITLE X-LABEL Y-LABEL BENCHMARKS METRICS [NAME=VALUE...]: a plot of what was measured.
#   KIND        lines: over a numeric x; bars: groups for each x; stack: the METRICS on top of each other;
#               time: over seconds, without spread and without a table
#   BENCHMARKS  comma list; its elements are the groups if there are several. "name#2" is the second run of a name, "end"
#               what is printed at the end, "stats" what db_bench's stats print
#   METRICS     see results.py
#   NAME=VALUE  series=S: only these, separated by ";"; log=x, log=y, log=xy; engines=LIST; better=less: smaller is
#               better, as in times; compare=first: a second table gives all values over the first one of each engine;
#               versus=A|B;C|D: a second table has series A over series B and C over D, in pairs of the same round and
#               record; with as=difference A minus B; axis=record: over the bytes of key and value, of the series what
#               follows their first comma; show=largest: the largest of all rounds instead of medians
panel() {
  local row
  row=$(IFS=$unit; printf '%s' "$*")
  panels+=("$row")
}

# ---- Running ---------------------------------------------------------------------------------------------------------

# The words that all runs of an engine have, by the kind of the run; the same for all engines as far as they have the
# option.
common_flags() {
  local engine=${engine_of[$1]} round=$2 setting
  if [[ $3 != ycsb ]]; then
    say --engine="$engine" --seed="$round" --write_buffer_size="$memtable" --bloom_bits=10 --open_files=100000 \
      --progress_reports=false
    if [[ $engine == rocksdb ]] && $on_tmpfs; then say --mmap_read=1; fi
    for setting in ${engine_settings[$1]}; do say "--$setting"; done
    # The first round asks a peer whether it answers right.
    if [[ $engine != miodb ]] && ((round > 1)); then say --questions=0; fi
  else
    say -db "$engine" -p "seed=$round" -p "write_buffer_size=$memtable" -p bloom_bits=10 -p open_files=100000 \
      -p exporter=csv -p outputstyle=miodb -dbstatistics true
    if $on_tmpfs; then say -p rocksdb.mmap_read=true; fi
    for setting in ${engine_settings[$1]}; do say -p "$setting"; done
  fi
}

# command_of ENGINE ROUND DATABASE RAW: sets command to that of the run in "words", and before to one that has to be killed
# first, if there is one.
command_of() {
  local kind=${words[0]} common phases=() phase
  before=()
  local words=("${words[@]//@DB@/$3}")
  words=("${words[@]//@RAW@/$4}")
  words=("${words[@]//@POOL@/$pool_file}")
  read -ra common <<<"$(common_flags "$1" "$2" "$kind" | paste -sd' ' -)"
  if [[ $kind == bench ]]; then
    local prefix=() further=()
    read -ra prefix <<<"${engine_prefix[$1]:-${engine_prefix[${engine_of[$1]}]:-}}"
    read -ra further <<<"${engine_flags[$1]:-${engine_flags[${engine_of[$1]}]:-}}"
    further=("${further[@]//@DATABASE@/$3}")
    command=("${prefix[@]}" "$bin/db_bench" "${common[@]}" --db="$3" "${words[@]:5}" "${further[@]}" "${extra_flags[@]}")
    return
  fi
  if [[ $kind == tool ]]; then
    command=("$bin/${words[5]}" --seed="$2" "${words[@]:6}")
    return
  fi
  if [[ $kind == crash ]]; then
    command=("$bin/db_bench" "${common[@]}" --db="$3" "${words[@]:6}" "${extra_flags[@]}")
    before=("${command[@]}" --benchmarks="${words[5]},kill")
    command+=(--benchmarks=recover --use_existing_db)
    return
  fi
  local rest=("${words[@]:5}") input=$4.input
  while [[ ${rest[0]} != -- ]]; do
    phases+=("${rest[0]}")
    rest=("${rest[@]:1}")
  done
  rest=("${rest[@]:1}")
  if ! $dry_run; then rm -f "$4".*.csv "$input"; fi
  for phase in "${phases[@]}"; do
    local mode=(-run -P "$MIODB_ROOT/ycsbc/workloads/workload$phase")
    if [[ $phase == load ]]; then mode=(-load -P "$MIODB_ROOT/ycsbc/workloads/workloada"); fi
    if [[ $phase == reload ]]; then mode=(-load -P "$MIODB_ROOT/ycsbc/workloads/workloade"); fi
    local line=(ycsbc "${common[@]}" -dbpath "$3" "${mode[@]}" "${rest[@]}" -p "exportfile=$4.$phase.csv"
      "${extra_flags[@]}")
    say "${#line[@]} ${line[*]}"
  done >>"${dry_run_input:-$input}"
  say 0 >>"${dry_run_input:-$input}"
  command=("$bin/ycsbc" "$input")
}

# Writes milliseconds and the bytes that the database takes to file $2 until it is killed. $1 database.
sample_space() {
  local began=${EPOCHREALTIME/./} bytes
  while true; do
    bytes=$(du -s -B1 "$1" 2>/dev/null | cut -f1) || true
    say "$(((${EPOCHREALTIME/./} - began) / 1000)),${bytes:-0}"
    sleep 0.2
  done >"$2"
}

# Keeps what the runs will take from going back to the host, where databases lie in memory (hold_memory.py). It ends with
# this shell, whose end of the pipe is its standard input.
hold_memory() {
  $on_tmpfs || return 0
  coproc HOLDER { exec python3 "$experiments_folder/hold_memory.py" $((2 * largest + 4 * memtable)) 9>&-; }
  read -r _ <&"${HOLDER[0]}" || die "memory for the runs cannot be held; see above"
}

# Ends sample_space, if it runs.
stop_sampler() {
  if [[ -n ${sampler:-} ]]; then
    kill "$sampler" 2>/dev/null || true
    wait "$sampler" 2>/dev/null || true
    sampler=
  fi
}

# run_killed FILE: runs the command in "before", which has to end by SIGKILL. FILE gets its output.
run_killed() {
  local status=0
  # The shell between tells that its child was killed, which goes into the file.
  bash -c '"$@"; exit $?' bash "${before[@]}" >"$1" 2>&1 9>&- || status=$?
  if ((status == 137)); then return; fi
  if ((status >= 128)); then exit "$status"; fi
  tail -n 5 "$1" >&2
  die "this ended with status $status, not killed: ${before[*]}"
}

# tell_more ENGINE DATABASE: prints what a run of an engine leaves besides its output.
tell_more() {
  local folders=("$2")
  if [[ -d $2.wal ]]; then folders+=("$2.wal"); fi
  say "space bytes: $(du -s -c -B1 "${folders[@]}" | tail -n 1 | cut -f1)"
  # What MioDB's info log tells of the last opening.
  if [[ ${engine_of[$1]} == miodb ]]; then
    sed -n -e 's/.* opened .*, \([0-9]*\) us$/open micros: \1/p' \
      -e 's/.* replayed [0-9]* writes in \([0-9]*\) us.*/replay micros: \1/p' "$2/LOG"
  fi
  # LevelDB tells how often it flushed and compacted in its log only.
  if [[ ${engine_of[$1]} == leveldb ]] && compgen -G "$2/LOG*" >/dev/null; then
    say "flushes: $(cat "$2"/LOG* | grep -c 'Level-0 table #[0-9]*: started')"
    say "compactions: $(cat "$2"/LOG* | grep -c ' Compacting ')"
  fi
}

# run_one INDEX ENGINE ROUND: runs plan[INDEX], unless its output is there.
run_one() {
  local words raw database weight work
  IFS=$unit read -ra words <<<"${plan[$1]}"
  has_run "$2" || return 0
  weight=$((words[4] + 1000000))
  raw=$(printf '%s/raw/%03d-%s-%d' "$(realpath "$folder")" "$1" "$2" "$3")
  if [[ -e $raw.out ]]; then
    progress_skip "$weight"
    return
  fi
  database=$db_root/$2
  progress_say "round $3, ${words[2]:+${words[2]}, }${words[3]}: $2"
  command_of "$2" "$3" "$database" "$raw"
  # Each run works in a folder of its own, where a peer's own printing goes.
  work=$db_root/$2.work
  mkdir "$work"
  if [[ ${words[0]} == bench && ${engine_of[$2]} != miodb ]]; then command+=("--engine_output=$work/printed"); fi
  if [[ ${space_over_time:-false} == true ]]; then
    sample_space "$database" "$raw.space.csv" 9>&- &
    sampler=$!
  fi
  if ((${#before[@]} > 0)); then run_killed "$raw.before"; fi
  record "$raw.tmp" env -C "$work" "${command[@]}"
  if [[ -s $work/printed ]]; then head -c 1000000 "$work/printed" >"$raw.printed"; fi
  rm -rf "${work:?}"
  stop_sampler
  if [[ ${words[0]} != tool ]]; then tell_more "$2" "$database" >"$raw.more"; fi
  mv "$raw.tmp" "$raw.out"
  rm -rf "${database:?}" "${database:?}.wal" ${pool_file:+"$pool_file"}
  progress_step "$weight"
}

print_plan() {
  local i engine words command dry_run_input=/dev/stdout
  for ((i = 0; i < ${#plan[@]}; i++)); do
    for engine in "${engine_list[@]}"; do
      IFS=$unit read -ra words <<<"${plan[i]}"
      has_run "$engine" || continue
      command_of "$engine" 1 "$db_parent/DATABASE" "$out/$name/TIME/raw/$i-$engine-1"
      if ((${#before[@]} > 0)); then say "${before[*]}"; fi
      say "${command[*]}"
    done
  done
}

# csv WORD...: a line of a CSV file.
csv() {
  local cell text=''
  for cell in "$@"; do text+="${text:+,}\"${cell//\"/\"\"}\""; done
  say "$text"
}

# The runs with their flags.
plan_text() {
  local i words
  csv run series x command
  for ((i = 0; i < ${#plan[@]}; i++)); do
    IFS=$unit read -ra words <<<"${plan[i]}"
    csv "$(printf %03d "$i")" "${words[2]}" "${words[3]}" "${words[*]:5}"
  done
}

# The options that all runs have in common, a line each: not every one shows in the flags of the plan.
settings_text() {
  local own
  say "--memtable $memtable"
  say "--db $db_parent"
  for own in $own_options $own_switches; do say "--$own ${!own}"; done
  say "-- ${extra_flags[*]}"
}

# Dies if the folder of results was begun with other options than those that apply now.
check_resumed() {
  local was now
  if [[ -e $folder/plan.csv ]] && ! cmp -s "$folder/plan.csv" <(plan_text); then
    die "$folder was begun with other options, see its plan.csv; results of both do not go together"
  fi
  [[ -e $folder/settings ]] || return 0
  while IFS= read -r was <&3 && IFS= read -r now <&4; do
    if [[ $was != "$now" ]]; then
      die "$folder was begun with \"$was\", now it is \"$now\"; results of both do not go together"
    fi
  done 3<"$folder/settings" 4< <(settings_text)
}

write_plan() {
  local words row
  mkdir -p "$folder/raw"
  plan_text >"$folder/plan.csv"
  settings_text >"$folder/settings"
  if [[ ! -e $folder/options ]]; then printf '%s\0' "${option_words_given[@]}" >"$folder/options"; fi
  {
    csv kind title xlabel ylabel benchmarks metrics options
    for row in "${panels[@]}"; do
      IFS=$unit read -ra words <<<"$row"
      csv "${words[@]:0:6}" "$(IFS=$'\x1e'; printf %s "${words[*]:6}")"
    done
  } >"$folder/panels.csv"
  if [[ ! -e $folder/machine.json ]]; then
    python3 "$experiments_folder/machine.py" --db "$db_parent" --programs "$engine_versions" --script "$(basename "$0")" \
      --options "$command_words" --memtable "$memtable" --scale "$scale" >"$folder/machine.json"
  fi
}

# Makes tables, plots and the report of what there is, and removes databases. A signal that comes now is that which has
# ended the runs, or one more of its kind: the report is made all the same.
finish() {
  local status=$?
  trap - EXIT
  trap '' INT TERM
  stop_sampler
  if [[ -n ${db_root:-} ]]; then rm -rf "$db_root"; fi
  if [[ -n $pool_file ]]; then rm -f "$pool_file"; fi
  if compgen -G "$folder/raw/*.out" >/dev/null; then
    rm -f "$folder"/raw/*.part "$folder"/raw/*.tmp
    if ((status >= 128)); then rm -f "$folder"/raw/*.tmp.err; fi
    python3 "$experiments_folder/results.py" "$folder" --name "$name" --title "$title" --plots "$plots" --runs "$run_count" \
      --description "$(sed -n '2,/^[^#]/{/^#/!d;s/^# \{0,1\}//;p}' "$0")" || status=1
    say "Results: $folder/report.html"
  fi
  if ((status >= 128)); then say "Interrupted; --resume $folder goes on"; fi
  exit "$status"
}

# Where results go: a new folder, or the one to be resumed.
choose_folder() {
  local candidate
  folder=$out/$name/$(date -u +%Y%m%d-%H%M%S)
  if [[ -n $resume_folder ]]; then
    [[ -d $resume_folder/raw ]] || die "--resume: $resume_folder holds no results"
    folder=$resume_folder
  elif $resume_last; then
    for candidate in "$out/$name"/*/; do
      if [[ -d $candidate/raw ]]; then folder=${candidate%/}; fi
    done
  fi
}

run_all() {
  local round i turn words engine
  if ! $dry_run; then need_room "$db_parent" $((3 * largest + 4 * memtable + (512 << 20))); fi
  check_resumed
  if $check_only; then exit 0; fi
  if $dry_run; then
    print_plan
    exit 0
  fi
  measure_alone
  exit_on_signals
  db_root=
  write_plan
  trap finish EXIT
  db_root=$(realpath "$(mktemp -d "$db_parent/miodb_$name.XXXXXX")")
  bin=$(realpath "$bin")
  hold_memory
  say "$title"
  say "Engines:    $engine_versions"
  say_machine "$db_parent"
  for ((i = 0; i < ${#plan[@]}; i++)); do
    IFS=$unit read -ra words <<<"${plan[i]}"
    for engine in "${engine_list[@]}"; do
      has_run "$engine" || continue
      progress_add $(((words[4] + 1000000) * rounds))
      run_count=$((run_count + rounds))
    done
  done
  for ((round = 1; round <= rounds; round++)); do
    for ((i = 0; i < ${#plan[@]}; i++)); do
      for ((turn = 0; turn < ${#engine_list[@]}; turn++)); do
        run_one "$i" "${engine_list[(turn + round + i - 1) % ${#engine_list[@]}]}" "$round"
      done
    done
  done
}
