#!/usr/bin/env bash
# Checks that an installed MioDB can be used: installs BUILD_FOLDER into a scratch folder, moves it, and there builds and
# runs a small C++11 program found through find_package (static and shared), pkg-config, and plain compiler flags.
#
#   tools/checks/check_install.sh BUILD_FOLDER
#   tools/checks/check_install.sh --self-test    prove that a program which the library cannot satisfy fails

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

scratch=$(mktemp -d)
exit_on_signals
trap 'rm -rf "$scratch"' EXIT

# write_consumer FOLDER: a program that includes every header of FOLDER/include/miodb.
write_consumer() {
  {
    for header in "$1"/include/miodb/*.h; do say "#include <miodb/$(basename "$header")>"; done
    cat <<'END'
#include <iostream>
#include <memory>
#include <string>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  miodb::Options options;
  options.create_if_missing = true;
  miodb::DB* opened = nullptr;
  miodb::Status status = miodb::DB::Open(options, argv[1], &opened);
  std::unique_ptr<miodb::DB> db(opened);
  if (status.ok()) status = db->Put(miodb::WriteOptions(), "key", "value");
  miodb::WriteBatch batch;
  batch.Put("a", "1");
  batch.Delete("b");
  if (status.ok()) status = db->Write(miodb::WriteOptions(), &batch);
  std::string value;
  if (status.ok()) status = db->Get(miodb::ReadOptions(), "key", &value);
  if (!status.ok()) {
    std::cerr << status.ToString() << "\n";
    return 1;
  }
  std::unique_ptr<miodb::Iterator> iterator(db->NewIterator(miodb::ReadOptions()));
  int keys = 0;
  for (iterator->SeekToFirst(); iterator->Valid(); iterator->Next()) ++keys;
  return value == "value" && keys == 2 ? 0 : 1;
}
END
  } >"$scratch/consumer.cc"
  cat >"$scratch/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.16)
project(consumer CXX)
set(CMAKE_CXX_STANDARD 11)
find_package(miodb 1.0 REQUIRED)
add_executable(consumer consumer.cc)
target_link_libraries(consumer miodb::miodb)
END
}

# runs NAME COMMAND: runs the program on a fresh database.
runs() {
  rm -rf "$scratch/db"
  "${@:2}" "$scratch/db" || die "$1: the program failed"
  say "$1: fine"
}

with_cmake() {
  if ! { cmake -S "$scratch" -B "$scratch/$1" -DCMAKE_PREFIX_PATH="$prefix" "${@:2}" &&
    cmake --build "$scratch/$1"; } >"$scratch/log" 2>&1; then
    cat "$scratch/log"
    die "find_package ($1): does not build"
  fi
  runs "find_package, $1" "$scratch/$1/consumer"
}

self_test() {
  mkdir -p "$scratch/include/miodb"
  write_consumer "$MIODB_ROOT"
  if g++ -std=c++11 -I"$scratch/include" "$scratch/consumer.cc" -o "$scratch/program" 2>/dev/null; then
    die "self-test: a program without the library was built"
  fi
  if (runs planted false >/dev/null 2>&1); then die "self-test: a program that fails passed"; fi
  say "self-test: 2 of 2 cases right"
}

if [[ ${1:-} == --self-test ]]; then
  self_test
  exit 0
fi
[[ $# == 1 && -f $1/CMakeCache.txt ]] || die "needs a build folder"

cmake --install "$1" --prefix "$scratch/first" >/dev/null
# An installed tree may be moved: nothing in it names the place it was installed to.
prefix=$scratch/second
mv "$scratch/first" "$prefix"
libdir=$(dirname "$(find "$prefix" -name libmiodb.a)")
[[ -f $libdir/libmiodb.so ]] || die "libmiodb.so is not installed"
write_consumer "$prefix"

with_cmake static
with_cmake shared -DBUILD_SHARED_LIBS=ON

export PKG_CONFIG_PATH=$libdir/pkgconfig
compile=(g++ -std=c++11 -Wall -Wextra -Werror "$scratch/consumer.cc" -o "$scratch/program")
read -ra flags < <(pkg-config --cflags --libs miodb)
"${compile[@]}" "${flags[@]}"
runs "pkg-config, shared" env LD_LIBRARY_PATH="$libdir" "$scratch/program"

read -ra flags < <(pkg-config --static --cflags --libs miodb)
rm "$libdir"/libmiodb.so*
"${compile[@]}" "${flags[@]}"
runs "pkg-config, static" "$scratch/program"

"${compile[@]}" -I"$prefix/include" "$libdir/libmiodb.a" -lpmem -lnuma -luring -lsnappy -lzstd -pthread
runs "plain flags" "$scratch/program"
