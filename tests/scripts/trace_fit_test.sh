#!/usr/bin/env bash
# tools/trace_fit: its fits, a small analysis from files to command line, wrong calls, and a system without SciPy.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
fit="$MIODB_ROOT/tools/trace_fit"
if [[ ! -x /usr/bin/python3 ]] || ! /usr/bin/python3 -c "import scipy" 2>/dev/null; then
  printf 'skipped: needs SciPy (Debian package python3-scipy)\n'
  exit 77
fi
export OPENBLAS_NUM_THREADS=1

run "$MIODB_ROOT/tests/tools/trace_fit_test.py"
expect_status 0

out="$scratch/analysis"
mkdir "$out"
printf '%s\n' type,cf,queries,share,unique_keys get,0,60,0.6,3 put,0,30,0.3,3 iterator_Seek,0,10,0.1,1 \
  >"$out/t-composition.csv"
printf '16 2\n24 1\n' >"$out/t-get-0-accessed_key_size_distribution.txt"
printf '0 20\n4 25\n9 15\n' >"$out/t-get-0-whole_key_stats.txt"
printf '0 8 0 5 1.000000\n0 16 1 10 1.000000\n0 24 2 15 1.000000\n' >"$out/t-put-0-accessed_key_stats.txt"
printf '20 10 0 0 0 0 3 0 33\n20 10 0 0 0 0 4 0 34\n20 10 0 0 0 0 3 0 33\n' >"$out/t-qps_stats.txt"
cat >"$scratch/expected" <<END
Mix: gets 0.6000, writes 0.3000, scans 0.1000 of 100 queries

left out: NotFound: $out/t-put-0-accessed_value_size_distribution.txt: No such file or directory

left out: NotFound: $out/t-iterator-0-scan_length_distribution.txt: No such file or directory

Key sizes: 3, mean 18.667, standard deviation 3.771
  too few different values to fit a curve

Range hotness: no range has twice its share; one range is assumed

Key hotness: from 0 keys with enough accesses
  too few to fit: keys of a range count as alike

Rate: 2 seconds
  constant     fit error 0.500  d=33.5
  too short for a sine or a polynomial: 16 seconds at least

Pearson correlations of rates by second:
  get and iterator_Seek: 0.0000
  get and put: 0.0000
  iterator_Seek and put: 0.0000

Pearson correlations over the keys of puts:
  value size and accesses: 1.0000
  value size and place: 1.0000
  accesses and place: 1.0000

A workload like this:

db_bench --benchmarks=mixgraph --use_existing_db=true --reads=100 --mix_get_ratio=0.6 --mix_put_ratio=0.3 \
--mix_seek_ratio=0.1 --key_size=19 --num=10 --keyrange_num=1 --sine_a=0 --sine_b=0 --sine_c=0 --sine_d=33.5 \
--sine_mix_rate_interval_milliseconds=1000
END
run "$fit" --input_dir="$out" --input_prefix t -keyrange_num=2 num=10
expect_status 0
expect_same "the text for a small analysis" "$scratch/expected"
expect_error "'num=10' taken as '--num=10'"

# refused ERROR WORDS...: the call fails with this line alone.
refused() {
  local error=$1
  shift
  run "$fit" "$@"
  expect_status 1
  expect_error "trace_fit: $error"
  expect "an error in one line, and nothing besides" test "$(cat "$scratch/out" "$scratch/err" | wc -l)" = 1
}
refused "--input_dir is missing: it names trace_analyzer's output_dir"
refused "Invalid flag '--no_such_flag=1'" --input_dir="$out" --no_such_flag=1
refused "Invalid flag 'word': a flag starts with a dash" word
refused "Invalid flag '--num': it needs a value" --num
refused "Invalid flag '--keyrange_num=0': '0' is not a decimal integer from 1 to 9223372036854775807" --keyrange_num=0
refused "NotFound: $scratch/none/trace-composition.csv: No such file or directory" --input_dir="$scratch/none"
refused "NotFound: column family 5: no accesses" --input_dir="$out" --input_prefix=t --cf=5
refused "Invalid argument: --access=merge: the analysis has no accesses of this kind" --input_dir="$out" \
  --input_prefix=t --access=merge
refused "Invalid argument: --num=7: the files show 10 keys" --input_dir="$out" --input_prefix=t --num=7
printf '5 1\n' >>"$out/t-get-0-whole_key_stats.txt"
refused "Corruption: $out/t-get-0-whole_key_stats.txt: line 4: 5 1" --input_dir="$out" --input_prefix=t
printf '12 1' >"$out/t-get-0-whole_key_stats.txt"
refused "Corruption: $out/t-get-0-whole_key_stats.txt: line 1 has no end: it is cut short" --input_dir="$out" \
  --input_prefix=t
rm "$out/t-get-0-whole_key_stats.txt"

full() { "$fit" --input_dir="$out" --input_prefix=t >/dev/full; }
run full
expect_status 1
expect_error "trace_fit: IO error: standard output: No space left on device"
closed() { "$fit" --input_dir="$out" --input_prefix=t >&-; }
run closed
expect_status 1
expect_error "trace_fit: IO error: standard output: Bad file descriptor"

run "$fit" --help
expect_status 0
expect_line '  --input_prefix="trace"                what their names begin with'
expect_line '  --keyrange_num=30                     key ranges of the model; 1: none'

mkdir "$scratch/without"
printf 'raise ImportError("not here")\n' >"$scratch/without/scipy.py"
export PYTHONPATH="$scratch/without"
refused "SciPy is not installed (Debian package python3-scipy): not here" --input_dir="$out" --input_prefix=t
passed
