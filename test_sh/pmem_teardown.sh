#!/usr/bin/env bash
# Undoes test_sh/pmem_setup.sh and test_sh/pmem_emulate.sh. The data is lost.
#
#   test_sh/pmem_teardown.sh [--mount=FOLDER] [--region=NAME] [--dry-run]
#
#   --mount=FOLDER   unmount it, if one of those scripts mounted it
#   --region=NAME    destroy the namespace that pmem_setup.sh made in this region, and no other
#   --dry-run        say what would be done, and do nothing
#   --help           this text
#
# As root. Doing it twice is doing it once. What those scripts did not make is refused.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=test_sh/pmem_lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/pmem_lib.sh"

folder=""
region=""
while (($# > 0)); do
  take_option "--dry-run" "$@"
  case $option in
    --mount) folder=$value ;;
    --region) region=$value ;;
    --dry-run) dry_run=true ;;
    *) die "unknown argument $1; see --help" ;;
  esac
  shift "$option_words"
done
[[ -n $folder || -n $region ]] || die "--mount or --region is needed; see --help"
need_root

if [[ -n $folder ]] && is_mounted "$folder"; then
  source_device=$(findmnt -n -o SOURCE --mountpoint "$folder")
  if [[ $source_device != "$PMEM_MARK" && $(blkid -o value -s LABEL "$source_device" 2>/dev/null) != "$PMEM_MARK" ]]; then
    die "$folder was not mounted by these scripts: $source_device"
  fi
  run umount "$folder"
elif [[ -n $folder ]]; then
  say "$folder is not mounted"
fi

if [[ -n $region ]]; then
  need_command ndctl ndctl
  namespace=$(namespaces_of "$region" | field dev)
  if [[ -z $namespace ]]; then
    say "$region has no namespace of pmem_setup.sh"
  else
    device=$(namespaces_of "$region" | field chardev)
    if [[ -n $device ]] && command -v daxctl >/dev/null && is_system_ram "$device"; then
      run daxctl reconfigure-device --force --mode=devdax "$device"
    fi
    # A file system that is still mounted keeps it: ndctl refuses without --force.
    run ndctl disable-namespace "$namespace"
    run ndctl destroy-namespace "$namespace"
  fi
fi
