#!/usr/bin/env bash
# tools/hooks: a commit is made if every check passes, and refused by each that fails; the layout of staged sources alone
# is judged; subjects that are too long or name no folder are refused.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
if ! command -v git >/dev/null; then
  printf 'skipped: git is not installed\n'
  exit 77
fi

# A tree with the hooks and stand-ins for the checks: one that is named in the file "failing" fails.
tree=$scratch/tree
mkdir -p "$tree/test_sh" "$tree/tools/checks"
cp -r "$MIODB_ROOT/tools/hooks" "$tree/tools/"
cp "$MIODB_ROOT/test_sh/lib.sh" "$tree/test_sh/"
checks=(check_format.sh check_layers.py check_names.py check_prose.py check_hygiene.sh)
for check in "${checks[@]}"; do
  # shellcheck disable=SC2016  # a script's own words
  printf '#!/usr/bin/env bash\nprintf "%%s judged %%s\\n" "${0##*/}" "$*" >>judged\n! grep -q "${0##*/}" failing\n' \
    >"$tree/tools/checks/$check"
  chmod +x "$tree/tools/checks/$check"
done
cd "$tree"
: >failing
git init -q .
git config user.name tester
git config user.email tester@example.invalid
git config core.hooksPath tools/hooks

# commit SUBJECT: a commit with a new source, and another source that is not staged.
number=0
commit() {
  number=$((number + 1))
  : >judged
  printf 'int a%d;\n' "$number" >"staged$number.cc"
  printf 'int b;\n' >other.cc
  git add "staged$number.cc"
  run git commit -q -m "$1"
}

commit "util: this subject of a commit has exactly seventy-two columns, it is so"
expect_status 0
run cat judged
expect_line "check_format.sh judged staged1.cc"
for check in "${checks[@]:1}"; do expect_line "$check judged "; done

for check in "${checks[@]}"; do
  printf '%s\n' "$check" >failing
  commit "util: a commit"
  expect_status 1
done
: >failing
run git commit -q --allow-empty -m "util: no source is staged"
expect_status 0

for subject in "util: this subject of a commit has exactly seventy-three columns, it is:." "no folder" ": nothing" "util:x"; do
  commit "$subject"
  expect_status 1
done
commit 'Revert "util: a commit"'
expect_status 0
passed
