#!/usr/bin/env bash
# Checks what the shared libraries show to the linker: names of their own namespace; libleveldb, and it alone, the
# functions of the C headers, all of them; and nothing else. And that neither they nor libmiodb.a need LevelDB or RocksDB.
#
#   tools/checks/check_exports.sh BUILD_FOLDER
#   tools/checks/check_exports.sh --self-test    prove that a stray name, a missing function and a foreign need are found

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

scratch=$(mktemp -d)
exit_on_signals
trap 'rm -rf "$scratch"' EXIT

# Names that a shared library defines for others, one a line, C++ names in words.
exported() { nm -DC --defined-only --format=posix "$1" | sed -E 's/ [A-Za-z] [0-9a-f]+( [0-9a-f]+)?$//' | sort -u; }

# declared NAMESPACE: functions that the C headers declare for the library of this namespace.
declared() {
  [[ $1 == leveldb ]] || return 0
  printf '#include "leveldb/c.h"\n#include "miodb/c.h"\n' |
    gcc -E -P -I"$MIODB_ROOT/include/compat" -I"$MIODB_ROOT/include" -x c - | tr '\n' ' ' | sed 's/;/;\n/g' |
    sed -nE 's/.*[ *]((leveldb|miodb)_[a-z0-9_]+)\(.*/\1/p' | sort -u
}

# problems LIBRARY NAMESPACE: prints what is wrong with a shared library.
problems() {
  exported "$1" >"$scratch/exported"
  declared "$2" >"$scratch/declared"
  grep -vE "^(vtable for |typeinfo for |typeinfo name for )?$2::" "$scratch/exported" >"$scratch/c_names" || true
  comm -23 "$scratch/c_names" "$scratch/declared" | sed 's/$/: exported, and in no header/'
  comm -13 "$scratch/c_names" "$scratch/declared" | sed 's/$/: declared, and not exported/'
  needs "$1" | sed 's/^/needs /'
}

# What a library needs of LevelDB and RocksDB.
needs() {
  readelf -d "$1" 2>/dev/null | sed -nE 's/.*NEEDED.*\[(lib(leveldb|rocksdb)[^]]*)\]/\1/p'
  nm -C --undefined-only "$1" 2>/dev/null | grep -oE '\b(rocksdb)::[A-Za-z:]+' | sort -u || true
}

# judge LIBRARY NAMESPACE
judge() {
  local found
  [[ -f $1 ]] || die "$1 was not built"
  found=$(problems "$1" "$2")
  if [[ -n $found ]]; then
    say "$found"
    die "$(basename "$1"): see above"
  fi
  say "$(basename "$1"): $(wc -l <"$scratch/exported") names exported, $(wc -l <"$scratch/declared") of them of the C API"
}

self_test() {
  local stubs=$scratch/stubs.c
  declared leveldb | sed 's/.*/void &(void) {}/' >"$stubs"
  (($(wc -l <"$stubs") > 80)) || die "self-test: the headers declare too little"
  gcc -shared -fPIC "$stubs" -o "$scratch/good.so"
  [[ -z $(problems "$scratch/good.so" leveldb) ]] || die "self-test: a good library has problems"
  [[ $(problems "$scratch/good.so" miodb) == *"leveldb_open: exported, and in no header"* ]] ||
    die "self-test: the C API in the wrong library was not seen"
  say 'void stray(void) {}' >>"$stubs"
  gcc -shared -fPIC "$stubs" -o "$scratch/stray.so"
  [[ $(problems "$scratch/stray.so" leveldb) == "stray: exported, and in no header" ]] || die "self-test: stray not seen"
  sed -i '/stray/d; /leveldb_open/d' "$stubs"
  gcc -shared -fPIC "$stubs" -o "$scratch/missing.so"
  [[ $(problems "$scratch/missing.so" leveldb) == "leveldb_open: declared, and not exported" ]] ||
    die "self-test: a missing function was not seen"
  gcc -shared -fPIC -Wl,-soname,libleveldb.so.1 "$stubs" -o "$scratch/libleveldb.so"
  printf 'void f(void);\nvoid leveldb_open(void) { f(); }\n' >>"$stubs"
  gcc -shared -fPIC "$stubs" -Wl,--no-as-needed "$scratch/libleveldb.so" -o "$scratch/needy.so"
  [[ $(problems "$scratch/needy.so" leveldb) == "needs libleveldb.so.1" ]] || die "self-test: a foreign need was not seen"
  say "self-test: 5 of 5 cases right"
}

if [[ ${1:-} == --self-test ]]; then
  self_test
  exit 0
fi
[[ $# == 1 && -f $1/CMakeCache.txt ]] || die "needs a build folder"
judge "$1/libmiodb.so" miodb
judge "$1/compat/libmiodb_leveldb.so" leveldb
# An archive has no list of needs; its objects name what they want.
if nm -C --undefined-only "$1/libmiodb.a" | grep -E '\b(leveldb|rocksdb)::'; then die "libmiodb.a: needs the above"; fi
say "libmiodb.a: needs no other store"
