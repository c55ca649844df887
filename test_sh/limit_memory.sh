#!/usr/bin/env bash
# Runs a command in a memory cgroup of its own, below that of this shell: the pages of the files that it reads and writes,
# and what it puts on tmpfs, count for the limit, so that the system's page cache cannot hold more than that.
#
#   limit_memory.sh BYTES COMMAND...
#
# Needs the right to make a cgroup, version 1 or 2. Exit status: that of the command; 3 if there can be no such limit.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if (($# < 2)) || ! is_whole_number "$1"; then
  say "Usage: limit_memory.sh BYTES COMMAND..." >&2
  exit 2
fi
limit=$1
shift

# Sets folder to that of this shell's memory cgroup, and file to what takes the limit.
find_cgroup() {
  local id controllers path
  while IFS=: read -r id controllers path; do
    if [[ ,$controllers, == *,memory,* && -d /sys/fs/cgroup/memory$path ]]; then
      folder=/sys/fs/cgroup/memory$path
      file=memory.limit_in_bytes
      return
    fi
    if [[ $id == 0 && -e /sys/fs/cgroup$path/cgroup.procs ]]; then
      folder=/sys/fs/cgroup$path
      file=memory.max
    fi
  done </proc/self/cgroup
}

folder=
find_cgroup
own=$folder/miodb_limit_$$
if [[ -z $folder ]] || ! mkdir "$own" 2>/dev/null; then
  say "no memory cgroup can be made here" >&2
  exit 3
fi
if ! { echo "$limit" >"$own/$file"; } 2>/dev/null; then
  rmdir "$own"
  say "the memory limit cannot be set here" >&2
  exit 3
fi
status=0
bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$own" "$@" || status=$?
# Pages that are left in the cache go to the cgroup above.
if [[ -e $own/memory.force_empty ]]; then echo 0 >"$own/memory.force_empty" 2>/dev/null || true; fi
rmdir "$own"
exit "$status"
