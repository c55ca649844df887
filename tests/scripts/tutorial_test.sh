#!/usr/bin/env bash
# docs/tutorial.md: its code stands in examples/tutorial.cc, and its commands print what it says.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
doc="$MIODB_ROOT/docs/tutorial.md"
build=$PWD
need_programs tutorial
status=0

# blocks KIND: the lines of the fenced blocks of that kind.
blocks() { awk -v fence="\`\`\`$1" '/^```/ { inside = $0 == fence; next } inside' "$doc"; }

count=0
while IFS= read -r line; do
  if [[ -z $line ]]; then continue; fi
  count=$((count + 1))
  expect "examples/tutorial.cc has the line: $line" grep -qxF -- "$line" "$MIODB_ROOT/examples/tutorial.cc"
done < <(blocks cpp)
expect "code was found" test "$count" -ge 10

mkdir "$scratch/run"
cd "$scratch/run"
ln -s "$build" build
# The persist mode is the file system's.
without_mode() { sed -E 's/^(persist mode:) .*/\1/'; }
blocks console | without_mode >"$scratch/wanted"
mapfile -t commands < <(sed -n 's/^\$ //p' "$scratch/wanted")
for command in "${commands[@]}"; do
  # A shell of its own, because one command kills itself.
  run bash -c "$command"
  if [[ $command == *" write "* ]]; then expect_status 137; else expect_status 0; fi
  { printf '$ %s\n' "$command" && cat "$scratch/out"; } >>"$scratch/all"
done
without_mode <"$scratch/all" >"$scratch/printed"
run cat "$scratch/printed"
expect "commands were found" test "${#commands[@]}" -ge 3
expect_same "the commands print what docs/tutorial.md says" "$scratch/wanted"
passed
