#!/usr/bin/env bash
# miodb_test.sh and auto.sh with stand-ins for db_bench and ycsbc: the commands they run, the files they leave, what they
# refuse to remove, and what happens after a failure and an interruption.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
one_test="$MIODB_ROOT/test_sh/miodb_test.sh"
auto="$MIODB_ROOT/test_sh/auto.sh"

# The stand-ins make what looks like a database and print their arguments; "fail" and "interrupt" are orders to them.
mkdir "$scratch/bin"
cat >"$scratch/bin/db_bench" <<'END'
#!/usr/bin/env bash
here=$(dirname "$0")
echo "$*" >>"$here/calls"
if [[ -e $here/fail ]]; then echo "put error: NoSpace" >&2; exit 1; fi
for word in "$@"; do case $word in --db=*) db=${word#*=} ;; esac; done
mkdir -p "$db" && touch "$db/LOCK" "$db/LOG" "$db/pool"
echo "fillrandom   :       1.000 micros/op;  100.0 MB/s"
echo "wa: 1"
if [[ -e $here/interrupt ]]; then kill -INT "$PPID"; sleep 0.1; fi
exit 0
END
chmod +x "$scratch/bin/db_bench"
ln -s db_bench "$scratch/bin/ycsbc"
common=(--bench_path "$scratch/bin" --db_path "$scratch/db")

calls() { if [[ -e $scratch/bin/calls ]]; then wc -l <"$scratch/bin/calls"; else echo 0; fi; }
expect_calls() { expect "$1 calls" test "$(calls)" = "$1"; }

# Whoever else may write to TMPDIR may have put a link there.
content="what another user's file holds"
printf '%s\n' "$content" >"$scratch/victim"
ln -s "$scratch/victim" "$scratch/miodb_compare.lock"
run "$one_test" "${common[@]}" --outfile "$scratch/one.out" --scale 0.001
expect_status 0
expect "no link is followed" test "$(cat "$scratch/victim")" = "$content"
expected="--num=20000 --value_size=4096 --benchmarks=fillrandom,stats,readrandom,stats --reads=1000 --compression_ratio=1 \
--db=$scratch/db --keys_per_datatable=2097152 --dram_node=0 --nvm_node="
expect "the flags of the prototype's script" grep -qF -- "$expected" "$scratch/bin/calls"
expect "the command comes first" grep -qxF -- "$scratch/bin/db_bench $(cat "$scratch/bin/calls")" <(head -n 1 "$scratch/one.out")
expect "the output follows" grep -qx "wa: 1" "$scratch/one.out"
expect "the database is removed" test ! -e "$scratch/db"

run "$one_test" "${common[@]}" --outfile "$scratch/one.out" --scale 0.001 --resume
expect_status 0
expect_calls 1
run "$one_test" "${common[@]}" --outfile "$scratch/one.out" --scale 0.002 --resume
expect_status 1
expect_error_part "--resume: $scratch/one.out was made with other options: \"$scratch/bin/db_bench --num=20000 "
expect_calls 1

rm "$scratch/bin/calls"
run env size=100 write_key_num=50 "$one_test" "${common[@]}" --outfile="$scratch/env.out" --test_type=fillseq
expect "variables come from the environment" \
  grep -q -- "--num=50 --value_size=100 --benchmarks=fillseq --reads=1000000 " "$scratch/bin/calls"

rm "$scratch/bin/calls"
run "$one_test" RUN_VALUE_TEST "${common[@]}" --outfilepath "$scratch/values" --test_size 1048576 --value_array 1024,4096
expect_status 0
expect_calls 6
for file in rwrr-1024 fillseq-1024 readseq-1024 rwrr-4096 fillseq-4096 readseq-4096; do
  expect "there is $file.out" test -s "$scratch/values/$file.out"
done
expect "keys follow from the size" grep -q -- "--num=256 --value_size=4096 --benchmarks=fillseq,stats " "$scratch/bin/calls"

# Called with sh, whatever that is, they run in bash.
for script in "$one_test" "$auto" "$MIODB_ROOT/test_sh/parser.sh" "$MIODB_ROOT/test_sh/tail_latency.sh"; do
  run sh "$script" --help
  expect_status 0
  expect "the help is shown" grep -q "  test_sh/$(basename "$script") " "$scratch/out"
done
run sh "$one_test" RUN_VALUE_TEST "${common[@]}" --dry-run
expect_status 0
expect "twelve commands" test "$(wc -l <"$scratch/out")" = 12
# No program is needed for it.
for script in "$one_test" "$auto"; do
  run "$script" --bench_path "$scratch/nowhere" --db_path "$scratch/db" --outfilepath "$scratch/none" --dry-run
  expect_status 0
  expect_part "$scratch/nowhere/db_bench --num="
done

# Nothing but databases is removed.
mkdir "$scratch/home"
touch "$scratch/home/LOCK" "$scratch/home/thesis.txt"
run "$one_test" --bench_path "$scratch/bin" --db_path "$scratch/home"
expect_status 1
expect_error "miodb_test.sh: $scratch/home is not a database, $scratch/home/thesis.txt does not belong to one; nothing was removed"
expect "everything is still there" test -e "$scratch/home/LOCK"
mkdir "$scratch/home/pool"
rm "$scratch/home/thesis.txt"
run "$auto" --bench_path "$scratch/bin" --db_path "$scratch/home" --only random
expect_status 1
expect_error_part "$scratch/home/pool does not belong to one"
run "$one_test" --bench_path "$scratch/bin" --db_path ""
expect_status 1
expect_error_part "the database has no path"

# Errors come before anything starts.
rm -f "$scratch/bin/calls"
for words in "--scale 0" "--scale x" "--size 0" "--value_array 1,x" "--unknown 1" "--bench_path /nowhere"; do
  read -ra list <<<"$words"
  run "$one_test" "${common[@]}" "${list[@]}"
  expect_status 1
  expect "one line tells why $words is wrong" test "$(wc -l <"$scratch/err")" = 1
done
run "$auto" "${common[@]}" --only random,nonsense
expect_error_part '--only: no stage "nonsense"'
expect_calls 0

# A run that fails leaves no output file, and one that is interrupted none but those of the runs before it.
touch "$scratch/bin/fail"
run "$one_test" "${common[@]}" --outfile "$scratch/failed.out" --scale 0.001
expect_status 1
expect_error_part "put error: NoSpace"
expect "there is no file" test ! -e "$scratch/failed.out"
rm "$scratch/bin/fail"

run "$auto" "${common[@]}" --outfilepath "$scratch/auto" --scale 0.001 --only random,memtable --dry-run
expect_status 0
expect "nothing was run" test ! -e "$scratch/auto"
expect "eight commands" test "$(wc -l <"$scratch/out")" = 8

rm -f "$scratch/bin/calls"
run "$auto" "${common[@]}" --outfilepath "$scratch/auto" --scale 0.001 --only random
expect_status 0
expect_calls 4
touch "$scratch/bin/interrupt"
run "$auto" "${common[@]}" --outfilepath "$scratch/auto" --scale 0.001 --only random,memtable --resume
expect_status 130
rm "$scratch/bin/interrupt"
expect "what was finished is there" test -s "$scratch/auto/db_bench_random_64KB.out"
expect "what was not is not" test ! -e "$scratch/auto/memtable_size_64MB.out"
expect "the database is removed" test ! -e "$scratch/db"
rm -f "$scratch/bin/calls"
run "$auto" "${common[@]}" --outfilepath "$scratch/auto" --scale 0.001 --only random,memtable --resume
expect_status 0
expect_calls 4
expect "the last memtable is scaled like the data" grep -q -- "--write_buffer_size=536871 " "$scratch/bin/calls"
expect_line "---------- memtable size: 64, 128, 256, 512 MB (Figure 12) ----------"
expect "figures of what ran are printed" grep -q '^fillrandom   : ' "$scratch/out"
expect "nothing is said of the files of other stages" test -z "$(grep "file is missing" "$scratch/out")"
expect "nor of the stages" test -z "$(grep -E -- "-- (sequential|YCSB|Tail|data set|Write Ampl).* --" "$scratch/out")"
expect "and kept" grep -q '^fillrandom   : ' "$scratch/auto/parsed.txt"
run "$auto" "${common[@]}" --only random,memtable --dry-run
expect "at scale 1 the last memtable is the published one" grep -q -- "memtable_size_512MB.*--write_buffer_size=536870912" "$scratch/out"
expect "and so are the others" grep -q -- "random_64KB.*--write_buffer_size=67108864" "$scratch/out"

# What was made with other options does not go together with what is made now, and nothing is run before that is said.
rm -f "$scratch/bin/calls" "$scratch/auto/db_bench_random_1KB.out"
for options in "--scale 0.002" "--scale 0.001 --comp_ratio 0.5" "--scale 0.001 --write_buffer_size 1048577"; do
  read -ra words <<<"$options"
  run "$auto" "${common[@]}" --outfilepath "$scratch/auto" "${words[@]}" --only random,memtable --resume
  expect_status 1
  expect_error_part "--resume: $scratch/auto/db_bench_random_4KB.out was made with other options: "
  expect_error_part "Give those it was begun with, or another folder, or remove the file"
done
expect_calls 0
run "$auto" "${common[@]}" --outfilepath "$scratch/auto" --scale 0.001 --only random,memtable --resume
expect_status 0
expect_calls 1

rm -f "$scratch/bin/calls"
run "$auto" "${common[@]}" --outfilepath "$scratch/auto" --scale 0.001 --only dataset,ycsb,tail
expect_status 0
expect "the rightly spelled name is a link" test "$(readlink "$scratch/auto/dataset_size_40GB.out")" = dateset_size_40GB.out
expect "YCSB's counts are scaled" grep -q -- "1KB_busy -dbpath $scratch/db -p recordcount=80000 -p operationcount=10000 " "$scratch/bin/calls"
rm -f "$scratch/bin/calls"
run env -C "$scratch" "$auto" "${common[@]}" --outfilepath auto --scale 0.001 --only dataset,ycsb,tail --resume
expect_status 0
expect_calls 0
passed
