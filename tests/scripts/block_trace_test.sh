#!/usr/bin/env bash
# tools/block_trace: tables of traces whose accesses are known, and wrong calls.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
need_python
blocks="$MIODB_ROOT/tools/block_trace"

run python3 "$MIODB_ROOT/tests/tools/block_trace_test.py"
expect_status 0

run "$blocks" --help
expect_status 0
expect_part "--cache_sizes"
run "$blocks" --trace_path="$scratch/none"
expect_status 1
expect_error_part "No such file or directory"
passed
