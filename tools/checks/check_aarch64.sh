#!/usr/bin/env bash
# Checks that the library compiles for aarch64, with Debian's cross compiler. Nothing is linked or run.
#
#   tools/checks/check_aarch64.sh               check every source of the library
#   tools/checks/check_aarch64.sh --self-test   prove that a source which needs x86-64 fails

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

compiler=aarch64-linux-gnu-g++
command -v "$compiler" >/dev/null || die "no $compiler; install g++-aarch64-linux-gnu"
folder=$(mktemp -d)
exit_on_signals
trap 'rm -rf "$folder"' EXIT

# The headers of other libraries, which are the same for all machines, without those of this machine's C library.
for header in libpmem.h xxhash.h numa.h numaif.h numacompat1.h liburing.h snappy.h snappy-c.h snappy-sinksource.h \
  snappy-stubs-public.h zstd.h zdict.h zstd_errors.h liburing; do
  for from in /usr/include "/usr/include/$(gcc -print-multiarch)"; do
    if [[ -e $from/$header ]]; then ln -sf "$from/$header" "$folder/"; fi
  done
done

# compiles FILE...: each of them alone, as many at once as there are CPUs.
compiles() {
  printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" "$compiler" -std=c++20 -fsyntax-only -Wall -Wextra -Wshadow -Werror \
    -DNDEBUG -DMIODB_VERSION_MAJOR=1 -DMIODB_VERSION_MINOR=0 -I"$MIODB_ROOT" -I"$MIODB_ROOT/include" -isystem "$folder"
}

case ${1:-} in
  --self-test)
    printf '#include "src/util/clock/cpu_relax.h"\nvoid f() { miodb::CpuRelax(); }\n' >"$folder/good.cc"
    printf 'void f() { __builtin_ia32_pause(); }\n' >"$folder/bad.cc"
    compiles "$folder/good.cc" || die "self-test: what is portable does not compile"
    if compiles "$folder/bad.cc" 2>/dev/null; then die "self-test: an instruction of x86-64 compiles"; fi
    say "self-test: 2 of 2 cases right"
    ;;
  '')
    mapfile -t sources < <(cd "$MIODB_ROOT" && find src pmtable compaction -name '*.cc' | sort)
    cd "$MIODB_ROOT"
    compiles "${sources[@]}" || die "see above"
    say "${#sources[@]} sources compile"
    ;;
  *) die "unknown argument $1" ;;
esac
