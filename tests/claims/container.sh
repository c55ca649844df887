#!/usr/bin/env bash
# Does what the Dockerfile says without docker: a new Debian from debootstrap, the RUN lines in it with the network,
# then the command without one. Needs root. Also where docker is, this tells whether the recipe works.
#
#   tests/claims/container.sh [options]
#
#   --folder=FOLDER   where the new Debian is; kept, so that a run that was cut off goes on. Default: a fresh one,
#                     removed
#   --args=WORDS      options of test_sh/claims.sh; default: none, which is the first tier
#   --build-only      stop before the command
#   --lint            only look whether the Dockerfile has the form that this script and docker understand
#   --help            this text
#
# Exit status: that of test_sh/claims.sh.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

folder=
flag_words=
action=run
while (($# > 0)); do
  take_option "--build-only --lint" "$@"
  shift "$option_words"
  case $option in
    --folder) folder=$value ;;
    --args) flag_words=$value ;;
    --build-only) action=build ;;
    --lint) action=lint ;;
    *) die "unknown option $option; see --help" ;;
  esac
done

# The instructions of the Dockerfile, one a line, without comments and with their continuations.
instructions() { sed -e '/^#/d' -e '/^$/d' "$MIODB_ROOT/Dockerfile" | sed -e ':a' -e '/\\$/{N;s/\\\n//;ba' -e '}'; }

lint() {
  local line word
  grep -q '^FROM ' <<<"$(instructions | sed -n 1p)" || die "the Dockerfile does not begin with FROM"
  grep -q '^CMD \["[^"]*"\]$' <<<"$(instructions | tail -n 1)" || die "the Dockerfile does not end with a CMD of one word"
  instructions | while IFS= read -r line; do
    word=${line%% *}
    case $word in
      FROM | WORKDIR | RUN | CMD) ;;
      COPY)
        read -ra paths <<<"${line#COPY }"
        for path in "${paths[@]:0:${#paths[@]}-1}"; do [[ -e $MIODB_ROOT/$path ]] || die "COPY: there is no $path"; done
        ;;
      *) die "the Dockerfile has a $word, which nobody tests" ;;
    esac
    if [[ $word == RUN ]]; then bash -n -c "${line#RUN }" || die "no shell understands: $line"; fi
  done
}

lint
if [[ $action == lint ]]; then exit 0; fi
[[ $(id -u) == 0 ]] || die "this needs root"
command -v debootstrap >/dev/null || die "debootstrap is not installed"
exit_on_signals
made=
clean_up() {
  umount -q -l "$folder/proc" "$folder/dev/pts" "$folder/dev/shm" "$folder/dev" || true
  if [[ -n $made ]]; then rm -rf --one-file-system "$made"; fi
}
if [[ -z $folder ]]; then
  folder=$(mktemp -d)
  made=$folder
fi
mkdir -p "$folder"
trap clean_up EXIT

# debootstrap removes its own folder when it has finished.
if [[ ! -e $folder/etc/debian_version || -e $folder/debootstrap ]]; then
  debootstrap --variant=minbase bookworm "$folder" >"$folder.log" 2>&1
fi
mount -t proc proc "$folder/proc"
mount -t tmpfs tmpfs "$folder/dev"
mkdir "$folder/dev/shm"
mount -t tmpfs -o size=8g tmpfs "$folder/dev/shm"
for device in "null 1 3" "zero 1 5" "random 1 8" "urandom 1 9"; do
  read -ra node <<<"$device"
  mknod -m 666 "$folder/dev/${node[0]}" c "${node[1]}" "${node[2]}"
done
mkdir "$folder/dev/pts"
mount -t devpts -o ptmxmode=666,newinstance devpts "$folder/dev/pts"
ln -s pts/ptmx "$folder/dev/ptmx"
ln -s /proc/self/fd "$folder/dev/fd"
cp /etc/resolv.conf "$folder/etc/resolv.conf"

# inside WORD...: runs in the new Debian, in the folder of WORKDIR.
place=/
isolated=()
inside() {
  "${isolated[@]}" chroot "$folder" /usr/bin/env -i HOME=/tmp PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
    bash -c "cd '$place' && $1"
}

# Packages that a run before was cut off in.
inside "dpkg --configure -a"
instructions >"$folder/instructions"
while IFS= read -r line <&3; do
  rest=${line#* }
  case ${line%% *} in
    WORKDIR) place=$rest && mkdir -p "$folder$place" ;;
    COPY)
      read -ra paths <<<"$rest"
      into=$folder$place/${paths[-1]}
      mkdir -p "$into"
      if [[ ${paths[0]} == . ]]; then
        (cd "$MIODB_ROOT" && source_files "*" | tar -c --no-recursion -T -) | tar -x -C "$into"
      else
        (cd "$MIODB_ROOT" && cp -p "${paths[@]:0:${#paths[@]}-1}" "$into")
      fi
      ;;
    RUN) inside "$rest" ;;
    CMD)
      isolated=(unshare --net)
      if [[ $action == run ]]; then inside "$(tr -d '[]"' <<<"$rest") $flag_words"; fi
      ;;
  esac
done 3<"$folder/instructions"
