#!/usr/bin/env bash
# What test_sh/lib.sh promises to scripts: a signal to a script ends the program that it attends to, and then the script.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"

# A program that says when it is there and what it got, and one that waits for nothing. It ends by itself, later than a test waits.
cat >"$scratch/program" <<'END'
#!/usr/bin/env bash
trap 'echo "the program was ended"; exit 0' TERM
if [[ $1 == at_once ]]; then exit 7; fi
touch "$1"
for ((i = 0; i < 300; i++)); do read -rt 0.1 <> <(:) || true; done
echo "the program ended by itself"
END
cat >"$scratch/script" <<END
#!/usr/bin/env bash
set -euo pipefail
source "$MIODB_ROOT/test_sh/lib.sh"
exit_on_signals
trap 'echo "the script cleaned up"' EXIT
attended "$scratch/program" "\$1"
END
chmod +x "$scratch/program" "$scratch/script"

# signalled SIGNAL: sends it to the script when the program is there; waits for the script.
signalled() {
  "$scratch/script" "$scratch/there-$1" &
  local script=$!
  until [[ -e $scratch/there-$1 ]]; do sleep 0.01; done
  kill "-$1" "$script"
  wait "$script"
}

# A program that is started in the background ignores SIGINT, and so does the script here; a terminal's Ctrl-C is another matter.
run signalled TERM
expect_status 143
expect_same "the program ends first" <(printf '%s\n' "the program was ended" "the script cleaned up")

run "$scratch/script" at_once
expect_status 7
expect_line "the script cleaned up"

passed
