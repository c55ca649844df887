#!/usr/bin/env bash
# DRAM in front of a pool in slower memory, as its first region or as a cache of records, by the share of the data that this DRAM
# could hold. 40 GB times the scale of records of YCSB are loaded, merges end, and workload C reads them. MioDB only.
#
# The first region is filled first; the rest of the pool is in a region of slower memory, which is modelled. With
# record_cache_size, all of the pool is slower memory, and records that are read often are kept in as much DRAM.
#
#   --shares LIST      percent of the data that the DRAM may hold. Default: 10
#   --models LIST      slower memory: cxl, optane. Default: cxl,optane
#   --lengths LIST     bytes of a record's value. Default: 1000,4000
#   --last FOLDER      where the last region lies; --db says where the first one does. Default: /dev/shm

set -euo pipefail
# shellcheck source=test_sh/experiments/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

program=ycsbc
engines=miodb
shares=10
models=cxl,optane
lengths=1000,4000
last=/dev/shm
own_options="shares models lengths last"
experiment heat "DRAM in front of slower memory" "$@"
check_miodb_alone
[[ -d $last ]] || die "--last: $last is no folder"
check_sizes shares lengths
declare -A two_media=([cxl]=cxl_behind_dram.model [optane]=two_media.model)
IFS=, read -ra share_list <<<"$shares"
IFS=, read -ra model_list <<<"$models"
IFS=, read -ra length_list <<<"$lengths"
pool_file=$last/miodb_heat_$$.region # removed before each run and at the end
operations=$(scaled 200000000 "$scale" 100000)

# plan_dram SERIES SHARE DATA RECORDS LENGTH DISTRIBUTION SETTING...
plan_dram() {
  local words=(-threads 1 -p "recordcount=$4" -p "operationcount=$operations" -p fieldcount=1 -p "fieldlength=$5"
    -p dbwaitforbalance=true -p "requestdistribution=$6") setting
  for setting in "${@:7}"; do words+=(-p "$setting"); done
  plan_ycsb "$1, $6" "$2" "$3" load c -- "${words[@]}"
}

for model in "${model_list[@]}"; do
  [[ -n ${two_media[$model]:-} ]] || die "--models: \"$model\" is neither cxl nor optane"
  for length in "${length_list[@]}"; do
    count=$(count_of 40000000000 "$length")
    data=$((count * (length + 40)))
    for share in "${share_list[@]}"; do
      dram=$((data * share / 100 / 4096 * 4096))
      for distribution in zipfian uniform; do
        plan_dram "$model $length B: region" "$share" "$data" "$count" "$length" "$distribution" "pool_size=$dram" \
          nvm_regions=@POOL@ "nvm_model=$experiments_folder/${two_media[$model]}"
        plan_dram "$model $length B: records" "$share" "$data" "$count" "$length" "$distribution" "nvm_model=$model" \
          "record_cache_size=$dram"
        plan_dram "$model $length B: none" "$share" "$data" "$count" "$length" "$distribution" "nvm_model=$model"
      done
    done
    pairs=
    for distribution in zipfian uniform; do
      pairs+="${pairs:+;}$model $length B: records, $distribution|$model $length B: region, $distribution"
    done
    panel lines "Gets of $length B, $model" "percent of the data that the DRAM may hold" "operations per second" c ops_per_sec \
      "series=$model $length B: region, zipfian;$model $length B: records, zipfian;$model $length B: none, zipfian;$model $length B: region, uniform;$model $length B: records, uniform;$model $length B: none, uniform" \
      "versus=$pairs"
  done
done
run_all
