# shellcheck shell=bash
# What the pmem_*.sh scripts share. Source it after lib.sh; they set dry_run, and force where they have it.

dry_run=false
force=""

# The source of mounts that these scripts made, by which they know them again.
# shellcheck disable=SC2034  # used by the scripts that source this file
PMEM_MARK=miodb_pmem

# run COMMAND...: says and does it, or only says it.
run() {
  say "+ $*"
  if $dry_run; then return; fi
  "$@"
}

need_root() {
  if $dry_run || [[ $(id -u) == 0 ]]; then return; fi
  die "this needs root; run it with sudo, or with --dry-run to see what it would do"
}

need_command() {
  command -v "$1" >/dev/null || $dry_run || die "$1 is not installed (Debian package $2)"
}

# kernel_at_least MAJOR MINOR
kernel_at_least() {
  local major minor
  IFS=.- read -r major minor _ < <(uname -r)
  ((major > $1 || (major == $1 && minor >= $2)))
}

is_mounted() { findmnt -n --mountpoint "$1" >/dev/null 2>&1; }

check_mount_folder() {
  [[ $1 == /* ]] || die "$1: give the folder with its whole path"
  [[ ! -e $1 || -d $1 ]] || die "$1 is no folder"
  if [[ -d $1 ]] && ! is_mounted "$1" && [[ -n $(ls -A "$1") ]]; then die "$1 is not empty"; fi
}

check_node() {
  local nodes=/sys/devices/system/node
  [[ -d $nodes ]] || die "this system has no NUMA nodes"
  is_whole_number "$1" || die "--node=$1 is no number"
  [[ -d $nodes/node$1 ]] || die "there is no NUMA node $1; there are $(cat $nodes/online)"
  [[ ,$(expand_list "$(cat $nodes/has_memory)"), == *,$1,* ]] || die "NUMA node $1 has no memory"
}

# expand_list 0-2,5: prints 0,1,2,5
expand_list() {
  local part first last
  for part in ${1//,/ }; do
    first=${part%-*}
    last=${part#*-}
    seq "$first" "$last"
  done | paste -sd, -
}

# namespaces_of REGION: those that these scripts made, one a line, as ndctl describes them.
namespaces_of() {
  { ndctl list --namespaces --region="$1" 2>/dev/null || true; } | tr -d ' \n' | sed 's/{"dev":"namespace/\n&/g' |
    grep "\"name\":\"$PMEM_MARK\"" || true
}

# field NAME: the value of a field in the JSON of ndctl or daxctl on stdin, where it comes first.
field() { { grep -o "\"$1\": *\"\?[^\",]*" || true; } | sed -n '1s/.*: *"\?//p'; }

is_system_ram() { grep -q '"mode": *"system-ram"' <<<"$(daxctl list --device="$1" 2>/dev/null)"; }

# refuse_if_used DEVICE: what holds a file system, a partition table or anything else that blkid knows, or is mounted.
refuse_if_used() {
  local what
  if findmnt -n --source "$1" >/dev/null 2>&1; then die "$1 is mounted on $(findmnt -n -o TARGET --source "$1" | sed -n 1p)"; fi
  what=$(blkid -p -o value -s TYPE -s PTTYPE "$1" 2>/dev/null | paste -sd' ' - || true)
  if [[ -n $what && $force != "$1" ]]; then
    die "$1 holds $what; its data would be lost. --force=$1 does it all the same"
  fi
}
