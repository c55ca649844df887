# shellcheck shell=bash
# Functions that the scripts share. Source it after "set -euo pipefail"; it changes no folder and no option.

# The top of the source tree, whatever the current folder.
MIODB_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"

say() { printf '%s\n' "$*"; }

# Prints "<script>: message" on stderr and exits with 1.
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints the comment at the top of the calling script, which is its help text.
show_help() { sed -n '2,/^[^#]/{/^#/!d;s/^# \{0,1\}//;p}' "$0"; }

# help_or_die WORD: what a script does with an argument that is none of its own.
help_or_die() {
  if [[ $1 != --help && $1 != -h ]]; then die "unknown argument $1; see --help"; fi
  show_help
  exit 0
}

# take_option BARE WORD...: takes an option off the front of WORD..., with its value after "=" or as the next word; those
# named in BARE have none. Sets option, value, and option_words: how many words that were. Prints help when asked for.
# shellcheck disable=SC2034  # used by the scripts that source this file
take_option() {
  local bare=" $1 "
  option=${2%%=*}
  value=${2#*=}
  option_words=1
  if [[ $2 == --help || $2 == -h ]]; then help_or_die "$2"; fi
  if [[ $bare == *" $option "* ]]; then
    [[ $2 == "$option" ]] || die "$option takes no value; see --help"
    return
  fi
  if [[ $2 == *=* ]]; then return; fi
  (($# > 2)) || die "$2 is unknown or needs a value; see --help"
  value=$3
  option_words=2
}

# Makes Ctrl-C and termination run the exit handlers and end with the usual codes, once the command that runs has ended: bash
# looks at signals only then. A command that is run by "attended" is ended first.
attended_child=
exit_on_signals() {
  trap 'end_attended; exit 130' INT
  trap 'end_attended; exit 143' TERM
}

# attended COMMAND...: runs a program, as the last part of a script that may be killed. It is ended with the script.
attended() {
  local status=0
  "$@" <&0 &
  attended_child=$!
  wait "$attended_child" || status=$?
  attended_child=
  return "$status"
}

# Terminates the attended program, and waits for it.
end_attended() {
  if [[ -n $attended_child ]]; then
    kill "$attended_child" 2>/dev/null || true
    wait "$attended_child" || true
  fi
}

# is_whole_number WORD: whether bash can calculate with it. A zero in front would make it octal, more digits overflow.
is_whole_number() { [[ $1 =~ ^(0|[1-9][0-9]{0,17})$ ]]; }

# Bytes that can still be written below folder $1. On tmpfs not more than the memory that is left.
free_bytes() {
  local bytes memory
  bytes=$(df --output=avail -B1 "$1" | tail -n 1 | tr -d ' ')
  if [[ $(stat -f -c %T "$1") == tmpfs ]]; then
    memory=$(awk '/^MemAvailable:/ { printf "%.0f", $2 * 1024 }' /proc/meminfo)
    if ((memory < bytes)); then bytes=$memory; fi
  fi
  say "$bytes"
}

# scratch_parent BYTES: where a scratch folder of that size goes: tmpfs if one has room, else TMPDIR or /tmp.
scratch_parent() {
  if [[ -d /dev/shm && -w /dev/shm && $(stat -f -c %T /dev/shm) == tmpfs ]] && (($(free_bytes /dev/shm) >= $1)); then
    say /dev/shm
  else
    say "${TMPDIR:-/tmp}"
  fi
}

# configure FOLDER [CMAKE_OPTION...]: configures a build folder below MIODB_ROOT. Keeps the generator of one that exists,
# takes ninja where it is installed, and ccache too.
configure() {
  local folder="$MIODB_ROOT/$1" output
  shift
  local options=("$@")
  if [[ ! -f $folder/CMakeCache.txt ]] && command -v ninja >/dev/null; then options+=(-G Ninja); fi
  if command -v ccache >/dev/null; then options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache); fi
  output=$(cmake -S "$MIODB_ROOT" -B "$folder" "${options[@]}" 2>&1) || {
    say "$output" >&2
    die "configuring failed"
  }
}

# Goes on with a line by each tenth of the steps that ninja or make print. Their other lines, such as warnings, are passed on.
show_progress() {
  local line percent shown=0
  while IFS= read -r line; do
    # Ninja counts the steps that look at its own files apart.
    if [[ $line == "["*"] Re-"* ]]; then continue; fi
    if [[ $line =~ ^\[\ *([0-9]+)(%|/([0-9]+))\] ]]; then
      percent=$((100 * BASH_REMATCH[1] / ${BASH_REMATCH[3]:-100}))
      while ((shown + 10 <= percent)); do
        shown=$((shown + 10))
        printf ' %d%%' "$shown"
      done
    elif [[ $line != "ninja: no work to do." && $line != "Consolidate compiler generated "* ]]; then
      printf '\n%s' "$line"
    fi
  done
}

# build FOLDER JOBS [TARGET...]: builds these targets, or everything.
build() {
  local folder="$MIODB_ROOT/$1" jobs=$2 target=()
  shift 2
  if (($# > 0)); then target=(--target "$@"); fi
  printf 'Building in %s:' "$folder"
  cmake --build "$folder" --parallel "$jobs" "${target[@]}" 2>&1 | show_progress || {
    printf '\n'
    die "building failed"
  }
  say " done"
}

# source_files [PATTERN...]: the project's own files that match the shell patterns, one a line, relative to the current
# folder, which is the top of a tree. What git ignores is not listed.
source_files() {
  local file pattern
  {
    if [[ -e .git ]] && git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
      git ls-files --cached --others --exclude-standard
    else
      find . -type f -not -path './build*/*' -not -path './.git/*' -printf '%P\n'
    fi
  } | sort | while IFS= read -r file; do
    [[ -f $file ]] || continue
    for pattern in "${@:-*}"; do
      # shellcheck disable=SC2053  # the right side is meant as a pattern
      if [[ $file == $pattern ]]; then
        say "$file"
        break
      fi
    done
  done
}

# Holds a lock until the script ends, so that no two measurements run side by side. Children should not inherit it: 9>&-
# It is one on the folder: a file in it could be a link that somebody else put there.
measure_alone() {
  exec 9<"${TMPDIR:-/tmp}"
  flock -n 9 || die "another measurement is running; figures taken side by side mean nothing"
}

# Words of an engine list: ENGINE, ENGINE-PRESET with a preset of db_bench (docs/db_bench.md), or NAME=ENGINE@FILE for the
# library in FILE that has the C functions of ENGINE. By the name of each: the engine, and the settings that it is called with.
declare -A engine_of
declare -A engine_settings # NAME=VALUE, blank separated

# add_engine WORD: appends to engine_list and fills both tables.
add_engine() {
  local name=$1 base=${1%%-*} settings=
  if [[ $1 == *=*@* ]]; then
    name=${1%%=*}
    base=${1#*=}
    base=${base%%@*}
    settings=library=$(realpath -m "${1#*@}")
    [[ $name =~ ^[a-z][a-z0-9.]*$ && $settings != *' '* ]] || die "--engines: \"$1\" is not NAME=ENGINE@FILE"
  elif [[ $1 == *-* ]]; then
    settings=preset=${1#*-}
  fi
  engine_list+=("$name")
  engine_of[$name]=$base
  engine_settings[$name]=$settings
}

# choose_engines PROGRAM LIST: sets engine_list to the engines of a comma list, or to all real stores that PROGRAM was
# built with, and engine_versions to what it says about them: "miodb 1.0, leveldb 1.23". A PROGRAM that is not there,
# which is for --dry-run alone, counts as built with all.
choose_engines() {
  local available engine
  engine_versions="miodb, leveldb, rocksdb"
  if [[ -x $1 ]]; then engine_versions=$("$1" --version); fi
  engine_versions=${engine_versions#*: }
  engine_versions=${engine_versions%, basic}
  available=$(tr ',' '\n' <<<"$engine_versions" | awk '{ print $1 }' | paste -sd, -)
  # Studies are made beside the two that documents compare with; others are named.
  local words=()
  IFS=, read -ra words <<<"${2:-$(tr ',' '\n' <<<"$available" | grep -xE 'miodb|leveldb|rocksdb' | paste -sd, -)}"
  engine_list=()
  for engine in "${words[@]}"; do
    add_engine "$engine"
    engine=${engine_list[-1]}
    # The library of a named engine need not be installed elsewhere.
    if [[ ${engine_settings[$engine]} == library=* ]]; then
      [[ -f ${engine_settings[$engine]#library=} ]] || die "--engines: no file ${engine_settings[$engine]#library=}"
    else
      [[ ,$available, == *",${engine_of[$engine]},"* ]] || die "$1 has no engine ${engine_of[$engine]}; it has $available"
    fi
  done
}

# need_room FOLDER BYTES
need_room() {
  if (($(free_bytes "$1") < $2)); then
    die "$1 has $(($(free_bytes "$1") >> 20)) MiB free, $(($2 >> 20)) MiB may be needed"
  fi
}

# Describes where a measurement runs; its databases lie below folder $1.
say_machine() {
  say "Databases:  in $1 ($(stat -f -c %T "$1"))"
  say "Machine:    $(nproc) CPUs,$(grep -m1 '^model name' /proc/cpuinfo | cut -d: -f2)"
  say "Load:       $(cut -d' ' -f1-3 /proc/loadavg) before the first run"
}
