#!/usr/bin/env bash
# Builds MioDB and shows it at work: fills a database in random order, reads it back in random order, and says where
# the data is and what durability this machine gives.
#
#   test_sh/quickstart.sh [options]
#
#   --num=N          keys to write and to read; default 1000000
#   --value_size=N   bytes per value; default 1024
#   --db=FOLDER      where the database goes; must be missing or empty. Default: a fresh folder, on tmpfs (which stands
#                    in for persistent memory) where there is room, else in TMPDIR
#   --keep           leave the database there; otherwise a folder that this script made is removed at the end
#   --help           this text
#
# Installs missing packages first (test_sh/install_deps.sh). For real persistent memory give a folder on a file system
# that is mounted with -o dax.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

num=1000000
value_size=1024
db=
keep=false
for argument in "$@"; do
  case $argument in
    --num=*) num=${argument#*=} ;;
    --value_size=*) value_size=${argument#*=} ;;
    --db=*) db=${argument#*=} ;;
    --keep) keep=true ;;
    *) help_or_die "$argument" ;;
  esac
done
if ! is_whole_number "$num" || ((num == 0)); then die "--num needs a number above 0, not \"$num\""; fi
if ! is_whole_number "$value_size"; then die "--value_size needs a number, not \"$value_size\""; fi
if [[ -n $db && -e $db ]]; then
  [[ -d $db ]] || die "$db exists and is not a folder"
  if [[ -n $(ls -A "$db") ]]; then die "$db is not empty; give a folder that is missing or empty"; fi
fi

# What the script made and therefore may remove.
made_folder=
log=
clean_up() {
  if [[ -n $log ]]; then rm -f "$log"; fi
  if [[ -n $made_folder ]] && ! $keep; then rm -rf "$made_folder"; fi
}
exit_on_signals
trap clean_up EXIT

"$MIODB_ROOT/test_sh/install_deps.sh"
configure build -DCMAKE_BUILD_TYPE=Release -DMIODB_SANITIZE= -DMIODB_WERROR=OFF
build build "$(nproc)" miodb_static miodb_shared db_bench

# While tables are merged the pool holds up to twice the data; the rest is room for small settings.
bytes_needed=$((num * (value_size + 64) * 2 + (512 << 20)))
if [[ -z $db ]]; then
  db=$(mktemp -d "$(scratch_parent "$bytes_needed")/miodb_quickstart.XXXXXX")
  made_folder=$db
elif [[ ! -d $db ]]; then
  mkdir "$db" || die "cannot make $db"
  made_folder=$db
fi
db=$(cd "$db" && pwd)
if (($(free_bytes "$db") < bytes_needed)); then
  die "$db has $(($(free_bytes "$db") >> 20)) MiB free, $((bytes_needed >> 20)) MiB are needed; try a smaller --num"
fi

say "Writing and reading $num keys with values of $value_size bytes in $db"
log=$(mktemp)
"$MIODB_ROOT/build/db_bench" --benchmarks=fillrandom,stats,readrandom,stats --num="$num" --value_size="$value_size" \
  --db="$db" | tee "$log" || die "db_bench failed"

mode=$(sed -n 's/^ *persist mode: *//p' "$log" | tail -n 1)
case ${mode%% *} in
  pmem) durability="persistent memory: an acknowledged write survives loss of power" ;;
  emulated) durability="emulated persistent memory: an acknowledged write survives the process, not the machine" ;;
  file) durability="an ordinary file: an acknowledged write survives the process; one made with sync also the machine" ;;
  *) durability="db_bench did not report it" ;;
esac
say
say "data:        $db ($(du -sh "$db" | cut -f 1))"
say "durability:  ${mode:-unknown} - $durability"
if [[ -n $made_folder ]] && ! $keep; then
  say "The folder is removed now; --keep leaves it."
fi
