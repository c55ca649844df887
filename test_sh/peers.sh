#!/usr/bin/env bash
# Brings release builds of the peers into the folder peers/ of a build folder, where db_bench, ycsbc and miodb look first:
# RocksDB's own binary from the jar that its project publishes, and LevelDB compiled from the source package of the
# distribution with -O2 -DNDEBUG and checksums in hardware. Distributions build both with assertions.
#
#   test_sh/peers.sh [options]
#
#   --bin FOLDER       the build folder; default: build of this tree
#   --rocksdb VERSION  of the jar; default: see below
#   --help             this text
#
# The jar comes by Maven and the source by apt-get, each from where this machine is set up to get it; both check what they
# bring. peers/versions.txt names versions and checksums. Exit status: 0 both are there, 1 something is missing: then it
# says what, and the distribution's build serves, if that is installed.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

bin=$MIODB_ROOT/build
rocksdb=10.10.1.1
while (($# > 0)); do
  take_option "" "$@"
  shift "$option_words"
  case $option in
    --bin) bin=$value ;;
    --rocksdb) rocksdb=$value ;;
    *) die "unknown option $option; see --help" ;;
  esac
done
[[ -d $bin ]] || die "--bin: no folder $bin"

peers=$bin/peers
mkdir -p "$peers"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
exit_on_signals
missing=0

# lacks NAME REASON: what cannot be brought, loudly.
lacks() {
  say "**** $1: NO RELEASE BUILD ($2); the distribution's build serves, which has assertions: no ratio to it is a claim" >&2
  missing=1
}

# record NAME FILE: a line of versions.txt.
record() { say "$1 $(sha256sum "$2" | cut -d' ' -f1)" >>"$work/versions.txt"; }

# The jar's checksum is checked by Maven (-C: a wrong one is an error).
bring_rocksdb() {
  command -v mvn >/dev/null || { lacks RocksDB "mvn is not installed"; return; }
  command -v unzip >/dev/null || { lacks RocksDB "unzip is not installed"; return; }
  local jar=$work/rocksdbjni-$rocksdb-linux64.jar
  mvn -q -B -C dependency:copy "-Dartifact=org.rocksdb:rocksdbjni:$rocksdb:jar:linux64" "-DoutputDirectory=$work" \
    >"$work/mvn.log" 2>&1 || { lacks RocksDB "mvn did not bring rocksdbjni $rocksdb for linux64"; return; }
  unzip -q -o "$jar" librocksdbjni-linux64.so -d "$work"
  rm -f "$peers"/librocksdb.so*
  mv "$work/librocksdbjni-linux64.so" "$peers/librocksdb.so.$rocksdb"
  ln -s "librocksdb.so.$rocksdb" "$peers/librocksdb.so"
  record "rocksdbjni $rocksdb, jar" "$jar"
  record "librocksdb.so.$rocksdb" "$peers/librocksdb.so.$rocksdb"
}

# The apt sources of this machine with "deb-src" for "deb", in folders of its own, so that nothing of the system changes.
source_lists() {
  local file
  mkdir -p "$work/parts" "$work/lists/partial"
  for file in /etc/apt/sources.list.d/*.sources; do
    if [[ -f $file ]]; then sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/parts/$(basename "$file")"; fi
  done
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    if [[ -f $file ]]; then sed -n 's/^deb /deb-src /p' "$file" >"$work/parts/$(basename "$file" .list).list"; fi
  done
}

apt_source() {
  apt-get -q -o APT::Sandbox::User=root -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/parts" \
    -o "Dir::State::lists=$work/lists" "$@"
}

bring_leveldb() {
  local source version file
  command -v apt-get >/dev/null || { lacks LevelDB "there is no apt-get"; return; }
  command -v dpkg-source >/dev/null || { lacks LevelDB "dpkg-source is not installed (Debian package dpkg-dev)"; return; }
  source_lists
  if ! (cd "$work" && apt_source update && apt_source source leveldb) >"$work/apt.log" 2>&1; then
    lacks LevelDB "apt-get did not bring the source package leveldb"
    return
  fi
  source=$(find "$work" -maxdepth 1 -type d -name 'leveldb-*')
  version=$(sed -n 's/^Version: //p' "$work"/leveldb_*.dsc)
  # LevelDB takes checksums in hardware from a library that the distribution lacks; this header stands in for it.
  mkdir -p "$work/stand_in/crc32c"
  cat >"$work/stand_in/crc32c/crc32c.h" <<'END'
#include <nmmintrin.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
namespace crc32c {
inline uint32_t Extend(uint32_t crc, const uint8_t* data, size_t size) {
  uint64_t sum = ~crc;
  for (; size >= 8; data += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    sum = _mm_crc32_u64(sum, word);
  }
  uint32_t rest = static_cast<uint32_t>(sum);
  for (; size > 0; data++, size--) rest = _mm_crc32_u8(rest, *data);
  return ~rest;
}
}  // namespace crc32c
END
  if ! { cmake -S "$source" -B "$work/leveldb" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE="-O2 -DNDEBUG" \
    -DCMAKE_CXX_FLAGS="-msse4.2 -DHAVE_CRC32C=1 -I$work/stand_in" -DBUILD_SHARED_LIBS=ON -DLEVELDB_BUILD_TESTS=OFF \
    -DLEVELDB_BUILD_BENCHMARKS=OFF -DLEVELDB_INSTALL=OFF &&
    cmake --build "$work/leveldb" --parallel "$(nproc)" --target leveldb; } >"$work/cmake.log" 2>&1; then
    tail -n 5 "$work/cmake.log" >&2
    lacks LevelDB "it did not compile"
    return
  fi
  file=$(find "$work/leveldb" -maxdepth 1 -type f -name 'libleveldb.so.*' -print -quit)
  rm -f "$peers"/libleveldb.so*
  cp "$file" "$peers/"
  file=$(basename "$file")
  ln -s "$file" "$peers/libleveldb.so.1"
  ln -s "$file" "$peers/libleveldb.so"
  record "leveldb $version, source" "$(find "$work" -maxdepth 1 -name 'leveldb_*.orig.tar.*' -print -quit)"
  record "$file, -O2 -DNDEBUG -msse4.2" "$peers/$file"
}

bring_rocksdb
bring_leveldb
if [[ -e $work/versions.txt ]]; then
  mv "$work/versions.txt" "$peers/versions.txt"
  cat "$peers/versions.txt"
fi
exit "$missing"
