# shellcheck shell=bash
# What the scripts of the Java and of the Kafka Streams tests share. Source it after test_sh/lib.sh.
#
# -Xcheck:jni has a JVM look at each use of JNI and write a warning of a wrong one. Each JVM writes its warnings to a file of its
# own: Maven's output has nothing of what the JVMs of its tests print themselves.

# checked_jvm FOLDER: options of JVMs that look at each use of JNI, and write what they see to files in FOLDER.
checked_jvm() {
  say "-Xcheck:jni -XX:+UnlockDiagnosticVMOptions -XX:+LogVMOutput -XX:-DisplayVMOutput -XX:LogFile=$1/jvm-%p.log"
}

# jni_faults FOLDER: the warnings in these files about the native methods of org.miodb. Those of other libraries are not ours.
jni_faults() {
  local logs=("$1"/jvm-*.log)
  grep -qs -- -Xcheck:jni "${logs[@]}" || die "no JVM has looked at the uses of JNI: $1 has no file of one"
  awk '
    /WARNING in native method|FATAL ERROR in native method|WARNING: JNI/ { fault = $0; next }
    fault != "" { if (/at org\.miodb\./) { print fault; print } fault = "" }' "${logs[@]}"
}

# prove_jni_check FOLDER: dies if a planted fault is not found. The tests of the Java binding are compiled.
prove_jni_check() {
  local java=$MIODB_ROOT/bindings/java/target options
  mkdir "$1"
  cmake --build "$java/native" --target miodb_jni_plant >"$1/build" || die "building failed: $(<"$1/build")"
  read -ra options < <(checked_jvm "$1")
  java "${options[@]}" -cp "$java/test-classes" org.miodb.UncheckedMain "$java/native/libmiodb_jni_plant.so"
  [[ -n $(jni_faults "$1") ]] || die "a planted call of JNI without a look for exceptions is not found"
}

# count_tests STATUS FOLDER REPORT...: sets passed and bad from Surefire's reports. One is added to bad for a Maven that ended with
# a STATUS beside its tests, for no test at all, and for wrong uses of JNI by the JVMs whose files are in FOLDER.
# shellcheck disable=SC2034  # used by the scripts that source this file
count_tests() {
  local status=$1 folder=$2 total faults
  shift 2
  # "Tests run: 8, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: ..."
  read -r total bad < <({ cat "$@" 2>/dev/null || true; } | awk -F'[:,]' '
    /^Tests run:/ { total += $2; bad += $4 + $6 }
    END { print total + 0, bad + 0 }')
  passed=$((total > bad ? total - bad : 0))
  faults=$(jni_faults "$folder")
  if [[ -n $faults ]]; then say "wrong uses of JNI:" "$faults"; fi
  if ((status != 0 && bad == 0)) || ((total == 0)) || [[ -n $faults ]]; then bad=$((bad + 1)); fi
}
