#!/usr/bin/env bash
# Which files the scripts take for those of a database, name by name, and that they remove those and nothing else.

set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
# shellcheck source=tests/scripts/check.sh
source "$here/check.sh"
status=0 # no command was run yet
touch "$scratch/out" "$scratch/err"
# shellcheck source=test_sh/lib.sh
source "$MIODB_ROOT/test_sh/lib.sh"
# shellcheck source=test_sh/bench_lib.sh
source "$MIODB_ROOT/test_sh/bench_lib.sh"

files=(LOCK LOG CHECKPOINT READERS LOG.old LOG.old.1700000000123456 LOST STORE STORE.tmp WAL_OWNER POOL POOL.tmp
  pool pool.tmp pool.tmp.2 pool.repaired pool.repaired.tmp pool.damaged pool.damaged.2
  000001.log 000018-8192.log 000018-65536.log 1234567.log 000012.sst 000012.ldb 000012.dbtmp 000012.blob
  CURRENT IDENTITY MANIFEST-000004 OPTIONS-000007 OPTIONS-000007.dbtmp)
archived=(000017.log 000017.log.1700000000 000018-8192.log.1700000000)
foreign=(thesis.txt lock LOCKS LOG.older pool2 pool.bak pools 12.txt .log a.log 1.log.gz 1-2-3.log -8192.log MANIFEST
  OPTIONS- pool.damaged.x .bashrc "LOCK " "a b" CURRENT.old 000012.sst.bak archive.zip)
folders=(archive lost repair.tmp ssd ssd.repaired ssd.damaged ssd.damaged.2)

refuses() { ! "$@"; }
for name in "${files[@]}" "${archived[@]}"; do expect "$name is one of a database" is_database_file "$name"; done
for name in "${foreign[@]}"; do expect "$name is none" refuses is_database_file "$name"; done
for name in "${folders[@]}"; do expect "$name is a folder of one" is_database_folder "$name"; done
for name in archive2 src ssd.old . ..; do expect "$name is none" refuses is_database_folder "$name"; done

# What the sources name in a database's folder, now and later.
count=0
while IFS= read -r name; do
  count=$((count + 1))
  if [[ $name == repair.tmp ]]; then
    expect "$name is a folder of one" is_database_folder "$name"
  else
    expect "$name of src/format/file_names.h is one of a database" is_database_file "$name"
  fi
done < <(sed -nE 's|.*name \+ "/([^"]+)".*|\1|p' "$MIODB_ROOT/src/format/file_names.h")
expect "names were found" test "$count" -ge 6

# A folder with everything in it goes as a whole.
fill() {
  mkdir "$1"
  touch "${files[@]/#/$1/}"
  mkdir "${folders[@]/#/$1/}"
  touch "${archived[@]/#/$1/archive/}" "$1/ssd/POOL" "$1/ssd/LOCK" "$1/ssd/000001.sst" "$1/repair.tmp/LOCK"
}
fill "$scratch/db"
# In a shell of its own, because a refusal ends it.
remove() { run bash -c 'set -euo pipefail; source "$1/test_sh/lib.sh"; source "$1/test_sh/bench_lib.sh"; remove_database "$2"' \
  remove "$MIODB_ROOT" "$1"; }
remove "$scratch/db/"
expect_status 0
expect "nothing is left" test ! -e "$scratch/db"
remove "$scratch/db"
expect_status 0

# refuse WHAT COMMAND...: with what the command makes in a database, nothing of it is removed.
refuse() {
  local what=$1 before
  shift
  fill "$scratch/db"
  "$@"
  before=$(find "$scratch/db" | sort)
  remove "$scratch/db"
  expect_status 1
  expect_error_part "nothing was removed"
  expect "everything is left with $what" test "$(find "$scratch/db" | sort)" = "$before"
  rm -rf "$scratch/db"
}
refuse "a foreign file" touch "$scratch/db/thesis.txt"
refuse "a foreign file among archived logs" touch "$scratch/db/archive/thesis.txt"
refuse "a foreign folder" mkdir "$scratch/db/photos"
refuse "a folder called like a file" mkdir "$scratch/db/000099.log"
refuse "a file called like a folder in a folder" touch "$scratch/db/ssd/archive"
refuse "a folder in a folder" mkdir "$scratch/db/ssd/archive"
refuse "a link" ln -s /etc/passwd "$scratch/db/000099.sst"
refuse "a link to a folder" bash -c "rm -r '$scratch/db/archive'; ln -s '$scratch' '$scratch/db/archive'"
touch "$scratch/file"
remove "$scratch/file"
expect_status 1
expect_error_part "is not a folder"
run bash -c 'set -euo pipefail; source "$1/test_sh/lib.sh"; source "$1/test_sh/bench_lib.sh"; check_database_folder /' \
  check "$MIODB_ROOT"
expect_status 1
expect_error "check: / is not a database"
remove ""
expect_status 1
expect_error_part "the database has no path"
passed
