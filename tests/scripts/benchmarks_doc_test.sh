#!/usr/bin/env bash
# docs/benchmarks.md: every section with figures has a command in the table of commands, and every command there is one
# that its script takes.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
need_python
doc="$MIODB_ROOT/docs/benchmarks.md"
status=0

# The rows of the table of commands.
commands() { sed -n '/^Commands of the tables/,/^## /p' "$doc" | grep -E '^\| [^-]' | grep -v '^| table '; }

# Headings of sections that have a table with a number in it.
sections() {
  awk '/^## / { title = substr($0, 4) } /^\|.*[0-9]/ && title != "Settings" && title != "Commands" { print title }' "$doc" | uniq
}
count=0
while IFS= read -r title; do
  count=$((count + 1))
  expect "a command is named for the section $title" grep -qi -- "$title" <<<"$(commands)"
done < <(sections)
expect "sections were found" test "$count" -ge 6

mkdir "$scratch/bin" "$scratch/db"
for program in db_bench ycsbc; do
  printf '#!/usr/bin/env bash\necho "%s: miodb 1.0, leveldb 1.23, rocksdb 7.8.3"\n' "$program" >"$scratch/bin/$program"
  chmod +x "$scratch/bin/$program"
done
count=0
while IFS= read -r line; do
  count=$((count + 1))
  read -ra words <<<"$line"
  rest=()
  # Options of the test go before "--", behind which are flags of the programs.
  for ((i = 1; i < ${#words[@]}; i++)); do
    if [[ ${words[i]} == -- ]]; then break; fi
    rest+=("${words[i]}")
  done
  run "$MIODB_ROOT/${words[0]}" "${rest[@]}" --bin "$scratch/bin" --db "$scratch/db" --out "$scratch/results" --no-plots \
    --dry-run "${words[@]:i}"
  # Too little room is the machine's fault.
  if grep -q "may be needed" "$scratch/err"; then continue; fi
  expect_status 0
  expect "$line runs something" grep -qE '/(db_bench|ycsbc) ' "$scratch/out"
done < <(commands | grep -oE "\`(benchmarks|test_sh)/[^\`]*\`" | tr -d "\`")
expect "commands were found" test "$count" -ge 6
passed
