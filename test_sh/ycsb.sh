#!/usr/bin/env bash
# Compares MioDB with LevelDB and RocksDB on the YCSB workloads: runs ycsbc for one engine after the other, several times
# over, and prints medians, spreads and ratios.
#
#   test_sh/ycsb.sh [options] [-- OPTION...]
#
#   --records N        records that are loaded; default 1000000
#   --operations N     operations of each workload; default 1000000
#   --fieldcount N     fields of a record; default 1
#   --fieldlength N    bytes of a field; default 1024
#   --threads LIST     numbers of client threads; default 1,2
#   --rounds R         runs of every engine with every number of threads; default 3
#   --engines LIST     default: all that ycsbc was built with; miodb first
#   --wait             let the engine finish its background work after every phase
#   --db FOLDER        an existing folder, on tmpfs for a fair comparison; databases are made in a fresh folder below
#                      it and removed. Default: /dev/shm
#   --out FOLDER       where everything goes that was measured; default: ycsb-<date> in the current folder
#   --ycsbc FILE       the program; default: build/ycsbc of this tree, which is built if it is not there
#   --dry-run          print the commands and run nothing
#   --help             this text
#
# Options take their value as the next word or after "=". OPTIONs go to every ycsbc.
#
# The phases are those that YCSB recommends, in that order: load, A, B, C, F, D in one process on one database, which
# stays open; then, on a fresh database, load again and E. The database is as the load left it when A begins.
#
# All engines get the same records and requests (the seed is the number of the round), 64 MiB memtables, filters of 10
# bits per key, their log on but not synced, no checksums on reads, no compression, and as many open files as they like;
# on tmpfs RocksDB maps its tables, as LevelDB always does. In every round the engines take turns in another order.
# Nothing runs at the same time as another measurement.
#
# In the output folder: data.csv with every figure of every run, table.txt with the tables, throughput.svg and
# p999.svg where gnuplot is there, and what each run printed.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

records=1000000
operations=1000000
fieldcount=1
fieldlength=1024
threads=1,2
rounds=3
engines=
wait_for_balance=false
db_parent=/dev/shm
out=
ycsbc="$MIODB_ROOT/build/ycsbc"
dry_run=false
extra=()

while (($# > 0)); do
  if [[ $1 == -- ]]; then
    extra=("${@:2}")
    break
  fi
  take_option "--wait --dry-run" "$@"
  shift "$option_words"
  case $option in
    --wait) wait_for_balance=true ;;
    --dry-run) dry_run=true ;;
    --records) records=$value ;;
    --operations) operations=$value ;;
    --fieldcount) fieldcount=$value ;;
    --fieldlength) fieldlength=$value ;;
    --threads) threads=$value ;;
    --rounds) rounds=$value ;;
    --engines) engines=$value ;;
    --db) db_parent=$value ;;
    --out) out=$value ;;
    --ycsbc) ycsbc=$value ;;
    *) die "unknown option $option; see --help" ;;
  esac
done

IFS=, read -ra thread_list <<<"$threads"
for count in "$records" "$operations" "$fieldcount" "$fieldlength" "$rounds" "${thread_list[@]}"; do
  if ! is_whole_number "$count" || ((count == 0)); then die "\"$count\" is not a number above 0"; fi
done
((${#thread_list[@]} > 0)) || die "--threads needs a number"
[[ -d $db_parent && -w $db_parent ]] || die "--db: no writable folder $db_parent"
exit_on_signals
if [[ ! -x $ycsbc ]]; then
  [[ $ycsbc == "$MIODB_ROOT/build/ycsbc" ]] || die "no program $ycsbc"
  if $dry_run; then die "there is no build/ycsbc yet; build it first"; fi
  configure build -DCMAKE_BUILD_TYPE=Release
  build build "$(nproc)" ycsbc
fi
choose_engines "$ycsbc" "$engines"

workloads="$MIODB_ROOT/ycsbc/workloads"
out=${out:-ycsb-$(date +%Y%m%d-%H%M%S)}
# Commands of an input file are words between blanks.
if [[ $out$db_parent$MIODB_ROOT == *[[:space:]]* ]]; then die "a folder with a blank in its name: $MIODB_ROOT, $db_parent or $out"; fi
first_phases=(load a b c f d)
second_phases=(reload e)

# Prints the words that every command of a run has. $1 engine, $2 threads, $3 round, $4 database.
common_words() {
  printf '%s ' ycsbc -db "$1" -dbpath "$4" -threads "$2" -p "seed=$3" -p "recordcount=$records" \
    -p "operationcount=$operations" -p "fieldcount=$fieldcount" -p "fieldlength=$fieldlength" \
    -p write_buffer_size=67108864 -p bloom_bits=10 -p open_files=100000 \
    -p "dbwaitforbalance=$wait_for_balance" -p exporter=csv -p outputstyle=java
  if [[ $(stat -f -c %T "$db_parent") == tmpfs ]]; then printf '%s ' -p rocksdb.mmap_read=true; fi
}

# Prints the input file of one process: a command for each phase. $1 engine, $2 threads, $3 round, $4 database, $5 what
# the names of result files begin with, then the phases.
input_file() {
  local common=() words phase
  read -ra common <<<"$(common_words "$1" "$2" "$3" "$4")"
  local prefix=$5
  shift 5
  for phase in "$@"; do
    case $phase in
      load) words=(-load -P "$workloads/workloada") ;;
      reload) words=(-load -P "$workloads/workloade") ;;
      *) words=(-run -P "$workloads/workload$phase") ;;
    esac
    words=("${common[@]}" "${words[@]}" -p "exportfile=$prefix-$phase.csv" "${extra[@]}")
    say "${#words[@]} ${words[*]}"
  done
  say 0
}

# Prints the rows of data.csv of one phase from what ycsbc exported. $1 threads, $2 round, $3 engine, $4 phase.
rows_of() {
  awk -F, -v OFS=, -v head="$1,$2,$3,$4" '
    NR == 1 { next }
    $1 == "OVERALL" && $2 ~ /^Throughput/ { rate = $3 }
    $2 == "Operations" && $1 != "CLEANUP" { order[++metrics] = $1 }
    { value[$1, $2] = $3 }
    END {
      for (i = 1; i <= metrics; i++) {
        m = order[i]
        print head, m, rate, value[m, "Operations"], value[m, "AverageLatency(us)"],
          value[m, "50thPercentileLatency(us)"], value[m, "95thPercentileLatency(us)"],
          value[m, "99thPercentileLatency(us)"], value[m, "99.9PercentileLatency(us)"],
          value[m, "99.99PercentileLatency(us)"], value[m, "MaxLatency(us)"]
      }
    }
  '
}

# Runs ycsbc once and collects its figures. $1 engine, $2 threads, $3 round, then the phases.
run_process() {
  local engine=$1 count=$2 round=$3 prefix phase
  shift 3
  prefix="$out/$engine-$count-$round"
  input_file "$engine" "$count" "$round" "$db_root/$engine" "$prefix" "$@" >"$prefix-$1.input"
  "$ycsbc" "$prefix-$1.input" >"$prefix-$1.out" 2>"$prefix-$1.err" 9>&- || {
    tail -n 5 "$prefix-$1.err" >&2
    die "ycsbc failed on $engine; see $prefix-$1.err"
  }
  for phase in "$@"; do rows_of "$count" "$round" "$engine" "$phase" <"$prefix-$phase.csv" >>"$data"; done
  rm -rf "${db_root:?}/$engine"
}

# Prints the tables, and writes the data of the plots to $out/throughput.dat and $out/p999.dat.
tables() {
  awk -F, -v engines="$(IFS=,; printf '%s' "${engine_list[*]}")" -v rounds="$rounds" -v out="$out" "$AWK_MEDIAN"'
    function label(phase) { return phase ~ /load/ ? phase : toupper(phase) }
    # Puts the median of one key and the half width of its range in percent into "middle" and "spread".
    function look(values, key, n,    i, low, high) {
      middle = median(values, key, n)
      low = high = values[key, 1] + 0
      for (i = 2; i <= n; i++) {
        if (values[key, i] + 0 < low) low = values[key, i] + 0
        if (values[key, i] + 0 > high) high = values[key, i] + 0
      }
      spread = middle > 0 ? 50 * (high - low) / middle : 0
    }
    function ratio(ours, best) { return ours > 0 && best > 0 ? sprintf("%.2f", ours / best) : "-" }
    NR == 1 { next }
    {
      if (!(($1, $4) in known)) { known[$1, $4] = 1; phases[++phase_count] = $1 SUBSEP $4 }
      if (!(($1, $4, $5) in known) && $5 !~ /FAILED|PER-RECORD/) {
        known[$1, $4, $5] = 1
        ops[++op_count] = $1 SUBSEP $4 SUBSEP $5
      }
      key = $1 SUBSEP $4 SUBSEP $3
      if (!((key, $2) in seen)) { seen[key, $2] = 1; rate[key, ++rates[key]] = $6 }
      key = $1 SUBSEP $4 SUBSEP $5 SUBSEP $3
      tail[key, ++tails[key]] = $12
      if ($14 + 0 > worst[key]) worst[key] = $14 + 0
    }
    END {
      last = split(engines, engine, ",")
      printf "\nOperations per second, medians of %d (+- half the range)\n%-7s %-8s", rounds, "threads", "phase"
      for (e = 1; e <= last; e++) printf " %20s", engine[e]
      printf " %17s\n", "miodb/better peer"
      for (p = 1; p <= phase_count; p++) {
        split(phases[p], part, SUBSEP); best = ours = 0; row = ""
        printf "%-7s %-8s", part[1], label(part[2])
        for (e = 1; e <= last; e++) {
          key = phases[p] SUBSEP engine[e]
          look(rate, key, rates[key])
          printf " %20s", sprintf("%.0f +-%4.1f%%", middle, spread)
          row = row " " middle
          if (engine[e] == "miodb") ours = middle; else if (middle > best) best = middle
        }
        printf " %17s\n", ratio(ours, best)
        printf "\"%s/%s\"%s\n", label(part[2]), part[1], row >(out "/throughput.dat")
      }
      printf "\nMicroseconds: 99.9th percentile, medians of %d / longest of all\n%-7s %-8s %-17s", rounds, "threads", \
        "phase", "operation"
      for (e = 1; e <= last; e++) printf " %20s", engine[e]
      printf " %17s\n", "miodb/better peer"
      for (o = 1; o <= op_count; o++) {
        split(ops[o], part, SUBSEP); best = ours = 0; row = ""
        printf "%-7s %-8s %-17s", part[1], label(part[2]), part[3]
        for (e = 1; e <= last; e++) {
          key = ops[o] SUBSEP engine[e]
          look(tail, key, tails[key])
          printf " %20s", sprintf("%.1f / %.0f", middle, worst[key])
          row = row " " middle
          if (engine[e] == "miodb") ours = middle; else if (best == 0 || middle < best) best = middle
        }
        printf " %17s\n", ratio(ours, best)
        printf "\"%s/%s %s\"%s\n", label(part[2]), part[1], tolower(part[3]), row >(out "/p999.dat")
      }
    }
  ' "$data"
}

# plot NAME TITLE Y-LABEL [COMMAND]: bars of $out/NAME.dat, one group for each row.
plot() {
  local columns
  columns=$((${#engine_list[@]} + 1))
  gnuplot <<END || die "gnuplot failed on $1"
set terminal svg size 1100,500 background "white"
set output "$out/$1.svg"
set title "$2"
set ylabel "$3"
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.8 border -1
set boxwidth 0.9
set grid ytics
set key outside top center horizontal
set xtics rotate by -40 noenhanced
names = "${engine_list[*]}"
${4:-}
plot for [i=2:$columns] "$out/$1.dat" using i:xtic(1) title word(names, i - 1)
END
}

data="$out/data.csv"
if $dry_run; then
  db_root="$db_parent/miodb_ycsb.XXXXXX"
  for count in "${thread_list[@]}"; do
    for engine in "${engine_list[@]}"; do
      say "# $engine, $count threads, round 1 of $rounds: $ycsbc on a file with"
      input_file "$engine" "$count" 1 "$db_root/$engine" "$out/$engine-$count-1" "${first_phases[@]}"
      say "# and, when the database was removed, on one with"
      input_file "$engine" "$count" 1 "$db_root/$engine" "$out/$engine-$count-1" "${second_phases[@]}"
    done
  done
  exit 0
fi

# What is not collected yet, indexes, and what the runs write come on top of the records.
need_room "$db_parent" $(((records * 3 + operations) * (fieldcount * (fieldlength + 16) + 64) + (1 << 30)))
measure_alone
db_root=
clean_up() {
  if [[ -n $db_root ]]; then rm -rf "$db_root"; fi
}
trap clean_up EXIT
db_root=$(mktemp -d "$db_parent/miodb_ycsb.XXXXXX")
mkdir -p "$out"

say "Engines:    $engine_versions"
say "Workload:   $records records of $fieldcount x $fieldlength bytes, $operations operations, $rounds rounds"
say_machine "$db_parent"
say "Output:     $out"
say "threads,round,engine,phase,operation,ops_per_sec,count,avg_us,p50_us,p95_us,p99_us,p999_us,p9999_us,max_us" >"$data"
for count in "${thread_list[@]}"; do
  for ((round = 1; round <= rounds; round++)); do
    for ((turn = 0; turn < ${#engine_list[@]}; turn++)); do
      engine=${engine_list[(turn + round - 1) % ${#engine_list[@]}]}
      say "threads $count, round $round: $engine"
      run_process "$engine" "$count" "$round" "${first_phases[@]}"
      run_process "$engine" "$count" "$round" "${second_phases[@]}"
    done
  done
done
rm -f "$out/throughput.dat" "$out/p999.dat"
tables | tee "$out/table.txt"
if command -v gnuplot >/dev/null; then
  plot throughput "YCSB throughput: phase/threads" "operations per second"
  plot p999 "YCSB: 99.9th percentile" "microseconds" "set logscale y"
  say
  say "Plots:      $out/throughput.svg, $out/p999.svg"
else
  say
  say "No plots: gnuplot is not installed (Debian package gnuplot-nox)"
fi
