#!/usr/bin/env bash
# parser.sh and tail_latency.sh on recorded output: every block, the prototype's way to write figures, and what is missing.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
parser="$MIODB_ROOT/test_sh/parser.sh"

run "$parser" "$here/recorded"
expect_status 0
expect_same "every block of a complete run" "$here/recorded/expected.txt"
run "$parser" --present "$here/recorded"
expect_same "every block of a complete run, again" "$here/recorded/expected.txt"
mkdir "$scratch/part"
cp "$here"/recorded/memtable_size_*.out "$scratch/part"
run "$parser" --present "$scratch/part"
expect_status 0
expect "the block of what is there" test "$(grep -c -- "----------$" "$scratch/out")" = 1
expect_line "---------- memtable size: 64, 128, 256, 512 MB (Figure 12) ----------"

# The published build of the prototype glues units to numbers and says "flush time"; other lines have "wa" in them.
cp -r "$here/recorded" "$scratch/prototype"
cat >"$scratch/prototype/db_bench_random_4KB.out" <<'END'
./db_bench --num=20000000 --value_size=4096 --benchmarks=fillrandom,stats,readrandom,stats,wait,stats
fillrandom   :      10.300 micros/op;  380.7 MB/s
readrandom   :       5.000 micros/op;  770.0 MB/s (1000000 of 20000000 found)
stall time: 0us
flush time:  0us
wa: 0Bytes
Wait balance:12 s
stall time: 27854350us
flush time:  14296363us
wa: 120001366345Bytes
END
run "$parser" "$scratch/prototype"
expect_status 0
expect_line "Cumulative Stall: 27854350 us"
expect_line "Flushing Time: 14296363 us"
expect_line "Write Amplification: 2.4 X"

# A file without the command in its first line counts as 80 GB.
sed -i '1s/.*/no command/' "$scratch/prototype/db_bench_random_4KB.out"
run "$parser" --outfilepath "$scratch/prototype"
expect_line "Write Amplification: 2.4 X"

rm "$scratch/prototype/db_bench_seq_16KB.out" "$scratch/prototype/dateset_size_80GB.out"
mv "$scratch/prototype/dateset_size_120GB.out" "$scratch/prototype/dataset_size_120GB.out"
sed -i '/^dump time/d' "$scratch/prototype/memtable_size_64MB.out"
run "$parser" "$scratch/prototype"
expect_status 1
expect_line "db_bench_seq_16KB.out: the file is missing"
expect_line "dateset_size_80GB.out: the file is missing"
expect_line "memtable_size_64MB.out: dump time is missing"
expect_no_line "dateset_size_120GB.out: the file is missing"

run "$parser" "$scratch/nowhere"
expect_status 1
expect_error "parser.sh: no folder $scratch/nowhere with output files; run test_sh/auto.sh first"

for i in {1..1000}; do echo "No.$i 100 opeartions: use time:1.0 us  IOPS:1.0 iops  average latency:$i.000 micros/op"; done \
  >"$scratch/tail.out"
run "$MIODB_ROOT/test_sh/tail_latency.sh" "$scratch/tail.out"
expect_status 0
expect_line "tail.out: average of 100 operations, us: mean 500.500  P90 900.000  P99 990.000  P99.9 999.000  (1000 values)"
echo nothing >"$scratch/tail.out"
run "$MIODB_ROOT/test_sh/tail_latency.sh" "$scratch/tail.out" "$scratch/nowhere.out"
expect_status 1
expect_line "tail.out: no line with an average latency"
expect_line "nowhere.out: missing"
passed
