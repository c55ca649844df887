#!/usr/bin/env bash
# The self-test of the model of slower memory: each preset waits as long as it should, and a model that is judged by the
# figures of another one does not.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"

main=tests/emulation/nvm_model_main
if [[ ! -x $main ]]; then
  echo "$main is not built"
  exit 77
fi

# Other programs make a wait longer now and then, and none shorter: one good try is enough. optane is left out, whose
# bandwidths are also those of the machine.
waits_as_it_should() {
  for ((tries = 0; tries < 20; tries++)); do
    run "$main" "$1"
    ((status != 0)) || return 0
  done
  return 1
}

run "$main" cxl
if ((status == 77)); then
  echo "$main measures nothing under a sanitizer"
  exit 77
fi

# falls MODEL PROMISED
falls() {
  run "$main" "$1" "$2"
  ((status == 1))
}

for preset in cxl cxl-switch cmm-h cmm-h:65536; do expect "$preset waits as it should" waits_as_it_should "$preset"; done
expect "cxl is not cxl-switch" falls cxl cxl-switch
expect "cxl-switch is not cmm-h" falls cxl-switch cmm-h
expect "cmm-h is not cxl-switch, by the misses" falls cmm-h cxl
passed
