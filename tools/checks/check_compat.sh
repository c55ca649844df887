#!/usr/bin/env bash
# Checks that LevelDB programs build against an installed MioDB without a change and do the same: the clients of
# examples/leveldb_clients/, in C++11 and C11, with gcc and clang, found by find_package (as miodb and as leveldb),
# find_library, pkg-config (as miodb-leveldb and as leveldb) and plain flags, against the shared and the static library; the
# shared one found when the program starts by its rpath, or by LD_LIBRARY_PATH with either folder it lies in. Where the real
# LevelDB is installed, random_client is built with it too and has to print the same, and both libraries are put into one
# process in every way there is: they work, or the process ends with a message.
#
#   tools/checks/check_compat.sh BUILD_FOLDER
#   tools/checks/check_compat.sh --self-test    prove that clients which do not build, fail, or differ are found

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

clients=$MIODB_ROOT/examples/leveldb_clients
seeds=(1 2 3 4 5 6 7 8)
steps=10000
clang=$(command -v clang-14 || command -v clang || true)

scratch=$(mktemp -d "$(scratch_parent $((1 << 30)))/miodb_compat.XXXXXX")
exit_on_signals
trap 'rm -rf "$scratch"' EXIT

# runs NAME FOLDER: runs the three clients that lie in FOLDER, each on a fresh database.
runs() {
  local client
  for client in cpp11_client c11_client own_objects_client; do
    rm -rf "$scratch/db"
    "$2/$client" "$scratch/db" >"$scratch/output" 2>&1 || {
      cat "$scratch/output"
      die "$1: $client failed"
    }
    if [[ -e $scratch/db ]]; then die "$1: $client left something behind"; fi
  done
  say "$1: fine"
}

# with_flags NAME COMPILE_FLAGS LINK_FLAGS: builds the three clients with each compiler, and runs them.
with_flags() {
  local cc client out=$scratch/programs warnings=(-Wall -Wextra -Wpedantic -Werror) cflags libs
  read -ra cflags <<<"$2"
  read -ra libs <<<"$3"
  for cc in gcc "$clang"; do
    rm -rf "$out"
    mkdir "$out"
    for client in cpp11_client own_objects_client; do
      "$(cxx_of "$cc")" -std=c++11 "${warnings[@]}" "${cflags[@]}" "$clients/$client.cc" -o "$out/$client" "${libs[@]}"
    done
    "$cc" -std=c11 "${warnings[@]}" "${cflags[@]}" -c "$clients/c11_client.c" -o "$out/c11_client.o"
    "$cc" "$out/c11_client.o" -o "$out/c11_client" "${libs[@]}"
    runs "$1, $(basename "$cc")" "$out"
  done
}

# with_cmake NAME LOOK_UP LIBRARY OPTION...: the same in a CMake project, where LOOK_UP finds LIBRARY.
with_cmake() {
  local cc out=$scratch/cmake
  mkdir -p "$scratch/project"
  cat >"$scratch/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.16)
project(clients C CXX)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 11)
$2
foreach(source cpp11_client.cc own_objects_client.cc c11_client.c)
  get_filename_component(name \${source} NAME_WE)
  add_executable(\${name} "$clients/\${source}")
  target_link_libraries(\${name} $3)
endforeach()
END
  for cc in gcc "$clang"; do
    rm -rf "$out"
    if ! { cmake -S "$scratch/project" -B "$out" -DCMAKE_C_COMPILER="$cc" -DCMAKE_CXX_COMPILER="$(cxx_of "$cc")" "${@:4}" &&
      cmake --build "$out"; } >"$scratch/log" 2>&1; then
      cat "$scratch/log"
      die "$1, $(basename "$cc"): does not build"
    fi
    runs "$1, $(basename "$cc")" "$out"
  done
}

# cxx_of C_COMPILER: the C++ compiler that belongs to it.
cxx_of() {
  case $1 in
    *gcc) say g++ ;;
    *) say "${1/clang/clang++}" ;;
  esac
}

# same_output PROGRAM PROGRAM: both do what each seed tells them and print the same.
same_output() {
  local seed lines=0
  for seed in "${seeds[@]}"; do
    "$1" "$scratch/one" "$seed" "$steps" >"$scratch/one.txt" || die "random_client failed with seed $seed: $(tail -n 1 "$scratch/one.txt")"
    "$2" "$scratch/other" "$seed" "$steps" >"$scratch/other.txt" || die "the peer failed with seed $seed"
    if ! cmp -s "$scratch/one.txt" "$scratch/other.txt"; then
      { diff "$scratch/one.txt" "$scratch/other.txt" || true; } | sed -n 1,5p
      die "random_client prints something else with seed $seed"
    fi
    lines=$((lines + $(wc -l <"$scratch/one.txt")))
  done
  ((lines > 0)) || die "random_client printed nothing"
  say "random_client: $lines lines with ${#seeds[@]} seeds are those of LevelDB"
}

# together NAME fine|refused PROGRAM [local|global LIBRARY=FUNCTION...]: both libraries in one process work, or it ends
# with the message that says which is in the way.
together() {
  local status=0
  rm -rf "$scratch/two"
  mkdir "$scratch/two"
  # In a shell of its own, whose word of the abort goes where the output goes.
  (timeout 60 "$3" "$scratch/two" "${@:4}"; exit $?) >"$scratch/output" 2>&1 || status=$?
  case $2 in
    fine) [[ $status == 0 ]] ;;
    refused) [[ $status == 134 ]] && grep -q "MioDB's libleveldb: .* has another LevelDB" "$scratch/output" ;;
  esac || {
    cat "$scratch/output"
    die "two libraries, $1: status $status, expected to be $2"
  }
  say "two libraries, $1: $2"
}

two_libraries() {
  local out=$scratch/together host=$clients/plugin_host.cc
  # shellcheck disable=SC2054  # commas are part of the flags
  local real=(-Wl,--no-as-needed -l:"$(basename "$(readlink -f "$(gcc -print-file-name=libleveldb.so)")")")
  # shellcheck disable=SC2054
  local ours=(-Wl,--no-as-needed -L"$compat_libdir" -lleveldb -Wl,-rpath,"$compat_libdir")
  mkdir "$out"
  g++ -fPIC -c -DNAME=run_ours "$include" "$clients/plugin_client.cc" -o "$out/ours.o"
  g++ -fPIC -c -DNAME=run_real "$clients/plugin_client.cc" -o "$out/real.o"
  g++ -shared "$out/ours.o" "${ours[@]}" -o "$out/ours.so"
  g++ -shared "$out/real.o" "${real[@]}" -o "$out/real.so"
  g++ "$host" -o "$out/host"
  g++ -DFIRST=run_ours "$host" "$out/ours.o" "${ours[@]}" -o "$out/on_ours"
  g++ -DFIRST=run_real "$host" "$out/real.o" "${real[@]}" -o "$out/on_real"
  g++ -DFIRST=run_ours -DSECOND=run_real "$host" "$out/ours.o" "$out/real.o" "${ours[@]}" "${real[@]}" -o "$out/ours_first"
  g++ -DFIRST=run_ours -DSECOND=run_real "$host" "$out/ours.o" "$out/real.o" "${real[@]}" "${ours[@]}" -o "$out/real_first"
  g++ -DFIRST=run_ours "$host" "$out/ours.o" "$compat_libdir/libleveldb.a" "${static_needs[@]}" -o "$out/static"
  g++ -DFIRST=run_ours -DSECOND=run_real "$host" "$out/ours.o" "$compat_libdir/libleveldb.a" "${static_needs[@]}" \
    -Wl,--no-as-needed "$out/real.so" -o "$out/static_and_real"

  together "linked, ours first" refused "$out/ours_first"
  together "linked, the real one first" refused "$out/real_first"
  together "a plugin on the real one in a program on ours" refused "$out/on_ours" local "$out/real.so=run_real"
  together "a plugin on ours in a program on the real one" refused "$out/on_real" local "$out/ours.so=run_ours"
  together "global plugins, ours first" refused "$out/host" global "$out/ours.so=run_ours" "$out/real.so=run_real"
  together "global plugins, the real one first" refused "$out/host" global "$out/real.so=run_real" "$out/ours.so=run_ours"
  together "the real one beside the static library" refused "$out/static_and_real"
  together "a plugin on the real one beside the static library" fine "$out/static" local "$out/real.so=run_real"
  together "local plugins, ours first" fine "$out/host" local "$out/ours.so=run_ours" "$out/real.so=run_real"
  together "local plugins, the real one first" fine "$out/host" local "$out/real.so=run_real" "$out/ours.so=run_ours"
  together "ours twice" fine "$out/static" global "$out/ours.so=run_ours"
}

has_peer() { printf '#include <leveldb/db.h>\n' | g++ -E -x c++ - >/dev/null 2>&1; }

self_test() {
  local client
  if (with_flags planted "-I$scratch" "-L$scratch -lno_such_library" >/dev/null 2>&1); then
    die "self-test: clients without their library were built"
  fi
  mkdir "$scratch/bad"
  for client in cpp11_client c11_client own_objects_client; do ln -s "$(command -v false)" "$scratch/bad/$client"; done
  if (runs planted "$scratch/bad" >/dev/null 2>&1); then die "self-test: clients that fail passed"; fi
  # shellcheck disable=SC2016  # the planted program expands it
  printf '#!/bin/sh\necho "$2"\n' >"$scratch/one_program"
  # shellcheck disable=SC2016
  printf '#!/bin/sh\necho "$2" | sed s/7/8/\n' >"$scratch/other_program"
  chmod +x "$scratch/one_program" "$scratch/other_program"
  if (together planted refused "$(command -v false)" >/dev/null 2>&1); then
    die "self-test: a process that ended without the message passed"
  fi
  if (together planted fine "$(command -v false)" >/dev/null 2>&1); then die "self-test: two that fail passed"; fi
  (same_output "$scratch/one_program" "$scratch/one_program" >/dev/null) || die "self-test: equal output did not pass"
  if (same_output "$scratch/one_program" "$scratch/other_program" >/dev/null 2>&1); then
    die "self-test: different output passed"
  fi
  say "self-test: 6 of 6 cases right"
}

if [[ ${1:-} == --self-test ]]; then
  self_test
  exit 0
fi
[[ $# == 1 && -f $1/CMakeCache.txt ]] || die "needs a build folder"
[[ -n $clang ]] || die "no clang; install clang-14"

cmake --install "$1" --prefix "$scratch/first" >/dev/null
prefix=$scratch/second
mv "$scratch/first" "$prefix"  # an installed tree may be moved
libdir=$(dirname "$(find "$prefix" -name libmiodb.a)")
compat_libdir=$libdir/miodb/compat
static_needs=(-lpmem -lnuma -luring -lsnappy -lzstd -pthread -lstdc++ -lm)
include="-I$prefix/include/miodb/compat"

with_cmake "find_package(miodb), static" "find_package(miodb REQUIRED)" miodb::leveldb -DCMAKE_PREFIX_PATH="$prefix"
with_cmake "find_package(miodb), shared" "find_package(miodb REQUIRED)" miodb::leveldb -DCMAKE_PREFIX_PATH="$prefix" -DBUILD_SHARED_LIBS=ON
with_cmake "find_package(leveldb)" "find_package(leveldb REQUIRED)" leveldb::leveldb -Dleveldb_DIR="$compat_libdir/cmake/leveldb"
# What programs without a package file do. The project says nothing about rpaths.
# shellcheck disable=SC2016  # CMake expands it
with_cmake "find_library" \
  'find_path(LEVELDB_INCLUDE leveldb/db.h REQUIRED)
find_library(LEVELDB_LIBRARY leveldb REQUIRED)
include_directories("${LEVELDB_INCLUDE}")' \
  '"${LEVELDB_LIBRARY}"' -DCMAKE_PREFIX_PATH="$compat_libdir" -DCMAKE_LIBRARY_PATH="$compat_libdir"

with_flags "plain flags, rpath" "$include" "-L$compat_libdir -lleveldb -Wl,-rpath,$compat_libdir"
with_flags "one folder for all" "-I$compat_libdir/include" "-L$compat_libdir -lleveldb -Wl,-rpath,$compat_libdir"
for folder in "$compat_libdir" "$libdir"; do
  export LD_LIBRARY_PATH=$folder
  with_flags "plain flags, LD_LIBRARY_PATH=${folder#"$prefix"/}" "$include" "-L$compat_libdir -lleveldb"
done
export PKG_CONFIG_PATH=$libdir/pkgconfig:$compat_libdir/pkgconfig
for package in miodb-leveldb leveldb; do
  with_flags "pkg-config $package, shared" "$(pkg-config --cflags $package)" "$(pkg-config --libs $package)"
done

g++ -std=c++11 -O1 "$include" "$clients/random_client.cc" -L"$compat_libdir" -lleveldb -o "$scratch/ours"
if has_peer; then
  g++ -std=c++11 -O1 "$clients/random_client.cc" -lleveldb -o "$scratch/peer"
  same_output "$scratch/ours" "$scratch/peer"
  two_libraries
else
  say "no LevelDB here to compare with"
fi

rm "$compat_libdir"/*.so* "$libdir"/libmiodb_leveldb.so*
unset LD_LIBRARY_PATH
with_flags "plain flags, static" "$include" "-L$compat_libdir -lleveldb ${static_needs[*]}"
with_flags "pkg-config, static" "$(pkg-config --cflags miodb-leveldb)" "$(pkg-config --static --libs miodb-leveldb)"
