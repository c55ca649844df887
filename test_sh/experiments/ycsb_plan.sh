# shellcheck shell=bash
# The runs and plots of all YCSB workloads, for fig7_ycsb.sh and test_sh/ycsb.sh. Source it after lib.sh.

# plan_all_workloads RECORDS OPERATIONS FIELDS FIELD_BYTES THREADS WAIT: THREADS is a comma list; WAIT is true to let the
# engine finish its background work after every phase.
plan_all_workloads() {
  local thread_list count series bytes=$(($1 * ($3 * ($4 + 16) + 24))) words
  IFS=, read -ra thread_list <<<"$5"
  ((${#thread_list[@]} > 0)) || die "--threads needs a number"
  for count in "${thread_list[@]}"; do
    if ! is_whole_number "$count" || ((count == 0)); then die "--threads: \"$count\" is not a number above 0"; fi
    series="$count threads"
    if ((count == 1)); then series="1 thread"; fi
    words=(-threads "$count" -p "recordcount=$1" -p "operationcount=$2" -p "fieldcount=$3" -p "fieldlength=$4"
      -p "dbwaitforbalance=$6")
    plan_ycsb "$series" "load, A, B, C, F, D" "$bytes" load a b c f d -- "${words[@]}"
    plan_ycsb "$series" "load, E" "$bytes" reload e -- "${words[@]}"
    panel bars "Throughput, $series" "phase" "operations per second" load,a,b,c,f,d,reload,e ops_per_sec "series=$series"
    panel bars "99.9th percentile, $series" "phase and operation" "microseconds" \
      load-insert,a-read,a-update,b-read,c-read,d-read,d-insert,e-scan,f-read-modify-write p999_us "series=$series" log=y \
      better=less
  done
}
