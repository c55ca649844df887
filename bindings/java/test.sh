#!/usr/bin/env bash
# Builds the jar with its native library and Javadoc, and runs its tests.
#
#   bindings/java/test.sh [--keep=FOLDER] [--bench[=ARGUMENTS]] [--stores]
#
#   --keep=FOLDER        copy the jars to this folder
#   --bench[=ARGUMENTS]  run the benchmark against RocksDB instead of the tests, with these arguments of JMH
#   --stores             tell what 300 databases in one JVM cost, instead of the tests
#   --help               this text
#
# Installs missing packages first (test_sh/install_deps.sh --bindings); the rest comes from Maven Central. The engine is that
# of build/, where its library is built if it is not there. The last line is "N passed, N failed". Exit status: 0 all
# passed, 1 something failed.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"
# shellcheck source=bindings/jvm_tests.sh
source "$MIODB_ROOT/bindings/jvm_tests.sh"

bench=false
stores=false
bench_arguments=()
keep=
for argument in "$@"; do
  case $argument in
    --keep=*) keep=$(realpath "${argument#*=}") ;;
    --bench) bench=true ;;
    --bench=*)
      bench=true
      read -ra bench_arguments <<<"${argument#*=}"
      ;;
    --stores) stores=true ;;
    *) help_or_die "$argument" ;;
  esac
done

exit_on_signals
"$MIODB_ROOT/test_sh/install_deps.sh" --bindings
if [[ ! -f $MIODB_ROOT/build/CMakeCache.txt ]]; then configure build -DCMAKE_BUILD_TYPE=Release; fi
build build "$(nproc)" miodb_leveldb_static >/dev/null
cd "$MIODB_ROOT/bindings/java"
scratch=$(mktemp -d "$(scratch_parent $((2 << 30)))/miodb_java.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
maven=(mvn -q -B "-Dmiodb.build=$MIODB_ROOT/build" "-Dmiodb.tmpdir=$scratch")

if $bench; then
  "${maven[@]}" -Pbench compile dependency:build-classpath -Dmdep.outputFile="$scratch/classpath"
  java -Djava.io.tmpdir="$scratch" -cp "target/bench-classes:$(<"$scratch/classpath")" org.openjdk.jmh.Main \
    "${bench_arguments[@]}"
  exit 0
fi

if $stores; then
  "${maven[@]}" test-compile
  java -cp target/test-classes:target/classes org.miodb.ManyStoresMain "$scratch" 300
  exit 0
fi

rm -rf target/surefire-reports
mkdir "$scratch/jvms"
status=0
# Without the escapes that Maven ends with: the last line has to be the count.
"${maven[@]}" "-Dmiodb.jvm=$(checked_jvm "$scratch/jvms")" verify 2>&1 | sed 's/\x1b\[[0-9;]*m//g' || status=1
count_tests "$status" "$scratch/jvms" target/surefire-reports/*.txt
if ((passed > 0)); then prove_jni_check "$scratch/planted"; fi
if [[ -n $keep ]] && ((bad == 0)); then cp target/*.jar "$keep"; fi
say "$passed passed, $bad failed"
((bad == 0))
