#!/usr/bin/env bash
# Checks the Debian packages: makes them from a build folder, has lintian judge them, installs them in a copy of this system
# that nobody else sees, uses them there, removes them, and compares what is left with what was there.
#
#   tools/checks/check_packages.sh BUILD_FOLDER            in a copy of this system; asks no server for anything
#   tools/checks/check_packages.sh BUILD_FOLDER --clean    in a new Debian of the same release, which debootstrap fetches;
#                                                          what the packages depend on comes from Debian too
#   tools/checks/check_packages.sh --self-test             prove that a bad package and what one leaves behind are found
#
# What is used: headers and libraries by pkg-config and find_package, from C++ and C, and miodb with its man page and
# completion. The copy is an overlay over the root file system in a mount namespace of its own, so this part needs root;
# without, packages are made and judged, and that is said.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

packages=(libmiodb1 libmiodb-dev miodb-tools)
clean_tools=g++,make,cmake,pkg-config,man-db

scratch=$(mktemp -d "$(scratch_parent $((2 << 30)))/miodb_packages.XXXXXX")
exit_on_signals
trap 'rm -rf --one-file-system "$scratch"' EXIT

# Makes the packages in $scratch/share. Debian has libraries in a folder that a build for another prefix does not know of;
# the build folder is told of it only meanwhile. Nothing is compiled again for that.
make_packages() {
  local folder=$1 libdir status=0
  libdir=$(sed -n 's/^CMAKE_INSTALL_LIBDIR:[A-Z]*=//p' "$folder/CMakeCache.txt")
  {
    cmake -DCMAKE_INSTALL_LIBDIR="lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)" "$folder" &&
      cmake --build "$folder" --target miodb_packages &&
      (cd "$folder" && cpack -B "$scratch/made")
  } >"$scratch/log" 2>&1 || status=1
  cmake -DCMAKE_INSTALL_LIBDIR="$libdir" "$folder" >>"$scratch/log" 2>&1 || status=1
  if ((status != 0)); then
    tail -n 30 "$scratch/log"
    die "the packages cannot be made"
  fi
  mkdir "$scratch/share"
  mv "$scratch"/made/*.deb "$scratch/share"
}

# judge PACKAGE...: fails if lintian has an error or a warning.
judge() {
  lintian --allow-root --tag-display-limit 0 --fail-on error,warning "$@"
}

# What runs in the copy once they are installed. $1: the version.
write_trial() {
  mkdir "$scratch/share/project"
  # shellcheck disable=SC2016  # marks of Markdown
  sed -n '/^```cpp$/,/^```$/{/^```/d;p}' "$MIODB_ROOT/README.md" >"$scratch/share/project/readme.cc"
  cp "$MIODB_ROOT/examples/leveldb_clients/c11_client.c" "$scratch/share/project/client.c"
  cat >"$scratch/share/project/CMakeLists.txt" <<'END_OF_FILE'
cmake_minimum_required(VERSION 3.16)
project(consumer C CXX)
find_package(miodb 1.0 REQUIRED)
add_executable(readme readme.cc)
target_link_libraries(readme miodb::miodb)
add_executable(client client.c)
target_link_libraries(client miodb::leveldb)
set_target_properties(client PROPERTIES LINKER_LANGUAGE CXX)
END_OF_FILE
  cat >"$scratch/share/use" <<'END_OF_FILE'
set -euo pipefail
step() { printf '%s\n' "$*"; }
work=$(mktemp -d)
cd "$work"
grep -q 'libmiodb\.so\.1 ' <<<"$(ldconfig -p)" || { step "the loader was not told of the library" && exit 1; }

step "pkg-config"
g++ -std=c++11 -Wall -Werror /mnt/project/readme.cc -o readme $(pkg-config --cflags --libs miodb)
gcc -std=c11 -Wall -Werror -c /mnt/project/client.c $(pkg-config --cflags miodb-leveldb)
gcc client.o -o client $(pkg-config --libs miodb-leveldb) -lmemenv  # which is there, and empty
grep -q 'NEEDED.*libmiodb\.so\.1' <<<"$(readelf -d readme)"
./readme
./client "$work/db" >/dev/null

for shared in OFF ON; do
  step "find_package, BUILD_SHARED_LIBS=$shared"
  cmake -S /mnt/project -B "built$shared" -DBUILD_SHARED_LIBS="$shared" >/dev/null
  cmake --build "built$shared" >/dev/null
  "built$shared/readme"
  "built$shared/client" "$work/db" >/dev/null
done

step "miodb"
[[ $(miodb --version) == "miodb $1" ]]
miodb put --create "$work/db" key value
[[ $(miodb get "$work/db" key) == *value* ]]
miodb_check "$work/db" >/dev/null
for name in miodb miodb_check miodb_dump miodb_move; do
  LC_ALL=C man --warnings=w "$name" >page 2>warnings
  grep -q miodb page && [[ ! -s warnings ]] || { step "man $name:" && cat warnings && exit 1; }
  bash -c '. "/usr/share/bash-completion/completions/$1" && complete -p "$1"' bash "$name" >/dev/null
done
cd /
rm -r "$work"
END_OF_FILE
}

# in_copy LOWER COMMAND...: runs it in a copy of the system in folder LOWER, with $scratch/share as /mnt. What it changed is
# in $scratch/upper. Its shell is one of the copy.
in_copy() {
  local lower=$1
  shift
  rm -rf "$scratch/upper" "$scratch/work"
  mkdir -p "$scratch/upper" "$scratch/work" "$scratch/root"
  # shellcheck disable=SC2016  # words of the inner shell
  unshare --mount bash -euc '
    scratch=$1
    mount -t overlay overlay -o "lowerdir=$2,upperdir=$scratch/upper,workdir=$scratch/work" "$scratch/root"
    mount --rbind /dev "$scratch/root/dev"
    mount --rbind /proc "$scratch/root/proc"
    mount --bind -o ro "$scratch/share" "$scratch/root/mnt"
    if [[ $2 != / ]]; then cp /etc/resolv.conf "$scratch/root/etc/"; fi
    shift 2
    cd /
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      chroot "$scratch/root" "$@"' in_copy "$scratch" "$lower" "$@"
}

# What apt and dpkg write about their own work, with or without packages; all are files, none is a package's.
book_keeping='^(var/lib/(dpkg|apt)/.*|var/cache/(apt|ldconfig|man|debconf)/.*|var/log/(apt/.*|dpkg\.log|alternatives\.log)|
etc/ld\.so\.cache|etc/resolv\.conf)$'
book_keeping=${book_keeping//$'\n'/}

# left_behind LOWER: what the copy has that LOWER has not, or not so, but for book keeping.
left_behind() {
  local path
  (cd "$scratch/upper" && find . -mindepth 1 -printf '%P\n' | sort) | while IFS= read -r path; do
    local new=$scratch/upper/$path old=$1/$path
    if [[ -c $new && $(stat -c %t,%T "$new") == 0,0 ]]; then
      [[ $path =~ $book_keeping ]] || say "$path was removed"
    elif [[ ! -e $old && ! -L $old ]]; then
      [[ $path =~ $book_keeping ]] || say "$path is new"
    elif [[ -d $new ]]; then
      continue
    elif [[ -L $new ]]; then
      [[ $(readlink "$new") == "$(readlink "$old")" ]] || say "$path leads elsewhere"
    elif ! cmp -s "$new" "$old" && ! [[ $path =~ $book_keeping ]]; then
      say "$path was changed"
    fi
  done
}

# trial LOWER INSTALL USE REMOVE: runs these commands in a copy of LOWER, where packages lie in /mnt; fails with what is left.
trial() {
  local left
  # shellcheck disable=SC2016  # words of the inner shell
  in_copy "$1" bash -euc '
    notes=$(mktemp -d)
    quietly() { "$@" >"$notes/log" 2>&1 || { cat "$notes/log" && exit 1; }; }
    installed() { dpkg-query -W -f "\${Package} \${db:Status-Abbrev}\n" | grep -v " un $" | sort; }
    installed >"$notes/before"
    eval "$1"
    eval "$2"
    eval "$3"
    installed | diff "$notes/before" - || { echo "the lists of packages before and after differ" && exit 1; }
    rm -r "$notes"' trial "${@:2}" || die "see above"
  left=$(left_behind "$1")
  if [[ -n $left ]]; then
    say "$left"
    die "removed packages left the above behind"
  fi
}

# Commands for a trial. A system that was told to leave out manuals, as those in containers are, has them for this.
with_manuals="--path-include=/usr/share/man/* --path-include=/usr/share/doc/*"
install_with_dpkg="quietly dpkg $with_manuals -i /mnt/*.deb"
install_with_apt="quietly apt-get update
quietly apt-get -y --no-install-recommends -o Dpkg::Options::=--path-include=/usr/share/man/* install /mnt/*.deb"

# A new system in $scratch/clean, from where this one's packages come from.
make_clean_system() {
  local codename site
  codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  # shellcheck disable=SC2016  # words of apt
  site=$(apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' | sed -n "s/^$codename //p" | sed -n 1p)
  [[ -n $codename && -n $site ]] || die "cannot tell where this system's packages come from; run apt-get update"
  command -v debootstrap >/dev/null || die "--clean needs debootstrap"
  say "Fetching Debian ($codename)"
  debootstrap --variant=minbase --include="$clean_tools" "$codename" "$scratch/clean" "$site" >"$scratch/log" 2>&1 || {
    tail -n 20 "$scratch/log"
    die "debootstrap failed"
  }
}

# planted SCRIPT: an otherwise sound package, but for lintian, in share, whose postinst is SCRIPT.
planted() {
  local folder=$scratch/planted
  rm -rf "$folder" "$scratch/share"
  mkdir -p "$folder/DEBIAN" "$folder/usr/share/planted" "$scratch/share"
  printf 'Package: planted\nVersion: 1\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: a test\n' \
    >"$folder/DEBIAN/control"
  printf '#!/bin/sh\n%s\n' "$1" >"$folder/DEBIAN/postinst"
  chmod 755 "$folder/DEBIAN/postinst"
  say planted >"$folder/usr/share/planted/file"
  dpkg-deb --build --root-owner-group "$folder" "$scratch/share/planted.deb" >/dev/null
}

# expect WORDS SCRIPT [USE]: a trial of a package with this postinst has to say WORDS, or nothing if they are empty.
cases=0
expect() {
  local said
  planted "$2"
  said=$( (trial / "$install_with_dpkg" "${3:-true}" "quietly dpkg --purge planted") 2>&1 || true)
  if [[ -z $1 ]]; then
    [[ -z $said ]] || die "self-test: a good package was refused: $said"
  else
    [[ $said == *"$1"* ]] || die "self-test: \"$1\" was not said, but: $said"
  fi
  cases=$((cases + 1))
}

self_test() {
  planted true
  if judge "$scratch/share/planted.deb" >/dev/null 2>&1; then die "self-test: lintian accepts anything"; fi
  cases=1
  if [[ $(id -u) == 0 ]]; then
    expect "" true
    expect "" true "cat /usr/share/planted/file >/dev/null"
    expect "var/lib/planted_file is new" "echo >/var/lib/planted_file"
    expect "usr/share/planted is new" "echo >/usr/share/planted/more"
    expect "etc/passwd was changed" "echo >>/etc/passwd"
    expect "etc/issue was removed" "rm /etc/issue"
    expect "see above" true "false"
  fi
  say "self-test: $cases of $cases cases right"
}

if [[ ${1:-} == --self-test ]]; then
  self_test
  exit 0
fi
[[ $# -ge 1 && -f $1/CMakeCache.txt && ${2:---clean} == --clean ]] || die "needs a build folder; see the top of this file"
make_packages "$1"
judge "$scratch"/share/*.deb || die "lintian has found the above"
say "lintian: no errors, no warnings in $(basename -a "$scratch"/share/*.deb | paste -sd' ')"
if [[ $(id -u) != 0 ]]; then
  say "not root: the packages were not installed"
  exit 0
fi
write_trial
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=\([0-9]*\.[0-9]*\).*/\1/p' "$1/CMakeCache.txt")
use="dpkg --verify ${packages[*]}
bash /mnt/use $version"
if [[ ${2:-} == --clean ]]; then
  make_clean_system
  trial "$scratch/clean" "$install_with_apt" "$use" "quietly apt-get -y autoremove --purge ${packages[*]}"
else
  trial / "$install_with_dpkg" "$use" "quietly dpkg --purge ${packages[*]}"
fi
say "installed, used and removed; nothing was left behind"
