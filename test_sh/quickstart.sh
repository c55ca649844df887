#!/usr/bin/env bash
# Builds MioDB and shows it at work: puts keys drawn at random into a database, gets such keys and scans all of them. Ten lines
# at the end have the rates, the bytes written, the space, what a crash leaves, and what to try next.
#
#   test_sh/quickstart.sh [options]
#
#   --num=N          keys to put and to get; default 1000000
#   --value_size=N   bytes per value; default 1024
#   --db=FOLDER      where the database goes; must be missing or empty. Default: a fresh folder, on tmpfs (which stands
#                    in for persistent memory) where there is room, else in TMPDIR
#   --keep           leave the database there; otherwise a folder that this script made is removed at the end
#   --verbose        also show everything that db_bench prints: percentiles and counters
#   --help           this text
#
# Installs missing packages first (test_sh/install_deps.sh). For real persistent memory give a folder on a file system
# that is mounted with -o dax. If it fails or is interrupted, no part of a database stays.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

num=1000000
value_size=1024
db=
keep=false
verbose=false
while (($# > 0)); do
  take_option "--keep --verbose" "$@"
  shift "$option_words"
  case $option in
    --num) num=$value ;;
    --value_size) value_size=$value ;;
    --db)
      [[ -n $value ]] || die "--db needs a folder"
      db=$value
      ;;
    --keep) keep=true ;;
    --verbose) verbose=true ;;
    *) die "unknown option $option; see --help" ;;
  esac
done
most=1000000000
if ! is_whole_number "$num" || ((num == 0 || num > most)); then die "--num=$num is not from 1 to $most"; fi
if ! is_whole_number "$value_size" || ((value_size > most)); then die "--value_size=$value_size is not from 0 to $most"; fi

# ---- The folder, before anything takes long --------------------------------------------------------------------------

log=
to_undo=nothing # or "folder" or "content": what the script made and has not finished, or is not to leave
clean_up() {
  if [[ -n $log ]]; then rm -f "$log"; fi
  case $to_undo in
    folder) rm -rf "$db" ;;
    content) find "$db" -mindepth 1 -delete ;;
  esac
}
exit_on_signals
trap clean_up EXIT

# While tables are merged the pool holds up to twice the data; the rest is room for small settings.
bytes_needed=$((num * (value_size + 64) * 2 + (512 << 20)))
made_folder=true
if [[ -z $db ]]; then
  db=$(mktemp -d "$(scratch_parent "$bytes_needed")/miodb_quickstart.XXXXXX")
elif [[ -d $db ]]; then
  [[ -z $(ls -A "$db") ]] || die "$db is not empty; give a folder that is missing or empty"
  made_folder=false
else
  mkdir "$db" || die "cannot make $db"
fi
db=$(cd "$db" && pwd)
if $made_folder; then to_undo=folder; fi
need_room "$db" "$bytes_needed"

# ---- Build and run ---------------------------------------------------------------------------------------------------

bench=$MIODB_ROOT/build/db_bench
if [[ ! -x $bench ]]; then say "The first build takes some 3 minutes on two cores."; fi
"$MIODB_ROOT/test_sh/install_deps.sh"
configure build -DCMAKE_BUILD_TYPE=Release -DMIODB_SANITIZE= -DMIODB_WERROR=OFF
build build "$(nproc)" miodb_static miodb_shared db_bench

if ! $made_folder; then to_undo=content; fi
log=$(mktemp)
say "Writing and reading $num keys with values of $value_size bytes"
attended "$bench" --benchmarks=fillrandom,wait,readrandom,readseq,stats --num="$num" --value_size="$value_size" \
  --progress_reports=false --db="$db" >"$log" 2>&1 || {
  tail -n 20 "$log" >&2
  die "db_bench failed"
}
if $verbose; then cat "$log"; fi

# ---- Ten lines -------------------------------------------------------------------------------------------------------

# figure REGEX: what its group matches in the last line that begins with it.
figure() {
  local found
  found=$(sed -nE "s|^$1.*|\1|p" "$log" | tail -n 1)
  [[ -n $found ]] || die "db_bench printed no line \"$1\""
  say "$found"
}

# Puts a comma before every three digits.
grouped() { sed -E ':again; s/([0-9])([0-9]{3})($|,)/\1,\2\3/; t again' <<<"$1"; }

# mebibytes BYTES
mebibytes() { awk -v b="$1" 'BEGIN { printf "%.1f MiB", b / 1048576 }'; }

rate='[^;]* ([0-9]+) ops/sec'
puts=$(figure "fillrandom +:$rate")
put_rate=$(figure 'fillrandom .*; +([0-9.]+) MB/s')
gets=$(figure "readrandom +:$rate")
found=$(figure 'readrandom .*\(([0-9]+) of [0-9]+ found\)')
steps=$(figure "readseq +:$rate")
keys=$(figure 'readseq .* ([0-9]+) operations')
user_bytes=$(figure 'user bytes: ([0-9]+)')
log_bytes=$(figure 'NVM bytes log: ([0-9]+)')
written_bytes=$(figure 'NVM bytes total: ([0-9]+)')
live_bytes=$(figure 'live bytes: ([0-9]+)')
mode=$(figure 'persist mode: (.+)')
space=$(du -s -B1 "$db" | cut -f 1)

case ${mode%% *} in
  pmem) power="loss of power loses no put that has returned: the pool is persistent memory." ;;
  emulated) power="loss of power loses everything: the folder is DRAM that stands in for persistent memory." ;;
  file) power="loss of power may lose puts, of which none was synced: the pool is an ordinary file." ;;
  *) die "db_bench printed the persist mode \"$mode\"" ;;
esac
fate="The folder stays."
if $made_folder && ! $keep; then fate="The folder is removed now; --keep leaves it."; fi

ratio=$(awk -v w="$written_bytes" -v u="$user_bytes" 'BEGIN { printf "%.2f", w / u }')
count=$(grouped "$num")

cat <<END

Puts:     $(grouped "$puts") a second, $put_rate MiB/s: one thread put $count values of $value_size bytes.
Keys:     $(grouped "$keys") are distinct: each put drew one of $count at random, and a second draw overwrites.
Gets:     $(grouped "$gets") a second after all merges: the thread drew $count keys again, $(grouped "$found") were there.
Scan:     $(grouped "$steps") keys a second: an iterator went over all of them in their order.
Written:  $(mebibytes "$written_bytes") for $(mebibytes "$user_bytes") put, $ratio times as much: \
$(mebibytes "$log_bytes") of log, the rest indexes and copies.
Space:    $(mebibytes "$space") by du: $(mebibytes "$live_bytes") live, the rest old values to be collected, indexes, free room.
Place:    $db, persist mode $mode. $fate
Crash:    a killed process loses no put that has returned: each is in the pool by then.
Power:    $power
Next:     the program of docs/tutorial.md, test_sh/run_tests.sh, test_sh/experiments/run.sh --list.
END

if ! $made_folder || $keep; then to_undo=nothing; fi
