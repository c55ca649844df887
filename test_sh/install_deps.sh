#!/usr/bin/env bash
# Installs what building MioDB needs and this machine does not have.
#
#   test_sh/install_deps.sh [--checks] [--bindings] [--site] [--print]
#
#   --checks   also what the checks of .ci/run need (clang, clang-format, clang-tidy, shellcheck, ...)
#   --bindings also what the Python and Java bindings need
#   --site     also what test_sh/site.sh needs
#   --print    print the Debian packages, one a line, and install nothing
#   --help     this text
#
# As root on Debian or Ubuntu it runs apt-get for what is missing and says so in one line. Elsewhere it prints what to
# install and exits with 1 if something that is needed is missing. Exit status 0: everything needed is there.

set -euo pipefail
# shellcheck source=test_sh/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
exit_on_signals

# Group, Debian package, and how to see that it is there: a command, a header, a module of Python. "extra" packages are
# installed where that is possible and missed silently otherwise: what db_bench can do without, and what is reserved for
# later.
packages() {
  cat <<'END'
need  g++                 command c++
need  cmake               command cmake
need  make                command make
need  ninja-build         command ninja
need  libpmem-dev         header  libpmem.h
need  libxxhash-dev       header  xxhash.h
need  libnuma-dev         header  numaif.h
need  liburing-dev        header  liburing.h
need  libsnappy-dev       header  snappy.h
need  libzstd-dev         header  zstd.h
need  libedit-dev         header  histedit.h
need  libgtest-dev        header  gtest/gtest.h
extra libleveldb-dev      header  leveldb/db.h
extra librocksdb-dev      header  rocksdb/db.h
extra liblmdb0            package liblmdb0
extra libwiredtiger0      package libwiredtiger0
extra rocksdb-tools       command sst_dump
extra libbenchmark-dev    header  benchmark/benchmark.h
extra gnuplot-nox         command gnuplot
extra python3             command python3
extra python3-prometheus-client package python3-prometheus-client
extra python3-scipy       package python3-scipy
check git                 command git
check pkg-config          command pkg-config
check clang-14            command clang++-14
check libclang-rt-14-dev  package libclang-rt-14-dev
check clang-format-14     command clang-format-14
check clang-tidy-14       command clang-tidy-14
check g++-aarch64-linux-gnu command aarch64-linux-gnu-g++
check shellcheck          command shellcheck
extra valgrind            command valgrind
check dpkg-dev            command dpkg-shlibdeps
check file                command file
check man-db              command man
check lintian             command lintian
check debootstrap         command debootstrap
bindings python3-dev      command python3-config
bindings python3-venv     module  ensurepip
bindings openjdk-17-jdk-headless command javac
bindings maven            command mvn
site mkdocs               command mkdocs
site mkdocs-material      package mkdocs-material
site doxygen              command doxygen
END
}

has_header() {
  if command -v c++ >/dev/null; then
    printf '#include <%s>\n' "$1" | c++ -std=c++20 -E -x c++ - >/dev/null 2>&1
  else
    [[ -e /usr/include/$1 ]]
  fi
}

is_present() {
  case $1 in
    command) command -v "$2" >/dev/null ;;
    header) has_header "$2" ;;
    module) python3 -c "import $2" 2>/dev/null ;;
    package) grep -qx installed <<<"$(dpkg-query -W -f '${db:Status-Status}\n' "$2" 2>/dev/null)" ;;
  esac
}

apt_install() {
  local log status=0
  log=$(mktemp)
  local get=(apt-get -qq -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
  export DEBIAN_FRONTEND=noninteractive
  "${get[@]}" update >"$log" 2>&1 || say "apt-get update failed; going on with the package lists that are there" >&2
  "${get[@]}" install -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null || status=$?
  if ((status != 0)); then tail -n 20 "$log" >&2; fi
  rm -f "$log"
  return "$status"
}

groups="need extra"
print_only=false
for argument in "$@"; do
  case $argument in
    --checks) groups+=" check" ;;
    --bindings) groups+=" bindings" ;;
    --site) groups+=" site" ;;
    --print) print_only=true ;;
    *) help_or_die "$argument" ;;
  esac
done

needed=()
wanted=()
while read -r group package kind name; do
  [[ " $groups " == *" $group "* ]] || continue
  if $print_only; then
    say "$package"
  elif ! is_present "$kind" "$name"; then
    if [[ $group == extra ]]; then wanted+=("$package"); else needed+=("$package"); fi
  fi
done < <(packages)
if ((${#needed[@]} + ${#wanted[@]} == 0)); then exit 0; fi

if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
  if ((${#needed[@]} > 0)); then
    say "Installing ${needed[*]}"
    apt_install "${needed[@]}" || die "apt-get could not install: ${needed[*]}"
  fi
  if ((${#wanted[@]} > 0)); then
    say "Installing ${wanted[*]}"
    apt_install "${wanted[@]}" || say "going on without: ${wanted[*]}" >&2
  fi
elif ((${#needed[@]} > 0)); then
  say "These are missing and this script may not install them. On Debian or Ubuntu run" >&2
  say "  apt-get install ${needed[*]}" >&2
  say "as root; elsewhere install what carries the same names there." >&2
  exit 1
fi
