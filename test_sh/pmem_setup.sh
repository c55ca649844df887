#!/usr/bin/env bash
# Sets persistent memory up for MioDB: a namespace on a region, and a file system where it needs one.
#
#   test_sh/pmem_setup.sh --region=NAME --mode=MODE [--mount=FOLDER] [--size=SIZE] [--force=NAME] [--dry-run]
#
#   --region=NAME    as "ndctl list --regions" shows it: region0
#   --mode=MODE      fsdax: a block device with ext4, mounted with dax at --mount, for pools that are files
#                    devdax: a character device, for --pool_path=/dev/daxX.Y
#                    system-ram: a NUMA node without CPUs, for --nvm_node or pmem_emulate.sh --node; volatile
#   --mount=FOLDER   where fsdax is mounted; made if it is not there
#   --size=SIZE      of the namespace, as ndctl takes it; without it: all that is free in the region
#   --force=NAME     go on although this device, as the refusal names it, holds something. It is lost
#   --dry-run        say what would be done, and do nothing
#   --help           this text
#
# As root, with ndctl and for system-ram daxctl. Doing it twice is doing it once: what is set up as asked is left alone. It
# takes free space of the region only: namespaces that are there stay, and a device that holds anything is refused. What
# it made is named miodb_pmem, by which test_sh/pmem_teardown.sh, the undo, knows it.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=test_sh/pmem_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/pmem_lib.sh"

region=""
mode=""
folder=""
size=""
while (($# > 0)); do
  take_option "--dry-run" "$@"
  case $option in
    --region) region=$value ;;
    --mode) mode=$value ;;
    --mount) folder=$value ;;
    --size) size=$value ;;
    --force) force=$value ;;
    --dry-run) dry_run=true ;;
    *) die "unknown argument $1; see --help" ;;
  esac
  shift "$option_words"
done

[[ $region =~ ^region[0-9]+$ ]] || die "--region=$region is no name like region0"
case $mode in
  fsdax) [[ -n $folder ]] || die "--mode=fsdax needs --mount" ;;
  devdax | system-ram) [[ -z $folder ]] || die "--mode=$mode has no file system to mount" ;;
  *) die "--mode=$mode: one of fsdax, devdax, system-ram" ;;
esac
need_root
need_command ndctl ndctl
if [[ $mode == system-ram ]]; then need_command daxctl daxctl; fi
[[ -d /sys/bus/nd/devices/$region ]] || $dry_run || die "there is no $region; ndctl list --regions shows those there are"

ndctl_mode=$mode
if [[ $mode == system-ram ]]; then ndctl_mode=devdax; fi
namespace=""
if command -v ndctl >/dev/null; then namespace=$(namespaces_of "$region" | field dev); fi
if [[ -n $namespace ]]; then
  present=$(namespaces_of "$region" | field mode)
  [[ $present == "$ndctl_mode" ]] || die "$namespace was set up as $present; test_sh/pmem_teardown.sh --region=$region first"
  say "$namespace is there"
else
  run ndctl create-namespace --mode="$ndctl_mode" --region="$region" --name="$PMEM_MARK" ${size:+--size="$size"}
fi
if $dry_run; then device="DEVICE-OF-THE-NAMESPACE"; fi

case $mode in
  fsdax)
    if ! $dry_run; then device=/dev/$(namespaces_of "$region" | field blockdev); fi
    check_mount_folder "$folder"
    if is_mounted "$folder"; then
      [[ $(findmnt -n -o SOURCE --mountpoint "$folder") == "$device" ]] || die "$folder has another device mounted on it"
      say "$device is mounted on $folder"
    else
      label=""
      if ! $dry_run; then label=$(blkid -o value -s LABEL "$device" 2>/dev/null || true); fi
      if [[ $label != "$PMEM_MARK" ]]; then
        if ! $dry_run; then refuse_if_used "$device"; fi
        # Blocks of 4 KiB, as DAX needs them.
        run mkfs.ext4 -q -b 4096 -L "$PMEM_MARK" ${force:+-F} "$device"
      fi
      run mkdir -p "$folder"
      run mount -o dax "$device" "$folder"
    fi
    say "Use it with --db=$folder/db --persist_mode=pmem"
    ;;
  devdax)
    if ! $dry_run; then device=/dev/$(namespaces_of "$region" | field chardev); fi
    say "Use it with --pool_path=$device --persist_mode=pmem"
    ;;
  system-ram)
    if ! $dry_run; then device=$(namespaces_of "$region" | field chardev); fi
    if ! is_system_ram "$device"; then
      run daxctl reconfigure-device --mode=system-ram "$device"
    fi
    if ! $dry_run; then say "It is NUMA node $(daxctl list --device="$device" | field target_node)"; fi
    ;;
esac
