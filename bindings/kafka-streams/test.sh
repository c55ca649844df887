#!/usr/bin/env bash
# Builds the jar of the Kafka Streams stores with its Javadoc, and runs its tests: Kafka's own suites among them, with the
# newest and with the oldest version of Kafka that the stores are for.
#
#   bindings/kafka-streams/test.sh [--keep=FOLDER] [--offline] [--broker[=ARGUMENTS]]
#
#   --keep=FOLDER          copy the jars to this folder
#   --offline              Maven fetches nothing: all that is needed is in its local repository
#   --broker[=ARGUMENTS]   run the demo with a broker and kills instead, with these arguments of demo/run.sh
#   --help                 this text
#
# Installs missing packages first (test_sh/install_deps.sh --bindings); the rest comes from Maven Central. The engine is that
# of build/, where its library is built if it is not there. The last line is "N passed, N failed". Exit status: 0 all
# passed, 1 something failed.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"
# shellcheck source=bindings/jvm_tests.sh
source "$MIODB_ROOT/bindings/jvm_tests.sh"

keep=
broker=false
demo_arguments=(--kill=3 --orders=60000)
maven=(mvn -q -B)
for argument in "$@"; do
  case $argument in
    --keep=*) keep=$(realpath "${argument#*=}") ;;
    --offline) maven+=(-o) ;;
    --broker) broker=true ;;
    --broker=*)
      broker=true
      read -ra demo_arguments <<<"${argument#*=}"
      ;;
    *) help_or_die "$argument" ;;
  esac
done

exit_on_signals
if $broker; then exec "$MIODB_ROOT/bindings/kafka-streams/demo/run.sh" "${demo_arguments[@]}"; fi
"$MIODB_ROOT/test_sh/install_deps.sh" --bindings
if [[ ! -f $MIODB_ROOT/build/CMakeCache.txt ]]; then configure build -DCMAKE_BUILD_TYPE=Release; fi
build build "$(nproc)" miodb_leveldb_static >/dev/null
cd "$MIODB_ROOT/bindings/kafka-streams"
scratch=$(mktemp -d "$(scratch_parent $((1 << 30)))/miodb_kafka.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
maven+=(-f reactor.xml -Dmiodb.java.skipTests=true "-Dmiodb.build=$MIODB_ROOT/build" "-Dmiodb.tmpdir=$scratch"
  "-Dmiodb.jvm=$(checked_jvm "$scratch/jvms")")
mkdir "$scratch/jvms"

# tests MAVEN_ARGUMENT...: without the escapes that Maven ends with, as the last line has to be the count, and without the
# warnings that Kafka's suites bring about.
status=0
tests() {
  "${maven[@]}" "$@" >"$scratch/run" 2>&1 || status=1
  sed 's/\x1b\[[0-9;]*m//g' "$scratch/run" | tee -a "$scratch/log" | { grep -vE '^(WARN|Following state store|$)' || true; }
}
rm -rf target/surefire-reports target/surefire-reports-oldest
say "building, and testing with the newest version of Kafka"
tests verify
say "testing with the oldest version of Kafka"
tests -Poldest test
if grep -qE 'Could not (resolve|transfer|find)|Cannot access .* in offline mode' "$scratch/log"; then
  say "Maven did not get all it needs: it has to reach Maven Central once, directly or by a mirror in ~/.m2/settings.xml"
fi
count_tests "$status" "$scratch/jvms" target/surefire-reports*/*.txt
if ((passed > 0)); then prove_jni_check "$scratch/planted"; fi
if [[ -n $keep ]] && ((bad == 0)); then cp target/*.jar "$keep"; fi
say "$passed passed, $bad failed"
((bad == 0))
