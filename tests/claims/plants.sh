#!/usr/bin/env bash
# Shows that verdicts can fail: plants one fault after the other in a copy of the sources, builds it, judges the claims
# there, and expects that exactly those fall that the fault concerns.
#
#   tests/claims/plants.sh [options]
#
#   --only=NAME     only this plant of tests/claims/plants/; what is the name of none is a regular expression
#   --claims=REGEX  only claims whose name matches (as --only of claims.sh); default: all of the first tier
#   --copy=FOLDER   where the copy and its build are; kept, so that the next run builds little. Default: a fresh folder
#                   that is removed
#   --db=FOLDER     as of claims.sh
#   --help          this text
#
# A plant is a patch, or a file that names a fault that crash_explorer can plant. Its first line says what it is;
# "falls:" names the claims that have to fall with it, "may fall:" those that may: neighbours of a timed claim, and what
# hangs on space that the fault takes more of. Without any plant none may fall that a plant is expected to bring down;
# this is looked at first. The last line is "N passed, M failed". It takes an hour on two cores.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

only=.
claims=
copy=
db=/dev/shm
while (($# > 0)); do
  take_option "" "$@"
  shift "$option_words"
  case $option in
    --only) only=$value ;;
    --claims) claims=$value ;;
    --copy) copy=$value ;;
    --db) db=$value ;;
    *) die "unknown option $option; see --help" ;;
  esac
done

plants=$MIODB_ROOT/tests/claims/plants
list_claims=("$MIODB_ROOT/test_sh/claims.sh" --list)
if [[ -e $plants/$only.patch || -e $plants/$only.mutant ]]; then only="^$only\$"; fi
targets=(db_bench crash_explorer db_stress operation_cost drop_cost reopen_cost stalls_agreement trace_analyzer
  tests.scaling.conflicts_test miodb_static miodb_shared)
scratch=$(mktemp -d)
exit_on_signals
trap 'rm -rf "$scratch"' EXIT
if [[ -z $copy ]]; then copy=$scratch/copy; fi
mkdir -p "$copy"
# Two of these in one copy would build each other's faults.
exec 8<"$copy"
flock -n 8 || die "another plants.sh works in $copy"

# The sources as they are, without what the plant before changed. A file that does not differ is left alone, so that it
# is not built again; one that does gets the time of now.
copy_sources() {
  local file
  (cd "$MIODB_ROOT" && source_files "*") | while IFS= read -r file; do
    cmp -s "$MIODB_ROOT/$file" "$copy/$file" && continue
    mkdir -p "$(dirname "$copy/$file")"
    cp --preserve=mode "$MIODB_ROOT/$file" "$copy/$file"
  done
}

build_copy() {
  (MIODB_ROOT=$copy && configure build -DCMAKE_BUILD_TYPE=Release -DMIODB_BUILD_TESTS=ON &&
    build build "$(nproc)" "${targets[@]}") >"$scratch/build.txt" 2>&1 || {
    tail -n 30 "$scratch/build.txt" >&2
    die "the copy does not build"
  }
}

# with_mutant PREFIX: a folder of programs in which crash_explorer plants the fault whose name begins so.
with_mutant() {
  local name
  name=$("$copy/build/crash_explorer" --list-mutants | awk -v p="$1" 'index($0, p) == 1 { sub(/: [^:]*$/, ""); print }')
  # The first of several may be one that few histories reach.
  [[ $(grep -c . <<<"$name") == 1 ]] || die "crash_explorer has not one fault $1 but: ${name:-none}"
  rm -rf "${scratch:?}/bin"
  mkdir "$scratch/bin"
  ln -s "$copy"/build/* "$scratch/bin/"
  rm "$scratch/bin/crash_explorer"
  # The run that plants faults itself is left alone.
  cat >"$scratch/bin/crash_explorer" <<END
#!/usr/bin/env bash
[[ "\$*" == *--mutants* ]] && exec "$copy/build/crash_explorer" "\$@"
exec "$copy/build/crash_explorer" --mutant="$name" --no-shrink "\$@"
END
  chmod +x "$scratch/bin/crash_explorer"
}

# fallen BIN: judges the claims with these programs; prints the names of those that do not hold.
fallen() {
  rm -rf "$scratch/out"
  "$copy/test_sh/claims.sh" --bin="$1" --only="$claims" --db="$db" --out="$scratch/out" >"$scratch/claims.txt" 2>&1 ||
    (($? == 1)) || die "claims.sh failed: $(tail -n 5 "$scratch/claims.txt")"
  awk '/^does not hold / { print $4 }' "$scratch/claims.txt" | sort
}

# named FILE WORD: the claims on the line that begins with the word, those that are judged at all.
named() {
  sed -n "s/^$2: //p" "$1" | tr ' ' '\n' | { grep -xF -f <(say "$judged") || true; } | sort
}

passed=0
failed=0
verdict() {
  say "$1"
  if [[ $2 == ok ]]; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

# The last line of the list has the time that they take.
judged=$("${list_claims[@]}" --only="$claims" | sed '$d' | awk '{ print $2 }')
copy_sources
build_copy
without=$(fallen "$copy/build")
say "without a plant these do not hold: ${without:-none}"
for plant in "$plants"/*; do
  name=$(basename "$plant")
  name=${name%.*}
  [[ $name =~ $only ]] || continue
  bin=$copy/build
  if [[ $plant == *.patch ]]; then (cd "$copy" && patch -s -p1 <"$plant") || die "$name does not apply any more"; fi
  build_copy  # of a mutant too: the plant before is out of the sources, not of the programs
  if [[ $plant == *.mutant ]]; then
    with_mutant "$(sed -n 's/^mutant: //p' "$plant")"
    bin=$scratch/bin
  fi
  fell=$(fallen "$bin")
  copy_sources
  expected=$(named "$plant" falls)
  missing=$(comm -23 <(say "$expected") <(say "$fell") | grep . || true)
  allowed=$(sort -u <(say "$expected") <(named "$plant" 'may fall') <(say "$without"))
  more=$(comm -13 <(say "$allowed") <(say "$fell") | grep . || true)
  already=$(comm -12 <(say "$expected") <(say "$without") | grep . || true)
  if [[ -n $already ]]; then
    verdict "$name: FAILED: does not hold without it either: $already" failed
  elif [[ -z $missing && -z $more ]]; then
    verdict "$name: fell as expected: $(tr '\n' ' ' <<<"$expected")" ok
  else
    verdict "$name: FAILED: did not fall: ${missing:-none}; fell too: ${more:-none}" failed
    sed -n '/^does not hold/p' "$scratch/claims.txt"
  fi
done
build_copy
say "$passed passed, $failed failed"
((failed == 0))
