#!/usr/bin/env bash
# Checks what no compiler sees: paths of one machine, scripts without their run bit, code and tests that are switched
# off, links in documents that lead nowhere, pipes whose reader leaves early, descriptors that may be standard ones, stray
# white space, merge marks, large files.
#
#   tools/checks/check_hygiene.sh               check this tree
#   tools/checks/check_hygiene.sh --self-test   prove that each planted violation is found

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../test_sh/lib.sh"

largest_file=$((1 << 20))

# matches PATTERN MESSAGE FILE...: reports every line that matches the extended regular expression.
matches() {
  local pattern=$1 message=$2 hit
  shift 2
  (($# > 0)) || return 0
  { grep -nEH -- "$pattern" "$@" || true; } | while IFS= read -r hit; do say "$hit   <- $message"; done
}

# Reports relative links of Markdown files whose target does not exist.
broken_links() {
  local file folder target
  for file in "$@"; do
    folder=$(dirname "$file")
    { grep -oE '\]\([^) ]+\)' "$file" || true; } | sed 's/^](//; s/)$//' | while IFS= read -r target; do
      if [[ $target == *:* || $target == '#'* || -e $folder/${target%%#*} ]]; then continue; fi
      say "$file: links to $target, which does not exist"
    done
  done
}

# Reports files whose run bit and first line disagree.
wrong_run_bits() {
  local file first
  for file in "$@"; do
    first=
    IFS= read -r -n 2 first <"$file" || true
    if [[ $first == '#!' && ! -x $file ]]; then say "$file: starts with #! but is not executable"; fi
    if [[ $first != '#!' && -x $file ]]; then say "$file: is executable but does not start with #!"; fi
  done
}

# What makes a descriptor. dup2 and dup3 name theirs.
births='open|open64|openat|openat2|creat|opendir|fdopendir|fopen|freopen|tmpfile|mkstemp|mkostemp|memfd_create|shm_open|'
births+='dup|pipe|pipe2|popen|socket|socketpair|accept|accept4|eventfd|epoll_create|epoll_create1|timerfd_create|signalfd|'
births+='inotify_init|inotify_init1|userfaultfd|io_uring_queue_init|io_uring_queue_init_params|'
births+='(basic_)?[io]?fstream( [[:alnum:]_]+)?|(recursive_)?directory_iterator( [[:alnum:]_]+)?'

# Reports descriptors of the library that may be standard ones, and programs that do not fill those (util/files/descriptors.h).
low_descriptors() {
  local file library=()
  for file in "$@"; do
    case $file in
      src/util/files/descriptors.h) ;;
      src/* | pmtable/* | compaction/* | bindings/*) library+=("$file") ;;
      tools/* | ycsbc/* | benchmarks/*)
        if [[ $file != benchmarks/@(cost|micro|common)/* ]] && grep -q '^int main(' "$file" && ! grep -q FillStandardDescriptors "$file"; then
          say "$file: main does not begin with FillStandardDescriptors"
        fi
        ;;
    esac
  done
  ((${#library[@]} > 0)) || return 0
  { grep -nEH "(^|[^[:alnum:]_.>])($births)[({]([^)]|$)|F_DUPFD" "${library[@]}" || true; } |
    { grep -vE 'MakeDescriptor|^[^:]+:[0-9]+:[[:blank:]]*//' || true; } | while IFS= read -r hit; do
    say "$hit   <- a descriptor that may be a standard one: MakeDescriptor makes it"
  done
}

# Prints every problem of the tree in the current folder.
problems_here() {
  local all text=() code documents scripts file size
  mapfile -t all < <(source_files)
  if ((${#all[@]} == 0)); then
    say "nothing was judged: no files found"
    return
  fi
  while read -r size file; do
    if ((size > largest_file)); then say "$file: larger than $largest_file bytes"; fi
  done < <(stat -c '%s %n' "${all[@]}")
  mapfile -t text < <(grep -lI . "${all[@]}" || true)
  mapfile -t code < <(source_files '*.cc' '*.h')
  mapfile -t documents < <(source_files '*.md')
  mapfile -t scripts < <(source_files '*.sh' '.ci/run' 'tools/hooks/*')

  wrong_run_bits "${all[@]}"
  ((${#text[@]} > 0)) || return 0
  matches '(^|[^A-Za-z0-9_.~$}])/(home|root|Users|work)/[A-Za-z0-9_.-]' "a path of one machine" "${text[@]}"
  matches '[[:blank:]]+$' "white space at the end" "${text[@]}"
  matches $'\r' "carriage return" "${text[@]}"
  matches '^(<{7}|>{7}|={7})( |$)' "merge mark" "${text[@]}"
  matches $'\t' "tab" "${code[@]}"
  matches '^[[:blank:]]*#[[:blank:]]*if[[:blank:]]+0' "code that is switched off" "${code[@]}"
  matches 'DISABLED_' "a test that is switched off" "${code[@]}"
  # Whoever may write to the folder can have put a link there. mktemp makes a name that nobody knows before.
  # shellcheck disable=SC2016  # a script's own words
  matches '>[>|]?[[:blank:]]*"?(/tmp|\$\{TMPDIR(:-[^}]*)?\}|\$TMPDIR)/' "a name in a shared folder that others can foresee" "${scripts[@]}"
  # Whoever still writes to it is stopped by SIGPIPE, and with pipefail that is now and then the verdict.
  matches '[^|]\|[[:blank:]]*(grep -[[:alpha:]]*q|head( |$))' "a pipe into a program that may not read all of it" "${scripts[@]}"
  broken_links "${documents[@]}"
  low_descriptors "${code[@]}"
}

check() {
  local problems
  problems=$(problems_here)
  if [[ -n $problems ]]; then
    say "$problems"
    return 1
  fi
  say "no problems"
}

# expect WORD FILE TEXT [MODE]: a tree with this file must pass or fail.
cases=0
expect() {
  local folder verdict=fail
  folder=$(mktemp -d)
  printf 'one\n' >"$folder/plain.txt"
  mkdir -p "$folder/$(dirname "$2")"
  printf '%s' "$3" >"$folder/$2"
  chmod "${4:-644}" "$folder/$2"
  if (cd "$folder" && check >/dev/null); then verdict=pass; fi
  rm -rf "$folder"
  [[ $verdict == "$1" ]] || die "self-test: expected $1, got $verdict for $2: $3"
  cases=$((cases + 1))
}

self_test() {
  # shellcheck disable=SC2016  # the same
  local home="/home"/someone disabled=DISABLED shared=/tmp chosen='${TMPDIR:-/tmp}' pipe='|'
  expect pass a.cc $'int a;\n'
  expect pass docs/a.md $'[a](../plain.txt) [b](https://example.org/b) /mnt/pmem0 src/work/x ~/work/\n'
  expect pass a.sh $'#!/bin/sh\n' 755
  expect fail docs/a.md "see $home/notes"$'\n'
  expect fail a.sh "cd \"$home\""$'\n'
  expect fail CMakeLists.txt "include(${home}/x)"$'\n'
  expect fail a.sh $'#!/bin/sh\n' 644
  expect fail a.txt $'text\n' 755
  expect fail a.md $'text \n'
  expect fail a.cc $'int a;\r\n'
  expect fail a.cc $'\tint a;\n'
  expect fail a.cc $'#if 0\n#endif\n'
  expect fail tests/a_test.cc "TEST(A, ${disabled}_B) {}"$'\n'
  expect fail a.cc "$(printf '<%.0s' {1..7}) mine"$'\n'
  expect pass a.sh $'exec 9<"${TMPDIR:-/tmp}"\nlog=$(mktemp "${TMPDIR:-/tmp}/log.XXXXXX")\n'
  expect fail a.sh "exec 9>\"$chosen/a.lock\""$'\n'
  expect fail a.sh "say x >>$shared/a.\$\$"$'\n'
  expect fail a.sh "make 2>\"$chosen/errors\""$'\n'
  expect pass a.sh $'((bad > 0)) || grep -q x log || head -n 1 log | grep x | headache\n'
  expect fail a.sh "ldconfig -p $pipe grep -Fq x"$'\n'
  expect fail a.sh "seq 9 $pipe head -n 1"$'\n'
  expect fail a.md $'[a](nowhere.md)\n'
  expect pass src/util/files/descriptors.h $'int a = ::open("/", O_PATH);\n'
  expect pass src/a.cc $'// fopen(name) is not used.\nint a = MakeDescriptor([&] { return ::open(name); }), b = pool.open(1), c = open();\n'
  expect pass tests/a.cc $'int a = ::open("/", O_PATH);\n'
  expect fail src/nvm/a.cc $'  int a = ::open("/", O_PATH);\n'
  expect fail pmtable/a.cc $'  std::ifstream file(name);\n'
  expect fail src/a.cc $'  std::ifstream(name) >> number;\n'
  expect fail compaction/a.h $'  const int fd = memfd_create("a", 0);\n'
  expect fail bindings/java/native/a.cc $'int a = fcntl(fd, F_DUPFD_CLOEXEC, 0);\n'
  expect fail src/a.cc $'DIR* d = opendir(name);\n'
  expect pass tools/a.cc $'int main() {\n  if (!FillStandardDescriptors()) return 1;\n}\n'
  expect fail tools/a/a.cc $'int main() { return 0; }\n'
  expect fail benchmarks/a.cc $'int main() { return 0; }\n'
  expect fail a.md "$(head -c $((largest_file + 1)) /dev/zero | tr '\0' x)"
  say "self-test: $cases of $cases cases right"
}

case ${1:-} in
  --self-test) self_test ;;
  '')
    cd "$MIODB_ROOT"
    check
    ;;
  *) die "unknown argument $1" ;;
esac
