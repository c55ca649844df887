#!/usr/bin/env bash
# Makes a folder that stands in for persistent memory: a tmpfs of a given size, on a given NUMA node.
#
#   test_sh/pmem_emulate.sh --mount=FOLDER --size=SIZE [--node=N] [--dry-run]
#
#   --mount=FOLDER   where; made if it is not there
#   --size=SIZE      as mount takes it: 512m, 8g
#   --node=N         memory of this node and no other, for example one of CXL memory; without it: the kernel's choice
#   --dry-run        say what would be done, and do nothing
#   --help           this text
#
# As root. Doing it twice is doing it once. Undo: test_sh/pmem_teardown.sh --mount=FOLDER. It also prints the kernel
# parameter that makes DRAM appear as a real /dev/pmem after the next boot, with DAX and MAP_SYNC, which a tmpfs lacks.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=test_sh/pmem_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/pmem_lib.sh"

folder=""
size=""
node=""
while (($# > 0)); do
  take_option "--dry-run" "$@"
  case $option in
    --mount) folder=$value ;;
    --size) size=$value ;;
    --node) node=$value ;;
    --dry-run) dry_run=true ;;
    *) die "unknown argument $1; see --help" ;;
  esac
  shift "$option_words"
done
[[ -n $folder && -n $size ]] || die "--mount and --size are needed; see --help"
[[ $size =~ ^[0-9]+[kmgKMG]?$ ]] || die "--size=$size is no size like 512m or 8g"
check_mount_folder "$folder"
mount_options="size=$size,mode=1777,noswap"
if [[ -n $node ]]; then
  check_node "$node"
  mount_options+=",mpol=bind:$node"
fi
# Kernels before 6.4 do not know noswap.
if ! kernel_at_least 6 4; then mount_options=${mount_options/,noswap/}; fi

if is_mounted "$folder"; then
  [[ $(findmnt -n -o FSTYPE --target "$folder") == tmpfs && $(findmnt -n -o SOURCE --target "$folder") == "$PMEM_MARK" ]] ||
    die "$folder has something else mounted on it: $(findmnt -n -o SOURCE,FSTYPE --target "$folder")"
  say "$folder is there; its size is set to $size"
  run mount -o "remount,size=$size" "$folder"
else
  need_root
  run mkdir -p "$folder"
  run mount -t tmpfs -o "$mount_options" "$PMEM_MARK" "$folder"
fi
say "Use it with --db=$folder/db${node:+ --nvm_node=$node}; data is gone with the mount."
say "For a real /dev/pmem made of DRAM: boot with memmap=SIZE!START, a range that is usable RAM, such as"
say "  memmap=${size^^}!4G"
