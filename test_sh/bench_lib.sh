# shellcheck shell=bash
# What miodb_test.sh, auto.sh and the experiments share. Source it after lib.sh.

# ---- Counts ----------------------------------------------------------------------------------------------------------

# check_scale WORD: dies unless it is a number above 0 and not above 1000.
check_scale() {
  [[ $1 =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)$ ]] || die "--scale needs a number above 0, not \"$1\""
  awk -v f="$1" 'BEGIN { exit !(f > 0 && f <= 1000) }' || die "--scale=$1 is not above 0 and up to 1000"
}

# scaled COUNT SCALE [LEAST]: COUNT times SCALE as a whole number, LEAST (or 1) at least.
scaled() { awk -v n="$1" -v f="$2" -v least="${3:-1}" 'BEGIN { v = int(n * f + 0.5); printf "%.0f\n", v < least ? least : v }'; }

# ---- Databases -------------------------------------------------------------------------------------------------------

# is_database_file NAME: whether the name is one that MioDB, LevelDB or RocksDB give to files of a database. MioDB's are
# named in src/format/file_names.h, src/nvm/pool/pool.cc, src/log/file_log_format.h, src/log/file_log.cc and src/ssd/ssd_store.cc.
is_database_file() {
  local number='[0-9]+'
  local words=(
    # all three: lock, info logs, tables, logs (MioDB's with the block size, and in its archive with a time)
    LOCK LOG "LOG\\.old(\\.$number)?" "$number\\.(ldb|sst)" "$number(-$number)?\\.log(\\.$number)?"
    # MioDB: the pool, what a crash or a repair leaves of it, what a repair says; what names the parts, and whose they
    # are
    "pool(\\.repaired|\\.damaged(\\.$number)?)?(\\.tmp(\\.$number)?)?" LOST CHECKPOINT READERS "STORE(\\.tmp|\\.damaged(\\.$number)?)?"
    WAL_OWNER "POOL(\\.tmp)?"
    # LevelDB and RocksDB
    CURRENT IDENTITY "(MANIFEST|OPTIONS)-$number(\\.dbtmp)?" "$number\\.(dbtmp|blob)"
  )
  [[ $1 =~ ^($(IFS='|'; printf '%s' "${words[*]}"))$ ]]
}

# is_database_folder NAME: the same for folders: logs that are not needed any more, what repairs leave, an SSD tier that was
# put here.
is_database_folder() { [[ $1 =~ ^(archive|lost|repair\.tmp|ssd(\.repaired|\.damaged(\.[0-9]+)?)?)$ ]]; }

# check_database_folder FOLDER: dies unless it is absent, or a folder with nothing but files of a database in it.
check_database_folder() {
  local file inner folder=${1%/}
  [[ -n $1 ]] || die "the database has no path"
  [[ -n $folder ]] || die "$1 is not a database"
  [[ -e $1 ]] || return 0
  [[ -d $1 ]] || die "$1 is not a folder"
  while IFS= read -r -d '' file; do
    if [[ ! -L $file ]]; then
      inner=${file#"$folder"/}
      # One level of folders: what lies deeper has another "/" in it.
      if [[ $inner == */* ]]; then
        is_database_file "${inner#*/}" && [[ -f $file ]] && continue
      else
        is_database_file "$inner" && [[ -f $file ]] && continue
        is_database_folder "$inner" && [[ -d $file ]] && continue
      fi
    fi
    die "$1 is not a database, $file does not belong to one; nothing was removed"
  done < <(find "$folder" -mindepth 1 -maxdepth 3 -print0)
}

# remove_database FOLDER: removes the database and its folder, which may be absent.
remove_database() {
  check_database_folder "$1"
  [[ -e $1 ]] || return 0
  find "$1" -mindepth 1 -type f -delete
  find "$1" -depth -type d -empty -delete
}

# check_writable_parent PATH: dies unless the folder that PATH is to be made in, or PATH itself, can be written to.
check_writable_parent() {
  local folder=$1
  while [[ ! -e $folder ]]; do folder=$(dirname "$folder"); done
  [[ -d $folder && -w $folder ]] || die "$1: $folder is not a folder that can be written to"
}

# existing_node NODE: the NUMA node, or -1 if this machine has no such node.
existing_node() { if [[ -d /sys/devices/system/node/node$1 ]]; then say "$1"; else say -1; fi; }

# find_program FOLDER NAME: dies unless the program is there. With --dry-run it need not be.
find_program() {
  if ${dry_run:-false}; then return 0; fi
  [[ -x $1/$2 ]] || die "no program $1/$2; build it first (cmake --build $1 --target $2) or name its folder"
}

# ---- Recorded runs ---------------------------------------------------------------------------------------------------

# record FILE COMMAND...: runs the command; FILE gets the command line as its first line and the output behind it. The
# file appears only when the command has succeeded, so what is there is complete. What went to stderr is shown after a
# failure.
record() {
  local file=$1
  shift
  mkdir -p "$(dirname "$file")"
  say "$*" >"$file.part"
  "$@" >>"$file.part" 2>"$file.err" 9>&- || {
    local status=$?
    if ((status >= 128)); then exit "$status"; fi
    tail -n 5 "$file.err" >&2
    die "this failed with status $status: $*"
  }
  rm -f "$file.err"
  mv "$file.part" "$file"
}

# check_recorded FILE COMMAND...: dies if FILE is there and was recorded of another command: results of both do not go
# together. Where ycsbc's figures go is no part of what was measured.
check_recorded() {
  local file=$1 recorded planned=() word
  [[ -e $file ]] || return 0
  shift
  IFS= read -r recorded <"$file" || true
  for word in "$@"; do
    if [[ $word == exportfile=* ]]; then word=exportfile; fi
    planned+=("$word")
  done
  if [[ $(sed -E 's/ exportfile=[^ ]*/ exportfile/' <<<"$recorded") != "${planned[*]}" ]]; then
    die "--resume: $file was made with other options: \"$recorded\", now it would be \"$*\". Give those it was begun with, or\
 another folder, or remove the file"
  fi
}

# ---- Progress --------------------------------------------------------------------------------------------------------

# Work is counted in any unit; the time left is judged by what was done since the first step.
progress_total=0
progress_done=0
progress_start=$SECONDS

progress_add() { progress_total=$((progress_total + $1)); }

# progress_say LABEL: says what begins now.
progress_say() {
  local left="" spent=$((SECONDS - progress_start))
  if ((progress_done > 0 && spent > 0)); then
    left=", $(minutes $((spent * (progress_total - progress_done) / progress_done))) left"
  fi
  say "[$((progress_total > 0 ? 100 * progress_done / progress_total : 0)) %$left] $1"
}

progress_step() { progress_done=$((progress_done + $1)); }

# Work that needs no time any more, because its results are there.
progress_skip() { progress_total=$((progress_total - $1)); }

# minutes SECONDS
minutes() { if (($1 < 90)); then say "$1 s"; else say "$((($1 + 30) / 60)) min"; fi; }
