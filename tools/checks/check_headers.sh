#!/usr/bin/env bash
# Checks that every public header compiles alone, and twice in a row, as C++11 and C++20, with gcc and clang. Headers named
# c.h also have to be C: C99 and C11.
#
#   tools/checks/check_headers.sh               check include/miodb/*.h and include/compat/leveldb/
#   tools/checks/check_headers.sh --self-test   prove that a header which needs another one, or C++17, fails

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

clang=$(command -v clang-14 || command -v clang || true)
[[ -n $clang ]] || die "no clang; install clang-14"
compilers=(gcc "$clang")

# check_headers_in INCLUDE_FOLDER
check_headers_in() {
  local header name compiler level levels count=0 problems=0
  for header in "$1"/miodb/*.h "$1"/compat/leveldb/*.h "$1"/compat/leveldb/*/*.h; do
    [[ -f $header ]] || continue
    name=${header#"$1"/}
    name=${name#compat/}
    levels=(c++11 c++20)
    if [[ $name == */c.h ]]; then levels+=(c99 c11); fi
    for compiler in "${compilers[@]}"; do
      for level in "${levels[@]}"; do
        count=$((count + 1))
        printf '#include "%s"\n#include "%s"\n' "$name" "$name" |
          "$compiler" -std="$level" -Wall -Wextra -Wshadow -Wpedantic -Werror -I"$1" -I"$1/compat" -fsyntax-only \
            -x "${level%%[0-9]*}" - || {
          say "$name does not compile alone as $level with $(basename "$compiler")"
          problems=$((problems + 1))
        }
      done
    done
  done
  say "$count compilations, $problems problems"
  ((count > 0 && problems == 0))
}

# expect WORD HEADER_TEXT [NAME]: the header must pass or fail.
expect() {
  local folder verdict=fail
  folder=$(mktemp -d)
  mkdir "$folder/miodb"
  if [[ -n $2 ]]; then printf '%s\n' "$2" >"$folder/miodb/${3:-planted.h}"; fi
  if check_headers_in "$folder" >/dev/null 2>&1; then verdict=pass; fi
  rm -rf "$folder"
  [[ $verdict == "$1" ]] || die "self-test: expected $1, got $verdict for: $2"
}

case ${1:-} in
  --self-test)
    expect pass $'#pragma once\n#include <string>\ninline std::string f() { return ""; }'
    expect fail $'#pragma once\ninline std::string f() { return ""; }'
    expect fail $'#include <string>\ninline std::string f() { return ""; }'
    expect fail $'#pragma once\n#include <string_view>\ninline std::string_view f() { return ""; }'
    expect fail $'#pragma once\ninline int f(int unused) { return 0; }'
    expect fail ''
    expect pass $'#pragma once\n#include <stddef.h>\nsize_t f(void);' c.h
    expect fail $'#pragma once\n#include <cstddef>\nstd::size_t f();' c.h
    say "self-test: 8 of 8 cases right"
    ;;
  '') check_headers_in "$MIODB_ROOT/include" ;;
  *) die "unknown argument $1" ;;
esac
