#!/usr/bin/env bash
# Compares MioDB with LevelDB and RocksDB on this machine: runs db_bench for one engine after the other, several times
# over, and prints medians.
#
#   benchmarks/compare.sh [options] [-- FLAG...]
#
#   --num N            keys; default 2000000
#   --value_size V     bytes per value; default 1024
#   --runs R           runs of every engine; default 3
#   --engines LIST     default: all that db_bench was built with; miodb first
#   --benchmarks LIST  default: fillseq,fillrandom,readrandom,wait,readrandom,readseq,readmissing,overwrite,wait
#   --db FOLDER        an existing folder, on tmpfs for a fair comparison; databases are made in a fresh folder below
#                      it and removed. Default: /dev/shm
#   --out FOLDER       where data.csv and the output of every run go; default: compare-<date> in the current folder
#   --db_bench FILE    the program; default: build/db_bench of this tree
#   --help             this text
#
# Options take their value as the next word or after "=". FLAGs go to every db_bench.
#
# All engines get the same keys and values (the seed is the number of the run), 64 MiB memtables, filters of 10 bits
# per key, their log on but not synced, no checksums on reads, no compression, and as many open files as they like; on
# tmpfs RocksDB maps its tables, as LevelDB always does. In every round the engines take turns in another order.
# Nothing runs at the same time as another run, also not of a second compare.sh.
#
# A benchmark that the list names twice appears a second time as name#2. Tables: medians over the runs of operations
# per second and of the 99.9th percentile, and the largest of all times. data.csv has every figure of every run.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../test_sh/lib.sh"

num=2000000
value_size=1024
runs=3
engines=
benchmarks=fillseq,fillrandom,readrandom,wait,readrandom,readseq,readmissing,overwrite,wait
db_parent=/dev/shm
out=
db_bench="$MIODB_ROOT/build/db_bench"
extra_flags=()

while (($# > 0)); do
  if [[ $1 == -- ]]; then
    extra_flags=("${@:2}")
    break
  fi
  take_option "" "$@"
  shift "$option_words"
  case $option in
    --num) num=$value ;;
    --value_size) value_size=$value ;;
    --runs) runs=$value ;;
    --engines) engines=$value ;;
    --benchmarks) benchmarks=$value ;;
    --db) db_parent=$value ;;
    --out) out=$value ;;
    --db_bench) db_bench=$value ;;
    *) die "unknown option $option; see --help" ;;
  esac
done

for count in "$num" "$runs"; do
  if ! is_whole_number "$count" || ((count == 0)); then die "\"$count\" is not a number above 0"; fi
done
is_whole_number "$value_size" || die "--value_size needs a number, not \"$value_size\""
[[ -x $db_bench ]] || die "no program $db_bench; build it first, or name another one with --db_bench"
[[ -d $db_parent && -w $db_parent ]] || die "--db: no writable folder $db_parent"

choose_engines "$db_bench" "$engines"

# What is not collected yet, an index and the overwriting at the end come on top of the data.
bytes_needed=$((num * (value_size + 64) * 3 + (1 << 30)))
need_room "$db_parent" "$bytes_needed"

measure_alone

db_root=
clean_up() {
  if [[ -n $db_root ]]; then rm -rf "$db_root"; fi
}
exit_on_signals
trap clean_up EXIT
db_root=$(mktemp -d "$db_parent/miodb_compare.XXXXXX")
out=${out:-compare-$(date +%Y%m%d-%H%M%S)}
mkdir -p "$out"
data="$out/data.csv"

# Prints the flags that only engine $1 gets, one a line.
flags_of() {
  if [[ $1 == rocksdb && $(stat -f -c %T "$db_parent") == tmpfs ]]; then say --mmap_read=1; fi
}

# Reads the output of one run and prints its rows of data.csv. $1 run, $2 engine.
rows_of() {
  awk -v run="$1" -v engine="$2" '
    function flush_row() {
      if (name != "") print run "," engine "," name "," ops "," micros "," mb "," p50 "," p99 "," p999 "," p9999 "," max
      name = ""
    }
    / micros\/op .* ops\/sec .* operations;/ {
      flush_row()
      name = $1
      if (++seen[name] > 1) name = name "#" seen[$1]
      micros = $3; ops = $5
      mb = match($0, /[0-9.]+ MB\/s/) ? substr($0, RSTART, RLENGTH - 5) : ""
      p50 = p99 = p999 = p9999 = max = ""
    }
    /^Percentiles: / && name != "" && p50 == "" { p50 = $3; p99 = $5; p999 = $7; p9999 = $9; max = $11 }
    END { flush_row() }
  '
}

# Prints the tables from data.csv.
tables() {
  awk -F, -v engines="$(IFS=,; printf '%s' "${engine_list[*]}")" -v runs="$runs" "$AWK_MEDIAN"'
    NR == 1 { next }
    {
      if (!($3 in known)) { known[$3] = 1; order[++benchmarks] = $3 }
      n = ++count[$3, $2]
      values["ops", $3, $2, n] = $4
      values["p999", $3, $2, n] = $9
      if ($11 + 0 > worst[$3, $2]) worst[$3, $2] = $11 + 0
    }
    END {
      split(engines, engine, ",")
      for (e = 1; e in engine; e++) last = e
      printf "\nOperations per second, medians of %d\n%-22s", runs, "benchmark"
      for (e = 1; e <= last; e++) printf " %12s", engine[e]
      printf " %16s\n", "miodb/best peer"
      for (b = 1; b <= benchmarks; b++) {
        name = order[b]; best = 0; ours = 0
        printf "%-22s", name
        for (e = 1; e <= last; e++) {
          ops = median(values, "ops" SUBSEP name SUBSEP engine[e], count[name, engine[e]])
          printf " %12.0f", ops
          if (engine[e] == "miodb") ours = ops; else if (ops > best) best = ops
        }
        if (ours > 0 && best > 0) printf " %16.2f", ours / best; else printf " %16s", "-"
        printf "\n"
      }
      printf "\nMicroseconds: 99.9th percentile (median of the runs) / longest of all\n%-22s", "benchmark"
      for (e = 1; e <= last; e++) printf " %20s", engine[e]
      printf "\n"
      for (b = 1; b <= benchmarks; b++) {
        name = order[b]
        printf "%-22s", name
        for (e = 1; e <= last; e++) {
          p999 = median(values, "p999" SUBSEP name SUBSEP engine[e], count[name, engine[e]])
          printf " %20s", sprintf("%.1f / %.0f", p999, worst[name, engine[e]])
        }
        printf "\n"
      }
    }
  ' "$data"
}

say "Engines:    $engine_versions"
say "Workload:   $num keys, values of $value_size bytes, $runs runs"
say_machine "$db_parent"
say "Output:     $out"

say "run,engine,benchmark,ops_per_sec,micros_per_op,mb_per_sec,p50_us,p99_us,p999_us,p9999_us,max_us" >"$data"
for ((run = 1; run <= runs; run++)); do
  for ((turn = 0; turn < ${#engine_list[@]}; turn++)); do
    engine=${engine_list[(turn + run - 1) % ${#engine_list[@]}]}
    say "run $run: $engine"
    log="$out/$engine-$run.out"
    mapfile -t engine_flags < <(flags_of "$engine")
    "$db_bench" --engine="$engine" --db="$db_root/$engine" --benchmarks="$benchmarks" --num="$num" \
      --value_size="$value_size" --seed="$run" --write_buffer_size=67108864 --bloom_bits=10 --open_files=100000 \
      --progress_reports=false "${engine_flags[@]}" "${extra_flags[@]}" >"$log" 2>"$out/$engine-$run.err" 9>&- || {
      tail -n 5 "$log" "$out/$engine-$run.err" >&2
      die "db_bench --engine=$engine failed; see $log"
    }
    rows_of "$run" "$engine" <"$log" >>"$data"
    rm -rf "${db_root:?}/$engine"
  done
done
tables
if [[ -e $out/miodb-1.out ]]; then
  say
  amplifications=$(sed -n 's/^write amplification: //p' "$out"/miodb-*.out | paste -sd' ' -)
  say "miodb, write amplification of each run: $amplifications"
fi
