#!/usr/bin/env bash
# Checks that every .cc and .h is as clang-format 14 lays it out.
#
#   tools/checks/check_format.sh [FILE...]     check all, or these
#   tools/checks/check_format.sh --fix         lay the files out
#   tools/checks/check_format.sh --self-test   prove that a badly laid out file fails

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

# Versions differ in where they break lines, so one is pinned.
clang_format=$(command -v clang-format-14 || command -v clang-format || true)
[[ -n $clang_format && $("$clang_format" --version) == *"version 14."* ]] || die "clang-format 14 is needed"

self_test() {
  local folder
  folder=$(mktemp -d)
  # shellcheck disable=SC2064  # the folder of now is meant
  trap "rm -rf '$folder'" EXIT
  cp "$MIODB_ROOT/.clang-format" "$folder"
  printf 'int F(int a) { return a; }\n' >"$folder/good.cc"
  printf 'int F( int a ) {return a;}\n' >"$folder/bad.cc"
  "$clang_format" --dry-run -Werror "$folder/good.cc" || die "self-test: a good file failed"
  if "$clang_format" --dry-run -Werror "$folder/bad.cc" 2>/dev/null; then die "self-test: a bad file passed"; fi
  say "self-test: 2 of 2 cases right"
}

cd "$MIODB_ROOT"
case ${1:-} in
  '' | --*) mapfile -t files < <(source_files '*.cc' '*.h') ;;
  *) files=("$@") && set -- ;;
esac
case ${1:-} in
  --self-test) self_test ;;
  --fix) "$clang_format" -i "${files[@]}" ;;
  '')
    ((${#files[@]} > 0)) || die "nothing was judged: no .cc or .h found"
    bad=0
    for file in "${files[@]}"; do
      "$clang_format" --dry-run -Werror "$file" >/dev/null 2>&1 || {
        say "$file: tools/checks/check_format.sh --fix would change it"
        bad=$((bad + 1))
      }
    done
    say "${#files[@]} files judged, $bad problems"
    ((bad == 0))
    ;;
  *) die "unknown argument $1" ;;
esac
